/* compute_price: the time of one counted operation of the computation of routes on this machine.
 *
 * Simulations charge operations (routing/engine/engine.h) at the price of the fabric attribute
 * `compute`. This program prints the measurements for the preset `today`: nanoseconds per operation
 * for each engine, for the check of its tables and for the order of their updates, on networks of
 * the papers' sizes and on fat trees; and the steps of the papers' own algorithms. */
#include "routing/check/verify.h"
#include "routing/engine/engine.h"
#include "routing/paper/published.h"
#include "routing/update/make_plan.h"
#include "topology/generators/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WORDS = 3, ENOUGH_NS = 50000000 };

static const struct shape {
    const char *kind, *words[WORDS];
    uint8_t lmc;
} shapes[] = {
    {"irregular", {"switches=8", "hosts=7", "ports=4"}, 4},
    {"irregular", {"switches=16", "hosts=14", "ports=4"}, 4},
    {"irregular", {"switches=24", "hosts=22", "ports=4"}, 4},
    {"irregular", {"switches=32", "hosts=40", "ports=4"}, 4},
    {"irregular", {"switches=48", "hosts=64", "ports=4"}, 4},
    {"irregular", {"switches=64", "hosts=82", "ports=4"}, 4},
    {"fattree", {"size=324", NULL, NULL}, 0},
    {"fattree", {"size=5832", NULL, NULL}, 0},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void build(const struct shape *shape, uint8_t lmc, struct network *network)
{
    struct topology topology;
    struct err err = {0};
    size_t count = 0;
    while (count < WORDS && shape->words[count])
        count++;
    topology_init(&topology);
    if (topology_generate(&topology, shape->kind, shape->words, count, 1, &err) != 0 ||
        network_from_topology_lmc(network, &topology, lmc, &err) != 0) {
        fprintf(stderr, "compute_price: %s\n", err.message);
        exit(2);
    }
    topology_release(&topology);
}

/* One line: the operations, and the mean time over as many runs as make the clock reliable. */
static void report(const char *what, uint64_t operations, uint64_t ns, uint64_t runs,
                   uint64_t steps)
{
    printf("  %-10s %12llu operations %12.1f us %6.2f ns each", what,
           (unsigned long long)operations, (double)ns / (double)runs / 1e3,
           (double)ns / (double)runs / (double)(operations ? operations : 1));
    if (steps)
        printf(" %12llu steps in the papers", (unsigned long long)steps);
    printf("\n");
}

static bool compute(const struct network *network, const struct engine *engine,
                    struct routes *routes)
{
    struct engine_options options = {.allow_cycles = true};
    struct err err = {0};
    if (engine->compute(network, &options, routes, &err) == 0)
        return true;
    printf("  %-10s %s\n", engine->name, err.message);
    return false;
}

static void measure_engine(const struct network *network, const struct engine *engine)
{
    struct routes routes;
    uint64_t runs = 0, operations = 0, begin = now_ns(), ns;
    do {
        if (!compute(network, engine, &routes))
            return;
        operations = routes.operations;
        routes_release(&routes);
        runs++;
        ns = now_ns() - begin;
    } while (ns < ENOUGH_NS);
    report(engine->name, operations, ns, runs,
           published_steps(network, engine, &(struct engine_options){0}));
}

static void measure_check(const struct network *network)
{
    struct routes routes;
    struct verify_report checked;
    uint64_t runs = 0, begin, ns;
    if (!compute(network, &engine_fera, &routes))
        return;
    begin = now_ns();
    do {
        verify_routes(network, &routes, &(struct verify_options){0}, &checked);
        verify_report_release(&checked);
        runs++;
        ns = now_ns() - begin;
    } while (ns < ENOUGH_NS);
    report("(check)", verify_operations(network, &routes), ns, runs, 0);
    routes_release(&routes);
}

static void measure_order(const struct network *network, const struct engine *from,
                          const struct engine *to, const char *what)
{
    struct routes before, after;
    struct update_plan plan;
    uint64_t runs = 0, operations, begin, ns;
    if (!compute(network, from, &before) || !compute(network, to, &after))
        return;
    begin = now_ns();
    do {
        update_plan_make(&plan, network, &before, &after);
        operations = plan.operations;
        update_plan_release(&plan);
        runs++;
        ns = now_ns() - begin;
    } while (ns < ENOUGH_NS);
    report(what, operations, ns, runs, 0);
    routes_release(&before);
    routes_release(&after);
}

int main(void)
{
    for (size_t i = 0; i < SHAPES; i++) {
        const struct engine *engine;
        struct network network;
        printf("%s %s\n", shapes[i].kind, shapes[i].words[0]);
        build(&shapes[i], 0, &network);
        for (size_t e = 0; (engine = engine_at(e)); e++)
            if (!engine->provisional && !engine->renames)
                measure_engine(&network, engine);
        measure_check(&network);
        measure_order(&network, &engine_pira, &engine_fera, "(order)");
        measure_order(&network, &engine_fera, &engine_pira, "(back)");
        network_release(&network);
        if (shapes[i].lmc) {
            build(&shapes[i], shapes[i].lmc, &network);
            measure_engine(&network, &engine_dr);
            network_release(&network);
        }
    }
    return 0;
}
