/* Whether traffic recovered: its rate before the first fault and after the last change, and what
 * was lost after that change. Without both, or with too few packets, the rates are unknown. */
#ifndef WEFT_EXPERIMENT_MEASURE_RECOVERY_H
#define WEFT_EXPERIMENT_MEASURE_RECOVERY_H

#include "experiment/measure/results.h"
#include "fabric/data.h"

struct recovery {
    bool faulted, settled;
    uint64_t fault_at, settled_at;
    struct data_totals at_fault, at_end_of_change;
};

/* The first fault counts. A fault also ends the time after an earlier change. */
void recovery_fault(struct recovery *recovery, uint64_t now, struct fabric *fabric);
void recovery_settled(struct recovery *recovery, uint64_t now, struct fabric *fabric);
/* Figures recovery.before and recovery.after (packets/s), recovery.time (after the last change) and
 * recovery.lost; `start` is the time of the first packet. */
void recovery_publish(const struct recovery *recovery, uint64_t start, uint64_t now,
                      struct fabric *fabric, struct results *results);

#endif
