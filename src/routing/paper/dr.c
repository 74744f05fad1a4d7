/* DR: destination renaming (Lopez, Flich and Duato, as in section 2.4 of Bermudez, Casado, Quiles
 * and Duato, "Fast routing computation on InfiniBand networks", 2006).
 *
 * Tables that ignore the input port force some sources onto longer routes than up*-down* allows.
 * Renaming gives a destination several LIDs, each with a table of its own, and assigns to every
 * source the LID whose table has its shortest legal route.
 *
 * Table 0 (the base LID) is FERa's. A source whose legal route is shorter than FERa's is put into
 * the first further table of the destination in which no switch on the path has another entry, else
 * into a new one. All terminals of a switch share routes, so this is done once for each pair of
 * switches. A table is then completed: switches that it does not need send down only to where the
 * route continues down, or else up, so that no entry makes a down-up transition; packets with a LID
 * that was assigned earlier mostly still arrive. Further LIDs copy table 0. Switches as end points
 * use table 0.
 *
 * The terminals' LMC bounds the number of tables (128 at the most); more is an error. */
#include "routing/paper/fera.h"
#include "routing/paper/paper_cost.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { TABLES_TOP = 1 << NETWORK_TOP_LMC };

struct dr {
    const struct network *network;
    const struct updown *updown;
    struct routes *routes;
    uint32_t *tables_needed; /* by destination switch */
};

/* Scratch for one destination. Distances by switch; HOPS_NONE where there is no such route. */
struct renaming {
    const struct dr *dr;
    uint32_t destination;
    uint16_t *down;      /* going down all the way */
    uint16_t *free;      /* legal, by the input port */
    uint16_t *fera;      /* of table 0 */
    VEC(uint8_t) tables; /* [(table - 1) * switches + switch] */
    uint32_t count;      /* tables, table 0 included */
    VEC(uint32_t) path;  /* edges */
    uint64_t operations;
};

static void measure_distances(struct renaming *renaming)
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
        uint32_t at = updown->order[rank], free = HOPS_NONE, fera = HOPS_NONE;
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            uint32_t to = network->edges[e].to;
            if (updown->rank[to] > rank)
                continue;
            free = renaming->free[to] + 1u < free ? renaming->free[to] + 1u : free;
            fera = renaming->fera[to] + 1u < fera ? renaming->fera[to] + 1u : fera;
        }
        uint16_t down = renaming->down[at];
        renaming->free[at] = (uint16_t)(down < free ? down : free);
        renaming->fera[at] = (uint16_t)(down != HOPS_NONE ? down : fera);
    }
    renaming->operations += 2 * ((uint64_t)network->first_edge[switches] + switches);
}

/* Traces the shortest legal route. It turns down as early as possible, where table 0 goes down
 * too. */
static void trace_route(struct renaming *renaming, uint32_t source)
{
    const struct network *network = renaming->dr->network;
    bool up = true;
    renaming->path.count = 0;
    for (uint32_t at = source; at != renaming->destination;) {
        up = up && renaming->down[at] != renaming->free[at];
        const uint16_t *hops = up ? renaming->free : renaming->down;
        uint32_t e = network->first_edge[at]; /* the lowest port one hop closer */
        while (updown_is_up(renaming->dr->updown, at, network->edges[e].to) != up ||
               hops[network->edges[e].to] + 1 != hops[at])
            e++;
        renaming->operations += e - network->first_edge[at] + 1;
        vec_push(&renaming->path, e);
        at = network->edges[e].to;
    }
}

static uint32_t edge_start(const struct renaming *renaming, size_t index, uint32_t source)
{
    return index ? renaming->dr->network->edges[renaming->path.items[index - 1]].to : source;
}

static bool fits_table(struct renaming *renaming, const uint8_t *table, uint32_t source)
{
    for (size_t i = 0; i < renaming->path.count; i++) {
        renaming->operations++;
        uint8_t entry = table[edge_start(renaming, i, source)];
        if (entry != PORT_NONE &&
            entry != renaming->dr->network->edges[renaming->path.items[i]].port)
            return false;
    }
    return true;
}

/* Puts the traced path into a table and returns its number, which may exceed TABLES_TOP. */
static uint32_t place_route(struct renaming *renaming, uint32_t source)
{
    size_t switches = renaming->dr->network->switches.count;
    uint32_t number = 1;
    while (number < renaming->count &&
           !fits_table(renaming, renaming->tables.items + (number - 1) * switches, source))
        number++;
    if (number >= TABLES_TOP)
        return TABLES_TOP;
    if (number == renaming->count) {
        renaming->count++;
        vec_reserve(&renaming->tables, number * switches);
        memset(renaming->tables.items + (number - 1) * switches, PORT_NONE, switches);
    }
    uint8_t *table = renaming->tables.items + (number - 1) * switches;
    for (size_t i = 0; i < renaming->path.count; i++)
        table[edge_start(renaming, i, source)] =
            renaming->dr->network->edges[renaming->path.items[i]].port;
    renaming->operations += renaming->path.count;
    return number;
}

/* Fills in the switches that the table's own paths do not pass. Uses the distance arrays. */
static void complete_table(struct renaming *renaming, uint8_t *table)
{
    const struct network *network = renaming->dr->network;
    const struct updown *updown = renaming->dr->updown;
    uint32_t switches = (uint32_t)network->switches.count;
    uint16_t *down = renaming->down, *free = renaming->free;
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
        free[at] = down[at];
        if (down[at] != HOPS_NONE)
            continue;
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            const struct network_edge *edge = &network->edges[e];
            if (updown->rank[edge->to] > rank || (fixed && edge->port != table[at]) ||
                free[edge->to] + 1u >= free[at])
                continue;
            free[at] = (uint16_t)(free[edge->to] + 1);
            table[at] = edge->port;
        }
    }
    renaming->operations += 2 * ((uint64_t)network->first_edge[switches] + switches);
}

/* Writes tables 1 … count-1 for the terminals' further LIDs, as far as they have any. */
static void write_tables(struct renaming *renaming)
{
    const struct network *network = renaming->dr->network;
    uint32_t d = renaming->destination;
    for (uint32_t i = network->first_terminal[d]; i < network->first_terminal[d + 1]; i++) {
        const struct network_terminal *terminal =
            &network->terminals.items[network->terminals_at[i]];
        for (uint32_t number = 1;
             number < renaming->count && terminal->lid && number >> terminal->lmc == 0; number++) {
            const uint8_t *table =
                renaming->tables.items + (size_t)(number - 1) * network->switches.count;
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
    uint32_t switches = (uint32_t)network->switches.count, d = (uint32_t)index;
    dr->tables_needed[d] = 1;
    if (network_terminal_count(network, d) == 0)
        return;
    struct renaming renaming = {.dr = dr, .destination = d, .count = 1};
    renaming.down = mem_alloc(3 * (size_t)switches * sizeof *renaming.down);
    renaming.free = renaming.down + switches;
    renaming.fera = renaming.free + switches;
    measure_distances(&renaming);
    for (uint32_t source = 0; source < switches; source++) {
        if (network_terminal_count(network, source) == 0 ||
            renaming.free[source] == renaming.fera[source])
            continue;
        trace_route(&renaming, source);
        uint32_t number = place_route(&renaming, source);
        if (number >= dr->tables_needed[d])
            dr->tables_needed[d] = number + 1;
        dr->routes->offsets[(size_t)d * switches + source] = (uint8_t)number;
    }
    for (uint32_t number = 1; number < renaming.count; number++)
        complete_table(&renaming, renaming.tables.items + (size_t)(number - 1) * switches);
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

/* Every terminal must have enough LIDs for its switch's tables. */
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
    .paper_steps = paper_steps_dr,
    .renames = true,
};
