/* Notifies systemd of the daemon's state (the protocol of sd_notify(3)): sends a datagram of
 * NAME=VALUE lines to the socket in $NOTIFY_SOCKET. Does nothing if that is not set. */
#ifndef WEFT_HOST_DAEMON_READINESS_H
#define WEFT_HOST_DAEMON_READINESS_H

void readiness_notify(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
