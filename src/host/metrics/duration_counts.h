/* A histogram of durations with fixed buckets. */
#ifndef WEFT_HOST_METRICS_DURATION_COUNTS_H
#define WEFT_HOST_METRICS_DURATION_COUNTS_H

#include "base/text.h"

#include <stdint.h>

enum { DURATION_BUCKETS = 14 };

struct duration_counts {
    uint64_t counts[DURATION_BUCKETS + 1]; /* the last one: above all limits */
    uint64_t sum_ns;
};

void duration_counts_add(struct duration_counts *durations, uint64_t ns);
void duration_counts_print(const struct duration_counts *durations, const char *name,
                           const char *help, struct text *out);

#endif
