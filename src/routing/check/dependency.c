/* The graph as rows of bits; a search depth first finds a cycle, one breadth first shortens it. */
#include "routing/check/dependency.h"

#include "base/map.h"

#include <assert.h>
#include <string.h>

/* All but the edges. Returns how many words they take. */
static size_t lay_out(struct dependency_graph *graph, const struct network *network, unsigned vls)
{
    uint32_t switches = (uint32_t)network->switches.count;
    size_t words = 0;
    *graph = (struct dependency_graph){.network = network, .vls = vls};
    graph->first_word = mem_alloc((switches + 1) * sizeof *graph->first_word);
    for (uint32_t at = 0; at < switches; at++) {
        uint32_t rows = (network->switches.items[at].port_count + 1u) * vls;
        graph->first_word[at] = words;
        words += rows * dependency_row_words(graph, at);
    }
    graph->first_word[switches] = words;
    return words;
}

void dependency_init(struct dependency_graph *graph, const struct network *network, unsigned vls)
{
    assert(vls > 0);
    size_t words = lay_out(graph, network, vls);
    graph->bits = mem_zalloc(words + 1, sizeof *graph->bits);
}

void dependency_release(struct dependency_graph *graph)
{
    mem_free(graph->first_word);
    mem_free(graph->bits);
    *graph = (struct dependency_graph){0};
}

static void move_dependency_rows(struct dependency_graph *graph,
                                 const struct dependency_graph *from, uint32_t old, uint32_t at,
                                 const uint8_t *is_new)
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
            move_dependency_rows(graph, from, old, to_new[old], is_new);
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
                        assert(bit % graph->vls == vl);
                        visit(context, at, in, (unsigned)(bit / graph->vls), vl);
                    }
            }
}

/* ---- cycles ---- */

/* A node: the switch where its channel arrives, and its row there; and the switch where the channel
 * begins, and its bit in the rows of that one. */
struct dependency_node {
    uint32_t at, row;
    uint32_t from, bit;
};

/* The node of a bit of a row. */
static struct dependency_node successor(const struct dependency_graph *graph, uint32_t from,
                                        uint32_t bit)
{
    const struct network_switch *node = &graph->network->switches.items[from];
    const struct network_port *link =
        &graph->network->ports.items[node->first_port + bit / graph->vls];
    return (struct dependency_node){.at = link->peer & ~NETWORK_SWITCH,
                                    .row = link->peer_port * graph->vls + bit % graph->vls,
                                    .from = from,
                                    .bit = bit};
}

/* Sets of nodes: a row of bits for each switch, one bit for each channel that begins there. */
struct cycle_search {
    const struct dependency_graph *graph;
    struct arena memory;
    size_t *first_word; /* by switch */
    uint64_t *open;     /* on the path from the start to where the search is */
    uint64_t *done;     /* they lead into no cycle */
    VEC(struct dependency_node) path;
    uint64_t operations;
};

static void cycle_search_init(struct cycle_search *search, const struct dependency_graph *graph)
{
    uint32_t switches = (uint32_t)graph->network->switches.count;
    size_t words = 0;
    *search = (struct cycle_search){.graph = graph};
    search->first_word = arena_alloc(&search->memory, switches * sizeof *search->first_word);
    for (uint32_t at = 0; at < switches; at++) {
        search->first_word[at] = words;
        words += dependency_row_words(graph, at);
    }
    search->open = arena_alloc(&search->memory, words * sizeof *search->open);
    search->done = arena_alloc(&search->memory, words * sizeof *search->done);
}

static void cycle_search_release(struct cycle_search *search)
{
    arena_release(&search->memory);
    vec_release(&search->path);
}

/* The next successor of a node that is not done; false if there is none. */
static bool next_successor(const struct cycle_search *search, const struct dependency_node *node,
                           struct dependency_node *next)
{
    const struct dependency_graph *graph = search->graph;
    size_t words = dependency_row_words(graph, node->at);
    const uint64_t *row = graph->bits + graph->first_word[node->at] + node->row * words;
    const uint64_t *done = search->done + search->first_word[node->at];
    for (size_t word = 0; word < words; word++) {
        uint64_t left = row[word] & ~done[word];
        if (!left)
            continue;
        uint32_t bit = (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(left);
        *next = successor(graph, node->at, bit);
        return true;
    }
    return false;
}

/* Depth first from one node. True if it leads into a cycle: that is the end of the path, and begins
 * with `found`. */
static bool search_depth_first(struct cycle_search *search, struct dependency_node start,
                               struct dependency_node *found)
{
    search->path.count = 0;
    vec_push(&search->path, start);
    bitset_add(search->open + search->first_word[start.from], start.bit);
    while (search->path.count) {
        struct dependency_node *last = &search->path.items[search->path.count - 1];
        uint64_t *open = search->open + search->first_word[last->at];
        search->operations++;
        if (!next_successor(search, last, found)) {
            bitset_drop(search->open + search->first_word[last->from], last->bit);
            bitset_add(search->done + search->first_word[last->from], last->bit);
            search->path.count--;
        } else if (bitset_has(open, found->bit)) {
            return true;
        } else {
            bitset_add(open, found->bit);
            vec_push(&search->path, *found);
        }
    }
    return false;
}

/* The shortest path from a node that is on a cycle back to itself. */
static void shorten_cycle(const struct dependency_graph *graph, struct dependency_node start,
                          struct verify_report *report)
{
    assert(start.from < graph->network->switches.count);
    struct cycle_search seen;
    VEC(struct dependency_node) queue = {0};
    VEC(size_t) parent = {0};
    VEC(struct dependency_node) back = {0};
    size_t head = 0;
    struct dependency_node next;
    cycle_search_init(&seen, graph);
    vec_push(&queue, start);
    vec_push(&parent, 0);
    for (;;) {
        if (!next_successor(&seen, &queue.items[head], &next)) {
            head++;
            continue;
        }
        if (next.from == start.from && next.bit == start.bit)
            break;
        bitset_add(seen.done + seen.first_word[next.from], next.bit);
        vec_push(&queue, next);
        vec_push(&parent, head);
    }
    for (; head; head = parent.items[head])
        vec_push(&back, queue.items[head]);
    vec_push(&back, start);
    while (back.count) {
        const struct dependency_node *node = &back.items[--back.count];
        vec_push(&report->cycle,
                 ((struct verify_channel){.at = node->from,
                                          .port = (uint8_t)(node->bit / graph->vls),
                                          .vl = (uint8_t)(node->bit % graph->vls)}));
    }
    vec_release(&queue);
    vec_release(&parent);
    vec_release(&back);
    cycle_search_release(&seen);
}

bool dependency_find_cycle_from(const struct dependency_graph *graph,
                                const struct dependency_channel *channels, size_t count,
                                uint64_t *operations, struct verify_report *report)
{
    struct cycle_search search;
    struct dependency_node found;
    bool cyclic = false;
    cycle_search_init(&search, graph);
    for (size_t i = 0; i < count && !cyclic; i++)
        if (!bitset_has(search.done + search.first_word[channels[i].from], channels[i].bit))
            cyclic = search_depth_first(
                &search, successor(graph, channels[i].from, channels[i].bit), &found);
    *operations += search.operations;
    cycle_search_release(&search);
    if (cyclic)
        shorten_cycle(graph, found, report);
    return cyclic;
}

bool dependency_find_cycle(const struct dependency_graph *graph, struct verify_report *report)
{
    const struct network *network = graph->network;
    VEC(struct dependency_channel) channels = {0};
    uint64_t unused = 0;
    for (uint32_t at = 0; at < network->switches.count; at++)
        for (unsigned in = 1; in <= network->switches.items[at].port_count; in++) {
            const struct network_port *link = network_link_at(network, at, in);
            for (uint32_t vl = 0; link && vl < graph->vls; vl++)
                vec_push(&channels,
                         ((struct dependency_channel){link->peer & ~NETWORK_SWITCH,
                                                      link->peer_port * graph->vls + vl}));
        }
    bool cyclic =
        dependency_find_cycle_from(graph, channels.items, channels.count, &unused, report);
    vec_release(&channels);
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
