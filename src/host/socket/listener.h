/* The listening sockets of the fabric server and the manager. */
#ifndef WEFT_HOST_SOCKET_LISTENER_H
#define WEFT_HOST_SOCKET_LISTENER_H

#include "base/err.h"

#include <stdbool.h>

/* Listens at `path`; the type of the socket is SOCK_SEQPACKET or SOCK_STREAM. Replaces a socket on
 * which no process listens, as a killed server leaves it; any other existing file is an error.
 * Returns the descriptor or -errno. */
int listener_open(const char *path, int type, bool for_owner_only, struct err *err);

/* Makes the directory of a socket, for this user only. An existing directory must belong to this
 * user: another one could have made it to receive the connections of our clients. */
int listener_make_directory(const char *socket, struct err *err);

#endif
