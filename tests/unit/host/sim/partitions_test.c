/* Partitions on a simulated fabric: isolation by adapters and by switches, and changes of the
 * rules, which do not affect other ports. */
#include "sim_world.h"

#include "host/sim/sim_paths.h"
#include "sma/sma.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOSTS = 8, KEYS = 64 };

struct parted {
    struct world world;
    struct sim_paths *paths;
    struct partitions partitions;
    struct sm_config config;
    unsigned manager;
    uint32_t hosts[HOSTS]; /* port 1 of each */
    uint64_t delivered[HOSTS][HOSTS];
    uint64_t lost, lost_at_switch;
    unsigned set_adapter, set_switch; /* P_Key blocks written */
    unsigned port_settings;
    unsigned errors, traps[2];
    char trap[512]; /* the text of the last one */
    char error[512];
};

static unsigned host_at(const struct parted *parted, uint32_t port)
{
    unsigned i = 0;
    while (i < HOSTS && parted->hosts[i] != port)
        i++;
    assert_true(i < HOSTS);
    return i;
}

static void note_delivered(void *context, uint64_t now, const struct packet_view *packet)
{
    struct parted *parted = context;
    (void)now;
    parted->delivered[host_at(parted, packet->source)][host_at(parted, packet->destination)]++;
}

static void note_lost(void *context, uint64_t now, const struct packet_view *packet,
                      enum loss cause, uint32_t port)
{
    struct parted *parted = context;
    const struct topology *topology = &parted->world.topology;
    (void)now, (void)packet;
    parted->lost++;
    parted->lost_at_switch +=
        cause == LOSS_P_KEY &&
        topology->nodes.items[topology->ports.items[port].node].kind == NODE_SWITCH;
}

static void note_sent(void *context, uint64_t now, unsigned manager,
                      const struct sm_message *message)
{
    struct parted *parted = context;
    (void)now, (void)manager;
    if (wire_get(message->mad, MAD_METHOD) != METHOD_SET)
        return;
    uint64_t attribute = wire_get(message->mad, MAD_ATTRIBUTE_ID);
    parted->port_settings += attribute == ATTRIBUTE_PORT_INFO;
    if (attribute == ATTRIBUTE_P_KEY_TABLE && wire_get(message->mad, MAD_ATTRIBUTE_MODIFIER) >> 16)
        parted->set_switch++;
    else if (attribute == ATTRIBUTE_P_KEY_TABLE)
        parted->set_adapter++;
}

static void note_event(void *context, uint64_t now, unsigned manager, const struct sm_event *event)
{
    struct parted *parted = context;
    (void)now, (void)manager;
    if (event->kind == SM_EVENT_ERROR) {
        parted->errors++;
        snprintf(parted->error, sizeof parted->error, "%s", event->text);
    }
    if (event->kind == SM_EVENT_TRAP)
        snprintf(parted->trap, sizeof parted->trap, "%s", event->text);
    parted->traps[0] += event->kind == SM_EVENT_TRAP && strncmp(event->text, "trap 257", 8) == 0;
    parted->traps[1] += event->kind == SM_EVENT_TRAP && strncmp(event->text, "trap 259", 8) == 0;
}

/* %0 … %7 in the rules are replaced by the hosts' GUIDs. */
static void read_rules(const struct parted *parted, struct partitions *partitions,
                       const char *rules)
{
    struct err err = {0};
    char text[8192];
    size_t length = 0;
    for (; *rules; rules++) {
        assert_true(length + 24 < sizeof text);
        if (*rules == '%')
            length += (size_t)sprintf(text + length, "0x%llx",
                                      (unsigned long long)fabric_port_guid(
                                          parted->world.fabric, parted->hosts[*++rules - '0'], 0));
        else
            text[length++] = *rules;
    }
    text[length] = 0;
    if (partitions_read(partitions, from_text("rules", text, &err)) != 0)
        fail_msg("%u: %s", err.line, err.message);
}

static void open_fabric(struct parted *parted, unsigned p_keys)
{
    struct fabric_options options;
    memset(parted, 0, sizeof *parted);
    assert_int_equal(fabric_options_preset(&options, "today", NULL), 0);
    if (p_keys)
        options.node.agent.p_keys = (uint16_t)p_keys;
    world_open_with(&parted->world, &options, "mesh dims=2,2 hosts=2");
    for (unsigned i = 0; i < HOSTS; i++) {
        char name[8];
        snprintf(name, sizeof name, "H%u", i);
        parted->hosts[i] = host(&parted->world, name);
    }
    sim_set_listener(
        parted->world.sim,
        &(struct sim_listener){.context = parted, .event = note_event, .sent = note_sent});
    sm_config_init(&parted->config);
}

static void begin(struct parted *parted, const char *rules, enum sm_enforcement enforcement)
{
    open_fabric(parted, 0);
    read_rules(parted, &parted->partitions, rules);
    parted->config.partitions = &parted->partitions;
    parted->config.part_enforce = enforcement;
    parted->manager =
        settle(&parted->world, management_port(&parted->world, "S0_0"), &parted->config);
    parted->paths = sim_paths_new(parted->world.sim, parted->world.fabric);
    fabric_observe_data(
        parted->world.fabric,
        &(struct data_observer){.context = parted, .delivered = note_delivered, .lost = note_lost});
    assert_true(all_active(&parted->world));
}

static void end(struct parted *parted)
{
    struct err err = {0};
    if (fabric_check_data(parted->world.fabric, &err) < 0)
        fail_msg("%s", err.message);
    sim_paths_free(parted->paths);
    world_close(&parted->world);
    partitions_release(&parted->partitions);
}

/* All hosts send to all hosts with this P_Key for a while. */
static unsigned send_with(struct parted *parted, uint16_t key)
{
    struct traffic traffic;
    struct err err = {0};
    traffic_init(&traffic, 256);
    traffic.p_key = key;
    traffic.interval_ps = 5 * TIME_US;
    traffic.start_ps = sim_now(parted->world.sim);
    for (unsigned i = 0; i < HOSTS; i++) {
        vec_push(&traffic.senders, parted->hosts[i]);
        vec_push(&traffic.receivers, parted->hosts[i]);
    }
    if (fabric_check_traffic(parted->world.fabric, &traffic, &err) < 0)
        fail_msg("%s", err.message);
    unsigned number = fabric_add_traffic(parted->world.fabric, &traffic);
    traffic_release(&traffic);
    return number;
}

static void run(struct parted *parted, uint64_t ps)
{
    run_for(&parted->world, ps);
}

/* Sends with a P_Key until all packets are delivered or lost. */
static void try_key(struct parted *parted, uint16_t key)
{
    memset(parted->delivered, 0, sizeof parted->delivered);
    parted->lost = parted->lost_at_switch = 0;
    unsigned traffic = send_with(parted, key);
    run(parted, TIME_MS);
    fabric_stop_traffic(parted->world.fabric, traffic);
    run(parted, TIME_MS);
}

/* Packets are delivered only from the senders to the receivers of these sets of hosts. */
static void assert_delivered(const struct parted *parted, unsigned senders, unsigned receivers)
{
    for (unsigned from = 0; from < HOSTS; from++)
        for (unsigned to = 0; to < HOSTS; to++)
            if (from != to && (parted->delivered[from][to] > 0) !=
                                  ((senders >> from & 1) && (receivers >> to & 1)))
                fail_msg("from H%u to H%u: %llu packets", from, to,
                         (unsigned long long)parted->delivered[from][to]);
}

static unsigned keys_of(const struct parted *parted, uint32_t port, uint16_t keys[KEYS])
{
    memset(keys, 0, KEYS * sizeof *keys);
    return fabric_p_keys(parted->world.fabric, port, keys, KEYS);
}

static void assert_table(const struct parted *parted, uint32_t port, const char *expected)
{
    uint16_t keys[KEYS];
    char words[KEYS * 5 + 1] = "";
    unsigned last = 0;
    keys_of(parted, port, keys);
    for (unsigned i = 0; i < KEYS; i++)
        last = keys[i] ? i + 1 : last;
    for (unsigned i = 0; i < last; i++)
        sprintf(words + strlen(words), i ? " %04x" : "%04x", keys[i]);
    assert_string_equal(words, expected);
}

static uint32_t switch_port_of(const struct parted *parted, unsigned number)
{
    return parted->world.topology.ports.items[parted->hosts[number]].peer;
}

static void forget_counts(struct parted *parted)
{
    parted->set_adapter = parted->set_switch = parted->port_settings = 0;
}

static void reload(struct parted *parted, struct partitions *fresh, const char *rules)
{
    read_rules(parted, fresh, rules);
    parted->config.partitions = fresh;
    forget_counts(parted);
    sm_configure(sim_manager(parted->world.sim, parted->manager), sim_now_ns(parted->world.sim),
                 &parted->config);
    run(parted, 10 * TIME_MS);
}

/* ---- isolation ---- */

static const char two_partitions[] = "Red=1: %0=full, %1=full, %2=full;\n"
                                     "Blue=2: %3=full, %4=full, %5=full;\n";

/* Adapters drop packets with foreign P_Keys on reception only. */
static void adapters_keep_partitions_apart(void **state)
{
    struct parted parted;
    (void)state;
    begin(&parted, two_partitions, SM_ENFORCE_NOT);
    try_key(&parted, 0x8001);
    assert_delivered(&parted, 0xFF, 0x07);
    assert_int_equal(parted.lost_at_switch, 0);
    try_key(&parted, 0x8002);
    assert_delivered(&parted, 0xFF, 0x38);
    try_key(&parted, 0x8003);
    assert_delivered(&parted, 0, 0);
    end(&parted);
}

/* With enforcing switches, packets with foreign P_Keys do not enter the fabric. */
static void switches_keep_partitions_apart(void **state)
{
    struct parted parted;
    (void)state;
    begin(&parted, two_partitions, SM_ENFORCE_BOTH);
    try_key(&parted, 0x8001);
    assert_delivered(&parted, 0x07, 0x07);
    assert_int_equal(parted.lost_at_switch, parted.lost);
    try_key(&parted, 0x8002);
    assert_delivered(&parted, 0x38, 0x38);
    try_key(&parted, 0x7FFF); /* all are limited members */
    assert_delivered(&parted, 0, 0);
    end(&parted);
}

static void enforcement_has_a_direction(void **state)
{
    struct parted parted;
    (void)state;
    begin(&parted, two_partitions, SM_ENFORCE_IN);
    uint32_t port = switch_port_of(&parted, 0);
    const uint8_t *info = fabric_port_info(parted.world.fabric, port);
    assert_int_equal(wire_get(info, PORT_INFO_PARTITION_ENFORCEMENT_INBOUND), 1);
    assert_int_equal(wire_get(info, PORT_INFO_PARTITION_ENFORCEMENT_OUTBOUND), 0);
    try_key(&parted, 0x8001);
    assert_delivered(&parted, 0x07, 0x07);
    assert_true(parted.lost > parted.lost_at_switch); /* at adapters without the key */
    parted.config.part_enforce = SM_ENFORCE_OUT;
    sm_configure(sim_manager(parted.world.sim, parted.manager), sim_now_ns(parted.world.sim),
                 &parted.config);
    run(&parted, 10 * TIME_MS);
    assert_int_equal(wire_get(info, PORT_INFO_PARTITION_ENFORCEMENT_INBOUND), 0);
    assert_int_equal(wire_get(info, PORT_INFO_PARTITION_ENFORCEMENT_OUTBOUND), 1);
    try_key(&parted, 0x8001);
    assert_delivered(&parted, 0xFF, 0x07); /* senders with foreign P_Keys are not stopped */
    assert_int_equal(parted.lost_at_switch, parted.lost);
    end(&parted);
}

static void only_ports_with_adapters_behind_them_enforce(void **state)
{
    struct parted parted;
    (void)state;
    begin(&parted, two_partitions, SM_ENFORCE_BOTH);
    const struct topology *topology = &parted.world.topology;
    for (uint32_t port = 0; port < topology->ports.count; port++) {
        const struct topology_port *p = &topology->ports.items[port];
        if (topology->nodes.items[p->node].kind != NODE_SWITCH || p->peer == TOPOLOGY_NONE)
            continue;
        bool adapter =
            topology->nodes.items[topology->ports.items[p->peer].node].kind != NODE_SWITCH;
        const uint8_t *info = fabric_port_info(parted.world.fabric, port);
        assert_int_equal(wire_get(info, PORT_INFO_PARTITION_ENFORCEMENT_INBOUND), adapter);
        assert_int_equal(wire_get(info, PORT_INFO_PARTITION_ENFORCEMENT_OUTBOUND), adapter);
    }
    assert_table(&parted, parted.hosts[0], "7fff 8001");
    assert_table(&parted, switch_port_of(&parted, 0), "7fff 8001");
    assert_table(&parted, parted.hosts[7], "7fff");
    assert_table(&parted, management_port(&parted.world, "S0_0"), "ffff"); /* the manager's */
    assert_table(&parted, management_port(&parted.world, "S1_0"), "7fff");
    end(&parted);
}

static void limited_members_receive_from_full_members_only(void **state)
{
    struct parted parted;
    (void)state;
    begin(&parted, "Disk=1: %0=full, ALL_CAS=limited, %0=full;", SM_ENFORCE_BOTH);
    try_key(&parted, 0x0001); /* the P_Key of limited members */
    assert_delivered(&parted, 0xFF, 0x01);
    try_key(&parted, 0x8001); /* the P_Key of full members */
    assert_delivered(&parted, 0xFF & 0x01, 0xFF);
    end(&parted);
}

/* ---- traps ---- */

static void violations_are_reported_to_the_manager(void **state)
{
    struct parted parted;
    (void)state;
    begin(&parted, two_partitions, SM_ENFORCE_NOT);
    try_key(&parted, 0x8001);
    assert_true(parted.traps[0] > 0);
    assert_non_null(strstr(parted.trap, "Bad P_Key: key 0x8001, from H"));
    assert_int_equal(parted.traps[1], 0);
    end(&parted);
    begin(&parted, two_partitions, SM_ENFORCE_BOTH);
    try_key(&parted, 0x8001);
    assert_true(parted.traps[1] > 0);
    assert_non_null(strstr(parted.trap, "Bad P_Key at a switch: at S"));
    assert_non_null(strstr(parted.trap, " port 1, key 0x8001, from H"));
    assert_int_equal(parted.traps[0], 0);
    end(&parted);
}

/* ---- other rules ---- */

static void changed_rules_do_not_affect_other_ports(void **state)
{
    struct parted parted;
    struct partitions fresh;
    (void)state;
    begin(&parted, "Red=1: ALL_CAS=full;\nBlue=2: %3=full, %4=full;\nGreen=3: %5=full, %6=full;\n",
          SM_ENFORCE_BOTH);
    unsigned traffic = send_with(&parted, 0x8001);
    run(&parted, TIME_MS);
    reload(
        &parted, &fresh,
        "Red=1: ALL_CAS=full;\nBlue=2: %3=full, %4=full, %7=full;\nGreen=3: %5=full, %6=full;\n");
    fabric_stop_traffic(parted.world.fabric, traffic);
    run(&parted, TIME_MS);
    assert_int_equal(parted.set_adapter, 1);
    assert_int_equal(parted.set_switch, 1);
    assert_int_equal(parted.port_settings, 0);
    assert_int_equal(parted.lost, 0);
    assert_delivered(&parted, 0xFF, 0xFF);
    assert_table(&parted, parted.hosts[7], "7fff 8001 8002");
    try_key(&parted, 0x8002);
    assert_delivered(&parted, 0x98, 0x98);
    end(&parted);
    partitions_release(&fresh);
}

static void the_same_rules_again_write_nothing(void **state)
{
    struct parted parted;
    struct partitions fresh;
    (void)state;
    begin(&parted, two_partitions, SM_ENFORCE_BOTH);
    reload(&parted, &fresh, two_partitions);
    assert_int_equal(parted.set_adapter + parted.set_switch + parted.port_settings, 0);
    end(&parted);
    partitions_release(&fresh);
}

static void keys_keep_their_index_when_others_change(void **state)
{
    struct parted parted;
    struct partitions fresh[3];
    (void)state;
    begin(&parted, "A=1: %0; B=2: %0; C=3: %0;", SM_ENFORCE_BOTH);
    assert_table(&parted, parted.hosts[0], "7fff 0001 0002 0003");
    reload(&parted, &fresh[0], "C=3: %0=full; D=4: %0; E=5: %0;");
    assert_table(&parted, parted.hosts[0], "7fff 0004 0005 8003");
    reload(&parted, &fresh[1], "C=3: %0=full; E=5: %0;");
    assert_table(&parted, parted.hosts[0], "7fff 0000 0005 8003");
    reload(&parted, &fresh[2], "C=3,indx0: %0=full; E=5: %0;");
    assert_table(&parted, parted.hosts[0], "8003 7fff 0005");
    end(&parted);
    for (unsigned i = 0; i < 3; i++)
        partitions_release(&fresh[i]);
}

static void without_rules_all_ports_are_in_the_default_partition(void **state)
{
    struct parted parted;
    (void)state;
    begin(&parted, two_partitions, SM_ENFORCE_BOTH);
    parted.config.partitions = NULL;
    sm_configure(sim_manager(parted.world.sim, parted.manager), sim_now_ns(parted.world.sim),
                 &parted.config);
    run(&parted, 10 * TIME_MS);
    assert_table(&parted, parted.hosts[0], "ffff");
    try_key(&parted, 0xFFFF);
    assert_delivered(&parted, 0xFF, 0xFF);
    end(&parted);
}

static void without_rules_no_table_is_read_or_written(void **state)
{
    struct parted parted;
    (void)state;
    open_fabric(&parted, 0);
    settle(&parted.world, management_port(&parted.world, "S0_0"), &parted.config);
    assert_int_equal(parted.set_adapter + parted.set_switch, 0);
    assert_table(&parted, parted.hosts[0], "ffff");
    world_close(&parted.world);
}

/* ---- other managers, other places ---- */

/* A new master with the same rules does not move P_Keys, whatever their order. */
static void a_new_master_does_not_move_keys(void **state)
{
    struct parted parted;
    struct partitions fresh;
    (void)state;
    begin(&parted, "A=1: %0; B=2: %0;", SM_ENFORCE_BOTH);
    reload(&parted, &fresh, "B=2: %0; C=3: %0;");
    assert_table(&parted, parted.hosts[0], "7fff 0003 0002");
    sim_kill_manager(parted.world.sim, parted.manager);
    forget_counts(&parted);
    parted.manager = settle(&parted.world, management_port(&parted.world, "S0_0"), &parted.config);
    assert_int_equal(parted.set_adapter, 0);
    assert_table(&parted, parted.hosts[0], "7fff 0003 0002");
    end(&parted);
    partitions_release(&fresh);
}

/* H0's adapter gets the GUID of H7's, as if that had moved. */
static void keys_move_with_their_port(void **state)
{
    struct parted parted;
    struct err err = {0};
    (void)state;
    begin(&parted, "Red=1: %0=full, %1=full;", SM_ENFORCE_BOTH);
    struct world *world = &parted.world;
    uint32_t old = world->topology.ports.items[parted.hosts[0]].node;
    uint32_t other = world->topology.ports.items[parted.hosts[7]].node;
    uint64_t guid = world->topology.nodes.items[old].guid;
    assert_int_equal(fabric_set_node(world->fabric, old, false, &err), 0);
    assert_int_equal(fabric_set_node(world->fabric, other, false, &err), 0);
    run(&parted, 2 * TIME_S);
    assert_int_equal(fabric_set_node(world->fabric, old, true, &err), 0);
    assert_int_equal(fabric_set_node(world->fabric, other, true, &err), 0);
    assert_int_equal(fabric_set_guid(world->fabric, old, guid ^ UINT64_C(0x5500000000), &err), 0);
    assert_int_equal(fabric_set_guid(world->fabric, other, guid, &err), 0);
    run(&parted, 5 * TIME_S);
    assert_true(sm_is_settled(sim_manager(world->sim, parted.manager)));
    assert_table(&parted, parted.hosts[7], "7fff 8001");
    assert_table(&parted, switch_port_of(&parted, 7), "7fff 8001");
    assert_table(&parted, parted.hosts[0], "7fff");
    assert_table(&parted, switch_port_of(&parted, 0), "7fff");
    try_key(&parted, 0x8001);
    assert_delivered(&parted, 0x82, 0x82);
    end(&parted);
}

static void lose_keys(struct parted *parted, uint64_t parts)
{
    struct err err = {0};
    assert_int_equal(
        fabric_set_loss(parted->world.fabric, parted->hosts[0], ATTRIBUTE_P_KEY_TABLE, parts, &err),
        0);
}

static unsigned state_of(const struct parted *parted, unsigned number)
{
    return (unsigned)wire_get(fabric_port_info(parted->world.fabric, parted->hosts[number]),
                              PORT_INFO_PORT_STATE);
}

static void a_port_is_not_activated_before_its_keys_are_read(void **state)
{
    struct parted parted;
    (void)state;
    open_fabric(&parted, 0);
    read_rules(&parted, &parted.partitions, two_partitions);
    parted.config.partitions = &parted.partitions;
    lose_keys(&parted, RNG_CERTAIN);
    sim_add_manager(parted.world.sim, management_port(&parted.world, "S0_0"), &parted.config);
    run(&parted, 150 * TIME_MS);
    assert_int_equal(state_of(&parted, 1), PORT_STATE_ACTIVE);
    assert_int_equal(state_of(&parted, 0), PORT_STATE_ARMED);
    lose_keys(&parted, 0);
    run(&parted, 2 * TIME_S);
    assert_int_equal(state_of(&parted, 0), PORT_STATE_ACTIVE);
    assert_table(&parted, parted.hosts[0], "7fff 8001");
    world_close(&parted.world);
    partitions_release(&parted.partitions);
}

/* Switches drop no packets that they pass after the change. */
static void switches_enforce_after_they_have_the_keys(void **state)
{
    struct parted parted;
    struct err err = {0};
    (void)state;
    begin(&parted, two_partitions, SM_ENFORCE_NOT);
    struct sim *sim = parted.world.sim;
    uint32_t port = switch_port_of(&parted, 7);
    const uint8_t *info = fabric_port_info(parted.world.fabric, port);
    assert_int_equal(fabric_set_loss(parted.world.fabric, TOPOLOGY_NONE, ATTRIBUTE_P_KEY_TABLE,
                                     RNG_CERTAIN, &err),
                     0);
    parted.config.part_enforce = SM_ENFORCE_BOTH;
    sm_configure(sim_manager(sim, parted.manager), sim_now_ns(sim), &parted.config);
    run(&parted, 150 * TIME_MS);
    assert_int_equal(wire_get(info, PORT_INFO_PARTITION_ENFORCEMENT_INBOUND), 0);
    assert_table(&parted, port, "ffff");
    assert_int_equal(
        fabric_set_loss(parted.world.fabric, TOPOLOGY_NONE, ATTRIBUTE_P_KEY_TABLE, 0, &err), 0);
    run(&parted, 2 * TIME_S);
    assert_int_equal(wire_get(info, PORT_INFO_PARTITION_ENFORCEMENT_INBOUND), 1);
    assert_table(&parted, port, "7fff");
    end(&parted);
}

/* The state of its earlier mastership is not used. */
static void a_master_that_returns_does_not_move_keys(void **state)
{
    struct parted parted;
    struct partitions fresh;
    (void)state;
    begin(&parted, "A=1: %0; B=2: %0;", SM_ENFORCE_BOTH);
    struct sim *sim = parted.world.sim;
    unsigned old = parted.manager;
    parted.config.priority = 5;
    parted.manager = sim_add_manager(sim, management_port(&parted.world, "S1_0"), &parted.config);
    run(&parted, 30 * TIME_S);
    assert_int_equal(sm_state(sim_manager(sim, parted.manager)), SM_MASTER);
    assert_int_equal(sm_state(sim_manager(sim, old)), SM_STANDBY);
    reload(&parted, &fresh, "B=2: %0; C=3: %0;");
    assert_table(&parted, parted.hosts[0], "7fff 0003 0002");
    parted.config.priority = 0;
    sm_configure(sim_manager(sim, old), sim_now_ns(sim), &parted.config);
    sim_kill_manager(sim, parted.manager);
    parted.manager = old;
    forget_counts(&parted);
    run(&parted, 30 * TIME_S);
    assert_int_equal(sm_state(sim_manager(sim, old)), SM_MASTER);
    assert_true(sm_is_settled(sim_manager(sim, old)));
    assert_table(&parted, parted.hosts[0], "7fff 0003 0002");
    assert_true(parted.set_adapter <= 2); /* the two managers' own ports change membership */
    end(&parted);
    partitions_release(&fresh);
}

static void an_adapter_that_restarts_gets_its_keys_before_it_is_active(void **state)
{
    struct parted parted;
    struct err err = {0};
    (void)state;
    begin(&parted, two_partitions, SM_ENFORCE_BOTH);
    struct world *world = &parted.world;
    uint32_t node = world->topology.ports.items[parted.hosts[0]].node;
    assert_int_equal(fabric_set_node(world->fabric, node, false, &err), 0);
    run(&parted, 2 * TIME_S);
    lose_keys(&parted, RNG_CERTAIN);
    assert_int_equal(fabric_set_node(world->fabric, node, true, &err), 0);
    run(&parted, 150 * TIME_MS);
    assert_int_equal(state_of(&parted, 0), PORT_STATE_ARMED);
    lose_keys(&parted, 0);
    const uint8_t *info = fabric_port_info(world->fabric, parted.hosts[0]);
    uint64_t until = sim_now(world->sim) + 10 * TIME_S;
    while (wire_get(info, PORT_INFO_PORT_STATE) != PORT_STATE_ACTIVE && sim_now(world->sim) < until)
        sim_step(world->sim, until);
    assert_int_equal(wire_get(info, PORT_INFO_PORT_STATE), PORT_STATE_ACTIVE);
    assert_table(&parted, parted.hosts[0], "7fff 8001");
    end(&parted);
}

static void rules_that_changed_while_a_port_was_down_apply_when_it_is_back(void **state)
{
    struct parted parted;
    struct partitions fresh;
    struct err err = {0};
    (void)state;
    begin(&parted, two_partitions, SM_ENFORCE_BOTH);
    uint32_t node = parted.world.topology.ports.items[parted.hosts[0]].node;
    assert_int_equal(fabric_set_node(parted.world.fabric, node, false, &err), 0);
    run(&parted, 2 * TIME_S);
    reload(&parted, &fresh, "Blue=2: %0=full;\n");
    assert_int_equal(fabric_set_node(parted.world.fabric, node, true, &err), 0);
    run(&parted, 2 * TIME_S);
    assert_table(&parted, parted.hosts[0], "7fff 8002");
    end(&parted);
    partitions_release(&fresh);
}

/* ---- too much ---- */

static void a_table_that_is_too_small_is_logged_and_kept(void **state)
{
    struct parted parted;
    char rules[8192] = "Red=0x100: %0, %1;\n";
    (void)state;
    for (unsigned i = 1; i <= 40; i++)
        sprintf(rules + strlen(rules), "=%u: %%0, %%2;\n", i);
    open_fabric(&parted, 32);
    read_rules(&parted, &parted.partitions, rules);
    parted.config.partitions = &parted.partitions;
    parted.manager = settle(&parted.world, management_port(&parted.world, "S0_0"), &parted.config);
    assert_int_equal(parted.errors, 1);
    assert_non_null(strstr(parted.error, "2 ports are in more partitions"));
    assert_table(&parted, parted.hosts[0], "ffff");
    assert_table(&parted, parted.hosts[1], "7fff 0100");
    assert_table(&parted, switch_port_of(&parted, 0), "ffff");
    const uint8_t *info = fabric_port_info(parted.world.fabric, switch_port_of(&parted, 0));
    assert_int_equal(wire_get(info, PORT_INFO_PARTITION_ENFORCEMENT_INBOUND), 0);
    struct err err = {0}; /* neither sweeps nor other changes log it again */
    run(&parted, 100 * TIME_S);
    assert_int_equal(fabric_set_link(parted.world.fabric, parted.hosts[7], false, &err), 0);
    run(&parted, 10 * TIME_S);
    assert_int_equal(parted.errors, 1);
    world_close(&parted.world);
    partitions_release(&parted.partitions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adapters_keep_partitions_apart),
        cmocka_unit_test(switches_keep_partitions_apart),
        cmocka_unit_test(enforcement_has_a_direction),
        cmocka_unit_test(only_ports_with_adapters_behind_them_enforce),
        cmocka_unit_test(limited_members_receive_from_full_members_only),
        cmocka_unit_test(violations_are_reported_to_the_manager),
        cmocka_unit_test(changed_rules_do_not_affect_other_ports),
        cmocka_unit_test(the_same_rules_again_write_nothing),
        cmocka_unit_test(keys_keep_their_index_when_others_change),
        cmocka_unit_test(without_rules_all_ports_are_in_the_default_partition),
        cmocka_unit_test(without_rules_no_table_is_read_or_written),
        cmocka_unit_test(a_new_master_does_not_move_keys),
        cmocka_unit_test(keys_move_with_their_port),
        cmocka_unit_test(a_port_is_not_activated_before_its_keys_are_read),
        cmocka_unit_test(switches_enforce_after_they_have_the_keys),
        cmocka_unit_test(a_master_that_returns_does_not_move_keys),
        cmocka_unit_test(an_adapter_that_restarts_gets_its_keys_before_it_is_active),
        cmocka_unit_test(rules_that_changed_while_a_port_was_down_apply_when_it_is_back),
        cmocka_unit_test(a_table_that_is_too_small_is_logged_and_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
