/* Of each virtual machine that a scenario names: where it ended, and what its last move cost. */
#include "experiment/story_machines.h"

#include "base/time.h"

#include <inttypes.h>
#include <stdio.h>

void story_write_machines(const struct story *story, struct text *out)
{
    if (story->machines.count == 0)
        return;
    text_printf(out, "\n  %-12s %6s %6s %8s %7s %11s %11s %8s\n", "machine", "LID", "moves",
                "switches", "tables", "took", "downtime", "lost");
    for (size_t i = 0; i < story->machines.count; i++) {
        const struct story_machine *machine = &story->machines.items[i];
        char took[TIME_TEXT_BYTES], downtime[TIME_TEXT_BYTES] = "-", lost[24] = "-";
        time_text(machine->time_ps, took);
        if (machine->has_traffic) {
            time_text(machine->downtime_ps, downtime);
            snprintf(lost, sizeof lost, "%" PRIu64, machine->lost);
        }
        text_printf(out, "  %-12.12s %6u %6u %8u %7u %11s %11s %8s\n", machine->name, machine->lid,
                    machine->moves, machine->switches, machine->table_smps, took, downtime, lost);
    }
}
