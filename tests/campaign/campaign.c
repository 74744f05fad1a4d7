/* campaign [FIRST [COUNT]]: managers under random faults, seed by seed, all in virtual time.
 *
 * Each run makes a network, starts one to three managers, and lets things go wrong for a while:
 * SMPs are lost, links and switches go and come back, managers die. Then the faults stop, and after
 * a while every part of the fabric that still has a manager must be in order: one master,
 * everything that is connected configured, LIDs unique, all pairs reachable through the tables that
 * are really in the switches, and no cycle of dependencies. A run that fails prints its seed;
 * `campaign SEED 1` replays it with the managers' events. */
#include "base/rng.h"
#include "base/time.h"
#include "host/sim.h"
#include "routing/verify.h"
#include "topology/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANAGERS_MOST = 3 };

struct run {
    uint64_t seed;
    struct rng rng;
    struct topology topology;
    struct fabric *fabric;
    struct sim *sim;
    uint32_t seats[MANAGERS_MOST]; /* the managers' ports */
    unsigned managers, alive;
    bool verbose;
    char complaint[256];
};

static void listen(void *context, uint64_t now, unsigned manager, const struct sm_event *event)
{
    const struct run *run = context;
    if (run->verbose)
        printf("%14.6f ms  [%u] %s\n", (double)now / (double)TIME_MS, manager, event->text);
}

static bool is_switch(const struct run *run, uint32_t node)
{
    return run->topology.nodes.items[node].kind == NODE_SWITCH;
}

static unsigned state_of(const struct run *run, uint32_t port)
{
    return (unsigned)wire_get(fabric_port_info(run->fabric, port), PORT_INFO_PORT_STATE);
}

static void make_network(struct run *run)
{
    char switches[32], ports[32], hosts[32];
    unsigned count = 4 + (unsigned)rng_below(&run->rng, 29);
    unsigned radix = 4 + (unsigned)rng_below(&run->rng, 9);
    snprintf(switches, sizeof switches, "switches=%u", count);
    snprintf(ports, sizeof ports, "ports=%u", radix);
    snprintf(hosts, sizeof hosts, "hosts=%u", 3 + (unsigned)rng_below(&run->rng, count));
    const char *words[] = {switches, ports, hosts};
    struct err err = {0};
    topology_init(&run->topology);
    if (topology_generate(&run->topology, "irregular", words, 3, run->seed, &err) != 0) {
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)run->seed, err.message);
        exit(2);
    }
    struct fabric_options options;
    fabric_options_preset(&options, "today", &err);
    run->fabric = fabric_new(&run->topology, &options, run->seed);
    run->sim = sim_new(run->fabric);
    sim_set_listener(run->sim, &(struct sim_listener){.context = run, .event = listen});
}

static void start_managers(struct run *run)
{
    static const struct engine *const engines[] = {&engine_updn, &engine_fera, &engine_pira};
    unsigned wanted = 1 + (unsigned)rng_below(&run->rng, MANAGERS_MOST);
    struct sm_config config;
    sm_config_init(&config);
    config.engine = engines[rng_below(&run->rng, 3)];
    config.sweep_ps = 1 * TIME_S;
    config.timeout_ps = 20 * TIME_MS;
    for (uint32_t node = 0; node < run->topology.nodes.count && run->managers < wanted; node++) {
        if (is_switch(run, node) && run->managers)
            continue;
        uint32_t first = run->topology.nodes.items[node].first_port;
        config.priority = (uint8_t)rng_below(&run->rng, 3);
        run->seats[run->managers] = is_switch(run, node) ? first : first + 1;
        sim_add_manager(run->sim, run->seats[run->managers], &config);
        run->managers++;
    }
    run->alive = run->managers;
}

static bool hosts_manager(const struct run *run, uint32_t node)
{
    for (unsigned i = 0; i < run->managers; i++)
        if (run->topology.ports.items[run->seats[i]].node == node)
            return true;
    return false;
}

static void one_fault(struct run *run)
{
    uint32_t port = (uint32_t)rng_below(&run->rng, run->topology.ports.count);
    uint32_t node = (uint32_t)rng_below(&run->rng, run->topology.nodes.count);
    switch (rng_below(&run->rng, 8)) {
    case 0:
    case 1: fabric_set_link(run->fabric, port, false, NULL); break;
    case 2:
    case 3: fabric_set_link(run->fabric, port, true, NULL); break;
    case 4: fabric_flap_port(run->fabric, port, NULL); break;
    case 5:
        if (is_switch(run, node) && !hosts_manager(run, node))
            fabric_set_node(run->fabric, node, false, NULL);
        break;
    case 6: fabric_set_node(run->fabric, node, true, NULL); break;
    case 7:
        if (run->alive > 1 && rng_below(&run->rng, 4) == 0) {
            unsigned victim = (unsigned)rng_below(&run->rng, run->managers);
            run->alive -= sim_manager(run->sim, victim) != NULL;
            sim_kill_manager(run->sim, victim);
        }
        break;
    }
}

static void let_things_go_wrong(struct run *run)
{
    /* Up to 2 % on each link and way: up to a fifth of the SMPs over five hops and back. */
    fabric_set_loss(run->fabric, TOPOLOGY_NONE, 0, rng_below(&run->rng, RNG_CERTAIN / 50), NULL);
    unsigned faults = 3 + (unsigned)rng_below(&run->rng, 30);
    for (unsigned i = 0; i < faults; i++) {
        sim_run(run->sim, sim_now(run->sim) + rng_below(&run->rng, 200 * TIME_MS));
        one_fault(run);
    }
    fabric_set_loss(run->fabric, TOPOLOGY_NONE, 0, 0, NULL);
    for (uint32_t port = 0; port < run->topology.ports.count; port++)
        if (rng_below(&run->rng, 4) != 0 && run->topology.ports.items[port].peer != TOPOLOGY_NONE)
            fabric_set_link(run->fabric, port, true, NULL);
}

static bool complain(struct run *run, const char *format, unsigned long long a,
                     unsigned long long b)
{
    if (!run->complaint[0])
        snprintf(run->complaint, sizeof run->complaint, format, a, b);
    return false;
}

/* Marks the nodes that cables connect with this one. */
static void mark_part(const struct run *run, uint32_t from, bool *part)
{
    uint32_t *stack = malloc(run->topology.nodes.count * sizeof *stack);
    size_t depth = 0;
    part[from] = true;
    stack[depth++] = from;
    while (depth) {
        uint32_t node = stack[--depth];
        const struct topology_node *n = &run->topology.nodes.items[node];
        if (n->kind != NODE_SWITCH && node != from)
            continue;
        for (unsigned number = 1; number <= n->port_count; number++) {
            uint32_t peer = run->topology.ports.items[n->first_port + number].peer;
            if (peer == TOPOLOGY_NONE || !fabric_link_is_up(run->fabric, n->first_port + number))
                continue;
            uint32_t next = run->topology.ports.items[peer].node;
            if (!part[next]) {
                part[next] = true;
                stack[depth++] = next;
            }
        }
    }
    free(stack);
}

static bool ports_in_order(struct run *run, const bool *part, unsigned master_lid)
{
    static uint32_t owner[LFT_ENTRIES];
    memset(owner, 0xFF, sizeof owner);
    for (uint32_t port = 0; port < run->topology.ports.count; port++) {
        const struct topology_port *p = &run->topology.ports.items[port];
        unsigned number = topology_port_number(&run->topology, port);
        if (!part[p->node] || (!is_switch(run, p->node) && number == 0))
            continue;
        if (number && !fabric_link_is_up(run->fabric, port))
            continue;
        if (number && state_of(run, port) != PORT_STATE_ACTIVE)
            return complain(run, "port %llu of node %llu is not active", number, p->node);
        if (is_switch(run, p->node) && number)
            continue;
        const uint8_t *info = fabric_port_info(run->fabric, port);
        unsigned lid = (unsigned)wire_get(info, PORT_INFO_LID);
        if (!lid || owner[lid] != UINT32_MAX)
            return complain(run, "LID %llu of node %llu is missing or not unique", lid, p->node);
        owner[lid] = port;
        if (wire_get(info, PORT_INFO_MASTER_SM_LID) != master_lid)
            return complain(run, "node %llu does not know the master (LID %llu)", p->node,
                            master_lid);
    }
    return true;
}

/* The network as it really is, and the tables that are really in the switches. */
static bool tables_in_order(struct run *run, const bool *part)
{
    struct network network;
    struct routes routes;
    uint32_t *index = malloc(run->topology.nodes.count * sizeof *index);
    network_init(&network);
    for (uint32_t node = 0; node < run->topology.nodes.count; node++) {
        const struct topology_node *n = &run->topology.nodes.items[node];
        index[node] = NETWORK_NONE;
        if (part[node] && is_switch(run, node))
            index[node] = network_add_switch(
                &network, n->guid,
                (uint16_t)wire_get(fabric_port_info(run->fabric, n->first_port), PORT_INFO_LID), 0,
                n->port_count);
    }
    for (uint32_t port = 0; port < run->topology.ports.count; port++) {
        const struct topology_port *p = &run->topology.ports.items[port];
        if (index[p->node] == NETWORK_NONE || p->peer == TOPOLOGY_NONE ||
            !fabric_link_is_up(run->fabric, port))
            continue;
        uint32_t far = run->topology.ports.items[p->peer].node;
        const uint8_t *info = fabric_port_info(run->fabric, p->peer);
        if (index[far] == NETWORK_NONE)
            network_add_terminal(&network, run->topology.ports.items[p->peer].guid,
                                 (uint16_t)wire_get(info, PORT_INFO_LID), 0, index[p->node],
                                 topology_port_number(&run->topology, port));
        else if (port < p->peer)
            network_link(&network, index[p->node], topology_port_number(&run->topology, port),
                         index[far], topology_port_number(&run->topology, p->peer));
    }
    bool fine = network_finish(&network) == 0 || complain(run, "LIDs overlap", 0, 0);
    routes_init(&routes, &network, "live");
    for (uint32_t node = 0; node < run->topology.nodes.count; node++) {
        if (index[node] == NETWORK_NONE)
            continue;
        unsigned top;
        const uint8_t *table = fabric_linear_table(run->fabric, node, &top);
        for (unsigned lid = 1; lid <= top && lid < routes.stride; lid++)
            routes_row(&routes, index[node])[lid] = table[lid];
    }
    struct verify_report report;
    verify_routes(&network, &routes, &(struct verify_options){0}, &report);
    if (!verify_delivers(&report))
        fine = complain(run, "%llu pairs are not delivered, %llu loops",
                        report.undelivered + report.switch_undelivered, report.loops);
    if (report.cycle.count)
        fine = complain(run, "a cycle of %llu channels", report.cycle.count, 0);
    verify_report_release(&report);
    routes_release(&routes);
    network_release(&network);
    free(index);
    return fine;
}

/* The part of the fabric around one manager's seat. */
static bool part_in_order(struct run *run, unsigned manager)
{
    bool *part = calloc(run->topology.nodes.count, sizeof *part);
    unsigned masters = 0, master_lid = 0;
    mark_part(run, run->topology.ports.items[run->seats[manager]].node, part);
    for (unsigned i = 0; i < run->managers; i++) {
        const struct sm *sm = sim_manager(run->sim, i);
        if (!sm || !part[run->topology.ports.items[run->seats[i]].node] ||
            sm_state(sm) != SM_MASTER)
            continue;
        masters++;
        master_lid =
            (unsigned)wire_get(fabric_port_info(run->fabric, run->seats[i]), PORT_INFO_LID);
        if (!sm_is_settled(sm))
            complain(run, "manager %llu is not settled", i, 0);
    }
    if (masters != 1)
        complain(run, "%llu masters around manager %llu", masters, manager);
    else if (ports_in_order(run, part, master_lid))
        tables_in_order(run, part);
    free(part);
    return !run->complaint[0];
}

static bool run_seed(uint64_t seed, bool verbose)
{
    struct run run = {.seed = seed, .verbose = verbose};
    rng_seed(&run.rng, seed, 0);
    make_network(&run);
    start_managers(&run);
    let_things_go_wrong(&run);
    if (verbose)
        printf("%14.6f ms  the faults stop\n", (double)sim_now(run.sim) / (double)TIME_MS);
    sim_run(run.sim, sim_now(run.sim) + 30 * TIME_S);
    for (unsigned i = 0; i < run.managers; i++)
        if (sim_manager(run.sim, i) && sm_state(sim_manager(run.sim, i)) == SM_MASTER)
            sim_run_until_settled(run.sim, i, sim_now(run.sim) + 2 * TIME_S); /* of a sweep */
    for (unsigned i = 0; i < run.managers; i++)
        if (sim_manager(run.sim, i))
            part_in_order(&run, i);
    if (run.complaint[0])
        printf("seed %llu: %s\n", (unsigned long long)seed, run.complaint);
    sim_free(run.sim);
    fabric_free(run.fabric);
    topology_release(&run.topology);
    return !run.complaint[0];
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
    unsigned failed = 0;
    for (uint64_t seed = first; seed < first + count; seed++)
        failed += !run_seed(seed, count == 1);
    printf("%llu runs, %u failed\n", (unsigned long long)count, failed);
    return failed != 0;
}
