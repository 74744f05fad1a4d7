/* Joins and leaves of a scenario, as full members, in a table of groups that all managers of the
 * run share. The managers route the trees; MLIDs are assigned here, as a group is made by its first
 * join. */
#include "experiment/run/setup.h"

#include "base/time.h"
#include "subnet/groups.h"

#include <errno.h>
#include <string.h>

enum { GROUP_MTU = 4, GROUP_RATE = 3, GROUP_LIFE_TIME = 18 }; /* 2048 bytes, 10 Gb/s, 1 s */

static struct groups *groups_of(struct setup *setup)
{
    if (!setup->groups)
        setup->groups = mem_zalloc(1, sizeof *setup->groups);
    return setup->groups;
}

void multicast_bind_flows(struct setup *setup)
{
    static const uint8_t none[16];
    for (size_t i = 0; i < setup->flows.count; i++) {
        struct traffic *traffic = &setup->flows.items[i].traffic;
        if (memcmp(traffic->mgid, none, sizeof none) != 0)
            traffic->receivers.items[0] =
                sim_paths_add_group(setup->paths, groups_of(setup), traffic->mgid);
    }
}

void multicast_tell_manager(const struct setup *setup, struct sm *sm)
{
    if (setup->groups && sm)
        sm_set_groups(sm, setup->groups);
}

static void tell_managers(const struct setup *setup)
{
    for (size_t i = 0; i < setup->instances.count; i++) {
        struct sm *sm = setup_manager(setup, i);
        if (!sm)
            continue;
        sm_set_groups(sm, setup->groups);
        sm_registrations_changed(sm, sim_now_ns(setup->sim));
    }
}

/* The GUID of the first port of an adapter with a cable; 0: there is none. */
static uint64_t member_guid(const struct setup *setup, uint32_t node)
{
    const struct topology_node *entry = &setup->topology.nodes.items[node];
    for (unsigned number = 1; entry->kind != NODE_SWITCH && number <= entry->port_count; number++)
        if (setup->topology.ports.items[entry->first_port + number].peer != TOPOLOGY_NONE)
            return fabric_port_guid(setup->fabric, entry->first_port + number, 0);
    return 0;
}

int multicast_join(struct setup *setup, const struct action *action, struct err *err)
{
    struct group_member member = {.guid = member_guid(setup, action->node),
                                  .join_state = JOIN_FULL,
                                  .absent_since = TIME_NEVER};
    if (!member.guid)
        return err_set(err, EINVAL, "only an adapter with a cable joins a group");
    member.joined_by = member.guid;
    struct group *group = groups_find(groups_of(setup), action->mgid);
    if (!group) {
        struct group made = {
            .p_key = 0xFFFF, .mtu = GROUP_MTU, .rate = GROUP_RATE, .life_time = GROUP_LIFE_TIME};
        memcpy(made.mgid, action->mgid, sizeof made.mgid);
        made.mlid = (uint16_t)groups_free_mlid(setup->groups, 0, MLID_LAST);
        group = made.mlid ? groups_add(setup->groups, &made) : NULL;
    }
    if (!group)
        return err_set(err, ENOSPC, "there are too many groups");
    groups_join(setup->groups, group, &member);
    tell_managers(setup);
    return 0;
}

int multicast_leave(struct setup *setup, const struct action *action, struct err *err)
{
    uint64_t guid = member_guid(setup, action->node);
    struct group *group = setup->groups ? groups_find(setup->groups, action->mgid) : NULL;
    if (!group || !group_find_member(group, guid))
        return err_set(err, ESRCH, "it is not a member of this group");
    groups_leave(setup->groups, group, guid, JOIN_FULL);
    if (group->members.count == 0)
        groups_remove(setup->groups, group);
    tell_managers(setup);
    return 0;
}

void multicast_release(struct setup *setup)
{
    if (!setup->groups)
        return;
    groups_release(setup->groups);
    mem_free(setup->groups);
    setup->groups = NULL;
}
