/* The SA's view of the subnet: who has a LID or a GUID, which ports joined and left, and for how
 * long the registrations of a port that left are kept. */
#include "sa/internal.h"

#include <assert.h>

static void report_changes(struct sa *sa, const struct path_index *before)
{
    uint8_t gid[16];
    for (size_t i = 0; i < before->guids.count; i++)
        if (map_get(&sa->index.by_guid, before->guids.items[i]) == MAP_NONE) {
            gid_set(gid, sa->config.prefix, before->guids.items[i]);
            report_change(sa, ATTRIBUTE_TRAP_GID_OUT_OF_SERVICE, gid, 0);
            alias_report(sa, ATTRIBUTE_TRAP_GID_OUT_OF_SERVICE, before->guids.items[i]);
        }
    for (size_t i = 0; i < sa->index.guids.count; i++)
        if (map_get(&before->by_guid, sa->index.guids.items[i]) == MAP_NONE) {
            gid_set(gid, sa->config.prefix, sa->index.guids.items[i]);
            report_change(sa, ATTRIBUTE_TRAP_GID_IN_SERVICE, gid, 0);
            alias_report(sa, ATTRIBUTE_TRAP_GID_IN_SERVICE, sa->index.guids.items[i]);
            if (map_remove(&sa->expired_ports, sa->index.guids.items[i]))
                vec_push(&sa->returned_ports, sa->index.guids.items[i]);
        }
}

void sa_update_view(struct sa *sa, uint64_t now, const struct sa_view *view)
{
    bool served = sa->serves, same = served && view->generation == sa->view.generation;
    uint16_t own_lid = sa_registry_master(sa);
    sa->now = now;
    sa->view = *view;
    sa->serves = view->network != NULL;
    if (!sa->serves) {
        if (served) {
            sa_drop_queries(sa);
            path_index_release(&sa->index);
            sa->registry_source_lid = own_lid;
            sa->registry_copied = false;
            sa->offers = true;
        }
        return;
    }
    sa->offers = false;
    sa->former = 0;
    access_update(sa);
    if (same)
        return;
    struct path_index before = sa->index;
    sa->index = (struct path_index){0};
    path_index_build(&sa->index, view);
    if (before.guids.count)
        report_changes(sa, &before);
    partition_groups_make(sa);
    path_index_release(&before);
    groups_remove_members(sa, true);
    aliases_remove_invalid(sa);
    subscriptions_remove_absent(sa);
    subscriptions_update_lids(sa);
}

bool sa_next_reregistration(struct sa *sa, uint64_t *guid)
{
    if (!sa->returned_ports.count)
        return false;
    *guid = sa->returned_ports.items[--sa->returned_ports.count];
    return true;
}

uint32_t sa_port_at(const struct sa *sa, unsigned lid)
{
    const struct subnet *subnet = sa->view.subnet;
    uint32_t port = lid < LFT_ENTRIES ? subnet->by_lid[lid] : SUBNET_NONE;
    if (port == SUBNET_NONE || !subnet->nodes.items[subnet->ports.items[port].node].present)
        return SUBNET_NONE;
    return subnet->ports.items[port].known ? port : SUBNET_NONE;
}

uint32_t sa_end_point_at(const struct sa *sa, unsigned lid)
{
    const struct network *network = sa->view.network;
    return lid <= network->top_lid ? network->owner[lid] : NETWORK_NONE;
}

uint64_t sa_port_guid_at(const struct sa *sa, unsigned lid)
{
    uint32_t end_point = sa_end_point_at(sa, lid);
    return end_point == NETWORK_NONE ? 0 : path_index_guid(sa, end_point);
}

uint64_t sa_requester_guid(const struct sa *sa, const struct query *query)
{
    return sa_port_guid_at(sa, query->address.lid);
}

bool sa_port_limit_reached(const struct query *query, const struct chains *by_port, uint64_t guid,
                           uint32_t limit)
{
    return limit && !query_is_trusted(query) && chains_count(by_port, guid, limit) >= limit;
}

bool sa_is_local_prefix(const struct sa *sa, uint64_t prefix)
{
    return prefix == sa->config.prefix || prefix == GID_PREFIX_LOCAL;
}

uint64_t sa_port_guid(const struct sa *sa, uint64_t guid)
{
    bool is_port = map_get(&sa->index.by_guid, guid) != MAP_NONE;
    uint64_t port_guid = is_port ? guid : alias_guids_port(&sa->registry.aliases, guid);
    return port_guid ? port_guid : guid;
}

uint32_t sa_find_end_point(const struct sa *sa, uint64_t guid)
{
    static_assert(NETWORK_NONE == MAP_NONE, "no end point");
    uint32_t end_point = map_get(&sa->index.by_guid, guid);
    return end_point != MAP_NONE ? end_point : map_get(&sa->index.by_guid, sa_port_guid(sa, guid));
}

bool sa_is_lost(struct sa *sa, uint64_t guid, uint64_t *absent_since)
{
    if (sa_find_end_point(sa, guid) != NETWORK_NONE) {
        *absent_since = TIME_NEVER;
        return false;
    }
    if (*absent_since == TIME_NEVER)
        *absent_since = sa->now;
    uint64_t until = *absent_since + sa->config.absence_ns;
    if (sa->now < until && until < sa->registrations_due)
        sa->registrations_due = until;
    if (sa->now >= until)
        map_set(&sa->expired_ports, sa_port_guid(sa, guid), 1);
    return sa->now >= until;
}
