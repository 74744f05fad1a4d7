/* Sessions: what a person does through the API is repeated by the exported scenario, watching does
 * not change the run, and going back in time leads to the same state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/time.h"
#include "effort.h"
#include "experiment/live/control.h"
#include "replay.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const scenarios[] = {
    "topology kary 2 3\nsm H0 priority 3\nsm H7\ntraffic uniform load 0.2 start settled\n"
    "run until settled\n",
    "topology dragonfly\nsm H0 engine nue\nsm H9\ntraffic uniform load 0.1 start settled\n"
    "run until settled\n",
    "topology clos 2 2 3 vfs=2\nsm H0\ntraffic shift load 0.1 start settled\n"
    "run until settled\n",
    "topology ring 5 hosts=2\nsm H0 engine minhop allow_cycles yes\n"
    "traffic uniform load 0.9 start settled\nrun until settled\n",
};
enum { SCENARIOS = sizeof scenarios / sizeof scenarios[0], ACTIONS = 20 };

struct world {
    struct live_session session;
    struct api_publisher publisher;
    struct live_watch watch;
};

static void begin(struct world *world, const char *text, uint64_t seed)
{
    struct err err = {0};
    memset(world, 0, sizeof *world);
    watch_init(&world->watch, &world->publisher);
    if (live_session_begin(&world->session, "x.weft", text, &seed, &world->watch.observer, NULL,
                           NULL, &err))
        fail_msg("%s", err.message);
    watch_begin(&world->watch, &world->session);
}

static void end(struct world *world)
{
    watch_release(&world->watch);
    api_publisher_release(&world->publisher);
    live_session_end(&world->session);
}

static uint64_t hash_of(const struct world *world)
{
    return fabric_trace_hash(live_session_setup(&world->session)->fabric);
}

/* ---- actions as requests ---- */

struct form {
    char values[4][2][64];
    unsigned count;
};

static const char *get(void *context, const char *name)
{
    const struct form *request = context;
    for (unsigned i = 0; i < request->count; i++)
        if (strcmp(request->values[i][0], name) == 0)
            return request->values[i][1];
    return NULL;
}

static void add(struct form *request, const char *name, const char *format, ...)
{
    va_list arguments;
    snprintf(request->values[request->count][0], 64, "%s", name);
    va_start(arguments, format);
    vsnprintf(request->values[request->count++][1], 64, format, arguments);
    va_end(arguments);
}

static void draw_request(const struct world *world, struct rng *rng, struct form *request)
{
    static const char *const actions[] = {
        "cut",          "restore",       "flap",         "lossy",   "kill-node",     "restore-node",
        "mute",         "heal",          "kill-manager", "engine",  "start-manager", "stop-manager",
        "stop-traffic", "start-traffic", "vm-start",     "vm-move", "reroute",       "bit-errors"};
    static const char *const engines[] = {"updn", "nue", "dfsssp", "minhop"};
    const struct setup *setup = live_session_setup(&world->session);
    *request = (struct form){0};
    const char *action = actions[rng_below(rng, sizeof actions / sizeof actions[0])];
    add(request, "do", "%s", action);
    if (strstr("cut restore flap lossy bit-errors", action))
        add(request, "link", "%u", (unsigned)rng_below(rng, world->watch.view.links.count));
    else if (strstr(action, "manager") || strcmp(action, "engine") == 0 ||
             strcmp(action, "reroute") == 0)
        add(request, "manager", "%u", (unsigned)rng_below(rng, setup->instances.count));
    else if (strstr(action, "traffic"))
        add(request, "flow", "1");
    else if (strncmp(action, "vm-", 3) == 0)
        add(request, "name", "vm%u", (unsigned)rng_below(rng, 2));
    else
        add(request, "node", "%u", (unsigned)rng_below(rng, setup->topology.nodes.count));
    add(request, "percent", "%u", (unsigned)rng_below(rng, 60));
    if (strcmp(action, "engine") == 0)
        add(request, "engine", "%s", engines[rng_below(rng, 4)]);
    else
        add(request, "count", "50");
}

static int act_line(struct live_session *session, const char *line, struct err *err)
{
    struct action action;
    int status = action_read_line(&action, line, &live_session_setup(session)->topology, err);
    if (status == 0)
        status = live_session_act(session, &action, err);
    action_release(&action);
    return status;
}

/* Whether the action was accepted. */
static bool act(struct world *world, struct form *request)
{
    struct action_request parameters = {.context = request, .get = get};
    struct control_actions actions = {0};
    struct err err = {0};
    int status = control_read(&world->watch, &parameters, &actions, &err);
    for (size_t i = 0; status == 0 && i < actions.count; i++)
        status = live_session_act(&world->session, &actions.items[i], &err);
    control_actions_release(&actions);
    if (status)
        assert_true(err.message[0] != 0);
    return status == 0;
}

static void advance(struct world *world, struct rng *rng)
{
    for (unsigned parts = (unsigned)rng_below(rng, 4); parts > 0; parts--) {
        live_session_advance(&world->session,
                             live_session_now(&world->session) + rng_below(rng, 500 * TIME_US));
        watch_keep_tables(&world->watch);
        watch_read(&world->watch);
    }
}

/* ---- claims ---- */

static void check_session(unsigned number, uint64_t seed)
{
    struct world world;
    struct rng rng;
    struct text export = {0};
    unsigned acted = 0;
    rng_seed(&rng, seed, number);
    begin(&world, scenarios[number], seed);
    for (unsigned tries = 0; acted < ACTIONS && tries < 20 * ACTIONS; tries++) {
        struct form request;
        advance(&world, &rng);
        draw_request(&world, &rng, &request);
        acted += act(&world, &request);
    }
    assert_true(acted >= ACTIONS);
    assert_null(live_session_halted(&world.session));
    live_session_advance(&world.session, live_session_now(&world.session) + TIME_MS);
    live_session_export(&world.session, true, &export);
    if (run_whole(export.data) != hash_of(&world))
        fail_msg("scenario %u, seed %u: another hash with\n%s", number, (unsigned)seed,
                 export.data);
    text_release(&export);
    end(&world);
}

static void the_export_repeats_a_session(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < SCENARIOS; i++)
        for (uint64_t seed = 1; seed <= effort(20, 2, 1); seed++)
            check_session(i, seed);
}

static void going_back_leads_to_the_same_state(void **unused)
{
    (void)unused;
    struct world world;
    struct err err = {0};
    struct text before = {0}, after = {0};
    begin(&world, scenarios[0], 5);
    live_session_settle(&world.session, TIME_S);
    live_session_advance(&world.session, 2 * TIME_MS);
    assert_int_equal(act_line(&world.session, "fail link L0_0 3", &err), 0);
    live_session_advance(&world.session, 4 * TIME_MS);
    uint64_t middle = hash_of(&world);
    assert_int_equal(act_line(&world.session, "kill sm H0", &err), 0);
    live_session_advance(&world.session, 6 * TIME_MS);
    uint64_t last = hash_of(&world);
    live_session_export(&world.session, true, &before);
    assert_int_equal(live_session_seek(&world.session, 4 * TIME_MS - TIME_NS, &err), 0);
    live_session_advance(&world.session, 4 * TIME_MS - TIME_NS);
    assert_int_equal(live_session_now(&world.session), 4 * TIME_MS - TIME_NS);
    live_session_advance(&world.session, 6 * TIME_MS); /* the manager is killed again */
    assert_int_equal(hash_of(&world), last);
    live_session_export(&world.session, true, &after);
    assert_string_equal(before.data, after.data);
    assert_int_equal(live_session_seek(&world.session, 3 * TIME_MS, &err), 0);
    assert_int_equal(act_line(&world.session, "mute L0_1", &err), 0);
    live_session_advance(&world.session, 6 * TIME_MS); /* now without that */
    text_clear(&after);
    live_session_export(&world.session, true, &after);
    assert_null(strstr(after.data, "kill sm"));
    assert_non_null(strstr(after.data, "at 3.000000ms mute L0_1"));
    assert_true(run_whole(after.data) == hash_of(&world) && middle != last);
    text_release(&before);
    text_release(&after);
    end(&world);
}

/* The member of a JSON object, as text up to the next one. */
static bool has(const struct text *text, const char *part)
{
    return strstr(text->data, part) != NULL;
}

/* A step beyond it would simulate thousands of packets of a large fabric before the page appears.
 */
static void settling_ends_before_the_first_packet(void **unused)
{
    (void)unused;
    struct world world;
    struct data_totals totals;
    begin(&world,
          "topology kary 4 2\nsm H0\ntraffic uniform load 0.5 start settled\nrun until settled\n",
          1);
    live_session_settle(&world.session, TIME_S);
    assert_true(live_session_is_settled(&world.session));
    fabric_data_totals(live_session_setup(&world.session)->fabric, &totals);
    assert_int_equal(totals.made, 0);
    live_session_advance(&world.session, live_session_now(&world.session) + 100 * TIME_US);
    fabric_data_totals(live_session_setup(&world.session)->fabric, &totals);
    assert_true(totals.made > 100);
    end(&world);
}

/* Between two readings a link carries less than a packet. */
static void loads_are_means_over_ten_packets(void **unused)
{
    (void)unused;
    struct world world;
    begin(&world,
          "topology kary 4 2\nsm H0\ntraffic uniform load 0.2 start settled\nrun until settled\n",
          1);
    const struct api_tick *tick = &world.publisher.tick;
    live_session_settle(&world.session, TIME_S);
    for (unsigned readings = 0; readings < 2000; readings++) {
        unsigned sum = 0, used = 0;
        live_session_advance(&world.session, live_session_now(&world.session) + 50 * TIME_NS);
        watch_read(&world.watch);
        for (uint32_t d = 0; d < 2 * tick->links_n; d++) {
            sum += tick->load[d];
            used += tick->load[d] > 0;
            if (tick->load[d] >= 90)
                fail_msg("reading %u: a load of %u %%", readings, tick->load[d]);
        }
        if (readings > 200) /* 0.2 in the mean: a host sends and receives as much as is offered */
            assert_in_range(sum / used, 10, 35);
    }
    assert_in_range(tick->window_ns, 400, 20000);
    assert_int_equal(act_line(&world.session, "stop traffic 1", &(struct err){0}), 0);
    for (unsigned readings = 0; readings < 3; readings++) {
        live_session_advance(&world.session, live_session_now(&world.session) + 100 * TIME_US);
        watch_read(&world.watch);
    }
    for (uint32_t d = 0; d < 2 * tick->links_n; d++)
        assert_int_equal(tick->load[d], 0); /* the traffic has ended */
    end(&world);
}

/* Its managers would go on until the limit otherwise. */
static void a_refused_network_ends_the_start(void **unused)
{
    (void)unused;
    struct world world;
    begin(&world, "topology irregular 12 hosts=10\nsm H0 engine dor\nrun until settled\n", 1);
    assert_true(live_session_settle(&world.session, 60 * TIME_S));
    assert_non_null(live_session_refusal(&world.session));
    assert_false(live_session_is_settled(&world.session));
    assert_true(live_session_now(&world.session) < TIME_S);
    end(&world);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* The session goes on, whatever happens to the file of its network. */
static void a_network_that_changes_does_not_end_the_session(void **unused)
{
    (void)unused;
    static const char *const nets[] = {"garbage", "topology", NULL}; /* NULL: no file */
    char path[] = "/tmp/weft-session-XXXXXX", text[256];
    struct world world;
    struct err err = {0};
    struct text net = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    begin(&world, scenarios[0], 1);
    topology_write_ibnetdiscover(&live_session_setup(&world.session)->topology, &net);
    end(&world);
    write_file(path, net.data);
    snprintf(text, sizeof text, "topology \"%s\"\nsm H0\nrun until settled\n", path);
    for (unsigned i = 0; i < sizeof nets / sizeof *nets; i++) {
        write_file(path, net.data);
        begin(&world, text, 1);
        live_session_settle(&world.session, TIME_S);
        assert_int_equal(act_line(&world.session, "fail link L0_0 3", &err), 0);
        live_session_advance(&world.session, 10 * TIME_MS);
        uint64_t hash = hash_of(&world);
        if (nets[i])
            write_file(path, nets[i]);
        else
            unlink(path);
        assert_true(live_session_seek(&world.session, TIME_MS, &err) < 0);
        assert_true(live_session_restart(&world.session, NULL, &err) < 0);
        assert_int_equal(live_session_now(&world.session), 10 * TIME_MS);
        assert_true(hash_of(&world) == hash);
        assert_null(live_session_halted(&world.session));
        live_session_advance(&world.session, 20 * TIME_MS);
        end(&world);
    }
    text_release(&net);
    unlink(path);
}

/* Files of the user that runs the session are not for those who hold its token. */
static void actions_by_hand_read_no_files(void **unused)
{
    (void)unused;
    static const char *const keys[] = {
        "partitions", "root_file", "user_routes", "qos_policy", "partition_config_file",
        "log",        "dump"};
    struct world world;
    begin(&world, scenarios[0], 1);
    live_session_settle(&world.session, TIME_S);
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct err err = {0};
        char line[128];
        snprintf(line, sizeof line, "configure sm H0 %s /etc/passwd", keys[i]);
        assert_true(act_line(&world.session, line, &err) < 0);
        assert_non_null(strstr(err.message, "names a file"));
        assert_null(strstr(err.message, "root:"));
    }
    end(&world);
}

static void a_path_is_that_of_the_tables(void **unused)
{
    (void)unused;
    struct world world;
    struct text path = {0};
    struct err err = {0};
    begin(&world, "topology clos 2 1 2\nsm H0\nrun until settled\n", 1);
    const struct topology *topology = &live_session_setup(&world.session)->topology;
    uint32_t from = topology_find(topology, "H0"), to = topology_find(topology, "H1");
    watch_put_path(&world.watch, from, to, &path);
    assert_true(has(&path, "\"reason\":\"no manager has a path"));
    live_session_settle(&world.session, TIME_S);
    text_clear(&path);
    watch_put_path(&world.watch, from, to, &path);
    assert_true(has(&path, "\"reason\":null") && has(&path, "\"shortest\":2"));
    assert_true(has(&path, "\"allowed\":true"));
    /* both middle switches fail: the tables still lead there */
    assert_int_equal(act_line(&world.session, "fail switch S0", &err), 0);
    assert_int_equal(act_line(&world.session, "fail switch S1", &err), 0);
    text_clear(&path);
    watch_put_path(&world.watch, from, to, &path);
    assert_true(has(&path, "does not pass data") && has(&path, "\"shortest\":0"));
    text_release(&path);
    end(&world);
}

static void a_deadlock_is_a_cycle_of_links(void **unused)
{
    (void)unused;
    struct world world;
    begin(&world,
          "topology ring 6 hosts=2 speed=SDR\nset data_vls 1\nset buffer 1024\n"
          "sm S0 engine minhop allow_cycles yes\n"
          "traffic uniform size 256 arrivals saturated start settled\nrun until settled\n",
          3);
    live_session_settle(&world.session, TIME_S);
    for (unsigned i = 0; i < 200; i++) {
        live_session_advance(&world.session, live_session_now(&world.session) + 50 * TIME_US);
        watch_read(&world.watch);
        if (world.watch.deadlock_since != TIME_NEVER)
            break;
    }
    assert_true(world.watch.deadlock_since != TIME_NEVER);
    const char *hops = world.publisher.tick.sections[API_DEADLOCK].data;
    unsigned count = 0;
    for (const char *at = hops; (at = strstr(at, "\"vl\":")); at++)
        count++;
    assert_int_equal(count, 6);
    end(&world);
}

static void versions_show_what_moved(void **unused)
{
    (void)unused;
    struct world world;
    struct err err = {0};
    struct text text = {0};
    begin(&world, scenarios[0], 1);
    live_session_settle(&world.session, TIME_S);
    watch_keep_tables(&world.watch);
    assert_int_equal(world.watch.versions.items.count, 1);
    assert_int_equal(act_line(&world.session, "fail link L0_0 3", &err), 0);
    live_session_advance(&world.session, live_session_now(&world.session) + 20 * TIME_MS);
    watch_keep_tables(&world.watch);
    assert_int_equal(world.watch.versions.items.count, 2);
    assert_true(world.watch.versions.items.items[1].changed > 0);
    const struct topology *topology = &live_session_setup(&world.session)->topology;
    const struct api_versions *versions = &world.watch.versions;
    const struct api_links *links = &world.watch.view.links;
    assert_int_equal(api_versions_compare(versions, topology, links, 1, 2, &text, NULL), 0);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"entries\":%u,",
             (unsigned)world.watch.versions.items.items[1].changed);
    assert_true(has(&text, wanted));
    assert_true(api_versions_compare(versions, topology, links, 1, 3, &text, NULL) < 0);
    text_release(&text);
    end(&world);
}

static void a_refused_machine_leaves_nothing_behind(void **unused)
{
    (void)unused;
    struct world world;
    struct err err = {0};
    begin(&world, scenarios[0], 1);
    assert_true(act_line(&world.session, "vm start b at H0", &err) < 0);
    assert_int_equal(live_session_setup(&world.session)->machines.items.count, 0);
    end(&world);
}

/* A function without a LID has no link: it is neither up nor down, on the page as for weft ctl. */
static void links_of_idle_functions_are_not_down(void **unused)
{
    (void)unused;
    struct world world;
    struct err err = {0};
    struct fabric_totals totals;
    unsigned down = 0, cut = 0;
    begin(&world, "topology clos 2 2 2 vfs=2\nsm H0\nrun until settled\n", 1);
    live_session_advance(&world.session, TIME_US);
    assert_int_equal(act_line(&world.session, "fail link H1 1", &err), 0);
    watch_read(&world.watch);
    fabric_totals(live_session_setup(&world.session)->fabric, &totals);
    for (uint32_t i = 0; i < world.watch.view.links.count; i++) {
        down += world.publisher.tick.links[i] == API_LINK_DOWN;
        cut += world.publisher.tick.links[i] == API_LINK_CUT;
    }
    assert_true(totals.links_idle > 0 && cut == 1);
    assert_int_equal(down + cut, totals.links_down);
    assert_int_equal(totals.links_up + totals.links_down + totals.links_idle,
                     world.watch.view.links.count);
    end(&world);
}

static size_t memory_in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* Sanitizers replace the allocator, so that nothing is counted and nothing can fail. */
static void an_action_costs_little_more_than_its_line(void **unused)
{
    (void)unused;
    enum { REPEATED = 200, MOST = 2048 };
    struct world world;
    struct err err = {0};
    begin(&world, scenarios[0], 1);
    assert_int_equal(act_line(&world.session, "drop 1%", &err), 0);
    size_t before = memory_in_use();
    for (unsigned i = 0; i < REPEATED; i++)
        assert_int_equal(act_line(&world.session, "drop 1%", &err), 0);
    assert_true(memory_in_use() < before + (size_t)REPEATED * MOST);
    end(&world);
}

/* Traffic names a machine that starts later than the export. */
static void an_export_knows_machines_that_have_not_started(void **unused)
{
    (void)unused;
    struct world world;
    struct err err = {0};
    struct text export = {0};
    begin(&world,
          "topology clos 2 2 2 vfs=2\nsm H0\n"
          "traffic uniform rate 50e3 size 256 from H[12] to web*\nrun until settled\nrun for 1ms\n"
          "vm start web1 at H1\nrun for 1ms\nat 20ms vm start web2 at auto\nrun 30ms\n",
          1);
    for (uint64_t time = TIME_US; time < 40 * TIME_MS; time = time * 4 + TIME_US) {
        live_session_advance(&world.session, time);
        assert_int_equal(act_line(&world.session, "flap S0 1", &err), 0);
        live_session_advance(&world.session, time + TIME_US);
        text_clear(&export);
        live_session_export(&world.session, true, &export);
        if (run_whole(export.data) != hash_of(&world))
            fail_msg("another hash with\n%s", export.data);
    }
    text_release(&export);
    end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_action_costs_little_more_than_its_line),
        cmocka_unit_test(the_export_repeats_a_session),
        cmocka_unit_test(going_back_leads_to_the_same_state),
        cmocka_unit_test(settling_ends_before_the_first_packet),
        cmocka_unit_test(loads_are_means_over_ten_packets),
        cmocka_unit_test(a_refused_network_ends_the_start),
        cmocka_unit_test(a_network_that_changes_does_not_end_the_session),
        cmocka_unit_test(actions_by_hand_read_no_files),
        cmocka_unit_test(a_path_is_that_of_the_tables),
        cmocka_unit_test(a_deadlock_is_a_cycle_of_links),
        cmocka_unit_test(versions_show_what_moved),
        cmocka_unit_test(a_refused_machine_leaves_nothing_behind),
        cmocka_unit_test(links_of_idle_functions_are_not_down),
        cmocka_unit_test(an_export_knows_machines_that_have_not_started),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
