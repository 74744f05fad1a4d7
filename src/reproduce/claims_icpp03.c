/* Measures for the claims of "Evaluation of a Subnet Management Mechanism for InfiniBand Networks"
 * (Bermudez, Casado, Quiles, Pinkston and Duato, 2003).
 *
 * Means are over changes that leave all other switches connected with the manager (`whole`); the
 * others are counted in the explanation. */
#include "reproduce/claims.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LOW_LOAD "rate=41250 whole=yes"

static const char *const changes[] = {"addition", "removal"};
enum { CHANGES = 2, WHERE_BYTES = 128 };

static double mean_of_change(const struct claim_case *c, const char *size, const char *change,
                             const char *figure)
{
    return claim_mean(c, figure, "switches=%s change=%s " LOW_LOAD, size, change);
}

static struct measured explain_whole(const struct claim_case *c, struct measured measured)
{
    size_t all = claim_summary(c, "fault.time", CLAIM_ALL).count;
    return measured_explain(measured, "%zu changes, %zu more cut switches off",
                            claim_summary(c, "fault.time", "whole=yes").count,
                            all - claim_summary(c, "fault.time", "whole=yes").count);
}

/* ---- additions over removals (Fig. 7, 9, 10) ---- */

/* The ratio of a figure (the context), of the means of one size. */
static double addition_ratio(const struct claim_case *c, const char *size, const void *figure)
{
    return mean_of_change(c, size, "addition", figure) / mean_of_change(c, size, "removal", figure);
}

static struct measured measure_addition(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, addition_ratio, c->detail);
    return explain_whole(c, measured_range(range.least, range.most));
}

static double addition_is_more(const struct claim_case *c, const char *size, const void *figure)
{
    double ratio = addition_ratio(c, size, figure);
    return isnan(ratio) ? NAN : ratio > 1;
}

static struct measured measure_addition_sizes(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, addition_is_more, c->detail);
    return measured_explain(measured_value(range.mean), "%zu sizes", range.count);
}

/* Over the largest ratio that one more switch with one host explains: (N / (N - 2))^3 for the time
 * of N nodes, S / (S - 1) for the SMPs of S switches. */
static double addition_over_bound(const struct claim_case *c, const char *size, const void *figure)
{
    double switches, hosts;
    const char **values;
    char where[WHERE_BYTES];
    snprintf(where, sizeof where, "switches=%s", size);
    if (claim_values(c, "hosts", &values, where) == 0 || sscanf(values[0], "%lf", &hosts) != 1)
        hosts = NAN;
    mem_free(values);
    switches = sscanf(size, "%lf", &switches) == 1 ? switches : NAN;
    double nodes = switches + hosts;
    return addition_ratio(c, size, figure) / (strcmp(figure, "fault.time") == 0
                                                  ? pow(nodes / (nodes - 2), 3)
                                                  : switches / (switches - 1));
}

static struct measured measure_addition_bound(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, addition_over_bound, c->detail);
    return measured_range(range.least, range.most);
}

/* ---- shares of figures in a sum (Fig. 7, 9) ---- */

struct share {
    const char *parts[3], *whole;
};
static const struct share all_tasks = {
    {"fault.discover.time", "fault.compute.time", "fault.distribute.time"}, "fault.time"};
static const struct share computing = {{"fault.compute.time"}, "fault.time"};
static const struct share most_smps = {{"fault.smps.get", "fault.blocks"}, "fault.smps"};

static double share_where(const struct claim_case *c, const struct share *share, const char *where)
{
    double sum = 0;
    for (unsigned i = 0; i < 3 && share->parts[i]; i++)
        sum += claim_mean(c, share->parts[i], "%s", where);
    return sum / claim_mean(c, share->whole, "%s", where);
}

struct share_of_change {
    const struct share *share;
    const char *change;
};

static double share_of_size(const struct claim_case *c, const char *size, const void *context)
{
    const struct share_of_change *of = context;
    char where[WHERE_BYTES];
    snprintf(where, sizeof where, "switches=%s change=%s " LOW_LOAD, size, of->change);
    return share_where(c, of->share, where);
}

static struct claim_range share_over_sizes(const struct claim_case *c, const struct share *share,
                                           const char *change)
{
    return claim_over_sizes(c, share_of_size, &(struct share_of_change){share, change});
}

/* Of all sizes and both changes. */
static struct measured measure_share(const struct claim_case *c)
{
    struct claim_range addition = share_over_sizes(c, c->detail, "addition");
    struct claim_range removal = share_over_sizes(c, c->detail, "removal");
    return measured_both(measured_range(addition.least, addition.most),
                         measured_range(removal.least, removal.most));
}

/* From each size to the next. */
static struct measured measure_share_growth(const struct claim_case *c)
{
    struct claim_range addition = share_over_sizes(c, c->detail, "addition");
    struct claim_range removal = share_over_sizes(c, c->detail, "removal");
    return measured_explain(measured_both(measured_range(addition.least_step, addition.most_step),
                                          measured_range(removal.least_step, removal.most_step)),
                            "removals %.1f to %.1f %%", 100 * removal.first, 100 * removal.last);
}

static const char clos_addition[] = "network=clos change=addition whole=yes";
static const char clos_removal[] = "network=clos change=removal whole=yes";

static struct measured measure_clos_share(const struct claim_case *c)
{
    return measured_range(share_where(c, c->detail, clos_addition),
                          share_where(c, c->detail, clos_removal));
}

/* The difference to the smallest irregular network. */
static struct measured measure_clos_difference(const struct claim_case *c)
{
    struct claim_range addition = share_over_sizes(c, c->detail, "addition");
    struct claim_range removal = share_over_sizes(c, c->detail, "removal");
    return measured_range(share_where(c, c->detail, clos_addition) - addition.first,
                          share_where(c, c->detail, clos_removal) - removal.first);
}

static struct measured measure_clos_time(const struct claim_case *c)
{
    const char *figure = c->detail;
    return measured_range(
        claim_mean(c, figure, clos_addition) / mean_of_change(c, "8", "addition", figure),
        claim_mean(c, figure, clos_removal) / mean_of_change(c, "8", "removal", figure));
}

/* ---- Fig. 6 ---- */

static double peak_of_network(const struct claim_case *c, const void *where)
{
    return claim_summary(c, "accepted.node", "%s", (const char *)where).most;
}

static struct measured measure_saturation(const struct claim_case *c)
{
    struct evidence_summary peak = claim_over_networks(c, peak_of_network, "network=irregular");
    return measured_explain(measured_mean(peak), "%.0f to %.0f", peak.least, peak.most);
}

static struct measured measure_low_load(const struct claim_case *c)
{
    static const char where[] = "network=irregular rate=41250";
    return measured_value(claim_mean(c, "accepted", where) / claim_mean(c, "offered", where));
}

static const char clos_low[] = "network=clos rate=200000",
                  clos_high[] = "network=clos rate=1000000";

static struct measured measure_clos_saturation(const struct claim_case *c)
{
    return measured_explain(measured_value(claim_mean(c, "latency.mean", clos_high) /
                                           claim_mean(c, "latency.mean", clos_low)),
                            "%.0f of %.0f packets/s arrive",
                            claim_mean(c, "accepted.node", clos_high),
                            claim_mean(c, "offered.node", clos_high));
}

static struct measured measure_clos_load(const struct claim_case *c)
{
    double peak = claim_summary(c, "accepted.node", "network=clos").most;
    return measured_explain(measured_value(claim_mean(c, "offered.node", clos_low) / peak),
                            "saturation: %.0f packets/s", peak);
}

/* ---- Fig. 8 ---- */

/* Of the first computation, with all switches present. "Size" is the number of switches. */
static struct claim_range computing_time(const struct claim_case *c)
{
    return claim_figure_over_sizes(c, "change.1.compute.time", "change=removal rate=41250");
}

static struct measured measure_exponent(const struct claim_case *c)
{
    struct claim_range range = computing_time(c);
    return measured_explain(measured_value(range.power), "%.3g to %.3g ms", 1e3 * range.least,
                            1e3 * range.most);
}

static struct measured measure_fit(const struct claim_case *c)
{
    return measured_value(computing_time(c).fit);
}

/* No sweep has the parameter `processor` yet: without evidence the outcome is `unknown`. */
static struct measured measure_processors(const struct claim_case *c)
{
    return measured_mean(claim_ratio(c, "change.1.compute.time", "processor=1", "processor=2"));
}

/* `detail` is the last word of the figure: of the room in tables, or of the entries in use. */
static struct measured measure_entries(const struct claim_case *c)
{
    struct measured measured = measured_value(NAN);
    for (unsigned i = 0; i < CHANGES; i++) {
        char figure[WHERE_BYTES];
        snprintf(figure, sizeof figure, "changed.%s.%s", changes[i], (const char *)c->detail);
        struct claim_range range = claim_figure_over_sizes(c, figure, "whole=yes");
        struct measured one = measured_range(range.least, range.most);
        measured = i == 0 ? one : measured_both(measured, one);
    }
    return measured_explain(measured, "%zu changes",
                            claim_summary(c, "changed.removal.used", "whole=yes").count);
}

/* ---- Fig. 9 ---- */

static struct measured measure_computing_smps(const struct claim_case *c)
{
    struct evidence_summary all = claim_summary(c, "fault.smps", CLAIM_ALL);
    double tasks = claim_summary(c, "fault.discover.smps", CLAIM_ALL).sum +
                   claim_summary(c, "fault.distribute.smps", CLAIM_ALL).sum;
    return measured_explain(measured_value(all.count ? all.sum - tasks : NAN), "%zu changes",
                            all.count);
}

/* ---- Fig. 10 ---- */

static double is_slightly_more(const struct claim_case *c, const char *size, const void *figure)
{
    double ratio = addition_ratio(c, size, figure);
    return isnan(ratio) ? NAN : ratio > 1 && ratio <= 1.25;
}

static struct measured measure_inactive(const struct claim_case *c)
{
    struct claim_range ratios = claim_over_sizes(c, addition_ratio, c->detail);
    return measured_explain(measured_value(claim_over_sizes(c, is_slightly_more, c->detail).mean),
                            "%.2f to %.2f times, %zu sizes", ratios.least, ratios.most,
                            ratios.count);
}

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

static struct measured measure_added_losses(const struct claim_case *c)
{
    struct evidence_summary lost = claim_summary(c, "lost.before", "change=addition " LOW_LOAD);
    return measured_explain(measured_mean(lost), "%zu additions", lost.count);
}

static const struct claim_figure removal_losses = {"lost.before", "change=removal " LOW_LOAD};

static struct measured measure_whole_growth(const struct claim_case *c)
{
    const struct claim_figure *of = c->detail;
    struct claim_range range = claim_figure_over_sizes(c, of->figure, of->where);
    return measured_explain(measured_value(range.last / range.first), "%.0f to %.0f packets",
                            range.first, range.last);
}

/* The least ratio of the losses at one load to those at the next lower one. */
static double load_step(const struct claim_case *c, const void *context)
{
    double least = NAN, last = NAN;
    const char **rates;
    size_t count = claim_values(c, "rate", &rates, "switches=16 change=removal");
    (void)context;
    for (size_t i = 0; i < count; i++) {
        double lost =
            claim_mean(c, "lost.before", "switches=16 change=removal whole=yes rate=%s", rates[i]);
        least = fmin(least, lost / last); /* ignores NaN */
        last = lost;
    }
    mem_free(rates);
    return least;
}

static struct measured measure_load_growth(const struct claim_case *c)
{
    struct evidence_summary steps = claim_over_networks(c, load_step, NULL);
    return measured_explain(measured_range(steps.least, steps.most), "%zu networks",
                            steps.networks);
}

/* ---- Fig. 11 ---- */

#define USED_SWITCHES "switch=1,2,5,6"

static struct measured measure_clos_inactive(const struct claim_case *c)
{
    double addition = claim_mean(c, "lost.inactive-port", "change=addition " USED_SWITCHES);
    double removal = claim_mean(c, "lost.inactive-port", "change=removal " USED_SWITCHES);
    return measured_explain(measured_value(addition / removal), "%.0f, %.0f packets", addition,
                            removal);
}

static struct measured measure_clos_dominance(const struct claim_case *c)
{
    double before = claim_mean(c, "lost.before", "change=removal " USED_SWITCHES);
    double inactive = claim_mean(c, "lost.inactive-port", "change=removal " USED_SWITCHES);
    return measured_value(before / fmax(1, inactive));
}

static struct measured measure_unused(const struct claim_case *c)
{
    double used = claim_mean(c, "lost.before", "change=removal " USED_SWITCHES);
    double unused = fmax(claim_mean(c, "lost.before", "change=removal switch=3"),
                         claim_mean(c, "lost.before", "change=removal switch=4"));
    return measured_explain(measured_value(unused / used), "%.0f, others: %.0f packets", unused,
                            used);
}

/* ---- Fig. 12 ---- */

/* The failure comes 20 ms after a sweep. */
#define AS_PRINTED "start=10.08s whole=yes"
enum { HOSTS = 7, PACKETS_PER_HOST = 300000 };

static struct measured measure_instant(const struct claim_case *c)
{
    struct evidence_summary value = claim_summary(c, c->detail, AS_PRINTED);
    return measured_explain(measured_value(value.mean), "mean of %zu removals", value.count);
}

static struct measured measure_phases(const struct claim_case *c)
{
    struct evidence_summary delay = claim_summary(c, "fault.detect.time", "switch=S2");
    return measured_explain(measured_value(delay.mean), "%zu phases", delay.count);
}

static struct measured measure_delays(const struct claim_case *c)
{
    struct evidence_summary delay = claim_summary(c, "fault.detect.time", CLAIM_ALL);
    return measured_range(delay.least, delay.most);
}

static struct measured measure_losses(const struct claim_case *c)
{
    struct evidence_summary lost = claim_summary(c, "lost", AS_PRINTED);
    return measured_explain(
        measured_value(lost.mean), "mean of %zu removals, %.0f to %.0f; %.0f more were not made",
        lost.count, lost.least, lost.most, claim_mean(c, "unroutable", AS_PRINTED));
}

/* Where the printed value lies between the least and the most losses. */
static struct measured measure_losses_range(const struct claim_case *c)
{
    struct evidence_summary lost = claim_summary(c, "lost", AS_PRINTED);
    return measured_explain(measured_value((75000 - lost.least) / (lost.most - lost.least)),
                            "%.0f to %.0f packets", lost.least, lost.most);
}

/* Packets discarded at inactive ports, of those made during the distribution. */
static struct measured measure_gap(const struct claim_case *c)
{
    double hosts = HOSTS - claim_mean(c, "cut-off.adapters", AS_PRINTED);
    double lost = claim_mean(c, "lost.inactive-port", AS_PRINTED);
    double made = PACKETS_PER_HOST * hosts * claim_mean(c, "fault.distribute.time", AS_PRINTED);
    return measured_explain(measured_value(lost / made), "%.0f packets", lost);
}

/* The values of a function of the series of each run; NaN: no such series. */
static struct measured range_of_runs(const struct claim_case *c,
                                     double (*value_of)(const struct results *results))
{
    double least = NAN, most = NAN;
    for (size_t i = 0; i < c->evidence->items.count; i++) {
        const struct observation *run = &c->evidence->items.items[i];
        if (strcmp(observation_value(run, "preset"), c->preset) != 0)
            continue;
        double value = value_of(&run->results);
        least = fmin(least, value); /* ignores NaN */
        most = fmax(most, value);
    }
    return measured_range(least, most);
}

static double seconds(uint64_t picoseconds)
{
    return (double)picoseconds * 1e-12;
}

static double first_loss(const struct results *results)
{
    const struct series *lost = results_find_series(results, "lost");
    double fault =
        results_value(results, "fault.begin") - results_value(results, "fault.detect.time");
    for (size_t i = 0; lost && i < lost->points.count; i++)
        if (lost->points.items[i].value > 0)
            return seconds(lost->points.items[i].time) - fault;
    return NAN;
}

static struct measured measure_first_loss(const struct claim_case *c)
{
    return range_of_runs(c, first_loss);
}

/* The number of groups of SMPs from a time on. A pause separates two groups. */
static double count_steps(const struct results *results, double from, double pause)
{
    const struct series *smps = results_find_series(results, "smps");
    double last = -INFINITY, steps = 0;
    for (size_t i = 0; smps && i < smps->points.count; i++) {
        double time = seconds(smps->points.items[i].time);
        if (time < from)
            continue;
        steps += time - last > pause;
        last = time;
    }
    return smps ? steps : NAN;
}

static double steps_of_change(const struct results *results)
{
    return count_steps(results, results_value(results, "fault.begin"), 5e-3);
}

static struct measured measure_steps(const struct claim_case *c)
{
    return range_of_runs(c, steps_of_change);
}

static double steps_of_distribution(const struct results *results)
{
    double end = results_value(results, "fault.begin") + results_value(results, "fault.time");
    return count_steps(results, end - results_value(results, "fault.distribute.time") - 1e-9,
                       0.5e-3);
}

static struct measured measure_distribution_steps(const struct claim_case *c)
{
    return range_of_runs(c, steps_of_distribution);
}

const struct measure measures_000[] = {
    {"icpp03-fig06", "saturation", measure_saturation, NULL},
    {"icpp03-fig06", "low-load", measure_low_load, NULL},
    {"icpp03-fig06", "clos", measure_clos_saturation, NULL},
    {"icpp03-fig06", "clos-load", measure_clos_load, NULL},
    {"icpp03-fig07", "sum", measure_share, &all_tasks},
    {"icpp03-fig07", "addition", measure_addition, "fault.time"},
    {"icpp03-fig07", "addition-sizes", measure_addition_sizes, "fault.time"},
    {"icpp03-fig07", "addition-bound", measure_addition_bound, "fault.time"},
    {"icpp03-fig07", "computing", measure_share, &computing},
    {"icpp03-fig07", "share", measure_share_growth, &computing},
    {"icpp03-fig07", "clos-share", measure_clos_difference, &computing},
    {"icpp03-fig07", "clos-time", measure_clos_time, "fault.time"},
    {"icpp03-fig08", "quadratic", measure_exponent, NULL},
    {"icpp03-fig08", "fit", measure_fit, NULL},
    {"icpp03-fig08", "processors", measure_processors, NULL},
    {"icpp03-fig08", "entries", measure_entries, "room"},
    {"icpp03-fig08", "entries-used", measure_entries, "used"},
    {"icpp03-fig09", "tasks", measure_share, &most_smps},
    {"icpp03-fig09", "clos-tasks", measure_clos_share, &most_smps},
    {"icpp03-fig09", "addition", measure_addition, "fault.smps"},
    {"icpp03-fig09", "addition-bound", measure_addition_bound, "fault.smps"},
    {"icpp03-fig09", "computing", measure_computing_smps, NULL},
    {"icpp03-fig10", "inactive", measure_inactive, "lost.inactive-port"},
    {"icpp03-fig10", "dominance", measure_dominance, NULL},
    {"icpp03-fig10", "added", measure_added_losses, NULL},
    {"icpp03-fig10", "growth", measure_growth, &removal_losses},
    {"icpp03-fig10", "growth-all", measure_whole_growth, &removal_losses},
    {"icpp03-fig10", "load", measure_load_growth, NULL},
    {"icpp03-fig11", "inactive", measure_clos_inactive, NULL},
    {"icpp03-fig11", "dominance", measure_clos_dominance, NULL},
    {"icpp03-fig11", "unused", measure_unused, NULL},
    {"icpp03-fig12", "detection", measure_instant, "fault.detect.time"},
    {"icpp03-fig12", "phases", measure_phases, NULL},
    {"icpp03-fig12", "delays", measure_delays, NULL},
    {"icpp03-fig12", "stop", measure_instant, "traffic.stopped.all.longest"},
    {"icpp03-fig12", "steps", measure_steps, NULL},
    {"icpp03-fig12", "distribution", measure_distribution_steps, NULL},
    {"icpp03-fig12", "begin", measure_first_loss, NULL},
    {"icpp03-fig12", "losses", measure_losses, NULL},
    {"icpp03-fig12", "losses-range", measure_losses_range, NULL},
    {"icpp03-fig12", "gap", measure_gap, NULL},
    {0},
};
