/* Reads error counters of ports with performance management MADs (16.1), and finds ports whose
 * error rate is above a limit.
 *
 * The owner passes the time, the subnet and responses, and takes requests and findings. Every
 * interval each port with an active link is read once, with few requests outstanding: switch ports
 * and adapter ports, because each end of a link counts the errors that it receives.
 *
 * The reader does not clear counters, because other programs may read them, with one exception: a
 * counter of PortCounters that has reached its largest value does not count further, so the reader
 * clears it. PortCountersExtended is used where ClassPortInfo says that it has error counters;
 * these do not saturate. A counter that is lower than before was cleared by somebody else, or its
 * node restarted. */
#ifndef WEFT_PERF_COUNTERS_H
#define WEFT_PERF_COUNTERS_H

#include "base/time.h"
#include "subnet/subnet.h"
#include "wire/redirect.h"

enum error_counter { ERROR_SYMBOL, ERROR_LINK_RECOVERY, ERROR_LINK_DOWNED, ERROR_COUNTERS };
const char *error_counter_name(enum error_counter counter); /* "symbol errors" */

struct counter_config {
    uint64_t interval_ns;            /* between two readings of a port; TIME_NEVER: none is read */
    uint32_t limits[ERROR_COUNTERS]; /* a finding is more errors a minute; 0: no limit */
};

struct counter_request {
    uint8_t mad[MAD_BYTES];
    struct redirect to; /* the owner chooses the SL unless the agent has redirected the request */
    bool redirected;
    uint64_t timeout_ns;
};

struct counter_finding {
    uint32_t port; /* of the subnet */
    enum error_counter counter;
    uint64_t count, period_ns; /* errors, and the time in which they were counted */
    uint32_t limit;            /* in a minute */
};

struct counter_reader;

struct counter_reader *counter_reader_new(const struct counter_config *config);
void counter_reader_free(struct counter_reader *reader);
void counter_reader_configure(struct counter_reader *reader, const struct counter_config *config);
/* Forgets all values and outstanding requests: the owner is not master any more. */
void counter_reader_reset(struct counter_reader *reader);

void counter_reader_receive(struct counter_reader *reader, uint64_t now,
                            const struct subnet *subnet, const uint8_t mad[MAD_BYTES]);
/* The next time at which counter_reader_next_request() may return a request. */
uint64_t counter_reader_deadline(const struct counter_reader *reader);
bool counter_reader_next_request(struct counter_reader *reader, uint64_t now,
                                 const struct subnet *subnet, struct counter_request *request);
bool counter_reader_next_finding(struct counter_reader *reader, struct counter_finding *finding);

#endif
