/* PortInfo (14.2.5.6), and the logical state machine of the ports (7.2.7).
 *
 * A Set is checked as a whole before anything changes. Fields that belong to the end port (LID,
 * keys, manager) are ignored at the external ports of a switch. Physical commands are not executed
 * here: the physical layer gets them as outputs, after the response. */
#include "sma/internal.h"
#include "wire/link_rate.h"

#include <assert.h>
#include <string.h>

enum { NO_CHANGE = 0, WIDTHS_AS_SUPPORTED = 255, SPEEDS_AS_SUPPORTED = 15 };
enum { EXT_SPEEDS_NONE = 30, EXT_SPEEDS_AS_SUPPORTED = 31 };
enum { EXT2_SPEEDS_NONE = 6, EXT2_SPEEDS_AS_SUPPORTED = 7 };
/* FDR, EDR, HDR and NDR are the first four extended speeds; XDR has a second set of fields. */
enum { SPEEDS_EXT_FIRST = 0xF, SPEEDS_EXT2_SHIFT = 4 };

/* The port that a PortInfo modifier addresses, or -1. */
static int addressed_port(const struct sma *sma, unsigned port, uint32_t modifier)
{
    unsigned wanted = modifier & 0xFF;
    if (modifier & ~PORT_INFO_WITH_EXTENDED_SPEEDS & ~UINT32_C(0xFF))
        return -1;
    if (sma->kind != KIND_SWITCH && wanted == 0)
        return (int)port;
    return wanted <= sma->port_count ? (int)wanted : -1;
}

/* A strict agent neither shows extended speeds to a manager without bit 31 nor takes them from it.
 */
static void hide_extended_speeds(const struct sma *sma, uint32_t modifier, uint8_t *data)
{
    static const enum wire_field fields[] = {
        PORT_INFO_LINK_SPEED_EXT_ACTIVE,     PORT_INFO_LINK_SPEED_EXT_SUPPORTED,
        PORT_INFO_LINK_SPEED_EXT_ENABLED,    PORT_INFO_LINK_SPEED_EXT2_ACTIVE,
        PORT_INFO_LINK_SPEED_EXT2_SUPPORTED, PORT_INFO_LINK_SPEED_EXT2_ENABLED,
    };
    if (!sma->options.strict_speeds || (modifier & PORT_INFO_WITH_EXTENDED_SPEEDS))
        return;
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++)
        wire_set(data, fields[i], 0);
}

uint16_t sma_get_port_info(struct sma *sma, unsigned port, uint32_t modifier, uint8_t *data)
{
    int target = addressed_port(sma, port, modifier);
    if (target < 0)
        return STATUS_BAD_VALUE;
    memcpy(data, sma->ports[target].info, sizeof sma->ports[target].info);
    wire_set(data, PORT_INFO_LOCAL_PORT_NUM, port);
    hide_extended_speeds(sma, modifier, data);
    return STATUS_OK;
}

uint16_t sma_check_port_number(struct sma *sma, unsigned port, uint32_t modifier, uint8_t *data)
{
    (void)data;
    return addressed_port(sma, port, modifier) < 0 ? STATUS_BAD_VALUE : STATUS_OK;
}

uint16_t sma_get_mellanox_port_info(struct sma *sma, unsigned port, uint32_t modifier,
                                    uint8_t *data)
{
    int target = addressed_port(sma, port, modifier);
    if (target < 0)
        return STATUS_BAD_VALUE;
    bool fdr10 = sma->ports[target].fdr10;
    wire_set(data, MELLANOX_PORT_INFO_LINK_SPEED_SUPPORTED, fdr10);
    wire_set(data, MELLANOX_PORT_INFO_LINK_SPEED_ENABLED, fdr10);
    wire_set(data, MELLANOX_PORT_INFO_LINK_SPEED_ACTIVE, sma->ports[target].fdr10_active);
    return STATUS_OK;
}

void sma_set_link_support(struct sma *sma, unsigned port, uint8_t widths, uint8_t speeds,
                          uint8_t speeds_ext, bool fdr10)
{
    enum { WIDTH_MASK_2X = 1 << 4, EXT_HDR = 1 << 2, EXT_NDR = 1 << 3, EXT_XDR = 1 << 4 };
    assert(port <= sma->port_count);
    struct sma_port *state = &sma->ports[port];
    uint8_t *info = state->info;
    state->fdr10 = fdr10;
    state->link_widths = widths;
    state->link_speeds = speeds;
    state->link_speeds_ext = speeds_ext;
    wire_set(info, PORT_INFO_LINK_WIDTH_SUPPORTED, widths);
    wire_set(info, PORT_INFO_LINK_WIDTH_ENABLED, widths);
    wire_set(info, PORT_INFO_LINK_WIDTH_ACTIVE, widths & -widths);
    wire_set(info, PORT_INFO_LINK_SPEED_SUPPORTED, speeds);
    wire_set(info, PORT_INFO_LINK_SPEED_ENABLED, speeds);
    wire_set(info, PORT_INFO_LINK_SPEED_ACTIVE, speeds & -speeds);
    if (!speeds_ext)
        return;
    wire_set(info, PORT_INFO_LINK_SPEED_EXT_SUPPORTED, speeds_ext & SPEEDS_EXT_FIRST);
    wire_set(info, PORT_INFO_LINK_SPEED_EXT_ENABLED, speeds_ext & SPEEDS_EXT_FIRST);
    wire_set(info, PORT_INFO_LINK_SPEED_EXT2_SUPPORTED, speeds_ext >> SPEEDS_EXT2_SHIFT);
    wire_set(info, PORT_INFO_LINK_SPEED_EXT2_ENABLED, speeds_ext >> SPEEDS_EXT2_SHIFT);
    uint8_t *end = sma->ports[sma_end_port(sma, port)].info;
    wire_set(end, PORT_INFO_CAPABILITY_MASK,
             wire_get(end, PORT_INFO_CAPABILITY_MASK) | CAPABILITY_EXTENDED_SPEEDS);
    wire_set(end, PORT_INFO_CAPABILITY_MASK2,
             wire_get(end, PORT_INFO_CAPABILITY_MASK2) |
                 (widths & WIDTH_MASK_2X ? CAPABILITY2_LINK_WIDTH_2X : 0) |
                 (speeds_ext & EXT_HDR ? CAPABILITY2_HDR : 0) |
                 (speeds_ext & EXT_NDR ? CAPABILITY2_NDR : 0) |
                 (speeds_ext & EXT_XDR ? CAPABILITY2_EXTENDED_SPEEDS2 | CAPABILITY2_XDR : 0));
}

static bool is_subset_of(uint64_t value, uint64_t of)
{
    return (value & ~of) == 0;
}

static bool link_settings_valid(const struct sma_port *port, const uint8_t *data)
{
    uint64_t width = wire_get(data, PORT_INFO_LINK_WIDTH_ENABLED);
    uint64_t speed = wire_get(data, PORT_INFO_LINK_SPEED_ENABLED);
    uint64_t ext = wire_get(data, PORT_INFO_LINK_SPEED_EXT_ENABLED);
    uint64_t ext2 = wire_get(data, PORT_INFO_LINK_SPEED_EXT2_ENABLED);
    uint64_t mtu = wire_get(data, PORT_INFO_NEIGHBOR_MTU);
    if (mtu < 1 || mtu > wire_get(port->info, PORT_INFO_MTU_CAP) ||
        wire_get(data, PORT_INFO_OPERATIONAL_VLS) > wire_get(port->info, PORT_INFO_VL_CAP) ||
        wire_get(data, PORT_INFO_LINK_DOWN_DEFAULT_STATE) > PHYSICAL_POLLING)
        return false;
    if (width != WIDTHS_AS_SUPPORTED && !is_subset_of(width, port->link_widths))
        return false;
    if (speed != SPEEDS_AS_SUPPORTED && !is_subset_of(speed, port->link_speeds))
        return false;
    if (ext != EXT_SPEEDS_NONE && ext != EXT_SPEEDS_AS_SUPPORTED &&
        !is_subset_of(ext, port->link_speeds_ext & SPEEDS_EXT_FIRST))
        return false;
    return ext2 == EXT2_SPEEDS_NONE || ext2 == EXT2_SPEEDS_AS_SUPPORTED ||
           is_subset_of(ext2, port->link_speeds_ext >> SPEEDS_EXT2_SHIFT);
}

static bool end_port_valid(const struct sma *sma, const uint8_t *info, const uint8_t *data)
{
    uint64_t lid = wire_get(data, PORT_INFO_LID);
    uint64_t manager = wire_get(data, PORT_INFO_MASTER_SM_LID);
    uint64_t lmc = wire_get(data, PORT_INFO_LMC);
    if (lid > LID_UNICAST_LAST || (lid == 0 && wire_get(info, PORT_INFO_LID) != 0))
        return false;
    if (manager > LID_UNICAST_LAST || (lid & ((1u << lmc) - 1)))
        return false;
    if (sma->kind == KIND_SWITCH && lmc && !wire_get(sma->switch_info, SWITCH_INFO_ENHANCED_PORT0))
        return false;
    return sma_can_share_lid(sma, (unsigned)lid);
}

static bool state_valid(const struct sma *sma, unsigned port, const uint8_t *data)
{
    unsigned now = sma_port_state(sma, port);
    uint64_t physical = wire_get(data, PORT_INFO_PORT_PHYSICAL_STATE);
    if (physical > PHYSICAL_DISABLED)
        return false;
    switch (wire_get(data, PORT_INFO_PORT_STATE)) {
    case PORT_STATE_NO_CHANGE: return true;
    case PORT_STATE_DOWN: return port != 0;
    case PORT_STATE_INIT: return sma->options.port_init && now >= PORT_STATE_INIT && !physical;
    case PORT_STATE_ARMED: return !physical && (now == PORT_STATE_INIT || now == PORT_STATE_ARMED);
    case PORT_STATE_ACTIVE:
        return !physical && (now == PORT_STATE_ARMED || now == PORT_STATE_ACTIVE ||
                             (now == PORT_STATE_INIT && sma->options.port_init));
    default: return false;
    }
}

void sma_copy_fields(uint8_t *info, const uint8_t *data, const enum wire_field *fields,
                     size_t count)
{
    for (size_t i = 0; i < count; i++)
        wire_set(info, fields[i], wire_get(data, fields[i]));
}

static void apply_end_port(struct sma_port *port, const uint8_t *data)
{
    static const enum wire_field fields[] = {
        PORT_INFO_M_KEY,
        PORT_INFO_GID_PREFIX,
        PORT_INFO_LID,
        PORT_INFO_MASTER_SM_LID,
        PORT_INFO_M_KEY_LEASE_PERIOD,
        PORT_INFO_M_KEY_PROTECT_BITS,
        PORT_INFO_LMC,
        PORT_INFO_MASTER_SM_SL,
        PORT_INFO_INIT_TYPE_REPLY,
        PORT_INFO_MULTICAST_P_KEY_TRAP_SUPPRESSION,
        PORT_INFO_SUBNET_TIME_OUT,
    };
    /* Writing 0 clears these counters. A manager that writes back what it read must not undo later
     * counts. */
    static const enum wire_field counters[] = {
        PORT_INFO_M_KEY_VIOLATIONS,
        PORT_INFO_P_KEY_VIOLATIONS,
        PORT_INFO_Q_KEY_VIOLATIONS,
    };
    sma_copy_fields(port->info, data, fields, sizeof fields / sizeof fields[0]);
    for (unsigned i = 0; i < sizeof counters / sizeof counters[0]; i++)
        if (wire_get(data, counters[i]) == 0)
            wire_set(port->info, counters[i], 0);
    port->lease_end = TIME_NEVER;
}

/* Writes a field in which 0 means no change and `all` means all supported values. */
static void apply_choice(uint8_t *info, const uint8_t *data, enum wire_field field, uint64_t all,
                         uint64_t supported)
{
    uint64_t value = wire_get(data, field);
    if (value != NO_CHANGE)
        wire_set(info, field, value == all ? supported : value);
}

/* The same for a field that also has a value for no speed. */
static void apply_extended(uint8_t *info, const uint8_t *data, enum wire_field field, uint64_t none,
                           uint64_t all, uint64_t supported)
{
    if (wire_get(data, field) == none)
        wire_set(info, field, 0);
    else
        apply_choice(info, data, field, all, supported);
}

void sma_copy_link_settings(uint8_t *info, const uint8_t *data)
{
    static const enum wire_field fields[] = {
        PORT_INFO_VL_HIGH_LIMIT,
        PORT_INFO_VL_STALL_COUNT,
        PORT_INFO_HOQ_LIFE,
        PORT_INFO_PARTITION_ENFORCEMENT_INBOUND,
        PORT_INFO_PARTITION_ENFORCEMENT_OUTBOUND,
        PORT_INFO_FILTER_RAW_INBOUND,
        PORT_INFO_FILTER_RAW_OUTBOUND,
        PORT_INFO_LOCAL_PHY_ERRORS,
        PORT_INFO_OVERRUN_ERRORS,
    };
    sma_copy_fields(info, data, fields, sizeof fields / sizeof fields[0]);
}

static void apply_link_settings(struct sma_port *port, const uint8_t *data)
{
    uint8_t *info = port->info;
    sma_copy_link_settings(info, data);
    wire_set(info, PORT_INFO_NEIGHBOR_MTU, wire_get(data, PORT_INFO_NEIGHBOR_MTU));
    apply_choice(info, data, PORT_INFO_LINK_WIDTH_ENABLED, WIDTHS_AS_SUPPORTED, port->link_widths);
    apply_choice(info, data, PORT_INFO_LINK_SPEED_ENABLED, SPEEDS_AS_SUPPORTED, port->link_speeds);
    apply_choice(info, data, PORT_INFO_OPERATIONAL_VLS, UINT64_MAX, 0);
    apply_choice(info, data, PORT_INFO_LINK_DOWN_DEFAULT_STATE, UINT64_MAX, 0);
    apply_extended(info, data, PORT_INFO_LINK_SPEED_EXT_ENABLED, EXT_SPEEDS_NONE,
                   EXT_SPEEDS_AS_SUPPORTED, port->link_speeds_ext & SPEEDS_EXT_FIRST);
    apply_extended(info, data, PORT_INFO_LINK_SPEED_EXT2_ENABLED, EXT2_SPEEDS_NONE,
                   EXT2_SPEEDS_AS_SUPPORTED, port->link_speeds_ext >> SPEEDS_EXT2_SHIFT);
}

static void command_link(struct sma *sma, unsigned port)
{
    assert(port <= sma->port_count);
    sma->link_commands[port / 32] |= 1u << (port % 32);
}

static bool link_settings_differ(const uint8_t *a, const uint8_t *b)
{
    static const enum wire_field fields[] = {
        PORT_INFO_LINK_WIDTH_ENABLED,
        PORT_INFO_LINK_SPEED_ENABLED,
        PORT_INFO_LINK_SPEED_EXT_ENABLED,
        PORT_INFO_LINK_SPEED_EXT2_ENABLED,
    };
    for (unsigned i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (wire_get(a, fields[i]) != wire_get(b, fields[i]))
            return true;
    return false;
}

static void apply_state(struct sma *sma, unsigned port, const uint8_t *data)
{
    uint8_t *info = sma->ports[port].info;
    uint64_t state = wire_get(data, PORT_INFO_PORT_STATE);
    uint64_t physical = wire_get(data, PORT_INFO_PORT_PHYSICAL_STATE);
    if (port == 0 && sma->kind == KIND_SWITCH)
        return; /* it has no link and is always Active */
    if (state == PORT_STATE_DOWN || physical) {
        if (!physical)
            physical = wire_get(info, PORT_INFO_LINK_DOWN_DEFAULT_STATE);
        wire_set(info, PORT_INFO_PORT_PHYSICAL_STATE, physical);
        wire_set(info, PORT_INFO_PORT_STATE, PORT_STATE_DOWN);
        command_link(sma, port);
    } else if (state != PORT_STATE_NO_CHANGE) {
        wire_set(info, PORT_INFO_PORT_STATE, state);
        sma->ports[port].follows = false;
        if (sma->options.port_follows)
            command_link(sma, port);
    }
}

/* The papers' agents update the state of a port when its neighbour changes. */
void sma_follow_peer(struct sma *sma, unsigned port, unsigned peer_state)
{
    assert(port && port <= sma->port_count);
    bool closes = peer_state == PORT_STATE_INIT && sma_port_state(sma, port) == PORT_STATE_ACTIVE;
    bool opens = peer_state == PORT_STATE_ACTIVE && sma->ports[port].follows;
    if (closes || opens)
        wire_set(sma->ports[port].info, PORT_INFO_PORT_STATE, peer_state);
    sma->ports[port].follows = closes || (sma->ports[port].follows && !opens);
}

uint16_t sma_set_port_info(struct sma *sma, unsigned port, uint32_t modifier, uint8_t *data)
{
    int addressed = addressed_port(sma, port, modifier);
    if (addressed < 0)
        return STATUS_BAD_VALUE;
    unsigned target = (unsigned)addressed;
    hide_extended_speeds(sma, modifier, data);
    struct sma_port *state = &sma->ports[target];
    bool end = sma_is_end_port(sma, target);
    if (!link_settings_valid(state, data) || !state_valid(sma, target, data) ||
        (end && !end_port_valid(sma, state->info, data)))
        return STATUS_BAD_VALUE;
    uint8_t before[sizeof state->info];
    memcpy(before, state->info, sizeof before);
    if (end)
        apply_end_port(state, data);
    apply_link_settings(state, data);
    apply_state(sma, target, data);
    /* A port that polls starts again with its new widths and speeds. */
    if (sma_port_state(sma, target) == PORT_STATE_DOWN && link_settings_differ(before, state->info))
        command_link(sma, target);
    if (end)
        sma_share_lid(sma, target);
    bool was_active = wire_get(before, PORT_INFO_PORT_STATE) == PORT_STATE_ACTIVE;
    bool is_active = sma_port_state(sma, target) == PORT_STATE_ACTIVE;
    bool renamed =
        wire_get(before, PORT_INFO_GID_PREFIX) != wire_get(state->info, PORT_INFO_GID_PREFIX);
    if (was_active != is_active || (is_active && renamed))
        sma_report_router(sma, target);
    return STATUS_OK;
}

/* A port state changed without a Set: a switch records it and sends a trap. */
static void report_state_change(struct sma *sma)
{
    if (sma->kind != KIND_SWITCH)
        return;
    wire_set(sma->switch_info, SWITCH_INFO_PORT_STATE_CHANGE, 1);
    sma_report_link_state(sma);
}

static void set_link_active(struct sma *sma, unsigned port, unsigned width, unsigned speed,
                            unsigned speed_ext, bool fdr10)
{
    assert(port <= sma->port_count && width && (speed || speed_ext));
    uint8_t *info = sma->ports[port].info;
    sma->ports[port].fdr10_active = fdr10;
    wire_set(info, PORT_INFO_LINK_WIDTH_ACTIVE, width);
    wire_set(info, PORT_INFO_LINK_SPEED_ACTIVE, speed);
    wire_set(info, PORT_INFO_LINK_SPEED_EXT_ACTIVE, speed_ext & SPEEDS_EXT_FIRST);
    wire_set(info, PORT_INFO_LINK_SPEED_EXT2_ACTIVE, speed_ext >> SPEEDS_EXT2_SHIFT);
    wire_set(info, PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_LINK_UP);
}

void sma_link_up(struct sma *sma, unsigned port, unsigned width, unsigned speed, unsigned speed_ext,
                 bool fdr10)
{
    set_link_active(sma, port, width, speed, speed_ext, fdr10);
    wire_set(sma->ports[port].info, PORT_INFO_PORT_STATE, PORT_STATE_INIT);
    report_state_change(sma);
}

void sma_function_up(struct sma *sma, unsigned port, unsigned width, unsigned speed,
                     unsigned speed_ext, bool fdr10)
{
    set_link_active(sma, port, width, speed, speed_ext, fdr10);
    wire_set(sma->ports[port].info, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
}

void sma_link_down(struct sma *sma, unsigned port, unsigned physical_state)
{
    uint8_t *info = sma->ports[port].info;
    bool commanded = sma_port_state(sma, port) == PORT_STATE_DOWN;
    assert(physical_state != PHYSICAL_NO_CHANGE && physical_state != PHYSICAL_LINK_UP);
    wire_set(info, PORT_INFO_PORT_PHYSICAL_STATE, physical_state);
    wire_set(info, PORT_INFO_PORT_STATE, PORT_STATE_DOWN);
    wire_set(info, PORT_INFO_LINK_SPEED_EXT_ACTIVE, 0);
    wire_set(info, PORT_INFO_LINK_SPEED_EXT2_ACTIVE, 0);
    sma->ports[port].fdr10_active = sma->ports[port].follows = false;
    if (commanded)
        return;
    sma_report_router(sma, port);
    sma_count(sma, port, COUNTER_LINK_DOWNED, 1);
    report_state_change(sma);
}
