/* campaign [FIRST [COUNT [hard]]]: managers under random faults, seed by seed, all in virtual time.
 *
 * Each run makes a network, starts one to three managers, and lets things go wrong for a while:
 * SMPs are lost, links and switches go and come back, managers die. Then the faults stop, and after
 * a while every part of the fabric that still has a manager must be in order
 * (src/experiment/check/checks.h): one master, whose standbys stay standbys, everything that is
 * connected known and configured, LIDs unique, all pairs reachable through the tables that are
 * really in the switches, and no cycle of dependencies. A run that fails prints its seed; `campaign
 * SEED 1` replays it with the managers' events. */
#include "faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run {
    struct driver driver;
    enum sm_state states[64]; /* by number of a manager; restarted ones have new numbers */
    unsigned state_changes;
    bool verbose, hard;
};

static void listen(void *context, uint64_t now, unsigned manager, const struct sm_event *event)
{
    struct run *run = context;
    char time[TIME_TEXT_BYTES];
    enum sm_state state = sm_state(sim_manager(run->driver.sim, manager));
    run->state_changes += state != run->states[manager % 64];
    run->states[manager % 64] = state;
    if (run->verbose)
        printf("%12s  [%u] %s\n", time_text(now, time), manager, event->text);
}

static void make_network(struct run *run, uint64_t seed)
{
    char switches[32], ports[32], hosts[32];
    struct rng *rng = &run->driver.rng;
    unsigned count = 4 + (unsigned)rng_below(rng, 29);
    snprintf(switches, sizeof switches, "switches=%u", count);
    snprintf(ports, sizeof ports, "ports=%u", 4 + (unsigned)rng_below(rng, 9));
    snprintf(hosts, sizeof hosts, "hosts=%u", 3 + (unsigned)rng_below(rng, count));
    const char *words[] = {switches, ports, hosts, "speed=SDR"};
    driver_open(&run->driver, words, 4, seed,
                &(struct sim_listener){.context = run, .event = listen});
}

static void start_managers(struct driver *driver)
{
    static const struct engine *const engines[] = {&engine_updn, &engine_fera, &engine_pira};
    const struct topology *topology = &driver->topology;
    unsigned wanted = 1 + (unsigned)rng_below(&driver->rng, MANAGERS_MOST);
    driver->config.engine = engines[rng_below(&driver->rng, 3)];
    driver->config.sweep_ns = 1 * NS_PER_S;
    driver->config.timeout_ns = 20 * NS_PER_MS;
    driver->config.watch_ports = 64; /* as weft sm */
    for (uint32_t node = 0; node < topology->nodes.count && driver->managers < wanted; node++) {
        bool is_switch = topology->nodes.items[node].kind == NODE_SWITCH;
        if (!is_switch || !driver->managers)
            driver_add_manager(driver, topology->nodes.items[node].first_port + !is_switch,
                               (uint8_t)rng_below(&driver->rng, 3));
    }
}

static void one_fault(struct run *run)
{
    static const enum fault usual[] = {FAULT_LINK_DOWN, FAULT_LINK_DOWN,   FAULT_LINK_UP,
                                       FAULT_LINK_UP,   FAULT_FLAP,        FAULT_SWITCH_DOWN,
                                       FAULT_NODE_UP,   FAULT_MANAGER_DIES};
    static const enum fault hard[] = {FAULT_SILENT_AGENT, FAULT_AGENT_BACK, FAULT_GUID_TWICE,
                                      FAULT_MANAGER_RESTARTS};
    struct driver *driver = &run->driver;
    struct target target = driver_any_target(driver);
    bool is_hard = run->hard && rng_below(&driver->rng, 3) == 0;
    if (is_hard)
        target.other = (uint32_t)rng_below(&driver->rng, driver->topology.nodes.count);
    driver_strike(driver,
                  is_hard ? hard[rng_below(&driver->rng, 4)] : usual[rng_below(&driver->rng, 8)],
                  target);
}

static void let_things_go_wrong(struct run *run)
{
    struct driver *driver = &run->driver;
    /* Up to 2 % on each link and way: up to a fifth of the SMPs over five hops and back. */
    driver_lose_smps(driver, rng_below(&driver->rng, RNG_CERTAIN / 50));
    unsigned faults = 3 + (unsigned)rng_below(&driver->rng, 30);
    for (unsigned i = 0; i < faults; i++) {
        driver_run(driver, rng_below(&driver->rng, 200 * TIME_MS));
        one_fault(run);
    }
    driver_lose_smps(driver, 0);
    if (run->hard)
        driver_heal_nodes(driver);
    for (uint32_t port = 0; port < driver->topology.ports.count; port++)
        if (rng_below(&driver->rng, 4) != 0 &&
            driver->topology.ports.items[port].peer != TOPOLOGY_NONE)
            driver_strike(driver, FAULT_LINK_UP, (struct target){.port = port});
}

/* A sweep may be under way at the very moment of the check: it gets the time to end. */
static bool comes_to_order(struct run *run, struct check_failure *failure)
{
    const struct check_view view = {.fabric = run->driver.fabric,
                                    .sim = run->driver.sim,
                                    .instances = run->driver.seats,
                                    .instance_count = run->driver.managers,
                                    .may_wait = true};
    driver_run(&run->driver, (run->hard ? 60 : 20) * TIME_S);
    run->state_changes = 0;
    driver_run(&run->driver, 10 * TIME_S);
    if (run->state_changes)
        return check_fail(failure, "managers change their states for ever");
    for (unsigned i = 0; i < run->driver.managers; i++) {
        const struct sm *sm = sim_manager(run->driver.sim, run->driver.seats[i].manager);
        if (sm && sm_state(sm) == SM_MASTER)
            sim_run_until_settled(run->driver.sim, run->driver.seats[i].manager,
                                  sim_now(run->driver.sim) + 2 * TIME_S);
    }
    return check_in_order(&view, failure);
}

static bool run_seed(uint64_t seed, bool verbose, bool hard)
{
    struct run run = {.verbose = verbose, .hard = hard};
    struct check_failure failure;
    char time[TIME_TEXT_BYTES];
    rng_seed(&run.driver.rng, seed, 0);
    make_network(&run, seed);
    start_managers(&run.driver);
    let_things_go_wrong(&run);
    if (verbose)
        printf("%12s  the faults stop\n", time_text(sim_now(run.driver.sim), time));
    bool fine = comes_to_order(&run, &failure);
    if (!fine)
        printf("seed %llu: %s\n", (unsigned long long)seed, failure.text);
    if (verbose)
        printf("trace %016llx\n", (unsigned long long)fabric_trace_hash(run.driver.fabric));
    driver_close(&run.driver);
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
