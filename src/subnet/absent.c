/* Groups absent nodes by a search over the last known links: first from those next to present
 * nodes, then from the rest, which have no such neighbour. sm/faults/list.c makes problems of the
 * groups. */
#include "subnet/absent.h"

static bool is_absent(const struct subnet *subnet, uint32_t index)
{
    const struct subnet_node *node = &subnet->nodes.items[index];
    return !node->present && !node->virtual_function &&
           map_get(&subnet->by_guid, node->guid) == index;
}

static void add_group(struct absent *absent, uint32_t root, const struct subnet *subnet,
                      bool with_entries)
{
    struct absent_group group = {.root = root};
    const struct subnet_node *node = &subnet->nodes.items[root];
    bool was_linked = false;
    for (unsigned number = 1; number <= node->port_count; number++) {
        uint32_t at = subnet_last_neighbor(subnet, node->first_port + number);
        was_linked |= at != SUBNET_NONE;
        if (at != SUBNET_NONE && subnet->nodes.items[subnet->ports.items[at].node].present)
            vec_push(&group.entries, at);
    }
    if (with_entries ? !group.entries.count : !was_linked) {
        vec_release(&group.entries);
        return;
    }
    absent->group_of.items[root] = (uint32_t)absent->groups.count;
    vec_push(&absent->groups, group);
}

/* Adds the absent nodes behind this one, which have no group yet. */
static void add_neighbors(struct absent *absent, const struct subnet *subnet, uint32_t index,
                          struct absent_group *group)
{
    const struct subnet_node *node = &subnet->nodes.items[index];
    for (unsigned number = 1; number <= node->port_count; number++) {
        uint32_t at = subnet_last_neighbor(subnet, node->first_port + number);
        uint32_t next = at == SUBNET_NONE ? SUBNET_NONE : subnet->ports.items[at].node;
        if (next == SUBNET_NONE || !is_absent(subnet, next) ||
            absent->group_of.items[next] != SUBNET_NONE)
            continue;
        absent->group_of.items[next] = absent->group_of.items[index];
        vec_push(&group->cut_off, next);
    }
}

static void fill_groups(struct absent *absent, const struct subnet *subnet, size_t first)
{
    for (size_t i = first; i < absent->groups.count; i++) {
        struct absent_group *group = &absent->groups.items[i];
        add_neighbors(absent, subnet, group->root, group);
        for (size_t n = 0; n < group->cut_off.count; n++)
            add_neighbors(absent, subnet, group->cut_off.items[n], group);
    }
}

void absent_find(struct absent *absent, const struct subnet *subnet)
{
    *absent = (struct absent){0};
    for (uint32_t i = 0; i < subnet->nodes.count; i++)
        vec_push(&absent->group_of, SUBNET_NONE);
    for (uint32_t i = 0; i < subnet->nodes.count; i++)
        if (is_absent(subnet, i))
            add_group(absent, i, subnet, true);
    fill_groups(absent, subnet, 0);
    for (uint32_t i = 0; i < subnet->nodes.count; i++) {
        size_t first = absent->groups.count;
        if (!is_absent(subnet, i) || absent->group_of.items[i] != SUBNET_NONE)
            continue;
        add_group(absent, i, subnet, false);
        fill_groups(absent, subnet, first);
    }
}

void absent_release(struct absent *absent)
{
    for (size_t i = 0; i < absent->groups.count; i++) {
        vec_release(&absent->groups.items[i].entries);
        vec_release(&absent->groups.items[i].cut_off);
    }
    vec_release(&absent->groups);
    vec_release(&absent->group_of);
}
