/* Attributes of a simulated fabric: capabilities of nodes, and processing times.
 *
 * Every parameter of the model has a default here. Presets set them all at once: `paper` is
 * the fabric of the papers of 2003 to 2006, `today` a present-day fabric. Node attributes apply to
 * all nodes, or to those that a pattern names. */
#ifndef WEFT_FABRIC_OPTIONS_H
#define WEFT_FABRIC_OPTIONS_H

#include "base/err.h"
#include "base/text.h"
#include "sma/sma.h"
#include "topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

/* A processing time: constant, or growing with the number of nodes in the subnet. */
struct cost {
    uint64_t base_ps, per_node_ps;
};

struct node_options {
    struct sma_options agent;
    uint32_t vl15_buffer;        /* packets an output holds on VL15 before it drops them */
    uint32_t agent_buffer;       /* packets an agent holds before it drops them */
    uint32_t buffer_bytes;       /* of each data VL, at each input and each output */
    uint32_t router_bytes;       /* routers: memory for each output VL */
    uint32_t internal_percent;   /* bandwidth of the crossbar, in percent of the input link */
    uint32_t bus;                /* of a host, by number: host_bus_name() */
    uint64_t adapter_packet_ps;  /* an adapter's own time for a packet, sent or received */
    uint64_t adapter_message_ps; /* added for the first packet of a message that is sent */
};

enum { OVERRIDE_LIMIT = 64 };
struct fabric_override {
    char pattern[80], key[32], value[32];
};

struct fabric_options {
    struct node_options node;
    struct cost smi;             /* one directed-route hop through a switch */
    struct cost sma;             /* one request in an agent */
    uint64_t sma_set_ps;         /* added for a Set: the agent applies it */
    struct cost routing;         /* one LFT look-up */
    uint64_t vswitch_routing_ps; /* one LFT look-up in a virtual switch */
    struct cost manager;         /* one SMP in a simulated manager, in or out */
    struct cost manager_get;     /* added for a Get: the manager processes its response */
    uint64_t compute_ps;         /* one operation of a simulated manager that computes routes */
    bool paper_compute;          /* price the papers' algorithms, and do nothing else meanwhile */
    uint64_t mapping_ps, crossbar_ps,
        channel_ps;          /* SL-to-VL mapping; crossbar and link arbitration */
    uint64_t router_ps;      /* from the end of a packet to its start in the next subnet */
    bool routing_shared;     /* one routing unit for all inputs of a switch, else one per input */
    bool multiplexed;        /* crossbar: one connection for all VLs of a port */
    uint64_t bit_error_rate; /* data packets, in parts of 2^64 per bit */
    uint64_t deadlock_check_ps; /* interval of deadlock checks; 0: none */
    uint64_t flight_ps_per_m;
    uint64_t vm_detach_ps, vm_attach_ps; /* of its function, by the host of a VM */
    uint64_t training_ps;                /* from connecting the cable to Init */
    unsigned override_count;
    struct fabric_override overrides[OVERRIDE_LIMIT];
};

/* host_bus.c: the name of a bus; NULL: no bus has the number. */
const char *host_bus_name(unsigned number);
/* 0, or -EINVAL when the name is unknown. */
int fabric_options_preset(struct fabric_options *options, const char *name, struct err *err);
/* Sets one attribute by name, as scenarios and command lines give it: "mtu", "2048". A key such as
 * "S1*:traps" or "switches:mtu" applies only to nodes whose name or description matches the pattern
 * (or to all "switches", "adapters"); later ones win. -ENOENT: the name is unknown. */
int fabric_options_set(struct fabric_options *options, const char *key, const char *value,
                       struct err *err);
/* -ENOENT if `key` has a pattern that matches no node of the topology. */
int fabric_options_check_pattern(const char *key, const struct topology *topology, struct err *err);
/* The attributes of one node, overrides applied. The description may be NULL. */
struct node_options fabric_options_for(const struct fabric_options *options, const char *name,
                                       const char *description, bool is_switch);
/* The options with which the fabric was made. */
struct fabric;
const struct fabric_options *fabric_options_of(const struct fabric *fabric);
/* Prints two lines per attribute: "key  value  range", and its meaning, indented. */
void fabric_options_list(const struct fabric_options *options, struct text *out);

#endif
