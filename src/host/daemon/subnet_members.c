#include "host/daemon/subnet_members.h"

#include <stdlib.h>

enum { GROUPS_PER_BLOCK = 32, PORTS_PER_POSITION = 16, NOT_SHOWN = 0xFFFF };
/* Of groups: a large fabric has thousands, and the manager has other work. */
enum { GROUPS_SHOWN = 200, MEMBERS_SHOWN = 50000 };

static uint32_t node_of_row(const struct subnet_view *view, const struct subnet *subnet,
                            uint32_t row)
{
    return map_get(&view->topology.by_guid, subnet->nodes.items[row].guid);
}

/* ---- groups ---- */

/* The groups that are shown, and the links of their trees. */
struct trees {
    uint32_t shown, links;
    uint16_t *of_mlid; /* by MLID - MLID_FIRST: which of them, or NOT_SHOWN */
    bool *used;        /* [group][link] */
};

static void begin_trees(struct trees *trees, const struct groups *groups, uint32_t links)
{
    size_t members = 0;
    *trees = (struct trees){.links = links, .of_mlid = mem_alloc(MLID_COUNT * sizeof(uint16_t))};
    memset(trees->of_mlid, 0xFF, MLID_COUNT * sizeof *trees->of_mlid);
    while (trees->shown < groups->all.count && trees->shown < GROUPS_SHOWN &&
           members < MEMBERS_SHOWN) {
        const struct group *group = groups->all.items[trees->shown];
        trees->of_mlid[group->mlid - MLID_FIRST] = (uint16_t)trees->shown++;
        members += group->members.count;
    }
    trees->used = mem_zalloc((size_t)trees->shown * links + 1, sizeof *trees->used);
}

static void add_block(const struct subnet_view *view, const struct topology_node *node,
                      unsigned part, const uint8_t *data, struct trees *trees)
{
    unsigned first_port = part / 512 * PORTS_PER_POSITION;
    for (unsigned entry = 0; entry < GROUPS_PER_BLOCK; entry++) {
        unsigned at = part % 512 * GROUPS_PER_BLOCK + entry;
        uint64_t mask = wire_get_at(data, MULTICAST_FORWARDING_TABLE_PORT_MASK, entry);
        if (!mask || at >= MLID_COUNT || trees->of_mlid[at] == NOT_SHOWN)
            continue;
        bool *used = trees->used + (size_t)trees->of_mlid[at] * trees->links;
        for (unsigned bit = 0; bit < PORTS_PER_POSITION; bit++) {
            unsigned number = first_port + bit;
            if (!(mask >> bit & 1) || number == 0 || number > node->port_count)
                continue;
            uint32_t link = view->links.of_port[node->first_port + number];
            if (link != TOPOLOGY_NONE)
                used[link] = true;
        }
    }
}

static void read_trees(const struct subnet_view *view, const struct subnet *subnet,
                       struct trees *trees)
{
    const struct blocks *blocks = &subnet->blocks;
    for (uint32_t row = 0; row < subnet->nodes.count; row++) {
        const struct subnet_node *from = &subnet->nodes.items[row];
        uint32_t node = from->kind == SUBNET_SWITCH && from->present
                            ? node_of_row(view, subnet, row)
                            : MAP_NONE;
        uint32_t at = BLOCKS_NONE;
        while (node != MAP_NONE &&
               (at = blocks_next_of_port(blocks, from->first_port, at)) != BLOCKS_NONE) {
            const struct block *block = &blocks->rows.items[at];
            const uint8_t *data = blocks_content(blocks, block->actual);
            if (block->kind == BLOCK_MULTICAST && data)
                add_block(view, &view->topology.nodes.items[node], block->part, data, trees);
        }
    }
}

/* The nodes of the topology by the GUIDs of their ports. */
static void map_ports(const struct subnet_view *view, const struct subnet *subnet,
                      struct map *by_port)
{
    for (uint32_t i = 0; i < subnet->ports.count; i++) {
        const struct subnet_port *port = &subnet->ports.items[i];
        uint32_t node = port->guid ? node_of_row(view, subnet, port->node) : MAP_NONE;
        if (node != MAP_NONE)
            map_add(by_port, port->guid, node);
    }
}

void subnet_members_write_groups(const struct subnet_view *view, const struct subnet *subnet,
                                 const struct groups *groups, struct text *out)
{
    uint32_t nodes = (uint32_t)view->topology.nodes.count;
    bool *members = mem_alloc((nodes + 1) * sizeof *members);
    struct map by_port = {0};
    struct trees trees;
    begin_trees(&trees, groups, view->links.count);
    read_trees(view, subnet, &trees);
    map_ports(view, subnet, &by_port);
    struct json json = {.out = out};
    json_begin_object(&json, NULL);
    json_unsigned(&json, "total", groups->all.count);
    json_begin_array(&json, "groups");
    for (uint32_t i = 0; i < trees.shown; i++) {
        const struct group *group = groups->all.items[i];
        memset(members, 0, nodes * sizeof *members);
        for (size_t j = 0; j < group->members.count; j++) {
            uint32_t node = map_get(&by_port, group->members.items[j].guid);
            if (node != MAP_NONE)
                members[node] = true;
        }
        api_group_write(group->mlid, group->mgid, members, nodes,
                        trees.used + (size_t)i * trees.links, trees.links, &json);
    }
    json_end_array(&json);
    json_end_object(&json);
    map_release(&by_port);
    mem_free(members);
    mem_free(trees.of_mlid);
    mem_free(trees.used);
}

/* ---- partitions ---- */

struct membership {
    uint32_t node;
    uint16_t key; /* with the bit of full members */
};

/* By partition, limited members first, by node. */
static int compare_memberships(const void *a, const void *b)
{
    const struct membership *x = a, *y = b;
    uint32_t first = (uint32_t)(x->key & PARTITION_DEFAULT) << 1 | x->key >> 15;
    uint32_t second = (uint32_t)(y->key & PARTITION_DEFAULT) << 1 | y->key >> 15;
    if (first != second)
        return first < second ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

struct memberships {
    VEC(struct membership) items;
};

static void add_keys(const struct subnet *subnet, uint32_t port, uint32_t node,
                     struct memberships *found)
{
    for (unsigned part = 0;; part++) {
        const uint8_t *block = blocks_actual(&subnet->blocks, port, BLOCK_PARTITIONS, part);
        if (!block)
            return;
        for (unsigned i = 0; i < PARTITION_BLOCK; i++) {
            uint16_t key = (uint16_t)wire_get_at(block, P_KEY_TABLE_P_KEY, i);
            if (key & PARTITION_DEFAULT)
                vec_push(&found->items, ((struct membership){node, key}));
        }
    }
}

static void find_memberships(const struct subnet_view *view, const struct subnet *subnet,
                             struct memberships *found)
{
    for (uint32_t row = 0; row < subnet->nodes.count; row++) {
        const struct subnet_node *from = &subnet->nodes.items[row];
        uint32_t node = from->kind != SUBNET_SWITCH && from->present
                            ? node_of_row(view, subnet, row)
                            : MAP_NONE;
        for (unsigned number = 1; node != MAP_NONE && number <= from->port_count; number++)
            add_keys(subnet, from->first_port + number, node, found);
    }
    if (found->items.count)
        qsort(found->items.items, found->items.count, sizeof *found->items.items,
              compare_memberships);
}

static const char *partition_name(const struct partitions *partitions, unsigned key)
{
    for (size_t i = 0; partitions && i < partitions->all.count; i++)
        if (partitions->all.items[i].key == key)
            return partitions->all.items[i].name;
    return key == PARTITION_DEFAULT ? "Default" : "";
}

/* Writes the members with one key from `at` on; returns the position after them. */
static size_t put_members(const struct memberships *found, size_t at, unsigned key, bool full,
                          struct json *json)
{
    const struct membership *items = found->items.items;
    uint32_t last = TOPOLOGY_NONE;
    json_begin_array(json, full ? "full" : "limited");
    for (; at < found->items.count && items[at].key == (key | (full ? PARTITION_FULL : 0)); at++) {
        if (items[at].node != last) /* it may have the key at several ports */
            json_unsigned(json, NULL, items[at].node);
        last = items[at].node;
    }
    json_end_array(json);
    return at;
}

void subnet_members_write_partitions(const struct subnet_view *view, const struct subnet *subnet,
                                     const struct partitions *partitions, struct text *out)
{
    struct memberships found = {0};
    struct json json = {.out = out};
    find_memberships(view, subnet, &found);
    json_begin_object(&json, NULL);
    json_begin_array(&json, "partitions");
    for (size_t at = 0; at < found.items.count;) {
        unsigned key = found.items.items[at].key & PARTITION_DEFAULT;
        json_begin_object(&json, NULL);
        json_unsigned(&json, "pkey", key);
        json_string(&json, "name", partition_name(partitions, key));
        at = put_members(&found, at, key, false, &json);
        at = put_members(&found, at, key, true, &json);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
    vec_release(&found.items);
}
