/* The table of attributes: names, ranges, units and meanings. */
#include "fabric/options.h"

#include "base/field.h"
#include "base/parse.h"
#include "base/time.h"
#include "fabric/internal.h"

#include <assert.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

enum kind { KIND_NUMBER, KIND_BOOL, KIND_TIME, KIND_BUS };

static const struct node_option {
    const char *key;
    enum kind kind;
    bool of_node; /* a field of struct node_options, and patterns may name it */
    struct field field;
    uint64_t low, high, multiple;
    const char *meaning;
} attributes[] = {
#define NODE(member)   true, FIELD_OF(struct node_options, member)
#define FABRIC(member) false, FIELD_OF(struct fabric_options, member)
    {"data_vls", KIND_NUMBER, NODE(agent.data_vls), 1, 15, 1, "data VLs of a port"},
    {"sl2vl_wildcards", KIND_BOOL, NODE(agent.sl2vl_wildcards), 0, 1, 1,
     "switches accept one SL-to-VL table for many ports"},
    {"mtu", KIND_NUMBER, NODE(agent.mtu), 256, 4096, 256, "largest payload in bytes"},
    {"vl_arbitration", KIND_NUMBER, NODE(agent.vl_arbitration), 0, 64, 1,
     "entries of each arbitration table"},
    {"linear_entries", KIND_NUMBER, NODE(agent.linear_entries), 0, 49152, 64,
     "entries of the linear forwarding table; 0: a random one"},
    {"random_entries", KIND_NUMBER, NODE(agent.random_entries), 16, 49152, 16,
     "entries of the random forwarding table"},
    {"multicast_entries", KIND_NUMBER, NODE(agent.multicast_entries), 0, 16352, 32,
     "entries of the multicast table; 0: no multicast"},
    {"p_keys", KIND_NUMBER, NODE(agent.p_keys), 32, 4096, 32, "entries of the partition table"},
    {"guids", KIND_NUMBER, NODE(agent.guids), 8, 248, 8, "entries of an end port's GUID table"},
    {"traps", KIND_BOOL, NODE(agent.traps), 0, 1, 1, "switches report changes by trap"},
    {"response_time", KIND_NUMBER, NODE(agent.response_time), 0, 31, 1,
     "RespTimeValue: 4.096 us * 2^n"},
    {"io_controllers", KIND_NUMBER, NODE(agent.io_controllers), 0, 16, 1,
     "I/O controllers of an adapter: with any, it is a target"},
    {"io_services", KIND_NUMBER, NODE(agent.io_services), 1, 64, 1,
     "targets of each I/O controller"},
    {"service_port", KIND_NUMBER, NODE(agent.service_port), 0, 254, 1,
     "port to which an adapter redirects general services; 0: none"},
    {"port_init", KIND_BOOL, NODE(agent.port_init), 0, 1, 1, "agents accept Set(PortState = Init)"},
    {"port_follows", KIND_BOOL, NODE(agent.port_follows), 0, 1, 1,
     "a Set of Init or Active also takes effect at the other end of the link"},
    {"strict_speeds", KIND_BOOL, NODE(agent.strict_speeds), 0, 1, 1,
     "extended speeds (FDR and above) only in answers to PortInfo with bit 31"},
    {"vl15_buffer", KIND_NUMBER, NODE(vl15_buffer), 1, 65536, 1, "SMPs an output holds"},
    {"agent_buffer", KIND_NUMBER, NODE(agent_buffer), 1, 65536, 1, "requests an agent holds"},
    {"smi", KIND_TIME, FABRIC(smi.base_ps), 0, TIME_S, 1, "a directed-route hop in a switch"},
    {"smi_per_node", KIND_TIME, FABRIC(smi.per_node_ps), 0, TIME_S, 1,
     "the same, for each node of the subnet"},
    {"sma", KIND_TIME, FABRIC(sma.base_ps), 0, TIME_S, 1, "a request in an agent"},
    {"sma_per_node", KIND_TIME, FABRIC(sma.per_node_ps), 0, TIME_S, 1,
     "the same, for each node of the subnet"},
    {"sma_set", KIND_TIME, FABRIC(sma_set_ps), 0, TIME_S, 1, "added for a Set: its application"},
    {"routing", KIND_TIME, FABRIC(routing.base_ps), 0, TIME_S, 1,
     "a look-up in a forwarding table"},
    {"routing_per_node", KIND_TIME, FABRIC(routing.per_node_ps), 0, TIME_S, 1,
     "the same, for each node of the subnet"},
    {"vswitch_routing", KIND_TIME, FABRIC(vswitch_routing_ps), 0, TIME_S, 1,
     "a look-up in a virtual switch"},
    {"manager", KIND_TIME, FABRIC(manager.base_ps), 0, TIME_S, 1, "an SMP in a simulated manager"},
    {"manager_per_node", KIND_TIME, FABRIC(manager.per_node_ps), 0, TIME_S, 1,
     "the same, for each node of the subnet"},
    {"manager_get", KIND_TIME, FABRIC(manager_get.base_ps), 0, TIME_S, 1,
     "added for a Get: processing of its response"},
    {"manager_get_per_node", KIND_TIME, FABRIC(manager_get.per_node_ps), 0, TIME_S, 1,
     "the same, for each node of the subnet"},
    {"compute", KIND_TIME, FABRIC(compute_ps), 0, TIME_S, 1,
     "an operation of the computation of routes"},
    {"paper_compute", KIND_BOOL, FABRIC(paper_compute), 0, 1, 1,
     "price the papers' algorithms, and do nothing else meanwhile"},
    {"buffer", KIND_NUMBER, NODE(buffer_bytes), 512, 131008, 64,
     "bytes of the input and the output buffer of each data VL"},
    {"router_buffer", KIND_NUMBER, NODE(router_bytes), 64, 2097152, 64,
     "bytes of a router's memory for each output VL"},
    {"internal", KIND_NUMBER, NODE(internal_percent), 10, 1000, 1,
     "bandwidth of the crossbar, in percent of the link"},
    {"bus", KIND_BUS, NODE(bus), 0, UINT32_MAX, 1, "between the memory of a host and its adapter"},
    {"adapter_packet", KIND_TIME, NODE(adapter_packet_ps), 0, TIME_S, 1,
     "an adapter's time for a packet, sent or received"},
    {"adapter_message", KIND_TIME, NODE(adapter_message_ps), 0, TIME_S, 1,
     "added for the first packet of a message that is sent"},
    {"life_time", KIND_NUMBER, NODE(agent.life_time), 0, 31, 1,
     "lifetime of packets in a switch: 4.096 us * 2^n; from 20 on: unlimited"},
    {"queue_life", KIND_NUMBER, NODE(agent.queue_life), 0, 31, 1,
     "the same, at the head of an output queue"},
    {"mapping", KIND_TIME, FABRIC(mapping_ps), 0, TIME_S, 1, "a look-up in the SL-to-VL table"},
    {"crossbar", KIND_TIME, FABRIC(crossbar_ps), 0, TIME_S, 1, "an arbitration of the crossbar"},
    {"channel", KIND_TIME, FABRIC(channel_ps), 0, TIME_S, 1, "an arbitration of the VLs of a link"},
    {"router_delay", KIND_TIME, FABRIC(router_ps), 0, TIME_S, 1,
     "from the end of a packet at a router to its start in the next subnet"},
    {"routing_shared", KIND_BOOL, FABRIC(routing_shared), 0, 1, 1,
     "one routing unit for all inputs of a switch"},
    {"multiplexed", KIND_BOOL, FABRIC(multiplexed), 0, 1, 1,
     "crossbar with one connection per port, not per VL"},
    {"bit_error_rate", KIND_NUMBER, FABRIC(bit_error_rate), 0, UINT64_C(1) << 40, 1,
     "data links: in parts of 2^64 per bit"},
    {"deadlock_check", KIND_TIME, FABRIC(deadlock_check_ps), 0, TIME_S, 1,
     "interval of deadlock checks; 0: none"},
    {"flight", KIND_TIME, FABRIC(flight_ps_per_m), 0, TIME_US, 1,
     "signal time for a metre of cable"},
    {"training", KIND_TIME, FABRIC(training_ps), 0, TIME_S, 1,
     "from the connection of a cable to Init"},
    {"vm_detach", KIND_TIME, FABRIC(vm_detach_ps), 0, 60 * TIME_S, 1,
     "a host detaches its function from a VM"},
    {"vm_attach", KIND_TIME, FABRIC(vm_attach_ps), 0, 60 * TIME_S, 1,
     "a host attaches a function to a VM"},
#undef NODE
#undef FABRIC
};
enum { ATTRIBUTES = sizeof attributes / sizeof attributes[0] };

/* A present-day fabric. The buffer of a VL lets a link of 4X XDR (100 bytes/ns) and 20 m carry its
 * full rate. A byte uses the buffer, as its sender counts credits, from when it is sent until the
 * flow-control packet that frees it arrives: 200 ns on the cable, there and back, and 100 ns of
 * look-up are 30,000 bytes. A payload of 256 bytes takes 5 blocks of 64 bytes for its 282 bytes on
 * the wire, hence 34,000. Three packets of 4,122 bytes are added: the one that arrives, the one
 * that crosses, and the one on the reverse link that delays the flow-control packet. Of these
 * 46,400 bytes, 65,536 is the next power of two. 4X NDR needs half of it. */
static const struct fabric_options today = {
    .node = {.agent = {.data_vls = 8,
                       .sl2vl_wildcards = true,
                       .mtu = 4096,
                       .vl_arbitration = 8,
                       .linear_entries = 49152,
                       .random_entries = 1024,
                       .multicast_entries = 1024,
                       .p_keys = 64,
                       .guids = 8,
                       .traps = true,
                       .response_time = 18,
                       .io_services = 1,
                       .life_time = 18,
                       .queue_life = 16},
             .vl15_buffer = 64,
             .agent_buffer = 128,
             .buffer_bytes = 65536,
             .router_bytes = 1048576,
             .internal_percent = 100},
    .smi = {.base_ps = 500 * TIME_NS},
    .sma = {.base_ps = 5 * TIME_US},
    .routing = {.base_ps = 100 * TIME_NS},
    .vswitch_routing_ps = 10 * TIME_NS,
    .manager = {.base_ps = 500 * TIME_NS},
    .compute_ps = 5 * TIME_NS, /* bench/compute_price.c: 2 to 7 ns */
    .router_ps = 400 * TIME_NS,
    .deadlock_check_ps = TIME_MS,
    .flight_ps_per_m = 5 * TIME_NS,
    .training_ps = 10 * TIME_MS,
};

/* Two data VLs, 256-byte packets and small tables. As in the papers, the manager takes most of the
 * time: docs/decisions/008-cost-of-computing.md has the sources of its processing times. */
static const struct fabric_options paper = {
    .node = {.agent = {.data_vls = 2,
                       .mtu = 256,
                       .vl_arbitration = 8,
                       .linear_entries = 1024,
                       .random_entries = 1024,
                       .multicast_entries = 1024,
                       .p_keys = 32,
                       .guids = 8,
                       .traps = false,
                       .response_time = 16,
                       .io_services = 1,
                       .port_init = true,
                       .port_follows = true,
                       .life_time = 31,
                       .queue_life = 31},
             .vl15_buffer = 1024,
             .agent_buffer = 1024,
             .buffer_bytes = 4096,
             .router_bytes = 1048576,
             .internal_percent = 100},
    .smi = {.base_ps = 200 * TIME_NS},
    .sma = {.base_ps = 1 * TIME_US},
    .sma_set_ps = 164 * TIME_US,
    .routing = {.base_ps = 100 * TIME_NS},
    .vswitch_routing_ps = 10 * TIME_NS,
    .manager = {.base_ps = 6 * TIME_US},
    .manager_get = {.per_node_ps = 1750 * TIME_NS},
    .compute_ps = 88 * TIME_US,
    .paper_compute = true,
    .routing_shared = true,
    .router_ps = 400 * TIME_NS,
    .deadlock_check_ps = TIME_MS,
    .flight_ps_per_m = 5 * TIME_NS,
    .training_ps = 1 * TIME_MS,
};

int fabric_options_preset(struct fabric_options *options, const char *name, struct err *err)
{
    if (strcmp(name, "today") == 0)
        *options = today;
    else if (strcmp(name, "paper") == 0)
        *options = paper;
    else
        return err_set(err, EINVAL, "no preset '%s': there are 'today' and 'paper'", name);
    return 0;
}

static bool parse_value(const struct node_option *attribute, const char *text, uint64_t *value)
{
    if (attribute->kind == KIND_TIME && strcmp(text, "0") == 0) {
        *value = 0;
        return true;
    }
    if (attribute->kind == KIND_TIME)
        return time_parse(text, value);
    if (attribute->kind == KIND_BUS) {
        for (unsigned i = 0; host_bus_name(i); i++)
            if (strcmp(text, host_bus_name(i)) == 0) {
                *value = i;
                return true;
            }
        return false;
    }
    if (attribute->kind == KIND_BOOL && (strcmp(text, "yes") == 0 || strcmp(text, "no") == 0)) {
        *value = text[0] == 'y';
        return true;
    }
    return parse_number(text, value);
}

/* An error message lists all values of these. */
static bool has_few_values(const struct node_option *attribute)
{
    return strcmp(attribute->key, "data_vls") == 0 || strcmp(attribute->key, "mtu") == 0;
}

static bool value_fits(const struct node_option *attribute, uint64_t value)
{
    if (value < attribute->low || value > attribute->high || value % attribute->multiple)
        return false;
    if (has_few_values(attribute)) /* powers of two, and 15, the largest number of VLs */
        return (value & (value - 1)) == 0 || value == 15;
    return true;
}

static const struct node_option *find_attribute(const char *key)
{
    for (unsigned i = 0; i < ATTRIBUTES; i++)
        if (strcmp(attributes[i].key, key) == 0)
            return &attributes[i];
    return NULL;
}

/* The valid values: "1, 2, 4, 8 or 15", "512 to 131008 in steps of 64", "yes or no". */
static void print_range(const struct node_option *attribute, struct text *out)
{
    char time[TIME_TEXT_BYTES];
    unsigned long long low = attribute->low, high = attribute->high;
    if (attribute->kind == KIND_BOOL) {
        text_puts(out, "yes or no");
    } else if (attribute->kind == KIND_BUS) {
        text_puts(out, "none, pci-x-66, -100, -133, pcie1x1 to pcie5x16");
    } else if (attribute->kind == KIND_TIME) {
        text_printf(out, "a time such as 5us, up to %s", time_text(attribute->high, time));
    } else if (has_few_values(attribute)) {
        for (uint64_t value = low; value <= high; value++)
            if (value_fits(attribute, value))
                text_printf(out, "%s%llu",
                            value == low    ? ""
                            : value == high ? " or "
                                            : ", ",
                            (unsigned long long)value);
    } else {
        text_printf(out, "%llu to %llu", low, high);
        if (attribute->multiple > 1)
            text_printf(out, " in steps of %llu", (unsigned long long)attribute->multiple);
    }
}

static int add_override(struct fabric_options *options, const char *pattern, size_t length,
                        const char *key, const char *value, struct err *err)
{
    if (options->override_count == OVERRIDE_LIMIT)
        return err_set(err, ENOSPC, "more than %d attributes by pattern", OVERRIDE_LIMIT);
    struct fabric_override *override = &options->overrides[options->override_count];
    if (length >= sizeof override->pattern || strlen(value) >= sizeof override->value)
        return err_set(err, EINVAL, "'%.*s': pattern or value too long", (int)length, pattern);
    *override = (struct fabric_override){0};
    memcpy(override->pattern, pattern, length);
    strcpy(override->key, key);
    strcpy(override->value, value);
    options->override_count++;
    return 0;
}

int fabric_options_set(struct fabric_options *options, const char *key, const char *value,
                       struct err *err)
{
    const char *colon = strrchr(key, ':');
    const struct node_option *attribute = find_attribute(colon ? colon + 1 : key);
    uint64_t parsed;
    if (!attribute) {
        const char *names[ATTRIBUTES];
        for (unsigned i = 0; i < ATTRIBUTES; i++)
            names[i] = attributes[i].key;
        key = colon ? colon + 1 : key;
        const char *near = nearest_word(key, names, ATTRIBUTES);
        return err_set(err, ENOENT,
                       "'%.80s' is not an attribute of a fabric; %s%s%s"
                       "'weft fabric --attributes' lists them",
                       key, near ? "did you mean '" : "", near ? near : "", near ? "'? " : "");
    }
    if (!parse_value(attribute, value, &parsed) || !value_fits(attribute, parsed)) {
        struct text range = {0};
        print_range(attribute, &range);
        err_set(err, EINVAL, "%s: '%.80s' does not fit: expected %s (%s)", attribute->key, value,
                range.data, attribute->meaning);
        text_release(&range);
        return -EINVAL;
    }
    if (colon && !attribute->of_node)
        return err_set(err, EINVAL, "%s is the same for the whole fabric", attribute->key);
    if (colon)
        return add_override(options, key, (size_t)(colon - key), attribute->key, value, err);
    field_set(attribute->of_node ? (void *)&options->node : (void *)options, attribute->field,
              parsed);
    return 0;
}

static bool pattern_matches(const char *pattern, const char *name, const char *description,
                            bool is_switch)
{
    return strcmp(pattern, is_switch ? "switches" : "adapters") == 0 ||
           fnmatch(pattern, name, 0) == 0 || (description && fnmatch(pattern, description, 0) == 0);
}

int fabric_options_check_pattern(const char *key, const struct topology *topology, struct err *err)
{
    const char *colon = strrchr(key, ':');
    size_t length = colon ? (size_t)(colon - key) : 0;
    char pattern[sizeof((struct fabric_override *)NULL)->pattern];
    if (!colon || length >= sizeof pattern)
        return 0;
    memcpy(pattern, key, length);
    pattern[length] = 0;
    if (strcmp(pattern, "switches") == 0 || strcmp(pattern, "adapters") == 0)
        return 0; /* a fabric may have none */
    for (size_t i = 0; i < topology->nodes.count; i++) {
        const struct topology_node *node = &topology->nodes.items[i];
        if (pattern_matches(pattern, node->name, node->description, node->kind == NODE_SWITCH))
            return 0;
    }
    return err_set(err, ENOENT, "no node of the fabric matches '%s'", pattern);
}

struct node_options fabric_options_for(const struct fabric_options *options, const char *name,
                                       const char *description, bool is_switch)
{
    assert(options->override_count <= OVERRIDE_LIMIT);
    struct node_options node = options->node;
    for (unsigned i = 0; i < options->override_count; i++) {
        const struct fabric_override *override = &options->overrides[i];
        uint64_t value;
        if (!pattern_matches(override->pattern, name, description, is_switch))
            continue;
        const struct node_option *attribute = find_attribute(override->key);
        if (parse_value(attribute, override->value, &value))
            field_set(&node, attribute->field, value);
    }
    /* A data VL without an entry in the arbitration table could never send. */
    if (node.agent.vl_arbitration && node.agent.vl_arbitration < node.agent.data_vls)
        node.agent.vl_arbitration = node.agent.data_vls;
    return node;
}

const struct fabric_options *fabric_options_of(const struct fabric *fabric)
{
    return &fabric->options;
}

void fabric_options_list(const struct fabric_options *options, struct text *out)
{
    for (unsigned i = 0; i < ATTRIBUTES; i++) {
        const struct node_option *a = &attributes[i];
        char text[TIME_TEXT_BYTES];
        uint64_t value =
            field_get(a->of_node ? (const void *)&options->node : (const void *)options, a->field);
        if (a->kind == KIND_TIME)
            time_text(value, text);
        else if (a->kind == KIND_BOOL)
            snprintf(text, sizeof text, "%s", value ? "yes" : "no");
        else if (a->kind == KIND_BUS)
            snprintf(text, sizeof text, "%s", host_bus_name((unsigned)value));
        else
            snprintf(text, sizeof text, "%llu", (unsigned long long)value);
        text_printf(out, "%-20s %8s  ", a->key, text);
        print_range(a, out);
        text_printf(out, "\n    %s\n", a->meaning);
    }
}
