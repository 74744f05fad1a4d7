/* The agent of a router: the subnets at its ports, and what managers wrote about those behind them.
 *
 * Each port has a next-hop table, which the manager of its subnet writes: the prefixes that are
 * reachable through this subnet, with the number of subnets that a packet still crosses. All
 * managers can read the tables of all ports, and learn from them. The table of adjacent subnets is
 * made from the prefixes of the ports; it has room for site-local prefixes only. */
#include "base/mem.h"
#include "sma/internal.h"

#include <string.h>

enum { HOPS_PER_BLOCK = 4, SUBNETS_PER_BLOCK = 8, MODIFIER_PORT = 24 };

struct next_hop {
    uint64_t prefix; /* 0: none */
    uint16_t p_key;
    uint8_t weight;
};

struct router_next_hops {
    struct next_hop hops[ROUTER_NEXT_HOPS];
    uint32_t top; /* entries in use */
};

struct sma_router {
    struct router_next_hops *ports; /* 0 … port_count */
};

void sma_router_init(struct sma *sma)
{
    sma->router = mem_zalloc(1, sizeof *sma->router);
    sma->router->ports = mem_zalloc(sma->port_count + 1u, sizeof *sma->router->ports);
}

void sma_router_release(struct sma *sma)
{
    if (sma->router)
        mem_free(sma->router->ports);
    mem_free(sma->router);
}

static uint64_t prefix_of(const struct sma *sma, unsigned port)
{
    return wire_get(sma->ports[port].info, PORT_INFO_GID_PREFIX);
}

/* Another port that is in a subnet with a prefix of its own. */
static bool is_adjacent(const struct sma *sma, unsigned from, unsigned port)
{
    return port != from && sma_port_state(sma, port) == PORT_STATE_ACTIVE &&
           (prefix_of(sma, port) & GID_PREFIX_SITE_MASK) == GID_PREFIX_SITE;
}

uint16_t sma_get_router_info(struct sma *sma, unsigned port, uint32_t modifier, uint8_t *data)
{
    unsigned shown = modifier ? modifier : port, adjacent = 0;
    if (shown > sma->port_count)
        return STATUS_BAD_VALUE;
    for (unsigned other = 1; other <= sma->port_count; other++)
        adjacent += is_adjacent(sma, shown, other);
    wire_set(data, ROUTER_INFO_NEXT_HOP_CAP, ROUTER_NEXT_HOPS);
    wire_set(data, ROUTER_INFO_NEXT_HOP_TOP, sma->router->ports[shown].top);
    wire_set(data, ROUTER_INFO_ADJACENT_TOP, adjacent);
    wire_set(data, ROUTER_INFO_ADJACENT_CAP, sma->port_count);
    return STATUS_OK;
}

/* A manager writes at the port of its own subnet only. */
uint16_t sma_set_router_info(struct sma *sma, unsigned port, uint32_t modifier, uint8_t *data)
{
    uint64_t top = wire_get(data, ROUTER_INFO_NEXT_HOP_TOP);
    if ((modifier && modifier != port) || top > ROUTER_NEXT_HOPS)
        return STATUS_BAD_VALUE;
    sma->router->ports[port].top = (uint32_t)top;
    return STATUS_OK;
}

/* The block that the modifier names; NULL: there is none. */
static struct next_hop *block_at(struct sma *sma, unsigned port, uint32_t modifier, bool write)
{
    unsigned number = modifier >> MODIFIER_PORT ? modifier >> MODIFIER_PORT : port;
    uint32_t block = modifier & ((1u << MODIFIER_PORT) - 1);
    if (number > sma->port_count || block >= ROUTER_NEXT_HOPS / HOPS_PER_BLOCK ||
        (write && number != port))
        return NULL;
    return &sma->router->ports[number].hops[block * HOPS_PER_BLOCK];
}

uint16_t sma_get_next_hops(struct sma *sma, unsigned port, uint32_t modifier, uint8_t *data)
{
    const struct next_hop *hops = block_at(sma, port, modifier, false);
    if (!hops)
        return STATUS_BAD_VALUE;
    for (unsigned i = 0; i < HOPS_PER_BLOCK; i++) {
        wire_set_at(data, ROUTER_NEXT_HOP_TABLE_PREFIX, i, hops[i].prefix);
        wire_set_at(data, ROUTER_NEXT_HOP_TABLE_WEIGHT, i, hops[i].weight);
        wire_set_at(data, ROUTER_NEXT_HOP_TABLE_P_KEY, i, hops[i].p_key);
    }
    return STATUS_OK;
}

uint16_t sma_set_next_hops(struct sma *sma, unsigned port, uint32_t modifier, uint8_t *data)
{
    struct next_hop *hops = block_at(sma, port, modifier, true);
    if (!hops)
        return STATUS_BAD_VALUE;
    for (unsigned i = 0; i < HOPS_PER_BLOCK; i++)
        hops[i] = (struct next_hop){
            .prefix = wire_get_at(data, ROUTER_NEXT_HOP_TABLE_PREFIX, i),
            .weight = (uint8_t)wire_get_at(data, ROUTER_NEXT_HOP_TABLE_WEIGHT, i),
            .p_key = (uint16_t)wire_get_at(data, ROUTER_NEXT_HOP_TABLE_P_KEY, i),
        };
    return STATUS_OK;
}

uint16_t sma_get_adjacent_subnets(struct sma *sma, unsigned port, uint32_t modifier, uint8_t *data)
{
    unsigned at = 0, first = modifier * SUBNETS_PER_BLOCK;
    if (modifier > sma->port_count / SUBNETS_PER_BLOCK)
        return STATUS_BAD_VALUE;
    for (unsigned other = 1; other <= sma->port_count; other++) {
        if (!is_adjacent(sma, port, other))
            continue;
        if (at >= first && at < first + SUBNETS_PER_BLOCK) {
            wire_set_at(data, ADJACENT_SUBNETS_TABLE_P_KEY, at - first,
                        sma->ports[other].p_keys[0]);
            wire_set_at(data, ADJACENT_SUBNETS_TABLE_PREFIX, at - first,
                        prefix_of(sma, other) & ~GID_PREFIX_SITE_MASK);
            wire_set_at(data, ADJACENT_SUBNETS_TABLE_MASTER_SM_LID, at - first,
                        wire_get(sma->ports[other].info, PORT_INFO_MASTER_SM_LID));
        }
        at++;
    }
    return STATUS_OK;
}

/* Crossings by this port, 0 for a port in the subnet; more than ROUTER_WEIGHT_MOST: no way. */
static unsigned weight_by(const struct sma *sma, unsigned port, uint64_t prefix)
{
    const struct router_next_hops *table = &sma->router->ports[port];
    unsigned least = ROUTER_WEIGHT_MOST + 1;
    if (sma_port_state(sma, port) != PORT_STATE_ACTIVE)
        return least;
    if (prefix_of(sma, port) == prefix)
        return 0;
    for (uint32_t i = 0; i < table->top; i++)
        if (table->hops[i].prefix == prefix && table->hops[i].weight &&
            table->hops[i].weight < least)
            least = table->hops[i].weight;
    return least;
}

struct sma_next_subnet sma_route_prefix(const struct sma *sma, unsigned input, uint64_t prefix,
                                        uint64_t flow)
{
    struct sma_next_subnet next = {0};
    unsigned least = ROUTER_WEIGHT_MOST + 1, equal = 0;
    for (unsigned port = 1; port <= sma->port_count; port++) {
        unsigned weight = weight_by(sma, port, prefix);
        if (port == input || weight > ROUTER_WEIGHT_MOST || weight > least)
            continue;
        equal = weight < least ? 1 : equal + 1;
        least = weight;
    }
    if (!equal) {
        next.returns = weight_by(sma, input, prefix) <= ROUTER_WEIGHT_MOST;
        return next;
    }
    unsigned chosen = (unsigned)(flow % equal);
    for (unsigned port = 1; port <= sma->port_count; port++)
        if (port != input && weight_by(sma, port, prefix) == least && chosen-- == 0)
            next.port = (uint8_t)port;
    next.adjacent = least == 0;
    return next;
}
