/* What counter_example_test.py links with the counter of CONTRIBUTING.md: counts at an agent, reads
 * the agent as the performance manager does, and prints the metrics. Exits with 0 if all three have
 * it. */
#include "host/metrics/port_metrics.h"
#include "perf/agent.h"
#include "sma/sma.h"

#include <stdio.h>
#include <string.h>

static void ask(struct sma *sma, unsigned attribute, uint8_t mad[MAD_BYTES])
{
    memset(mad, 0, MAD_BYTES);
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_METHOD, METHOD_GET);
    wire_set(mad, MAD_CLASS, CLASS_PERFORMANCE);
    wire_set(mad, MAD_ATTRIBUTE_ID, attribute);
    if (attribute == ATTRIBUTE_PORT_COUNTERS_EXT)
        wire_set(mad + GMP_DATA_OFFSET, PORT_COUNTERS_EXT_PORT_SELECT, 1);
    sma_receive(sma, 0, 1, 1, mad);
}

int main(void)
{
    const enum port_counter last = COUNTER_COUNT - 1;
    struct sma_port ports[2] = {0};
    struct sma sma = {.port_count = 1, .ports = ports};
    struct agent agent = {0};
    struct port_counters read = {0};
    uint8_t mad[MAD_BYTES];
    sma_count(&sma, 1, last, 5);
    ask(&sma, ATTRIBUTE_CLASS_PORT_INFO, mad);
    agent_learn(&agent, mad + GMP_DATA_OFFSET);
    ask(&sma, ATTRIBUTE_PORT_COUNTERS_EXT, mad);
    port_counters_begin(&read, 1, true);
    port_counters_take(&read, SET_EXTENDED, mad + GMP_DATA_OFFSET, agent.valid[SET_EXTENDED]);
    printf("%s %llu, errors of the link %u\n", port_counter_infos[last].name,
           (unsigned long long)read.value[last], port_counters_link_errors(read.value, NULL));

    struct port_metrics *metrics = port_metrics_new();
    struct port_metrics_position position = {0};
    struct metric_port port = {.peer = NO_METRIC_PORT, .number = 1, .known = read.known};
    struct text out = {0};
    vec_push(&metrics->devices, ((struct metric_device){.guid = 1, .name = "host"}));
    memcpy(port_metrics_add_values(metrics, &port), read.value, sizeof read.value);
    vec_push(&metrics->ports, port);
    port_metrics_print(metrics, &position, &out, SIZE_MAX);
    fputs(out.data, stdout);
    text_release(&out);
    port_metrics_release(metrics);
    return read.value[last] == 5 ? 0 : 1;
}
