/* Measures for the claims of "Modeling InfiniBand with OPNET" (Bermudez, Casado, Quiles, Pinkston
 * and Duato, 2003). */
#include "reproduce/claims.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- curves of traffic received over traffic sent ---- */

/* A curve is the runs that match a condition ("vls=1"), one for each value of `rate`. Details of
 * measures are arrays of such conditions that end with NULL. */
static const char *const one_curve[] = {"", NULL};
static const char *const lanes[] = {"vls=2", "vls=1", NULL};
static const char *const buffer_sizes[] = {"buffer=4096",  "buffer=8192",  "buffer=16384",
                                           "buffer=32768", "buffer=65536", NULL};
static const char *const internals[] = {"internal=100", "internal=150", "internal=200", NULL};
static const char *const grid[] = {"vls=1 buffer=4096",  "vls=1 buffer=8192",  "vls=1 buffer=16384",
                                   "vls=1 buffer=32768", "vls=2 buffer=4096",  "vls=2 buffer=8192",
                                   "vls=2 buffer=16384", "vls=2 buffer=32768", NULL};

enum { CARRIED_PERCENT = 99 }; /* of the traffic sent, received: the network carries the load */

static double peak(const struct claim_case *c, const char *curve)
{
    return claim_summary(c, "accepted", "%s", curve).most;
}

static double share_received(const struct claim_case *c, const char *curve, const char *rate)
{
    return claim_mean(c, "accepted", "%s rate=%s", curve, rate) /
           claim_mean(c, "offered", "%s rate=%s", curve, rate);
}

/* The greatest difference between the traffic received and sent, relative to the latter, at loads
 * below 80 % of the peak throughput of the curve. */
static double difference_of_network(const struct claim_case *c, const void *context)
{
    const char **rates;
    double greatest = NAN;
    for (const char *const *curve = context; *curve; curve++) {
        size_t count = claim_values(c, "rate", &rates, *curve);
        for (size_t i = 0; i < count; i++)
            if (claim_mean(c, "offered", "%s rate=%s", *curve, rates[i]) < 0.8 * peak(c, *curve))
                greatest = fmax(greatest, fabs(1 - share_received(c, *curve, rates[i])));
        mem_free(rates);
    }
    return greatest;
}

static struct measured measure_difference(const struct claim_case *c)
{
    return measured_value(claim_over_networks(c, difference_of_network, c->detail).most);
}

/* The share received of the traffic sent at the highest load, the largest of all curves. */
static struct measured measure_saturated(const struct claim_case *c)
{
    const char **rates;
    size_t count = claim_values(c, "rate", &rates, "");
    double largest = NAN;
    for (const char *const *curve = c->detail; *curve && count > 0; curve++)
        largest = fmax(largest, share_received(c, *curve, rates[count - 1]));
    mem_free(rates);
    return measured_value(largest);
}

enum { SATURATED_PERCENT = 97 }; /* of the traffic sent, received at most */

/* The peak throughput, if the highest load saturates the network; else NaN. */
static double saturation(const struct claim_case *c, const char *curve)
{
    const char **rates;
    size_t count = claim_values(c, "rate", &rates, curve);
    bool saturated =
        count > 0 && share_received(c, curve, rates[count - 1]) * 100 <= SATURATED_PERCENT;
    mem_free(rates);
    return saturated ? peak(c, curve) : NAN;
}

static double saturation_of_network(const struct claim_case *c, const void *context)
{
    return saturation(c, context);
}

/* That of the first curve over that of the second. */
static double gain_of_network(const struct claim_case *c, const void *context)
{
    const char *const *curves = context;
    return saturation(c, curves[0]) / saturation(c, curves[1]);
}

static struct measured measure_gain(const struct claim_case *c)
{
    struct evidence_summary gain = claim_over_networks(c, gain_of_network, c->detail);
    gain.mean--;
    return measured_mean(gain);
}

/* ---- Fig. 6 ---- */

static struct measured measure_bandwidth(const struct claim_case *c)
{
    return measured_value(claim_summary(c, "accepted.bits", CLAIM_ALL).most);
}

static struct measured measure_sent(const struct claim_case *c)
{
    return measured_value(claim_summary(c, "offered.bits", CLAIM_ALL).most);
}

static double sent_of_rate(const struct claim_case *c, const char *rate, const void *context)
{
    (void)context;
    return claim_mean(c, "offered.node", "rate=%s", rate) / strtod(rate, NULL);
}

static struct measured measure_sources(const struct claim_case *c)
{
    struct claim_range range = claim_over_values(c, "rate", sent_of_rate, NULL);
    return measured_range(range.least, range.most);
}

/* From the highest load of a sender that the link carries to the lowest that it does not. */
static struct measured measure_knee(const struct claim_case *c)
{
    const char **rates;
    double carried = NAN, refused = NAN;
    size_t count = claim_values(c, "rate", &rates, "");
    for (size_t i = 0; i < count; i++) {
        double load = claim_mean(c, "offered.node.bits", "rate=%s", rates[i]);
        if (share_received(c, "", rates[i]) * 100 >= CARRIED_PERCENT)
            carried = fmax(carried, load);
        else
            refused = fmin(refused, load);
    }
    mem_free(rates);
    return measured_range(carried, refused);
}

static double plateau_of_rate(const struct claim_case *c, const char *rate, const void *context)
{
    (void)context;
    return share_received(c, "", rate) * 100 >= CARRIED_PERCENT
               ? NAN
               : claim_mean(c, "accepted.bits", "rate=%s", rate);
}

static struct measured measure_plateau(const struct claim_case *c)
{
    struct claim_range range = claim_over_values(c, "rate", plateau_of_rate, NULL);
    return measured_range(range.least, range.most);
}

static struct measured measure_flat(const struct claim_case *c)
{
    struct claim_range range = claim_over_values(c, "rate", plateau_of_rate, NULL);
    return measured_value(range.most / range.least);
}

/* ---- Fig. 22 ---- */

static struct measured measure_grid(const struct claim_case *c)
{
    return measured_value((double)claim_summary(c, "accepted", CLAIM_ALL).count);
}

static double received_at_rate(const struct claim_case *c, const char *rate, const void *context)
{
    return claim_mean(c, "accepted", "%s rate=%s", (const char *)context, rate);
}

/* The least ratio of the traffic received at a load to that at the next lower load. */
static struct measured measure_monotone(const struct claim_case *c)
{
    double least = NAN;
    for (const char *const *curve = grid; *curve; curve++)
        least = fmin(least, claim_over_values(c, "rate", received_at_rate, *curve).least_step);
    return measured_value(least);
}

/* ---- Fig. 23 ---- */

static struct measured measure_throughput(const struct claim_case *c)
{
    struct evidence_summary peaks = claim_over_networks(c, saturation_of_network, "vls=2");
    return measured_explain(measured_mean(peaks), "%zu network%s, %.2f to %.2f million",
                            peaks.networks, peaks.networks == 1 ? "" : "s", peaks.least * 1e-6,
                            peaks.most * 1e-6);
}

static struct measured measure_lanes(const struct claim_case *c)
{
    struct evidence_summary ratio = claim_over_networks(c, gain_of_network, lanes);
    return measured_explain(measured_mean(ratio), "%zu network%s", ratio.networks,
                            ratio.networks == 1 ? "" : "s");
}

static struct measured measure_every_network(const struct claim_case *c)
{
    struct evidence_summary ratio = claim_over_networks(c, gain_of_network, lanes);
    return measured_range(ratio.least, ratio.most);
}

/* The delay with two VLs over that with one, at the highest load that both carry. */
static double delays_of_network(const struct claim_case *c, const void *context)
{
    const char **rates;
    double ratio = NAN;
    (void)context;
    size_t count = claim_values(c, "rate", &rates, "");
    for (size_t i = 0; i < count; i++)
        if (share_received(c, "vls=1", rates[i]) * 100 >= CARRIED_PERCENT &&
            share_received(c, "vls=2", rates[i]) * 100 >= CARRIED_PERCENT)
            ratio = claim_mean(c, "latency.mean", "vls=2 rate=%s", rates[i]) /
                    claim_mean(c, "latency.mean", "vls=1 rate=%s", rates[i]);
    mem_free(rates);
    return ratio;
}

static struct measured measure_delays(const struct claim_case *c)
{
    struct evidence_summary ratio = claim_over_networks(c, delays_of_network, NULL);
    return measured_range(ratio.least, ratio.most);
}

/* At 350,000 packets/s of each of 14 hosts: the end of the printed axis. */
static double greatest_delay(const struct claim_case *c, const void *context)
{
    (void)context;
    return claim_summary(c, "latency.mean", "rate=350000").most;
}

static struct measured measure_greatest_delay(const struct claim_case *c)
{
    return measured_mean(claim_over_networks(c, greatest_delay, NULL));
}

/* ---- Figs. 24 and 25 ---- */

static double saturation_of_buffer(const struct claim_case *c, const char *buffer,
                                   const void *context)
{
    char curve[64];
    (void)context;
    snprintf(curve, sizeof curve, "network=clos buffer=%s", buffer);
    return saturation(c, curve);
}

static struct measured measure_buffer_steps(const struct claim_case *c)
{
    struct claim_range range = claim_over_values(c, "buffer", saturation_of_buffer, NULL);
    return measured_range(range.least_step, range.most_step);
}

static const char *const clos_buffers[] = {"network=clos buffer=65536", "network=clos buffer=4096"};
static const char *const irregular_lanes[] = {"network=irregular vls=2", "network=irregular vls=1"};

static struct measured measure_buffers_and_lanes(const struct claim_case *c)
{
    double buffer_gain = claim_over_networks(c, gain_of_network, clos_buffers).mean - 1;
    double lane_gain = claim_over_networks(c, gain_of_network, irregular_lanes).mean - 1;
    return measured_explain(measured_value(buffer_gain / lane_gain), "%.1f and %.1f %%",
                            buffer_gain * 100, lane_gain * 100);
}

static struct measured measure_internal(const struct claim_case *c)
{
    const char *const half[] = {internals[1], internals[0]};
    const char *const twice[] = {internals[2], internals[0]};
    return measured_range(claim_over_networks(c, gain_of_network, half).mean,
                          claim_over_networks(c, gain_of_network, twice).mean);
}

/* ---- Fig. 26 ---- */

/* Changes that leave all other switches connected with the manager, at the load of the figure. */
static const char whole[] = "rate=2000 whole=yes";

static struct measured explain_whole(const struct claim_case *c, struct measured measured)
{
    return measured_explain(measured, "%zu of %zu networks stay whole",
                            claim_summary(c, "fault.time", whole).networks,
                            claim_summary(c, "fault.time", "rate=2000").networks);
}

static struct measured measure_whole(const struct claim_case *c)
{
    return explain_whole(c, measured_mean(claim_summary(c, c->detail, whole)));
}

/* From the least to the greatest value of the networks. */
static struct measured measure_each(const struct claim_case *c)
{
    struct evidence_summary all = claim_summary(c, c->detail, whole);
    return explain_whole(c, measured_range(all.least, all.most));
}

static struct measured measure_bottleneck(const struct claim_case *c)
{
    double others =
        claim_mean(c, "fault.discover.time", whole) + claim_mean(c, "fault.distribute.time", whole);
    return measured_value(claim_mean(c, "fault.compute.time", whole) / others);
}

/* The time of the distribution over that of the discovery. */
static double tasks_of_network(const struct claim_case *c, const void *context)
{
    (void)context;
    return claim_mean(c, "fault.distribute.time", whole) /
           claim_mean(c, "fault.discover.time", whole);
}

static struct measured measure_tasks(const struct claim_case *c)
{
    return measured_mean(claim_over_networks(c, tasks_of_network, NULL));
}

static double is_faster(const struct claim_case *c, const void *context)
{
    double ratio = tasks_of_network(c, context);
    return isnan(ratio) ? NAN : ratio < 1;
}

static struct measured measure_faster(const struct claim_case *c)
{
    return measured_value(claim_over_networks(c, is_faster, NULL).mean);
}

/* The number of points of a series from one time (s) to another. */
static size_t count_points(const struct series *series, double from, double to)
{
    const double rounding = 1e-9; /* figures are numbers of seconds, points of ps */
    size_t count = 0;
    for (size_t i = 0; i < series->points.count; i++) {
        double time = (double)series->points.items[i].time * 1e-12;
        count += time >= from - rounding && time <= to + rounding;
    }
    return count;
}

/* The sum of `value_of` over the runs with updated tables, without those for which it is NaN. */
struct run_sum {
    double sum;
    size_t runs;
};

static struct run_sum sum_of_runs(const struct claim_case *c,
                                  double (*value_of)(const struct observation *run,
                                                     const struct series *updated))
{
    struct run_sum sum = {0};
    for (size_t i = 0; i < c->evidence->items.count; i++) {
        const struct observation *run = &c->evidence->items.items[i];
        const struct series *updated = results_find_series(&run->results, "fault.updated");
        if (strcmp(observation_value(run, "preset"), c->preset) != 0 ||
            strcmp(observation_value(run, "whole"), "yes") != 0 || !updated ||
            updated->points.count == 0)
            continue;
        double value = value_of(run, updated);
        sum.sum += isnan(value) ? 0 : value;
        sum.runs += !isnan(value);
    }
    return sum;
}

enum { SHORTEST_GAP_MS = 1 }; /* long enough for packets, if ports were open */

/* The manager closes all ports before it updates the first table, and opens them after the last. */
static double received_in_gap(const struct observation *run, const struct series *updated)
{
    const struct series *packets = results_find_series(&run->results, "packets");
    const struct point *points = updated->points.items;
    double from = (double)points[0].time * 1e-12;
    double to = (double)points[updated->points.count - 1].time * 1e-12;
    return packets && (to - from) * 1e3 >= SHORTEST_GAP_MS ? (double)count_points(packets, from, to)
                                                           : NAN;
}

static struct measured measure_gap(const struct claim_case *c)
{
    struct run_sum sum = sum_of_runs(c, received_in_gap);
    return measured_explain(measured_value(sum.runs ? sum.sum : NAN), "%zu change%s", sum.runs,
                            sum.runs == 1 ? "" : "s");
}

/* The share of the switches whose tables are updated in the phase of distribution. */
static double updated_in_phase(const struct observation *run, const struct series *updated)
{
    double end = observation_figure(run, "fault.begin") + observation_figure(run, "fault.time");
    double begin = end - observation_figure(run, "fault.distribute.time");
    size_t count = updated->points.count;
    return updated->points.items[count - 1].value * (double)count_points(updated, begin, end) /
           (double)count;
}

static struct measured measure_updated(const struct claim_case *c)
{
    struct run_sum sum = sum_of_runs(c, updated_in_phase);
    return measured_value(sum.runs ? sum.sum / (double)sum.runs : NAN);
}

/* NaN if some networks lost nothing: the mean would be that of the others. */
static double lost_at_rate(const struct claim_case *c, const char *rate, const void *context)
{
    struct evidence_summary lost = claim_summary(c, "lost", "rate=%s whole=yes", rate);
    (void)context;
    return lost.least > 0 ? lost.mean : NAN;
}

/* The exponent of a power law; 0 if the values do not follow one. */
static struct measured measured_power(struct claim_range range)
{
    bool follows = !(range.fit < 0.97) && !(range.least <= 0);
    if (isnan(range.fit)) /* two points */
        return measured_value(follows ? range.power : 0);
    return measured_explain(measured_value(follows ? range.power : 0), "%sR^2 %.3f",
                            follows ? "" : "no power law, ", range.fit);
}

static struct measured measure_load(const struct claim_case *c)
{
    return measured_power(claim_over_values(c, "rate", lost_at_rate, NULL));
}

/* ---- Fig. 27 ---- */

static struct measured measure_power(const struct claim_case *c)
{
    return measured_power(claim_figure_over_sizes(c, c->detail, ""));
}

/* From the least to the greatest time in a network, relative to the mean. */
static double spread_of_network(const struct claim_case *c, const void *context)
{
    struct evidence_summary time =
        claim_summary(c, "fault.distribute.time", "switches=%s", (const char *)context);
    return (time.most - time.least) / time.mean;
}

static double spread_of_size(const struct claim_case *c, const char *size, const void *context)
{
    (void)context;
    return claim_over_networks(c, spread_of_network, size).mean;
}

static struct measured measure_spread(const struct claim_case *c)
{
    struct claim_range range = claim_over_sizes(c, spread_of_size, NULL);
    return measured_range(range.least, range.most);
}

const struct measure measures_001[] = {
    {"san03-fig06", "bandwidth", measure_bandwidth, NULL},
    {"san03-fig06", "plateau", measure_plateau, NULL},
    {"san03-fig06", "flat", measure_flat, NULL},
    {"san03-fig06", "knee", measure_knee, NULL},
    {"san03-fig06", "delivery", measure_difference, one_curve},
    {"san03-fig06", "sent", measure_sent, NULL},
    {"san03-fig06", "sources", measure_sources, NULL},
    {"san03-fig22", "grid", measure_grid, NULL},
    {"san03-fig22", "delivery", measure_difference, grid},
    {"san03-fig22", "monotone", measure_monotone, NULL},
    {"san03-fig23", "throughput", measure_throughput, NULL},
    {"san03-fig23", "lanes", measure_lanes, NULL},
    {"san03-fig23", "every-network", measure_every_network, NULL},
    {"san03-fig23", "latency", measure_delays, NULL},
    {"san03-fig23", "delay", measure_greatest_delay, NULL},
    {"san03-fig23", "delivery", measure_difference, lanes},
    {"san03-fig24", "saturated", measure_saturated, buffer_sizes},
    {"san03-fig24", "buffers", measure_gain, clos_buffers},
    {"san03-fig24", "monotone", measure_buffer_steps, NULL},
    {"san03-fig24", "lanes", measure_buffers_and_lanes, NULL},
    {"san03-fig25", "saturated", measure_saturated, internals},
    {"san03-fig25", "internal", measure_internal, NULL},
    {"san03-fig26", "before", measure_each, "smps.before"},
    {"san03-fig26", "detection", measure_each, "fault.detect.time"},
    {"san03-fig26", "discovery-smps", measure_whole, "fault.discover.smps"},
    {"san03-fig26", "discovery-time", measure_each, "fault.discover.time"},
    {"san03-fig26", "computing", measure_each, "fault.compute.time"},
    {"san03-fig26", "bottleneck", measure_bottleneck, NULL},
    {"san03-fig26", "distribution-smps", measure_each, "fault.distribute.smps"},
    {"san03-fig26", "distribution-time", measure_each, "fault.distribute.time"},
    {"san03-fig26", "tasks", measure_tasks, NULL},
    {"san03-fig26", "faster", measure_faster, NULL},
    {"san03-fig26", "updated", measure_updated, NULL},
    {"san03-fig26", "gap", measure_gap, NULL},
    {"san03-fig26", "closed", measure_whole, "lost.inactive-port"},
    {"san03-fig26", "losses", measure_whole, "lost"},
    {"san03-fig26", "load", measure_load, NULL},
    {"san03-fig27", "smps", measure_growth,
     &(const struct claim_figure){"fault.distribute.smps", ""}},
    {"san03-fig27", "smps-slope", measure_power, "fault.distribute.smps"},
    {"san03-fig27", "time", measure_growth,
     &(const struct claim_figure){"fault.distribute.time", ""}},
    {"san03-fig27", "time-slope", measure_power, "fault.distribute.time"},
    {"san03-fig27", "spread", measure_spread, NULL},
    {0},
};
