/* Alias GUIDs: further GUIDs of end ports (14.2.5.5).
 *
 * The GUID table of a port has blocks of eight places. Place 0 of block 0 is the port's own GUID. A
 * client fills other places through the SA (15.2.5.18), for example for the virtual functions of an
 * adapter, which share its port and its LID. The SA changes the GUIDs here; alias_plan_update()
 * makes them wanted of the ports, and sm/tables/blocks.c writes them.
 *
 * A block that lost all GUIDs stays, because a text of changes lists it (sa/persist.c). */
#ifndef WEFT_SUBNET_ALIAS_GUIDS_H
#define WEFT_SUBNET_ALIAS_GUIDS_H

#include "subnet/subnet.h"

enum { ALIAS_PLACES = 8 };

struct alias_block {
    uint64_t port_guid;
    uint64_t guids[ALIAS_PLACES]; /* 0: none */
    uint64_t absent_since;        /* of its port; TIME_NEVER: it is reachable */
    uint64_t changed;             /* generation of the registry at the last change */
    uint32_t next;                /* block of the same port, or ALIAS_END */
    uint8_t number;
};
#define ALIAS_END UINT32_MAX

struct alias_guids {
    VEC(struct alias_block) blocks; /* in the order in which they were added */
    struct map by_port;             /* port GUID → its last block */
    struct map by_guid;             /* alias GUID → block */
    uint64_t generation;            /* counts changes */
};

void alias_guids_release(struct alias_guids *aliases);
/* The block, or NULL. The pointer is valid until a block is added. */
struct alias_block *alias_guids_find(const struct alias_guids *aliases, uint64_t port_guid,
                                     unsigned number);
/* Finds the block, or adds one without GUIDs. */
struct alias_block *alias_guids_add(struct alias_guids *aliases, uint64_t port_guid,
                                    unsigned number);
/* Replaces the GUID of a place; 0: none. Another place that has the GUID loses it. */
void alias_guids_set(struct alias_guids *aliases, struct alias_block *block, unsigned place,
                     uint64_t guid);
/* The GUID of the port with this alias; 0: there is no such alias. */
uint64_t alias_guids_port(const struct alias_guids *aliases, uint64_t guid);
unsigned alias_guids_count(const struct alias_guids *aliases, uint64_t port_guid);

/* The manager's plan. */
struct alias_plan {
    uint64_t aliases_generation, subnet_generation; /* of the last update */
    struct map by_guid;                             /* port GUID → port of the subnet */
    VEC(uint32_t) ports;                            /* by block: the port; SUBNET_NONE: none */
};
void alias_plan_release(struct alias_plan *plan);
/* Makes the blocks wanted of their ports, if something changed. */
void alias_plan_update(struct alias_plan *plan, const struct alias_guids *aliases,
                       struct subnet *subnet);

#endif
