/* Counts traps by end port and trap number in a table of fixed size. Numbers that have no kind of
 * their own count as "other"; traps of unknown senders, or of new ones once the table is full,
 * count by kind only. */
#include "host/metrics/trap_counts.h"

#include "host/metrics/format.h"

static const char name[] = "weft_traps_received_total";

/* The last kind is all other numbers. */
static const uint16_t kinds[TRAP_KINDS] = {128, 129, 130, 131, 144, 145, 256, 257, 258, 0};

static unsigned kind_of(uint16_t trap)
{
    unsigned kind = 0;
    while (kind < TRAP_KINDS - 1 && kinds[kind] != trap)
        kind++;
    return kind;
}

void trap_counts_add(struct trap_counts *counts, uint64_t guid, uint8_t port, uint16_t trap)
{
    unsigned kind = kind_of(trap);
    for (unsigned i = 0; i < counts->used; i++) {
        struct trap_series *series = &counts->series[i];
        if (series->guid == guid && series->port == port && series->trap == kinds[kind]) {
            series->count++;
            return;
        }
    }
    if (counts->used == TRAP_SERIES || !guid)
        counts->others[kind]++;
    else
        counts->series[counts->used++] = (struct trap_series){guid, 1, kinds[kind], port};
}

static void put_kind(struct text *out, uint16_t trap)
{
    if (trap)
        metric_label_number(out, "trap", trap);
    else
        metric_label(out, "trap", "other");
}

void trap_counts_print(const struct trap_counts *counts, struct text *out)
{
    metric_family(out, name, "counter",
                  "Traps received, by sender; guid is empty for senders beyond the first ones.");
    for (unsigned i = 0; i < counts->used; i++) {
        const struct trap_series *series = &counts->series[i];
        metric_begin(out, name);
        metric_label_guid(out, "guid", series->guid);
        metric_label_number(out, "port", series->port);
        put_kind(out, series->trap);
        metric_end(out, series->count);
    }
    for (unsigned kind = 0; kind < TRAP_KINDS; kind++) {
        metric_begin(out, name);
        metric_label(out, "guid", "");
        metric_label(out, "port", "");
        put_kind(out, kinds[kind]);
        metric_end(out, counts->others[kind]);
    }
}
