/* What 'weft route' and its comparison of engines share: one computation, measured and checked. */
#ifndef WEFT_CLI_ROUTE_H
#define WEFT_CLI_ROUTE_H

#include "routing/check/verify.h"
#include "routing/engines/engine_list.h"

/* What one computation cost, and its check. */
struct route_cost {
    double seconds, verify_seconds;
    uint64_t peak_bytes;
    uint64_t repeat; /* set by the caller: how often to compute and check, the best times count */
};

/* Computes with the first engine that does not refuse, then verifies. Time and memory of the tables
 * are those of the engines alone, unless one of a list had to prove its tables before the next
 * could be left out. The report is released by the caller in any case. */
int route_compute(const struct engine_list *engines, const struct network *network,
                  const struct engine_options *options, struct routes *routes,
                  const struct engine **chosen, struct route_cost *cost,
                  struct verify_report *report, struct err *err);
/* The check alone. */
void route_verify(const struct network *network, const struct routes *routes,
                  const struct workers *workers, struct route_cost *cost,
                  struct verify_report *report);

struct route_entries {
    uint64_t all, explicit, defaults; /* explicit ones and default ports of PIRa */
};
struct route_entries route_count_entries(const struct network *network,
                                         const struct routes *routes);

double route_ratio(uint64_t sum, uint64_t count); /* 0 of nothing */
/* Refusals are answers (1), all else is bad input (2). */
int route_exit_status(int rc);

/* weft route --compare: an exit status. `lfts` (may be NULL) names a file of tables that are
 * measured beside those of the engines; `plot` a picture to be drawn. */
struct compare_options {
    const char *lfts, *plot;
    uint64_t seed, samples, repeat;
    bool json;
};
int route_compare(const struct engine_list *engines, const struct network *network,
                  const struct engine_options *options, const struct compare_options *wanted);

#endif
