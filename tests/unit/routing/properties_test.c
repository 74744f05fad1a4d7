/* What holds for every engine on every network, however odd: it gives tables that deliver what
 * cables connect and cannot deadlock, or says in one sentence why it does not; and it does the same
 * however its jobs are run.
 *
 * WEFT_FULL=1 takes ten times as many networks. */
#include "networks.h"

#include "routing/engine_list.h"
#include "routing/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seeds(uint64_t few)
{
    return getenv("WEFT_FULL") ? few * 10 : few;
}

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
    if (!verify_holds(&report))
        fail_msg("%s: %s", what, report.findings.count ? report.findings.items[0] : "no report");
    verify_report_release(&report);
}

static void assert_engine_behaves(const struct network *network, const struct engine *engine,
                                  const char *what)
{
    struct engine_options alone = {0}, side_by_side = {.workers = &backwards};
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
    if (routes_compare(&routes, &again).entries)
        fail_msg("%s: other tables side by side", text);
    assert_string_equal(routes.note, again.note);
    routes_release(&routes);
    routes_release(&again);
}

static void assert_all_behave(const struct network *network, const char *kind, uint64_t seed)
{
    char what[96];
    snprintf(what, sizeof what, "%s, seed %llu", kind, (unsigned long long)seed);
    for (size_t i = 0; engine_at(i); i++)
        assert_engine_behaves(network, engine_at(i), what);
}

static void odd_networks_are_no_trouble(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < seeds(2000); seed++) {
        struct network network;
        build_odd(&network, seed, 1 + (uint32_t)(seed % 14));
        assert_all_behave(&network, "odd", seed);
        network_release(&network);
    }
}

static void random_networks_are_no_trouble(void **state)
{
    (void)state;
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

static void trees_may_lose_anything(void **state)
{
    (void)state;
    for (size_t i = 0; i < TREES; i++)
        damage_and_try(&trees[i], "ftree", seeds(10));
}

static void grids_may_lose_anything(void **state)
{
    (void)state;
    for (size_t i = 0; i < GRIDS; i++)
        damage_and_try(&grids[i], "dor", seeds(10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_networks_are_no_trouble),
        cmocka_unit_test(random_networks_are_no_trouble),
        cmocka_unit_test(trees_may_lose_anything),
        cmocka_unit_test(grids_may_lose_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
