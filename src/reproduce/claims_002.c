/* Measures for the claims of "Fast Routing Computation on InfiniBand Networks" (Bermudez, Casado,
 * Quiles and Duato, 2006). */
#include "reproduce/claims.h"

#include <math.h>

/* ---- Fig. 2 ---- */

static double computing_share(const struct claim_case *c, const char *size, const void *context)
{
    (void)context;
    return claim_mean(c, "fault.compute.time", "switches=%s engine=fera", size) /
           claim_mean(c, "fault.time", "switches=%s engine=fera", size);
}

static struct measured measure_critical(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, computing_share, NULL);
    return measured_range(range.least, range.most);
}

/* ---- Figs. 6 and 8 ---- */

static struct measured measure_entries(const struct claim_case *c)
{
    double printed = claim_mean(c, "entries.printed", CLAIM_ALL);
    double same = claim_mean(c, "entries.same", CLAIM_ALL);
    return measured_explain(measured_value(same), "of %.0f", printed);
}

/* ---- Fig. 10 ---- */

/* Over the time of PIRa: the mean of all sizes. */
static struct measured measure_computing(const struct claim_case *c)
{
    struct claim_range range = claim_compare(c, "change.1.compute.time", c->detail, "engine=pira");
    return measured_explain(measured_value(range.mean), "%.1f to %.1f", range.least, range.most);
}

static struct measured measure_disparity(const struct claim_case *c)
{
    struct claim_range range =
        claim_compare(c, "change.1.compute.time", "engine=fera", "engine=pira");
    return measured_explain(measured_value(range.count > 1 ? range.last / range.first : NAN),
                            "%.1f to %.1f", range.first, range.last);
}

/* ---- Fig. 11 ---- */

static struct measured measure_order(const struct claim_case *c)
{
    const char *const *runs = c->detail;
    struct claim_range range = claim_compare(c, "fault.time", runs[0], runs[1]);
    return measured_range(range.least, range.most);
}

static struct measured measure_links(const struct claim_case *c)
{
    return measured_value(
        claim_compare(c, "fault.time", "engine=fera fault=link", "engine=fera fault=switch").mean);
}

/* ---- Fig. 12 ---- */

static struct measured measure_hybrids(const struct claim_case *c)
{
    double fera =
        claim_compare(c, "lost", "engine=pira+fera fault=switch", "engine=fera fault=switch").last;
    double dr =
        claim_compare(c, "lost", "engine=pira+dr fault=switch", "engine=dr fault=switch").last;
    return measured_explain(measured_range(fera, dr), "FERa %.0f %%, DR %.0f %%", 100 * fera,
                            100 * dr);
}

static struct measured measure_extra(const struct claim_case *c)
{
    double fera =
        claim_compare(c, "lost", "engine=pira+fera fault=switch", "engine=pira fault=switch").mean;
    double dr =
        claim_compare(c, "lost", "engine=pira+dr fault=switch", "engine=pira fault=switch").mean;
    return measured_explain(measured_range(fera, dr), "FERa %.2f, DR %.2f", fera, dr);
}

/* ---- Fig. 13 ---- */

static struct measured measure_patterns(const struct claim_case *c)
{
    static const char *const patterns[] = {"bit-reversal", "transpose", "shuffle"};
    double uniform = claim_mean(c, "lost.share", "pattern=uniform"), least = NAN, most = NAN;
    for (unsigned i = 0; i < 3; i++) {
        double share = claim_mean(c, "lost.share", "pattern=%s", patterns[i]) / uniform;
        least = fmin(least, share);
        most = fmax(most, share);
    }
    return measured_range(least, most);
}

/* ---- Fig. 14 ---- */

/* The ratio of the peak throughputs of two engines on networks of one size. */
static double ratio_of_peaks(const struct claim_case *c, const char *size, const void *context)
{
    const char *const *engines = context;
    return claim_summary(c, "accepted", "switches=%s engine=%s", size, engines[0]).most /
           claim_summary(c, "accepted", "switches=%s engine=%s", size, engines[1]).most;
}

static struct claim_range compare_peaks(const struct claim_case *c, const char *over,
                                        const char *under)
{
    return claim_over_sizes(c, ratio_of_peaks, (const char *const[]){over, under});
}

static struct measured measure_lowest(const struct claim_case *c)
{
    struct claim_range fera = compare_peaks(c, "pira", "fera");
    struct claim_range dr = compare_peaks(c, "pira", "dr");
    return measured_both(measured_range(fera.least, fera.most), measured_range(dr.least, dr.most));
}

static struct measured measure_lower(const struct claim_case *c)
{
    return measured_value(compare_peaks(c, "pira", "fera").mean);
}

static struct measured measure_few_cases(const struct claim_case *c)
{
    struct claim_range range = compare_peaks(c, "dr", "fera");
    double share = isnan(range.most) ? NAN : (double)range.above / (double)range.count;
    return measured_explain(measured_value(share), "%zu of %zu", range.above, range.count);
}

static struct measured measure_final(const struct claim_case *c)
{
    struct claim_range fera = compare_peaks(c, "pira+fera", "fera");
    struct claim_range dr = compare_peaks(c, "pira+dr", "dr");
    return measured_both(measured_range(fera.least, fera.most), measured_range(dr.least, dr.most));
}

const struct measure measures_002[] = {
    {"002-fig02", "critical", measure_critical, NULL},
    {"002-fig06", "entries", measure_entries, NULL},
    {"002-fig08", "entries", measure_entries, NULL},
    {"002-fig08", "explicit", measure_mean, "entries.explicit"},
    {"002-fig08", "defaults", measure_mean, "entries.default"},
    {"002-fig10", "fera", measure_computing, "engine=fera"},
    {"002-fig10", "dr", measure_computing, "engine=dr"},
    {"002-fig10", "disparity", measure_disparity, NULL},
    {"002-fig11", "order-dr", measure_order,
     (const char *const[]){"engine=dr fault=switch", "engine=fera fault=switch"}},
    {"002-fig11", "order-fera", measure_order,
     (const char *const[]){"engine=fera fault=switch", "engine=pira fault=switch"}},
    {"002-fig11", "links", measure_links, NULL},
    {"002-fig12", "hybrids", measure_hybrids, NULL},
    {"002-fig12", "extra", measure_extra, NULL},
    {"002-fig13", "patterns", measure_patterns, NULL},
    {"002-fig14", "lowest", measure_lowest, NULL},
    {"002-fig14", "lower", measure_lower, NULL},
    {"002-fig14", "few-cases", measure_few_cases, NULL},
    {"002-fig14", "final", measure_final, NULL},
    {0},
};
