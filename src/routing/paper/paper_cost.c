/* Counting the papers' algorithms.
 *
 * FERa (section 2.3): for every destination, switches and hosts alike, a controlled flooding; a
 * step is a port of a visited switch. On networks of small switches that is O(n) for a destination
 * and O(n^2) in all, the growth that paper 000 measured (Fig. 8a); the O(n^3) of paper 002 is the
 * bound with Dijkstra's search over an array in place of the flooding.
 *
 * PIRa (section 3.2): each new node examines its ports for neighbours already visited, then every
 * switch visited before is considered for an entry.
 *
 * DR (section 2.4): an exploration by input port, from every host; the path of every pair of hosts,
 * switch by switch; and each path against the tables of its destination, switch by switch, until
 * one has no conflict. Pairs with a switch at one end use FERa's path. Hosts at one switch share
 * all of this, so it is done once for each pair of switches and counted as often as there are
 * hosts.
 *
 * minhop is not in these papers; it is counted as a flooding without directions. */
#include "routing/paper/paper_cost.h"

#include "routing/paper/flood.h"
#include "routing/search/roots.h"

#include <assert.h>
#include <string.h>

static uint64_t ports_in_use(const struct network *network, uint32_t at)
{
    return network->first_edge[at + 1] - network->first_edge[at] +
           network_terminal_count(network, at);
}

/* A host's flooding is that of its switch, and one step to the switch. */
uint64_t paper_steps_fera(const struct network *network, const struct updown *updown)
{
    struct flood_entries flood = {0};
    uint64_t steps = 0;
    for (uint32_t at = 0; at < network->switches.count; at++) {
        uint64_t hosts = network_terminal_count(network, at);
        flood.entries.count = 0;
        flood.steps = 0;
        flood_from(network, updown, network->switches.items[at].lid, &flood);
        steps += flood.steps * (1 + hosts) + hosts;
    }
    vec_release(&flood.entries);
    return steps;
}

/* Ranks count the switches of all parts together; a manager's network has one part. */
uint64_t paper_steps_pira(const struct network *network, const struct updown *updown)
{
    uint64_t steps = 0;
    for (uint32_t at = 0; at < network->switches.count; at++)
        steps += ports_in_use(network, at) + updown->rank[at];
    for (uint32_t i = 0; i < network->terminals.count; i++)
        steps += 1 + updown_terminal_rank(updown, network, i);
    return steps;
}

/* Every switch is visited once for each destination, and examines its ports. */
uint64_t paper_steps_minhop(const struct network *network, const struct updown *updown)
{
    uint64_t ports = 0;
    uint64_t hosts = network->terminals.count;
    (void)updown;
    for (uint32_t at = 0; at < network->switches.count; at++)
        ports += ports_in_use(network, at);
    return (network->switches.count + hosts) * ports + hosts;
}

/* DR towards one switch. A state is a switch and whether the route from it leads down only. */
struct exploration {
    const struct network *network;
    const struct updown *updown;
    uint32_t destination;
    uint32_t *next;      /* by state: the next state of the route, or NETWORK_NONE */
    uint16_t *hops;      /* by state: switches on the route; 0: none */
    uint8_t *port;       /* by state: out of its switch */
    uint32_t *queue;     /* states */
    VEC(uint8_t) tables; /* [table * switches + switch] */
    uint32_t table_count;
};

static uint32_t state_of(uint32_t at, bool down)
{
    return 2 * at + down;
}

static uint64_t explore_routes(struct exploration *exploration)
{
    const struct network *network = exploration->network;
    uint32_t tail = 1, start = state_of(exploration->destination, true);
    uint64_t steps = 0;
    memset(exploration->hops, 0, 2 * network->switches.count * sizeof *exploration->hops);
    exploration->queue[0] = start;
    exploration->next[start] = NETWORK_NONE;
    exploration->hops[start] = 1;
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t state = exploration->queue[head], at = state / 2;
        steps += ports_in_use(network, at);
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            const struct network_edge *edge = &network->edges[e];
            bool down = updown_is_up(exploration->updown, at, edge->to);
            uint32_t new = state_of(edge->to, down);
            /* A route up is not needed if one down is known that is not longer. */
            if ((down && !(state & 1)) || exploration->hops[new] ||
                exploration->hops[state_of(edge->to, true)])
                continue;
            exploration->hops[new] = (uint16_t)(exploration->hops[state] + 1);
            exploration->next[new] = state;
            exploration->port[new] = edge->to_port;
            exploration->queue[tail++] = new;
        }
    }
    return steps;
}

/* Compares the path with a table up to the first conflict; counts the switches compared. */
static bool compare_path(const struct exploration *exploration, const uint8_t *table,
                         uint32_t state, uint64_t *steps)
{
    for (; exploration->next[state] != NETWORK_NONE; state = exploration->next[state]) {
        ++*steps;
        if (table[state / 2] != PORT_NONE && table[state / 2] != exploration->port[state])
            return false;
    }
    ++*steps; /* at the last switch all paths have the same entry */
    return true;
}

/* The first table without a conflict takes the path. Returns the steps. */
static uint64_t place_path(struct exploration *exploration, uint32_t state)
{
    size_t switches = exploration->network->switches.count;
    uint64_t steps = 0;
    uint32_t number = 0;
    while (number < exploration->table_count &&
           !compare_path(exploration, exploration->tables.items + number * switches, state, &steps))
        number++;
    if (number == exploration->table_count) {
        exploration->table_count++;
        vec_reserve(&exploration->tables, exploration->table_count * switches);
        memset(exploration->tables.items + number * switches, PORT_NONE, switches);
        steps += exploration->hops[state];
    }
    uint8_t *table = exploration->tables.items + number * switches;
    for (; exploration->next[state] != NETWORK_NONE; state = exploration->next[state])
        table[state / 2] = exploration->port[state];
    return steps;
}

uint64_t paper_steps_dr(const struct network *network, const struct updown *updown)
{
    size_t states = 2 * network->switches.count;
    uint64_t steps = paper_steps_fera(network, updown);
    struct arena memory = {0};
    struct exploration exploration = {
        .network = network,
        .updown = updown,
        .next = arena_alloc(&memory, states * sizeof *exploration.next),
        .hops = arena_alloc(&memory, states * sizeof *exploration.hops),
        .port = arena_alloc(&memory, states),
        .queue = arena_alloc(&memory, states * sizeof *exploration.queue),
    };
    for (uint32_t at = 0; at < network->switches.count; at++) {
        uint64_t hosts = network_terminal_count(network, at);
        if (hosts == 0)
            continue;
        exploration.destination = at;
        exploration.table_count = 0;
        steps += hosts * (1 + explore_routes(&exploration));
        for (uint32_t source = 0; source < network->switches.count; source++) {
            uint64_t senders = network_terminal_count(network, source) - (source == at);
            /* A route up is known only if it was found before one down. */
            uint32_t state = state_of(source, !exploration.hops[state_of(source, false)]);
            if (senders && exploration.hops[state])
                steps +=
                    hosts * senders * (exploration.hops[state] + place_path(&exploration, state));
        }
    }
    arena_release(&memory);
    vec_release(&exploration.tables);
    return steps;
}

uint64_t paper_steps(const struct network *network, const struct engine *engine,
                     const struct engine_options *options)
{
    assert(engine->paper_steps);
    struct roots roots;
    struct updown updown;
    struct err unfit;
    uint64_t steps = 0;
    if (roots_choose(&roots, network, options, ROOT_MANAGER, &unfit) == 0) {
        updown_init(&updown, network, roots.switches.items, roots.switches.count);
        steps = engine->paper_steps(network, &updown);
        updown_release(&updown);
    }
    roots_release(&roots);
    return steps;
}
