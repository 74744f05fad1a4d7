/* What the files of the fabric share: its nodes, ports, packets and events.
 *
 *   fabric.c   birth and death, the two clocks, the consumers' side
 *   packets.c  the pool of packets and their queues
 *   link.c     outputs, links, training
 *   node.c     arrival, forwarding, agents
 *   faults.c   everything that goes wrong on purpose
 *   smi.c      directed routes      options.c  attributes */
#ifndef WEFT_FABRIC_INTERNAL_H
#define WEFT_FABRIC_INTERNAL_H

#include "base/bitset.h"
#include "base/rng.h"
#include "base/time.h"
#include "des/des.h"
#include "fabric/data_path.h"
#include "fabric/fabric.h"
#include "fabric/smi.h"
#include "sma/sma.h"

#define NONE UINT32_MAX         /* no packet, no port */
enum { FABRIC_IS_SM = 1 << 1 }; /* in PortInfo.CapabilityMask: a manager lives here */

enum event_kind {
    EVENT_ARRIVE,       /* packet a reaches port b */
    EVENT_FORWARD,      /* packet a has been routed to output b */
    EVENT_SENT,         /* output a is free again */
    EVENT_AGENT,        /* the agent of node a, in its life b, has finished a request */
    EVENT_TRAINED,      /* the link at port a has trained */
    EVENT_LINK_COMMAND, /* port a is to go into the physical state in b's low half; its node's life
                           is in the high one */
    EVENT_TIMER,        /* in the timer queue: the agent of node a */
    /* of the data path, see lanes.h */
    EVENT_DATA_PACKET, /* parcel a reaches port b */
    EVENT_CONNECT,     /* the head of input lane a is routed; b: its node's life */
    EVENT_UNIT_FREE,   /* the routing unit of node a, in its life b, takes the next */
    EVENT_CROSSED,     /* a parcel from input lane a has left the crossbar; b: its node's life */
    EVENT_CREDITS,     /* port a learns of a limit: credits.c packs it into b */
    EVENT_REFRESH,     /* port a, in its link's epoch b, repeats its limits */
    EVENT_SOURCE,      /* sender a makes a packet */
    EVENT_RETRY,       /* parcel a goes again */
    EVENT_INPUT_LIFE,  /* input lane a, output lane a: has its head been there for too long? */
    EVENT_OUTPUT_LIFE,
    EVENT_DEADLOCK, /* time to look */
};

struct packet {
    struct packet_header header;
    uint16_t bytes;      /* on the wire */
    uint32_t next;       /* in a queue, or in the free list */
    uint32_t link_epoch; /* of the link it travels on */
    uint32_t port;       /* the end port that it is for, once it is there */
    uint32_t hops;       /* switches that have passed it on by its LID */
    uint32_t multicast;  /* what it shares with its copies; NONE unless multicast */
    uint8_t arrival;     /* number of the port through which it came in; 0 if made here */
    uint8_t mad[MAD_BYTES];
};

/* All copies of one multicast packet together. Tables that loop would copy it for ever, more and
 * more of it; but a tree uses no port twice, and that is how often it may be passed on. */
struct multicast_copies {
    uint32_t copies, left; /* left: how often yet, or the next one in the free list */
};

struct packet_queue {
    uint32_t head, tail, count;
};

/* The order of the fields is for the data path: a hop touches the first line of two ports, and the
 * second one of its output. */
struct port {
    uint64_t free_at;        /* when what is being sent is out */
    uint64_t ps_per_8_bytes; /* of the trained link */
    uint64_t flight_ps;
    uint64_t internal_ps_per_8_bytes; /* over the crossbar, from this input */
    uint32_t node;
    uint32_t peer;        /* NONE: nothing is connected */
    uint32_t epoch;       /* counts the times the link went down; the same at both ends */
    uint32_t sent_lane;   /* of the parcel being sent, or NONE … */
    uint16_t sent_blocks; /* … and its size */
    uint16_t room;        /* blocks of each buffer */
    uint16_t ready, tell; /* VLs: can send; have news for the other end */
    uint8_t number;
    uint8_t vls; /* operational */
    bool up;     /* trained */
    bool open;   /* up and Active */
    bool waking; /* an event will come when the output is free */
    bool peer_is_switch;
    bool keys_in, keys_out; /* partitions are enforced */

    struct arbiter arbiter;
    struct packet_queue management, data; /* waiting for the output */
    uint64_t busy_ps;                     /* sending, in all */

    uint64_t queue_life_ps;       /* of the head of an output lane; TIME_NEVER: any */
    uint16_t lid, lid_mask;       /* own addresses: (dlid & mask) == lid */
    bool input_busy, output_busy; /* of a multiplexed crossbar … */
    uint8_t turn;                 /* … the lane of this output that was served last … */
    uint32_t held;                /* … and the input lane for which it waits, or NONE */
    bool cable;                   /* plugged in and whole; stored at both ends */
    uint32_t consumers, managers;
    des_handle training;
    struct rng rng; /* for losses at this receiver */
};
_Static_assert(offsetof(struct port, arbiter) == 64, "the hot part of a port is one line");

struct node {
    struct sma sma;
    struct node_options options;
    uint32_t first_port;
    uint32_t life; /* counts the times it went down: what an earlier life began is void */
    bool up, is_switch, agent_busy;
    struct packet_queue requests; /* waiting for the agent */
    uint64_t agent_delay_ps;      /* a fault; TIME_NEVER: mute */
    des_handle timer;
    uint64_t timer_at;
};

struct loss_rule {
    uint32_t port;      /* receiving port, or NONE for all */
    unsigned attribute; /* 0: all */
    uint64_t parts;
};

struct fabric {
    const struct topology *topology;
    struct fabric_options options;
    struct des *network, *timers;
    struct node *nodes;
    struct port *ports;
    uint32_t node_count, port_count;
    VEC(struct packet) packets;
    uint32_t free_packets;
    VEC(struct multicast_copies) multicasts;
    uint32_t free_multicasts;
    uint32_t hop_limit; /* of a LID-routed packet: beyond it, it goes round in a loop */
    struct fabric_delivery *deliveries; /* a ring */
    size_t delivery_first, delivery_count, delivery_room;
    VEC(struct loss_rule) losses;
    struct pcap *pcap;
    struct fabric_totals totals;
    uint64_t seed, trace, smi_ps, sma_ps, routing_ps;
    struct data *data; /* NULL: no traffic */
};

/* packets.c */
uint32_t packet_new(struct fabric *fabric);
uint32_t packet_copy(struct fabric *fabric, uint32_t packet);
void packet_drop(struct fabric *fabric, uint32_t packet);
uint32_t multicast_start(struct fabric *fabric); /* with one packet */
void multicast_add_copy(struct fabric *fabric, uint32_t multicast);
void multicast_drop_copy(struct fabric *fabric, uint32_t multicast); /* gone with the last one */
bool multicast_may_forward(struct fabric *fabric, uint32_t multicast);
static inline struct packet *packet_at(struct fabric *fabric, uint32_t packet)
{
    return &fabric->packets.items[packet];
}
void queue_push(struct fabric *fabric, struct packet_queue *queue, uint32_t packet);
uint32_t queue_pop(struct fabric *fabric, struct packet_queue *queue);
void queue_clear(struct fabric *fabric, struct packet_queue *queue);

/* fabric.c */
void fabric_deliver(struct fabric *fabric, uint32_t port, const struct packet *packet);
void fabric_init_node(struct fabric *fabric, uint32_t node);
void fabric_join_device(struct fabric *fabric, uint32_t node);

/* link.c */
uint64_t wire_time(const struct port *port, uint64_t bytes);
void link_output(struct fabric *fabric, uint32_t port, uint32_t packet);
void link_sent(struct fabric *fabric, uint32_t port, uint32_t epoch);
void link_start_sending(struct fabric *fabric, uint32_t port);
void link_try_training(struct fabric *fabric, uint32_t port);
void link_trained(struct fabric *fabric, uint32_t port);
void link_drop(struct fabric *fabric, uint32_t port, unsigned physical_state);
void link_command(struct fabric *fabric, uint32_t port, unsigned physical_state);
/* The link inside a device, at this port of its virtual switch, as the function's address wants. */
void link_follow_function(struct fabric *fabric, uint32_t port);

/* node.c */
void node_inject(struct fabric *fabric, uint32_t port, uint32_t packet);
void node_receive(struct fabric *fabric, uint32_t packet, uint32_t port);
void node_agent_done(struct fabric *fabric, uint32_t node, uint32_t life);
void node_service_agent(struct fabric *fabric, uint32_t node);

static inline struct node *node_of(struct fabric *fabric, uint32_t port)
{
    return &fabric->nodes[fabric->ports[port].node];
}
static inline struct switch_core *switch_core_of(const struct fabric *fabric,
                                                 const struct port *port)
{
    return &fabric->data->switch_cores[port->node];
}
static inline uint32_t lane_port(const struct fabric *fabric, uint32_t lane)
{
    return lane >> fabric->data->lane_shift;
}
static inline unsigned lane_vl(const struct fabric *fabric, uint32_t lane)
{
    return lane & ((1u << fabric->data->lane_shift) - 1);
}
static inline uint32_t lane_of(const struct fabric *fabric, uint32_t port, unsigned vl)
{
    return port << fabric->data->lane_shift | vl;
}

#endif
