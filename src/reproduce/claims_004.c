/* Claims of "Towards the InfiniBand SR-IOV vSwitch Architecture" (Tasoulas, Gran, Johnsen, Begnum
 * and Skeie, 2015): table 1, and the cost of a migration, first computed from tables, then measured
 * on simulated fabrics. */
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

/* The value, or the limit, of a figure on each tree. */
struct tree_claim {
    const char *figure;
    const char *where; /* condition on the runs; NULL: all */
    enum { EXACTLY, AT_MOST } how;
    bool is_full;    /* the SMPs of a full distribution */
    double a_switch; /* SMPs for each switch of the tree */
    double on_all;   /* a constant for all trees */
};

static double limit_of(const struct tree_claim *claim, unsigned tree)
{
    return claim->is_full ? trees[tree].full
                          : claim->a_switch * trees[tree].switches + claim->on_all;
}

static double figure_of_tree(const struct claim_case *c, unsigned tree, const char *where,
                             const char *figure)
{
    return claim_mean(c, figure, "hosts=%s %s", trees[tree].hosts, where ? where : "");
}

/* All trees with evidence: a quick run has two. */
static void measure_trees(const struct claim_case *c)
{
    const struct tree_claim *claim = c->detail;
    struct text found = {0};
    bool holds = true;
    for (unsigned i = 0; i < TREES; i++) {
        double value = figure_of_tree(c, i, claim->where, claim->figure);
        if (isnan(value))
            continue;
        text_printf(&found, "%s%.0f", found.length ? ", " : "", value);
        holds &=
            value == limit_of(claim, i) || (claim->how == AT_MOST && value < limit_of(claim, i));
    }
    claim_finds(c, holds, "%s", found.length ? found.data : "nan");
    text_release(&found);
}

/* The LFT blocks that a simulated manager writes to bring up the two smaller trees. */
static void measure_written(const struct claim_case *c)
{
    double small = figure_of_tree(c, 0, NULL, "change.1.blocks");
    double large = figure_of_tree(c, 1, NULL, "change.1.blocks");
    claim_finds(c, small == trees[0].full && large == trees[1].full, "%.0f, %.0f", small, large);
}

/* One LID for each virtual function and one for the hypervisor. */
static void measure_limits(const struct claim_case *c)
{
    unsigned hypervisors = NETWORK_TOP_LID / (FUNCTIONS + 1);
    claim_finds(c, hypervisors == 2891 && hypervisors * FUNCTIONS == 46256, "%u, %u", hypervisors,
                hypervisors * FUNCTIONS);
}

/* ---- machines on simulated fabrics ---- */

/* The ratio of SMPs on the largest tree; the full distribution is that of plain hosts. */
static void measure_fewer(const struct claim_case *c)
{
    const unsigned largest = TREES - 1;
    double all = figure_of_tree(c, largest, "what=plain", "change.1.blocks");
    double swap =
        figure_of_tree(c, largest, "what=cost lids=prepopulated", "vm.far-balanced.smps.tables");
    double copy =
        figure_of_tree(c, largest, "what=cost lids=dynamic", "vm.far-balanced.smps.tables");
    claim_finds(c, all >= 100 * swap && all >= 200 * copy, "%.0f, %.0f times", all / swap,
                all / copy);
}

/* The round-trip time of one SMP to the farthest hypervisor: k by LID, k + r by directed route. */
static void measure_directed(const struct claim_case *c)
{
    for (unsigned i = TREES; i-- > 0;) {
        double directed =
            figure_of_tree(c, i, "what=route lids=prepopulated lid_route=no", "vm.far.time");
        double by_lid =
            figure_of_tree(c, i, "what=route lids=prepopulated lid_route=yes", "vm.far.time");
        if (isnan(directed) || isnan(by_lid))
            continue;
        claim_finds(c, directed > by_lid, "k %.1f us, r %.1f us at %s hosts", by_lid * 1e6,
                    (directed - by_lid) * 1e6, trees[i].hosts);
        return;
    }
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

static void measure_tables(const struct claim_case *c)
{
    for (unsigned i = TREES; i-- > 0;) {
        double directed = time_of_table(c, i, "no");
        double by_lid = time_of_table(c, i, "yes");
        if (isnan(directed) || isnan(by_lid))
            continue;
        double r = directed - by_lid;
        claim_finds(c, r > 0.001 * directed, "k %.1f us, r %.1f us at %s hosts", by_lid * 1e6,
                    fabs(r) < 1e-10 ? 0 : r * 1e6, trees[i].hosts);
        return;
    }
}

/* ---- beside shared ports ---- */

enum { PEERS = 100 };

static double figure_of_model(const struct claim_case *c, const char *model, const char *figure)
{
    return claim_mean(c, figure, "what=model model=%s", model);
}

static void measure_queries(const struct claim_case *c)
{
    double shared = figure_of_model(c, "shared-port", "vm.queries");
    bool own = isnan(figure_of_model(c, "vswitch", "vm.queries")) &&
               figure_of_model(c, "vswitch", "vm.one.moves") == 1;
    claim_finds(c, shared == PEERS && own, "%.0f, %d", shared, own ? 0 : -1);
}

static void measure_lost(const struct claim_case *c)
{
    double shared = figure_of_model(c, "shared-port", "vm.one.lost");
    double own = figure_of_model(c, "vswitch", "vm.one.lost");
    claim_finds(c, own < shared, "%.0f, %.0f packets", shared, own);
}

static void measure_others(const struct claim_case *c)
{
    double lost = figure_of_model(c, "vswitch", "vm.others.lost");
    double stopped = figure_of_model(c, "vswitch", "vm.one.downtime");
    claim_finds(c, lost == 0, "%.0f packets; nothing arrived for %.0f us", lost, stopped * 1e6);
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

static void measure_churn(const struct claim_case *c)
{
    double small = sustained_rate(c, "648"), large = sustained_rate(c, "11664");
    if (isnan(large)) /* quick run */
        claim_finds(c, small >= 60, "%.0f (648 hosts)", small);
    else
        claim_finds(c, small >= 60 && large >= 60, "%.0f, %.0f", small, large);
}

/* Adding a hypervisor would replace one LID of a plain host by 17. */
static void measure_capacity(const struct claim_case *c)
{
    double hypervisors = claim_mean(c, "vm.hypervisors", "what=capacity");
    double lids = claim_mean(c, "vm.lids", "what=capacity");
    double moves = claim_mean(c, "vm.one.moves", "what=capacity");
    claim_finds(c, moves == 1 && lids <= NETWORK_TOP_LID && lids + FUNCTIONS > NETWORK_TOP_LID,
                "%.0f, %.0f LIDs", hypervisors, lids);
}

static void measure_spare(const struct claim_case *c)
{
    double functions = claim_mean(c, "vm.functions", "what=spare");
    double lids = claim_mean(c, "vm.lids", "what=spare");
    double running = claim_mean(c, "vm.running", "what=spare");
    claim_finds(c, functions > NETWORK_TOP_LID && running > 0 && lids <= NETWORK_TOP_LID,
                "%.0f functions, %.0f machines, %.0f LIDs", functions, running, lids);
}

const struct claim claims_004[] = {
    {"004-table1", "full", "SMPs of a full distribution on four fat trees",
     "216, 594, 104004, 336960", measure_trees,
     &(const struct tree_claim){"full", NULL, EXACTLY, .is_full = true}},
    {"004-table1", "written", "blocks written when two of them are brought up", "216, 594",
     measure_written, NULL},
    {"004-table1", "swap", "SMPs of a migration that swaps LIDs, at most", "72, 108, 1944, 3240",
     measure_trees, &(const struct tree_claim){"swap.most", NULL, AT_MOST, .a_switch = 2}},
    {"004-table1", "copy", "SMPs of one that copies LIDs, at most", "36, 54, 972, 1620",
     measure_trees, &(const struct tree_claim){"copy.most", NULL, AT_MOST, .a_switch = 1}},
    {"004-table1", "least", "SMPs of one inside a leaf, at the least", "1", measure_trees,
     &(const struct tree_claim){"swap.least", NULL, EXACTLY, .on_all = 1}},
    {"004-table1", "limits", "hypervisors and virtual machines in a subnet", "2891, 46256",
     measure_limits, NULL},
    {"vswitch", "full", "SMPs of a full distribution, counted on the wire",
     "216, 594, 104004, 336960", measure_trees,
     &(const struct tree_claim){"change.1.blocks", "what=plain", EXACTLY, .is_full = true}},
    {"vswitch", "swap", "of a move that swaps LIDs, at most", "72, 108, 1944, 3240", measure_trees,
     &(const struct tree_claim){"vm.move.smps.tables.most", "what=cost lids=prepopulated", AT_MOST,
                                .a_switch = 2}},
    {"vswitch", "copy", "of a move that copies a LID, at most", "36, 54, 972, 1620", measure_trees,
     &(const struct tree_claim){"vm.move.smps.tables.most", "what=cost lids=dynamic", AT_MOST,
                                .a_switch = 1}},
    {"vswitch", "start", "of a start with a copied LID, at most", "36, 54, 972, 1620",
     measure_trees,
     &(const struct tree_claim){"vm.start.smps.tables.most", "what=cost lids=dynamic", AT_MOST,
                                .a_switch = 1}},
    {"vswitch", "least-swap", "of a move inside a leaf that swaps, at the least", "1 or 2",
     measure_trees,
     &(const struct tree_claim){"vm.leaf-minimal.smps.tables", "what=cost lids=prepopulated",
                                AT_MOST, .on_all = 2}},
    {"vswitch", "least-copy", "of a move inside a leaf that copies, at the least", "1",
     measure_trees,
     &(const struct tree_claim){"vm.leaf-minimal.smps.tables", "what=cost lids=dynamic", EXACTLY,
                                .on_all = 1}},
    {"vswitch", "hypervisors", "SMPs to hypervisors for a move", "2", measure_trees,
     &(const struct tree_claim){"vm.move.smps.hypervisors.most", "what=cost", EXACTLY,
                                .on_all = 2}},
    {"vswitch", "paths", "path computations for moves", "0", measure_trees,
     &(const struct tree_claim){"vm.move.reroutes", "what=cost", EXACTLY, .on_all = 0}},
    {"vswitch", "fewer", "fewer SMPs across 11,664 hosts, swapped and copied", "104, 208 times",
     measure_fewer, NULL},
    {"vswitch", "directed", "directed routes add to the time of an SMP to a hypervisor", "r > 0",
     measure_directed, NULL},
    {"vswitch", "tables", "and to that of an SMP to a switch", "r > 0", measure_tables, NULL},
    {"vswitch", "queries", "new paths requested for by 100 peers: shared port, own LID", "100, 0",
     measure_queries, NULL},
    {"vswitch", "lost", "packets of the machine that its move costs: shared port, own LID", "fewer",
     measure_lost, NULL},
    {"vswitch", "others", "packets of others that a move costs", "0", measure_others, NULL},
    {"vswitch", "churn", "boots and moves a minute that are kept up with", "several", measure_churn,
     NULL},
    {"vswitch", "capacity", "hypervisors with 16 functions that have a LID each",
     "2891 less switches", measure_capacity, NULL},
    {"vswitch", "spare", "more functions than LIDs, with dynamic LIDs", "possible", measure_spare,
     NULL},
    {0},
};
