/* The private side of the data path: VL buffers, the units of a switch, senders.
 *
 * Files, in the order in which a data packet passes them:
 *   sender.c           the source makes the packet; its SL selects an output VL of the adapter
 *   output_vl.c        the port picks the next packet by the arbitration table (arbiter.c), if the
 *                      peer has granted credits for it; the link carries it
 *   credits.c          the receiver grants credits in flow-control packets
 *   input_vl.c         the packet arrives in an input VL; at the head of it, the routing unit
 *                      (routing_unit.c) finds the output port and the SL-to-VL table the VL; it
 *                      crosses when the output VL has room
 *   router.c           routers, which forward packets to other subnets
 *   transport_port.c   packets that the transport layer of an adapter makes
 *   vms.c              virtual machines, which take their traffic with them
 *   data_port_state.c  packets of ports that close, links that break and nodes that fail
 *   deadlock.c         the wait-for graph
 *   counters.c         performance counters; conservation.c: the conservation check
 *
 * Switches cut through: a switch routes a packet once the header is there, and may forward it
 * before it has received the whole packet. `tail` is the time at which the last byte arrives at the
 * packet's present place. No link starts so early that it would underrun.
 *
 * Buffers and credits are counted in blocks of 64 bytes. A `port_vl` is one VL of one port. Its
 * number is the port number shifted by vl_shift, plus the VL. Every port has the same number of
 * slots, a power of two, and uses as many of them as it has data VLs. All of this exists only in
 * fabrics with traffic. */
#ifndef WEFT_FABRIC_DATA_PATH_H
#define WEFT_FABRIC_DATA_PATH_H

#include "base/map.h"
#include "base/pool.h"
#include "fabric/data.h"

enum {
    DATA_HEADER_BYTES = 20, /* a switch can route once it has these */
    CREDIT_PACKET_BYTES = 6,
    CREDIT_BYTES = 64,
    CREDIT_MODULUS = 4096, /* of FCTBS and FCCL: 12 bits */
    ARBITER_ENTRIES = 64,  /* of each table */
};

/* FIFOs of the event queue, one for each kind of delay and of event, in the order of the kinds. */
enum data_delay {
    DELAY_CONNECT,  /* look-up, mapping, arbitration */
    DELAY_UNIT,     /* the routing unit's look-up alone */
    DELAY_HEADER,   /* to a switch: until the header is there */
    DELAY_WHOLE,    /* to an adapter: until all of it is there */
    DELAY_CROSSING, /* over a crossbar */
    DELAY_CREDITS,  /* a flow-control packet */
    DELAY_SENT,     /* until the output is free */
};

struct data_packet {
    uint64_t made, entered, tail;
    uint64_t since; /* arrival in the present node */
    uint32_t next;
    uint32_t link_epoch; /* of the link that carries it */
    uint32_t sender;     /* or CARRIES_TRANSPORT + the number of a transport packet */
    uint32_t destination;
    uint16_t dlid, bytes, payload, p_key;
    uint8_t sl : 4, vl : 4, hop_limit; /* hop_limit: of the GRH; 0: there is none */
    uint8_t hops, tries;
    uint32_t multicast; /* NONE unless multicast; see packets.c */
};
_Static_assert(sizeof(struct data_packet) == 64, "a packet is one cache line");

#define CARRIES_TRANSPORT 0x80000000u
struct carried_packet {
    uint32_t next; /* of the pool */
    struct transport_packet packet;
};

struct data_packet_queue {
    uint32_t head, tail;
};

struct input_vl {
    struct data_packet_queue queue;
    uint32_t wanted;   /* output VL of the head once it is routed, or NONE */
    uint32_t crossing; /* output VL that a packet crosses to, or NONE */
    uint32_t next;     /* next input VL that waits for the same output VL */
    uint16_t crossing_blocks, used;
    uint16_t received;   /* blocks since the link came up, modulo CREDIT_MODULUS */
    uint16_t limit_sent; /* the credit limit sent last */
    uint8_t copied;      /* multicast at the head: the last output that got a copy */
    uint8_t overtaken;   /* times that others crossed first because the input was busy */
    bool requested;      /* the head waits for the routing unit, or is in it */
    bool timed;          /* a lifetime timer is running */
};

struct output_vl {
    _Alignas(64) struct data_packet_queue queue;
    uint32_t first_waiting, last_waiting; /* input VLs; in an adapter: senders */
    uint32_t crossing;                    /* input VL from which a packet crosses, or NONE */
    uint16_t used;
    uint16_t sent, limit; /* FCTBS; the FCCL received last */
    bool timed;
    uint64_t head_since;
    uint64_t packets, bytes; /* sent */
};

/* The VL arbitration tables of a port (7.6.9), without empty entries. Ports with the same tables
 * share one copy. */
struct arbiter_tables {
    uint16_t count[2]; /* entries; [0] low, [1] high priority */
    uint8_t vl[2][ARBITER_ENTRIES];
    uint8_t weight[2][ARBITER_ENTRIES];
    uint16_t vls[2];           /* VLs with an entry */
    uint64_t high_limit_bytes; /* TIME_NEVER: none */
};
struct arbiter {
    const struct arbiter_tables *tables;
    uint64_t high_sent; /* bytes since the last low-priority packet */
    int32_t left[2];    /* bytes that the current entry may still send */
    uint8_t at[2];      /* the current entry */
    uint8_t picked;     /* the table that was served last */
};

/* The data of a node that the data path needs, in one cache line, and the routing unit of a switch:
 * one look-up at a time, for all its input VLs round-robin. */
struct switch_core {
    uint64_t busy_until;
    const uint8_t *linear;     /* NULL: a random table, or that of a virtual switch */
    const uint8_t (*sl2vl)[8]; /* as the agent keeps it */
    uint64_t common_sl2vl;     /* if all rows of sl2vl are equal: four bits for each SL */
    uint64_t life_time_ps;     /* a packet is discarded after this; TIME_NEVER: never */
    uint32_t cursor;           /* the input VL served last, relative to the node */
    uint32_t waiting;
    uint32_t life; /* of the node */
    uint32_t first_port;
    union {
        uint16_t linear_top; /* of a switch */
        uint16_t p_key;      /* of an adapter: the first one of all its ports, or 0 */
    };
    uint8_t port_count;
    bool is_switch, up;
    bool uniform_sl2vl;  /* all rows of sl2vl are equal */
    bool waking;         /* an event is scheduled for when the unit is free */
    bool is_virtual : 1; /* a virtual switch */
    bool has_bus : 1;    /* an adapter whose way to memory takes time */
};
_Static_assert(sizeof(struct switch_core) <= 64, "what a hop needs of a node is one cache line");

/* Of one sender, for its paths that have a link slower than its own (pacing.c). */
struct pacing {
    struct map by_destination; /* index of `free_at` */
    VEC(uint64_t) free_at;     /* the time from which the next packet may be sent */
};

struct sender {
    uint32_t traffic, port;
    struct traffic_source source, counted; /* counted: a copy of the source that runs ahead */
    struct traffic_packet ahead;           /* the next packet of `counted` */
    struct traffic_packet next;
    uint64_t message_made; /* saturated arrivals: when the first packet of the message was made */
    uint64_t earliest;     /* time allowed by static rate control */
    uint64_t fetched;      /* when the next packet is in the adapter; 0: not begun (host_bus.c) */
    uint64_t drawn, foreseen; /* packets drawn from `source` and from `counted` */
    uint64_t made;            /* of those drawn: with a path */
    uint32_t waiting_for;     /* output VL whose queue it is in, or NONE */
    uint32_t next_waiting;    /* next sender in that queue */
    uint32_t vm;              /* the VM that it sends for, or NONE */
    uint32_t next_of_vm;      /* next sender of the same VM */
    bool scheduled, over;
    bool paused;     /* its VM is at no port */
    uint32_t held;   /* packets that wait for the rate of their paths */
    uint32_t passed; /* saturated arrivals: packets not made for that reason, in turn */
    struct data_packet_queue retries; /* sent before new packets */
    struct pacing pacing;
};

struct vm {
    struct vm_view view;
    uint32_t first_sender;
    uint32_t arriving; /* the port to which it is being attached, or NONE */
    uint32_t turn;     /* counts its moves: events of earlier ones are ignored */
    uint64_t detached; /* the end of its latest detachment */
    bool has_arrived;  /* has been at a port */
};

struct data {
    unsigned vl_shift;
    bool is_large; /* more than a cache holds: what events need is prefetched */
    struct input_vl *inputs;
    struct output_vl *outputs;
    struct switch_core *switch_cores; /* by node */
    uint64_t *requests;               /* by input VL: it waits for the routing unit */
    VEC(struct arbiter_tables *) tables;
    struct arena memory; /* of the tables, `requests` and `counts` */
    POOL(struct data_packet) data_packets;
    VEC(struct sender) senders;
    VEC(struct traffic) traffics;
    VEC(bool) stopped; /* by traffic */
    VEC(struct vm) vms;
    uint32_t largest_blocks; /* of the largest packet */
    uint64_t travelling, on_links;
    uint64_t retrying; /* packets at their senders: sent again later, or held by rate control */
    uint64_t trace;    /* sum of the hashes of all arrivals, deliveries and losses */
    struct data_totals totals;
    struct port_counts *counts; /* by port: counters.c */
    struct data_transport transport;
    uint32_t *transport_waits; /* by port_vl: the transport packet in its queue; NULL: no owner */
    uint64_t transport_made;
    POOL(struct carried_packet) carried;
    struct data_observer observer;
    struct data_paths paths;
    uint64_t routing_ps, connect_ps; /* look-up; SL-to-VL mapping and crossbar arbitration */
    struct map ports_by_guid;        /* router.c: end ports */
    bool watched;                    /* the next deadlock check is scheduled */
    bool deadlocked;                 /* the last deadlock check found a cycle */
    bool is_reserved;                /* data_packets has address space that never moves: divide.c */
    struct data *whole;              /* of a partition: that of the whole fabric */
    bool overflowed; /* no room in spite of credits: fabric_check_data() reports it */
};

static inline unsigned blocks_of(unsigned bytes)
{
    return (bytes + CREDIT_BYTES - 1) / CREDIT_BYTES;
}

static inline void free_blocks(uint16_t *used, unsigned blocks)
{
    assert(*used >= blocks);
    *used = (uint16_t)(*used - blocks);
}

struct fabric;
struct port;

/* Data packets have numbers, since their pool moves when it grows. */
uint32_t data_packet_new(struct data *data);
void data_packets_release(struct data *data);
/* Gives a partition more free numbers; false: the pool is that of the whole fabric, and may grow.
 */
bool partitions_refill(struct data *data);
static inline struct data_packet *data_packet_at(struct data *data, uint32_t number)
{
    return &data->data_packets.items[number];
}
static inline void data_packet_push(struct data *data, struct data_packet_queue *queue,
                                    uint32_t number)
{
    data_packet_at(data, number)->next = UINT32_MAX;
    if (queue->head == UINT32_MAX)
        queue->head = number;
    else
        data_packet_at(data, queue->tail)->next = number;
    queue->tail = number;
}
static inline uint32_t data_packet_pop(struct data *data, struct data_packet_queue *queue)
{
    uint32_t number = queue->head;
    if (number != UINT32_MAX)
        queue->head = data_packet_at(data, number)->next;
    return number;
}

/* pacing.c: the time from which a packet of this sender may be sent to its destination, and how
 * long it occupies the slowest link of its path. NULL: no link of the path is slower than the
 * sender's. */
uint64_t *pacing_find(struct fabric *fabric, uint32_t sender, const struct data_packet *data_packet,
                      uint64_t *interval_ps);
void pacing_release(struct pacing *pacing);

/* host_bus.c */
enum host_direction { HOST_READS, HOST_WRITES }; /* of memory */
struct node_options;
bool host_bus_is_modelled(const struct node_options *options);
/* The time when a packet that is to be sent, and is ready now, is in the adapter. */
uint64_t host_bus_read(struct fabric *fabric, uint32_t port, uint64_t payload, bool begins_message);
uint64_t host_bus_reads_until(struct fabric *fabric, uint32_t port);
/* A packet has arrived at an adapter; host_bus_written() delivers it. */
void host_bus_receive(struct fabric *fabric, uint32_t number, uint32_t port_vl);
void host_bus_written(struct fabric *fabric, uint32_t port_vl, uint32_t life);

/* input_vl.c */
void input_vl_receive(struct fabric *fabric, uint32_t data_packet, uint32_t port);
void input_vl_connect(struct fabric *fabric, uint32_t port_vl, uint32_t life);
void input_vl_crossed(struct fabric *fabric, uint32_t port_vl, uint32_t life);
/* There is room, or the crossbar is free. */
void output_vl_serve_waiting(struct fabric *fabric, uint32_t output);
/* Removes an input VL from the queue of those that wait for an output VL. */
void input_vl_stop_waiting(struct fabric *fabric, uint32_t port_vl, uint32_t output);
/* Discards the head of an input VL. output_port: its destination in the switch, or NONE. */
void input_vl_discard(struct fabric *fabric, uint32_t port_vl, uint32_t output_port,
                      enum loss cause);
/* The output port that the head waits for has closed: discards the head, or goes on to the next
 * output of a multicast. */
void input_vl_output_closed(struct fabric *fabric, uint32_t port_vl, enum loss cause);
void input_vl_start_lifetime(struct fabric *fabric, uint32_t port_vl); /* of its head */

/* routing_unit.c */
/* `port_vl` has a new head. */
void routing_unit_request(struct fabric *fabric, struct switch_core *switch_core, uint32_t port_vl);
void routing_unit_free(struct fabric *fabric, uint32_t node, uint32_t life);
/* Delay of a VL15 look-up, including the wait for the unit. */
uint64_t routing_unit_route_management(struct fabric *fabric, uint32_t node);

/* output_vl.c */
void output_vl_push(struct fabric *fabric, uint32_t output, uint32_t data_packet);
/* Sends the next packet, not before `at`; false if no VL can send. */
bool output_vl_send(struct fabric *fabric, uint32_t port, uint64_t at);
void output_vl_start_lifetime(struct fabric *fabric, uint32_t output); /* of its head */
void output_vl_free_sent(struct fabric *fabric, uint32_t port);

/* arbiter.c */
/* Whether it is loaded with the LimitOfHighPriority of the port. */
bool arbiter_has_limit(const struct arbiter *arbiter, const struct sma_port *port);
/* Loads the tables of an agent's port; restarts arbitration only if they have changed. */
void arbiter_load(struct data *data, struct arbiter *arbiter, const struct sma_port *port,
                  unsigned entries, unsigned vls);
int arbiter_pick(struct arbiter *arbiter, unsigned ready); /* one of these VLs, or -1 */
/* Charges the VL picked last for the bytes sent. */
void arbiter_charge(struct arbiter *arbiter, unsigned bytes);

/* credits.c */
void credits_reset(struct fabric *fabric, uint32_t port);
void credits_grant(struct fabric *fabric, uint32_t port_vl, unsigned growth);
void credits_update_all(struct fabric *fabric);
/* Sends the new limits from `at` on; returns the end of their transmission. */
uint64_t credits_send(struct fabric *fabric, uint32_t port, uint64_t at);
void credits_receive(struct fabric *fabric, uint32_t port, uint64_t what);
/* Schedules the periodic repetition of this port's limits; sends it. */
void credits_refresh(struct fabric *fabric, uint32_t port, uint32_t epoch);
void credits_repeat(struct fabric *fabric, uint32_t port, uint32_t epoch);

/* sender.c */
void sender_offer(struct fabric *fabric,
                  uint32_t sender); /* sends the packets that are due and fit */
void sender_due(struct fabric *fabric, uint32_t sender);
void sender_retry(struct fabric *fabric, uint32_t sender, uint32_t data_packet);
/* Moves a sender with its VM to another port, or to NONE. */
void sender_move(struct fabric *fabric, uint32_t sender, uint32_t port);
void data_deliver(struct fabric *fabric, uint32_t data_packet, uint32_t port);
/* Adds what happened now, at this place, to the trace: a sum, so that what happens at the same time
 * at different places has no order. */
static inline void data_trace(struct data *data, uint64_t now, uint64_t what, uint64_t place)
{
    data->trace += hash_mix(now ^ (what ^ place * 0x9e3779b97f4a7c15u) * 0xd1342543de82ef95u);
}
void data_lose(struct fabric *fabric, uint32_t data_packet, enum loss cause, uint32_t port);

/* router.c */
/* Whether this port is a router's, and the packet goes on to another subnet. */
bool router_forwards(const struct fabric *fabric, const struct data_packet *data_packet,
                     uint32_t port);
void router_start(struct fabric *fabric); /* after data_start() */
/* Whether a general service packet that arrived at this port goes on to another subnet. By which
 * port of the node it does (0: there is none), with its new local route header. */
bool router_takes(const struct fabric *fabric, uint32_t port, const struct packet_header *header);
unsigned router_route_packet(struct fabric *fabric, uint32_t port, struct packet_header *header);
void router_forward(struct fabric *fabric, uint32_t data_packet, uint32_t port);
uint64_t router_room(const struct fabric *fabric, uint32_t port); /* of an output VL, in blocks */
unsigned router_grh_bytes(const struct fabric *fabric); /* of packets that may pass a router */
struct data_path router_path_by_lid(const struct fabric *fabric, uint32_t source, uint64_t prefix,
                                    uint64_t flow);

/* transport_port.c */
static inline bool carries_transport(const struct data_packet *data_packet)
{
    return data_packet->sender >= CARRIES_TRANSPORT;
}
static inline const struct transport_packet *
carried_packet_of(const struct data *data, const struct data_packet *data_packet)
{
    return &data->carried.items[data_packet->sender - CARRIES_TRANSPORT].packet;
}
/* The packet leaves a port, its source or a switch, at that time. */
void transport_port_sent(struct fabric *fabric, uint32_t port_vl, uint32_t data_packet,
                         uint64_t at);
void transport_port_due(struct fabric *fabric, uint32_t port);
/* Blocks of transport packets in an output VL, which has room for them beside its buffer. */
unsigned transport_port_blocks(const struct fabric *fabric, uint32_t port_vl);
/* Frees a data packet that is delivered or lost at a port, and returns what it carried. */
struct transport_packet transport_port_take(struct fabric *fabric, uint32_t data_packet,
                                            uint32_t port);

/* vms.c */
static inline bool is_vm(uint32_t end_point)
{
    return end_point >= DATA_VM && end_point < DATA_GROUP;
}
static inline struct vm *vm_at(const struct data *data, uint32_t end_point)
{
    return &data->vms.items[end_point - DATA_VM];
}
/* The attachment of a VM has ended. */
void vm_attached(struct fabric *fabric, uint32_t end_point, uint32_t turn);
void vm_note_delivered(struct data *data, const struct data_packet *data_packet, uint64_t now);
void vm_note_lost(struct data *data, const struct data_packet *data_packet, enum loss cause);

/* data_port_state.c */
void data_start(struct fabric *fabric);
void data_release(struct fabric *fabric);
/* Copy the settings of a port or a node from the agent. */
void data_port_refresh(struct fabric *fabric, uint32_t port);
void data_port_refresh_node(struct fabric *fabric, uint32_t node);
/* A manager has written this attribute of the node. */
void data_port_written(struct fabric *fabric, uint32_t node, unsigned attribute);
void data_port_link_up(struct fabric *fabric, uint32_t port);
void data_port_link_down(struct fabric *fabric, uint32_t port);
void data_port_node_down(struct fabric *fabric, uint32_t node);
void data_port_expire(struct fabric *fabric, uint32_t port_vl, bool output);
enum loss cause_of_closed_port(struct fabric *fabric, uint32_t port);

/* counters.c */
void counters_start(struct fabric *fabric);
void counters_note_missed(struct fabric *fabric, uint32_t port,
                          const struct data_packet *data_packet);
void counters_note_multicast(struct fabric *fabric, uint32_t port); /* sent */
void counters_end_wait(struct fabric *fabric, uint32_t port, uint32_t output);
void counters_fold(const struct fabric *fabric, uint32_t node); /* into the counters of its agent */
void counters_fold_port(const struct fabric *fabric, uint32_t port);
void counters_forget(struct fabric *fabric, uint32_t node);
void counters_count(struct fabric *fabric, uint32_t port, enum port_counter counter);
/* PortXmitDiscards, and its part for this cause. */
void counters_discard(struct fabric *fabric, uint32_t port, enum loss cause);

/* deadlock.c */
void deadlock_watch(struct fabric *fabric);
void deadlock_check(struct fabric *fabric);

#endif
