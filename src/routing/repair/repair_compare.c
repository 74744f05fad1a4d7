/* What a change touches: links, switches and addresses that are not what they were, and the entries
 * that led to them. */
#include "routing/repair/repair.h"

#include <string.h>

struct comparison {
    struct repair *repair;
    const struct standing *standing;
    const struct network *before, *network;
    const struct routes *routes, *held;
    const uint32_t *to_new;
    struct walked {
        uint32_t at;
        uint16_t hops;
    } * walked; /* by LID: the last switch that was asked how far away it is */
};

static bool same_end(const struct comparison *comparison, uint32_t old, uint32_t now)
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

static void compare_ports(const struct comparison *comparison, uint32_t old)
{
    const struct network *network = comparison->network;
    const struct network_switch *a = &comparison->before->switches.items[old];
    const struct network_switch *b = &network->switches.items[comparison->to_new[old]];
    for (unsigned port = 1; port <= b->port_count; port++) {
        const struct network_port *was = &comparison->before->ports.items[a->first_port + port];
        const struct network_port *is = &network->ports.items[b->first_port + port];
        if (same_end(comparison, was->peer, is->peer) &&
            (is->peer == NETWORK_NONE || !(is->peer & NETWORK_SWITCH) ||
             was->peer_port == is->peer_port))
            continue;
        comparison->repair->fresh[b->first_port + port] = 1;
    }
}

/* How many hops a route had from a switch on; NETWORK_NONE if that cannot be told. */
static uint32_t count_hops(const struct comparison *comparison, uint32_t at, uint32_t lid)
{
    const struct network *before = comparison->before;
    uint32_t end = network_switch_of(before, before->owner[lid]), hops = 0;
    uint8_t in;
    while (at != end && at != NETWORK_NONE && hops < 64) {
        at = standing_next(before, at, routes_port(comparison->routes, at, lid), &in);
        hops++;
    }
    return at == end ? hops : NETWORK_NONE;
}

/* The same for an entry, 0 if that cannot be told. Many lead to the same switch that is lost. */
static uint16_t old_hops(const struct comparison *comparison, uint32_t at, uint32_t lid)
{
    const struct network *before = comparison->before;
    uint8_t in;
    if (lid > before->top_lid || before->owner[lid] == NETWORK_NONE)
        return 0;
    uint32_t next = standing_next(before, at, routes_port(comparison->routes, at, lid), &in);
    if (next == NETWORK_NONE)
        return 0;
    struct walked *walked = &comparison->walked[lid];
    if (walked->hops == 0 || walked->at != next) {
        uint32_t hops = count_hops(comparison, next, lid);
        *walked = (struct walked){next, (uint16_t)(hops == NETWORK_NONE ? UINT16_MAX : hops + 1)};
    }
    return walked->hops == UINT16_MAX ? 0 : walked->hops;
}

/* Entries of one switch that lead out of ports which are not what they were. */
static void find_ends(const struct comparison *comparison, uint32_t old)
{
    const struct network *network = comparison->network;
    struct repair *repair = comparison->repair;
    uint32_t at = comparison->to_new[old];
    const struct network_switch *node = &network->switches.items[at];
    const uint8_t *row = routes_row(comparison->held, at);
    if (!memchr(repair->fresh + node->first_port, 1, node->port_count + 1u))
        return;
    uint8_t touched[256] = {0}, last = 0;
    unsigned count = 0;
    for (unsigned port = 1; port <= node->port_count; port++)
        if ((touched[port] = repair->fresh[node->first_port + port])) {
            last = (uint8_t)port;
            count++;
        }
    for (uint32_t lid = 1; count && lid <= network->top_lid; lid++) {
        if (count == 1) { /* as nearly always: there are quick ways to find it */
            const uint8_t *found = memchr(row + lid, last, network->top_lid + 1u - lid);
            if (!found)
                break;
            lid = (uint32_t)(found - row);
        }
        if (touched[row[lid]] && network->owner[lid] != NETWORK_NONE &&
            row[lid] == routes_port(comparison->routes, old, lid))
            vec_push(&repair->ends,
                     ((struct repair_end){at, (uint16_t)lid, old_hops(comparison, old, lid)}));
    }
    repair->operations += count ? network->top_lid / 16u : 0;
}

static void compare_lids(const struct comparison *comparison)
{
    const struct network *before = comparison->before, *network = comparison->network;
    for (uint32_t lid = 1; lid <= network->top_lid; lid++) {
        uint32_t was = lid <= before->top_lid ? before->owner[lid] : NETWORK_NONE;
        if (network->owner[lid] != NETWORK_NONE && !same_end(comparison, was, network->owner[lid]))
            vec_push(&comparison->repair->lids, (uint16_t)lid);
    }
}

/* Where terminals are the first of their switch, traffic to switches begins that did not count. */
static bool senders_came(const struct comparison *comparison)
{
    for (uint32_t old = 0; old < comparison->before->switches.count; old++) {
        uint32_t at = comparison->to_new[old];
        if (at != NETWORK_NONE && network_terminal_count(comparison->before, old) == 0 &&
            network_terminal_count(comparison->network, at) > 0)
            return true;
    }
    return false;
}

/* Switches that are new, and what all their entries have to be: something else. */
static void find_new_switches(const struct comparison *comparison)
{
    const struct network *network = comparison->network;
    struct repair *repair = comparison->repair;
    uint8_t *stays = mem_zalloc(network->switches.count + 1, 1);
    for (uint32_t old = 0; old < comparison->before->switches.count; old++)
        if (comparison->to_new[old] != NETWORK_NONE)
            stays[comparison->to_new[old]] = 1;
    for (uint32_t at = 0; at < network->switches.count; at++) {
        const struct network_switch *node = &network->switches.items[at];
        if (stays[at])
            continue;
        vec_push(&repair->switches, at);
        memset(repair->fresh + node->first_port, 1, node->port_count + 1u);
    }
    mem_free(stays);
}

static void find_all_ends(struct comparison *comparison)
{
    const struct network *network = comparison->network;
    struct repair *repair = comparison->repair;
    comparison->walked = mem_zalloc(comparison->before->top_lid + 1u, sizeof *comparison->walked);
    for (uint32_t old = 0; old < comparison->before->switches.count; old++)
        if (comparison->to_new[old] != NETWORK_NONE)
            find_ends(comparison, old);
    for (size_t i = 0; i < repair->switches.count; i++)
        for (uint32_t lid = 1; lid <= network->top_lid; lid++)
            if (network->owner[lid] != NETWORK_NONE)
                vec_push(&repair->ends,
                         ((struct repair_end){repair->switches.items[i], (uint16_t)lid, 0}));
    mem_free(comparison->walked);
}

/* Entries and addresses; or what is remembered. */
static void do_job(void *context, size_t index)
{
    struct comparison *comparison = context;
    struct repair *repair = comparison->repair;
    if (index == 0) {
        find_all_ends(comparison);
        compare_lids(comparison);
    } else {
        standing_move(&repair->standing, comparison->standing, comparison->network,
                      comparison->to_new, repair->fresh);
    }
}

bool repair_compare(struct repair *repair, const struct standing *standing,
                    const struct network *before, const struct routes *routes,
                    const struct network *network, const struct routes *held,
                    const uint32_t *to_new, const struct workers *workers)
{
    struct comparison comparison = {repair, standing, before, network, routes, held, to_new, NULL};
    if (senders_came(&comparison))
        return false;
    for (size_t i = 0; i < repair->ends.count; i++)
        vec_push(&repair->stale, repair->ends.items[i]);
    repair->fresh = mem_zalloc(network->ports.count + 1, 1);
    for (uint32_t old = 0; old < before->switches.count; old++)
        if (to_new[old] != NETWORK_NONE)
            compare_ports(&comparison, old);
    find_new_switches(&comparison);
    workers_run(workers, 2, do_job, &comparison);
    return true;
}
