/* Claims of "Evaluation of a Subnet Management Mechanism for InfiniBand Networks" (Bermudez,
 * Casado, Quiles, Pinkston and Duato, 2003). */
#include "reproduce/claims.h"

#include <math.h>
#include <stdlib.h>

static const double about = 1.0 / 3;

/* Calls `look` for each size and gives the extremes of what it finds. */
struct range {
    double least, most, first, last;
    bool rising;
    size_t count;
};
typedef double size_figure(const struct evidence *evidence, const char *preset, const char *size);

static struct range look_at_sizes(const struct evidence *evidence, const char *preset,
                                  size_figure *look)
{
    struct range range = {.least = NAN, .most = NAN, .first = NAN, .last = NAN, .rising = true};
    const char **sizes;
    char where[WHERE_BYTES];
    range.count = evidence_values(evidence, claim_all(where, preset), "switches", &sizes);
    for (size_t i = 0; i < range.count; i++) {
        double value = look(evidence, preset, sizes[i]);
        range.least = fmin(range.least, value);
        range.most = fmax(range.most, value);
        range.first = i == 0 ? value : range.first;
        range.rising &= i == 0 || value > range.last;
        range.last = value;
    }
    mem_free(sizes);
    return range;
}

static double mean_of(const struct evidence *evidence, const char *preset, const char *size,
                      const char *change, const char *figure)
{
    char where[WHERE_BYTES];
    claim_where(where, preset, "switches=%s change=%s", size, change);
    return evidence_mean(evidence, where, figure);
}

/* ---- Fig. 6 ---- */

static void measure_saturation(const struct evidence *evidence, const char *preset,
                               struct finding *finding)
{
    const char **rates;
    char where[WHERE_BYTES];
    double most = NAN;
    size_t count =
        evidence_values(evidence, claim_where(where, preset, "network=irregular"), "rate", &rates);
    for (size_t i = 0; i < count; i++) {
        claim_where(where, preset, "network=irregular rate=%s", rates[i]);
        most = fmax(most, evidence_mean(evidence, where, "accepted.node"));
    }
    finding_set(finding, claim_near(most, 165000, about), "%.0f", most);
    mem_free(rates);
}

static void measure_low_load(const struct evidence *evidence, const char *preset,
                             struct finding *finding)
{
    char where[WHERE_BYTES];
    claim_where(where, preset, "network=irregular rate=40000");
    double share =
        evidence_mean(evidence, where, "accepted") / evidence_mean(evidence, where, "offered");
    double latency = evidence_mean(evidence, where, "latency.mean");
    finding_set(finding, share > 0.99 && latency < 1e-5, "%.3g us, %.0f %%", latency * 1e6,
                100 * share);
}

/* ---- Fig. 7 ---- */

static double addition_over_removal(const struct evidence *evidence, const char *preset,
                                    const char *size)
{
    return mean_of(evidence, preset, size, "addition", "fault.time") /
           mean_of(evidence, preset, size, "removal", "fault.time");
}

static void measure_addition_time(const struct evidence *evidence, const char *preset,
                                  struct finding *finding)
{
    struct range range = look_at_sizes(evidence, preset, addition_over_removal);
    finding_set(finding, range.least > 1, "%.2f to %.2f times", range.least, range.most);
}

static double computing_share(const struct evidence *evidence, const char *preset, const char *size)
{
    return (mean_of(evidence, preset, size, "addition", "fault.compute.time") +
            mean_of(evidence, preset, size, "removal", "fault.compute.time")) /
           (mean_of(evidence, preset, size, "addition", "fault.time") +
            mean_of(evidence, preset, size, "removal", "fault.time"));
}

static void measure_computing_share(const struct evidence *evidence, const char *preset,
                                    struct finding *finding)
{
    struct range range = look_at_sizes(evidence, preset, computing_share);
    finding_set(finding, range.least > 0.5, "%.0f to %.0f %%", 100 * range.least, 100 * range.most);
}

static void measure_share_growth(const struct evidence *evidence, const char *preset,
                                 struct finding *finding)
{
    struct range range = look_at_sizes(evidence, preset, computing_share);
    finding_set(finding, range.rising && range.count > 1, "%.0f %% to %.0f %%", 100 * range.first,
                100 * range.last);
}

/* ---- Fig. 8 ---- */

/* Of the first set of tables, when all switches were there. "Size" is the number of switches. */
static void measure_exponent(const struct evidence *evidence, const char *preset,
                             struct finding *finding)
{
    char where[WHERE_BYTES];
    claim_where(where, preset, "switches=%s change=removal", "32");
    double large = evidence_mean(evidence, where, "change.1.compute.time");
    claim_where(where, preset, "switches=%s change=removal", "8");
    double small = evidence_mean(evidence, where, "change.1.compute.time");
    double power = log(large / small) / log(32.0 / 8);
    finding_set(finding, fabs(power - 2) < 0.4, "power %.2f", power);
}

static double removal_of_room(const struct evidence *evidence, const char *preset, const char *size)
{
    char where[WHERE_BYTES];
    return evidence_mean(evidence, claim_where(where, preset, "switches=%s", size),
                         "changed.removal.room");
}

static double addition_of_room(const struct evidence *evidence, const char *preset,
                               const char *size)
{
    char where[WHERE_BYTES];
    return evidence_mean(evidence, claim_where(where, preset, "switches=%s", size),
                         "changed.addition.room");
}

static void measure_entries_of_room(const struct evidence *evidence, const char *preset,
                                    struct finding *finding)
{
    double most = fmax(look_at_sizes(evidence, preset, removal_of_room).most,
                       look_at_sizes(evidence, preset, addition_of_room).most);
    finding_set(finding, most < 0.02, "at most %.2f %%", 100 * most);
}

static double removal_of_used(const struct evidence *evidence, const char *preset, const char *size)
{
    char where[WHERE_BYTES];
    return evidence_mean(evidence, claim_where(where, preset, "switches=%s", size),
                         "changed.removal.used");
}

static void measure_entries_of_used(const struct evidence *evidence, const char *preset,
                                    struct finding *finding)
{
    struct range range = look_at_sizes(evidence, preset, removal_of_used);
    finding_set(finding, range.most < 0.02, "%.0f to %.0f %%", 100 * range.least, 100 * range.most);
}

/* ---- Fig. 9 ---- */

static double addition_over_removal_smps(const struct evidence *evidence, const char *preset,
                                         const char *size)
{
    return mean_of(evidence, preset, size, "addition", "fault.smps") /
           mean_of(evidence, preset, size, "removal", "fault.smps");
}

static void measure_addition_smps(const struct evidence *evidence, const char *preset,
                                  struct finding *finding)
{
    struct range range = look_at_sizes(evidence, preset, addition_over_removal_smps);
    finding_set(finding, range.least > 1, "%.2f to %.2f times", range.least, range.most);
}

static double share_of_two_tasks(const struct evidence *evidence, const char *preset,
                                 const char *size)
{
    return (mean_of(evidence, preset, size, "removal", "fault.discover.smps") +
            mean_of(evidence, preset, size, "removal", "fault.distribute.smps")) /
           mean_of(evidence, preset, size, "removal", "fault.smps");
}

static void measure_two_tasks(const struct evidence *evidence, const char *preset,
                              struct finding *finding)
{
    struct range range = look_at_sizes(evidence, preset, share_of_two_tasks);
    finding_set(finding, range.least > 0.9, "%.0f %% at least", 100 * range.least);
}

/* ---- Fig. 10 ---- */

static double removal_causes(const struct evidence *evidence, const char *preset, const char *size)
{
    return mean_of(evidence, preset, size, "removal", "lost.before") /
           fmax(1, mean_of(evidence, preset, size, "removal", "lost.inactive-port"));
}

static void measure_dominance(const struct evidence *evidence, const char *preset,
                              struct finding *finding)
{
    struct range range = look_at_sizes(evidence, preset, removal_causes);
    finding_set(finding, range.least > 1, "%.3g to %.3g times", range.least, range.most);
}

static double inactive_ratio(const struct evidence *evidence, const char *preset, const char *size)
{
    double addition = mean_of(evidence, preset, size, "addition", "lost.inactive-port");
    double removal = mean_of(evidence, preset, size, "removal", "lost.inactive-port");
    return addition == 0 && removal == 0 ? 1 : addition / removal;
}

static void measure_inactive(const struct evidence *evidence, const char *preset,
                             struct finding *finding)
{
    struct range range = look_at_sizes(evidence, preset, inactive_ratio);
    finding_set(finding, range.least > 0.9 && range.most < 1.5, "%.2f to %.2f times", range.least,
                range.most);
}

static double removal_losses(const struct evidence *evidence, const char *preset, const char *size)
{
    return mean_of(evidence, preset, size, "removal", "lost");
}

static void measure_loss_growth(const struct evidence *evidence, const char *preset,
                                struct finding *finding)
{
    struct range range = look_at_sizes(evidence, preset, removal_losses);
    finding_set(finding, range.last > range.first && range.count > 1, "%.3g to %.3g", range.first,
                range.last);
}

/* ---- Fig. 11 ---- */

static void measure_unused(const struct evidence *evidence, const char *preset,
                           struct finding *finding)
{
    char where[WHERE_BYTES];
    double used = evidence_mean(evidence, claim_where(where, preset, "change=removal switch=2"),
                                "lost.before");
    double unused =
        evidence_summarize(evidence, claim_where(where, preset, "change=removal switch=3,4"),
                           "lost.before")
            .most;
    finding_set(finding, unused < 0.05 * used, "%.0f, switch 2: %.0f", unused, used);
}

/* ---- Fig. 12 ---- */

static void measure_instant_detection(const struct evidence *evidence, const char *preset,
                                      struct finding *finding)
{
    char where[WHERE_BYTES];
    double time = evidence_mean(evidence, claim_all(where, preset), "fault.detect.time");
    finding_set(finding, claim_near(time, 0.08, about), "%.3g ms", time * 1e3);
}

static void measure_instant_stop(const struct evidence *evidence, const char *preset,
                                 struct finding *finding)
{
    char where[WHERE_BYTES];
    double closed = evidence_mean(evidence, claim_all(where, preset), "lost.inactive-port");
    double time = evidence_mean(evidence, claim_all(where, preset), "fault.distribute.time");
    if (closed > 0)
        finding_set(finding, claim_near(time, 0.005, about), "%.3g ms", time * 1e3);
    else
        finding_set(finding, false, "never stopped%s", isnan(closed) ? " nan" : "");
}

static void measure_instant_losses(const struct evidence *evidence, const char *preset,
                                   struct finding *finding)
{
    char where[WHERE_BYTES];
    struct evidence_summary lost = evidence_summarize(evidence, claim_all(where, preset), "lost");
    finding_set(finding, lost.most > 75000, "%.0f to %.0f", lost.least, lost.most);
}

const struct claim claims_000[] = {
    {"000-fig06", "saturation", "32 switches, 21 hosts: packets/s/node at saturation",
     "about 165,000", measure_saturation},
    {"000-fig06", "low-load", "a quarter of that does not congest it", "low", measure_low_load},
    {"000-fig07", "addition", "adding a switch takes longer than removing it", "longer",
     measure_addition_time},
    {"000-fig07", "computing", "most of the time goes into computing paths", "most of it",
     measure_computing_share},
    {"000-fig07", "share", "this share grows with the network", "it grows", measure_share_growth},
    {"000-fig08", "quadratic", "computing time grows with the square of the size", "power 2",
     measure_exponent},
    {"000-fig08", "entries", "entries that change, of 1,024 in each switch", "less than 2 %",
     measure_entries_of_room},
    {"000-fig08", "entries-used", "the same, of the entries in use", "less than 2 %",
     measure_entries_of_used},
    {"000-fig09", "tasks", "most SMPs are for discovery and distribution", "most of them",
     measure_two_tasks},
    {"000-fig09", "addition", "adding a switch takes more SMPs than removing it", "more",
     measure_addition_smps},
    {"000-fig10", "dominance", "removal: losses without a way exceed those at closed ports",
     "they dominate", measure_dominance},
    {"000-fig10", "inactive", "closed ports lose as many in additions as in removals",
     "a little more", measure_inactive},
    {"000-fig10", "growth", "losses of removals grow with the network", "in general",
     measure_loss_growth},
    {"000-fig11", "unused", "Clos: switches 3 and 4 carry nothing that could be lost", "very few",
     measure_unused},
    {"000-fig12", "detection", "time until a sweep finds out", "about 80 ms",
     measure_instant_detection},
    {"000-fig12", "stop", "time that traffic stands still", "about 5 ms", measure_instant_stop},
    {"000-fig12", "losses", "packets lost in all", "more than 75,000", measure_instant_losses},
    {0},
};
