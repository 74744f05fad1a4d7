/* A ring of sums per minute for each port, and the check of error rates: errors since the last
 * restart of the sums are compared with limits per minute. */
#include "perf/history.h"

#include "base/time.h"

#include <string.h>

static const uint64_t minute_ns = 60 * NS_PER_S;

static void add_saturating(uint32_t *sum, uint64_t more)
{
    *sum = more > UINT32_MAX - *sum ? UINT32_MAX : *sum + (uint32_t)more;
}

static void clear_until(struct history *history, uint64_t minute)
{
    uint64_t gap = minute - history->minute;
    for (uint64_t i = 1; i <= gap && i <= HISTORY_MINUTES; i++)
        history->samples[(history->minute + i) % HISTORY_MINUTES] = (struct history_sample){0};
    history->minute = minute;
}

struct history_sample history_sample_of(const struct port_counters *counters)
{
    struct history_sample sample = {
        .transmit_bytes = (float)port_counter_delta(counters, COUNTER_TRANSMIT_DATA),
        .receive_bytes = (float)port_counter_delta(counters, COUNTER_RECEIVE_DATA),
        .transmit_packets = (float)port_counter_delta(counters, COUNTER_TRANSMIT_PACKETS),
        .receive_packets = (float)port_counter_delta(counters, COUNTER_RECEIVE_PACKETS),
        .wait_ticks = (float)port_counter_delta(counters, COUNTER_TRANSMIT_WAIT),
    };
    uint64_t new[COUNTER_COUNT];
    for (unsigned i = 0; i < COUNTER_COUNT; i++)
        new[i] = port_counter_delta(counters, i);
    sample.errors = port_counters_link_errors(new, NULL);
    add_saturating(&sample.discards, port_counter_delta(counters, COUNTER_TRANSMIT_DISCARDS));
    add_saturating(&sample.covered_ms, counters->interval_ns / NS_PER_MS);
    return sample;
}

static void add_sample(struct history_sample *sum, const struct history_sample *sample)
{
    sum->transmit_bytes += sample->transmit_bytes;
    sum->receive_bytes += sample->receive_bytes;
    sum->transmit_packets += sample->transmit_packets;
    sum->receive_packets += sample->receive_packets;
    sum->wait_ticks += sample->wait_ticks;
    add_saturating(&sum->errors, sample->errors);
    add_saturating(&sum->discards, sample->discards);
    add_saturating(&sum->covered_ms, sample->covered_ms);
}

void history_add(struct history *history, const struct port_counters *counters)
{
    struct history_sample sample = history_sample_of(counters);
    if (!counters->interval_ns)
        return;
    clear_until(history, counters->read_at / minute_ns);
    add_sample(&history->samples[history->minute % HISTORY_MINUTES], &sample);
}

struct history_sample history_minute(const struct history *history, uint64_t now, unsigned ago)
{
    uint64_t minute = now / minute_ns;
    if (minute < ago || minute - ago > history->minute ||
        history->minute - (minute - ago) >= HISTORY_MINUTES)
        return (struct history_sample){0};
    return history->samples[(minute - ago) % HISTORY_MINUTES];
}

struct history_sample history_sum(const struct history *history, uint64_t now)
{
    struct history_sample sum = {0};
    for (unsigned ago = 0; ago < HISTORY_MINUTES; ago++) {
        struct history_sample sample = history_minute(history, now, ago);
        add_sample(&sum, &sample);
    }
    return sum;
}

/* ---- limits ---- */

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
    uint64_t time = *elapsed > minute_ns ? *elapsed : minute_ns;
    for (unsigned i = 0; i < COUNTER_COUNT; i++) {
        if (!limits[i])
            continue;
        uint64_t sum = reading->errors[i] + port_counter_delta(counters, i);
        reading->errors[i] = sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
        if (sum > limits[i] * (time / NS_PER_MS) / (minute_ns / NS_PER_MS))
            found |= UINT64_C(1) << i;
    }
    memcpy(errors, reading->errors, sizeof reading->errors);
    if (found || *elapsed >= minute_ns)
        restart_errors(reading);
    return found;
}
