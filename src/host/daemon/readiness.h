/* Notifies systemd of the daemon's state (the protocol of sd_notify(3)): sends a datagram of
 * NAME=VALUE lines to the socket in $NOTIFY_SOCKET. Does nothing if that is not set.
 *
 * With WatchdogSec= in its unit, systemd kills and restarts a daemon that does not send WATCHDOG=1
 * in time. */
#ifndef WEFT_HOST_DAEMON_READINESS_H
#define WEFT_HOST_DAEMON_READINESS_H

#include <stdint.h>

/* The interval at which to send WATCHDOG=1: half of the interval that systemd requires
 * ($WATCHDOG_USEC). 0: systemd requires none of this process. */
uint64_t readiness_watchdog_interval_ns(void);
void readiness_notify(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
