/* One measured and checked computation, for 'weft route' and its comparison of engines. */
#ifndef WEFT_CLI_ROUTE_H
#define WEFT_CLI_ROUTE_H

#include "routing/check/verify.h"
#include "routing/engines/engine_fallback.h"

/* The cost of a computation and its check. */
struct route_cost {
    double seconds, verify_seconds;
    uint64_t peak_bytes;
    uint64_t
        repeat; /* input: number of computations and checks, of which the best times are kept */
};

/* Computes with the first engine that does not refuse, and checks the tables. Time and memory are
 * those of the engines, and of the checks that decided between engines of a list. The caller
 * releases the report in any case. */
int route_compute(const struct engine_list *engines, const struct network *network,
                  const struct engine_options *options, struct routes *routes,
                  const struct engine **chosen, struct route_cost *cost,
                  struct verify_report *report, struct err *err);
/* The check alone. */
void route_verify(const struct network *network, const struct routes *routes,
                  const struct workers *workers, struct route_cost *cost,
                  struct verify_report *report);

struct route_entries {
    uint64_t all, explicit, defaults; /* explicit entries and default ports of PIRa */
};
struct route_entries route_count_entries(const struct network *network,
                                         const struct routes *routes);

double route_ratio(uint64_t sum, uint64_t count); /* 0 if `count` is 0 */
/* 1 if the engine refused, 2 for other errors. */
int route_exit_status(int rc);

/* weft route --compare. `lfts` names a file of tables to measure too, `plot` the plot to write;
 * both may be NULL. Returns an exit status. */
struct compare_options {
    const char *lfts, *plot;
    uint64_t seed, samples, repeat;
    bool json;
};
int route_compare(const struct engine_list *engines, const struct network *network,
                  const struct engine_options *options, const struct compare_options *wanted);

#endif
