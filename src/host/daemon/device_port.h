/* A port of this machine, opened for subnet management through libibumad: of hardware, of ibsim
 * (with ibsim-run) or of a weft fabric (with the preload library). */
#ifndef WEFT_HOST_DAEMON_DEVICE_PORT_H
#define WEFT_HOST_DAEMON_DEVICE_PORT_H

#include "base/err.h"
#include "host/manager/config.h"
#include "perf/perf.h"
#include "sa/sa.h"
#include "sm/sm.h"

#include <poll.h>

struct device_port;

/* Opens the chosen port, or the first InfiniBand port whose link is up, sets IsSM and registers for
 * subnet management and administration. `may_be_down`: if there is only one such port, its link
 * need not be up; -ENETDOWN: there are several, and no link is up yet. */
int device_port_open(struct device_port **result, const struct port_choice *choice,
                     bool may_be_down, struct err *err);
void device_port_close(struct device_port *port);

uint64_t device_port_guid(const struct device_port *port);
const char *device_port_name(const struct device_port *port); /* "mlx5_0 port 1 (0x…), 100 Gb/s" */
bool device_port_is_gone(const struct device_port *port);     /* the device was removed */

/* Sends a MAD; 0 or -errno. The core repeats lost requests. */
int device_port_send(struct device_port *port, const struct sm_message *message);
/* The same for an answer or a report of the subnet administration, of any length. */
int device_port_answer(struct device_port *port, const struct sa_message *message);
/* The same for a request to a performance agent. */
int device_port_ask(struct device_port *port, const struct perf_request *request);
/* Receives the next message, without waiting, and returns its receiver. A query is valid until the
 * next call. */
enum mad_arrival { MAD_NONE, MAD_FOR_MANAGER, MAD_FOR_ADMINISTRATION, MAD_FOR_COUNTERS };
enum mad_arrival device_port_receive(struct device_port *port, struct sm_message *message,
                                     struct sa_message *query);
/* Waits for a MAD or an event of `others`, whose revents it sets, for at most `timeout_ns`. */
void device_port_wait(struct device_port *port, struct pollfd *others, size_t count,
                      uint64_t timeout_ns);

#endif
