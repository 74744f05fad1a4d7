/* Checks whether a LID that moves can close a dependency cycle, for routes without ranks. */
#include "routing/cdg/cdg.h"
#include "routing/update/columns.h"
#include "routing/update/path_groups.h"

struct column_check {
    const struct network *network;
    const struct routes *routes;
    uint64_t routes_job;
    bool built;
    struct cdg cdg; /* a layer for each VL */
};

/* Both entries of every switch for one LID. */
struct mixture {
    struct arena memory;
    uint8_t *before, *after;
    uint8_t *reached; /* by switch, on the current VL */
    uint32_t *queue;  /* of switches that are reached */
};

struct column_check *column_check_new(void)
{
    return mem_zalloc(1, sizeof(struct column_check));
}

static void release_graph(struct column_check *check)
{
    if (check->built)
        cdg_release(&check->cdg);
    check->built = false;
}

void column_check_free(struct column_check *check)
{
    if (check)
        release_graph(check);
    mem_free(check);
}

/* Adds the dependencies of both entries on one VL, from the switches where traffic to the LID
 * enters the network. Traffic between switches is ignored. False if a dependency closes a cycle. */
static bool add_dependencies(struct column_check *check, struct mixture *mixture, uint32_t lid,
                             unsigned vl)
{
    const struct network *network = check->network;
    uint32_t count = (uint32_t)network->switches.count, tail = 0;
    uint32_t owner = network_owner(network, lid);
    bool to_switch = owner != NETWORK_NONE && owner & NETWORK_SWITCH;
    for (uint32_t at = 0; at < count; at++) {
        mixture->reached[at] = (!to_switch || network_terminal_count(network, at)) &&
                               routes_level(check->routes, at, lid) == vl;
        if (mixture->reached[at])
            mixture->queue[tail++] = at;
    }
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t at = mixture->queue[head];
        const uint8_t ports[2] = {mixture->before[at], mixture->after[at]};
        for (unsigned in = 0; in < (ports[0] == ports[1] ? 1 : 2); in++) {
            uint32_t arriving = cdg_leaving(&check->cdg, at, ports[in]);
            if (arriving == NETWORK_NONE)
                continue;
            uint32_t to = network->edges[arriving].to;
            if (!mixture->reached[to])
                mixture->queue[tail++] = to;
            mixture->reached[to] = 1;
            const uint8_t outputs[2] = {mixture->before[to], mixture->after[to]};
            for (unsigned out = 0; out < 2; out++) {
                uint32_t leaving = cdg_leaving(&check->cdg, to, outputs[out]);
                if (leaving != NETWORK_NONE &&
                    cdg_insert(&check->cdg, vl, arriving, leaving) == CDG_REFUSED)
                    return false;
            }
        }
    }
    return true;
}

/* Builds the graph of the routes in force. False if they have a dependency cycle. */
static bool build_graph(struct column_check *check)
{
    const struct network *network = check->network;
    unsigned vls = check->routes->vls;
    uint64_t unused[UPDATE_PLAN_VLS] = {0};
    bool acyclic = true;
    vls = vls < 1 ? 1 : vls > CDG_LAYERS_MAX ? CDG_LAYERS_MAX : vls;
    release_graph(check);
    cdg_init(&check->cdg, network);
    check->built = true;
    while (check->cdg.count < vls)
        cdg_open(&check->cdg);
    update_lay_all(&check->cdg, check->routes, check->routes, unused);
    for (unsigned vl = 0; vl < vls; vl++)
        acyclic &= cdg_sort(&check->cdg, vl);
    return acyclic;
}

/* ---- plans ---- */

static bool try_lid(struct column_check *check, const struct update_plan *plan, uint32_t lid,
                    struct mixture *mixture, bool mixed)
{
    bool safe = true;
    for (uint32_t at = 0; at < check->routes->switch_count; at++)
        mixture->before[at] = mixture->after[at] = routes_port(check->routes, at, lid);
    for (size_t i = 0; i < plan->updates.count; i++) {
        const struct table_update *update = &plan->updates.items[i];
        if (update->first_lid != lid)
            continue;
        mixture->after[update->at] = plan->ports.items[i];
        if (!mixed)
            mixture->before[update->at] = plan->ports.items[i];
    }
    for (unsigned vl = 0; safe && vl < check->cdg.count; vl++) {
        cdg_begin(&check->cdg);
        safe = cdg_end(&check->cdg, add_dependencies(check, mixture, lid, vl));
    }
    return safe;
}

static bool try_plan(struct column_check *check, const struct update_plan *plan,
                     const struct column_move *move, bool mixed)
{
    size_t count = check->network->switches.count + 1;
    struct mixture mixture = {0};
    bool safe = true;
    mixture.before = arena_alloc(&mixture.memory, count);
    mixture.after = arena_alloc(&mixture.memory, count);
    mixture.reached = arena_alloc(&mixture.memory, count);
    mixture.queue = arena_alloc(&mixture.memory, count * sizeof *mixture.queue);
    for (unsigned i = 0; safe && i < move->span; i++) {
        safe = try_lid(check, plan, move->lid + i, &mixture, mixed);
        if (safe && move->swap)
            safe = try_lid(check, plan, move->like + i, &mixture, mixed);
    }
    arena_release(&mixture.memory);
    return safe;
}

/* The verdict on a plan of one wave. */
static enum columns_verdict judge(struct column_check *check, struct update_plan *plan,
                                  const struct column_move *move, bool alone)
{
    if (!check->built && !build_graph(check))
        return COLUMNS_READY; /* the routes in force are not deadlock-free */
    if (try_plan(check, plan, move, true))
        return COLUMNS_READY;
    if (!alone)
        return COLUMNS_LATER;
    build_graph(check); /* drops dependencies of paths that are no longer used */
    if (try_plan(check, plan, move, true))
        return COLUMNS_READY;
    if (!try_plan(check, plan, move, false))
        return COLUMNS_NEVER;
    /* All entries become stuck: they drop packets for a drain before they are written. */
    for (size_t i = 0; i < plan->updates.count; i++)
        vec_push(&plan->stuck, plan->updates.items[i]);
    plan->updates.count = plan->waves.count = 0;
    return COLUMNS_READY;
}

enum columns_verdict column_check_plan(struct column_check *check, struct update_plan *plan,
                                       const struct network *network, const struct routes *routes,
                                       const struct column_move *move,
                                       const struct column_rules *rules)
{
    bool ranked;
    if (columns_plan(plan, network, routes, move, rules->naive || rules->unranked, &ranked))
        return COLUMNS_NEVER;
    if (rules->naive || (ranked && !rules->unranked))
        return COLUMNS_READY;
    if (check->network != network || check->routes_job != rules->routes_job)
        release_graph(check);
    check->network = network;
    check->routes = routes;
    check->routes_job = rules->routes_job;
    enum columns_verdict verdict = judge(check, plan, move, rules->alone);
    if (verdict == COLUMNS_READY)
        return verdict;
    update_plan_release(plan);
    *plan = (struct update_plan){0};
    if (verdict == COLUMNS_LATER || !move->minimal)
        return verdict;
    struct column_move balanced = *move;
    balanced.minimal = false;
    return column_check_plan(check, plan, network, routes, &balanced, rules);
}
