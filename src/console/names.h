/* Names that people write: nodes and ports of the fabric, attributes of SMPs. */
#ifndef WEFT_CONSOLE_NAMES_H
#define WEFT_CONSOLE_NAMES_H

#include "base/line_reader.h"
#include "topology/topology.h"

static inline const char *node_label(const struct topology *topology, uint32_t node)
{
    return topology_label(topology, node);
}

/* A node by name, description or GUID. */
int bind_node(const struct word *word, const struct topology *topology, struct cursor *cursor,
              uint32_t *node);
/* The same for a name that is not a word of a line. */
int names_find_node(const struct topology *topology, const char *name, uint32_t *node,
                    struct err *err);
/* One of its ports by number. */
int bind_port(const struct word *word, uint32_t node, const struct topology *topology,
              struct cursor *cursor, uint32_t *port);
int bind_port_number(const struct word *word, uint32_t node, uint64_t number,
                     const struct topology *topology, struct cursor *cursor, uint32_t *port);
/* NODE[:NUMBER[:NUMBER]], with at most `most` numbers. */
struct named_place {
    uint32_t node;
    unsigned count;
    uint64_t numbers[2];
};
int bind_place(const struct word *word, const struct topology *topology, struct cursor *cursor,
               unsigned most, struct named_place *place);
/* "NodeInfo" and so on, or 0x…; 0 or an error. */
int read_attribute(struct cursor *cursor, const struct word *word, const char *name,
                   unsigned *attribute);

#endif
