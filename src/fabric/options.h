/* Attributes of a simulated fabric: what a node can do, and what things cost.
 *
 * Every number that the model needs has a default here; presets set them all at once: `paper` is
 * the world of the papers of 2003 to 2006, `today` a present-day fabric. Node attributes hold for
 * all nodes, or for those that a pattern names. */
#ifndef WEFT_FABRIC_OPTIONS_H
#define WEFT_FABRIC_OPTIONS_H

#include "base/err.h"
#include "base/text.h"
#include "sma/sma.h"

#include <stdbool.h>
#include <stdint.h>

/* A processing time: constant, or growing with the number of nodes in the subnet. */
struct cost {
    uint64_t base_ps, per_node_ps;
};

struct node_options {
    struct sma_options agent;
    uint32_t vl15_buffer;      /* packets an output holds on VL15 before it drops them */
    uint32_t agent_buffer;     /* packets an agent holds before it drops them */
    uint32_t buffer_bytes;     /* of each data lane, at each input and each output */
    uint32_t internal_percent; /* bandwidth of the crossbar, of the input link's */
};

enum { OVERRIDE_LIMIT = 64 };
struct fabric_override {
    char pattern[80], key[32], value[32];
};

struct fabric_options {
    struct node_options node;
    struct cost smi;             /* one directed-route hop through a switch */
    struct cost sma;             /* one request in an agent */
    struct cost routing;         /* one look-up in a forwarding table … */
    uint64_t vswitch_routing_ps; /* … and in that of a virtual switch */
    struct cost manager;         /* one SMP in a simulated manager, in or out */
    struct cost manager_get;     /* what a Get adds to that: its answer has to be taken in */
    uint64_t compute_ps;         /* one operation of a simulated manager that computes routes */
    bool paper_compute; /* of the papers' own algorithms, and nothing else is done meanwhile */
    uint64_t mapping_ps, crossbar_ps, channel_ps; /* mapping; both kinds of arbitration */
    bool routing_shared;        /* one routing unit for a switch's inputs, else one for each */
    bool multiplexed;           /* crossbar: one connection for all lanes of a port */
    uint64_t bit_error_rate;    /* of data packets, in parts of 2^64 per bit */
    uint64_t deadlock_check_ps; /* between two looks; 0: none */
    uint64_t flight_ps_per_m;
    uint64_t training_ps; /* from cable in to Init */
    unsigned override_count;
    struct fabric_override overrides[OVERRIDE_LIMIT];
};

/* 0, or -EINVAL when the name is unknown. */
int fabric_options_preset(struct fabric_options *options, const char *name, struct err *err);
/* One attribute by name, as scenarios and command lines give it: "mtu", "2048". A key such as
 * "S1*:traps" or "switches:mtu" holds only for nodes whose name or description matches the pattern
 * (or for all "switches", "adapters"); later ones win. */
int fabric_options_set(struct fabric_options *options, const char *key, const char *value,
                       struct err *err);
/* The attributes of one node, overrides applied. The description may be NULL. */
struct node_options fabric_options_for(const struct fabric_options *options, const char *name,
                                       const char *description, bool is_switch);
/* Those that a fabric was made with. */
struct fabric;
const struct fabric_options *fabric_options_of(const struct fabric *fabric);
/* Two lines an attribute: "key  value  what fits", and indented what it is. */
void fabric_options_list(const struct fabric_options *options, struct text *out);

#endif
