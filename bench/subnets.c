/* subnets [HOSTS [SUBNETS [ROUTERS [QUERIES]]]]: a fabric of several fat trees joined by routers,
 * in virtual time: the topology, the bring-up of each subnet by its own manager, and path queries
 * from hosts to hosts of other subnets, whose answers must be paths by a router.
 *
 * By default ten trees of 11,664 hosts and two routers. Prints virtual time, CPU time of this
 * process (fabric, managers and hosts) and peak memory after each step. */
#include "base/rng.h"
#include "base/time.h"
#include "host/sim/sim_clients.h"
#include "topology/generators/generate.h"
#include "topology/generators/join.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

struct bench {
    struct topology topology;
    struct fabric *fabric;
    struct sim *sim;
    struct sm_config *configs;
    uint32_t hosts, subnets, routers, queries;
    double cpu;
};

static void die(const char *what)
{
    fprintf(stderr, "subnets: %s\n", what);
    exit(1);
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void report(struct bench *bench, const char *step)
{
    struct rusage usage;
    double now = cpu_seconds();
    getrusage(RUSAGE_SELF, &usage);
    printf("%-12s %8.3f s simulated, %8.1f s CPU, %6ld MB\n", step,
           bench->sim ? (double)sim_now(bench->sim) / TIME_S : 0.0, now - bench->cpu,
           usage.ru_maxrss / 1024);
    fflush(stdout);
    bench->cpu = cpu_seconds();
}

static void make_fabric(struct bench *bench)
{
    char size[32];
    const char *const words[] = {size, "ports=37"};
    struct topology *parts = calloc(bench->subnets, sizeof *parts);
    struct fabric_options options;
    struct err err;
    snprintf(size, sizeof size, "%u", bench->hosts);
    for (uint32_t i = 0; i < bench->subnets; i++) {
        topology_init(&parts[i]);
        if (topology_generate(&parts[i], "fattree", words, 2, 1, &err) < 0)
            die(err.message);
    }
    topology_init(&bench->topology);
    if (topology_join(&bench->topology, parts, bench->subnets, JOIN_STAR, bench->routers, &err) < 0)
        die(err.message);
    for (uint32_t i = 0; i < bench->subnets; i++)
        topology_release(&parts[i]);
    free(parts);
    report(bench, "topology");
    if (fabric_options_preset(&options, "today", &err) < 0)
        die(err.message);
    bench->fabric = fabric_new(&bench->topology, &options, 1);
    bench->sim = sim_new(bench->fabric);
    report(bench, "fabric");
}

static uint32_t host(const struct bench *bench, uint32_t subnet, uint32_t number)
{
    char name[32];
    snprintf(name, sizeof name, "%c.H%u", (char)('a' + subnet), number);
    uint32_t node = topology_find(&bench->topology, name);
    if (node == TOPOLOGY_NONE)
        die("a host is missing");
    return topology_port_index(&bench->topology, node, 1);
}

static void bring_up(struct bench *bench)
{
    struct sim_administration_options administration;
    bool settled = false;
    sim_administration_options_init(&administration);
    sim_add_administrations(bench->sim, &administration);
    bench->configs = calloc(bench->subnets, sizeof *bench->configs);
    for (uint32_t i = 0; i < bench->subnets; i++) {
        sm_config_init(&bench->configs[i]);
        bench->configs[i].subnet_prefix = GID_PREFIX_SITE | (i + 1);
        sim_add_manager(bench->sim, host(bench, i, 0), &bench->configs[i]);
    }
    while (!settled && sim_now(bench->sim) < 1000 * TIME_S) {
        sim_run(bench->sim, sim_now(bench->sim) + 100 * TIME_MS);
        settled = true;
        for (uint32_t i = 0; i < bench->subnets; i++)
            settled &= sm_is_settled(sim_manager(bench->sim, i));
    }
    if (!settled)
        die("a subnet does not come up");
    report(bench, "bring-up");
    sim_run(bench->sim, sim_now(bench->sim) + 3 * TIME_S); /* routers are read once a second */
    report(bench, "routers");
}

static void query(struct bench *bench)
{
    struct sim_clients *clients = sim_clients_new(bench->sim, bench->fabric);
    uint32_t *numbers = calloc(bench->queries + 1, sizeof *numbers);
    struct rng rng;
    uint32_t answered = 0;
    rng_seed(&rng, 1, 1);
    for (uint32_t i = 0; i < bench->queries; i++) {
        uint32_t from = (uint32_t)rng_below(&rng, bench->subnets);
        uint32_t to = (from + 1 + (uint32_t)rng_below(&rng, bench->subnets - 1)) % bench->subnets;
        numbers[i] =
            sim_clients_path(clients, host(bench, from, (uint32_t)rng_below(&rng, bench->hosts)),
                             host(bench, to, (uint32_t)rng_below(&rng, bench->hosts)), 0);
    }
    sim_clients_run(clients, sim_now(bench->sim) + 60 * TIME_S);
    for (uint32_t i = 0; i < bench->queries; i++) {
        const struct sim_query *one = sim_clients_query(clients, numbers[i]);
        answered += one->state == SIM_ANSWERED && one->status == 0 &&
                    wire_get(one->answer + SA_DATA_OFFSET, PATH_RECORD_HOP_LIMIT) > 1;
    }
    report(bench, "queries");
    printf("%u of %u paths to other subnets answered\n", answered, bench->queries);
    free(numbers);
    sim_clients_free(clients);
    if (answered < bench->queries)
        die("a path is missing");
}

static uint32_t argument(int argc, char **argv, int index, uint32_t standard)
{
    return index < argc ? (uint32_t)strtoul(argv[index], NULL, 10) : standard;
}

int main(int argc, char **argv)
{
    struct bench bench = {.hosts = argument(argc, argv, 1, 11664),
                          .subnets = argument(argc, argv, 2, 10),
                          .routers = argument(argc, argv, 3, 2),
                          .queries = argument(argc, argv, 4, 1000)};
    if (bench.subnets < 2 || bench.subnets > JOIN_PARTS)
        die("expected 2 to 26 subnets");
    printf("%u subnets of %u hosts, %u routers\n", bench.subnets, bench.hosts, bench.routers);
    make_fabric(&bench);
    bring_up(&bench);
    query(&bench);
    sim_free(bench.sim);
    fabric_free(bench.fabric);
    topology_release(&bench.topology);
    free(bench.configs);
    return 0;
}
