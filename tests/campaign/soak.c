/* soak [HOURS [SEED [FROM-MINUTE]]]: a long time in virtual time, with a fault every minute.
 *
 * 64 switches, 32 adapters, two managers. Every minute one thing goes wrong: a link or a switch
 * goes or comes back, a port flaps, an agent falls silent and is healed, SMPs are lost for a while,
 * the master is killed and started again. Before the next fault the fabric must be in order. The
 * memory in use is printed now and then: what managers and agents know must not grow with what has
 * happened. Fails when something is not in order, or when the last hour needs more memory than the
 * first quarter did. */
#include "base/rng.h"
#include "base/time.h"
#include "experiment/check/checks.h"
#include "topology/generators/generate.h"

#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MINUTES_AN_HOUR = 60, REPORTS = 12, MANAGERS = 2 };
#define MINUTE (60 * TIME_S)
#define SLACK  ((size_t)512 * 1024) /* of the allocator: its fragments differ from time to time */

struct soak {
    struct rng rng;
    struct topology topology;
    struct fabric *fabric;
    struct sim *sim;
    struct sm_config config;
    struct manager_instance seats[MANAGERS];
    bool *silent;
    bool verbose;
};

static void listen(void *context, uint64_t now, unsigned manager, const struct sm_event *event)
{
    const struct soak *soak = context;
    char time[TIME_TEXT_BYTES];
    if (soak->verbose)
        printf("%14s  [%u] %s\n", time_text(now, time), manager, event->text);
}

/* ---- the world ---- */

static void start_manager(struct soak *soak, unsigned seat)
{
    soak->config.priority = (uint8_t)(MANAGERS - seat);
    soak->seats[seat].manager = sim_add_manager(soak->sim, soak->seats[seat].port, &soak->config);
}

static void set_up(struct soak *soak, uint64_t seed)
{
    const char *words[] = {"switches=64", "ports=8", "hosts=32", "speed=SDR"};
    struct fabric_options options;
    struct err err = {0};
    unsigned seats = 0;
    rng_seed(&soak->rng, seed, 0);
    topology_init(&soak->topology);
    if (topology_generate(&soak->topology, "irregular", words, 4, seed, &err) != 0) {
        fprintf(stderr, "soak: %s\n", err.message);
        exit(2);
    }
    fabric_options_preset(&options, "today", &err);
    soak->fabric = fabric_new(&soak->topology, &options, seed);
    soak->sim = sim_new(soak->fabric);
    sim_set_listener(soak->sim, &(struct sim_listener){.context = soak, .event = listen});
    soak->silent = mem_zalloc(soak->topology.nodes.count, sizeof *soak->silent);
    sm_config_init(&soak->config);
    for (uint32_t node = 0; node < soak->topology.nodes.count && seats < MANAGERS; node++)
        if (soak->topology.nodes.items[node].kind == NODE_ADAPTER) {
            soak->seats[seats].port = soak->topology.nodes.items[node].first_port + 1;
            start_manager(soak, seats++);
        }
}

static void tear_down(struct soak *soak)
{
    sim_free(soak->sim);
    fabric_free(soak->fabric);
    topology_release(&soak->topology);
    mem_free(soak->silent);
}

/* ---- faults ---- */

static uint32_t any_switch(struct soak *soak)
{
    for (;;) {
        uint32_t node = (uint32_t)rng_below(&soak->rng, soak->topology.nodes.count);
        if (soak->topology.nodes.items[node].kind == NODE_SWITCH)
            return node;
    }
}

/* A link between switches, so that the managers stay connected with something. */
static uint32_t any_link(struct soak *soak)
{
    for (;;) {
        uint32_t port = (uint32_t)rng_below(&soak->rng, soak->topology.ports.count);
        uint32_t peer = soak->topology.ports.items[port].peer;
        if (peer != TOPOLOGY_NONE &&
            soak->topology.nodes.items[soak->topology.ports.items[port].node].kind == NODE_SWITCH &&
            soak->topology.nodes.items[soak->topology.ports.items[peer].node].kind == NODE_SWITCH)
            return port;
    }
}

static const char *change_manager(struct soak *soak)
{
    unsigned seat = (unsigned)rng_below(&soak->rng, MANAGERS);
    const struct sm *other = sim_manager(soak->sim, soak->seats[!seat].manager);
    if (!sim_manager(soak->sim, soak->seats[seat].manager)) {
        start_manager(soak, seat);
        return "a manager starts";
    }
    if (!other)
        return "a manager is spared";
    sim_kill_manager(soak->sim, soak->seats[seat].manager);
    return "a manager dies";
}

/* The agent falls silent for twenty seconds: it may be thought gone, and is found again. */
static const char *change_agent(struct soak *soak)
{
    uint32_t node = any_switch(soak);
    fabric_set_agent_delay(soak->fabric, node, TIME_NEVER, NULL);
    sim_run(soak->sim, sim_now(soak->sim) + 20 * TIME_S);
    fabric_set_agent_delay(soak->fabric, node, 0, NULL);
    return "an agent was silent for 20 s";
}

static const char *lose_some(struct soak *soak)
{
    fabric_set_loss(soak->fabric, TOPOLOGY_NONE, 0, RNG_CERTAIN / 50, NULL);
    fabric_flap_port(soak->fabric, any_link(soak), NULL);
    sim_run(soak->sim, sim_now(soak->sim) + 20 * TIME_S);
    fabric_set_loss(soak->fabric, TOPOLOGY_NONE, 0, 0, NULL);
    return "SMPs were lost for 20 s, and a port flapped";
}

static const char *one_fault(struct soak *soak)
{
    switch (rng_below(&soak->rng, 10)) {
    case 0:
    case 1: fabric_set_link(soak->fabric, any_link(soak), false, NULL); return "a link fails";
    case 2:
    case 3:
    case 4: fabric_set_link(soak->fabric, any_link(soak), true, NULL); return "a link is mended";
    case 5: fabric_set_node(soak->fabric, any_switch(soak), false, NULL); return "a switch dies";
    case 6:
        for (uint32_t node = 0; node < soak->topology.nodes.count; node++)
            fabric_set_node(soak->fabric, node, true, NULL);
        return "all switches are back";
    case 7: return change_manager(soak);
    case 8: return change_agent(soak);
    default: return lose_some(soak);
    }
}

/* ---- memory ---- */

static size_t resident_bytes(void)
{
    unsigned long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file || fscanf(file, "%lu %lu", &total, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* What is allocated and not freed; 0 where the allocator does not tell, as under a sanitizer. */
static size_t allocated_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* ---- all of it ---- */

static bool in_order(struct soak *soak, struct complaint *complaint)
{
    const struct check_view view = {soak->fabric, soak->sim,    soak->seats,
                                    MANAGERS,     soak->silent, false};
    for (unsigned tries = 0; tries < 10; tries++) { /* a sweep may be under way */
        if (check_in_order(&view, complaint))
            return true;
        sim_run(soak->sim, sim_now(soak->sim) + TIME_S / 10);
    }
    return false;
}

int main(int argc, char **argv)
{
    unsigned hours = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 24;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    unsigned verbose_from = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : UINT_MAX;
    unsigned minutes = hours * MINUTES_AN_HOUR, failed = 0;
    size_t early = 0, late = 0;
    struct soak soak = {0};
    set_up(&soak, seed);
    for (unsigned minute = 1; minute <= minutes; minute++) {
        struct complaint complaint;
        soak.verbose = minute >= verbose_from;
        sim_run(soak.sim, minute * MINUTE);
        if (!in_order(&soak, &complaint)) {
            failed++;
            printf("minute %u: %s\n", minute, complaint.text);
        }
        size_t bytes = allocated_bytes();
        size_t *most = minute <= minutes / 4 ? &early : &late;
        *most = bytes > *most ? bytes : *most;
        if (minute % (minutes / REPORTS ? minutes / REPORTS : 1) == 0)
            printf("%5u min: %6zu KiB resident, %6zu KiB allocated\n", minute,
                   resident_bytes() / 1024, bytes / 1024);
        const char *fault = one_fault(&soak);
        if (soak.verbose)
            printf("minute %u: %s\n", minute, fault);
        fflush(stdout);
    }
    bool flat = late <= early + SLACK;
    printf(
        "%u faults, %u failed; memory %s (%zu KiB at most in the first quarter, %zu KiB later)\n",
        minutes, failed, flat ? "flat" : "GROWS", early / 1024, late / 1024);
    tear_down(&soak);
    return failed || !flat;
}
