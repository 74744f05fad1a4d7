#include "vswitch/safety.h"

#include "routing/cdg/cdg.h"

#include <assert.h>
#include <string.h>

struct safety {
    const struct network *network;
    const struct routes *routes;
    uint64_t routes_job;
    bool used, built;
    struct cdg cdg;
};

/* Both entries of every switch for one LID. */
struct entries {
    uint8_t *before, *after;
    uint8_t *reached; /* by switch, on the current VL */
    uint32_t *queue;
};

struct safety *safety_new(void)
{
    return mem_zalloc(1, sizeof(struct safety));
}

static void release_graph(struct safety *safety)
{
    if (safety->built)
        cdg_release(&safety->cdg);
    safety->built = false;
}

void safety_free(struct safety *safety)
{
    if (!safety)
        return;
    release_graph(safety);
    mem_free(safety);
}

void safety_use(struct safety *safety, const struct network *network, const struct routes *routes,
                uint64_t routes_job)
{
    if (safety->used && safety->routes_job == routes_job && safety->network == network)
        return;
    release_graph(safety);
    safety->network = network;
    safety->routes = routes;
    safety->routes_job = routes_job;
    safety->used = true;
}

/* True if traffic to the LID enters the network at this switch on the VL. Traffic between switches
 * is ignored. */
static bool sends(const struct safety *safety, uint32_t at, uint32_t lid, unsigned vl)
{
    const struct routes *routes = safety->routes;
    uint32_t owner = lid <= safety->network->top_lid ? safety->network->owner[lid] : NETWORK_NONE;
    bool to_switch = owner != NETWORK_NONE && owner & NETWORK_SWITCH;
    unsigned level =
        routes->service_levels ? routes->service_levels[(size_t)at * routes->stride + lid] : 0;
    return (!to_switch || network_terminal_count(safety->network, at)) && level == vl;
}

/* Finds the switches that packets to the LID can reach on this VL, by either entry. */
static uint32_t find_reached(const struct safety *safety, struct entries *entries, uint32_t lid,
                             unsigned vl)
{
    uint32_t count = (uint32_t)safety->network->switches.count, tail = 0;
    memset(entries->reached, 0, count);
    for (uint32_t at = 0; at < count; at++)
        if (sends(safety, at, lid, vl)) {
            entries->reached[at] = 1;
            entries->queue[tail++] = at;
        }
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t at = entries->queue[head];
        const uint8_t ports[2] = {entries->before[at], entries->after[at]};
        for (unsigned i = 0; i < 2; i++) {
            uint32_t to = network_next(safety->network, at, ports[i]);
            if (to == NETWORK_NONE || entries->reached[to])
                continue;
            entries->reached[to] = 1;
            entries->queue[tail++] = to;
        }
    }
    return tail;
}

/* Adds the dependencies of both entries on one VL. False if that closes a cycle. */
static bool add_dependencies(struct safety *safety, const struct entries *entries, uint32_t reached,
                             unsigned vl)
{
    for (uint32_t i = 0; i < reached; i++) {
        uint32_t at = entries->queue[i];
        const uint8_t ports[2] = {entries->before[at], entries->after[at]};
        for (unsigned in = 0; in < 2; in++) {
            uint32_t to = network_next(safety->network, at, ports[in]);
            uint32_t arriving = cdg_leaving(&safety->cdg, at, ports[in]);
            if (to == NETWORK_NONE || arriving == NETWORK_NONE)
                continue;
            const uint8_t outputs[2] = {entries->before[to], entries->after[to]};
            for (unsigned out = 0; out < 2; out++) {
                uint32_t leaving = cdg_leaving(&safety->cdg, to, outputs[out]);
                if (leaving != NETWORK_NONE &&
                    cdg_insert(&safety->cdg, vl, arriving, leaving) == CDG_REFUSED)
                    return false;
            }
        }
    }
    return true;
}

/* ---- routes in force ---- */

static void note_dependencies(struct safety *safety, struct entries *entries, uint32_t lid,
                              unsigned vl)
{
    uint32_t reached = find_reached(safety, entries, lid, vl);
    for (uint32_t i = 0; i < reached; i++) {
        uint32_t at = entries->queue[i],
                 to = network_next(safety->network, at, entries->before[at]);
        uint32_t arriving = cdg_leaving(&safety->cdg, at, entries->before[at]);
        uint32_t leaving =
            to == NETWORK_NONE ? NETWORK_NONE : cdg_leaving(&safety->cdg, to, entries->before[to]);
        if (arriving != NETWORK_NONE && leaving != NETWORK_NONE)
            cdg_note(&safety->cdg, vl, arriving, leaving);
    }
}

static void entries_init(struct entries *entries, uint32_t count)
{
    entries->queue = mem_alloc((count + 1) * (sizeof *entries->queue + 3)); /* one allocation */
    entries->before = (uint8_t *)(entries->queue + count + 1);
    entries->after = entries->before + count + 1;
    entries->reached = entries->after + count + 1;
}

/* Builds the graph of the routes in force. False if they have a dependency cycle. */
static bool build_graph(struct safety *safety)
{
    const struct network *network = safety->network;
    uint32_t count = (uint32_t)network->switches.count;
    unsigned vls = safety->routes->vls;
    vls = vls < 1 ? 1 : vls > CDG_LAYERS_MAX ? CDG_LAYERS_MAX : vls;
    struct entries entries;
    bool acyclic = true;
    release_graph(safety);
    cdg_init(&safety->cdg, network);
    safety->built = true;
    while (safety->cdg.count < vls)
        cdg_open(&safety->cdg);
    entries_init(&entries, count);
    for (uint32_t lid = 1; lid <= network->top_lid; lid++) {
        if (network->owner[lid] == NETWORK_NONE)
            continue;
        columns_read(safety->routes, lid, entries.before);
        memcpy(entries.after, entries.before, count);
        for (unsigned vl = 0; vl < vls; vl++)
            note_dependencies(safety, &entries, lid, vl);
    }
    for (unsigned vl = 0; vl < vls; vl++)
        acyclic &= cdg_sort(&safety->cdg, vl);
    mem_free(entries.queue);
    return acyclic;
}

/* ---- changes ---- */

static bool try_lid(struct safety *safety, const struct column_plan *plan, uint32_t lid,
                    struct entries *entries, bool mixed)
{
    bool safe = true;
    columns_read(safety->routes, lid, entries->before);
    memcpy(entries->after, entries->before, safety->network->switches.count);
    for (size_t i = 0; i < plan->changes.count; i++) {
        const struct column_change *change = &plan->changes.items[i];
        if (change->lid != lid)
            continue;
        entries->after[change->at] = change->after;
        if (!mixed)
            entries->before[change->at] = change->after;
    }
    for (unsigned vl = 0; safe && vl < safety->cdg.count; vl++) {
        uint32_t reached = find_reached(safety, entries, lid, vl);
        cdg_begin(&safety->cdg);
        safe = cdg_end(&safety->cdg, add_dependencies(safety, entries, reached, vl));
    }
    return safe;
}

static bool try_plan(struct safety *safety, const struct column_plan *plan, bool mixed)
{
    struct entries entries;
    bool safe = true;
    entries_init(&entries, (uint32_t)safety->network->switches.count);
    for (unsigned i = 0; safe && i < plan->span; i++) {
        safe = try_lid(safety, plan, plan->lid + i, &entries, mixed);
        if (safe && plan->swap)
            safe = try_lid(safety, plan, plan->like + i, &entries, mixed);
    }
    mem_free(entries.queue);
    return safe;
}

enum safety_verdict safety_check(struct safety *safety, const struct column_plan *plan, bool alone)
{
    assert(safety->used && plan->span > 0);
    if (!safety->built && !build_graph(safety))
        return SAFETY_FREE; /* the routes in force are not deadlock-free */
    if (try_plan(safety, plan, true))
        return SAFETY_FREE;
    if (!alone)
        return SAFETY_LATER;
    build_graph(safety); /* drops dependencies of paths that are no longer used */
    if (try_plan(safety, plan, true))
        return SAFETY_FREE;
    return try_plan(safety, plan, false) ? SAFETY_AFTER_DRAIN : SAFETY_NEVER;
}
