/* The graph of switches and hosts on which the published algorithms work, and their steps. */
#include "routing/paper/published.h"

#include "base/mem.h"
#include "routing/search/roots.h"

#include <string.h>

/* The nodes in ascending order of LIDs. Returns the node of each end point: of the switches, then
 * of the terminals. */
static uint32_t *make_nodes(struct published *published, const struct network *network)
{
    uint32_t switches = (uint32_t)network->switches.count, count = published->count;
    uint64_t *keys = mem_alloc(count * sizeof *keys);
    uint32_t *node_of = mem_alloc(count * sizeof *node_of);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t lid = i < switches ? network->switches.items[i].lid
                                    : network->terminals.items[i - switches].lid;
        keys[i] = lid << 32 | i;
    }
    sort_u64(keys, count);
    published->nodes = arena_alloc(&published->memory, count * sizeof *published->nodes);
    for (uint32_t x = 0; x < count; x++) {
        uint32_t i = (uint32_t)keys[x];
        node_of[i] = x;
        published->nodes[x] = (struct published_node){
            .end_point = i < switches ? NETWORK_SWITCH | i : i - switches,
        };
    }
    mem_free(keys);
    return node_of;
}

static size_t add_switch_ports(struct published *published, const struct network *network,
                               const struct updown *updown, const uint32_t *node_of, uint32_t at,
                               size_t used)
{
    const struct network_switch *node = &network->switches.items[at];
    uint32_t switches = (uint32_t)network->switches.count;
    for (unsigned number = 1; number <= node->port_count; number++) {
        const struct network_port *port = &network->ports.items[node->first_port + number];
        struct published_port found = {.number = (uint8_t)number, .to_number = port->peer_port};
        if (port->peer == NETWORK_NONE || port->peer == (NETWORK_SWITCH | at))
            continue;
        if (port->peer & NETWORK_SWITCH) {
            uint32_t to = port->peer & ~NETWORK_SWITCH;
            found.to = node_of[to];
            found.up = updown_is_up(updown, at, to);
            published->ports[used++] = found;
            continue;
        }
        for (uint32_t i = port->peer; i != NETWORK_NONE; i = network->terminals.items[i].sharer) {
            found.to = node_of[switches + i];
            published->ports[used++] = found;
        }
    }
    return used;
}

void published_init(struct published *published, const struct network *network,
                    const struct updown *updown)
{
    uint32_t switches = (uint32_t)network->switches.count;
    uint32_t count = switches + (uint32_t)network->terminals.count;
    *published = (struct published){.count = count, .switch_count = switches};
    uint32_t *node_of = make_nodes(published, network);
    size_t used = 0;
    published->ports =
        arena_alloc(&published->memory, (network->ports.count + 2 * network->terminals.count) *
                                            sizeof *published->ports);
    for (uint32_t x = 0; x < published->count; x++) {
        struct published_node *node = &published->nodes[x];
        node->first_port = (uint32_t)used;
        if (node->end_point & NETWORK_SWITCH) {
            used = add_switch_ports(published, network, updown, node_of,
                                    node->end_point & ~NETWORK_SWITCH, used);
        } else {
            const struct network_terminal *host = &network->terminals.items[node->end_point];
            if (host->at != NETWORK_NONE)
                published->ports[used++] = (struct published_port){
                    .to = node_of[host->at], .number = 1, .to_number = host->port, .up = true};
        }
        node->end_port = (uint32_t)used;
    }
    mem_free(node_of);
    published->tables = arena_alloc(&published->memory, (size_t)switches * count);
    uint16_t *hops = arena_alloc(&published->memory, (size_t)switches * count * sizeof *hops);
    published->marks = arena_alloc(&published->memory, count);
    size_t row = 0;
    for (uint32_t x = 0; x < count; x++)
        if (published->nodes[x].end_point & NETWORK_SWITCH) {
            published->nodes[x].table = published->tables + row;
            published->nodes[x].hops = hops + row;
            row += count;
        }
}

void published_release(struct published *published)
{
    vec_release(&published->renamed);
    vec_release(&published->table_of_pair);
    vec_release(&published->queue);
    arena_release(&published->memory);
}

void published_clear(struct published *published)
{
    published->steps = 0;
    if (published->count)
        memset(published->marks, 0, published->count);
    if (published->switch_count)
        memset(published->tables, PORT_NONE, (size_t)published->switch_count * published->count);
}

void published_run(struct published *published, const struct engine *engine)
{
    (engine->published ? engine->published : published_fera)(published);
}

uint64_t published_steps(const struct network *network, const struct engine *engine,
                         const struct engine_options *options)
{
    struct roots roots;
    struct err unfit;
    uint64_t steps = 0;
    if (roots_choose(&roots, network, options, ROOT_MANAGER, &unfit) == 0) {
        struct updown updown;
        struct published published;
        updown_init(&updown, network, roots.switches.items, roots.switches.count, options->tree);
        published_init(&published, network, &updown);
        published_run(&published, engine);
        steps = published.steps;
        published_release(&published);
        updown_release(&updown);
    }
    roots_release(&roots);
    return steps;
}
