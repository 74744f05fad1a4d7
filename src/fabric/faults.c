/* Injected faults: cut cables, failed nodes, lost packets, slow or silent agents, duplicate GUIDs,
 * bit errors; and what the FAULT rows of src/console/actions.def do: one EFFECT each. */
#include "fabric/internal.h"
#include "wire/vswitch.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define EFFECT(name)                                                                               \
    int effect_##name(struct fabric *, const struct fabric_fault *, struct err *);                 \
    int effect_##name(struct fabric *fabric, const struct fabric_fault *fault, struct err *err)

EFFECT(fail_node);
EFFECT(duplicate_guid);

static int check_port(const struct fabric *fabric, uint32_t port, struct err *err)
{
    if (port >= fabric->port_count)
        return err_set(err, ENOENT, "no such port");
    if (fabric->ports[port].peer == NONE)
        return err_set(err, ENOTCONN, "nothing is connected to that port");
    return 0;
}

static int check_node(const struct fabric *fabric, uint32_t node, struct err *err)
{
    return node < fabric->node_count ? 0 : err_set(err, ENOENT, "no such node");
}

int fabric_set_link(struct fabric *fabric, uint32_t index, bool up, struct err *err)
{
    fabric_unite(fabric);
    int status = check_port(fabric, index, err);
    if (status)
        return status;
    struct port *port = &fabric->ports[index];
    if (port->cable == up)
        return 0;
    port->cable = fabric->ports[port->peer].cable = up;
    if (up)
        link_try_training(fabric, index);
    else if (port->up)
        link_drop(fabric, index, PHYSICAL_NO_CHANGE);
    return 0;
}

int fabric_flap_port(struct fabric *fabric, uint32_t index, struct err *err)
{
    fabric_unite(fabric);
    int status = check_port(fabric, index, err);
    if (!status && fabric->ports[index].up)
        link_drop(fabric, index, PHYSICAL_NO_CHANGE);
    return status;
}

/* A node that comes back has lost what managers set and has its own GUID, but keeps its consumers
 * and its other faults, which may be faults of its agent. */
static void restart_node(struct fabric *fabric, uint32_t index)
{
    struct node *node = &fabric->nodes[index];
    assert(!node->up);
    sma_release(&node->sma);
    fabric_init_node(fabric, index);
    fabric_join_device(fabric, index);
    for (size_t i = fabric->faults.count; i-- > 0;) {
        const struct fabric_fault *fault = &fabric->faults.items[i];
        if (fault->node == index &&
            (fault->effect == effect_fail_node || fault->effect == effect_duplicate_guid))
            vec_remove(&fabric->faults, i);
        else if (fault->node == index ||
                 (fault->port != TOPOLOGY_NONE && fabric->ports[fault->port].node == index))
            fault->effect(fabric, fault, NULL);
    }
    shared_join(fabric, index);
    if (fabric->data) {
        data_port_refresh_node(fabric, index);
        counters_forget(fabric, index);
    }
    for (unsigned number = 0; number <= node->sma.port_count; number++) {
        uint32_t port = node->first_port + number;
        if (fabric->ports[port].managers)
            sma_report_capability(&node->sma, number, FABRIC_IS_SM, 0);
        link_try_training(fabric, port);
    }
}

static void set_node(struct fabric *fabric, uint32_t index, bool up)
{
    struct node *node = &fabric->nodes[index];
    if (node->up == up)
        return;
    assert(!up || fabric->totals.nodes_down > 0);
    if (up) {
        fabric->totals.nodes_down--;
        restart_node(fabric, index);
        return;
    }
    fabric->totals.nodes_down++;
    node->up = node->agent_busy = false;
    node->life++;
    queue_clear(fabric, &node->requests);
    if (fabric->data)
        data_port_node_down(fabric, index);
    for (unsigned number = 1; number <= node->sma.port_count; number++)
        if (fabric->ports[node->first_port + number].up)
            link_drop(fabric, node->first_port + number, PHYSICAL_NO_CHANGE);
    node_service_agent(fabric, index);
}

/* A fault of a virtual switch or of its physical function affects the whole hypervisor. */
int fabric_set_node(struct fabric *fabric, uint32_t index, bool up, struct err *err)
{
    fabric_unite(fabric);
    int status = check_node(fabric, index, err);
    if (status)
        return status;
    const struct sma *sma = &fabric->nodes[index].sma;
    uint32_t device = sma->device ? index : NONE;
    if (sma->host && sma->host_port == VSWITCH_PF) {
        uint32_t own = fabric->nodes[index].first_port + sma->own_port;
        device = fabric->ports[fabric->ports[own].peer].node;
    }
    if (device == NONE) {
        set_node(fabric, index, up);
        return 0;
    }
    set_node(fabric, device, up);
    const struct node *node = &fabric->nodes[device];
    for (unsigned number = VSWITCH_PF; number <= node->sma.port_count; number++) {
        uint32_t peer = fabric->ports[node->first_port + number].peer;
        if (peer != NONE && !node_of(fabric, peer)->is_switch)
            set_node(fabric, fabric->ports[peer].node, up);
    }
    return 0;
}

int fabric_set_loss(struct fabric *fabric, uint32_t port, unsigned attribute, uint64_t parts,
                    struct err *err)
{
    fabric_unite(fabric);
    int status = port == TOPOLOGY_NONE ? 0 : check_port(fabric, port, err);
    if (status)
        return status;
    if (parts > RNG_CERTAIN)
        return err_set(err, EINVAL, "a probability lies between 0 and 1");
    /* The rule applies to both directions of the link. */
    uint32_t ends[2] = {port, port == TOPOLOGY_NONE ? NONE : fabric->ports[port].peer};
    for (unsigned i = 0; i < (port == TOPOLOGY_NONE ? 1 : 2); i++) {
        for (size_t at = fabric->losses.count; at-- > 0;)
            if (fabric->losses.items[at].port == ends[i] &&
                fabric->losses.items[at].attribute == attribute)
                vec_remove(&fabric->losses, at);
        if (parts)
            vec_push(&fabric->losses, ((struct loss_rule){ends[i], attribute, parts}));
    }
    return 0;
}

int fabric_set_agent_delay(struct fabric *fabric, uint32_t node, uint64_t delay_ps, struct err *err)
{
    enum { HOURS = 24 };
    int status = check_node(fabric, node, err);
    if (status)
        return status;
    if (delay_ps != TIME_NEVER && delay_ps > HOURS * 3600 * TIME_S)
        return err_set(err, EINVAL, "an agent answers within %d hours or never", HOURS);
    fabric->nodes[node].agent_delay_ps = delay_ps;
    return 0;
}

int fabric_set_guid(struct fabric *fabric, uint32_t index, uint64_t guid, struct err *err)
{
    fabric_unite(fabric);
    int status = check_node(fabric, index, err);
    if (status)
        return status;
    struct sma *sma = &fabric->nodes[index].sma;
    wire_set(sma->node_info, NODE_INFO_NODE_GUID, guid);
    for (unsigned number = 0; number <= sma->port_count; number++)
        sma_set_port_guid(sma, number, fabric->nodes[index].is_switch ? guid : guid + number);
    return 0;
}

int fabric_add_bit_errors(struct fabric *fabric, uint32_t index, unsigned count, struct err *err)
{
    fabric_unite(fabric);
    int status = check_port(fabric, index, err);
    if (status)
        return status;
    const struct port *port = &fabric->ports[index];
    struct sma *sma = &node_of(fabric, index)->sma;
    sma_count(sma, port->number, COUNTER_SYMBOL_ERRORS, count);
    if (count && count >= wire_get(sma->ports[port->number].info, PORT_INFO_LOCAL_PHY_ERRORS)) {
        sma_report_threshold(sma, port->number, 129);
        node_service_agent(fabric, port->node);
    }
    return 0;
}

int fabric_set_bit_error_rate(struct fabric *fabric, uint32_t index, unsigned per_second,
                              struct err *err)
{
    int status = check_port(fabric, index, err);
    if (status)
        return status;
    uint32_t peer = fabric->ports[index].peer, port = peer < index ? peer : index;
    for (size_t at = fabric->bad_cables.count; at-- > 0;)
        if (fabric->bad_cables.items[at].port == port) {
            if (fabric->bad_cables.items[at].per_second == per_second)
                return 0;
            des_cancel(fabric->timers, fabric->bad_cables.items[at].timer);
            vec_remove(&fabric->bad_cables, at);
        }
    if (per_second)
        vec_push(&fabric->bad_cables,
                 ((struct bad_cable){port, per_second,
                                     des_schedule(fabric->timers, des_now(fabric->timers) + TIME_S,
                                                  (struct event){EVENT_BIT_ERRORS, port, 0})}));
    return 0;
}

void faults_count_bit_errors(struct fabric *fabric, uint32_t port)
{
    for (size_t i = 0; i < fabric->bad_cables.count; i++) {
        struct bad_cable *cable = &fabric->bad_cables.items[i];
        if (cable->port != port)
            continue;
        cable->timer = des_schedule(fabric->timers, des_now(fabric->timers) + TIME_S,
                                    (struct event){EVENT_BIT_ERRORS, port, 0});
        if (!fabric_link_is_up(fabric, port))
            return;
        fabric_add_bit_errors(fabric, port, cable->per_second, NULL);
        fabric_add_bit_errors(fabric, fabric->ports[port].peer, cable->per_second, NULL);
        return;
    }
}

/* ---- the faults of actions ---- */

/* The index of the fault that `fault` replaces or ends, at the same node or link; -1: none. */
static int find_present(const struct fabric *fabric, const struct fabric_fault *fault)
{
    for (int i = (int)fabric->faults.count - 1; i >= 0 && fault->sets; i--) {
        const struct fabric_fault *at = &fabric->faults.items[i];
        if (strcmp(at->sets, fault->sets) == 0 && at->node == fault->node &&
            at->attribute == fault->attribute &&
            (at->port == fault->port ||
             (at->port != TOPOLOGY_NONE && fabric->ports[at->port].peer == fault->port)))
            return i;
    }
    return -1;
}

/* What an effect sets may be of one port only: a link that has such a fault keeps its end. */
int fabric_cause(struct fabric *fabric, const struct fabric_fault *wanted, struct err *err)
{
    struct fabric_fault fault = *wanted;
    int present = find_present(fabric, wanted);
    if (present >= 0)
        fault.port = fabric->faults.items[present].port;
    int status = fault.effect(fabric, &fault, err);
    if (status || !fault.sets)
        return status;
    present = find_present(fabric, &fault); /* a node that restarts ends faults of its own */
    if (present >= 0)
        vec_remove(&fabric->faults, (size_t)present);
    if (!fault.ends)
        vec_push(&fabric->faults, fault);
    return 0;
}

const struct fabric_faults *fabric_faults(const struct fabric *fabric)
{
    return &fabric->faults;
}

EFFECT(fail_link)
{
    return fabric_set_link(fabric, fault->port, false, err);
}

EFFECT(restore_link)
{
    return fabric_set_link(fabric, fault->port, true, err);
}

EFFECT(flap)
{
    return fabric_flap_port(fabric, fault->port, err);
}

EFFECT(bit_errors)
{
    return (fault->per_second ? fabric_set_bit_error_rate : fabric_add_bit_errors)(
        fabric, fault->port, (unsigned)fault->value, err);
}

EFFECT(drop)
{
    return fabric_set_loss(fabric, fault->port, fault->attribute, fault->value, err);
}

EFFECT(fail_node)
{
    return fabric_set_node(fabric, fault->node, false, err);
}

EFFECT(restore_node)
{
    return fabric_set_node(fabric, fault->node, true, err);
}

EFFECT(mute)
{
    return fabric_set_agent_delay(fabric, fault->node, TIME_NEVER, err);
}

EFFECT(slow)
{
    return fabric_set_agent_delay(fabric, fault->node, fault->value, err);
}

EFFECT(heal)
{
    return fabric_set_agent_delay(fabric, fault->node, 0, err);
}

EFFECT(duplicate_guid)
{
    return fabric_set_guid(fabric, fault->node, fault->value, err);
}
