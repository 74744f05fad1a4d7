/* Measures for the claims of "Evaluation of a Subnet Management Mechanism for InfiniBand Networks"
 * (Bermudez, Casado, Quiles, Pinkston and Duato, 2003). */
#include "reproduce/claims.h"

#include <math.h>

static double mean_of_change(const struct claim_case *c, const char *size, const char *change,
                             const char *figure)
{
    return claim_mean(c, figure, "switches=%s change=%s", size, change);
}

static struct measured measure_addition(const struct claim_case *c)
{
    struct claim_range range = claim_compare(c, c->detail, "change=addition", "change=removal");
    return measured_range(range.least, range.most);
}

/* ---- Fig. 6 ---- */

static double peak_of_network(const struct claim_case *c, const void *context)
{
    (void)context;
    return claim_summary(c, "accepted.node", "network=irregular").most;
}

static struct measured measure_saturation(const struct claim_case *c)
{
    return measured_mean(claim_over_networks(c, peak_of_network, NULL));
}

static const char low_load[] = "network=irregular rate=40000";

static struct measured measure_low_load(const struct claim_case *c)
{
    return measured_value(claim_mean(c, "accepted", low_load) / claim_mean(c, "offered", low_load));
}

static struct measured measure_low_latency(const struct claim_case *c)
{
    return measured_mean(claim_summary(c, "latency.mean", low_load));
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

static struct measured measure_computing_share(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, computing_share, NULL);
    return measured_range(range.least, range.most);
}

static struct measured measure_share_growth(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, computing_share, NULL);
    return measured_explain(measured_range(range.least_step, range.most_step), "%.0f %% to %.0f %%",
                            100 * range.first, 100 * range.last);
}

/* ---- Fig. 8 ---- */

/* Of the first computation, with all switches present. "Size" is the number of switches. */
static struct measured measure_exponent(const struct claim_case *c)
{
    struct claim_range range =
        claim_figure_over_sizes(c, "change.1.compute.time", "change=removal");
    return measured_explain(measured_value(range.power), "R^2 %.3f", range.fit);
}

static struct measured measure_entries_of_room(const struct claim_case *c)
{
    struct claim_range removal = claim_figure_over_sizes(c, "changed.removal.room", "");
    struct claim_range addition = claim_figure_over_sizes(c, "changed.addition.room", "");
    return measured_both(measured_range(removal.least, removal.most),
                         measured_range(addition.least, addition.most));
}

static struct measured measure_entries_of_used(const struct claim_case *c)
{
    struct claim_range range = claim_figure_over_sizes(c, "changed.removal.used", "");
    return measured_range(range.least, range.most);
}

/* ---- Fig. 9 ---- */

static double share_of_two_tasks(const struct claim_case *c, const char *size, const void *context)
{
    (void)context;
    return (mean_of_change(c, size, "removal", "fault.discover.smps") +
            mean_of_change(c, size, "removal", "fault.distribute.smps")) /
           mean_of_change(c, size, "removal", "fault.smps");
}

static struct measured measure_two_tasks(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, share_of_two_tasks, NULL);
    return measured_range(range.least, range.most);
}

/* ---- Fig. 10 ---- */

static double removal_causes(const struct claim_case *c, const char *size, const void *context)
{
    (void)context;
    return mean_of_change(c, size, "removal", "lost.before") /
           fmax(1, mean_of_change(c, size, "removal", "lost.inactive-port"));
}

static struct measured measure_dominance(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, removal_causes, NULL);
    return measured_range(range.least, range.most);
}

static struct measured measure_inactive(const struct claim_case *c)
{
    struct claim_range range =
        claim_compare(c, "lost.inactive-port", "change=addition", "change=removal");
    return measured_range(range.least, range.most);
}

static struct measured measure_loss_growth(const struct claim_case *c)
{
    struct claim_range range = claim_figure_over_sizes(c, "lost", "change=removal");
    return measured_explain(measured_value(range.count > 1 ? range.last / range.first : NAN),
                            "%.0f to %.0f packets", range.first, range.last);
}

/* ---- Fig. 11 ---- */

static struct measured measure_unused(const struct claim_case *c)
{
    double used = claim_mean(c, "lost.before", "change=removal switch=2");
    double unused = claim_summary(c, "lost.before", "change=removal switch=3,4").most;
    return measured_explain(measured_value(unused / used), "%.0f, switch 2: %.0f packets", unused,
                            used);
}

/* ---- Fig. 12 ---- */

/* Traffic stops while ports are closed; without closed ports it never stops. */
static struct measured measure_instant_stop(const struct claim_case *c)
{
    if (claim_mean(c, "lost.inactive-port", CLAIM_ALL) == 0)
        return measured_explain(measured_value(0), "no port is closed");
    return measured_mean(claim_summary(c, "fault.distribute.time", CLAIM_ALL));
}

static struct measured measure_instant_losses(const struct claim_case *c)
{
    struct evidence_summary lost = claim_summary(c, "lost", CLAIM_ALL);
    return measured_explain(measured_mean(lost), "mean of %zu switches, %.0f to %.0f", lost.count,
                            lost.least, lost.most);
}

const struct measure measures_000[] = {
    {"000-fig06", "saturation", measure_saturation, NULL},
    {"000-fig06", "low-load", measure_low_load, NULL},
    {"000-fig06", "low-latency", measure_low_latency, NULL},
    {"000-fig07", "addition", measure_addition, "fault.time"},
    {"000-fig07", "computing", measure_computing_share, NULL},
    {"000-fig07", "share", measure_share_growth, NULL},
    {"000-fig08", "quadratic", measure_exponent, NULL},
    {"000-fig08", "entries", measure_entries_of_room, NULL},
    {"000-fig08", "entries-used", measure_entries_of_used, NULL},
    {"000-fig09", "tasks", measure_two_tasks, NULL},
    {"000-fig09", "addition", measure_addition, "fault.smps"},
    {"000-fig10", "dominance", measure_dominance, NULL},
    {"000-fig10", "inactive", measure_inactive, NULL},
    {"000-fig10", "growth", measure_loss_growth, NULL},
    {"000-fig11", "unused", measure_unused, NULL},
    {"000-fig12", "detection", measure_mean, "fault.detect.time"},
    {"000-fig12", "stop", measure_instant_stop, NULL},
    {"000-fig12", "losses", measure_instant_losses, NULL},
    {0},
};
