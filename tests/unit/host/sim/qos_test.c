/* QoS levels and VLs of routes, from the manager's configuration to the packets. All agents start
 * with all SLs on VL 0, so that any other mapping was written by the manager. */
#include "agents.h"
#include "effort.h"
#include "sim_world.h"

#include "fabric/data.h"
#include "host/sim/sim_paths.h"

#include <stdio.h>
#include <string.h>

enum { TRAFFICS = 4 };

struct service_world {
    struct world world;
    struct sim_paths *paths;
    struct qos qos;
    struct sm_config config;
    unsigned manager, deadlocks, errors, refusals;
    char error[256];
    uint64_t bytes[TRAFFICS], slowest[TRAFFICS], packets[TRAFFICS];
    uint16_t levels[TRAFFICS]; /* SLs of delivered packets, by bit */
};

static void note_delivered(void *context, uint64_t now, const struct packet_view *packet)
{
    struct service_world *world = context;
    if (packet->traffic >= TRAFFICS)
        return;
    world->bytes[packet->traffic] += packet->bytes;
    world->packets[packet->traffic]++;
    world->levels[packet->traffic] |= (uint16_t)(1u << packet->sl);
    uint64_t took = now - packet->made;
    if (took > world->slowest[packet->traffic])
        world->slowest[packet->traffic] = took;
}

static void note_deadlock(void *context, uint64_t now, const char *cycle)
{
    struct service_world *world = context;
    (void)now, (void)cycle;
    world->deadlocks++;
}

static void note_event(void *context, uint64_t now, unsigned manager, const struct sm_event *event)
{
    struct service_world *world = context;
    (void)now, (void)manager;
    world->refusals += event->kind == SM_EVENT_WARNING && strstr(event->text, "refuses") != NULL;
    if (event->kind != SM_EVENT_ERROR)
        return;
    world->errors++;
    snprintf(world->error, sizeof world->error, "%s", event->text);
}

static struct fabric_options slow_links(void)
{
    struct fabric_options options;
    assert_int_equal(fabric_options_preset(&options, "today", NULL), 0);
    options.node.agent.linear_entries = 64;
    options.node.agent.vl_arbitration = 64;
    options.compute_ps = 0;
    return options;
}

static uint32_t first_switch(const struct world *world)
{
    uint32_t node = 0;
    while (world->topology.nodes.items[node].kind != NODE_SWITCH)
        node++;
    return end_port(world, node);
}

/* `policy` NULL: none. */
static void open_world(struct service_world *world, const char *engine, const char *policy,
                       const char *fabric, const struct fabric_options *options)
{
    memset(world, 0, sizeof *world);
    sm_config_init(&world->config);
    world->config.engine = engine_find(engine);
    qos_init(&world->qos);
    if (policy) {
        struct err err = {0};
        char *text = mem_strdup(policy);
        if (qos_read(&world->qos, from_text("policy", text, &err)))
            fail_msg("%s", err.message);
        mem_free(text);
        world->qos.on = true;
        world->config.qos = &world->qos;
    }
    world_open_with(&world->world, options, fabric);
    agents_map_all_sls_to_vl_0(world->world.fabric);
    sim_set_listener(world->world.sim,
                     &(struct sim_listener){.context = world, .event = note_event});
    world->manager = settle(&world->world, first_switch(&world->world), &world->config);
    world->paths = sim_paths_new(world->world.sim, world->world.fabric);
    fabric_observe_data(world->world.fabric, &(struct data_observer){.context = world,
                                                                     .delivered = note_delivered,
                                                                     .deadlock = note_deadlock});
}

static void close_world(struct service_world *world)
{
    struct err err = {0};
    assert_int_equal(world->refusals, 0);
    if (fabric_check_data(world->world.fabric, &err) < 0)
        fail_msg("%s", err.message);
    sim_paths_free(world->paths);
    world_close(&world->world);
    qos_release(&world->qos);
}

/* Traffic from one host to another, saturated or with a packet per interval. */
static void flow(struct service_world *world, const char *from, const char *to, unsigned sl,
                 unsigned payload, uint64_t interval_ps)
{
    struct traffic traffic;
    struct err err = {0};
    traffic_init(&traffic, 256);
    traffic.arrival = interval_ps ? ARRIVAL_CONSTANT : ARRIVAL_SATURATED;
    traffic.interval_ps = interval_ps;
    traffic.start_ps = sim_now(world->world.sim);
    traffic.sl = (uint8_t)sl;
    traffic.sizes[0] = (struct traffic_size){payload, 1};
    vec_push(&traffic.senders, host(&world->world, from));
    vec_push(&traffic.receivers, host(&world->world, to));
    if (fabric_check_traffic(world->world.fabric, &traffic, &err) < 0)
        fail_msg("%s", err.message);
    fabric_add_traffic(world->world.fabric, &traffic);
    traffic_release(&traffic);
}

static void all_hosts(struct service_world *world, unsigned sl)
{
    const struct topology *topology = &world->world.topology;
    struct traffic traffic;
    traffic_init(&traffic, 256);
    traffic.arrival = ARRIVAL_SATURATED;
    traffic.start_ps = sim_now(world->world.sim);
    traffic.sl = (uint8_t)sl;
    for (uint32_t port = 0; port < topology->ports.count; port++)
        if (topology->nodes.items[topology->ports.items[port].node].kind != NODE_SWITCH &&
            topology->ports.items[port].peer != TOPOLOGY_NONE) {
            vec_push(&traffic.senders, port);
            vec_push(&traffic.receivers, port);
        }
    fabric_add_traffic(world->world.fabric, &traffic);
    traffic_release(&traffic);
}

static void run(struct service_world *world, uint64_t ps)
{
    run_for(&world->world, ps);
}

/* Measures after a warm-up. */
static void measure(struct service_world *world, uint64_t ps)
{
    run(world, 2 * TIME_MS);
    memset(world->bytes, 0, sizeof world->bytes);
    memset(world->slowest, 0, sizeof world->slowest);
    memset(world->packets, 0, sizeof world->packets);
    run(world, ps);
}

static double share(const struct service_world *world, unsigned traffic)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < TRAFFICS; i++)
        sum += world->bytes[i];
    return (double)world->bytes[traffic] / (double)sum;
}

/* Two switches with one link, four hosts at each: 1x SDR, 2 Gb/s, 250 bytes per microsecond. */
static const char two_switches[] = "mesh dims=2 hosts=4 width=1x speed=sdr";
enum { PACKET = 4096 + DATA_OVERHEAD_BYTES };
#define PACKET_PS (PACKET * 4 * TIME_NS)

/* ---- priority ---- */

static const char two_levels[] = "level default sl 0 weight 64\n"
                                 "level urgent sl 1 priority high limit 80% weight 64\n";

/* One flow has a third of the link, three others offer more than the rest. */
static void saturate_link(struct service_world *world, unsigned sl)
{
    flow(world, "H0", "H4", sl, 4096, 3 * PACKET_PS + 137 * TIME_NS); /* at varying times */
    flow(world, "H1", "H5", 0, 4096, 0);
    flow(world, "H2", "H6", 0, 4096, 0);
    flow(world, "H3", "H7", 0, 4096, 0);
    measure(world, 30 * TIME_MS);
}

/* Its own transmission, and on each of the two shared links that of a packet which has begun. */
#define BOUND_PS (3 * PACKET_PS + 5 * TIME_US)

static void high_priority_keeps_its_bandwidth_and_latency_under_saturation(void **state)
{
    struct service_world world;
    struct fabric_options options = slow_links();
    (void)state;
    open_world(&world, "updn", two_levels, two_switches, &options);
    saturate_link(&world, 1);
    print_message("high priority: %.4f of the link, slowest %.1f us of %.1f\n", share(&world, 0),
                  (double)world.slowest[0] / 1e6, (double)BOUND_PS / 1e6);
    assert_true(share(&world, 0) > 0.33 && share(&world, 0) < 0.34);
    assert_true(world.slowest[0] < BOUND_PS);
    close_world(&world);
    /* With the SL of the others, the same flow has neither. */
    open_world(&world, "updn", two_levels, two_switches, &options);
    saturate_link(&world, 0);
    assert_true(share(&world, 0) < 0.27);
    assert_true(world.slowest[0] > 2 * BOUND_PS);
    close_world(&world);
}

/* Both priorities are saturated: low priority gets what the limit leaves. */
static double low_share_with(const char *policy, unsigned payload)
{
    struct service_world world;
    struct fabric_options options = slow_links();
    open_world(&world, "updn", policy, two_switches, &options);
    flow(&world, "H0", "H4", 1, payload, 0);
    flow(&world, "H1", "H5", 1, payload, 0);
    flow(&world, "H2", "H6", 0, payload, 0);
    flow(&world, "H3", "H7", 0, payload, 0);
    measure(&world, 40 * TIME_MS);
    double low = share(&world, 2) + share(&world, 3);
    close_world(&world);
    return low;
}

static void expect_near(double share, double expected)
{
    if (share < expected - 0.02 || share > expected + 0.02)
        fail_msg("%.4f of the link, not %.4f", share, expected);
}

static void the_limit_of_high_priority_prevents_starvation(void **state)
{
    (void)state;
    expect_near(low_share_with(two_levels, 4096), 0.20);
    expect_near(low_share_with("level u sl 1 priority high limit 90%\n", 4096), 0.10);
    expect_near(low_share_with("level u sl 1 priority high limit 50%\n", 4096), 0.50);
    expect_near(low_share_with("level u sl 1 priority high\n", 4096), 0.10);
    expect_near(low_share_with("level u sl 1 priority high limit 100%\n", 4096), 0.00);
}

static void weights_give_shares(void **state)
{
    struct service_world world;
    struct fabric_options options = slow_links();
    (void)state;
    static const char policy[] = "level a sl 0 weight 1\n"
                                 "level b sl 1 weight 2\n"
                                 "level c sl 5 weight 5\n"
                                 "level d sl 3 weight 8\n";
    for (unsigned round = 0; round < 2; round++) { /* sizes are multiples of 64 bytes */
        options.node.agent.mtu = round ? 2048 : 4096;
        open_world(&world, "updn", policy, two_switches, &options);
        flow(&world, "H0", "H4", 0, round ? 2022 : 4070, 0);
        flow(&world, "H1", "H5", 1, round ? 998 : 4070, 0);
        flow(&world, "H2", "H6", 5, round ? 1510 : 4070, 0);
        flow(&world, "H3", "H7", 3, round ? 486 : 4070, 0);
        measure(&world, 60 * TIME_MS);
        print_message("shares %.4f %.4f %.4f %.4f\n", share(&world, 0), share(&world, 1),
                      share(&world, 2), share(&world, 3));
        expect_near(share(&world, 0), 1 / 16.0);
        expect_near(share(&world, 1), 2 / 16.0);
        expect_near(share(&world, 2), 5 / 16.0);
        expect_near(share(&world, 3), 8 / 16.0);
        close_world(&world);
    }
}

static uint32_t find_node(const struct topology *topology, unsigned host)
{
    char name[8];
    snprintf(name, sizeof name, "H%u", host);
    return topology_find(topology, name);
}

/* Traffic without an SL gets that of the policy for its hosts. */
static void the_policys_groups_apply_to_traffic(void **state)
{
    struct service_world world;
    struct fabric_options options = slow_links();
    (void)state;
    open_world(&world, "updn",
               "level default sl 0 weight 1\nlevel best sl 2 weight 3\n"
               "group good name H0 guid 0x100003\nmatch from good level best\n",
               two_switches, &options);
    flow(&world, "H0", "H4", 0, 4096, 0);
    flow(&world, "H1", "H5", 0, 4096, 0);
    flow(&world, "H2", "H6", 0, 4096, 0);
    measure(&world, 30 * TIME_MS);
    assert_int_equal(world.levels[0], 1 << 2);
    assert_int_equal(world.levels[1], 1 << 2);
    assert_int_equal(world.levels[2], 1 << 0);
    expect_near(share(&world, 2), 0.25);
    const struct topology *topology = fabric_topology(world.world.fabric);
    for (unsigned i = 0; i < 3; i++) { /* a page shows what packets use */
        uint32_t from = topology->nodes.items[find_node(topology, i)].first_port + 1;
        uint32_t to = topology->nodes.items[find_node(topology, i + 4)].first_port + 1;
        assert_int_equal(world.levels[i], 1 << sim_paths_show(world.paths, from, to).sl);
    }
    close_world(&world);
}

/* ---- VLs of routes ---- */

static struct fabric_options small_buffers(void)
{
    struct fabric_options options = slow_links();
    options.node.agent.mtu = 256;
    options.node.buffer_bytes = 1024;
    options.node.agent.life_time = 31; /* a deadlock is permanent */
    options.node.agent.queue_life = 31;
    return options;
}

static const struct {
    const char *engine, *fabric;
} layered[] = {
    {"dfsssp", "ring switches=6 hosts=2 width=1x speed=sdr"},
    {"lash", "ring switches=6 hosts=2 width=1x speed=sdr"},
    {"dor", "ring switches=6 hosts=2 width=1x speed=sdr"},
    {"dfsssp", "torus dims=4x4 hosts=2 width=1x speed=sdr"},
    {"lash", "torus dims=4x4 hosts=2 width=1x speed=sdr"},
    {"nue", "torus dims=4x4 hosts=2 width=1x speed=sdr"},
    {"dor", "torus dims=5x5 hosts=1 width=1x speed=sdr"},
};
enum { LAYERED = sizeof layered / sizeof *layered };

static bool runs(struct service_world *world, uint64_t ps)
{
    struct data_totals before, after;
    run(world, ps);
    fabric_data_totals(world->world.fabric, &before);
    run(world, TIME_MS);
    fabric_data_totals(world->world.fabric, &after);
    return world->deadlocks == 0 && after.delivered > before.delivered;
}

static void sl2vl_tables_separate_layered_routes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LAYERED; i++) {
        struct service_world world;
        struct fabric_options options = small_buffers();
        open_world(&world, layered[i].engine, NULL, layered[i].fabric, &options);
        assert_true(sm_paths(sim_manager(world.world.sim, 0)).routes->vls > 1);
        all_hosts(&world, 0);
        if (!runs(&world, effort(15, 15, 4) * TIME_MS))
            fail_msg("%s on a %s stands still", layered[i].engine, layered[i].fabric);
        close_world(&world);
    }
}

/* The counterpart of the test above: with all SLs on VL 0 the same routes deadlock. (With nue that
 * takes longer than this test runs.) */
static void without_sl2vl_tables_layered_routes_deadlock(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LAYERED; i++) {
        struct service_world world;
        struct fabric_options options = small_buffers();
        if (strcmp(layered[i].engine, "nue") == 0)
            continue;
        open_world(&world, layered[i].engine, NULL, layered[i].fabric, &options);
        agents_map_all_sls_to_vl_0(world.world.fabric);
        all_hosts(&world, 0);
        if (runs(&world, effort(15, 15, 4) * TIME_MS))
            fail_msg("%s on a %s goes on", layered[i].engine, layered[i].fabric);
        close_world(&world);
    }
}

/* Queries to the manager use the SL of the path to it. */
static void ports_get_the_sl_of_the_path_to_the_manager(void **state)
{
    struct service_world world;
    struct fabric_options options = small_buffers();
    unsigned seen = 0;
    (void)state;
    open_world(&world, "lash", NULL, "ring switches=6 hosts=2", &options);
    uint32_t manager = first_switch(&world.world);
    struct sm_paths paths = sm_paths(sim_manager(world.world.sim, 0));
    unsigned lid = (unsigned)wire_get(fabric_port_info(world.world.fabric, manager), PORT_INFO_LID);
    for (uint32_t i = 0; i < paths.network->terminals.count; i++) {
        struct path path = path_lookup(paths.routes, paths.network, i, paths.network->owner[lid]);
        for (unsigned j = 0; j < 12; j++) {
            char name[8];
            snprintf(name, sizeof name, "H%u", j);
            uint32_t port = host(&world.world, name);
            if (fabric_port_guid(world.world.fabric, port, 0) ==
                paths.network->terminals.items[i].guid)
                assert_int_equal(
                    wire_get(fabric_port_info(world.world.fabric, port), PORT_INFO_MASTER_SM_SL),
                    path.sl);
        }
        seen |= 1u << path.sl;
    }
    assert_true(seen & (seen - 1));
    close_world(&world);
}

/* Two levels with four VLs each: no deadlock, no starvation. Weights divide the bandwidth of a
 * link; in a congested fabric the shares depend on other links too. */
static void levels_and_vls_of_routes_are_combined(void **state)
{
    static const char policy[] = "level default sl 0 weight 1\nlevel better sl 1 weight 3\n";
    (void)state;
    for (unsigned i = 0; i < LAYERED; i++) {
        struct service_world world;
        struct fabric_options options = small_buffers();
        open_world(&world, layered[i].engine, policy, layered[i].fabric, &options);
        struct sm_paths paths = sm_paths(sim_manager(world.world.sim, 0));
        assert_true(paths.routes->vls > 1 && paths.routes->vls <= 4);
        assert_int_equal(paths.layout.vls, 4);
        all_hosts(&world, 0);
        all_hosts(&world, 1);
        if (!runs(&world, effort(10, 10, 4) * TIME_MS))
            fail_msg("%s on a %s stands still", layered[i].engine, layered[i].fabric);
        print_message("%s on a %s: better %.2f times the rest\n", layered[i].engine,
                      layered[i].fabric, (double)world.bytes[1] / (double)world.bytes[0]);
        assert_true(2 * world.bytes[1] > world.bytes[0] && 4 * world.bytes[0] > world.bytes[1]);
        assert_int_equal(world.levels[0] & 0xAAAA, 0); /* even and odd SLs */
        assert_int_equal(world.levels[1] & 0x5555, 0);
        assert_true(world.levels[1] & ~3);
        close_world(&world);
    }
}

/* ---- written tables ---- */

static unsigned blocks_of_kind(struct service_world *world, enum block_kind kind)
{
    const struct blocks *blocks = &sm_subnet(sim_manager(world->world.sim, 0))->blocks;
    unsigned count = 0;
    for (size_t i = 0; i < blocks->rows.count; i++)
        count += blocks->rows.items[i].kind == kind;
    return count;
}

static void nothing_is_written_without_vls_or_levels(void **state)
{
    struct service_world world;
    struct fabric_options options = slow_links();
    (void)state;
    open_world(&world, "updn", NULL, "torus dims=4x4 hosts=1", &options);
    assert_int_equal(blocks_of_kind(&world, BLOCK_SL2VL), 0);
    assert_int_equal(blocks_of_kind(&world, BLOCK_ARBITRATION), 0);
    close_world(&world);
}

static void one_table_for_all_inputs_replaces_one_for_each(void **state)
{
    unsigned maps[2];
    (void)state;
    for (unsigned wildcards = 0; wildcards < 2; wildcards++) {
        struct service_world world;
        struct fabric_options options = slow_links();
        options.node.agent.sl2vl_wildcards = wildcards;
        open_world(&world, "dfsssp", NULL, "torus dims=4x4 hosts=1", &options);
        maps[wildcards] = blocks_of_kind(&world, BLOCK_SL2VL);
        const struct topology *topology = &world.world.topology;
        for (uint32_t i = 0; i < topology->nodes.count; i++) {
            const struct topology_node *node = &topology->nodes.items[i];
            unsigned ports = node->kind == NODE_SWITCH ? node->port_count : 0;
            for (unsigned output = 1; output <= ports; output++)
                for (unsigned input = 1; input <= ports; input++)
                    assert_int_equal(agent_vl(world.world.fabric, i, input, output, 3), 3);
        }
        close_world(&world);
    }
    assert_int_equal(maps[0], 16 + 16 * 5 * 6);
    assert_int_equal(maps[1], 16 + 16 * 5);
}

/* One switch has fewer VLs: routes use only VLs that all links between switches have. */
static void routes_use_no_more_vls_than_every_link_has(void **state)
{
    struct service_world world;
    struct fabric_options options = slow_links();
    (void)state;
    open_world(&world, "dfsssp", NULL, "ring switches=6 hosts=1", &options);
    assert_int_equal(sm_paths(sim_manager(world.world.sim, 0)).routes->vls, 8);
    close_world(&world);
    assert_int_equal(fabric_options_set(&options, "S3:data_vls", "2", NULL), 0);
    open_world(&world, "dfsssp", NULL, "ring switches=6 hosts=1", &options);
    assert_int_equal(sm_paths(sim_manager(world.world.sim, 0)).routes->vls, 2);
    close_world(&world);
    /* An adapter with fewer VLs does not limit the others. */
    options = slow_links();
    assert_int_equal(fabric_options_set(&options, "H3:data_vls", "1", NULL), 0);
    open_world(&world, "dfsssp", NULL, "ring switches=6 hosts=1", &options);
    assert_int_equal(sm_paths(sim_manager(world.world.sim, 0)).routes->vls, 8);
    all_hosts(&world, 0);
    assert_true(runs(&world, TIME_MS));
    struct data_totals totals;
    fabric_data_totals(world.world.fabric, &totals);
    assert_int_equal(totals.lost[LOSS_NO_VL], 0);
    close_world(&world);
}

static void too_few_vls_are_an_error(void **state)
{
    struct service_world world;
    struct fabric_options options = slow_links();
    (void)state;
    assert_int_equal(fabric_options_set(&options, "S3:data_vls", "1", NULL), 0);
    open_world(&world, "lash", NULL, "ring switches=6 hosts=1", &options);
    assert_null(sm_paths(sim_manager(world.world.sim, 0)).network);
    assert_true(world.errors > 0);
    close_world(&world);
    open_world(&world, "updn", two_levels, "ring switches=6 hosts=1", &options);
    assert_non_null(sm_paths(sim_manager(world.world.sim, 0)).network);
    assert_false(sm_paths(sim_manager(world.world.sim, 0)).layout.levels);
    assert_int_equal(world.errors, 1);
    assert_non_null(strstr(world.error, "2 QoS levels need 2 VLs"));
    close_world(&world);
}

static void reconfigure(struct service_world *world, const char *policy)
{
    struct qos qos;
    struct err err = {0};
    char *text = mem_strdup(policy);
    qos_init(&qos);
    assert_int_equal(qos_read(&qos, from_text("policy", text, &err)), 0);
    mem_free(text);
    qos.on = true;
    world->config.qos = &qos;
    sm_configure(sim_manager(world->world.sim, 0), sim_now_ns(world->world.sim), &world->config);
    world->config.qos = NULL; /* was copied */
    qos_release(&qos);
    assert_true(sim_run_until_settled(world->world.sim, 0, sim_now(world->world.sim) + TIME_S));
}

/* New levels for a running manager: tables, limits and paths follow. */
static void levels_can_change_under_traffic(void **state)
{
    struct service_world world;
    struct fabric_options options = slow_links();
    struct data_totals totals;
    (void)state;
    open_world(&world, "updn", NULL, two_switches, &options);
    flow(&world, "H0", "H4", 0, 4096, 0);
    flow(&world, "H1", "H5", 0, 4096, 0);
    measure(&world, 10 * TIME_MS);
    expect_near(share(&world, 0), 0.5);
    reconfigure(&world, "level default sl 0 weight 1\nlevel best sl 1 weight 3\n"
                        "group good name H0\nmatch from good level best\n");
    measure(&world, 20 * TIME_MS);
    expect_near(share(&world, 0), 0.75);
    reconfigure(&world, "level default sl 0 weight 4\nlevel best sl 1 weight 1\n"
                        "group good name H0\nmatch from good level best\n");
    measure(&world, 20 * TIME_MS);
    expect_near(share(&world, 0), 0.2);
    fabric_data_totals(world.world.fabric, &totals);
    for (unsigned cause = 0; cause < LOSS_CAUSES; cause++)
        assert_int_equal(totals.lost[cause], 0);
    close_world(&world);
}

/* A switch that comes back with its initial state gets its SL-to-VL tables before it forwards
 * packets. */
static void a_switch_that_comes_back_gets_its_tables_again(void **state)
{
    struct service_world world;
    struct fabric_options options = small_buffers();
    (void)state;
    open_world(&world, "lash", NULL, "ring switches=6 hosts=2 width=1x speed=sdr", &options);
    uint32_t victim = topology_find(&world.world.topology, "S3");
    fabric_set_node(world.world.fabric, victim, false, NULL);
    run(&world, 5 * TIME_S);
    fabric_set_node(world.world.fabric, victim, true, NULL);
    run(&world, 5 * TIME_S);
    assert_true(sim_run_until_settled(world.world.sim, 0, sim_now(world.world.sim) + 5 * TIME_S));
    const struct blocks *blocks = &sm_subnet(sim_manager(world.world.sim, 0))->blocks;
    for (size_t i = 0; i < blocks->rows.count; i++)
        assert_true(blocks->rows.items[i].wanted == blocks->rows.items[i].actual);
    all_hosts(&world, 0);
    assert_true(runs(&world, effort(15, 15, 4) * TIME_MS));
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(high_priority_keeps_its_bandwidth_and_latency_under_saturation),
        cmocka_unit_test(the_limit_of_high_priority_prevents_starvation),
        cmocka_unit_test(weights_give_shares),
        cmocka_unit_test(the_policys_groups_apply_to_traffic),
        cmocka_unit_test(sl2vl_tables_separate_layered_routes),
        cmocka_unit_test(without_sl2vl_tables_layered_routes_deadlock),
        cmocka_unit_test(ports_get_the_sl_of_the_path_to_the_manager),
        cmocka_unit_test(levels_and_vls_of_routes_are_combined),
        cmocka_unit_test(nothing_is_written_without_vls_or_levels),
        cmocka_unit_test(one_table_for_all_inputs_replaces_one_for_each),
        cmocka_unit_test(routes_use_no_more_vls_than_every_link_has),
        cmocka_unit_test(too_few_vls_are_an_error),
        cmocka_unit_test(levels_can_change_under_traffic),
        cmocka_unit_test(a_switch_that_comes_back_gets_its_tables_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
