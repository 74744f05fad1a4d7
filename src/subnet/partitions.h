/* Partitions (10.9) and their multicast groups.
 *
 * A list of rules, in the order of OpenSM's partitions.conf. Each rule makes ports members of a
 * partition; the last rule that matches a port applies. Pure functions compute the P_Keys of a port
 * from them, and their indices in its P_Key table. */
#ifndef WEFT_SUBNET_PARTITIONS_H
#define WEFT_SUBNET_PARTITIONS_H

#include "base/line_reader.h"
#include "base/map.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PARTITION_DEFAULT = 0x7FFF, /* key of the default partition, without PARTITION_FULL */
    PARTITION_FULL = 0x8000,    /* set in the keys of full members */
    PARTITION_BLOCK = 32,       /* keys in a block of a P_Key table */
};

enum partition_membership { MEMBER_LIMITED, MEMBER_FULL, MEMBER_BOTH };

enum partition_target {
    MEMBERS_PORT, /* the port with this GUID */
    MEMBERS_ALL,
    MEMBERS_ADAPTERS,
    MEMBERS_SWITCHES,
    MEMBERS_ROUTERS,
    MEMBERS_SELF, /* the port of the manager */
};

struct partition {
    uint16_t key; /* without PARTITION_FULL */
    uint8_t sl;
    const char *name;
};

struct partition_rule {
    uint64_t guid; /* of MEMBERS_PORT, else 0 */
    uint32_t order, partition;
    uint8_t target, membership;
    bool index0; /* the key gets index 0 */
};

/* A multicast group that exists without members. */
struct partition_group {
    uint32_t partition;
    uint8_t mgid[16];
    uint32_t q_key, flow_label;
    uint8_t mtu, rate, sl, traffic_class, scope; /* codes of MCMemberRecord */
    bool sl_given;                               /* else the SA chooses the SL */
};

struct partitions {
    VEC(struct partition) all;        /* the default partition first, then in file order */
    VEC(struct partition_rule) rules; /* sorted by GUID and file order; general rules have 0 */
    VEC(struct partition_group) groups;
    size_t general; /* number of general rules */
    struct map by_key;
    /* A port may be both full and limited member of a partition; else "both" means full. */
    bool allow_both;
    struct arena names;
};

/* Reads a file. On an error, which names the line, the result is empty. */
int partitions_read(struct partitions *partitions, struct line_reader *lines);
/* The rules without a file: all ports are full members of the default partition, which has a
 * broadcast group. */
void partitions_make_default(struct partitions *partitions);
void partitions_release(struct partitions *partitions);

/* The properties of a port that rules match. */
struct partition_port {
    uint64_t guid;
    uint8_t kind; /* of its node, as in NodeInfo */
    bool self;    /* the port of the manager */
};

/* The P_Keys of one port, in the order of partitions in its rules. The rest is scratch memory: one
 * struct can be used for many ports. */
struct partition_keys {
    VEC(uint16_t) keys;
    uint16_t first; /* key that must have index 0; 0: any */
    VEC(uint8_t) states;
    VEC(uint32_t) touched;
};
void partition_keys_release(struct partition_keys *keys);
void partitions_find_keys(const struct partitions *partitions, const struct partition_port *port,
                          struct partition_keys *keys);
/* Assigns the keys of partitions_find_keys() to a table of `capacity` keys. A key keeps the index
 * that its partition has in `before` (0: unused), else it gets the lowest free index. Index 0 is
 * always used; the key of the default partition moves there if necessary. False, with the table
 * unchanged, if there are too many keys. */
bool partitions_place(const struct partitions *partitions, struct partition_keys *keys,
                      const uint16_t *before, unsigned capacity, uint16_t *table);

#endif
