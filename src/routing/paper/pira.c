/* PIRa: partially implicit routing (Bermudez, Casado, Quiles and Duato, "Fast routing computation
 * on InfiniBand networks", 2006, section 3), with one root.
 *
 * Up segments follow default ports, which all lead to the root; only down segments need entries.
 * Nodes are visited in ascending key order. A new switch takes an up-neighbour as its father: a
 * random one as in the paper if there is a seed, else the one with the highest LID. It gets a
 * default port to it and explicit entries for its other up-neighbours; every switch visited before
 * reaches it as it reaches the father, or directly if they are neighbours.
 *
 * A switch's column of entries is therefore its father's column with a few changes, and is copied
 * whole: columns are stored by destination, ranks as indices, so that "visited before" is a prefix.
 * A terminal's column is its switch's, cut off at the terminal's own place in the order.
 *
 * The linear tables are the full expansion (explicit entry, else default port), since default ports
 * do not exist on switches with linear tables. */
#include "routing/paper/fera.h"
#include "routing/paper/published.h"

#include <errno.h>
#include <string.h>

enum { VECTOR_BYTES = 16 }; /* that a copy moves in one operation */

struct pira {
    const struct network *network;
    const struct updown *updown;
    struct routes *routes;
    uint8_t *columns; /* [destination's rank * switches + rank] */
    uint64_t seed;    /* of random fathers, or 0 */
    uint32_t *cut;    /* by terminal: ranks from here on have no explicit entry for it */
};

/* The lowest edge to the father, or NETWORK_NONE at a root. Each up-neighbour has a key: its LID,
 * or a random number of the pair. The highest key wins. */
static uint32_t father_edge(const struct pira *pira, uint32_t at)
{
    const struct network *network = pira->network;
    const struct network_switch *switches = network->switches.items;
    uint32_t best = NETWORK_NONE;
    uint64_t best_key = 0;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint32_t to = network->edges[e].to;
        uint64_t key = switches[to].lid;
        if (!updown_is_up(pira->updown, at, to))
            continue;
        if (pira->seed)
            key = hash_mix(hash_mix(pira->seed ^ switches[at].guid) ^ switches[to].guid);
        if (best == NETWORK_NONE || key > best_key) {
            best = e;
            best_key = key;
        }
    }
    return best;
}

/* Ports towards and back from the up-neighbours; of parallel links the lowest port of the sender.
 */
static void connect_up_neighbours(struct pira *pira, uint32_t at, uint32_t father)
{
    const struct network *network = pira->network;
    size_t switches = network->switches.count;
    uint32_t rank = pira->updown->rank[at];
    uint8_t *own = pira->columns + rank * switches;
    for (uint32_t e = network->first_edge[at + 1]; e-- > network->first_edge[at];) {
        const struct network_edge *edge = &network->edges[e];
        uint32_t up = pira->updown->rank[edge->to];
        if (up < rank && edge->to != father)
            pira->columns[up * switches + rank] = edge->port;
        if (up < rank)
            own[up] = PORT_NONE; /* not by the father's path, but directly */
    }
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        const struct network_edge *edge = &network->edges[e];
        uint32_t up = pira->updown->rank[edge->to];
        if (up < rank && edge->to_port < own[up])
            own[up] = edge->to_port;
    }
}

static int visit_switches(struct pira *pira, struct err *err)
{
    const struct network *network = pira->network;
    size_t switches = network->switches.count;
    bool *rooted = mem_zalloc(pira->updown->part_count, sizeof *rooted);
    int rc = 0;
    for (uint32_t rank = 0; rank < switches && !rc; rank++) {
        uint32_t at = pira->updown->order[rank], edge = father_edge(pira, at);
        uint8_t *own = pira->columns + rank * switches;
        if (edge == NETWORK_NONE) {
            if (rooted[pira->updown->part[at]])
                rc = err_set(err, EINVAL,
                             "pira: the default ports of a connected network lead to "
                             "one root; give only one");
            rooted[pira->updown->part[at]] = true;
        } else {
            uint32_t father = network->edges[edge].to;
            memcpy(own, pira->columns + pira->updown->rank[father] * switches, rank);
            uint64_t edges = network->first_edge[at + 1] - network->first_edge[at];
            pira->routes->operations += 1 + rank / VECTOR_BYTES + 3 * edges;
            pira->routes->default_ports[at] = network->edges[edge].port;
            connect_up_neighbours(pira, at, father);
        }
        own[rank] = 0;
    }
    mem_free(rooted);
    return rc;
}

static uint32_t put_entries(const struct pira *pira, uint32_t at, uint16_t lid, uint8_t lmc,
                            uint8_t port)
{
    struct routes *routes = pira->routes;
    bool explicit_entry = port != PORT_NONE;
    if (!lid)
        return 0;
    if (!explicit_entry)
        port = routes->default_ports[at];
    for (uint32_t own = lid; own < lid + (UINT32_C(1) << lmc); own++) {
        routes_row(routes, at)[own] = port;
        if (explicit_entry)
            bitset_add(routes->explicit_bits, (size_t)at * routes->stride + own);
    }
    return UINT32_C(1) << lmc;
}

/* One switch's row; strides are multiples of 64, so rows share no word of explicit_bits. */
static void expand_row(void *context, size_t index)
{
    const struct pira *pira = context;
    const struct network *network = pira->network;
    size_t switches = network->switches.count;
    uint32_t at = (uint32_t)index, rank = pira->updown->rank[at];
    uint64_t operations = 0;
    for (uint32_t to = 0; to < switches; to++) {
        if (pira->updown->part[to] != pira->updown->part[at])
            continue;
        const struct network_switch *target = &network->switches.items[to];
        uint8_t port = pira->columns[pira->updown->rank[to] * switches + rank];
        operations += put_entries(pira, at, target->lid, target->lmc, port);
        for (uint32_t i = network->first_terminal[to]; i < network->first_terminal[to + 1]; i++) {
            uint32_t terminal = network->terminals_at[i];
            const struct network_terminal *node = &network->terminals.items[terminal];
            uint8_t own = to == at ? node->port : rank < pira->cut[terminal] ? port : PORT_NONE;
            operations += put_entries(pira, at, node->lid, node->lmc, own);
        }
    }
    engine_count(pira->routes, operations);
}

static int pira_tables(const struct network *network, const struct updown *updown,
                       const struct engine_options *options, struct routes *routes, bool *unproved,
                       struct err *err)
{
    size_t switches = network->switches.count;
    struct pira pira = {
        .network = network, .updown = updown, .routes = routes, .seed = options->father_seed};
    routes->default_ports = mem_alloc(switches);
    routes->explicit_bits = mem_zalloc(switches * routes->stride / 64 + 1, sizeof(uint64_t));
    pira.columns = mem_alloc(switches * switches);
    pira.cut = mem_alloc(network->terminals.count * sizeof *pira.cut);
    if (switches) {
        memset(routes->default_ports, PORT_NONE, switches);
        memset(pira.columns, PORT_NONE, switches * switches);
    }
    for (uint32_t i = 0; i < network->terminals.count; i++)
        pira.cut[i] = updown_terminal_rank(updown, network, i);
    int rc = visit_switches(&pira, err);
    if (!rc)
        workers_run(options->workers, switches, expand_row, &pira);
    mem_free(pira.columns);
    mem_free(pira.cut);
    *unproved = false;
    return rc;
}

static int pira_compute(const struct network *network, const struct engine_options *options,
                        struct routes *routes, struct err *err)
{
    return paper_compute(network, options, "pira", pira_tables, routes, err);
}

const struct engine engine_pira = {
    .name = "pira",
    .summary = "partially implicit routes over default ports, quick to compute",
    .compute = pira_compute,
    .published = published_pira,
};
