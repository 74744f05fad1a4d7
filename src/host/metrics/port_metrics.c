/* A fabric of 5,832 hosts has a million samples, so the samples of counters are put together from
 * parts that are printed once: the name of the family, the labels of the port. */
#include "host/metrics/port_metrics.h"

#include "host/metrics/format.h"

#include <string.h>

enum { LINE_BYTES = 256 }; /* more than a sample of a counter has */

struct port_metrics *port_metrics_new(void)
{
    struct port_metrics *metrics = mem_zalloc(1, sizeof *metrics);
    atomic_init(&metrics->holders, 1);
    return metrics;
}

struct port_metrics *port_metrics_hold(struct port_metrics *metrics)
{
    atomic_fetch_add(&metrics->holders, 1);
    return metrics;
}

void port_metrics_release(struct port_metrics *metrics)
{
    if (!metrics || atomic_fetch_sub(&metrics->holders, 1) != 1)
        return;
    vec_release(&metrics->devices);
    vec_release(&metrics->ports);
    vec_release(&metrics->values);
    text_release(&metrics->labels);
    mem_free(metrics->labels_at);
    mem_free(metrics);
}

uint64_t *port_metrics_add_values(struct port_metrics *metrics, struct metric_port *port)
{
    port->first_value = (uint32_t)metrics->values.count;
    vec_reserve(&metrics->values, metrics->values.count + COUNTER_COUNT);
    metrics->values.count += COUNTER_COUNT;
    return metrics->values.items + port->first_value;
}

static const struct metric_device *device_of(const struct port_metrics *metrics, uint32_t port)
{
    return &metrics->devices.items[metrics->ports.items[port].device];
}

static void make_labels(struct port_metrics *metrics)
{
    size_t count = metrics->ports.count;
    metrics->labels_at = mem_alloc((count + 1) * sizeof *metrics->labels_at);
    for (uint32_t i = 0; i < count; i++) {
        metrics->labels_at[i] = (uint32_t)metrics->labels.length;
        text_printf(&metrics->labels, "{guid=\"0x%016llx\",port=\"%u\"} ",
                    (unsigned long long)device_of(metrics, i)->guid,
                    metrics->ports.items[i].number);
    }
    metrics->labels_at[count] = (uint32_t)metrics->labels.length;
}

static char *put_digits(char *at, uint64_t value)
{
    char digits[20];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    while (count)
        *at++ = digits[--count];
    return at;
}

/* ---- families: each prints one device or port ---- */

static void print_info(const struct port_metrics *metrics, uint32_t index, const char *name,
                       bool is_switch, struct text *out)
{
    const struct metric_device *device = &metrics->devices.items[index];
    if (device->is_switch != is_switch)
        return;
    metric_begin(out, name);
    metric_label_guid(out, "guid", device->guid);
    metric_label(out, is_switch ? "switch" : "hca", device->name);
    metric_label_number(out, "lid", device->lid);
    if (device->subnet)
        metric_label_guid(out, "subnet", device->subnet);
    metric_end(out, 1);
}

static void print_uplink(const struct port_metrics *metrics, uint32_t index, const char *name,
                         bool is_switch, struct text *out)
{
    const struct metric_port *port = &metrics->ports.items[index];
    const struct metric_device *device = device_of(metrics, index);
    if (device->is_switch != is_switch || port->peer == NO_METRIC_PORT)
        return;
    const struct metric_device *peer = device_of(metrics, port->peer);
    metric_begin(out, name);
    metric_label_guid(out, "guid", device->guid);
    metric_label_number(out, "port", port->number);
    metric_label(out, is_switch ? "switch" : "hca", device->name);
    metric_label(out, "uplink", peer->name);
    metric_label_guid(out, "uplink_guid", peer->guid);
    metric_label(out, "uplink_type", peer->is_switch ? "SW" : "CA");
    metric_label_number(out, "uplink_port", metrics->ports.items[port->peer].number);
    metric_label_number(out, "uplink_lid", peer->lid);
    metric_end(out, 1);
}

static void print_rate(const struct port_metrics *metrics, uint32_t index, const char *name,
                       bool is_switch, struct text *out)
{
    const struct metric_port *port = &metrics->ports.items[index];
    const struct metric_device *device = device_of(metrics, index);
    if (device->is_switch != is_switch || !port->rate)
        return;
    metric_begin(out, name);
    metric_label_guid(out, "guid", device->guid);
    if (is_switch)
        metric_label_number(out, "port", port->number);
    metric_end(out, port->rate);
}

static const struct family {
    const char *name, *help;
    bool is_switch, of_devices;
    void (*print)(const struct port_metrics *metrics, uint32_t index, const char *name,
                  bool is_switch, struct text *out);
} families[] = {
    {"infiniband_switch_info", "Switches: name and LID.", true, true, print_info},
    {"infiniband_hca_info", "Ports of adapters: name and LID.", false, true, print_info},
    {"infiniband_switch_uplink_info", "The other end of the link at a switch port.", true, false,
     print_uplink},
    {"infiniband_hca_uplink_info", "The other end of the link at an adapter port.", false, false,
     print_uplink},
    {"infiniband_switch_port_rate_bytes_per_second", "Rate of the link at a switch port.", true,
     false, print_rate},
    {"infiniband_hca_rate_bytes_per_second", "Rate of the link at an adapter port.", false, false,
     print_rate},
};
enum {
    FIRST_COUNTER = sizeof families / sizeof *families,
    FAMILIES = FIRST_COUNTER + 2 * COUNTER_COUNT,
};

/* Returns the index of the first device or port that is not printed. The header and the first
 * sample are in one block, so that index 0 means that there is no header yet. */
static uint32_t print_family(const struct port_metrics *metrics, const struct family *family,
                             uint32_t index, struct text *out, size_t enough)
{
    size_t count = family->of_devices ? metrics->devices.count : metrics->ports.count;
    if (index == 0)
        metric_family(out, family->name, "gauge", family->help);
    while (index < count && (index == 0 || out->length < enough))
        family->print(metrics, index++, family->name, family->is_switch, out);
    return index < count ? index : NO_METRIC_PORT;
}

static int counter_name(enum port_counter counter, bool is_switch, char *name, size_t size)
{
    return snprintf(name, size, "infiniband_%s_port_%s_total", is_switch ? "switch" : "hca",
                    port_counter_infos[counter].metric);
}

static uint32_t print_counter(const struct port_metrics *metrics, enum port_counter counter,
                              bool is_switch, uint32_t index, struct text *out, size_t enough)
{
    const struct port_counter_info *info = &port_counter_infos[counter];
    char name[96], help[160];
    int length = counter_name(counter, is_switch, name, sizeof name);
    if (index == 0) {
        snprintf(help, sizeof help, "%s: %s.", info->name, info->meaning);
        metric_family(out, name, "counter", help);
    }
    for (; index < metrics->ports.count && (index == 0 || out->length < enough); index++) {
        const struct metric_port *port = &metrics->ports.items[index];
        if (!(port->known >> counter & 1) || device_of(metrics, index)->is_switch != is_switch)
            continue;
        char line[LINE_BYTES], *at = line + length;
        size_t labels = metrics->labels_at[index + 1] - metrics->labels_at[index];
        memcpy(line, name, (size_t)length);
        memcpy(at, metrics->labels.data + metrics->labels_at[index], labels);
        at = put_digits(at + labels, metrics->values.items[port->first_value + counter]);
        *at++ = '\n';
        text_append(out, line, (size_t)(at - line));
    }
    return index < metrics->ports.count ? index : NO_METRIC_PORT;
}

static bool is_wanted(const struct port_metrics_position *position)
{
    char name[96];
    bool is_switch;
    if (position->family < FIRST_COUNTER) {
        is_switch = families[position->family].is_switch;
        snprintf(name, sizeof name, "%s", families[position->family].name);
    } else {
        unsigned counter = position->family - FIRST_COUNTER;
        is_switch = counter % 2 == 0;
        counter_name(counter / 2, is_switch, name, sizeof name);
    }
    return !position->skipped[is_switch] && metric_is_named(position->names, name, strlen(name));
}

bool port_metrics_print(struct port_metrics *metrics, struct port_metrics_position *position,
                        struct text *out, size_t enough)
{
    if (!metrics->labels_at)
        make_labels(metrics);
    while (position->family < FAMILIES && out->length < enough) {
        if (position->index == 0 && !is_wanted(position)) {
            position->family++;
            continue;
        }
        unsigned counter = position->family - FIRST_COUNTER;
        uint32_t next =
            position->family < FIRST_COUNTER
                ? print_family(metrics, &families[position->family], position->index, out, enough)
                : print_counter(metrics, (enum port_counter)(counter / 2), counter % 2 == 0,
                                position->index, out, enough);
        position->index = next == NO_METRIC_PORT ? 0 : next;
        position->family += next == NO_METRIC_PORT;
    }
    return position->family < FAMILIES;
}
