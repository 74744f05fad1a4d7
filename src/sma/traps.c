/* Traps (13.4.9, 14.2.5.1): notices sent to the manager, repeatedly until it represses them.
 *
 * An agent keeps a short list of pending notices. It sends one at a time, at most once per
 * SubnetTimeOut of the port, round-robin. A notice that is raised again while it is pending is the
 * same notice. While the port has no LID or no master SM LID, no notice is raised. */
#include "base/mem.h"
#include "sma/internal.h"

#include <assert.h>
#include <string.h>

enum { PENDING_LIMIT = 16, NOTICE_BYTES = 64, NOTICE_DETAILS = 10 };
enum { TYPE_URGENT = 1, TYPE_SECURITY = 2, TYPE_INFORMATION = 4 };

struct sma_trap {
    uint64_t tid;
    uint8_t port;
    uint8_t notice[NOTICE_BYTES];
};

static uint16_t port_lid(const struct sma *sma, unsigned port)
{
    return (uint16_t)wire_get(sma->ports[port].info, PORT_INFO_LID);
}

/* `details` follows the header of the notice. */
static void sma_raise_trap(struct sma *sma, unsigned port, unsigned trap, unsigned type,
                           const uint8_t *details, unsigned length)
{
    unsigned end = sma_end_port(sma, port);
    const uint8_t *info = sma->ports[end].info;
    if (!(wire_get(info, PORT_INFO_CAPABILITY_MASK) & CAPABILITY_TRAP) ||
        !wire_get(info, PORT_INFO_LID) || !wire_get(info, PORT_INFO_MASTER_SM_LID))
        return;
    struct sma_trap pending = {.port = (uint8_t)end};
    uint8_t *notice = pending.notice;
    assert(length <= NOTICE_BYTES - NOTICE_DETAILS && sma->trap_count <= PENDING_LIMIT);
    wire_set(notice, NOTICE_IS_GENERIC, 1);
    wire_set(notice, NOTICE_TYPE, type);
    wire_set(notice, NOTICE_PRODUCER_TYPE, sma->kind);
    wire_set(notice, NOTICE_TRAP_NUMBER, trap);
    wire_set(notice, NOTICE_ISSUER_LID, port_lid(sma, end));
    memcpy(notice + NOTICE_DETAILS, details, length);
    for (unsigned i = 0; i < sma->trap_count; i++)
        if (sma->traps[i].port == end && memcmp(sma->traps[i].notice, notice, NOTICE_BYTES) == 0)
            return;
    if (sma->trap_count == PENDING_LIMIT)
        return; /* the manager does not answer */
    if (!sma->traps)
        sma->traps = mem_zalloc(PENDING_LIMIT, sizeof *sma->traps);
    pending.tid = ++sma->trap_tid;
    sma->traps[sma->trap_count++] = pending;
}

/* A TrapRepress names its trap by the notice it returns. */
void sma_repress_trap(struct sma *sma, const uint8_t *mad)
{
    for (unsigned i = 0; i < sma->trap_count; i++) {
        if (memcmp(sma->traps[i].notice, mad + SMP_DATA_OFFSET, NOTICE_BYTES) != 0)
            continue;
        sma->trap_count--;
        memmove(&sma->traps[i], &sma->traps[i + 1], (sma->trap_count - i) * sizeof sma->traps[0]);
        return;
    }
}

uint64_t sma_trap_deadline(const struct sma *sma)
{
    return sma->trap_count ? sma->next_trap : TIME_NEVER;
}

bool sma_next_trap(struct sma *sma, uint64_t now, struct sma_output *output)
{
    if (!sma->trap_count || now < sma->next_trap)
        return false;
    struct sma_trap trap = sma->traps[0];
    const uint8_t *info = sma->ports[trap.port].info;
    /* Moves it to the end of the list, so that the others are sent next. */
    memmove(&sma->traps[0], &sma->traps[1], (sma->trap_count - 1) * sizeof trap);
    sma->traps[sma->trap_count - 1] = trap;
    uint64_t interval = (TIME_NS * 4096) << wire_get(info, PORT_INFO_SUBNET_TIME_OUT);
    sma->next_trap = now + interval;
    *output = (struct sma_output){
        .kind = SMA_SEND_TRAP,
        .port = trap.port,
        .dlid = (uint16_t)wire_get(info, PORT_INFO_MASTER_SM_LID),
        .sl = (uint8_t)wire_get(info, PORT_INFO_MASTER_SM_SL),
    };
    uint8_t *mad = output->mad;
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_LID);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_METHOD, METHOD_TRAP);
    wire_set(mad, MAD_TID, trap.tid);
    wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_NOTICE);
    wire_set(mad, SMP_M_KEY, wire_get(info, PORT_INFO_M_KEY));
    memcpy(mad + SMP_DATA_OFFSET, trap.notice, NOTICE_BYTES);
    return true;
}

void sma_report_link_state(struct sma *sma)
{
    uint8_t details[2] = {0};
    wire_set(details, TRAP_LINK_STATE_LID, port_lid(sma, 0));
    sma_raise_trap(sma, 0, 128, TYPE_URGENT, details, sizeof details);
}

void sma_report_threshold(struct sma *sma, unsigned port, unsigned trap)
{
    static const enum port_counter counters[] = {COUNTER_LOCAL_LINK_INTEGRITY_ERRORS,
                                                 COUNTER_EXCESSIVE_BUFFER_OVERRUN_ERRORS};
    assert(trap >= 129 && trap <= 131 && port <= sma->port_count);
    uint8_t details[5] = {0};
    if (trap - 129 < 2)
        sma_count(sma, port, counters[trap - 129], 1);
    wire_set(details, TRAP_LINK_INTEGRITY_LID, port_lid(sma, sma_end_port(sma, port)));
    wire_set(details, TRAP_LINK_INTEGRITY_PORT, port);
    sma_raise_trap(sma, port, trap, TYPE_URGENT, details, sizeof details);
}

void sma_report_capability(struct sma *sma, unsigned port, uint32_t set, uint32_t cleared)
{
    assert(port <= sma->port_count && !(set & cleared));
    uint8_t *info = sma->ports[sma_end_port(sma, port)].info;
    uint32_t before = (uint32_t)wire_get(info, PORT_INFO_CAPABILITY_MASK);
    uint32_t after = (before | set) & ~cleared;
    if (after == before)
        return;
    wire_set(info, PORT_INFO_CAPABILITY_MASK, after);
    uint8_t details[14] = {0};
    wire_set(details, TRAP_LOCAL_CHANGES_LID, port_lid(sma, sma_end_port(sma, port)));
    wire_set(details, TRAP_LOCAL_CHANGES_CAPABILITY_MASK, after);
    sma_raise_trap(sma, port, 144, TYPE_INFORMATION, details, sizeof details);
}

void sma_report_router(struct sma *sma, unsigned port)
{
    for (unsigned other = 1; sma->router && other <= sma->port_count; other++) {
        uint8_t details[14] = {0};
        wire_set(details, TRAP_LOCAL_CHANGES_LID, port_lid(sma, other));
        wire_set(details, TRAP_LOCAL_CHANGES_CAPABILITY_MASK,
                 wire_get(sma->ports[other].info, PORT_INFO_CAPABILITY_MASK));
        if (other != port && sma_port_state(sma, other) == PORT_STATE_ACTIVE)
            sma_raise_trap(sma, other, 144, TYPE_INFORMATION, details, sizeof details);
    }
}

void sma_report_m_key(struct sma *sma, unsigned port, uint16_t slid, const uint8_t *mad)
{
    uint8_t details[54] = {0};
    wire_set(details, TRAP_BAD_M_KEY_LID, slid);
    wire_set(details, TRAP_BAD_M_KEY_METHOD, wire_get(mad, MAD_METHOD));
    wire_set(details, TRAP_BAD_M_KEY_ATTRIBUTE_ID, wire_get(mad, MAD_ATTRIBUTE_ID));
    wire_set(details, TRAP_BAD_M_KEY_ATTRIBUTE_MODIFIER, wire_get(mad, MAD_ATTRIBUTE_MODIFIER));
    wire_set(details, TRAP_BAD_M_KEY_M_KEY, wire_get(mad, SMP_M_KEY));
    if (mad_is_directed(mad)) {
        unsigned hops = (unsigned)wire_get(mad, SMP_HOP_COUNT);
        unsigned room = sizeof details - wire_fields[TRAP_BAD_M_KEY_RETURN_PATH].offset / 8;
        wire_set(details, TRAP_BAD_M_KEY_DR_SLID, wire_get(mad, SMP_DR_SLID));
        wire_set(details, TRAP_BAD_M_KEY_DIRECTED, 1);
        wire_set(details, TRAP_BAD_M_KEY_PATH_TRUNCATED, hops + 1 > room);
        wire_set(details, TRAP_BAD_M_KEY_HOP_COUNT, hops);
        memcpy(wire_bytes(details, TRAP_BAD_M_KEY_RETURN_PATH),
               mad + wire_fields[SMP_RETURN_PATH].offset / 8, hops + 1 > room ? room : hops + 1);
    }
    sma_raise_trap(sma, port, 256, TYPE_SECURITY, details, sizeof details);
}

static void fill_key_violation(uint8_t *details, const struct sma_key_violation *violation)
{
    wire_set(details, TRAP_BAD_P_KEY_LID1, violation->slid);
    wire_set(details, TRAP_BAD_P_KEY_LID2, violation->dlid);
    wire_set(details, TRAP_BAD_P_KEY_KEY, violation->key);
    wire_set(details, TRAP_BAD_P_KEY_SL, violation->sl);
    wire_set(details, TRAP_BAD_P_KEY_QP1, violation->src_qp);
    wire_set(details, TRAP_BAD_P_KEY_QP2, violation->dest_qp);
}

static void count_violation(uint8_t *info, enum wire_field field)
{
    uint64_t count = wire_get(info, field);
    if (count < 0xFFFF)
        wire_set(info, field, count + 1);
}

/* 257 at an adapter; 259 at the enforcing port of a switch. */
void sma_report_p_key(struct sma *sma, unsigned port, const struct sma_key_violation *violation)
{
    assert(port <= sma->port_count);
    uint8_t details[54] = {0};
    count_violation(sma->ports[port].info, PORT_INFO_P_KEY_VIOLATIONS);
    if (sma->kind != KIND_SWITCH || port == 0) {
        fill_key_violation(details, violation);
        sma_raise_trap(sma, port, 257, TYPE_SECURITY, details, sizeof details);
        return;
    }
    enum { VALID_ALL_BUT_GIDS = 0x3F }; /* both LIDs, P_Key, SL and both QPs */
    wire_set(details, TRAP_SWITCH_BAD_P_KEY_DATA_VALID, VALID_ALL_BUT_GIDS);
    wire_set(details, TRAP_SWITCH_BAD_P_KEY_LID1, violation->slid);
    wire_set(details, TRAP_SWITCH_BAD_P_KEY_LID2, violation->dlid);
    wire_set(details, TRAP_SWITCH_BAD_P_KEY_P_KEY, violation->key);
    wire_set(details, TRAP_SWITCH_BAD_P_KEY_SL, violation->sl);
    wire_set(details, TRAP_SWITCH_BAD_P_KEY_QP1, violation->src_qp);
    wire_set(details, TRAP_SWITCH_BAD_P_KEY_QP2, violation->dest_qp);
    wire_set(details, TRAP_SWITCH_BAD_P_KEY_SWITCH_LID, port_lid(sma, 0));
    wire_set(details, TRAP_SWITCH_BAD_P_KEY_PORT, port);
    sma_raise_trap(sma, port, 259, TYPE_SECURITY, details, sizeof details);
}

void sma_report_q_key(struct sma *sma, unsigned port, const struct sma_key_violation *violation)
{
    assert(port <= sma->port_count);
    uint8_t details[54] = {0};
    count_violation(sma->ports[port].info, PORT_INFO_Q_KEY_VIOLATIONS);
    fill_key_violation(details, violation);
    sma_raise_trap(sma, port, 258, TYPE_SECURITY, details, sizeof details);
}
