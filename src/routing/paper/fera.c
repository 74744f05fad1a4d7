/* FERa: fully explicit routing (Bermudez, Casado, Quiles and Duato, "Fast routing computation on
 * InfiniBand networks", 2006, section 2.3), with one root.
 *
 * Every switch takes the lowest port of its next hops (next_hops.h): the entries and hops of the
 * paper's Fig. 6. All terminals of a switch share its route. The order in which the paper's own
 * flooding finds the entries is in published_fera.c. With several roots, switches without a legal
 * route send towards the nearest switch that has one. */
#include "routing/paper/fera.h"

#include "routing/search/next_hops.h"
#include "routing/search/roots.h"

#include <string.h>

enum { NEXT_HOPS_BYTES = 64 << 20, ROW_OPERATIONS = 8 };

struct lowest_ports {
    struct next_hops next_hops;
    struct routes *routes;
};

/* The lowest port comes first among the slots of one direction, and a route has one direction. The
 * price of an operation (engine.h) was measured with a computation that compares, for every link,
 * rows of 64 distances: this counts what that one does. */
static void fill_lowest_ports(void *context, size_t index)
{
    const struct lowest_ports *filling = context;
    const struct next_hops *next_hops = &filling->next_hops;
    const struct network *network = next_hops->network;
    uint32_t at = (uint32_t)index, slots = network->first_edge[at + 1] - network->first_edge[at];
    uint64_t operations = 0;
    for (uint32_t tile = 0; tile < next_hops->tile_count; tile++) {
        const uint64_t *targets = next_hops->targets + (size_t)tile * next_hops->slot_count;
        uint32_t first = (next_hops->first_tile + tile) * NEXT_HOPS_TILE;
        uint32_t left = next_hops->switch_count - first;
        uint64_t open = UINT64_MAX;
        operations += left < NEXT_HOPS_TILE ? left : NEXT_HOPS_TILE;
        operations += (5 + 2 * (uint64_t)slots) * ROW_OPERATIONS;
        for (uint32_t slot = network->first_edge[at]; slot < network->first_edge[at + 1]; slot++) {
            uint64_t found = targets[slot] & open;
            open &= ~found;
            for (; found; found &= found - 1) {
                uint32_t to = first + (unsigned)__builtin_ctzll(found);
                routes_fill_switch(routes_row(filling->routes, at), network, to,
                                   next_hops->port[slot]);
                operations += 1 + network_terminal_count(network, to);
            }
        }
    }
    if (at / NEXT_HOPS_TILE - next_hops->first_tile < next_hops->tile_count) {
        routes_fill_own(filling->routes, network, at);
        operations += network_terminal_count(network, at);
    }
    engine_count(filling->routes, operations);
}

int fera_tables(const struct network *network, const struct updown *updown,
                const struct engine_options *options, struct routes *routes, bool *unproved,
                struct err *err)
{
    struct next_hops_gaps gaps = {0};
    struct lowest_ports filling = {.routes = routes};
    struct next_hops *next_hops = &filling.next_hops;
    next_hops_init(next_hops, network, updown, options->workers, NEXT_HOPS_BYTES, NULL);
    next_hops->turn_anywhere = true;
    for (uint32_t tile = 0; tile < next_hops_tiles(next_hops); tile += next_hops->tile_count) {
        next_hops_compute(next_hops, options->workers, tile);
        workers_run(options->workers, next_hops->switch_count, fill_lowest_ports, &filling);
        next_hops_add_gaps(next_hops, &gaps);
    }
    next_hops_release(next_hops);
    if (updown->part_count > 1) /* switches that do not reach a destination are looked at */
        engine_count(routes, (uint64_t)routes->switch_count * routes->switch_count);
    *unproved = gaps.pairs.other_pairs > 0;
    int rc = gaps.pairs.terminal_pairs ? updown_refuse(network, &gaps.pairs, err) : 0;
    next_hops_gaps_release(&gaps);
    return rc;
}

int paper_compute(const struct network *network, const struct engine_options *options,
                  const char *engine, paper_tables *tables, struct routes *routes, struct err *err)
{
    struct roots roots;
    struct updown updown;
    bool unproved = false;
    *routes = (struct routes){0};
    int rc = roots_choose(&roots, network, options, ROOT_MANAGER, err);
    if (rc)
        return rc;
    updown_init(&updown, network, roots.switches.items, roots.switches.count, options->tree);
    routes_init(routes, network, engine);
    memcpy(routes->note, roots.note, sizeof roots.note);
    routes->operations = roots.operations;
    rc = tables(network, &updown, options, routes, &unproved, err);
    routes->ranks = updown.rank;
    updown.rank = NULL;
    updown_release(&updown);
    roots_release(&roots);
    if (rc) {
        engine_refuse(routes);
        return rc;
    }
    return engine_settle(network, options, unproved, routes, err);
}

int fera_compute(const struct network *network, const struct engine_options *options,
                 struct routes *routes, struct err *err)
{
    return paper_compute(network, options, "fera", fera_tables, routes, err);
}

const struct engine engine_fera = {
    .name = "fera",
    .summary = "fully explicit up*-down* routes, lowest ports",
    .compute = fera_compute,
};
