/* What a dump of a subnet says about its routers (routing/files/border_read.h has the format): the
 * next-hop tables that the manager writes, and the choices of its administration. */
#include "host/files/dump_border.h"

#include "subnet/prefix_routes.h"
#include "subnet/subnet.h"

#include <inttypes.h>

static const struct subnet_port *port_of(const struct subnet *subnet, uint32_t port)
{
    return &subnet->ports.items[port];
}

static void put_choices(const struct subnet *subnet, uint64_t prefix, uint32_t not_at,
                        struct text *out)
{
    uint32_t ports[PREFIX_CHOICES];
    unsigned count = prefix_routes_find(subnet, prefix, not_at, ports, NULL);
    text_puts(out, " by");
    for (unsigned i = 0; i < count; i++)
        text_printf(out, " 0x%016" PRIx64, port_of(subnet, ports[i])->guid);
    text_putc(out, '\n');
}

static void put_router(const struct subnet *subnet, uint32_t port, struct text *out)
{
    struct prefix_route wanted[ROUTER_NEXT_HOPS];
    uint32_t node = port_of(subnet, port)->node;
    unsigned count = prefix_routes_want(subnet, port, wanted);
    text_printf(out, "Router 0x%016" PRIx64 " port %u portguid 0x%016" PRIx64 "\n",
                subnet->nodes.items[node].guid, port_of(subnet, port)->number,
                port_of(subnet, port)->guid);
    for (unsigned i = 0; i < count; i++) {
        text_printf(out, "Next hop of 0x%016" PRIx64 " prefix 0x%016" PRIx64 " weight %u",
                    port_of(subnet, port)->guid, wanted[i].prefix, wanted[i].weight);
        put_choices(subnet, wanted[i].prefix, node, out);
    }
}

void dump_put_border(const struct subnet *subnet, struct text *out)
{
    const struct prefix_routes *routes = &subnet->prefix_routes;
    uint64_t last = 0;
    text_printf(out, "Subnet prefix 0x%016" PRIx64 "\n", routes->own);
    for (uint32_t node = 0; node < subnet->nodes.count; node++) {
        const struct subnet_node *at = &subnet->nodes.items[node];
        for (unsigned i = 1; at->kind == SUBNET_ROUTER && at->present && i <= at->port_count; i++) {
            const struct subnet_port *port = port_of(subnet, at->first_port + i);
            if (port->known && port->lid && port->peer != SUBNET_NONE)
                put_router(subnet, at->first_port + i, out);
        }
    }
    for (size_t i = 0; i < routes->learnt.count; i++) { /* sorted by prefix */
        uint64_t prefix = routes->learnt.items[i].prefix;
        uint32_t ports[PREFIX_CHOICES];
        if (prefix == last || prefix == routes->own ||
            !prefix_routes_find(subnet, prefix, SUBNET_NONE, ports, NULL))
            continue;
        text_printf(out, "Prefix 0x%016" PRIx64, last = prefix);
        put_choices(subnet, prefix, SUBNET_NONE, out);
    }
    for (size_t i = 0; routes->rules && i < routes->rules->items.count; i++) {
        uint64_t prefix = routes->rules->items.items[i].prefix;
        bool known = !prefix || prefix == routes->own;
        for (size_t j = 0; j < routes->learnt.count && !known; j++)
            known = routes->learnt.items[j].prefix == prefix;
        for (size_t j = 0; j < i && !known; j++)
            known = routes->rules->items.items[j].prefix == prefix;
        uint32_t ports[PREFIX_CHOICES];
        if (known || !prefix_routes_find(subnet, prefix, SUBNET_NONE, ports, NULL))
            continue;
        text_printf(out, "Prefix 0x%016" PRIx64, prefix);
        put_choices(subnet, prefix, SUBNET_NONE, out);
    }
}
