/* The time of computing routes in the simulator. */
#include "base/time.h"
#include "host/sim/sim.h"
#include "routing/check/verify.h"
#include "topology/generators/generate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Attributes by name and value. */
#define WITH(...) ((const char *const[]){__VA_ARGS__, NULL})

struct world {
    struct topology topology;
    struct fabric *fabric;
    struct sim *sim;
    unsigned count; /* finished computations of the first manager, and the last of them */
    uint64_t begin, end, operations, told_at;
    size_t links;           /* of its network, in both directions */
    uint64_t blocks_before; /* table blocks sent before the first routes */
    uint64_t sent;          /* since it was last set to 0 */
};

static void note_sent(void *context, uint64_t now, unsigned manager,
                      const struct sm_message *message)
{
    struct world *world = context;
    (void)now;
    (void)manager;
    world->sent++;
    world->blocks_before +=
        world->count == 0 && wire_get(message->mad, MAD_METHOD) == METHOD_SET &&
        wire_get(message->mad, MAD_ATTRIBUTE_ID) == ATTRIBUTE_LINEAR_FORWARDING_TABLE;
}

static void note_computed(void *context, uint64_t now, unsigned manager,
                          const struct sim_computation *computation)
{
    struct world *world = context;
    const struct network *network = sm_job_report(computation->job).network;
    if (manager != 0)
        return;
    world->count++;
    world->told_at = now;
    world->begin = computation->begin;
    world->end = computation->end;
    world->operations = computation->operations;
    world->links = network->first_edge[network->switches.count];
}

/* 16 switches and 14 hosts, as in the papers. */
static void open_world(struct world *world, const char *preset, const char *const *settings)
{
    const char *words[] = {"switches=16", "hosts=14", "ports=4", "width=1x", "speed=SDR"};
    struct fabric_options options;
    struct err err = {0};
    *world = (struct world){0};
    assert_int_equal(fabric_options_preset(&options, preset, &err), 0);
    for (; settings && *settings; settings += 2)
        assert_int_equal(fabric_options_set(&options, settings[0], settings[1], &err), 0);
    topology_init(&world->topology);
    assert_int_equal(topology_generate(&world->topology, "irregular", words, 5, 1, &err), 0);
    world->fabric = fabric_new(&world->topology, &options, 1);
    world->sim = sim_new(world->fabric);
    sim_set_listener(
        world->sim,
        &(struct sim_listener){.context = world, .sent = note_sent, .computed = note_computed});
}

static void close_world(struct world *world)
{
    sim_free(world->sim);
    fabric_free(world->fabric);
    topology_release(&world->topology);
}

static uint32_t port_of(const struct world *world, const char *name, unsigned number)
{
    uint32_t node = topology_find(&world->topology, name);
    assert_int_not_equal(node, TOPOLOGY_NONE);
    return topology_port_index(&world->topology, node, number);
}

static struct sm_config quiet_config(void)
{
    struct sm_config config;
    sm_config_init(&config);
    config.engine = &engine_fera;
    config.sweep_ns = TIME_NEVER;
    return config;
}

static unsigned settle(struct world *world)
{
    struct sm_config config = quiet_config();
    unsigned manager = sim_add_manager(world->sim, port_of(world, "S0", 0), &config);
    assert_true(sim_run_until_settled(world->sim, manager, 10000 * TIME_S));
    return manager;
}

static void reroute(struct world *world, unsigned manager)
{
    sm_reroute(sim_manager(world->sim, manager), sim_now_ns(world->sim));
}

static void routes_come_after_their_operations_times_the_price(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, "today", WITH("compute", "1us"));
    settle(&world);
    assert_int_equal(world.count, 1);
    assert_true(world.operations > 2000);
    assert_int_equal(world.end - world.begin, world.operations * TIME_US);
    assert_int_equal(world.told_at, world.end);
    assert_int_equal(world.blocks_before, 0);
    close_world(&world);
}

static void with_a_price_of_zero_routes_are_available_at_once(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, "today", WITH("compute", "0"));
    settle(&world);
    assert_int_equal(world.count, 1);
    assert_true(world.operations > 2000);
    assert_int_equal(world.end, world.begin);
    close_world(&world);
}

/* The engine and one check at bring-up; with existing tables also the update plan. */
static void the_check_and_the_order_of_updates_are_part_of_it(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, "today", NULL);
    unsigned manager = settle(&world);
    struct routes own;
    struct sm_paths paths = sm_paths(sim_manager(world.sim, manager));
    struct err err = {0};
    assert_int_equal(engine_fera.compute(paths.network, &(struct engine_options){0}, &own, &err),
                     0);
    uint64_t first = own.operations + verify_operations(paths.network, &own);
    assert_int_equal(world.operations, first);
    routes_release(&own);
    reroute(&world, manager);
    assert_true(sim_run_until_settled(world.sim, manager, sim_now(world.sim) + TIME_S));
    assert_int_equal(world.count, 2);
    assert_true(world.operations > first);
    close_world(&world);
}

/* Each of a thousand operations takes a second: the result is only late. */
static void a_huge_price_only_delays_routes(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, "paper", WITH("compute", "1s"));
    settle(&world);
    assert_int_equal(world.count, 1);
    assert_int_equal(world.end - world.begin, world.operations * TIME_S);
    close_world(&world);
}

/* A standby polls its master ten times a second and tolerates two missing answers. */
static enum sm_state standby_while_the_master_computes(struct world *world)
{
    struct sm_config config = quiet_config();
    config.priority = 2;
    unsigned master = sim_add_manager(world->sim, port_of(world, "S0", 0), &config);
    assert_true(sim_run_until_settled(world->sim, master, 100 * TIME_S));
    config.priority = 1;
    config.poll_ns = 100 * NS_PER_MS;
    config.poll_retries = 2;
    config.timeout_ns = 50 * NS_PER_MS;
    config.retries = 0;
    unsigned standby = sim_add_manager(world->sim, port_of(world, "H1", 1), &config);
    sim_run(world->sim, sim_now(world->sim) + 20 * TIME_S);
    assert_int_equal(sm_state(sim_manager(world->sim, standby)), SM_STANDBY);
    unsigned before = world->count;
    reroute(world, master);
    sim_run(world->sim, sim_now(world->sim) + 2 * TIME_S);
    assert_int_equal(world->count, before); /* still computing */
    return sm_state(sim_manager(world->sim, standby));
}

static void a_manager_with_a_worker_thread_answers_while_it_computes(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, "today", WITH("compute", "1ms"));
    assert_int_equal(standby_while_the_master_computes(&world), SM_STANDBY);
    close_world(&world);
}

static void a_manager_with_one_thread_loses_mastership_while_it_computes(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, "today", WITH("compute", "3ms", "paper_compute", "yes"));
    assert_int_not_equal(standby_while_the_master_computes(&world), SM_STANDBY);
    close_world(&world);
}

static void a_manager_with_one_thread_sends_nothing_while_it_computes(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, "paper", NULL);
    unsigned manager = settle(&world);
    reroute(&world, manager);
    sim_step(world.sim, sim_now(world.sim) + 1);
    world.sent = 0;
    sim_run(world.sim, sim_now(world.sim) + 100 * TIME_MS);
    assert_int_equal(world.count, 1);
    assert_int_equal(world.sent, 0);
    assert_true(sim_run_until_settled(world.sim, manager, sim_now(world.sim) + TIME_S));
    assert_int_equal(world.count, 2);
    close_world(&world);
}

/* The first port of S1 that leads to a switch. */
static uint32_t some_link(const struct world *world)
{
    uint32_t port = port_of(world, "S1", 1);
    const struct topology_port *ports = world->topology.ports.items;
    while (ports[port].peer == TOPOLOGY_NONE ||
           world->topology.nodes.items[ports[ports[port].peer].node].kind != NODE_SWITCH)
        port++;
    return port;
}

/* A link fails while the manager computes, and the switches send traps. */
static void change_while_computing(const char *const *settings)
{
    struct world world;
    open_world(&world, "today", settings);
    unsigned manager = settle(&world);
    size_t links = world.links;
    reroute(&world, manager);
    sim_run(world.sim, sim_now(world.sim) + 5 * TIME_MS);
    assert_int_equal(fabric_set_link(world.fabric, some_link(&world), false, NULL), 0);
    sim_run(world.sim, sim_now(world.sim) + 5 * TIME_MS);
    assert_int_equal(world.count, 1); /* still computing */
    assert_true(sim_run_until_settled(world.sim, manager, sim_now(world.sim) + 60 * TIME_S));
    assert_true(world.count >= 3); /* the first computation, and that of the change */
    assert_int_equal(world.links, links - 2);
    close_world(&world);
}

static void a_change_while_computing_is_not_lost(void **state)
{
    (void)state;
    change_while_computing(WITH("compute", "10us"));
}

static void mads_that_arrive_while_computing_are_processed_afterwards(void **state)
{
    (void)state;
    change_while_computing(WITH("compute", "80us", "paper_compute", "yes"));
}

/* minhop's tables could deadlock on a network like this. */
static void a_refusal_takes_time_and_writes_nothing(void **state)
{
    (void)state;
    struct world world;
    struct sm_config config = quiet_config();
    config.engine = &engine_minhop;
    open_world(&world, "today", WITH("compute", "1us"));
    unsigned manager = sim_add_manager(world.sim, port_of(&world, "S0", 0), &config);
    sim_run(world.sim, TIME_S);
    assert_int_equal(world.count, 1);
    assert_true(world.operations > 2000);
    assert_int_equal(world.end - world.begin, world.operations * TIME_US);
    struct sm_counts counts;
    sm_counts(sim_manager(world.sim, manager), &counts);
    assert_int_equal(counts.tables, 0);
    close_world(&world);
}

static void the_job_of_a_killed_manager_is_dropped(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, "paper", NULL);
    unsigned manager = settle(&world);
    reroute(&world, manager);
    sim_run(world.sim, sim_now(world.sim) + 10 * TIME_MS);
    sim_kill_manager(world.sim, manager);
    assert_null(sim_manager(world.sim, manager));
    sim_run(world.sim, sim_now(world.sim) + 10 * TIME_S);
    assert_int_equal(world.count, 1);
    close_world(&world);
}

static void a_simulation_can_end_in_the_middle_of_computing(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, "today", WITH("compute", "1ms"));
    unsigned manager = settle(&world);
    reroute(&world, manager);
    sim_run(world.sim, sim_now(world.sim) + TIME_MS);
    assert_int_equal(world.count, 1);
    close_world(&world);
}

/* SAN-2 2003, section V-D: 16 switches and 14 hosts, switch 15 off: some 200 SMPs in 10 ms to
 * explore, more than 0.1 s to compute, 360 SMPs in 6.7 ms to write. */
static void the_papers_prices_give_the_papers_times(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, "paper", NULL);
    struct sm_config config = quiet_config();
    config.policy = &sm_policy_paper;
    config.alone = true;
    config.mode = SM_STATIC;
    config.window = 65535;
    unsigned manager = sim_add_manager(world.sim, port_of(&world, "S0", 0), &config);
    assert_true(sim_run_until_settled(world.sim, manager, 100 * TIME_S));
    uint32_t node = topology_find(&world.topology, "S15");
    assert_int_equal(fabric_set_node(world.fabric, node, false, NULL), 0);
    uint64_t begin = sim_now(world.sim);
    world.sent = 0;
    sm_rediscover(sim_manager(world.sim, manager), sim_now_ns(world.sim));
    assert_true(sim_run_until_settled(world.sim, manager, begin + 10 * TIME_S));
    assert_int_equal(world.count, 2);
    assert_in_range(world.begin - begin, 6 * TIME_MS, 11 * TIME_MS);
    assert_in_range(world.end - world.begin, 100 * TIME_MS, 120 * TIME_MS);
    assert_in_range(sim_now(world.sim) - world.end, 6 * TIME_MS, 7400 * TIME_US);
    assert_in_range(world.sent, 360 + 140, 360 + 200);
    close_world(&world);
}

/* The manager's clock has nanoseconds, the simulator's picoseconds. */
static void a_manager_is_not_called_before_its_nanosecond(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, "today", NULL);
    sim_run(world.sim, 1234567);
    assert_int_equal(sim_now(world.sim), 1234567);
    assert_int_equal(sim_now_ns(world.sim), 1234);
    struct sm_config config = quiet_config();
    config.sweep_ns = 10 * NS_PER_MS;
    unsigned manager = sim_add_manager(world.sim, port_of(&world, "S0", 0), &config);
    assert_true(sim_run_until_settled(world.sim, manager, 10000 * TIME_S));
    struct sm *sm = sim_manager(world.sim, manager);
    uint64_t sweep_ns = sm_deadline(sm), sweep = time_ns_to_ps(sweep_ns);
    assert_true(sweep > sim_now(world.sim) && sweep <= sim_now(world.sim) + 10 * TIME_MS);
    sim_run(world.sim, sweep - 1);
    assert_int_equal(sim_now_ns(world.sim), sweep_ns - 1);
    assert_int_equal(sm_deadline(sm), sweep_ns);
    world.sent = 0;
    sim_run(world.sim, sweep + 1);
    assert_true(world.sent > 0);
    assert_true(sm_deadline(sm) > sweep_ns);
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_manager_is_not_called_before_its_nanosecond),
        cmocka_unit_test(routes_come_after_their_operations_times_the_price),
        cmocka_unit_test(with_a_price_of_zero_routes_are_available_at_once),
        cmocka_unit_test(the_check_and_the_order_of_updates_are_part_of_it),
        cmocka_unit_test(a_huge_price_only_delays_routes),
        cmocka_unit_test(a_manager_with_a_worker_thread_answers_while_it_computes),
        cmocka_unit_test(a_manager_with_one_thread_loses_mastership_while_it_computes),
        cmocka_unit_test(a_manager_with_one_thread_sends_nothing_while_it_computes),
        cmocka_unit_test(a_change_while_computing_is_not_lost),
        cmocka_unit_test(mads_that_arrive_while_computing_are_processed_afterwards),
        cmocka_unit_test(a_refusal_takes_time_and_writes_nothing),
        cmocka_unit_test(the_job_of_a_killed_manager_is_dropped),
        cmocka_unit_test(a_simulation_can_end_in_the_middle_of_computing),
        cmocka_unit_test(the_papers_prices_give_the_papers_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
