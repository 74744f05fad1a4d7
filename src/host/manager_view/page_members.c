/* Multicast groups with their trees, by the MFTs of switches, and members of partitions, by the
 * P_Key tables of adapters: tables that agents have confirmed, not those that the manager plans.
 * The number of groups shown is bounded. */
#include "host/manager_view/manager_page.h"

#include <stdlib.h>
#include <string.h>

enum {
    GROUPS_PER_BLOCK = 32,
    PARTS_PER_POSITION = 512,
    PORTS_PER_POSITION = 16,
    NOT_SHOWN = 0xFFFF,
};
/* Of groups: a large fabric has thousands, and the manager has other work. */
enum { GROUPS_SHOWN = 200, MEMBERS_SHOWN = 50000 };

/* ---- groups: the copy ---- */

static size_t copy_shown(struct page_groups *copy, const struct groups *groups)
{
    while (copy->groups.count < groups->all.count && copy->groups.count < GROUPS_SHOWN &&
           copy->members.count < MEMBERS_SHOWN) {
        const struct group *group = groups->all.items[copy->groups.count];
        struct page_group shown = {.mlid = group->mlid, .members = (uint32_t)group->members.count};
        memcpy(shown.mgid, group->mgid, sizeof shown.mgid);
        for (size_t i = 0; i < group->members.count; i++)
            vec_push(&copy->members, group->members.items[i].guid);
        vec_push(&copy->groups, shown);
    }
    return copy->groups.count;
}

/* The blocks of the MFT of a switch that have entries of these groups. */
static void copy_blocks(const struct blocks *blocks, const struct subnet_node *from,
                        const bool *shown, struct page_groups *copy)
{
    uint32_t at = BLOCKS_NONE;
    while ((at = blocks_next_of_port(blocks, from->first_port, at)) != BLOCKS_NONE) {
        const struct block *block = &blocks->rows.items[at];
        const uint8_t *data = blocks_content(blocks, block->actual);
        if (block->kind != BLOCK_MULTICAST || !data || !shown[block->part % PARTS_PER_POSITION])
            continue;
        struct page_block row = {.node = from->guid, .part = block->part};
        memcpy(row.data, data, sizeof row.data);
        vec_push(&copy->blocks, row);
    }
}

void page_groups_copy(struct page_groups *copy, const struct manager_page *page,
                      const struct groups *groups)
{
    bool shown[PARTS_PER_POSITION] = {false};
    *copy = (struct page_groups){.total = groups ? groups->all.count : 0};
    if (!page->sm || !groups || !copy_shown(copy, groups))
        return;
    const struct subnet *subnet = sm_subnet(page->sm);
    for (size_t i = 0; i < copy->groups.count; i++)
        shown[(copy->groups.items[i].mlid - MLID_FIRST) / GROUPS_PER_BLOCK] = true;
    for (uint32_t row = 0; row < subnet->nodes.count; row++) {
        const struct subnet_node *node = &subnet->nodes.items[row];
        bool is_switch = node->kind == SUBNET_SWITCH;
        if (is_switch && node->present)
            copy_blocks(&subnet->blocks, node, shown, copy);
        for (unsigned number = !is_switch; number <= (is_switch ? 0u : node->port_count); number++)
            if (subnet->ports.items[node->first_port + number].guid)
                vec_push(&copy->ports,
                         ((struct page_port){subnet->ports.items[node->first_port + number].guid,
                                             node->guid}));
    }
}

void page_groups_release(struct page_groups *copy)
{
    vec_release(&copy->groups);
    vec_release(&copy->members);
    vec_release(&copy->blocks);
    vec_release(&copy->ports);
}

/* ---- groups: the answer ---- */

/* The links of the trees of the groups that are shown. */
struct trees {
    uint32_t links;
    uint16_t *of_mlid; /* by MLID - MLID_FIRST: which group, or NOT_SHOWN */
    bool *used;        /* [group][link] */
};

static void add_block(const struct page_block *block, const struct topology *topology,
                      const struct api_links *links, struct trees *trees)
{
    uint32_t from = api_node_of(topology, block->node);
    unsigned first_port = block->part / PARTS_PER_POSITION * PORTS_PER_POSITION;
    for (unsigned entry = 0; entry < GROUPS_PER_BLOCK && from != TOPOLOGY_NONE; entry++) {
        const struct topology_node *node = &topology->nodes.items[from];
        unsigned at = block->part % PARTS_PER_POSITION * GROUPS_PER_BLOCK + entry;
        uint64_t mask = wire_get_at(block->data, MULTICAST_FORWARDING_TABLE_PORT_MASK, entry);
        if (!mask || at >= MLID_COUNT || trees->of_mlid[at] == NOT_SHOWN)
            continue;
        bool *used = trees->used + (size_t)trees->of_mlid[at] * trees->links;
        for (unsigned bit = 0; bit < PORTS_PER_POSITION; bit++) {
            unsigned number = first_port + bit;
            if (!(mask >> bit & 1) || number == 0 || number > node->port_count)
                continue;
            uint32_t link = links->of_port[node->first_port + number];
            if (link != TOPOLOGY_NONE)
                used[link] = true;
        }
    }
}

static void read_trees(const struct page_groups *copy, const struct topology *topology,
                       const struct api_links *links, struct trees *trees)
{
    *trees = (struct trees){.links = links->count,
                            .of_mlid = mem_alloc(MLID_COUNT * sizeof(uint16_t)),
                            .used = mem_zalloc(copy->groups.count * links->count + 1, 1)};
    memset(trees->of_mlid, 0xFF, MLID_COUNT * sizeof *trees->of_mlid);
    for (size_t i = 0; i < copy->groups.count; i++)
        trees->of_mlid[copy->groups.items[i].mlid - MLID_FIRST] = (uint16_t)i;
    for (size_t i = 0; i < copy->blocks.count; i++)
        add_block(&copy->blocks.items[i], topology, links, trees);
}

static void write_groups(const struct page_groups *copy, const struct topology *topology,
                         const struct api_links *links, struct json *json)
{
    uint32_t nodes = (uint32_t)topology->nodes.count;
    const uint64_t *member = copy->members.items;
    bool *members = mem_alloc((nodes + 1) * sizeof *members);
    struct map by_port = {0}; /* the nodes of the page by the GUIDs of their ports */
    struct trees trees;
    read_trees(copy, topology, links, &trees);
    for (size_t i = 0; i < copy->ports.count; i++) {
        uint32_t node = api_node_of(topology, copy->ports.items[i].node);
        if (node != TOPOLOGY_NONE)
            map_add(&by_port, copy->ports.items[i].guid, node);
    }
    for (size_t i = 0; i < copy->groups.count; i++) {
        const struct page_group *group = &copy->groups.items[i];
        memset(members, 0, nodes * sizeof *members);
        for (uint32_t j = 0; j < group->members; j++) {
            uint32_t node = map_get(&by_port, *member++);
            if (node != MAP_NONE)
                members[node] = true;
        }
        api_group_write(group->mlid, group->mgid, members, nodes, trees.used + i * trees.links,
                        trees.links, json);
    }
    map_release(&by_port);
    mem_free(members);
    mem_free(trees.of_mlid);
    mem_free(trees.used);
}

void page_groups_write(const struct page_groups *copy, const struct topology *topology,
                       const struct api_links *links, struct text *out)
{
    struct json json = {.out = out};
    json_begin_object(&json, NULL);
    json_unsigned(&json, "total", copy->total);
    json_begin_array(&json, "groups");
    if (copy->groups.count)
        write_groups(copy, topology, links, &json);
    json_end_array(&json);
    json_end_object(&json);
}

void manager_page_put_groups(const struct manager_page *page, const struct groups *groups,
                             struct text *out)
{
    struct page_groups copy;
    page_groups_copy(&copy, page, groups);
    page_groups_write(&copy, page->topology, page->links, out);
    page_groups_release(&copy);
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

static void collect_members(const struct manager_page *page, struct page_members *found)
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
}

static void sort_members(struct page_members *found)
{
    if (found->items.count)
        qsort(found->items.items, found->items.count, sizeof *found->items.items, compare_members);
}

void manager_page_find_members(const struct manager_page *page, struct page_members *found)
{
    collect_members(page, found);
    sort_members(found);
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

void page_partitions_copy(struct page_partitions *copy, const struct manager_page *page,
                          const struct partitions *partitions)
{
    *copy = (struct page_partitions){0};
    collect_members(page, &copy->members);
    for (size_t i = 0; partitions && i < partitions->all.count; i++) {
        struct partition named = partitions->all.items[i];
        named.name = arena_strdup(&copy->names.names, named.name);
        vec_push(&copy->names.all, named);
    }
}

void page_partitions_release(struct page_partitions *copy)
{
    vec_release(&copy->members.items);
    vec_release(&copy->names.all);
    arena_release(&copy->names.names);
}

void page_partitions_write(struct page_partitions *copy, struct text *out)
{
    const struct page_members *found = &copy->members;
    struct json json = {.out = out};
    sort_members(&copy->members);
    json_begin_object(&json, NULL);
    json_begin_array(&json, "partitions");
    for (size_t at = 0; at < found->items.count;) {
        unsigned key = found->items.items[at].key & PARTITION_DEFAULT;
        json_begin_object(&json, NULL);
        json_unsigned(&json, "pkey", key);
        json_string(&json, "name", manager_page_partition_name(&copy->names, key));
        at = put_members(found, at, key, false, &json);
        at = put_members(found, at, key, true, &json);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
}

void manager_page_put_partitions(const struct manager_page *page,
                                 const struct partitions *partitions, struct text *out)
{
    struct page_partitions copy;
    page_partitions_copy(&copy, page, partitions);
    page_partitions_write(&copy, out);
    page_partitions_release(&copy);
}
