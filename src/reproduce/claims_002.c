/* Claims of "Fast Routing Computation on InfiniBand Networks" (Bermudez, Casado, Quiles and Duato,
 * 2006). */
#include "reproduce/claims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A figure of one engine on networks of one size, and the ratio of two of them. */
struct ratio {
    const char *figure, *over, *under; /* engines */
    const char *where;
};

static double engine_mean(const struct evidence *evidence, const char *preset, const char *size,
                          const char *engine, const char *figure, const char *more)
{
    char where[WHERE_BYTES];
    claim_where(where, preset, "switches=%s engine=%s %s", size, engine, more);
    return evidence_mean(evidence, where, figure);
}

struct range {
    double least, most, mean, first, last;
    size_t count, above; /* above: sizes with more than 1.02 */
};

static void note(struct range *range, double value)
{
    range->least = fmin(range->least, value);
    range->most = fmax(range->most, value);
    range->mean = (range->count ? range->mean * (double)range->count : 0) + value;
    range->count++;
    range->mean /= (double)range->count;
    range->first = range->count == 1 ? value : range->first;
    range->last = value;
    range->above += value > 1.02;
}

static struct range empty_range(void)
{
    return (struct range){.least = NAN, .most = NAN, .first = NAN, .last = NAN, .mean = NAN};
}

/* Where both are nothing they are alike. */
static double divide(double over, double under)
{
    return over == 0 && under == 0 ? 1 : over / under;
}

static struct range compare_engines(const struct evidence *evidence, const char *preset,
                                    const struct ratio *ratio)
{
    struct range range = empty_range();
    const char **sizes;
    char where[WHERE_BYTES];
    size_t count = evidence_values(evidence, claim_all(where, preset), "switches", &sizes);
    for (size_t i = 0; i < count; i++)
        note(&range, divide(engine_mean(evidence, preset, sizes[i], ratio->over, ratio->figure,
                                        ratio->where),
                            engine_mean(evidence, preset, sizes[i], ratio->under, ratio->figure,
                                        ratio->where)));
    mem_free(sizes);
    return range;
}

/* ---- Fig. 2 ---- */

static void measure_critical(const struct evidence *evidence, const char *preset,
                             struct finding *finding)
{
    struct range range = empty_range();
    const char **sizes;
    char where[WHERE_BYTES];
    size_t count = evidence_values(evidence, claim_all(where, preset), "switches", &sizes);
    for (size_t i = 0; i < count; i++)
        note(&range, engine_mean(evidence, preset, sizes[i], "fera", "fault.compute.time", "") /
                         engine_mean(evidence, preset, sizes[i], "fera", "fault.time", ""));
    finding_set(finding, range.least > 0.5, "%.0f to %.0f %%", 100 * range.least, 100 * range.most);
    mem_free(sizes);
}

/* ---- Figs. 6 and 8 ---- */

static void measure_entries(const struct evidence *evidence, const char *preset,
                            struct finding *finding)
{
    char where[WHERE_BYTES];
    claim_all(where, preset);
    double printed = evidence_mean(evidence, where, "entries.printed");
    double same = evidence_mean(evidence, where, "entries.same");
    finding_set(finding, same == printed && printed > 0, "%.0f of %.0f", same, printed);
}

static void measure_count(const struct evidence *evidence, const char *preset,
                          struct finding *finding)
{
    char where[WHERE_BYTES];
    claim_all(where, preset);
    double entries = evidence_mean(evidence, where, "entries.explicit");
    double defaults = evidence_mean(evidence, where, "entries.default");
    finding_set(finding, entries == 50 && defaults == 7, "%.0f and %.0f", entries, defaults);
}

/* ---- Fig. 10 ---- */

static void measure_fera_over_pira(const struct evidence *evidence, const char *preset,
                                   struct finding *finding)
{
    struct range range = compare_engines(
        evidence, preset, &(struct ratio){"change.1.compute.time", "fera", "pira", ""});
    finding_set(finding, range.mean > 5.0 / 1.5 && range.mean < 5 * 1.5, "%.1f to %.1f",
                range.least, range.most);
}

static void measure_dr_over_pira(const struct evidence *evidence, const char *preset,
                                 struct finding *finding)
{
    struct range range = compare_engines(
        evidence, preset, &(struct ratio){"change.1.compute.time", "dr", "pira", ""});
    finding_set(finding, range.mean > 10.0 / 1.5 && range.mean < 10 * 1.5, "%.1f to %.1f",
                range.least, range.most);
}

static void measure_disparity(const struct evidence *evidence, const char *preset,
                              struct finding *finding)
{
    struct range range = compare_engines(
        evidence, preset, &(struct ratio){"change.1.compute.time", "fera", "pira", ""});
    finding_set(finding, range.last > range.first && range.count > 1, "%.1f to %.1f", range.first,
                range.last);
}

/* ---- Fig. 11 ---- */

static void measure_order(const struct evidence *evidence, const char *preset,
                          struct finding *finding)
{
    struct range dr = compare_engines(evidence, preset,
                                      &(struct ratio){"fault.time", "dr", "fera", "fault=switch"});
    struct range fera = compare_engines(
        evidence, preset, &(struct ratio){"fault.time", "fera", "pira", "fault=switch"});
    finding_set(finding, dr.least > 1 && fera.least > 1, "%.2g to %.2g, %.2g to %.2g times",
                dr.least, dr.most, fera.least, fera.most);
}

static void measure_links(const struct evidence *evidence, const char *preset,
                          struct finding *finding)
{
    struct range range = empty_range();
    const char **sizes;
    char where[WHERE_BYTES];
    size_t count = evidence_values(evidence, claim_all(where, preset), "switches", &sizes);
    for (size_t i = 0; i < count; i++)
        note(&range,
             engine_mean(evidence, preset, sizes[i], "fera", "fault.time", "fault=link") /
                 engine_mean(evidence, preset, sizes[i], "fera", "fault.time", "fault=switch"));
    finding_set(finding, range.mean > 1 && range.mean < 2, "%.2f times", range.mean);
    mem_free(sizes);
}

/* ---- Fig. 12 ---- */

static void measure_hybrids(const struct evidence *evidence, const char *preset,
                            struct finding *finding)
{
    struct range fera = compare_engines(
        evidence, preset, &(struct ratio){"lost", "pira+fera", "fera", "fault=switch"});
    struct range dr =
        compare_engines(evidence, preset, &(struct ratio){"lost", "pira+dr", "dr", "fault=switch"});
    finding_set(finding, fera.last < 0.7 && dr.last < 0.7, "%.0f and %.0f %%", 100 * fera.last,
                100 * dr.last);
}

static void measure_extra(const struct evidence *evidence, const char *preset,
                          struct finding *finding)
{
    struct range fera = compare_engines(
        evidence, preset, &(struct ratio){"lost", "pira+fera", "pira", "fault=switch"});
    struct range dr = compare_engines(evidence, preset,
                                      &(struct ratio){"lost", "pira+dr", "pira", "fault=switch"});
    finding_set(finding, fera.mean < 1.5 && dr.mean < 1.5, "%.2f and %.2f times", fera.mean,
                dr.mean);
}

/* ---- Fig. 13 ---- */

static void measure_patterns(const struct evidence *evidence, const char *preset,
                             struct finding *finding)
{
    static const char *const patterns[] = {"bit-reversal", "transpose", "shuffle"};
    struct range range = empty_range();
    char where[WHERE_BYTES];
    double uniform =
        evidence_mean(evidence, claim_where(where, preset, "pattern=uniform"), "lost.share");
    for (unsigned i = 0; i < 3; i++)
        note(&range, evidence_mean(evidence, claim_where(where, preset, "pattern=%s", patterns[i]),
                                   "lost.share") /
                         uniform);
    finding_set(finding, range.least > 0.7 && range.most < 1.3, "%.2f to %.2f times", range.least,
                range.most);
}

/* ---- Fig. 14 ---- */

/* The most that an engine's routes carry, on networks of one size. */
static double peak(const struct evidence *evidence, const char *preset, const char *size,
                   const char *engine)
{
    char where[WHERE_BYTES];
    claim_where(where, preset, "switches=%s engine=%s", size, engine);
    return evidence_summarize(evidence, where, "accepted").most;
}

static struct range compare_peaks(const struct evidence *evidence, const char *preset,
                                  const char *over, const char *under)
{
    struct range range = empty_range();
    const char **sizes;
    char where[WHERE_BYTES];
    size_t count = evidence_values(evidence, claim_all(where, preset), "switches", &sizes);
    for (size_t i = 0; i < count; i++)
        note(&range,
             peak(evidence, preset, sizes[i], over) / peak(evidence, preset, sizes[i], under));
    mem_free(sizes);
    return range;
}

static void measure_lowest(const struct evidence *evidence, const char *preset,
                           struct finding *finding)
{
    struct range fera = compare_peaks(evidence, preset, "pira", "fera");
    struct range dr = compare_peaks(evidence, preset, "pira", "dr");
    /* A hundredth is what two runs of the same may differ by. */
    finding_set(finding, fera.most < 1.01 && dr.most < 1.01 && fera.mean < 1,
                "%.0f to %.0f %% of FERa", 100 * fera.least, 100 * fera.most);
}

static void measure_few_cases(const struct evidence *evidence, const char *preset,
                              struct finding *finding)
{
    struct range range = compare_peaks(evidence, preset, "dr", "fera");
    finding_set(finding, range.above * 2 < range.count && !isnan(range.most), "%zu of %zu sizes",
                range.above, range.count);
}

static void measure_final(const struct evidence *evidence, const char *preset,
                          struct finding *finding)
{
    struct range fera = compare_peaks(evidence, preset, "pira+fera", "fera");
    struct range dr = compare_peaks(evidence, preset, "pira+dr", "dr");
    double least = fmin(fera.least, dr.least), most = fmax(fera.most, dr.most);
    finding_set(finding, least > 0.95 && most < 1.05, "%.0f to %.0f %%", 100 * least, 100 * most);
}

const struct claim claims_002[] = {
    {"002-fig02", "critical", "FERa's share of the time to update routes", "most of it",
     measure_critical},
    {"002-fig06", "entries", "FERa's table entries are those printed", "120 of 120",
     measure_entries},
    {"002-fig08", "entries", "PIRa's entries and default ports are those printed", "57 of 57",
     measure_entries},
    {"002-fig08", "count", "PIRa needs 50 entries and 7 default ports", "50 and 7", measure_count},
    {"002-fig10", "fera", "FERa's computing time over PIRa's", "about 5", measure_fera_over_pira},
    {"002-fig10", "dr", "DR's computing time over PIRa's", "about 10", measure_dr_over_pira},
    {"002-fig10", "disparity", "FERa over PIRa, from the smallest to the largest", "it grows",
     measure_disparity},
    {"002-fig11", "order", "DR over FERa, and FERa over PIRa: time to update", "both more",
     measure_order},
    {"002-fig11", "links", "link failures over switch failures, FERa", "slightly longer",
     measure_links},
    {"002-fig12", "hybrids", "hybrids lose far fewer than FERa and DR alone (largest)", "far fewer",
     measure_hybrids},
    {"002-fig12", "extra", "hybrids lose little more than PIRa alone", "about the same",
     measure_extra},
    {"002-fig13", "patterns", "share lost under other patterns, over uniform", "slight differences",
     measure_patterns},
    {"002-fig14", "lowest", "PIRa has the lowest throughput", "lowest", measure_lowest},
    {"002-fig14", "few-cases", "DR carries more than FERa only in a few cases", "a few",
     measure_few_cases},
    {"002-fig14", "final", "hybrids end with the final algorithm's throughput", "the same",
     measure_final},
    {0},
};
