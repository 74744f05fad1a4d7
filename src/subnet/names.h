/* Names of nodes, ports and links in logs and output: those of the administrator (node_names.h), or
 * node descriptions, with GUIDs where several nodes that are present have the same one, or none.
 *
 *   leaf12        leaf12 port 7        leaf12 port 7 <-> spine3 port 31 */
#ifndef WEFT_SUBNET_NAMES_H
#define WEFT_SUBNET_NAMES_H

#include "subnet/subnet.h"

/* Holds a link between two nodes with the longest descriptions and their GUIDs, and some words. */
struct subnet_name {
    char text[320];
};

/* The name that the administrator gave the node, or its description; not unique. */
const char *subnet_node_label(const struct subnet *subnet, const struct subnet_node *node);
struct subnet_name subnet_node_name(const struct subnet *subnet, uint32_t node);
struct subnet_name subnet_port_name(const struct subnet *subnet, uint32_t port);
/* The link at this port; if there is none, the last one that was there. The end at a switch is
 * first, else the end whose name is first. */
struct subnet_name subnet_link_name(const struct subnet *subnet, uint32_t port);
/* What a problem is about, as values that stay valid when nodes vanish and when the list belongs to
 * another manager. The end at `guid` is the place; the other end is that of the last link there. */
enum subnet_place_kind { SUBNET_NOWHERE, SUBNET_AT_NODE, SUBNET_AT_PORT, SUBNET_AT_LINK };
struct subnet_place {
    enum subnet_place_kind kind;
    uint8_t port, peer_port;  /* 0: the node; none */
    uint64_t guid, peer_guid; /* of nodes; 0: none */
};
struct subnet_place subnet_at_node(const struct subnet *subnet, uint32_t node);
struct subnet_place subnet_at_port(const struct subnet *subnet, uint32_t port);
struct subnet_place subnet_at_link(const struct subnet *subnet, uint32_t port);
bool subnet_same_place(const struct subnet_place *a, const struct subnet_place *b);
/* As above; the GUID of a node that this subnet does not have; "": nowhere. */
struct subnet_name subnet_place_name(const struct subnet *subnet, const struct subnet_place *place);
/* The node with this name, description or GUID (0x…), also one that is gone; SUBNET_NONE: there is
 * none, or several have the description. */
uint32_t subnet_find_node(const struct subnet *subnet, const char *name);
const char *subnet_kind_name(const struct subnet_node *node); /* "switch" */

#endif
