#include "routing/search/updown.h"

#include "base/sort.h"

#include <errno.h>

/* Level, LID and index in one number that sorts like the key. */
static uint64_t key_of(uint32_t level, uint16_t lid, uint32_t index)
{
    return (uint64_t)level << 40 | (uint64_t)lid << 24 | index;
}

static void sort_ranks(struct updown *updown, const struct network *network)
{
    uint32_t switches = (uint32_t)network->switches.count;
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
    updown->rank = mem_alloc(switches * sizeof *updown->rank);
    updown->order = mem_alloc(switches * sizeof *updown->order);
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
    sort_ranks(updown, network);
    mem_free(rooted);
    mem_free(queue);
}

void updown_init_levels(struct updown *updown, const struct network *network, const uint32_t *level)
{
    uint32_t switches = (uint32_t)network->switches.count;
    updown->level = mem_alloc(switches * sizeof *updown->level);
    updown->rank = mem_alloc(switches * sizeof *updown->rank);
    updown->order = mem_alloc(switches * sizeof *updown->order);
    updown->part = mem_alloc(switches * sizeof *updown->part);
    updown->part_count = network_parts(network, updown->part);
    for (uint32_t at = 0; at < switches; at++)
        updown->level[at] = level[at];
    sort_ranks(updown, network);
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
    uint32_t low = 0, high = (uint32_t)network->switches.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2, at = updown->order[middle];
        if (key_of(updown->level[at], network->switches.items[at].lid, at) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int updown_refuse(const struct network *network, uint64_t pairs, uint32_t from, uint32_t to,
                  struct err *err)
{
    char first[NETWORK_LABEL_BYTES], last[NETWORK_LABEL_BYTES];
    return err_set(err, ENETUNREACH,
                   "%llu pairs of ports have no up*-down* route with these roots (the first from "
                   "%.80s to %.80s)",
                   (unsigned long long)pairs, network_label(network, NETWORK_SWITCH | from, first),
                   network_label(network, NETWORK_SWITCH | to, last));
}
