/* Claims of "Towards the InfiniBand SR-IOV vSwitch Architecture" (Tasoulas, Gran, Johnsen, Begnum
 * and Skeie, 2015): table 1, and what a migration costs; first on tables alone, then on the wire of
 * simulated fabrics where machines move. */
#include "reproduce/claims.h"

#include "base/text.h"
#include "routing/model/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TREES = 4, FUNCTIONS = 16 };
static const struct {
    const char *hosts;
    double switches, full;
} trees[TREES] = {
    {"324", 36, 216}, {"648", 54, 594}, {"5832", 972, 104004}, {"11664", 1620, 336960}};

static double of_tree(const struct evidence *evidence, const char *preset, unsigned tree,
                      const char *figure)
{
    char where[WHERE_BYTES];
    claim_where(where, preset, "hosts=%s", trees[tree].hosts);
    return evidence_mean(evidence, where, figure);
}

/* All four trees, one figure of each. */
static void measure_trees(const struct evidence *evidence, const char *preset, const char *figure,
                          double (*most)(unsigned tree), bool exactly, struct finding *finding)
{
    double found[TREES];
    bool holds = true;
    for (unsigned i = 0; i < TREES; i++) {
        found[i] = of_tree(evidence, preset, i, figure);
        holds &= exactly ? found[i] == most(i) : found[i] <= most(i);
    }
    finding_set(finding, holds, "%.0f, %.0f, %.0f, %.0f", found[0], found[1], found[2], found[3]);
}

static double full(unsigned tree)
{
    return trees[tree].full;
}

static double one_a_switch(unsigned tree)
{
    return trees[tree].switches;
}

static double two_a_switch(unsigned tree)
{
    return 2 * trees[tree].switches;
}

static double one(unsigned tree)
{
    (void)tree;
    return 1;
}

static void measure_full(const struct evidence *evidence, const char *preset,
                         struct finding *finding)
{
    measure_trees(evidence, preset, "full", full, true, finding);
}

static void measure_swap(const struct evidence *evidence, const char *preset,
                         struct finding *finding)
{
    measure_trees(evidence, preset, "swap.most", two_a_switch, false, finding);
}

static void measure_copy(const struct evidence *evidence, const char *preset,
                         struct finding *finding)
{
    measure_trees(evidence, preset, "copy.most", one_a_switch, false, finding);
}

static void measure_least(const struct evidence *evidence, const char *preset,
                          struct finding *finding)
{
    measure_trees(evidence, preset, "swap.least", one, true, finding);
}

/* The blocks that a simulated manager writes when it brings the two smaller trees up. */
static void measure_written(const struct evidence *evidence, const char *preset,
                            struct finding *finding)
{
    double small = of_tree(evidence, preset, 0, "change.1.blocks");
    double large = of_tree(evidence, preset, 1, "change.1.blocks");
    finding_set(finding, small == trees[0].full && large == trees[1].full, "%.0f, %.0f", small,
                large);
}

/* One LID for each virtual function and one for the hypervisor. */
static void measure_limits(const struct evidence *evidence, const char *preset,
                           struct finding *finding)
{
    unsigned hypervisors = NETWORK_TOP_LID / (FUNCTIONS + 1);
    (void)evidence, (void)preset;
    finding_set(finding, hypervisors == 2891 && hypervisors * FUNCTIONS == 46256, "%u, %u",
                hypervisors, hypervisors * FUNCTIONS);
}

/* ---- machines on simulated fabrics ---- */

static double of_run(const struct evidence *evidence, const char *preset, const char *what,
                     unsigned tree, const char *more, const char *figure)
{
    char where[WHERE_BYTES];
    claim_where(where, preset, "what=%s hosts=%s %s", what, trees[tree].hosts, more);
    return evidence_mean(evidence, where, figure);
}

/* One figure of as many trees as were run: a quick look has two. */
static void measure_runs(const struct evidence *evidence, const char *preset, const char *what,
                         const char *more, const char *figure, double (*most)(unsigned tree),
                         bool exactly, struct finding *finding)
{
    struct text found = {0};
    bool holds = true;
    for (unsigned i = 0; i < TREES; i++) {
        double value = of_run(evidence, preset, what, i, more, figure);
        if (isnan(value))
            continue;
        text_printf(&found, "%s%.0f", found.length ? ", " : "", value);
        holds &= exactly ? value == most(i) : value <= most(i);
    }
    finding_set(finding, holds, "%s", found.length ? found.data : "nan");
    text_release(&found);
}

static double two(unsigned tree)
{
    (void)tree;
    return 2;
}

static double none(unsigned tree)
{
    (void)tree;
    return 0;
}

static void run_full(const struct evidence *evidence, const char *preset, struct finding *finding)
{
    measure_runs(evidence, preset, "plain", "", "change.1.blocks", full, true, finding);
}

static void run_swap(const struct evidence *evidence, const char *preset, struct finding *finding)
{
    measure_runs(evidence, preset, "cost", "lids=prepopulated", "vm.move.smps.tables.most",
                 two_a_switch, false, finding);
}

static void run_copy(const struct evidence *evidence, const char *preset, struct finding *finding)
{
    measure_runs(evidence, preset, "cost", "lids=dynamic", "vm.move.smps.tables.most", one_a_switch,
                 false, finding);
}

static void run_start(const struct evidence *evidence, const char *preset, struct finding *finding)
{
    measure_runs(evidence, preset, "cost", "lids=dynamic", "vm.start.smps.tables.most",
                 one_a_switch, false, finding);
}

static void run_least_swap(const struct evidence *evidence, const char *preset,
                           struct finding *finding)
{
    measure_runs(evidence, preset, "cost", "lids=prepopulated", "vm.leaf-minimal.smps.tables", two,
                 false, finding);
}

static void run_least_copy(const struct evidence *evidence, const char *preset,
                           struct finding *finding)
{
    measure_runs(evidence, preset, "cost", "lids=dynamic", "vm.leaf-minimal.smps.tables", one, true,
                 finding);
}

static void run_hypervisors(const struct evidence *evidence, const char *preset,
                            struct finding *finding)
{
    measure_runs(evidence, preset, "cost", "", "vm.move.smps.hypervisors.most", two, true, finding);
}

static void run_paths(const struct evidence *evidence, const char *preset, struct finding *finding)
{
    measure_runs(evidence, preset, "cost", "", "vm.move.reroutes", none, true, finding);
}

/* How many times fewer SMPs across the largest tree, whose full distribution is of plain hosts. */
static void run_fewer(const struct evidence *evidence, const char *preset, struct finding *finding)
{
    const unsigned largest = TREES - 1;
    double all = of_run(evidence, preset, "plain", largest, "", "change.1.blocks");
    double swap = of_run(evidence, preset, "cost", largest, "lids=prepopulated",
                         "vm.far-balanced.smps.tables");
    double copy =
        of_run(evidence, preset, "cost", largest, "lids=dynamic", "vm.far-balanced.smps.tables");
    finding_set(finding, all >= 100 * swap && all >= 200 * copy, "%.0f, %.0f times", all / swap,
                all / copy);
}

/* The time of one SMP to the farthest hypervisor, there and back: k by LID, k + r by directed
 * route. */
static void run_directed(const struct evidence *evidence, const char *preset,
                         struct finding *finding)
{
    for (unsigned i = TREES; i-- > 0;) {
        double directed =
            of_run(evidence, preset, "route", i, "lids=prepopulated lid_route=no", "vm.far.time");
        double by_lid =
            of_run(evidence, preset, "route", i, "lids=prepopulated lid_route=yes", "vm.far.time");
        if (isnan(directed) || isnan(by_lid))
            continue;
        finding_set(finding, directed > by_lid, "k %.1f us, r %.1f us at %s hosts", by_lid * 1e6,
                    (directed - by_lid) * 1e6, trees[i].hosts);
        return;
    }
}

/* The same for one SMP to a switch: what a start with a copied LID takes longer than one without
 * tables, for each table. */
static double time_of_table(const struct evidence *evidence, const char *preset, unsigned tree,
                            const char *route)
{
    char more[WHERE_BYTES];
    double times[2];
    for (unsigned i = 0; i < 2; i++) {
        snprintf(more, sizeof more, "lids=%s lid_route=%s", i ? "dynamic" : "prepopulated", route);
        times[i] = of_run(evidence, preset, "route", tree, more, "vm.far.time");
    }
    return (times[1] - times[0]) /
           of_run(evidence, preset, "route", tree, more, "vm.far.smps.tables");
}

static void run_tables(const struct evidence *evidence, const char *preset, struct finding *finding)
{
    for (unsigned i = TREES; i-- > 0;) {
        double directed = time_of_table(evidence, preset, i, "no");
        double by_lid = time_of_table(evidence, preset, i, "yes");
        if (isnan(directed) || isnan(by_lid))
            continue;
        double r = directed - by_lid;
        finding_set(finding, r > 0.001 * directed, "k %.1f us, r %.1f us at %s hosts", by_lid * 1e6,
                    fabs(r) < 1e-10 ? 0 : r * 1e6, trees[i].hosts);
        return;
    }
}

/* ---- beside shared ports ---- */

enum { PEERS = 100 };

static double of_model(const struct evidence *evidence, const char *preset, const char *model,
                       const char *figure)
{
    char where[WHERE_BYTES];
    claim_where(where, preset, "what=model model=%s", model);
    return evidence_mean(evidence, where, figure);
}

static void run_queries(const struct evidence *evidence, const char *preset,
                        struct finding *finding)
{
    double shared = of_model(evidence, preset, "shared-port", "vm.queries");
    bool own = isnan(of_model(evidence, preset, "vswitch", "vm.queries")) &&
               of_model(evidence, preset, "vswitch", "vm.one.moves") == 1;
    finding_set(finding, shared == PEERS && own, "%.0f, %d", shared, own ? 0 : -1);
}

static void run_lost(const struct evidence *evidence, const char *preset, struct finding *finding)
{
    double shared = of_model(evidence, preset, "shared-port", "vm.one.lost");
    double own = of_model(evidence, preset, "vswitch", "vm.one.lost");
    finding_set(finding, own < shared, "%.0f, %.0f packets", shared, own);
}

static void run_others(const struct evidence *evidence, const char *preset, struct finding *finding)
{
    double lost = of_model(evidence, preset, "vswitch", "vm.others.lost");
    double stopped = of_model(evidence, preset, "vswitch", "vm.one.downtime");
    finding_set(finding, lost == 0, "%.0f packets; nothing arrived for %.0f us", lost,
                stopped * 1e6);
}

/* ---- at the limit ---- */

/* The highest rate of which nine in ten moves and boots were done, with either kind of LIDs. */
static double sustained(const struct evidence *evidence, const char *preset, const char *hosts)
{
    char where[WHERE_BYTES];
    const char **rates;
    double best = NAN;
    claim_where(where, preset, "what=churn hosts=%s", hosts);
    size_t count = evidence_values(evidence, where, "rate", &rates);
    for (size_t i = 0; i < count; i++) {
        claim_where(where, preset, "what=churn hosts=%s rate=%s", hosts, rates[i]);
        double asked = strtod(rates[i], NULL);
        double moves = evidence_summarize(evidence, where, "vm.move.rate").least;
        double boots = evidence_summarize(evidence, where, "vm.rate").least;
        if (moves >= 0.9 * asked && boots >= 0.9 * asked && !(best >= asked))
            best = asked;
    }
    mem_free(rates);
    return best;
}

static void run_churn(const struct evidence *evidence, const char *preset, struct finding *finding)
{
    double small = sustained(evidence, preset, "648"), large = sustained(evidence, preset, "11664");
    if (isnan(large)) /* a quick look */
        finding_set(finding, small >= 60, "%.0f (648 hosts)", small);
    else
        finding_set(finding, small >= 60 && large >= 60, "%.0f, %.0f", small, large);
}

/* Not one hypervisor more: it would turn a plain host's one LID into 17. */
static void run_capacity(const struct evidence *evidence, const char *preset,
                         struct finding *finding)
{
    char where[WHERE_BYTES];
    claim_where(where, preset, "what=capacity");
    double hypervisors = evidence_mean(evidence, where, "vm.hypervisors");
    double lids = evidence_mean(evidence, where, "vm.lids");
    double moves = evidence_mean(evidence, where, "vm.one.moves");
    finding_set(finding,
                moves == 1 && lids <= NETWORK_TOP_LID && lids + FUNCTIONS > NETWORK_TOP_LID,
                "%.0f, %.0f LIDs", hypervisors, lids);
}

static void run_spare(const struct evidence *evidence, const char *preset, struct finding *finding)
{
    char where[WHERE_BYTES];
    claim_where(where, preset, "what=spare");
    double functions = evidence_mean(evidence, where, "vm.functions");
    double lids = evidence_mean(evidence, where, "vm.lids");
    double running = evidence_mean(evidence, where, "vm.running");
    finding_set(finding, functions > NETWORK_TOP_LID && running > 0 && lids <= NETWORK_TOP_LID,
                "%.0f functions, %.0f machines, %.0f LIDs", functions, running, lids);
}

const struct claim claims_004[] = {
    {"004-table1", "full", "SMPs of a full distribution on four fat trees",
     "216, 594, 104004, 336960", measure_full},
    {"004-table1", "written", "blocks written when two of them are brought up", "216, 594",
     measure_written},
    {"004-table1", "swap", "SMPs of a migration that swaps LIDs, at most", "72, 108, 1944, 3240",
     measure_swap},
    {"004-table1", "copy", "SMPs of one that copies LIDs, at most", "36, 54, 972, 1620",
     measure_copy},
    {"004-table1", "least", "SMPs of one inside a leaf, at the least", "1", measure_least},
    {"004-table1", "limits", "hypervisors and virtual machines in a subnet", "2891, 46256",
     measure_limits},
    {"vswitch", "full", "SMPs of a full distribution, counted on the wire",
     "216, 594, 104004, 336960", run_full},
    {"vswitch", "swap", "of a move that swaps LIDs, at most", "72, 108, 1944, 3240", run_swap},
    {"vswitch", "copy", "of a move that copies a LID, at most", "36, 54, 972, 1620", run_copy},
    {"vswitch", "start", "of a start with a copied LID, at most", "36, 54, 972, 1620", run_start},
    {"vswitch", "least-swap", "of a move inside a leaf that swaps, at the least", "1 or 2",
     run_least_swap},
    {"vswitch", "least-copy", "of a move inside a leaf that copies, at the least", "1",
     run_least_copy},
    {"vswitch", "hypervisors", "SMPs to hypervisors for a move", "2", run_hypervisors},
    {"vswitch", "paths", "path computations for moves", "0", run_paths},
    {"vswitch", "fewer", "fewer SMPs across 11,664 hosts, swapped and copied", "104, 208 times",
     run_fewer},
    {"vswitch", "directed", "directed routes add to the time of an SMP to a hypervisor", "r > 0",
     run_directed},
    {"vswitch", "tables", "and to that of an SMP to a switch", "r > 0", run_tables},
    {"vswitch", "queries", "new paths asked for by 100 peers: shared port, own LID", "100, 0",
     run_queries},
    {"vswitch", "lost", "packets of the machine that its move costs: shared port, own LID", "fewer",
     run_lost},
    {"vswitch", "others", "packets of others that a move costs", "0", run_others},
    {"vswitch", "churn", "boots and moves a minute that are kept up with", "several", run_churn},
    {"vswitch", "capacity", "hypervisors with 16 functions that have a LID each",
     "2891 less switches", run_capacity},
    {"vswitch", "spare", "more functions than LIDs, with dynamic LIDs", "possible", run_spare},
    {0},
};
