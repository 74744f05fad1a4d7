/* Counts durations in buckets from 10 us to 1 s and prints them as a Prometheus histogram:
 * cumulative buckets with the label `le`, the sum in seconds and the count. */
#include "host/metrics/duration_counts.h"

#include "base/time.h"
#include "host/metrics/format.h"

#include <stdio.h>

static const uint64_t limits_ns[DURATION_BUCKETS] = {
    10 * NS_PER_US, 25 * NS_PER_US,  50 * NS_PER_US, 100 * NS_PER_US, 250 * NS_PER_US,
    NS_PER_MS / 2,  NS_PER_MS,       5 * NS_PER_MS,  10 * NS_PER_MS,  25 * NS_PER_MS,
    50 * NS_PER_MS, 100 * NS_PER_MS, NS_PER_S / 2,   NS_PER_S,
};

void duration_counts_add(struct duration_counts *durations, uint64_t ns)
{
    unsigned bucket = 0;
    while (bucket < DURATION_BUCKETS && ns > limits_ns[bucket])
        bucket++;
    durations->counts[bucket]++;
    durations->sum_ns += ns;
}

void duration_counts_print(const struct duration_counts *durations, const char *name,
                           const char *help, struct text *out)
{
    char part[96], limit[32];
    uint64_t count = 0;
    metric_family(out, name, "histogram", help);
    snprintf(part, sizeof part, "%s_bucket", name);
    for (unsigned i = 0; i <= DURATION_BUCKETS; i++) {
        count += durations->counts[i];
        if (i < DURATION_BUCKETS)
            snprintf(limit, sizeof limit, "%g", (double)limits_ns[i] / 1e9);
        metric_begin(out, part);
        metric_label(out, "le", i < DURATION_BUCKETS ? limit : "+Inf");
        metric_end(out, count);
    }
    snprintf(part, sizeof part, "%s_sum", name);
    metric_begin(out, part);
    metric_end_double(out, (double)durations->sum_ns / 1e9);
    snprintf(part, sizeof part, "%s_count", name);
    metric_begin(out, part);
    metric_end(out, count);
}
