/* Names of options, and the last step of all engines: user routes, and the proof. */
#include "routing/engine/engine.h"

#include "routing/check/verify.h"

#include <assert.h>
#include <errno.h>

const char *const updown_tree_names[TREE_COUNT + 1] = {
    [TREE_BFS] = "bfs", [TREE_DFS] = "dfs", [TREE_POST] = "post", [TREE_MDST] = "mdst"};

int engine_judge(const struct verify_report *report, const struct engine_options *options,
                 struct routes *routes, struct err *err)
{
    const char *first = report->findings.count ? report->findings.items[0] : "";
    if (!verify_delivers(report))
        return err_set(err, EHOSTUNREACH, "%s: the tables do not deliver: %s", routes->engine,
                       first);
    if (report->cycle.count && !options->allow_cycles)
        return err_set(err, EDEADLK, "%s: the tables could deadlock: %s", routes->engine, first);
    if (report->cycle.count)
        routes_add_note(routes, "%sCOULD DEADLOCK, as allowed", routes->note[0] ? "; " : "");
    return 0;
}

void engine_refuse(struct routes *routes)
{
    uint64_t operations = routes->operations;
    routes_release(routes);
    routes->operations = operations;
}

int engine_settle(const struct network *network, const struct engine_options *options,
                  bool unproved, struct routes *routes, struct err *err)
{
    assert(routes->switch_count == network->switches.count);
    int rc = 0;
    routes->generation = options->generation;
    if (options->user && options->user->entries.count) {
        user_routes_apply(options->user, network, routes);
        unproved = true;
    }
    if (!rc && unproved && !options->caller_verifies) {
        struct verify_report report;
        struct verify_options wanted = {.workers = options->workers,
                                        .reversible = routes->reversible};
        verify_routes(network, routes, &wanted, &report);
        routes->operations += verify_operations(network, routes);
        rc = engine_judge(&report, options, routes, err);
        verify_report_release(&report);
    }
    if (rc)
        engine_refuse(routes);
    return rc;
}
