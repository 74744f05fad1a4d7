/* DR: destination renaming (Lopez, Flich and Duato, as in section 2.4 of Bermudez, Casado, Quiles
 * and Duato, "Fast routing computation on InfiniBand networks", 2006).
 *
 * Every pair of hosts gets a shortest legal up*-down* path, computed as if switches could see the
 * input port. A forwarding table cannot: two paths to one destination that leave a switch through
 * different ports need different DLIDs. So the paths are taken one after the other, and each goes
 * into the first table of its destination where no switch on it has another port already, else
 * into a new table. Table t belongs to the destination's LID + t; `offsets` holds each pair's t.
 *
 * Equal paths are spread by destination: where several ports continue a shortest path, the number
 * of the destination port and of the switch select one. The choice does not depend on the source,
 * so only differences that the up*-down* rule makes cost a table. All ports at a switch share the
 * number of the table, not the paths.
 *
 * Routes from and to switches are FERa's. For that, table 0 first takes the path of the root, which
 * only goes down; each table then gets entries for switches on none of its paths: down to a switch
 * that goes on down, or else up. No such entry makes a down-up transition. With the root's path,
 * table 0 serves every switch. LIDs beyond the tables that are needed repeat table 0.
 *
 * The LMC of the destinations limits the number of tables (128 at the most); more is an error. */
#include "routing/paper/fera.h"
#include "routing/paper/published.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { TABLES_TOP = 1 << NETWORK_TOP_LMC };

struct dr {
    const struct network *network;
    const struct updown *updown;
    struct routes *routes;
    uint32_t *tables_needed; /* by destination switch */
};

/* Scratch for one destination switch. Distances by switch; HOPS_NONE where there is no such path.
 */
struct renaming {
    const struct dr *dr;
    uint32_t destination;
    uint32_t terminals;  /* at the destination */
    uint16_t *down;      /* going down all the way */
    uint16_t *legal;     /* up, then down */
    VEC(uint8_t) tables; /* [(table * terminals + terminal) * switches + switch] */
    uint32_t count;      /* of tables */
    VEC(uint32_t) path;  /* edges */
    uint64_t operations;
};

static void measure(struct renaming *renaming)
{
    const struct network *network = renaming->dr->network;
    const struct updown *updown = renaming->dr->updown;
    uint32_t switches = (uint32_t)network->switches.count;
    for (uint32_t rank = switches; rank-- > 0;) {
        uint32_t at = updown->order[rank], best = HOPS_NONE;
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            uint32_t to = network->edges[e].to;
            if (updown->rank[to] > rank && renaming->down[to] + 1u < best)
                best = renaming->down[to] + 1u;
        }
        renaming->down[at] = at == renaming->destination ? 0 : (uint16_t)best;
    }
    for (uint32_t rank = 0; rank < switches; rank++) {
        uint32_t at = updown->order[rank], best = renaming->down[at];
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            uint32_t to = network->edges[e].to;
            if (updown->rank[to] < rank && renaming->legal[to] + 1u < best)
                best = renaming->legal[to] + 1u;
        }
        renaming->legal[at] = (uint16_t)best;
    }
    renaming->operations += 2 * ((uint64_t)network->first_edge[switches] + switches);
}

static uint8_t *table_at(struct renaming *renaming, uint32_t number, uint32_t terminal)
{
    assert(number < renaming->count && terminal < renaming->terminals);
    return renaming->tables.items + ((size_t)number * renaming->terminals + terminal) *
                                        renaming->dr->network->switches.count;
}

/* True if a shortest path continues over this edge. */
static bool is_next(const struct renaming *renaming, uint32_t at, uint32_t edge, bool may_go_up)
{
    uint32_t to = renaming->dr->network->edges[edge].to;
    unsigned hops = may_go_up ? renaming->legal[at] : renaming->down[at];
    if (updown_is_up(renaming->dr->updown, at, to))
        return may_go_up && renaming->legal[to] + 1u == hops;
    return renaming->down[to] + 1u == hops;
}

/* The path from a switch to a terminal of the destination. */
static void trace(struct renaming *renaming, uint32_t source, uint32_t terminal)
{
    const struct network *network = renaming->dr->network;
    const uint32_t *first_edge = network->first_edge;
    uint32_t destination_port = network->first_terminal[renaming->destination] + terminal;
    bool may_go_up = true;
    renaming->path.count = 0;
    for (uint32_t at = source; at != renaming->destination;) {
        uint32_t choices = 0, edge = first_edge[at];
        for (uint32_t e = first_edge[at]; e < first_edge[at + 1]; e++)
            choices += is_next(renaming, at, e, may_go_up);
        assert(choices > 0);
        for (uint32_t skip = (destination_port + at) % choices;; edge++)
            if (is_next(renaming, at, edge, may_go_up) && skip-- == 0)
                break;
        renaming->operations += first_edge[at + 1] - first_edge[at];
        vec_push(&renaming->path, edge);
        may_go_up = may_go_up && updown_is_up(renaming->dr->updown, at, network->edges[edge].to);
        at = network->edges[edge].to;
    }
}

/* Puts the traced path into a table, or only tells whether it fits. */
static bool put(struct renaming *renaming, uint8_t *table, uint32_t source, bool write)
{
    const struct network *network = renaming->dr->network;
    uint32_t at = source;
    for (size_t i = 0; i < renaming->path.count; i++) {
        const struct network_edge *edge = &network->edges[renaming->path.items[i]];
        renaming->operations++;
        if (write)
            table[at] = edge->port;
        else if (table[at] != PORT_NONE && table[at] != edge->port)
            return false;
        at = edge->to;
    }
    return true;
}

/* The first table that takes the paths from the source to all terminals of the destination; its
 * number may exceed TABLES_TOP. */
static uint32_t place(struct renaming *renaming, uint32_t source)
{
    uint32_t number = 0;
    for (uint32_t terminal = 0; terminal < renaming->terminals && number < renaming->count;) {
        trace(renaming, source, terminal);
        if (put(renaming, table_at(renaming, number, terminal), source, false)) {
            terminal++;
        } else {
            terminal = 0;
            number++;
        }
    }
    if (number >= TABLES_TOP)
        return TABLES_TOP;
    if (number == renaming->count) {
        size_t bytes = renaming->terminals * renaming->dr->network->switches.count;
        renaming->count++;
        vec_reserve(&renaming->tables, renaming->count * bytes);
        memset(renaming->tables.items + number * bytes, PORT_NONE, bytes);
    }
    for (uint32_t terminal = 0; terminal < renaming->terminals; terminal++) {
        trace(renaming, source, terminal);
        put(renaming, table_at(renaming, number, terminal), source, true);
    }
    return number;
}

/* Entries for the switches that the table's own paths do not touch. Overwrites the distances. */
static void complete(struct renaming *renaming, uint8_t *table)
{
    const struct network *network = renaming->dr->network;
    const struct updown *updown = renaming->dr->updown;
    uint32_t switches = (uint32_t)network->switches.count;
    uint16_t *down = renaming->down, *legal = renaming->legal;
    for (uint32_t rank = switches; rank-- > 0;) {
        uint32_t at = updown->order[rank];
        bool fixed = table[at] != PORT_NONE;
        down[at] = at == renaming->destination ? 0 : HOPS_NONE;
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            const struct network_edge *edge = &network->edges[e];
            if (at == renaming->destination || updown->rank[edge->to] < rank ||
                (fixed && edge->port != table[at]) || down[edge->to] + 1u >= down[at])
                continue;
            down[at] = (uint16_t)(down[edge->to] + 1);
            table[at] = edge->port;
        }
    }
    for (uint32_t rank = 0; rank < switches; rank++) {
        uint32_t at = updown->order[rank];
        bool fixed = table[at] != PORT_NONE;
        legal[at] = down[at];
        if (down[at] != HOPS_NONE)
            continue;
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            const struct network_edge *edge = &network->edges[e];
            if (updown->rank[edge->to] > rank || (fixed && edge->port != table[at]) ||
                legal[edge->to] + 1u >= legal[at])
                continue;
            legal[at] = (uint16_t)(legal[edge->to] + 1);
            table[at] = edge->port;
        }
    }
    renaming->operations += 2 * ((uint64_t)network->first_edge[switches] + switches);
}

/* The tables into the LIDs of the destination's terminals, as far as they have any. */
static void write_tables(struct renaming *renaming)
{
    const struct network *network = renaming->dr->network;
    uint32_t d = renaming->destination;
    for (uint32_t i = 0; i < renaming->terminals; i++) {
        const struct network_terminal *terminal =
            network_terminal_at(network, network->first_terminal[d] + i);
        uint32_t lids = terminal->lid ? UINT32_C(1) << terminal->lmc : 0;
        for (uint32_t number = 0; number < lids; number++) {
            const uint8_t *table = table_at(renaming, number < renaming->count ? number : 0, i);
            for (uint32_t at = 0; at < network->switches.count; at++)
                if (at != d)
                    routes_row(renaming->dr->routes, at)[terminal->lid + number] = table[at];
            renaming->operations += network->switches.count;
        }
    }
}

static void rename_destination(void *context, size_t index)
{
    const struct dr *dr = context;
    const struct network *network = dr->network;
    const struct updown *updown = dr->updown;
    uint32_t switches = (uint32_t)network->switches.count, d = (uint32_t)index;
    struct renaming renaming = {.dr = dr, .destination = d};
    renaming.terminals = network_terminal_count(network, d);
    dr->tables_needed[d] = 1;
    if (renaming.terminals == 0)
        return;
    renaming.down = mem_alloc(2 * (size_t)switches * sizeof *renaming.down);
    renaming.legal = renaming.down + switches;
    measure(&renaming);
    for (uint32_t rank = 0; rank < switches; rank++)
        if (updown->part[updown->order[rank]] == updown->part[d]) {
            place(&renaming, updown->order[rank]); /* the root has the lowest rank of its part */
            break;
        }
    for (uint32_t source = 0; source < switches; source++) {
        if (network_terminal_count(network, source) == 0 || renaming.legal[source] == HOPS_NONE)
            continue;
        uint32_t number = place(&renaming, source);
        if (number >= dr->tables_needed[d])
            dr->tables_needed[d] = number + 1;
        dr->routes->offsets[(size_t)d * switches + source] = (uint8_t)number;
    }
    for (uint32_t number = 0; number < renaming.count; number++)
        for (uint32_t terminal = 0; terminal < renaming.terminals; terminal++)
            complete(&renaming, table_at(&renaming, number, terminal));
    write_tables(&renaming);
    engine_count(dr->routes, switches + renaming.operations);
    vec_release(&renaming.tables);
    vec_release(&renaming.path);
    mem_free(renaming.down);
}

static unsigned lmc_for(uint32_t tables)
{
    unsigned lmc = 0;
    while (UINT32_C(1) << lmc < tables)
        lmc++;
    return lmc;
}

/* Every terminal must have room for its switch's tables. */
static int check_room(const struct dr *dr, struct err *err)
{
    const struct network *network = dr->network;
    uint32_t worst = NETWORK_NONE;
    uint64_t short_of = 0;
    for (uint32_t i = 0; i < network->terminals.count; i++) {
        const struct network_terminal *terminal = &network->terminals.items[i];
        unsigned lmc = lmc_for(dr->tables_needed[terminal->at]);
        if (lmc > dr->routes->lmc_needed)
            dr->routes->lmc_needed = (uint8_t)lmc;
        if (!terminal->lid || lmc <= terminal->lmc)
            continue;
        short_of++;
        if (worst == NETWORK_NONE ||
            dr->tables_needed[terminal->at] > dr->tables_needed[network->terminals.items[worst].at])
            worst = i;
    }
    if (worst == NETWORK_NONE)
        return 0;
    char label[NETWORK_LABEL_BYTES];
    const struct network_terminal *terminal = &network->terminals.items[worst];
    uint32_t needed = dr->tables_needed[terminal->at];
    return err_set(err, ENOSPC,
                   "dr: %llu ports have too few LIDs; %s needs %s%u tables (LMC %u) and has LMC %u",
                   (unsigned long long)short_of, network_label(network, worst, label),
                   needed > TABLES_TOP ? "more than " : "",
                   needed > TABLES_TOP ? (unsigned)TABLES_TOP : needed, lmc_for(needed),
                   terminal->lmc);
}

static int dr_tables(const struct network *network, const struct updown *updown,
                     const struct engine_options *options, struct routes *routes, bool *unproved,
                     struct err *err)
{
    uint32_t switches = (uint32_t)network->switches.count;
    int rc = fera_tables(network, updown, options, routes, unproved, err);
    if (!rc && *unproved)
        rc = err_set(err, EINVAL, "dr: a connected network takes one root; give only one");
    if (rc)
        return rc;
    struct dr dr = {.network = network, .updown = updown, .routes = routes};
    dr.tables_needed = mem_alloc(switches * sizeof *dr.tables_needed);
    routes->offsets = mem_zalloc((size_t)switches * switches + 1, 1);
    workers_run(options->workers, switches, rename_destination, &dr);
    rc = check_room(&dr, err);
    mem_free(dr.tables_needed);
    return rc;
}

int dr_compute(const struct network *network, const struct engine_options *options,
               struct routes *routes, struct err *err)
{
    return paper_compute(network, options, "dr", dr_tables, routes, err);
}

const struct engine engine_dr = {
    .name = "dr",
    .summary = "shortest up*-down* routes by destination renaming; needs LMC",
    .compute = dr_compute,
    .published = published_dr,
    .renames = true,
};
