/* The listening sockets of the fabric server and the manager. */
#ifndef WEFT_HOST_SOCKET_LISTENER_H
#define WEFT_HOST_SOCKET_LISTENER_H

#include "base/err.h"

#include <stdbool.h>

/* Listens at `path`. Replaces a socket on which no process listens, as a killed server leaves it;
 * any other existing file is an error. Returns the descriptor or -errno. */
int listener_open(const char *path, bool for_owner_only, struct err *err);

#endif
