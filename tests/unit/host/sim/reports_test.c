/* Reports of P_Key and Q_Key violations on a simulated fabric: only subscribers that share a
 * partition get them. */
#include "client_requests.h"
#include "sim_world.h"

#include <stdio.h>
#include <string.h>

/* H0 to H2 are in Red, H3 to H5 in Blue. H6 is a limited member of the default partition only; H7
 * is a full member of it, and so shares a partition with all. */
enum { HOSTS = 8, RED = 1, BLUE = 4, NEITHER = 6, WATCHMAN = 7 };

struct watched {
    struct world world;
    struct partitions partitions;
    struct sim_clients *clients;
    uint32_t hosts[HOSTS]; /* port 1 of each */
};

static void read_rules(struct watched *watched)
{
    struct err err = {0};
    char text[1024];
    unsigned long long guid[HOSTS];
    for (unsigned i = 0; i < HOSTS; i++)
        guid[i] = fabric_port_guid(watched->world.fabric, watched->hosts[i], 0);
    snprintf(text, sizeof text,
             "Default=0x7fff: ALL=limited, SELF=full, 0x%llx=full;\n"
             "Red=1: 0x%llx=full, 0x%llx=full, 0x%llx=full;\n"
             "Blue=2: 0x%llx=full, 0x%llx=full, 0x%llx=full;\n",
             guid[7], guid[0], guid[1], guid[2], guid[3], guid[4], guid[5]);
    if (partitions_read(&watched->partitions, from_text("rules", text, &err)) != 0)
        fail_msg("%u: %s", err.line, err.message);
}

/* The observed hosts subscribe to these traps. */
static void begin(struct watched *watched, enum sm_enforcement enforcement, const unsigned *traps,
                  unsigned count)
{
    static const unsigned subscribers[] = {RED, BLUE, NEITHER, WATCHMAN};
    struct sim_administration_options options;
    struct sm_config config;
    memset(watched, 0, sizeof *watched);
    world_open(&watched->world, "today", "mesh dims=2,2 hosts=2");
    for (unsigned i = 0; i < HOSTS; i++) {
        char name[8];
        snprintf(name, sizeof name, "H%u", i);
        watched->hosts[i] = host(&watched->world, name);
    }
    read_rules(watched);
    sim_administration_options_init(&options);
    options.config.partitions = &watched->partitions;
    sim_add_administrations(watched->world.sim, &options);
    sm_config_init(&config);
    config.partitions = &watched->partitions;
    config.part_enforce = enforcement;
    settle(&watched->world, management_port(&watched->world, "S0_0"), &config);
    watched->clients = sim_clients_new(watched->world.sim, watched->world.fabric);
    for (unsigned i = 0; i < sizeof subscribers / sizeof *subscribers; i++)
        for (unsigned j = 0; j < count; j++)
            client_subscribe(watched->clients, watched->hosts[subscribers[i]], traps[j]);
    assert_true(sim_clients_run(watched->clients, sim_now(watched->world.sim) + TIME_S));
    for (uint32_t i = 0; i < 4 * count; i++)
        assert_int_equal(sim_clients_query(watched->clients, i)->status, STATUS_OK);
}

static void end(struct watched *watched)
{
    sim_clients_free(watched->clients);
    world_close(&watched->world);
    partitions_release(&watched->partitions);
}

static unsigned lid_of(const struct watched *watched, uint32_t port)
{
    return (unsigned)wire_get(fabric_port_info(watched->world.fabric, port), PORT_INFO_LID);
}

/* Sends a packet to another host's QP1, and runs until reports are delivered. */
static void violate(struct watched *watched, unsigned from, unsigned to, uint16_t p_key,
                    uint32_t q_key)
{
    struct packet_header header = {.dlid = (uint16_t)lid_of(watched, watched->hosts[to]),
                                   .p_key = p_key,
                                   .src_qp = QP_GSI,
                                   .dest_qp = QP_GSI,
                                   .q_key = q_key};
    uint8_t mad[MAD_BYTES] = {0};
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_ADM);
    wire_set(mad, MAD_CLASS_VERSION, 2);
    wire_set(mad, MAD_METHOD, METHOD_GET);
    fabric_send(watched->world.fabric, watched->hosts[from], &header, mad);
    run_for(&watched->world, 10 * TIME_MS);
}

static void assert_reports(const struct watched *watched, unsigned host, uint64_t reports)
{
    assert_int_equal(sim_clients_reports(watched->clients, watched->hosts[host]), reports);
}

static void a_bad_p_key_at_an_adapter_is_reported_to_its_partition(void **state)
{
    (void)state;
    struct watched watched;
    begin(&watched, SM_ENFORCE_NOT, (const unsigned[]){257, 258, 259}, 3);
    violate(&watched, 3, 0, 0x8002, Q_KEY_GSI); /* with Blue's P_Key to a host of Red */
    assert_reports(&watched, RED, 1);
    assert_reports(&watched, BLUE, 0);
    assert_reports(&watched, NEITHER, 0);
    assert_reports(&watched, WATCHMAN, 1);
    const uint8_t *notice = sim_clients_last_notice(watched.clients, watched.hosts[RED]);
    const uint8_t *details = notice + NOTICE_AT_DETAILS;
    assert_int_equal(wire_get(notice, NOTICE_TRAP_NUMBER), 257);
    assert_int_equal(wire_get(notice, NOTICE_ISSUER_LID), lid_of(&watched, watched.hosts[0]));
    assert_int_equal(wire_get_bits(wire_bytes_const(notice, NOTICE_ISSUER_GID), 64, 64),
                     fabric_port_guid(watched.world.fabric, watched.hosts[0], 0));
    assert_int_equal(wire_get(details, TRAP_BAD_P_KEY_LID1), lid_of(&watched, watched.hosts[3]));
    assert_int_equal(wire_get(details, TRAP_BAD_P_KEY_LID2), lid_of(&watched, watched.hosts[0]));
    assert_int_equal(wire_get(details, TRAP_BAD_P_KEY_KEY), 0x8002);
    end(&watched);
}

static void a_bad_q_key_is_reported_to_its_partition(void **state)
{
    (void)state;
    struct watched watched;
    begin(&watched, SM_ENFORCE_NOT, (const unsigned[]){257, 258, 259}, 3);
    violate(&watched, 4, 5, 0x8002, 0x1234); /* among the Blue */
    assert_reports(&watched, BLUE, 1);
    assert_reports(&watched, RED, 0);
    assert_reports(&watched, NEITHER, 0);
    assert_reports(&watched, WATCHMAN, 1);
    const uint8_t *notice = sim_clients_last_notice(watched.clients, watched.hosts[BLUE]);
    assert_int_equal(wire_get(notice, NOTICE_TRAP_NUMBER), 258);
    assert_int_equal(wire_get(notice + NOTICE_AT_DETAILS, TRAP_BAD_P_KEY_KEY), 0x1234);
    end(&watched);
}

/* Switches other than the manager's are limited members of the default partition: only full members
 * share it with them. */
static void a_bad_p_key_at_a_switch_is_reported_to_full_members(void **state)
{
    (void)state;
    struct watched watched;
    begin(&watched, SM_ENFORCE_BOTH, (const unsigned[]){257, 258, 259}, 3);
    violate(&watched, 3, 0, 0x8001, Q_KEY_GSI); /* Blue, with Red's key */
    assert_reports(&watched, RED, 0);
    assert_reports(&watched, BLUE, 0);
    assert_reports(&watched, NEITHER, 0);
    assert_reports(&watched, WATCHMAN, 1);
    const uint8_t *notice = sim_clients_last_notice(watched.clients, watched.hosts[WATCHMAN]);
    const uint8_t *details = notice + NOTICE_AT_DETAILS;
    uint32_t port = watched.world.topology.ports.items[watched.hosts[3]].peer;
    uint32_t node = watched.world.topology.ports.items[port].node;
    assert_int_equal(wire_get(notice, NOTICE_TRAP_NUMBER), 259);
    assert_int_equal(wire_get(details, TRAP_SWITCH_BAD_P_KEY_P_KEY), 0x8001);
    assert_int_equal(topology_port_index(&watched.world.topology, node,
                                         (unsigned)wire_get(details, TRAP_SWITCH_BAD_P_KEY_PORT)),
                     port);
    assert_int_equal(wire_get(details, TRAP_SWITCH_BAD_P_KEY_SWITCH_LID),
                     lid_of(&watched, end_port(&watched.world, node)));
    end(&watched);
}

static void subscribers_to_another_trap_get_no_report(void **state)
{
    (void)state;
    struct watched watched;
    begin(&watched, SM_ENFORCE_NOT, (const unsigned[]){258}, 1);
    violate(&watched, 3, 0, 0x8002, Q_KEY_GSI);
    assert_reports(&watched, RED, 0);
    assert_reports(&watched, WATCHMAN, 0);
    end(&watched);
}

static void a_new_group_is_reported_to_its_partition(void **state)
{
    (void)state;
    enum { MGID = 1, PORT_GID = 2, Q_KEY = 4, TCLASS = 0x40, P_KEY = 0x80, SL = 0x1000 };
    enum { FLOW_LABEL = 0x2000, JOIN_STATE = 0x10000 };
    struct watched watched;
    uint8_t mad[MAD_BYTES] = {0}, *record = mad + SA_DATA_OFFSET;
    begin(&watched, SM_ENFORCE_NOT, (const unsigned[]){66}, 1);
    wire_set(mad, MAD_METHOD, METHOD_SET);
    wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_MC_MEMBER_RECORD);
    wire_set(mad, SA_COMPONENT_MASK,
             MGID | PORT_GID | Q_KEY | TCLASS | P_KEY | SL | FLOW_LABEL | JOIN_STATE);
    memcpy(wire_bytes(record, MC_MEMBER_RECORD_MGID),
           (const uint8_t[16]){0xFF, 0x12, 0xA0, 0x1C, [15] = 9}, 16);
    uint8_t *gid = wire_bytes(record, MC_MEMBER_RECORD_PORT_GID);
    wire_set_bits(gid, 0, 64, UINT64_C(0xFE80000000000000));
    wire_set_bits(gid, 64, 64, fabric_port_guid(watched.world.fabric, watched.hosts[0], 0));
    wire_set(record, MC_MEMBER_RECORD_P_KEY, 0x8001);
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, 1);
    uint32_t question = sim_clients_send(watched.clients, watched.hosts[0], mad);
    assert_true(sim_clients_run(watched.clients, sim_now(watched.world.sim) + TIME_S));
    assert_int_equal(sim_clients_query(watched.clients, question)->status, STATUS_OK);
    run_for(&watched.world, 10 * TIME_MS);
    assert_reports(&watched, RED, 1);
    assert_reports(&watched, BLUE, 0);
    assert_reports(&watched, NEITHER, 0);
    assert_reports(&watched, WATCHMAN, 0);
    end(&watched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_p_key_at_an_adapter_is_reported_to_its_partition),
        cmocka_unit_test(a_bad_q_key_is_reported_to_its_partition),
        cmocka_unit_test(a_bad_p_key_at_a_switch_is_reported_to_full_members),
        cmocka_unit_test(subscribers_to_another_trap_get_no_report),
        cmocka_unit_test(a_new_group_is_reported_to_its_partition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
