/* Levels from the roots, and ranks by level, LID and index. */
#include "routing/search/updown.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>

/* Level, LID and index in one number that sorts like the key. */
static uint64_t key_of(uint32_t level, uint16_t lid, uint32_t index)
{
    return (uint64_t)level << 40 | (uint64_t)lid << 24 | index;
}

/* All but the levels. */
static void make_ranks(struct updown *updown, const struct network *network)
{
    uint32_t switches = (uint32_t)network->switches.count;
    updown->rank = mem_alloc(switches * sizeof *updown->rank);
    updown->order = mem_alloc(switches * sizeof *updown->order);
    uint64_t *keys = mem_alloc(switches * sizeof *keys);
    for (uint32_t at = 0; at < switches; at++)
        keys[at] = key_of(updown->level[at], network->switches.items[at].lid, at);
    sort_u64(keys, switches);
    for (uint32_t rank = 0; rank < switches; rank++) {
        updown->order[rank] = keys[rank] & 0xFFFFFF;
        updown->rank[updown->order[rank]] = rank;
    }
    mem_free(keys);
}

void updown_init(struct updown *updown, const struct network *network, const uint32_t *roots,
                 size_t root_count)
{
    uint32_t switches = (uint32_t)network->switches.count, tail = 0;
    uint32_t *queue = mem_alloc(switches * sizeof *queue);
    updown->level = mem_alloc(switches * sizeof *updown->level);
    updown->part = mem_alloc(switches * sizeof *updown->part);
    updown->part_count = network_parts(network, updown->part);
    bool *rooted = mem_zalloc(updown->part_count, sizeof *rooted);
    for (uint32_t at = 0; at < switches; at++)
        updown->level[at] = NETWORK_NONE;
    for (size_t i = 0; i < root_count; i++) {
        if (updown->level[roots[i]] == 0)
            continue;
        updown->level[roots[i]] = 0;
        queue[tail++] = roots[i];
        rooted[updown->part[roots[i]]] = true;
    }
    for (uint32_t at = 0; at < switches; at++) {
        if (rooted[updown->part[at]])
            continue;
        rooted[updown->part[at]] = true;
        updown->level[at] = 0;
        queue[tail++] = at;
    }
    network_spread(network, updown->level, queue, tail);
    make_ranks(updown, network);
    mem_free(rooted);
    mem_free(queue);
}

void updown_init_levels(struct updown *updown, const struct network *network, uint32_t *level)
{
    updown->level = level;
    updown->part = mem_alloc(network->switches.count * sizeof *updown->part);
    updown->part_count = network_parts(network, updown->part);
    make_ranks(updown, network);
}

void updown_release(struct updown *updown)
{
    mem_free(updown->level);
    mem_free(updown->rank);
    mem_free(updown->order);
    mem_free(updown->part);
    *updown = (struct updown){0};
}

uint32_t updown_terminal_rank(const struct updown *updown, const struct network *network,
                              uint32_t terminal)
{
    const struct network_terminal *node = &network->terminals.items[terminal];
    uint64_t key = key_of(updown->level[node->at] + 1, node->lid, 0);
    const uint32_t *order = updown->order;
    size_t rank;
    lower_bound(rank, network->switches.count,
                key_of(updown->level[order[rank]], network->switches.items[order[rank]].lid,
                       order[rank]) < key);
    return (uint32_t)rank;
}

void updown_count_gap(struct updown_gaps *gaps, const struct network *network, uint32_t from,
                      uint32_t to)
{
    assert(from != to);
    uint64_t sources = network_terminal_count(network, from);
    uint64_t targets = network_terminal_count(network, to);
    if (!sources || !targets) {
        gaps->other_pairs += sources + targets;
        return;
    }
    updown_add_gaps(gaps, &(struct updown_gaps){sources * targets, 0, from, to});
}

void updown_add_gaps(struct updown_gaps *sum, const struct updown_gaps *gaps)
{
    if (!sum->terminal_pairs) {
        sum->from = gaps->from;
        sum->to = gaps->to;
    }
    sum->terminal_pairs += gaps->terminal_pairs;
    sum->other_pairs += gaps->other_pairs;
}

int updown_refuse(const struct network *network, const struct updown_gaps *gaps, struct err *err)
{
    char first[NETWORK_LABEL_BYTES], last[NETWORK_LABEL_BYTES];
    return err_set(err, ENETUNREACH,
                   "%llu pairs of ports have no up*-down* route with these roots (the first from "
                   "%s to %s)",
                   (unsigned long long)gaps->terminal_pairs,
                   network_label(network, NETWORK_SWITCH | gaps->from, first),
                   network_label(network, NETWORK_SWITCH | gaps->to, last));
}
