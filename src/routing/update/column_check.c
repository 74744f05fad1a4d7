/* Checks whether a LID that moves can close a dependency cycle, for routes without ranks. */
#include "routing/cdg/cdg.h"
#include "routing/update/columns.h"

#include <assert.h>
#include <string.h>

struct column_check {
    const struct network *network;
    const struct routes *routes;
    uint64_t routes_job;
    bool built;
    struct cdg cdg; /* a layer for each VL */
};

/* Both entries of every switch for one LID. */
struct mixture {
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

static void mixture_init(struct mixture *mixture, uint32_t count)
{
    mixture->queue = mem_alloc((count + 1) * (sizeof *mixture->queue + 3)); /* one allocation */
    mixture->before = (uint8_t *)(mixture->queue + count + 1);
    mixture->after = mixture->before + count + 1;
    mixture->reached = mixture->after + count + 1;
}

static void read_column(const struct column_check *check, uint32_t lid, struct mixture *mixture)
{
    uint32_t count = check->routes->switch_count;
    for (uint32_t at = 0; at < count; at++)
        mixture->before[at] = routes_port(check->routes, at, lid);
    memcpy(mixture->after, mixture->before, count);
}

/* True if traffic to the LID enters the network at this switch on the VL. Traffic between switches
 * is ignored. */
static bool sends(const struct column_check *check, uint32_t at, uint32_t lid, unsigned vl)
{
    uint32_t owner = network_owner(check->network, lid);
    bool to_switch = owner != NETWORK_NONE && owner & NETWORK_SWITCH;
    return (!to_switch || network_terminal_count(check->network, at)) &&
           routes_level(check->routes, at, lid) == vl;
}

/* Adds the dependencies of both entries on one VL: without a check (`note`), or one by one. False
 * if one of them closes a cycle. */
static bool add_dependencies(struct column_check *check, struct mixture *mixture, uint32_t lid,
                             unsigned vl, bool note)
{
    /* Finds the switches that packets to the LID can reach on this VL, by either entry. */
    uint32_t count = (uint32_t)check->network->switches.count, tail = 0;
    memset(mixture->reached, 0, count);
    for (uint32_t at = 0; at < count; at++)
        if (sends(check, at, lid, vl)) {
            mixture->reached[at] = 1;
            mixture->queue[tail++] = at;
        }
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t at = mixture->queue[head];
        const uint8_t ports[2] = {mixture->before[at], mixture->after[at]};
        for (unsigned i = 0; i < 2; i++) {
            uint32_t to = network_next(check->network, at, ports[i]);
            if (to == NETWORK_NONE || mixture->reached[to])
                continue;
            mixture->reached[to] = 1;
            mixture->queue[tail++] = to;
        }
    }
    uint32_t reached = tail;
    for (uint32_t i = 0; i < reached; i++) {
        uint32_t at = mixture->queue[i];
        const uint8_t ports[2] = {mixture->before[at], mixture->after[at]};
        for (unsigned in = 0; in < (ports[0] == ports[1] ? 1 : 2); in++) {
            uint32_t to = network_next(check->network, at, ports[in]);
            uint32_t arriving = cdg_leaving(&check->cdg, at, ports[in]);
            if (to == NETWORK_NONE || arriving == NETWORK_NONE)
                continue;
            const uint8_t outputs[2] = {mixture->before[to], mixture->after[to]};
            for (unsigned out = 0; out < (outputs[0] == outputs[1] ? 1 : 2); out++) {
                uint32_t leaving = cdg_leaving(&check->cdg, to, outputs[out]);
                if (leaving == NETWORK_NONE)
                    continue;
                if (note)
                    cdg_note(&check->cdg, vl, arriving, leaving);
                else if (cdg_insert(&check->cdg, vl, arriving, leaving) == CDG_REFUSED)
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
    vls = vls < 1 ? 1 : vls > CDG_LAYERS_MAX ? CDG_LAYERS_MAX : vls;
    struct mixture mixture;
    bool acyclic = true;
    release_graph(check);
    cdg_init(&check->cdg, network);
    check->built = true;
    while (check->cdg.count < vls)
        cdg_open(&check->cdg);
    mixture_init(&mixture, (uint32_t)network->switches.count);
    for (uint32_t lid = 1; lid <= network->top_lid; lid++) {
        if (network->owner[lid] == NETWORK_NONE)
            continue;
        read_column(check, lid, &mixture);
        for (unsigned vl = 0; vl < vls; vl++)
            add_dependencies(check, &mixture, lid, vl, true);
    }
    for (unsigned vl = 0; vl < vls; vl++)
        acyclic &= cdg_sort(&check->cdg, vl);
    mem_free(mixture.queue);
    return acyclic;
}

/* ---- plans ---- */

static bool try_lid(struct column_check *check, const struct update_plan *plan, uint32_t lid,
                    struct mixture *mixture, bool mixed)
{
    bool safe = true;
    read_column(check, lid, mixture);
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
        safe = cdg_end(&check->cdg, add_dependencies(check, mixture, lid, vl, false));
    }
    return safe;
}

static bool try_plan(struct column_check *check, const struct update_plan *plan,
                     const struct column_move *move, bool mixed)
{
    struct mixture mixture;
    bool safe = true;
    mixture_init(&mixture, (uint32_t)check->network->switches.count);
    for (unsigned i = 0; safe && i < move->span; i++) {
        safe = try_lid(check, plan, move->lid + i, &mixture, mixed);
        if (safe && move->swap)
            safe = try_lid(check, plan, move->like + i, &mixture, mixed);
    }
    mem_free(mixture.queue);
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
