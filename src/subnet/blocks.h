/* Blocks of 64 bytes that agents hold in addition to the LFTs: P_Key tables, SL-to-VL maps, VL
 * arbitration tables, multicast forwarding tables and GUID tables.
 *
 * Planning code sets the wanted content of a block with blocks_want(); blocks_set_actual() sets the
 * actual content that an agent has confirmed. Each block whose contents differ is in a queue, from
 * which sm/tables/blocks.c writes it to the fabric. A block without wanted content is neither read
 * nor written. Equal contents are stored once: a large fabric has millions of maps, but few
 * different ones. */
#ifndef WEFT_SUBNET_BLOCKS_H
#define WEFT_SUBNET_BLOCKS_H

#include "base/map.h"
#include "base/pool.h"

#include <stdbool.h>
#include <stdint.h>

#define BLOCKS_NONE UINT32_MAX

/* BLOCK_ALL_INPUTS: part of a map for all inputs, if the switch supports it. */
enum { BLOCK_BYTES = 64, BLOCK_ALL_INPUTS = 0x100 };

/* Port, kind and part identify a block:
 *   partitions   P_Keys of an end port, or of an enforcing switch port; part: block of 32 keys
 *   SL to VL     of an output port; part: input port (0 for adapters), or BLOCK_ALL_INPUTS
 *   arbitration  of an output port; part: 1, 2 low priority, 3, 4 high priority
 *   multicast    of port 0 of a switch; part: block of 32 MLIDs | position << 9
 *   GUIDs        of an end port; part: block of eight GUIDs */
enum block_kind {
    BLOCK_PARTITIONS,
    BLOCK_SL2VL,
    BLOCK_ARBITRATION,
    BLOCK_MULTICAST,
    BLOCK_GUIDS,
    BLOCK_KINDS,
};

struct block {
    uint32_t port;           /* index in the subnet */
    uint32_t wanted, actual; /* contents; BLOCKS_NONE: none wanted, not known */
    uint32_t next;           /* row of the same port */
    uint16_t part;
    uint8_t kind;
    bool queued, writing;
    bool refused; /* the agent rejected the wanted content: it is not written again */
    bool renewed; /* the wanted content changed while the block is being written */
};

struct block_content {
    uint8_t data[BLOCK_BYTES];
    uint32_t uses, next; /* next: content with the same hash, or in the free list */
};

struct blocks {
    VEC(struct block) rows;
    VEC(uint32_t) first_of;  /* by port: first row, or BLOCKS_NONE */
    VEC(uint32_t) unsettled; /* by port: number of rows that differ; see is_unsettled() */
    POOL(struct block_content) contents;
    VEC(uint32_t) queue; /* rows that differ, in the order of changes */
    size_t queue_taken;
    struct map by_key, by_hash;
    uint64_t keys_generation; /* counts changes of actual P_Key blocks */
};

void blocks_release(struct blocks *blocks);

void blocks_want(struct blocks *blocks, uint32_t port, enum block_kind kind, unsigned part,
                 const uint8_t data[BLOCK_BYTES]);
/* Removes the wanted content. */
void blocks_want_nothing(struct blocks *blocks, uint32_t port, enum block_kind kind, unsigned part);
/* Sets the actual content of a block that was read. The block must not be being written. */
void blocks_set_known(struct blocks *blocks, uint32_t port, enum block_kind kind, unsigned part,
                      const uint8_t data[BLOCK_BYTES]);
/* NULL: none wanted, not known. The pointers are valid until the next change of any block. */
const uint8_t *blocks_wanted(const struct blocks *blocks, uint32_t port, enum block_kind kind,
                             unsigned part);
const uint8_t *blocks_actual(const struct blocks *blocks, uint32_t port, enum block_kind kind,
                             unsigned part);
/* Iterates over the rows of a port, starting with BLOCKS_NONE. */
uint32_t blocks_next_of_port(const struct blocks *blocks, uint32_t port, uint32_t row);
static inline const uint8_t *blocks_content(const struct blocks *blocks, uint32_t content)
{
    return content == BLOCKS_NONE ? NULL : blocks->contents.items[content].data;
}

/* The next row that differs, marked as being written, or BLOCKS_NONE. Exactly one of
 * blocks_set_actual() and blocks_refuse() follows. */
uint32_t blocks_take(struct blocks *blocks);
/* NULL: no answer; the content is not known and the row is written again. */
void blocks_set_actual(struct blocks *blocks, uint32_t row, const uint8_t *data);
void blocks_refuse(struct blocks *blocks, uint32_t row);
/* Marks all blocks of a port as not known, so that they are written again: the node may have
 * restarted, or another manager may have written them. */
void blocks_forget(struct blocks *blocks, uint32_t port);

/* True if no block of the port differs, except multicast, GUIDs and refused ones. */
bool blocks_port_is_settled(const struct blocks *blocks, uint32_t port);
/* The first block of this kind whose actual content is not the wanted one, or NULL. */
const struct block *blocks_find_missing(const struct blocks *blocks, uint32_t port,
                                        enum block_kind kind);
/* True if a block of this kind (BLOCK_KINDS: any) is being written. */
bool blocks_are_writing(const struct blocks *blocks, uint32_t port, enum block_kind kind);

#endif
