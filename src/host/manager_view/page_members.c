/* Multicast groups with their trees, by the MFTs of switches, and members of partitions, by the
 * P_Key tables of adapters: tables that agents have confirmed, not those that the manager plans.
 * The number of groups shown is bounded. */
#include "host/manager_view/manager_page.h"

#include <stdlib.h>
#include <string.h>

enum { GROUPS_PER_BLOCK = 32, PORTS_PER_POSITION = 16, NOT_SHOWN = 0xFFFF };
/* Of groups: a large fabric has thousands, and the manager has other work. */
enum { GROUPS_SHOWN = 200, MEMBERS_SHOWN = 50000 };

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

static void add_block(const struct manager_page *page, const struct topology_node *node,
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
            uint32_t link = page->links->of_port[node->first_port + number];
            if (link != TOPOLOGY_NONE)
                used[link] = true;
        }
    }
}

static void read_trees(const struct manager_page *page, struct trees *trees)
{
    const struct subnet *subnet = sm_subnet(page->sm);
    const struct blocks *blocks = &subnet->blocks;
    for (uint32_t row = 0; row < subnet->nodes.count; row++) {
        const struct subnet_node *from = &subnet->nodes.items[row];
        uint32_t node = from->kind == SUBNET_SWITCH && from->present ? manager_page_node(page, row)
                                                                     : TOPOLOGY_NONE;
        uint32_t at = BLOCKS_NONE;
        while (node != TOPOLOGY_NONE &&
               (at = blocks_next_of_port(blocks, from->first_port, at)) != BLOCKS_NONE) {
            const struct block *block = &blocks->rows.items[at];
            const uint8_t *data = blocks_content(blocks, block->actual);
            if (block->kind == BLOCK_MULTICAST && data)
                add_block(page, &page->topology->nodes.items[node], block->part, data, trees);
        }
    }
}

static void put_groups(const struct manager_page *page, const struct groups *groups,
                       struct json *json)
{
    const struct subnet *subnet = sm_subnet(page->sm);
    uint32_t nodes = (uint32_t)page->topology->nodes.count;
    bool *members = mem_alloc((nodes + 1) * sizeof *members);
    struct map by_port = {0}; /* the nodes of the page by the GUIDs of their ports */
    struct trees trees;
    begin_trees(&trees, groups, page->links->count);
    read_trees(page, &trees);
    for (uint32_t i = 0; i < subnet->ports.count; i++) {
        const struct subnet_port *port = &subnet->ports.items[i];
        uint32_t node = port->guid ? manager_page_node(page, port->node) : TOPOLOGY_NONE;
        if (node != TOPOLOGY_NONE)
            map_add(&by_port, port->guid, node);
    }
    for (uint32_t i = 0; i < trees.shown; i++) {
        const struct group *group = groups->all.items[i];
        memset(members, 0, nodes * sizeof *members);
        for (size_t j = 0; j < group->members.count; j++) {
            uint32_t node = map_get(&by_port, group->members.items[j].guid);
            if (node != MAP_NONE)
                members[node] = true;
        }
        api_group_write(group->mlid, group->mgid, members, nodes,
                        trees.used + (size_t)i * trees.links, trees.links, json);
    }
    map_release(&by_port);
    mem_free(members);
    mem_free(trees.of_mlid);
    mem_free(trees.used);
}

void manager_page_put_groups(const struct manager_page *page, const struct groups *groups,
                             struct text *out)
{
    struct json json = {.out = out};
    json_begin_object(&json, NULL);
    json_unsigned(&json, "total", groups ? groups->all.count : 0);
    json_begin_array(&json, "groups");
    if (page->sm && groups)
        put_groups(page, groups, &json);
    json_end_array(&json);
    json_end_object(&json);
}

/* ---- partitions ---- */

/* By partition, limited members first, by node. */
static int compare_members(const void *a, const void *b)
{
    const struct page_member *x = a, *y = b;
    uint32_t first = (uint32_t)(x->key & PARTITION_DEFAULT) << 1 | x->key >> 15;
    uint32_t second = (uint32_t)(y->key & PARTITION_DEFAULT) << 1 | y->key >> 15;
    if (first != second)
        return first < second ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static void add_keys(const struct subnet *subnet, uint32_t port, uint32_t node,
                     struct page_members *found)
{
    for (unsigned part = 0;; part++) {
        const uint8_t *block = blocks_actual(&subnet->blocks, port, BLOCK_PARTITIONS, part);
        if (!block && part == 0)
            vec_push(&found->items,
                     ((struct page_member){node, PARTITION_FULL | PARTITION_DEFAULT}));
        if (!block)
            return;
        for (unsigned i = 0; i < PARTITION_BLOCK; i++) {
            uint16_t key = (uint16_t)wire_get_at(block, P_KEY_TABLE_P_KEY, i);
            if (key & PARTITION_DEFAULT)
                vec_push(&found->items, ((struct page_member){node, key}));
        }
    }
}

void manager_page_find_members(const struct manager_page *page, struct page_members *found)
{
    const struct subnet *subnet = page->sm ? sm_subnet(page->sm) : NULL;
    for (uint32_t row = 0; subnet && row < subnet->nodes.count; row++) {
        const struct subnet_node *from = &subnet->nodes.items[row];
        uint32_t node = from->kind != SUBNET_SWITCH && from->present ? manager_page_node(page, row)
                                                                     : TOPOLOGY_NONE;
        for (unsigned number = 1; node != TOPOLOGY_NONE && number <= from->port_count; number++)
            if (subnet->ports.items[from->first_port + number].known)
                add_keys(subnet, from->first_port + number, node, found);
    }
    if (found->items.count)
        qsort(found->items.items, found->items.count, sizeof *found->items.items, compare_members);
}

const char *manager_page_partition_name(const struct partitions *partitions, unsigned key)
{
    for (size_t i = 0; partitions && i < partitions->all.count; i++)
        if ((partitions->all.items[i].key & PARTITION_DEFAULT) == key)
            return partitions->all.items[i].name;
    return key == PARTITION_DEFAULT ? "Default" : "";
}

/* Writes the members with one key from `at` on; returns the position after them. */
static size_t put_members(const struct page_members *found, size_t at, unsigned key, bool full,
                          struct json *json)
{
    const struct page_member *items = found->items.items;
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

void manager_page_put_partitions(const struct manager_page *page,
                                 const struct partitions *partitions, struct text *out)
{
    struct page_members found = {0};
    struct json json = {.out = out};
    manager_page_find_members(page, &found);
    json_begin_object(&json, NULL);
    json_begin_array(&json, "partitions");
    for (size_t at = 0; at < found.items.count;) {
        unsigned key = found.items.items[at].key & PARTITION_DEFAULT;
        json_begin_object(&json, NULL);
        json_unsigned(&json, "pkey", key);
        json_string(&json, "name", manager_page_partition_name(partitions, key));
        at = put_members(&found, at, key, false, &json);
        at = put_members(&found, at, key, true, &json);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
    vec_release(&found.items);
}
