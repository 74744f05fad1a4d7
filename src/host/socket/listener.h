/* A socket file to listen at: the fabric server's and the manager's. */
#ifndef WEFT_HOST_SOCKET_LISTENER_H
#define WEFT_HOST_SOCKET_LISTENER_H

#include "base/err.h"

#include <stdbool.h>

/* What a killed server left there, a socket that nobody listens at, is replaced; anything else is
 * an error and stays as it is. The descriptor, or a negative errno. */
int listener_open(const char *path, bool for_owner_only, struct err *err);

#endif
