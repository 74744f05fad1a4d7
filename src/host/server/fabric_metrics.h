/* Metrics of a simulated fabric (Prometheus): the counters of all ports, and totals of the fabric.
 *
 * The server's loop copies them; the thread of the HTTP server prints the copy. */
#ifndef WEFT_HOST_SERVER_FABRIC_METRICS_H
#define WEFT_HOST_SERVER_FABRIC_METRICS_H

#include "base/err.h"
#include "fabric/fabric.h"

struct fabric_metrics;

/* Serves them at an address as in http_options.listen. The fabric must outlive them. */
int fabric_metrics_open(struct fabric_metrics **result, struct fabric *fabric, const char *listen,
                        struct err *err);
void fabric_metrics_close(struct fabric_metrics *metrics); /* accepts NULL */
const char *fabric_metrics_address(const struct fabric_metrics *metrics);
int fabric_metrics_fd(const struct fabric_metrics *metrics); /* readable: call ..._serve() */
void fabric_metrics_serve(struct fabric_metrics *metrics);

#endif
