/* One block of tables at a time: transposed, walked outwards to resolve it, and inwards to add up
 * loads. */
#include "routing/check/walk.h"

#include "base/map.h"

#include <assert.h>
#include <string.h>

enum { HOPS_UNKNOWN = 0x7FFFFFFF, OUTPUTS = 256, OUTPUT_WORDS = OUTPUTS / 64 };

void walk_init(struct quick_walk *walk, const struct network *network, const struct routes *routes,
               unsigned vls, const uint16_t *back)
{
    assert(network->switches.count > 0 && vls > 0);
    uint32_t switches = (uint32_t)network->switches.count;
    *walk = (struct quick_walk){
        .network = network,
        .routes = routes,
        .vls = vls,
        .back = back,
        .switch_count = switches,
        .first_lid = UINT32_MAX,
    };
    struct arena *memory = &walk->memory;
    walk->columns = arena_alloc(memory, (size_t)switches * ROUTES_BLOCK);
    walk->order = arena_alloc(memory, switches * sizeof *walk->order);
    walk->next = arena_alloc(memory, switches * sizeof *walk->next);
    walk->channel = arena_alloc(memory, switches * sizeof *walk->channel);
    walk->hops = arena_alloc(memory, switches * sizeof *walk->hops);
    walk->weight = arena_alloc(memory, switches * sizeof *walk->weight);
    walk->terminals = arena_alloc(memory, switches * sizeof *walk->terminals);
    walk->levels = arena_alloc(memory, switches * sizeof *walk->levels);
    walk->load = arena_alloc(memory, network->ports.count * sizeof *walk->load);
    walk->count_by_hops = arena_alloc(memory, (switches + 2) * sizeof *walk->count_by_hops);
    walk->sorted = arena_alloc(memory, switches * sizeof *walk->sorted);
    for (uint32_t at = 0; at < switches; at++) {
        walk->order[at] = at;
        walk->terminals[at] = network_terminal_count(network, at);
    }
}

void walk_release(struct quick_walk *walk)
{
    arena_release(&walk->memory);
}

/* Reads where each entry leads; false if one leads to no switch. The entry at the owner's switch
 * must lead to the owner. */
static bool read_entries(struct quick_walk *walk, const struct verify_target *target,
                         const uint8_t *column)
{
    const struct network *network = walk->network;
    uint32_t switches = walk->switch_count;
    bool sound = true;
    for (uint32_t at = 0; at < switches; at++) {
        const struct network_switch *node = &network->switches.items[at];
        uint8_t port = column[at] <= node->port_count ? column[at] : 0;
        uint32_t channel = node->first_port + port;
        /* not below `switches` for a terminal, no peer, or port 0 */
        uint32_t to = network->ports.items[channel].peer ^ NETWORK_SWITCH;
        walk->channel[at] = channel;
        walk->next[at] = to < switches ? to : at;
        sound &= to < switches || at == target->at;
    }
    uint8_t port = column[target->at];
    if (target->is_switch)
        return sound && port == 0;
    const struct network_switch *last = &network->switches.items[target->at];
    return sound && port <= last->port_count &&
           network_leads_to(network, target->at, port, target->owner);
}

/* Distances in the order of the previous LID; false if it does not fit. */
static bool follow_order(struct quick_walk *walk, const struct verify_target *target)
{
    bool fits = walk->order[0] == target->at;
    for (uint32_t at = 0; at < walk->switch_count; at++)
        walk->hops[at] = HOPS_UNKNOWN;
    walk->hops[target->at] = target->is_switch ? 0 : 1;
    for (uint32_t i = 1; fits && i < walk->switch_count; i++) {
        uint32_t at = walk->order[i], hops = walk->hops[walk->next[at]];
        walk->hops[at] = hops + 1;
        fits = hops != HOPS_UNKNOWN;
    }
    return fits;
}

/* Distances, and a new order by distance; false if there is a loop. */
static bool compute_order(struct quick_walk *walk, const struct verify_target *target)
{
    uint32_t switches = walk->switch_count, start = target->is_switch ? 0 : 1;
    for (uint32_t at = 0; at < switches; at++)
        walk->hops[at] = HOPS_UNKNOWN;
    walk->hops[target->at] = start;
    for (uint32_t from = 0; from < switches; from++) {
        uint32_t depth = 0, at = from;
        for (; walk->hops[at] == HOPS_UNKNOWN && depth < switches; at = walk->next[at])
            walk->sorted[depth++] = at;
        if (walk->hops[at] == HOPS_UNKNOWN)
            return false;
        for (uint32_t hops = walk->hops[at]; depth;)
            walk->hops[walk->sorted[--depth]] = ++hops;
    }
    memset(walk->count_by_hops, 0, (switches + 2) * sizeof *walk->count_by_hops);
    for (uint32_t at = 0; at < switches; at++)
        walk->count_by_hops[walk->hops[at] - start + 1]++;
    for (uint32_t hops = 1; hops <= switches; hops++)
        walk->count_by_hops[hops] += walk->count_by_hops[hops - 1];
    for (uint32_t at = 0; at < switches; at++)
        walk->order[walk->count_by_hops[walk->hops[at] - start]++] = at;
    return true;
}

static void count_hops(const struct quick_walk *walk, const struct verify_target *target,
                       struct verify_report *sum)
{
    uint64_t hops_sum = 0, table_hops = 0, pairs = 0;
    uint32_t most = 0;
    for (uint32_t at = 0; at < walk->switch_count; at++) {
        table_hops += walk->hops[at];
        hops_sum += (uint64_t)walk->hops[at] * walk->weight[at];
        pairs += walk->weight[at];
        if (walk->weight[at] && walk->hops[at] > most)
            most = walk->hops[at];
    }
    sum->table_hops_sum += table_hops;
    if (target->is_switch)
        return;
    sum->pairs += pairs;
    sum->hops_sum += hops_sum;
    sum->hops_max = most > sum->hops_max ? most : sum->hops_max;
}

static uint8_t level_to(const struct routes *routes, uint32_t from, uint32_t lid)
{
    uint8_t level = routes_level(routes, from, lid);
    return level < VL_MAP_SLS ? level : VL_MAP_DISCARD;
}

uint16_t *walk_levels_back(const struct network *network, const struct routes *routes)
{
    size_t switches = network->switches.count;
    uint16_t *back = mem_zalloc(switches * switches + 1, sizeof *back);
    for (uint32_t to = 0; to < switches; to++)
        for (uint32_t lid = 1; lid <= network->top_lid; lid++)
            if (!(network->owner[lid] & NETWORK_SWITCH))
                back[to * switches + network->terminals.items[network->owner[lid]].at] |=
                    (uint16_t)(1u << level_to(routes, to, lid));
    return back;
}

/* The SLs by which a switch or its terminals send to this LID. */
static uint16_t own_levels(const struct quick_walk *walk, const struct verify_target *target,
                           uint32_t at)
{
    if (target->is_switch && !walk->terminals[at])
        return 0;
    if (walk->vls == 1)
        return 1;
    uint32_t levels = 1u << level_to(walk->routes, at, target->lid);
    if (walk->back)
        levels |= walk->back[(size_t)target->at * walk->switch_count + at];
    /* A switch without terminals is a source itself. */
    const struct network_switch *node = &walk->network->switches.items[at];
    for (uint32_t k = 0; walk->back && !target->is_switch && node->lid && k < 1u << node->lmc; k++)
        levels |= 1u << level_to(walk->routes, target->at, node->lid + k);
    return (uint16_t)(levels & ((1u << walk->vls) - 1));
}

static void add_dependencies(struct quick_walk *walk, const struct verify_target *target,
                             const uint8_t *column, struct dependency_graph *graph)
{
    for (uint32_t at = 0; at < walk->switch_count; at++)
        walk->levels[at] = own_levels(walk, target, at);
    for (uint32_t i = walk->switch_count; i-- > 1;) {
        uint32_t at = walk->order[i], to = walk->next[at];
        walk->levels[to] |= walk->levels[at];
        if (to == target->at)
            continue;
        uint8_t in = walk->network->ports.items[walk->channel[at]].peer_port;
        for (unsigned left = walk->levels[at]; left; left &= left - 1)
            dependency_add(graph, to, in, (unsigned)__builtin_ctz(left), column[to],
                           (unsigned)__builtin_ctz(left));
    }
}

bool walk_take_lid(struct quick_walk *walk, const struct verify_target *target,
                   struct verify_report *sum, struct dependency_graph *graph)
{
    uint32_t first = target->lid - target->lid % ROUTES_BLOCK;
    if (walk->first_lid != first) {
        walk->first_lid = first;
        for (uint32_t at = 0; at < walk->switch_count; at++) {
            const uint8_t *row = routes_row(walk->routes, at) + first;
            for (uint32_t i = 0; i < ROUTES_BLOCK; i++)
                walk->columns[(size_t)i * walk->switch_count + at] = row[i];
        }
    }
    const uint8_t *column = walk->columns + (size_t)(target->lid - first) * walk->switch_count;
    if (!read_entries(walk, target, column) ||
        (!follow_order(walk, target) && !compute_order(walk, target)))
        return false;
    /* Without renaming, terminals use base LIDs only. */
    bool used = target->offset == 0;
    for (uint32_t at = 0; at < walk->switch_count; at++)
        walk->weight[at] = used ? walk->terminals[at] : 0;
    if (used && !target->is_switch)
        walk->weight[target->at]--;
    count_hops(walk, target, sum);
    /* From the farthest switch inwards: a switch has all its packets before it forwards them. */
    for (uint32_t i = walk->switch_count; used && !target->is_switch && i-- > 1;) {
        uint32_t at = walk->order[i], weight = walk->weight[at];
        walk->load[walk->channel[at]] += weight;
        walk->weight[walk->next[at]] += weight;
    }
    if (walk->vls > 1 || target->is_switch)
        add_dependencies(walk, target, column, graph);
    return true;
}

void walk_scan_dependencies(const struct network *network, const struct routes *routes,
                            uint32_t from, struct dependency_graph *graph)
{
    const struct network_switch *node = &network->switches.items[from];
    const uint8_t *table = routes_row(routes, from), *behind[OUTPUTS];
    uint64_t(*outputs)[OUTPUT_WORDS] = mem_zalloc(node->port_count + 1u, sizeof *outputs);
    uint64_t links[OUTPUT_WORDS];
    for (unsigned port = 0; port <= node->port_count; port++)
        behind[port] = table; /* for ports that are skipped below */
    for (unsigned port = 1; port <= node->port_count; port++) {
        uint32_t to = network->ports.items[node->first_port + port].peer ^ NETWORK_SWITCH;
        if (to < network->switches.count)
            behind[port] = routes_row(routes, to);
    }
    for (uint32_t lid = 1; lid <= network->top_lid; lid++) {
        if (network->owner[lid] & NETWORK_SWITCH)
            continue; /* or unused */
        uint8_t port = table[lid];
        if (port <= node->port_count)
            bitset_add(outputs[port], behind[port][lid]);
    }
    for (unsigned port = 1; port <= node->port_count; port++) {
        const struct network_port *link = &network->ports.items[node->first_port + port];
        uint32_t to = link->peer ^ NETWORK_SWITCH;
        if (to >= network->switches.count)
            continue;
        memset(links, 0, sizeof links);
        for (unsigned out = 1; out <= network->switches.items[to].port_count; out++)
            if (network_link_at(network, to, out))
                bitset_add(links, out);
        size_t words = dependency_row_words(graph, to);
        uint64_t *waits = graph->bits + graph->first_word[to] + link->peer_port * words;
        for (size_t word = 0; word < words; word++)
            waits[word] |= outputs[port][word] & links[word];
    }
    mem_free(outputs);
}
