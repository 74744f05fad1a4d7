/* vswitch_move [HOSTS VFS]: CPU time of the plan of one migration, over random moves on a fat tree,
 * by swapping and by copying, compared with the time of the routes. */
#include "base/rng.h"
#include "routing/engine/engine.h"
#include "routing/update/columns.h"
#include "topology/generators/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOVES = 1000 };

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void measure(const struct network *network, const struct routes *routes, bool swap,
                    bool minimal)
{
    struct rng rng;
    double sum = 0, most = 0;
    uint64_t smps = 0;
    uint32_t dearest = 0;
    rng_seed(&rng, 1, 0);
    for (unsigned i = 0; i < MOVES; i++) {
        const struct network_terminal *terminals = network->terminals.items;
        const struct network_terminal *one = &terminals[rng_below(&rng, network->terminals.count)];
        const struct network_terminal *other =
            &terminals[rng_below(&rng, network->terminals.count)];
        const struct column_move move = {
            .lid = one->lid, .like = other->lid, .span = 1, .swap = swap, .minimal = minimal};
        struct update_plan plan;
        bool ranked;
        double begin = cpu_seconds();
        columns_plan(&plan, network, routes, &move, false, &ranked);
        double took = cpu_seconds() - begin;
        sum += took;
        most = took > most ? took : most;
        uint32_t blocks = columns_blocks(&plan);
        smps += blocks;
        dearest = blocks > dearest ? blocks : dearest;
        update_plan_release(&plan);
    }
    printf("  %-5s %-9s %8.1f us a move, %8.1f us at most; %7.1f SMPs, %5u at most\n",
           swap ? "swap" : "copy", minimal ? "minimal" : "balanced", sum / MOVES * 1e6, most * 1e6,
           (double)smps / MOVES, dearest);
}

/* Functions share the port of their hypervisor; their LIDs follow all other LIDs. */
static void add_functions(struct network *network, unsigned vfs)
{
    uint32_t hosts = (uint32_t)network->terminals.count;
    uint16_t lid = (uint16_t)network->top_lid;
    for (uint32_t host = 0; host < hosts; host++)
        for (unsigned v = 1; v <= vfs; v++)
            network_share_terminal(network, ((uint64_t)v << 32) + host, ++lid, 0, host);
    network_finish(network);
}

static int prepare(struct network *network, struct routes *routes, const char *hosts, unsigned vfs,
                   struct err *err)
{
    struct topology topology;
    struct engine_options options = {0};
    topology_init(&topology);
    int status = topology_generate(&topology, "fattree", &hosts, 1, 1, err);
    if (status == 0)
        status = network_from_topology(network, &topology, err);
    topology_release(&topology);
    if (status)
        return status;
    add_functions(network, vfs);
    double begin = cpu_seconds();
    status = engine_find("updn")->compute(network, &options, routes, err);
    printf("%s hosts with %u functions: %zu switches, %u LIDs; routes anew %.1f ms\n", hosts, vfs,
           network->switches.count, network->top_lid, (cpu_seconds() - begin) * 1e3);
    return status;
}

int main(int argc, char **argv)
{
    struct network network;
    struct routes routes;
    struct err err = {0};
    unsigned vfs = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 3;
    if (prepare(&network, &routes, argc > 1 ? argv[1] : "11664", vfs, &err)) {
        fprintf(stderr, "vswitch_move: %s\n", err.message);
        return 1;
    }
    for (unsigned i = 0; i < 4; i++)
        measure(&network, &routes, i < 2, i & 1);
    routes_release(&routes);
    network_release(&network);
    return 0;
}
