#include "repair_world.h"

#include "base/map.h"

#include <stdlib.h>
#include <string.h>

bool compute(const struct network *network, const struct engine *engine, struct routes *routes)
{
    struct engine_options options = {0};
    struct err err;
    return engine->compute(network, &options, routes, &err) == 0;
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

/* The results of the full check, for the repair and for its check. */
static void learn(struct world *world)
{
    struct verify_report report;
    uint32_t *part = mem_alloc((world->network->switches.count + 1) * sizeof *part);
    verify_routes(world->network, &world->routes, &(struct verify_options){.keep = &world->checked},
                  &report);
    repair_state_begin(&world->state, world->network, world->checked.vls, world->routes.ranks);
    dependency_each(&world->checked, repair_state_note, &world->state);
    world->state.known = repair_state_end(&world->state, report.load, report.load_max) &&
                         network_parts(world->network, part) == 1;
    report.load = NULL;
    verify_report_release(&report);
    mem_free(part);
}

static void world_begin(struct world *world, uint64_t seed)
{
    rng_seed(&world->rng, seed, 2);
    world->index = mem_alloc(world->draft.switches * sizeof *world->index);
    world->network = build(&world->draft, world->lmc, world->index);
    if (!compute(world->network, world->engine, &world->routes))
        abort();
    learn(world);
}

void world_init(struct world *world, const char *engine, uint64_t seed, uint32_t largest)
{
    *world = (struct world){.engine = engine_find(engine)};
    world->lmc = world->engine->renames ? 2 : 0;
    draft_random(&world->draft, seed, largest);
    world_begin(world, seed);
}

void world_init_kind(struct world *world, const char *engine, const char *kind,
                     const char *const *words, size_t count, uint64_t seed)
{
    struct network tree;
    struct draft *draft = &world->draft;
    *world = (struct world){.engine = engine_find(engine)};
    build_kind(&tree, kind, words, count, 0, 1);
    draft->switches = (uint32_t)tree.switches.count;
    draft->dead = mem_zalloc(draft->switches, sizeof *draft->dead);
    for (uint32_t at = 0; at < draft->switches; at++) {
        unsigned ports = tree.switches.items[at].port_count;
        draft->ports = ports > draft->ports ? ports : draft->ports;
        for (uint32_t e = tree.first_edge[at]; e < tree.first_edge[at + 1]; e++) {
            const struct network_edge *edge = &tree.edges[e];
            if (at < edge->to)
                vec_push(&draft->links,
                         ((struct draft_link){at, edge->to, edge->port, edge->to_port, false}));
        }
    }
    for (size_t i = 0; i < tree.terminals.count; i++)
        vec_push(&draft->hosts,
                 ((struct draft_host){tree.terminals.items[i].at, tree.terminals.items[i].port}));
    network_release(&tree);
    world_begin(world, seed);
}

void world_init_tree(struct world *world, const char *engine, const char *k, uint64_t seed)
{
    world_init_kind(world, engine, "kary", (const char *const[]){k, "n=3"}, 2, seed);
}

void world_release(struct world *world)
{
    vec_release(&world->unwritten);
    dependency_release(&world->checked);
    repair_state_release(&world->state);
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
    const struct routes *from = &world->routes;
    uint32_t switches = (uint32_t)world->network->switches.count;
    routes_init(routes, step->network, world->engine->name);
    routes->vls = from->vls;
    size_t both = routes->stride < from->stride ? routes->stride : from->stride;
    if (from->service_levels)
        routes->service_levels = mem_zalloc((size_t)routes->switch_count * routes->stride, 1);
    if (from->offsets)
        routes->offsets = mem_zalloc((size_t)routes->switch_count * routes->switch_count, 1);
    for (uint32_t old = 0; old < switches; old++) {
        uint32_t at = step->to_new[old];
        if (at == NETWORK_NONE)
            continue;
        memcpy(routes_row(routes, at), routes_row(from, old), both);
        if (from->service_levels)
            memcpy(routes->service_levels + (size_t)at * routes->stride,
                   from->service_levels + (size_t)old * from->stride, both);
        for (uint32_t k = 0; from->offsets && k < switches; k++)
            if (step->to_new[k] != NETWORK_NONE)
                routes->offsets[(size_t)at * routes->switch_count + step->to_new[k]] =
                    from->offsets[(size_t)old * from->switch_count + k];
    }
}

static uint64_t guid_behind(const struct network *network, uint32_t channel)
{
    uint32_t peer = network->ports.items[channel].peer;
    if (peer == NETWORK_NONE)
        return 0;
    return peer & NETWORK_SWITCH ? network->switches.items[peer & ~NETWORK_SWITCH].guid
                                 : network->terminals.items[peer].guid;
}

/* A new link carries no packets until the manager makes it active, after all updates; and no source
 * sends to a new LID before it has a path to it. */
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

/* The tables before are those that the switches still have, and they may have to be repaired
 * again. */
static void put_back_unwritten(const struct world *world, struct step *step)
{
    for (size_t i = 0; i < world->unwritten.count; i++) {
        struct table_change entry = world->unwritten.items[i];
        uint32_t at = step->to_new[entry.at];
        if (at == NETWORK_NONE || entry.lid > step->network->top_lid ||
            step->network->owner[entry.lid] == NETWORK_NONE)
            continue;
        routes_row(&step->held, at)[entry.lid] = entry.before;
        routes_row(&step->before, at)[entry.lid] = entry.before;
        routes_row(&step->after, at)[entry.lid] = entry.before;
        vec_push(&step->repair.ends, ((struct repair_end){at, entry.lid, 0, NETWORK_NONE}));
    }
}

void step_begin(struct step *step, struct world *world)
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
    size_t unwritten = step->repair.ends.count;
    step->known = world->state.known &&
                  repair_compare(&step->repair, &world->state, world->network, &world->routes,
                                 step->network, &step->held, step->to_new);
    if (!step->known)
        return;
    verify_change_begin(&step->change, world->network, &world->checked, step->network,
                        step->to_new);
    for (size_t i = 0; i < unwritten; i++)
        vec_push(&step->change.entries, ((struct verify_entry){step->repair.ends.items[i].at,
                                                               step->repair.ends.items[i].lid}));
}

bool step_repair(struct step *step)
{
    struct err err;
    return step->known && repair_tables(&step->repair, step->network, &step->after, &err) == 0 &&
           repair_plan(&step->repair, &step->after, &step->plan);
}

int step_check(struct step *step, struct err *err)
{
    return verify_change(&step->change, &step->after, step->repair.entries.items,
                         step->repair.entries.count, &step->plan, err);
}

void step_end(struct step *step, struct world *world, bool repaired)
{
    repair_state_release(&world->state);
    dependency_release(&world->checked);
    routes_release(&world->routes);
    free_network(world->network);
    mem_free(world->index);
    world->network = step->network;
    world->routes = step->after;
    world->index = step->index;
    if (repaired) {
        world->state = step->repair.state;
        world->checked = step->change.graph;
        step->repair.state = (struct repair_state){0};
        step->change.graph = (struct dependency_graph){0};
    } else {
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
    verify_change_release(&step->change);
    update_plan_release(&step->plan);
    routes_release(&step->held);
    routes_release(&step->before);
    routes_release(&step->after);
    mem_free(step->to_new);
    mem_free(step->index);
    if (step->network)
        free_network(step->network);
}

/* ---- what must hold ---- */

static bool arrives(const struct network *network, const struct routes *routes, uint32_t at,
                    uint32_t lid)
{
    for (size_t hops = 0; hops <= network->switches.count; hops++) {
        uint8_t port = routes_port(routes, at, lid);
        const struct network_switch *node = &network->switches.items[at];
        if (port > node->port_count)
            return false;
        if (network_leads_to(network, at, port, network->owner[lid]))
            return true;
        uint32_t peer = network->ports.items[node->first_port + port].peer;
        if (port == 0 || peer == NETWORK_NONE || !(peer & NETWORK_SWITCH))
            return false;
        at = peer & ~NETWORK_SWITCH;
    }
    return false;
}

uint64_t count_broken(const struct network *network, const struct routes *routes)
{
    uint64_t broken = 0;
    for (uint32_t lid = 1; lid <= network->top_lid; lid++)
        for (uint32_t at = 0; at < network->switches.count && network->owner[lid] != NETWORK_NONE;
             at++)
            broken += !arrives(network, routes, at, lid);
    return broken;
}

bool tables_hold(const struct network *network, const struct routes *routes,
                 const struct dependency_graph *covered)
{
    struct dependency_graph graph;
    struct verify_report report;
    verify_routes(network, routes, &(struct verify_options){.keep = &graph}, &report);
    bool holds = verify_passes(&report);
    for (size_t i = 0; covered && i < graph.first_word[network->switches.count]; i++)
        holds &= !(graph.bits[i] & ~covered->bits[i]);
    verify_report_release(&report);
    dependency_release(&graph);
    return holds;
}
