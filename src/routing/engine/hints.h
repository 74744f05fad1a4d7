/* Hints from the user to engines: which terminals come first, and weights of links.
 *
 * A list of GUIDs has one "0x…" a line; a file of weights has lines "SWITCH PORT WEIGHT", the
 * switch by its GUID. A port with weight 2 counts every terminal twice, so it gets half as many as
 * one with weight 1, which is the default. '#' starts a comment. */
#ifndef WEFT_ROUTING_ENGINE_HINTS_H
#define WEFT_ROUTING_ENGINE_HINTS_H

#include "base/line_reader.h"
#include "routing/model/network.h"

enum { HINTS_TOP_WEIGHT = 1000 };

struct guid_list {
    VEC(uint64_t) items;
};
struct port_weight {
    uint64_t guid;
    uint8_t port;
    uint16_t weight;
};
struct port_weights {
    VEC(struct port_weight) items;
};

int guid_list_read(struct guid_list *list, struct line_reader *lines);
void guid_list_release(struct guid_list *list);
/* The terminals that are listed, by port or adapter GUID, in the order of the list and each once;
 * the caller frees them. */
uint32_t *guid_list_terminals(const struct guid_list *list, const struct network *network,
                              size_t *count);

int port_weights_read(struct port_weights *weights, struct line_reader *lines);
/* Ports whose load does not count (weight 0): lines "SWITCH PORT". */
int port_weights_read_ignored(struct port_weights *weights, struct line_reader *lines);
void port_weights_release(struct port_weights *weights);
/* By edge of the network; the caller frees them. */
uint16_t *port_weights_by_edge(const struct port_weights *weights, const struct network *network);

#endif
