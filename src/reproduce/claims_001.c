/* Claims of "Modeling InfiniBand with OPNET" (Bermudez, Casado, Quiles, Pinkston and Duato, 2003).
 *
 * "About" is taken as a third more or less where the paper's own network decides (it cannot be read
 * from its picture), and as a tenth of throughput where the paper says that something matters
 * little. */
#include "reproduce/claims.h"

#include <math.h>
#include <stdlib.h>

#define LINK_BITS 2e9 /* of a 1X link, after coding */
enum { GRID_RUNS = 104, DISTRIBUTION_SMPS = 360 };

static const double about = 1.0 / 3;

/* ---- Fig. 6 ---- */

static void measure_bandwidth(const struct evidence *evidence, const char *preset,
                              struct finding *finding)
{
    char where[WHERE_BYTES];
    double most = evidence_summarize(evidence, claim_all(where, preset), "accepted.bits").most;
    /* A packet that began before the window counts whole: one in a thousand or so. */
    finding_set(finding, most <= LINK_BITS * 1.001, "%.3f Gbit/s", most / 1e9);
}

static void measure_delivery(const struct evidence *evidence, const char *preset,
                             struct finding *finding)
{
    double least = NAN;
    for (size_t i = 0; i < evidence->items.count; i++) {
        const struct observation *observation = &evidence->items.items[i];
        double offered = observation_figure(observation, "offered.bits");
        if (claim_preset_is(observation, preset) && offered < 0.95 * LINK_BITS)
            least = fmin(least, observation_figure(observation, "accepted.bits") / offered);
    }
    finding_set(finding, least > 0.98, "%.1f %% of it", 100 * least);
}

/* ---- Fig. 22 ---- */

static void measure_grid(const struct evidence *evidence, const char *preset,
                         struct finding *finding)
{
    char where[WHERE_BYTES];
    size_t count = evidence_summarize(evidence, claim_all(where, preset), "accepted").count;
    finding_set(finding, count == GRID_RUNS, "%zu runs", count);
}

/* ---- Figs. 23 to 25 ---- */

/* The most that the network carries, whatever the load. */
static double peak(const struct evidence *evidence, const char *preset, const char *parameter,
                   const char *value)
{
    char where[WHERE_BYTES];
    claim_where(where, preset, "%s=%s", parameter, value);
    return evidence_summarize(evidence, where, "accepted").most;
}

static void measure_lanes(const struct evidence *evidence, const char *preset,
                          struct finding *finding)
{
    double gain = peak(evidence, preset, "vls", "2") / peak(evidence, preset, "vls", "1") - 1;
    finding_set(finding, gain > 0.02, "%+.1f %%", 100 * gain);
}

/* Latency where one lane still carries everything. */
static void measure_lane_latency(const struct evidence *evidence, const char *preset,
                                 struct finding *finding)
{
    char where[WHERE_BYTES];
    double one =
        evidence_mean(evidence, claim_where(where, preset, "vls=1 rate=220000"), "latency.mean");
    double two =
        evidence_mean(evidence, claim_where(where, preset, "vls=2 rate=220000"), "latency.mean");
    finding_set(finding, two <= one, "%.2f and %.2f us", two * 1e6, one * 1e6);
}

static void measure_buffers(const struct evidence *evidence, const char *preset,
                            struct finding *finding)
{
    double gain =
        peak(evidence, preset, "buffer", "65536") / peak(evidence, preset, "buffer", "4096") - 1;
    finding_set(finding, gain < 0.1, "%+.1f %%", 100 * gain);
}

static void measure_internal(const struct evidence *evidence, const char *preset,
                             struct finding *finding)
{
    double gain =
        peak(evidence, preset, "internal", "200") / peak(evidence, preset, "internal", "100") - 1;
    finding_set(finding, gain < 0.1, "%+.1f %%", 100 * gain);
}

/* ---- Fig. 26 ---- */

static double of_fault(const struct evidence *evidence, const char *preset, const char *what)
{
    char where[WHERE_BYTES];
    return evidence_mean(evidence, claim_all(where, preset), what);
}

static void measure_detection(const struct evidence *evidence, const char *preset,
                              struct finding *finding)
{
    double time = of_fault(evidence, preset, "fault.detect.time");
    finding_set(finding, time > 0.01 && time < 0.4, "%.3g ms", time * 1e3);
}

static void measure_discovery_smps(const struct evidence *evidence, const char *preset,
                                   struct finding *finding)
{
    double smps = of_fault(evidence, preset, "fault.discover.smps");
    finding_set(finding, claim_near(smps, 200, about), "%.0f", smps);
}

static void measure_discovery_time(const struct evidence *evidence, const char *preset,
                                   struct finding *finding)
{
    double time = of_fault(evidence, preset, "fault.discover.time");
    finding_set(finding, claim_near(time, 0.01, about), "%.3g ms", time * 1e3);
}

static void measure_computing(const struct evidence *evidence, const char *preset,
                              struct finding *finding)
{
    double time = of_fault(evidence, preset, "fault.compute.time");
    finding_set(finding, time > 0.1, "%.3g ms", time * 1e3);
}

static void measure_bottleneck(const struct evidence *evidence, const char *preset,
                               struct finding *finding)
{
    double share =
        of_fault(evidence, preset, "fault.compute.time") / of_fault(evidence, preset, "fault.time");
    finding_set(finding, share > 0.5, "%.0f %% of it", 100 * share);
}

static void measure_distribution_smps(const struct evidence *evidence, const char *preset,
                                      struct finding *finding)
{
    double smps = of_fault(evidence, preset, "fault.distribute.smps");
    finding_set(finding, smps == DISTRIBUTION_SMPS, "%.0f", smps);
}

static void measure_distribution_time(const struct evidence *evidence, const char *preset,
                                      struct finding *finding)
{
    double time = of_fault(evidence, preset, "fault.distribute.time");
    finding_set(finding, claim_near(time, 0.0067, about), "%.3g ms", time * 1e3);
}

static void measure_faster(const struct evidence *evidence, const char *preset,
                           struct finding *finding)
{
    double distribution = of_fault(evidence, preset, "fault.distribute.time");
    double discovery = of_fault(evidence, preset, "fault.discover.time");
    finding_set(finding, distribution < discovery, "%.3g < %.3g ms", distribution * 1e3,
                discovery * 1e3);
    if (finding->outcome == OUTCOME_DIFFERS)
        finding_set(finding, false, "%.3g > %.3g ms", distribution * 1e3, discovery * 1e3);
}

static void measure_stop(const struct evidence *evidence, const char *preset,
                         struct finding *finding)
{
    double lost = of_fault(evidence, preset, "lost.inactive-port");
    finding_set(finding, lost > 0, "%.0f lost there", lost);
}

static void measure_losses(const struct evidence *evidence, const char *preset,
                           struct finding *finding)
{
    double lost = of_fault(evidence, preset, "lost");
    finding_set(finding, lost > 600, "%.0f", lost);
}

/* ---- Fig. 27 ---- */

static void measure_growth(const struct evidence *evidence, const char *preset, const char *figure,
                           double factor, struct finding *finding)
{
    const char **sizes;
    char where[WHERE_BYTES];
    double before = NAN, first = NAN, last = NAN;
    bool grows = true;
    size_t count = evidence_values(evidence, claim_all(where, preset), "switches", &sizes);
    for (size_t i = 0; i < count; i++, before = last) {
        last = evidence_mean(evidence, claim_where(where, preset, "switches=%s", sizes[i]), figure);
        first = i == 0 ? last : first;
        grows &= i == 0 || last > before;
    }
    finding_set(finding, grows && count > 1, "%.3g to %.3g", first * factor, last * factor);
    mem_free(sizes);
}

static void measure_growth_of_smps(const struct evidence *evidence, const char *preset,
                                   struct finding *finding)
{
    measure_growth(evidence, preset, "fault.distribute.smps", 1, finding);
}

static void measure_growth_of_time(const struct evidence *evidence, const char *preset,
                                   struct finding *finding)
{
    measure_growth(evidence, preset, "fault.distribute.time", 1e3, finding);
}

const struct claim claims_001[] = {
    {"001-fig06", "bandwidth", "six senders get no more than a link's rate through",
     "at most 2 Gbit/s", measure_bandwidth},
    {"001-fig06", "delivery", "up to there all that is sent arrives", "all of it",
     measure_delivery},
    {"001-fig22", "grid", "13 rates, 4 buffer sizes, 2 numbers of lanes", "104 runs", measure_grid},
    {"001-fig23", "lanes", "two lanes carry clearly more than one", "more", measure_lanes},
    {"001-fig23", "latency", "two lanes delay packets less than one", "less", measure_lane_latency},
    {"001-fig24", "buffers", "buffers of 64 KiB carry hardly more than of 4", "hardly more",
     measure_buffers},
    {"001-fig25", "internal", "crossbars twice as fast carry hardly more", "hardly more",
     measure_internal},
    {"001-fig26", "detection", "a change waits for the next sweep", "0.17 s", measure_detection},
    {"001-fig26", "discovery-smps", "SMPs to discover the subnet", "200", measure_discovery_smps},
    {"001-fig26", "discovery-time", "time to discover it", "10 ms", measure_discovery_time},
    {"001-fig26", "computing", "time to compute paths", "more than 0.1 s", measure_computing},
    {"001-fig26", "bottleneck", "computing is the bottleneck", "most of the time",
     measure_bottleneck},
    {"001-fig26", "distribution-smps", "SMPs to distribute tables", "360",
     measure_distribution_smps},
    {"001-fig26", "distribution-time", "time to distribute them", "6.7 ms",
     measure_distribution_time},
    {"001-fig26", "faster", "distribution is faster than discovery", "6.7 < 10 ms", measure_faster},
    {"001-fig26", "stop", "closed ports discard packets meanwhile", "a gap", measure_stop},
    {"001-fig26", "losses", "packets discarded in all", "more than 600", measure_losses},
    {"001-fig27", "smps", "SMPs of distribution grow with the network", "they grow",
     measure_growth_of_smps},
    {"001-fig27", "time", "so does its time (ms)", "it grows", measure_growth_of_time},
    {0},
};
