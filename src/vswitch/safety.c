#include "vswitch/safety.h"

#include "routing/cdg/cdg.h"

#include <string.h>

struct safety {
    const struct network *network;
    const struct routes *routes;
    uint64_t routes_job;
    bool used, collected;
    struct cdg cdg;
};

/* Both entries of every switch for one LID. */
struct entries {
    uint8_t *before, *after;
    uint8_t *reached; /* by switch, on the vl that is looked at */
    uint32_t *queue;
};

struct safety *safety_new(void)
{
    return mem_zalloc(1, sizeof(struct safety));
}

static void forget(struct safety *safety)
{
    if (safety->collected)
        cdg_release(&safety->cdg);
    safety->collected = false;
}

void safety_free(struct safety *safety)
{
    if (!safety)
        return;
    forget(safety);
    mem_free(safety);
}

void safety_use(struct safety *safety, const struct network *network, const struct routes *routes,
                uint64_t routes_job)
{
    if (safety->used && safety->routes_job == routes_job && safety->network == network)
        return;
    forget(safety);
    safety->network = network;
    safety->routes = routes;
    safety->routes_job = routes_job;
    safety->used = true;
}

/* All traffic counts that has a terminal at one end. */
static bool sends(const struct safety *safety, uint32_t at, uint32_t lid, unsigned vl)
{
    const struct routes *routes = safety->routes;
    uint32_t owner = lid <= safety->network->top_lid ? safety->network->owner[lid] : NETWORK_NONE;
    bool to_switch = owner != NETWORK_NONE && owner & NETWORK_SWITCH;
    unsigned level =
        routes->service_levels ? routes->service_levels[(size_t)at * routes->stride + lid] : 0;
    return (!to_switch || network_terminal_count(safety->network, at)) && level == vl;
}

/* The switches that packets for the LID can get to on this vl, by either entry. */
static uint32_t spread(const struct safety *safety, struct entries *entries, uint32_t lid,
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

/* Adds what waits for what on one vl; false if that closes a circle. */
static bool add_turns(struct safety *safety, const struct entries *entries, uint32_t reached,
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

/* ---- what is in force ---- */

static void note_lid(struct safety *safety, struct entries *entries, uint32_t lid, unsigned vl)
{
    uint32_t reached = spread(safety, entries, lid, vl);
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
    entries->queue = mem_alloc((count + 1) * (sizeof *entries->queue + 3)); /* all in one */
    entries->before = (uint8_t *)(entries->queue + count + 1);
    entries->after = entries->before + count + 1;
    entries->reached = entries->after + count + 1;
}

/* All LIDs, on all vls. False if what is in force could deadlock already. */
static bool collect(struct safety *safety)
{
    const struct network *network = safety->network;
    uint32_t count = (uint32_t)network->switches.count;
    unsigned vls = safety->routes->vls;
    vls = vls < 1 ? 1 : vls > CDG_LAYERS_MAX ? CDG_LAYERS_MAX : vls;
    struct entries entries;
    bool sound = true;
    forget(safety);
    cdg_init(&safety->cdg, network);
    safety->collected = true;
    while (safety->cdg.count < vls)
        cdg_open(&safety->cdg);
    entries_init(&entries, count);
    for (uint32_t lid = 1; lid <= network->top_lid; lid++) {
        if (network->owner[lid] == NETWORK_NONE)
            continue;
        columns_read(safety->routes, lid, entries.before);
        memcpy(entries.after, entries.before, count);
        for (unsigned vl = 0; vl < vls; vl++)
            note_lid(safety, &entries, lid, vl);
    }
    for (unsigned vl = 0; vl < vls; vl++)
        sound &= cdg_sort(&safety->cdg, vl);
    mem_free(entries.queue);
    return sound;
}

/* ---- what is to come ---- */

static bool try_lid(struct safety *safety, const struct column_plan *plan, uint32_t lid,
                    struct entries *entries, bool mixed)
{
    bool fine = true;
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
    for (unsigned vl = 0; fine && vl < safety->cdg.count; vl++) {
        uint32_t reached = spread(safety, entries, lid, vl);
        cdg_begin(&safety->cdg);
        fine = cdg_end(&safety->cdg, add_turns(safety, entries, reached, vl));
    }
    return fine;
}

static bool try_plan(struct safety *safety, const struct column_plan *plan, bool mixed)
{
    struct entries entries;
    bool fine = true;
    entries_init(&entries, (uint32_t)safety->network->switches.count);
    for (unsigned i = 0; fine && i < plan->span; i++) {
        fine = try_lid(safety, plan, plan->lid + i, &entries, mixed);
        if (fine && plan->swap)
            fine = try_lid(safety, plan, plan->like + i, &entries, mixed);
    }
    mem_free(entries.queue);
    return fine;
}

enum safety_verdict safety_check(struct safety *safety, const struct column_plan *plan, bool alone)
{
    if (!safety->collected && !collect(safety))
        return SAFETY_FREE; /* deadlocks were allowed from the start */
    if (try_plan(safety, plan, true))
        return SAFETY_FREE;
    if (!alone)
        return SAFETY_LATER;
    collect(safety); /* without what is not used any more */
    if (try_plan(safety, plan, true))
        return SAFETY_FREE;
    return try_plan(safety, plan, false) ? SAFETY_AFTER_DRAIN : SAFETY_NEVER;
}
