/* Adds dependencies of old and new entries, VL by VL, and removes those of earlier drains. */
#include "routing/update/planner.h"

#include "base/map.h"

#include <assert.h>
#include <string.h>

static uint16_t vls_at(const struct planner *planner, uint32_t at, uint32_t lid)
{
    if (planner->levels)
        return planner->levels[(size_t)at * planner->stride + lid];
    return !planner->carry[lid] || bitset_has(planner->carry[lid], at);
}

/* The channel by which packets leave a switch; NETWORK_NONE: to a terminal, or nowhere. */
static inline uint32_t leaving(struct planner *planner, uint32_t at, uint8_t port)
{
    uint32_t channel = cdg_leaving(&planner->cdg, at, port);
    if (channel == NETWORK_NONE && network_next(planner->network, at, port) == at)
        planner->looping = true;
    return channel;
}

/* Adds a dependency on these VLs: packets that arrive by `in` may leave by `out`. */
static inline bool add_on_vls(struct planner *planner, uint32_t in, uint32_t out, uint16_t vls)
{
    for (unsigned left = out == NETWORK_NONE ? 0 : vls; left; left &= left - 1)
        if (cdg_insert(&planner->cdg, (unsigned)__builtin_ctz(left), in, out) == CDG_REFUSED)
            return false;
    return true;
}

/* Adds packets that any table since the last drain sent to `at`, and that now leave by `port`. */
static bool add_arriving(struct planner *planner, uint32_t at, uint32_t lid, uint8_t port)
{
    const struct network *network = planner->network;
    uint32_t out = leaving(planner, at, port);
    for (uint32_t e = network->first_edge[at];
         out != NETWORK_NONE && e < network->first_edge[at + 1]; e++) {
        const struct network_edge *edge = &network->edges[e];
        enum entry_state phase = planner_entry_state(planner, edge->to, lid);
        bool came = (phase != ENTRY_NEW && planner_old(planner, edge->to, lid) == edge->to_port) ||
                    (phase != ENTRY_OLD && planner_new(planner, edge->to, lid) == edge->to_port);
        if (came &&
            !add_on_vls(planner, planner->cdg.reverse[e], out, vls_at(planner, edge->to, lid)))
            return false;
    }
    return true;
}

/* The VLs that had no packets to the LID at this switch before. */
static uint16_t raise_vls(struct planner *planner, uint32_t at, uint32_t lid, uint16_t vls)
{
    if (!planner->levels)
        return 0;
    size_t cell = (size_t)at * planner->stride + lid;
    uint16_t held = planner->levels[cell];
    if ((vls & ~held) == 0)
        return 0;
    vec_push(&planner->raised, ((struct update_raised){cell, held}));
    planner->levels[cell] = held | vls;
    return vls & (uint16_t)~held;
}

/* Adds packets that leave by the new port and are forwarded by the entries of the next switch; and
 * so on, as far as they add VLs there. */
static bool add_departing(struct planner *planner, uint32_t at, uint32_t lid, uint8_t port)
{
    planner->flows.count = 0;
    vec_push(&planner->flows,
             ((struct update_flow){leaving(planner, at, port), vls_at(planner, at, lid)}));
    while (planner->flows.count) {
        struct update_flow flow = planner->flows.items[--planner->flows.count];
        if (flow.channel == NETWORK_NONE || !flow.vls)
            continue;
        uint32_t to = planner->network->edges[flow.channel].to;
        enum entry_state phase = planner_entry_state(planner, to, lid);
        if (planner->levels && to == at)
            phase = ENTRY_SENT; /* back at the switch of the update that is tried */
        uint32_t old = NETWORK_NONE, new = NETWORK_NONE;
        if (phase <= ENTRY_SENT)
            old = leaving(planner, to, planner_old(planner, to, lid));
        if (phase >= ENTRY_SENT)
            new = leaving(planner, to, planner_new(planner, to, lid));
        if (!add_on_vls(planner, flow.channel, old, flow.vls) ||
            !add_on_vls(planner, flow.channel, new, flow.vls))
            return false;
        uint16_t fresh = raise_vls(planner, to, lid, flow.vls);
        if (fresh) {
            vec_push(&planner->flows, ((struct update_flow){old, fresh}));
            vec_push(&planner->flows, ((struct update_flow){new, fresh}));
        }
    }
    return true;
}

bool planner_try(struct planner *planner, const struct table_update *update)
{
    assert(update->at < planner->network->switches.count && update->lid_count > 0 &&
           update->first_lid + update->lid_count <= (int)planner->stride);
    uint32_t end = update->first_lid + update->lid_count;
    cdg_begin(&planner->cdg);
    for (uint32_t lid = update->first_lid; lid < end; lid++) {
        uint8_t port = planner_new(planner, update->at, lid);
        if (port == planner_old(planner, update->at, lid))
            continue;
        uint32_t edges =
            planner->network->first_edge[update->at + 1] - planner->network->first_edge[update->at];
        planner->plan->work += edges;
        planner->plan->operations += edges + 1;
        if (!add_arriving(planner, update->at, lid, port) ||
            !add_departing(planner, update->at, lid, port) || planner->looping) {
            cdg_end(&planner->cdg, false);
            planner->looping = false;
            for (; planner->raised.count; planner->raised.count--) {
                struct update_raised *raised = &planner->raised.items[planner->raised.count - 1];
                planner->levels[raised->cell] = raised->vls;
            }
            return false;
        }
    }
    cdg_end(&planner->cdg, true);
    planner->raised.count = 0;
    memset(planner->phase + (size_t)update->at * planner->stride + update->first_lid, ENTRY_SENT,
           update->lid_count);
    return true;
}

/* ---- whole tables ---- */

/* The ports by which a switch may forward now: one, or two while its entry is written. */
static unsigned present_ports(const struct planner *planner, uint32_t at, uint32_t lid,
                              uint8_t ports[2])
{
    enum entry_state phase = planner_entry_state(planner, at, lid);
    unsigned count = 0;
    if (phase <= ENTRY_SENT)
        ports[count++] = planner_old(planner, at, lid);
    if (phase >= ENTRY_SENT)
        ports[count++] = planner_new(planner, at, lid);
    return count;
}

/* Follows packets from a switch, as far as they add their VL. */
static void follow_packets(struct planner *planner, uint32_t from, uint32_t lid, uint16_t vl)
{
    planner->stack.count = 0;
    vec_push(&planner->stack, from);
    while (planner->stack.count) {
        uint32_t at = planner->stack.items[--planner->stack.count];
        uint16_t *vls = &planner->levels[(size_t)at * planner->stride + lid];
        if (*vls & vl)
            continue;
        *vls |= vl;
        uint8_t ports[2];
        for (unsigned count = present_ports(planner, at, lid, ports); count-- > 0;) {
            uint32_t to = network_next(planner->network, at, ports[count]);
            if (to != NETWORK_NONE)
                vec_push(&planner->stack, to);
        }
    }
}

/* Finds the VLs of packets at each switch by the present tables, if sources have these levels. */
static void follow_sources(struct planner *planner, const struct routes *routes)
{
    const struct network *network = planner->network;
    memset(planner->levels, 0,
           (size_t)network->switches.count * planner->stride * sizeof *planner->levels);
    for (uint32_t lid = 0; lid < planner->stride; lid++)
        for (uint32_t from = 0; from < network->switches.count; from++) {
            unsigned level = update_level(routes, from, lid);
            bool to_terminal =
                !(network_owner(network, lid) & NETWORK_SWITCH); /* nor is it unused */
            if (level < planner->vls && (to_terminal || network_terminal_count(network, from)))
                follow_packets(planner, from, lid, (uint16_t)(1u << level));
        }
}

/* Adds the dependencies of packets that leave `at` by a port, at the next switch. */
static void put_next(struct planner *planner, uint32_t at, uint32_t lid, uint8_t port, uint16_t vls)
{
    uint8_t ports[2];
    uint32_t in = leaving(planner, at, port);
    if (in == NETWORK_NONE)
        return;
    uint32_t to = planner->network->edges[in].to;
    for (unsigned count = present_ports(planner, to, lid, ports); count-- > 0;)
        for (unsigned left = vls, out = leaving(planner, to, ports[count]);
             left && out != NETWORK_NONE; left &= left - 1)
            cdg_note(&planner->cdg, (unsigned)__builtin_ctz(left), in, out);
}

static void put_tables(struct planner *planner)
{
    uint32_t switches = (uint32_t)planner->network->switches.count;
    planner->plan->operations += (uint64_t)switches * planner->stride;
    for (uint32_t at = 0; at < switches; at++)
        for (uint32_t lid = 0; lid < planner->stride; lid++) {
            uint16_t vls = vls_at(planner, at, lid);
            uint8_t ports[2];
            for (unsigned count = vls ? present_ports(planner, at, lid, ports) : 0; count-- > 0;)
                put_next(planner, at, lid, ports[count], vls);
        }
}

static uint16_t cyclic_vls(struct planner *planner)
{
    uint16_t vls = planner->looping ? planner->all_vls : 0;
    for (unsigned vl = 0; vl < planner->vls; vl++)
        if (!cdg_sort(&planner->cdg, vl))
            vls |= (uint16_t)(1u << vl);
    return planner->levels || !vls ? vls : planner->all_vls;
}

bool planner_drain(struct planner *planner)
{
    size_t cells = (size_t)planner->network->switches.count * planner->stride;
    for (size_t i = 0; i < cells; i++)
        if (planner->phase[i] == ENTRY_ACKED)
            planner->phase[i] = ENTRY_NEW;
    planner->looping = false;
    for (unsigned vl = 0; vl < planner->vls; vl++)
        cdg_clear(&planner->cdg, vl);
    if (planner->levels)
        follow_sources(planner, planner->before);
    put_tables(planner);
    planner->drained_last = true;
    return cyclic_vls(planner) == 0;
}

bool planner_begin(struct planner *planner)
{
    memset(planner->phase, ENTRY_OLD, (size_t)planner->network->switches.count * planner->stride);
    return planner_drain(planner);
}

/* Adds packets of new levels by the new tables. Returns the VLs with a cycle. */
static uint16_t put_new_levels(struct planner *planner)
{
    memset(planner->phase, ENTRY_NEW, (size_t)planner->network->switches.count * planner->stride);
    follow_sources(planner, planner->after);
    put_tables(planner);
    return cyclic_vls(planner);
}

uint16_t planner_unsafe_vls(struct planner *planner)
{
    if (!planner->levels)
        return 0;
    memset(planner->phase, ENTRY_NEW, (size_t)planner->network->switches.count * planner->stride);
    planner_drain(planner);
    return put_new_levels(planner);
}

/* With one graph new levels add nothing: it has all packets, on any VL. */
uint16_t planner_finish(struct planner *planner)
{
    if (!planner->levels)
        return planner->left.count ? planner->all_vls : 0;
    if (planner->left.count) {
        for (size_t i = 0; i < planner->left.count; i++) {
            const struct table_update *update = &planner->left.items[i];
            memset(planner->phase + (size_t)update->at * planner->stride + update->first_lid,
                   ENTRY_SENT, update->lid_count);
        }
        planner_drain(planner);
    }
    return put_new_levels(planner);
}

/* ---- which traffic counts ---- */

/* For a switch's LID: the switches that packets of terminals can pass, by the old tables, the new
 * ones or a mixture. */
static uint64_t *find_carriers(struct planner *planner, uint32_t lid, uint32_t *queue)
{
    const struct network *network = planner->network;
    uint32_t switches = (uint32_t)network->switches.count, tail = 0;
    uint64_t *bits = arena_alloc(&planner->memory, BITSET_WORDS(switches) * sizeof *bits);
    for (uint32_t at = 0; at < switches; at++) {
        if (network_terminal_count(network, at) == 0)
            continue;
        bitset_add(bits, at);
        queue[tail++] = at;
    }
    for (uint32_t head = 0; head < tail; head++) {
        uint8_t ports[2] = {planner_old(planner, queue[head], lid),
                            planner_new(planner, queue[head], lid)};
        for (int i = 0; i < 2; i++) {
            uint32_t to = network_next(network, queue[head], ports[i]);
            if (to == NETWORK_NONE || bitset_has(bits, to))
                continue;
            bitset_add(bits, to);
            queue[tail++] = to;
        }
    }
    return bits;
}

/* Traffic between switches is management. With one graph it counts like all other traffic, unless
 * it alone makes the old or the new tables cyclic (as up*-down* with several roots can): then, as
 * in verify.h, only traffic with a terminal at one end counts. */
static void choose_traffic(struct planner *planner)
{
    const struct network *network = planner->network;
    memset(planner->phase, ENTRY_ACKED, (size_t)network->switches.count * planner->stride);
    bool new_is_acyclic = planner_drain(planner);
    if (new_is_acyclic && planner_begin(planner))
        return;
    uint32_t *queue = mem_alloc(network->switches.count * sizeof *queue);
    for (uint32_t lid = 0; lid <= network->top_lid; lid++)
        if (network->owner[lid] != NETWORK_NONE && (network->owner[lid] & NETWORK_SWITCH))
            planner->carry[lid] = find_carriers(planner, lid, queue);
    mem_free(queue);
}

static uint16_t vls_of(const struct routes *routes)
{
    unsigned vls = routes->vls > 1 ? routes->vls : 1;
    if (!routes->service_levels)
        return (uint16_t)((1u << (vls < UPDATE_PLAN_VLS ? vls : UPDATE_PLAN_VLS)) - 1);
    uint16_t used = 1;
    for (uint32_t at = 0; at < routes->switch_count; at++)
        for (uint32_t lid = 0; lid < routes->stride; lid++)
            used |= (uint16_t)(1u << update_level(routes, at, lid));
    return used;
}

void planner_init(struct planner *planner)
{
    size_t cells = (size_t)planner->network->switches.count * planner->stride;
    planner->all_vls = vls_of(planner->before);
    planner->vls = 1;
    planner->phase = arena_alloc(&planner->memory, cells);
    planner->pending =
        arena_alloc(&planner->memory, planner->network->switches.count * sizeof *planner->pending);
    planner->carry = arena_alloc(&planner->memory, planner->stride * sizeof *planner->carry);
    if (planner->before->service_levels && planner->all_vls > 1) {
        planner->vls = 32u - (unsigned)__builtin_clz(planner->all_vls);
        planner->levels = arena_alloc(&planner->memory, cells * sizeof *planner->levels);
    }
    cdg_init(&planner->cdg, planner->network);
    while (planner->cdg.count < planner->vls)
        cdg_open(&planner->cdg);
    if (!planner->levels)
        choose_traffic(planner);
}

void planner_release(struct planner *planner)
{
    arena_release(&planner->memory);
    vec_release(&planner->left);
    vec_release(&planner->raised);
    vec_release(&planner->flows);
    vec_release(&planner->stack);
    cdg_release(&planner->cdg);
}
