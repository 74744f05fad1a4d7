/* Measures for the claims of "Estudio y puesta en marcha de una subred InfiniBand" (Villar Ortiz,
 * 2004): the printed forwarding tables, and bandwidth and latency between two hosts.
 *
 * The latency and bandwidth of the simulated path are compared with the times that perf.weft sets:
 * a packet passes each switch after its header (20 bytes), a look-up and a cable; then come the
 * last cable and the whole packet, once. */
#include "reproduce/claims.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_UP_S 100e-9 /* these two are set in perf.weft */
#define CABLE_S   10e-9
#define SDR_BITS  8e9 /* data rate of a 4X SDR link */
enum { HEADER_BYTES = 20, OVERHEAD_BYTES = 26, SMALLEST = 2, LARGEST = 4096 };

static double data_rate(const struct observation *observation)
{
    enum link_width width;
    enum link_speed speed;
    if (!link_width_parse(observation_value(observation, "width"), &width) ||
        !link_speed_parse(observation_value(observation, "speed"), &speed))
        return NAN;
    return (double)link_data_rate(width, speed);
}

static double wire_time(const struct observation *observation, unsigned bytes)
{
    return bytes * 8 / data_rate(observation);
}

static unsigned switches_on_path(const struct observation *observation)
{
    return strcmp(observation_value(observation, "to"), "H8") == 0 ? 3 : 1;
}

/* The range of `value_of` over the runs of perf.sweep with messages of that size; runs for which
 * it is NaN do not count. */
static struct measured over_links(const struct claim_case *c, unsigned bytes,
                                  double (*value_of)(const struct claim_case *c,
                                                     const struct observation *observation))
{
    struct measured all = measured_value(NAN);
    for (size_t i = 0; i < c->evidence->items.count; i++) {
        const struct observation *observation = &c->evidence->items.items[i];
        if (strcmp(observation_value(observation, "preset"), c->preset) != 0 ||
            strcmp(observation_value(observation, "test"), "perf") != 0 ||
            strtoul(observation_value(observation, "bytes"), NULL, 10) != bytes)
            continue;
        double value = value_of(c, observation);
        all.least = fmin(all.least, value); /* ignores NaN */
        all.most = fmax(all.most, value);
    }
    return all;
}

static double share_of_payload(const struct claim_case *c, const struct observation *observation)
{
    (void)c;
    return observation_figure(observation, "accepted.payload") / data_rate(observation) *
           (LARGEST + OVERHEAD_BYTES) / LARGEST;
}

static struct measured measure_headers(const struct claim_case *c)
{
    return over_links(c, LARGEST, share_of_payload);
}

static double share_of_latency(const struct claim_case *c, const struct observation *observation)
{
    (void)c;
    double per_switch = wire_time(observation, HEADER_BYTES) + LOOK_UP_S + CABLE_S;
    double sum = switches_on_path(observation) * per_switch + CABLE_S +
                 wire_time(observation, SMALLEST + OVERHEAD_BYTES);
    return observation_figure(observation, "send_lat.typical") / sum;
}

static struct measured measure_latency(const struct claim_case *c)
{
    return over_links(c, SMALLEST, share_of_latency);
}

static double slope_of_latency(const struct claim_case *c, const struct observation *largest)
{
    double smallest =
        claim_mean(c, "send_lat.typical", "test=perf bytes=%d width=%s speed=%s to=%s", SMALLEST,
                   observation_value(largest, "width"), observation_value(largest, "speed"),
                   observation_value(largest, "to"));
    return (observation_figure(largest, "send_lat.typical") - smallest) /
           wire_time(largest, LARGEST - SMALLEST);
}

static struct measured measure_slope(const struct claim_case *c)
{
    return over_links(c, LARGEST, slope_of_latency);
}

/* `detail`: the sizes of messages. */
static struct measured measure_share_of_4x_sdr(const struct claim_case *c)
{
    struct evidence_summary payload =
        claim_summary(c, "accepted.payload", "test=perf width=4x speed=SDR to=H10 bytes=%s",
                      (const char *)c->detail);
    return measured_explain(measured_range(payload.least / SDR_BITS, payload.most / SDR_BITS),
                            "%.0f MB/s at most", payload.most / 8e6);
}

static struct measured measure_directions(const struct claim_case *c)
{
    return measured_range(claim_mean(c, "forward.bits", "test=duplex bytes=2048"),
                          claim_mean(c, "backward.bits", "test=duplex bytes=2048"));
}

const struct measure measures_003[] = {
    {"villar04-perf", "bandwidth", measure_share_of_4x_sdr, "2048"},
    {"villar04-perf", "mtu", measure_share_of_4x_sdr, "256,512,1024,2048"},
    {"villar04-perf", "directions", measure_directions, NULL},
    {"villar04-perf", "headers", measure_headers, NULL},
    {"villar04-perf", "latency", measure_latency, NULL},
    {"villar04-perf", "slope", measure_slope, NULL},
    {"villar04-tables", "hops", measure_mean, "entries.hops"},
    {"villar04-tables", "ports", measure_mean, "entries.minimal"},
    {"villar04-tables", "forced", measure_mean, "entries.forced"},
    {0},
};
