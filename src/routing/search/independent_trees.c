/* Blocks: J. Hopcroft and R. Tarjan, "Efficient algorithms for graph manipulation" (1973), without
 * recursion. A block is a set of edges; a cable and its parallel ones are in one block. */
#include "routing/search/independent_trees.h"

/* ---- blocks ---- */

static void find_reverses(struct independent_trees *trees)
{
    const struct network *network = trees->network;
    for (uint32_t at = 0; at < network->switches.count; at++)
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            const struct network_edge *edge = &network->edges[e];
            uint32_t other = network->first_edge[edge->to];
            while (network->edges[other].port != edge->to_port)
                other++;
            trees->reverse[e] = other;
        }
}

struct block_search {
    struct independent_trees *trees;
    uint32_t *number, *low, *next_edge, *entry; /* by switch */
    VEC(uint32_t) path, open;                   /* switches; edges without a block */
    uint32_t numbers, blocks;
};

static void close_block(struct block_search *search, uint32_t last)
{
    struct independent_trees *trees = search->trees;
    uint32_t edge;
    do {
        edge = search->open.items[--search->open.count];
        trees->block[edge] = trees->block[trees->reverse[edge]] = search->blocks;
    } while (edge != last);
    search->blocks++;
}

static void enter_switch(struct block_search *search, uint32_t at, uint32_t entry)
{
    search->number[at] = search->low[at] = ++search->numbers;
    search->next_edge[at] = search->trees->network->first_edge[at];
    search->entry[at] = entry;
    vec_push(&search->path, at);
}

static void leave_switch(struct block_search *search, uint32_t at)
{
    search->path.count--;
    if (!search->path.count)
        return;
    uint32_t father = search->path.items[search->path.count - 1];
    if (search->low[at] < search->low[father])
        search->low[father] = search->low[at];
    if (search->low[at] >= search->number[father])
        close_block(search, search->entry[at]);
}

static void search_blocks(struct block_search *search, uint32_t start)
{
    const struct network *network = search->trees->network;
    enter_switch(search, start, NETWORK_NONE);
    while (search->path.count) {
        uint32_t at = search->path.items[search->path.count - 1];
        if (search->next_edge[at] == network->first_edge[at + 1]) {
            leave_switch(search, at);
            continue;
        }
        uint32_t edge = search->next_edge[at]++, to = network->edges[edge].to;
        if (to == at || (search->entry[at] != NETWORK_NONE &&
                         edge == search->trees->reverse[search->entry[at]]))
            continue;
        if (!search->number[to]) {
            vec_push(&search->open, edge);
            enter_switch(search, to, edge);
        } else if (search->number[to] < search->number[at]) {
            vec_push(&search->open, edge);
            if (search->number[to] < search->low[at])
                search->low[at] = search->number[to];
        }
    }
}

static void find_blocks(struct independent_trees *trees)
{
    uint32_t switches = (uint32_t)trees->network->switches.count;
    struct arena memory = {0};
    struct block_search search = {.trees = trees};
    search.number = arena_alloc(&memory, switches * sizeof(uint32_t) + 1);
    search.low = arena_alloc(&memory, switches * sizeof(uint32_t) + 1);
    search.next_edge = arena_alloc(&memory, switches * sizeof(uint32_t) + 1);
    search.entry = arena_alloc(&memory, switches * sizeof(uint32_t) + 1);
    for (uint32_t at = 0; at < switches; at++)
        if (!search.number[at])
            search_blocks(&search, at);
    vec_release(&search.path);
    vec_release(&search.open);
    arena_release(&memory);
}

void independent_trees_init(struct independent_trees *trees, const struct network *network)
{
    size_t switches = network->switches.count, edges = network->first_edge[switches];
    *trees = (struct independent_trees){.network = network};
    struct arena *memory = &trees->memory;
    uint32_t **by_switch[] = {&trees->order, &trees->next,    &trees->place, &trees->queue,
                              &trees->from,  &trees->members, &trees->seen};
    for (size_t i = 0; i < sizeof by_switch / sizeof *by_switch; i++)
        *by_switch[i] = arena_alloc(memory, (switches + 1) * sizeof(uint32_t));
    for (unsigned i = 0; i < INDEPENDENT_TREES; i++) {
        trees->choice[i] = arena_alloc(memory, (switches + 1) * sizeof(uint32_t));
        trees->hops[i] = arena_alloc(memory, (switches + 1) * sizeof(uint32_t));
        trees->load[i] = arena_alloc(memory, (edges + 1) * sizeof(uint32_t));
    }
    trees->placed = arena_alloc(memory, switches + 1);
    trees->reverse = arena_alloc(memory, (edges + 1) * sizeof(uint32_t));
    trees->block = arena_alloc(memory, (edges + 1) * sizeof(uint32_t));
    find_reverses(trees);
    find_blocks(trees);
}

void independent_trees_release(struct independent_trees *trees)
{
    arena_release(&trees->memory);
}

/* ---- the numbering of a block: a list from its entry to a neighbour of it ---- */

static void renumber(struct independent_trees *trees, uint32_t entry)
{
    uint32_t place = 0;
    for (uint32_t at = entry; at != NETWORK_NONE; at = trees->next[at])
        trees->place[at] = place++;
    trees->operations += place;
}

/* The shortest path from `start` over switches without a place to one that has a place, not
 * counting `except`. Returns the last switch of the path, and where it leads; `from` has the way
 * back. */
static uint32_t find_ear(struct independent_trees *trees, uint32_t block, uint32_t start,
                         uint32_t except, uint32_t *end)
{
    const struct network *network = trees->network;
    uint32_t count = 0;
    trees->stamp++;
    trees->from[start] = NETWORK_NONE;
    trees->seen[start] = trees->stamp;
    trees->queue[count++] = start;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = trees->queue[i];
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            uint32_t to = network->edges[e].to;
            trees->operations++;
            if (to == at || trees->block[e] != block || to == except)
                continue;
            if (trees->placed[to]) {
                *end = to;
                return at;
            }
            if (trees->seen[to] == trees->stamp)
                continue;
            trees->seen[to] = trees->stamp;
            trees->from[to] = at;
            trees->queue[count++] = to;
        }
    }
    return NETWORK_NONE; /* not in a block */
}

static void place_after(struct independent_trees *trees, uint32_t before, uint32_t at)
{
    trees->next[at] = trees->next[before];
    trees->next[before] = at;
    trees->placed[at] = true;
}

/* Inserts an ear between its ends: behind the end with the lower place. `last` is beside `end`,
 * `start` beside `begin`. */
static void place_ear(struct independent_trees *trees, uint32_t begin, uint32_t end, uint32_t last)
{
    if (trees->place[begin] < trees->place[end]) { /* the last one goes in first */
        for (uint32_t at = last; at != NETWORK_NONE; at = trees->from[at])
            place_after(trees, begin, at);
        return;
    }
    uint32_t before = end;
    for (uint32_t at = last; at != NETWORK_NONE; at = trees->from[at]) {
        place_after(trees, before, at);
        before = at;
    }
}

/* Numbers the block behind `entry`; `last` is the edge from the entry to the end of the list.
 * `members` gets all its switches. */
static uint32_t number_block(struct independent_trees *trees, uint32_t block, uint32_t entry,
                             uint32_t last)
{
    const struct network *network = trees->network;
    uint32_t end_of_list = network->edges[last].to, count = 0;
    trees->placed[entry] = trees->placed[end_of_list] = true;
    trees->next[entry] = end_of_list;
    trees->next[end_of_list] = NETWORK_NONE;
    trees->members[count++] = entry;
    trees->members[count++] = end_of_list;
    renumber(trees, entry);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = trees->members[i];
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            uint32_t to = network->edges[e].to, end;
            if (trees->block[e] != block || to == at || trees->placed[to])
                continue;
            uint32_t ear = find_ear(trees, block, to, at, &end);
            if (ear == NETWORK_NONE)
                continue;
            place_ear(trees, at, end, ear);
            for (uint32_t each = ear; each != NETWORK_NONE; each = trees->from[each])
                trees->members[count++] = each;
            renumber(trees, entry);
        }
    }
    return count;
}

/* ---- trees ---- */

/* The edge from the entry of a block with the least load towards it. */
static uint32_t choose_last(const struct independent_trees *trees, uint32_t block, uint32_t entry)
{
    const struct network *network = trees->network;
    uint32_t best = NETWORK_NONE, least = UINT32_MAX;
    for (uint32_t e = network->first_edge[entry]; e < network->first_edge[entry + 1]; e++) {
        uint32_t load = trees->load[1][trees->reverse[e]];
        if (trees->block[e] != block || network->edges[e].to == entry || load >= least)
            continue;
        best = e;
        least = load;
    }
    return best;
}

static void choose_edge(struct independent_trees *trees, unsigned tree, uint32_t block, uint32_t at,
                        uint32_t avoided)
{
    const struct network *network = trees->network;
    uint32_t *hops = trees->hops[tree], best = NETWORK_NONE, shared = NETWORK_NONE;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint32_t to = network->edges[e].to;
        if (to == at || trees->block[e] != block ||
            (trees->place[to] < trees->place[at]) != (tree == 0))
            continue;
        if (e == avoided) {
            shared = e;
            continue;
        }
        uint32_t before = best == NETWORK_NONE ? UINT32_MAX : hops[network->edges[best].to];
        if (hops[to] < before ||
            (hops[to] == before && trees->load[tree][e] < trees->load[tree][best]))
            best = e;
    }
    if (best == NETWORK_NONE)
        best = shared; /* a bridge */
    trees->choice[tree][at] = best;
    hops[at] = hops[network->edges[best].to] + 1;
    trees->operations += network->first_edge[at + 1] - network->first_edge[at];
}

/* Chooses the edges of all switches of a block but its entry. */
static void grow_block(struct independent_trees *trees, uint32_t block, uint32_t entry,
                       uint32_t wanted)
{
    uint32_t last = wanted == NETWORK_NONE ? choose_last(trees, block, entry) : wanted;
    uint32_t count = number_block(trees, block, entry, last);
    uint32_t back = trees->reverse[last];
    uint32_t *by_place = trees->queue;
    for (uint32_t i = 0; i < count; i++)
        by_place[trees->place[trees->members[i]]] = trees->members[i];
    for (uint32_t i = 1; i < count; i++)
        choose_edge(trees, 0, block, by_place[i], i + 1 == count ? back : NETWORK_NONE);
    uint32_t end = by_place[count - 1];
    trees->choice[1][end] = back;
    trees->hops[1][end] = trees->hops[1][entry] + 1;
    for (uint32_t i = count - 1; i-- > 1;)
        choose_edge(trees, 1, block, by_place[i], NETWORK_NONE);
    for (uint32_t i = 1; i < count; i++)
        trees->order[trees->count++] = by_place[i];
    for (uint32_t i = 0; i < count; i++)
        trees->placed[trees->members[i]] = false;
}

void independent_trees_grow(struct independent_trees *trees, uint32_t root, uint32_t variant)
{
    const struct network *network = trees->network;
    uint32_t wanted = variant ? network->first_edge[root] + variant - 1 : NETWORK_NONE;
    for (uint32_t at = 0; at < network->switches.count; at++)
        trees->choice[0][at] = trees->choice[1][at] = NETWORK_NONE;
    trees->root = root;
    trees->hops[0][root] = trees->hops[1][root] = 0;
    trees->count = 0;
    trees->order[trees->count++] = root;
    if (wanted != NETWORK_NONE && network->edges[wanted].to != root)
        grow_block(trees, trees->block[wanted], root, wanted);
    for (uint32_t i = 0; i < trees->count; i++) {
        uint32_t at = trees->order[i];
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            uint32_t to = network->edges[e].to;
            if (to != at && to != root && trees->choice[0][to] == NETWORK_NONE)
                grow_block(trees, trees->block[e], at, NETWORK_NONE);
        }
    }
}

void independent_trees_load(struct independent_trees *trees)
{
    const struct network *network = trees->network;
    for (uint32_t i = 1; i < trees->count; i++) {
        uint32_t terminals = network_terminal_count(network, trees->order[i]);
        for (unsigned tree = 0; terminals && tree < INDEPENDENT_TREES; tree++)
            for (uint32_t at = trees->order[i]; at != trees->root;
                 at = network->edges[trees->choice[tree][at]].to)
                trees->load[tree][trees->choice[tree][at]] += terminals;
    }
}
