/* Runs in parts, with actions by hand: neither the parts nor the export change the trace hash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/time.h"
#include "effort.h"
#include "experiment/run/run.h"

#include <stdio.h>
#include <string.h>

static const char *const scenarios[] = {
    /* ended by the run until settled, then free */
    "topology clos 3 2 4\n"
    "sm S0\n"
    "sm H5\n"
    "traffic uniform load 0.2 start settled\n"
    "run until settled\n",
    /* statements of its own: relative, random and absolute times, checks */
    "topology torus 3x3\n"
    "sm H0 priority 5\n"
    "sm H4 priority 3\n"
    "traffic uniform load 0.1\n"
    "run until settled\n"
    "check no-loss-of unaffected\n"
    "at settled+2ms within 1ms fail link S1_1 1\n"
    "after 5ms kill sm H0\n"
    "run for 9ms\n"
    "mute S1_0\n"
    "run until settled limit 20ms\n"
    "heal S1_0\n",
    /* lossy management, no data */
    "topology irregular 12\n"
    "sm S2\n"
    "drop 2%\n"
    "run until settled\n"
    "run for 10ms\n",
    /* virtual machines */
    "topology clos 2 2 3 vfs=3\n"
    "sm H0 priority 9\n"
    "sm H4\n"
    "traffic uniform load 0.1 start settled\n"
    "vm start a at H1\n"
    "run until settled\n",
};
enum { SCENARIOS = sizeof scenarios / sizeof scenarios[0], ACTIONS = 20 };

static void read_scenario(struct scenario *scenario, const char *text)
{
    struct err err = {0};
    char message[1024];
    if (scenario_read_text(scenario, "x.weft", text, strlen(text), &err) != 0)
        fail_msg("%s in\n%s", err_text(&err, message, sizeof message), text);
}

static uint64_t run_whole(const char *text, uint64_t *end)
{
    struct scenario scenario;
    struct run_record record = {0};
    struct err err = {0};
    char message[1024];
    read_scenario(&scenario, text);
    if (run_scenario(&scenario, &(struct run_options){0}, &record, &err) != 0)
        fail_msg("%s in\n%s", err_text(&err, message, sizeof message), text);
    uint64_t hash = record.hash;
    *end = record.end;
    run_record_release(&record);
    scenario_release(&scenario);
    return hash;
}

/* ---- actions ---- */

static void draw_link(const struct setup *setup, struct rng *rng, char *text, size_t size)
{
    const struct topology *topology = &setup->topology;
    uint32_t port;
    do
        port = (uint32_t)rng_below(rng, topology->ports.count);
    while (topology->ports.items[port].peer == TOPOLOGY_NONE);
    snprintf(text, size, "%s %u", node_label(topology, topology->ports.items[port].node),
             topology_port_number(topology, port));
}

static void draw_action(const struct setup *setup, struct rng *rng, char *line, size_t size)
{
    static const char *const of_links[] = {"fail link", "restore link", "flap", "drop 30%"};
    static const char *const of_nodes[] = {"fail node", "restore node", "mute", "heal"};
    static const char *const of_managers[] = {"kill sm", "start sm", "stop sm", "reroute"};
    const struct topology *topology = &setup->topology;
    char link[128];
    uint32_t node = (uint32_t)rng_below(rng, topology->nodes.count);
    size_t manager = (size_t)rng_below(rng, setup->instances.count);
    draw_link(setup, rng, link, sizeof link);
    switch (rng_below(rng, setup->machines.hypervisors.count ? 6 : 4)) {
    case 0:
    case 1: snprintf(line, size, "%s %s", of_links[rng_below(rng, 4)], link); break;
    case 2:
        snprintf(line, size, "%s %s", of_nodes[rng_below(rng, 4)], node_label(topology, node));
        break;
    case 3:
        snprintf(line, size, "%s %s", of_managers[rng_below(rng, 4)],
                 setup->instances.items[manager]->name);
        break;
    case 4: snprintf(line, size, "vm start m%u", (unsigned)rng_below(rng, 3)); break;
    default: snprintf(line, size, "vm migrate m%u to auto", (unsigned)rng_below(rng, 3));
    }
}

/* Advances in parts of random length, whole nanoseconds. */
static void advance(struct scenario_run *run, struct rng *rng, uint64_t most)
{
    for (unsigned parts = 1 + (unsigned)rng_below(rng, 4); parts > 0; parts--) {
        uint64_t now = sim_now(scenario_run_setup(run)->sim);
        uint64_t until = now / TIME_NS * TIME_NS + TIME_NS * (1 + rng_below(rng, most / TIME_NS));
        assert_int_equal(scenario_run_advance(run, until), 0);
        assert_int_equal(sim_now(scenario_run_setup(run)->sim), until);
    }
}

/* ---- claims ---- */

static void the_parts_of_a_run_do_not_change_it(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < SCENARIOS; i++) {
        struct scenario scenario;
        struct run_record record = {0};
        struct scenario_run *run;
        struct err err = {0};
        struct rng rng;
        uint64_t end, hash = run_whole(scenarios[i], &end);
        rng_seed(&rng, i, 1);
        read_scenario(&scenario, scenarios[i]);
        assert_int_equal(
            scenario_run_begin(&run, &scenario, &(struct run_options){0}, &record, &err), 0);
        const struct setup *setup = scenario_run_setup(run);
        while (sim_now(setup->sim) < end) {
            uint64_t until = sim_now(setup->sim) + 1 + rng_below(&rng, 20 * TIME_US);
            assert_int_equal(scenario_run_advance(run, until < end ? until : end), 0);
        }
        if (fabric_trace_hash(setup->fabric) != hash)
            fail_msg("scenario %u: the hash differs", i);
        scenario_run_end(run);
        run_record_release(&record);
        scenario_release(&scenario);
    }
}

static int act_line(struct scenario_run *run, const char *line, struct err *err)
{
    struct action action;
    int status = action_read_line(&action, line, &scenario_run_setup(run)->topology, err);
    if (status == 0)
        status = scenario_run_act(run, &action, err);
    action_release(&action);
    return status;
}

static void check_session(unsigned number, uint64_t seed)
{
    struct scenario scenario;
    struct run_record record = {0};
    struct scenario_run *run;
    struct err err = {0};
    struct rng rng;
    struct text export = {0};
    unsigned acted = 0;
    rng_seed(&rng, seed, number);
    read_scenario(&scenario, scenarios[number]);
    scenario_override_seed(&scenario, seed);
    assert_int_equal(scenario_run_begin(&run, &scenario, &(struct run_options){0}, &record, &err),
                     0);
    const struct setup *setup = scenario_run_setup(run);
    for (unsigned tries = 0; acted < ACTIONS && tries < 10 * ACTIONS; tries++) {
        char line[256];
        if (rng_below(&rng, 3)) /* else several at the same time */
            advance(run, &rng, 2 * TIME_MS);
        draw_action(setup, &rng, line, sizeof line);
        acted += act_line(run, line, &err) == 0;
    }
    assert_true(acted == ACTIONS);
    if (seed % 2)
        advance(run, &rng, 10 * TIME_MS);
    scenario_run_export(run, true, &export);
    uint64_t hash = fabric_trace_hash(setup->fabric), now = sim_now(setup->sim), end;
    scenario_run_end(run);
    uint64_t again = run_whole(export.data, &end);
    if (again != hash || end != now)
        fail_msg("scenario %u, seed %u: ends at %.6f ms and not %.6f, hash %s, with\n%s", number,
                 (unsigned)seed, (double)end / TIME_MS, (double)now / TIME_MS,
                 again == hash ? "same" : "other", export.data);
    text_release(&export);
    run_record_release(&record);
    scenario_release(&scenario);
}

static void the_export_repeats_what_was_done_by_hand(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < SCENARIOS; i++)
        for (uint64_t seed = 1; seed <= effort(30, 3, 1); seed++)
            check_session(i, seed);
}

static void a_refused_action_changes_nothing(void **unused)
{
    (void)unused;
    static const char *const lines[] = {
        "fail link S0 99",  "kill sm S1", "start sm S0", "run 5s", "at 1s mute S0",
        "mute S0\nmute S1", "",           "vm stop x"};
    struct scenario scenario;
    struct run_record record = {0};
    struct scenario_run *run;
    struct err err = {0};
    struct text before = {0}, after = {0};
    read_scenario(&scenario, "topology clos 2 1 2\nsm S0\nrun until settled\n");
    assert_int_equal(scenario_run_begin(&run, &scenario, &(struct run_options){0}, &record, &err),
                     0);
    assert_int_equal(scenario_run_advance(run, 20 * TIME_MS), 0);
    scenario_run_export(run, true, &before);
    for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        err = (struct err){0};
        assert_true(act_line(run, lines[i], &err) < 0);
        assert_true(err.message[0] != 0);
    }
    scenario_run_export(run, true, &after);
    assert_string_equal(before.data, after.data);
    scenario_run_end(run);
    text_release(&before);
    text_release(&after);
    run_record_release(&record);
    scenario_release(&scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_parts_of_a_run_do_not_change_it),
        cmocka_unit_test(the_export_repeats_what_was_done_by_hand),
        cmocka_unit_test(a_refused_action_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
