#include "registering.h"

#include "subnet/trust.h"

bool registering_waits;

int open_registering(void **state)
{
    struct sa_config config;
    sa_config_init(&config);
    config.instance = 77;
    registering_waits = false;
    return open_shape(state, &(struct sa_world_shape){.kind = "figure1", .config = &config});
}

/* With a standby in sync the answer waits until the standby has the registration. */
static void register_now(struct sa_world *world)
{
    unsigned status = world_send(world);
    if (!registering_waits || status != NO_ANSWER)
        assert_int_equal(status, STATUS_OK);
}

void join(struct sa_world *world, unsigned group, const char *host)
{
    uint8_t *record =
        world_query(world, METHOD_SET, ATTRIBUTE_MC_MEMBER_RECORD,
                    BIT(0) | BIT(1) | BIT(2) | BIT(6) | BIT(7) | BIT(12) | BIT(13) | BIT(16));
    set_gid(wire_bytes(record, MC_MEMBER_RECORD_MGID), UINT64_C(0xFF12A01C00000000), group);
    set_gid(wire_bytes(record, MC_MEMBER_RECORD_PORT_GID), PREFIX, world_guid(world, host));
    wire_set(record, MC_MEMBER_RECORD_P_KEY, 0xFFFF);
    wire_set(record, MC_MEMBER_RECORD_Q_KEY, 0x1234);
    wire_set(record, MC_MEMBER_RECORD_FLOW_LABEL, 0x54321);
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, JOIN_FULL);
    world->from = world_lid(world, host);
    register_now(world);
}

void leave(struct sa_world *world, unsigned group, const char *host)
{
    uint8_t *record =
        world_query(world, METHOD_DELETE, ATTRIBUTE_MC_MEMBER_RECORD, BIT(0) | BIT(1) | BIT(16));
    set_gid(wire_bytes(record, MC_MEMBER_RECORD_MGID), UINT64_C(0xFF12A01C00000000), group);
    set_gid(wire_bytes(record, MC_MEMBER_RECORD_PORT_GID), PREFIX, world_guid(world, host));
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, JOIN_FULL);
    world->from = world_lid(world, host);
    register_now(world);
}

void service(struct sa_world *world, unsigned method, uint64_t id, uint32_t lease_s,
             const char *name)
{
    uint8_t *record = world_query(world, method, ATTRIBUTE_SERVICE_RECORD,
                                  BIT(0) | BIT(1) | BIT(4) | BIT(5) | BIT(6));
    wire_set(record, SERVICE_RECORD_ID, id);
    set_gid(wire_bytes(record, SERVICE_RECORD_GID), PREFIX, world_guid(world, "H4"));
    wire_set(record, SERVICE_RECORD_LEASE, lease_s);
    memset(wire_bytes(record, SERVICE_RECORD_KEY), 0x5A, 16);
    memcpy(wire_bytes(record, SERVICE_RECORD_NAME), name, strlen(name));
    for (unsigned i = 0; i < 16; i++)
        wire_set_at(record, SERVICE_RECORD_DATA8, i, i + 1);
    wire_set_at(record, SERVICE_RECORD_DATA64, 1, UINT64_C(0x0102030405060708));
    register_now(world);
}

void inform(struct sa_world *world, const char *host, unsigned trap, bool subscribe)
{
    uint8_t *info = world_query(world, METHOD_SET, ATTRIBUTE_INFORM_INFO, 0);
    wire_set(info, INFORM_INFO_LID_RANGE_BEGIN, 0xFFFF);
    wire_set(info, INFORM_INFO_IS_GENERIC, 1);
    wire_set(info, INFORM_INFO_SUBSCRIBE, subscribe);
    wire_set(info, INFORM_INFO_TYPE, 0xFFFF);
    wire_set(info, INFORM_INFO_TRAP_NUMBER, trap);
    wire_set(info, INFORM_INFO_PRODUCER_TYPE, 0xFFFFFF);
    world->from = world_lid(world, host);
    register_now(world);
}

void alias(struct sa_world *world, unsigned method, const char *host, unsigned place, uint64_t guid)
{
    uint8_t *record =
        world_query(world, method, ATTRIBUTE_GUID_INFO_RECORD, BIT(0) | BIT(1) | BIT(4 + place));
    wire_set(record, GUID_INFO_RECORD_LID, world_lid(world, host));
    wire_set_at(record + GUID_INFO_RECORD_AT_GUID_INFO, GUID_INFO_GUID, place, guid);
    world->from = world_lid(world, host);
    register_now(world);
}

void machine(struct sa *sa, uint64_t guid, uint64_t place, enum machine_wish wish, const char *name)
{
    struct wanted_machine row = {.guid = guid, .place = place, .wish = wish, .lid = 7};
    snprintf(row.name, sizeof row.name, "%s", name);
    snprintf(row.adapter, sizeof row.adapter, "H%u hca' at='x", (unsigned)place);
    wanted_machines_decide(sa_machines(sa), &row);
}

void register_things(struct sa_world *world)
{
    alias(world, METHOD_SET, "H11", 1, 0);
    alias(world, METHOD_SET, "H12", 3, 0xA1105);
    join(world, 1, "H11");
    join(world, 1, "H12");
    join(world, 2, "H4");
    service(world, METHOD_SET, 10, UINT32_MAX, "for ever");
    service(world, METHOD_SET, 11, 100, "with 'quotes'\n");
    inform(world, "H11", 64, true);
    inform(world, "H12", 128, true);
    machine(world->sa, 11, 1, MACHINE_RUNS, "it's a name of more bytes than VirtualFunction has");
    machine(world->sa, 12, 1, MACHINE_RUNS, "");
    machine(world->sa, 12, 2, MACHINE_RUNS, "web1"); /* and is to be removed at the first place */
}

struct text printed(const struct sa *sa)
{
    struct text text = {0};
    sa_registry_print(sa, 0, &text);
    char *end = strchr(text.data, '\n');
    assert_non_null(end);
    memset(text.data, '-', (size_t)(end - text.data));
    return text;
}

bool same_registrations(const struct sa *a, const struct sa *b)
{
    struct text one = printed(a), other = printed(b);
    const char *from = strchr(one.data, '\n'), *to = strchr(other.data, '\n');
    bool same = strcmp(from, to) == 0;
    text_release(&one);
    text_release(&other);
    return same;
}

struct sa *at_port(uint64_t instance, uint64_t guid, uint64_t sm_key)
{
    struct sa_config config;
    sa_config_init(&config);
    config.instance = instance;
    config.sm_key = sm_key;
    config.salt = instance * 3;
    return sa_new(&config, guid);
}

struct sa *another(uint64_t instance)
{
    return at_port(instance, 99, KEY_WELL_KNOWN);
}

struct sa_counts counts_of(const struct sa *sa)
{
    struct sa_counts counts;
    sa_counts(sa, &counts);
    return counts;
}

/* ---- standbys ---- */

uint8_t last_poll[MAD_BYTES];

size_t talk(struct sa_world *world, struct sa *standby)
{
    struct sa_message message;
    size_t longest = 0;
    bool any = true;
    registering_waits = true;
    while (any) {
        any = false;
        sa_expire(standby, world->now);
        while (sa_deadline(standby) <= world->now &&
               sa_next_output(standby, world->now, &message)) {
            message.address.lid = STANDBY;
            memcpy(last_poll, message.data, MAD_BYTES);
            sa_receive(world->sa, world->now, &message);
            any = true;
        }
        sa_expire(world->sa, world->now);
        while (sa_deadline(world->sa) <= world->now &&
               sa_next_output(world->sa, world->now, &message)) {
            longest = message.bytes > longest ? message.bytes : longest;
            message.address.lid = MASTER;
            sa_receive(standby, world->now, &message);
            any = true;
        }
    }
    return longest;
}

struct subnet_port *standby_port(struct sa_world *world)
{
    return &world->subnet->ports.items[world->subnet->by_lid[STANDBY]];
}

struct sa *standby_with_key(struct sa_world *world, uint64_t sm_key)
{
    struct subnet_port *port = standby_port(world);
    port->manager = port->peer_manager = true;
    struct sa *standby = at_port(5, port->guid, sm_key);
    sa_follow(standby, world->now, &(struct sa_master){.lid = MASTER, .tells = true});
    return standby;
}

struct sa *a_standby(struct sa_world *world)
{
    return standby_with_key(world, KEY_WELL_KNOWN);
}
