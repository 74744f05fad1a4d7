/* Every engine on every network either makes tables that connect all pairs that cables connect and
 * cannot deadlock, or returns an error of one sentence; and the result does not depend on how its
 * jobs are run: backwards, or by two or three threads.
 *
 * WEFT_FULL=1 takes ten times as many networks, WEFT_GRAPHS=N takes N times as many. */
#include "effort.h"
#include "networks.h"

#include "routing/check/verify.h"
#include "routing/engines/engine_fallback.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seeds(uint64_t few)
{
    const char *times = getenv("WEFT_GRAPHS");
    if (times)
        return few * strtoull(times, NULL, 10);
    return effort(few * 10, few, (few + 4) / 5);
}

/* Real threads, a job at a time. */
struct batch {
    void (*job)(void *context, size_t index);
    void *context;
    size_t jobs, next;
};

static void *work(void *argument)
{
    struct batch *batch = argument;
    size_t index;
    while ((index = __atomic_fetch_add(&batch->next, 1, __ATOMIC_RELAXED)) < batch->jobs)
        batch->job(batch->context, index);
    return NULL;
}

static void run_threads(const struct workers *workers, size_t jobs,
                        void (*job)(void *context, size_t index), void *context)
{
    struct batch batch = {.job = job, .context = context, .jobs = jobs};
    pthread_t others[2];
    for (unsigned i = 0; i + 1 < workers->count; i++)
        assert_int_equal(pthread_create(&others[i], NULL, work, &batch), 0);
    work(&batch);
    for (unsigned i = 0; i + 1 < workers->count; i++)
        pthread_join(others[i], NULL);
}

static const struct workers two_threads = {.count = 2, .run = run_threads},
                            three_threads = {.count = 3, .run = run_threads};

/* Engines that have an answer to everything. */
static bool always_answers(const struct engine *engine)
{
    static const char *const names[] = {"fera", "updn", "auto"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(engine->name, names[i]) == 0)
            return true;
    return false;
}

static void assert_holds(const struct network *network, const struct routes *routes,
                         const char *what)
{
    struct verify_report report;
    verify_routes(network, routes, &(struct verify_options){0}, &report);
    if (!verify_passes(&report))
        fail_msg("%s: %s", what, report.findings.count ? report.findings.items[0] : "no report");
    verify_report_release(&report);
}

static void assert_same_reports(const struct network *network, const struct routes *routes,
                                const struct workers *workers, const char *what)
{
    struct verify_report alone, shared;
    verify_routes(network, routes, &(struct verify_options){0}, &alone);
    verify_routes(network, routes, &(struct verify_options){.workers = workers}, &shared);
    if (alone.pairs != shared.pairs || alone.undelivered != shared.undelivered ||
        alone.switch_undelivered != shared.switch_undelivered || alone.loops != shared.loops ||
        alone.dependencies != shared.dependencies || alone.hops_sum != shared.hops_sum ||
        alone.load_sum != shared.load_sum || alone.load_max != shared.load_max ||
        alone.cycle.count != shared.cycle.count || alone.findings.count != shared.findings.count)
        fail_msg("%s: another report by %u threads", what, workers->count);
    for (size_t i = 0; i < alone.findings.count; i++)
        assert_string_equal(alone.findings.items[i], shared.findings.items[i]);
    verify_report_release(&alone);
    verify_report_release(&shared);
}

static void assert_same_tables(const struct network *network, const struct routes *a,
                               const struct routes *b, const char *what)
{
    size_t switches = network->switches.count, bytes = switches * a->stride;
    if (routes_compare(a, b).entries || a->vls != b->vls ||
        !a->service_levels != !b->service_levels || !a->offsets != !b->offsets ||
        (a->service_levels && memcmp(a->service_levels, b->service_levels, bytes) != 0) ||
        (a->offsets && memcmp(a->offsets, b->offsets, switches * switches) != 0))
        fail_msg("%s: other tables side by side", what);
    assert_string_equal(a->note, b->note);
}

/* Reports on wrong tables do not depend on threads either. */
static void assert_damage_is_told_alike(const struct network *network, struct routes *routes,
                                        const struct workers *workers, const char *what)
{
    for (size_t i = 0; i < (size_t)routes->switch_count * routes->stride; i += 7)
        routes->ports[i] = (uint8_t)(i % 5);
    assert_same_reports(network, routes, workers, what);
}

static void assert_engine_behaves(const struct network *network, const struct engine *engine,
                                  const struct workers *workers, const char *what)
{
    struct engine_options alone = {0}, side_by_side = {.workers = workers};
    struct routes routes, again;
    struct err err = {0}, other = {0};
    int rc = engine->compute(network, &alone, &routes, &err);
    int rc_again = engine->compute(network, &side_by_side, &again, &other);
    if (rc != rc_again)
        fail_msg("%s, %s: %d alone, %d side by side", what, engine->name, rc, rc_again);
    if (routes.operations != again.operations)
        fail_msg("%s, %s: another number of operations side by side", what, engine->name);
    if (rc) {
        if (!engine_refused(rc) || !err.message[0] || routes.ports || always_answers(engine))
            fail_msg("%s, %s: %d, %s", what, engine->name, rc, err.message);
        assert_string_equal(err.message, other.message);
        return;
    }
    char text[160];
    snprintf(text, sizeof text, "%s, %s", what, engine->name);
    assert_holds(network, &routes, text);
    assert_same_tables(network, &routes, &again, text);
    if (workers != &backwards) {
        assert_same_reports(network, &routes, workers, text);
        assert_damage_is_told_alike(network, &routes, workers, text);
    }
    routes_release(&routes);
    routes_release(&again);
}

static void assert_all_behave(const struct network *network, const char *kind, uint64_t seed)
{
    char what[96];
    snprintf(what, sizeof what, "%s, seed %llu", kind, (unsigned long long)seed);
    const struct workers *workers = seed % 8 == 3   ? &two_threads
                                    : seed % 8 == 6 ? &three_threads
                                                    : &backwards;
    for (size_t i = 0; engine_at(i); i++)
        assert_engine_behaves(network, engine_at(i), workers, what);
}

static void unusual_networks_are_handled(void **state)
{
    for (uint64_t seed = 0; seed < seeds(2000); seed++) {
        struct network network;
        build_odd(&network, seed, 1 + (uint32_t)(seed % 14));
        assert_all_behave(&network, "odd", seed);
        network_release(&network);
    }
}

static void random_networks_are_handled(void **state)
{
    for (uint64_t seed = 0; seed < seeds(100); seed++) {
        struct network network;
        struct draft draft;
        draft_random(&draft, seed, 40);
        if (seed % 2)
            draft_break(&draft, seed, (unsigned)(seed % 9), (unsigned)(seed % 5));
        draft_build(&draft, (uint8_t)(seed % 3), &network);
        assert_all_behave(&network, "random", seed);
        draft_release(&draft);
        network_release(&network);
    }
}

static const struct kind {
    const char *name, *words[4];
    size_t count;
} trees[] =
    {
        {"kary", {"k=3", "n=3"}, 2},        {"kary", {"k=2", "n=4"}, 2},
        {"fattree", {"m=5,4", "w=1,3"}, 2}, {"fattree", {"m=3,4,3", "w=1,2,3", "parallel=2"}, 3},
        {"clos", {"m=4", "n=3", "r=6"}, 3},
},
  grids[] = {
      {"mesh", {"dims=3x4", "hosts=2"}, 2},
      {"torus", {"dims=5x4", "hosts=1", "parallel=2"}, 3},
      {"torus", {"dims=6x3x5"}, 1},
      {"hypercube", {"n=4"}, 1},
      {"hyperx", {"dims=4x3", "hosts=2"}, 2},
      {"ring", {"switches=7"}, 1},
      {"mesh", {"dims=9"}, 1},
};
enum { TREES = sizeof trees / sizeof trees[0], GRIDS = sizeof grids / sizeof grids[0] };

/* Whole for the first seed, then with more and more missing. */
static void damage_and_try(const struct kind *kind, const char *its_engine, uint64_t most)
{
    for (uint64_t seed = 0; seed < most; seed++) {
        struct network network;
        build_kind(&network, kind->name, kind->words, kind->count, (uint8_t)(seed % 2), 1);
        if (seed)
            cut_links(&network, seed, (unsigned)(40 / seed + 2));
        assert_all_behave(&network, kind->name, seed);
        if (seed == 0) {
            struct routes routes;
            struct err err = {0};
            if (engine_find(its_engine)
                    ->compute(&network, &(struct engine_options){0}, &routes, &err))
                fail_msg("%s: %s", kind->name, err.message);
            routes_release(&routes);
        }
        network_release(&network);
    }
}

static void trees_may_lose_any_links(void **state)
{
    for (size_t i = 0; i < TREES; i++)
        damage_and_try(&trees[i], "ftree", seeds(10));
}

static void grids_may_lose_any_links(void **state)
{
    for (size_t i = 0; i < GRIDS; i++)
        damage_and_try(&grids[i], "dor", seeds(10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unusual_networks_are_handled),
        cmocka_unit_test(random_networks_are_handled),
        cmocka_unit_test(trees_may_lose_any_links),
        cmocka_unit_test(grids_may_lose_any_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
