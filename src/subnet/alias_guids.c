/* The registry of alias GUIDs, in which a GUID has at most one place, and the plan that turns it
 * into wanted GUIDInfo blocks of the ports that are present, within their GUIDCap (14.2.5.5). */
#include "subnet/alias_guids.h"

#include "base/time.h"

#include <assert.h>

void alias_guids_release(struct alias_guids *aliases)
{
    vec_release(&aliases->blocks);
    map_release(&aliases->by_port);
    map_release(&aliases->by_guid);
}

struct alias_block *alias_guids_find(const struct alias_guids *aliases, uint64_t port_guid,
                                     unsigned number)
{
    uint32_t at = map_get(&aliases->by_port, port_guid);
    for (; at != ALIAS_END; at = aliases->blocks.items[at].next)
        if (aliases->blocks.items[at].number == number)
            return &aliases->blocks.items[at];
    return NULL;
}

struct alias_block *alias_guids_add(struct alias_guids *aliases, uint64_t port_guid,
                                    unsigned number)
{
    static_assert(ALIAS_END == MAP_NONE, "a port without blocks");
    struct alias_block *known = alias_guids_find(aliases, port_guid, number);
    if (known)
        return known;
    vec_push(&aliases->blocks,
             ((struct alias_block){.port_guid = port_guid,
                                   .number = (uint8_t)number,
                                   .absent_since = TIME_NEVER,
                                   .next = map_get(&aliases->by_port, port_guid)}));
    uint32_t added = (uint32_t)aliases->blocks.count - 1;
    map_set(&aliases->by_port, port_guid, added);
    return &aliases->blocks.items[added];
}

static void free_guid(struct alias_guids *aliases, uint64_t guid)
{
    uint32_t at = map_get(&aliases->by_guid, guid);
    for (unsigned place = 0; at != MAP_NONE && place < ALIAS_PLACES; place++)
        if (aliases->blocks.items[at].guids[place] == guid)
            aliases->blocks.items[at].guids[place] = 0;
    map_remove(&aliases->by_guid, guid);
}

void alias_guids_set(struct alias_guids *aliases, struct alias_block *block, unsigned place,
                     uint64_t guid)
{
    assert(place < ALIAS_PLACES && (block->number || place));
    if (block->guids[place] == guid)
        return;
    if (block->guids[place])
        free_guid(aliases, block->guids[place]);
    if (guid) {
        free_guid(aliases, guid);
        map_set(&aliases->by_guid, guid, (uint32_t)(block - aliases->blocks.items));
    }
    block->guids[place] = guid;
    aliases->generation++;
}

uint64_t alias_guids_port(const struct alias_guids *aliases, uint64_t guid)
{
    uint32_t block = map_get(&aliases->by_guid, guid);
    return block == MAP_NONE ? 0 : aliases->blocks.items[block].port_guid;
}

unsigned alias_guids_count(const struct alias_guids *aliases, uint64_t port_guid)
{
    unsigned count = 0;
    for (uint32_t at = map_get(&aliases->by_port, port_guid); at != ALIAS_END;
         at = aliases->blocks.items[at].next)
        for (unsigned place = 0; place < ALIAS_PLACES; place++)
            count += aliases->blocks.items[at].guids[place] != 0;
    return count;
}

/* ---- the plan ---- */

void alias_plan_release(struct alias_plan *plan)
{
    map_release(&plan->by_guid);
    vec_release(&plan->ports);
}

/* The rows of nodes that left stay, so a GUID may have several ports. */
static void index_ports(struct alias_plan *plan, const struct subnet *subnet)
{
    map_release(&plan->by_guid);
    for (uint32_t port = 0; port < subnet->ports.count; port++)
        if (subnet->ports.items[port].guid && subnet_is_end_port(subnet, port) &&
            subnet_is_present(subnet, port))
            map_set(&plan->by_guid, subnet->ports.items[port].guid, port);
}

/* A block that never had a GUID is not wanted: the port may have GUIDs of its own there. */
static void plan_block(const struct alias_block *block, struct subnet *subnet, uint32_t port)
{
    static const uint64_t nothing[ALIAS_PLACES];
    const struct subnet_port *p = &subnet->ports.items[port];
    uint8_t data[BLOCK_BYTES];
    if (block->number * ALIAS_PLACES >= wire_get(p->info, PORT_INFO_GUID_CAP) ||
        (memcmp(block->guids, nothing, sizeof nothing) == 0 &&
         !blocks_wanted(&subnet->blocks, port, BLOCK_GUIDS, block->number)))
        return;
    for (unsigned place = 0; place < ALIAS_PLACES; place++)
        wire_set_at(data, GUID_INFO_GUID, place, block->guids[place]);
    if (block->number == 0)
        wire_set_at(data, GUID_INFO_GUID, 0, p->guid);
    blocks_want(&subnet->blocks, port, BLOCK_GUIDS, block->number, data);
}

void alias_plan_update(struct alias_plan *plan, const struct alias_guids *aliases,
                       struct subnet *subnet)
{
    if (!aliases->blocks.count || (plan->aliases_generation == aliases->generation &&
                                   plan->subnet_generation == subnet->generation))
        return;
    if (plan->subnet_generation != subnet->generation)
        index_ports(plan, subnet);
    plan->aliases_generation = aliases->generation;
    plan->subnet_generation = subnet->generation;
    while (plan->ports.count < aliases->blocks.count) /* of new blocks */
        vec_push(&plan->ports, SUBNET_NONE);
    for (size_t i = 0; i < aliases->blocks.count; i++) {
        const struct alias_block *block = &aliases->blocks.items[i];
        uint32_t port = map_get(&plan->by_guid, block->port_guid);
        if (port == MAP_NONE)
            continue; /* its port is absent and keeps its plan */
        if (!subnet->ports.items[port].known)
            plan->subnet_generation = 0; /* again, when its GUIDCap is known */
        if (plan->ports.items[i] != SUBNET_NONE && plan->ports.items[i] != port)
            blocks_want_nothing(&subnet->blocks, plan->ports.items[i], BLOCK_GUIDS, block->number);
        plan->ports.items[i] = port;
        plan_block(block, subnet, port);
    }
}
