#include "repair_world.h"

#include "routing/check/verify.h"

#include <stdlib.h>
#include <string.h>

struct routes compute_routes(const struct network *network, const struct engine *engine)
{
    struct engine_options options = {0};
    struct routes routes;
    struct err err = {0};
    if (engine->compute(network, &options, &routes, &err)) {
        fprintf(stderr, "%s: %s\n", engine->name, err.message);
        abort();
    }
    return routes;
}

/* ---- what the manager sees ---- */

static bool link_is_up(const struct draft *draft, const struct draft_link *link)
{
    return !link->cut && !draft->dead[link->a] && !draft->dead[link->b];
}

static void find_reachable(const struct draft *draft, bool *seen)
{
    bool found = true;
    memset(seen, 0, draft->switches * sizeof *seen);
    seen[0] = true; /* the manager's own switch never dies */
    while (found) {
        found = false;
        for (size_t i = 0; i < draft->links.count; i++) {
            const struct draft_link *link = &draft->links.items[i];
            if (!link_is_up(draft, link) || seen[link->a] == seen[link->b])
                continue;
            seen[link->a] = seen[link->b] = found = true;
        }
    }
}

static struct network *build(const struct draft *draft, uint8_t lmc, uint32_t *index)
{
    struct network *network = mem_zalloc(1, sizeof *network);
    bool *seen = mem_alloc(draft->switches * sizeof *seen);
    uint32_t step = UINT32_C(1) << lmc, lid = (draft->switches / step + 1) * step;
    network_init(network);
    find_reachable(draft, seen);
    for (uint32_t at = 0; at < draft->switches; at++)
        index[at] = seen[at] ? network_add_switch(network, 0x1000 + at,
                                                  (uint16_t)(draft->switches - at), 0, draft->ports)
                             : NETWORK_NONE;
    for (size_t i = 0; i < draft->links.count; i++) {
        const struct draft_link *link = &draft->links.items[i];
        if (link_is_up(draft, link) && seen[link->a])
            network_link(network, index[link->a], link->a_port, index[link->b], link->b_port);
    }
    for (size_t i = 0; i < draft->hosts.count; i++, lid += step)
        if (seen[draft->hosts.items[i].at])
            network_add_terminal(network, 0x100000 + i, (uint16_t)lid, lmc,
                                 index[draft->hosts.items[i].at], draft->hosts.items[i].port);
    network_finish(network);
    network->manager = index[0];
    mem_free(seen);
    return network;
}

static void free_network(struct network *network)
{
    network_release(network);
    mem_free(network);
}

/* What the full check finds, once for the repair and once for its checker. */
static void learn(struct world *world)
{
    struct dependency_graph found;
    struct verify_report report;
    uint32_t *part = mem_alloc((world->network->switches.count + 1) * sizeof *part);
    verify_routes(world->network, &world->routes, &(struct verify_options){.keep = &found},
                  &report);
    dependency_copy(&world->graph, &found);
    world->standing.known = standing_take(&world->standing, &found, &report, world->routes.ranks) &&
                            network_parts(world->network, part) == 1;
    verify_report_release(&report);
    mem_free(part);
}

void world_init(struct world *world, const char *engine, uint64_t seed, uint32_t largest)
{
    *world = (struct world){.engine = engine_find(engine)};
    world->lmc = world->engine->renames ? 2 : 0;
    rng_seed(&world->rng, seed, 2);
    draft_random(&world->draft, seed, largest);
    world->index = mem_alloc(world->draft.switches * sizeof *world->index);
    world->network = build(&world->draft, world->lmc, world->index);
    world->routes = compute_routes(world->network, world->engine);
    learn(world);
}

void world_release(struct world *world)
{
    vec_release(&world->unwritten);
    dependency_release(&world->graph);
    standing_release(&world->standing);
    routes_release(&world->routes);
    free_network(world->network);
    mem_free(world->index);
    draft_release(&world->draft);
}

bool world_change(struct world *world)
{
    struct draft *draft = &world->draft;
    unsigned gone = 0;
    for (size_t i = 0; i < draft->links.count; i++)
        gone += draft->links.items[i].cut;
    /* Not much is away at any time. */
    bool back = gone > draft->links.count / 6 || rng_below(&world->rng, 2);
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        if (rng_below(&world->rng, 4) == 0) {
            bool *dead = &draft->dead[1 + rng_below(&world->rng, draft->switches - 1)];
            if (*dead == back) {
                *dead = !back;
                return back;
            }
        }
        bool *cut = &draft->links.items[rng_below(&world->rng, draft->links.count)].cut;
        if (*cut == back) {
            *cut = !back;
            return back;
        }
    }
    return back;
}

/* ---- steps ---- */

static void copy_tables(const struct world *world, const struct step *step, struct routes *routes)
{
    routes_init(routes, step->network, world->engine->name);
    routes->vls = world->routes.vls;
    for (uint32_t old = 0; old < world->network->switches.count; old++)
        if (step->to_new[old] != NETWORK_NONE)
            memcpy(routes_row(routes, step->to_new[old]), routes_row(&world->routes, old),
                   routes->stride < world->routes.stride ? routes->stride : world->routes.stride);
    if (world->routes.service_levels) {
        routes->service_levels = mem_zalloc((size_t)routes->switch_count * routes->stride, 1);
        for (uint32_t old = 0; old < world->network->switches.count; old++)
            if (step->to_new[old] != NETWORK_NONE)
                memcpy(routes->service_levels + (size_t)step->to_new[old] * routes->stride,
                       world->routes.service_levels + (size_t)old * world->routes.stride,
                       routes->stride < world->routes.stride ? routes->stride
                                                             : world->routes.stride);
    }
    if (!world->routes.offsets)
        return;
    routes->offsets = mem_zalloc((size_t)routes->switch_count * routes->switch_count, 1);
    for (uint32_t a = 0; a < world->network->switches.count; a++)
        for (uint32_t b = 0; b < world->network->switches.count; b++)
            if (step->to_new[a] != NETWORK_NONE && step->to_new[b] != NETWORK_NONE)
                routes->offsets[(size_t)step->to_new[a] * routes->switch_count + step->to_new[b]] =
                    world->routes.offsets[(size_t)a * world->routes.switch_count + b];
}

static uint64_t guid_behind(const struct network *network, uint32_t channel)
{
    uint32_t peer = network->ports.items[channel].peer;
    if (peer == NETWORK_NONE)
        return 0;
    return peer & NETWORK_SWITCH ? network->switches.items[peer & ~NETWORK_SWITCH].guid
                                 : network->terminals.items[peer].guid;
}

/* A link that came carries nothing until the manager makes it active, after all updates; and nobody
 * sends to an address that came before paths to it are handed out. */
static void forget_new_parts(const struct world *world, struct step *step)
{
    for (uint32_t old = 0; old < world->network->switches.count; old++) {
        uint32_t at = step->to_new[old];
        if (at == NETWORK_NONE)
            continue;
        uint32_t was = world->network->switches.items[old].first_port;
        uint32_t is = step->network->switches.items[at].first_port;
        uint8_t *row = routes_row(&step->before, at);
        for (uint32_t lid = 0; lid < step->before.stride; lid++)
            if (lid > world->network->top_lid || world->network->owner[lid] == NETWORK_NONE)
                row[lid] = PORT_NONE;
            else if (row[lid] && row[lid] <= step->network->switches.items[at].port_count &&
                     guid_behind(world->network, was + row[lid]) !=
                         guid_behind(step->network, is + row[lid]))
                row[lid] = PORT_NONE;
    }
}

/* What was before is what the switches have still, and may have to be mended again. */
static void put_back_unwritten(const struct world *world, struct step *step)
{
    for (size_t i = 0; i < world->unwritten.count; i++) {
        struct repair_entry entry = world->unwritten.items[i];
        uint32_t at = step->to_new[entry.at];
        if (at == NETWORK_NONE || entry.lid > step->network->top_lid ||
            step->network->owner[entry.lid] == NETWORK_NONE)
            continue;
        routes_row(&step->held, at)[entry.lid] = entry.before;
        routes_row(&step->before, at)[entry.lid] = entry.before;
        routes_row(&step->after, at)[entry.lid] = entry.before;
        vec_push(&step->repair.ends, ((struct repair_end){at, entry.lid, 0}));
    }
}

void world_begin_step(struct world *world, struct step *step)
{
    const struct draft *draft = &world->draft;
    *step = (struct step){0};
    step->index = mem_alloc(draft->switches * sizeof *step->index);
    step->to_new = mem_alloc(draft->switches * sizeof *step->to_new);
    step->network = build(draft, world->lmc, step->index);
    for (uint32_t at = 0; at < draft->switches; at++)
        if (world->index[at] != NETWORK_NONE)
            step->to_new[world->index[at]] = step->index[at];
    copy_tables(world, step, &step->held);
    copy_tables(world, step, &step->before);
    copy_tables(world, step, &step->after);
    put_back_unwritten(world, step);
    forget_new_parts(world, step);
    step->known = world->standing.known &&
                  repair_compare(&step->repair, &world->standing, world->network, &world->routes,
                                 step->network, &step->held, step->to_new, NULL);
    if (step->known)
        dependency_move(&step->graph, &world->graph, step->network, step->to_new,
                        step->repair.fresh);
}

void world_end_step(struct world *world, struct step *step, bool repaired)
{
    standing_release(&world->standing);
    routes_release(&world->routes);
    free_network(world->network);
    mem_free(world->index);
    world->network = step->network;
    world->routes = step->after;
    world->index = step->index;
    if (repaired) {
        world->standing = step->repair.standing;
        step->repair.standing = (struct standing){0};
        dependency_release(&world->graph);
        world->graph = step->graph;
        step->graph = (struct dependency_graph){0};
    } else {
        dependency_release(&world->graph);
        learn(world);
    }
    step->network = NULL;
    step->index = NULL;
    step->after = (struct routes){0};
    step_release(step);
}

void step_release(struct step *step)
{
    repair_release(&step->repair);
    dependency_release(&step->graph);
    routes_release(&step->held);
    routes_release(&step->before);
    routes_release(&step->after);
    mem_free(step->to_new);
    mem_free(step->index);
    if (step->network)
        free_network(step->network);
}

uint64_t count_broken(const struct network *network, const struct routes *routes)
{
    uint64_t broken = 0;
    for (uint32_t lid = 1; lid <= network->top_lid; lid++) {
        if (network->owner[lid] == NETWORK_NONE)
            continue;
        for (uint32_t from = 0; from < network->switches.count; from++) {
            uint32_t at = from, end = NETWORK_NONE;
            for (size_t hops = 0; hops <= network->switches.count; hops++) {
                uint8_t port = routes_port(routes, at, lid);
                const struct network_switch *node = &network->switches.items[at];
                end = port == 0 ? NETWORK_SWITCH | at
                      : port > node->port_count
                          ? NETWORK_NONE
                          : network->ports.items[node->first_port + port].peer;
                if (port == 0 || end == NETWORK_NONE || !(end & NETWORK_SWITCH))
                    break;
                at = end & ~NETWORK_SWITCH;
            }
            broken += end != network->owner[lid];
        }
    }
    return broken;
}
