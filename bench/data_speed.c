/* Speed of data packets: packet-hops per second of CPU time, one thread.
 *
 * The full model (VLs, credits, arbitration, routing units, crossbars) with 256-byte packets, two
 * VLs and 4 KiB buffers under uniform Poisson traffic, on fabrics that a manager has brought up: a
 * 4-ary 3-tree at load 0.5, an irregular network of 64 switches at 0.2, a 16-ary 3-tree and a tree
 * of 5,832 hosts at 0.3. Loads are shares of the data rate of the links.
 *
 *     data_speed [NAME [MICROSECONDS [THREADS]]]
 *
 * runs only the fabrics whose names contain NAME, for a shorter or longer time. With THREADS it
 * compares the wall-clock time of one run on so many threads with that of one thread, and with that
 * of as many runs at once, which is what the processors can do. All continue from the same warm
 * fabric, in processes of their own; the best of three counts, since machines are noisy. What does
 * not depend on the load of the machine: the CPU time of the threads, as a factor of that of one,
 * and the balance, which is the number of threads that the cut can keep busy.
 *
 * To profile the data path without the bring-up: valgrind --tool=callgrind --cache-sim=yes
 * --collect-atstart=no --toggle-collect=run_measured … */
#include "cli/workers.h"
#include "host/sim/sim.h"
#include "host/sim/sim_paths.h"
#include "topology/generators/generate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct job {
    const char *name, *kind, *engine;
    const char *const parameters[8];
    unsigned load_percent;
    uint64_t warm_up_ps, measured_ps;
};

static double cpu_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void make_topology(const struct job *job, struct topology *topology)
{
    struct err err = {0};
    size_t count = 0;
    while (job->parameters[count])
        count++;
    if (topology_generate(topology, job->kind, job->parameters, count, 1, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        exit(2);
    }
}

/* All adapters send to all. */
static void add_traffic(struct fabric *fabric, const struct topology *topology, unsigned percent)
{
    struct traffic traffic;
    traffic_init(&traffic, 256);
    for (uint32_t i = 0; i < topology->ports.count; i++)
        if (topology->nodes.items[topology->ports.items[i].node].kind != NODE_SWITCH &&
            topology->ports.items[i].peer != TOPOLOGY_NONE) {
            vec_push(&traffic.senders, i);
            vec_push(&traffic.receivers, i);
        }
    const struct topology_port *port = &topology->ports.items[traffic.senders.items[0]];
    uint64_t rate = link_data_rate(port->width, port->speed);
    traffic.interval_ps = (256 + 26) * 8 * TIME_S / rate * 100 / percent;
    traffic.sl = TRAFFIC_RANDOM_SL;
    traffic.start_ps = fabric_network_time(fabric);
    struct err err = {0};
    if (fabric_check_traffic(fabric, &traffic, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        exit(2);
    }
    fabric_add_traffic(fabric, &traffic);
    traffic_release(&traffic);
}

/* The management port of the first switch. */
static uint32_t manager_seat(const struct topology *topology)
{
    uint32_t node = 0;
    while (topology->nodes.items[node].kind != NODE_SWITCH)
        node++;
    return topology->nodes.items[node].first_port;
}

/* A function of its own, for profilers. */
__attribute__((noinline)) static double run_measured(struct sim *sim, uint64_t ps)
{
    double begin = cpu_seconds();
    sim_run(sim, sim_now(sim) + ps);
    return cpu_seconds() - begin;
}

/* ---- several threads ---- */

enum { ROUNDS = 3 };

struct outcome {
    double seconds;
    double cpu, bound; /* CPU time; the most that the cut allows, as a factor */
    uint64_t hops, trace;
};

static double wall_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* In a process that has just been forked: a tenth of the time is for its memory to be copied. */
static void run_copy(struct sim *sim, struct fabric *fabric, unsigned threads, uint64_t ps, int out)
{
    struct workers workers = workers_of_threads(threads);
    struct data_totals before, after;
    struct outcome outcome;
    fabric_set_workers(fabric, &workers);
    sim_run(sim, sim_now(sim) + ps / 10);
    fabric_data_totals(fabric, &before);
    double begin = wall_seconds(), cpu = cpu_seconds();
    sim_run(sim, sim_now(sim) + ps);
    outcome.seconds = wall_seconds() - begin;
    outcome.cpu = cpu_seconds() - cpu;
    fabric_data_totals(fabric, &after);
    struct partition_figures figures = fabric_partition_figures(fabric);
    outcome.hops = after.hops - before.hops;
    outcome.trace = fabric_trace_hash(fabric);
    outcome.bound = figures.critical ? (double)figures.events / (double)figures.critical : 1;
    _exit(write(out, &outcome, sizeof outcome) != sizeof outcome);
}

/* The slowest of several copies that run at once. */
static struct outcome run_copies(struct sim *sim, struct fabric *fabric, unsigned copies,
                                 unsigned threads, uint64_t ps)
{
    struct outcome slowest = {0}, outcome;
    int ends[2];
    if (pipe(ends) < 0)
        exit(1);
    for (unsigned i = 0; i < copies; i++)
        if (fork() == 0)
            run_copy(sim, fabric, threads, ps, ends[1]);
    for (unsigned i = 0; i < copies; i++) {
        if (read(ends[0], &outcome, sizeof outcome) != sizeof outcome || wait(NULL) < 0)
            exit(1);
        if (outcome.seconds > slowest.seconds)
            slowest = outcome;
    }
    close(ends[0]);
    close(ends[1]);
    return slowest;
}

static void take_better(struct outcome *best, struct outcome outcome)
{
    if (best->seconds == 0 || outcome.seconds < best->seconds)
        *best = outcome;
}

static void compare_threads(const struct job *job, struct sim *sim, struct fabric *fabric,
                            unsigned threads, uint64_t ps)
{
    struct outcome one = {0}, copies = {0}, several = {0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        take_better(&one, run_copies(sim, fabric, 1, 1, ps));
        take_better(&several, run_copies(sim, fabric, 1, threads, ps));
        take_better(&copies, run_copies(sim, fabric, threads, 1, ps));
    }
    double rate_one = (double)one.hops / one.seconds / 1e6;
    double rate_several = (double)several.hops / several.seconds / 1e6;
    double rate_copies = threads * (double)copies.hops / copies.seconds / 1e6;
    printf("%-34s 1 thread %5.2f M hops/s; %u threads %5.2f, %.2f times as many; %u runs at once "
           "%5.2f; %2.0f %% of that; CPU time x %.2f; balance %.2f; %s trace\n",
           job->name, rate_one, threads, rate_several, rate_several / rate_one, threads,
           rate_copies, 100 * rate_several / rate_copies, several.cpu / one.cpu, several.bound,
           one.trace == several.trace ? "same" : "ANOTHER");
}

static void run_job(const struct job *job, uint64_t measured_ps, unsigned threads)
{
    struct topology topology = {0};
    struct fabric_options options;
    struct sm_config config;
    struct err err = {0};
    make_topology(job, &topology);
    fabric_options_preset(&options, "today", &err);
    options.node.agent.data_vls = 2;
    options.node.agent.mtu = 256;
    options.node.agent.linear_entries = 8192;
    options.node.buffer_bytes = 4096;
    options.routing_shared = true;
    sm_config_init(&config);
    config.engine = engine_find(job->engine);
    struct fabric *fabric = fabric_new(&topology, &options, 1);
    struct sim *sim = sim_new(fabric);
    unsigned manager = sim_add_manager(sim, manager_seat(&topology), &config);
    if (!sim_run_until_settled(sim, manager, 100 * TIME_S)) {
        fprintf(stderr, "%s: the fabric does not come up\n", job->name);
        exit(1);
    }
    struct sim_paths *paths = sim_paths_new(sim, fabric);
    add_traffic(fabric, &topology, job->load_percent);
    sim_run(sim, sim_now(sim) + job->warm_up_ps);
    if (threads > 1) {
        compare_threads(job, sim, fabric, threads, measured_ps);
        return;
    }
    struct data_totals before, after;
    struct fabric_totals events_before, events_after;
    fabric_data_totals(fabric, &before);
    fabric_totals(fabric, &events_before);
    double seconds = run_measured(sim, measured_ps);
    fabric_data_totals(fabric, &after);
    fabric_totals(fabric, &events_after);
    if (fabric_check_data(fabric, &err) < 0) {
        fprintf(stderr, "%s: %s\n", job->name, err.message);
        exit(1);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double hops = (double)(after.hops - before.hops);
    printf("%-34s %6.2f M hops/s  %5.2f events a hop  %4.0f ns a hop  %5ld MiB  "
           "%" PRIu64 " delivered\n",
           job->name, hops / seconds / 1e6,
           (double)(events_after.events - events_before.events) / hops, seconds * 1e9 / hops,
           usage.ru_maxrss / 1024, after.delivered - before.delivered);
    sim_paths_free(paths);
    sim_free(sim);
    fabric_free(fabric);
    topology_release(&topology);
}

int main(int argc, char **argv)
{
    static const struct job jobs[] = {
        {"4-ary 3-tree, load 0.5",
         "kary",
         "updn",
         {"k=4", "n=3", "width=1x", "speed=sdr"},
         50,
         TIME_MS,
         20 * TIME_MS},
        {"irregular 64, load 0.2",
         "irregular",
         "updn",
         {"switches=64", "ports=8", "width=1x", "speed=sdr"},
         20,
         TIME_MS,
         20 * TIME_MS},
        {"16-ary 3-tree, load 0.3",
         "kary",
         "updn",
         {"k=16", "n=3", "width=1x", "speed=sdr"},
         30,
         TIME_MS,
         2 * TIME_MS},
        {"tree of 5,832 hosts, load 0.3",
         "fattree",
         "updn",
         {"size=5832", "width=1x", "speed=sdr"},
         30,
         TIME_MS,
         TIME_MS},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
        if (argc < 2 || strstr(jobs[i].name, argv[1]))
            run_job(&jobs[i],
                    argc < 3 ? jobs[i].measured_ps : strtoull(argv[2], NULL, 10) * TIME_US,
                    argc < 4 ? 1 : (unsigned)strtoul(argv[3], NULL, 10));
    return 0;
}
