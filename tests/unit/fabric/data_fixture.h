/* A fabric for data packets, without a manager: each node is programmed by SMPs to itself. An
 * observer records the end of every packet. Every run ends with the conservation check. */
#ifndef WEFT_TESTS_FABRIC_DATA_FIXTURE_H
#define WEFT_TESTS_FABRIC_DATA_FIXTURE_H

#include "base/time.h"
#include "fabric/data.h"
#include "sma/sma.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define NET_NOWHERE 0xFF /* in forwarding tables */

/* The end of one packet's way. */
struct net_end {
    uint64_t time;
    struct packet_view packet;
};

/* How busy a link was at the last check, and until when. */
struct net_usage {
    uint64_t busy_ps, horizon;
    uint32_t epoch;
};

struct net {
    struct topology topology;
    struct fabric_options options; /* preset "paper", two VLs */
    struct fabric *fabric;
    uint16_t *lids;         /* by port; 0: has none */
    uint8_t **tables;       /* by node, then LID; NULL for adapters */
    uint16_t multicast;     /* unless 0: replaces the LIDs of receivers … */
    uint32_t multicast_for; /* … or only instead of this port's, unless TOPOLOGY_NONE */
    unsigned traffics;
    struct net_usage *links; /* by port */
    bool recording;          /* each delivery is kept, not only counted */
    VEC(struct net_end) deliveries;
    uint64_t *received;       /* packets, by port */
    uint64_t *received_bytes; /* on the wire, by port */
    uint64_t vl_bytes[16];    /* delivered, by service level */
    uint64_t traffic_packets[16];
    uint64_t lost[LOSS_CAUSES];
    uint32_t lost_at; /* the port of the last loss */
    unsigned deadlocks, ports_opened, ports_closed;
    char cycle[4096]; /* the last deadlock's */
};

/* ---- building ---- */
void net_init(struct net *net);
uint32_t net_switch(struct net *net, unsigned ports);
uint32_t net_adapter(struct net *net, unsigned ports);
uint32_t net_port(const struct net *net, uint32_t node, unsigned port);
/* The default cable is 1X SDR (4 ns a byte) and 20 m long (100 ns). */
void net_link(struct net *net, uint32_t a, unsigned port_a, uint32_t b, unsigned port_b);
void net_cable(struct net *net, uint32_t a, unsigned port_a, uint32_t b, unsigned port_b,
               enum link_width width, enum link_speed speed, unsigned metres);
void net_generate(struct net *net, const char *kind, const char *words, uint64_t seed);
/* A switch with `hosts` adapters at its ports 1, 2, …; the adapters are the nodes that follow. */
uint32_t net_star(struct net *net, unsigned hosts);
/* Adapter - switch - switch - … - adapter; returns the first adapter, the second is node 1. */
uint32_t net_chain(struct net *net, unsigned switches);
/* A ring of switches, each with one adapter at port 3; port 1 leads on, port 2 back. Nodes 0 … n-1
 * are the switches, n … 2n-1 their adapters. */
void net_ring(struct net *net, unsigned switches);

/* The fabric; LIDs of adapters' ports in order, from 1. Tables are empty. */
void net_begin(struct net *net, uint64_t seed);
/* Fill the tables, not yet the switches'. */
void net_route_shortest(struct net *net);               /* ties: the lowest port */
void net_route_up_down(struct net *net, uint32_t root); /* never up again after down */
void net_route(struct net *net, uint32_t node, uint32_t destination, unsigned port);
/* LIDs, tables and port states to the agents; the ports are active then, the clock has moved. */
void net_bring_up(struct net *net);
/* net_program() for one restarted node and its links that are up. Only sends: the agents need some
 * microseconds. */
void net_program(struct net *net, uint32_t node);
void net_end(struct net *net); /* checks once more */

/* ---- settings, at any time ---- */
/* From the node to itself; waits for the response and checks its status. */
void net_set(struct net *net, uint32_t node, unsigned port, unsigned attribute, uint32_t modifier,
             const uint8_t data[SMP_DATA_BYTES]);
/* The same without waiting. */
void net_post(struct net *net, uint32_t node, unsigned port, unsigned attribute, uint32_t modifier,
              const uint8_t data[SMP_DATA_BYTES]);
void net_set_port(struct net *net, uint32_t node, unsigned port, enum wire_field field,
                  uint64_t value);
void net_post_port(struct net *net, uint32_t node, unsigned port, enum wire_field field,
                   uint64_t value);
void net_map(struct net *net, uint32_t node, unsigned input, unsigned output, unsigned sl,
             unsigned vl);
/* Arbitration entries as "vl:weight vl:weight …"; the rest of the table is empty. */
void net_arbitrate(struct net *net, uint32_t node, unsigned port, bool high, const char *entries);
void net_p_key(struct net *net, uint32_t node, unsigned port, uint16_t p_key);
void net_multicast(struct net *net, uint32_t node, uint16_t mlid, uint16_t port_mask);
void net_write_table(struct net *net, uint32_t node); /* changed by net_route() */

/* ---- traffic ---- */
/* Traffic from now on, saturated, 256 bytes. Add senders and receivers and change other fields,
 * then call net_start(). */
struct traffic net_traffic(const struct net *net);
void net_member(struct traffic *traffic, uint32_t sender, uint32_t receiver); /* or NOBODY */
void net_everybody(const struct net *net, struct traffic *traffic);           /* all adapters */
unsigned net_start(struct net *net, struct traffic *traffic);
/* One sender, one receiver (ports), saturated. */
unsigned net_flow(struct net *net, uint32_t from, uint32_t to, unsigned payload, unsigned sl);
/* One packet, now. */
void net_packet(struct net *net, uint32_t from, uint32_t to, unsigned payload, unsigned sl);
void net_stop_all(struct net *net);

/* ---- running ---- */
void net_run(struct net *net, uint64_t ps);
void net_run_until(struct net *net, uint64_t time);
uint64_t net_now(const struct net *net);
void net_check(struct net *net); /* the conservation check; fails the test with its message */
struct data_totals net_totals(struct net *net);
uint64_t net_lost(struct net *net); /* of all causes */
void net_forget(struct net *net);   /* observed so far */
/* Stops all traffic and runs until nothing travels or waits; fails after `limit`. */
void net_drain(struct net *net, uint64_t limit);
/* The share of the link rate that this port received since net_forget(). */
double net_share(const struct net *net, uint32_t port, uint64_t since);
uint64_t net_wire(const struct net *net, uint32_t port, uint64_t bytes); /* time for so many */

#endif
