/* Measures for the claims of "Modeling InfiniBand with OPNET" (Bermudez, Casado, Quiles, Pinkston
 * and Duato, 2003). */
#include "reproduce/claims.h"

#include <math.h>
#include <string.h>

#define LINK_BITS 2e9 /* data rate of a 1X link */

/* ---- Fig. 6 ---- */

static struct measured measure_bandwidth(const struct claim_case *c)
{
    return measured_value(claim_summary(c, "accepted.bits", CLAIM_ALL).most);
}

static struct measured measure_delivery(const struct claim_case *c)
{
    struct measured all = measured_value(NAN);
    for (size_t i = 0; i < c->evidence->items.count; i++) {
        const struct observation *observation = &c->evidence->items.items[i];
        double offered = observation_figure(observation, "offered.bits");
        if (strcmp(observation_value(observation, "preset"), c->preset) != 0 ||
            !(offered < 0.95 * LINK_BITS))
            continue;
        double share = observation_figure(observation, "accepted.bits") / offered;
        all.least = fmin(all.least, share); /* ignores NaN */
        all.most = fmax(all.most, share);
    }
    return all;
}

/* ---- Fig. 22 ---- */

static struct measured measure_grid(const struct claim_case *c)
{
    return measured_value((double)claim_summary(c, "accepted", CLAIM_ALL).count);
}

/* ---- Figs. 23 to 25 ---- */

/* The relative gain in peak throughput of one setting over another, for each network. */
static double throughput_gain(const struct claim_case *c, const void *context)
{
    const char *const *settings = context;
    return claim_summary(c, "accepted", "%s", settings[0]).most /
               claim_summary(c, "accepted", "%s", settings[1]).most -
           1;
}

static struct measured measure_gain(const struct claim_case *c)
{
    return measured_mean(claim_over_networks(c, throughput_gain, c->detail));
}

/* Latency at a load that one VL can carry. */
static struct measured measure_vl_latency(const struct claim_case *c)
{
    double one = claim_mean(c, "latency.mean", "vls=1 rate=220000");
    double two = claim_mean(c, "latency.mean", "vls=2 rate=220000");
    return measured_explain(measured_value(two / one), "%.2f and %.2f us", two * 1e6, one * 1e6);
}

/* ---- Fig. 26 ---- */

static struct measured measure_bottleneck(const struct claim_case *c)
{
    return measured_value(claim_mean(c, "fault.compute.time", CLAIM_ALL) /
                          claim_mean(c, "fault.time", CLAIM_ALL));
}

static struct measured measure_faster(const struct claim_case *c)
{
    double distribution = claim_mean(c, "fault.distribute.time", CLAIM_ALL);
    double discovery = claim_mean(c, "fault.discover.time", CLAIM_ALL);
    return measured_explain(measured_value(distribution / discovery), "%.3g and %.3g ms",
                            distribution * 1e3, discovery * 1e3);
}

const struct measure measures_001[] = {
    {"001-fig06", "bandwidth", measure_bandwidth, NULL},
    {"001-fig06", "delivery", measure_delivery, NULL},
    {"001-fig22", "grid", measure_grid, NULL},
    {"001-fig23", "lanes", measure_gain, (const char *const[]){"vls=2", "vls=1"}},
    {"001-fig23", "latency", measure_vl_latency, NULL},
    {"001-fig24", "buffers", measure_gain, (const char *const[]){"buffer=65536", "buffer=4096"}},
    {"001-fig25", "internal", measure_gain, (const char *const[]){"internal=200", "internal=100"}},
    {"001-fig26", "detection", measure_mean, "fault.detect.time"},
    {"001-fig26", "discovery-smps", measure_mean, "fault.discover.smps"},
    {"001-fig26", "discovery-time", measure_mean, "fault.discover.time"},
    {"001-fig26", "computing", measure_mean, "fault.compute.time"},
    {"001-fig26", "bottleneck", measure_bottleneck, NULL},
    {"001-fig26", "distribution-smps", measure_mean, "fault.distribute.smps"},
    {"001-fig26", "distribution-time", measure_mean, "fault.distribute.time"},
    {"001-fig26", "faster", measure_faster, NULL},
    {"001-fig26", "stop", measure_mean, "lost.inactive-port"},
    {"001-fig26", "losses", measure_mean, "lost"},
    {"001-fig27", "smps", measure_growth,
     &(const struct claim_figure){"fault.distribute.smps", ""}},
    {"001-fig27", "time", measure_growth,
     &(const struct claim_figure){"fault.distribute.time", ""}},
    {0},
};
