/* The cost of moves and the reachability after them, on the fat trees of CLUSTER 2015 and on
 * others.
 *
 * WEFT_FULL=1 includes the two large trees. */
#include "effort.h"
#include "fabrics.h"

#include "base/rng.h"
#include "routing/check/verify.h"
#include "vswitch/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Executes a plan: addresses and entries. */
static void apply(struct network *network, struct routes *routes, const struct column_plan *plan,
                  uint32_t machine, uint32_t beside)
{
    uint32_t back = NETWORK_NONE;
    if (plan->swap) { /* the function that the VM left */
        for (uint32_t i = 0; i < network->terminals.count; i++)
            if (i != machine &&
                network->terminals.items[i].at == network->terminals.items[machine].at &&
                network->terminals.items[i].port == network->terminals.items[machine].port)
                back = i;
        uint32_t other = network->owner[plan->like];
        assert_int_not_equal(back, NETWORK_NONE);
        network_move_terminal(network, other, back);
    }
    network_move_terminal(network, machine, beside);
    for (size_t i = 0; i < plan->changes.count; i++)
        routes_set(routes, plan->changes.items[i].at, plan->changes.items[i].lid,
                   plan->changes.items[i].after);
}

static void must_hold(const struct network *network, const struct routes *routes, const char *what)
{
    struct verify_report report;
    verify_routes(network, routes, &(struct verify_options){0}, &report);
    if (!verify_passes(&report))
        fail_msg("%s: %s", what, report.findings.count ? report.findings.items[0] : "?");
    verify_report_release(&report);
}

struct size {
    const char *hosts;
    unsigned vfs, switches, swap_most, copy_most;
};
static const struct size sizes[] = {
    {"324", 16, 36, 72, 36},
    {"648", 16, 54, 108, 54},
    {"5832", 7, 972, 1944, 972},
    {"11664", 3, 1620, 3240, 1620},
};

static uint64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static unsigned pick(struct rng *rng, unsigned hosts)
{
    return (unsigned)rng_below(rng, hosts);
}

static void check_costs(const struct size *size, const struct network *network,
                        const struct routes *routes)
{
    unsigned hosts = (unsigned)(network->terminals.count / (size->vfs + 1));
    struct rng rng;
    struct column_plan plan;
    uint64_t slowest = 0;
    rng_seed(&rng, 1, 1);
    for (unsigned i = 0; i < 200; i++) {
        unsigned from = pick(&rng, hosts), to = pick(&rng, hosts);
        bool swap = i & 1;
        if (from == to)
            continue;
        uint16_t lid = network->terminals.items[hosts + from * size->vfs].lid;
        uint16_t like = swap ? network->terminals.items[hosts + to * size->vfs + 1].lid
                             : network->terminals.items[to].lid;
        uint64_t begin = nanoseconds();
        assert_int_equal(columns_plan(&plan, network, routes, lid, like, 1, swap,
                                      i & 2 ? VSWITCH_MINIMAL : VSWITCH_BALANCED),
                         0);
        uint64_t took = nanoseconds() - begin;
        slowest = took > slowest ? took : slowest;
        assert_true(plan.ranked);
        assert_true(plan.switches >= 1 && plan.switches <= size->switches);
        assert_true(plan.blocks >= 1 && plan.blocks <= (swap ? size->swap_most : size->copy_most));
        columns_plan_release(&plan);
    }
    print_message("%s hosts: the slowest decision took %llu us of processor time\n", size->hosts,
                  (unsigned long long)slowest / 1000);
}

static void no_move_changes_more_entries_than_the_plan(void **state)
{
    (void)state;
    unsigned count = (unsigned)effort(4, 2, 2);
    for (unsigned i = 0; i < count; i++) {
        struct network network;
        struct routes routes;
        build_virtual(&network, "fattree", &sizes[i].hosts, 1, sizes[i].vfs);
        assert_int_equal(network.switches.count, sizes[i].switches);
        route(&network, "ftree", &routes);
        check_costs(&sizes[i], &network, &routes);
        routes_release(&routes);
        network_release(&network);
    }
}

static void a_move_within_a_leaf_changes_one_switch(void **state)
{
    struct network network;
    struct routes routes;
    struct column_plan plan;
    const char *size = "324";
    (void)state;
    build_virtual(&network, "fattree", &size, 1, 16);
    route(&network, "ftree", &routes);
    uint32_t hosts = (uint32_t)network.terminals.count / 17;
    assert_int_equal(network.terminals.items[0].at, network.terminals.items[17].at);
    uint16_t lid = network.terminals.items[hosts].lid;
    uint16_t pf = network.terminals.items[17].lid;
    uint16_t near = network.terminals.items[hosts + 1 * 16].lid; /* in the same block */
    uint16_t far = network.terminals.items[hosts + 17 * 16].lid; /* in another block */
    assert_int_equal(columns_plan(&plan, &network, &routes, lid, pf, 1, false, VSWITCH_MINIMAL), 0);
    assert_int_equal(plan.switches, 1);
    assert_int_equal(plan.blocks, 1);
    columns_plan_release(&plan);
    assert_int_equal(columns_plan(&plan, &network, &routes, lid, near, 1, true, VSWITCH_MINIMAL),
                     0);
    assert_int_equal(plan.switches, 1);
    assert_int_equal(plan.blocks, lid / 64 == near / 64 ? 1 : 2);
    columns_plan_release(&plan);
    assert_int_equal(columns_plan(&plan, &network, &routes, lid, far, 1, true, VSWITCH_MINIMAL), 0);
    assert_int_equal(plan.switches, 1);
    assert_int_equal(plan.blocks, 2);
    columns_plan_release(&plan);
    /* Balanced mode changes more switches even there. */
    assert_int_equal(columns_plan(&plan, &network, &routes, lid, far, 1, true, VSWITCH_BALANCED),
                     0);
    assert_true(plan.switches > 1);
    columns_plan_release(&plan);
    routes_release(&routes);
    network_release(&network);
}

struct kind {
    const char *kind, *words[3];
    size_t count;
};
static const struct kind kinds[] = {
    {"kary", {"3", "3"}, 2},
    {"irregular", {"14", "hosts=14", "ports=6"}, 3},
    {"torus", {"4x3", "hosts=2"}, 2},
};

/* Many moves in sequence: in either mode every VM is reachable and no deadlock is possible, after
 * each wave and with any part of the next one. */
static void migrate_vms(const struct kind *kind, enum vswitch_mode mode, bool swap)
{
    struct network network;
    struct routes routes;
    struct column_plan plan;
    struct rng rng;
    enum { VFS = 2 };
    build_virtual(&network, kind->kind, kind->words, kind->count, VFS);
    route(&network, "updn", &routes);
    assert_non_null(routes.ranks);
    uint32_t hosts = (uint32_t)network.terminals.count / (VFS + 1);
    rng_seed(&rng, 7, 1);
    for (unsigned i = 0; i < 60; i++) {
        uint32_t machine = hosts + (uint32_t)rng_below(&rng, hosts * VFS);
        uint32_t other = hosts + (uint32_t)rng_below(&rng, hosts * VFS);
        if (network.terminals.items[machine].at == network.terminals.items[other].at &&
            network.terminals.items[machine].port == network.terminals.items[other].port)
            continue;
        uint32_t pf = 0;
        while (network.terminals.items[pf].at != network.terminals.items[other].at ||
               network.terminals.items[pf].port != network.terminals.items[other].port)
            pf++;
        uint16_t like = swap ? network.terminals.items[other].lid : network.terminals.items[pf].lid;
        assert_int_equal(columns_plan(&plan, &network, &routes,
                                      network.terminals.items[machine].lid, like, 1, swap, mode),
                         0);
        assert_true(plan.ranked);
        apply(&network, &routes, &plan, machine, pf);
        columns_plan_release(&plan);
        must_hold(&network, &routes, kind->kind);
    }
    routes_release(&routes);
    network_release(&network);
}

static void vms_may_migrate_any_number_of_times(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (unsigned j = 0; j < 4; j++)
            migrate_vms(&kinds[i], j & 1 ? VSWITCH_MINIMAL : VSWITCH_BALANCED, j & 2);
}

/* An independent form of the rule for a safe order: a packet that any entry since the last drain
 * sent down does not meet an entry that leads up. */

static bool is_up(const struct network *network, const uint32_t *ranks, uint32_t at, uint8_t port)
{
    uint32_t to = network_next(network, at, port);
    return to != NETWORK_NONE && ranks[to] < ranks[at];
}

/* `sent`: entries by which packets in flight were sent; `open`: entries that they may meet. */
static void check_moment(const struct network *network, const uint32_t *ranks, uint8_t (*sent)[2],
                         uint8_t (*open)[2])
{
    for (uint32_t at = 0; at < network->switches.count; at++)
        for (unsigned i = 0; i < 2; i++) {
            uint32_t to = network_next(network, at, sent[at][i]);
            if (to == NETWORK_NONE || is_up(network, ranks, at, sent[at][i]))
                continue;
            for (unsigned j = 0; j < 2; j++)
                assert_false(is_up(network, ranks, to, open[to][j]));
        }
}

static void settle(uint8_t (*entries)[2], uint32_t count)
{
    for (uint32_t at = 0; at < count; at++)
        entries[at][0] = entries[at][1];
}

static void check_order(const struct network *network, const struct routes *routes,
                        const struct column_plan *plan, uint16_t lid)
{
    uint32_t count = (uint32_t)network->switches.count;
    uint8_t(*sent)[2] = mem_zalloc(count + 1, sizeof *sent);
    uint8_t(*open)[2] = mem_zalloc(count + 1, sizeof *open);
    for (uint32_t at = 0; at < count; at++)
        sent[at][0] = sent[at][1] = open[at][0] = open[at][1] = routes_port(routes, at, lid);
    for (unsigned wave = 0; wave < plan->waves; wave++) {
        if (plan->drains >> wave & 1)
            settle(sent, count);
        for (size_t i = 0; i < plan->changes.count; i++) {
            const struct column_change *change = &plan->changes.items[i];
            if (change->lid == lid && change->wave == wave)
                sent[change->at][1] = open[change->at][1] = change->after;
        }
        check_moment(network, routes->ranks, sent, open);
        settle(open, count); /* all acknowledged */
        check_moment(network, routes->ranks, sent, open);
    }
    mem_free(sent);
    mem_free(open);
}

static void no_packet_goes_up_after_it_went_down(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct network network;
        struct routes routes;
        struct column_plan plan;
        build_virtual(&network, kinds[i].kind, kinds[i].words, kinds[i].count, 1);
        route(&network, "updn", &routes);
        uint32_t hosts = (uint32_t)network.terminals.count / 2;
        unsigned waves = 0;
        for (uint32_t a = 0; a < hosts; a++)
            for (uint32_t b = 0; b < hosts; b++) {
                if (a == b)
                    continue;
                uint16_t lid = network.terminals.items[hosts + a].lid;
                uint16_t like = network.terminals.items[hosts + b].lid;
                enum vswitch_mode mode = (a + b) % 2 ? VSWITCH_MINIMAL : VSWITCH_BALANCED;
                assert_int_equal(columns_plan(&plan, &network, &routes, lid, like, 1, true, mode),
                                 0);
                check_order(&network, &routes, &plan, lid);
                check_order(&network, &routes, &plan, like);
                waves = plan.waves > waves ? plan.waves : waves;
                columns_plan_release(&plan);
            }
        assert_true(waves > 1); /* the order matters */
        routes_release(&routes);
        network_release(&network);
    }
}

static void the_path_of_an_unreachable_lid_cannot_be_copied(void **state)
{
    struct network network;
    struct routes routes;
    struct column_plan plan;
    (void)state;
    build_virtual(&network, "kary", kinds[0].words, 2, 1);
    route(&network, "updn", &routes);
    uint32_t hosts = (uint32_t)network.terminals.count / 2;
    uint16_t lid = network.terminals.items[hosts].lid, like = network.terminals.items[5].lid;
    routes_set(&routes, 0, like, PORT_NONE);
    assert_true(columns_plan(&plan, &network, &routes, lid, like, 1, false, VSWITCH_BALANCED) < 0);
    routes_release(&routes);
    network_release(&network);
}

/* On a long line each switch must be written after its neighbour. */
static void a_plan_with_too_many_waves_is_not_ranked(void **state)
{
    static const char *const lines[] = {"dims=30", "dims=45", "dims=300"};
    unsigned ordered = 0;
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct network network;
        struct routes routes;
        struct column_plan plan;
        build_virtual(&network, "mesh", &lines[i], 1, 2);
        route(&network, "updn", &routes);
        uint32_t hosts = (uint32_t)network.terminals.count / 3;
        uint32_t ends[2] = {0, hosts - 1};
        for (unsigned end = 0; end < 2; end++) {
            uint16_t lid = network.terminals.items[hosts + 2 * ends[end]].lid;
            uint16_t like = network.terminals.items[ends[!end]].lid;
            assert_int_equal(
                columns_plan(&plan, &network, &routes, lid, like, 1, false, VSWITCH_BALANCED), 0);
            assert_true(plan.waves <= COLUMN_WAVES);
            assert_int_equal(plan.ranked, i == 0);
            for (size_t c = 0; c < plan.changes.count; c++)
                assert_true(plan.changes.items[c].wave < plan.waves);
            ordered += plan.ranked && plan.waves > COLUMN_WAVES / 2;
            columns_plan_release(&plan);
        }
        routes_release(&routes);
        network_release(&network);
    }
    assert_true(ordered > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_move_changes_more_entries_than_the_plan),
        cmocka_unit_test(a_move_within_a_leaf_changes_one_switch),
        cmocka_unit_test(vms_may_migrate_any_number_of_times),
        cmocka_unit_test(no_packet_goes_up_after_it_went_down),
        cmocka_unit_test(the_path_of_an_unreachable_lid_cannot_be_copied),
        cmocka_unit_test(a_plan_with_too_many_waves_is_not_ranked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
