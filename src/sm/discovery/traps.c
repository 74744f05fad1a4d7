/* Traps: a trap reports a change sooner than the next sweep. Only the switch that sent it is read.
 */
#include "sm/discovery/traps.h"
#include "sm/admission.h"
#include "sm/debug.h"
#include "sm/discovery/discovery.h"
#include "sm/discovery/sweeps.h"
#include "sm/faults/faults.h"
#include "sm/guard/data_keys.h"
#include "sm/guard/port_keys.h"
#include "sm/internal.h"
#include "sm/reconfigure.h"
#include "sm/tables/routers.h"
#include "subnet/names.h"

#include <stdio.h>

static const uint8_t *notice_details(const uint8_t *notice)
{
    return wire_bytes_const(notice, NOTICE_DATA);
}

/* The port that traps 129 to 131 name. */
static uint32_t trap_port(const struct sm *sm, const uint8_t *notice, uint32_t node, uint32_t end)
{
    unsigned number = (unsigned)wire_get(notice_details(notice), TRAP_LINK_INTEGRITY_PORT);
    const struct subnet_node *n = node_at(sm, node);
    return n->kind == SUBNET_SWITCH && number <= n->port_count ? n->first_port + number : end;
}

/* "host7 (LID 12)", or "LID 12" if no port has it. */
static struct subnet_name lid_name(const struct sm *sm, uint64_t lid)
{
    struct subnet_name name = {""};
    uint32_t port = lid < LFT_ENTRIES ? sm->subnet.by_lid[lid] : SUBNET_NONE;
    if (port == SUBNET_NONE)
        snprintf(name.text, sizeof name.text, "LID %u", (unsigned)lid);
    else
        snprintf(name.text, sizeof name.text, "%.300s (LID %u)",
                 subnet_node_name(&sm->subnet, port_at(sm, port)->node).text, (unsigned)lid);
    return name;
}

/* The M_Key of the SMP is not logged: it may be that of another port. */
static void print_bad_m_key(const struct sm *sm, const uint8_t *notice, uint32_t port,
                            struct text *out)
{
    const uint8_t *details = notice_details(notice);
    unsigned method = (unsigned)wire_get(details, TRAP_BAD_M_KEY_METHOD);
    unsigned attribute = (unsigned)wire_get(details, TRAP_BAD_M_KEY_ATTRIBUTE_ID);
    uint32_t sender = port_keys_offender(sm, port, details);
    text_printf(out, ": %s(%s 0x%x) from %s",
                method == METHOD_SET   ? "Set"
                : method == METHOD_GET ? "Get"
                                       : "another method",
                smp_attribute_name(attribute), attribute,
                sender == SUBNET_NONE ? "an unknown port"
                                      : subnet_link_name(&sm->subnet, sender).text);
}

/* The bits of CapabilityMask that differ from those that were read before. */
static uint32_t changed_capabilities(const struct sm *sm, const uint8_t *details, uint32_t port)
{
    return (uint32_t)(wire_get(details, TRAP_LOCAL_CHANGES_CAPABILITY_MASK) ^
                      wire_get(port_at(sm, port)->info, PORT_INFO_CAPABILITY_MASK));
}

static void print_local_changes(const struct sm *sm, const uint8_t *details, uint32_t port,
                                struct text *out)
{
    uint32_t mask = (uint32_t)wire_get(details, TRAP_LOCAL_CHANGES_CAPABILITY_MASK);
    text_printf(
        out, ": CapabilityMask 0x%08x%s%s%s%s", mask,
        !(changed_capabilities(sm, details, port) & CAPABILITY_IS_SM) ? ""
        : mask & CAPABILITY_IS_SM ? ", now runs a subnet manager"
                                  : ", no longer runs a subnet manager",
        wire_get(details, TRAP_LOCAL_CHANGES_NODE_DESCRIPTION) ? ", new node description" : "",
        wire_get(details, TRAP_LOCAL_CHANGES_LINK_WIDTH_ENABLED) ? ", LinkWidthEnabled" : "",
        wire_get(details, TRAP_LOCAL_CHANGES_LINK_SPEED_ENABLED) ? ", LinkSpeedEnabled" : "");
}

/* Some adapters repeat trap 144 although nothing else has changed. */
static bool is_repeated(const struct sm *sm, const uint8_t *notice, uint32_t port)
{
    const uint8_t *details = notice_details(notice);
    return wire_get(notice, NOTICE_TRAP_NUMBER) == ATTRIBUTE_TRAP_LOCAL_CHANGES &&
           !changed_capabilities(sm, details, port) &&
           !wire_get(details, TRAP_LOCAL_CHANGES_NODE_DESCRIPTION) &&
           !wire_get(details, TRAP_LOCAL_CHANGES_LINK_WIDTH_ENABLED) &&
           !wire_get(details, TRAP_LOCAL_CHANGES_LINK_SPEED_ENABLED);
}

/* Details of the notice besides its number and its sender. */
static void print_details(const struct sm *sm, const uint8_t *notice, unsigned trap, uint32_t node,
                          uint32_t port, struct text *out)
{
    const uint8_t *details = notice_details(notice);
    const struct subnet_node *n = node_at(sm, node);
    unsigned number;
    switch (trap) {
    case ATTRIBUTE_TRAP_LINK_INTEGRITY:
    case ATTRIBUTE_TRAP_BUFFER_OVERRUN:
    case ATTRIBUTE_TRAP_WATCHDOG:
        text_printf(out, " at %s",
                    subnet_link_name(&sm->subnet, trap_port(sm, notice, node, port)).text);
        break;
    case ATTRIBUTE_TRAP_LOCAL_CHANGES: print_local_changes(sm, details, port, out); break;
    case ATTRIBUTE_TRAP_SYSTEM_IMAGE_GUID:
        text_printf(out, ": SystemImageGUID 0x%016llx",
                    (unsigned long long)wire_get(details, TRAP_SYSTEM_IMAGE_GUID_GUID));
        break;
    case ATTRIBUTE_TRAP_BAD_M_KEY: print_bad_m_key(sm, notice, port, out); break;
    case ATTRIBUTE_TRAP_BAD_P_KEY:
    case ATTRIBUTE_TRAP_BAD_Q_KEY:
        text_printf(out, ": key 0x%x, from %s to %s, SL %u",
                    (unsigned)wire_get(details, TRAP_BAD_P_KEY_KEY),
                    lid_name(sm, wire_get(details, TRAP_BAD_P_KEY_LID1)).text,
                    lid_name(sm, wire_get(details, TRAP_BAD_P_KEY_LID2)).text,
                    (unsigned)wire_get(details, TRAP_BAD_P_KEY_SL));
        break;
    case ATTRIBUTE_TRAP_SWITCH_BAD_P_KEY:
        number = (unsigned)wire_get(details, TRAP_SWITCH_BAD_P_KEY_PORT);
        text_printf(
            out, ": at %s, key 0x%x, from %s to %s, SL %u",
            subnet_link_name(&sm->subnet, number <= n->port_count ? n->first_port + number : port)
                .text,
            (unsigned)wire_get(details, TRAP_SWITCH_BAD_P_KEY_P_KEY),
            lid_name(sm, wire_get(details, TRAP_SWITCH_BAD_P_KEY_LID1)).text,
            lid_name(sm, wire_get(details, TRAP_SWITCH_BAD_P_KEY_LID2)).text,
            (unsigned)wire_get(details, TRAP_SWITCH_BAD_P_KEY_SL));
        break;
    default: break;
    }
}

static void log_trap(struct sm *sm, const uint8_t *notice, uint32_t node, uint32_t port)
{
    unsigned trap = (unsigned)wire_get(notice, NOTICE_TRAP_NUMBER);
    const char *meaning = "unknown";
    struct text details = {0};
    for (unsigned i = 0; i < WIRE_ATTRIBUTE_COUNT; i++)
        if (wire_attributes[i].class == WIRE_CLASS_NOTICE && wire_attributes[i].id == trap)
            meaning = wire_attributes[i].name;
    print_details(sm, notice, trap, node, port, &details);
    sm_log_at(sm, SM_EVENT_TRAP, port == SUBNET_NONE ? node_at(sm, node)->first_port : port,
              "trap %u from %s %s (LID %u): %s%s", trap, subnet_kind_name(node_at(sm, node)),
              subnet_node_name(&sm->subnet, node).text,
              (unsigned)wire_get(notice, NOTICE_ISSUER_LID), meaning,
              details.length ? details.data : "");
    text_release(&details);
}

static void repress_trap(struct sm *sm, const struct sm_message *message)
{
    struct sm_message repress = *message;
    wire_set(repress.mad, MAD_METHOD, METHOD_TRAP_REPRESS);
    wire_set(repress.mad, MAD_STATUS, 0);
    /* A key is sent only to its own port: any host can send a trap that names another port. */
    unsigned lid = (unsigned)wire_get(message->mad + SMP_DATA_OFFSET, NOTICE_ISSUER_LID);
    uint32_t port = lid < LFT_ENTRIES ? sm->subnet.by_lid[lid] : SUBNET_NONE;
    bool own = port != SUBNET_NONE && message->lid < LFT_ENTRIES &&
               sm->subnet.by_lid[message->lid] == port;
    wire_set(repress.mad, SMP_M_KEY, own ? port_keys_of(sm, port) : 0);
    sm_reply(sm, &repress);
}

/* Whether the trap is within the budget of the port that sent it. `claimed` is the port that the
 * notice names. Only the agent of a switch may have sent a notice before its LID changed. */
static bool admit_trap(struct sm *sm, const struct sm_message *message, unsigned trap,
                       uint32_t sender, uint32_t claimed)
{
    bool forged = sender != SUBNET_NONE && sender != claimed &&
                  node_at(sm, port_at(sm, sender)->node)->kind != SUBNET_SWITCH;
    enum admission_kind kind = forged                             ? ADMIT_FORGED
                               : trap >= ATTRIBUTE_TRAP_BAD_M_KEY ? ADMIT_VIOLATION
                                                                  : ADMIT_TRAP;
    bool admitted = admission_take(sm, sender, kind) && !forged;
    if (admitted)
        repress_trap(sm, message);
    return admitted;
}

static void handle_trap(struct sm *sm, const uint8_t *notice, unsigned trap, uint32_t node,
                        uint32_t port)
{
    const struct subnet_node *n = node_at(sm, node);
    if (!is_repeated(sm, notice, port))
        log_trap(sm, notice, node, port);
    if (!n->present)
        return;
    if (sm->config.policy->sequential && reconfigure_phase(sm) != SM_PHASE_IDLE)
        return; /* the present change explores everything */
    if (trap == ATTRIBUTE_TRAP_LINK_STATE && n->kind == SUBNET_SWITCH) {
        sm_begin_change(sm, SM_CAUSE(SM_CAUSE_TRAP, n->first_port));
        sweep_explore(sm, node);
    } else if (trap >= ATTRIBUTE_TRAP_LINK_INTEGRITY && trap <= ATTRIBUTE_TRAP_WATCHDOG) {
        faults_note_errors(sm, trap_port(sm, notice, node, port), trap);
    } else if (trap == ATTRIBUTE_TRAP_LOCAL_CHANGES) {
        discovery_read_port(sm, port);
        routers_note_change(sm, node);
        if (wire_get(notice_details(notice), TRAP_LOCAL_CHANGES_NODE_DESCRIPTION)) {
            discovery_forget_description(sm, node);
            discovery_read_description(sm, node, port);
        }
    } else if (trap == ATTRIBUTE_TRAP_BAD_M_KEY) {
        port_keys_violated(sm, port, notice_details(notice));
    } else if (trap >= ATTRIBUTE_TRAP_BAD_P_KEY && trap <= ATTRIBUTE_TRAP_SWITCH_BAD_P_KEY) {
        data_keys_refused(sm, port, trap, notice_details(notice));
    }
}

/* The vSwitch that has the LID of `port` (SUBNET_NONE: no port has it), or SUBNET_NONE. A vSwitch
 * shares the LID of its physical function, and keeps it while that is gone. */
static uint32_t find_vswitch(const struct sm *sm, unsigned lid, uint32_t port)
{
    if (port != SUBNET_NONE && node_at(sm, port_at(sm, port)->node)->present) {
        uint32_t peer = port_at(sm, port)->peer;
        bool shares = peer != SUBNET_NONE && node_at(sm, port_at(sm, peer)->node)->vswitch;
        return shares ? port_at(sm, peer)->node : SUBNET_NONE;
    }
    for (uint32_t node = 0; node < sm->subnet.nodes.count; node++) {
        const struct subnet_node *n = node_at(sm, node);
        if (n->vswitch && n->present &&
            wire_get(port_at(sm, n->first_port)->info, PORT_INFO_LID) == lid)
            return node;
    }
    return SUBNET_NONE;
}

bool change_trap(struct sm *sm, const struct sm_message *message)
{
    const uint8_t *notice = message->mad + SMP_DATA_OFFSET;
    unsigned trap = (unsigned)wire_get(notice, NOTICE_TRAP_NUMBER);
    unsigned lid = (unsigned)wire_get(notice, NOTICE_ISSUER_LID);
    if (sm_state(sm) != SM_MASTER)
        return false;
    uint32_t claimed = lid < LFT_ENTRIES ? sm->subnet.by_lid[lid] : SUBNET_NONE;
    uint32_t port = admission_origin(sm, message);
    bool admitted = admit_trap(sm, message, trap, port, claimed);
    sm_debug(sm, PART_DISCOVERY, "trap %u of LID %u from LID %u, TID 0x%llx: %s", trap, lid,
             message->lid, (unsigned long long)wire_get(message->mad, MAD_TID),
             admitted ? "admitted and repressed" : "ignored: above its rate, or forged");
    if (!admitted)
        storm_suspect(sm);
    uint32_t vswitch =
        trap == ATTRIBUTE_TRAP_LINK_STATE ? find_vswitch(sm, lid, port) : SUBNET_NONE;
    uint32_t node = vswitch != SUBNET_NONE ? vswitch
                    : port != SUBNET_NONE  ? port_at(sm, port)->node
                                           : SUBNET_NONE;
    if (node == SUBNET_NONE) {
        if (admitted)
            sm_log(sm, SM_EVENT_WARNING, "trap %u from unknown LID %u", trap, message->lid);
        return false;
    }
    if (admitted)
        handle_trap(sm, notice, trap, node, port);
    return admitted;
}
