/* Telling systemd how far we are (the protocol of sd_notify(3)): one datagram of NAME=VALUE lines
 * to the socket that $NOTIFY_SOCKET names. Without one, nothing happens. */
#ifndef WEFT_HOST_DAEMON_READINESS_H
#define WEFT_HOST_DAEMON_READINESS_H

void readiness_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
