/* Groups that nobody has to ask for: the broadcast groups of partitions (RFC 4391), and others that
 * their file names.
 *
 * A partition's groups are there as long as it has a member in the subnet. Groups that are named no
 * longer become like any other: they end with their last member. A group that hosts made before it
 * was named keeps the values that its members use.
 *
 * Where the file names no service level, and the routes use several lanes and leave one free, the
 * groups are on that lane: multicast has it to itself then, and every member can be reached
 * (routing/multicast/multicast.h). IPoIB makes all its groups like the broadcast group. */
#include "sa/internal.h"
#include "subnet/partitions.h"

enum { HOP_LIMIT_MOST = 0xFF, SCOPE_LINK_LOCAL = 2 };

/* The service level of a group for which nobody chose one: the first on the last lane if no route
 * uses that, else 0. */
static uint8_t free_level(const struct sa *sa)
{
    const struct qos_layout *layout = &sa->view.layout;
    unsigned used = sa->view.routes->vls, lane = layout->lanes - 1u;
    for (uint8_t sl = 0; used > 1 && layout->lanes > used && sl < QOS_SLS; sl++)
        if (layout->valid >> sl & 1 && (layout->levels ? sl / layout->stride : sl) == lane)
            return sl;
    return 0;
}

static struct group *find_or_make(struct sa *sa, const struct partitions *partitions,
                                  const struct partition_group *from)
{
    struct groups *groups = &sa->registry.groups;
    struct group *known = groups_find(groups, from->mgid);
    if (known) {
        known->permanent = true;
        return known;
    }
    struct group group = {
        .p_key = partitions->all.items[from->partition].key | PARTITION_FULL,
        .q_key = from->q_key,
        .flow_label = from->flow_label,
        .mtu = from->mtu,
        .rate = from->rate,
        .life_time = sa->config.subnet_timeout,
        .sl = from->sl_given ? from->sl : free_level(sa),
        .hop_limit = from->scope == SCOPE_LINK_LOCAL ? 0 : HOP_LIMIT_MOST,
        .traffic_class = from->traffic_class,
        .scope = from->scope,
        .permanent = true,
    };
    memcpy(group.mgid, from->mgid, sizeof group.mgid);
    group.mlid = (uint16_t)groups_free_mlid(groups, 0, sa->index.last_mlid);
    return group.mlid ? groups_add(groups, &group) : NULL;
}

static void make_all(struct sa *sa, const struct partitions *partitions)
{
    struct groups *groups = &sa->registry.groups;
    struct map named = {0}; /* MLIDs of those that are to be there */
    for (size_t i = 0; i < partitions->groups.count; i++) {
        const struct partition_group *from = &partitions->groups.items[i];
        if (!access_partition_has_members(sa, partitions->all.items[from->partition].key))
            continue;
        const struct group *group = find_or_make(sa, partitions, from);
        if (group)
            map_set(&named, group->mlid, 0);
    }
    for (size_t i = groups->all.count; i-- > 0;) {
        struct group *group = groups->all.items[i];
        if (!group->permanent || map_get(&named, group->mlid) != MAP_NONE)
            continue;
        group->permanent = false;
        groups_remove_if_unused(sa, group);
    }
    map_release(&named);
}

void partition_groups_make(struct sa *sa)
{
    if (sa->config.partitions) {
        make_all(sa, sa->config.partitions);
    } else if (sa->config.ipoib_group) {
        struct partitions standing;
        partitions_make_default(&standing);
        make_all(sa, &standing);
        partitions_release(&standing);
    }
}

void sa_set_partitions(struct sa *sa, const struct partitions *partitions)
{
    sa->config.partitions = partitions;
    if (sa->serves)
        partition_groups_make(sa);
}
