/* Tables of one computation: their memory, the choice of paths, and differences. */
#include "routing/model/routes.h"

#include <assert.h>
#include <string.h>

void routes_reserve(struct routes *routes, const struct network *network, const char *engine)
{
    *routes = (struct routes){
        .engine = engine,
        .switch_count = (uint32_t)network->switches.count,
        .stride = (network->top_lid / ROUTES_BLOCK + 1) * ROUTES_BLOCK,
        .top_lid = network->top_lid,
        .vls = 1,
    };
    routes->ports = mem_alloc_large((size_t)routes->switch_count * routes->stride);
}

void routes_init(struct routes *routes, const struct network *network, const char *engine)
{
    routes_reserve(routes, network, engine);
    if (routes->switch_count)
        memset(routes->ports, PORT_NONE, (size_t)routes->switch_count * routes->stride);
}

void routes_release(struct routes *routes)
{
    if (!routes)
        return;
    mem_free(routes->ports);
    mem_free(routes->default_ports);
    mem_free(routes->explicit_bits);
    mem_free(routes->offsets);
    mem_free(routes->service_levels);
    mem_free(routes->ranks);
    *routes = (struct routes){0};
}

static uint8_t *widen_rows(uint8_t *old, const struct routes *routes, uint32_t stride, int fill)
{
    if (!old)
        return NULL;
    uint8_t *rows = mem_alloc((size_t)routes->switch_count * stride);
    for (uint32_t at = 0; at < routes->switch_count; at++) {
        uint8_t *row = rows + (size_t)at * stride;
        memcpy(row, old + (size_t)at * routes->stride, routes->stride);
        memset(row + routes->stride, fill, stride - routes->stride);
    }
    mem_free(old);
    return rows;
}

void routes_grow(struct routes *routes, uint16_t top_lid)
{
    enum { STEP = 16 * ROUTES_BLOCK };
    if (top_lid >= routes->stride) {
        uint32_t stride = (top_lid / STEP + 1u) * STEP;
        size_t words = BITSET_WORDS((size_t)routes->switch_count * stride);
        uint64_t *bits = routes->explicit_bits ? mem_zalloc(words, sizeof *bits) : NULL;
        for (size_t i = 0; bits && i < (size_t)routes->switch_count * routes->stride; i++)
            if (bitset_has(routes->explicit_bits, i))
                bitset_add(bits, i / routes->stride * stride + i % routes->stride);
        routes->ports = widen_rows(routes->ports, routes, stride, PORT_NONE);
        routes->service_levels = widen_rows(routes->service_levels, routes, stride, 0);
        mem_free(routes->explicit_bits);
        routes->explicit_bits = bits;
        routes->stride = stride;
    }
    if (top_lid > routes->top_lid)
        routes->top_lid = top_lid;
}

void routes_set(struct routes *routes, uint32_t at, uint32_t lid, uint8_t port)
{
    assert(at < routes->switch_count && lid < routes->stride);
    size_t bit = (size_t)at * routes->stride + lid;
    routes->ports[bit] = port;
    if (!routes->explicit_bits)
        return;
    if (port == PORT_NONE || (routes->default_ports && routes->default_ports[at] == port))
        bitset_drop(routes->explicit_bits, bit);
    else
        bitset_add(routes->explicit_bits, bit);
}

void routes_fill_own(struct routes *routes, const struct network *network, uint32_t at)
{
    const struct network_switch *node = &network->switches.items[at];
    uint8_t *row = routes_row(routes, at);
    routes_fill(row, node->lid, node->lmc, 0);
    for (uint32_t i = network->first_terminal[at]; i < network->first_terminal[at + 1]; i++) {
        const struct network_terminal *terminal = network_terminal_at(network, i);
        routes_fill(row, terminal->lid, terminal->lmc, terminal->port);
    }
}

void routes_fill_switch(uint8_t *row, const struct network *network, uint32_t at, uint8_t value)
{
    routes_fill(row, network->switches.items[at].lid, network->switches.items[at].lmc, value);
    for (uint32_t i = network->first_terminal[at]; i < network->first_terminal[at + 1]; i++) {
        const struct network_terminal *terminal = network_terminal_at(network, i);
        routes_fill(row, terminal->lid, terminal->lmc, value);
    }
}

void routes_add_note(struct routes *routes, const char *format, ...)
{
    size_t length = strlen(routes->note);
    text_print_arguments(routes->note + length, sizeof routes->note - length, format);
}

void routes_copy_levels(struct routes *routes, uint16_t lid, uint16_t like)
{
    assert(like < routes->stride);
    routes_grow(routes, lid);
    for (uint32_t at = 0; routes->service_levels && at < routes->switch_count; at++) {
        uint8_t *levels = routes->service_levels + (size_t)at * routes->stride;
        levels[lid] = levels[like];
    }
}

struct path path_lookup(const struct routes *routes, const struct network *network, uint32_t source,
                        uint32_t destination)
{
    bool from_switch = source & NETWORK_SWITCH, to_switch = destination & NETWORK_SWITCH;
    uint32_t at = network_switch_of(network, source);
    uint32_t lid = network_lid(network, destination);
    if (lid && routes->offsets && !from_switch && !to_switch)
        lid +=
            routes->offsets[(size_t)network_switch_of(network, destination) * routes->switch_count +
                            at];
    if (at == NETWORK_NONE) /* the link from one adapter to the other */
        return (struct path){.dlid = (uint16_t)lid};
    if (lid == 0 || routes_port(routes, at, lid) == PORT_NONE)
        return (struct path){0};
    return (struct path){.dlid = (uint16_t)lid, .sl = routes_level(routes, at, lid)};
}

struct routes_difference routes_compare(const struct routes *before, const struct routes *after)
{
    assert(before->switch_count == after->switch_count);
    struct routes_difference difference = {0};
    uint32_t stride = before->stride > after->stride ? before->stride : after->stride;
    for (uint32_t at = 0; at < after->switch_count; at++) {
        uint64_t blocks = 0;
        for (uint32_t block = 0; block < stride; block += ROUTES_BLOCK) {
            unsigned entries = 0;
            for (uint32_t lid = block; lid < block + ROUTES_BLOCK; lid++)
                entries += routes_port(before, at, lid) != routes_port(after, at, lid);
            difference.entries += entries;
            blocks += entries != 0;
        }
        difference.blocks += blocks;
        difference.switches += blocks != 0;
    }
    return difference;
}

uint32_t routes_longest(const struct routes *routes, const struct network *network)
{
    uint32_t count = routes->switch_count, longest = 0;
    assert(count == 0 || count == network->switches.count);
    uint32_t *passed = mem_alloc(count * sizeof *passed); /* from here on; 0: not known yet */
    uint32_t *path = mem_alloc(count * sizeof *path);
    for (uint32_t lid = 1; lid <= routes->top_lid; lid++) {
        memset(passed, 0, count * sizeof *passed);
        for (uint32_t start = 0; start < count; start++) {
            uint32_t steps = 0, at = start;
            while (at != NETWORK_NONE && !passed[at]) {
                passed[at] = UINT32_MAX; /* on the path: to meet it again is a loop */
                path[steps++] = at;
                at = network_next(network, at, routes_port(routes, at, lid));
            }
            uint32_t rest = at == NETWORK_NONE || passed[at] == UINT32_MAX ? 0 : passed[at];
            while (steps)
                passed[path[--steps]] = ++rest;
            if (passed[start] > longest)
                longest = passed[start];
        }
    }
    mem_free(passed);
    mem_free(path);
    return longest;
}
