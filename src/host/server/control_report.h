/* What `weft ctl status` and `weft ctl counters` print. */
#ifndef WEFT_HOST_SERVER_CONTROL_REPORT_H
#define WEFT_HOST_SERVER_CONTROL_REPORT_H

#include "host/server/session.h"

struct counter_selection {
    uint32_t node, port; /* TOPOLOGY_NONE: all */
};

void report_status(const struct clients *clients, bool as_json, struct text *out);
/* All nodes: the ports at which anything was counted. A node: all its ports. A port: all its
 * counters. */
void report_counters(const struct clients *clients, const struct counter_selection *selection,
                     bool as_json, struct text *out);

#endif
