/* Numbers the links of a topology, each cable once, in the order of the lower of its two ports.
 * Nodes and links are also found by GUID and port number, as managers name them. */
#include "host/api/api.h"

void api_links_init(struct api_links *links, const struct topology *topology)
{
    links->count = 0;
    links->port_count = (uint32_t)topology->ports.count;
    links->ports = mem_alloc((topology->ports.count / 2 + 1) * sizeof *links->ports);
    links->of_port = mem_alloc((topology->ports.count + 1) * sizeof *links->of_port);
    for (uint32_t port = 0; port < topology->ports.count; port++) {
        uint32_t peer = topology->ports.items[port].peer;
        links->of_port[port] = TOPOLOGY_NONE;
        if (peer == TOPOLOGY_NONE)
            continue;
        if (peer > port)
            links->ports[links->count++] = port;
        links->of_port[port] = peer > port ? links->count - 1 : links->of_port[peer];
    }
}

void api_links_release(struct api_links *links)
{
    mem_free(links->ports);
    mem_free(links->of_port);
    *links = (struct api_links){0};
}

uint32_t api_node_of(const struct topology *topology, uint64_t guid)
{
    uint32_t node = map_get(&topology->by_guid, guid);
    return node == MAP_NONE ? TOPOLOGY_NONE : node;
}

uint32_t api_link_of(const struct topology *topology, const struct api_links *links, uint64_t guid,
                     unsigned port)
{
    uint32_t node = api_node_of(topology, guid);
    return node != TOPOLOGY_NONE && port && port <= topology->nodes.items[node].port_count
               ? links->of_port[topology_port_index(topology, node, port)]
               : TOPOLOGY_NONE;
}
