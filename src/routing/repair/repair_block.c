/* What leads to a broken entry is broken, too. Found column by column that takes a look at all
 * neighbours of every switch that does not arrive, and their entries lie a row apart. Here a line
 * of the cache, which has the entries of one switch for 64 LIDs, is compared with a port at once.
 *
 * The dependencies that are remembered tell whom to ask: somebody who sends here, and whose packets
 * leave by the broken entry, has given rise to one. */
#include "routing/repair/repair_block.h"

#include <string.h>

void repair_block_init(struct repair_block *block, const struct network *network,
                       const struct routes *routes, const struct standing *standing,
                       const uint8_t *fresh)
{
    size_t switches = network->switches.count + 1, ports = network->ports.count + 1;
    *block = (struct repair_block){
        .network = network, .routes = routes, .standing = standing, .fresh = fresh};
    block->broken = mem_zalloc(switches, sizeof *block->broken);
    block->fed = mem_zalloc(switches, sizeof *block->fed);
    block->open = mem_zalloc(switches, sizeof *block->open);
    block->told = mem_zalloc(switches, sizeof *block->told);
    block->ends = mem_zalloc(switches, sizeof *block->ends);
    block->coming = mem_alloc(ports * sizeof *block->coming);
    block->fitting = mem_alloc(ports * sizeof *block->fitting);
    block->fitting_order = mem_zalloc(ports, sizeof *block->fitting_order);
    block->span = mem_zalloc(switches, sizeof *block->span);
    block->bit = mem_alloc(network->top_lid + 1u);
    block->rows = mem_alloc(switches * ROUTES_BLOCK);
    block->next = mem_alloc(ports * sizeof *block->next);
    for (size_t i = 0; i < network->ports.count; i++) {
        uint32_t to = network->ports.items[i].peer ^ NETWORK_SWITCH;
        block->next[i] = (uint16_t)(to < network->switches.count ? to : BLOCK_NOWHERE);
    }
}

void repair_block_release(struct repair_block *block)
{
    mem_free(block->broken);
    mem_free(block->fed);
    mem_free(block->open);
    mem_free(block->told);
    mem_free(block->ends);
    mem_free(block->coming);
    mem_free(block->fitting);
    mem_free(block->fitting_order);
    mem_free(block->span);
    mem_free(block->bit);
    mem_free(block->rows);
    mem_free(block->next);
    vec_release(&block->met);
    vec_release(&block->queue);
}

/* Entries for LIDs that follow each other are copied together, and so are those between them; but
 * not while somebody else may write these. */
struct run {
    uint16_t lid;
    uint8_t bit, length;
};

static unsigned find_runs(const struct repair_block *block, struct run *runs)
{
    unsigned found = 0, gap = block->standing->fixed ? 0 : ROUTES_BLOCK;
    for (uint64_t left = block->lids; left; left &= left - 1) {
        uint8_t bit = (uint8_t)__builtin_ctzll(left);
        struct run *last = &runs[found ? found - 1 : 0];
        if (found && bit - last->bit <= (int)(last->length + gap) &&
            block->lid[bit] - last->lid == bit - last->bit)
            last->length = (uint8_t)(bit - last->bit + 1);
        else
            runs[found++] = (struct run){block->lid[bit], bit, 1};
    }
    return found;
}

static void copy_rows(struct repair_block *block)
{
    enum { AHEAD = 16 };
    uint32_t switches = (uint32_t)block->network->switches.count;
    struct run runs[ROUTES_BLOCK];
    unsigned run_count = find_runs(block, runs);
    for (uint32_t at = 0; at < switches; at++) {
        const uint8_t *row = routes_row(block->routes, at);
        uint8_t *copy = repair_block_entry(block, at, 0);
        for (unsigned i = 0; i < run_count; i++) {
            if (at + AHEAD < switches)
                __builtin_prefetch(routes_row(block->routes, at + AHEAD) + runs[i].lid);
            if (runs[i].length == 1)
                copy[runs[i].bit] = row[runs[i].lid];
            else
                memcpy(copy + runs[i].bit, row + runs[i].lid, runs[i].length);
        }
    }
    block->operations += (uint64_t)switches * run_count;
}

void repair_block_begin(struct repair_block *block, const uint16_t *lids, size_t count)
{
    const struct network *network = block->network;
    for (uint64_t left = block->lids; left; left &= left - 1)
        block->ends[network_switch_of(network, network->owner[block->lid[__builtin_ctzll(left)]])] =
            0;
    for (size_t i = 0; i < block->met.count; i++) {
        uint32_t at = block->met.items[i];
        block->broken[at] = block->fed[at] = block->told[at] = 0;
    }
    block->met.count = block->queue.count = 0;
    block->lids = 0;
    block->counted = block->standing->graph.vls == 1;
    block->number++;
    /* If there are gaps, but not wide ones, bits are left out for them. */
    bool close = true;
    for (size_t i = 1; i < count; i++)
        close &= lids[i] > lids[i - 1] && lids[i] - lids[0] < ROUTES_BLOCK;
    for (size_t i = 0; i < count; i++) {
        uint32_t bit = close ? (uint32_t)(lids[i] - lids[0]) : (uint32_t)i;
        block->lids |= UINT64_C(1) << bit;
        block->lid[bit] = lids[i];
        block->bit[lids[i]] = (uint8_t)bit;
        bitset_add(block->ends + network_switch_of(network, network->owner[lids[i]]), bit);
        block->counted &= !(network->owner[lids[i]] & NETWORK_SWITCH);
    }
    copy_rows(block);
}

static inline void mark(struct repair_block *block, uint32_t at, uint64_t lids)
{
    if (!block->broken[at]) {
        const struct network_switch *node = &block->network->switches.items[at];
        memset(block->coming + node->first_port, 0,
               (node->port_count + 1u) * sizeof *block->coming);
        vec_push(&block->met, at);
    }
    if (!block->open[at])
        vec_push(&block->queue, at);
    block->broken[at] |= lids;
    block->open[at] |= lids;
}

void repair_block_tell(struct repair_block *block, uint32_t lid, uint32_t at)
{
    uint64_t bit = UINT64_C(1) << block->bit[lid];
    if ((block->ends[at] | block->broken[at]) & bit)
        return;
    mark(block, at, bit);
    block->told[at] |= bit;
}

/* Those of the LIDs whose entry at a switch is this port: eight bytes at a time, each of which is
 * zero after exclusive or if it is the one. */
static inline uint64_t leaving(struct repair_block *block, uint32_t at, uint8_t port, uint64_t lids)
{
    const uint64_t low = UINT64_C(0x7F7F7F7F7F7F7F7F), ones = UINT64_C(0x0101010101010101);
    const uint8_t *row = repair_block_entry(block, at, 0);
    uint64_t leave = 0;
    for (uint64_t left = lids; left; block->operations++) {
        unsigned i = (unsigned)__builtin_ctzll(left) & ~7u;
        uint64_t word;
        memcpy(&word, row + i, sizeof word);
        word ^= port * ones;
        word = ~(((word & low) + low) | word | low) >> 7;
        leave |= (word * UINT64_C(0x0102040810204080) >> 56) << i;
        left &= ~(UINT64_C(0xFF) << i);
    }
    return leave & lids;
}

/* The inputs by which a switch may get what leaves it by the entries for these LIDs. */
static void find_inputs(const struct repair_block *block, uint32_t at, uint64_t lids,
                        uint64_t ins[4])
{
    const struct dependency_graph *behind = &block->standing->behind;
    size_t words = dependency_row_words(behind, at);
    const uint8_t *row = repair_block_entry(block, at, 0);
    unsigned last = PORT_NONE;
    memset(ins, block->counted && !(lids & block->told[at]) ? 0 : 0xFF, 4 * sizeof *ins);
    if (ins[0])
        return;
    for (; lids; lids &= lids - 1) {
        unsigned out = row[__builtin_ctzll(lids)];
        if (out == last)
            continue;
        for (size_t word = 0; word < words; word++)
            ins[word] |= dependency_row(behind, at, out, 0)[word];
        last = out;
    }
}

void repair_block_spread(struct repair_block *block)
{
    const struct network *network = block->network;
    uint64_t ins[4];
    for (size_t i = 0; i < block->queue.count; i++) {
        uint32_t at = block->queue.items[i];
        uint64_t lids = block->open[at];
        block->open[at] = 0;
        find_inputs(block, at, lids, ins);
        uint32_t first_port = network->switches.items[at].first_port;
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            const struct network_edge *edge = &network->edges[e];
            if (!bitset_has(ins, edge->port) && !block->fresh[first_port + edge->port])
                continue;
            uint64_t come = leaving(block, edge->to, edge->to_port, lids);
            uint64_t fresh = come & ~(block->broken[edge->to] | block->ends[edge->to]);
            block->fed[at] |= come;
            block->coming[first_port + edge->port] |= come;
            if (fresh)
                mark(block, edge->to, fresh);
        }
        block->operations += network->first_edge[at + 1] - network->first_edge[at];
    }
}

/* ---- what agrees with the order ---- */

static const struct repair_span *span_from(struct repair_block *block, uint32_t at)
{
    const struct network *network = block->network;
    const struct standing *standing = block->standing;
    struct repair_span *span = &block->span[at];
    if (span->order > standing->moved_from[at])
        return span;
    *span = (struct repair_span){INT64_MAX, INT64_MIN, standing->moves + 1};
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        const struct network_edge *edge = &network->edges[e];
        int64_t label = standing->label[standing->graph.first_node[edge->to] + edge->to_port];
        span->first = label < span->first ? label : span->first;
        span->last = label > span->last ? label : span->last;
    }
    return span;
}

/* Outputs of the next switch that have their place before the hop's own channel. */
static void find_before(struct repair_block *block, const struct network_edge *hop,
                        uint64_t before[4])
{
    const struct network *network = block->network;
    const struct standing *standing = block->standing;
    int64_t label = standing->label[standing->graph.first_node[hop->to] + hop->to_port];
    memset(before, 0, 4 * sizeof *before);
    for (uint32_t e = network->first_edge[hop->to]; e < network->first_edge[hop->to + 1]; e++) {
        const struct network_edge *edge = &network->edges[e];
        if (label >= standing->label[standing->graph.first_node[edge->to] + edge->to_port])
            bitset_add(before, edge->port);
    }
}

/* Those that leave by such an output do not fit. */
static uint64_t find_fitting(struct repair_block *block, const struct network_edge *hop,
                             const uint64_t before[4], uint64_t lids)
{
    const uint8_t *row = repair_block_entry(block, hop->to, 0);
    uint64_t fitting = lids;
    for (uint64_t left = lids; left; left &= left - 1) {
        size_t lid = (size_t)__builtin_ctzll(left);
        fitting ^= (uint64_t)bitset_has(before, row[lid]) << lid;
        block->operations++;
    }
    return fitting;
}

uint64_t repair_block_fitting(struct repair_block *block, uint32_t channel,
                              const struct network_edge *hop, uint64_t lids)
{
    const struct standing *standing = block->standing;
    struct repair_fitting *fitting = &block->fitting[channel];
    uint32_t node = standing->graph.first_node[hop->to] + hop->to_port;
    const struct repair_span *span = span_from(block, hop->to);
    if (standing->label[node] < span->first)
        return lids;
    if (standing->label[node] >= span->last)
        return lids & block->ends[hop->to];
    uint32_t order = block->fitting_order[channel];
    bool valid = order == standing->moves + 1 ||
                 (order > standing->moved[node] && order > standing->moved_from[hop->to]);
    if (!valid || fitting->number != block->number)
        fitting->asked = fitting->lids = 0;
    uint64_t missing = lids & ~fitting->asked;
    if (missing) {
        uint64_t before[4] = {valid ? fitting->before : 0};
        if (!valid || block->network->switches.items[hop->to].port_count >= 64)
            find_before(block, hop, before);
        fitting->lids |= find_fitting(block, hop, before, missing);
        fitting->asked |= missing;
        fitting->before = before[0];
        fitting->number = block->number;
        block->fitting_order[channel] = standing->moves + 1;
    }
    return fitting->lids & lids;
}
