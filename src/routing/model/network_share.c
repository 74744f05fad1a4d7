/* Terminals that share a port, and terminals that move.
 *
 * The functions of a hypervisor's adapter share one port of a leaf switch (CLUSTER 2015). The port
 * has the index of the first, each of them that of the next. A virtual machine that starts, ends or
 * moves changes a network that is in use: the rows of terminals and the owners of LIDs are updated
 * instead of rebuilt, since there may be tens of thousands. */
#include "routing/model/network.h"

#include <assert.h>
#include <string.h>

/* The index of the terminal at its port, or in the terminal before it. */
static uint32_t *link_to(struct network *network, uint32_t terminal)
{
    const struct network_terminal *t = &network->terminals.items[terminal];
    uint32_t *link =
        &network->ports.items[network->switches.items[t->at].first_port + t->port].peer;
    while (*link != terminal)
        link = &network->terminals.items[*link].sharer;
    return link;
}

uint32_t network_share_terminal(struct network *network, uint64_t guid, uint16_t lid, uint8_t lmc,
                                uint32_t beside)
{
    if (beside >= network->terminals.count)
        return NETWORK_NONE;
    struct network_terminal added = network->terminals.items[beside];
    uint32_t index = (uint32_t)network->terminals.count;
    added.guid = guid;
    added.node_guid = 0;
    added.lid = lid;
    added.lmc = lmc;
    vec_push(&network->terminals, added);
    network->terminals.items[beside].sharer = index;
    return index;
}

/* ---- rows ---- */

static uint32_t row_position(const struct network *network, uint32_t terminal)
{
    uint32_t at = network->first_terminal[network->terminals.items[terminal].at];
    while (network->terminals_at[at] != terminal)
        at++;
    return at;
}

/* Opens (by 1) or closes (by -1) a place in the rows: the row of switch `at` grows or shrinks. */
static void shift_rows(struct network *network, uint32_t at, uint32_t position, int by)
{
    uint32_t switches = (uint32_t)network->switches.count;
    uint32_t *from = network->terminals_at + position + (by < 0);
    memmove(from + by, from,
            (network->first_terminal[switches] - position - (by < 0)) * sizeof *from);
    for (uint32_t i = at + 1; i <= switches; i++)
        network->first_terminal[i] += (uint32_t)by;
}

static void insert_into_row(struct network *network, uint32_t terminal)
{
    uint32_t at = network->terminals.items[terminal].at;
    uint32_t position = network->first_terminal[at + 1];
    shift_rows(network, at, position, 1);
    network->terminals_at[position] = terminal;
}

static void remove_from_row(struct network *network, uint32_t terminal)
{
    uint32_t at = network->terminals.items[terminal].at;
    shift_rows(network, at, row_position(network, terminal), -1);
}

/* ---- LIDs ---- */

static void own_range(struct network *network, const struct network_terminal *terminal,
                      uint32_t owner)
{
    for (uint32_t l = terminal->lid;
         terminal->lid && l < terminal->lid + (UINT32_C(1) << terminal->lmc); l++)
        network->owner[l] = owner;
}

/* ---- changes ---- */

uint32_t network_join_terminal(struct network *network, uint64_t guid, uint16_t lid, uint8_t lmc,
                               uint32_t beside)
{
    uint32_t last = lid + (UINT32_C(1) << lmc) - 1;
    if (lid == 0 || lmc > NETWORK_TOP_LMC || last > NETWORK_TOP_LID)
        return NETWORK_NONE;
    for (uint32_t taken = lid; taken <= last; taken++)
        if (network_owner(network, taken) != NETWORK_NONE)
            return NETWORK_NONE;
    uint32_t index = network_share_terminal(network, guid, lid, lmc, beside);
    if (index == NETWORK_NONE)
        return index;
    network->terminals_at = mem_realloc(network->terminals_at, network->terminals.count + 1,
                                        sizeof *network->terminals_at);
    insert_into_row(network, index);
    if (last > network->top_lid) {
        network->owner = mem_realloc(network->owner, last + 1, sizeof *network->owner);
        memset(network->owner + network->top_lid + 1, 0xFF,
               (last - network->top_lid) * sizeof *network->owner);
        network->top_lid = (uint16_t)last;
    }
    own_range(network, &network->terminals.items[index], index);
    return index;
}

/* Gives a terminal another index. */
static void renumber(struct network *network, uint32_t from, uint32_t to)
{
    *link_to(network, from) = to;
    network->terminals_at[row_position(network, from)] = to;
    network->terminals.items[to] = network->terminals.items[from];
    if (network->terminals.items[to].lid &&
        network->owner[network->terminals.items[to].lid] == from)
        own_range(network, &network->terminals.items[to], to);
    if (to < network->terminal_names.count)
        network->terminal_names.items[to] =
            from < network->terminal_names.count ? network->terminal_names.items[from] : NULL;
}

void network_drop_terminal(struct network *network, uint32_t terminal)
{
    assert(terminal < network->terminals.count);
    uint32_t last = (uint32_t)network->terminals.count - 1;
    *link_to(network, terminal) = network->terminals.items[terminal].sharer;
    remove_from_row(network, terminal);
    own_range(network, &network->terminals.items[terminal], NETWORK_NONE);
    if (terminal != last)
        renumber(network, last, terminal);
    network->terminals.count--;
    if (network->terminal_names.count > last)
        network->terminal_names.count = last;
}

void network_move_terminal(struct network *network, uint32_t terminal, uint32_t beside)
{
    assert(terminal < network->terminals.count && beside < network->terminals.count);
    struct network_terminal *moving = &network->terminals.items[terminal];
    struct network_terminal *there = &network->terminals.items[beside];
    if (terminal == beside)
        return;
    *link_to(network, terminal) = moving->sharer;
    remove_from_row(network, terminal);
    moving->at = there->at;
    moving->port = there->port;
    moving->sharer = there->sharer;
    there->sharer = terminal;
    insert_into_row(network, terminal);
}
