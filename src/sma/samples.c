/* Samples of port counters (16.1.3.2, 16.1.3.3): a client sets an interval and up to 15 quantities;
 * the agent counts them in that interval, and the client reads the result.
 *
 * A sample is the difference of two readings of the totals, taken when the interval begins and when
 * it ends. Both are deadlines of the agent; its owner brings the totals up to date before
 * sma_expire(). A node has one mechanism, AttributeModifier 0, which samples one port at a time: a
 * Set while a sample is pending changes nothing, and SampleStatus says so. Times are in ticks of
 * one symbol of a lane: Tick 0, 4 ns at SDR.
 *
 * Left out: optional and vendor's quantities, and the extended result. */
#include "base/mem.h"
#include "sma/internal.h"
#include "wire/link_rate.h"

#include <string.h>

enum { SAMPLE_DONE, SAMPLE_STARTED, SAMPLE_RUNNING }; /* SampleStatus */
enum { SAMPLE_COUNTERS = 15 };
/* CounterMasks: each counter can count each of the mandatory quantities (bit 0 of three). */
enum { MASK0 = 1, MASKS1_TO9 = 0111111111, MASKS10_TO14 = 011111, COUNTER_WIDTH_32 = 4 };

/* CounterSelect: 1 to 5. */
static const uint8_t quantities[] = {0,
                                     COUNTER_TRANSMIT_DATA,
                                     COUNTER_RECEIVE_DATA,
                                     COUNTER_TRANSMIT_PACKETS,
                                     COUNTER_RECEIVE_PACKETS,
                                     COUNTER_TRANSMIT_WAIT};
enum { QUANTITIES = sizeof quantities };

struct sma_samples {
    unsigned port, status;
    uint32_t start, interval; /* ticks */
    uint64_t tick_ps, next;   /* beginning or end of the interval; TIME_NEVER when done */
    uint16_t tag, select[SAMPLE_COUNTERS];
    uint64_t count[SAMPLE_COUNTERS]; /* at the beginning, then the result */
};

uint64_t sma_samples_deadline(const struct sma *sma)
{
    return sma->samples ? sma->samples->next : TIME_NEVER;
}

void sma_samples_expire(struct sma *sma, uint64_t now)
{
    struct sma_samples *samples = sma->samples;
    while (samples && samples->next <= now) {
        bool end = samples->status == SAMPLE_RUNNING;
        const uint64_t *totals = sma->ports[samples->port].counters.total;
        for (unsigned i = 0; i < SAMPLE_COUNTERS; i++) {
            uint64_t total = samples->select[i] ? totals[quantities[samples->select[i]]] : 0;
            samples->count[i] = end ? total - samples->count[i] : total;
        }
        samples->status = end ? SAMPLE_DONE : SAMPLE_RUNNING;
        samples->next = end ? TIME_NEVER : samples->next + samples->interval * samples->tick_ps;
    }
}

static uint64_t tick_ps(const uint8_t *port_info)
{
    uint64_t bits = link_data_bits(port_info);
    return bits ? 8 * TIME_S * link_lanes(port_info) / bits : 4 * TIME_NS;
}

static void show_control(const struct sma_samples *samples, unsigned select, uint8_t *data)
{
    memset(data, 0, GMP_DATA_BYTES);
    wire_set(data, PORT_SAMPLES_CONTROL_PORT_SELECT, select);
    wire_set(data, PORT_SAMPLES_CONTROL_COUNTER_WIDTH, COUNTER_WIDTH_32);
    wire_set(data, PORT_SAMPLES_CONTROL_COUNTER_MASK0, MASK0);
    wire_set(data, PORT_SAMPLES_CONTROL_COUNTER_MASKS1_TO9, MASKS1_TO9);
    wire_set(data, PORT_SAMPLES_CONTROL_COUNTER_MASKS10_TO14, MASKS10_TO14);
    if (!samples)
        return;
    wire_set(data, PORT_SAMPLES_CONTROL_PORT_SELECT, samples->port);
    wire_set(data, PORT_SAMPLES_CONTROL_SAMPLE_STATUS, samples->status);
    wire_set(data, PORT_SAMPLES_CONTROL_SAMPLE_START, samples->start);
    wire_set(data, PORT_SAMPLES_CONTROL_SAMPLE_INTERVAL, samples->interval);
    wire_set(data, PORT_SAMPLES_CONTROL_TAG, samples->tag);
    for (unsigned i = 0; i < SAMPLE_COUNTERS; i++)
        wire_set_at(data, PORT_SAMPLES_CONTROL_COUNTER_SELECT, i, samples->select[i]);
}

static void show_result(const struct sma_samples *samples, uint8_t *data)
{
    memset(data, 0, GMP_DATA_BYTES);
    if (!samples)
        return;
    wire_set(data, PORT_SAMPLES_RESULT_TAG, samples->tag);
    wire_set(data, PORT_SAMPLES_RESULT_SAMPLE_STATUS, samples->status);
    for (unsigned i = 0; samples->status == SAMPLE_DONE && i < SAMPLE_COUNTERS; i++)
        wire_set_at(data, PORT_SAMPLES_RESULT_COUNTER, i,
                    samples->count[i] > UINT32_MAX ? UINT32_MAX : samples->count[i]);
}

static uint16_t begin(struct sma *sma, unsigned port, uint64_t now, const uint8_t *data)
{
    for (unsigned i = 0; i < SAMPLE_COUNTERS; i++)
        if (wire_get_at(data, PORT_SAMPLES_CONTROL_COUNTER_SELECT, i) >= QUANTITIES)
            return STATUS_BAD_VALUE;
    if (!sma->samples)
        sma->samples = mem_zalloc(1, sizeof *sma->samples);
    struct sma_samples *samples = sma->samples;
    if (samples->status != SAMPLE_DONE)
        return STATUS_OK;
    samples->port = port;
    samples->start = (uint32_t)wire_get(data, PORT_SAMPLES_CONTROL_SAMPLE_START);
    samples->interval = (uint32_t)wire_get(data, PORT_SAMPLES_CONTROL_SAMPLE_INTERVAL);
    samples->tag = (uint16_t)wire_get(data, PORT_SAMPLES_CONTROL_TAG);
    for (unsigned i = 0; i < SAMPLE_COUNTERS; i++)
        samples->select[i] = (uint16_t)wire_get_at(data, PORT_SAMPLES_CONTROL_COUNTER_SELECT, i);
    samples->tick_ps = tick_ps(sma->ports[port].info);
    samples->status = SAMPLE_STARTED;
    samples->next = now + samples->start * samples->tick_ps;
    sma_samples_expire(sma, now);
    return STATUS_OK;
}

/* PortSelect 0 at an adapter is the port that received the MAD. */
uint16_t sma_access_samples(struct sma *sma, uint64_t now, unsigned port, uint8_t *mad)
{
    uint8_t *data = mad + GMP_DATA_OFFSET;
    bool result = wire_get(mad, MAD_ATTRIBUTE_ID) == ATTRIBUTE_PORT_SAMPLES_RESULT;
    bool write = wire_get(mad, MAD_METHOD) == METHOD_SET;
    unsigned select = (unsigned)wire_get(data, PORT_SAMPLES_CONTROL_PORT_SELECT);
    unsigned number = select == 0 && sma->kind != KIND_SWITCH ? port : select;
    if (write && result)
        return STATUS_BAD_ATTRIBUTE;
    if (wire_get(mad, MAD_ATTRIBUTE_MODIFIER) != 0 || (!result && number > sma->port_count))
        return STATUS_BAD_VALUE;
    sma_samples_expire(sma, now);
    uint16_t status = write ? begin(sma, number, now, data) : STATUS_OK;
    if (status)
        return status;
    if (result)
        show_result(sma->samples, data);
    else
        show_control(sma->samples, select, data);
    return STATUS_OK;
}
