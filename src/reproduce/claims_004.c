/* Claims of "Towards the InfiniBand SR-IOV vSwitch Architecture" (Tasoulas, Gran, Johnsen, Begnum
 * and Skeie, 2015): table 1, and what a migration costs. */
#include "reproduce/claims.h"

#include "routing/network.h"

#include <stdio.h>

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
    {0},
};
