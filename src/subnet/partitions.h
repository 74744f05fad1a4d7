/* Partitions: who may talk with whom (10.9), and the groups that come with them.
 *
 * A list of rules in the order of OpenSM's partitions.conf, which partitions_read() reads: each
 * makes ports members of a partition, and the last one that names a port counts. From them follow,
 * by pure functions, the keys of a port and their places in its table. Nothing here sends or
 * decides anything. */
#ifndef WEFT_SUBNET_PARTITIONS_H
#define WEFT_SUBNET_PARTITIONS_H

#include "base/line_reader.h"
#include "base/map.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PARTITION_DEFAULT = 0x7FFF, /* its key, without the bit of full members */
    PARTITION_FULL = 0x8000,    /* set in the keys of full members */
    PARTITION_BLOCK = 32,       /* keys in a block of a port's table */
};

enum partition_membership { MEMBER_LIMITED, MEMBER_FULL, MEMBER_BOTH };

enum partition_target {
    MEMBERS_PORT, /* the one with this GUID */
    MEMBERS_ALL,
    MEMBERS_ADAPTERS,
    MEMBERS_SWITCHES,
    MEMBERS_ROUTERS,
    MEMBERS_SELF, /* the manager's own port */
};

struct partition {
    uint16_t key; /* without PARTITION_FULL */
    uint8_t sl;
    const char *name;
};

struct partition_rule {
    uint64_t guid; /* 0 unless it is for one port */
    uint32_t order, partition;
    uint8_t target, membership;
    bool index0; /* the key goes to the head of the table */
};

/* A multicast group that is there for the partition's sake, without anybody who joins it. */
struct partition_group {
    uint32_t partition;
    uint8_t mgid[16];
    uint32_t q_key, flow_label;
    uint8_t mtu, rate, sl, traffic_class, scope; /* codes of MCMemberRecord */
    bool sl_given;                               /* else it may be any */
};

struct partitions {
    VEC(struct partition) all;        /* the default partition first, then as they are named */
    VEC(struct partition_rule) rules; /* for many ports, in order; then by GUID, each in order */
    VEC(struct partition_group) groups;
    size_t general; /* rules for many ports */
    struct map by_key;
    /* A port may be full and limited member of one partition at once; if not, "both" is full. */
    bool allow_both;
    struct arena names;
};

/* The whole of a file. The error names it and the line; nothing is kept then. */
int partitions_read(struct partitions *partitions, struct line_reader *lines);
/* What holds without a file: all ports are full members of the default partition, which has a
 * broadcast group. */
void partitions_make_default(struct partitions *partitions);
void partitions_release(struct partitions *partitions);

/* A port as rules see it. */
struct partition_port {
    uint64_t guid;
    uint8_t kind; /* of its node, as in NodeInfo */
    bool self;    /* the manager sits there */
};

/* The keys of one port, the default partition's first, then in the order of rules. The rest is
 * scratch, so that one of these serves port after port. */
struct partition_keys {
    VEC(uint16_t) keys;
    uint16_t first; /* the one that must be at index 0; 0: any */
    VEC(uint8_t) states;
    VEC(uint32_t) touched;
};
void partition_keys_release(struct partition_keys *keys);
void partitions_find_keys(const struct partitions *partitions, const struct partition_port *port,
                          struct partition_keys *keys);
/* Gives each key its place in a table of `room` keys: the one that its partition has in `before`
 * (room keys, 0 for none), else the lowest that is free. Index 0 is never left free: the default
 * partition's key moves there if need be. False: there is not enough room, and the table is as it
 * was. Right after partitions_find_keys(). */
bool partitions_place(const struct partitions *partitions, struct partition_keys *keys,
                      const uint16_t *before, unsigned room, uint16_t *table);

#endif
