/* The database of the manager: known and wanted state of the subnet.
 *
 * Nodes and ports are rows of dense arrays. A node that leaves keeps its row, its indices and its
 * LIDs until it returns. `info`, `switch_info` and `actual` are what the fabric last confirmed;
 * `wanted` is what the manager has decided. */
#ifndef WEFT_SUBNET_SUBNET_H
#define WEFT_SUBNET_SUBNET_H

#include "base/map.h"
#include "base/mem.h"
#include "subnet/blocks.h"
#include "subnet/functions.h"
#include "subnet/node_names.h"
#include "subnet/prefix_routes.h"
#include "wire/mad.h"
#include "wire/vswitch.h"

#define SUBNET_NONE UINT32_MAX

enum { SUBNET_ADAPTER = 1, SUBNET_SWITCH = 2, SUBNET_ROUTER = 3 }; /* as in NodeInfo */
enum { SUBNET_NODE_LIMIT = 65536, LFT_BLOCK = 64, LFT_BLOCKS = 768, LFT_ENTRIES = 49152 };

struct subnet_port {
    uint32_t node;
    uint32_t peer;      /* the port at the other end, or SUBNET_NONE */
    uint32_t last_peer; /* the last `peer` other than SUBNET_NONE */
    uint32_t via; /* end ports: the last switch port on the path from the manager; SUBNET_NONE for
                     the port of the manager and for unreachable ports */
    uint8_t number, hops;                    /* hops: links from the manager */
    bool known;                              /* info was read since the node appeared */
    bool manager;                            /* another manager is at this port */
    bool peer_manager;                       /* that manager is a peer (subnet/trust.h) */
    bool rival;                              /* that manager was master in its last SMInfo */
    uint8_t manager_priority, manager_state; /* of its last SMInfo, as is manager_act_count */
    uint32_t manager_act_count;
    uint8_t lmc; /* wanted LMC and LID; end ports only */
    uint16_t lid;
    uint32_t function; /* VF ports: row in `functions` */
    uint64_t guid;
    uint8_t info[64]; /* PortInfo */
};

/* Room is made for whole blocks, up to the last that is wanted or known. The entries beyond
 * `length` are not known, and their wanted port is PORT_NONE. */
struct subnet_tables {
    uint8_t *actual, *wanted;
    uint32_t length;                 /* entries of each */
    uint64_t known[LFT_BLOCKS / 64]; /* blocks of `actual` that the switch has confirmed */
    uint16_t wanted_top;             /* below `length` */
    uint16_t wanted_end;             /* entries of `wanted` from here on are PORT_NONE */
    uint8_t *random; /* blocks of the random table of a switch without linear table; or NULL */
};

struct subnet_node {
    uint64_t guid, system_guid;
    uint32_t vendor, revision;
    uint16_t device, partition_cap;
    uint32_t first_port; /* of port 0 … port_count */
    uint8_t kind, port_count;
    bool present;
    bool vswitch;          /* the switch in a hypervisor's adapter (wire/vswitch.h) */
    bool virtual_function; /* of a hypervisor's adapter */
    uint8_t switch_info[20];
    char description[65];
    struct subnet_tables *tables; /* switches, except vSwitches, which compute theirs; or NULL */
};

struct subnet {
    VEC(struct subnet_node) nodes;
    VEC(struct subnet_port) ports;
    struct map by_guid;           /* node GUID → node */
    uint64_t cabling;             /* counts new neighbors of ports (`last_peer`) */
    uint32_t by_lid[LFT_ENTRIES]; /* wanted LID → end port */
    /* LIDs of ports that have not been seen yet (subnet_reserve_lids()). */
    uint64_t reserved_lids[BITSET_WORDS(LFT_ENTRIES)];
    uint32_t own_port;    /* port of the manager */
    uint64_t generation;  /* counts changes of the topology */
    uint32_t routers;     /* rows of routers, present or not */
    struct blocks blocks; /* P_Key, SL-to-VL, arbitration, multicast and GUID tables */
    struct virtual_functions functions;
    struct prefix_routes prefix_routes; /* to other subnets */
    const struct node_names *names;     /* the owner's; NULL: none */
};

/* The port at the other end of the last link of this port, unless another link took its place. */
static inline uint32_t subnet_last_neighbor(const struct subnet *subnet, uint32_t port)
{
    uint32_t at = subnet->ports.items[port].last_peer;
    return at != SUBNET_NONE && subnet->ports.items[at].last_peer == port ? at : SUBNET_NONE;
}

void subnet_init(struct subnet *subnet);
/* These ports were linked before the subnet was read, and are not now: a lost link. */
void subnet_expect_link(struct subnet *subnet, uint32_t a, uint32_t b);
void subnet_release(struct subnet *subnet);

/* Finds or adds the node with this GUID. SUBNET_NONE if there are too many nodes, or if a node that
 * is present has the GUID and another kind or port count. A node that returns with another kind or
 * port count gets a new row. */
uint32_t subnet_add_node(struct subnet *subnet, uint64_t guid, unsigned kind, unsigned port_count);
/* Makes room for at least `length` entries. */
void subnet_extend_tables(struct subnet_tables *tables, unsigned length);
/* Marks a switch as vSwitch, whose table is not written. */
void subnet_mark_vswitch(struct subnet *subnet, uint32_t node);
void subnet_link(struct subnet *subnet, uint32_t a, uint32_t b);
void subnet_unlink(struct subnet *subnet, uint32_t port);
/* Marks the blocks of all ports as not known: the node may have restarted. */
void subnet_forget_blocks(struct subnet *subnet, uint32_t node);
/* Removes a node and its links. Its row and LIDs stay. */
void subnet_remove_node(struct subnet *subnet, uint32_t node);

/* Searches breadth first, in port order, from the port of the manager. Sets `via` and `hops` of
 * every reachable end port and removes unreachable nodes. Returns the number of removed nodes. */
unsigned subnet_find_paths(struct subnet *subnet);
/* The nodes that are present. */
struct subnet_node_counts {
    uint32_t switches, adapters;
} subnet_count_nodes(const struct subnet *subnet);
/* Whether a switch is connected to the manager only through the link at this port, or the port has
 * no link. Links of adapters do not count. */
bool subnet_is_bridge(const struct subnet *subnet, uint32_t port);
/* The directed route to an end port: output ports from path[1] on. Returns its hops, or -1. */
int subnet_route(const struct subnet *subnet, uint32_t end_port, uint8_t path[64]);
/* The end port that a return path leads to: its ports 1 to `hops`, the last one first, from a port
 * of the subnet. SUBNET_NONE: it leads nowhere. */
uint32_t subnet_follow_back(const struct subnet *subnet, uint32_t from, const uint8_t *mad,
                            enum wire_field path, unsigned hops);

/* Sets the wanted LID of an end port, which has 2^lmc LIDs from `lid` on. */
void subnet_set_lid(struct subnet *subnet, uint32_t port, uint16_t lid, unsigned lmc);
bool subnet_lid_range_free(const struct subnet *subnet, uint32_t for_port, unsigned lid,
                           unsigned lmc);
/* Reserves LIDs for a port that may join later. They count as free, for that port and if no others
 * are left, and lose the reservation when a port gets them. */
void subnet_reserve_lids(struct subnet *subnet, unsigned lid, unsigned lmc);
bool subnet_lid_range_reserved(const struct subnet *subnet, unsigned lid, unsigned lmc);

static inline struct subnet_port *subnet_port_at(struct subnet *subnet, uint32_t node,
                                                 unsigned number)
{
    return &subnet->ports.items[subnet->nodes.items[node].first_port + number];
}
static inline bool subnet_is_present(const struct subnet *subnet, uint32_t port)
{
    return subnet->nodes.items[subnet->ports.items[port].node].present;
}
/* The end port of this port: port 0 of a switch, or the port of an adapter itself. */
static inline uint32_t subnet_end_port(const struct subnet *subnet, uint32_t port)
{
    const struct subnet_node *node = &subnet->nodes.items[subnet->ports.items[port].node];
    return node->kind == SUBNET_SWITCH ? node->first_port : port;
}
static inline bool subnet_is_end_port(const struct subnet *subnet, uint32_t port)
{
    const struct subnet_node *node = &subnet->nodes.items[subnet->ports.items[port].node];
    return (subnet->ports.items[port].number == 0) == (node->kind == SUBNET_SWITCH);
}
/* A VF port is the port of a vSwitch for a virtual function. The function has a row in `nodes`,
 * linked to the VF port, only while it has a LID. */
static inline bool subnet_is_vf_port(const struct subnet *subnet, uint32_t port)
{
    return subnet->nodes.items[subnet->ports.items[port].node].vswitch &&
           subnet->ports.items[port].number > VSWITCH_PF;
}
/* The VF port of the port of a virtual function, or SUBNET_NONE. */
static inline uint32_t subnet_vf_port_of(const struct subnet *subnet, uint32_t port)
{
    uint32_t peer = subnet->ports.items[port].peer;
    return peer != SUBNET_NONE && subnet_is_vf_port(subnet, peer) ? peer : SUBNET_NONE;
}
/* The port of the physical function, or SUBNET_NONE. */
static inline uint32_t subnet_pf_of(const struct subnet *subnet, uint32_t vswitch)
{
    return subnet->ports.items[subnet->nodes.items[vswitch].first_port + VSWITCH_PF].peer;
}
static inline bool subnet_block_known(const struct subnet_tables *tables, unsigned block)
{
    return tables->known[block / 64] >> (block % 64) & 1;
}
/* 0 if nothing is known about the LID. */
static inline uint8_t subnet_actual_port(const struct subnet_tables *tables, unsigned lid)
{
    return lid < tables->length ? tables->actual[lid] : 0;
}

#endif
