/* Agents that refuse or ignore Sets: the rest of the subnet comes up, the problem is logged once,
 * and each sweep repeats the request once. smp_filter.h changes the SMPs of such agents. */
#include "smp_filter.h"

#include "base/mem.h"

#include <string.h>

enum how {
    OBEYS,
    REFUSES,                 /* answers a Set with a status and stays as it is */
    IGNORES,                 /* answers a Set as if it had been a Get */
    KEEPS_PORT_STATE_CHANGE, /* PortStateChange is never cleared */
    SILENT,                  /* does not answer a Set */
};

struct bench {
    struct world world;
    struct smp_filter smp_filter;
    struct sm_config config;
    struct partitions rules;
    enum how how;
    uint32_t node;                /* the agent */
    unsigned attribute, modifier; /* the attribute it refuses */
    unsigned asked;               /* Sets that it got */
    unsigned warnings, errors, ups;
};

static bool send(void *context, uint8_t *request);
static void receive(void *context, uint8_t *answer);
static void note_event(void *context, const struct sm_event *event);

/* Prepares a manager; switches have tables of `entries` entries. */
static struct bench *bench_open(void **state, unsigned entries, const char *fabric,
                                const char *port)
{
    struct bench *bench = *state = mem_zalloc(1, sizeof *bench);
    struct fabric_options options;
    assert_int_equal(fabric_options_preset(&options, "today", NULL), 0);
    options.node.agent.linear_entries = (uint16_t)entries;
    world_open_with(&bench->world, &options, fabric);
    sm_config_init(&bench->config);
    bench->config.sweep_ns = 1 * NS_PER_S;
    bench->smp_filter = (struct smp_filter){.fabric = bench->world.fabric,
                                            .port = host(&bench->world, port),
                                            .context = bench,
                                            .send = send,
                                            .receive = receive,
                                            .note_event = note_event};
    return bench;
}

static struct bench *bench_open_figure_1(void **state)
{
    return bench_open(state, LFT_ENTRIES, "figure1", "H4");
}

static void bench_start(struct bench *bench)
{
    smp_filter_start(&bench->smp_filter, &bench->config);
}

static int bench_close(void **state)
{
    struct bench *bench = *state;
    smp_filter_stop(&bench->smp_filter);
    partitions_release(&bench->rules);
    world_close(&bench->world);
    mem_free(bench);
    return 0;
}
#define BENCH_TEST(test) cmocka_unit_test_teardown(test, bench_close)

static void make_refusing(struct bench *bench, enum how how, uint32_t port, unsigned attribute,
                          unsigned modifier)
{
    bench->how = how;
    bench->node = bench->world.topology.ports.items[port].node;
    bench->attribute = attribute;
    bench->modifier = modifier;
    bench->asked = 0;
}

/* ---- hooks ---- */

static uint32_t node_behind(const struct bench *bench, const uint8_t *mad)
{
    const struct topology *topology = &bench->world.topology;
    uint32_t node = topology->ports.items[bench->smp_filter.port].node;
    for (unsigned hop = 1; hop <= wire_get(mad, SMP_HOP_COUNT); hop++) {
        unsigned number = (unsigned)wire_get_at(mad, SMP_INITIAL_PATH, hop);
        uint32_t peer = topology->ports.items[topology_port_index(topology, node, number)].peer;
        if (peer == TOPOLOGY_NONE)
            return TOPOLOGY_NONE;
        node = topology->ports.items[peer].node;
    }
    return node;
}

static bool is_concerned(const struct bench *bench, const uint8_t *mad)
{
    return bench->how != OBEYS && mad_is_directed(mad) &&
           wire_get(mad, MAD_ATTRIBUTE_ID) == bench->attribute &&
           wire_get(mad, MAD_ATTRIBUTE_MODIFIER) == bench->modifier &&
           node_behind(bench, mad) == bench->node;
}

static bool send(void *context, uint8_t *request)
{
    struct bench *bench = context;
    if (wire_get(request, MAD_METHOD) != METHOD_SET || !is_concerned(bench, request))
        return true;
    bench->asked++;
    if (bench->how == REFUSES)
        smp_filter_refuse(&bench->smp_filter, request);
    else if (bench->how == IGNORES)
        wire_set(request, MAD_METHOD, METHOD_GET);
    return bench->how != SILENT;
}

static void receive(void *context, uint8_t *answer)
{
    const struct bench *bench = context;
    if (bench->how == KEEPS_PORT_STATE_CHANGE && is_concerned(bench, answer))
        wire_set(answer + SMP_DATA_OFFSET, SWITCH_INFO_PORT_STATE_CHANGE, 1);
}

static void note_event(void *context, const struct sm_event *event)
{
    struct bench *bench = context;
    bench->warnings += event->kind == SM_EVENT_WARNING;
    bench->errors += event->kind == SM_EVENT_ERROR;
    bench->ups += event->kind == SM_EVENT_UP;
}

static void run(struct bench *bench, uint64_t duration)
{
    smp_filter_run(&bench->smp_filter, duration);
}

/* Figure 1, half a second after the start of a manager; S3 refuses. */
static struct bench *bench_up_against(void **state, enum how how, unsigned attribute,
                                      unsigned modifier)
{
    struct bench *bench = bench_open_figure_1(state);
    make_refusing(bench, how, host(&bench->world, "S3"), attribute, modifier);
    bench_start(bench);
    run(bench, 500 * TIME_MS);
    assert_true(sm_is_settled(bench->smp_filter.sm));
    return bench;
}

static unsigned inactive_links(const struct bench *bench)
{
    unsigned count = 0;
    for (uint32_t port = 0; port < bench->world.topology.ports.count; port++)
        count += fabric_link_is_up(bench->world.fabric, port) &&
                 wire_get(fabric_port_info(bench->world.fabric, port), PORT_INFO_PORT_STATE) !=
                     PORT_STATE_ACTIVE;
    return count;
}

/* ---- ports ---- */

/* Of a link between switches: table updates wait for ports that are being activated. */
static void refuse_port_settings(void **state, enum how how)
{
    struct bench *bench = bench_up_against(state, how, ATTRIBUTE_PORT_INFO, 1);
    uint32_t port = host(&bench->world, "S3");
    assert_int_equal(bench->ups, 1);
    assert_int_equal(bench->asked, 3);
    assert_int_equal(bench->warnings, 1);
    assert_true(inactive_links(bench) <= 2); /* both ends */
    run(bench, 10 * TIME_S);
    assert_int_equal(bench->asked, 3 + 10); /* once per sweep */
    assert_int_equal(bench->warnings, 1);   /* without a log line */
    assert_int_equal(bench->ups, 1);

    bench->how = OBEYS;
    run(bench, 2 * TIME_S);
    assert_true(all_active(&bench->world));
    assert_true(all_delivered(&bench->world));

    make_refusing(bench, how, port, ATTRIBUTE_PORT_INFO, 1);
    assert_int_equal(fabric_flap_port(bench->world.fabric, port, NULL), 0);
    run(bench, 5 * TIME_S);
    assert_true(sm_is_settled(bench->smp_filter.sm));
    assert_true(bench->ups >= 2);
    assert_true(bench->asked >= 3 && bench->asked <= 3 + 5 + 3);
    assert_int_equal(bench->warnings, 2);
}

static void a_port_that_refuses_settings_blocks_no_other(void **state)
{
    refuse_port_settings(state, REFUSES);
}

static void a_port_that_stays_in_its_state_blocks_no_other(void **state)
{
    refuse_port_settings(state, IGNORES);
}

/* ---- switches ---- */

static void a_switch_with_permanent_port_state_change_is_read_by_sweeps(void **state)
{
    struct bench *bench =
        bench_up_against(state, KEEPS_PORT_STATE_CHANGE, ATTRIBUTE_SWITCH_INFO, 0);
    assert_int_equal(bench->ups, 1);
    assert_int_equal(bench->warnings, 1);
    assert_int_equal(bench->asked, 3);
    assert_true(all_active(&bench->world));
    run(bench, 10 * TIME_S);
    assert_int_equal(bench->asked, 3 + 10);
    assert_int_equal(bench->warnings, 1);
}

static void a_refused_block_is_repeated_by_sweeps_and_logged_once(void **state)
{
    struct bench *bench = bench_up_against(state, REFUSES, ATTRIBUTE_LINEAR_FORWARDING_TABLE, 0);
    assert_int_equal(bench->asked, 1);
    assert_int_equal(bench->errors, 1);
    assert_true(all_active(&bench->world));
    run(bench, 10 * TIME_S);
    assert_int_equal(bench->asked, 1 + 10);
    assert_int_equal(bench->errors, 1);

    bench->how = OBEYS;
    run(bench, 1 * TIME_S);
    assert_true(all_delivered(&bench->world));
}

/* A block with other contents is written at once. */
static void a_refused_block_is_tried_when_another_is_wanted(void **state)
{
    struct bench *bench = bench_open_figure_1(state);
    bench->config.sweep_ns = TIME_NEVER;
    make_refusing(bench, REFUSES, host(&bench->world, "S3"), ATTRIBUTE_LINEAR_FORWARDING_TABLE, 0);
    bench_start(bench);
    run(bench, 10 * TIME_S);
    assert_int_equal(bench->asked, 1);
    bench->how = OBEYS;
    fabric_set_node(bench->world.fabric,
                    bench->world.topology.ports.items[host(&bench->world, "H15")].node, false,
                    NULL);
    run(bench, 2 * TIME_S);
    assert_true(sm_is_settled(bench->smp_filter.sm));
    assert_true(all_delivered(&bench->world));
}

static void a_refused_block_of_a_random_table_blocks_no_port(void **state)
{
    struct bench *bench = bench_open(state, 0, "figure1", "H4");
    make_refusing(bench, REFUSES, host(&bench->world, "S3"), ATTRIBUTE_RANDOM_FORWARDING_TABLE, 0);
    bench_start(bench);
    run(bench, 10 * TIME_S);
    assert_true(sm_is_settled(bench->smp_filter.sm));
    assert_int_equal(bench->asked, 1);
    assert_int_equal(bench->errors, 1);
    assert_true(all_active(&bench->world));
}

static void refused_switch_settings_are_logged_once(void **state)
{
    struct bench *bench = bench_up_against(state, REFUSES, ATTRIBUTE_SWITCH_INFO, 0);
    assert_int_equal(bench->asked, 1);
    assert_int_equal(bench->errors, 1);
    assert_true(all_active(&bench->world));
    assert_false(all_delivered(&bench->world));

    bench->how = OBEYS;
    run(bench, 1 * TIME_S);
    assert_true(sm_is_settled(bench->smp_filter.sm));
    assert_int_equal(bench->errors, 1);
    assert_true(all_delivered(&bench->world));
}

static void a_table_that_is_too_small_is_filled_and_logged(void **state)
{
    enum { SWITCHES = 16, ENTRIES = 64 };
    struct bench *bench =
        bench_open(state, ENTRIES, "irregular switches=16 hosts=60 ports=12", "H0");
    bench_start(bench);
    run(bench, 10 * TIME_S);
    assert_true(sm_is_settled(bench->smp_filter.sm));
    assert_int_equal(bench->errors, SWITCHES);
    assert_int_equal(bench->ups, 1);
    assert_true(all_active(&bench->world));
    for (uint32_t node = 0; node < bench->world.topology.nodes.count; node++) {
        uint32_t end = end_port(&bench->world, node);
        uint64_t lid = wire_get(fabric_port_info(bench->world.fabric, end), PORT_INFO_LID);
        unsigned top = 0;
        const uint8_t *table = fabric_linear_table(bench->world.fabric, node, &top);
        assert_true(end == bench->smp_filter.port || lid >= ENTRIES ||
                    answers_by_lid(&bench->world, bench->smp_filter.port, end));
        assert_true(!table || top == ENTRIES - 1);
    }
}

/* ---- the manager's own port ---- */

static void an_unanswered_block_of_the_own_port_times_out(void **state)
{
    static const char rules[] = "Default=0x7fff: ALL=full;\nfoo=0x0002: ALL=full;\n";
    struct bench *bench = bench_open_figure_1(state);
    struct err err = {0};
    assert_int_equal(partitions_read(&bench->rules, from_text("rules", rules, &err)), 0);
    bench->config.partitions = &bench->rules;
    make_refusing(bench, SILENT, bench->smp_filter.port, ATTRIBUTE_P_KEY_TABLE, 0);
    bench_start(bench);
    run(bench, 30 * TIME_S);
    assert_true(sm_is_settled(bench->smp_filter.sm));
    assert_int_equal(bench->ups, 1);
    assert_int_equal(bench->warnings, 1);
    assert_int_equal(bench->asked, 1 + bench->config.retries);
    assert_true(all_active(&bench->world));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(a_port_that_refuses_settings_blocks_no_other),
        BENCH_TEST(a_port_that_stays_in_its_state_blocks_no_other),
        BENCH_TEST(a_switch_with_permanent_port_state_change_is_read_by_sweeps),
        BENCH_TEST(a_refused_block_is_repeated_by_sweeps_and_logged_once),
        BENCH_TEST(a_refused_block_is_tried_when_another_is_wanted),
        BENCH_TEST(a_refused_block_of_a_random_table_blocks_no_port),
        BENCH_TEST(refused_switch_settings_are_logged_once),
        BENCH_TEST(a_table_that_is_too_small_is_filled_and_logged),
        BENCH_TEST(an_unanswered_block_of_the_own_port_times_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
