/* The simulated fabric: nodes with their agents, ports, links, and packets on links.
 *
 * The fabric has no clock of its own. Its owner (a host) sends packets in at a port, advances time,
 * and takes out the packets that reached a consumer, a program attached to QP0 or QP1 of a port.
 * Two queues separate two kinds of time, so that a fabric served to real tools can skip the one and
 * keep the other:
 *   - network time: packets on links and in agents, link training;
 *   - timer time: later actions of agents (repeat a trap, end an M_Key lease).
 * In a simulation both are the same clock: fabric_run() merges them.
 *
 * Ports are numbered as in the topology from which the fabric was made. */
#ifndef WEFT_FABRIC_FABRIC_H
#define WEFT_FABRIC_FABRIC_H

#include "base/err.h"
#include "base/text.h"
#include "base/workers.h"
#include "fabric/options.h"
#include "topology/topology.h"
#include "wire/packet.h"

#include <signal.h>

struct fabric;
struct pcap;

/* A MAD that arrived at a consumer's port. */
struct fabric_delivery {
    uint32_t port; /* index of the consumer's port; may be port 0 of a switch */
    struct packet_header header;
    uint8_t mad[MAD_BYTES];
};

/* The topology must outlive the fabric. */
struct fabric *fabric_new(const struct topology *topology, const struct fabric_options *options,
                          uint64_t seed);
void fabric_free(struct fabric *fabric);
const struct topology *fabric_topology(const struct fabric *fabric);
/* Records every management packet on every link. */
void fabric_set_pcap(struct fabric *fabric, struct pcap *pcap);
/* A flag that a signal handler sets: fabric_run() then returns before its time. NULL: none. */
void fabric_set_interrupt(struct fabric *fabric, const volatile sig_atomic_t *interrupt);
bool fabric_is_interrupted(const struct fabric *fabric);

/* Lets fabric_run() use several threads for data packets (partitions.h): with the same results as
 * one. The workers must outlive the fabric. NULL, or one thread: none. */
void fabric_set_workers(struct fabric *fabric, const struct workers *workers);
/* For tests: where it does not pay, too. */
void fabric_divide_always(struct fabric *fabric);
struct partition_figures {
    uint64_t all_events, events; /* all; those that the threads handled */
    uint64_t critical; /* of these: sum over the windows of those of the busiest partition */
    uint64_t windows, divisions;
};
struct partition_figures fabric_partition_figures(const struct fabric *fabric);

/* Consumers are programs at QP0 or QP1 of a port. Agents answer "unsupported" to requests for which
 * no consumer is attached. `manager` also sets IsSM in the port's capability mask. Attachments are
 * counted. */
void fabric_attach(struct fabric *fabric, uint32_t port);
void fabric_detach(struct fabric *fabric, uint32_t port);
void fabric_set_manager(struct fabric *fabric, uint32_t port, bool manager);

/* Posts a MAD to QP0 or QP1 of a port, as the consumer there would. SMPs go to QP0 with a unicast
 * or permissive LID, all others to QP1 with any LID but the permissive one; packets that break
 * these rules are dropped, and so are SMPs of a virtual function at a shared port. The function
 * fills in slid (except its path bits), vl and src_qp. It handles directed-route SMPs that stay in
 * the node at once. */
void fabric_send(struct fabric *fabric, uint32_t port, const struct packet_header *header,
                 const uint8_t mad[MAD_BYTES]);
/* Takes the next delivery in order of arrival; false if there is none. */
bool fabric_next_delivery(struct fabric *fabric, struct fabric_delivery *delivery);

uint64_t fabric_manager_cost(const struct fabric *fabric); /* processing time of an SMP */
uint64_t fabric_network_time(const struct fabric *fabric);
uint64_t fabric_next_network_event(struct fabric *fabric); /* TIME_NEVER if the queue is empty */
uint64_t fabric_next_timer(struct fabric *fabric);
/* Each runs its queue up to and including `until`. fabric_run_network() with TIME_NEVER runs until
 * the queue is empty; that always happens, because packets in a forwarding loop are dropped. It
 * stops early, with true, when a delivery is waiting. */
bool fabric_run_network(struct fabric *fabric, uint64_t until);
void fabric_run_timers(struct fabric *fabric, uint64_t until);
/* Advances the clock of the network to `time` if it is behind and no event is due. */
/* Both clocks, while nothing happens before that time. */
void fabric_advance(struct fabric *fabric, uint64_t time);
void fabric_advance_network(struct fabric *fabric, uint64_t time);
/* Both on one clock. */
bool fabric_run(struct fabric *fabric, uint64_t until);

/* Attributes of its own port that the operating system of a consumer reads without a MAD. */
const uint8_t *fabric_node_info(const struct fabric *fabric, uint32_t node);
const uint8_t *fabric_port_info(const struct fabric *fabric, uint32_t port);
unsigned fabric_p_keys(const struct fabric *fabric, uint32_t port, uint16_t *p_keys, unsigned room);
/* The index of a key of this partition in the port's table; 0 if there is none. */
unsigned fabric_p_key_index(const struct fabric *fabric, uint32_t port, uint16_t p_key);
/* The live LFT of a switch up to and including *top; NULL if it has none. */
const uint8_t *fabric_linear_table(const struct fabric *fabric, uint32_t node, unsigned *top);
/* The output port of a switch for a LID, by its linear or random table; 0xFF: it drops packets. */
unsigned fabric_route(const struct fabric *fabric, uint32_t node, unsigned lid);
/* The VL of packets of an SL that enter a node by one port and leave it by another; `input` 0: the
 * node itself sends them. */
unsigned fabric_map_sl(const struct fabric *fabric, uint32_t node, unsigned input, unsigned output,
                       unsigned sl);
uint64_t fabric_port_guid(const struct fabric *fabric, uint32_t port, unsigned index);
/* Sets the GUID of a virtual function at a shared port; 0: that of the topology. */
void fabric_set_function_guid(struct fabric *fabric, uint32_t port, uint64_t guid);

/* Faults, by port or node index. All take effect at the present network time. */
int fabric_set_link(struct fabric *fabric, uint32_t port, bool up, struct err *err);
int fabric_set_node(struct fabric *fabric, uint32_t node, bool up, struct err *err);
int fabric_flap_port(struct fabric *fabric, uint32_t port, struct err *err);
/* Loses SMPs with probability parts / 2^32: on one link, or everywhere with TOPOLOGY_NONE; of one
 * SMP attribute, or of all with 0. A probability of 0 removes the rule. */
int fabric_set_loss(struct fabric *fabric, uint32_t port, unsigned attribute, uint64_t parts,
                    struct err *err);
/* Makes an agent answer late by `delay_ps`, or never with TIME_NEVER; 0 removes the fault. */
int fabric_set_agent_delay(struct fabric *fabric, uint32_t node, uint64_t delay_ps,
                           struct err *err);
int fabric_set_guid(struct fabric *fabric, uint32_t node, uint64_t guid, struct err *err);
/* Adds `count` bit errors on a link, detected by the receiving `port`. */
int fabric_add_bit_errors(struct fabric *fabric, uint32_t port, unsigned count, struct err *err);
/* Adds bit errors every second while the link is up, detected by both of its ports; 0 removes the
 * fault. */
int fabric_set_bit_error_rate(struct fabric *fabric, uint32_t port, unsigned per_second,
                              struct err *err);

/* A fault as an action of the console (src/console/actions.def) describes it. */
struct fabric_fault {
    int (*effect)(struct fabric *fabric, const struct fabric_fault *fault, struct err *err);
    uint32_t node, port; /* TOPOLOGY_NONE: at none; both: everywhere */
    unsigned attribute;  /* of SMPs; 0: all */
    uint64_t value;
    bool per_second;
    unsigned kind;    /* of the action */
    const char *sets; /* what lasts: a fault that sets the same at the same place replaces it */
    bool ends;        /* it only undoes another one */
};
struct fabric_faults {
    VEC(struct fabric_fault);
};
/* Causes a fault, and lists it as long as it lasts. */
int fabric_cause(struct fabric *fabric, const struct fabric_fault *fault, struct err *err);
const struct fabric_faults *fabric_faults(const struct fabric *fabric);

struct fabric_totals {
    uint64_t packets_sent, smps_sent, hops, smps_lost, deliveries, traps, events;
    uint64_t smps_barred; /* SMPs that a virtual function posted to QP0 of a shared port */
    uint64_t looped;      /* packets dropped because of a forwarding loop */
    uint32_t links_up, links_down, nodes_down, managers;
    uint32_t links_idle; /* of virtual functions without a LID, neither up nor down */
};
void fabric_totals(const struct fabric *fabric, struct fabric_totals *totals);
/* A hash of all packets that passed: the same scenario and seed give the same hash. */
uint64_t fabric_trace_hash(const struct fabric *fabric);
bool fabric_link_is_up(const struct fabric *fabric, uint32_t port);
/* It is not up yet, but comes up if nothing interferes. */
bool fabric_link_is_training(const struct fabric *fabric, uint32_t port);
/* The link of a virtual function without a LID, which has none; not if it was cut. */
bool fabric_link_is_idle(const struct fabric *fabric, uint32_t port);
bool fabric_node_is_up(const struct fabric *fabric, uint32_t node);
/* The port's live performance counters as "PortCounters" fields. */
struct sma_counters;
const struct sma_counters *fabric_counters(const struct fabric *fabric, uint32_t port);

#endif
