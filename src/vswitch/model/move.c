/* The order of the steps of a move, the setting of a function that each step wants, and the
 * exchange of LIDs at the end. sm/tables/moves.c executes the steps. */
#include "vswitch/model/move.h"

#include "vswitch/model/addresses.h"
#include "vswitch/model/terminals.h"

#include <assert.h>
#include <string.h>

static bool step_applies(const struct move *move, const struct subnet *subnet, enum move_step step)
{
    bool arrives = move->target != SUBNET_NONE;
    switch (step) {
    case MOVE_OPEN: return arrives && move->keys && move->open;
    case MOVE_KEYS: return arrives && move->keys;
    case MOVE_ATTACH: return arrives;
    case MOVE_DETACH: return move->source != SUBNET_NONE && subnet_is_present(subnet, move->source);
    default: return true;
    }
}

/* The target precedes the source: after a failure in between, the VM is still at one of them. */
enum move_step move_next(const struct move *move, const struct subnet *subnet, enum move_step step)
{
    assert(step < MOVE_DONE);
    do
        step++;
    while (!step_applies(move, subnet, step));
    return step;
}

uint32_t move_begin(const struct move *move, struct subnet *subnet, enum move_step step)
{
    assert(step != MOVE_PLANNED && step != MOVE_DONE);
    struct function_setting wanted = {0};
    switch (step) {
    case MOVE_OPEN: wanted.lid = move->open; break;
    case MOVE_KEYS: functions_want_keys(subnet, move->target, move->guid); return move->target;
    case MOVE_ATTACH:
        wanted = (struct function_setting){move->lid, .attached = true, .guid = move->guid};
        if (strlen(move->name) <= VSWITCH_NAME_BYTES)
            memcpy(wanted.name, move->name, strlen(move->name));
        break;
    case MOVE_DETACH: wanted.lid = move->left; break;
    default: wanted.lid = move->before; break;
    }
    uint32_t vf_port = step == MOVE_DETACH ? move->source : move->target;
    functions_want(subnet, vf_port, &wanted);
    return vf_port;
}

void move_addresses(const struct move *move, struct subnet *subnet, struct network *network)
{
    const uint32_t vf_ports[] = {move->target, move->source};
    const uint16_t lids[] = {move->lid, move->left};
    uint16_t before[2] = {0};
    for (size_t i = 0; i < 2; i++) {
        uint32_t port = functions_port(subnet, vf_ports[i]);
        if (port == SUBNET_NONE)
            continue;
        before[i] = subnet->ports.items[port].lid;
        if (before[i] != lids[i])
            subnet_set_lid(subnet, port, 0, 0);
    }
    if (move->target == SUBNET_NONE) /* also if the hypervisor did not answer */
        addresses_remove_vm(subnet, move->guid);
    for (size_t i = 0; i < 2; i++) {
        uint32_t port = functions_port(subnet, vf_ports[i]);
        if (vf_ports[i] != SUBNET_NONE)
            functions_end_hold(subnet, vf_ports[i]);
        if (port == SUBNET_NONE)
            continue;
        if (lids[i])
            subnet_set_lid(subnet, port, lids[i], subnet->functions.lmc);
        else
            functions_set_down(subnet, vf_ports[i]);
        if (network && subnet->ports.items[vf_ports[i]].peer == port)
            terminals_place(network, subnet, port, TERMINALS_LEAVE);
    }
    for (size_t i = 0; network && i < 2; i++)
        if (subnet->by_lid[before[i]] == SUBNET_NONE)
            terminals_drop(network, before[i]);
    subnet->generation++; /* port GUIDs may have changed */
}
