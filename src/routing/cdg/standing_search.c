/* Does the head of an edge lead to its tail?
 *
 * All that leads to the tail must be found anyway, as far as it has no place before the head, so
 * that it can be moved there. A search from the head goes on at the same pace: where there is a
 * circle they meet soon. What was found to lead to what is remembered, because the next edge that
 * is tried is often one of the same kind: between the same switches, or from another one to the
 * same. */
#include "routing/cdg/standing.h"

/* The place of the marks of what arrives at a switch. */
static inline size_t marks_at(const struct standing *standing, uint32_t at)
{
    return standing->graph.first_node[at] / 64 + at;
}

/* Remembers a way from a head to a tail, by what is next to them, unless it may be taken back. */
static void remember(struct standing *standing, struct standing_node ahead,
                     struct standing_node behind)
{
    bool both = ahead.second != NETWORK_NONE && behind.second != NETWORK_NONE;
    if (standing->added.count == 0 && standing->begun)
        standing->witnesses[standing->witness_count++ % STANDING_WITNESSES] =
            (struct standing_witness){ahead.root, behind.root, both ? ahead.second : NETWORK_NONE,
                                      behind.second};
}

/* The search behind the tail has met one that the head leads to. */
static void remember_ahead(struct standing *standing, uint32_t met, struct standing_node behind)
{
    for (size_t i = 1; i < standing->ahead.count; i++)
        if (standing->ahead.items[i].node == met)
            remember(standing, standing->ahead.items[i], behind);
}

static void remember_behind(struct standing *standing, struct standing_node ahead)
{
    for (size_t i = 1; i < standing->found.count; i++)
        if (standing->found.items[i] == ahead.node)
            remember(standing, ahead, standing->found_root.items[i]);
}

/* The root and the second of a node that is found next to one at `index`. */
static inline struct standing_node follow(struct standing_node from, size_t index,
                                          struct standing_node next)
{
    next.root = index ? from.root : next.node;
    next.second = index == 0 ? NETWORK_NONE : from.second == NETWORK_NONE ? next.node : from.second;
    return next;
}

/* Notes those who wait right before a node and have no place before `head`, once; `last` becomes
 * the last place of the others. True if one of them is known to wait for what `head` leads to. */
static bool look_behind(struct standing *standing, size_t index, uint32_t head, int64_t *last)
{
    uint32_t node = standing->found.items[index];
    struct standing_node own = standing->found_root.items[index];
    int64_t floor = standing->label[head];
    uint32_t out, from = standing_behind(standing, node, &out);
    if (from == NETWORK_NONE)
        return false;
    size_t words = dependency_row_words(&standing->behind, from);
    const uint64_t *row = dependency_row(&standing->behind, from, 0, 0) + out * words;
    uint64_t *mark = standing->mark + marks_at(standing, from);
    const uint64_t *ahead = standing->ahead_mark + marks_at(standing, from);
    for (size_t word = 0; word < words; word++) {
        uint64_t left = row[word] & ~mark[word];
        mark[word] |= left;
        if (left & ahead[word]) {
            uint32_t met = standing->graph.first_node[from] + (uint32_t)(word * 64) +
                           (uint32_t)__builtin_ctzll(left & ahead[word]);
            remember_ahead(standing, met, follow(own, index, (struct standing_node){.node = met}));
            return true;
        }
        for (standing->operations++; left; left &= left - 1) {
            uint32_t before = standing->graph.first_node[from] + (uint32_t)(word * 64) +
                              (uint32_t)__builtin_ctzll(left);
            int64_t label = standing->label[before];
            if (label >= floor) {
                vec_push(&standing->found, before);
                vec_push(&standing->found_root,
                         follow(own, index, (struct standing_node){.at = from, .node = before}));
            } else if (label > *last) {
                *last = label;
            }
            standing->operations++;
        }
    }
    return false;
}

/* Notes a node that `head` leads to, once; true if it is known to lead to `tail`. */
static bool reach(struct standing *standing, struct standing_node next, uint32_t tail)
{
    uint32_t row = next.node - standing->graph.first_node[next.at];
    size_t marks = marks_at(standing, next.at);
    if (next.node == tail || bitset_has(standing->mark + marks, row))
        return true;
    if (standing->label[next.node] > standing->label[tail] ||
        bitset_has(standing->ahead_mark + marks, row))
        return false;
    bitset_add(standing->ahead_mark + marks, row);
    vec_push(&standing->ahead, next);
    standing->operations++;
    return false;
}

/* The same from the other side: those that a node waits for, up to the place of `tail`. */
static bool look_ahead(struct standing *standing, size_t index, uint32_t tail)
{
    const struct dependency_graph *graph = &standing->graph;
    const struct network *network = graph->network;
    struct standing_node from = standing->ahead.items[index];
    size_t words = dependency_row_words(graph, from.at);
    uint32_t own = from.node - graph->first_node[from.at];
    const uint64_t *row = dependency_row(graph, from.at, 0, 0) + own * words;
    uint64_t *mark = standing->left_mark + marks_at(standing, from.at);
    for (size_t word = 0; word < words; word++) {
        uint64_t left = row[word] & ~mark[word];
        mark[word] |= left;
        for (; left; left &= left - 1) {
            uint32_t bit = (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(left);
            const struct network_port *link =
                &network->ports
                     .items[network->switches.items[from.at].first_port + bit / graph->vls];
            struct standing_node next = {.at = link->peer & ~NETWORK_SWITCH};
            next.node =
                graph->first_node[next.at] + link->peer_port * graph->vls + bit % graph->vls;
            next = follow(from, index, next);
            if (reach(standing, next, tail)) {
                remember_behind(standing, next);
                return true;
            }
        }
    }
    return false;
}

static bool has_edge(const struct standing *standing, uint32_t at, uint32_t node, uint32_t out)
{
    size_t words = dependency_row_words(&standing->graph, at);
    return bitset_has(dependency_row(&standing->graph, at, 0, 0) +
                          (node - standing->graph.first_node[at]) * words,
                      out);
}

/* Whether a node that arrives at one switch leads to another node within one more step; one lane.
 */
static bool leads_over(const struct standing *standing, uint32_t at, uint32_t node, uint32_t to)
{
    const struct network *network = standing->graph.network;
    uint32_t out = 0, from = standing_behind(standing, to, &out);
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        const struct network_edge *edge = &network->edges[e];
        if (edge->to == from && has_edge(standing, at, node, edge->port) &&
            has_edge(standing, from, standing->graph.first_node[from] + edge->to_port, out))
            return true;
    }
    return false;
}

/* Whether a way that was found before leads from the head to the tail of an edge. */
static bool is_witness(const struct standing *standing, const struct standing_witness *witness,
                       uint32_t tail, struct standing_node head)
{
    const struct dependency_graph *graph = &standing->graph;
    uint32_t tail_row = 0, first_row = 0, behind = standing_behind(standing, tail, &tail_row);
    uint32_t from = standing_behind(standing, witness->first, &first_row), last = witness->last;
    if (behind == NETWORK_NONE)
        return false;
    if (from == head.at && last >= graph->first_node[behind] &&
        last < graph->first_node[behind + 1])
        return has_edge(standing, head.at, head.node, first_row) &&
               has_edge(standing, behind, last, tail_row);
    if (witness->second == NETWORK_NONE || graph->vls > 1)
        return false;
    const struct network_port *link = &graph->network->ports.items[witness->second_last];
    uint32_t arrival =
        graph->network->ports
            .items[graph->network->switches.items[link->peer & ~NETWORK_SWITCH].first_port +
                   link->peer_port]
            .peer &
        ~NETWORK_SWITCH;
    return leads_over(standing, head.at, head.node, witness->second) &&
           leads_over(standing, arrival, witness->second_last, tail);
}

bool standing_is_witnessed(const struct standing *standing, uint32_t tail,
                           struct standing_node head)
{
    unsigned count =
        standing->witness_count < STANDING_WITNESSES ? standing->witness_count : STANDING_WITNESSES;
    for (unsigned i = 0; i < count; i++)
        if (is_witness(standing, &standing->witnesses[i], tail, head))
            return true;
    return false;
}

static inline void clear_row(const struct standing *standing, uint64_t *marks, uint32_t at)
{
    uint64_t *row = marks + marks_at(standing, at);
    for (size_t word = 0; word < dependency_row_words(&standing->graph, at); word++)
        row[word] = 0;
}

static void clear_marks(struct standing *standing)
{
    uint32_t out;
    for (size_t i = 0; i < standing->found.count; i++) {
        uint32_t from = standing_behind(standing, standing->found.items[i], &out);
        if (from != NETWORK_NONE)
            clear_row(standing, standing->mark, from);
    }
    for (size_t i = 0; i < standing->ahead.count; i++) {
        clear_row(standing, standing->ahead_mark, standing->ahead.items[i].at);
        clear_row(standing, standing->left_mark, standing->ahead.items[i].at);
    }
}

/* Finds all that leads to `tail` and has no place before `head`. True if `head` is among that; the
 * search from its side is there to see that soon. */
bool standing_find_behind(struct standing *standing, uint32_t tail, struct standing_node head,
                          int64_t *last)
{
    if (standing_is_witnessed(standing, tail, head))
        return true;
    standing->found.count = standing->found_root.count = standing->ahead.count = 0;
    vec_push(&standing->found, tail); /* not marked: found again only if there was a circle */
    vec_push(&standing->found_root, ((struct standing_node){.node = tail}));
    bool circle = reach(standing, head, tail);
    for (size_t i = 0, next = 0; i < standing->found.count && !circle; i++) {
        circle = look_behind(standing, i, head.node, last);
        while (!circle && next < standing->ahead.count &&
               standing->ahead.count <= standing->found.count)
            circle = look_ahead(standing, next++, tail);
    }
    clear_marks(standing);
    return circle;
}
