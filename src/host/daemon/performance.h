/* Runs the performance manager (perf/perf.h) in the daemon: sends its requests with the SLs of the
 * routes in force, and reports high error rates to the subnet manager. Only a master with routes in
 * force reads counters. */
#ifndef WEFT_HOST_DAEMON_PERFORMANCE_H
#define WEFT_HOST_DAEMON_PERFORMANCE_H

#include "host/daemon/device_port.h"
#include "perf/perf.h"

/* Sends the requests that are due and passes findings to the manager. */
void performance_run(struct perf *perf, uint64_t now, struct sm *sm, struct device_port *port);
uint64_t performance_deadline(const struct perf *perf, const struct sm *sm);

#endif
