#include "perf/reading.h"

#include "base/time.h"

#include <string.h>

static const uint64_t minute = 60 * NS_PER_S;

static void restart_errors(struct port_reading *reading)
{
    reading->since = reading->counters.read_at;
    memset(reading->errors, 0, sizeof reading->errors);
}

/* A limit is for one minute: a few errors in a shorter time are not a high rate. */
uint64_t reading_end(struct port_reading *reading, const uint32_t limits[COUNTER_COUNT],
                     uint64_t *elapsed, uint32_t errors[COUNTER_COUNT])
{
    const struct port_counters *counters = &reading->counters;
    uint64_t found = 0;
    if (!counters->interval_ns) {
        restart_errors(reading);
        return 0;
    }
    history_add(&reading->history, counters);
    *elapsed = counters->read_at - reading->since;
    uint64_t time = *elapsed > minute ? *elapsed : minute;
    for (unsigned i = 0; i < COUNTER_COUNT; i++) {
        if (!limits[i])
            continue;
        uint64_t sum = reading->errors[i] + port_counter_delta(counters, i);
        reading->errors[i] = sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
        if (sum > limits[i] * (time / NS_PER_MS) / (minute / NS_PER_MS))
            found |= UINT64_C(1) << i;
    }
    memcpy(errors, reading->errors, sizeof reading->errors);
    if (found || *elapsed >= minute)
        restart_errors(reading);
    return found;
}
