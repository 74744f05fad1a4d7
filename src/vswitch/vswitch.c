/* Birth, names and lists. */
#include "vswitch/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct vswitch *vswitch_new(struct sm *sm)
{
    struct vswitch *vswitch = mem_zalloc(1, sizeof *vswitch);
    vswitch->sm = sm;
    vswitch->safety = safety_new();
    return vswitch;
}

void vswitch_free(struct vswitch *vswitch)
{
    if (!vswitch)
        return;
    for (size_t i = 0; i < vswitch->operations.count; i++)
        operation_free(vswitch->operations.items[i]);
    vec_release(&vswitch->operations);
    vec_release(&vswitch->past);
    vec_release(&vswitch->entries);
    map_release(&vswitch->names);
    vec_release(&vswitch->name_texts);
    vec_release(&vswitch->free_names);
    safety_free(vswitch->safety);
    mem_free(vswitch);
}

/* Names become GUIDs that are locally administered (the second lowest bit of the first byte). */
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
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    return (hash_mix(hash) & UINT64_C(0x00ffffffffffffff)) | UINT64_C(0x0200000000000000);
}

static const char *name_of(const struct vswitch *vswitch, uint64_t guid)
{
    uint32_t at = map_get(&vswitch->names, guid);
    if (at != MAP_NONE)
        return vswitch->name_texts.items[at].text;
    for (size_t i = 0; i < vswitch->operations.count; i++)
        if (vswitch->operations.items[i]->result.request.guid == guid)
            return vswitch->operations.items[i]->name;
    return "";
}

void names_keep(struct vswitch *vswitch, uint64_t guid, const char *name)
{
    if (!*name || map_get(&vswitch->names, guid) != MAP_NONE)
        return;
    uint32_t at = (uint32_t)vswitch->name_texts.count;
    if (vswitch->free_names.count)
        at = vswitch->free_names.items[--vswitch->free_names.count];
    else
        vec_push(&vswitch->name_texts, (struct machine_name){{0}});
    snprintf(vswitch->name_texts.items[at].text, sizeof vswitch->name_texts.items[at].text, "%s",
             name);
    map_set(&vswitch->names, guid, at);
}

void names_drop(struct vswitch *vswitch, uint64_t guid)
{
    uint32_t at = map_get(&vswitch->names, guid);
    if (at == MAP_NONE)
        return;
    map_remove(&vswitch->names, guid);
    vec_push(&vswitch->free_names, at);
}

/* ---- GUIDs that are others' ---- */

static bool is_function(const struct vswitch *vswitch, uint32_t port)
{
    const struct subnet *subnet = subnet_of(vswitch);
    for (uint32_t socket = 0; socket < subnet->ports.count; socket++)
        if (subnet_is_socket(subnet, socket) && sm_function_port(vswitch->sm, socket) == port)
            return true;
    return false;
}

/* Rows of functions keep the GUID of whoever had them last: what counts is what their sockets
 * show. */
static bool has_guid_of_its_own(const struct vswitch *vswitch, uint32_t port, uint64_t guid)
{
    const struct subnet *subnet = subnet_of(vswitch);
    const struct subnet_port *p = &subnet->ports.items[port];
    if (p->guid != guid)
        return false;
    if (subnet_is_socket(subnet, port))
        return p->known && !p->attached && subnet->nodes.items[p->node].present;
    return subnet_is_end_port(subnet, port) && !is_function(vswitch, port);
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

static bool is_moving(const struct vswitch *vswitch, uint64_t guid)
{
    for (size_t i = 0; i < vswitch->operations.count; i++)
        if (vswitch->operations.items[i]->result.request.guid == guid)
            return true;
    return false;
}

static void describe(const struct vswitch *vswitch, uint32_t socket, uint64_t guid,
                     struct vswitch_machine *machine)
{
    const struct subnet *subnet = subnet_of(vswitch);
    const struct subnet_port *there = &subnet->ports.items[socket];
    uint32_t port = sm_function_port(vswitch->sm, socket);
    *machine = (struct vswitch_machine){
        .guid = guid,
        .name = name_of(vswitch, guid),
        .lid = port == SUBNET_NONE ? 0 : subnet->ports.items[port].lid,
        .socket = socket,
        .vswitch = there->node,
        .function = there->number - VSWITCH_PF,
        .reachable = subnet->nodes.items[there->node].present,
        .moving = is_moving(vswitch, guid),
    };
}

bool vswitch_next_machine(const struct vswitch *vswitch, uint32_t *cursor,
                          struct vswitch_machine *machine)
{
    const struct subnet *subnet = subnet_of(vswitch);
    for (; *cursor < subnet->ports.count; (*cursor)++) {
        uint64_t guid = subnet->ports.items[*cursor].guid;
        if (!subnet->ports.items[*cursor].attached || sm_find_machine(vswitch->sm, guid) != *cursor)
            continue;
        describe(vswitch, (*cursor)++, guid, machine);
        return true;
    }
    return false;
}

bool vswitch_find_machine(const struct vswitch *vswitch, uint64_t guid,
                          struct vswitch_machine *machine)
{
    uint32_t socket = sm_find_machine(vswitch->sm, guid);
    if (socket == SUBNET_NONE)
        return false;
    describe(vswitch, socket, guid, machine);
    return true;
}

void vswitch_counts(const struct vswitch *vswitch, struct vswitch_counts *counts)
{
    *counts = vswitch->counts;
}
