/* Data packets in the fabric: traffic goes in, deliveries and losses come out.
 *
 * The model is a lossless network with VLs: input buffers and credits for each VL of each link, a
 * routing unit, a crossbar and output buffers in each switch, weighted arbitration on each link.
 * data_path.h lists the files that a packet passes. Every packet is in one of four states:
 * delivered, lost with a cause, in the fabric, or waiting at its sender. fabric_check_data()
 * verifies that, and that no sender exceeded its credits. */
#ifndef WEFT_FABRIC_DATA_H
#define WEFT_FABRIC_DATA_H

#include "fabric/fabric.h"
#include "fabric/traffic/traffic.h"
#include "wire/transport_packet.h"

enum { DATA_OVERHEAD_BYTES = 26 }; /* around the payload: LRH 8, BTH 12, ICRC 4, VCRC 2 */

enum loss {
    LOSS_INACTIVE_PORT, /* the port is not Active: a manager stopped it */
    LOSS_DEAD_LINK,
    LOSS_DEAD_NODE,       /* in a node that failed, or on the way to one */
    LOSS_NO_ROUTE,        /* the LFT has no entry, or one for a port that does not exist */
    LOSS_OUTPUT_IS_INPUT, /* the LFT sends it back to the input port */
    LOSS_NO_VL,           /* the SL maps to no VL of this output */
    LOSS_LIFETIME,        /* too long in one switch */
    LOSS_HEAD_OF_QUEUE,   /* too long at the head of an output VL */
    LOSS_OVERFLOW,        /* no room in the receive buffer: impossible while credits are obeyed */
    LOSS_P_KEY,
    LOSS_BIT_ERROR,
    LOSS_MOVED, /* at a hypervisor that its VM has left or not yet reached */
    /* In routers: */
    LOSS_HOP_LIMIT,
    LOSS_NO_SUBNET,   /* no port leads to the prefix */
    LOSS_ROUTER_FULL, /* no memory for the output VL */
    LOSS_CAUSES,
};
extern const char *const loss_names[LOSS_CAUSES]; /* "inactive port" … */

/* A data packet, as observers see it. */
struct packet_view {
    uint32_t traffic;             /* as fabric_add_traffic() numbered it */
    uint32_t source, destination; /* end ports; TOPOLOGY_NONE if unknown */
    uint32_t from_vm, to_vm;      /* VM numbers, or TOPOLOGY_NONE */
    uint64_t made, entered;       /* made by its source; entered the output buffer of the adapter */
    uint32_t payload_bytes, bytes; /* bytes: on the wire */
    uint32_t message_bytes;        /* of the message that it is a part of; 0: none */
    uint16_t dlid;
    uint8_t sl, vl, hops, tries; /* vl: on the last link; hops: switches passed; tries: retries */
};

/* Callbacks for the end of each packet. Each may be NULL. */
struct data_observer {
    void *context;
    void (*delivered)(void *context, uint64_t now, const struct packet_view *packet);
    /* `port`: where it was lost. A reliable packet that will be sent again is not lost. */
    void (*lost)(void *context, uint64_t now, const struct packet_view *packet, enum loss cause,
                 uint32_t port);
    /* A deadlock begins. `cycle` is the text of fabric_find_deadlock(). */
    void (*deadlock)(void *context, uint64_t now, const char *cycle);
    /* A port at either end of an adapter's cable opened for data, or closed. */
    void (*port_changed)(void *context, uint64_t now, uint32_t port, bool open);
};
void fabric_observe_data(struct fabric *fabric, const struct data_observer *observer);

/* The path from one end port to another according to the manager; dlid 0: no path. The fabric
 * queries it for each packet when the sender makes it. */
struct data_path {
    uint16_t dlid;
    uint8_t sl;        /* used if the SL of the traffic is 0 */
    uint8_t sl_offset; /* else added to the SL of the traffic: some engines use several SLs per
                          service level */
    uint8_t hop_limit; /* the DLID is a router's: packets get a GRH; 0: they stay in the subnet */
};
struct data_paths {
    void *context;
    struct data_path (*find)(void *context, uint32_t source, uint32_t destination);
    /* Called before `find` is called by several threads, for which nothing else changes then.
     * False, or NULL: `find` is for one thread only, and so is the run. */
    bool (*prepare)(void *context);
    /* From a port to the next router on the way to a subnet (router_flow()); NULL: none. */
    struct data_path (*find_router)(void *context, uint32_t source, uint64_t prefix, uint64_t flow);
};
void fabric_set_paths(struct fabric *fabric, const struct data_paths *paths);
/* Paths for a fabric whose manager is another program: the LID that the destination port has now,
 * and SL 0. There is no path while a port at either end is not Active. */
void fabric_set_paths_by_lid(struct fabric *fabric);

/* The port by which a packet between two ports of adapters leaves the router that it has entered by
 * `port`, and its path from there; UINT32_MAX: `port` is not a router's, or the packet is lost. */
uint32_t fabric_route_across(const struct fabric *fabric, uint32_t port, uint32_t source,
                             uint32_t destination, struct data_path *path);

/* VMs: end points that move from port to port with their addresses.
 *
 * Lists of senders and receivers of a traffic may contain VM numbers beside port numbers. A VM
 * sends from its present port. Packets to a VM carry the LID that data_paths.find returns for its
 * number, so a fabric with VMs needs a `find` that accepts them: `source` is always a port,
 * `destination` may be a VM. Only the present port of the VM accepts its packets; other ports
 * discard them with LOSS_MOVED.
 *
 * The owner of the fabric moves a VM: to TOPOLOGY_NONE when the machine stops for migration, to the
 * new port when it resumes there. That is independent of the LIDs and LFTs that the manager changes
 * meanwhile. A VM at TOPOLOGY_NONE sends nothing; the last DATA_VM_BACKLOG packets that came due
 * wait for it, and older ones are dropped (`unroutable`). Lost reliable packets are sent again from
 * the new port. */
#define DATA_VM 0x80000000u /* number of the first VM */
/* Number of the first multicast group. A list of receivers may contain groups. data_paths.find
 * returns the MLID of a group, and each of its members gets a copy of the packet. */
#define DATA_GROUP 0xC0000000u
enum { DATA_VM_BACKLOG = 64 };

/* One direction of a VM's traffic. */
struct vm_direction {
    uint64_t delivered, lost[LOSS_CAUSES];
    uint64_t last_ps; /* time of the latest delivery */
    /* Downtime: from the last delivery before a move to the first one after it. These are the
     * latest, the longest, the sum and the number of interruptions. A move before any delivery does
     * not count; of several moves between two deliveries only the first counts. */
    uint64_t downtime_ps, longest_ps, total_ps;
    uint32_t interruptions;
    bool interrupted; /* moved; no delivery since */
    uint64_t interrupted_ps;
};
struct vm_view {
    uint32_t port;                     /* or TOPOLOGY_NONE */
    uint32_t moves;                    /* arrivals at a port, without the first */
    uint64_t detached_ps, attached_ps; /* latest departure and arrival */
    struct vm_direction to, from;      /* received; sent */
};
/* Adds a VM that is at no port yet and returns its number. */
uint32_t fabric_add_vm(struct fabric *fabric);
/* Moves the VM to an end port, or to TOPOLOGY_NONE. It arrives after the times of detaching and
 * attaching (struct fabric_options). */
void fabric_move_vm(struct fabric *fabric, uint32_t vm, uint32_t port);
/* Valid until the next VM is added. */
const struct vm_view *fabric_vm(const struct fabric *fabric, uint32_t vm);

/* Checks that a payload fits the MTU and the buffers of the node of that name. `grh_bytes`: of a
 * global route header, in a fabric with routers; else 0. */
int fabric_check_payload(const struct node_options *options, const char *name, uint32_t payload,
                         unsigned grh_bytes, struct err *err);
/* Runs traffic_check() and checks that all packets fit the MTU and the buffers. */
int fabric_check_traffic(const struct fabric *fabric, const struct traffic *traffic,
                         struct err *err);
/* Copies the traffic, which must have passed its check, and returns its number. Packets without a
 * path when they are made are not sent and count as `unroutable`. */
unsigned fabric_add_traffic(struct fabric *fabric, const struct traffic *traffic);
/* Stops making packets of this traffic. */
void fabric_stop_traffic(struct fabric *fabric, unsigned traffic);

/* Packets of transport services (transport_port.c): the transport layer of an adapter makes them,
 * and the fabric carries them as data packets with their real sizes. They count in data_totals, but
 * the observer does not see them.
 *
 * The owner calls fabric_offer_transport() when a port may have packets. The fabric takes a packet
 * for each VL, and the next one when that packet leaves the port. Callbacks may call the three
 * functions below, except that `next_packet` must not call fabric_offer_transport(). */
struct data_transport {
    void *context;
    /* Makes the next packet of one of these SLs (bit per SL); false: there is none. */
    bool (*next_packet)(void *context, uint64_t now, uint32_t port, uint16_t service_levels,
                        struct transport_packet *packet);
    void (*arrived)(void *context, uint64_t now, uint32_t port,
                    const struct transport_packet *packet);
    /* The fabric has lost a packet that it had taken. May be NULL. */
    void (*lost)(void *context, const struct transport_packet *packet);
    void (*due)(void *context, uint64_t now, uint32_t port); /* see fabric_call_transport() */
    /* An adapter's port opened or closed for data, or a manager has written its attributes. */
    void (*port_changed)(void *context, uint64_t now, uint32_t port);
};
void fabric_set_transport(struct fabric *fabric, const struct data_transport *transport);
void fabric_offer_transport(struct fabric *fabric, uint32_t port);
/* The transport layer of a port has dropped a packet whose P_Key is in the table of the port, but
 * is not that of the QP: counter and trap 257. Packets with other P_Keys do not reach it. */
struct sma_key_violation;
void fabric_report_p_key(struct fabric *fabric, uint32_t port,
                         const struct sma_key_violation *violation);
/* … with a wrong Q_Key: counter and trap 258. */
void fabric_report_q_key(struct fabric *fabric, uint32_t port,
                         const struct sma_key_violation *violation);
/* Calls `due` at that time. */
void fabric_call_transport(struct fabric *fabric, uint32_t port, uint64_t time);
/* The largest MTU whose packets, with all headers, fit the MTU and the buffers of every node; 0:
 * none. */
unsigned fabric_transport_mtu(const struct fabric *fabric);

struct data_totals {
    uint64_t made; /* with a path; = delivered + lost + travelling + waiting */
    uint64_t unroutable;
    uint64_t delivered, lost[LOSS_CAUSES];
    uint64_t travelling, waiting; /* in the fabric; at their senders, including retries */
    uint64_t entered;             /* into the fabric, including retries */
    uint64_t retried, duplicates; /* sent again; multicast copies beyond the first */
    uint64_t delivered_bytes, delivered_payload_bytes;
    uint64_t hops;           /* links crossed by packets */
    uint64_t credit_packets; /* flow control */
    uint64_t deadlocks;      /* deadlocks found */
};
void fabric_data_totals(struct fabric *fabric, struct data_totals *totals);
/* Packets that these senders of a traffic made, as data_totals.made; TOPOLOGY_NONE: all traffics.
 * `first` and `last` are ports. */
uint64_t fabric_packets_made(struct fabric *fabric, uint32_t traffic, uint32_t first,
                             uint32_t last);
/* Packets lost for any cause. */
static inline uint64_t data_totals_lost(const struct data_totals *totals)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < LOSS_CAUSES; i++)
        sum += totals->lost[i];
    return sum;
}

/* Counters and gauges of one VL of one port. */
struct vl_view {
    uint64_t sent_packets, sent_bytes;  /* over the link, without flow-control packets */
    uint64_t input_bytes, output_bytes; /* in the buffers now, in multiples of 64 */
    int64_t credit_blocks;              /* granted by the peer and not yet used */
};
struct vl_view fabric_vl(const struct fabric *fabric, uint32_t port, unsigned vl);
/* The size of each input and output buffer of a port, by VL. */
uint64_t fabric_vl_room_bytes(const struct fabric *fabric, uint32_t port);
/* The number of data VLs of the fabric; 0: it has no traffic. */
unsigned fabric_vls(const struct fabric *fabric);
/* Time during which the link of a port was sending, for its utilisation. */
uint64_t fabric_busy_ps(const struct fabric *fabric, uint32_t port);
bool fabric_port_passes_data(const struct fabric *fabric, uint32_t port); /* Active, and up */

/* Finds packets that wait for each other in a cycle. The run goes on, since lifetimes may break the
 * cycle. Text: one line for each VL, "S1 port 3 VL 0 -> S2 port 1". */
bool fabric_find_deadlock(struct fabric *fabric, struct text *cycle);
/* The same as a list: each output VL waits for the next one, the last one for the first. The caller
 * releases the list. */
struct deadlock_hop {
    uint32_t port;
    unsigned vl;
};
struct deadlock_cycle {
    VEC(struct deadlock_hop) hops;
};
bool fabric_list_deadlock(struct fabric *fabric, struct deadlock_cycle *cycle);

/* Conservation check: packets, buffers, credits, link capacity. -EPROTO and a message. */
int fabric_check_data(struct fabric *fabric, struct err *err);

#endif
