/* Nodes that move, come back changed, or answer requests in part or with errors: the manager
 * discovers the rest and logs the problem. smp_filter.h changes the SMPs of such nodes. */
#include "smp_filter.h"

#include "base/mem.h"
#include "subnet/partitions.h"

#include <string.h>

/* Three switches in a row; the manager's adapter H0 has a port at each of the first two. */
static const char net[] = "switchguid=0x200000\n"
                          "Switch 4 \"S0\"\n[1] \"S1\"[2]\n[3] \"H0\"[1]\n\n"
                          "switchguid=0x200001\n"
                          "Switch 4 \"S1\"\n[1] \"S2\"[1]\n[2] \"S0\"[1]\n[3] \"H0\"[2]\n"
                          "[4] \"H1\"[1]\n\n"
                          "switchguid=0x200002\n"
                          "Switch 4 \"S2\"\n[1] \"S1\"[1]\n[3] \"H2\"[1]\n\n"
                          "caguid=0x100000\nCa 2 \"H0\"\n[1] \"S0\"[3]\n[2] \"S1\"[3]\n\n"
                          "caguid=0x100002\nCa 1 \"H1\"\n[1] \"S1\"[4]\n\n"
                          "caguid=0x100004\nCa 1 \"H2\"\n[1] \"S2\"[3]\n";

struct bench;
typedef bool meddler(struct bench *bench, const uint8_t *mad);

struct bench {
    struct world world;
    struct smp_filter smp_filter;
    meddler *refuses;     /* requests that are answered with a status */
    meddler *loses;       /* requests that are not answered */
    unsigned ports_of_s2; /* in NodeInfo; 0: the real number */
    struct partitions rules;
    const uint8_t *reset; /* a path of three hops to an end port that reports no LID */
    unsigned keys;        /* Sets of its P_Key table */
    char said[8][512];    /* the first warnings and errors */
    unsigned count, gone; /* their number; nodes that disappeared */
};

static bool send(void *context, uint8_t *request);
static void receive(void *context, uint8_t *answer);
static void note_event(void *context, const struct sm_event *event);

static struct bench *bench_open(void **state)
{
    struct err err = {0};
    struct fabric_options options;
    struct sm_config config;
    struct bench *bench = *state = mem_zalloc(1, sizeof *bench);
    topology_init(&bench->world.topology);
    assert_int_equal(topology_read(&bench->world.topology, from_text("net", net, &err)), 0);
    assert_int_equal(fabric_options_preset(&options, "today", &err), 0);
    bench->world.fabric = fabric_new(&bench->world.topology, &options, 1);
    bench->smp_filter = (struct smp_filter){.fabric = bench->world.fabric,
                                            .port = host(&bench->world, "H0"),
                                            .context = bench,
                                            .send = send,
                                            .receive = receive,
                                            .note_event = note_event};
    assert_int_equal(
        partitions_read(&bench->rules, from_text("rules", "Default=0x7fff: ALL=full;", &err)), 0);
    sm_config_init(&config);
    config.partitions = &bench->rules;
    smp_filter_start(&bench->smp_filter, &config);
    return bench;
}

static struct bench *bench_up(void **state)
{
    struct bench *bench = bench_open(state);
    smp_filter_run(&bench->smp_filter, 1 * TIME_S);
    return bench;
}

static int bench_close(void **state)
{
    struct bench *bench = *state;
    smp_filter_stop(&bench->smp_filter);
    partitions_release(&bench->rules);
    fabric_free(bench->world.fabric);
    topology_release(&bench->world.topology);
    mem_free(bench);
    return 0;
}
#define BENCH_TEST(test) cmocka_unit_test_teardown(test, bench_close)

/* ---- hooks ---- */

static bool goes_to(const uint8_t *mad, unsigned hops, const uint8_t *path)
{
    if (!mad_is_directed(mad) || wire_get(mad, SMP_HOP_COUNT) != hops)
        return false;
    for (unsigned hop = 1; hop <= hops; hop++)
        if (wire_get_at(mad, SMP_INITIAL_PATH, hop) != path[hop - 1])
            return false;
    return true;
}

static bool goes_to_s1(const uint8_t *mad)
{
    return goes_to(mad, 2, (const uint8_t[]){1, 1});
}

static bool is_from_s2(const uint8_t *mad)
{
    return wire_get(mad + SMP_DATA_OFFSET, NODE_INFO_NODE_GUID) == 0x200002;
}

static bool send(void *context, uint8_t *request)
{
    struct bench *bench = context;
    bench->keys += bench->reset && goes_to(request, 3, bench->reset) &&
                   wire_get(request, MAD_METHOD) == METHOD_SET &&
                   wire_get(request, MAD_ATTRIBUTE_ID) == ATTRIBUTE_P_KEY_TABLE;
    if (bench->loses && bench->loses(bench, request))
        return false;
    if (bench->refuses && bench->refuses(bench, request))
        smp_filter_refuse(&bench->smp_filter, request);
    return true;
}

static void receive(void *context, uint8_t *answer)
{
    const struct bench *bench = context;
    unsigned attribute = (unsigned)wire_get(answer, MAD_ATTRIBUTE_ID);
    if (bench->ports_of_s2 && attribute == ATTRIBUTE_NODE_INFO && is_from_s2(answer))
        wire_set(answer + SMP_DATA_OFFSET, NODE_INFO_NUM_PORTS, bench->ports_of_s2);
    if (bench->reset && goes_to(answer, 3, bench->reset) && attribute == ATTRIBUTE_PORT_INFO)
        wire_set(answer + SMP_DATA_OFFSET, PORT_INFO_LID, 0);
}

static void note_event(void *context, const struct sm_event *event)
{
    struct bench *bench = context;
    bench->gone += event->kind == SM_EVENT_NODE_OUT;
    if (event->kind != SM_EVENT_WARNING && event->kind != SM_EVENT_ERROR)
        return;
    if (bench->count < 8)
        snprintf(bench->said[bench->count], sizeof bench->said[0], "%s", event->text);
    bench->count++;
}

static void run(struct bench *bench, uint64_t duration)
{
    smp_filter_run(&bench->smp_filter, duration);
}

static bool has_logged(const struct bench *bench, const char *text)
{
    bool said = false;
    for (unsigned i = 0; i < bench->count && i < 8; i++)
        said |= strstr(bench->said[i], text) != NULL;
    return said;
}

static uint32_t node_named(const struct bench *bench, const char *name)
{
    return topology_find(&bench->world.topology, name);
}

/* Whether this port of a switch is linked to a node with this GUID in the manager's subnet. */
static bool is_linked_to(const struct bench *bench, uint64_t at, unsigned number, uint64_t guid)
{
    const struct subnet *subnet = sm_subnet(bench->smp_filter.sm);
    uint32_t node = map_get(&subnet->by_guid, at);
    if (node == MAP_NONE || !subnet->nodes.items[node].present)
        return false;
    uint32_t peer = subnet->ports.items[subnet->nodes.items[node].first_port + number].peer;
    return peer != SUBNET_NONE && subnet->ports.items[subnet_end_port(subnet, peer)].lid &&
           subnet->nodes.items[subnet->ports.items[peer].node].guid == guid;
}

/* ---- places ---- */

static void set_node(struct bench *bench, const char *name, bool up)
{
    assert_int_equal(fabric_set_node(bench->world.fabric, node_named(bench, name), up, NULL), 0);
}

/* H2's adapter is moved to H1's port; the manager gets no trap about its removal. */
static void move_h2(struct bench *bench, bool first_down)
{
    uint32_t s2 = topology_port_index(&bench->world.topology, node_named(bench, "S2"), 1);
    set_node(bench, "H1", false);
    run(bench, 100 * TIME_MS);
    assert_false(is_linked_to(bench, 0x200001, 4, 0x100002));
    assert_int_equal(
        fabric_set_loss(bench->world.fabric, s2, ATTRIBUTE_NOTICE, UINT64_C(1) << 32, NULL), 0);
    if (first_down)
        set_node(bench, "H2", false);
    set_node(bench, "H1", true);
    assert_int_equal(fabric_set_guid(bench->world.fabric, node_named(bench, "H1"), 0x100004, NULL),
                     0);
}

static void an_adapter_that_moved_is_found_at_once(void **state)
{
    struct bench *bench = bench_up(state);
    move_h2(bench, true);
    run(bench, 2 * TIME_S);
    assert_true(is_linked_to(bench, 0x200001, 4, 0x100004));
    assert_int_equal(bench->count, 0); /* no duplicate GUID was reported */
    assert_true(sm_is_settled(bench->smp_filter.sm));
    assert_true(all_active(&bench->world));
}

/* Two nodes with one GUID are logged once, and are read by every sweep, not only by full ones. */
static void the_second_of_two_duplicates_is_found_when_the_first_is_removed(void **state)
{
    struct bench *bench = bench_up(state);
    move_h2(bench, false);
    run(bench, 31 * TIME_S);
    assert_true(is_linked_to(bench, 0x200002, 3, 0x100004));
    assert_int_equal(bench->count, 1);
    assert_true(has_logged(bench, "two nodes share the GUID 0x0000000000100004"));
    set_node(bench, "H2", false);
    run(bench, 10 * TIME_S);
    assert_true(is_linked_to(bench, 0x200001, 4, 0x100004));
    assert_int_equal(bench->count, 1);
}

static void a_switch_comes_back_with_other_ports(void **state)
{
    struct bench *bench = bench_up(state);
    const struct subnet *subnet = sm_subnet(bench->smp_filter.sm);
    uint32_t before = map_get(&subnet->by_guid, 0x200002);
    uint16_t lid = subnet->ports.items[subnet->nodes.items[before].first_port].lid;
    set_node(bench, "S2", false);
    run(bench, 1 * TIME_S);
    bench->ports_of_s2 = 3;
    set_node(bench, "S2", true);
    run(bench, 1 * TIME_S);
    uint32_t after = map_get(&subnet->by_guid, 0x200002);
    assert_int_equal(bench->count, 0);
    assert_int_not_equal(after, before);
    assert_int_equal(subnet->nodes.items[after].port_count, 3);
    assert_int_equal(subnet->ports.items[subnet->nodes.items[after].first_port].lid, lid);
    assert_true(is_linked_to(bench, 0x200002, 3, 0x100004));
    assert_true(sm_is_settled(bench->smp_filter.sm));
    assert_true(all_delivered(&bench->world));
}

/* Its links did not go down: the manager detects the reset by the missing LID. */
static void a_node_that_was_reset_is_configured_again(void **state)
{
    struct bench *bench = bench_up(state);
    bench->reset = (const uint8_t[]){1, 1, 1}; /* S2 */
    set_node(bench, "H2", false);              /* causes a sweep */
    run(bench, 100 * TIME_MS);
    assert_true(bench->keys > 0);
    bench->reset = (const uint8_t[]){1, 1, 4}; /* H1 */
    bench->keys = 0;
    run(bench, 70 * TIME_S); /* until after a full sweep */
    assert_true(bench->keys > 0);
}

/* ---- silence ---- */

static bool is_for_the_second_port(struct bench *bench, const uint8_t *mad)
{
    (void)bench;
    return goes_to(mad, 3, (const uint8_t[]){1, 1, 3});
}

static void the_managers_adapter_stays_when_its_second_port_is_mute(void **state)
{
    struct bench *bench = bench_up(state);
    assert_true(is_linked_to(bench, 0x200001, 3, 0x100000));
    unsigned gone = bench->gone;
    bench->loses = is_for_the_second_port;
    run(bench, 80 * TIME_S); /* more than one full sweep */
    assert_false(is_linked_to(bench, 0x200001, 3, 0x100000));
    assert_true(is_linked_to(bench, 0x200000, 3, 0x100000));
    assert_true(is_linked_to(bench, 0x200001, 4, 0x100002));
    assert_int_equal(bench->gone, gone);
    bench->loses = NULL;
    run(bench, 15 * TIME_S);
    assert_true(is_linked_to(bench, 0x200001, 3, 0x100000));
    assert_true(sm_is_settled(bench->smp_filter.sm));
}

static bool queries_the_second_port(struct bench *bench, const uint8_t *mad)
{
    return is_for_the_second_port(bench, mad) &&
           wire_get(mad, MAD_ATTRIBUTE_ID) == ATTRIBUTE_PORT_INFO;
}

/* It is read again with increasing intervals. */
static void a_port_with_missing_answers_blocks_no_other(void **state)
{
    struct bench *bench = bench_open(state);
    bench->loses = queries_the_second_port;
    run(bench, 200 * TIME_S);
    unsigned quiet = 0;
    for (unsigned i = 0; i < 100; i++) {
        run(bench, 1 * TIME_S);
        quiet += sm_is_settled(bench->smp_filter.sm);
    }
    assert_true(quiet > 80);
}

/* ---- refusals ---- */

static bool is_a_port_of_s1(struct bench *bench, const uint8_t *mad)
{
    (void)bench;
    return goes_to_s1(mad) && wire_get(mad, MAD_METHOD) == METHOD_GET &&
           wire_get(mad, MAD_ATTRIBUTE_ID) == ATTRIBUTE_PORT_INFO &&
           wire_get(mad, MAD_ATTRIBUTE_MODIFIER) == 4;
}

static void a_status_is_logged(void **state)
{
    struct bench *bench = bench_open(state);
    bench->refuses = is_a_port_of_s1;
    run(bench, 1 * TIME_S);
    assert_true(has_logged(bench, "switch 0x0000000000200001 refuses PortInfo 4 (status 0x1c)"));
    assert_false(is_linked_to(bench, 0x200000, 1, 0x200001));
}

static bool acknowledges_a_change_of_s1(struct bench *bench, const uint8_t *mad)
{
    (void)bench;
    return goes_to_s1(mad) && wire_get(mad, MAD_METHOD) == METHOD_SET &&
           wire_get(mad, MAD_ATTRIBUTE_ID) == ATTRIBUTE_SWITCH_INFO;
}

static void a_change_that_cannot_be_acknowledged_is_read(void **state)
{
    struct bench *bench = bench_up(state);
    bench->refuses = acknowledges_a_change_of_s1;
    set_node(bench, "H1", false);
    run(bench, 100 * TIME_MS);
    assert_true(has_logged(bench, "refuses to clear PortStateChange (status 0x1c)"));
    assert_true(is_linked_to(bench, 0x200000, 1, 0x200001));  /* it is in the subnet */
    assert_false(is_linked_to(bench, 0x200001, 4, 0x100002)); /* and was read */
    run(bench, 30 * TIME_S);
    assert_int_equal(bench->count, 1); /* logged once */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(an_adapter_that_moved_is_found_at_once),
        BENCH_TEST(the_second_of_two_duplicates_is_found_when_the_first_is_removed),
        BENCH_TEST(a_switch_comes_back_with_other_ports),
        BENCH_TEST(a_node_that_was_reset_is_configured_again),
        BENCH_TEST(the_managers_adapter_stays_when_its_second_port_is_mute),
        BENCH_TEST(a_port_with_missing_answers_blocks_no_other),
        BENCH_TEST(a_status_is_logged),
        BENCH_TEST(a_change_that_cannot_be_acknowledged_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
