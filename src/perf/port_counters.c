/* Turns the fields of a response into running 64-bit values: tells a counter that wrapped from one
 * that was cleared, and marks those that have stopped at their largest value (16.1.3.5). */
#include "perf/port_counters.h"

#include "base/time.h"

#include <assert.h>
#include <string.h>

double port_counter_rate(const struct port_counters *counters, enum port_counter counter)
{
    return counters->interval_ns ? (double)port_counter_delta(counters, counter) * NS_PER_S /
                                       (double)counters->interval_ns
                                 : 0;
}

void port_counters_begin(struct port_counters *counters, uint64_t now, bool afresh)
{
    counters->interval_ns = counters->read_at && !afresh ? now - counters->read_at : 0;
    counters->read_at = now;
    memcpy(counters->before, counters->value, sizeof counters->before);
}

static uint64_t largest_value(unsigned width)
{
    return width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

/* The part of a value that the field can hold. */
static uint64_t field_part(const struct port_counters *counters, unsigned counter, unsigned width)
{
    return counters->value[counter] / port_counter_infos[counter].unit & largest_value(width);
}

static unsigned count_falls(const struct port_counters *counters, enum counter_set set,
                            const uint8_t *data, uint64_t valid)
{
    unsigned falls = 0;
    for (unsigned i = 0; i < COUNTER_COUNT; i++) {
        uint16_t field = port_counter_infos[i].in[set].field;
        if (field != NO_COUNTER_FIELD && (valid & counters->known) >> i & 1)
            falls += wire_get(data, field) < field_part(counters, i, wire_fields[field].width);
    }
    return falls;
}

/* The fields of PortCounters should stop at their largest value, but those of some devices wrap. A
 * program that clears counters clears several. So if one 32-bit counter falls alone, from the upper
 * half of its range, it has wrapped. */
void port_counters_take(struct port_counters *counters, enum counter_set set, const uint8_t *data,
                        uint64_t valid)
{
    unsigned falls = count_falls(counters, set, data, valid);
    bool reset = false;
    assert(set < COUNTER_SETS);
    for (unsigned i = 0; i < COUNTER_COUNT; i++) {
        uint16_t field = port_counter_infos[i].in[set].field;
        if (field == NO_COUNTER_FIELD || !(valid >> i & 1))
            continue;
        unsigned width = wire_fields[field].width, unit = port_counter_infos[i].unit;
        uint64_t now = wire_get(data, field), last = field_part(counters, i, width);
        if (!port_counter_is_known(counters, i)) {
            counters->value[i] = counters->before[i] = now * unit;
        } else if (now >= last) {
            counters->value[i] += (now - last) * unit;
        } else if (width == 32 && falls == 1 && last >> 31) {
            counters->value[i] += ((UINT64_C(1) << 32) + now - last) * unit;
        } else {
            counters->value[i] = now * unit;
            counters->before[i] = 0;
            reset = true;
        }
        counters->known |= UINT64_C(1) << i;
        counters->stuck &= ~(UINT64_C(1) << i);
        counters->stuck |= (uint64_t)(width < 64 && now == largest_value(width)) << i;
    }
    counters->resets += reset;
}
