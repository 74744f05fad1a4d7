#include "routing/cdg/order_graph.h"

#include <stdlib.h>
#include <string.h>

static size_t row_words(const struct order_graph *graph, uint32_t at)
{
    return (graph->network->switches.items[at].port_count + 64u) / 64;
}

static uint64_t *row_of(const struct order_graph *graph, uint32_t at, unsigned in)
{
    return graph->bits + graph->first_word[at] + in * row_words(graph, at);
}

void order_graph_init(struct order_graph *graph, const struct network *network)
{
    uint32_t switches = (uint32_t)network->switches.count, nodes = (uint32_t)network->ports.count;
    size_t words = 0;
    *graph = (struct order_graph){.network = network};
    graph->first_word = mem_alloc((switches + 1) * sizeof *graph->first_word);
    graph->switch_of = mem_alloc(nodes * sizeof *graph->switch_of);
    graph->place = mem_alloc(nodes * sizeof *graph->place);
    graph->mark = mem_zalloc(nodes, 1);
    for (uint32_t at = 0; at < switches; at++) {
        const struct network_switch *node = &network->switches.items[at];
        graph->first_word[at] = words;
        words += (node->port_count + 1u) * row_words(graph, at);
        for (unsigned port = 0; port <= node->port_count; port++)
            graph->switch_of[node->first_port + port] = at;
    }
    graph->first_word[switches] = words;
    graph->bits = mem_zalloc(words, sizeof *graph->bits);
}

void order_graph_release(struct order_graph *graph)
{
    mem_free(graph->first_word);
    mem_free(graph->bits);
    mem_free(graph->place);
    mem_free(graph->switch_of);
    mem_free(graph->mark);
    vec_release(&graph->added);
    vec_release(&graph->ahead);
    vec_release(&graph->behind);
    vec_release(&graph->stack);
}

void order_graph_clear(struct order_graph *graph)
{
    size_t words = graph->first_word[graph->network->switches.count];
    if (words)
        memset(graph->bits, 0, words * sizeof *graph->bits);
    graph->added.count = 0;
}

/* The node that a packet enters by leaving a switch through a port. */
static uint32_t node_behind(const struct order_graph *graph, uint32_t at, unsigned out)
{
    const struct network *network = graph->network;
    const struct network_port *link =
        &network->ports.items[network->switches.items[at].first_port + out];
    return network->switches.items[link->peer & ~NETWORK_SWITCH].first_port + link->peer_port;
}

void order_graph_put(struct order_graph *graph, uint32_t at, uint8_t in, uint8_t out)
{
    row_of(graph, at, in)[out / 64] |= UINT64_C(1) << (out % 64);
}

/* Calls for every successor of a node; in ascending order of output ports. */
static void each_successor(const struct order_graph *graph, uint32_t node,
                           void (*visit)(void *context, uint32_t next), void *context)
{
    uint32_t at = graph->switch_of[node];
    const uint64_t *row = row_of(graph, at, node - graph->network->switches.items[at].first_port);
    for (size_t word = 0; word < row_words(graph, at); word++)
        for (uint64_t left = row[word]; left; left &= left - 1)
            visit(context,
                  node_behind(graph, at, (unsigned)(word * 64 + (unsigned)__builtin_ctzll(left))));
}

struct sorting {
    uint32_t *waits; /* by node: predecessors that have no place yet */
    uint32_t *queue;
    uint32_t tail;
};

static void add_wait(void *context, uint32_t next)
{
    ((struct sorting *)context)->waits[next]++;
}

static void end_wait(void *context, uint32_t next)
{
    struct sorting *sorting = context;
    if (--sorting->waits[next] == 0)
        sorting->queue[sorting->tail++] = next;
}

bool order_graph_sort(struct order_graph *graph)
{
    uint32_t nodes = (uint32_t)graph->network->ports.count, head = 0;
    struct sorting sorting = {
        .waits = mem_zalloc(nodes, sizeof(uint32_t)),
        .queue = mem_alloc(nodes * sizeof(uint32_t)),
    };
    for (uint32_t node = 0; node < nodes; node++)
        each_successor(graph, node, add_wait, &sorting);
    for (uint32_t node = 0; node < nodes; node++)
        if (sorting.waits[node] == 0)
            sorting.queue[sorting.tail++] = node;
    for (; head < sorting.tail; head++) {
        graph->place[sorting.queue[head]] = head;
        each_successor(graph, sorting.queue[head], end_wait, &sorting);
    }
    mem_free(sorting.waits);
    mem_free(sorting.queue);
    return head == nodes;
}

struct search {
    struct order_graph *graph;
    uint32_t goal;
    bool met;
};

static void look_ahead(void *context, uint32_t next)
{
    struct search *search = context;
    struct order_graph *graph = search->graph;
    graph->operations++;
    search->met |= next == search->goal;
    if (graph->mark[next] || graph->place[next] > graph->place[search->goal])
        return;
    graph->mark[next] = 1;
    vec_push(&graph->stack, next);
}

/* Gathers in `ahead` what is reachable from `start` up to the place of `goal`; true if that is. */
static bool search_ahead(struct order_graph *graph, uint32_t start, uint32_t goal)
{
    struct search search = {.graph = graph, .goal = goal};
    graph->ahead.count = graph->stack.count = 0;
    graph->mark[start] = 1;
    vec_push(&graph->stack, start);
    while (graph->stack.count) {
        uint32_t node = graph->stack.items[--graph->stack.count];
        vec_push(&graph->ahead, node);
        if (!search.met)
            each_successor(graph, node, look_ahead, &search);
    }
    for (size_t i = 0; i < graph->ahead.count; i++)
        graph->mark[graph->ahead.items[i]] = 0;
    return search.met;
}

/* Gathers in `behind` what reaches `start`, down to the place of `floor`. */
static void search_behind(struct order_graph *graph, uint32_t start, uint32_t floor)
{
    const struct network *network = graph->network;
    graph->behind.count = graph->stack.count = 0;
    graph->mark[start] = 1;
    vec_push(&graph->stack, start);
    while (graph->stack.count) {
        uint32_t node = graph->stack.items[--graph->stack.count];
        const struct network_port *link = &network->ports.items[node];
        vec_push(&graph->behind, node);
        uint32_t from = link->peer & ~NETWORK_SWITCH;
        const struct network_switch *sender = &network->switches.items[from];
        graph->operations += sender->port_count;
        for (unsigned in = 1; in <= sender->port_count; in++) {
            uint32_t before = sender->first_port + in;
            if (!(row_of(graph, from, in)[link->peer_port / 64] >> (link->peer_port % 64) & 1) ||
                graph->mark[before] || graph->place[before] < graph->place[floor])
                continue;
            graph->mark[before] = 1;
            vec_push(&graph->stack, before);
        }
    }
    for (size_t i = 0; i < graph->behind.count; i++)
        graph->mark[graph->behind.items[i]] = 0;
}

static int compare_places(const void *a, const void *b, void *context)
{
    const uint32_t *place = context;
    uint32_t x = place[*(const uint32_t *)a], y = place[*(const uint32_t *)b];
    return (x > y) - (x < y);
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* What lies behind the new edge goes before what lies ahead, in the places that both had. */
static void reorder(struct order_graph *graph)
{
    size_t behind = graph->behind.count, total = behind + graph->ahead.count;
    unsigned depth = 64u - (unsigned)__builtin_clzll(total);
    graph->operations += 2 * total * depth; /* two sorts of all of them */
    qsort_r(graph->behind.items, behind, sizeof(uint32_t), compare_places, graph->place);
    qsort_r(graph->ahead.items, graph->ahead.count, sizeof(uint32_t), compare_places, graph->place);
    vec_reserve(&graph->stack, total);
    for (size_t i = 0; i < behind; i++)
        graph->stack.items[i] = graph->place[graph->behind.items[i]];
    for (size_t i = behind; i < total; i++)
        graph->stack.items[i] = graph->place[graph->ahead.items[i - behind]];
    qsort(graph->stack.items, total, sizeof(uint32_t), compare_numbers);
    for (size_t i = 0; i < total; i++) {
        uint32_t node = i < behind ? graph->behind.items[i] : graph->ahead.items[i - behind];
        graph->place[node] = graph->stack.items[i];
    }
}

bool order_graph_add(struct order_graph *graph, uint32_t at, uint8_t in, uint8_t out)
{
    uint64_t *word = row_of(graph, at, in) + out / 64, bit = UINT64_C(1) << (out % 64);
    if (*word & bit)
        return true;
    uint32_t from = graph->network->switches.items[at].first_port + in;
    uint32_t to = node_behind(graph, at, out);
    if (from == to)
        return false;
    if (graph->place[to] < graph->place[from]) {
        if (search_ahead(graph, to, from))
            return false;
        search_behind(graph, from, to);
        reorder(graph);
    }
    *word |= bit;
    vec_push(&graph->added, ((struct order_edge){.at = at, .in = in, .out = out}));
    return true;
}

void order_graph_undo(struct order_graph *graph)
{
    for (size_t i = 0; i < graph->added.count; i++) {
        const struct order_edge *edge = &graph->added.items[i];
        row_of(graph, edge->at, edge->in)[edge->out / 64] &= ~(UINT64_C(1) << (edge->out % 64));
    }
    graph->added.count = 0;
}

void order_graph_keep(struct order_graph *graph)
{
    graph->added.count = 0;
}
