#include "routing/cdg/standing.h"

#include <stdlib.h>
#include <string.h>

/* Room between neighbours of an order that was just made; a place behind all; and where the front
 * is so far away that all is numbered anew. */
#define GAP  (INT64_C(1) << 20)
#define LAST (INT64_C(1) << 60)
#define FAR  (-LAST)

static uint32_t node_count(const struct standing *standing)
{
    return standing->graph.first_node[standing->graph.network->switches.count];
}

static void reserve(struct standing *standing)
{
    standing->label = mem_alloc((node_count(standing) + 1u) * sizeof *standing->label);
    standing->moved = mem_zalloc(node_count(standing) + 1u, sizeof *standing->moved);
    standing->moved_from =
        mem_zalloc(standing->graph.network->switches.count + 1, sizeof *standing->moved_from);
    size_t words = node_count(standing) / 64u + standing->graph.network->switches.count + 1;
    standing->mark = mem_zalloc(words, sizeof *standing->mark);
    standing->ahead_mark = mem_zalloc(words, sizeof *standing->ahead_mark);
    standing->left_mark = mem_zalloc(words, sizeof *standing->left_mark);
}

/* ---- the order to begin with ---- */

/* Calls for every edge, with the numbers of its ends. */
static void each_edge(const struct standing *standing,
                      bool (*visit)(void *context, uint32_t tail, uint32_t head), void *context)
{
    const struct dependency_graph *graph = &standing->graph;
    const struct network *network = graph->network;
    for (uint32_t at = 0; at < network->switches.count; at++) {
        const struct network_switch *node = &network->switches.items[at];
        size_t words = dependency_row_words(graph, at);
        const uint64_t *row = dependency_row(graph, at, 0, 0);
        uint32_t rows = (node->port_count + 1u) * graph->vls;
        for (uint32_t i = 0; i < rows; i++, row += words)
            for (size_t word = 0; word < words; word++)
                for (uint64_t left = row[word]; left; left &= left - 1) {
                    uint32_t bit = (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(left);
                    struct standing_edge edge = {at, (uint8_t)(i / graph->vls),
                                                 (uint8_t)(bit / graph->vls),
                                                 (uint8_t)(bit % graph->vls)};
                    if (!visit(context, graph->first_node[at] + i, standing_head(standing, edge)))
                        return;
                }
    }
}

static bool check_edge(void *context, uint32_t tail, uint32_t head)
{
    struct standing *standing = context;
    standing->known = standing->label[tail] < standing->label[head];
    return standing->known;
}

static int compare_ranks(const void *a, const void *b, void *context)
{
    const uint32_t *ranks = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (ranks[x] != ranks[y])
        return ranks[x] < ranks[y] ? -1 : 1;
    return (x > y) - (x < y);
}

/* How many switches can be above each one: an order like that of ranks, with as few places as
 * there can be. What is alike has the same place, and can be moved at once. */
static uint32_t *find_depths(const struct network *network, const uint32_t *ranks)
{
    uint32_t count = (uint32_t)network->switches.count;
    uint32_t *depth = mem_zalloc(count + 1u, sizeof *depth);
    uint32_t *order = mem_alloc((count + 1u) * sizeof *order);
    for (uint32_t at = 0; at < count; at++)
        order[at] = at;
    qsort_r(order, count, sizeof *order, compare_ranks, (void *)ranks);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = order[i];
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            uint32_t to = network->edges[e].to;
            if (ranks[to] < ranks[at] && depth[to] >= depth[at])
                depth[at] = depth[to] + 1;
        }
    }
    mem_free(order);
    return depth;
}

/* Up before down; up from low ranks, down to them. False if an edge says otherwise. */
static bool order_by_ranks(struct standing *standing, const uint32_t *ranks)
{
    const struct network *network = standing->graph.network;
    uint32_t vls = standing->graph.vls;
    uint32_t *depth = find_depths(network, ranks);
    int64_t span = (int64_t)network->switches.count;
    for (uint32_t at = 0; at < network->switches.count; at++)
        for (unsigned in = 0; in <= network->switches.items[at].port_count; in++) {
            uint32_t from = network->ports.items[network->switches.items[at].first_port + in].peer;
            int64_t label = 0;
            if (from != NETWORK_NONE && (from & NETWORK_SWITCH)) {
                from &= ~NETWORK_SWITCH;
                label =
                    GAP * (ranks[at] < ranks[from] ? span - depth[from] : span + 1 + depth[from]);
            }
            for (uint32_t lane = 0; lane < vls; lane++)
                standing->label[standing->graph.first_node[at] + in * vls + lane] = label;
        }
    mem_free(depth);
    standing->known = true;
    each_edge(standing, check_edge, standing);
    return standing->known;
}

struct sorting {
    uint32_t *waits; /* by node: predecessors that have no place yet */
    uint32_t *next;  /* by node: its first edge in `heads`, one more at the end */
    uint32_t *heads;
};

static bool count_edge(void *context, uint32_t tail, uint32_t head)
{
    struct sorting *sorting = context;
    sorting->waits[head]++;
    sorting->next[tail + 1]++;
    return true;
}

static bool put_edge(void *context, uint32_t tail, uint32_t head)
{
    struct sorting *sorting = context;
    sorting->heads[sorting->next[tail]++] = head;
    return true;
}

/* Any order (Kahn's algorithm); false if there is none. */
static bool order_anyhow(struct standing *standing)
{
    uint32_t nodes = node_count(standing), tail = 0, head = 0;
    struct sorting sorting = {.waits = mem_zalloc(nodes + 1u, sizeof(uint32_t)),
                              .next = mem_zalloc(nodes + 2u, sizeof(uint32_t))};
    uint32_t *queue = mem_alloc((nodes + 1u) * sizeof *queue);
    each_edge(standing, count_edge, &sorting);
    for (uint32_t node = 0; node < nodes; node++)
        sorting.next[node + 1] += sorting.next[node];
    sorting.heads = mem_alloc((sorting.next[nodes] + 1u) * sizeof *sorting.heads);
    each_edge(standing, put_edge, &sorting); /* next[] now has the ends of the rows */
    for (uint32_t node = 0; node < nodes; node++)
        if (sorting.waits[node] == 0)
            queue[tail++] = node;
    for (; head < tail; head++) {
        uint32_t node = queue[head];
        standing->label[node] = GAP * head;
        for (uint32_t i = node ? sorting.next[node - 1] : 0; i < sorting.next[node]; i++)
            if (--sorting.waits[sorting.heads[i]] == 0)
                queue[tail++] = sorting.heads[i];
    }
    mem_free(sorting.waits);
    mem_free(sorting.next);
    mem_free(sorting.heads);
    mem_free(queue);
    return head == nodes;
}

/* Who waits for a lane of an output, from who waits for what. */
static void turn_around(struct standing *standing)
{
    const struct dependency_graph *graph = &standing->graph;
    dependency_init(&standing->behind, graph->network, graph->vls);
    for (uint32_t at = 0; at < graph->network->switches.count; at++) {
        size_t words = dependency_row_words(graph, at);
        const uint64_t *row = dependency_row(graph, at, 0, 0);
        uint64_t *turned = dependency_row(&standing->behind, at, 0, 0);
        uint32_t rows = (graph->network->switches.items[at].port_count + 1u) * graph->vls;
        for (uint32_t i = 0; i < rows; i++, row += words)
            for (size_t word = 0; word < words; word++)
                for (uint64_t left = row[word]; left; left &= left - 1)
                    bitset_add(turned + (word * 64 + (unsigned)__builtin_ctzll(left)) * words, i);
    }
}

bool standing_take(struct standing *standing, struct dependency_graph *graph,
                   struct verify_report *report, const uint32_t *ranks)
{
    *standing = (struct standing){.graph = *graph, .load = report->load, .peak = report->load_max};
    *graph = (struct dependency_graph){0};
    report->load = NULL;
    reserve(standing);
    standing->directed = ranks && order_by_ranks(standing, ranks);
    bool acyclic = standing->directed || order_anyhow(standing);
    standing->known = false;
    if (acyclic)
        turn_around(standing);
    else
        standing_release(standing);
    return acyclic;
}

/* The places and the load of a switch's channels. */
static void move_channels(struct standing *standing, const struct standing *from, uint32_t old,
                          uint32_t at, const uint8_t *fresh)
{
    uint32_t first_port = standing->graph.network->switches.items[at].first_port;
    const struct network_switch *node = &from->graph.network->switches.items[old];
    memcpy(standing->load + first_port, from->load + node->first_port,
           (node->port_count + 1u) * sizeof *standing->load);
    memcpy(standing->label + standing->graph.first_node[at],
           from->label + from->graph.first_node[old],
           (node->port_count + 1u) * standing->graph.vls * sizeof *standing->label);
    const uint8_t *next = fresh + first_port, *end = next + node->port_count + 1;
    while ((next = memchr(next, 1, (size_t)(end - next))) != NULL)
        standing->load[next++ - fresh] = 0;
}

/* Channels that are new have nothing behind or before them, so their place is free to choose. */
void standing_move(struct standing *standing, const struct standing *from,
                   const struct network *network, const uint32_t *to_new, const uint8_t *fresh)
{
    *standing = (struct standing){.known = from->known,
                                  .directed = from->directed,
                                  .peak = from->peak,
                                  .repairs = from->repairs + 1,
                                  .front = from->front};
    dependency_move(&standing->graph, &from->graph, network, to_new, fresh);
    dependency_move(&standing->behind, &from->behind, network, to_new, fresh);
    reserve(standing);
    standing->load = mem_zalloc(network->ports.count + 1, sizeof *standing->load);
    for (uint32_t node = 0; node < node_count(standing); node++)
        standing->label[node] = LAST;
    for (uint32_t old = 0; old < from->graph.network->switches.count; old++)
        if (to_new[old] != NETWORK_NONE)
            move_channels(standing, from, old, to_new[old], fresh);
}

void standing_release(struct standing *standing)
{
    dependency_release(&standing->graph);
    dependency_release(&standing->behind);
    mem_free(standing->label);
    mem_free(standing->refused);
    mem_free(standing->load);
    mem_free(standing->mark);
    mem_free(standing->ahead_mark);
    mem_free(standing->left_mark);
    mem_free(standing->moved);
    mem_free(standing->moved_from);
    vec_release(&standing->added);
    vec_release(&standing->found);
    vec_release(&standing->found_root);
    vec_release(&standing->ahead);
    *standing = (struct standing){0};
}

void standing_begin(struct standing *standing)
{
    standing->begun = true;
    standing->witness_count = 0;
}

void standing_end(struct standing *standing)
{
    mem_free(standing->refused);
    standing->refused = NULL;
    standing->begun = false;
}

/* ---- keeping it ---- */

static int compare_labels(const void *a, const void *b, void *context)
{
    const int64_t *label = context;
    int64_t x = label[*(const uint32_t *)a], y = label[*(const uint32_t *)b];
    return (x > y) - (x < y);
}

/* Gives `nodes`, which are sorted, new labels with the same order, `step` apart. */
static void relabel(struct standing *standing, const uint32_t *nodes, size_t count, int64_t first,
                    int64_t step)
{
    int64_t before = 0, label = first - step;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || standing->label[nodes[i]] != before)
            label += step;
        before = standing->label[nodes[i]];
        standing->label[nodes[i]] = label;
    }
}

/* Makes room between all labels. */
static void spread_labels(struct standing *standing)
{
    uint32_t count = node_count(standing);
    uint32_t *nodes = mem_alloc((count + 1u) * sizeof *nodes);
    for (uint32_t node = 0; node < count; node++)
        nodes[node] = node;
    qsort_r(nodes, count, sizeof *nodes, compare_labels, standing->label);
    relabel(standing, nodes, count, 0, GAP);
    standing->moves++;
    for (uint32_t at = 0; at < standing->graph.network->switches.count; at++)
        standing->moved_from[at] = standing->moves;
    standing->operations += count * 16u;
    standing->front = 0;
    mem_free(nodes);
}

/* The span of the labels of all that is found. */
static int64_t find_span(const struct standing *standing, int64_t *lowest)
{
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (size_t i = 0; i < standing->found.count; i++) {
        int64_t label = standing->label[standing->found.items[i]];
        low = label < low ? label : low;
        high = label > high ? label : high;
    }
    *lowest = low;
    return high - low + 1;
}

/* All that is found goes, in its order, right behind the last of those that it waits behind, so
 * that later heads are less likely to be before that. */
static void place_found(struct standing *standing, uint32_t head, int64_t last)
{
    size_t count = standing->found.count;
    int64_t lowest, span = find_span(standing, &lowest);
    if (last == INT64_MIN)
        last = standing->front -= span + 1;
    int64_t room = standing->label[head] - last;
    standing->operations += count;
    if (span < room) {
        for (size_t i = 0; i < count; i++)
            standing->label[standing->found.items[i]] += last + 1 - lowest;
        return;
    }
    qsort_r(standing->found.items, count, sizeof(uint32_t), compare_labels, standing->label);
    standing->operations += count * (64u - (unsigned)__builtin_clzll(count));
    int64_t step = room / ((int64_t)count + 1);
    relabel(standing, standing->found.items, count, last + step, step);
}

static void note_moves(struct standing *standing)
{
    uint32_t out;
    standing->moves++;
    for (size_t i = 0; i < standing->found.count; i++) {
        uint32_t node = standing->found.items[i], from = standing_behind(standing, node, &out);
        standing->moved[node] = standing->moves;
        if (from != NETWORK_NONE)
            standing->moved_from[from] = standing->moves;
    }
}

/* Moves `tail`, and all that leads to it, before `head`; false if `head` is among that. */
static bool bring_forward(struct standing *standing, uint32_t tail, struct standing_node head)
{
    int64_t last = INT64_MIN;
    if (standing_find_behind(standing, tail, head, &last))
        return false;
    bool far = last == INT64_MIN && standing->front < FAR;
    if (far || (last != INT64_MIN &&
                standing->label[head.node] - last <= (int64_t)standing->found.count)) {
        spread_labels(standing);
        return bring_forward(standing, tail, head);
    }
    place_found(standing, head.node, last);
    note_moves(standing);
    return true;
}

static void refuse(struct standing *standing, struct standing_edge edge)
{
    size_t words = standing->graph.first_word[standing->graph.network->switches.count];
    const uint64_t *row = dependency_row(&standing->graph, edge.at, edge.in, edge.lane);
    if (!standing->refused)
        standing->refused = mem_zalloc(words + 1, sizeof *standing->refused);
    bitset_add(standing->refused + (row - standing->graph.bits),
               edge.out * standing->graph.vls + edge.lane);
}

/* If it does not agree with the order, all that leads to its tail goes before its head. */
static bool make_room(struct standing *standing, struct standing_edge edge, uint32_t tail,
                      uint32_t head)
{
    uint8_t in;
    uint32_t to = standing_next(standing->graph.network, edge.at, edge.out, &in);
    struct standing_node node = {to, head, head, NETWORK_NONE};
    if (standing->label[tail] < standing->label[head])
        return true;
    if (standing_refused(standing, edge))
        return false;
    if (standing->fixed) {
        standing->blocked |= !standing_is_witnessed(standing, tail, node);
        return false;
    }
    bool fits = bring_forward(standing, tail, node);
    if (!fits && standing->begun && standing->added.count == 0) /* whatever is taken back */
        refuse(standing, edge);
    return fits;
}

bool standing_add(struct standing *standing, struct standing_edge edge)
{
    uint32_t tail = standing_tail(standing, edge), head = standing_head(standing, edge);
    if (standing_has(standing, edge))
        return true;
    if (tail == head || !make_room(standing, edge, tail, head))
        return false;
    vec_push(&standing->added, edge);
    if (standing->fixed)
        return true;
    bitset_add(dependency_row(&standing->graph, edge.at, edge.in, edge.lane),
               edge.out * standing->graph.vls + edge.lane);
    bitset_add(dependency_row(&standing->behind, edge.at, edge.out, edge.lane),
               edge.in * standing->graph.vls + edge.lane);
    return true;
}

void standing_undo(struct standing *standing)
{
    for (size_t i = 0; i < standing->added.count && !standing->fixed; i++) {
        struct standing_edge edge = standing->added.items[i];
        bitset_drop(dependency_row(&standing->graph, edge.at, edge.in, edge.lane),
                    edge.out * standing->graph.vls + edge.lane);
        bitset_drop(dependency_row(&standing->behind, edge.at, edge.out, edge.lane),
                    edge.in * standing->graph.vls + edge.lane);
    }
    standing->added.count = 0;
}

void standing_keep(struct standing *standing)
{
    for (size_t i = 0; i < standing->added.count && standing->fixed; i++)
        vec_push(&standing->news, standing->added.items[i]);
    standing->added.count = 0;
}
