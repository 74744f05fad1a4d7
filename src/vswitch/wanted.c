/* Carries out again what a fault has undone (subnet/machines.h): a VM that a request removed while
 * its hypervisor was absent is removed when the hypervisor is back, and a VM whose hypervisor
 * forgot it, because the adapter restarted, is started again. A VM that a hypervisor reports and of
 * which nothing is known is adopted: the manager that started it failed before it could save that.
 *
 * Reality and wishes are compared while the manager is quiet, after either has changed. */
#include "vswitch/internal.h"

#include <stdio.h>

static const uint64_t retry = 10 * NS_PER_S, wait_for_hypervisor = NS_PER_S;

static const struct subnet_node *node_at(const struct vswitch *vswitch, uint32_t node)
{
    return &subnet_of(vswitch)->nodes.items[node];
}

uint64_t wanted_place(const struct vswitch *vswitch, uint32_t node)
{
    return node_at(vswitch, node)->guid;
}

static struct wanted_machine row_at(const struct vswitch *vswitch, uint64_t guid, uint32_t node,
                                    enum machine_wish wish, const char *name, uint16_t lid)
{
    struct wanted_machine row = {
        .guid = guid, .place = wanted_place(vswitch, node), .wish = wish, .lid = lid};
    snprintf(row.name, sizeof row.name, "%s", name);
    if (subnet_pf_of(subnet_of(vswitch), node) != SUBNET_NONE) /* else the name is not known */
        snprintf(row.adapter, sizeof row.adapter, "%s", vswitch_hypervisor_name(vswitch, node));
    return row;
}

void wanted_note(struct vswitch *vswitch, const struct operation *operation, uint32_t node,
                 enum machine_wish wish, const char *name, uint16_t lid)
{
    struct wanted_machine row =
        row_at(vswitch, operation->result.request.guid, node, wish, name, lid);
    if (operation->repeats)
        wanted_machines_set(vswitch->wanted, &row);
    else
        wanted_machines_decide(vswitch->wanted, &row);
}

/* ---- what hypervisors report ---- */

static void check_function(struct vswitch *vswitch, const struct virtual_function *function,
                           uint64_t now)
{
    const struct subnet *subnet = subnet_of(vswitch);
    uint32_t vf_port = function->vf_port, node = subnet->ports.items[vf_port].node;
    if (!function->attached || function->held || !subnet_is_present(subnet, vf_port) ||
        functions_find_vm(subnet, function->guid) != vf_port ||
        operations_have(vswitch, function->guid))
        return;
    const struct wanted_machine *row =
        wanted_machines_at(vswitch->wanted, function->guid, wanted_place(vswitch, node));
    if (!row) {
        uint32_t port = functions_port(subnet, vf_port);
        struct wanted_machine found =
            row_at(vswitch, function->guid, node, MACHINE_RUNS, function->name,
                   port == SUBNET_NONE ? 0 : subnet->ports.items[port].lid);
        wanted_machines_set(vswitch->wanted, &found);
    } else if (row->wish == MACHINE_REMOVED) {
        vswitch->seen.retry_at = now + retry;
        operations_add(vswitch, now,
                       &(struct vswitch_request){
                           .verb = VSWITCH_DESTROY, .guid = function->guid, .name = row->name},
                       true, vf_port);
    }
}

/* ---- what is wanted ---- */

/* True if all functions of the hypervisor are known; `has` says whether one has the VM. */
static bool read_hypervisor(const struct vswitch *vswitch, uint32_t node, uint64_t guid, bool *has)
{
    const struct subnet *subnet = subnet_of(vswitch);
    const struct subnet_node *n = node_at(vswitch, node);
    bool known = functions_pf_is_ready(subnet, node);
    *has = false;
    for (unsigned i = VSWITCH_PF + 1; i <= n->port_count && known; i++) {
        const struct virtual_function *function = functions_at(subnet, n->first_port + i);
        known &= subnet->ports.items[n->first_port + i].known && !function->held &&
                 !function->writing && !function->evicted;
        *has |= function->attached && function->guid == guid;
    }
    return known;
}

static void check_wish(struct vswitch *vswitch, struct wanted_machine row, uint64_t now)
{
    uint32_t node = map_get(&subnet_of(vswitch)->by_guid, row.place);
    char place[24];
    bool has;
    if (row.wish == MACHINE_ENDED || node == MAP_NONE || !node_at(vswitch, node)->vswitch ||
        !node_at(vswitch, node)->present || operations_have(vswitch, row.guid))
        return;
    if (!read_hypervisor(vswitch, node, row.guid, &has)) {
        if (vswitch->seen.retry_at > now + wait_for_hypervisor)
            vswitch->seen.retry_at = now + wait_for_hypervisor;
        return;
    }
    if (has)
        return;
    uint32_t vf_port = functions_find_vm(subnet_of(vswitch), row.guid);
    snprintf(place, sizeof place, "0x%016llx", (unsigned long long)row.place);
    if (row.wish == MACHINE_REMOVED) {
        row.wish = MACHINE_ENDED;
        wanted_machines_set(vswitch->wanted, &row);
    } else if (vf_port == SUBNET_NONE || !subnet_is_present(subnet_of(vswitch), vf_port)) {
        vswitch->seen.retry_at = now + retry;
        operations_add(
            vswitch, now,
            &(struct vswitch_request){
                .verb = VSWITCH_CREATE, .guid = row.guid, .name = row.name, .hypervisor = place},
            true, SUBNET_NONE);
    }
}

void wanted_carry_out(struct vswitch *vswitch, uint64_t now)
{
    const struct subnet *subnet = subnet_of(vswitch);
    const struct seen last = vswitch->seen,
                      seen = {vswitch->wanted->last, subnet->generation, subnet->functions.reports,
                              vswitch->last_ended, TIME_NEVER};
    bool same = seen.wanted == last.wanted && seen.subnet == last.subnet &&
                seen.reports == last.reports && seen.ended == last.ended && now < last.retry_at;
    if (same || !subnet->functions.rows.count || sm_state(vswitch->sm) != SM_MASTER ||
        !sm_is_quiet(vswitch->sm))
        return;
    vswitch->seen = seen;
    for (size_t i = 0; i < subnet->functions.rows.count; i++)
        check_function(vswitch, &subnet->functions.rows.items[i], now);
    for (size_t i = 0; i < vswitch->wanted->rows.count; i++)
        check_wish(vswitch, vswitch->wanted->rows.items[i], now);
}
