/* Claims of "Evaluation of a Subnet Management Mechanism for InfiniBand Networks" (Bermudez,
 * Casado, Quiles, Pinkston and Duato, 2003). */
#include "reproduce/claims.h"

#include <math.h>

static double mean_of_change(const struct claim_case *c, const char *size, const char *change,
                             const char *figure)
{
    return claim_mean(c, figure, "switches=%s change=%s", size, change);
}

static void measure_addition(const struct claim_case *c)
{
    struct claim_range range = claim_compare(c, c->detail, "change=addition", "change=removal");
    claim_finds(c, range.least > 1, "%.2f to %.2f times", range.least, range.most);
}

/* ---- Fig. 6 ---- */

static void measure_saturation(const struct claim_case *c)
{
    const char **rates;
    double most = NAN;
    size_t count = claim_values(c, "rate", &rates, "network=irregular");
    for (size_t i = 0; i < count; i++)
        most = fmax(most, claim_mean(c, "accepted.node", "network=irregular rate=%s", rates[i]));
    claim_finds(c, claim_near(most, 165000, CLAIM_ABOUT), "%.0f", most);
    mem_free(rates);
}

static void measure_low_load(const struct claim_case *c)
{
    static const char where[] = "network=irregular rate=40000";
    double share = claim_mean(c, "accepted", where) / claim_mean(c, "offered", where);
    double latency = claim_mean(c, "latency.mean", where);
    claim_finds(c, share > 0.99 && latency < 1e-5, "%.3g us, %.0f %%", latency * 1e6, 100 * share);
}

/* ---- Fig. 7 ---- */

static double computing_share(const struct claim_case *c, const char *size, const void *context)
{
    (void)context;
    return (mean_of_change(c, size, "addition", "fault.compute.time") +
            mean_of_change(c, size, "removal", "fault.compute.time")) /
           (mean_of_change(c, size, "addition", "fault.time") +
            mean_of_change(c, size, "removal", "fault.time"));
}

static void measure_computing_share(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, computing_share, NULL);
    claim_finds(c, range.least > 0.5, "%.0f to %.0f %%", 100 * range.least, 100 * range.most);
}

static void measure_share_growth(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, computing_share, NULL);
    claim_finds(c, range.rising && range.count > 1, "%.0f %% to %.0f %%", 100 * range.first,
                100 * range.last);
}

/* ---- Fig. 8 ---- */

/* Of the first computation, with all switches present. "Size" is the number of switches. */
static void measure_exponent(const struct claim_case *c)
{
    double large = mean_of_change(c, "32", "removal", "change.1.compute.time");
    double small = mean_of_change(c, "8", "removal", "change.1.compute.time");
    double power = log(large / small) / log(32.0 / 8);
    claim_finds(c, fabs(power - 2) < 0.4, "power %.2f", power);
}

static void measure_entries_of_room(const struct claim_case *c)
{
    double most = fmax(claim_over_sizes(c, claim_figure_of_size, "changed.removal.room").most,
                       claim_over_sizes(c, claim_figure_of_size, "changed.addition.room").most);
    claim_finds(c, most < 0.02, "at most %.2f %%", 100 * most);
}

static void measure_entries_of_used(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, claim_figure_of_size, "changed.removal.used");
    claim_finds(c, range.most < 0.02, "%.0f to %.0f %%", 100 * range.least, 100 * range.most);
}

/* ---- Fig. 9 ---- */

static double share_of_two_tasks(const struct claim_case *c, const char *size, const void *context)
{
    (void)context;
    return (mean_of_change(c, size, "removal", "fault.discover.smps") +
            mean_of_change(c, size, "removal", "fault.distribute.smps")) /
           mean_of_change(c, size, "removal", "fault.smps");
}

static void measure_two_tasks(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, share_of_two_tasks, NULL);
    claim_finds(c, range.least > 0.9, "%.0f %% at least", 100 * range.least);
}

/* ---- Fig. 10 ---- */

static double removal_causes(const struct claim_case *c, const char *size, const void *context)
{
    (void)context;
    return mean_of_change(c, size, "removal", "lost.before") /
           fmax(1, mean_of_change(c, size, "removal", "lost.inactive-port"));
}

static void measure_dominance(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, removal_causes, NULL);
    claim_finds(c, range.least > 1, "%.3g to %.3g times", range.least, range.most);
}

static void measure_inactive(const struct claim_case *c)
{
    struct claim_range range =
        claim_compare(c, "lost.inactive-port", "change=addition", "change=removal");
    claim_finds(c, range.least > 0.9 && range.most < 1.5, "%.2f to %.2f times", range.least,
                range.most);
}

static double removal_losses(const struct claim_case *c, const char *size, const void *context)
{
    (void)context;
    return mean_of_change(c, size, "removal", "lost");
}

static void measure_loss_growth(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, removal_losses, NULL);
    claim_finds(c, range.last > range.first && range.count > 1, "%.3g to %.3g", range.first,
                range.last);
}

/* ---- Fig. 11 ---- */

static void measure_unused(const struct claim_case *c)
{
    double used = claim_mean(c, "lost.before", "change=removal switch=2");
    double unused = claim_summary(c, "lost.before", "change=removal switch=3,4").most;
    claim_finds(c, unused < 0.05 * used, "%.0f, switch 2: %.0f", unused, used);
}

/* ---- Fig. 12 ---- */

static void measure_instant_stop(const struct claim_case *c)
{
    double closed = claim_mean(c, "lost.inactive-port", CLAIM_ALL);
    double time = claim_mean(c, "fault.distribute.time", CLAIM_ALL);
    if (closed > 0)
        claim_finds(c, claim_near(time, 0.005, CLAIM_ABOUT), "%.3g ms", time * 1e3);
    else
        claim_finds(c, false, "never stopped%s", isnan(closed) ? " nan" : "");
}

static void measure_instant_losses(const struct claim_case *c)
{
    struct evidence_summary lost = claim_summary(c, "lost", CLAIM_ALL);
    claim_finds(c, lost.most > 75000, "%.0f to %.0f", lost.least, lost.most);
}

const struct claim claims_000[] = {
    {"000-fig06", "saturation", "32 switches, 21 hosts: packets/s/node at saturation",
     "about 165,000", measure_saturation, NULL},
    {"000-fig06", "low-load", "a quarter of that does not congest it", "low", measure_low_load,
     NULL},
    {"000-fig07", "addition", "adding a switch takes longer than removing it", "longer",
     measure_addition, "fault.time"},
    {"000-fig07", "computing", "most of the time goes into computing paths", "most of it",
     measure_computing_share, NULL},
    {"000-fig07", "share", "this share grows with the network", "it grows", measure_share_growth,
     NULL},
    {"000-fig08", "quadratic", "computing time grows with the square of the size", "power 2",
     measure_exponent, NULL},
    {"000-fig08", "entries", "entries that change, of 1,024 in each switch", "less than 2 %",
     measure_entries_of_room, NULL},
    {"000-fig08", "entries-used", "the same, of the entries in use", "less than 2 %",
     measure_entries_of_used, NULL},
    {"000-fig09", "tasks", "most SMPs are for discovery and distribution", "most of them",
     measure_two_tasks, NULL},
    {"000-fig09", "addition", "adding a switch takes more SMPs than removing it", "more",
     measure_addition, "fault.smps"},
    {"000-fig10", "dominance", "removal: losses without a path exceed those at closed ports",
     "they dominate", measure_dominance, NULL},
    {"000-fig10", "inactive", "closed ports lose as many in additions as in removals",
     "a little more", measure_inactive, NULL},
    {"000-fig10", "growth", "losses of removals grow with the network", "in general",
     measure_loss_growth, NULL},
    {"000-fig11", "unused", "Clos: switches 3 and 4 carry nothing that could be lost", "very few",
     measure_unused, NULL},
    {"000-fig12", "detection", "time until a sweep finds out", "about 80 ms", claim_measure_bounds,
     &(const struct claim_bounds){"fault.detect.time", 0.08 * 2 / 3, 0.08 * 4 / 3, true}},
    {"000-fig12", "stop", "time that traffic stands still", "about 5 ms", measure_instant_stop,
     NULL},
    {"000-fig12", "losses", "packets lost in all", "more than 75,000", measure_instant_losses,
     NULL},
    {0},
};
