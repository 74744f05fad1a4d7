/* Planning an update: which entries may be written together, and when to wait.
 *
 * The planner keeps the graph of all dependencies that can have arisen since the last drain and
 * tries to add the updates one by one; an update whose new dependencies would close a cycle is put
 * off. What is left is tried again in the next wave, when more switches have acknowledged and their
 * old entries no longer count; if a whole pass adds nothing, a drain lets the planner forget all
 * that earlier tables left behind; if even that does not help, the remaining tables are split, into
 * blocks and then into single entries; what still cannot go is reported as stuck.
 *
 * The order in which updates are tried is a strategy. For up*-down* tables children go before
 * parents, and parents only when all their children have acknowledged: PIRa followed by FERa needs
 * no drain then. The way back goes better from the root, and tables without directions in no
 * particular order; each is tried until one has neither drains nor stuck entries.
 *
 * A drain is over when all packets are gone that an entry sent on which is there no more. From
 * where they are, the present tables lead them to an end in so many hops; the plan says how many.
 */
#include "routing/order.h"

#include "routing/order_graph.h"

#include "base/bitset.h"

#include <stdlib.h>
#include <string.h>

enum phase {
    PHASE_OLD,   /* not yet written */
    PHASE_SENT,  /* in this wave: forwards by old and new */
    PHASE_ACKED, /* in an earlier wave since the last drain: packets that the old entry sent may
                    still be on their way */
    PHASE_NEW,   /* before the last drain */
};
enum { WORK_LIMIT = 2000000000 };

struct planner {
    const struct network *network;
    const struct routes *before, *after;
    struct order_plan *plan;
    struct order_graph graph;
    uint32_t stride;
    uint8_t *phase;   /* [switch * stride + LID] */
    uint64_t **carry; /* by LID, for LIDs of switches: bits of the switches that pass on traffic of
                         terminals to it; NULL: all do */
    VEC(struct order_update) left;
    uint32_t *pending;   /* by switch: updates that are left or not yet acknowledged */
    bool forgetful;      /* nothing was written since the last drain */
    uint32_t drain_hops; /* of the last drain */
};

static uint8_t old_port(const struct planner *planner, uint32_t at, uint32_t lid)
{
    return routes_port(planner->before, at, lid);
}

static uint8_t new_port(const struct planner *planner, uint32_t at, uint32_t lid)
{
    return routes_port(planner->after, at, lid);
}

static enum phase phase_of(const struct planner *planner, uint32_t at, uint32_t lid)
{
    return planner->phase[(size_t)at * planner->stride + lid];
}

/* The switch that a port leads to, or NETWORK_NONE: nothing waits there. */
static uint32_t switch_behind(const struct planner *planner, uint32_t at, uint8_t port, uint8_t *in)
{
    const struct network_switch *node = &planner->network->switches.items[at];
    if (port == 0 || port > node->port_count)
        return NETWORK_NONE;
    const struct network_port *link = &planner->network->ports.items[node->first_port + port];
    if (link->peer == NETWORK_NONE || !(link->peer & NETWORK_SWITCH))
        return NETWORK_NONE;
    *in = link->peer_port;
    return link->peer & ~NETWORK_SWITCH;
}

static bool carries(const struct planner *planner, uint32_t at, uint32_t lid)
{
    return !planner->carry[lid] || bitset_has(planner->carry[lid], at);
}

/* Packets to the LID that arrive at port `in` may leave by `out`. */
static bool add(struct planner *planner, uint32_t at, uint8_t in, uint8_t out)
{
    uint8_t unused;
    return switch_behind(planner, at, out, &unused) == NETWORK_NONE ||
           order_graph_add(&planner->graph, at, in, out);
}

/* Packets that came to `at` by any table since the last drain, and now leave by `port`. */
static bool add_arrivals(struct planner *planner, uint32_t at, uint32_t lid, uint8_t port)
{
    const struct network *network = planner->network;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        const struct network_edge *edge = &network->edges[e];
        enum phase phase = phase_of(planner, edge->to, lid);
        bool came = (phase != PHASE_NEW && old_port(planner, edge->to, lid) == edge->to_port) ||
                    (phase != PHASE_OLD && new_port(planner, edge->to, lid) == edge->to_port);
        if (came && carries(planner, edge->to, lid) && !add(planner, at, edge->port, port))
            return false;
    }
    return true;
}

/* Packets that leave by the new port and are forwarded by whatever the next switch has now. */
static bool add_departures(struct planner *planner, uint32_t at, uint32_t lid, uint8_t port)
{
    uint8_t in;
    uint32_t to = switch_behind(planner, at, port, &in);
    if (to == NETWORK_NONE || !carries(planner, at, lid))
        return true;
    enum phase phase = phase_of(planner, to, lid);
    return (phase > PHASE_SENT || add(planner, to, in, old_port(planner, to, lid))) &&
           (phase < PHASE_SENT || add(planner, to, in, new_port(planner, to, lid)));
}

/* Adds everything that can happen once the update is on the wire; undoes it and returns false if
 * that could go round in a circle. */
static bool try_update(struct planner *planner, const struct order_update *update)
{
    uint32_t end = update->first_lid + update->lid_count;
    for (uint32_t lid = update->first_lid; lid < end; lid++) {
        uint8_t port = new_port(planner, update->at, lid);
        if (port == old_port(planner, update->at, lid))
            continue;
        uint32_t edges =
            planner->network->first_edge[update->at + 1] - planner->network->first_edge[update->at];
        planner->plan->work += edges;
        planner->plan->operations += edges + 1;
        if (!add_arrivals(planner, update->at, lid, port) ||
            !add_departures(planner, update->at, lid, port)) {
            order_graph_undo(&planner->graph);
            return false;
        }
    }
    order_graph_keep(&planner->graph);
    memset(planner->phase + (size_t)update->at * planner->stride + update->first_lid, PHASE_SENT,
           update->lid_count);
    return true;
}

enum strategy { CHILDREN_FIRST, PARENTS_FIRST, ANY_ORDER };

/* Have all neighbours that should go first acknowledged? */
static bool may_go(const struct planner *planner, enum strategy strategy, uint32_t at)
{
    const struct network *network = planner->network;
    const uint32_t *ranks = planner->after->ranks;
    if (strategy == ANY_ORDER)
        return true;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint32_t to = network->edges[e].to;
        if ((ranks[to] > ranks[at]) == (strategy == CHILDREN_FIRST) && planner->pending[to])
            return false;
    }
    return true;
}

static void acknowledge(struct planner *planner, const struct order_wave *wave)
{
    for (uint32_t i = wave->first; i < wave->first + wave->count; i++) {
        const struct order_update *update = &planner->plan->updates.items[i];
        memset(planner->phase + (size_t)update->at * planner->stride + update->first_lid,
               PHASE_ACKED, update->lid_count);
        planner->pending[update->at]--;
    }
}

/* One pass over what is left; false if it could add nothing to a new wave. */
static bool make_wave(struct planner *planner, enum strategy strategy, bool drain)
{
    struct order_plan *plan = planner->plan;
    struct order_wave wave = {.first = (uint32_t)plan->updates.count, .drain = drain};
    wave.drain_hops = drain ? planner->drain_hops : 0;
    uint32_t kept = 0;
    for (size_t i = 0; i < planner->left.count; i++) {
        struct order_update update = planner->left.items[i];
        if (plan->work < WORK_LIMIT && may_go(planner, strategy, update.at) &&
            try_update(planner, &update))
            vec_push(&plan->updates, update);
        else
            planner->left.items[kept++] = update;
    }
    planner->left.count = kept;
    wave.count = (uint32_t)plan->updates.count - wave.first;
    if (wave.count == 0)
        return false;
    vec_push(&plan->waves, wave);
    acknowledge(planner, &wave);
    planner->forgetful = false;
    return true;
}

/* After a drain only the present tables count. False if they have a cycle. */
static bool forget(struct planner *planner)
{
    const struct network *network = planner->network;
    order_graph_clear(&planner->graph);
    size_t cells = (size_t)network->switches.count * planner->stride;
    for (size_t i = 0; i < cells; i++)
        if (planner->phase[i] == PHASE_ACKED)
            planner->phase[i] = PHASE_NEW;
    for (uint32_t at = 0; at < network->switches.count; at++) {
        for (uint32_t lid = 0; lid < planner->stride; lid++) {
            uint8_t in, onward_in;
            uint8_t port = phase_of(planner, at, lid) == PHASE_NEW ? new_port(planner, at, lid)
                                                                   : old_port(planner, at, lid);
            uint32_t to = switch_behind(planner, at, port, &in);
            if (to == NETWORK_NONE || !carries(planner, at, lid))
                continue;
            port = phase_of(planner, to, lid) == PHASE_NEW ? new_port(planner, to, lid)
                                                           : old_port(planner, to, lid);
            if (switch_behind(planner, to, port, &onward_in) != NETWORK_NONE)
                order_graph_put(&planner->graph, to, in, port);
        }
    }
    planner->plan->operations += cells;
    planner->forgetful = true;
    return order_graph_sort(&planner->graph);
}

/* For a switch's LID: the switches where traffic of terminals can come by, in the old tables, the
 * new ones or a mixture. */
static uint64_t *find_carriers(const struct planner *planner, uint32_t lid, uint32_t *queue)
{
    const struct network *network = planner->network;
    uint32_t switches = (uint32_t)network->switches.count, tail = 0;
    uint64_t *bits = mem_zalloc(BITSET_WORDS(switches), sizeof *bits);
    for (uint32_t at = 0; at < switches; at++) {
        if (network_terminal_count(network, at) == 0)
            continue;
        bitset_add(bits, at);
        queue[tail++] = at;
    }
    for (uint32_t head = 0; head < tail; head++) {
        uint8_t ports[2] = {old_port(planner, queue[head], lid),
                            new_port(planner, queue[head], lid)};
        for (int i = 0; i < 2; i++) {
            uint8_t in;
            uint32_t to = switch_behind(planner, queue[head], ports[i], &in);
            if (to == NETWORK_NONE || bitset_has(bits, to))
                continue;
            bitset_add(bits, to);
            queue[tail++] = to;
        }
    }
    return bits;
}

/* Traffic between switches is management. It counts like all other traffic, unless that alone makes
 * the old or the new tables cyclic (up*-down* with several roots has such tables): then, as in
 * verify.h, only traffic with a terminal at one end does. */
static void choose_traffic(struct planner *planner)
{
    const struct network *network = planner->network;
    planner->carry = mem_zalloc(planner->stride, sizeof *planner->carry);
    memset(planner->phase, PHASE_ACKED, (size_t)network->switches.count * planner->stride);
    bool new_is_acyclic = forget(planner);
    memset(planner->phase, PHASE_OLD, (size_t)network->switches.count * planner->stride);
    if (new_is_acyclic && forget(planner))
        return;
    uint32_t *queue = mem_alloc(network->switches.count * sizeof *queue);
    for (uint32_t lid = 0; lid <= network->top_lid; lid++)
        if (network->owner[lid] != NETWORK_NONE && (network->owner[lid] & NETWORK_SWITCH))
            planner->carry[lid] = find_carriers(planner, lid, queue);
    mem_free(queue);
}

static bool entries_differ(const struct planner *planner, uint32_t at, uint32_t lid, uint32_t count)
{
    for (uint32_t end = lid + count; lid < end; lid++)
        if (old_port(planner, at, lid) != new_port(planner, at, lid))
            return true;
    return false;
}

/* Adds what differs in a stretch of a table, as runs of pieces of the given size. */
static void gather_pieces(struct planner *planner, uint32_t at, uint32_t lid, uint32_t count,
                          uint32_t piece, bool join)
{
    size_t start = planner->left.count;
    for (uint32_t end = lid + count; lid < end; lid += piece) {
        if (!entries_differ(planner, at, lid, piece))
            continue;
        struct order_update *last = planner->left.count > start && join
                                        ? &planner->left.items[planner->left.count - 1]
                                        : NULL;
        if (last && last->first_lid + last->lid_count == (int)lid) {
            last->lid_count = (uint16_t)(last->lid_count + piece);
            continue;
        }
        vec_push(&planner->left, ((struct order_update){at, (uint16_t)lid, (uint16_t)piece}));
        planner->pending[at]++;
    }
}

/* Everything that differs, in whole blocks, in the strategy's order. */
static void gather_updates(struct planner *planner, enum strategy strategy)
{
    uint32_t switches = (uint32_t)planner->network->switches.count;
    uint32_t *order = mem_alloc(switches * sizeof *order);
    planner->plan->operations += (uint64_t)switches * planner->stride;
    planner->left.count = 0;
    memset(planner->pending, 0, switches * sizeof *planner->pending);
    for (uint32_t at = 0; at < switches; at++) {
        uint32_t rank = planner->after->ranks ? planner->after->ranks[at] : at;
        order[strategy == PARENTS_FIRST ? rank : switches - 1 - rank] = at;
    }
    for (uint32_t i = 0; i < switches; i++)
        gather_pieces(planner, order[i], 0, planner->stride, ROUTES_BLOCK, true);
    mem_free(order);
}

static void split_left(struct planner *planner, uint32_t piece)
{
    size_t count = planner->left.count;
    struct order_update *whole = planner->left.items;
    planner->left.items = NULL;
    planner->left.count = planner->left.capacity = 0;
    for (size_t i = 0; i < count; i++) {
        planner->pending[whole[i].at]--;
        gather_pieces(planner, whole[i].at, whole[i].first_lid, whole[i].lid_count, piece, false);
    }
    mem_free(whole);
}

/* How far a packet may have to go that somebody sent on by an entry which is there no more: the
 * entries written since the last drain, and those that are stuck, if these are set to drop. */
static uint32_t hops_to_drain(const struct planner *planner, bool drop)
{
    const struct network *network = planner->network;
    uint32_t most = 1;
    for (uint32_t at = 0; at < network->switches.count; at++)
        for (uint32_t lid = 1; lid < planner->stride; lid++) {
            enum phase phase = phase_of(planner, at, lid);
            bool changes = old_port(planner, at, lid) != new_port(planner, at, lid);
            if (!changes || phase == PHASE_NEW || (phase == PHASE_OLD && !drop))
                continue;
            uint8_t in, port = old_port(planner, at, lid);
            uint32_t hops = 0, next = switch_behind(planner, at, port, &in);
            while (next != NETWORK_NONE && hops <= network->switches.count) {
                hops++;
                port = phase_of(planner, next, lid) >= PHASE_ACKED ? new_port(planner, next, lid)
                                                                   : old_port(planner, next, lid);
                next = switch_behind(planner, next, port, &in);
            }
            most = hops > most ? hops : most;
        }
    return most;
}

/* Waves until nothing is left or nothing helps. */
static void make_waves(struct planner *planner, enum strategy strategy)
{
    uint32_t piece = planner->stride;
    bool drain = false;
    while (planner->left.count && planner->plan->work < WORK_LIMIT) {
        if (make_wave(planner, strategy, drain)) {
            drain = false;
        } else if (!planner->forgetful) {
            planner->drain_hops = hops_to_drain(planner, false);
            if (!forget(planner))
                break;
            drain = true;
        } else if (strategy != ANY_ORDER) {
            strategy = ANY_ORDER; /* the old tables had other directions */
        } else if (piece > 1) {
            piece = piece > ROUTES_BLOCK ? ROUTES_BLOCK : 1;
            split_left(planner, piece);
        } else {
            break;
        }
    }
}

static void plan_by(struct planner *planner, enum strategy strategy)
{
    gather_updates(planner, strategy);
    memset(planner->phase, PHASE_OLD, (size_t)planner->network->switches.count * planner->stride);
    if (forget(planner))
        make_waves(planner, strategy);
    for (size_t i = 0; i < planner->left.count; i++)
        vec_push(&planner->plan->stuck, planner->left.items[i]);
    planner->plan->stuck_lanes = planner->left.count > 0;
    if (planner->left.count)
        planner->plan->stuck_hops = hops_to_drain(planner, true);
}

static uint64_t entries_of(const struct order_update *updates, size_t count)
{
    uint64_t entries = 0;
    for (size_t i = 0; i < count; i++)
        entries += updates[i].lid_count;
    return entries;
}

/* Less is better: what is stuck, then drains, then waves. */
static bool is_better(const struct order_plan *plan, const struct order_plan *other)
{
    uint64_t stuck = entries_of(plan->stuck.items, plan->stuck.count);
    uint64_t other_stuck = entries_of(other->stuck.items, other->stuck.count);
    uint32_t drains = order_drains(plan), other_drains = order_drains(other);
    if (stuck != other_stuck)
        return stuck < other_stuck;
    if (drains != other_drains)
        return drains < other_drains;
    return plan->waves.count < other->waves.count;
}

static void release_planner(struct planner *planner)
{
    for (size_t lid = 0; lid < planner->stride; lid++)
        mem_free(planner->carry[lid]);
    mem_free(planner->carry);
    mem_free(planner->phase);
    mem_free(planner->pending);
    vec_release(&planner->left);
    order_graph_release(&planner->graph);
}

void order_make(struct order_plan *plan, const struct network *network, const struct routes *before,
                const struct routes *after)
{
    uint32_t switches = (uint32_t)network->switches.count;
    uint32_t stride = before->stride > after->stride ? before->stride : after->stride;
    struct planner planner = {
        .network = network, .before = before, .after = after, .plan = plan, .stride = stride};
    *plan = (struct order_plan){0};
    if (switches == 0)
        return;
    planner.phase = mem_alloc((size_t)switches * stride);
    planner.pending = mem_alloc(switches * sizeof *planner.pending);
    order_graph_init(&planner.graph, network);
    choose_traffic(&planner);
    if (after->ranks)
        plan_by(&planner, CHILDREN_FIRST);
    else
        plan_by(&planner, ANY_ORDER);
    for (int strategy = PARENTS_FIRST; after->ranks && strategy <= ANY_ORDER; strategy++) {
        struct order_plan other = {.work = plan->work, .operations = plan->operations};
        if (plan->stuck.count == 0 && order_drains(plan) == 0)
            break;
        planner.plan = &other;
        plan_by(&planner, (enum strategy)strategy);
        plan->work = other.work;
        plan->operations = other.operations;
        if (is_better(&other, plan)) {
            struct order_plan worse = *plan;
            *plan = other;
            other = worse;
        }
        order_release(&other);
    }
    plan->operations += planner.graph.operations;
    release_planner(&planner);
}

uint32_t order_drains(const struct order_plan *plan)
{
    uint32_t drains = 0;
    for (size_t i = 0; i < plan->waves.count; i++)
        drains += plan->waves.items[i].drain;
    return drains;
}

void order_release(struct order_plan *plan)
{
    vec_release(&plan->updates);
    vec_release(&plan->waves);
    vec_release(&plan->stuck);
}
