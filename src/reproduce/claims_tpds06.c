/* Measures for the claims of "Fast Routing Computation on InfiniBand Networks" (Bermudez, Casado,
 * Quiles and Duato, 2006).
 *
 * Only changes that cut no switch off from the manager count (whole=yes). */
#include "reproduce/claims.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHERE_BYTES = 128, FAILURES = 2 };
static const char *const failures[FAILURES] = {"switch", "link"};

static const char *failure_of(char where[WHERE_BYTES], const char *engine, const char *failure)
{
    snprintf(where, WHERE_BYTES, "engine=%s fault=%s whole=yes width=1x", engine, failure);
    return where;
}

/* The range over sizes and both failures: a figure with one engine over the same with another. */
static struct measured compare_failures(const struct claim_case *c, const char *figure,
                                        const char *over, const char *under)
{
    struct measured all = {0};
    for (unsigned i = 0; i < FAILURES; i++) {
        char one[WHERE_BYTES], other[WHERE_BYTES];
        struct claim_range range = claim_compare(c, figure, failure_of(one, over, failures[i]),
                                                 failure_of(other, under, failures[i]));
        struct measured found = measured_range(range.least, range.most);
        all = i == 0 ? found : measured_both(all, found);
    }
    return all;
}

/* How many changes of the experiment count. */
static struct measured explain_changes(const struct claim_case *c, struct measured measured)
{
    size_t whole = claim_summary(c, "fault.time", "width=1x whole=yes").count;
    size_t all = claim_summary(c, "fault.time", "width=1x").count;
    return measured_explain(measured, "%zu changes; %zu more cut switches off", whole, all - whole);
}

/* ---- Fig. 2 ---- */

static double fault_time(const struct claim_case *c, const char *size, const char *figure)
{
    return claim_mean(c, figure, "switches=%s engine=fera fault=switch whole=yes", size);
}

static double computing_share(const struct claim_case *c, const char *size, const void *context)
{
    (void)context;
    return strcmp(size, "8") == 0
               ? NAN
               : fault_time(c, size, "fault.compute.time") / fault_time(c, size, "fault.time");
}

static struct measured measure_critical(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, computing_share, NULL);
    return explain_changes(c, measured_range(range.least, range.most));
}

static double computing_over_others(const struct claim_case *c, const char *size,
                                    const void *context)
{
    (void)context;
    return fault_time(c, size, "fault.compute.time") /
           fmax(fault_time(c, size, "fault.discover.time"),
                fault_time(c, size, "fault.distribute.time"));
}

static struct measured measure_largest(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, computing_over_others, NULL);
    return measured_range(range.least, range.most);
}

/* ---- Figs. 6 and 8 ---- */

static struct measured measure_entries(const struct claim_case *c)
{
    double printed = claim_mean(c, "entries.printed", CLAIM_ALL);
    double same = claim_mean(c, "entries.same", CLAIM_ALL);
    return measured_explain(measured_value(same), "of %.0f", printed);
}

/* ---- Fig. 9, and section 3 ---- */

/* Fig. 8 considers the nodes in the order of their LIDs, from 1 to 15. */
static struct measured measure_steps(const struct claim_case *c)
{
    unsigned same = 0;
    for (unsigned step = 1; step <= 15; step++)
        same += claim_mean(c, "lid", "step=%u", step) == step;
    return measured_value(same);
}

static struct measured measure_sum(const struct claim_case *c)
{
    struct evidence_summary summary = claim_summary(c, c->detail, CLAIM_ALL);
    return measured_value(summary.count ? summary.sum : NAN);
}

/* One figure over another on the same networks. */
static double ratio_of_figures(const struct claim_case *c, const char *size, const void *context)
{
    const char *const *figures = context;
    return claim_mean(c, figures[0], "switches=%s", size) /
           claim_mean(c, figures[1], "switches=%s", size);
}

static struct measured measure_ratio_of_figures(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, ratio_of_figures, c->detail);
    return measured_range(range.least, range.most);
}

/* The mean over all networks, with the means of the smallest and the largest. */
static struct measured measure_share_of_sizes(const struct claim_case *c)
{
    struct claim_range range = claim_figure_over_sizes(c, c->detail, "");
    struct evidence_summary all = claim_summary(c, c->detail, CLAIM_ALL);
    return measured_explain(measured_value(all.count ? all.sum / (double)all.count : NAN),
                            "%.0f %% at 8 switches, %.0f %% at 64; %zu networks", 100 * range.first,
                            100 * range.last, all.count);
}

static struct measured measure_longer(const struct claim_case *c)
{
    return measured_explain(measure_sum(c), "%.0f are shorter",
                            claim_summary(c, "shorter", CLAIM_ALL).sum);
}

static struct measured measure_mixtures(const struct claim_case *c)
{
    return measured_explain(
        measure_share_of_sizes(c), "%.0f %% at 64 switches; in weft's order %.0f of %zu are safe",
        100 * claim_figure_over_sizes(c, c->detail, "").last,
        claim_summary(c, "planned", CLAIM_ALL).sum, claim_summary(c, "planned", CLAIM_ALL).count);
}

/* ---- Fig. 10 ---- */

struct computing {
    const char *figure, *over, *under;
};
#define MODELLED "change.1.compute.time"

static struct claim_range compare_computing(const struct claim_case *c)
{
    const struct computing *of = c->detail;
    return claim_compare(c, of->figure, of->over, of->under);
}

static struct measured measure_computing(const struct claim_case *c)
{
    struct claim_range range = compare_computing(c);
    return measured_explain(measured_value(range.geometric), "%.1f to %.1f", range.first,
                            range.last);
}

static struct measured measure_each_computing(const struct claim_case *c)
{
    struct claim_range range = compare_computing(c);
    return measured_range(range.least, range.most);
}

static struct measured measure_disparity(const struct claim_case *c)
{
    return measured_range(claim_compare(c, MODELLED, "engine=fera", "engine=pira").rank,
                          claim_compare(c, MODELLED, "engine=dr", "engine=pira").rank);
}

static struct measured measure_power(const struct claim_case *c)
{
    struct claim_range modelled = claim_figure_over_sizes(c, MODELLED, c->detail);
    struct claim_range cpu = claim_figure_over_sizes(c, "cpu", c->detail);
    return measured_explain(measured_value(modelled.power), "R^2 %.3f; CPU time %.2f", modelled.fit,
                            cpu.power);
}

static struct measured measure_power_gap(const struct claim_case *c)
{
    return measured_value(claim_figure_over_sizes(c, MODELLED, "engine=fera").power -
                          claim_figure_over_sizes(c, MODELLED, "engine=pira").power);
}

/* ---- Fig. 11 ---- */

/* Switches and hosts of the networks (4.1, Fig. 14). */
static double paper_nodes(const char *size)
{
    static const unsigned hosts[][2] = {{8, 7}, {16, 14}, {24, 22}, {32, 40}, {48, 64}, {64, 82}};
    unsigned switches = (unsigned)strtoul(size, NULL, 10);
    for (unsigned i = 0; i < 6; i++)
        if (hosts[i][0] == switches)
            return switches + hosts[i][1];
    return NAN;
}

/* The largest difference from the time with FERa. */
static struct measured measure_exploration(const struct claim_case *c)
{
    static const char *const engines[] = {"pira", "dr", "pira+fera", "pira+dr"};
    struct measured all = {0};
    for (unsigned i = 0; i < 4; i++) {
        struct measured one = compare_failures(c, "fault.discover.time", engines[i], "fera");
        all = i == 0 ? one : measured_both(all, one);
    }
    return measured_value(isnan(all.least) ? NAN : fmax(all.most - 1, 1 - all.least));
}

static struct measured measure_order(const struct claim_case *c)
{
    const char *const *engines = c->detail;
    return explain_changes(c, compare_failures(c, "fault.time", engines[0], engines[1]));
}

struct engines {
    const char *over, *under, *failure;
};

/* From the end of the exploration, which has its own claim, to the first routes. */
static double time_to_first(const struct claim_case *c, const char *size, const char *engine,
                            const char *failure)
{
    char where[WHERE_BYTES];
    failure_of(where, engine, failure);
    return claim_mean(c, "fault.first.time", "switches=%s %s", size, where) -
           claim_mean(c, "fault.discover.time", "switches=%s %s", size, where);
}

static double ratio_of_first(const struct claim_case *c, const char *size, const void *context)
{
    const struct engines *of = context;
    return time_to_first(c, size, of->over, of->failure) /
           time_to_first(c, size, of->under, of->failure);
}

static struct measured measure_first(const struct claim_case *c)
{
    struct claim_range one =
        claim_over_sizes(c, ratio_of_first, &(struct engines){c->detail, "pira", "switch"});
    struct claim_range other =
        claim_over_sizes(c, ratio_of_first, &(struct engines){c->detail, "pira", "link"});
    return measured_both(measured_range(one.least, one.most),
                         measured_range(other.least, other.most));
}

/* The quality of the fit of one figure over a product of others, for the means of each size,
 * algorithm and failure. */
static struct measured measure_fit(const struct claim_case *c)
{
    static const char *const engines[] = {"fera", "pira", "dr", "pira+fera", "pira+dr"};
    const char *const *figures = c->detail; /* y, x, and a factor of x or NULL */
    struct claim_fit fit = {0};
    const char **sizes;
    size_t count = claim_values(c, "switches", &sizes, "");
    for (size_t i = 0; i < count * 5 * FAILURES; i++) {
        char where[WHERE_BYTES];
        const char *size = sizes[i / (5 * FAILURES)];
        failure_of(where, engines[i / FAILURES % 5], failures[i % FAILURES]);
        double y = claim_mean(c, figures[0], "switches=%s %s", size, where);
        double x = claim_mean(c, figures[1], "switches=%s %s", size, where);
        double factor = figures[2] ? claim_mean(c, figures[2], "switches=%s %s", size, where) : 1;
        claim_fit_add(&fit, x * factor, y);
    }
    mem_free(sizes);
    return measured_explain(measured_value(claim_fit_quality(&fit)), "%.0f points", fit.n);
}

static double links_of_size(const struct claim_case *c, const char *size, const void *context)
{
    char link[WHERE_BYTES], other[WHERE_BYTES];
    (void)context;
    return claim_mean(c, "fault.time", "switches=%s %s", size, failure_of(link, "fera", "link")) /
           claim_mean(c, "fault.time", "switches=%s %s", size, failure_of(other, "fera", "switch"));
}

/* Relative to the bound that follows from a cubic computation. */
static double links_over_bound(const struct claim_case *c, const char *size, const void *context)
{
    double nodes = paper_nodes(size);
    return links_of_size(c, size, context) / (1.05 * pow(nodes / (nodes - 2), 3));
}

static double links_are_longer(const struct claim_case *c, const char *size, const void *context)
{
    return links_of_size(c, size, context) > 1;
}

static struct measured measure_links(const struct claim_case *c)
{
    struct claim_range ratio = claim_over_sizes(c, links_of_size, NULL);
    return measured_explain(measured_value(claim_over_sizes(c, links_are_longer, NULL).mean),
                            "%.3f to %.3f times", ratio.least, ratio.most);
}

static struct measured measure_slightly(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, links_over_bound, NULL);
    return measured_range(range.least, range.most);
}

static struct measured measure_shrinks(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, links_of_size, NULL);
    return measured_explain(measured_value(range.last / range.first), "%.3f to %.3f times",
                            range.first, range.last);
}

/* With 4X links over 1X, the same changes. */
static struct evidence_summary compare_widths(const struct claim_case *c, const char *figure,
                                              const char *engine, const char *size)
{
    char one[WHERE_BYTES], other[WHERE_BYTES];
    const char *format = "engine=%s switches=%s fault=switch whole=yes width=%s";
    snprintf(one, sizeof one, format, engine, size, "4x");
    snprintf(other, sizeof other, format, engine, size, "1x");
    return claim_ratio(c, figure, one, other);
}

static struct measured measure_widths(const struct claim_case *c)
{
    static const char *const engines[] = {"fera", "pira", "dr"}, *const sizes[] = {"16", "32"};
    double least = NAN, most = NAN;
    for (unsigned i = 0; i < 6; i++) {
        double ratio = compare_widths(c, c->detail, engines[i % 3], sizes[i / 3]).mean;
        least = fmin(least, ratio); /* ignores NaN: a quick run has one size */
        most = fmax(most, ratio);
    }
    return measured_range(least, most);
}

/* The inverse: latency with 1X over 4X. */
static struct measured measure_width_latency(const struct claim_case *c)
{
    struct measured range = measure_widths(c);
    return measured_range(1 / range.least, 1 / range.most);
}

/* ---- Fig. 12 ---- */

static struct measured measure_fewer(const struct claim_case *c)
{
    return explain_changes(c, measured_both(compare_failures(c, "lost", "pira+fera", "fera"),
                                            compare_failures(c, "lost", "pira+dr", "dr")));
}

struct saving {
    const char *hybrid, *final, *failure;
};
enum { SAVINGS = 4 };
static const struct saving savings[SAVINGS] = {{"pira+fera", "fera", "switch"},
                                               {"pira+dr", "dr", "switch"},
                                               {"pira+fera", "fera", "link"},
                                               {"pira+dr", "dr", "link"}};

static double lost_at(const struct claim_case *c, const char *size, const char *engine,
                      const char *failure)
{
    char where[WHERE_BYTES];
    return claim_mean(c, "lost", "switches=%s %s", size, failure_of(where, engine, failure));
}

static double ratio_of_losses(const struct claim_case *c, const char *size, const void *context)
{
    const struct saving *saving = context;
    return lost_at(c, size, saving->hybrid, saving->failure) /
           lost_at(c, size, saving->final, saving->failure);
}

static double ratio_from_24(const struct claim_case *c, const char *size, const void *context)
{
    return strtod(size, NULL) < 24 ? NAN : ratio_of_losses(c, size, context);
}

static double saved_packets(const struct claim_case *c, const char *size, const void *context)
{
    const struct saving *saving = context;
    return lost_at(c, size, saving->final, saving->failure) -
           lost_at(c, size, saving->hybrid, saving->failure);
}

static struct measured measure_considerably(const struct claim_case *c)
{
    struct measured all = {0};
    for (unsigned i = 0; i < SAVINGS; i++) {
        struct claim_range range = claim_over_sizes(c, ratio_from_24, &savings[i]);
        struct measured one = measured_range(range.least, range.most);
        all = i == 0 ? one : measured_both(all, one);
    }
    return all;
}

/* The share of the steps from one size to the next, of both hybrids and failures. */
static struct measured measure_difference(const struct claim_case *c)
{
    unsigned steps = 0, larger = 0;
    const char **sizes;
    size_t count = claim_values(c, "switches", &sizes, "");
    for (unsigned i = 0; i < SAVINGS; i++)
        for (size_t s = 1; s < count; s++) {
            steps++;
            larger += saved_packets(c, sizes[s], &savings[i]) >
                      saved_packets(c, sizes[s - 1], &savings[i]);
        }
    mem_free(sizes);
    return measured_explain(measured_value(steps ? (double)larger / steps : NAN), "%u of %u",
                            larger, steps);
}

static struct measured measure_larger(const struct claim_case *c)
{
    struct measured all = {0};
    for (unsigned i = 0; i < SAVINGS; i++) {
        struct claim_range range = claim_over_sizes(c, ratio_of_losses, &savings[i]);
        struct measured one = measured_value(range.last / range.first);
        all = i == 0 ? one : measured_both(all, one);
    }
    return all;
}

/* Of all changes together: before a failure hybrids have other routes than PIRa, so that single
 * sizes differ by what the failed switch or link carried. */
static struct measured measure_extra(const struct claim_case *c)
{
    double pira = claim_mean(c, "lost", "engine=pira whole=yes");
    struct measured sizes = measured_both(compare_failures(c, "lost", "pira+fera", "pira"),
                                          compare_failures(c, "lost", "pira+dr", "pira"));
    return measured_explain(
        measured_range(claim_mean(c, "lost", "engine=pira+fera whole=yes") / pira,
                       claim_mean(c, "lost", "engine=pira+dr whole=yes") / pira),
        "single sizes %.2f to %.2f", sizes.least, sizes.most);
}

/* ---- Fig. 13 ---- */

enum { PATTERNS = 4 };
static const char *const patterns[PATTERNS] = {"uniform", "bit-reversal", "transpose", "shuffle"};

/* The share lost with each pattern, relative to the mean of the four, in the mean over algorithms
 * and sizes: the largest less the smallest. One size alone has few networks, and what they lose
 * depends on the pairs that communicate over the failed switch. */
static struct measured measure_patterns(const struct claim_case *c)
{
    static const char *const engines[] = {"fera", "pira", "dr"}, *const sizes[] = {"16", "32",
                                                                                   "64"};
    double relative[PATTERNS] = {0}, least = NAN, most = NAN, count = 0;
    if (!(claim_mean(c, "lost", "switches=16 whole=yes") >= 100))
        return measured_value(NAN); /* shares of few packets say nothing */
    for (unsigned i = 0; i < 9; i++) {
        double share[PATTERNS], sum = 0;
        for (unsigned p = 0; p < PATTERNS; p++) {
            share[p] = claim_mean(c, "lost.share", "switches=%s engine=%s whole=yes pattern=%s",
                                  sizes[i / 3], engines[i % 3], patterns[p]);
            sum += share[p];
        }
        if (isnan(sum))
            continue; /* a quick run has one size */
        count++;
        for (unsigned p = 0; p < PATTERNS; p++)
            relative[p] += PATTERNS * share[p] / sum;
    }
    for (unsigned p = 0; p < PATTERNS; p++) {
        least = fmin(least, relative[p] / count);
        most = fmax(most, relative[p] / count);
    }
    return measured_explain(measured_value(most - least), "%.2f to %.2f of the mean", least, most);
}

static struct measured measure_pattern_order(const struct claim_case *c)
{
    const char *const *engines = c->detail;
    double least = NAN, most = NAN;
    for (unsigned i = 0; i < PATTERNS; i++) {
        char over[WHERE_BYTES], under[WHERE_BYTES];
        snprintf(over, sizeof over, "engine=%s pattern=%s whole=yes", engines[0], patterns[i]);
        snprintf(under, sizeof under, "engine=%s pattern=%s whole=yes", engines[1], patterns[i]);
        struct claim_range range = claim_compare(c, "lost", over, under);
        least = fmin(least, range.least);
        most = fmax(most, range.most);
    }
    return measured_range(least, most);
}

/* ---- Fig. 14 ---- */

struct peaks {
    const char *size, *over, *under;
};

static double peak_of(const struct claim_case *c, const char *size, const char *engine)
{
    return claim_summary(c, "accepted", "switches=%s engine=%s", size, engine).most;
}

static double ratio_of_peaks(const struct claim_case *c, const void *context)
{
    const struct peaks *peaks = context;
    return peak_of(c, peaks->size, peaks->over) / peak_of(c, peaks->size, peaks->under);
}

static double mean_ratio_of_peaks(const struct claim_case *c, const char *size, const void *context)
{
    const char *const *engines = context;
    return claim_over_networks(c, ratio_of_peaks, &(struct peaks){size, engines[0], engines[1]})
        .mean;
}

static struct measured compare_peaks(const struct claim_case *c, const char *over,
                                     const char *under)
{
    struct claim_range range =
        claim_over_sizes(c, mean_ratio_of_peaks, (const char *const[]){over, under});
    return measured_range(range.least, range.most);
}

static struct measured measure_lowest(const struct claim_case *c)
{
    return measured_both(compare_peaks(c, "pira", "fera"), compare_peaks(c, "pira", "dr"));
}

/* The share of the networks of all sizes for which `is_case` is 1; networks without runs count
 * neither way. */
static struct measured share_of_networks(const struct claim_case *c,
                                         double (*is_case)(const struct claim_case *c,
                                                           const void *size))
{
    double cases = 0, networks = 0;
    const char **sizes;
    size_t count = claim_values(c, "switches", &sizes, "");
    for (size_t i = 0; i < count; i++) {
        struct evidence_summary summary = claim_over_networks(c, is_case, sizes[i]);
        cases += summary.sum;
        networks += (double)summary.count;
    }
    mem_free(sizes);
    return measured_explain(measured_value(networks > 0 ? cases / networks : NAN), "%.0f of %.0f",
                            cases, networks);
}

static double pira_is_lowest(const struct claim_case *c, const void *size)
{
    double others = fmin(peak_of(c, size, "fera"), peak_of(c, size, "dr"));
    return isnan(others) ? NAN : peak_of(c, size, "pira") < others;
}

static struct measured measure_networks(const struct claim_case *c)
{
    return share_of_networks(c, pira_is_lowest);
}

static double dr_is_better(const struct claim_case *c, const void *size)
{
    double ratio = peak_of(c, size, "dr") / peak_of(c, size, "fera");
    return isnan(ratio) ? NAN : ratio > 1.02;
}

static struct measured measure_few_cases(const struct claim_case *c)
{
    return share_of_networks(c, dr_is_better);
}

/* Rates at about half of the load at which FERa saturates, and overload. */
enum load { HALF, OVERLOAD };

static double figure_at(const struct claim_case *c, const char *figure, enum load load,
                        const char *size, const char *engine)
{
    static const char *const rates[][3] = {{"8", "200000", "700000"}, {"16", "150000", "380000"},
                                           {"24", "90000", "260000"}, {"32", "40000", "120000"},
                                           {"48", "18000", "70000"},  {"64", "14000", "55000"}};
    for (unsigned i = 0; i < 6; i++)
        if (strcmp(rates[i][0], size) == 0)
            return claim_mean(c, figure, "switches=%s engine=%s rate=%s", size, engine,
                              rates[i][1 + load]);
    return NAN;
}

static double latency_of(const struct claim_case *c, const char *size, const char *engine)
{
    return figure_at(c, "latency.mean", HALF, size, engine);
}

static double pira_latency(const struct claim_case *c, const char *size, const void *context)
{
    (void)context;
    return latency_of(c, size, "pira") /
           fmin(latency_of(c, size, "fera"), latency_of(c, size, "dr"));
}

static struct measured measure_latency(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, pira_latency, NULL);
    return measured_range(range.least, range.most);
}

/* A hybrid over its final algorithm, on the same networks. */
struct final {
    const char *figure, *size, *over, *under;
    enum load load;
};

static double final_of_network(const struct claim_case *c, const void *context)
{
    const struct final *of = context;
    return figure_at(c, of->figure, of->load, of->size, of->over) /
           figure_at(c, of->figure, of->load, of->size, of->under);
}

static double final_of_size(const struct claim_case *c, const char *size, const void *context)
{
    struct final of = *(const struct final *)context;
    of.size = size;
    return claim_over_networks(c, final_of_network, &of).mean;
}

static struct measured compare_final(const struct claim_case *c, const char *figure, enum load load)
{
    struct final of = {figure, NULL, "pira+fera", "fera", load};
    struct claim_range fera = claim_over_sizes(c, final_of_size, &of);
    of.over = "pira+dr";
    of.under = "dr";
    struct claim_range dr = claim_over_sizes(c, final_of_size, &of);
    return measured_both(measured_range(fera.least, fera.most), measured_range(dr.least, dr.most));
}

static struct measured measure_final(const struct claim_case *c)
{
    return compare_final(c, "accepted", OVERLOAD);
}

static struct measured measure_final_latency(const struct claim_case *c)
{
    return compare_final(c, "latency.mean", HALF);
}

#define FIGURES(...) ((const char *const[]){__VA_ARGS__})
#define COMPUTING(figure, over, under)                                                             \
    (&(const struct computing){figure, "engine=" over, "engine=" under})

const struct measure measures_002[] = {
    {"tpds06-fig02", "critical", measure_critical, NULL},
    {"tpds06-fig02", "largest", measure_largest, NULL},
    {"tpds06-fig06", "entries", measure_entries, NULL},
    {"tpds06-fig08", "entries", measure_entries, NULL},
    {"tpds06-fig08", "explicit", measure_mean, "entries.explicit"},
    {"tpds06-fig08", "defaults", measure_mean, "entries.default"},
    {"tpds06-fig09", "order", measure_steps, NULL},
    {"tpds06-fig09", "interactions", measure_sum, "interactions"},
    {"tpds06-fig09", "failures", measure_sum, "failures"},
    {"tpds06-fig09", "entries", measure_ratio_of_figures, FIGURES("entries.pira", "entries.fera")},
    {"tpds06-fig09", "root", measure_ratio_of_figures, FIGURES("root.pira", "root.fera")},
    {"tpds06-routes", "differs", measure_share_of_sizes, "differs"},
    {"tpds06-routes", "longer", measure_longer, "longer"},
    {"tpds06-routes", "passes", measure_mean, "passes"},
    {"tpds06-routes", "mixtures", measure_mixtures, "unsafe"},
    {"tpds06-routes", "deadlock", measure_share_of_sizes, "deadlock"},
    {"tpds06-fig10", "fera", measure_computing, COMPUTING(MODELLED, "fera", "pira")},
    {"tpds06-fig10", "dr", measure_computing, COMPUTING(MODELLED, "dr", "pira")},
    {"tpds06-fig10", "gap", measure_computing, COMPUTING(MODELLED, "dr", "fera")},
    {"tpds06-fig10", "fera-cpu", measure_computing, COMPUTING("cpu", "fera", "pira")},
    {"tpds06-fig10", "dr-cpu", measure_computing, COMPUTING("cpu", "dr", "pira")},
    {"tpds06-fig10", "each-fera", measure_each_computing, COMPUTING(MODELLED, "fera", "pira")},
    {"tpds06-fig10", "each-dr", measure_each_computing, COMPUTING(MODELLED, "dr", "pira")},
    {"tpds06-fig10", "disparity", measure_disparity, NULL},
    {"tpds06-fig10", "power-fera", measure_power, "engine=fera"},
    {"tpds06-fig10", "power-pira", measure_power, "engine=pira"},
    {"tpds06-fig10", "power-gap", measure_power_gap, NULL},
    {"tpds06-fig11", "exploration", measure_exploration, NULL},
    {"tpds06-fig11", "order-dr", measure_order, FIGURES("dr", "fera")},
    {"tpds06-fig11", "order-fera", measure_order, FIGURES("fera", "pira")},
    {"tpds06-fig11", "first-fera", measure_first, "pira+fera"},
    {"tpds06-fig11", "first-dr", measure_first, "pira+dr"},
    {"tpds06-fig11", "decides", measure_fit, FIGURES("fault.time", "fault.compute.time", NULL)},
    {"tpds06-fig11", "links", measure_links, NULL},
    {"tpds06-fig11", "slightly", measure_slightly, NULL},
    {"tpds06-fig11", "shrinks", measure_shrinks, NULL},
    {"tpds06-fig11", "width-time", measure_widths, "fault.time"},
    {"tpds06-fig11", "width-lost", measure_widths, "lost.share"},
    {"tpds06-fig11", "width-latency", measure_width_latency, "latency.mean"},
    {"tpds06-fig12", "fewer", measure_fewer, NULL},
    {"tpds06-fig12", "considerably", measure_considerably, NULL},
    {"tpds06-fig12", "difference", measure_difference, NULL},
    {"tpds06-fig12", "larger", measure_larger, NULL},
    {"tpds06-fig12", "extra", measure_extra, NULL},
    {"tpds06-fig12", "time-load", measure_fit, FIGURES("lost", "fault.first.time", "offered")},
    {"tpds06-fig13", "patterns", measure_patterns, NULL},
    {"tpds06-fig13", "order-dr", measure_pattern_order, FIGURES("dr", "fera")},
    {"tpds06-fig13", "order-fera", measure_pattern_order, FIGURES("fera", "pira")},
    {"tpds06-fig14", "lowest", measure_lowest, NULL},
    {"tpds06-fig14", "networks", measure_networks, NULL},
    {"tpds06-fig14", "latency", measure_latency, NULL},
    {"tpds06-fig14", "few-cases", measure_few_cases, NULL},
    {"tpds06-fig14", "final", measure_final, NULL},
    {"tpds06-fig14", "final-latency", measure_final_latency, NULL},
    {0},
};
