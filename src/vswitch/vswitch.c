/* Creation, names and lists of VMs. */
#include "vswitch/internal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct vswitch *vswitch_new(struct sm *sm)
{
    struct vswitch *vswitch = mem_zalloc(1, sizeof *vswitch);
    vswitch->sm = sm;
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
    map_release(&vswitch->names);
    vec_release(&vswitch->name_texts);
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

void names_add(struct vswitch *vswitch, uint64_t guid, const char *name)
{
    if (strlen(name) <= VSWITCH_NAME_BYTES || map_get(&vswitch->names, guid) != MAP_NONE)
        return;
    struct machine_name kept = {.guid = guid};
    snprintf(kept.text, sizeof kept.text, "%s", name);
    map_set(&vswitch->names, guid, (uint32_t)vswitch->name_texts.count);
    vec_push(&vswitch->name_texts, kept);
}

void names_remove(struct vswitch *vswitch, uint64_t guid)
{
    uint32_t at = map_get(&vswitch->names, guid);
    if (at == MAP_NONE)
        return;
    assert(at < vswitch->name_texts.count && vswitch->name_texts.items[at].guid == guid);
    const struct machine_name *last = &vswitch->name_texts.items[--vswitch->name_texts.count];
    map_set(&vswitch->names, last->guid, at); /* the last name fills the gap */
    vswitch->name_texts.items[at] = *last;
    map_remove(&vswitch->names, guid);
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

static void describe(const struct vswitch *vswitch, uint32_t vf_port, uint64_t guid,
                     struct vswitch_vm *machine)
{
    const struct subnet *subnet = subnet_of(vswitch);
    const struct subnet_port *there = &subnet->ports.items[vf_port];
    assert(subnet_is_vf_port(subnet, vf_port));
    const struct operation *operation = NULL; /* the first request about this VM */
    for (size_t i = vswitch->operations.count; i-- > 0;)
        if (vswitch->operations.items[i]->move.guid == guid)
            operation = vswitch->operations.items[i];
    uint32_t port = functions_port(subnet, vf_port), name = map_get(&vswitch->names, guid);
    const char *known = functions_at(subnet, vf_port)->name;
    *machine = (struct vswitch_vm){
        .guid = guid,
        .name = name != MAP_NONE ? vswitch->name_texts.items[name].text
                : *known         ? known
                : operation      ? operation->name
                                 : "",
        .lid = port == SUBNET_NONE ? 0 : subnet->ports.items[port].lid,
        .vf_port = vf_port,
        .vswitch = there->node,
        .function = there->number - VSWITCH_PF,
        .reachable = subnet_is_present(subnet, vf_port),
        .moving = operation != NULL,
    };
}

bool vswitch_next_vm(const struct vswitch *vswitch, uint32_t *cursor, struct vswitch_vm *machine)
{
    const struct subnet *subnet = subnet_of(vswitch);
    while (*cursor < subnet->functions.rows.count) {
        const struct virtual_function *function = &subnet->functions.rows.items[(*cursor)++];
        if (function->attached && functions_find_vm(subnet, function->guid) == function->vf_port) {
            describe(vswitch, function->vf_port, function->guid, machine);
            return true;
        }
    }
    return false;
}

bool vswitch_find_vm(const struct vswitch *vswitch, uint64_t guid, struct vswitch_vm *machine)
{
    uint32_t vf_port = functions_find_vm(subnet_of(vswitch), guid);
    if (vf_port == SUBNET_NONE)
        return false;
    describe(vswitch, vf_port, guid, machine);
    return true;
}
