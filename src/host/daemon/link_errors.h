/* Reads error counters of the subnet's ports (perf/counters.h) and reports high rates to the
 * manager. Only a master with routes in force reads them. */
#ifndef WEFT_HOST_DAEMON_LINK_ERRORS_H
#define WEFT_HOST_DAEMON_LINK_ERRORS_H

#include "host/daemon/device_port.h"
#include "perf/counters.h"

/* Sends the requests that are due and passes findings to the manager. */
void link_errors_run(struct counter_reader *reader, uint64_t now, struct sm *sm,
                     struct device_port *port);
uint64_t link_errors_deadline(const struct counter_reader *reader, const struct sm *sm);

#endif
