/* Names of nodes that the administrator gives: the node name map of OpenSM and infiniband-diags.
 *
 * Each line is the GUID of a node and a name in double quotes; '#' starts a comment. Names replace
 * node descriptions in logs and output, not in the records of the subnet administrator.
 *
 *   0x0002c90200001000 "core 1, row 3" */
#ifndef WEFT_SUBNET_NODE_NAMES_H
#define WEFT_SUBNET_NODE_NAMES_H

#include "base/line_reader.h"
#include "base/map.h"

enum { NODE_NAME_BYTES = 65 };

struct node_names {
    struct map by_guid; /* node GUID → index */
    VEC(struct node_name {
        uint64_t guid;
        char text[NODE_NAME_BYTES];
    })
    items;
};

/* Of several lines with one GUID the last one applies. Longer names are cut. */
int node_names_read(struct node_names *names, struct line_reader *lines);
void node_names_release(struct node_names *names);
/* NULL: none; `names` may be NULL. */
const char *node_names_find(const struct node_names *names, uint64_t guid);
/* The GUID of the node with this name; 0: none. */
uint64_t node_names_guid(const struct node_names *names, const char *name);

#endif
