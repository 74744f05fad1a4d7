/* The performance agent of a node: which counters it has, and in which attributes.
 *
 * ClassPortInfo says whether it has PortCountersExtended, with or without error counters and with
 * or without unicast and multicast counters, and whether it counts PortXmitWait and QP1Dropped. A
 * counter that is in two attributes is read from PortCountersExtended. No bit announces
 * PortRcvErrorDetails: it is read once of each node, to know whether it is supported. It divides
 * PortRcvErrors and PortRcvSwitchRelayErrors, so it is read again only when these have changed. */
#ifndef WEFT_PERF_AGENT_H
#define WEFT_PERF_AGENT_H

#include "perf/port_counters.h"

enum agent_support { SUPPORT_UNKNOWN, SUPPORT_YES, SUPPORT_NO };

struct agent {
    uint64_t valid[COUNTER_SETS]; /* counters of each attribute, by bit */
    bool known;                   /* ClassPortInfo was read */
    enum agent_support details;   /* PortRcvErrorDetails */
};

/* A request of a reading: an enum counter_set, ClassPortInfo, or none. */
enum { STEP_CLASS_INFO = COUNTER_SETS, STEP_NONE };

/* Takes a ClassPortInfo; NULL: the agent has none. */
void agent_learn(struct agent *agent, const uint8_t *class_port_info);
unsigned agent_first_step(const struct agent *agent);
/* The step after this one, for a port with these counters. */
unsigned agent_next_step(const struct agent *agent, unsigned step,
                         const struct port_counters *counters);
/* Ends a reading: details that were not read because their sums are 0 are 0. */
void agent_end_reading(const struct agent *agent, struct port_counters *counters);

#endif
