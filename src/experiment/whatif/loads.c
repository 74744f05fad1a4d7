/* The load of each link under uniform traffic, by the tables that are in the switches.
 *
 * All senders at a switch use the same DLID for a destination, so paths are followed from each
 * switch with adapters to each adapter port: with n ports at s switches, n * s paths. */
#include "experiment/whatif/whatif.h"

#include "experiment/run/setup.h"
#include "fabric/data.h"
#include "fabric/path.h"
#include "host/sim/sim_paths.h"
#include "wire/link_rate.h"

enum { HOPS_MOST = 128, ROUTERS_MOST = 16 }; /* on a path */

/* Senders at one switch whose links are up. */
struct sender_group {
    uint32_t at;         /* node */
    uint32_t senders[2]; /* two of them, or TOPOLOGY_NONE */
    double rate;         /* of all, bits/s */
    bool fails;          /* their links are to fail */
};

struct load_walk {
    const struct setup *setup;
    const struct topology *topology;
    struct whatif_loads *loads;
    bool *fails; /* by port: it fails, or its node does */
    VEC(struct sender_group) groups;
    VEC(uint32_t) ports; /* adapter ports with a cable to a switch */
    double load;         /* of each sender, as a share of its link */
    double total, hops, delivered, broken, lost;
};

static double port_rate(const struct topology *topology, uint32_t port)
{
    const struct topology_port *p = &topology->ports.items[port];
    return (double)link_data_rate(p->width, p->speed);
}

static void add_sender(struct load_walk *walk, struct map *group_of, uint32_t port, uint32_t at)
{
    bool fails = walk->fails[port];
    uint32_t index = map_add(group_of, (uint64_t)at << 1 | fails, (uint32_t)walk->groups.count);
    if (index == walk->groups.count) {
        struct sender_group group = {
            .at = at, .senders = {TOPOLOGY_NONE, TOPOLOGY_NONE}, .fails = fails};
        vec_push(&walk->groups, group);
    }
    struct sender_group *group = &walk->groups.items[index];
    for (int i = 0; i < 2; i++)
        if (group->senders[i] == TOPOLOGY_NONE) {
            group->senders[i] = port;
            break;
        }
    group->rate += walk->load * port_rate(walk->topology, port);
}

static void collect_senders(struct load_walk *walk)
{
    const struct topology *topology = walk->topology;
    struct map group_of = {0};
    for (uint32_t port = 0; port < topology->ports.count; port++) {
        const struct topology_port *p = &topology->ports.items[port];
        if (p->peer == TOPOLOGY_NONE || topology->nodes.items[p->node].kind != NODE_ADAPTER)
            continue;
        uint32_t at = topology->ports.items[p->peer].node;
        if (topology->nodes.items[at].kind != NODE_SWITCH)
            continue;
        double rate = walk->load * port_rate(topology, port);
        walk->total += rate;
        vec_push(&walk->ports, port);
        if (fabric_link_is_up(walk->setup->fabric, port))
            add_sender(walk, &group_of, port, at);
        else
            walk->lost += rate;
    }
    map_release(&group_of);
}

static void mark_failures(struct load_walk *walk, const struct whatif_question *question)
{
    const struct topology *topology = walk->topology;
    walk->fails = mem_zalloc(topology->ports.count + 1, sizeof *walk->fails);
    for (size_t i = 0; i < question->failure_count; i++) {
        const struct whatif_failure *failure = &question->failures[i];
        if (failure->node == TOPOLOGY_NONE)
            continue; /* all links lose SMPs */
        const struct topology_node *node = &topology->nodes.items[failure->node];
        for (unsigned p = 0; p <= node->port_count; p++) {
            uint32_t port = node->first_port + p, peer = topology->ports.items[port].peer;
            if (failure->port != TOPOLOGY_NONE && failure->port != port)
                continue;
            walk->fails[port] = true;
            if (peer != TOPOLOGY_NONE)
                walk->fails[peer] = true;
        }
    }
}

/* From the router that the path has entered to the next switch. False: it ends there. */
static bool cross_router(const struct load_walk *walk, struct fabric_path *path, uint32_t from,
                         uint32_t to, bool *broken)
{
    struct data_path next;
    uint32_t out = fabric_route_across(path->fabric, path->in, from, to, &next);
    if (out == UINT32_MAX || !fabric_link_is_up(path->fabric, out))
        return false;
    *broken |= walk->fails[out];
    path->dlid = next.dlid;
    path->in = walk->topology->ports.items[out].peer;
    return fabric_path_enter(path, walk->topology->ports.items[path->in].node) == PATH_GOES_ON;
}

/* Follows the tables; adds `rate` to the ports on the way if the packet arrives. */
static void follow_path(struct load_walk *walk, const struct sender_group *group, uint32_t from,
                        uint32_t to, unsigned dlid, double rate)
{
    struct fabric_path path = {.fabric = walk->setup->fabric, .dlid = dlid, .in = TOPOLOGY_NONE};
    uint32_t ports[HOPS_MOST];
    unsigned count = 0, routers = 0;
    bool broken = group->fails, more = dlid && fabric_path_enter(&path, group->at) == PATH_GOES_ON;
    while (more && count < HOPS_MOST) {
        broken |= walk->fails[path.out];
        ports[count++] = path.out;
        more = fabric_path_step(&path, fabric_link_is_up) == PATH_GOES_ON ||
               (path.in != to && path.in != TOPOLOGY_NONE && routers++ < ROUTERS_MOST &&
                cross_router(walk, &path, from, to, &broken));
    }
    if (path.in != to) {
        walk->lost += rate;
        return;
    }
    for (unsigned i = 0; i < count; i++)
        walk->loads->share[ports[i]] += rate;
    walk->hops += rate * count;
    walk->delivered += rate;
    walk->broken += broken ? rate : 0;
}

static void follow_all(struct load_walk *walk)
{
    double others = (double)walk->ports.count - 1;
    for (size_t i = 0; i < walk->ports.count && others > 0; i++) {
        uint32_t to = walk->ports.items[i];
        uint32_t home = walk->topology->ports.items[walk->topology->ports.items[to].peer].node;
        for (size_t g = 0; g < walk->groups.count; g++) {
            const struct sender_group *group = &walk->groups.items[g];
            uint32_t from = group->senders[group->senders[0] == to];
            double rate = group->rate / others;
            if (group->at == home && group->fails == walk->fails[to] &&
                fabric_link_is_up(walk->setup->fabric, to))
                rate -= walk->load * port_rate(walk->topology, to) / others; /* not to itself */
            if (from == TOPOLOGY_NONE)
                continue;
            struct data_path path = sim_paths_find(walk->setup->paths, from, to);
            follow_path(walk, group, from, to, path.dlid, rate);
        }
    }
}

static void summarise(struct load_walk *walk)
{
    const struct topology *topology = walk->topology;
    struct whatif_loads *loads = walk->loads;
    double sum = 0;
    loads->worst = TOPOLOGY_NONE;
    for (uint32_t port = 0; port < topology->ports.count; port++) {
        const struct topology_port *p = &topology->ports.items[port];
        if (p->peer == TOPOLOGY_NONE || topology->nodes.items[p->node].kind != NODE_SWITCH ||
            !fabric_link_is_up(walk->setup->fabric, port))
            continue;
        loads->share[port] /= port_rate(topology, port) / link_width_multiple(p->width) *
                              link_lanes(fabric_port_info(walk->setup->fabric, port));
        sum += loads->share[port];
        loads->links++;
        loads->overloaded += loads->share[port] > 1;
        if (loads->worst == TOPOLOGY_NONE || loads->share[port] > loads->most) {
            loads->most = loads->share[port];
            loads->worst = port;
        }
    }
    loads->rate = walk->total;
    loads->mean = loads->links ? sum / loads->links : 0;
    loads->hops = walk->delivered > 0 ? walk->hops / walk->delivered : 0;
    loads->unreachable = walk->total > 0 ? walk->lost / walk->total : 0;
    loads->affected = walk->total > 0 ? walk->broken / walk->total : 0;
}

void whatif_find_loads(const struct setup *setup, const struct whatif_question *question,
                       struct whatif_loads *loads)
{
    struct load_walk walk = {.setup = setup, .topology = &setup->topology, .loads = loads};
    walk.load = question->load > 0 ? question->load : 1;
    *loads = (struct whatif_loads){
        .share = mem_zalloc(setup->topology.ports.count + 1, sizeof *loads->share)};
    mark_failures(&walk, question);
    collect_senders(&walk);
    follow_all(&walk);
    summarise(&walk);
    mem_free(walk.fails);
    vec_release(&walk.groups);
    vec_release(&walk.ports);
}

void whatif_loads_release(struct whatif_loads *loads)
{
    mem_free(loads->share);
    *loads = (struct whatif_loads){0};
}
