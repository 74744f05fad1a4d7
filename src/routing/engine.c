/* The table of engines, and what they all end with. */
#include "routing/engine.h"

#include "routing/paper_cost.h"
#include "routing/verify.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int hybrid_fera(const struct network *network, const struct engine_options *options,
                       struct routes *routes, struct err *err)
{
    return engine_fera.compute(network, options, routes, err);
}

static int hybrid_dr(const struct network *network, const struct engine_options *options,
                     struct routes *routes, struct err *err)
{
    return engine_dr.compute(network, options, routes, err);
}

const struct engine engine_pira_fera = {
    .name = "pira+fera",
    .summary = "PIRa's tables at once, FERa's when they are ready",
    .compute = hybrid_fera,
    .provisional = &engine_pira,
    .paper_steps = paper_steps_fera,
};
const struct engine engine_pira_dr = {
    .name = "pira+dr",
    .summary = "PIRa's tables at once, DR's when they are ready",
    .compute = hybrid_dr,
    .provisional = &engine_pira,
    .renames = true,
    .paper_steps = paper_steps_dr,
};

static const struct engine *const engines[] = {
    &engine_fera,  &engine_pira,   &engine_dr,   &engine_minhop,    &engine_updn,
    &engine_ftree, &engine_dor,    &engine_auto, &engine_pira_fera, &engine_pira_dr,
    &engine_sssp,  &engine_dfsssp, &engine_lash, &engine_nue,
};
enum { ENGINE_COUNT = sizeof engines / sizeof engines[0] };

const struct engine *engine_at(size_t index)
{
    return index < ENGINE_COUNT ? engines[index] : NULL;
}

const struct engine *engine_find(const char *name)
{
    for (size_t i = 0; i < ENGINE_COUNT; i++)
        if (strcmp(engines[i]->name, name) == 0)
            return engines[i];
    return NULL;
}

int engine_judge(const struct verify_report *report, const struct engine_options *options,
                 struct routes *routes, struct err *err)
{
    const char *first = report->findings.count ? report->findings.items[0] : "";
    if (!verify_delivers(report))
        return err_set(err, EHOSTUNREACH, "%s: the tables do not deliver: %s", routes->engine,
                       first);
    if (report->cycle.count && !options->allow_cycles)
        return err_set(err, EDEADLK, "%s: the tables could deadlock: %s", routes->engine, first);
    if (report->cycle.count) {
        size_t length = strlen(routes->note);
        snprintf(routes->note + length, sizeof routes->note - length,
                 "%sCOULD DEADLOCK, as allowed", length ? "; " : "");
    }
    return 0;
}

/* A proof by the independent checker. */
static int prove(const struct network *network, const struct engine_options *options,
                 struct routes *routes, struct err *err)
{
    struct verify_report report;
    struct verify_options wanted = {.workers = options->workers, .reversible = routes->reversible};
    verify_routes(network, routes, &wanted, &report);
    routes->operations += verify_operations(network, routes);
    int rc = engine_judge(&report, options, routes, err);
    verify_report_release(&report);
    return rc;
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
    int rc = 0;
    routes->generation = options->generation;
    if (options->user && options->user->entries.count) {
        rc = user_routes_apply(options->user, network, routes, err);
        unproved = true;
    }
    if (!rc && unproved && !options->leave_proof)
        rc = prove(network, options, routes, err);
    if (rc)
        engine_refuse(routes);
    return rc;
}
