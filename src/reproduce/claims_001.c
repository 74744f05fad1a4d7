/* Claims of "Modeling InfiniBand with OPNET" (Bermudez, Casado, Quiles, Pinkston and Duato, 2003).
 *
 * "About" means within a third where the value depends on the network of the paper, which is not
 * published, and within a tenth of the throughput where the paper claims little effect. */
#include "reproduce/claims.h"

#include <math.h>
#include <string.h>

#define LINK_BITS 2e9 /* data rate of a 1X link */
enum { GRID_RUNS = 104, DISTRIBUTION_SMPS = 360 };

/* ---- Fig. 6 ---- */

static void measure_bandwidth(const struct claim_case *c)
{
    double most = claim_summary(c, "accepted.bits", CLAIM_ALL).most;
    /* Packets that started before the window count completely: about 0.1 %. */
    claim_finds(c, most <= LINK_BITS * 1.001, "%.3f Gbit/s", most / 1e9);
}

static void measure_delivery(const struct claim_case *c)
{
    double least = NAN;
    for (size_t i = 0; i < c->evidence->items.count; i++) {
        const struct observation *observation = &c->evidence->items.items[i];
        double offered = observation_figure(observation, "offered.bits");
        if (strcmp(observation_value(observation, "preset"), c->preset) == 0 &&
            offered < 0.95 * LINK_BITS)
            least = fmin(least, observation_figure(observation, "accepted.bits") / offered);
    }
    claim_finds(c, least > 0.98, "%.1f %% of it", 100 * least);
}

/* ---- Fig. 22 ---- */

static void measure_grid(const struct claim_case *c)
{
    size_t count = claim_summary(c, "accepted", CLAIM_ALL).count;
    claim_finds(c, count == GRID_RUNS, "%zu runs", count);
}

/* ---- Figs. 23 to 25 ---- */

/* The relative gain in peak throughput of one setting over another. */
static double throughput_gain(const struct claim_case *c, const char *with, const char *without)
{
    return claim_summary(c, "accepted", "%s", with).most /
               claim_summary(c, "accepted", "%s", without).most -
           1;
}

static void measure_vls(const struct claim_case *c)
{
    double more = throughput_gain(c, "vls=2", "vls=1");
    claim_finds(c, more > 0.02, "%+.1f %%", 100 * more);
}

/* Latency at a load that one VL can carry. */
static void measure_vl_latency(const struct claim_case *c)
{
    double one = claim_mean(c, "latency.mean", "vls=1 rate=220000");
    double two = claim_mean(c, "latency.mean", "vls=2 rate=220000");
    claim_finds(c, two <= one, "%.2f and %.2f us", two * 1e6, one * 1e6);
}

static void measure_small_gain(const struct claim_case *c)
{
    const char *const *settings = c->detail;
    double more = throughput_gain(c, settings[0], settings[1]);
    claim_finds(c, more < 0.1, "%+.1f %%", 100 * more);
}

/* ---- Fig. 26 ---- */

static void measure_bottleneck(const struct claim_case *c)
{
    double share =
        claim_mean(c, "fault.compute.time", CLAIM_ALL) / claim_mean(c, "fault.time", CLAIM_ALL);
    claim_finds(c, share > 0.5, "%.0f %% of it", 100 * share);
}

static void measure_distribution_smps(const struct claim_case *c)
{
    double smps = claim_mean(c, "fault.distribute.smps", CLAIM_ALL);
    claim_finds(c, smps == DISTRIBUTION_SMPS, "%.0f", smps);
}

static void measure_faster(const struct claim_case *c)
{
    double distribution = claim_mean(c, "fault.distribute.time", CLAIM_ALL);
    double discovery = claim_mean(c, "fault.discover.time", CLAIM_ALL);
    bool faster = distribution < discovery;
    claim_finds(c, faster, "%.3g %c %.3g ms", distribution * 1e3, faster ? '<' : '>',
                discovery * 1e3);
}

static void measure_stop(const struct claim_case *c)
{
    double lost = claim_mean(c, "lost.inactive-port", CLAIM_ALL);
    claim_finds(c, lost > 0, "%.0f lost there", lost);
}

/* ---- Fig. 27 ---- */

struct growth {
    const char *figure;
    double factor; /* from the figure to the shown unit */
};

static void measure_growth(const struct claim_case *c)
{
    const struct growth *growth = c->detail;
    struct claim_range range = claim_over_sizes(c, claim_figure_of_size, growth->figure);
    claim_finds(c, range.rising && range.count > 1, "%.3g to %.3g", range.first * growth->factor,
                range.last * growth->factor);
}

const struct claim claims_001[] = {
    {"001-fig06", "bandwidth", "six senders get no more than a link's rate through",
     "at most 2 Gbit/s", measure_bandwidth, NULL},
    {"001-fig06", "delivery", "up to there all that is sent arrives", "all of it", measure_delivery,
     NULL},
    {"001-fig22", "grid", "13 rates, 4 buffer sizes, 1 and 2 VLs", "104 runs", measure_grid, NULL},
    {"001-fig23", "lanes", "two VLs carry clearly more than one", "more", measure_vls, NULL},
    {"001-fig23", "latency", "two VLs delay packets less than one", "less", measure_vl_latency,
     NULL},
    {"001-fig24", "buffers", "buffers of 64 KiB carry hardly more than of 4", "hardly more",
     measure_small_gain, (const char *const[]){"buffer=65536", "buffer=4096"}},
    {"001-fig25", "internal", "crossbars twice as fast carry hardly more", "hardly more",
     measure_small_gain, (const char *const[]){"internal=200", "internal=100"}},
    {"001-fig26", "detection", "a change waits for the next sweep", "0.17 s", claim_measure_bounds,
     &(const struct claim_bounds){"fault.detect.time", 0.01, 0.4, true}},
    {"001-fig26", "discovery-smps", "SMPs to discover the subnet", "200", claim_measure_bounds,
     &(const struct claim_bounds){"fault.discover.smps", 200 * 2.0 / 3, 200 * 4.0 / 3, false}},
    {"001-fig26", "discovery-time", "time to discover it", "10 ms", claim_measure_bounds,
     &(const struct claim_bounds){"fault.discover.time", 0.01 * 2 / 3, 0.01 * 4 / 3, true}},
    {"001-fig26", "computing", "time to compute paths", "more than 0.1 s", claim_measure_bounds,
     &(const struct claim_bounds){"fault.compute.time", 0.1, INFINITY, true}},
    {"001-fig26", "bottleneck", "computing is the bottleneck", "most of the time",
     measure_bottleneck, NULL},
    {"001-fig26", "distribution-smps", "SMPs to distribute tables", "360",
     measure_distribution_smps, NULL},
    {"001-fig26", "distribution-time", "time to distribute them", "6.7 ms", claim_measure_bounds,
     &(const struct claim_bounds){"fault.distribute.time", 0.0067 * 2 / 3, 0.0067 * 4 / 3, true}},
    {"001-fig26", "faster", "distribution is faster than discovery", "6.7 < 10 ms", measure_faster,
     NULL},
    {"001-fig26", "stop", "closed ports discard packets meanwhile", "a gap", measure_stop, NULL},
    {"001-fig26", "losses", "packets discarded in all", "more than 600", claim_measure_bounds,
     &(const struct claim_bounds){"lost", 600, INFINITY, false}},
    {"001-fig27", "smps", "SMPs of distribution grow with the network", "they grow", measure_growth,
     &(const struct growth){"fault.distribute.smps", 1}},
    {"001-fig27", "time", "so does its time (ms)", "it grows", measure_growth,
     &(const struct growth){"fault.distribute.time", 1e3}},
    {0},
};
