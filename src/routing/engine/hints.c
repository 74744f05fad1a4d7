/* Reading lists of GUIDs and of weights, and finding what they name in a network. */
#include "routing/engine/hints.h"

#include "base/file.h"
#include "base/map.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT = 64 << 20 };

/* One number; false at the end of the line or at anything else. */
static bool scan_value(const char **at, uint64_t least, uint64_t top, uint64_t *value)
{
    char *end;
    *at += strspn(*at, " \t");
    if (!isdigit((unsigned char)**at))
        return false;
    errno = 0;
    *value = strtoull(*at, &end, 0);
    if (errno || *value < least || *value > top || !strchr(" \t\r\n#", *end))
        return false;
    *at = end;
    return true;
}

static bool line_ends(const char *at)
{
    at += strspn(at, " \t\r");
    return !*at || *at == '\n' || *at == '#';
}

/* The start of the next line that says something, or NULL; counts lines. */
static const char *next_line(const char **text, unsigned *number)
{
    while (**text) {
        const char *line = *text + strspn(*text, " \t\r");
        const char *end = strchrnul(*text, '\n');
        *text = *end ? end + 1 : end;
        ++*number;
        if (line < end && *line != '#')
            return line;
    }
    return NULL;
}

int guid_list_parse(struct guid_list *list, const char *name, const char *text, struct err *err)
{
    unsigned number = 0;
    const char *line;
    *list = (struct guid_list){0};
    while ((line = next_line(&text, &number))) {
        uint64_t guid;
        if (strncmp(line, "0x", 2) != 0 || !scan_value(&line, 1, UINT64_MAX, &guid) ||
            !line_ends(line)) {
            guid_list_release(list);
            return err_at(err, EINVAL, name, number, "expected a GUID, 0x...");
        }
        vec_push(&list->items, guid);
    }
    return 0;
}

int guid_list_read(struct guid_list *list, const char *path, struct err *err)
{
    struct text text;
    int rc = file_read(path, FILE_LIMIT, &text, err);
    *list = (struct guid_list){0};
    if (!rc)
        rc = guid_list_parse(list, path, text.data, err);
    text_release(&text);
    return rc;
}

void guid_list_release(struct guid_list *list)
{
    vec_release(&list->items);
}

/* Ports of one adapter follow each other from `next` on. */
struct by_guid {
    struct map ports, nodes;
    uint32_t *next; /* by terminal: another one of the same adapter, or NETWORK_NONE */
};

static void index_terminals(struct by_guid *index, const struct network *network)
{
    *index = (struct by_guid){.next = mem_alloc(network->terminals.count * sizeof *index->next)};
    for (uint32_t i = (uint32_t)network->terminals.count; i-- > 0;) {
        const struct network_terminal *terminal = &network->terminals.items[i];
        map_add(&index->ports, terminal->guid, i);
        index->next[i] = NETWORK_NONE;
        if (!terminal->node_guid)
            continue;
        uint32_t other = map_get(&index->nodes, terminal->node_guid);
        index->next[i] = other == MAP_NONE ? NETWORK_NONE : other;
        map_set(&index->nodes, terminal->node_guid, i);
    }
}

uint32_t *guid_list_terminals(const struct guid_list *list, const struct network *network,
                              size_t *count)
{
    struct by_guid index;
    uint32_t *found = mem_alloc(network->terminals.count * sizeof *found);
    bool *taken = mem_zalloc(network->terminals.count, sizeof *taken);
    *count = 0;
    index_terminals(&index, network);
    for (size_t i = 0; i < list->items.count; i++) {
        uint32_t one = map_get(&index.ports, list->items.items[i]);
        uint32_t at = one == MAP_NONE ? map_get(&index.nodes, list->items.items[i]) : one;
        for (; at != MAP_NONE && at != NETWORK_NONE; at = one == at ? NETWORK_NONE : index.next[at])
            if (!taken[at]) {
                taken[at] = true;
                found[(*count)++] = at;
            }
    }
    map_release(&index.ports);
    map_release(&index.nodes);
    mem_free(index.next);
    mem_free(taken);
    return found;
}

int port_weights_parse(struct port_weights *weights, const char *name, const char *text,
                       struct err *err)
{
    unsigned number = 0;
    const char *line;
    *weights = (struct port_weights){0};
    while ((line = next_line(&text, &number))) {
        uint64_t guid, port, weight;
        if (strncmp(line, "0x", 2) != 0 || !scan_value(&line, 1, UINT64_MAX, &guid) ||
            !scan_value(&line, 1, NETWORK_TOP_PORT, &port) ||
            !scan_value(&line, 1, HINTS_TOP_WEIGHT, &weight) || !line_ends(line)) {
            port_weights_release(weights);
            return err_at(err, EINVAL, name, number,
                          "expected SWITCH PORT WEIGHT: a GUID (0x...), a port number, 1 to %d",
                          HINTS_TOP_WEIGHT);
        }
        vec_push(&weights->items, ((struct port_weight){guid, (uint8_t)port, (uint16_t)weight}));
    }
    return 0;
}

int port_weights_read(struct port_weights *weights, const char *path, struct err *err)
{
    struct text text;
    int rc = file_read(path, FILE_LIMIT, &text, err);
    *weights = (struct port_weights){0};
    if (!rc)
        rc = port_weights_parse(weights, path, text.data, err);
    text_release(&text);
    return rc;
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
