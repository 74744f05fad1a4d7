/* Multicast groups as they are wanted: which ports are to get what is sent to which multicast LID.
 *
 * Subnet administration changes them as hosts join and leave; whoever computes trees and writes
 * forwarding tables reads them, by MLID or in the order of MGIDs, and looks at `generation` to see
 * whether anything is new. A group has an MLID of its own. Nothing here sends or decides anything.
 */
#ifndef WEFT_SUBNET_GROUPS_H
#define WEFT_SUBNET_GROUPS_H

#include "base/mem.h"
#include "wire/mad.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    MLID_FIRST = LID_MULTICAST_FIRST,
    MLID_LAST = LID_MULTICAST_LAST,
    MLID_COUNT = MLID_LAST - MLID_FIRST + 1,
};

/* JoinState: why a port is a member. */
enum group_join {
    JOIN_FULL = 1,           /* sends and receives, and keeps the group alive */
    JOIN_NON_MEMBER = 2,     /* sends and receives */
    JOIN_SEND_ONLY = 4,      /* sends */
    JOIN_SEND_ONLY_FULL = 8, /* sends, and keeps the group alive */
};

struct group_member {
    uint64_t guid, prefix;
    uint8_t join_state;    /* of enum group_join, one or more */
    bool proxy;            /* somebody else joined for it */
    uint64_t absent_since; /* it cannot be reached; TIME_NEVER: it can */
    uint64_t changed;      /* the groups' generation when it last did */
};

struct group {
    uint8_t mgid[16];
    uint16_t mlid, p_key;
    uint32_t q_key, flow_label;
    uint8_t mtu, rate, life_time, sl, hop_limit, traffic_class, scope;
    bool permanent;                   /* stays without members */
    uint64_t changed, thinned;        /* generations: it was made, it last lost a member */
    uint64_t touched;                 /* the latest of these and its members' */
    VEC(struct group_member) members; /* by GUID */
};

struct groups {
    VEC(struct group *) all;           /* by MGID */
    struct group *by_mlid[MLID_COUNT]; /* NULL: free */
    uint64_t generation;               /* counts changes of groups and members */
    uint64_t removed;                  /* the generation when a group last went */
};

void groups_release(struct groups *groups);

struct group *groups_find(const struct groups *groups, const uint8_t mgid[16]); /* or NULL */
struct group *groups_at(const struct groups *groups, unsigned mlid);            /* or NULL */
/* The wanted MLID if it is free, else the lowest free one up to `last`; 0: there is none. */
unsigned groups_free_mlid(const struct groups *groups, unsigned wanted, unsigned last);
/* Copies the group, which has no members yet; its MGID and MLID must be free. */
struct group *groups_add(struct groups *groups, const struct group *group);
void groups_remove(struct groups *groups, struct group *group);

struct group_member *group_find_member(const struct group *group, uint64_t guid); /* or NULL */
void groups_join(struct groups *groups, struct group *group, const struct group_member *member);
/* Takes these bits of the join state away; with the last of them the member goes. */
void groups_leave(struct groups *groups, struct group *group, uint64_t guid, unsigned join_state);
/* Whether somebody keeps it alive. */
bool group_has_full_member(const struct group *group);
/* Members that receive: all but those who only send. */
static inline bool group_member_receives(const struct group_member *member)
{
    return member->join_state & (JOIN_FULL | JOIN_NON_MEMBER);
}

#endif
