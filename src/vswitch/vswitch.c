/* Creation, names and lists of VMs. */
#include "vswitch/internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct vswitch *vswitch_new(struct sm *sm, struct wanted_machines *wanted)
{
    struct vswitch *vswitch = mem_zalloc(1, sizeof *vswitch);
    vswitch->sm = sm;
    vswitch->wanted = wanted;
    return vswitch;
}

void vswitch_free(struct vswitch *vswitch)
{
    if (!vswitch)
        return;
    for (size_t i = 0; i < vswitch->operations.count; i++)
        mem_free(vswitch->operations.items[i]);
    vec_release(&vswitch->operations);
    vec_release(&vswitch->past);
    mem_free(vswitch);
}

/* The hash of a name is a locally administered GUID (second lowest bit of the first byte). */
uint64_t vswitch_guid(const char *name)
{
    char *end = NULL;
    if (!name || !*name)
        return 0;
    if (strncmp(name, "0x", 2) == 0) {
        errno = 0;
        uint64_t guid = strtoull(name, &end, 16);
        if (*end == 0)
            return errno ? 0 : guid;
    }
    uint64_t hash = hash_mix(hash_fnv1a(name, strlen(name)));
    return (hash & UINT64_C(0x00ffffffffffffff)) | UINT64_C(0x0200000000000000);
}

/* ---- GUIDs of other ports ---- */

/* True if a port other than that of a VM has the GUID. Ports of virtual functions keep the GUID of
 * their last VM, so the GUIDs that their VF ports report are compared. */
static bool has_guid_of_its_own(const struct vswitch *vswitch, uint32_t port, uint64_t guid)
{
    const struct subnet *subnet = subnet_of(vswitch);
    const struct virtual_function *function = functions_at(subnet, port);
    if (function)
        return function->guid == guid && !function->attached && subnet->ports.items[port].known &&
               subnet_is_present(subnet, port);
    const struct subnet_port *p = &subnet->ports.items[port];
    return p->guid == guid && subnet_is_end_port(subnet, port) &&
           !subnet->nodes.items[p->node].virtual_function;
}

const char *names_owner(const struct vswitch *vswitch, uint64_t guid)
{
    const struct subnet *subnet = subnet_of(vswitch);
    for (uint32_t node = 0; node < subnet->nodes.count; node++)
        if (subnet->nodes.items[node].guid == guid)
            return subnet->nodes.items[node].description;
    for (uint32_t port = 0; port < subnet->ports.count; port++)
        if (has_guid_of_its_own(vswitch, port, guid))
            return subnet->nodes.items[subnet->ports.items[port].node].description;
    return NULL;
}

/* ---- lists ---- */

static const struct operation *first_operation(const struct vswitch *vswitch, uint64_t guid)
{
    for (size_t i = 0; i < vswitch->operations.count; i++)
        if (vswitch->operations.items[i]->move.guid == guid)
            return vswitch->operations.items[i];
    return NULL;
}

static void describe(const struct vswitch *vswitch, uint32_t vf_port, uint64_t guid,
                     struct vswitch_vm *machine)
{
    const struct subnet *subnet = subnet_of(vswitch);
    const struct subnet_port *there = &subnet->ports.items[vf_port];
    assert(subnet_is_vf_port(subnet, vf_port));
    const struct operation *operation = first_operation(vswitch, guid);
    const struct wanted_machine *row = wanted_machines_running(vswitch->wanted, guid);
    uint32_t port = functions_port(subnet, vf_port);
    const char *known = functions_at(subnet, vf_port)->name;
    const char *hypervisor =
        row && row->place == wanted_place(vswitch, there->node) ? row->adapter : "";
    *machine = (struct vswitch_vm){
        .guid = guid,
        .name = row && *row->name ? row->name
                : *known          ? known
                : operation       ? operation->name
                                  : "",
        .lid = port == SUBNET_NONE ? 0 : subnet->ports.items[port].lid,
        .hypervisor = *hypervisor ? hypervisor : vswitch_hypervisor_name(vswitch, there->node),
        .vf_port = vf_port,
        .vswitch = there->node,
        .function = there->number - VSWITCH_PF,
        .reachable = subnet_is_present(subnet, vf_port),
        .moving = operation != NULL,
    };
}

/* A VM that no function is known to have, or that is to be removed from one. */
static void describe_wanted(const struct vswitch *vswitch, const struct wanted_machine *row,
                            struct vswitch_vm *machine)
{
    *machine = (struct vswitch_vm){.guid = row->guid,
                                   .name = row->name,
                                   .hypervisor = row->adapter,
                                   .lid = row->lid,
                                   .vf_port = SUBNET_NONE,
                                   .vswitch = SUBNET_NONE,
                                   .moving = first_operation(vswitch, row->guid) != NULL,
                                   .removed = row->wish == MACHINE_REMOVED};
}

bool vswitch_next_vm(const struct vswitch *vswitch, uint32_t *cursor, struct vswitch_vm *machine)
{
    const struct subnet *subnet = subnet_of(vswitch);
    size_t functions = subnet->functions.rows.count;
    while (*cursor < functions) {
        const struct virtual_function *function = &subnet->functions.rows.items[(*cursor)++];
        if (function->attached && functions_find_vm(subnet, function->guid) == function->vf_port) {
            describe(vswitch, function->vf_port, function->guid, machine);
            return true;
        }
    }
    while (*cursor - functions < vswitch->wanted->rows.count) {
        const struct wanted_machine *row = &vswitch->wanted->rows.items[(*cursor)++ - functions];
        if (row->wish == MACHINE_REMOVED ||
            (row->wish == MACHINE_RUNS && functions_find_vm(subnet, row->guid) == SUBNET_NONE)) {
            describe_wanted(vswitch, row, machine);
            return true;
        }
    }
    return false;
}

bool vswitch_find_vm(const struct vswitch *vswitch, uint64_t guid, struct vswitch_vm *machine)
{
    uint32_t vf_port = functions_find_vm(subnet_of(vswitch), guid);
    const struct wanted_machine *row = wanted_machines_any(vswitch->wanted, guid);
    if (vf_port != SUBNET_NONE)
        describe(vswitch, vf_port, guid, machine);
    else if (row)
        describe_wanted(vswitch, row, machine);
    return vf_port != SUBNET_NONE || row;
}
