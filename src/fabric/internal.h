/* Shared by the files of the fabric: nodes, ports, packets and events.
 *
 *   fabric.c   creation and release, the two clocks, the consumers' side
 *   packets.c  pools and queues of packets
 *   link.c     outputs, links, training
 *   node.c     arrival, forwarding, agents
 *   faults.c   injected faults
 *   smi.c      directed routes
 *   options.c  attributes */
#ifndef WEFT_FABRIC_INTERNAL_H
#define WEFT_FABRIC_INTERNAL_H

#include "base/map.h"
#include "base/pool.h"
#include "base/rng.h"
#include "base/time.h"
#include "des/des.h"
#include "fabric/data_path.h"
#include "fabric/fabric.h"
#include "sma/sma.h"

#define NONE UINT32_MAX         /* index of no packet, no port, no VL */
enum { FABRIC_IS_SM = 1 << 1 }; /* in PortInfo.CapabilityMask */

/* smi.c: the next hop of a directed-route SMP. */
enum smi_action {
    SMI_DISCARD,
    SMI_LOCAL,     /* for the agent or manager of this node */
    SMI_FORWARD,   /* out of `port` */
    SMI_LID_ROUTE, /* the directed part ends: forward to `dlid` */
};
struct smi_step {
    enum smi_action action;
    unsigned port;
    uint16_t dlid;
};
/* `arrival` is the input port; 0 if the SMP starts here or reached a switch by LID. */
struct smi_step smi_step(uint8_t mad[MAD_BYTES], bool is_switch, unsigned arrival);

/* Events, and at the same time also their order (src/des/des.h): by kind, then by the place `a`.
 * Nothing passes from node to node without a delay: what happens at one time in different nodes is
 * independent, and this order alone decides what happens at a node. */
enum event_kind {
    EVENT_ARRIVE,       /* at port a: packet b */
    EVENT_FORWARD,      /* to output a: packet b, which has been routed */
    EVENT_AGENT,        /* the agent of node a has finished a request; b: life of the node */
    EVENT_TRAINED,      /* the link at port a has trained */
    EVENT_LINK_COMMAND, /* port a enters the physical state in the low half of b; high half: life of
                           its node */
    EVENT_TIMER,        /* timer queue: the agent of node a */
    EVENT_BIT_ERRORS,   /* timer queue: the bit errors of one second on the link at port a */
    /* data path, see data_path.h */
    EVENT_DEADLOCK,   /* deadlock check */
    EVENT_REFRESH,    /* port a repeats its credit limits; b: epoch of the link */
    EVENT_SOURCE,     /* sender a makes a packet */
    EVENT_RETRY,      /* sender a sends data packet b again */
    EVENT_INPUT_LIFE, /* lifetime check of the head of input or output VL a */
    EVENT_OUTPUT_LIFE,
    EVENT_CONNECT,   /* the head of input VL a is routed; b: life of the node */
    EVENT_UNIT_FREE, /* the routing unit of node a is free; b: life of the node */
    EVENT_HEADER,    /* at port a of a switch: the header of data packet b */
    EVENT_PACKET,    /* at port a of an adapter: the whole data packet b */
    EVENT_CROSSED,   /* a packet from input VL a has crossed; b: life of the node */
    EVENT_CREDITS,   /* port a receives a credit limit: credits.c packs it into b */
    EVENT_SENT,      /* port a has finished sending; b: epoch of the link */
    EVENT_IN_MEMORY, /* the head of input VL a of an adapter is in memory; b: life of the node */
    EVENT_VM,        /* VM a is attached to its function; b: number of its move */
    EVENT_TRANSPORT, /* the owner of the transport layer at port a asked for a call */
};

struct packet {
    struct packet_header header;
    uint16_t bytes;      /* on the wire */
    uint32_t next;       /* in a queue, or in the free list */
    uint32_t link_epoch; /* of the link that carries it */
    uint32_t port;       /* the destination end port, once it has arrived there */
    uint32_t hops;       /* switches that forwarded it by LID */
    uint32_t multicast;  /* shared with its copies; NONE unless multicast */
    uint8_t arrival;     /* number of the input port; 0 if made here */
    uint8_t mad[MAD_BYTES];
};

/* Shared by all copies of one multicast packet. A loop in the MFTs would copy the packet without
 * end. A tree uses no port twice, so the packet may be forwarded once per port of the fabric. */
struct multicast_copies {
    uint32_t copies, left; /* left: forwards that remain */
    uint32_t next;
};

struct packet_queue {
    uint32_t head, tail, count;
};

/* The field order serves the data path: a hop touches the first cache line of two ports, and the
 * second line of its output port. */
struct port {
    uint64_t free_at;        /* end of the current transmission */
    uint64_t ps_per_8_bytes; /* on the trained link */
    uint64_t flight_ps;
    uint64_t internal_ps_per_8_bytes; /* over the crossbar, from this input */
    uint32_t node;
    uint32_t peer;              /* NONE: not connected */
    uint32_t epoch;             /* counts link failures; the same at both ends */
    uint32_t sent_vl;           /* VL of the packet being sent, or NONE */
    uint16_t sent_blocks;       /* its size */
    uint16_t room;              /* size of each buffer in blocks */
    uint16_t ready, new_limits; /* VL masks: can send; have a credit limit to send to the peer */
    uint8_t number;
    uint8_t vls; /* operational */
    bool up;     /* trained */
    bool open;   /* up and Active */
    bool waking; /* an event is scheduled for when the output is free */
    bool peer_is_switch;
    bool keys_in : 1, keys_out : 1; /* partition enforcement */
    bool crosses : 1;               /* the link leads to another partition (partitions.h) */
    bool limits_life;               /* packets are discarded after some time: see queue_life_ps */

    struct arbiter arbiter;
    struct packet_queue management, data; /* waiting for the output */
    uint64_t busy_ps;                     /* total time of sending */

    uint64_t queue_life_ps;       /* HOQLife; TIME_NEVER: unlimited */
    uint16_t lid, lid_mask;       /* own LIDs: (dlid & mask) == lid */
    bool input_busy, output_busy; /* multiplexed crossbar */
    uint8_t turn;                 /* VL of this output that was served last */
    bool cable : 1;               /* connected and not cut; stored at both ends */
    bool active : 1;              /* has been open since the link trained */
    uint32_t held;                /* input VL for which this output is reserved, or NONE */
    uint16_t consumers, managers;
    des_handle training;
    struct rng rng; /* for losses at this receiver */
};
_Static_assert(offsetof(struct port, arbiter) == 64, "the hot part of a port is one cache line");
_Static_assert(sizeof(struct port) % 64 == 0, "and is aligned to one");

/* host_bus.c: until when an adapter and its host's bus are busy, by direction. */
struct host_side {
    uint64_t adapter_free[2], bus_free[2];
    uint64_t called_at; /* the transport layer is called then */
};

struct node {
    struct sma sma;
    struct node_options options;
    struct host_side host_side;
    uint32_t first_port;
    uint32_t life; /* counts failures of the node: events of an earlier life are ignored */
    bool up, is_switch, agent_busy;
    struct packet_queue requests; /* queue of the agent */
    uint64_t agent_delay_ps;      /* injected fault; TIME_NEVER: never answers */
    des_handle timer;
    uint64_t timer_at;
};

struct loss_rule {
    uint32_t port;      /* receiving port, or NONE: all */
    unsigned attribute; /* 0: all */
    uint64_t parts;
};

/* A link with bit errors. */
struct bad_cable {
    uint32_t port; /* the lower of its two ports */
    uint32_t per_second;
    des_handle timer; /* of the next second */
};

struct fabric {
    const struct topology *topology;
    struct fabric_options options;
    struct des *network, *timers;
    struct node *nodes;
    struct port *ports;
    uint32_t node_count, port_count;
    POOL(struct packet) packets;
    POOL(struct multicast_copies) multicasts;
    uint32_t hop_limit; /* a LID-routed packet beyond it is in a loop */
    uint64_t last_rate; /* of the link that was trained last */
    bool mixed_rates;   /* links have had different rates: pacing.c */
    VEC(struct fabric_delivery) deliveries;
    size_t taken; /* consumed deliveries at the front of the list */
    VEC(struct loss_rule) losses;
    VEC(struct bad_cable) bad_cables;
    struct fabric_faults faults; /* that last */
    struct map proxied; /* transaction ID of a request from a VF at a shared port → its port */
    struct pcap *pcap;
    uint32_t *pcap_interfaces;              /* capture.c: by sending port */
    const volatile sig_atomic_t *interrupt; /* or NULL */
    struct fabric_totals totals;
    uint64_t seed, trace, smi_ps, sma_ps, routing_ps;
    struct data *data; /* NULL: no traffic */
    uint64_t
        undivided; /* management and multicast packets that exist: they need the whole fabric */
    struct partitions *partitions; /* NULL: the run has one thread */
    struct partition *partition;   /* whose fabric this is; NULL: the whole one */
};

/* faults.c */
void faults_count_bit_errors(struct fabric *fabric, uint32_t port);

/* partitions.h: a run on several threads */
void partitions_free(struct fabric *fabric);
bool partitions_run(struct fabric *fabric, uint64_t until);
/* Posts an event at a port that may be in another partition. */
void partitions_post(struct fabric *fabric, uint64_t time, struct event event);
void partitions_unite(struct fabric *fabric);
/* Before anything that concerns more than one node at a time, or that the data path does not do. */
static inline void fabric_unite(struct fabric *fabric)
{
    if (fabric->partitions)
        partitions_unite(fabric);
}

/* packets.c */
uint32_t packet_new(struct fabric *fabric);
uint32_t packet_copy(struct fabric *fabric, uint32_t packet);
void packet_drop(struct fabric *fabric, uint32_t packet);
uint32_t multicast_start(struct fabric *fabric); /* counts one copy */
void multicast_add_copy(struct fabric *fabric, uint32_t multicast);
/* Frees it with the last copy. */
void multicast_drop_copy(struct fabric *fabric, uint32_t multicast);
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

/* shared_port.c */
/* The port whose link a port uses: that of its adapter for a VF at a shared port, else itself. */
uint32_t shared_physical_port(const struct fabric *fabric, uint32_t port);
/* The port that sends a MAD posted at `port`; NONE: the MAD is discarded. */
uint32_t shared_send(struct fabric *fabric, uint32_t port, const uint8_t mad[MAD_BYTES]);
/* The port whose consumer gets a MAD that arrived at `port`. */
uint32_t shared_receiver(struct fabric *fabric, uint32_t port, const uint8_t mad[MAD_BYTES]);
/* Writes the GUIDs of VFs to the GUID table of their adapter; of all adapters with NONE. */
void shared_join(struct fabric *fabric, uint32_t node);

/* capture.c: the packet leaves the port */
void capture_packet(struct fabric *fabric, uint32_t port, uint64_t at, const struct packet *packet);
void capture_transport(struct fabric *fabric, uint32_t port, uint64_t at, unsigned vl,
                       const struct transport_packet *packet);

/* link.c */
static inline uint64_t wire_time(const struct port *port, uint64_t bytes)
{
    return (bytes * port->ps_per_8_bytes + 7) / 8;
}
void link_output(struct fabric *fabric, uint32_t port, uint32_t packet);
void link_sent(struct fabric *fabric, uint32_t port, uint32_t epoch);
void link_start_sending(struct fabric *fabric, uint32_t port);
void link_try_training(struct fabric *fabric, uint32_t port);
void link_trained(struct fabric *fabric, uint32_t port);
void link_drop(struct fabric *fabric, uint32_t port, unsigned physical_state);
void link_command(struct fabric *fabric, uint32_t port, unsigned physical_state);
void link_follow_state(struct fabric *fabric, uint32_t port);
/* Raises or drops the link inside a device, at this port of its virtual switch, as the LID of the
 * function requires. */
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
static inline uint32_t port_of(const struct fabric *fabric, uint32_t port_vl)
{
    return port_vl >> fabric->data->vl_shift;
}
static inline unsigned vl_of(const struct fabric *fabric, uint32_t port_vl)
{
    return port_vl & ((1u << fabric->data->vl_shift) - 1);
}
static inline uint32_t port_vl_of(const struct fabric *fabric, uint32_t port, unsigned vl)
{
    return port << fabric->data->vl_shift | vl;
}

/* Posts an event at the peer of a port, into a FIFO. */
static inline void post_to_peer(struct fabric *fabric, const struct port *port, unsigned fifo,
                                uint64_t time, struct event event)
{
    if (__builtin_expect(port->crosses, 0))
        partitions_post(fabric, time, event);
    else
        des_post_fifo(fabric->network, fifo, time, event);
}

static inline struct output_vl *output_at(struct fabric *fabric, uint32_t port_vl)
{
    return &fabric->data->outputs[port_vl];
}

/* ---- steps of every hop, inlined ---- */

/* Whether the peer has granted credits for the head of an output VL. */
static inline void output_vl_update_ready(struct fabric *fabric, uint32_t port_vl)
{
    const struct output_vl *output = output_at(fabric, port_vl);
    struct port *port = &fabric->ports[port_of(fabric, port_vl)];
    uint16_t bit = (uint16_t)(1u << vl_of(fabric, port_vl));
    bool ready = false;
    if (output->queue.head != NONE) {
        unsigned blocks = blocks_of(data_packet_at(fabric->data, output->queue.head)->bytes);
        unsigned credits = (unsigned)(output->limit - output->sent) % CREDIT_MODULUS;
        ready = blocks <= credits && credits < CREDIT_MODULUS / 2;
    }
    port->ready = ready ? port->ready | bit : (uint16_t)(port->ready & ~bit);
}

static inline bool output_vl_has_room(struct fabric *fabric, uint32_t port_vl, unsigned blocks)
{
    struct port *port = &fabric->ports[port_of(fabric, port_vl)];
    struct output_vl *output = output_at(fabric, port_vl);
    if (output->used + blocks <= port->room)
        return true;
    if (port->sent_vl != port_vl || port->free_at > des_now(fabric->network))
        return false;
    port->sent_vl = NONE;
    free_blocks(&output->used, port->sent_blocks);
    return output->used + blocks <= port->room;
}

static inline unsigned credit_distance(unsigned limit, unsigned count)
{
    return (limit - count) % CREDIT_MODULUS;
}
static inline unsigned credit_limit(const struct input_vl *input, const struct port *port)
{
    return (unsigned)(input->received + port->room - input->used) % CREDIT_MODULUS;
}
/* A packet arrived or left. */
static inline void credits_update(struct fabric *fabric, uint32_t port_vl)
{
    const struct input_vl *input = &fabric->data->inputs[port_vl];
    const struct port *port = &fabric->ports[port_of(fabric, port_vl)];
    unsigned growth = credit_distance(credit_limit(input, port), input->limit_sent);
    if (growth)
        credits_grant(fabric, port_vl, growth);
}

/* The speeds up to this one, as in LinkSpeedSupported and in LinkSpeedExtSupported. */
static inline unsigned link_speed_mask(enum link_speed speed)
{
    return speed >= SPEED_QDR ? 7 : (2u << speed) - 1;
}

static inline unsigned link_speed_ext_mask(enum link_speed speed)
{
    return speed >= SPEED_FDR ? (2u << (speed - SPEED_FDR)) - 1 : 0;
}

#endif
