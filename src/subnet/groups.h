/* Multicast groups and their members.
 *
 * The SA changes them when hosts join and leave. sm/tables/multicast.c computes trees from them;
 * changes increment `generation`. Each group has its own MLID. */
#ifndef WEFT_SUBNET_GROUPS_H
#define WEFT_SUBNET_GROUPS_H

#include "base/map.h"
#include "base/mem.h"
#include "wire/mad.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    MLID_FIRST = LID_MULTICAST_FIRST,
    MLID_LAST = LID_MULTICAST_LAST,
    MLID_COUNT = MLID_LAST - MLID_FIRST + 1,
};

/* Bits of JoinState. */
enum group_join {
    JOIN_FULL = 1,           /* sends and receives, and keeps the group alive */
    JOIN_NON_MEMBER = 2,     /* sends and receives */
    JOIN_SEND_ONLY = 4,      /* sends */
    JOIN_SEND_ONLY_FULL = 8, /* sends, and keeps the group alive */
};

struct group_member {
    uint64_t guid, prefix;
    uint8_t join_state;    /* bits of enum group_join */
    bool proxy;            /* another port joined for it */
    uint64_t joined_by;    /* the port whose limits it counts for; 0: unknown, or none */
    uint64_t absent_since; /* TIME_NEVER: it is reachable */
    uint64_t changed;      /* generation at the last change */
};

struct group {
    uint8_t mgid[16];
    uint16_t mlid, p_key;
    uint32_t q_key, flow_label;
    uint8_t mtu, rate, life_time, sl, hop_limit, traffic_class, scope;
    bool permanent;                   /* exists without members */
    uint64_t changed;                 /* generation at its creation or last update */
    uint64_t member_removed;          /* generation when it last lost a member */
    uint64_t touched;                 /* generation at the last change of it or a member */
    VEC(struct group_member) members; /* sorted by GUID */
};

struct groups {
    VEC(struct group *) all;           /* sorted by MGID */
    struct group *by_mlid[MLID_COUNT]; /* NULL: free */
    uint64_t generation;               /* counts changes of groups and members */
    uint64_t removed;                  /* generation at the last removal of a group */
    struct map memberships;            /* port GUID → number of members that count for it */
};

void groups_release(struct groups *groups);

struct group *groups_find(const struct groups *groups, const uint8_t mgid[16]); /* or NULL */
struct group *groups_at(const struct groups *groups, unsigned mlid);            /* or NULL */
/* The wanted MLID if it is free, else the lowest free MLID up to `last`; 0: none. */
unsigned groups_free_mlid(const struct groups *groups, unsigned wanted, unsigned last);
/* Copies the group, without members. Its MGID and MLID must be unused. */
struct group *groups_add(struct groups *groups, const struct group *group);
void groups_remove(struct groups *groups, struct group *group);

struct group_member *group_find_member(const struct group *group, uint64_t guid); /* or NULL */
/* A member that another port joined becomes a member of its own when it joins itself. */
void groups_join(struct groups *groups, struct group *group, const struct group_member *member);
/* Clears these bits of JoinState. Removes a member without any bit. */
void groups_leave(struct groups *groups, struct group *group, uint64_t guid, unsigned join_state);
/* The number of members that this port joined: itself, and others for which it is the proxy. */
uint32_t groups_of_port(const struct groups *groups, uint64_t guid);
/* The number of groups that would end without those members. */
uint32_t groups_kept_by_port(const struct groups *groups, uint64_t guid);
bool group_has_full_member(const struct group *group);
/* False for send-only members. */
static inline bool group_member_receives(const struct group_member *member)
{
    return member->join_state & (JOIN_FULL | JOIN_NON_MEMBER);
}

#endif
