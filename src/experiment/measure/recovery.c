/* Remembers the totals of traffic at the first fault and at the end of the last change; rates are
 * differences of these totals. A rate needs at least 100 packets. */
#include "experiment/measure/recovery.h"

#include "base/time.h"

enum { FEWEST_PACKETS = 100 };

void recovery_fault(struct recovery *recovery, uint64_t now, struct fabric *fabric)
{
    recovery->settled = false;
    if (recovery->faulted)
        return;
    recovery->faulted = true;
    recovery->fault_at = now;
    fabric_data_totals(fabric, &recovery->at_fault);
}

void recovery_settled(struct recovery *recovery, uint64_t now, struct fabric *fabric)
{
    if (!recovery->faulted)
        return;
    recovery->settled = true;
    recovery->settled_at = now;
    fabric_data_totals(fabric, &recovery->at_end_of_change);
}

void recovery_publish(const struct recovery *recovery, uint64_t start, uint64_t now,
                      struct fabric *fabric, struct results *results)
{
    struct data_totals totals;
    if (!recovery->faulted || recovery->fault_at <= start ||
        recovery->at_fault.delivered < FEWEST_PACKETS)
        return;
    double before = (double)recovery->at_fault.delivered;
    results_set(results, "recovery.before", before / time_seconds(recovery->fault_at - start),
                "packets/s");
    if (!recovery->settled)
        return;
    fabric_data_totals(fabric, &totals);
    uint64_t lost = data_totals_lost(&totals) - data_totals_lost(&recovery->at_end_of_change);
    uint64_t made = totals.made - recovery->at_end_of_change.made;
    results_set(results, "recovery.lost", (double)lost, "packets");
    if (now <= recovery->settled_at || made < FEWEST_PACKETS)
        return;
    double time = time_seconds(now - recovery->settled_at);
    results_set(results, "recovery.time", time, "s");
    results_set(results, "recovery.after",
                (double)(totals.delivered - recovery->at_end_of_change.delivered) / time,
                "packets/s");
}
