/* Data packets in the fabric: traffic in, what became of it out.
 *
 * The model is that of a lossless network with virtual lanes: input buffers and credits for each
 * lane of each link, a routing unit, a crossbar and output buffers in each switch, arbitration by
 * weights on each link (lanes.h has the walk of a packet). Every packet that was made is, at any
 * time, in one of four places: delivered, lost with a cause, in the fabric, or waiting at its
 * sender. fabric_check_data() proves that, and that no credit was ever overdrawn. */
#ifndef WEFT_FABRIC_DATA_H
#define WEFT_FABRIC_DATA_H

#include "fabric/fabric.h"
#include "fabric/traffic.h"

enum { DATA_OVERHEAD_BYTES = 26 }; /* around the payload: LRH 8, BTH 12, ICRC 4, VCRC 2 */

enum loss {
    LOSS_INACTIVE_PORT, /* the port is not Active: a manager stopped it */
    LOSS_DEAD_LINK,
    LOSS_DEAD_NODE, /* it was in a switch or adapter that died, or on its way to one */
    LOSS_NO_ROUTE,  /* no entry in the forwarding table, or one for a port that is not there */
    LOSS_OUTPUT_IS_INPUT, /* output = input */
    LOSS_NO_VL,           /* the SL has no lane at this output */
    LOSS_LIFETIME,        /* too long in one switch */
    LOSS_HEAD_OF_QUEUE,   /* too long first in line for a link */
    LOSS_OVERFLOW,        /* no room in a buffer: never happens where credits are obeyed */
    LOSS_P_KEY,
    LOSS_BIT_ERROR,
    LOSS_MOVED, /* at a hypervisor where its guest is not: any more, or not yet */
    LOSS_CAUSES,
};
extern const char *const loss_names[LOSS_CAUSES]; /* "inactive port" … */

/* A data packet, as those see it who watch. */
struct packet_view {
    uint32_t traffic;              /* as fabric_add_traffic() numbered it */
    uint32_t source, destination;  /* end ports; destination NONE's number if not known */
    uint32_t from_vm, to_vm;       /* their end points, or TOPOLOGY_NONE */
    uint64_t made, entered;        /* by its source; into the adapter's output buffer */
    uint32_t payload_bytes, bytes; /* bytes: on the wire */
    uint16_t dlid;
    uint8_t sl, hops, tries; /* hops: switches passed; tries: sent again so often */
};

/* Hears of every end of a packet's way; each may be NULL. */
struct data_observer {
    void *context;
    void (*delivered)(void *context, uint64_t now, const struct packet_view *packet);
    /* `port`: where it was lost. A reliable packet that will be tried again is not lost. */
    void (*lost)(void *context, uint64_t now, const struct packet_view *packet, enum loss cause,
                 uint32_t port);
    /* Packets wait for each other: one line a channel, as fabric_find_deadlock() writes them. Once
     * for each time that it begins. */
    void (*deadlock)(void *context, uint64_t now, const char *cycle);
    /* A port at an adapter's cable, either end, opened for data, or closed. */
    void (*port_changed)(void *context, uint64_t now, uint32_t port, bool open);
};
void fabric_observe_data(struct fabric *fabric, const struct data_observer *observer);

/* The way from one end port to another, as the manager knows it: dlid 0 if there is none. Asked
 * for each packet when its sender makes it. */
struct data_path {
    uint16_t dlid;
    uint8_t sl;        /* where the traffic's own SL is 0; else that … */
    uint8_t sl_offset; /* … and this are added: engines may need lanes beside levels of service */
};
struct data_paths {
    void *context;
    struct data_path (*find)(void *context, uint32_t source, uint32_t destination);
};
void fabric_set_paths(struct fabric *fabric, const struct data_paths *paths);

/* Guests: virtual machines, end points that move from port to port with their addresses.
 *
 * A guest has a number of its own, which can stand in a traffic's lists of senders and receivers
 * like that of a port. What it sends leaves from the port where it is at the time; what is sent to
 * it has the LID that data_paths.find gives for its number (so whoever adds guests must hand over a
 * `find` that knows them: `source` is always a port, `destination` may be a guest), and is taken
 * from the network only at the port where the guest is. Anywhere else it is lost: LOSS_MOVED.
 *
 * The owner of the fabric moves it: to TOPOLOGY_NONE when its machine is stopped for the journey,
 * to the new port when the machine goes on there. What the manager does meanwhile with LIDs and
 * tables is neither known here nor needed. While it is nowhere it sends nothing; its last
 * DATA_VM_BACKLOG packets that came due wait for it, older ones are given up (`unroutable`).
 * Reliable packets that were lost on the way are tried again from the new port. */
#define DATA_VM 0x80000000u /* the first guest's number */
enum { DATA_VM_BACKLOG = 64 };

/* One direction of a guest's traffic. */
struct vm_direction {
    uint64_t delivered, lost[LOSS_CAUSES];
    uint64_t last_ps; /* of the latest delivery */
    /* From the last delivery before a move to the first one after it: of the latest move that is
     * over, the longest, the sum and their number. Moves before any delivery, and between two
     * deliveries more than the first, do not count. */
    uint64_t downtime_ps, longest_ps, total_ps;
    uint32_t interruptions;
    bool interrupted; /* moved, and no delivery since */
    uint64_t interrupted_ps;
};
struct vm_view {
    uint32_t port;                     /* or TOPOLOGY_NONE */
    uint32_t moves;                    /* arrivals at a port but the first */
    uint64_t detached_ps, attached_ps; /* when it left and arrived last */
    struct vm_direction to, from;      /* what others sent to it; what it sent */
};
/* A new one, nowhere yet; its number. */
uint32_t fabric_add_vm(struct fabric *fabric);
/* To an end port, at once, or to TOPOLOGY_NONE. */
void fabric_move_vm(struct fabric *fabric, uint32_t guest, uint32_t port);
/* Holds until the next guest is added. */
const struct vm_view *fabric_vm(const struct fabric *fabric, uint32_t guest);

/* Whether this fabric can carry it: traffic_check(), and no packet beyond MTU and buffers. */
int fabric_check_traffic(const struct fabric *fabric, const struct traffic *traffic,
                         struct err *err);
/* Its number. The traffic, which must have passed its check, is copied. Packets for which there is
 * no path when they are made are not sent: `unroutable`. */
unsigned fabric_add_traffic(struct fabric *fabric, const struct traffic *traffic);
/* From now on nothing more is made (of this traffic). */
void fabric_stop_traffic(struct fabric *fabric, unsigned traffic);

struct data_totals {
    uint64_t made; /* with a path; = delivered + lost + travelling + waiting */
    uint64_t unroutable;
    uint64_t delivered, lost[LOSS_CAUSES];
    uint64_t travelling, waiting; /* in the fabric; at their senders (retries included) */
    uint64_t entered;             /* into the fabric, retries too */
    uint64_t retried, duplicates; /* sent again; copies by multicast beyond the first */
    uint64_t delivered_bytes, delivered_payload_bytes;
    uint64_t hops;           /* links crossed by packets */
    uint64_t credit_packets; /* flow control */
    uint64_t deadlocks;      /* cycles found */
};
void fabric_data_totals(struct fabric *fabric, struct data_totals *totals);

/* Counters and gauges of one lane of one port. */
struct vl_view {
    uint64_t sent_packets, sent_bytes;  /* over the link; flow control not counted */
    uint64_t input_bytes, output_bytes; /* in the buffers now (in blocks of 64) */
    int64_t credit_blocks;              /* that the other end has granted and that are left */
};
struct vl_view fabric_vl(const struct fabric *fabric, uint32_t port, unsigned vl);
/* Time that a port's link was busy with packets of any kind, for its utilisation. */
uint64_t fabric_busy_ps(const struct fabric *fabric, uint32_t port);
bool fabric_port_passes_data(const struct fabric *fabric, uint32_t port); /* Active, and up */

/* Deadlock: packets that wait for each other in a circle. The run goes on (lifetimes may break it)
 * unless stopped by its owner. Text: one line a channel, "S1 port 3 lane 0 -> S2 port 1". */
bool fabric_find_deadlock(struct fabric *fabric, struct text *cycle);

/* Everything accounted for: conservation, buffers, credits, capacity. -EPROTO and what is wrong. */
int fabric_check_data(struct fabric *fabric, struct err *err);

#endif
