/* The registry of multicast groups: sorted by MGID, with members sorted by port GUID. It also
 * counts memberships by port, by which the SA limits what one port may create; what a join needs to
 * be valid is checked by the SA. */
#include "subnet/groups.h"

#include "base/time.h"

#include <assert.h>
#include <string.h>

static void free_group(struct group *group)
{
    vec_release(&group->members);
    mem_free(group);
}

void groups_release(struct groups *groups)
{
    for (size_t i = 0; i < groups->all.count; i++) {
        groups->by_mlid[groups->all.items[i]->mlid - MLID_FIRST] = NULL;
        free_group(groups->all.items[i]);
    }
    vec_release(&groups->all);
    map_release(&groups->memberships);
    groups->generation = groups->removed = 0;
}

/* The index of the first group whose MGID is not lower. */
static size_t place_of(const struct groups *groups, const uint8_t mgid[16])
{
    size_t place;
    lower_bound(place, groups->all.count, memcmp(groups->all.items[place]->mgid, mgid, 16) < 0);
    return place;
}

struct group *groups_find(const struct groups *groups, const uint8_t mgid[16])
{
    size_t place = place_of(groups, mgid);
    bool there = place < groups->all.count && memcmp(groups->all.items[place]->mgid, mgid, 16) == 0;
    return there ? groups->all.items[place] : NULL;
}

struct group *groups_at(const struct groups *groups, unsigned mlid)
{
    return lid_is_multicast(mlid) ? groups->by_mlid[mlid - MLID_FIRST] : NULL;
}

unsigned groups_free_mlid(const struct groups *groups, unsigned wanted, unsigned last)
{
    if (last > MLID_LAST)
        last = MLID_LAST;
    if (wanted >= MLID_FIRST && wanted <= last && !groups_at(groups, wanted))
        return wanted;
    for (unsigned mlid = MLID_FIRST; mlid <= last; mlid++)
        if (!groups_at(groups, mlid))
            return mlid;
    return 0;
}

struct group *groups_add(struct groups *groups, const struct group *group)
{
    assert(lid_is_multicast(group->mlid) && !groups_at(groups, group->mlid));
    assert(!groups_find(groups, group->mgid));
    size_t place = place_of(groups, group->mgid);
    struct group *added = mem_alloc(sizeof *added);
    *added = *group;
    memset(&added->members, 0, sizeof added->members);
    vec_insert(&groups->all, place, added);
    groups->by_mlid[group->mlid - MLID_FIRST] = added;
    added->changed = added->member_removed = added->touched = ++groups->generation;
    return added;
}

uint32_t groups_of_port(const struct groups *groups, uint64_t guid)
{
    uint32_t count = map_get(&groups->memberships, guid);
    return count == MAP_NONE ? 0 : count;
}

/* The port whose limits the member counts for; 0: none. */
static uint64_t port_charged(const struct group_member *member)
{
    return member->proxy || member->joined_by ? member->joined_by : member->guid;
}

static void begin_membership(struct groups *groups, const struct group_member *member)
{
    uint64_t guid = port_charged(member);
    if (guid)
        map_set(&groups->memberships, guid, groups_of_port(groups, guid) + 1);
}

static void end_membership(struct groups *groups, const struct group_member *member)
{
    uint64_t guid = port_charged(member);
    uint32_t count = groups_of_port(groups, guid);
    assert(count > 0 || !guid);
    if (count > 1)
        map_set(&groups->memberships, guid, count - 1);
    else
        map_remove(&groups->memberships, guid);
}

void groups_remove(struct groups *groups, struct group *group)
{
    assert(groups_at(groups, group->mlid) == group);
    vec_remove(&groups->all, place_of(groups, group->mgid));
    groups->by_mlid[group->mlid - MLID_FIRST] = NULL;
    groups->removed = ++groups->generation;
    for (size_t i = 0; i < group->members.count; i++)
        end_membership(groups, &group->members.items[i]);
    free_group(group);
}

static size_t place_of_member(const struct group *group, uint64_t guid)
{
    size_t place;
    lower_bound(place, group->members.count, group->members.items[place].guid < guid);
    return place;
}

struct group_member *group_find_member(const struct group *group, uint64_t guid)
{
    size_t place = place_of_member(group, guid);
    bool there = place < group->members.count && group->members.items[place].guid == guid;
    return there ? &group->members.items[place] : NULL;
}

void groups_join(struct groups *groups, struct group *group, const struct group_member *member)
{
    assert(member->guid && member->join_state);
    struct group_member *known = group_find_member(group, member->guid);
    bool owned = known && known->proxy && !member->proxy;
    uint8_t before = known ? known->join_state : 0;
    if (owned) {
        end_membership(groups, known);
        known->proxy = false;
        known->joined_by = member->joined_by;
        begin_membership(groups, known);
    }
    if (known) {
        known->join_state |= member->join_state;
        known->absent_since = TIME_NEVER;
    } else {
        size_t place = place_of_member(group, member->guid);
        vec_insert(&group->members, place, *member);
        begin_membership(groups, member);
        group->members.items[place].absent_since = TIME_NEVER;
    }
    if (known && !owned && known->join_state == before)
        return;
    group->touched = ++groups->generation;
    group_find_member(group, member->guid)->changed = groups->generation;
}

void groups_leave(struct groups *groups, struct group *group, uint64_t guid, unsigned join_state)
{
    struct group_member *member = group_find_member(group, guid);
    if (!member || !(member->join_state & join_state))
        return;
    member->join_state &= (uint8_t)~join_state;
    member->changed = group->touched = ++groups->generation;
    if (member->join_state)
        return;
    group->member_removed = groups->generation;
    end_membership(groups, member);
    vec_remove(&group->members, (size_t)(member - group->members.items));
}

static bool keeps_alive(const struct group_member *member)
{
    return member->join_state & (JOIN_FULL | JOIN_SEND_ONLY_FULL);
}

bool group_has_full_member(const struct group *group)
{
    for (size_t i = 0; i < group->members.count; i++)
        if (keeps_alive(&group->members.items[i]))
            return true;
    return false;
}

uint32_t groups_kept_by_port(const struct groups *groups, uint64_t guid)
{
    uint32_t count = 0;
    for (size_t i = 0; i < groups->all.count; i++) {
        const struct group *group = groups->all.items[i];
        bool kept = !group->permanent && group_has_full_member(group);
        for (size_t j = 0; kept && j < group->members.count; j++)
            kept = port_charged(&group->members.items[j]) == guid ||
                   !keeps_alive(&group->members.items[j]);
        count += kept;
    }
    return count;
}
