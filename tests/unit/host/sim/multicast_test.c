/* Multicast groups on simulated fabrics: members get each packet once while trees change. */
#include "effort.h"
#include "sim_world.h"

#include "base/map.h"
#include "base/rng.h"
#include "fabric/data.h"

#include <stdio.h>
#include <string.h>

enum { MLID = 0xC000, GROUPS = 3 };

struct group_world {
    struct world world;
    struct sm_config config;
    unsigned manager;
    struct groups groups;
    struct group *list[GROUPS];
    struct map seen; /* deliveries by host */
    uint64_t delivered, twice, strangers;
    uint64_t by_port[512]; /* deliveries */
    unsigned warnings, errors;
    char warning[256];
};

/* ---- observers ---- */

static bool receives(const struct group_world *world, unsigned dlid, uint32_t port)
{
    const struct group *group = groups_at(&world->groups, dlid);
    const struct group_member *member =
        group ? group_find_member(group, fabric_port_guid(world->world.fabric, port, 0)) : NULL;
    return member && group_member_receives(member);
}

static void note_delivered(void *context, uint64_t now, const struct packet_view *packet)
{
    struct group_world *world = context;
    uint64_t name = hash_mix(hash_mix(packet->made) + packet->source);
    (void)now;
    name = hash_mix(name ^ hash_mix((uint64_t)packet->destination << 16 | packet->dlid));
    world->delivered++;
    world->by_port[packet->destination]++;
    world->strangers += !receives(world, packet->dlid, packet->destination);
    world->twice += map_get(&world->seen, name) != MAP_NONE;
    map_add(&world->seen, name, 1);
}

static void note_event(void *context, uint64_t now, unsigned manager, const struct sm_event *event)
{
    struct group_world *world = context;
    (void)now, (void)manager;
    world->errors += event->kind == SM_EVENT_ERROR;
    if (event->kind != SM_EVENT_WARNING)
        return;
    world->warnings++;
    snprintf(world->warning, sizeof world->warning, "%s", event->text);
}

/* A sender sends to its first group. */
static struct data_path find(void *context, uint32_t source, uint32_t destination)
{
    const struct group_world *world = context;
    uint64_t guid = fabric_port_guid(world->world.fabric, source, 0);
    (void)destination;
    for (unsigned i = 0; i < GROUPS; i++)
        if (group_find_member(world->list[i], guid))
            return (struct data_path){.dlid = world->list[i]->mlid};
    return (struct data_path){0};
}

/* ---- set-up ---- */

static void begin_with(struct group_world *world, const char *engine, const char *fabric,
                       const char *key, const char *value)
{
    struct fabric_options options;
    memset(world, 0, sizeof *world);
    assert_int_equal(fabric_options_preset(&options, "today", NULL), 0);
    if (key)
        assert_int_equal(fabric_options_set(&options, key, value, NULL), 0);
    sm_config_init(&world->config);
    if (engine)
        world->config.engine = engine_find(engine);
    world->config.drain_ns =
        2 * NS_PER_MS; /* longer than the lifetime of any packet in these fabrics */
    world_open_with(&world->world, &options, fabric);
    for (unsigned i = 0; i < GROUPS; i++)
        world->list[i] =
            groups_add(&world->groups, &(struct group){.mgid = {0xFF, 0x12, [15] = (uint8_t)i},
                                                       .mlid = (uint16_t)(MLID + i)});
    sim_set_listener(world->world.sim,
                     &(struct sim_listener){.context = world, .event = note_event});
    fabric_set_paths(world->world.fabric, &(struct data_paths){.context = world, .find = find});
    fabric_observe_data(world->world.fabric,
                        &(struct data_observer){.context = world, .delivered = note_delivered});
    uint32_t port = management_port(&world->world, "S0");
    world->manager = sim_add_manager(world->world.sim, port, &world->config);
    sm_set_groups(sim_manager(world->world.sim, world->manager), &world->groups);
    assert_true(sim_run_until_settled(world->world.sim, world->manager, 30 * TIME_S));
    world->warnings = world->errors = 0;
}

static void begin(struct group_world *world, const char *fabric, const char *key, const char *value)
{
    begin_with(world, NULL, fabric, key, value);
}

static void end(struct group_world *world)
{
    struct err err = {0};
    if (fabric_check_data(world->world.fabric, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(world->errors, 0);
    world_close(&world->world);
    groups_release(&world->groups);
    map_release(&world->seen);
}

static struct sm *manager_of(struct group_world *world)
{
    return sim_manager(world->world.sim, world->manager);
}

static void run(struct group_world *world, uint64_t ps)
{
    run_for(&world->world, ps);
}

static void come_to_rest(struct group_world *world)
{
    sm_registrations_changed(manager_of(world), sim_now_ns(world->world.sim));
    assert_true(sim_run_until_settled(world->world.sim, world->manager,
                                      sim_now(world->world.sim) + 10 * TIME_S));
}

static uint32_t host_number(const struct group_world *world, unsigned number)
{
    char name[16];
    snprintf(name, sizeof name, "H%u", number);
    return host(&world->world, name);
}

static void join(struct group_world *world, unsigned group, uint32_t port, unsigned state)
{
    struct group_member member = {.guid = fabric_port_guid(world->world.fabric, port, 0),
                                  .join_state = (uint8_t)state};
    groups_join(&world->groups, world->list[group], &member);
}

static void leave(struct group_world *world, unsigned group, uint32_t port)
{
    groups_leave(&world->groups, world->list[group], fabric_port_guid(world->world.fabric, port, 0),
                 0xF);
}

/* Members send for `duration`, each a packet per `interval`. */
static void start_traffic(struct group_world *world, uint64_t interval_ps, uint64_t length_ps)
{
    struct err err = {0};
    struct traffic traffic;
    traffic_init(&traffic, 256);
    traffic.interval_ps = interval_ps;
    traffic.start_ps = sim_now(world->world.sim);
    traffic.stop_ps = traffic.start_ps + length_ps;
    const struct topology *topology = &world->world.topology;
    for (uint32_t port = 0; port < topology->ports.count; port++) {
        uint64_t guid = fabric_port_guid(world->world.fabric, port, 0);
        if (topology->nodes.items[topology->ports.items[port].node].kind == NODE_SWITCH || !guid ||
            topology->ports.items[port].peer == TOPOLOGY_NONE)
            continue;
        vec_push(&traffic.receivers, port);
        for (unsigned i = 0; i < GROUPS; i++)
            if (group_find_member(world->list[i], guid)) {
                vec_push(&traffic.senders, port);
                break;
            }
    }
    if (fabric_check_traffic(world->world.fabric, &traffic, &err) < 0)
        fail_msg("%s", err.message);
    fabric_add_traffic(world->world.fabric, &traffic);
    traffic_release(&traffic);
}

static struct data_totals totals_of(struct group_world *world)
{
    struct data_totals totals;
    fabric_data_totals(world->world.fabric, &totals);
    return totals;
}

static size_t receivers_of(const struct group *group)
{
    size_t count = 0;
    for (size_t i = 0; i < group->members.count; i++)
        count += group_member_receives(&group->members.items[i]);
    return count;
}

/* Without changes, each packet arrives once at every receiver but its sender. Only members of the
 * first group send: those that also receive get one copy less. */
static void assert_each_packet_comes_once(struct group_world *world)
{
    struct data_totals before = totals_of(world);
    uint64_t delivered = world->delivered;
    size_t receivers = receivers_of(world->list[0]), senders = world->list[0]->members.count;
    assert_int_equal(before.travelling + before.waiting, 0);
    start_traffic(world, 100 * TIME_US, 20 * TIME_MS);
    run(world, 40 * TIME_MS);
    struct data_totals after = totals_of(world);
    uint64_t made = after.made - before.made;
    assert_true(made > senders * 150);
    assert_int_equal(after.travelling + after.waiting, 0);
    if (receivers == senders)
        assert_int_equal(world->delivered - delivered, made * (receivers - 1));
    else
        assert_in_range(world->delivered - delivered, made * (receivers - 1), made * receivers);
    assert_int_equal(world->twice, 0);
    assert_int_equal(world->strangers, 0);
}

#define IRREGULAR "irregular switches=16 hosts=24 ports=8 width=1x speed=sdr"
#define TREE      "fattree m=4,6 w=1,4 width=1x speed=sdr"

/* ---- claims ---- */

static void each_member_gets_each_packet_once(void **state)
{
    struct group_world world;
    (void)state;
    begin(&world, IRREGULAR, NULL, NULL);
    for (unsigned i = 0; i < 12; i++)
        join(&world, 0, host_number(&world, 2 * i), JOIN_FULL);
    come_to_rest(&world);
    assert_each_packet_comes_once(&world);
    end(&world);
}

static void send_only_members_receive_nothing(void **state)
{
    struct group_world world;
    (void)state;
    begin(&world, IRREGULAR, NULL, NULL);
    for (unsigned i = 0; i < 4; i++)
        join(&world, 0, host_number(&world, i), JOIN_FULL);
    for (unsigned i = 10; i < 20; i++)
        join(&world, 0, host_number(&world, i), i % 2 ? JOIN_SEND_ONLY : JOIN_SEND_ONLY_FULL);
    join(&world, 0, host_number(&world, 21), JOIN_NON_MEMBER);
    come_to_rest(&world);
    assert_each_packet_comes_once(&world);
    for (unsigned i = 10; i < 20; i++)
        assert_int_equal(world.by_port[host_number(&world, i)], 0);
    assert_true(world.by_port[host_number(&world, 21)] > 1000);
    end(&world);
}

/* The manager writes the alias GUIDs, and a member with one is its port. H1 is a member only so. */
static void a_member_with_an_alias_guid_is_its_port(void **state)
{
    struct group_world world;
    struct alias_guids aliases = {0};
    (void)state;
    begin(&world, IRREGULAR, NULL, NULL);
    for (unsigned i = 0; i < 3; i++) {
        uint32_t port = host_number(&world, i);
        uint64_t guid = fabric_port_guid(world.world.fabric, port, 0);
        if (i != 1)
            join(&world, 0, port, JOIN_FULL);
        alias_guids_set(&aliases, alias_guids_add(&aliases, guid, 0), 5, 0xA0 + i);
        groups_join(&world.groups, world.list[0],
                    &(struct group_member){.guid = 0xA0 + i, .join_state = JOIN_FULL});
    }
    sm_set_alias_guids(manager_of(&world), &aliases);
    come_to_rest(&world);
    start_traffic(&world, 100 * TIME_US, 20 * TIME_MS);
    run(&world, 40 * TIME_MS);
    for (unsigned i = 0; i < 3; i++) {
        uint32_t port = host_number(&world, i);
        assert_int_equal(fabric_port_guid(world.world.fabric, port, 5), 0xA0 + i);
        assert_true(world.by_port[port] > 150);
    }
    assert_int_equal(world.twice, 0);
    assert_int_equal(world.strangers, world.by_port[host_number(&world, 1)]);
    end(&world);
    alias_guids_release(&aliases);
}

/* The switch's agent is a member too: it receives a MAD to the group. */
static void a_switch_can_be_a_member(void **state)
{
    struct group_world world;
    (void)state;
    begin(&world, IRREGULAR, NULL, NULL);
    uint32_t port = management_port(&world.world, "S5");
    fabric_attach(world.world.fabric, port);
    join(&world, 0, port, JOIN_FULL);
    join(&world, 0, host_number(&world, 1), JOIN_FULL);
    come_to_rest(&world);
    uint8_t mad[MAD_BYTES] = {0};
    struct packet_header header = {
        .dlid = MLID, .dest_qp = 1, .src_qp = 1, .p_key = 0xFFFF, .q_key = 0x80010000};
    struct fabric_delivery delivery;
    unsigned heard = 0;
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, 0x30);
    wire_set(mad, MAD_METHOD, METHOD_GET);
    fabric_send(world.world.fabric, host_number(&world, 1), &header, mad);
    fabric_run(world.world.fabric, sim_now(world.world.sim) + 10 * TIME_MS);
    while (fabric_next_delivery(world.world.fabric, &delivery))
        heard += delivery.port == port;
    assert_int_equal(heard, 1);
    end(&world);
}

/* In a tree of two stages the root does not change, so a join affects no other member. */
static void joins_and_leaves_do_not_affect_other_members(void **state)
{
    struct group_world world;
    (void)state;
    begin(&world, TREE, NULL, NULL);
    for (unsigned i = 0; i < 24; i += 5)
        join(&world, 0, host_number(&world, i), JOIN_FULL);
    come_to_rest(&world);
    start_traffic(&world, 10 * TIME_US, 60 * TIME_MS);
    for (unsigned round = 0; round < 20; round++) {
        uint32_t port = host_number(&world, 1 + round % 4 + 5 * (round % 3));
        join(&world, 0, port, JOIN_FULL);
        come_to_rest(&world);
        run(&world, TIME_MS);
        leave(&world, 0, port);
        sm_registrations_changed(manager_of(&world), sim_now_ns(world.world.sim));
        run(&world, TIME_MS);
    }
    run(&world, 60 * TIME_MS);
    struct data_totals totals = totals_of(&world);
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < 24; i += 5) {
        uint64_t own = world.by_port[host_number(&world, i)];
        least = own < least ? own : least;
    }
    assert_int_equal(world.twice, 0);
    assert_true(totals.made > 20000);
    /* Each of the five remaining members gets all packets but its own, which are a sixth on
     * average. */
    uint64_t stay = 0;
    for (unsigned i = 0; i < 24; i += 5)
        stay += world.by_port[host_number(&world, i)];
    assert_int_equal(stay, totals.made * 4);
    end(&world);
}

/* Members join and leave under traffic, so that the roots of trees change. Slow agents prolong the
 * mixture of old and new tables. */
static void change_members(uint64_t interval_ps, uint64_t drain_ns, uint64_t pause_ps,
                           unsigned rounds)
{
    struct group_world world;
    struct rng rng;
    uint64_t moved = 0;
    begin(&world, IRREGULAR, NULL, NULL);
    world.config.drain_ns = drain_ns;
    sm_configure(manager_of(&world), sim_now_ns(world.world.sim), &world.config);
    rng_seed(&rng, 1, 1);
    fabric_set_agent_delay(world.world.fabric, topology_find(&world.world.topology, "S3"),
                           400 * TIME_US, NULL);
    fabric_set_agent_delay(world.world.fabric, topology_find(&world.world.topology, "S9"),
                           150 * TIME_US, NULL);
    for (unsigned i = 0; i < 24; i++)
        join(&world, 0, host_number(&world, i), JOIN_SEND_ONLY);
    for (unsigned i = 0; i < 8; i++)
        join(&world, 0, host_number(&world, i), JOIN_FULL);
    come_to_rest(&world);
    start_traffic(&world, interval_ps, rounds * (3 * TIME_MS + pause_ps));
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < 6; i++) {
            uint32_t port = host_number(&world, (unsigned)rng_below(&rng, 24));
            const struct group_member *member =
                group_find_member(world.list[0], fabric_port_guid(world.world.fabric, port, 0));
            if (member && rng_below(&rng, 2))
                leave(&world, 0, port);
            else
                join(&world, 0, port, JOIN_FULL);
        }
        struct sm_counts before = counts_of(&world.world, world.manager);
        sm_registrations_changed(manager_of(&world), sim_now_ns(world.world.sim));
        run(&world, pause_ps + rng_below(&rng, 6) * TIME_MS);
        moved += counts_of(&world.world, world.manager).sent - before.sent;
    }
    come_to_rest(&world);
    run(&world, 100 * TIME_MS);
    print_message("%llu SMPs, %llu delivered, %llu twice\n", (unsigned long long)moved,
                  (unsigned long long)world.delivered, (unsigned long long)world.twice);
    assert_true(moved > 50);
    assert_true(world.delivered > 50000);
    assert_int_equal(world.twice, 0);
    end(&world);
}

static void no_duplicates_while_trees_change(void **state)
{
    (void)state;
    change_members(150 * TIME_US, 2 * NS_PER_MS, TIME_MS, 60);
}

/* If packets wait in every switch for their lifetime, the drain time covers that. */
static void no_duplicates_under_congestion(void **state)
{
    (void)state;
    change_members(40 * TIME_US, 0, 10 * TIME_MS, 20);
}

static void damage_and_heal(struct group_world *world, const char *victim, bool node)
{
    uint32_t index = topology_find(&world->world.topology, victim);
    uint64_t made = totals_of(world).made, delivered = world->delivered;
    start_traffic(world, 100 * TIME_US, 100 * TIME_MS);
    run(world, 5 * TIME_MS);
    uint64_t broken_at = sim_now(world->world.sim);
    if (node)
        fabric_set_node(world->world.fabric, index, false, NULL);
    else
        for (unsigned port = 1; port <= 2; port++) /* two links between switches, or to hosts */
            fabric_set_link(world->world.fabric,
                            topology_port_index(&world->world.topology, index, port), false, NULL);
    run(world, TIME_MS);
    come_to_rest(world);
    uint64_t healed = sim_now(world->world.sim) - broken_at;
    run(world, 200 * TIME_MS);
    made = (totals_of(world).made - made) * (receivers_of(world->list[0]) - 1);
    print_message("%s: healed after %.3f ms; of %llu copies %llu are missing, %llu came twice\n",
                  victim, (double)healed / 1e9, (unsigned long long)made,
                  (unsigned long long)(made - (world->delivered - delivered)),
                  (unsigned long long)world->twice);
    assert_true(world->delivered - delivered <= made);
    assert_int_equal(world->twice, 0);
    assert_int_equal(world->strangers, 0);
}

/* Removes unreachable members from the expected ones. */
static void drop_unreachable_members(struct group_world *world)
{
    for (unsigned i = 0; i < 24; i++) {
        uint32_t port = host_number(world, i);
        if (!fabric_link_is_up(world->world.fabric, port))
            leave(world, 0, port);
    }
    come_to_rest(world);
}

static void trees_are_repaired_after_failures(void **state)
{
    static const struct {
        const char *fabric, *victim;
        bool node;
    } cases[] = {
        {IRREGULAR, "S7", true}, {IRREGULAR, "S4", false}, {IRREGULAR, "S3", true},
        {TREE, "S1", true},      {TREE, "S2", true},       {TREE, "S3", true},
        {TREE, "S2", false},     {TREE, "L3", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct group_world world;
        begin(&world, cases[i].fabric, NULL, NULL);
        for (unsigned j = 0; j < 24; j++)
            if (j % 4 != 3)
                join(&world, 0, host_number(&world, j), JOIN_FULL);
        come_to_rest(&world);
        assert_each_packet_comes_once(&world);
        damage_and_heal(&world, cases[i].victim, cases[i].node);
        drop_unreachable_members(&world);
        assert_each_packet_comes_once(&world);
        end(&world);
    }
}

static void a_switch_that_comes_back_carries_its_groups_again(void **state)
{
    struct group_world world;
    (void)state;
    begin(&world, IRREGULAR, NULL, NULL);
    uint32_t victim = topology_find(&world.world.topology, "S7");
    for (unsigned i = 0; i < 24; i++)
        join(&world, 0, host_number(&world, i), JOIN_FULL);
    come_to_rest(&world);
    fabric_set_node(world.world.fabric, victim, false, NULL);
    run(&world, 100 * TIME_MS);
    fabric_set_node(world.world.fabric, victim, true, NULL);
    run(&world, 3 * TIME_S);
    come_to_rest(&world);
    assert_each_packet_comes_once(&world);
    end(&world);
}

/* Trees avoid switches without multicast; the manager logs members at such switches. */
static void trees_avoid_switches_without_multicast(void **state)
{
    struct group_world world;
    (void)state;
    begin(&world, TREE, "S1:multicast_entries", "0");
    for (unsigned i = 0; i < 24; i++)
        join(&world, 0, host_number(&world, i), JOIN_FULL);
    come_to_rest(&world);
    assert_each_packet_comes_once(&world);
    assert_int_equal(world.warnings, 0);
    end(&world);
    begin(&world, TREE, "L1:multicast_entries", "0");
    unsigned behind = 0;
    for (unsigned i = 0; i < 24; i++)
        join(&world, 0, host_number(&world, i), JOIN_FULL);
    come_to_rest(&world);
    assert_int_equal(world.warnings, 1);
    assert_non_null(strstr(world.warning, "does not reach 4 members of 1 groups"));
    for (unsigned i = 0; i < 24; i++) {
        uint32_t port = host_number(&world, i);
        uint32_t at =
            world.world.topology.ports.items[world.world.topology.ports.items[port].peer].node;
        if (at == topology_find(&world.world.topology, "L1")) {
            leave(&world, 0, port);
            behind++;
        }
    }
    assert_int_equal(behind, 4);
    come_to_rest(&world);
    assert_each_packet_comes_once(&world);
    end(&world);
}

/* On a ring, trees that avoid a switch with a small table and other trees could form a cycle. Then
 * some of the former are not built. Later changes are applied. */
static void conflicting_trees_affect_only_the_smaller_group(void **state)
{
    struct group_world world;
    (void)state;
    begin_with(&world, "dfsssp", "ring switches=6 hosts=1 width=1x speed=sdr",
               "S0:multicast_entries", "32");
    groups_remove(&world.groups, world.list[1]);
    world.list[1] = groups_add(&world.groups,
                               &(struct group){.mgid = {0xFF, 0x12, [15] = 40}, .mlid = MLID + 40});
    for (unsigned i = 0; i < 5; i++)
        join(&world, 0, host_number(&world, i), JOIN_FULL);
    for (unsigned i = 0; i < 6; i++)
        join(&world, 1, host_number(&world, i), JOIN_FULL);
    come_to_rest(&world);
    assert_int_equal(world.warnings, 1);
    assert_non_null(strstr(world.warning, "does not reach 6 members of 1 groups"));
    join(&world, 0, host_number(&world, 5), JOIN_FULL);
    come_to_rest(&world);
    assert_each_packet_comes_once(&world);
    end(&world);
}

/* The MFT blocks do not depend on the master. */
static uint64_t hash_of_blocks(struct group_world *world, unsigned manager)
{
    const struct subnet *subnet = sm_subnet(sim_manager(world->world.sim, manager));
    const struct topology *topology = &world->world.topology;
    uint64_t hash = 0;
    for (uint32_t i = 0; i < topology->nodes.count; i++) {
        uint32_t node = map_get(&subnet->by_guid, topology->nodes.items[i].guid);
        uint64_t word;
        const uint8_t *data =
            node == MAP_NONE ? NULL
                             : blocks_actual(&subnet->blocks, subnet->nodes.items[node].first_port,
                                             BLOCK_MULTICAST, 0);
        for (unsigned at = 0; data && at < BLOCK_BYTES; at += sizeof word) {
            memcpy(&word, data + at, sizeof word);
            hash = hash_mix(hash ^ word) + i;
        }
    }
    return hash;
}

static void a_new_master_writes_the_same_trees(void **state)
{
    struct group_world world;
    (void)state;
    begin(&world, IRREGULAR, NULL, NULL);
    for (unsigned i = 0; i < 24; i++)
        join(&world, i % GROUPS, host_number(&world, i), JOIN_FULL);
    come_to_rest(&world);
    uint64_t before = hash_of_blocks(&world, world.manager);
    assert_int_not_equal(before, 0);
    sim_kill_manager(world.world.sim, world.manager);
    world.manager =
        sim_add_manager(world.world.sim, management_port(&world.world, "S9"), &world.config);
    sm_set_groups(manager_of(&world), &world.groups);
    assert_true(sim_run_until_settled(world.world.sim, world.manager,
                                      sim_now(world.world.sim) + 30 * TIME_S));
    assert_int_equal(hash_of_blocks(&world, world.manager), before);
    end(&world);
}

/* A manager yields to another, groups change, and it is master again: it does not restore its old
 * trees, and no packet is lost. */
static void a_master_that_returns_restores_no_old_trees(void **state)
{
    struct group_world world;
    (void)state;
    begin(&world, IRREGULAR, NULL, NULL);
    unsigned first = world.manager;
    for (unsigned i = 0; i < 12; i++)
        join(&world, 0, host_number(&world, i), JOIN_FULL);
    come_to_rest(&world);
    world.config.priority = 9;
    world.manager =
        sim_add_manager(world.world.sim, management_port(&world.world, "S9"), &world.config);
    sm_set_groups(manager_of(&world), &world.groups);
    assert_true(sim_run_until_settled(world.world.sim, world.manager,
                                      sim_now(world.world.sim) + 30 * TIME_S));
    assert_int_equal(sm_state(sim_manager(world.world.sim, first)), SM_STANDBY);
    for (unsigned i = 0; i < 10; i++)
        leave(&world, 0, host_number(&world, i));
    for (unsigned i = 12; i < 24; i++)
        join(&world, 0, host_number(&world, i), JOIN_FULL);
    come_to_rest(&world);
    struct data_totals before = totals_of(&world);
    uint64_t delivered = world.delivered, members = world.list[0]->members.count;
    start_traffic(&world, effort(150, 150, 600) * TIME_US, 3 * TIME_S);
    run(&world, 10 * TIME_MS);
    sim_kill_manager(world.world.sim, world.manager);
    world.manager = first;
    run(&world, 4 * TIME_S);
    assert_int_equal(sm_state(manager_of(&world)), SM_MASTER);
    come_to_rest(&world);
    struct data_totals after = totals_of(&world);
    assert_int_equal(world.delivered - delivered, (after.made - before.made) * (members - 1));
    assert_int_equal(world.twice, 0);
    end(&world);
}

/* Switches with correct blocks get no SMP. */
static void a_join_writes_only_switches_of_the_tree(void **state)
{
    struct group_world world;
    (void)state;
    begin(&world, TREE, NULL, NULL);
    for (unsigned i = 0; i < 24; i += 6)
        join(&world, 0, host_number(&world, i), JOIN_FULL);
    come_to_rest(&world);
    struct sm_counts before = counts_of(&world.world, world.manager);
    join(&world, 0, host_number(&world, 1), JOIN_FULL);
    come_to_rest(&world);
    assert_int_equal(counts_of(&world.world, world.manager).sent - before.sent, 1);
    before = counts_of(&world.world, world.manager);
    come_to_rest(&world);
    assert_int_equal(counts_of(&world.world, world.manager).sent, before.sent);
    end(&world);
}

/* Groups in two blocks at the same time. */
static void groups_that_are_created_together_are_all_written(void **state)
{
    struct group_world world;
    (void)state;
    begin(&world, TREE, NULL, NULL);
    groups_remove(&world.groups, world.list[2]);
    world.list[2] = groups_add(&world.groups,
                               &(struct group){.mgid = {0xFF, 0x12, [15] = 40}, .mlid = MLID + 40});
    for (unsigned i = 0; i < 24; i += 6) {
        join(&world, 1, host_number(&world, i), JOIN_FULL);
        join(&world, 2, host_number(&world, i + 1), JOIN_FULL);
    }
    come_to_rest(&world);
    const struct subnet *subnet = sm_subnet(manager_of(&world));
    unsigned switches = 0;
    for (uint32_t node = 0; node < subnet->nodes.count; node++)
        if (subnet->nodes.items[node].kind == SUBNET_SWITCH) {
            assert_int_equal(
                wire_get(subnet->nodes.items[node].switch_info, SWITCH_INFO_MULTICAST_FDB_TOP),
                MLID + 63);
            switches++;
        }
    assert_int_equal(switches, 10);
    end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_member_gets_each_packet_once),
        cmocka_unit_test(send_only_members_receive_nothing),
        cmocka_unit_test(a_member_with_an_alias_guid_is_its_port),
        cmocka_unit_test(a_switch_can_be_a_member),
        cmocka_unit_test(joins_and_leaves_do_not_affect_other_members),
        cmocka_unit_test(no_duplicates_while_trees_change),
        cmocka_unit_test(no_duplicates_under_congestion),
        cmocka_unit_test(trees_are_repaired_after_failures),
        cmocka_unit_test(a_switch_that_comes_back_carries_its_groups_again),
        cmocka_unit_test(trees_avoid_switches_without_multicast),
        cmocka_unit_test(conflicting_trees_affect_only_the_smaller_group),
        cmocka_unit_test(a_new_master_writes_the_same_trees),
        cmocka_unit_test(a_master_that_returns_restores_no_old_trees),
        cmocka_unit_test(a_join_writes_only_switches_of_the_tree),
        cmocka_unit_test(groups_that_are_created_together_are_all_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
