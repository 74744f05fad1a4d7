/* Walks both directions of both pairs, and intersects the sorted lists of what they pass. */
#include "routing/check/overlap.h"

#include "base/mem.h"

#include <stdlib.h>

struct passed {
    VEC(uint32_t) cables, switches;
    uint32_t hops;
    bool delivers;
};

/* The channel of a cable that has the lower number; that of the switch for a terminal's cable. */
static uint32_t cable_at(const struct network *network, uint32_t at, unsigned port)
{
    uint32_t own = network->switches.items[at].first_port + port;
    const struct network_port *link = network_link_at(network, at, port);
    if (!link)
        return own;
    uint32_t other =
        network->switches.items[link->peer & ~NETWORK_SWITCH].first_port + link->peer_port;
    return own < other ? own : other;
}

static void pass_terminal(struct passed *passed, const struct network *network, uint32_t point)
{
    if (point & NETWORK_SWITCH)
        return;
    const struct network_terminal *terminal = &network->terminals.items[point];
    vec_push(&passed->cables, cable_at(network, terminal->at, terminal->port));
}

static bool walk(struct passed *passed, const struct network *network, const struct routes *routes,
                 uint32_t from, uint32_t to, uint32_t lid)
{
    uint32_t at = network_switch_of(network, from), target = network_switch_of(network, to);
    vec_push(&passed->switches, at);
    for (size_t hops = 0; at != target; hops++) {
        uint8_t port = routes_port(routes, at, lid);
        uint32_t next = network_next(network, at, port);
        if (next == NETWORK_NONE || hops == network->switches.count)
            return false;
        vec_push(&passed->cables, cable_at(network, at, port));
        vec_push(&passed->switches, next);
        passed->hops++;
        at = next;
    }
    return true;
}

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void pass_pair(struct passed *passed, const struct network *network,
                      const struct routes *routes, const struct route_pair *pair)
{
    *passed = (struct passed){.delivers = true};
    for (unsigned i = 0; i < 2; i++) {
        pass_terminal(passed, network, pair->ends[i]);
        passed->delivers &=
            walk(passed, network, routes, pair->ends[i], pair->ends[!i], pair->lids[!i]);
    }
    qsort(passed->cables.items, passed->cables.count, sizeof *passed->cables.items, by_number);
    qsort(passed->switches.items, passed->switches.count, sizeof *passed->switches.items,
          by_number);
}

/* Distinct numbers that both sorted lists have. */
static uint32_t count_common(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                             const uint32_t excluded[2])
{
    uint32_t common = 0;
    for (size_t i = 0, j = 0; i < a_count; i++) {
        if (i && a[i] == a[i - 1])
            continue;
        while (j < b_count && b[j] < a[i])
            j++;
        common += j < b_count && b[j] == a[i] && a[i] != excluded[0] && a[i] != excluded[1];
    }
    return common;
}

struct route_overlap route_pairs_overlap(const struct network *network, const struct routes *routes,
                                         const struct route_pair *primary,
                                         const struct route_pair *second)
{
    static const uint32_t nothing[] = {NETWORK_NONE, NETWORK_NONE};
    struct passed passed[2];
    uint32_t ends[2];
    pass_pair(&passed[0], network, routes, primary);
    pass_pair(&passed[1], network, routes, second);
    for (unsigned i = 0; i < 2; i++) {
        uint32_t at = network_switch_of(network, primary->ends[i]);
        ends[i] = at == network_switch_of(network, second->ends[i]) ? at : NETWORK_NONE;
    }
    struct route_overlap overlap = {
        .cables = count_common(passed[0].cables.items, passed[0].cables.count,
                               passed[1].cables.items, passed[1].cables.count, nothing),
        .switches = count_common(passed[0].switches.items, passed[0].switches.count,
                                 passed[1].switches.items, passed[1].switches.count, ends),
        .hops = passed[1].hops,
        .delivers = passed[1].delivers,
    };
    for (unsigned i = 0; i < 2; i++) {
        vec_release(&passed[i].cables);
        vec_release(&passed[i].switches);
    }
    return overlap;
}

bool route_overlap_less(const struct route_overlap *a, const struct route_overlap *b)
{
    if (a->cables != b->cables)
        return a->cables < b->cables;
    return a->switches != b->switches ? a->switches < b->switches : a->hops < b->hops;
}
