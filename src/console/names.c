#include "console/names.h"

#include "wire/mad.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A node whose name has further words ("node3 mlx5_0"), or the only one that contains the text. */
static uint32_t find_longer_name(const struct topology *topology, const char *text)
{
    uint32_t only = TOPOLOGY_NONE;
    size_t length = strlen(text), found = 0;
    for (uint32_t i = 0; i < topology->nodes.count && length > 1; i++) {
        const char *label = node_label(topology, i);
        if (strncmp(label, text, length) == 0 && !isalnum((unsigned char)label[length]))
            return i;
        if (strstr(label, text)) {
            only = i;
            found++;
        }
    }
    return found == 1 ? only : TOPOLOGY_NONE;
}

int bind_node(const struct word *word, const struct topology *topology, struct cursor *cursor,
              uint32_t *node)
{
    *node = topology_find(topology, word->text);
    if (*node != TOPOLOGY_NONE)
        return 0;
    uint32_t longer = find_longer_name(topology, word->text);
    if (longer != TOPOLOGY_NONE)
        return word_error(cursor, word,
                          "'%.80s' is not a node of this fabric; did you mean '%.80s'?", word->text,
                          node_label(topology, longer));
    const char **names = mem_alloc((topology->nodes.count + 1) * sizeof *names);
    for (size_t i = 0; i < topology->nodes.count; i++)
        names[i] = node_label(topology, (uint32_t)i);
    int status = word_unknown(cursor, word, "node of this fabric", names, topology->nodes.count);
    mem_free(names);
    return status;
}

static int unknown_port(const struct word *word, uint32_t node, const char *port,
                        const struct topology *topology, struct cursor *cursor)
{
    return word_error(cursor, word, "'%.80s' is not a port of '%.80s', which has 1 to %u", port,
                      node_label(topology, node), topology->nodes.items[node].port_count);
}

int bind_port(const struct word *word, uint32_t node, const struct topology *topology,
              struct cursor *cursor, uint32_t *port)
{
    uint64_t number;
    if (!parse_number(word->text, &number))
        return unknown_port(word, node, word->text, topology, cursor);
    return bind_port_number(word, node, number, topology, cursor, port);
}

int bind_port_number(const struct word *word, uint32_t node, uint64_t number,
                     const struct topology *topology, struct cursor *cursor, uint32_t *port)
{
    assert(node < topology->nodes.count);
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    if (number > topology->nodes.items[node].port_count)
        return unknown_port(word, node, text, topology, cursor);
    *port = topology_port_index(topology, node, (unsigned)number);
    return 0;
}

/* Names can contain colons: numbers are split off the end until the rest names a node. */
int bind_place(const struct word *word, const struct topology *topology, struct cursor *cursor,
               unsigned most, struct place *place)
{
    char name[TOPOLOGY_NAME_BYTES + 1];
    struct word node_word = {name, word->line, word->column};
    *place = (struct place){.node = TOPOLOGY_NONE};
    snprintf(name, sizeof name, "%s", word->text);
    while (place->count < most && topology_find(topology, name) == TOPOLOGY_NONE) {
        char *colon = strrchr(name, ':');
        uint64_t number;
        if (!colon || !parse_number(colon + 1, &number))
            break;
        place->numbers[1] = place->numbers[0];
        place->numbers[0] = number;
        place->count++;
        *colon = 0;
    }
    return bind_node(&node_word, topology, cursor, &place->node);
}

int read_attribute(struct cursor *cursor, const struct word *word, const char *name,
                   unsigned *attribute)
{
    const char *names[WIRE_ATTRIBUTE_COUNT];
    size_t count = 0;
    uint64_t number;
    for (unsigned i = 0; i < WIRE_ATTRIBUTE_COUNT; i++) {
        if (wire_attributes[i].class != WIRE_CLASS_SMP &&
            wire_attributes[i].class != WIRE_CLASS_COMMON)
            continue;
        names[count++] = wire_attributes[i].name;
        if (strcasecmp(wire_attributes[i].name, name) == 0) {
            *attribute = wire_attributes[i].id;
            return 0;
        }
    }
    if (parse_number(name, &number) && number > 0 && number <= UINT16_MAX) {
        *attribute = (unsigned)number;
        return 0;
    }
    struct word part = {name, word->line, word->column};
    return word_unknown(cursor, &part, "attribute of SMPs", names, count);
}
