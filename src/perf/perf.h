/* The performance manager: reads the counters of all ports with performance management MADs (16.1).
 *
 * The owner passes the time, the subnet and responses, and takes requests and findings. Every
 * period each port with an active link is read once: switch ports and adapter ports, because each
 * end of a link counts what it receives. The number of outstanding requests is bounded, in total
 * and for each node, and so is their rate. Counters are never cleared, because other programs read
 * them.
 *
 * ClassPortInfo of a node says which attributes it has: PortCountersExtended, with or without error
 * counters, and PortXmitWait. PortRcvErrorDetails is read where it is supported, when the sums that
 * it divides have changed. Agents may redirect requests. */
#ifndef WEFT_PERF_PERF_H
#define WEFT_PERF_PERF_H

#include "base/time.h"
#include "perf/history.h"
#include "subnet/problems.h"
#include "subnet/subnet.h"
#include "wire/redirect.h"

struct perf_config {
    uint64_t interval_ns; /* between two readings of a port; TIME_NEVER: none is read */
    uint32_t window;      /* outstanding requests */
    uint32_t rate;        /* requests in a second, at most */
    bool ignore_adapters;
    uint32_t limits[COUNTER_COUNT]; /* a finding is more events a minute; 0: no limit */
};
void perf_config_init(struct perf_config *config);

struct perf_request {
    uint8_t mad[MAD_BYTES];
    struct redirect to; /* the owner chooses the SL unless the agent has redirected the request */
    bool redirected;
    uint64_t timeout_ns;
};

/* A port counts more errors than the limit. */
struct perf_finding {
    uint32_t port; /* of the subnet */
    enum port_counter counter;
    uint64_t count, period_ns; /* errors, and the time in which they were counted */
    uint32_t limit;            /* in a minute */
};

struct perf_counts {
    uint64_t rounds;                        /* finished */
    uint64_t began_at, duration_ns;         /* of the last finished round */
    uint64_t ports;                         /* read in it */
    uint64_t requests, responses, timeouts; /* since the start */
    uint64_t silent_nodes;                  /* that are not read now, because they do not answer */
    uint64_t stuck_ports;                   /* with a counter that is at its largest value */
};

struct perf;

struct perf *perf_new(const struct perf_config *config);
void perf_free(struct perf *perf);
/* Without an interval, all values are forgotten. */
void perf_configure(struct perf *perf, const struct perf_config *config);
bool perf_is_on(const struct perf *perf); /* counters are read */
/* Forgets all values and outstanding requests: the owner is not master any more. */
void perf_reset(struct perf *perf);

void perf_receive(struct perf *perf, uint64_t now, const struct subnet *subnet,
                  const uint8_t mad[MAD_BYTES]);
/* The next time at which perf_next_request() may return a request. */
uint64_t perf_deadline(const struct perf *perf);
bool perf_next_request(struct perf *perf, uint64_t now, const struct subnet *subnet,
                       struct perf_request *request);
bool perf_next_finding(struct perf *perf, struct perf_finding *finding);
/* The owner serves others now: requests are sent slowly for some milliseconds. */
void perf_yield(struct perf *perf, uint64_t now);

bool perf_has_begun(const struct perf *perf); /* the first round, since the last perf_reset() */
/* Whether rounds read this port now. */
bool perf_reads_port(const struct perf *perf, const struct subnet *subnet, uint32_t port);
/* The counters and the last hour of a port of the subnet; NULL: it was never read. A port that is
 * not read any more keeps its last values. */
const struct port_counters *perf_port_counters(const struct perf *perf, uint32_t port);
const struct history *perf_port_history(const struct perf *perf, uint32_t port);
void perf_counts(const struct perf *perf, struct perf_counts *counts);
/* Lists nodes with counters that count no further. */
void perf_list_problems(const struct perf *perf, const struct subnet *subnet,
                        struct problems *problems);

#endif
