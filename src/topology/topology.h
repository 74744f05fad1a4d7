/* The description of a fabric: nodes, ports and the links between them.
 *
 * Files hold it and generators make it; it is independent of the subnet manager. Nodes and ports
 * are dense arrays in file order. Each node owns the ports 0 … port_count in one row starting at
 * `first_port`; port 0 is the management port of a switch and unused in adapters and routers. A
 * link is stored at both of its ends. */
#ifndef WEFT_TOPOLOGY_TOPOLOGY_H
#define WEFT_TOPOLOGY_TOPOLOGY_H

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#define TOPOLOGY_NONE UINT32_MAX /* no node, no port */

/* Limits of a description. Larger input is refused. */
enum {
    TOPOLOGY_PORTS_PER_NODE = 254,
    TOPOLOGY_MAX_NODES = 1000000,
    TOPOLOGY_MAX_PORTS = 8000000, /* port 0 of every node included */
    TOPOLOGY_NAME_BYTES = 255,
    TOPOLOGY_DESCRIPTION_BYTES = 64,
    TOPOLOGY_LENGTH_MM = 20000, /* default cable length: 100 ns of propagation */
};

enum node_kind { NODE_ADAPTER = 1, NODE_SWITCH = 2, NODE_ROUTER = 3 }; /* as in NodeInfo.NodeType */

/* As in PortInfo.LinkWidthActive. */
enum link_width { WIDTH_1X = 1, WIDTH_4X = 2, WIDTH_8X = 4, WIDTH_12X = 8, WIDTH_2X = 16 };
enum link_speed {
    SPEED_SDR,
    SPEED_DDR,
    SPEED_QDR,
    SPEED_FDR10,
    SPEED_FDR,
    SPEED_EDR,
    SPEED_HDR,
    SPEED_NDR,
    SPEED_XDR,
    SPEED_COUNT,
};

struct topology_port {
    uint64_t guid;      /* of every port of adapters and routers; of port 0 of switches */
    uint32_t node;      /* index of the node it belongs to */
    uint32_t peer;      /* index of the port at the other end, or TOPOLOGY_NONE */
    uint32_t length_mm; /* of the cable; default 20 m */
    uint16_t lid;       /* 0: not given. The LID of a switch is at port 0 */
    uint8_t lmc;
    uint8_t width; /* enum link_width */
    uint8_t speed; /* enum link_speed */
    /* Shared-port adapters (virtual.h): the physical port that this port uses, and the number of
     * the function, 0 for the physical one. TOPOLOGY_NONE: the port is not shared. */
    uint8_t function;
    uint32_t shares;
    bool width_assumed, speed_assumed; /* a default: the file that was read does not state it */
};

struct topology_node {
    const char *name;        /* unique key in the file: "S-0008f10500108a75", "leaf3" */
    const char *description; /* NodeDescription, at most 64 bytes */
    uint64_t guid, system_guid;
    uint32_t vendor_id, first_port;
    uint16_t device_id;
    uint8_t kind; /* enum node_kind */
    uint8_t port_count;
    bool enhanced_port0; /* switches */
};

struct topology {
    VEC(struct topology_node) nodes;
    VEC(struct topology_port) ports;
    struct name_map by_name;
    struct map by_guid; /* node GUIDs and port GUIDs to node index */
    struct arena strings;
    const char *warning;                 /* of topology_read(): lines that it skipped; NULL: none */
    uint64_t next_guid[NODE_ROUTER + 1]; /* by kind: start of the search for a free GUID */
};

void topology_init(struct topology *topology);
void topology_release(struct topology *topology);

/* Adds a node and its unlinked ports (4X SDR, 20 m). GUID 0 selects the next free one of the
 * node's kind, name NULL the key of ibnetdiscover ("S-<guid>"). -EEXIST if the name or the GUID
 * is in use; `index` may be NULL. */
int topology_add_node(struct topology *topology, enum node_kind kind, const char *name,
                      unsigned port_count, uint64_t guid, uint32_t *index, struct err *err);
/* Adds a node without port GUIDs, for readers that find them later: topology_claim_guid() sets
 * those of the file, topology_fill_port_guids() the others. */
int topology_add_bare_node(struct topology *topology, enum node_kind kind, const char *name,
                           unsigned port_count, uint64_t guid, uint32_t *index, struct err *err);
/* Sets the GUID of a port; -EEXIST if another node or port has it. A port may share that of its
 * node. */
int topology_claim_guid(struct topology *topology, uint32_t port, uint64_t guid, struct err *err);
/* Ports without a GUID get that of the node plus their number, as in ibsim, or a free one. */
void topology_fill_port_guids(struct topology *topology);
/* Keeps the first 64 bytes, or a little less so as not to split a UTF-8 character, made safe by
 * text_make_shown(). */
void topology_set_description(struct topology *topology, uint32_t node, const char *text,
                              size_t length);
/* Links two ports by index. -EBUSY if either has a link, -EINVAL for port 0 or the same port. */
int topology_link(struct topology *topology, uint32_t a, uint32_t b, struct err *err);

static inline uint32_t topology_port_index(const struct topology *topology, uint32_t node,
                                           unsigned port)
{
    assert(node < topology->nodes.count && port <= topology->nodes.items[node].port_count);
    return topology->nodes.items[node].first_port + port;
}
static inline unsigned topology_port_number(const struct topology *topology, uint32_t port)
{
    assert(port < topology->ports.count);
    return port - topology->nodes.items[topology->ports.items[port].node].first_port;
}

/* A node by GUID ("0x…"), by name or by description (if only one has it); TOPOLOGY_NONE if none. A
 * GUID comes first: no name of another node can stand for it. */
uint32_t topology_find(const struct topology *topology, const char *text);
/* The description of a node if it is unique, else its name. */
const char *topology_label(const struct topology *topology, uint32_t node);
/* The labels of all nodes; the caller frees the array. */
const char **topology_labels(const struct topology *topology);

/* Reads the output of ibnetdiscover, 'ibnetdiscover --ports' or iblinkinfo, an opensm-subnet.lst or
 * a net file of ibsim. A text in memory cannot include files. Replaces the old contents; an error
 * changes nothing. */
struct line_reader;
int topology_read(struct topology *topology, struct line_reader *lines);
/* Appends the text of ibnetdiscover. Node keys become "S-<guid>" and so on; topology_read()
 * restores everything else. */
void topology_write_ibnetdiscover(const struct topology *topology, struct text *out);
/* The key that ibnetdiscover gives a node: "S-0008f10500108a75". */
enum { NODE_KEY_BYTES = 19 };
void topology_node_key(const struct topology_node *node, char key[NODE_KEY_BYTES]);

/* Widths as a multiple of 1x; names such as "4x" and "NDR", and back (false: unknown name). */
unsigned link_width_multiple(enum link_width width);
bool link_width_parse(const char *name, enum link_width *width);
bool link_speed_parse(const char *name, enum link_speed *speed);
bool link_length_parse(const char *text, uint32_t *mm); /* "20m", "1500mm" */
const char *link_width_name(enum link_width width);
const char *link_speed_name(enum link_speed speed);
/* Data rate of a link: bits per second after line coding. */
uint64_t link_data_rate(enum link_width width, enum link_speed speed);
/* Of the link at a port that has a cable: its slower end decides. */
uint64_t topology_link_rate(const struct topology *topology, uint32_t port);

#endif
