/* Measures for the claims of "Towards the InfiniBand SR-IOV vSwitch Architecture" (Tasoulas, Gran,
 * Johnsen, Begnum and Skeie, 2015): table 1, and the cost of a migration, first computed from
 * tables, then measured on simulated fabrics. */
#include "reproduce/claims.h"

#include "base/text.h"
#include "routing/model/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TREES = 4 };
static const struct {
    const char *hosts;
    double switches, full; /* as printed */
} trees[TREES] = {
    {"324", 36, 216}, {"648", 54, 594}, {"5832", 972, 104004}, {"11664", 1620, 336960}};

/* A figure on each tree, divided by the value printed for it. */
struct tree_figure {
    const char *figure;
    const char *where; /* condition on the runs */
    enum { OF_ONE, OF_FULL, OF_SWITCHES } printed;
    double a_switch; /* SMPs for each switch of the tree, of OF_SWITCHES */
};

static double printed_value(const struct tree_figure *of, unsigned tree)
{
    switch (of->printed) {
    case OF_FULL: return trees[tree].full;
    case OF_SWITCHES: return of->a_switch * trees[tree].switches;
    default: return 1;
    }
}

static double figure_of_tree(const struct claim_case *c, unsigned tree, const char *where,
                             const char *figure)
{
    return claim_mean(c, figure, "hosts=%s %s", trees[tree].hosts, where);
}

/* All trees with evidence: a quick run has two. */
static struct measured measure_trees(const struct claim_case *c)
{
    const struct tree_figure *of = c->detail;
    struct measured measured = measured_value(NAN);
    struct text found = {0};
    for (unsigned i = 0; i < TREES; i++) {
        double value = figure_of_tree(c, i, of->where, of->figure);
        if (isnan(value))
            continue;
        text_printf(&found, "%s%.0f", found.length ? ", " : "", value);
        measured.least = fmin(measured.least, value / printed_value(of, i)); /* ignores NaN */
        measured.most = fmax(measured.most, value / printed_value(of, i));
    }
    if (found.length && of->printed != OF_ONE)
        measured = measured_explain(measured, "%s", found.data);
    text_release(&found);
    return measured;
}

/* A figure divided by another one, over all runs of `where`. */
struct quotient {
    const char *figure, *by, *where;
};

static struct measured measure_quotient(const struct claim_case *c)
{
    const struct quotient *of = c->detail;
    double all = claim_mean(c, of->figure, "%s", of->where);
    double by = claim_mean(c, of->by, "%s", of->where);
    return measured_explain(measured_value(all / by), "%.0f / %.0f", all, by);
}

static struct measured measure_figure(const struct claim_case *c)
{
    const struct claim_figure *of = c->detail;
    return measured_value(claim_mean(c, of->figure, "%s", of->where));
}

/* ---- LIDs ---- */

/* LIDs other than those of switches, for each hypervisor. */
static double lids_of_hypervisor(const struct claim_case *c, unsigned tree)
{
    static const char where[] = "what=cost lids=prepopulated";
    return (figure_of_tree(c, tree, where, "vm.lids") - trees[tree].switches) /
           figure_of_tree(c, tree, where, "vm.hypervisors");
}

/* The two smaller trees have 16 functions for each hypervisor. */
static struct measured measure_hypervisor_lids(const struct claim_case *c)
{
    return measured_range(lids_of_hypervisor(c, 0), lids_of_hypervisor(c, 1));
}

static struct measured measure_hypervisor_limit(const struct claim_case *c)
{
    double lids = lids_of_hypervisor(c, 0), limit = floor(NETWORK_TOP_LID / lids);
    return measured_explain(measured_value(limit), "%.0f machines", limit * (lids - 1));
}

static struct measured measure_dynamic_lids(const struct claim_case *c)
{
    static const char where[] = "what=cost lids=dynamic";
    struct measured measured = measured_value(NAN);
    for (unsigned i = 0; i < TREES; i++) {
        double lids = figure_of_tree(c, i, where, "vm.lids") - trees[i].switches -
                      figure_of_tree(c, i, where, "vm.hypervisors") -
                      figure_of_tree(c, i, where, "vm.running");
        measured.least = fmin(measured.least, lids);
        measured.most = fmax(measured.most, lids);
    }
    return measured;
}

/* A run in which no machine was refused proves nothing. */
static struct measured measure_last_lids(const struct claim_case *c)
{
    double refused = claim_mean(c, "vm.start.failed", "what=full");
    double lids = claim_mean(c, "vm.lids", "what=full");
    return measured_explain(measured_value(refused > 0 ? NETWORK_TOP_LID - lids : NAN),
                            "%.0f machines, %.0f refused", claim_mean(c, "vm.running", "what=full"),
                            refused);
}

/* LIDs beside those of switches and hypervisors, for each virtual function. */
static struct measured measure_function_lids(const struct claim_case *c)
{
    double lids = claim_mean(c, "vm.lids", "what=model %s", (const char *)c->detail);
    double functions = claim_mean(c, "vm.functions", "what=model %s", (const char *)c->detail);
    double own = lids - trees[0].switches -
                 claim_mean(c, "vm.hypervisors", "what=model %s", (const char *)c->detail);
    return measured_explain(measured_value(own / functions), "%.0f LIDs", lids);
}

/* ---- machines on simulated fabrics ---- */

/* The ratio of SMPs on the largest tree; the full distribution is that of plain hosts. */
static struct measured measure_fewer(const struct claim_case *c)
{
    const unsigned largest = TREES - 1;
    const struct claim_figure *of = c->detail;
    return measured_value(figure_of_tree(c, largest, "what=plain", "change.1.blocks") /
                          figure_of_tree(c, largest, of->where, of->figure));
}

/* The round-trip time of one SMP to the farthest hypervisor: k by LID, k + r by directed route. */
static struct measured measure_directed(const struct claim_case *c)
{
    for (unsigned i = TREES; i-- > 0;) {
        double directed =
            figure_of_tree(c, i, "what=route lids=prepopulated lid_route=no", "vm.far.time");
        double by_lid =
            figure_of_tree(c, i, "what=route lids=prepopulated lid_route=yes", "vm.far.time");
        if (!isnan(directed) && !isnan(by_lid))
            return measured_explain(measured_value(directed - by_lid), "k %.1f us at %s hosts",
                                    by_lid * 1e6, trees[i].hosts);
    }
    return measured_value(NAN);
}

/* By directed route. */
static struct measured measure_near(const struct claim_case *c)
{
    struct measured measured = measured_value(NAN);
    for (unsigned i = 0; i < TREES; i++) {
        static const char where[] = "what=route lids=prepopulated lid_route=no";
        double ratio = figure_of_tree(c, i, where, "vm.far.time") /
                       figure_of_tree(c, i, where, "vm.leaf.time");
        measured.least = fmin(measured.least, ratio);
        measured.most = fmax(measured.most, ratio);
    }
    return measured;
}

/* The same for one SMP to a switch: the additional time of a start that writes tables, divided by
 * their number. */
static double time_of_table(const struct claim_case *c, unsigned tree, const char *route)
{
    char more[64];
    double times[2];
    for (unsigned i = 0; i < 2; i++) {
        snprintf(more, sizeof more, "what=route lids=%s lid_route=%s",
                 i ? "dynamic" : "prepopulated", route);
        times[i] = figure_of_tree(c, tree, more, "vm.far.time");
    }
    return (times[1] - times[0]) / figure_of_tree(c, tree, more, "vm.far.smps.tables");
}

static struct measured measure_tables(const struct claim_case *c)
{
    for (unsigned i = TREES; i-- > 0;) {
        double directed = time_of_table(c, i, "no");
        double by_lid = time_of_table(c, i, "yes");
        if (!isnan(directed) && !isnan(by_lid))
            return measured_explain(measured_value((directed - by_lid) / directed),
                                    "k %.1f us at %s hosts", by_lid * 1e6, trees[i].hosts);
    }
    return measured_value(NAN);
}

/* ---- beside shared ports ---- */

static double figure_of_model(const struct claim_case *c, const char *model, const char *figure)
{
    return claim_mean(c, figure, "what=model model=%s", model);
}

static struct measured measure_shared_queries(const struct claim_case *c)
{
    return measured_value(figure_of_model(c, "shared-port", "vm.queries"));
}

/* A run without any query has no such figure. */
static struct measured measure_own_queries(const struct claim_case *c)
{
    double queries = figure_of_model(c, "vswitch", "vm.queries");
    bool moved = figure_of_model(c, "vswitch", "vm.one.moves") == 1;
    return measured_value(isnan(queries) && moved ? 0 : queries);
}

static struct measured measure_lost(const struct claim_case *c)
{
    double shared = figure_of_model(c, "shared-port", "vm.one.lost");
    double own = figure_of_model(c, "vswitch", "vm.one.lost");
    return measured_explain(measured_value(own / shared), "%.0f and %.0f packets", own, shared);
}

static struct measured measure_others(const struct claim_case *c)
{
    double stopped = figure_of_model(c, "vswitch", "vm.one.downtime");
    return measured_explain(measured_value(figure_of_model(c, "vswitch", "vm.others.lost")),
                            "nothing arrived for %.0f us", stopped * 1e6);
}

/* ---- at the limit ---- */

/* The highest rate at which nine of ten moves and boots completed, for both kinds of LIDs. */
static double sustained_rate(const struct claim_case *c, const char *hosts)
{
    const char **rates;
    char of_hosts[64];
    double best = NAN;
    snprintf(of_hosts, sizeof of_hosts, "what=churn hosts=%s", hosts);
    size_t count = claim_values(c, "rate", &rates, of_hosts);
    for (size_t i = 0; i < count; i++) {
        static const char where[] = "what=churn hosts=%s rate=%s";
        double requested = strtod(rates[i], NULL);
        double moves = claim_summary(c, "vm.move.rate", where, hosts, rates[i]).least;
        double boots = claim_summary(c, "vm.rate", where, hosts, rates[i]).least;
        if (moves >= 0.9 * requested && boots >= 0.9 * requested && !(best >= requested))
            best = requested;
    }
    mem_free(rates);
    return best;
}

static struct measured measure_churn(const struct claim_case *c)
{
    double small = sustained_rate(c, "648"), large = sustained_rate(c, "11664");
    return isnan(large) ? measured_value(small) : measured_range(small, large); /* quick: one */
}

/* The LIDs that are left when no further hypervisor has room, which would replace one LID of a
 * plain host by 17. Machines must still be able to move. */
static struct measured measure_capacity(const struct claim_case *c)
{
    double hypervisors = claim_mean(c, "vm.hypervisors", "what=capacity");
    double lids = claim_mean(c, "vm.lids", "what=capacity");
    bool moves = claim_mean(c, "vm.one.moves", "what=capacity") == 1;
    return measured_explain(measured_value(moves ? NETWORK_TOP_LID - lids : NAN),
                            "%.0f hypervisors, %.0f LIDs", hypervisors, lids);
}

static struct measured measure_spare(const struct claim_case *c)
{
    double functions = claim_mean(c, "vm.functions", "what=spare");
    double lids = claim_mean(c, "vm.lids", "what=spare");
    double running = claim_mean(c, "vm.running", "what=spare");
    return measured_explain(
        measured_value(running > 0 && lids <= NETWORK_TOP_LID ? functions : NAN),
        "%.0f machines, %.0f LIDs", running, lids);
}

static const char swapped[] = "what=cost lids=prepopulated", copied[] = "what=cost lids=dynamic";

const struct measure measures_004[] = {
    {"cluster15-table1", "full", measure_trees,
     &(const struct tree_figure){"full", "", OF_FULL, 0}},
    {"cluster15-table1", "written", measure_trees,
     &(const struct tree_figure){"change.1.blocks", "", OF_FULL, 0}},
    {"cluster15-table1", "blocks", measure_quotient,
     &(const struct quotient){"change.1.blocks", "change.1.switches", "counted=full"}},
    {"cluster15-table1", "swap", measure_trees,
     &(const struct tree_figure){"swap.most", "", OF_SWITCHES, 2}},
    {"cluster15-table1", "copy", measure_trees,
     &(const struct tree_figure){"copy.most", "", OF_SWITCHES, 1}},
    {"cluster15-table1", "least", measure_trees,
     &(const struct tree_figure){"swap.least", "", OF_ONE, 0}},
    {"vswitch", "full", measure_trees,
     &(const struct tree_figure){"change.1.blocks", "what=plain", OF_FULL, 0}},
    {"vswitch", "swap", measure_trees,
     &(const struct tree_figure){"vm.move.smps.tables.most", swapped, OF_SWITCHES, 2}},
    {"vswitch", "copy", measure_trees,
     &(const struct tree_figure){"vm.move.smps.tables.most", copied, OF_SWITCHES, 1}},
    {"vswitch", "start", measure_trees,
     &(const struct tree_figure){"vm.start.smps.tables.most", copied, OF_SWITCHES, 1}},
    {"vswitch", "least-swap", measure_trees,
     &(const struct tree_figure){"vm.leaf-minimal.smps.tables", swapped, OF_ONE, 0}},
    {"vswitch", "least-copy", measure_trees,
     &(const struct tree_figure){"vm.leaf-minimal.smps.tables", copied, OF_ONE, 0}},
    {"vswitch", "hypervisors", measure_trees,
     &(const struct tree_figure){"vm.move.smps.hypervisors.most", "what=cost", OF_ONE, 0}},
    {"vswitch", "paths", measure_trees,
     &(const struct tree_figure){"vm.move.reroutes", "what=cost", OF_ONE, 0}},
    {"vswitch", "fewer-swap", measure_fewer,
     &(const struct claim_figure){"vm.far-balanced.smps.tables", swapped}},
    {"vswitch", "fewer-copy", measure_fewer,
     &(const struct claim_figure){"vm.far-balanced.smps.tables", copied}},
    {"vswitch", "fewest", measure_fewer,
     &(const struct claim_figure){"vm.leaf-minimal.smps.tables", copied}},
    {"vswitch", "largest", measure_figure,
     &(const struct claim_figure){"change.1.blocks", "what=capacity"}},
    {"vswitch", "one-smp", measure_quotient,
     &(const struct quotient){"change.1.blocks", "change.1.switches", "what=block"}},
    {"vswitch", "hypervisor-lids", measure_hypervisor_lids, NULL},
    {"vswitch", "hypervisor-limit", measure_hypervisor_limit, NULL},
    {"vswitch", "dynamic-lids", measure_dynamic_lids, NULL},
    {"vswitch", "last-lids", measure_last_lids, NULL},
    {"vswitch", "start-swap", measure_figure,
     &(const struct claim_figure){"vm.start.smps.tables.most",
                                  "what=life-cycle lids=prepopulated"}},
    {"vswitch", "start-copy", measure_trees,
     &(const struct tree_figure){"vm.start.smps.tables.most", "what=life-cycle lids=dynamic",
                                 OF_SWITCHES, 1}},
    {"vswitch", "one-block", measure_quotient,
     &(const struct quotient){"vm.one.smps.tables", "vm.one.switches", "what=block mode=ordered"}},
    {"vswitch", "at-once", measure_quotient,
     &(const struct quotient){"vm.one.smps.tables", "vm.one.switches", "what=block mode=naive"}},
    {"vswitch", "two-blocks", measure_quotient,
     &(const struct quotient){"vm.one.smps.tables", "vm.one.switches",
                              "what=life-cycle lids=prepopulated"}},
    {"vswitch", "copy-each", measure_quotient,
     &(const struct quotient){"vm.one.smps.tables", "vm.one.switches",
                              "what=life-cycle lids=dynamic"}},
    {"vswitch", "some-switches", measure_trees,
     &(const struct tree_figure){"vm.leaf-minimal.switches", "what=cost", OF_SWITCHES, 1}},
    {"vswitch", "near", measure_near, NULL},
    {"vswitch", "lids-shared", measure_function_lids, "model=shared-port"},
    {"vswitch", "lids-own", measure_function_lids, "model=vswitch lids=prepopulated"},
    {"vswitch", "qp0-shared", measure_figure,
     &(const struct claim_figure){"vm.qp0.answered", "what=model model=shared-port"}},
    {"vswitch", "qp0-own", measure_figure,
     &(const struct claim_figure){"vm.qp0.answered", "what=model model=vswitch"}},
    {"vswitch", "directed", measure_directed, NULL},
    {"vswitch", "tables", measure_tables, NULL},
    {"vswitch", "queries-shared", measure_shared_queries, NULL},
    {"vswitch", "queries-own", measure_own_queries, NULL},
    {"vswitch", "lost", measure_lost, NULL},
    {"vswitch", "others", measure_others, NULL},
    {"vswitch", "churn", measure_churn, NULL},
    {"vswitch", "capacity", measure_capacity, NULL},
    {"vswitch", "spare", measure_spare, NULL},
    {0},
};
