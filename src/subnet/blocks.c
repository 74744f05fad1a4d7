/* Stores wanted and actual contents of blocks, each distinct content once with a count of its uses,
 * and keeps two things up to date with them: the queue of blocks to write and, by port, the number
 * of blocks that must be written before the port becomes Active. */
#include "subnet/blocks.h"

#include <assert.h>
#include <string.h>

enum { PART_BITS = 16, KIND_BITS = 3 };
static_assert(BLOCK_KINDS <= 1 << KIND_BITS, "a kind fits into the key");

static uint64_t key_of(uint32_t port, unsigned kind, unsigned part)
{
    assert(kind < 1u << KIND_BITS && part < 1u << PART_BITS);
    return ((uint64_t)port << KIND_BITS | kind) << PART_BITS | part;
}

void blocks_release(struct blocks *blocks)
{
    vec_release(&blocks->rows);
    vec_release(&blocks->first_of);
    vec_release(&blocks->unsettled);
    pool_release(&blocks->contents);
    vec_release(&blocks->queue);
    map_release(&blocks->by_key);
    map_release(&blocks->by_hash);
    *blocks = (struct blocks){0};
}

/* ---- shared contents ---- */

static uint32_t hold_content(struct blocks *blocks, const uint8_t from[BLOCK_BYTES])
{
    uint8_t data[BLOCK_BYTES]; /* a copy: `from` may be in the pool, which moves as it grows */
    memcpy(data, from, sizeof data);
    uint64_t hash = hash_bytes(BLOCK_BYTES, data, BLOCK_BYTES);
    uint32_t head = map_get(&blocks->by_hash, hash);
    for (uint32_t i = head; i != BLOCKS_NONE; i = blocks->contents.items[i].next)
        if (memcmp(blocks->contents.items[i].data, data, BLOCK_BYTES) == 0) {
            blocks->contents.items[i].uses++;
            return i;
        }
    uint32_t index = pool_take(&blocks->contents);
    struct block_content *content = &blocks->contents.items[index];
    memcpy(content->data, data, BLOCK_BYTES);
    content->uses = 1;
    content->next = head;
    map_set(&blocks->by_hash, hash, index);
    return index;
}

static void free_content(struct blocks *blocks, uint32_t index)
{
    struct block_content *content = &blocks->contents.items[index];
    uint64_t hash = hash_bytes(BLOCK_BYTES, content->data, BLOCK_BYTES);
    uint32_t head = map_get(&blocks->by_hash, hash);
    if (head == index && content->next == BLOCKS_NONE) {
        map_remove(&blocks->by_hash, hash);
    } else if (head == index) {
        map_set(&blocks->by_hash, hash, content->next);
    } else {
        uint32_t before = head;
        while (blocks->contents.items[before].next != index)
            before = blocks->contents.items[before].next;
        blocks->contents.items[before].next = content->next;
    }
    pool_give(&blocks->contents, index);
}

static void drop_content(struct blocks *blocks, uint32_t *content)
{
    assert(*content == BLOCKS_NONE || blocks->contents.items[*content].uses > 0);
    if (*content != BLOCKS_NONE && --blocks->contents.items[*content].uses == 0)
        free_content(blocks, *content);
    *content = BLOCKS_NONE;
}

/* ---- rows ---- */

static uint32_t find_row(const struct blocks *blocks, uint32_t port, enum block_kind kind,
                         unsigned part)
{
    return map_get(&blocks->by_key, key_of(port, kind, part));
}

static uint32_t find_or_add_row(struct blocks *blocks, uint32_t port, enum block_kind kind,
                                unsigned part)
{
    uint32_t fresh = (uint32_t)blocks->rows.count;
    uint32_t row = map_add(&blocks->by_key, key_of(port, kind, part), fresh);
    if (row != fresh)
        return row;
    while (blocks->first_of.count <= port) {
        vec_push(&blocks->first_of, BLOCKS_NONE);
        vec_push(&blocks->unsettled, 0);
    }
    vec_push(&blocks->rows, ((struct block){.port = port,
                                            .kind = (uint8_t)kind,
                                            .part = (uint16_t)part,
                                            .wanted = BLOCKS_NONE,
                                            .actual = BLOCKS_NONE,
                                            .next = blocks->first_of.items[port]}));
    blocks->first_of.items[port] = row;
    return row;
}

static bool differs(const struct block *block)
{
    return block->wanted != BLOCKS_NONE && block->wanted != block->actual && !block->refused;
}

/* A port becomes Active before its groups and alias GUIDs are written: clients change them. */
static bool is_unsettled(const struct block *block)
{
    return differs(block) && block->kind != BLOCK_MULTICAST && block->kind != BLOCK_GUIDS;
}

/* Updates the count of the port and the queue after a change of a row. */
static void row_changed(struct blocks *blocks, uint32_t row, bool was_unsettled)
{
    assert(row < blocks->rows.count);
    struct block *block = &blocks->rows.items[row];
    blocks->unsettled.items[block->port] += (uint32_t)is_unsettled(block) - (uint32_t)was_unsettled;
    if (differs(block) && !block->queued && !block->writing) {
        block->queued = true;
        vec_push(&blocks->queue, row);
    }
}

void blocks_want(struct blocks *blocks, uint32_t port, enum block_kind kind, unsigned part,
                 const uint8_t data[BLOCK_BYTES])
{
    uint32_t row = find_or_add_row(blocks, port, kind, part);
    struct block *block = &blocks->rows.items[row];
    const uint8_t *before = blocks_content(blocks, block->wanted);
    if (before && memcmp(before, data, BLOCK_BYTES) == 0)
        return;
    bool was_unsettled = is_unsettled(block);
    uint32_t wanted = hold_content(blocks, data);
    drop_content(blocks, &block->wanted);
    block->wanted = wanted;
    block->refused = false;
    block->renewed = block->writing;
    row_changed(blocks, row, was_unsettled);
}

void blocks_want_nothing(struct blocks *blocks, uint32_t port, enum block_kind kind, unsigned part)
{
    uint32_t row = find_row(blocks, port, kind, part);
    if (row == MAP_NONE)
        return;
    struct block *block = &blocks->rows.items[row];
    bool was_unsettled = is_unsettled(block);
    drop_content(blocks, &block->wanted);
    block->renewed = block->writing;
    row_changed(blocks, row, was_unsettled);
}

const uint8_t *blocks_wanted(const struct blocks *blocks, uint32_t port, enum block_kind kind,
                             unsigned part)
{
    uint32_t row = find_row(blocks, port, kind, part);
    return row == MAP_NONE ? NULL : blocks_content(blocks, blocks->rows.items[row].wanted);
}

const uint8_t *blocks_actual(const struct blocks *blocks, uint32_t port, enum block_kind kind,
                             unsigned part)
{
    uint32_t row = find_row(blocks, port, kind, part);
    return row == MAP_NONE ? NULL : blocks_content(blocks, blocks->rows.items[row].actual);
}

uint32_t blocks_next_of_port(const struct blocks *blocks, uint32_t port, uint32_t row)
{
    assert(row == BLOCKS_NONE || blocks->rows.items[row].port == port);
    if (row != BLOCKS_NONE)
        return blocks->rows.items[row].next;
    return port < blocks->first_of.count ? blocks->first_of.items[port] : BLOCKS_NONE;
}

/* ---- writing ---- */

uint32_t blocks_take(struct blocks *blocks)
{
    while (blocks->queue_taken < blocks->queue.count) {
        uint32_t row = blocks->queue.items[blocks->queue_taken++];
        struct block *block = &blocks->rows.items[row];
        block->queued = false;
        assert(!block->writing);
        if (!differs(block))
            continue;
        block->writing = true;
        block->renewed = false;
        return row;
    }
    blocks->queue.count = blocks->queue_taken = 0;
    return BLOCKS_NONE;
}

void blocks_set_actual(struct blocks *blocks, uint32_t row, const uint8_t *data)
{
    assert(row < blocks->rows.count);
    struct block *block = &blocks->rows.items[row];
    bool was_unsettled = is_unsettled(block);
    block->writing = false;
    uint32_t actual = data ? hold_content(blocks, data) : BLOCKS_NONE;
    blocks->keys_generation += block->kind == BLOCK_PARTITIONS && actual != block->actual;
    drop_content(blocks, &block->actual);
    block->actual = actual;
    row_changed(blocks, row, was_unsettled);
}

void blocks_set_known(struct blocks *blocks, uint32_t port, enum block_kind kind, unsigned part,
                      const uint8_t data[BLOCK_BYTES])
{
    blocks_set_actual(blocks, find_or_add_row(blocks, port, kind, part), data);
}

void blocks_refuse(struct blocks *blocks, uint32_t row)
{
    struct block *block = &blocks->rows.items[row];
    assert(row < blocks->rows.count && block->writing);
    bool was_unsettled = is_unsettled(block);
    block->writing = false;
    block->refused = !block->renewed;
    row_changed(blocks, row, was_unsettled);
}

void blocks_forget(struct blocks *blocks, uint32_t port)
{
    for (uint32_t row = blocks_next_of_port(blocks, port, BLOCKS_NONE); row != BLOCKS_NONE;
         row = blocks_next_of_port(blocks, port, row)) {
        struct block *block = &blocks->rows.items[row];
        bool was_unsettled = is_unsettled(block);
        blocks->keys_generation += block->kind == BLOCK_PARTITIONS && block->actual != BLOCKS_NONE;
        drop_content(blocks, &block->actual);
        block->refused = false;
        row_changed(blocks, row, was_unsettled);
    }
}

bool blocks_port_is_settled(const struct blocks *blocks, uint32_t port)
{
    return port >= blocks->unsettled.count || blocks->unsettled.items[port] == 0;
}

const struct block *blocks_find_missing(const struct blocks *blocks, uint32_t port,
                                        enum block_kind kind)
{
    for (uint32_t row = BLOCKS_NONE;
         (row = blocks_next_of_port(blocks, port, row)) != BLOCKS_NONE;) {
        const struct block *block = &blocks->rows.items[row];
        if (block->kind == kind && block->wanted != BLOCKS_NONE && block->wanted != block->actual)
            return block;
    }
    return NULL;
}

bool blocks_are_writing(const struct blocks *blocks, uint32_t port, enum block_kind kind)
{
    for (uint32_t row = BLOCKS_NONE; (row = blocks_next_of_port(blocks, port, row)) != BLOCKS_NONE;)
        if (blocks->rows.items[row].writing &&
            (kind == BLOCK_KINDS || blocks->rows.items[row].kind == kind))
            return true;
    return false;
}
