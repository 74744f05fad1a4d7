/* With one lane, every switch counts as a sender to a terminal. Then it is enough to note what an
 * entry and the next one give rise to: what follows is due to the next switch's own route, which is
 * either unchanged and known, or looked at itself. Nothing has to be known of who sends what, so
 * that one switch after the other can be looked at, and with it the few that it sends to. */
#include "routing/repair/change_walk.h"

#include "base/bitset.h"

/* The inputs of which it is not known that they are followed by an output. */
static uint64_t *ask_unknown(struct change_walk *walk, uint32_t at, uint8_t out)
{
    const struct network *network = walk->network;
    uint32_t channel = network->switches.items[at].first_port + out;
    if (!walk->asked[channel]) {
        const uint64_t *rows = dependency_row(walk->graph, at, 0, 0);
        uint64_t unknown = 0;
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++)
            unknown |= (~rows[network->edges[e].port] >> out & 1) << network->edges[e].port;
        walk->asked[channel] = 1;
        walk->unknown[channel] = unknown;
        walk->operations += network->first_edge[at + 1] - network->first_edge[at];
    }
    return &walk->unknown[channel];
}

/* The inputs that are known to have been followed by an output, as it was when the tables were
 * checked; all, if nothing is known because it led to no switch. What comes over a link that is
 * another one by an old entry is a matter of that entry, which is looked at itself. */
static uint64_t known_before(struct change_walk *walk, uint32_t at, uint8_t out)
{
    uint64_t known = UINT64_MAX, fresh = 0;
    size_t i = walk->first_loss[at] ? walk->first_loss[at] - 1u : walk->loss_count;
    for (; i < walk->loss_count && walk->losses[i].at == at; i++) {
        fresh |= UINT64_C(1) << walk->losses[i].port;
        if (walk->losses[i].port == out)
            known = walk->losses[i].ins[0];
    }
    if (!(fresh >> out % 64 & 1) && change_link(walk, at, out))
        known = ~*ask_unknown(walk, at, out);
    return known & ~fresh;
}

/* Those who send by a new entry note what follows themselves; by an old one came only what is known
 * to have left by the old entry here. */
static void gather_old(struct change_walk *walk, uint32_t at, uint32_t lid, uint8_t out)
{
    const struct network *network = walk->network;
    const struct network_switch *node = &network->switches.items[at];
    uint64_t bit = UINT64_C(1) << (lid - walk->first), left = UINT64_MAX;
    if (walk->changed[at] & ~(walk->whole | walk->kept[at]) & bit)
        left = known_before(walk, at, change_old_port(walk, at, lid));
    if (!left)
        return;
    uint64_t *unknown = ask_unknown(walk, at, out);
    for (left &= *unknown; left; left &= left - 1) {
        unsigned in = (unsigned)__builtin_ctzll(left);
        const struct network_port *link = &network->ports.items[node->first_port + in];
        walk->operations++;
        if (change_old_port(walk, link->peer & ~NETWORK_SWITCH, lid) != link->peer_port)
            continue;
        change_put(walk, at, (uint8_t)in, out, 1);
        *unknown &= ~(UINT64_C(1) << in);
    }
}

static int check_row(struct change_walk *walk, uint32_t at, uint64_t lids, struct err *err)
{
    for (; lids; lids &= lids - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll(lids), lid = walk->first + bit;
        uint8_t out = change_port(walk, at, lid);
        const struct network_port *link = change_link(walk, at, out);
        uint32_t next = link ? link->peer & ~NETWORK_SWITCH : at;
        if (link && walk->arriving[next] >> bit & 1) {
            walk->arriving[at] |= UINT64_C(1) << bit;
        } else {
            int rc = change_check_arrival(walk, at, lid, err);
            if (rc)
                return rc;
        }
        if (!link)
            continue;
        uint8_t onwards = change_port(walk, next, lid);
        if (onwards >= 64 ||
            !bitset_has(dependency_row(walk->graph, next, link->peer_port, 0), onwards))
            change_put(walk, next, link->peer_port, onwards, 1);
        gather_old(walk, at, lid, out);
    }
    return 0;
}

int change_check_rows(struct change_walk *walk, uint64_t lids, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; i < walk->met.count && !rc; i++) {
        uint32_t at = walk->met.items[i];
        rc = check_row(walk, at, (walk->changed[at] | walk->kept[at]) & lids, err);
    }
    return rc;
}
