/* Data packets between subnets: reach, hop limits, wrong prefixes, loops, full routers, failures.
 */
#include "routed_world.h"

#include "host/sim/sim_connections.h"
#include "host/sim/sim_paths.h"

#include <string.h>

struct run {
    struct routed routed;
    struct sim_paths *paths;
    uint64_t crossed[SUBNETS_MOST][SUBNETS_MOST]; /* deliveries, by subnets */
    uint64_t deadlocks;
};

static unsigned subnet_of(const struct run *run, uint32_t port)
{
    const struct topology *topology = &run->routed.world.topology;
    return (unsigned)(topology->nodes.items[topology->ports.items[port].node].description[0] - 'a');
}

static void note_delivered(void *context, uint64_t now, const struct packet_view *packet)
{
    struct run *run = context;
    (void)now;
    run->crossed[subnet_of(run, packet->source)][subnet_of(run, packet->destination)]++;
}

static void note_deadlock(void *context, uint64_t now, const char *cycle)
{
    struct run *run = context;
    (void)now, (void)cycle;
    run->deadlocks++;
}

static void open_run(struct run *run, unsigned subnets, enum join_shape shape, unsigned routers,
                     const struct prefix_rules *rules, const char *router_buffer)
{
    *run = (struct run){0};
    routed_open_with(&run->routed, subnets, shape, routers, rules, router_buffer);
    run->paths = sim_paths_new(run->routed.world.sim, run->routed.world.fabric);
    fabric_observe_data(run->routed.world.fabric,
                        &(struct data_observer){.context = run,
                                                .delivered = note_delivered,
                                                .deadlock = note_deadlock});
}

static void close_run(struct run *run)
{
    struct err err = {0};
    if (fabric_check_data(run->routed.world.fabric, &err) < 0)
        fail_msg("%s", err.message);
    sim_paths_free(run->paths);
    routed_close(&run->routed);
}

/* From and to all hosts of subnets up to `last`; each sends `packets` of 1024 bytes. */
static void send(struct run *run, unsigned first, unsigned last, unsigned packets,
                 const struct traffic *like)
{
    struct err err = {0};
    struct traffic traffic;
    traffic_init(&traffic, 1024);
    traffic.pattern = PATTERN_ALL_TO_ALL;
    traffic.arrival = ARRIVAL_CONSTANT;
    traffic.interval_ps = like && like->interval_ps ? like->interval_ps : 10 * TIME_US;
    traffic.start_ps = sim_now(run->routed.world.sim);
    traffic.stop_ps = traffic.start_ps + packets * traffic.interval_ps;
    traffic.hop_limit = like ? like->hop_limit : 0;
    traffic.prefix = like ? like->prefix : 0;
    for (unsigned subnet = first; subnet <= last; subnet++)
        for (unsigned i = 0; i < 4; i++) {
            vec_push(&traffic.senders, routed_host(&run->routed, subnet, i));
            vec_push(&traffic.receivers, routed_host(&run->routed, subnet, i));
        }
    if (fabric_check_traffic(run->routed.world.fabric, &traffic, &err) < 0)
        fail_msg("%s", err.message);
    fabric_add_traffic(run->routed.world.fabric, &traffic);
    traffic_release(&traffic);
    run_for(&run->routed.world,
            packets * (like && like->interval_ps ? like->interval_ps : 10 * TIME_US) + TIME_MS);
}

static struct data_totals totals_of(struct run *run)
{
    struct data_totals totals;
    fabric_data_totals(run->routed.world.fabric, &totals);
    return totals;
}

static void all_pairs_reach_one_another(void **state)
{
    (void)state;
    static const struct {
        enum join_shape shape;
        unsigned subnets, routers;
    } cases[] = {{JOIN_STAR, 2, 2}, {JOIN_STAR, 3, 1}, {JOIN_CHAIN, 4, 1}, {JOIN_RING, 3, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run;
        unsigned subnets = cases[i].subnets, hosts = 4 * subnets;
        open_run(&run, subnets, cases[i].shape, cases[i].routers, NULL, NULL);
        run_for(&run.routed.world, 3 * TIME_S);
        send(&run, 0, subnets - 1, hosts - 1, NULL); /* each host to each other one */
        struct data_totals totals = totals_of(&run);
        assert_int_equal(data_totals_lost(&totals) + totals.unroutable, 0);
        assert_int_equal(totals.delivered, hosts * (hosts - 1));
        for (unsigned a = 0; a < subnets; a++)
            for (unsigned b = 0; b < subnets; b++)
                assert_int_equal(run.crossed[a][b], a == b ? 12 : 16);
        close_run(&run);
    }
}

/* In a chain of four subnets the last one is three routers away. */
static void a_hop_limit_ends_packets(void **state)
{
    (void)state;
    static const unsigned reached[] = {[1] = 0, [2] = 1, [3] = 2, [4] = 3, [5] = 3};
    for (unsigned limit = 1; limit <= 5; limit++) {
        struct run run;
        open_run(&run, 4, JOIN_CHAIN, 1, NULL, NULL);
        run_for(&run.routed.world, 3 * TIME_S);
        send(&run, 0, 3, 15, &(struct traffic){.hop_limit = (uint8_t)limit});
        for (unsigned a = 0; a < 4; a++)
            for (unsigned b = 0; b < 4; b++) {
                unsigned routers = a < b ? b - a : a - b;
                assert_int_equal(run.crossed[a][b], routers > reached[limit] ? 0
                                                    : a == b                 ? 12
                                                                             : 16);
            }
        struct data_totals totals = totals_of(&run);
        assert_int_equal(data_totals_lost(&totals), totals.lost[LOSS_HOP_LIMIT]);
        close_run(&run);
    }
}

static void a_wrong_prefix_is_dropped_at_the_router(void **state)
{
    (void)state;
    struct run run;
    open_run(&run, 2, JOIN_STAR, 1, NULL, NULL);
    send(&run, 0, 1, 7, &(struct traffic){.prefix = PREFIX(8)});
    struct data_totals totals = totals_of(&run);
    assert_int_equal(totals.lost[LOSS_NO_SUBNET], 32);
    assert_int_equal(totals.delivered, 24);
    /* That of the first subnet: packets from it would return, those from the second name no port.
     */
    send(&run, 0, 1, 7, &(struct traffic){.prefix = PREFIX(0)});
    totals = totals_of(&run);
    assert_int_equal(totals.lost[LOSS_OUTPUT_IS_INPUT], 16);
    assert_int_equal(run.crossed[0][1], 0);
    assert_int_equal(data_totals_lost(&totals) + totals.delivered, 2 * 56);
    close_run(&run);
}

/* Rules that send a prefix round a ring of three routers: each packet ends at its hop limit. */
static void a_loop_of_routers_is_bounded(void **state)
{
    (void)state;
    struct run run;
    struct prefix_rules rules;
    struct err err = {0};
    /* R0 joins a and b, R1 b and c, R2 c and a; a to R0, b to R1, c to R2. */
    const char *text = "fec0000000000009 0x300001\nfec0000000000009 0x300004\n"
                       "fec0000000000009 0x300007\n";
    assert_int_equal(prefix_rules_read(&rules, from_text("rules", text, &err)), 0);
    open_run(&run, 3, JOIN_RING, 1, &rules, NULL);
    run_for(&run.routed.world, 3 * TIME_S);
    uint64_t before = totals_of(&run).hops;
    send(&run, 0, 2, 11, &(struct traffic){.prefix = PREFIX(8), .hop_limit = 20});
    struct data_totals totals = totals_of(&run);
    assert_int_equal(totals.delivered, 36); /* within the subnets */
    assert_int_equal(data_totals_lost(&totals), 96);
    assert_true(totals.lost[LOSS_HOP_LIMIT] >= 32);
    assert_true(totals.hops - before > 32 * 20);
    assert_true(totals.hops - before < 132 * 21 * 8);
    assert_int_equal(run.deadlocks, 0);
    close_run(&run);
    prefix_rules_release(&rules);
}

/* All hosts send at four times the rate of their links through one router. */
static void a_full_router_discards_and_nothing_deadlocks(void **state)
{
    (void)state;
    for (unsigned large = 0; large < 2; large++) {
        struct run run;
        open_run(&run, 2, JOIN_STAR, 1, NULL, large ? "2097152" : "64");
        send(&run, 0, 1, 500, &(struct traffic){.interval_ps = 12 * TIME_NS});
        struct data_totals totals = totals_of(&run);
        assert_int_equal(data_totals_lost(&totals), totals.lost[LOSS_ROUTER_FULL]);
        if (large)
            assert_int_equal(data_totals_lost(&totals), 0);
        else
            assert_true(totals.lost[LOSS_ROUTER_FULL] > 0);
        assert_int_equal(run.deadlocks, 0);
        close_run(&run);
    }
}

static void traffic_moves_to_the_other_router(void **state)
{
    (void)state;
    struct run run;
    struct err err = {0};
    open_run(&run, 2, JOIN_STAR, 2, NULL, NULL);
    uint32_t router = topology_find(&run.routed.world.topology, "R0");
    assert_int_equal(fabric_set_node(run.routed.world.fabric, router, false, &err), 0);
    send(&run, 0, 1, 7 * 30, NULL); /* for 2.1 ms; the managers need less than 1 ms */
    struct data_totals totals = totals_of(&run);
    assert_true(data_totals_lost(&totals) > 0);
    uint64_t lost = data_totals_lost(&totals);
    send(&run, 0, 1, 7, NULL);
    totals = totals_of(&run);
    assert_int_equal(data_totals_lost(&totals), lost);
    assert_int_equal(totals.unroutable, 0);
    close_run(&run);
}

/* Each host of one subnet with each of the other one; two routers, the same one both ways. */
static void connections_cross_subnets(void **state)
{
    (void)state;
    static const uint8_t services[] = {TRANSPORT_RC, TRANSPORT_UD};
    for (size_t s = 0; s < sizeof services; s++) {
        struct run run;
        struct err err = {0};
        open_run(&run, 2, JOIN_STAR, 2, NULL, NULL);
        struct sim_connections *connections =
            sim_connections_new(run.routed.world.sim, run.routed.world.fabric, run.paths);
        for (unsigned i = 0; i < 32; i++) {
            uint32_t ends[] = {routed_host(&run.routed, 0, i / 4 % 4),
                               routed_host(&run.routed, 1, i % 4)};
            struct connection_config config = {.from = ends[i / 16],
                                               .to = ends[1 - i / 16],
                                               .service = services[s],
                                               .operation = CONNECTION_SEND,
                                               .message_bytes = s ? 2000 : 20000,
                                               .messages = 10,
                                               .outstanding = 2,
                                               .timeout = 14,
                                               .retry = 7};
            if (sim_connections_add(connections, &config, &err) < 0)
                fail_msg("%s", err.message);
        }
        run_for(&run.routed.world, 20 * TIME_MS);
        for (unsigned i = 0; i < 32; i++) {
            struct connection_view view;
            sim_connections_view(connections, i, &view);
            assert_false(view.broken);
            assert_int_equal(view.completed, 10);
            assert_int_equal(view.resent_packets + view.lost, 0);
        }
        struct data_totals totals = totals_of(&run);
        assert_int_equal(data_totals_lost(&totals), 0);
        sim_connections_free(connections);
        close_run(&run);
    }
}

static void runs_repeat(void **state)
{
    (void)state;
    uint64_t traces[2];
    for (unsigned i = 0; i < 2; i++) {
        struct run run;
        open_run(&run, 3, JOIN_RING, 1, NULL, NULL);
        send(&run, 0, 2, 50, &(struct traffic){.interval_ps = 100 * TIME_NS});
        traces[i] = fabric_trace_hash(run.routed.world.fabric);
        close_run(&run);
    }
    assert_int_equal(traces[0], traces[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pairs_reach_one_another),
        cmocka_unit_test(a_hop_limit_ends_packets),
        cmocka_unit_test(a_wrong_prefix_is_dropped_at_the_router),
        cmocka_unit_test(a_loop_of_routers_is_bounded),
        cmocka_unit_test(a_full_router_discards_and_nothing_deadlocks),
        cmocka_unit_test(traffic_moves_to_the_other_router),
        cmocka_unit_test(connections_cross_subnets),
        cmocka_unit_test(runs_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
