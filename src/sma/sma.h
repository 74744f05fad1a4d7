/* The agents of a node: subnet management agent, performance agent, and their attributes.
 *
 * An agent answers SMPs (14.2), performance MADs (16.1) and, at an adapter with I/O controllers,
 * device management MADs (16.3), keeps the node's attributes in wire
 * format, runs the logical state machine of the ports, checks M_Keys and repeats traps until the
 * manager represses them. It has no clock and sends nothing itself: its owner passes in MADs, link
 * changes and the time, and pulls outputs. The data path reads the forwarding and SL-to-VL tables
 * through the functions at the end.
 *
 * Left out: notice attributes polled by Get, LED and vendor diagnostics. */
#ifndef WEFT_SMA_SMA_H
#define WEFT_SMA_SMA_H

#include "wire/counters.h"
#include "wire/mad.h"
#include "wire/vswitch.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/* Node attributes, as in section IV of the papers' model. */
struct sma_options {
    uint8_t data_vls;           /* 1, 2, 4, 8 or 15 */
    bool sl2vl_wildcards;       /* accepts one SL-to-VL map for many ports */
    uint16_t mtu;               /* bytes: 256, 512 … 4096 */
    uint8_t vl_arbitration;     /* entries of each arbitration table, 0 … 64 */
    uint16_t linear_entries;    /* of the linear forwarding table; 0: a random table instead */
    uint16_t random_entries;    /* of the random one */
    uint16_t multicast_entries; /* 0: no multicast */
    uint16_t p_keys;            /* size of the partition table: a multiple of 32 */
    uint16_t guids;             /* entries of a port's GUID table: a multiple of 8 */
    bool traps;                 /* switches: report changes by trap */
    uint8_t response_time;      /* RespTimeValue: 4.096 us * 2^n */
    uint8_t life_time;          /* LifeTimeValue and HOQLife: 4.096 us * 2^n, from 20 on infinite */
    uint8_t queue_life;
    uint8_t
        io_controllers;   /* adapters: controllers of the I/O unit behind them; 0: there is none */
    uint8_t io_services;  /* targets of each */
    uint8_t service_port; /* adapters: the port with the general service agents, to which the other
                             ports redirect; 0: every port has them */
    bool port_init; /* accept Set(PortState = Init), and Active from Init: illegal, but used in the
                       papers */
    bool port_follows;  /* a Set of Init or Active at one end of a link holds for both ends */
    bool strict_speeds; /* extended speeds only for managers that set bit 31 of PortInfo's modifier
                         */
};

/* Totals since the start. A set of counters that clients can clear is the difference to a base. */
struct sma_counters {
    uint64_t total[COUNTER_COUNT];
    uint64_t (*bases)[COUNTER_COUNT]; /* performance.c; NULL until a client clears a counter */
};

struct sma_port {
    uint8_t info[64]; /* PortInfo */
    uint8_t vl_arbitration[4][64];
    uint8_t link_widths, link_speeds, link_speeds_ext; /* supported, as bit masks */
    bool fdr10, fdr10_active;
    bool follows; /* closed with its peer, with which it becomes Active again (port_follows) */
    uint16_t *p_keys;
    uint64_t *guids;
    uint64_t lease_end; /* end of the M_Key lease; TIME_NEVER if none runs */
    struct sma_counters counters;
};

struct sma_trap;    /* a pending notice */
struct sma_samples; /* of port counters: samples.c */
struct sma_device;  /* functions of a virtual switch: virtual.c */
struct sma_router;  /* tables of a router: router.c */

struct sma {
    struct sma_options options;
    uint8_t kind, port_count; /* enum node_kind's values, as in NodeInfo */
    uint8_t node_info[40], switch_info[20], description[64];
    struct sma_port *ports; /* 0 … port_count */
    uint8_t *linear;        /* port by LID; NULL in virtual switches */
    uint32_t linear_filled; /* entries of it that have a value; LinearFDBTop is below */
    uint8_t *random_blocks; /* RandomForwardingTable as written */
    uint8_t *random_ports;  /* output port by LID; 0xFF if no entry matches */
    uint16_t *multicast;    /* [position * entries + index]: bit i = port 16*position + i */
    uint8_t (*sl2vl)[8];    /* [output * (port_count+1) + input]; adapters: [output] */
    struct sma_trap *traps;
    unsigned trap_count;
    struct sma_samples *samples;         /* NULL before the first one */
    uint64_t trap_tid, next_trap;        /* earliest time of the next trap */
    uint32_t link_commands[8];           /* bit per port: a physical command, or a port state
                                            that the peer follows, waits */
    struct sma_device *device;           /* of a virtual switch, else NULL */
    struct sma_router *router;           /* of a router, else NULL */
    struct sma *host;                    /* function: its virtual switch, or NULL */
    uint8_t host_port, own_port;         /* port of the virtual switch; port of the function */
    bool attached;                       /* a VM uses it */
    uint8_t vm_name[VSWITCH_NAME_BYTES]; /* padded with zeros */
    uint64_t own_guid;                   /* the initial port GUID */
};

/* Identity of a node. */
struct sma_identity {
    uint8_t kind, port_count;
    uint64_t guid, system_guid;
    uint32_t vendor_id;
    uint16_t device_id;
    bool enhanced_port0;
    const char *description;
};
void sma_init(struct sma *sma, const struct sma_identity *identity,
              const struct sma_options *options);
void sma_release(struct sma *sma);
void sma_set_port_guid(struct sma *sma, unsigned port, uint64_t guid);
/* Sets LID and LMC of an end port, as an earlier manager left them. Call it before
 * sma_join_device(). */
void sma_set_lid(struct sma *sma, unsigned port, uint16_t lid, uint8_t lmc);
/* Sets another entry of the GUID table of an end port. The table grows as needed. */
void sma_set_alias_guid(struct sma *sma, unsigned port, unsigned index, uint64_t guid);
/* Joins both into one device (wire/vswitch.h): `function` is an adapter whose own port is at this
 * port of the virtual switch. Call it again when either is initialised again; both must keep their
 * addresses in memory. */
void sma_join_device(struct sma *vswitch, unsigned port, struct sma *function, unsigned own_port);
/* Capabilities of a port: masks as in PortInfo, and FDR10, which has no mask. */
void sma_set_link_support(struct sma *sma, unsigned port, uint8_t widths, uint8_t speeds,
                          uint8_t speeds_ext, bool fdr10);

enum sma_verdict {
    SMA_DROP,  /* no response */
    SMA_REPLY, /* the response replaces the request */
    SMA_PASS,  /* not for an agent; for the consumer at this port */
};
/* True if this MAD is for an agent of the node: requests of its classes, except SMInfo, which is
 * for the manager. */
bool sma_handles(const struct sma *sma, const uint8_t mad[MAD_BYTES]);
enum sma_verdict sma_receive(struct sma *sma, uint64_t now, unsigned port, uint16_t slid,
                             uint8_t mad[MAD_BYTES]);
uint64_t sma_deadline(const struct sma *sma); /* TIME_NEVER if there is none */
/* The counters of the ports must be up to date. */
void sma_expire(struct sma *sma, uint64_t now);

struct sma_output {
    enum {
        SMA_SEND_TRAP,
        SMA_LINK_COMMAND,
        SMA_PORT_STATE, /* a manager set Init or Active: the peer calls sma_follow_peer() */
        SMA_FUNCTION    /* a manager changed the LIDs of the function at this port; its link must
                           follow */
    } kind;
    unsigned port;
    uint16_t dlid; /* of a trap */
    uint8_t sl;
    uint8_t mad[MAD_BYTES];  /* of a trap */
    unsigned physical_state; /* of a link command: PHYSICAL_SLEEP, _POLLING or _DISABLED */
};
/* Call until false, after every call that may change something. */
bool sma_next_output(struct sma *sma, uint64_t now, struct sma_output *output);

/* Called by the physical layer: a link came up at this width and speed, or went down into this
 * physical state. */
void sma_link_up(struct sma *sma, unsigned port, unsigned width, unsigned speed, unsigned speed_ext,
                 bool fdr10);
void sma_link_down(struct sma *sma, unsigned port, unsigned physical_state);
/* With port_follows, a manager set the state of the port at the other end of the link. */
void sma_follow_peer(struct sma *sma, unsigned port, unsigned peer_state);
/* The same for either end of a link within a device: it becomes Active without a trap. */
void sma_function_up(struct sma *sma, unsigned port, unsigned width, unsigned speed,
                     unsigned speed_ext, bool fdr10);
/* False for a virtual function without a LID, which has no link. */
bool sma_needs_link(const struct sma *sma);

/* Events that an agent reports by a trap and, if there is one, a counter (14.2.5.1). The data path
 * counts violations at external ports of switches, by direction. */
void sma_report_threshold(struct sma *sma, unsigned port, unsigned trap); /* 129, 130, 131 */
/* A port of a router opened, closed or got another prefix: tells the managers of the other ones. */
void sma_report_router(struct sma *sma, unsigned port);
void sma_report_capability(struct sma *sma, unsigned port, uint32_t set, uint32_t cleared);
struct sma_key_violation {
    uint16_t slid, dlid;
    uint32_t key;
    uint8_t sl;
    uint32_t src_qp, dest_qp;
};
void sma_report_p_key(struct sma *sma, unsigned port, const struct sma_key_violation *violation);
void sma_report_q_key(struct sma *sma, unsigned port, const struct sma_key_violation *violation);

/* Look-up of a router: the port that leads to a subnet. A packet does not leave by the port at
 * which it arrived. Equal ports share flows (router_flow()). */
struct sma_next_subnet {
    uint8_t port;  /* 0: none */
    bool adjacent; /* the port is in that subnet; else another router of its subnet is next */
    bool returns;  /* none but the port at which it arrived */
};
struct sma_next_subnet sma_route_prefix(const struct sma *sma, unsigned input, uint64_t prefix,
                                        uint64_t flow);

/* Look-ups of the data path. Port 0xFF: drop the packet. */
unsigned sma_route_unicast(const struct sma *sma, unsigned dlid);
bool sma_route_multicast(const struct sma *sma, unsigned mlid, unsigned port);
unsigned sma_map_sl(const struct sma *sma, unsigned input, unsigned output, unsigned sl);
/* True if the port accepts, or may send, packets with this P_Key. */
bool sma_accepts_p_key(const struct sma *sma, unsigned port, unsigned p_key);
bool sma_may_send_p_key(const struct sma *sma, unsigned port, unsigned p_key);
/* A P_Key of the port in the same partition, the same one if possible; p_key if there is none. */
unsigned sma_own_p_key(const struct sma *sma, unsigned port, unsigned p_key);
/* The current LFT of a switch, with LinearFDBCap entries; NULL: none. The LFT of a virtual switch
 * is valid until the LID of a function changes. */
const uint8_t *sma_linear_table(const struct sma *sma);
/* A virtual switch shares a LID with its physical function. True if an SMP to that LID is for the
 * switch: requests to agents are; SMInfo and responses are not. */
bool sma_is_for_switch(const uint8_t mad[MAD_BYTES]);
/* True if the port has this unicast LID (base LID and LMC). */
bool sma_owns_lid(const struct sma *sma, unsigned port, unsigned lid);

static inline struct sma_port *sma_port(struct sma *sma, unsigned port)
{
    assert(port <= sma->port_count);
    return &sma->ports[port];
}
static inline unsigned sma_port_state(const struct sma *sma, unsigned port)
{
    assert(port <= sma->port_count);
    return (unsigned)wire_get(sma->ports[port].info, PORT_INFO_PORT_STATE);
}
static inline void sma_count(struct sma *sma, unsigned port, enum port_counter counter,
                             uint64_t amount)
{
    assert(port <= sma->port_count && counter < COUNTER_COUNT);
    sma->ports[port].counters.total[counter] += amount;
}

#endif
