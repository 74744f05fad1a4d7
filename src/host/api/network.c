/* The network of a page: nodes, numbered links, and their JSON, with positions. It does not change
 * once it is shown, so that answers read it in the thread of the HTTP server while the owner's loop
 * goes on; its last holder frees it. To draw a large network takes longer than a loop may wait: the
 * JSON is written when it is first needed, by whoever needs it. */
#include "host/api/api.h"

#include <pthread.h>
#include <stdatomic.h>

struct api_network {
    struct topology topology;
    struct api_links links;
    uint64_t generation;
    uint32_t nodes, link_count;
    atomic_uint holders;
    pthread_mutex_t lock; /* of the JSON */
    struct text json;
};

static struct api_network *make_network(uint64_t generation)
{
    struct api_network *network = mem_zalloc(1, sizeof *network);
    network->generation = generation;
    atomic_init(&network->holders, 1);
    pthread_mutex_init(&network->lock, NULL);
    return network;
}

struct api_network *api_network_new(struct topology *topology, uint64_t generation)
{
    struct api_network *network = make_network(generation);
    network->topology = *topology;
    *topology = (struct topology){0};
    api_links_init(&network->links, &network->topology);
    network->nodes = (uint32_t)network->topology.nodes.count;
    network->link_count = network->links.count;
    return network;
}

struct api_network *api_network_written(const struct topology *topology,
                                        const struct api_links *links, uint64_t generation)
{
    struct api_network *network = make_network(generation);
    api_topology_write(topology, links, generation, &network->json);
    network->nodes = (uint32_t)topology->nodes.count;
    network->link_count = links->count;
    return network;
}

struct api_network *api_network_hold(struct api_network *network)
{
    atomic_fetch_add(&network->holders, 1);
    return network;
}

void api_network_release(struct api_network *network)
{
    if (!network || atomic_fetch_sub(&network->holders, 1) != 1)
        return;
    api_links_release(&network->links);
    topology_release(&network->topology);
    text_release(&network->json);
    pthread_mutex_destroy(&network->lock);
    mem_free(network);
}

const struct topology *api_network_topology(const struct api_network *network)
{
    return &network->topology;
}

const struct api_links *api_network_links(const struct api_network *network)
{
    return &network->links;
}

uint64_t api_network_generation(const struct api_network *network)
{
    return network->generation;
}

void api_network_init_tick(const struct api_network *network, struct api_tick *tick)
{
    api_tick_init(tick, network->nodes, network->link_count);
}

void api_network_write(struct api_network *network, struct text *out)
{
    pthread_mutex_lock(&network->lock);
    if (!network->json.length)
        api_topology_write(&network->topology, &network->links, network->generation,
                           &network->json);
    text_append(out, network->json.data, network->json.length);
    pthread_mutex_unlock(&network->lock);
}
