/* Multicast groups that partitions define: their broadcast groups (RFC 4391), and further ones in
 * partitions.conf.
 *
 * The groups of a partition exist as long as it has a member in the subnet. A group that is no
 * longer configured becomes an ordinary one: it is removed with its last member. A group that hosts
 * created before it was configured keeps its values.
 *
 * If the file gives no SL, and the routes use several VLs and leave one free, the groups use an SL
 * that maps to that VL. Then no unicast traffic shares the VL, and every member can be reached
 * (routing/multicast/multicast.h). IPoIB creates its groups with the SL of the broadcast group. */
#include "sa/internal.h"
#include "subnet/partitions.h"

#include <assert.h>

enum { HOP_LIMIT_MOST = 0xFF, SCOPE_LINK_LOCAL = 2 };

/* The default SL of a group: the first SL on the last VL if no route uses that VL, else 0. */
static uint8_t default_sl(const struct sa *sa)
{
    const struct qos_layout *layout = &sa->view.layout;
    unsigned used = sa->view.routes->vls, vl = layout->vls - 1u;
    for (uint8_t sl = 0; used > 1 && layout->vls > used && sl < QOS_SLS; sl++)
        if (layout->valid >> sl & 1 && (layout->levels ? sl / layout->stride : sl) == vl)
            return sl;
    return 0;
}

static struct group *find_or_make(struct sa *sa, const struct partitions *partitions,
                                  const struct partition_group *from)
{
    struct groups *groups = &sa->registry.groups;
    struct group *known = groups_find(groups, from->mgid);
    assert(from->partition < partitions->all.count);
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
        .sl = from->sl_given ? from->sl : default_sl(sa),
        .hop_limit = from->scope == SCOPE_LINK_LOCAL ? 0 : HOP_LIMIT_MOST,
        .traffic_class = from->traffic_class,
        .scope = from->scope,
        .permanent = true,
    };
    memcpy(group.mgid, from->mgid, sizeof group.mgid);
    group.mlid = (uint16_t)groups_free_mlid(groups, 0, sa->index.last_mlid);
    return group.mlid ? groups_add(groups, &group) : NULL;
}

static void make_groups(struct sa *sa, const struct partitions *partitions)
{
    struct groups *groups = &sa->registry.groups;
    struct map named = {0}; /* MLIDs of the configured groups */
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
        make_groups(sa, sa->config.partitions);
    } else if (sa->config.ipoib_group) {
        struct partitions defaults;
        partitions_make_default(&defaults);
        make_groups(sa, &defaults);
        partitions_release(&defaults);
    }
}

void sa_set_partitions(struct sa *sa, const struct partitions *partitions)
{
    sa->config.partitions = partitions;
    if (sa->serves)
        partition_groups_make(sa);
}
