/* Data traffic on fabrics with a manager. */
#include "sim_world.h"

#include "host/sim/sim_paths.h"
#include "sma/sma.h"

#include <stdio.h>
#include <string.h>

struct traffic_world {
    struct world world;
    struct sim_paths *paths;
    struct sm_config config;
    unsigned manager;
    unsigned deadlocks;
    uint64_t looped;    /* packets with more hops than the fabric has switches */
    uint64_t last_loss; /* when */
};

static void note_delivered(void *context, uint64_t now, const struct packet_view *packet)
{
    struct traffic_world *world = context;
    (void)now;
    world->looped += packet->hops > world->world.topology.nodes.count;
}

static void note_lost(void *context, uint64_t now, const struct packet_view *packet,
                      enum loss cause, uint32_t port)
{
    struct traffic_world *world = context;
    (void)cause, (void)port;
    world->last_loss = now;
    world->looped += packet->hops > world->world.topology.nodes.count;
}

static void note_deadlock(void *context, uint64_t now, const char *cycle)
{
    struct traffic_world *world = context;
    (void)now, (void)cycle;
    world->deadlocks++;
}

static void begin_with(struct traffic_world *world, const struct sm_config *config,
                       const char *fabric, const struct fabric_options *options)
{
    world->deadlocks = 0;
    world->looped = world->last_loss = 0;
    world->config = *config;
    world_open_with(&world->world, options, fabric);
    world->manager = settle(&world->world, management_port(&world->world, "S0"), &world->config);
    world->paths = sim_paths_new(world->world.sim, world->world.fabric);
    fabric_observe_data(world->world.fabric, &(struct data_observer){.context = world,
                                                                     .delivered = note_delivered,
                                                                     .lost = note_lost,
                                                                     .deadlock = note_deadlock});
}

static struct sm_config config_with(const char *engine)
{
    struct sm_config config;
    sm_config_init(&config);
    config.engine = engine_find(engine);
    config.engine_options.allow_cycles = true;
    config.drain_ns = 5 * NS_PER_MS; /* longer than the lifetime of any packet in these fabrics */
    return config;
}

static void begin(struct traffic_world *world, const char *engine, const char *fabric,
                  const struct fabric_options *options)
{
    struct sm_config config = config_with(engine);
    begin_with(world, &config, fabric, options);
}

static void end(struct traffic_world *world)
{
    struct err err = {0};
    if (fabric_check_data(world->world.fabric, &err) < 0)
        fail_msg("%s", err.message);
    sim_paths_free(world->paths);
    world_close(&world->world);
}

static struct traffic all_hosts(const struct traffic_world *world)
{
    const struct topology *topology = &world->world.topology;
    struct traffic traffic;
    traffic_init(&traffic, 256);
    traffic.arrival = ARRIVAL_SATURATED;
    traffic.start_ps = sim_now(world->world.sim);
    for (uint32_t port = 0; port < topology->ports.count; port++)
        if (topology->nodes.items[topology->ports.items[port].node].kind != NODE_SWITCH &&
            topology->ports.items[port].peer != TOPOLOGY_NONE) {
            vec_push(&traffic.senders, port);
            vec_push(&traffic.receivers, port);
        }
    return traffic;
}

static void start(struct traffic_world *world, struct traffic *traffic)
{
    struct err err = {0};
    if (fabric_check_traffic(world->world.fabric, traffic, &err) < 0)
        fail_msg("%s", err.message);
    fabric_add_traffic(world->world.fabric, traffic);
    traffic_release(traffic);
}

static void run(struct traffic_world *world, uint64_t ps)
{
    struct err err = {0};
    run_for(&world->world, ps);
    if (fabric_check_data(world->world.fabric, &err) < 0)
        fail_msg("%s", err.message);
}

static struct data_totals totals_of(struct traffic_world *world)
{
    struct data_totals totals;
    fabric_data_totals(world->world.fabric, &totals);
    return totals;
}

static uint64_t lost(const struct data_totals *totals)
{
    uint64_t sum = 0;
    for (unsigned cause = 0; cause < LOSS_CAUSES; cause++)
        sum += totals->lost[cause];
    return sum;
}

static struct fabric_options small_buffers(void)
{
    struct fabric_options options;
    assert_int_equal(fabric_options_preset(&options, "paper", NULL), 0);
    options.node.agent.data_vls = 1;
    options.node.buffer_bytes = 1024;
    options.node.agent.linear_entries = 64; /* one block: quick to write */
    options.compute_ps = 0;
    options.paper_compute = false;
    return options;
}

/* ---- deadlock ---- */

static void only_engines_that_break_the_ring_keep_it_moving(void **state)
{
    static const char *const engines[] = {"minhop", "fera", "pira", "dr", "updn"};
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        struct traffic_world world;
        struct fabric_options options = small_buffers();
        begin(&world, engines[i], "ring switches=6 hosts=2 width=1x speed=sdr", &options);
        struct traffic traffic = all_hosts(&world);
        start(&world, &traffic);
        run(&world, 20 * TIME_MS);
        assert_int_equal(world.deadlocks > 0, i == 0);
        uint64_t before = totals_of(&world).delivered;
        run(&world, TIME_MS);
        assert_int_equal(totals_of(&world).delivered == before, i == 0);
        end(&world);
    }
}

/* ---- failure and healing ---- */

/* A switch fails under light traffic. Packets in it and on their way to it are lost. Then the
 * manager reroutes, and the remaining hosts have their full traffic. */
static void a_manager_reroutes_around_a_failed_switch(void **state)
{
    struct traffic_world world;
    struct fabric_options options;
    (void)state;
    assert_int_equal(fabric_options_preset(&options, "today", NULL), 0);
    begin(&world, "updn", "irregular switches=16 hosts=15 ports=8 width=1x speed=sdr", &options);
    struct traffic traffic = all_hosts(&world);
    traffic.arrival = ARRIVAL_POISSON;
    traffic.interval_ps = 20 * TIME_US;
    start(&world, &traffic);
    run(&world, 5 * TIME_MS);
    struct data_totals before = totals_of(&world);
    assert_int_equal(lost(&before) + before.unroutable, 0);
    uint64_t killed_at = sim_now(world.world.sim);
    uint32_t victim = topology_find(&world.world.topology, "S7");
    fabric_set_node(world.world.fabric, victim, false, NULL);
    run(&world, TIME_MS); /* until the first trap is out */
    assert_true(sim_run_until_settled(world.world.sim, world.manager, killed_at + TIME_S));
    uint64_t healed_after = sim_now(world.world.sim) - killed_at;
    run(&world, 2 * TIME_MS);
    struct data_totals healed = totals_of(&world);
    print_message(
        "healed after %.3f ms; lost to the dead switch: %llu, for want of a route: %llu\n",
        (double)healed_after / 1e9, (unsigned long long)healed.lost[LOSS_DEAD_NODE],
        (unsigned long long)healed.lost[LOSS_NO_ROUTE]);
    assert_true(healed.lost[LOSS_DEAD_NODE] > 0);
    run(&world, 20 * TIME_MS);
    struct data_totals after = totals_of(&world);
    assert_int_equal(lost(&after), lost(&healed)); /* no further loss */
    assert_true(after.delivered > healed.delivered + 10000);
    assert_true(world.last_loss - killed_at < healed_after + TIME_MS);
    end(&world);
}

/* The switch comes back with its initial state: the manager programs it, and its adapter has
 * traffic again. */
static void a_switch_that_comes_back_is_used_again(void **state)
{
    struct traffic_world world;
    struct fabric_options options;
    (void)state;
    assert_int_equal(fabric_options_preset(&options, "today", NULL), 0);
    begin(&world, "updn", "irregular switches=16 hosts=16 ports=8 width=1x speed=sdr", &options);
    uint32_t victim = topology_find(&world.world.topology, "S7");
    for (unsigned round = 0; round < 2; round++) {
        struct traffic traffic = all_hosts(&world);
        traffic.arrival = ARRIVAL_POISSON;
        traffic.interval_ps = 20 * TIME_US;
        traffic.stop_ps = traffic.start_ps + 10 * TIME_MS;
        start(&world, &traffic);
        run(&world, 5 * TIME_MS);
        struct data_totals totals = totals_of(&world);
        /* No further packet is lost in the second round. */
        assert_true(round == 0 ||
                    (lost(&totals) > 0 && world.last_loss < sim_now(world.world.sim) - TIME_S));
        assert_true(totals.delivered > (round ? 6600 : 3300));
        fabric_set_node(world.world.fabric, victim, round, NULL);
        run(&world, 10 * TIME_MS);
        fabric_set_node(world.world.fabric, victim, true, NULL);
        run(&world, 3 * TIME_S);
        assert_true(sim_run_until_settled(world.world.sim, world.manager,
                                          sim_now(world.world.sim) + TIME_S));
        assert_true(all_active(&world.world));
    }
    end(&world);
}

/* ---- reconfiguration ---- */

/* The root of the routes moves around a ring under full load, one switch at a time. Two slow agents
 * prolong the mixture of old and new tables. */
static void move_roots(struct traffic_world *world)
{
    const struct topology *topology = &world->world.topology;
    struct sm *sm = sim_manager(world->world.sim, world->manager);
    world->config.engine_options.root = ROOT_LIST;
    world->config.engine_options.root_count = 1;
    for (unsigned i = 1; i <= 6; i++) {
        char name[8];
        snprintf(name, sizeof name, "S%u", i * 5 % 6);
        uint64_t root = topology->nodes.items[topology_find(topology, name)].guid;
        world->config.engine_options.root_guids = &root;
        sm_configure(sm, sim_now_ns(world->world.sim), &world->config);
        sm_reroute(sm, sim_now_ns(world->world.sim));
        assert_true(sim_run_until_settled(world->world.sim, world->manager,
                                          sim_now(world->world.sim) + TIME_S));
        run(world, 2 * TIME_MS);
    }
}

static void only_naive_reconfiguration_ends_in_a_deadlock(void **state)
{
    static const enum sm_mode modes[] = {SM_NAIVE, SM_ORDERED, SM_STATIC};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct traffic_world world;
        struct fabric_options options = small_buffers();
        struct sm_config config = config_with("fera");
        config.mode = modes[i];
        config.policy = config.mode == SM_STATIC ? &sm_policy_paper : &sm_policy_default;
        config.alone = config.mode == SM_STATIC;
        begin_with(&world, &config, "ring switches=6 hosts=2 width=1x speed=sdr", &options);
        fabric_set_agent_delay(world.world.fabric, topology_find(&world.world.topology, "S2"),
                               300 * TIME_US, NULL);
        fabric_set_agent_delay(world.world.fabric, topology_find(&world.world.topology, "S4"),
                               100 * TIME_US, NULL);
        struct traffic traffic = all_hosts(&world);
        start(&world, &traffic);
        run(&world, 5 * TIME_MS);
        move_roots(&world);
        struct data_totals totals = totals_of(&world);
        print_message("mode %u: %u deadlocks, %llu packets in loops, %llu lost of %llu\n",
                      (unsigned)modes[i], world.deadlocks, (unsigned long long)world.looped,
                      (unsigned long long)lost(&totals), (unsigned long long)totals.made);
        assert_int_equal(world.deadlocks + world.looped > 0, modes[i] == SM_NAIVE);
        assert_true(modes[i] != SM_ORDERED || lost(&totals) == 0);
        end(&world);
    }
}

/* ---- counters ---- */

/* The sums of the port counters equal the delivered traffic. */
static void the_port_counters_agree_with_the_delivered_traffic(void **state)
{
    struct traffic_world world;
    struct fabric_options options;
    (void)state;
    assert_int_equal(fabric_options_preset(&options, "paper", NULL), 0);
    begin(&world, "updn", "irregular switches=16 hosts=16 ports=8 width=1x speed=sdr", &options);
    const struct topology *topology = &world.world.topology;
    uint64_t *before = mem_zalloc(topology->ports.count * 2, sizeof *before);
    for (uint32_t port = 0; port < topology->ports.count; port++) {
        const struct sma_counters *counters = fabric_counters(world.world.fabric, port);
        before[2 * port] = counters->total[COUNTER_TRANSMIT_PACKETS];
        before[2 * port + 1] = counters->total[COUNTER_RECEIVE_PACKETS];
    }
    struct traffic traffic = all_hosts(&world);
    traffic.arrival = ARRIVAL_POISSON;
    traffic.interval_ps = 10 * TIME_US;
    traffic.stop_ps = traffic.start_ps + 5 * TIME_MS;
    start(&world, &traffic);
    run(&world, 10 * TIME_MS);
    struct data_totals totals = totals_of(&world);
    uint64_t sent = 0, received = 0, delivered = 0;
    for (uint32_t port = 0; port < topology->ports.count; port++) {
        const struct sma_counters *counters = fabric_counters(world.world.fabric, port);
        sent += counters->total[COUNTER_TRANSMIT_PACKETS] - before[2 * port];
        received += counters->total[COUNTER_RECEIVE_PACKETS] - before[2 * port + 1];
        if (topology->nodes.items[topology->ports.items[port].node].kind != NODE_SWITCH)
            delivered += counters->total[COUNTER_RECEIVE_PACKETS] - before[2 * port + 1];
    }
    assert_int_equal(totals.travelling + totals.waiting, 0);
    assert_int_equal(sent, totals.hops);
    assert_int_equal(received, totals.hops);
    assert_int_equal(delivered, totals.delivered);
    mem_free(before);
    end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_engines_that_break_the_ring_keep_it_moving),
        cmocka_unit_test(a_manager_reroutes_around_a_failed_switch),
        cmocka_unit_test(a_switch_that_comes_back_is_used_again),
        cmocka_unit_test(only_naive_reconfiguration_ends_in_a_deadlock),
        cmocka_unit_test(the_port_counters_agree_with_the_delivered_traffic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
