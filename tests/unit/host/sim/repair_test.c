/* Repair of tables after failures and recoveries on simulated fabrics: the manager writes only
 * broken entries, and computes all routes if it must or on request. */
#include "sim_world.h"
#include "sm/job.h"
#include "vswitch_world.h"

#include "routing/check/verify.h"
#include "topology/virtual.h"

#include <stdio.h>
#include <string.h>

/* The manager's jobs since the last reset. */
struct watch {
    unsigned repaired, computed;
    unsigned live; /* repairs with entries that virtual machines changed */
    size_t entries;
};

/* Checks that a dependency of the tables is in the graphs of the repair and of its check. */
static void assert_dependency_known(void *context, uint32_t at, unsigned in, unsigned out,
                                    unsigned vl)
{
    const struct sm_job *job = *(const struct sm_job **)context;
    const struct cdg *cdg = &job->repair_state.cdg;
    const uint64_t *row = dependency_row(&job->checked, at, in, vl);
    assert_true(cdg_has(cdg, vl, cdg_arriving(cdg, at, in), cdg_leaving(cdg, at, out)));
    assert_true(bitset_has(row, out * job->checked.vls + vl));
}

static void check_memory(const struct sm_job *job)
{
    struct dependency_graph graph;
    struct verify_report report;
    verify_routes(&job->network, &job->routes, &(struct verify_options){.keep = &graph}, &report);
    assert_true(verify_passes(&report));
    dependency_each(&graph, assert_dependency_known, &job);
    verify_report_release(&report);
    dependency_release(&graph);
}

static void note_job(void *context, uint64_t now, unsigned manager,
                     const struct sim_computation *computation)
{
    struct watch *watch = context;
    const struct sm_job *job = computation->job;
    (void)now, (void)manager;
    if (job->result.tables == TABLES_REPAIRED)
        check_memory(job);
    watch->repaired += job_is_repair(job);
    watch->computed += !job_is_repair(job);
    watch->live += job_is_repair(job) && job->repair.live;
    watch->entries += job_is_repair(job) ? job->repair.entries.count : 0;
}

static void observe_jobs(struct world *world, struct watch *watch)
{
    *watch = (struct watch){0};
    sim_set_listener(world->sim, &(struct sim_listener){.context = watch, .computed = note_job});
}

static void run_on(struct world *world, unsigned manager)
{
    run_for(world, 3 * TIME_S); /* links need time to come up */
    assert_true(sim_run_until_settled(world->sim, manager, sim_now(world->sim) + 10 * TIME_S));
}

/* ---- tables of the switches ---- */

enum { ROW = 1024 };
struct tables {
    uint8_t *rows; /* by node */
};

static struct tables read_tables(const struct world *world)
{
    size_t nodes = world->topology.nodes.count;
    struct tables tables = {mem_alloc(nodes * ROW)};
    memset(tables.rows, PORT_NONE, nodes * ROW);
    for (uint32_t node = 0; node < nodes; node++) {
        unsigned top = 0;
        if (world->topology.nodes.items[node].kind != NODE_SWITCH ||
            !fabric_node_is_up(world->fabric, node))
            continue;
        const uint8_t *table = fabric_linear_table(world->fabric, node, &top);
        assert_true(top < ROW);
        memcpy(tables.rows + (size_t)node * ROW, table, top + 1);
    }
    return tables;
}

/* Whether the old entries still form a path from a switch to an end port. */
static bool still_leads(const struct world *world, const struct tables *tables, uint32_t node,
                        uint32_t to)
{
    const struct topology *topology = &world->topology;
    unsigned lid = (unsigned)wire_get(fabric_port_info(world->fabric, to), PORT_INFO_LID);
    for (unsigned hops = 0; hops < 64 && topology->nodes.items[node].kind == NODE_SWITCH; hops++) {
        if (node == topology->ports.items[to].node)
            return true;
        unsigned port = tables->rows[(size_t)node * ROW + lid];
        if (port == 0 || port > topology->nodes.items[node].port_count)
            return false;
        uint32_t out = topology_port_index(topology, node, port);
        if (!fabric_link_is_up(world->fabric, out))
            return false;
        node = topology->ports.items[topology->ports.items[out].peer].node;
    }
    return node == topology->ports.items[to].node;
}

struct difference {
    unsigned entries, blocks, broken;
};

static struct difference compare(const struct world *world, const struct tables *before)
{
    struct difference difference = {0};
    struct tables now = read_tables(world);
    const struct topology *topology = &world->topology;
    for (uint32_t node = 0; node < topology->nodes.count; node++) {
        const uint8_t *a = before->rows + (size_t)node * ROW, *b = now.rows + (size_t)node * ROW;
        if (topology->nodes.items[node].kind != NODE_SWITCH ||
            !fabric_node_is_up(world->fabric, node))
            continue;
        for (unsigned block = 0; block < ROW / ROUTES_BLOCK; block++) {
            unsigned entries = 0;
            for (unsigned i = 0; i < ROUTES_BLOCK; i++)
                entries += a[block * ROUTES_BLOCK + i] != b[block * ROUTES_BLOCK + i];
            difference.entries += entries;
            difference.blocks += entries != 0;
        }
        for (uint32_t to = 0; to < topology->nodes.count; to++)
            difference.broken += fabric_node_is_up(world->fabric, to) &&
                                 !still_leads(world, before, node, end_port(world, to));
    }
    mem_free(now.rows);
    return difference;
}

/* ---- losses and returns ---- */

/* Expects a repair that writes only broken entries. */
static struct difference expect_repair(struct world *world, unsigned manager)
{
    struct watch watch;
    struct tables before = read_tables(world);
    struct sm_counts begin = counts_of(world, manager);
    observe_jobs(world, &watch);
    run_on(world, manager);
    assert_int_equal(watch.computed, 0);
    assert_true(watch.repaired >= 1);
    assert_true(all_delivered(world));
    struct difference difference = compare(world, &before);
    assert_int_equal(watch.entries, difference.entries);
    assert_int_equal(counts_of(world, manager).tables - begin.tables, difference.blocks);
    mem_free(before.rows);
    return difference;
}

static bool is_switch(const struct topology *topology, uint32_t port)
{
    uint32_t node = topology->ports.items[port].node;
    return topology->nodes.items[node].kind == NODE_SWITCH && !topology_is_vswitch(topology, node);
}

/* The nth link between switches, by one of its ports. */
static uint32_t trunk(const struct world *world, unsigned nth)
{
    const struct topology *topology = &world->topology;
    for (uint32_t port = 0; port < topology->ports.count; port++) {
        uint32_t peer = topology->ports.items[port].peer;
        if (peer == TOPOLOGY_NONE || peer < port || !is_switch(topology, port) ||
            !is_switch(topology, peer))
            continue;
        if (nth-- == 0)
            return port;
    }
    return TOPOLOGY_NONE;
}

static void open_tree(struct world *world, struct sm_config *config, const char *engine)
{
    world_open(world, "today", "fattree m=4,4,4 w=1,4,4");
    sm_config_init(config);
    config->engine = engine_find(engine);
    config->rebalance = 0;
    assert_non_null(config->engine);
}

static void lost_links_change_only_broken_entries(void **state)
{
    const char *engines[] = {"ftree", "updn", "minhop", "dfsssp"};
    (void)state;
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        struct world world;
        struct sm_config config;
        unsigned changed = 0, broken = 0;
        open_tree(&world, &config, engines[i]);
        unsigned manager = settle(&world, host(&world, "H0"), &config);
        for (unsigned nth = 3; nth < 100; nth += 31) {
            assert_int_equal(fabric_set_link(world.fabric, trunk(&world, nth), false, NULL), 0);
            struct difference difference = expect_repair(&world, manager);
            changed += difference.entries;
            broken += difference.broken;
        }
        assert_true(broken > 0 && changed * 10 <= broken * 12);
        assert_true(has_true_state(&world, manager));
        world_close(&world);
    }
}

static void a_link_that_returns_changes_nothing(void **state)
{
    struct world world;
    struct sm_config config;
    (void)state;
    open_tree(&world, &config, "updn");
    unsigned manager = settle(&world, host(&world, "H0"), &config);
    fabric_set_link(world.fabric, trunk(&world, 5), false, NULL);
    assert_true(expect_repair(&world, manager).entries > 0);
    fabric_set_link(world.fabric, trunk(&world, 5), true, NULL);
    assert_int_equal(expect_repair(&world, manager).entries, 0);
    assert_true(all_active(&world));
    world_close(&world);
}

static void a_lost_switch_is_routed_around_and_comes_back(void **state)
{
    (void)state;
    for (unsigned level = 1; level < 3; level++) { /* above the leaf of H63 */
        struct world world;
        struct sm_config config;
        open_tree(&world, &config, "ftree");
        unsigned manager = settle(&world, host(&world, "H0"), &config);
        const struct topology *topology = &world.topology;
        uint32_t at = host(&world, "H63");
        uint32_t lost = topology->ports.items[topology->ports.items[at].peer].node;
        for (unsigned up = 0; up < level; up++) {
            uint32_t last =
                topology_port_index(topology, lost, topology->nodes.items[lost].port_count);
            lost = topology->ports.items[topology->ports.items[last].peer].node;
        }
        assert_int_equal(topology->nodes.items[lost].kind, NODE_SWITCH);
        fabric_set_node(world.fabric, lost, false, NULL);
        struct difference difference = expect_repair(&world, manager);
        assert_true(difference.entries * 10 <= difference.broken * 12);
        struct watch watch;
        observe_jobs(&world, &watch);
        fabric_set_node(world.fabric, lost, true, NULL);
        run_on(&world, manager);
        assert_true(watch.repaired >= 1 && watch.computed == 0);
        assert_true(all_delivered(&world));
        world_close(&world);
    }
}

/* ---- computation of all routes ---- */

static void repair_can_be_turned_off(void **state)
{
    struct world world;
    struct sm_config config;
    struct watch watch;
    (void)state;
    open_tree(&world, &config, "updn");
    config.repair = false;
    unsigned manager = settle(&world, host(&world, "H0"), &config);
    observe_jobs(&world, &watch);
    fabric_set_link(world.fabric, trunk(&world, 5), false, NULL);
    run_on(&world, manager);
    assert_true(watch.computed >= 1 && watch.repaired == 0);
    assert_true(all_delivered(&world));
    world_close(&world);
}

/* Jobs that compute, in the minute after a repair. */
static unsigned count_rebalancing(unsigned percent)
{
    struct world world;
    struct sm_config config;
    struct watch watch;
    open_tree(&world, &config, "updn");
    config.rebalance = percent;
    config.sweep_ns = 10 * NS_PER_S;
    unsigned manager = settle(&world, host(&world, "H0"), &config);
    fabric_set_link(world.fabric, trunk(&world, 5), false, NULL);
    assert_true(expect_repair(&world, manager).entries > 0);
    observe_jobs(&world, &watch);
    run_for(&world, 60 * TIME_S);
    assert_int_equal(watch.repaired, 0);
    assert_true(all_delivered(&world));
    world_close(&world);
    return watch.computed;
}

static void uneven_links_lead_to_one_computation_at_the_next_sweep(void **state)
{
    (void)state;
    assert_int_equal(count_rebalancing(1), 1);
    assert_int_equal(count_rebalancing(0), 0);
    assert_int_equal(count_rebalancing(10000), 0);
}

/* In a full tree each link carries one host per leaf. After the loss of a parallel link, ftree puts
 * two on some link, and a repair spreads them over all links, which is better. */
static void tables_without_better_balance_are_not_written(void **state)
{
    struct watch watch;
    struct world *world = world_for(state, "today", "fattree 324");
    struct sm_config config = default_config();
    config.engine = engine_find("ftree");
    config.rebalance = 1; /* percent: asks for a computation whatever the repair has done */
    unsigned manager = settle(world, host(world, "H0"), &config);
    fabric_set_link(world->fabric, trunk(world, 5), false, NULL);
    run_on(world, manager);
    struct tables before = read_tables(world);
    observe_jobs(world, &watch);
    run_for(world, 60 * TIME_S);
    assert_int_equal(watch.computed, 1);
    assert_int_equal(compare(world, &before).entries, 0);
    mem_free(before.rows);
}

/* The only host of a switch, or TOPOLOGY_NONE. */
static uint32_t only_host(const struct topology *topology)
{
    for (uint32_t node = 0; node < topology->nodes.count; node++) {
        unsigned hosts = 0;
        uint32_t found = TOPOLOGY_NONE;
        for (unsigned i = 1; i <= topology->nodes.items[node].port_count; i++) {
            uint32_t peer = topology->ports.items[topology_port_index(topology, node, i)].peer;
            if (peer == TOPOLOGY_NONE ||
                topology->nodes.items[topology->ports.items[peer].node].kind == NODE_SWITCH)
                continue;
            hosts++;
            found = peer;
        }
        if (topology->nodes.items[node].kind == NODE_SWITCH && hosts == 1)
            return found;
    }
    return TOPOLOGY_NONE;
}

/* Traffic from a switch without hosts was not counted as load. */
static void the_first_host_of_a_switch_makes_the_engine_compute(void **state)
{
    struct watch watch;
    struct world *world = world_for(state, "today", "irregular switches=8 hosts=8");
    struct sm_config config = default_config();
    config.engine = engine_find("updn");
    unsigned manager = settle(world, management_port(world, "S0"), &config);
    uint32_t lonely = only_host(&world->topology);
    assert_int_not_equal(lonely, TOPOLOGY_NONE);
    fabric_set_link(world->fabric, lonely, false, NULL);
    run_on(world, manager);
    observe_jobs(world, &watch);
    fabric_set_link(world->fabric, lonely, true, NULL);
    run_on(world, manager);
    assert_true(watch.computed >= 1);
    assert_true(all_delivered(world));
}

/* ---- with virtual machines ---- */

/* Returns the number of computations. */
static unsigned cut_and_return(struct world *world, unsigned manager, unsigned nth, bool moved)
{
    unsigned computed = 0;
    for (unsigned up = 0; up < 2; up++) {
        struct watch watch;
        observe_jobs(world, &watch);
        assert_int_equal(fabric_set_link(world->fabric, trunk(world, nth), up, NULL), 0);
        run_on(world, manager);
        assert_true(watch.repaired + watch.computed >= 1);
        assert_true(watch.computed || (watch.live != 0) == (moved && !up));
        check_world(world, manager);
        computed += watch.computed;
    }
    return computed;
}

/* Minimal moves mix the routes to two places, which adds dependencies. */
static void repair_works_after_machines_moved(void **state)
{
    const char *names[] = {"alpha", "beta", "gamma", "delta"};
    unsigned changes = 0, computed = 0;
    (void)state;
    for (unsigned variant = 0; variant < 8; variant++) {
        struct world world;
        enum vswitch_mode mode = variant & 2 ? VSWITCH_MINIMAL : VSWITCH_BALANCED;
        if (variant & 4)
            world_open(&world, "today", "irregular switches=12 hosts=16 ports=8 vfs=3");
        else
            world_open(&world, "today", "kary 4 2 vfs=3");
        struct sm_config config = default_config();
        config.engine = engine_find("updn");
        config.dynamic_lids = variant & 1;
        unsigned manager = settle(&world, host(&world, "H0"), &config);
        for (unsigned i = 0; i < 4; i++)
            must(&world, manager, VSWITCH_CREATE, names[i], "auto", mode);
        computed += cut_and_return(&world, manager, 1, config.dynamic_lids);
        for (unsigned round = 0; round < 12; round++) {
            for (unsigned i = 0; i < 4; i++) {
                char place[8];
                snprintf(place, sizeof place, "H%u", (5 * i + 3 * round + 1) % 16);
                must(&world, manager, VSWITCH_MIGRATE, names[i], place, mode);
            }
            computed += cut_and_return(&world, manager, round % 8, true);
            changes += 2;
        }
        must(&world, manager, VSWITCH_DESTROY, names[0], NULL, mode);
        computed += cut_and_return(&world, manager, 2, false);
        world_close(&world);
    }
    assert_true(computed * 10 < changes); /* a few failures cannot be repaired */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_links_change_only_broken_entries),
        cmocka_unit_test(a_link_that_returns_changes_nothing),
        cmocka_unit_test(a_lost_switch_is_routed_around_and_comes_back),
        cmocka_unit_test(repair_can_be_turned_off),
        cmocka_unit_test(uneven_links_lead_to_one_computation_at_the_next_sweep),
        WORLD_TEST(tables_without_better_balance_are_not_written),
        WORLD_TEST(the_first_host_of_a_switch_makes_the_engine_compute),
        cmocka_unit_test(repair_works_after_machines_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
