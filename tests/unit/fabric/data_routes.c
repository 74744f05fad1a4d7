/* Tables for data tests: shortest paths, and up-down paths. Shares no code with the routing
 * engines. */
#include "data_fixture.h"

static bool is_switch(const struct net *net, uint32_t node)
{
    return net->topology.nodes.items[node].kind == NODE_SWITCH;
}

static unsigned port_count(const struct net *net, uint32_t node)
{
    return net->topology.nodes.items[node].port_count;
}

static uint32_t peer_of(const struct net *net, uint32_t node, unsigned port)
{
    return net->topology.ports.items[net_port(net, node, port)].peer;
}

static uint32_t node_at(const struct net *net, uint32_t port)
{
    return net->topology.ports.items[port].node;
}

void net_route(struct net *net, uint32_t node, uint32_t destination, unsigned port)
{
    net->tables[node][net->lids[destination]] = (uint8_t)port;
}

/* Distance of every switch from `start`, or UINT32_MAX; adapters pass nothing on. */
static void measure(const struct net *net, uint32_t start, uint32_t *distance)
{
    size_t nodes = net->topology.nodes.count, tail = 0;
    uint32_t *queue = mem_alloc(nodes * sizeof *queue);
    for (size_t i = 0; i < nodes; i++)
        distance[i] = UINT32_MAX;
    distance[start] = 0;
    queue[tail++] = start;
    for (size_t head = 0; head < tail; head++) {
        uint32_t node = queue[head];
        for (unsigned port = 1; port <= port_count(net, node) && is_switch(net, node); port++) {
            uint32_t peer = peer_of(net, node, port);
            if (peer == TOPOLOGY_NONE || distance[node_at(net, peer)] != UINT32_MAX)
                continue;
            distance[node_at(net, peer)] = distance[node] + 1;
            queue[tail++] = node_at(net, peer);
        }
    }
    mem_free(queue);
}

void net_route_shortest(struct net *net)
{
    size_t nodes = net->topology.nodes.count;
    uint32_t *distance = mem_alloc(nodes * sizeof *distance);
    for (uint32_t target = 0; target < net->topology.ports.count; target++) {
        if (!net->lids[target])
            continue;
        uint32_t leaf_port = net->topology.ports.items[target].peer;
        uint32_t leaf = node_at(net, leaf_port);
        if (!is_switch(net, leaf))
            continue; /* adapter to adapter */
        measure(net, leaf, distance);
        for (uint32_t node = 0; node < nodes; node++)
            for (unsigned port = port_count(net, node); port >= 1 && net->tables[node]; port--) {
                uint32_t peer = peer_of(net, node, port);
                if (peer != TOPOLOGY_NONE && is_switch(net, node_at(net, peer)) &&
                    distance[node_at(net, peer)] + 1 == distance[node])
                    net_route(net, node, target, port);
            }
        net_route(net, leaf, target, topology_port_number(&net->topology, leaf_port));
    }
    mem_free(distance);
}

/* Up is nearer to the root, of equals the lower number. */
static bool goes_up(const uint32_t *rank, uint32_t from, uint32_t to)
{
    return rank[to] != rank[from] ? rank[to] < rank[from] : to < from;
}

/* One round: adds the switches with a neighbour that reaches the target. Paths down come first, so
 * that a switch never routes up if it can route down. */
static bool spread(struct net *net, uint32_t target, const uint32_t *rank, uint32_t *cost,
                   bool *down, bool upward)
{
    bool changed = false;
    for (uint32_t node = 0; node < net->topology.nodes.count; node++) {
        if (!net->tables[node] || (upward && down[node]))
            continue;
        for (unsigned port = 1; port <= port_count(net, node); port++) {
            uint32_t peer = peer_of(net, node, port);
            uint32_t next = peer == TOPOLOGY_NONE ? node : node_at(net, peer);
            if (next == node || !net->tables[next] || cost[next] == UINT32_MAX ||
                goes_up(rank, node, next) != upward || (!upward && !down[next]) ||
                cost[next] + 1 >= cost[node])
                continue;
            cost[node] = cost[next] + 1;
            down[node] = !upward;
            net_route(net, node, target, port);
            changed = true;
        }
    }
    return changed;
}

void net_route_up_down(struct net *net, uint32_t root)
{
    size_t nodes = net->topology.nodes.count;
    uint32_t *rank = mem_alloc(nodes * sizeof *rank), *cost = mem_alloc(nodes * sizeof *cost);
    bool *down = mem_alloc(nodes * sizeof *down);
    measure(net, root, rank);
    for (uint32_t target = 0; target < net->topology.ports.count; target++) {
        if (!net->lids[target])
            continue;
        uint32_t leaf_port = net->topology.ports.items[target].peer;
        uint32_t leaf = node_at(net, leaf_port);
        for (size_t i = 0; i < nodes; i++) {
            cost[i] = i == leaf ? 0 : UINT32_MAX;
            down[i] = i == leaf;
        }
        net_route(net, leaf, target, topology_port_number(&net->topology, leaf_port));
        while (spread(net, target, rank, cost, down, false)) {
        }
        while (spread(net, target, rank, cost, down, true)) {
        }
    }
    mem_free(rank);
    mem_free(cost);
    mem_free(down);
}
