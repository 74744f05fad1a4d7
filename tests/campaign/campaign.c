/* campaign [FIRST [COUNT [hard]]]: managers under random faults, seed by seed, all in virtual time.
 *
 * Each run makes a network, starts one to three managers, and lets things go wrong for a while:
 * SMPs are lost, links and switches go and come back, managers die. Then the faults stop, and after
 * a while every part of the fabric that still has a manager must be in order
 * (src/experiment/check/checks.h): one master, whose standbys stay standbys, everything that is
 * connected known and configured, LIDs unique, all pairs reachable through the tables that are
 * really in the switches, and no cycle of dependencies. A run that fails prints its seed; `campaign
 * SEED 1` replays it with the managers' events. */
#include "base/rng.h"
#include "base/time.h"
#include "experiment/check/checks.h"
#include "topology/generators/generate.h"

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
    struct manager_instance seats[MANAGERS_MOST];
    unsigned managers, alive;
    enum sm_state states[64]; /* by number of a manager; restarted ones have new numbers */
    unsigned state_changes;
    bool verbose, hard;
    struct sm_config config; /* of the last manager */
};

static void listen(void *context, uint64_t now, unsigned manager, const struct sm_event *event)
{
    struct run *run = context;
    char time[TIME_TEXT_BYTES];
    enum sm_state state = sm_state(sim_manager(run->sim, manager));
    run->state_changes += state != run->states[manager % 64];
    run->states[manager % 64] = state;
    if (run->verbose)
        printf("%12s  [%u] %s\n", time_text(now, time), manager, event->text);
}

static bool is_switch(const struct run *run, uint32_t node)
{
    return run->topology.nodes.items[node].kind == NODE_SWITCH;
}

static void make_network(struct run *run)
{
    char switches[32], ports[32], hosts[32];
    unsigned count = 4 + (unsigned)rng_below(&run->rng, 29);
    unsigned radix = 4 + (unsigned)rng_below(&run->rng, 9);
    snprintf(switches, sizeof switches, "switches=%u", count);
    snprintf(ports, sizeof ports, "ports=%u", radix);
    snprintf(hosts, sizeof hosts, "hosts=%u", 3 + (unsigned)rng_below(&run->rng, count));
    const char *words[] = {switches, ports, hosts, "speed=SDR"};
    struct err err = {0};
    topology_init(&run->topology);
    if (topology_generate(&run->topology, "irregular", words, 4, run->seed, &err) != 0) {
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
    config.sweep_ns = 1 * NS_PER_S;
    config.timeout_ns = 20 * NS_PER_MS;
    config.watch_ports = 64; /* as weft sm */
    for (uint32_t node = 0; node < run->topology.nodes.count && run->managers < wanted; node++) {
        if (is_switch(run, node) && run->managers)
            continue;
        uint32_t port = run->topology.nodes.items[node].first_port + !is_switch(run, node);
        config.priority = (uint8_t)rng_below(&run->rng, 3);
        run->seats[run->managers].port = port;
        run->seats[run->managers].manager = sim_add_manager(run->sim, port, &config);
        run->managers++;
    }
    run->alive = run->managers;
    run->config = config;
}

static bool hosts_manager(const struct run *run, uint32_t node)
{
    for (unsigned i = 0; i < run->managers; i++)
        if (run->topology.ports.items[run->seats[i].port].node == node)
            return true;
    return false;
}

static void kill_one(struct run *run)
{
    if (run->alive < 2 || rng_below(&run->rng, 4) != 0)
        return;
    unsigned victim = (unsigned)rng_below(&run->rng, run->managers);
    victim = run->seats[victim].manager;
    run->alive -= sim_manager(run->sim, victim) != NULL;
    sim_kill_manager(run->sim, victim);
}

static void restart_one(struct run *run)
{
    unsigned victim = (unsigned)rng_below(&run->rng, run->managers);
    run->alive += sim_manager(run->sim, run->seats[victim].manager) == NULL;
    sim_kill_manager(run->sim, run->seats[victim].manager);
    run->seats[victim].manager = sim_add_manager(run->sim, run->seats[victim].port, &run->config);
}

static uint64_t own_guid(const struct run *run, uint32_t node)
{
    return run->topology.nodes.items[node].guid;
}

static void one_hard_fault(struct run *run, uint32_t node)
{
    uint32_t other = (uint32_t)rng_below(&run->rng, run->topology.nodes.count);
    switch (rng_below(&run->rng, 4)) {
    case 0: fabric_set_agent_delay(run->fabric, node, TIME_NEVER, NULL); break;
    case 1: fabric_set_agent_delay(run->fabric, node, 0, NULL); break;
    case 2:
        if (!hosts_manager(run, node) && is_switch(run, node) == is_switch(run, other))
            fabric_set_guid(run->fabric, node, own_guid(run, other), NULL);
        break;
    default: restart_one(run);
    }
}

static void end_hard_faults(struct run *run)
{
    for (uint32_t node = 0; node < run->topology.nodes.count; node++) {
        fabric_set_agent_delay(run->fabric, node, 0, NULL);
        fabric_set_guid(run->fabric, node, own_guid(run, node), NULL);
    }
}

static void one_fault(struct run *run)
{
    uint32_t port = (uint32_t)rng_below(&run->rng, run->topology.ports.count);
    uint32_t node = (uint32_t)rng_below(&run->rng, run->topology.nodes.count);
    if (run->hard && rng_below(&run->rng, 3) == 0) {
        one_hard_fault(run, node);
        return;
    }
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
    case 7: kill_one(run); break;
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
    if (run->hard)
        end_hard_faults(run);
    for (uint32_t port = 0; port < run->topology.ports.count; port++)
        if (rng_below(&run->rng, 4) != 0 && run->topology.ports.items[port].peer != TOPOLOGY_NONE)
            fabric_set_link(run->fabric, port, true, NULL);
}

/* A sweep may be under way at the very moment of the check: it gets the time to end. */
static bool comes_to_order(struct run *run, struct complaint *complaint)
{
    const struct check_view view = {.fabric = run->fabric,
                                    .sim = run->sim,
                                    .instances = run->seats,
                                    .instance_count = run->managers,
                                    .may_wait = true};
    sim_run(run->sim, sim_now(run->sim) + (run->hard ? 60 : 20) * TIME_S);
    run->state_changes = 0;
    sim_run(run->sim, sim_now(run->sim) + 10 * TIME_S);
    if (run->state_changes)
        return complain(complaint, "managers change their states for ever");
    for (unsigned i = 0; i < run->managers; i++) {
        const struct sm *sm = sim_manager(run->sim, run->seats[i].manager);
        if (sm && sm_state(sm) == SM_MASTER)
            sim_run_until_settled(run->sim, run->seats[i].manager, sim_now(run->sim) + 2 * TIME_S);
    }
    return check_in_order(&view, complaint);
}

static bool run_seed(uint64_t seed, bool verbose, bool hard)
{
    struct run run = {.seed = seed, .verbose = verbose, .hard = hard};
    struct complaint complaint;
    char time[TIME_TEXT_BYTES];
    rng_seed(&run.rng, seed, 0);
    make_network(&run);
    start_managers(&run);
    let_things_go_wrong(&run);
    if (verbose)
        printf("%12s  the faults stop\n", time_text(sim_now(run.sim), time));
    bool fine = comes_to_order(&run, &complaint);
    if (!fine)
        printf("seed %llu: %s\n", (unsigned long long)seed, complaint.text);
    if (verbose)
        printf("trace %016llx\n", (unsigned long long)fabric_trace_hash(run.fabric));
    sim_free(run.sim);
    fabric_free(run.fabric);
    topology_release(&run.topology);
    return fine;
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
    bool hard = argc > 3 && strcmp(argv[3], "hard") == 0;
    unsigned failed = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        failed += !run_seed(seed, count == 1, hard);
        fflush(stdout);
    }
    printf("%llu runs, %u failed\n", (unsigned long long)count, failed);
    return failed != 0;
}
