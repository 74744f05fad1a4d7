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
/* The node with this name, description or GUID (0x…), also one that is gone; SUBNET_NONE: there is
 * none, or several have the description. */
uint32_t subnet_find_node(const struct subnet *subnet, const char *name);
const char *subnet_kind_name(const struct subnet_node *node); /* "switch" */

#endif
