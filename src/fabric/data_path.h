/* The inside of the data path: lanes, the units of a switch, senders.
 *
 * The walk of a data packet, here called a parcel:
 *   sender.c    its source makes it; it enters an output lane of the adapter, by its service level
 *   channel.c   the output picks the next packet by the arbitration table, if the other end has
 *               granted credits for it; the link carries it
 *   credits.c   the receiver grants credits, by flow-control packets of its own
 *   lanes.c     it arrives in an input lane; at the head of it, the routing unit finds the output,
 *               the mapping unit the lane; it crosses over when the output lane has room
 *   guests.c    virtual machines, which take their traffic with them
 *   data_port_state.c     what happens to it when ports close, links break and nodes die
 *   deadlock.c  who waits for whom
 *   counters.c  what agents' performance counters show of it; conservation.c  whether it all adds
 * up
 *
 * Cut-through: a switch begins to route a parcel once its header is there, and may send it on
 * before it has it all. `tail` is when its last byte will be where the parcel is; no link starts so
 * early that it would run dry.
 *
 * Buffers and credits are counted in blocks of 64 bytes. A lane's number is its port's, shifted,
 * and its VL: every port has the same number of slots, a power of two, and uses as many of them as
 * it has data lanes. All of this exists only in fabrics with traffic. */
#ifndef WEFT_FABRIC_DATA_PATH_H
#define WEFT_FABRIC_DATA_PATH_H

#include "fabric/data.h"

enum {
    DATA_HEADER_BYTES = 20, /* after these, a switch can begin to route */
    CREDIT_PACKET_BYTES = 6,
    BLOCK_BYTES = 64,
    CREDIT_MODULUS = 4096, /* of FCTBS and FCCL: 12 bits */
    ARBITER_ENTRIES = 64,  /* of each table */
};

/* Lanes of the event queue, one for each kind of delay. */
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
    uint64_t since; /* in this node */
    uint32_t next;
    uint32_t link_epoch; /* of the link it travels on */
    uint32_t sender;     /* NONE: injected from outside */
    uint32_t destination;
    uint16_t dlid, bytes, payload, p_key;
    uint8_t sl, vl, hops, tries;
    uint32_t multicast; /* of a multicast: see packets.c */
};

/* Parcels one after the other. */
struct data_packet_queue {
    uint32_t head, tail;
};

struct input_vl {
    struct data_packet_queue queue;
    uint32_t wanted;   /* output lane of the head once it is routed, or NONE */
    uint32_t crossing; /* output lane that a parcel crosses to, or NONE */
    uint32_t next;     /* in the line of those who wait for an output lane */
    uint16_t crossing_blocks, used;
    uint16_t received, told; /* blocks since the link came up; limit that the other end knows */
    uint8_t copied;          /* of a multicast at the head: the last output that has a copy */
    uint8_t passed_over;     /* how often others crossed first because its input was busy */
    bool asked;              /* the head waits for, or is in, the routing unit */
    bool timed;              /* a lifetime timer runs */
};

struct output_vl {
    struct data_packet_queue queue;
    uint32_t first_waiting, last_waiting; /* input lanes; in an adapter: senders */
    uint32_t crossing;                    /* input lane from which a parcel crosses, or NONE */
    uint16_t used;
    uint16_t sent, limit; /* FCTBS; the FCCL received last */
    bool timed;
    uint64_t head_since;
    uint64_t packets, bytes; /* sent */
};

/* The arbitration tables of a port, ready for use (7.6.9). Ports with the same tables share them.
 */
struct arbiter_tables {
    uint8_t count[2]; /* entries; [0] low, [1] high priority */
    uint8_t vl[2][ARBITER_ENTRIES];
    uint8_t weight[2][ARBITER_ENTRIES];
    uint16_t lanes[2];         /* VLs with an entry */
    uint64_t high_limit_bytes; /* TIME_NEVER: none */
};
struct arbiter {
    const struct arbiter_tables *tables;
    uint64_t high_sent; /* bytes since the last low-priority packet */
    int32_t left[2];    /* bytes that the entry in turn may still send */
    uint8_t at[2];      /* and which one that is */
    uint8_t picked;     /* the table that had the last turn */
};

/* What the data path needs of a node, in one line; and the routing unit of a switch: one look-up at
 * a time, for all its input lanes in turn. */
struct switch_core {
    uint64_t busy_until;
    const uint8_t *linear;     /* NULL: a random table, or that of a virtual switch */
    const uint8_t (*sl2vl)[8]; /* as the agent keeps it … */
    uint64_t common_sl2vl;     /* … and, if all its rows are the same, four bits for each SL */
    uint64_t life_time_ps;     /* a parcel may stay so long; TIME_NEVER: for ever */
    uint32_t cursor;           /* the input lane served last, counted within the node */
    uint32_t waiting;
    uint32_t life; /* of the node */
    uint32_t first_port;
    uint16_t linear_top;
    uint8_t port_count;
    bool is_switch, up;
    bool uniform_sl2vl; /* all rows of sl2vl are the same */
    bool waking;        /* an event will come when the unit is free */
    bool is_virtual;    /* a virtual switch */
};
_Static_assert(sizeof(struct switch_core) <= 64, "what a hop needs of a node is one line");

struct sender {
    uint32_t traffic, port;
    struct traffic_source source, counted; /* counted: how far the books have come */
    struct traffic_packet ahead;           /* the next one of `counted` */
    struct traffic_packet next;
    uint64_t earliest;        /* by static rate control */
    uint64_t drawn, foreseen; /* packets of `source` and of `counted` that are done with */
    uint32_t waiting_for;     /* output lane, or NONE … */
    uint32_t line;            /* … and who is next in its line */
    uint32_t guest;           /* that it sends for, or NONE … */
    uint32_t next_of_vm;      /* … and another one that does */
    bool scheduled, over;
    bool paused;                      /* its guest is nowhere */
    struct data_packet_queue retries; /* to go before the next one */
};

struct guest {
    struct vm_view view;
    uint32_t first_sender;
    bool has_arrived; /* somewhere, once */
};

struct data {
    unsigned lane_shift;
    struct input_vl *inputs;
    struct output_vl *outputs;
    struct switch_core *switch_cores; /* by node */
    uint64_t *requests;               /* by input lane: it waits for the routing unit */
    VEC(struct arbiter_tables *) tables;
    VEC(struct data_packet) data_packets;
    uint32_t free_data_packets;
    VEC(struct sender) senders;
    VEC(struct traffic) traffics;
    VEC(bool) stopped; /* by traffic */
    VEC(struct guest) guests;
    uint32_t largest_blocks; /* of any packet */
    uint64_t made;           /* that left their senders */
    uint64_t travelling, on_links, retrying;
    struct data_totals totals;
    struct port_counts *counts; /* by port: counters.c */
    struct data_observer observer;
    struct data_paths paths;
    uint64_t routing_ps, connect_ps; /* look-up; mapping and crossbar arbitration */
    bool watched;                    /* for deadlocks: the next look is scheduled */
    bool deadlocked;                 /* and was at the last one */
    bool overflowed;                 /* a bug of ours: fabric_check_data() tells */
};

static inline unsigned blocks_of(unsigned bytes)
{
    return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
}

struct fabric;
struct port;

/* parcels.c */
uint32_t data_packet_new(struct data *data);
void data_packet_free(struct data *data, uint32_t number);
static inline struct data_packet *data_packet_at(struct data *data, uint32_t number)
{
    return &data->data_packets.items[number];
}
void data_packet_push(struct data *data, struct data_packet_queue *queue, uint32_t number);
uint32_t data_packet_pop(struct data *data, struct data_packet_queue *queue);

/* lanes.c */
void input_vl_receive(struct fabric *fabric, uint32_t data_packet, uint32_t port);
void input_vl_connect(struct fabric *fabric, uint32_t lane, uint32_t life);
void input_vl_crossed(struct fabric *fabric, uint32_t lane, uint32_t life);
void output_vl_serve_waiting(struct fabric *fabric, uint32_t output); /* room, or a free crossbar */
/* The head of an input lane goes nowhere, though it was meant for an output (or for NONE). */
void input_vl_discard(struct fabric *fabric, uint32_t lane, uint32_t output_port, enum loss cause);
/* The output that it waits for has closed: lost, or on to the next output of a multicast. */
void input_vl_output_closed(struct fabric *fabric, uint32_t lane, enum loss cause);
void input_vl_start_lifetime(struct fabric *fabric, uint32_t lane); /* of its head */

/* routing_unit.c */
void routing_unit_request(struct fabric *fabric, struct switch_core *switch_core,
                          uint32_t lane); /* it has a new head */
void routing_unit_free(struct fabric *fabric, uint32_t node, uint32_t life);
/* When VL15 asks: how long until it has its answer. */
uint64_t routing_unit_route_management(struct fabric *fabric, uint32_t node);

/* channel.c */
void output_vl_push(struct fabric *fabric, uint32_t output, uint32_t data_packet);
void output_vl_update_ready(struct fabric *fabric, uint32_t output);
/* Sends the next parcel, not before `at`; false if there is none that can go. */
bool output_vl_send(struct fabric *fabric, uint32_t port, uint64_t at);
bool output_vl_has_room(struct fabric *fabric, uint32_t output, unsigned blocks);
void output_vl_start_lifetime(struct fabric *fabric, uint32_t output); /* of its head */
void output_vl_free_sent(struct fabric *fabric, uint32_t port);

/* arbiter.c */
/* Takes over the tables of an agent's port; starts anew only if they are others. */
void arbiter_load(struct data *data, struct arbiter *arbiter, const struct sma_port *port,
                  unsigned entries, unsigned vls);
int arbiter_pick(struct arbiter *arbiter, unsigned ready); /* a VL of these, or -1 */
/* What the lane picked last has sent. */
void arbiter_charge(struct arbiter *arbiter, unsigned bytes);

/* credits.c */
void credits_reset(struct fabric *fabric, uint32_t port);
void credits_update(struct fabric *fabric, uint32_t lane); /* something arrived or left */
void credits_update_all(struct fabric *fabric);
uint64_t credits_send(struct fabric *fabric, uint32_t port, uint64_t at); /* when they are out */
void credits_receive(struct fabric *fabric, uint32_t port, uint64_t what);
/* The regular repetition of what this port has to say: later, and now. */
void credits_refresh(struct fabric *fabric, uint32_t port, uint32_t epoch);
void credits_repeat(struct fabric *fabric, uint32_t port, uint32_t epoch);

/* sender.c */
void sender_offer(struct fabric *fabric, uint32_t sender); /* what is due, as far as it goes */
void sender_due(struct fabric *fabric, uint32_t sender);
void sender_retry(struct fabric *fabric, uint32_t data_packet);
/* Its guest goes: to another port, or to NONE. */
void sender_move(struct fabric *fabric, uint32_t sender, uint32_t port);
void data_deliver(struct fabric *fabric, uint32_t data_packet, uint32_t port);
void data_lose(struct fabric *fabric, uint32_t data_packet, enum loss cause, uint32_t port);

/* guests.c */
static inline bool is_vm(uint32_t end_point)
{
    return end_point >= DATA_VM && end_point != UINT32_MAX;
}
static inline struct guest *vm_at(const struct data *data, uint32_t end_point)
{
    return &data->guests.items[end_point - DATA_VM];
}
/* A new sender for this end point: the port that it is at, or NONE. */
uint32_t vm_add_sender(struct data *data, uint32_t end_point, uint32_t sender);
void vm_note_delivered(struct data *data, const struct data_packet *data_packet, uint64_t now);
void vm_note_lost(struct data *data, const struct data_packet *data_packet, enum loss cause);

/* data_port_state.c */
void data_start(struct fabric *fabric);
void data_release(struct fabric *fabric);
void data_port_refresh(struct fabric *fabric, uint32_t port); /* its settings may have changed */
void data_port_refresh_node(struct fabric *fabric, uint32_t node);
/* A manager has written this attribute of the node. */
void data_port_written(struct fabric *fabric, uint32_t node, unsigned attribute);
void data_port_link_up(struct fabric *fabric, uint32_t port);
void data_port_link_down(struct fabric *fabric, uint32_t port);
void data_port_node_down(struct fabric *fabric, uint32_t node);
void data_port_expire(struct fabric *fabric, uint32_t lane, bool output);
enum loss cause_of_closed_port(struct fabric *fabric, uint32_t port);

/* counters.c */
void counters_start(struct fabric *fabric);
void counters_release(struct data *data);
void counters_note_missed(struct fabric *fabric, uint32_t port,
                          const struct data_packet *data_packet);
void counters_note_multicast(struct fabric *fabric, uint32_t port); /* sent */
void counters_end_wait(struct fabric *fabric, uint32_t port, uint32_t output);
void counters_fold(const struct fabric *fabric, uint32_t node); /* into those of its agent */
void counters_fold_port(const struct fabric *fabric, uint32_t port);
void counters_forget(struct fabric *fabric, uint32_t node);
void counters_count(struct fabric *fabric, uint32_t port, enum sma_counter counter);

/* deadlock.c */
void deadlock_watch(struct fabric *fabric);
void deadlock_check(struct fabric *fabric);

#endif
