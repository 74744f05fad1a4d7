/* A fabric in partitions gives the results of one that is not: trace, totals, and what the observer
 * hears, in its order. The other tests of the data path also run in partitions (meson.build). */
#include "data_fixture.h"

#include "base/map.h"

#include <stdio.h>
#include <stdlib.h>

struct outcome {
    uint64_t trace, heard; /* heard: a hash of all deliveries, in their order */
    struct data_totals totals;
    struct partition_figures figures;
};

static void hear(struct outcome *outcome, const struct net *net)
{
    for (size_t i = 0; i < net->deliveries.count; i++) {
        const struct net_end *end = &net->deliveries.items[i];
        outcome->heard = hash_mix(outcome->heard ^ end->time);
        outcome->heard = hash_mix(outcome->heard ^ end->packet.made) + end->packet.source;
        outcome->heard = hash_mix(outcome->heard ^ end->packet.destination);
    }
}

/* A link and a switch fail and return under a load that fills buffers. */
static struct outcome run(const char *kind, const char *words, unsigned partitions)
{
    struct outcome outcome = {0};
    struct net net;
    char count[16];
    snprintf(count, sizeof count, "%u", partitions);
    if (partitions)
        setenv("NET_PARTITIONS", count, 1);
    net_init(&net);
    net.options.bit_error_rate = UINT64_C(1) << 40;
    net_generate(&net, kind, words, 1);
    net_begin(&net, 5);
    net_route_up_down(&net, 0);
    net_bring_up(&net);
    net.recording = true;
    struct traffic traffic = net_traffic(&net);
    net_everybody(&net, &traffic);
    traffic.interval_ps = 3 * TIME_US;
    traffic.sl = TRAFFIC_RANDOM_SL;
    net_start(&net, &traffic);
    net_run(&net, 200 * TIME_US);
    assert_int_equal(fabric_set_link(net.fabric, net_port(&net, 0, 1), false, NULL), 0);
    net_run(&net, 100 * TIME_US);
    assert_int_equal(fabric_set_node(net.fabric, 1, false, NULL), 0);
    net_run(&net, 100 * TIME_US);
    assert_int_equal(fabric_set_link(net.fabric, net_port(&net, 0, 1), true, NULL), 0);
    net_run(&net, 300 * TIME_US);
    outcome.trace = fabric_trace_hash(net.fabric);
    outcome.figures = fabric_partition_figures(net.fabric);
    fabric_data_totals(net.fabric, &outcome.totals);
    hear(&outcome, &net);
    net_end(&net);
    unsetenv("NET_PARTITIONS");
    return outcome;
}

static void assert_same(const char *kind, const char *words)
{
    struct outcome one = run(kind, words, 0);
    assert_int_equal(one.figures.windows, 0);
    assert_true(one.totals.delivered > 100);
    assert_true(data_totals_lost(&one.totals) > 0);
    for (unsigned partitions = 2; partitions <= 8; partitions += partitions < 3 ? 1 : 5) {
        struct outcome several = run(kind, words, partitions);
        assert_true(several.figures.windows > 500);
        assert_true(several.figures.events > several.figures.all_events / 2);
        assert_int_equal(several.figures.all_events, one.figures.all_events);
        assert_int_equal(several.trace, one.trace);
        assert_int_equal(several.heard, one.heard);
        assert_memory_equal(&several.totals, &one.totals, sizeof one.totals);
    }
}

static void trees_run_the_same_in_partitions(void **state)
{
    (void)state;
    assert_same("kary", "k=4 n=2 width=1x speed=sdr");
    assert_same("kary", "k=2 n=4 width=4x speed=qdr");
}

static void irregular_networks_run_the_same_in_partitions(void **state)
{
    (void)state;
    assert_same("irregular", "switches=16 ports=8 width=1x speed=sdr");
}

/* More partitions than switches. */
static void a_star_runs_the_same_in_partitions(void **state)
{
    (void)state;
    assert_same("irregular", "switches=3 ports=8 width=1x speed=sdr");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_run_the_same_in_partitions),
        cmocka_unit_test(irregular_networks_run_the_same_in_partitions),
        cmocka_unit_test(a_star_runs_the_same_in_partitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
