/* Claims of "Fast Routing Computation on InfiniBand Networks" (Bermudez, Casado, Quiles and Duato,
 * 2006). */
#include "reproduce/claims.h"

#include <math.h>

/* ---- Fig. 2 ---- */

static double computing_share(const struct claim_case *c, const char *size, const void *context)
{
    (void)context;
    return claim_mean(c, "fault.compute.time", "switches=%s engine=fera", size) /
           claim_mean(c, "fault.time", "switches=%s engine=fera", size);
}

static void measure_critical(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, computing_share, NULL);
    claim_finds(c, range.least > 0.5, "%.0f to %.0f %%", 100 * range.least, 100 * range.most);
}

/* ---- Figs. 6 and 8 ---- */

static void measure_entries(const struct claim_case *c)
{
    double printed = claim_mean(c, "entries.printed", CLAIM_ALL);
    double same = claim_mean(c, "entries.same", CLAIM_ALL);
    claim_finds(c, same == printed && printed > 0, "%.0f of %.0f", same, printed);
}

static void measure_count(const struct claim_case *c)
{
    double entries = claim_mean(c, "entries.explicit", CLAIM_ALL);
    double defaults = claim_mean(c, "entries.default", CLAIM_ALL);
    claim_finds(c, entries == 50 && defaults == 7, "%.0f and %.0f", entries, defaults);
}

/* ---- Fig. 10 ---- */

struct computing {
    const char *engine;
    double times; /* claimed ratio to the time of PIRa */
};

static void measure_computing(const struct claim_case *c)
{
    const struct computing *claimed = c->detail;
    struct claim_range range =
        claim_compare(c, "change.1.compute.time", claimed->engine, "engine=pira");
    claim_finds(c, range.mean > claimed->times / 1.5 && range.mean < claimed->times * 1.5,
                "%.1f to %.1f", range.least, range.most);
}

static void measure_disparity(const struct claim_case *c)
{
    struct claim_range range =
        claim_compare(c, "change.1.compute.time", "engine=fera", "engine=pira");
    claim_finds(c, range.last > range.first && range.count > 1, "%.1f to %.1f", range.first,
                range.last);
}

/* ---- Fig. 11 ---- */

static void measure_order(const struct claim_case *c)
{
    struct claim_range dr =
        claim_compare(c, "fault.time", "engine=dr fault=switch", "engine=fera fault=switch");
    struct claim_range fera =
        claim_compare(c, "fault.time", "engine=fera fault=switch", "engine=pira fault=switch");
    claim_finds(c, dr.least > 1 && fera.least > 1, "%.2g to %.2g, %.2g to %.2g times", dr.least,
                dr.most, fera.least, fera.most);
}

static void measure_links(const struct claim_case *c)
{
    double mean =
        claim_compare(c, "fault.time", "engine=fera fault=link", "engine=fera fault=switch").mean;
    claim_finds(c, mean > 1 && mean < 2, "%.2f times", mean);
}

/* ---- Fig. 12 ---- */

static void measure_hybrids(const struct claim_case *c)
{
    double fera =
        claim_compare(c, "lost", "engine=pira+fera fault=switch", "engine=fera fault=switch").last;
    double dr =
        claim_compare(c, "lost", "engine=pira+dr fault=switch", "engine=dr fault=switch").last;
    claim_finds(c, fera < 0.7 && dr < 0.7, "%.0f and %.0f %%", 100 * fera, 100 * dr);
}

static void measure_extra(const struct claim_case *c)
{
    double fera =
        claim_compare(c, "lost", "engine=pira+fera fault=switch", "engine=pira fault=switch").mean;
    double dr =
        claim_compare(c, "lost", "engine=pira+dr fault=switch", "engine=pira fault=switch").mean;
    claim_finds(c, fera < 1.5 && dr < 1.5, "%.2f and %.2f times", fera, dr);
}

/* ---- Fig. 13 ---- */

static void measure_patterns(const struct claim_case *c)
{
    static const char *const patterns[] = {"bit-reversal", "transpose", "shuffle"};
    double uniform = claim_mean(c, "lost.share", "pattern=uniform"), least = NAN, most = NAN;
    for (unsigned i = 0; i < 3; i++) {
        double share = claim_mean(c, "lost.share", "pattern=%s", patterns[i]) / uniform;
        least = fmin(least, share);
        most = fmax(most, share);
    }
    claim_finds(c, least > 0.7 && most < 1.3, "%.2f to %.2f times", least, most);
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

static void measure_lowest(const struct claim_case *c)
{
    struct claim_range fera = compare_peaks(c, "pira", "fera");
    struct claim_range dr = compare_peaks(c, "pira", "dr");
    /* Two identical runs may differ by 1 %. */
    claim_finds(c, fera.most < 1.01 && dr.most < 1.01 && fera.mean < 1, "%.0f to %.0f %% of FERa",
                100 * fera.least, 100 * fera.most);
}

static void measure_few_cases(const struct claim_case *c)
{
    struct claim_range range = compare_peaks(c, "dr", "fera");
    claim_finds(c, range.above * 2 < range.count && !isnan(range.most), "%zu of %zu sizes",
                range.above, range.count);
}

static void measure_final(const struct claim_case *c)
{
    struct claim_range fera = compare_peaks(c, "pira+fera", "fera");
    struct claim_range dr = compare_peaks(c, "pira+dr", "dr");
    double least = fmin(fera.least, dr.least), most = fmax(fera.most, dr.most);
    claim_finds(c, least > 0.95 && most < 1.05, "%.0f to %.0f %%", 100 * least, 100 * most);
}

const struct claim claims_002[] = {
    {"002-fig02", "critical", "FERa's share of the time to update routes", "most of it",
     measure_critical, NULL},
    {"002-fig06", "entries", "FERa's table entries are those printed", "120 of 120",
     measure_entries, NULL},
    {"002-fig08", "entries", "PIRa's entries and default ports are those printed", "57 of 57",
     measure_entries, NULL},
    {"002-fig08", "count", "PIRa needs 50 entries and 7 default ports", "50 and 7", measure_count,
     NULL},
    {"002-fig10", "fera", "FERa's computing time over PIRa's", "about 5", measure_computing,
     &(const struct computing){"engine=fera", 5}},
    {"002-fig10", "dr", "DR's computing time over PIRa's", "about 10", measure_computing,
     &(const struct computing){"engine=dr", 10}},
    {"002-fig10", "disparity", "FERa over PIRa, from the smallest to the largest", "it grows",
     measure_disparity, NULL},
    {"002-fig11", "order", "DR over FERa, and FERa over PIRa: time to update", "both more",
     measure_order, NULL},
    {"002-fig11", "links", "link failures over switch failures, FERa", "slightly longer",
     measure_links, NULL},
    {"002-fig12", "hybrids", "hybrids lose far fewer than FERa and DR alone (largest)", "far fewer",
     measure_hybrids, NULL},
    {"002-fig12", "extra", "hybrids lose little more than PIRa alone", "about the same",
     measure_extra, NULL},
    {"002-fig13", "patterns", "share lost under other patterns, over uniform", "slight differences",
     measure_patterns, NULL},
    {"002-fig14", "lowest", "PIRa has the lowest throughput", "lowest", measure_lowest, NULL},
    {"002-fig14", "few-cases", "DR carries more than FERa only in a few cases", "a few",
     measure_few_cases, NULL},
    {"002-fig14", "final", "hybrids end with the final algorithm's throughput", "the same",
     measure_final, NULL},
    {0},
};
