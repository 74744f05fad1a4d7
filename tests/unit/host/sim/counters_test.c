/* A performance manager beside a subnet manager, on a fabric with data traffic: what it knows of
 * each port is what the fabric counted. It sends through the MAD layer of the manager's host. */
#include "sim_world.h"

#include "host/sim/sim_paths.h"
#include "perf/ranking.h"
#include "sma/sma.h"

#include <arpa/inet.h>

enum { INTERVAL_MS = 20 };

struct counters_world {
    struct world world;
    struct sim_paths *paths;
    struct sm_config config;
    unsigned manager;
    uint32_t manager_port;
    struct perf *perf;
    struct mad_file *file;
    uint32_t agent;
};

static void receive_answers(struct counters_world *world, uint64_t now)
{
    const struct mad_received *received;
    while ((received = mad_file_next(world->file)) != NULL) {
        if (received->head.status == 0) /* else a request timed out */
            perf_receive(world->perf, now, sm_subnet(sim_manager(world->world.sim, world->manager)),
                         received->data);
        mad_file_taken(world->file);
    }
}

static uint64_t attend(void *context, uint64_t now_ps)
{
    struct counters_world *world = context;
    struct sm *sm = sim_manager(world->world.sim, world->manager);
    struct perf_request request;
    uint64_t now = time_ns_floor(now_ps);
    receive_answers(world, now);
    while (perf_next_request(world->perf, now, sm_subnet(sm), &request)) {
        struct mad_head head = {.agent = world->agent,
                                .timeout_ms = (uint32_t)(request.timeout_ns / NS_PER_MS),
                                .qpn = htonl(request.to.qp),
                                .q_key = htonl(request.to.q_key),
                                .lid = htons(request.to.lid)};
        mad_file_send(world->file, now_ps, &head, request.mad, MAD_BYTES);
    }
    return time_ns_to_ps(perf_deadline(world->perf));
}

static void begin(struct counters_world *world, const char *fabric)
{
    struct sim_administration_options administration;
    struct perf_config config;
    world_open(&world->world, "today", fabric);
    sim_administration_options_init(&administration);
    sim_add_administrations(world->world.sim, &administration);
    sm_config_init(&world->config);
    world->manager_port = host(&world->world, "H0");
    world->manager = settle(&world->world, world->manager_port, &world->config);
    world->paths = sim_paths_new(world->world.sim, world->world.fabric);
    world->file = mad_file_open(sim_mads(world->world.sim), world->manager_port, world);
    world->agent = (uint32_t)mad_file_register(
        world->file, &(struct registration){.class = CLASS_PERFORMANCE, .class_version = 1});
    perf_config_init(&config);
    config.interval_ns = INTERVAL_MS * NS_PER_MS;
    world->perf = perf_new(&config);
    sim_add_hook(world->world.sim, &(struct sim_hook){.context = world, .attend = attend});
}

static void end(struct counters_world *world)
{
    perf_free(world->perf);
    sim_paths_free(world->paths);
    world_close(&world->world);
}

/* A packet of 256 bytes of every host to a random one every `interval`. */
static void start_traffic(struct counters_world *world, uint64_t interval_ps, uint64_t duration_ps)
{
    const struct topology *topology = &world->world.topology;
    struct traffic traffic;
    struct err err = {0};
    traffic_init(&traffic, 256);
    traffic.arrival = ARRIVAL_POISSON;
    traffic.interval_ps = interval_ps;
    traffic.start_ps = sim_now(world->world.sim);
    traffic.stop_ps = traffic.start_ps + duration_ps;
    for (uint32_t port = 0; port < topology->ports.count; port++)
        if (topology->nodes.items[topology->ports.items[port].node].kind != NODE_SWITCH &&
            topology->ports.items[port].peer != TOPOLOGY_NONE) {
            vec_push(&traffic.senders, port);
            vec_push(&traffic.receivers, port);
        }
    if (fabric_check_traffic(world->world.fabric, &traffic, &err) < 0)
        fail_msg("%s", err.message);
    fabric_add_traffic(world->world.fabric, &traffic);
    traffic_release(&traffic);
}

static uint64_t requests_of(const struct counters_world *world)
{
    struct perf_counts counts;
    perf_counts(world->perf, &counts);
    return counts.requests;
}

/* The counters of a port of the topology, as the performance manager knows them. */
static const struct port_counters *known_of(struct counters_world *world, uint32_t port)
{
    const struct subnet *subnet = sm_subnet(sim_manager(world->world.sim, world->manager));
    const struct topology *topology = &world->world.topology;
    uint32_t at = topology->ports.items[port].node;
    uint32_t node = map_get(&subnet->by_guid, topology->nodes.items[at].guid);
    assert_true(node != MAP_NONE);
    return perf_port_counters(world->perf, subnet->nodes.items[node].first_port +
                                               topology_port_number(topology, port));
}

/* Compares after a round without traffic. Counters of packets may differ by the MADs that passed
 * the port after it was read: none that an adapter received, at most `after` elsewhere. */
static void check_port(struct counters_world *world, uint32_t port, uint64_t after)
{
    static const struct {
        enum port_counter ours;
        enum port_counter theirs;
    } pairs[] = {
        {COUNTER_SYMBOL_ERRORS, COUNTER_SYMBOL_ERRORS},
        {COUNTER_LINK_DOWNED, COUNTER_LINK_DOWNED},
        {COUNTER_RECEIVE_ERRORS, COUNTER_RECEIVE_ERRORS},
        {COUNTER_RECEIVE_SWITCH_RELAY_ERRORS, COUNTER_RECEIVE_SWITCH_RELAY_ERRORS},
        {COUNTER_TRANSMIT_DISCARDS, COUNTER_TRANSMIT_DISCARDS},
        {COUNTER_TRANSMIT_WAIT, COUNTER_TRANSMIT_WAIT},
        {COUNTER_LOCAL_PHYSICAL_ERRORS, COUNTER_LOCAL_PHYSICAL_ERRORS},
        {COUNTER_DLID_MAPPING_ERRORS, COUNTER_DLID_MAPPING_ERRORS},
    };
    const uint64_t *total = fabric_counters(world->world.fabric, port)->total;
    const struct port_counters *known = known_of(world, port);
    const struct topology *topology = &world->world.topology;
    bool adapter = topology->nodes.items[topology->ports.items[port].node].kind != NODE_SWITCH &&
                   port != world->manager_port;
    assert_non_null(known);
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_int_equal(known->value[pairs[i].ours], total[pairs[i].theirs]);
    assert_in_range(total[COUNTER_RECEIVE_PACKETS] - known->value[COUNTER_RECEIVE_PACKETS], 0,
                    adapter ? 0 : after);
    assert_in_range(total[COUNTER_RECEIVE_DATA] * 4 - known->value[COUNTER_RECEIVE_DATA], 0,
                    adapter ? 0 : after * 300);
    assert_in_range(total[COUNTER_TRANSMIT_PACKETS] - known->value[COUNTER_TRANSMIT_PACKETS], 0,
                    after);
    assert_in_range(total[COUNTER_TRANSMIT_DATA] * 4 - known->value[COUNTER_TRANSMIT_DATA], 0,
                    after * 300);
}

static void check_all(struct counters_world *world)
{
    const struct topology *topology = &world->world.topology;
    struct data_totals totals;
    run_for(&world->world, 2 * INTERVAL_MS * TIME_MS); /* until nothing travels, and a round more */
    uint64_t before = requests_of(world);
    run_for(&world->world, INTERVAL_MS * TIME_MS);
    uint64_t after = requests_of(world) - before;
    fabric_data_totals(world->world.fabric, &totals);
    assert_true(totals.delivered > 1000 && !totals.travelling);
    for (uint32_t port = 0; port < topology->ports.count; port++)
        if (topology->ports.items[port].peer != TOPOLOGY_NONE &&
            fabric_link_is_up(world->world.fabric, port))
            check_port(world, port, after);
}

static void the_manager_knows_what_the_fabric_counted(void **state)
{
    static const char *const fabrics[] = {
        "kary k=4 n=2 width=1x speed=SDR",
        "torus 3 3 speed=SDR width=1x",
        "irregular switches=8 ports=8 speed=SDR width=1x",
    };
    (void)state;
    for (unsigned i = 0; i < sizeof fabrics / sizeof *fabrics; i++) {
        struct counters_world world;
        begin(&world, fabrics[i]);
        start_traffic(&world, 20 * TIME_US, 3 * INTERVAL_MS * TIME_MS);
        run_for(&world.world, 3 * INTERVAL_MS * TIME_MS);
        check_all(&world);
        end(&world);
    }
}

static void rates_are_those_of_the_traffic(void **state)
{
    struct counters_world world;
    struct stage stages[STAGES_MOST];
    struct data_totals before, after;
    double sent = 0;
    (void)state;
    begin(&world, "kary k=4 n=2 width=1x speed=SDR");
    const struct subnet *subnet = sm_subnet(sim_manager(world.world.sim, world.manager));
    start_traffic(&world, 10 * TIME_US, TIME_S);
    run_for(&world.world, 3 * INTERVAL_MS * TIME_MS);
    fabric_data_totals(world.world.fabric, &before);
    uint64_t from = sim_now(world.world.sim);
    run_for(&world.world, 3 * INTERVAL_MS * TIME_MS);
    fabric_data_totals(world.world.fabric, &after);
    double rate = (double)(after.delivered_bytes - before.delivered_bytes) /
                  time_seconds((double)(sim_now(world.world.sim) - from));
    assert_int_equal(
        ranking_stages(world.perf, subnet, sim_now_ns(world.world.sim), false, stages, &sent), 4);
    print_message("adapters send %.0f bytes/s, by counters %.0f\n", rate, sent);
    assert_true(sent > 0.95 * rate && sent < 1.05 * rate);
    assert_true(stage_imbalance(&stages[0]) > 1 && stage_imbalance(&stages[0]) < 1.5);
    end(&world);
}

/* A switch without adapters. */
static uint32_t top_switch(const struct topology *topology)
{
    for (uint32_t node = 0;; node++) {
        bool top = topology->nodes.items[node].kind == NODE_SWITCH;
        for (unsigned n = 1; top && n <= topology->nodes.items[node].port_count; n++) {
            uint32_t peer = topology->ports.items[topology_port_index(topology, node, n)].peer;
            top = peer == TOPOLOGY_NONE ||
                  topology->nodes.items[topology->ports.items[peer].node].kind == NODE_SWITCH;
        }
        if (top)
            return node;
    }
}

static void a_failed_link_and_a_restarted_switch_are_followed(void **state)
{
    struct counters_world world;
    (void)state;
    begin(&world, "kary k=4 n=2 width=1x speed=SDR");
    const struct topology *topology = &world.world.topology;
    uint32_t top = top_switch(topology);
    start_traffic(&world, 20 * TIME_US, 20 * INTERVAL_MS * TIME_MS);
    run_for(&world.world, 3 * INTERVAL_MS * TIME_MS);
    fabric_set_link(world.world.fabric, host(&world.world, "H9"), false, NULL);
    fabric_set_node(world.world.fabric, top, false, NULL);
    run_for(&world.world, 5 * INTERVAL_MS * TIME_MS);
    fabric_set_link(world.world.fabric, host(&world.world, "H9"), true, NULL);
    fabric_set_node(world.world.fabric, top, true, NULL);
    run_for(&world.world, 20 * TIME_S); /* the manager brings them back */
    check_all(&world);
    uint32_t port = topology_port_index(topology, top, 1);
    assert_true(known_of(&world, port)->resets > 0);
    end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manager_knows_what_the_fabric_counted),
        cmocka_unit_test(rates_are_those_of_the_traffic),
        cmocka_unit_test(a_failed_link_and_a_restarted_switch_are_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
