/* Metrics of a simulated fabric (Prometheus): the counters of all ports, and totals of the fabric.
 *
 * The server's loop copies them; the thread of the HTTP server prints the copy. */
#ifndef WEFT_HOST_SERVER_FABRIC_METRICS_H
#define WEFT_HOST_SERVER_FABRIC_METRICS_H

#include "fabric/fabric.h"
#include "host/http/http.h"

/* The route /metrics. The fabric must outlive the server. */
struct http_route fabric_metrics_route(struct fabric *fabric);

#endif
