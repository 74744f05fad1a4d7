/* Blocks of 64 bytes that agents hold beside the unicast tables: partitions, SL to VL maps, VL
 * arbitration, multicast tables.
 *
 * Whoever decides what they should be says so with blocks_want(); what an agent has confirmed comes
 * in by blocks_confirm(). Blocks that differ wait in a queue, each once, for whoever writes to the
 * fabric (sm/blocks.c, the only one). What nobody wants is neither read nor written. Equal contents
 * are kept once: millions of maps in a large fabric are a handful of different ones. */
#ifndef WEFT_SUBNET_BLOCKS_H
#define WEFT_SUBNET_BLOCKS_H

#include "base/map.h"
#include "base/pool.h"

#include <stdbool.h>
#include <stdint.h>

#define BLOCKS_NONE UINT32_MAX

/* BLOCK_ALL_INPUTS: the part of a map that stands for every input, where a switch takes such. */
enum { BLOCK_BYTES = 64, BLOCK_ALL_INPUTS = 0x100 };

/* A block is named by the port that it is for, its kind, and its part:
 *   partitions     of an adapter's port, a switch's port 0 or (enforcement) an external port;
 *                  part: number of the block of 32 keys
 *   lanes          of an output port; part: the input port (0 for adapters), or all
 *   arbitration    of an output port; part: 1, 2 low priority, 3, 4 high priority
 *   multicast      of a switch, its port 0; part: block of 32 MLIDs | position << 9 */
enum block_kind {
    BLOCK_PARTITIONS,
    BLOCK_SL2VL,
    BLOCK_ARBITRATION,
    BLOCK_MULTICAST,
    BLOCK_KINDS,
};

struct block {
    uint32_t port;           /* in the subnet */
    uint32_t wanted, actual; /* contents; BLOCKS_NONE: nothing, not known */
    uint32_t next;           /* of the same port; rows stay where they are */
    uint16_t part;
    uint8_t kind;
    bool queued, writing;
    bool refused; /* the agent did not take what is wanted; not tried again until that changes */
    bool renewed; /* something else is wanted than what is being written */
};

struct block_content {
    uint8_t data[BLOCK_BYTES];
    uint32_t uses, next; /* next: of the same hash, or in the free list */
};

struct blocks {
    VEC(struct block) rows;
    VEC(uint32_t) first_of;  /* by port: its first row, BLOCKS_NONE: none */
    VEC(uint32_t) unsettled; /* by port: rows but multicast that are wanted and not confirmed */
    POOL(struct block_content) contents;
    VEC(uint32_t) queue; /* rows that differ, in the order in which they came to */
    size_t queue_taken;
    struct map by_key, by_hash;
    uint64_t keys_generation; /* counts changes of what ports are known to have of partitions */
};

void blocks_release(struct blocks *blocks);

void blocks_want(struct blocks *blocks, uint32_t port, enum block_kind kind, unsigned part,
                 const uint8_t data[BLOCK_BYTES]);
/* Nobody cares any more what is there. */
void blocks_want_nothing(struct blocks *blocks, uint32_t port, enum block_kind kind, unsigned part);
/* What an agent was found to have, whether anybody wants it or not. Not while it is written. */
void blocks_learn(struct blocks *blocks, uint32_t port, enum block_kind kind, unsigned part,
                  const uint8_t data[BLOCK_BYTES]);
/* NULL: none wanted; not known. They last until the next change of any block. */
const uint8_t *blocks_wanted(const struct blocks *blocks, uint32_t port, enum block_kind kind,
                             unsigned part);
const uint8_t *blocks_actual(const struct blocks *blocks, uint32_t port, enum block_kind kind,
                             unsigned part);
/* All blocks that anybody ever wanted of this port, one after the other: begin with BLOCKS_NONE. */
uint32_t blocks_next_of_port(const struct blocks *blocks, uint32_t port, uint32_t row);
static inline const uint8_t *blocks_content(const struct blocks *blocks, uint32_t content)
{
    return content == BLOCKS_NONE ? NULL : blocks->contents.items[content].data;
}

/* The next row that differs, marked as being written, or BLOCKS_NONE. Exactly one of
 * blocks_confirm() and blocks_refuse() follows. */
uint32_t blocks_take(struct blocks *blocks);
/* NULL: no answer; the content is not known and the row is written again. */
void blocks_confirm(struct blocks *blocks, uint32_t row, const uint8_t *data);
void blocks_refuse(struct blocks *blocks, uint32_t row);
/* The agent may have lost everything (its node went, another manager wrote): all of this port's
 * blocks are not known any more and are written anew. */
void blocks_forget(struct blocks *blocks, uint32_t port);

/* Whether everything but multicast that is wanted of this port is there (or was refused). */
bool blocks_port_is_settled(const struct blocks *blocks, uint32_t port);
/* The first block of this kind that the port is not known to have as it is wanted, or NULL. */
const struct block *blocks_find_missing(const struct blocks *blocks, uint32_t port,
                                        enum block_kind kind);
/* Whether a block of this kind (BLOCK_KINDS: of any) is being written. */
bool blocks_are_writing(const struct blocks *blocks, uint32_t port, enum block_kind kind);

#endif
