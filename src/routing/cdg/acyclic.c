#include "routing/cdg/acyclic.h"

#include "base/bitset.h"

#include <stdlib.h>
#include <string.h>

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Channels that lead up come first, from the bottom to the top; then those that lead down. */
static uint64_t *order_by_rank(const struct network *network, const uint32_t *rank)
{
    uint64_t *keys = mem_zalloc(network->ports.count, sizeof *keys);
    uint64_t switches = network->switches.count;
    for (uint32_t at = 0; at < switches; at++) {
        const struct network_switch *node = &network->switches.items[at];
        for (unsigned port = 0; port <= node->port_count; port++) {
            uint32_t channel = node->first_port + port;
            uint32_t to = network->ports.items[channel].peer ^ NETWORK_SWITCH;
            bool up = to < switches && rank[to] < rank[at];
            keys[channel] = (up ? switches - rank[at] : switches + 1 + rank[at]) << 32 | channel;
        }
    }
    return keys;
}

void acyclic_init_order(struct acyclic *graph, const struct network *network, uint64_t *order)
{
    unsigned most_ports = 0;
    size_t channels = network->ports.count;
    for (size_t i = 0; i < network->switches.count; i++)
        if (network->switches.items[i].port_count > most_ports)
            most_ports = network->switches.items[i].port_count;
    *graph = (struct acyclic){
        .network = network,
        .row_words = BITSET_WORDS(most_ports + 1),
        .before = mem_zalloc(channels, sizeof *graph->before),
        .place = mem_alloc(channels * sizeof *graph->place),
        .mark = mem_zalloc(channels, sizeof *graph->mark),
    };
    graph->bits = mem_zalloc(channels * graph->row_words, sizeof *graph->bits);
    graph->refused = mem_zalloc(channels * graph->row_words, sizeof *graph->refused);
    qsort(order, channels, sizeof *order, compare_keys);
    for (uint32_t i = 0; i < channels; i++)
        graph->place[(uint32_t)order[i]] = i;
}

void acyclic_init(struct acyclic *graph, const struct network *network, const uint32_t *rank)
{
    uint64_t *order = order_by_rank(network, rank);
    acyclic_init_order(graph, network, order);
    mem_free(order);
}

void acyclic_release(struct acyclic *graph)
{
    for (size_t i = 0; graph->before && i < graph->network->ports.count; i++)
        vec_release(&graph->before[i].items);
    mem_free(graph->before);
    mem_free(graph->bits);
    mem_free(graph->refused);
    mem_free(graph->place);
    mem_free(graph->mark);
    vec_release(&graph->ahead);
    vec_release(&graph->behind);
    vec_release(&graph->places);
    *graph = (struct acyclic){0};
}

/* The first port of the switch where a channel arrives. */
static uint32_t arrival_of(const struct acyclic *graph, uint32_t channel)
{
    uint32_t to = graph->network->ports.items[channel].peer & ~NETWORK_SWITCH;
    return graph->network->switches.items[to].first_port;
}

static uint64_t *row_of(const struct acyclic *graph, uint32_t channel)
{
    return graph->bits + (size_t)channel * graph->row_words;
}

/* In a row: the port by which `to` leaves the switch where `from` arrives. */
static uint32_t place_of(const struct acyclic *graph, uint32_t from, uint32_t to)
{
    return to - arrival_of(graph, from);
}

bool acyclic_has(const struct acyclic *graph, uint32_t from, uint32_t to)
{
    return bitset_has(row_of(graph, from), place_of(graph, from, to));
}

/* What `start` leads to, up to a place; false if `goal` is among it. */
static bool look_ahead(struct acyclic *graph, uint32_t start, uint32_t goal)
{
    uint32_t limit = graph->place[goal];
    graph->ahead.count = 0;
    graph->mark[start] = ++graph->search;
    vec_push(&graph->ahead, start);
    for (size_t i = 0; i < graph->ahead.count; i++) {
        uint32_t channel = graph->ahead.items[i], first = arrival_of(graph, channel);
        for (unsigned word = 0; word < graph->row_words; word++) {
            for (uint64_t left = row_of(graph, channel)[word]; left; left &= left - 1) {
                uint32_t next = first + word * 64 + (unsigned)__builtin_ctzll(left);
                if (next == goal)
                    return false;
                if (graph->mark[next] == graph->search || graph->place[next] > limit)
                    continue;
                graph->mark[next] = graph->search;
                vec_push(&graph->ahead, next);
            }
        }
    }
    return true;
}

/* What leads to `start`, down to a place. */
static void look_behind(struct acyclic *graph, uint32_t start, uint32_t limit)
{
    graph->behind.count = 0;
    graph->mark[start] = ++graph->search;
    vec_push(&graph->behind, start);
    for (size_t i = 0; i < graph->behind.count; i++) {
        const struct acyclic_list *before = &graph->before[graph->behind.items[i]];
        for (size_t k = 0; k < before->items.count; k++) {
            uint32_t next = before->items.items[k];
            if (graph->mark[next] == graph->search || graph->place[next] < limit)
                continue;
            graph->mark[next] = graph->search;
            vec_push(&graph->behind, next);
        }
    }
}

/* Sorts channels by place: through keys, since qsort has no context. */
static void sort_by_place(const struct acyclic *graph, uint32_t *channels, size_t count)
{
    uint64_t *keys = mem_alloc(count * sizeof *keys);
    for (size_t i = 0; i < count; i++)
        keys[i] = (uint64_t)graph->place[channels[i]] << 32 | channels[i];
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < count; i++)
        channels[i] = (uint32_t)keys[i];
    mem_free(keys);
}

static int compare_places(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* What is behind takes the first of all their places, what is ahead the last. */
static void exchange_places(struct acyclic *graph)
{
    size_t next = 0;
    sort_by_place(graph, graph->behind.items, graph->behind.count);
    sort_by_place(graph, graph->ahead.items, graph->ahead.count);
    graph->places.count = 0;
    for (size_t i = 0; i < graph->behind.count; i++)
        vec_push(&graph->places, graph->place[graph->behind.items[i]]);
    for (size_t i = 0; i < graph->ahead.count; i++)
        vec_push(&graph->places, graph->place[graph->ahead.items[i]]);
    qsort(graph->places.items, graph->places.count, sizeof *graph->places.items, compare_places);
    for (size_t i = 0; i < graph->behind.count; i++)
        graph->place[graph->behind.items[i]] = graph->places.items[next++];
    for (size_t i = 0; i < graph->ahead.count; i++)
        graph->place[graph->ahead.items[i]] = graph->places.items[next++];
}

bool acyclic_add(struct acyclic *graph, uint32_t from, uint32_t to)
{
    if (acyclic_has(graph, from, to))
        return true;
    uint64_t *refused = graph->refused + (size_t)from * graph->row_words;
    if (from == to || bitset_has(refused, place_of(graph, from, to)))
        return false;
    if (graph->place[from] > graph->place[to]) {
        if (!look_ahead(graph, to, from)) {
            bitset_add(refused, place_of(graph, from, to));
            return false;
        }
        look_behind(graph, from, graph->place[to]);
        exchange_places(graph);
    }
    bitset_add(row_of(graph, from), place_of(graph, from, to));
    vec_push(&graph->before[to].items, from);
    return true;
}

void acyclic_remove(struct acyclic *graph, uint32_t from, uint32_t to)
{
    struct acyclic_list *before = &graph->before[to];
    bitset_drop(row_of(graph, from), place_of(graph, from, to));
    for (size_t i = 0; i < before->items.count; i++) {
        if (before->items.items[i] != from)
            continue;
        before->items.items[i] = before->items.items[--before->items.count];
        return;
    }
}
