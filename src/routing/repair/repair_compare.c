/* Finds links, switches and LIDs that have changed, and the entries that led to them. */
#include "routing/repair/repair.h"

#include <string.h>

struct network_comparison {
    struct repair *repair;
    const struct network *before, *network;
    const struct routes *routes, *held;
    const uint32_t *to_new;
};

static bool same_end_point(const struct network_comparison *comparison, uint32_t old, uint32_t now)
{
    const uint32_t *to_new = comparison->to_new;
    if (old == NETWORK_NONE || now == NETWORK_NONE ||
        (old & NETWORK_SWITCH) != (now & NETWORK_SWITCH))
        return old == now;
    if (old & NETWORK_SWITCH)
        return to_new[old & ~NETWORK_SWITCH] == (now & ~NETWORK_SWITCH);
    const struct network_terminal *a = &comparison->before->terminals.items[old];
    const struct network_terminal *b = &comparison->network->terminals.items[now];
    return a->guid == b->guid && a->port == b->port && to_new[a->at] == b->at;
}

/* Marks ports whose link has changed, and copies the load of the others. More pairs leave a switch
 * than its terminals are part of if it forwards those of others. */
static void compare_ports(const struct network_comparison *comparison, uint32_t old,
                          const uint64_t *load)
{
    const struct network *network = comparison->network;
    struct repair *repair = comparison->repair;
    const struct network_switch *a = &comparison->before->switches.items[old];
    const struct network_switch *b = &network->switches.items[comparison->to_new[old]];
    uint64_t terminals = network_terminal_count(comparison->before, old), pairs = 0;
    for (unsigned port = 1; port <= a->port_count; port++)
        pairs += load[a->first_port + port];
    repair->forwards[comparison->to_new[old]] =
        pairs > terminals * (comparison->before->terminals.count - terminals);
    for (unsigned port = 0; port <= b->port_count; port++) {
        const struct network_port *was = &comparison->before->ports.items[a->first_port + port];
        const struct network_port *is = &network->ports.items[b->first_port + port];
        bool is_link = is->peer != NETWORK_NONE && is->peer & NETWORK_SWITCH;
        bool same = same_end_point(comparison, was->peer, is->peer) &&
                    (!is_link || was->peer_port == is->peer_port);
        repair->is_new[b->first_port + port] = !same;
        repair->state.load[b->first_port + port] = same ? load[a->first_port + port] : 0;
    }
}

/* Follows the old route of an entry that led to what was lost. */
static struct repair_end follow_old_route(const struct network_comparison *comparison, uint32_t old,
                                          uint16_t lid)
{
    const struct network *before = comparison->before;
    struct repair_end end = {comparison->to_new[old], lid, 0, NETWORK_NONE};
    if (network_owner(before, lid) == NETWORK_NONE)
        return end;
    uint32_t at = old, last = network_switch_of(before, before->owner[lid]);
    uint16_t hops = 0;
    for (; at != last && at != NETWORK_NONE && hops < 64; hops++) {
        at = network_next(before, at, routes_port(comparison->routes, at, lid));
        if (end.beyond == NETWORK_NONE && at != NETWORK_NONE)
            end.beyond = comparison->to_new[at];
    }
    end.hops = at == last ? hops : 0;
    return end;
}

/* Finds entries of one switch that lead out of changed ports. */
static void find_ends(const struct network_comparison *comparison, uint32_t old)
{
    const struct network *network = comparison->network;
    struct repair *repair = comparison->repair;
    uint32_t at = comparison->to_new[old];
    const struct network_switch *node = &network->switches.items[at];
    const uint8_t *row = routes_row(comparison->held, at),
                  *is_new = repair->is_new + node->first_port;
    for (unsigned port = 1; port <= node->port_count; port++) {
        const uint8_t *found = row, *end = row + network->top_lid + 1;
        while (is_new[port] && (found = memchr(found + 1, (int)port, (size_t)(end - found - 1)))) {
            uint32_t lid = (uint32_t)(found - row);
            if (network->owner[lid] != NETWORK_NONE &&
                *found == routes_port(comparison->routes, old, lid))
                vec_push(&repair->ends, follow_old_route(comparison, old, (uint16_t)lid));
        }
        repair->operations += is_new[port] ? network->top_lid / 16u : 0;
    }
}

bool repair_compare(struct repair *repair, const struct repair_state *state,
                    const struct network *before, const struct routes *routes,
                    const struct network *network, const struct routes *held,
                    const uint32_t *to_new)
{
    struct network_comparison comparison = {repair, before, network, routes, held, to_new};
    /* The first terminals of a switch send to switches: traffic that did not count before. */
    for (uint32_t old = 0; old < before->switches.count; old++)
        if (to_new[old] != NETWORK_NONE && network_terminal_count(before, old) == 0 &&
            network_terminal_count(network, to_new[old]) > 0)
            return false;
    repair->is_new = mem_alloc(network->ports.count + 1);
    memset(repair->is_new, 1, network->ports.count);
    repair->forwards = mem_zalloc(network->switches.count + 1, 1);
    repair->state = (struct repair_state){
        .known = state->known, .directed = state->directed, .peak = state->peak};
    repair->state.load = mem_zalloc(network->ports.count + 1, sizeof *repair->state.load);
    for (uint32_t old = 0; old < before->switches.count; old++)
        if (to_new[old] != NETWORK_NONE) {
            compare_ports(&comparison, old, state->load);
            find_ends(&comparison, old);
        }
    for (uint32_t at = 0; at < network->switches.count; at++)
        for (uint32_t lid = 1;
             repair->is_new[network->switches.items[at].first_port] && lid <= network->top_lid;
             lid++)
            if (network->owner[lid] != NETWORK_NONE)
                vec_push(&repair->ends, ((struct repair_end){at, (uint16_t)lid, 0, NETWORK_NONE}));
    for (uint32_t lid = 1; lid <= network->top_lid; lid++)
        if (network->owner[lid] != NETWORK_NONE &&
            !same_end_point(&comparison, network_owner(before, lid), network->owner[lid]))
            vec_push(&repair->lids, (uint16_t)lid);
    cdg_move(&repair->state.cdg, &state->cdg, network, to_new);
    return true;
}
