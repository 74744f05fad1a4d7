/* Reads lists of GUIDs and of weights, and finds their ports in a network. */
#include "routing/engine/hints.h"

#include "base/map.h"

static bool is_guid(const struct word *word, uint64_t *guid)
{
    return strncmp(word->text, "0x", 2) == 0 && parse_bounded(word->text, 1, UINT64_MAX, guid);
}

int guid_list_read(struct guid_list *list, struct line_reader *lines)
{
    struct cursor line;
    uint64_t guid;
    *list = (struct guid_list){0};
    while (line_reader_next(lines, &line))
        if (line.count == 1 && is_guid(&line.words[0], &guid))
            vec_push(&list->items, guid);
        else
            line_reader_error(lines, "expected a GUID, 0x...");
    if (lines->status)
        guid_list_release(list);
    return lines->status;
}

void guid_list_release(struct guid_list *list)
{
    vec_release(&list->items);
}

uint32_t *guid_list_terminals(const struct guid_list *list, const struct network *network,
                              size_t *count)
{
    size_t terminals = network->terminals.count;
    struct map ports = {0}, nodes = {0};
    uint32_t *found = mem_alloc(terminals * sizeof *found);
    uint32_t *next = mem_alloc(terminals * sizeof *next); /* the next port of the same adapter */
    bool *taken = mem_zalloc(terminals, sizeof *taken);
    *count = 0;
    for (uint32_t i = (uint32_t)terminals; i-- > 0;) {
        const struct network_terminal *terminal = &network->terminals.items[i];
        map_add(&ports, terminal->guid, i);
        next[i] = terminal->node_guid ? map_get(&nodes, terminal->node_guid) : MAP_NONE;
        if (terminal->node_guid)
            map_set(&nodes, terminal->node_guid, i);
    }
    for (size_t i = 0; i < list->items.count; i++) {
        uint32_t one = map_get(&ports, list->items.items[i]);
        uint32_t at = one == MAP_NONE ? map_get(&nodes, list->items.items[i]) : one;
        for (; at != MAP_NONE; at = one == at ? MAP_NONE : next[at])
            if (!taken[at]) {
                taken[at] = true;
                found[(*count)++] = at;
            }
    }
    map_release(&ports);
    map_release(&nodes);
    mem_free(next);
    mem_free(taken);
    return found;
}

/* Lines of a switch and a port, with a weight or without. */
static int read_ports(struct port_weights *weights, struct line_reader *lines, bool with_weight)
{
    struct cursor line;
    uint64_t guid, port, weight = 0;
    *weights = (struct port_weights){0};
    while (line_reader_next(lines, &line))
        if (line.count == 2u + with_weight && is_guid(&line.words[0], &guid) &&
            parse_bounded(line.words[1].text, 1, NETWORK_TOP_PORT, &port) &&
            (!with_weight || parse_bounded(line.words[2].text, 1, HINTS_TOP_WEIGHT, &weight)))
            vec_push(&weights->items,
                     ((struct port_weight){guid, (uint8_t)port, (uint16_t)weight}));
        else if (with_weight)
            line_reader_error(lines,
                              "expected SWITCH PORT WEIGHT: a GUID (0x...), a port number, 1 to %d",
                              HINTS_TOP_WEIGHT);
        else
            line_reader_error(lines, "expected SWITCH PORT: a GUID (0x...) and a port number");
    if (lines->status)
        port_weights_release(weights);
    return lines->status;
}

int port_weights_read(struct port_weights *weights, struct line_reader *lines)
{
    return read_ports(weights, lines, true);
}

int port_weights_read_ignored(struct port_weights *weights, struct line_reader *lines)
{
    return read_ports(weights, lines, false);
}

void port_weights_release(struct port_weights *weights)
{
    vec_release(&weights->items);
}

uint16_t *port_weights_by_edge(const struct port_weights *weights, const struct network *network)
{
    uint32_t switches = (uint32_t)network->switches.count, edges = network->first_edge[switches];
    uint16_t *by_edge = mem_alloc(edges * sizeof *by_edge);
    struct map by_guid = {0};
    for (uint32_t at = 0; at < switches; at++)
        map_add(&by_guid, network->switches.items[at].guid, at);
    for (uint32_t e = 0; e < edges; e++)
        by_edge[e] = 1;
    for (size_t i = 0; i < weights->items.count; i++) {
        const struct port_weight *item = &weights->items.items[i];
        uint32_t at = map_get(&by_guid, item->guid);
        for (uint32_t e = at == MAP_NONE ? 0 : network->first_edge[at];
             at != MAP_NONE && e < network->first_edge[at + 1]; e++)
            if (network->edges[e].port == item->port)
                by_edge[e] = item->weight;
    }
    map_release(&by_guid);
    return by_edge;
}
