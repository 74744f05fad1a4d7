/* Collections that are divided by a key of packets, such as `collect latency by sl`: one collector
 * for each value of the key. Traffics, senders and receivers are known before the run, so that one
 * without packets has its figures, too; SLs, VLs and the places of machines come with their first
 * packet. */
#include "experiment/measure/collector.h"

/* "3", "H9", or "H9:2" of an adapter with several ports. */
static const char *name_value(const struct collector *collector, uint32_t value)
{
    const struct topology *topology = fabric_topology(collector->fabric);
    struct arena *arena = &collector->results->arena;
    enum packet_key key = collector->collection->by;
    if (key == PACKET_TRAFFIC)
        return arena_printf(arena, "%u", value + 1);
    if (key < PACKET_SENDER)
        return arena_printf(arena, "%u", value);
    if (value >= topology->ports.count)
        return "outside"; /* a packet of another program */
    uint32_t index = topology->ports.items[value].node;
    const struct topology_node *node = &topology->nodes.items[index];
    const char *label = topology_label(topology, index);
    if (node->port_count == 1)
        return arena_strdup(arena, label);
    return arena_printf(arena, "%s:%u", label, value - node->first_port);
}

static struct collector *add_part(struct collector *collector, uint32_t value)
{
    struct collector *part = mem_zalloc(1, sizeof *part);
    const char *label = name_value(collector, value);
    struct collection own = *collector->collection;
    own.name = collect_name_part(collector->collection, label, &collector->results->arena);
    own.limits[own.by].first = own.limits[own.by].last = value;
    own.by = PACKET_KEYS;
    collector_init(part, &own, collector->world, collector->results);
    part->own = own;
    part->collection = &part->own;
    part->group = collector->group;
    part->label = label;
    part->from = collector->from;
    part->to = collector->to;
    if (collector->begun) { /* first packet of a value that was not known */
        part->begun = true;
        part->begun_at = collector->begun_at;
        part->next = collector->next;
    }
    map_set(&collector->part_of, value, (uint32_t)collector->parts.count);
    vec_push(&collector->parts, part);
    return part;
}

struct collector *division_part(struct collector *collector, const struct packet_keys *keys)
{
    uint32_t value = keys->values[collector->collection->by];
    uint32_t found = map_get(&collector->part_of, value);
    return found == MAP_NONE ? add_part(collector, value) : collector->parts.items[found];
}

void division_make(struct collector *collector)
{
    const struct collect_world *world = collector->world;
    enum packet_key key = collector->collection->by;
    size_t ports = fabric_topology(collector->fabric)->ports.count;
    bool *ends = mem_zalloc(ports + 1, sizeof *ends);
    for (uint32_t i = 0; i < world->traffic_count; i++) {
        const struct traffic *traffic = world->traffics[i];
        bool from = key == PACKET_SENDER, to = key == PACKET_RECEIVER;
        size_t count = from ? traffic->senders.count : to ? traffic->receivers.count : 0;
        const uint32_t *items = from ? traffic->senders.items : traffic->receivers.items;
        if (key == PACKET_TRAFFIC)
            add_part(collector, i);
        for (size_t j = 0; j < count; j++)
            if (items[j] < ports)
                ends[items[j]] = true;
    }
    for (uint32_t port = 0; port < ports; port++)
        if (ends[port])
            add_part(collector, port);
    mem_free(ends);
}
