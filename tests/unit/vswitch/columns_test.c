/* The cost of moves and the reachability after them, on the fat trees of CLUSTER 2015 and on
 * others.
 *
 * WEFT_FULL=1 includes the two large trees. */
#include "effort.h"
#include "fabrics.h"

#include "base/rng.h"
#include "routing/check/verify.h"
#include "routing/update/columns.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Plans a move; true if the ranks prove that its order is safe. */
static bool plan_move(struct update_plan *plan, const struct network *network,
                      const struct routes *routes, uint16_t lid, uint16_t like, bool swap,
                      bool minimal)
{
    const struct column_move move = {
        .lid = lid, .like = like, .span = 1, .swap = swap, .minimal = minimal};
    bool ranked;
    assert_int_equal(columns_plan(plan, network, routes, &move, false, &ranked), 0);
    return ranked;
}

/* Executes a plan: addresses and entries. `like`: the LID that is swapped; 0: none. */
static void apply(struct network *network, struct routes *routes, const struct update_plan *plan,
                  uint32_t machine, uint32_t beside, uint16_t like)
{
    uint32_t back = NETWORK_NONE;
    if (like) { /* the function that the VM left */
        for (uint32_t i = 0; i < network->terminals.count; i++)
            if (i != machine &&
                network->terminals.items[i].at == network->terminals.items[machine].at &&
                network->terminals.items[i].port == network->terminals.items[machine].port)
                back = i;
        uint32_t other = network->owner[like];
        assert_int_not_equal(back, NETWORK_NONE);
        network_move_terminal(network, other, back);
    }
    network_move_terminal(network, machine, beside);
    for (size_t i = 0; i < plan->updates.count; i++)
        routes_set(routes, plan->updates.items[i].at, plan->updates.items[i].first_lid,
                   plan->ports.items[i]);
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
    struct update_plan plan;
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
        bool ranked = plan_move(&plan, network, routes, lid, like, swap, i & 2);
        uint64_t took = nanoseconds() - begin;
        slowest = took > slowest ? took : slowest;
        uint32_t switches = columns_switches(&plan), blocks = columns_blocks(&plan);
        assert_true(ranked);
        assert_true(switches >= 1 && switches <= size->switches);
        assert_true(blocks >= 1 && blocks <= (swap ? size->swap_most : size->copy_most));
        update_plan_release(&plan);
    }
    print_message("%s hosts: the slowest decision took %llu us of processor time\n", size->hosts,
                  (unsigned long long)slowest / 1000);
}

static void no_move_changes_more_entries_than_the_plan(void **state)
{
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
    struct update_plan plan;
    const char *size = "324";
    build_virtual(&network, "fattree", &size, 1, 16);
    route(&network, "ftree", &routes);
    uint32_t hosts = (uint32_t)network.terminals.count / 17;
    assert_int_equal(network.terminals.items[0].at, network.terminals.items[17].at);
    uint16_t lid = network.terminals.items[hosts].lid;
    uint16_t pf = network.terminals.items[17].lid;
    uint16_t near = network.terminals.items[hosts + 1 * 16].lid; /* in the same block */
    uint16_t far = network.terminals.items[hosts + 17 * 16].lid; /* in another block */
    plan_move(&plan, &network, &routes, lid, pf, false, true);
    assert_int_equal(columns_switches(&plan), 1);
    assert_int_equal(columns_blocks(&plan), 1);
    update_plan_release(&plan);
    plan_move(&plan, &network, &routes, lid, near, true, true);
    assert_int_equal(columns_switches(&plan), 1);
    assert_int_equal(columns_blocks(&plan), lid / 64 == near / 64 ? 1 : 2);
    update_plan_release(&plan);
    plan_move(&plan, &network, &routes, lid, far, true, true);
    assert_int_equal(columns_switches(&plan), 1);
    assert_int_equal(columns_blocks(&plan), 2);
    update_plan_release(&plan);
    /* Balanced mode changes more switches even there. */
    plan_move(&plan, &network, &routes, lid, far, true, false);
    assert_true(columns_switches(&plan) > 1);
    update_plan_release(&plan);
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
static void migrate_vms(const struct kind *kind, bool minimal, bool swap)
{
    struct network network;
    struct routes routes;
    struct update_plan plan;
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
        assert_true(plan_move(&plan, &network, &routes, network.terminals.items[machine].lid, like,
                              swap, minimal));
        apply(&network, &routes, &plan, machine, pf, swap ? like : 0);
        update_plan_release(&plan);
        must_hold(&network, &routes, kind->kind);
    }
    routes_release(&routes);
    network_release(&network);
}

static void vms_may_migrate_any_number_of_times(void **state)
{
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (unsigned j = 0; j < 4; j++)
            migrate_vms(&kinds[i], j & 1, j & 2);
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
                        const struct update_plan *plan, uint16_t lid)
{
    uint32_t count = (uint32_t)network->switches.count;
    uint8_t(*sent)[2] = mem_zalloc(count + 1, sizeof *sent);
    uint8_t(*open)[2] = mem_zalloc(count + 1, sizeof *open);
    for (uint32_t at = 0; at < count; at++)
        sent[at][0] = sent[at][1] = open[at][0] = open[at][1] = routes_port(routes, at, lid);
    for (size_t w = 0; w < plan->waves.count; w++) {
        const struct update_wave *wave = &plan->waves.items[w];
        if (wave->drain)
            settle(sent, count);
        for (uint32_t i = wave->first; i < wave->first + wave->count; i++) {
            uint32_t at = plan->updates.items[i].at;
            if (plan->updates.items[i].first_lid == lid)
                sent[at][1] = open[at][1] = plan->ports.items[i];
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
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct network network;
        struct routes routes;
        struct update_plan plan;
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
                plan_move(&plan, &network, &routes, lid, like, true, (a + b) % 2);
                check_order(&network, &routes, &plan, lid);
                check_order(&network, &routes, &plan, like);
                waves = plan.waves.count > waves ? (unsigned)plan.waves.count : waves;
                update_plan_release(&plan);
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
    struct update_plan plan;
    build_virtual(&network, "kary", kinds[0].words, 2, 1);
    route(&network, "updn", &routes);
    uint32_t hosts = (uint32_t)network.terminals.count / 2;
    uint16_t lid = network.terminals.items[hosts].lid, like = network.terminals.items[5].lid;
    routes_set(&routes, 0, like, PORT_NONE);
    bool ranked;
    assert_true(columns_plan(&plan, &network, &routes,
                             &(struct column_move){.lid = lid, .like = like, .span = 1}, false,
                             &ranked) < 0);
    routes_release(&routes);
    network_release(&network);
}

/* On a long line each switch must be written after its neighbour. */
static void a_plan_with_too_many_waves_is_not_ranked(void **state)
{
    static const char *const lines[] = {"dims=30", "dims=45", "dims=300"};
    unsigned ordered = 0;
    for (unsigned i = 0; i < 3; i++) {
        struct network network;
        struct routes routes;
        struct update_plan plan;
        build_virtual(&network, "mesh", &lines[i], 1, 2);
        route(&network, "updn", &routes);
        uint32_t hosts = (uint32_t)network.terminals.count / 3;
        uint32_t ends[2] = {0, hosts - 1};
        for (unsigned end = 0; end < 2; end++) {
            uint16_t lid = network.terminals.items[hosts + 2 * ends[end]].lid;
            uint16_t like = network.terminals.items[ends[!end]].lid;
            bool ranked = plan_move(&plan, &network, &routes, lid, like, false, false);
            assert_int_equal(ranked, i == 0);
            assert_true(ranked || plan.waves.count == 1);
            ordered += ranked && plan.waves.count > 16;
            update_plan_release(&plan);
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
