/* The shared database: what is known of a subnet, and what is wanted of it.
 *
 * Nodes and ports are dense rows that stay where they are: a node that vanishes keeps its row until
 * it comes back, so indices and LIDs last. `info`, `switch_info` and the tables' `actual` side are
 * what the fabric last confirmed; `wanted` sides are what the manager has decided. Nothing here
 * sends or decides anything. */
#ifndef WEFT_SUBNET_SUBNET_H
#define WEFT_SUBNET_SUBNET_H

#include "base/map.h"
#include "base/mem.h"
#include "subnet/blocks.h"
#include "subnet/functions.h"
#include "wire/mad.h"
#include "wire/vswitch.h"

#define SUBNET_NONE UINT32_MAX

enum { SUBNET_ADAPTER = 1, SUBNET_SWITCH = 2, SUBNET_ROUTER = 3 }; /* as in NodeInfo */
enum { SUBNET_NODE_LIMIT = 65536, LFT_BLOCK = 64, LFT_BLOCKS = 768, LFT_ENTRIES = 49152 };

struct subnet_port {
    uint32_t node;
    uint32_t peer; /* the port at the other end, or SUBNET_NONE */
    uint32_t via;  /* end ports: the switch port that leads here from the manager; SUBNET_NONE for
                      the manager's own and for what cannot be reached */
    uint8_t number, hops;                    /* hops: links from the manager */
    bool known;                              /* info was read since the node came */
    bool manager;                            /* another manager sits here */
    bool rival;                              /* and was master too when last heard of */
    uint8_t manager_priority, manager_state; /* the rest of what it said then */
    uint32_t manager_acts;
    uint8_t lmc; /* wanted, as is the LID; end ports only */
    uint16_t lid;
    uint32_t function; /* sockets: row of `functions` */
    uint64_t guid;
    uint8_t info[64]; /* PortInfo */
};

struct subnet_tables {
    uint8_t actual[LFT_ENTRIES], wanted[LFT_ENTRIES];
    uint64_t known[LFT_BLOCKS / 64]; /* blocks of `actual` that the switch has confirmed */
    uint16_t wanted_top;
    uint8_t *random; /* blocks of the random table of a switch that has one instead; or NULL */
};

struct subnet_node {
    uint64_t guid, system_guid;
    uint32_t vendor, revision;
    uint16_t device, partition_cap;
    uint32_t first_port; /* of port 0 … port_count */
    uint8_t kind, port_count;
    bool present;
    bool vswitch;          /* of a hypervisor's adapter: see wire/vswitch.h */
    bool virtual_function; /* … the adapter that a virtual machine has */
    uint8_t switch_info[20];
    char description[65];
    struct subnet_tables *tables; /* switches but vSwitches, who mind their own */
};

struct subnet {
    VEC(struct subnet_node) nodes;
    VEC(struct subnet_port) ports;
    struct map by_guid;                 /* node GUID → node */
    uint32_t by_lid[LFT_ENTRIES];       /* wanted LID → end port */
    uint32_t own_port;                  /* where the manager sits */
    uint64_t generation;                /* counts changes of the topology */
    struct blocks blocks;               /* partitions, lanes, multicast */
    struct virtual_functions functions; /* virtual functions of hypervisors' adapters */
};

void subnet_init(struct subnet *subnet);
void subnet_release(struct subnet *subnet);

/* The node with this GUID, made if it is new; SUBNET_NONE when there are too many, or when the GUID
 * is there already, with another kind or port count. A node that comes back with another one gets
 * another row. */
uint32_t subnet_add_node(struct subnet *subnet, uint64_t guid, unsigned kind, unsigned port_count);
/* It turned out to be a hypervisor's: nobody writes its table. */
void subnet_mark_vswitch(struct subnet *subnet, uint32_t node);
void subnet_link(struct subnet *subnet, uint32_t a, uint32_t b);
void subnet_unlink(struct subnet *subnet, uint32_t port);
/* It may be blank: nothing that its ports were told in blocks counts any more. */
void subnet_forget_blocks(struct subnet *subnet, uint32_t node);
/* Takes a node out: its links go, its row and LIDs stay. */
void subnet_remove_node(struct subnet *subnet, uint32_t node);

/* Walks out from the manager's port, breadth first in port order; sets `via` and `hops` of every
 * end port that can be reached and removes the nodes that cannot. Returns how many were removed. */
unsigned subnet_find_paths(struct subnet *subnet);
/* The directed route to an end port: ports to leave by, in order; -1 if there is none. */
int subnet_route(const struct subnet *subnet, uint32_t end_port, uint8_t path[64]);

/* LIDs: the wanted one of an end port, and the range of 2^lmc behind it. */
void subnet_set_lid(struct subnet *subnet, uint32_t port, uint16_t lid, unsigned lmc);
bool subnet_lid_range_free(const struct subnet *subnet, uint32_t for_port, unsigned lid,
                           unsigned lmc);

static inline struct subnet_port *subnet_port_at(struct subnet *subnet, uint32_t node,
                                                 unsigned number)
{
    return &subnet->ports.items[subnet->nodes.items[node].first_port + number];
}
static inline bool subnet_is_present(const struct subnet *subnet, uint32_t port)
{
    return subnet->nodes.items[subnet->ports.items[port].node].present;
}
/* The end port that answers for this one: port 0 of a switch, an adapter's port itself. */
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
/* A hypervisor's adapter. A socket is the vSwitch's port of a virtual function; whether one is
 * plugged in, that is, whether it has a row of its own at the other end, depends on its LID. */
static inline bool subnet_is_socket(const struct subnet *subnet, uint32_t port)
{
    return subnet->nodes.items[subnet->ports.items[port].node].vswitch &&
           subnet->ports.items[port].number > VSWITCH_PF;
}
/* The socket of a virtual function's port; SUBNET_NONE for all other ports. */
static inline uint32_t subnet_socket_of(const struct subnet *subnet, uint32_t port)
{
    uint32_t peer = subnet->ports.items[port].peer;
    return peer != SUBNET_NONE && subnet_is_socket(subnet, peer) ? peer : SUBNET_NONE;
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

#endif
