/* Traps that the manager received, by port and kind.
 *
 * The number of series is bounded: a fabric in which every port sends traps must not make as many
 * series. The first ports have series of their own; the others share one for each kind. */
#ifndef WEFT_HOST_METRICS_TRAP_COUNTS_H
#define WEFT_HOST_METRICS_TRAP_COUNTS_H

#include "base/text.h"

#include <stdint.h>

enum { TRAP_SERIES = 256, TRAP_KINDS = 10 };

struct trap_counts {
    struct trap_series {
        uint64_t guid, count;
        uint16_t trap;
        uint8_t port;
    } series[TRAP_SERIES];
    unsigned used;
    uint64_t others[TRAP_KINDS]; /* of further ports */
};

/* `guid` is that of the end port that sent the trap, 0 if it is not known. */
void trap_counts_add(struct trap_counts *counts, uint64_t guid, uint8_t port, uint16_t trap);
void trap_counts_print(const struct trap_counts *counts, struct text *out);

#endif
