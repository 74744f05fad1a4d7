/* Cycles in the channel dependency graph: depth first to find one, breadth first to shorten it. */
#include "routing/check/dependency.h"

#include "base/bitset.h"

#include <string.h>

/* All but the edges. */
static size_t lay_out(struct dependency_graph *graph, const struct network *network, unsigned vls)
{
    uint32_t switches = (uint32_t)network->switches.count, nodes = 0;
    size_t words = 0;
    *graph = (struct dependency_graph){.network = network, .vls = vls};
    graph->first_word = mem_alloc((switches + 1) * sizeof *graph->first_word);
    graph->first_node = mem_alloc((switches + 1) * sizeof *graph->first_node);
    for (uint32_t at = 0; at < switches; at++) {
        uint32_t rows = (network->switches.items[at].port_count + 1u) * vls;
        graph->first_word[at] = words;
        graph->first_node[at] = nodes;
        words += rows * dependency_row_words(graph, at);
        nodes += rows;
    }
    graph->first_word[switches] = words;
    graph->first_node[switches] = nodes;
    return words;
}

void dependency_init(struct dependency_graph *graph, const struct network *network, unsigned vls)
{
    size_t words = lay_out(graph, network, vls);
    graph->bits = mem_zalloc(words + 1, sizeof *graph->bits);
}

void dependency_release(struct dependency_graph *graph)
{
    mem_free(graph->first_word);
    mem_free(graph->first_node);
    mem_free(graph->bits);
    *graph = (struct dependency_graph){0};
}

void dependency_copy(struct dependency_graph *graph, const struct dependency_graph *from)
{
    size_t words = lay_out(graph, from->network, from->vls);
    graph->bits = mem_alloc((words + 1) * sizeof *graph->bits);
    memcpy(graph->bits, from->bits, words * sizeof *graph->bits);
}

static void move_rows(struct dependency_graph *graph, const struct dependency_graph *from,
                      uint32_t old, uint32_t at, const uint8_t *is_new)
{
    const struct network_switch *node = &graph->network->switches.items[at];
    size_t words = dependency_row_words(graph, at);
    uint32_t rows = (node->port_count + 1u) * graph->vls;
    uint64_t *first = dependency_row(graph, at, 0, 0);
    memcpy(first, dependency_row(from, old, 0, 0), rows * words * sizeof *first);
    for (unsigned port = 1; port <= node->port_count; port++) {
        if (!is_new[node->first_port + port])
            continue;
        memset(dependency_row(graph, at, port, 0), 0, graph->vls * words * sizeof *first);
        for (uint32_t i = 0; i < rows; i++)
            for (unsigned bit = port * graph->vls; bit < (port + 1) * graph->vls; bit++)
                bitset_drop(first + i * words, bit);
    }
}

void dependency_move(struct dependency_graph *graph, const struct dependency_graph *from,
                     const struct network *network, const uint32_t *to_new, const uint8_t *is_new)
{
    size_t words = lay_out(graph, network, from->vls);
    uint8_t *moved = mem_zalloc(network->switches.count + 1, 1);
    graph->bits = mem_alloc((words + 1) * sizeof *graph->bits);
    for (uint32_t old = 0; old < from->network->switches.count; old++)
        if (to_new[old] != NETWORK_NONE) {
            move_rows(graph, from, old, to_new[old], is_new);
            moved[to_new[old]] = 1;
        }
    for (uint32_t at = 0; at < network->switches.count; at++)
        if (!moved[at])
            memset(graph->bits + graph->first_word[at], 0,
                   (graph->first_word[at + 1] - graph->first_word[at]) * sizeof *graph->bits);
    mem_free(moved);
}

void dependency_merge(struct dependency_graph *graph, const struct dependency_graph *other)
{
    for (size_t i = 0; i < graph->first_word[graph->network->switches.count]; i++)
        graph->bits[i] |= other->bits[i];
}

uint64_t dependency_count(const struct dependency_graph *graph)
{
    uint64_t count = 0;
    for (size_t i = 0; i < graph->first_word[graph->network->switches.count]; i++)
        count += (unsigned)__builtin_popcountll(graph->bits[i]);
    return count;
}

void dependency_each(const struct dependency_graph *graph,
                     void (*visit)(void *context, uint32_t at, unsigned in, unsigned out,
                                   unsigned vl),
                     void *context)
{
    const struct network *network = graph->network;
    for (uint32_t at = 0; at < network->switches.count; at++)
        for (unsigned in = 0; in <= network->switches.items[at].port_count; in++)
            for (unsigned vl = 0; vl < graph->vls; vl++) {
                const uint64_t *row = dependency_row(graph, at, in, vl);
                for (size_t word = 0; word < dependency_row_words(graph, at); word++)
                    for (uint64_t left = row[word]; left; left &= left - 1) {
                        size_t bit = word * 64 + (unsigned)__builtin_ctzll(left);
                        visit(context, at, in, (unsigned)(bit / graph->vls), vl);
                    }
            }
}

/* A node and how far its row of successors was read. */
struct cursor {
    uint32_t at;
    uint32_t node;
    uint32_t bit;
};

/* The next successor, or false. */
static bool next_successor(const struct dependency_graph *graph, struct cursor *cursor,
                           struct cursor *successor)
{
    const struct network *network = graph->network;
    const struct network_switch *node = &network->switches.items[cursor->at];
    size_t words = dependency_row_words(graph, cursor->at);
    const uint64_t *row = graph->bits + graph->first_word[cursor->at] +
                          (cursor->node - graph->first_node[cursor->at]) * words;
    for (size_t word = cursor->bit / 64; word < words; word++) {
        uint64_t left = row[word];
        if (word == cursor->bit / 64)
            left &= ~UINT64_C(0) << (cursor->bit % 64);
        if (!left)
            continue;
        uint32_t bit = (uint32_t)(word * 64 + (unsigned)__builtin_ctzll(left));
        cursor->bit = bit + 1;
        const struct network_port *link =
            &network->ports.items[node->first_port + bit / graph->vls];
        uint32_t to = link->peer & ~NETWORK_SWITCH;
        *successor = (struct cursor){
            .at = to,
            .node = graph->first_node[to] + link->peer_port * graph->vls + bit % graph->vls,
        };
        return true;
    }
    cursor->bit = (uint32_t)(words * 64);
    return false;
}

enum { UNSEEN, OPEN, DONE };

/* Depth first from one node; true with *found on a cycle. */
static bool descend(const struct dependency_graph *graph, uint8_t *colour, struct cursor start,
                    struct cursor *found, uint64_t *operations)
{
    VEC(struct cursor) stack = {0};
    bool cyclic = false;
    colour[start.node] = OPEN;
    vec_push(&stack, start);
    while (stack.count && !cyclic) {
        struct cursor next;
        ++*operations;
        if (!next_successor(graph, &stack.items[stack.count - 1], &next)) {
            colour[stack.items[--stack.count].node] = DONE;
        } else if (colour[next.node] == OPEN) {
            *found = next;
            cyclic = true;
        } else if (colour[next.node] == UNSEEN) {
            colour[next.node] = OPEN;
            vec_push(&stack, next);
        }
    }
    vec_release(&stack);
    return cyclic;
}

static void push_channel(const struct dependency_graph *graph, const struct cursor *cursor,
                         struct verify_report *report)
{
    const struct network *network = graph->network;
    uint32_t row = cursor->node - graph->first_node[cursor->at];
    const struct network_port *link =
        &network->ports.items[network->switches.items[cursor->at].first_port + row / graph->vls];
    vec_push(&report->cycle, ((struct verify_channel){.at = link->peer & ~NETWORK_SWITCH,
                                                      .port = link->peer_port,
                                                      .vl = (uint8_t)(row % graph->vls)}));
}

/* The shortest way from a node back to itself. There is one. */
static void shorten(const struct dependency_graph *graph, struct cursor start,
                    struct verify_report *report)
{
    uint32_t nodes = graph->first_node[graph->network->switches.count];
    uint32_t *parent = mem_alloc(nodes * sizeof *parent);
    VEC(struct cursor) queue = {0};
    VEC(struct cursor) back = {0};
    memset(parent, 0xFF, nodes * sizeof *parent);
    start.bit = 0;
    vec_push(&queue, start);
    for (uint32_t head = 0; head < queue.count && parent[start.node] == NETWORK_NONE; head++) {
        struct cursor from = queue.items[head], next;
        while (next_successor(graph, &from, &next)) {
            if (parent[next.node] != NETWORK_NONE)
                continue;
            parent[next.node] = head;
            if (next.node != start.node)
                vec_push(&queue, next);
        }
    }
    for (uint32_t at = parent[start.node]; at != 0; at = parent[queue.items[at].node])
        vec_push(&back, queue.items[at]);
    push_channel(graph, &start, report);
    while (back.count)
        push_channel(graph, &back.items[--back.count], report);
    vec_release(&queue);
    vec_release(&back);
    mem_free(parent);
}

bool dependency_find_cycle_from(const struct dependency_graph *graph,
                                const struct dependency_node *nodes, size_t count,
                                uint64_t *operations, struct verify_report *report)
{
    uint8_t *colour = mem_zalloc(graph->first_node[graph->network->switches.count] + 1, 1);
    struct cursor found;
    bool cyclic = false;
    for (size_t i = 0; i < count && !cyclic; i++)
        if (colour[nodes[i].node] == UNSEEN)
            cyclic = descend(graph, colour, (struct cursor){nodes[i].at, nodes[i].node, 0}, &found,
                             operations);
    mem_free(colour);
    if (cyclic)
        shorten(graph, found, report);
    return cyclic;
}

bool dependency_find_cycle(const struct dependency_graph *graph, struct verify_report *report)
{
    VEC(struct dependency_node) nodes = {0};
    uint64_t unused = 0;
    vec_reserve(&nodes, graph->first_node[graph->network->switches.count]);
    for (uint32_t at = 0; at < graph->network->switches.count; at++)
        for (uint32_t node = graph->first_node[at]; node < graph->first_node[at + 1]; node++)
            vec_push(&nodes, ((struct dependency_node){at, node}));
    bool cyclic = dependency_find_cycle_from(graph, nodes.items, nodes.count, &unused, report);
    vec_release(&nodes);
    return cyclic;
}

void verify_write_cycle(const struct network *network, const struct verify_channel *cycle,
                        size_t count, struct text *out)
{
    char label[NETWORK_LABEL_BYTES];
    if (count == 0)
        return;
    text_printf(out, "VL %u: ", cycle[0].vl);
    for (size_t i = 0; i < count; i++) {
        text_printf(out, "%s port %u", network_label(network, NETWORK_SWITCH | cycle[i].at, label),
                    cycle[i].port);
        if (cycle[i].vl != cycle[0].vl)
            text_printf(out, " (VL %u)", cycle[i].vl);
        text_puts(out, " -> ");
    }
    text_puts(out, network_label(network, NETWORK_SWITCH | cycle[0].at, label));
}
