#include "routing/standing.h"

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
    standing->mark =
        mem_zalloc(node_count(standing) / 64u + standing->graph.network->switches.count + 1,
                   sizeof *standing->mark);
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

/* Up before down; up from low ranks, down to them. False if an edge says otherwise. */
static bool order_by_ranks(struct standing *standing, const uint32_t *ranks)
{
    const struct network *network = standing->graph.network;
    uint32_t vls = standing->graph.vls;
    int64_t span = (int64_t)network->switches.count;
    for (uint32_t at = 0; at < network->switches.count; at++)
        for (unsigned in = 0; in <= network->switches.items[at].port_count; in++) {
            uint32_t from = network->ports.items[network->switches.items[at].first_port + in].peer;
            int64_t label = 0;
            if (from != NETWORK_NONE && (from & NETWORK_SWITCH)) {
                int64_t far = ranks[from & ~NETWORK_SWITCH], near = ranks[at];
                label = GAP * (near < far ? span - far : span + 1 + far);
            }
            for (uint32_t lane = 0; lane < vls; lane++)
                standing->label[standing->graph.first_node[at] + in * vls + lane] = label;
        }
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

/* Channels that are new have nothing behind or before them, so their place is free to choose. */
void standing_move(struct standing *standing, const struct standing *from,
                   const struct network *network, const uint32_t *to_new, const uint8_t *fresh)
{
    const struct network *before = from->graph.network;
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
    for (uint32_t old = 0; old < before->switches.count; old++) {
        const struct network_switch *node = &before->switches.items[old];
        uint32_t at = to_new[old];
        if (at == NETWORK_NONE)
            continue;
        memcpy(standing->load + network->switches.items[at].first_port,
               from->load + node->first_port, (node->port_count + 1u) * sizeof *standing->load);
        memcpy(standing->label + standing->graph.first_node[at],
               from->label + from->graph.first_node[old],
               (node->port_count + 1u) * standing->graph.vls * sizeof *standing->label);
        for (unsigned port = 1; port <= node->port_count; port++)
            if (fresh[network->switches.items[at].first_port + port])
                standing->load[network->switches.items[at].first_port + port] = 0;
    }
}

void standing_release(struct standing *standing)
{
    dependency_release(&standing->graph);
    dependency_release(&standing->behind);
    mem_free(standing->label);
    mem_free(standing->refused);
    mem_free(standing->load);
    mem_free(standing->mark);
    vec_release(&standing->added);
    vec_release(&standing->found);
    *standing = (struct standing){0};
}

void standing_begin(struct standing *standing)
{
    size_t words = standing->graph.first_word[standing->graph.network->switches.count];
    standing->refused = mem_zalloc(words + 1, sizeof *standing->refused);
}

void standing_end(struct standing *standing)
{
    mem_free(standing->refused);
    standing->refused = NULL;
}

/* ---- keeping it ---- */

/* The marks of what arrives at a switch. */
static inline uint64_t *marks_at(const struct standing *standing, uint32_t at)
{
    return standing->mark + standing->graph.first_node[at] / 64 + at;
}

/* The switch that a channel comes from, or NETWORK_NONE; `out` is the node's row there. */
static inline uint32_t switch_behind(const struct standing *standing, uint32_t node, uint32_t *out)
{
    unsigned vls = standing->graph.vls;
    const struct network_port *link = &standing->graph.network->ports.items[node / vls];
    if (link->peer == NETWORK_NONE || !(link->peer & NETWORK_SWITCH))
        return NETWORK_NONE;
    *out = link->peer_port * vls + node % vls;
    return link->peer & ~NETWORK_SWITCH;
}

/* Notes those who wait right before a node and have no place before `head`, once; `last` becomes
 * the last place of the others. True if `head` is among them. */
static bool look_behind(struct standing *standing, uint32_t node, uint32_t head, int64_t *last)
{
    int64_t floor = standing->label[head];
    uint32_t out, from = switch_behind(standing, node, &out);
    if (from == NETWORK_NONE)
        return false;
    size_t words = dependency_row_words(&standing->behind, from);
    const uint64_t *row = dependency_row(&standing->behind, from, 0, 0) + out * words;
    uint64_t *mark = marks_at(standing, from);
    for (size_t word = 0; word < words; word++) {
        uint64_t left = row[word] & ~mark[word];
        mark[word] |= left;
        for (standing->operations++; left; left &= left - 1) {
            uint32_t before = standing->graph.first_node[from] + (uint32_t)(word * 64) +
                              (uint32_t)__builtin_ctzll(left);
            int64_t label = standing->label[before];
            if (before == head)
                return true;
            if (label >= floor)
                vec_push(&standing->found, before);
            else if (label > *last)
                *last = label;
            standing->operations++;
        }
    }
    return false;
}

/* Finds all that leads to `tail` and has no place before `head`. True if `head` is among that. */
static bool find_behind(struct standing *standing, uint32_t tail, uint32_t head, int64_t *last)
{
    bool circle = false;
    uint32_t out;
    standing->found.count = 0;
    vec_push(&standing->found, tail); /* not marked: found again only if there was a circle */
    for (size_t i = 0; i < standing->found.count && !circle; i++)
        circle = look_behind(standing, standing->found.items[i], head, last);
    for (size_t i = 0; i < standing->found.count; i++) {
        uint32_t from = switch_behind(standing, standing->found.items[i], &out);
        if (from != NETWORK_NONE)
            memset(marks_at(standing, from), 0,
                   dependency_row_words(&standing->behind, from) * sizeof *standing->mark);
    }
    return circle;
}

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

/* Moves `tail`, and all that leads to it, before `head`; false if `head` is among that. */
static bool bring_forward(struct standing *standing, uint32_t tail, uint32_t head)
{
    int64_t last = INT64_MIN;
    if (find_behind(standing, tail, head, &last))
        return false;
    bool far = last == INT64_MIN && standing->front < FAR;
    if (far ||
        (last != INT64_MIN && standing->label[head] - last <= (int64_t)standing->found.count)) {
        spread_labels(standing);
        return bring_forward(standing, tail, head);
    }
    place_found(standing, head, last);
    return true;
}

bool standing_add(struct standing *standing, struct standing_edge edge)
{
    uint64_t *row = dependency_row(&standing->graph, edge.at, edge.in, edge.lane);
    uint32_t bit = edge.out * standing->graph.vls + edge.lane;
    if (bitset_has(row, bit))
        return true;
    uint32_t tail = standing_tail(standing, edge), head = standing_head(standing, edge);
    if (tail == head)
        return false;
    if (standing->label[tail] >= standing->label[head]) {
        uint64_t *refused =
            standing->refused ? standing->refused + (row - standing->graph.bits) : NULL;
        if (refused && bitset_has(refused, bit))
            return false;
        if (!bring_forward(standing, tail, head)) {
            if (refused && standing->added.count == 0)
                bitset_add(refused, bit); /* whatever is taken back */
            return false;
        }
    }
    bitset_add(row, bit);
    bitset_add(dependency_row(&standing->behind, edge.at, edge.out, edge.lane),
               edge.in * standing->graph.vls + edge.lane);
    vec_push(&standing->added, edge);
    return true;
}

void standing_undo(struct standing *standing)
{
    for (size_t i = 0; i < standing->added.count; i++) {
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
    standing->added.count = 0;
}
