/* The ports of a subnet and their counters, as a scrape needs them.
 *
 * The thread of a manager or a fabric makes a snapshot; the thread of the HTTP server prints it,
 * under the names that dashboards for InfiniBand use (infiniband_switch_port_…, infiniband_hca_…).
 * The last holder of a snapshot frees it. A device is a switch, or one port of an adapter: the GUID
 * in the labels is that of port 0 of a switch, or that of the adapter's port. */
#ifndef WEFT_HOST_METRICS_PORT_METRICS_H
#define WEFT_HOST_METRICS_PORT_METRICS_H

#include "base/mem.h"
#include "base/text.h"
#include "perf/port_counters.h"

#include <stdatomic.h>

#define NO_METRIC_PORT UINT32_MAX

struct metric_device {
    uint64_t guid;
    uint64_t subnet; /* its prefix; 0: no router joins it to others */
    uint16_t lid;
    bool is_switch;
    char name[65]; /* as the fabric has it: any bytes */
};

struct metric_port {
    uint32_t device;
    uint32_t peer; /* the port at the other end, or NO_METRIC_PORT */
    uint8_t number;
    uint64_t rate;        /* bytes per second; 0: no link */
    uint64_t known;       /* counters, by bit */
    uint32_t first_value; /* of COUNTER_COUNT in `values`, if any is known */
};

struct port_metrics {
    atomic_uint holders;
    VEC(struct metric_device) devices;
    VEC(struct metric_port) ports;
    VEC(uint64_t) values; /* of the counters */
    uint32_t switches, adapters, links;
    /* Of the thread that prints: labels of each port, from labels_at[port] on. */
    struct text labels;
    uint32_t *labels_at;
};

struct port_metrics *port_metrics_new(void); /* with one holder */
struct port_metrics *port_metrics_hold(struct port_metrics *metrics);
void port_metrics_release(struct port_metrics *metrics); /* accepts NULL */

/* Adds the values of a port with counters: returns room for COUNTER_COUNT of them. */
uint64_t *port_metrics_add_values(struct port_metrics *metrics, struct metric_port *port);

/* Prints from a position on, until `out` has about `enough` bytes. Returns false at the end. */
struct port_metrics_position {
    unsigned family;
    uint32_t index;
    bool skipped[2];   /* adapters; switches */
    const char *names; /* wanted, as metric_is_named() has them; NULL: all */
};
bool port_metrics_print(struct port_metrics *metrics, struct port_metrics_position *position,
                        struct text *out, size_t enough);

#endif
