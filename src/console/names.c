/* Names that people write: nodes, ports and attributes, with the nearest name in errors. */
#include "console/names.h"

#include "wire/mad.h"

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

/* An error if several nodes have this description. */
static int check_unique(const struct word *word, const struct topology *topology,
                        struct cursor *cursor)
{
    uint64_t same[2];
    size_t count = 0;
    for (size_t i = 0; i < topology->nodes.count; i++) {
        const struct topology_node *node = &topology->nodes.items[i];
        if (node->description && strcmp(node->description, word->text) == 0 && count++ < 2)
            same[count - 1] = node->guid;
    }
    if (count < 2)
        return 0;
    return word_error(cursor, word,
                      "%zu nodes are named '%.80s': use a GUID, such as 0x%016" PRIx64
                      " or 0x%016" PRIx64,
                      count, word->text, same[0], same[1]);
}

int bind_node(const struct word *word, const struct topology *topology, struct cursor *cursor,
              uint32_t *node)
{
    *node = topology_find(topology, word->text);
    if (*node != TOPOLOGY_NONE)
        return 0;
    if (check_unique(word, topology, cursor))
        return cursor->status;
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

int names_find_node(const struct topology *topology, const char *name, uint32_t *node,
                    struct err *err)
{
    const struct word word = {.text = name};
    struct cursor cursor = {.file = "", .err = err};
    return bind_node(&word, topology, &cursor, node);
}

int bind_port(const struct word *word, uint32_t node, const struct topology *topology,
              struct cursor *cursor, uint32_t *port)
{
    uint64_t number;
    unsigned ports = topology->nodes.items[node].port_count;
    if (!parse_number(word->text, &number) || number > ports)
        return word_error(cursor, word, "'%.80s' is not a port of '%.80s', which has 1 to %u",
                          word->text, node_label(topology, node), ports);
    *port = topology_port_index(topology, node, (unsigned)number);
    return 0;
}

int bind_port_number(const struct word *word, uint32_t node, uint64_t number,
                     const struct topology *topology, struct cursor *cursor, uint32_t *port)
{
    char text[24];
    const struct word part = {text, word->line, word->column};
    snprintf(text, sizeof text, "%" PRIu64, number);
    return bind_port(&part, node, topology, cursor, port);
}

/* Names can contain colons: numbers are split off the end until the rest names a node. */
int bind_place(const struct word *word, const struct topology *topology, struct cursor *cursor,
               unsigned most, struct named_place *place)
{
    char name[TOPOLOGY_NAME_BYTES + 1];
    struct word node_word = {name, word->line, word->column};
    *place = (struct named_place){.node = TOPOLOGY_NONE};
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
