/* The commands of weft ctl on a session: reports, actions that become statements, errors without
 * effect. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time.h"
#include "experiment/live/control.h"
#include "host/http/fields.h"
#include "replay.h"
#include "world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char tree[] = "topology kary 2 3\nsm H0 priority 3\nsm H7\n"
                           "traffic uniform load 0.1 start settled\nrun until settled\n";

/* Every look at this clock takes a second. */
static uint64_t slow_wall_ns(void)
{
    static uint64_t now;
    return now += NS_PER_S;
}

/* ---- claims ---- */

static void a_page_is_served_while_the_subnet_comes_up(void **unused)
{
    (void)unused;
    struct world *fast = begin(tree);
    struct live slow;
    const struct live_options options = {.name = "x.weft",
                                         .text = tree,
                                         .pace = 0.001,
                                         .listen = "0",
                                         .version = "test",
                                         .settle = true,
                                         .clock_ns = slow_wall_ns};
    assert_int_equal(live_begin(&slow, &options, &(struct err){0}), 0);
    assert_string_equal(slow.publisher.sent.work, "start");
    assert_false(live_session_is_settled(&slow.session));
    while (slow.starting) {
        struct text text = {0};
        live_progress(&slow, &text);
        assert_non_null(strstr(text.data, "the subnet comes up: "));
        text_release(&text);
        live_step(&slow);
    }
    assert_true(slow.running);
    assert_true(live_session_is_settled(&slow.session));
    assert_int_equal(fabric_trace_hash(live_session_setup(&slow.session)->fabric),
                     fabric_trace_hash(live_session_setup(&fast->live.session)->fabric));
    live_end(&slow);
    end(fast);
}

/* The API's `next`: a computation tells how it chose its roots, which nobody waits for. */
static void next_stops_at_events_and_at_no_note(void **unused)
{
    (void)unused;
    struct world *world = begin(tree);
    struct live *live = &world->live;
    const struct run_record *record = &live->session.current->record;
    unsigned stops = 0, notes = 0;
    assert_int_equal(ask(world, LIVE_FABRIC, "reroute", false), 0);
    for (bool up = false; !up && stops < 50; stops++) {
        live_run(live, true);
        live->until_event = true;
        live->events_mark = record->events.count;
        while (live->running)
            live_step(live);
        bool found = false;
        for (size_t i = live->events_mark; i < record->events.count; i++) {
            found |= !record->events.items[i].note;
            notes += record->events.items[i].note;
            up |= strncmp(record->events.items[i].text, "subnet up", 9) == 0;
        }
        assert_true(found);
    }
    assert_true(notes > 0);
    assert_true(stops < 50);
    end(world);
}

static void reports_are_those_of_the_run(void **unused)
{
    (void)unused;
    struct world *world = begin(tree);
    assert_says(world, LIVE_FABRIC, "status", true, "\"switches\": 12");
    assert_says(world, LIVE_FABRIC, "status", true, "\"running\": false");
    assert_says(world, LIVE_MANAGER, "status", true, "\"state\":\"master\"");
    assert_says(world, LIVE_MANAGER, "managers", false, "standby");
    assert_says(world, LIVE_FABRIC, "problems", false, "none");
    assert_says(world, LIVE_FABRIC, "path H0 H7", true, "\"arrives\": true");
    assert_says(world, LIVE_FABRIC, "deadlock", true, "\"deadlock\": false");
    assert_says(world, LIVE_FABRIC, "topology", true, "\"description\":\"H7\"");
    assert_says(world, LIVE_FABRIC, "routes", false, "Unicast lids");
    assert_says(world, LIVE_FABRIC, "versions", true, "\"id\":1");
    assert_says(world, LIVE_FABRIC, "changes", true, "\"cause\":\"started\"");
    assert_says(world, LIVE_FABRIC, "events", true, "\"who\":\"H0\"");
    assert_says(world, LIVE_FABRIC, "counters H0 1", false, "PortXmitPkts");
    assert_int_equal(ask(world, LIVE_FABRIC, "vm list", true), 0);
    assert_string_equal(world->out.data, "[]\n");
    end(world);
}

static void actions_are_statements_that_the_export_repeats(void **unused)
{
    (void)unused;
    static const char *const commands[][2] = {
        {"link down L0_0 3", "fail link L0_0 3"},
        {"link up L0_0 3", "restore link L0_0 3"},
        {"switch down L1_1", "fail switch L1_1"},
        {"node up L1_1", "restore node L1_1"},
        {"flap L1_0 1", "flap L1_0 1"},
        {"drop 0.5% L1_0 2 attribute PortInfo", "drop 0.5% L1_0 2 attribute 0x15"},
        {"drop 1%", "drop 1%"},
        {"agent slow L0_1 2ms", "slow L0_1 2ms"},
        {"agent mute L0_1", "mute L0_1"},
        {"agent heal L0_1", "heal L0_1"},
        {"errors L1_0 2 7", "bit-errors L1_0 2 7"},
        {"errors L1_0 2 5/s", "bit-errors L1_0 2 5/s"},
        {"guid H3 0x123456", "duplicate-guid H3 0x0000000000123456"},
        {"act kill sm H7", "kill sm H7"},
        {"reroute", "reroute H0"},
    };
    struct world *world = begin(tree);
    for (unsigned i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (ask(world, i % 2 ? LIVE_MANAGER : LIVE_FABRIC, commands[i][0], false))
            fail_msg("%s: %s", commands[i][0], world->out.data);
        if (!strstr(exported(world), commands[i][1]))
            fail_msg("%s: not in\n%s", commands[i][1], world->export.data);
        pass(world, 200 * TIME_US);
    }
    uint64_t hash = fabric_trace_hash(live_session_setup(&world->live.session)->fabric);
    assert_true(run_whole(exported(world)) == hash);
    assert_int_equal(world->live.session.next_action, sizeof commands / sizeof *commands);
    end(world);
}

/* A connection between two hosts is an action like any other: listed, exported, repeated. */
static const struct http_route *route_of(const struct world *world, const char *path)
{
    const struct http_route *route = world->live.routes;
    while (strcmp(route->path, path) != 0)
        route++;
    return route;
}

/* The text without blanks and ends of lines. */
static char *dense(struct text *text)
{
    char *to = text->data;
    for (const char *c = text->data; *c; c++)
        if (*c != ' ' && *c != '\n')
            *to++ = *c;
    *to = 0;
    return text->data;
}

/* The API lists so many connections in all, and those that `weft ctl --json` lists from `first` on.
 */
static void assert_lists_connections(struct world *world, size_t total, const char *first)
{
    const struct http_route *route = route_of(world, "/api/v1/connections");
    struct text body = {0}, wanted = {0};
    assert_int_equal(ask(world, LIVE_FABRIC, "connections", true), 0);
    const char *listed = strstr(dense(&world->out), first);
    assert_non_null(listed);
    text_printf(&wanted, "{\"total\":%zu,\"connections\":%s%s}", total,
                listed == world->out.data ? "" : "[", listed);
    route->write(route->context, &body);
    assert_string_equal(dense(&body), wanted.data);
    text_release(&body);
    text_release(&wanted);
}

/* The status of the answer; 0: done. */
static unsigned post_connect(struct world *world, const char *from, const char *to)
{
    const struct topology *topology = &live_session_setup(&world->live.session)->topology;
    const struct http_route *route = route_of(world, "/api/v1/actions");
    struct http_fields fields = {0};
    struct http_response response = {0};
    char form[80];
    snprintf(form, sizeof form, "do=connect&node=%u%s%u", topology_find(topology, from),
             to ? "&peer=" : "&other=", topology_find(topology, to ? to : from));
    assert_true(http_fields_add(&fields, form));
    route->handler(route->context, &(struct http_request){.fields = &fields}, &response);
    text_release(&response.body);
    return response.status;
}

static void the_api_makes_connections_and_lists_those_of_ctl(void **unused)
{
    (void)unused;
    struct world *world = begin(tree);
    assert_lists_connections(world, 0, "[");
    assert_int_equal(post_connect(world, "H0", "H7"), 0);
    assert_int_equal(post_connect(world, "H3", "H1"), 0);
    assert_int_equal(post_connect(world, "H3", "H3"), 400);
    assert_int_equal(post_connect(world, "H3", "L0_0"), 400);
    assert_int_equal(post_connect(world, "H3", NULL), 400);
    pass(world, 2 * TIME_MS);
    assert_lists_connections(world, 2, "[");
    assert_non_null(strstr(world->out.data, "\"from\":\"H3\",\"to\":\"H1\""));
    assert_int_equal(ask(world, LIVE_FABRIC, "connections", false), 0);
    assert_non_null(strstr(world->out.data, " Gbit/s, 0 retries, outage "));
    assert_null(strstr(world->out.data, "e-0"));
    end(world);
}

static void the_api_lists_the_last_200_connections(void **unused)
{
    (void)unused;
    struct world *world = begin(tree);
    for (unsigned i = 0; i < 203; i++)
        assert_int_equal(post_connect(world, i % 2 ? "H0" : "H5", "H7"), 0);
    assert_lists_connections(world, 203, "{\"number\":4,");
    end(world);
}

static void hosts_are_connected_by_an_action(void **unused)
{
    (void)unused;
    struct world *world = begin("topology kary 2 3\nsm H0\nrun until settled\n");
    assert_says(world, LIVE_FABRIC, "connections", true, "[]");
    assert_int_equal(ask(world, LIVE_FABRIC, "connect H0 H7", false), 0);
    assert_int_equal(ask(world, LIVE_FABRIC, "connect H0 L0_0", false), -EINVAL);
    pass(world, 2 * TIME_MS);
    assert_says(world, LIVE_FABRIC, "connections", false, "H0 to H7: rc write, established");
    assert_says(world, LIVE_MANAGER, "connections", true, "\"to\":\"H7\"");
    assert_int_equal(ask(world, LIVE_FABRIC, "fail node H7", false), 0);
    pass(world, TIME_S);
    assert_says(world, LIVE_FABRIC, "connections", false, "broken (");
    assert_lists_connections(world, 1, "[");
    assert_non_null(strstr(world->out.data, "\"state\":\"broken\",\"reason\":"));
    assert_true(strstr(exported(world), "connect H0 H7") != NULL);
    uint64_t hash = fabric_trace_hash(live_session_setup(&world->live.session)->fabric);
    assert_true(run_whole(exported(world)) == hash);
    end(world);
}

/* What is exported reads as it was given, and has the same value. */
static void paces_are_exported_as_given(void **unused)
{
    (void)unused;
    static const char *const paces[][2] = {{"load 30%", NULL},
                                           {"load 0.3", NULL},
                                           {"load 1.2", NULL},
                                           {"load 12.5%", NULL},
                                           {"every 20us", NULL},
                                           {"every 0.5us", "every 500ns"},
                                           {"every 1000ps", "every 1ns"},
                                           {"rate 2Gbit/s", "rate 250000000"},
                                           {"rate 1234567.8", NULL}};
    struct world *world = begin("topology kary 2 3\nsm H0\nrun until settled\n");
    for (unsigned i = 0; i < sizeof paces / sizeof *paces; i++) {
        char words[64];
        snprintf(words, sizeof words, "connect H1 H6 %s", paces[i][0]);
        assert_int_equal(ask(world, LIVE_FABRIC, words, false), 0);
        snprintf(words, sizeof words, "connect H1 H6 %s\n",
                 paces[i][1] ? paces[i][1] : paces[i][0]);
        assert_non_null(strstr(exported(world), words));
        pass(world, 10 * TIME_US);
    }
    uint64_t hash = fabric_trace_hash(live_session_setup(&world->live.session)->fabric);
    assert_true(run_whole(exported(world)) == hash);
    end(world);
}

/* Names as a stranger may give them: words of the grammar, and the GUID of another node. */
static const char odd_names[] = "switchguid=0x10\nSwitch 3 \"S-10\" # \"attribute\"\n"
                                "[1] \"H-20\"[1]\n[2] \"H-30\"[1]\n[3] \"H-40\"[1]\n"
                                "caguid=0x20\nCa 1 \"H-20\" # \"auto\"\n[1] \"S-10\"[1]\n"
                                "caguid=0x30\nCa 1 \"H-30\" # \"0x0000000000000010\"\n"
                                "[1] \"S-10\"[2]\n"
                                "caguid=0x40\nCa 1 \"H-40\" # \"%attribute\"\n[1] \"S-10\"[3]\n";

static struct world *begin_network(const char *network, const char *rest)
{
    char path[] = "/tmp/weft-names-XXXXXX", scenario[256];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, network, strlen(network)), strlen(network));
    close(fd);
    snprintf(scenario, sizeof scenario, "topology \"%s\"\n%s", path, rest);
    struct world *world = begin(scenario);
    unlink(path);
    return world;
}

static struct world *begin_with_odd_names(void)
{
    return begin_network(odd_names, "sm 0x30\nrun until settled\n");
}

static const char *lossy(void *context, const char *name)
{
    (void)context;
    return strcmp(name, "do") == 0        ? "lossy"
           : strcmp(name, "percent") == 0 ? "100"
           : strcmp(name, "link") == 0    ? "1"
                                          : NULL;
}

static void a_name_is_no_part_of_the_grammar(void **unused)
{
    (void)unused;
    static const char *const commands[][2] = {
        {"drop 100% 0x10 2", "drop 100% 0x0000000000000010 2"},
        {"link down 0x10 1", "fail link 0x0000000000000010 1"},
        {"agent mute 0x30", "mute H-30"},
        {"agent mute %attribute", "mute 0x0000000000000040"},
        {"drop 1% attribute PortInfo", "drop 1% attribute 0x15"},
    };
    struct world *world = begin_with_odd_names();
    for (unsigned i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (ask(world, LIVE_FABRIC, commands[i][0], false))
            fail_msg("%s: %s", commands[i][0], world->out.data);
        if (!strstr(exported(world), commands[i][1]))
            fail_msg("%s: not in\n%s", commands[i][1], world->export.data);
    }
    struct action_request parameters = {.get = lossy};
    struct control_actions actions = {0};
    struct text text = {0};
    const struct topology *topology = &live_session_setup(&world->live.session)->topology;
    assert_int_equal(control_read(&world->live.watch, &parameters, &actions, NULL), 0);
    action_print(&actions.items[0], topology, &text);
    assert_string_equal(text.data, "drop 100% 0x0000000000000010 2");
    control_actions_release(&actions);
    text_clear(&text);
    const char *at_guid[] = {"vm", "create", "web1", "at", "0x20"};
    struct action action;
    assert_int_equal(action_read_words(&action, at_guid, 5, topology, NULL), 0);
    action_print(&action, topology, &text);
    assert_string_equal(text.data, "vm start web1 at 0x0000000000000020");
    text_release(&text);
    assert_true(ask(world, LIVE_FABRIC, "drop 100% attribute 2", false) < 0);
    assert_non_null(strstr(world->out.data, "'attribute' is also a node"));
    assert_true(ask(world, LIVE_MANAGER, "vm create web1 at auto", false) < 0);
    assert_non_null(strstr(world->out.data, "'auto' is also a node"));
    end(world);
}

static void a_wrong_word_of_an_action_is_named(void **unused)
{
    (void)unused;
    static const char *const cases[][2] = {
        {"fail lnik x", "'lnik' is not a word after 'fail': expected link, switch or node; "
                        "did you mean 'link'?"},
        {"fail link L0_9 3", "'L0_9' is not a node of this fabric; did you mean 'L0_0'?"},
        {"drop 200%", "'200%' is not a percentage"},
        {"fail", "the line ends here: expected link, switch or node"},
        {"vm strat web1", "expected: vm list | vm show NAME"},
        {"fial link L0_0 3", "'fial' is not a command of weft live"},
    };
    struct world *world = begin(tree);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(ask(world, LIVE_FABRIC, cases[i][0], false) < 0);
        if (!strstr(world->out.data, cases[i][1]))
            fail_msg("%s: %s", cases[i][0], world->out.data);
    }
    end(world);
}

static void the_page_sees_an_action_at_once(void **unused)
{
    (void)unused;
    struct world *world = begin(tree);
    uint64_t seq = world->live.publisher.tick.seq;
    assert_int_equal(ask(world, LIVE_FABRIC, "link down L0_0 3", false), 0);
    assert_true(world->live.publisher.tick.seq > seq);
    assert_says(world, LIVE_FABRIC, "status", true, "\"links_down\": 1");
    pass(world, 20 * TIME_MS);
    assert_says(world, LIVE_MANAGER, "changes", true, "\"finished\":true");
    assert_says(world, LIVE_MANAGER, "versions", true, "\"id\":2");
    end(world);
}

/* Of several faults of a link, the page shows that it is cut. */
static void a_cut_link_with_losses_is_cut(void **unused)
{
    (void)unused;
    static const char *const more[] = {"drop 5% L0_0 3", "errors L0_0 3 2/s"};
    struct world *world = begin(tree);
    assert_int_equal(ask(world, LIVE_FABRIC, "link down L0_0 3", false), 0);
    for (unsigned i = 0; i < 2; i++) {
        unsigned cut = 0;
        assert_int_equal(ask(world, LIVE_FABRIC, more[i], false), 0);
        for (uint32_t link = 0; link < world->live.watch.view.links.count; link++)
            cut += world->live.publisher.tick.links[link] == API_LINK_CUT;
        assert_int_equal(cut, 1);
    }
    end(world);
}

static enum api_link_state shown_state(const struct world *world, uint32_t port)
{
    return world->live.publisher.tick.links[world->live.watch.view.links.of_port[port]];
}

/* Both ends are on: the link is not down because of a node. */
static void a_restored_link_trains_and_waits_for_the_manager(void **unused)
{
    (void)unused;
    struct world *world = begin(tree);
    const struct topology *topology = &live_session_setup(&world->live.session)->topology;
    uint32_t port = topology_port_index(topology, topology_find(topology, "L0_0"), 3);
    assert_int_equal(ask(world, LIVE_FABRIC, "link down L0_0 3", false), 0);
    pass(world, 20 * TIME_MS);
    assert_int_equal(ask(world, LIVE_FABRIC, "link up L0_0 3", false), 0);
    assert_int_equal(shown_state(world, port), API_LINK_TRAINING);
    pass(world, 11 * TIME_MS); /* option `training` */
    live_refresh(&world->live);
    assert_int_equal(shown_state(world, port), API_LINK_NOT_ACTIVE);
    assert_int_equal(ask(world, LIVE_FABRIC, "switch down L0_0", false), 0);
    assert_int_equal(shown_state(world, port), API_LINK_DOWN);
    end(world);
}

static void machines_start_and_move(void **unused)
{
    (void)unused;
    struct world *world = begin("topology clos 2 2 2 vfs=2\nsm H0\nrun until settled\n");
    assert_says(world, LIVE_MANAGER, "vm create web1 at H1", false, "vm start web1 at H1");
    pass(world, 20 * TIME_MS);
    assert_says(world, LIVE_MANAGER, "vm list", true, "\"state\":\"running\"");
    assert_says(world, LIVE_MANAGER, "vm migrate web1 to H2 minimal", true,
                "vm migrate web1 to H2 minimal");
    pass(world, 20 * TIME_MS);
    assert_says(world, LIVE_MANAGER, "vm show web1", true, "\"hypervisor\":\"H2\"");
    pass(world, TIME_S); /* the packets of the old entries drain */
    assert_says(world, LIVE_MANAGER, "versions", false, "vm migrate web1: at H2");
    /* The start changed no entry: the function had its LID. */
    assert_int_equal(world->live.watch.versions.items.count, 2);
    assert_true(world->live.watch.versions.items.items[1].changed > 0);
    assert_says(world, LIVE_MANAGER, "vm destroy web1", false, "vm stop web1");
    pass(world, 20 * TIME_MS);
    assert_int_equal(ask(world, LIVE_MANAGER, "vm list", true), 0);
    assert_string_equal(world->out.data, "[]\n");
    uint64_t hash = fabric_trace_hash(live_session_setup(&world->live.session)->fabric);
    assert_true(run_whole(exported(world)) == hash);
    end(world);
}

static void a_new_master_knows_the_names_of_machines(void **unused)
{
    (void)unused;
    struct world *world = begin("topology clos 2 2 2 vfs=2\nsm H0 priority 3\nsm H3\n"
                                "run until settled\n");
    static const char *const commands[] = {"vm create web1 at H1", "vm start web2 at H1",
                                           "vm migrate web2 to H2"};
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(ask(world, LIVE_MANAGER, commands[i], false), 0);
        pass(world, 20 * TIME_MS);
    }
    assert_int_equal(ask(world, LIVE_MANAGER, "act kill sm H0", false), 0);
    for (unsigned i = 0; i < 60; i++) {
        pass(world, TIME_S);
        assert_int_equal(ask(world, LIVE_MANAGER, "status", true), 0);
        if (strstr(world->out.data, "\"state\":\"master\",\"settled\":true"))
            break;
    }
    assert_says(world, LIVE_MANAGER, "managers", false, "H3                   master");
    assert_says(world, LIVE_MANAGER, "vm list", true, "\"name\":\"web1\"");
    assert_says(world, LIVE_MANAGER, "vm list", true, "\"name\":\"web2\"");
    end(world);
}

static void a_deadlock_is_reported(void **unused)
{
    (void)unused;
    struct world *world =
        begin("topology ring 6 hosts=2 speed=SDR\nset data_vls 1\nset buffer 1024\n"
              "sm S0 engine minhop allow_cycles yes\n"
              "traffic uniform size 256 arrivals saturated start settled\nrun until settled\n");
    pass(world, 10 * TIME_MS);
    assert_says(world, LIVE_FABRIC, "deadlock", true, "\"deadlock\": true");
    unsigned hops = 0;
    for (const char *at = world->out.data; (at = strstr(at, "\"vl\":")); at++)
        hops++;
    assert_int_equal(hops, 6);
    end(world);
}

/* The page and both sockets list the same problems. */
static void refused_routes_are_a_problem_at_the_manager(void **unused)
{
    (void)unused;
    struct world *world = begin("topology ring 6 hosts=2\nset data_vls 1\n"
                                "sm S0 engine minhop priority 1\nsm S3 engine minhop\n"
                                "run until settled\n");
    const char *page = world->live.publisher.tick.sections[API_PROBLEMS].data;
    assert_non_null(strstr(page, "\"kind\":\"no routes\",\"place\":\"S0\""));
    assert_null(strstr(page, "\"node\":null"));
    for (unsigned at = 0; at < LIVE_SOCKETS; at++) {
        assert_says(world, (enum live_socket)at, "problems", false, "no routes: S0: ");
        assert_null(strchr(strchr(world->out.data, '\n') + 1, '\n'));
    }
    assert_says(world, LIVE_MANAGER, "status", false, "problems  1: see");
    end(world);
}

/* An event shows the node that it is about, whatever that is called: a blank does not hide a node,
 * and a switch called "link" is not a word of every sentence. */
static void an_event_selects_the_node_that_it_is_about(void **unused)
{
    (void)unused;
    static const char network[] =
        "switchguid=0x10\nSwitch 3 \"S-10\" # \"link\"\n"
        "[1] \"S-11\"[1]\n[2] \"H-20\"[1]\n"
        "switchguid=0x11\nSwitch 3 \"S-11\" # \"edge\"\n"
        "[1] \"S-10\"[1]\n[2] \"H-30\"[1]\n[3] \"H-40\"[1]\n"
        "caguid=0x20\nCa 1 \"H-20\" # \"manager\"\n[1] \"S-10\"[2]\n"
        "caguid=0x30\nCa 1 \"H-30\" # \"node01 mlx5_0\"\n[1] \"S-11\"[2]\n"
        "caguid=0x40\nCa 1 \"H-40\" # \"node02 mlx5_0\"\n[1] \"S-11\"[3]\n";
    struct world *world =
        begin_network(network, "sm 0x20\nrun until settled\nat 50ms fail node 0x30\nrun 100ms\n");
    pass(world, 100 * TIME_MS);
    live_refresh(&world->live);
    const struct topology *topology = &live_session_setup(&world->live.session)->topology;
    const struct api_log *log = &world->live.publisher.log;
    unsigned about = 0, of_link = 0, left = 0;
    for (size_t i = 0; i < log->items.count; i++) {
        const struct api_event *event = &log->items.items[i];
        uint64_t guid = event->node == TOPOLOGY_NONE ? 0 : topology->nodes.items[event->node].guid;
        about += guid == 0x30;
        of_link += guid == 0x10;
        if (strstr(event->text, "node01 mlx5_0\" left the subnet")) {
            assert_int_equal(guid, 0x30);
            left++;
        }
        if (strstr(event->text, "link down: edge port 2"))
            assert_int_equal(guid, 0x11);
    }
    assert_int_equal(left, 1);
    assert_true(about >= 2);      /* the action and its report */
    assert_int_equal(of_link, 1); /* it appeared */
    const char *page = world->live.publisher.tick.sections[API_PROBLEMS].data;
    assert_non_null(strstr(page, "\"place\":\"node01 mlx5_0\""));
    assert_null(strstr(page, "\"node\":null"));
    assert_null(strstr(page, "\"link\":null"));
    end(world);
}

static void an_invalid_command_changes_nothing(void **unused)
{
    (void)unused;
    static const char *const commands[] = {"",
                                           "nothing",
                                           "link down",
                                           "link down L0_0 99",
                                           "link sideways L0_0 1",
                                           "switch down H0",
                                           "drop 200%",
                                           "errors L0_0 3 x/s",
                                           "agent slow L0_0 now",
                                           "act",
                                           "act run 5s",
                                           "act kill sm H3",
                                           "act fail link L0_0 3 \n kill sm H0",
                                           "vm",
                                           "vm create",
                                           "vm create a;b",
                                           "vm create a at nowhere",
                                           "vm create a to H1",
                                           "vm migrate a any",
                                           "vm destroy a at H1",
                                           "vm ticket 1",
                                           "vm show a",
                                           "counters nobody",
                                           "path H0",
                                           "top",
                                           "sweep",
                                           "handover",
                                           "port disable L0_0 3",
                                           "dump",
                                           "events follow",
                                           "managers now"};
    struct world *world = begin(tree);
    struct text before = {0};
    text_puts(&before, exported(world));
    for (unsigned i = 0; i < sizeof commands / sizeof *commands; i++)
        for (unsigned at = 0; at < LIVE_SOCKETS; at++) {
            if (ask(world, (enum live_socket)at, commands[i], at == 0) >= 0)
                fail_msg("accepted: %s", commands[i]);
            assert_true(world->out.length > 0);
        }
    assert_string_equal(before.data, exported(world));
    assert_int_equal(ask(world, LIVE_MANAGER, "counters", false), -EINVAL);
    assert_int_equal(ask(world, LIVE_FABRIC, "act kill sm H0", false), 0);
    assert_int_equal(ask(world, LIVE_FABRIC, "act kill sm H7", false), 0);
    assert_int_equal(ask(world, LIVE_MANAGER, "status", false), -EINVAL);
    assert_string_equal(world->out.data, "no manager runs");
    assert_int_equal(ask(world, LIVE_FABRIC, "stop", false), 0);
    assert_true(world->live.stopped);
    text_release(&before);
    end(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_is_served_while_the_subnet_comes_up),
        cmocka_unit_test(next_stops_at_events_and_at_no_note),
        cmocka_unit_test(reports_are_those_of_the_run),
        cmocka_unit_test(hosts_are_connected_by_an_action),
        cmocka_unit_test(paces_are_exported_as_given),
        cmocka_unit_test(the_api_makes_connections_and_lists_those_of_ctl),
        cmocka_unit_test(the_api_lists_the_last_200_connections),
        cmocka_unit_test(actions_are_statements_that_the_export_repeats),
        cmocka_unit_test(a_name_is_no_part_of_the_grammar),
        cmocka_unit_test(a_wrong_word_of_an_action_is_named),
        cmocka_unit_test(the_page_sees_an_action_at_once),
        cmocka_unit_test(a_cut_link_with_losses_is_cut),
        cmocka_unit_test(a_restored_link_trains_and_waits_for_the_manager),
        cmocka_unit_test(machines_start_and_move),
        cmocka_unit_test(a_new_master_knows_the_names_of_machines),
        cmocka_unit_test(a_deadlock_is_reported),
        cmocka_unit_test(refused_routes_are_a_problem_at_the_manager),
        cmocka_unit_test(an_event_selects_the_node_that_it_is_about),
        cmocka_unit_test(an_invalid_command_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
