/* What a request must carry: names and origin. token.c has the token of those that change
 * something.
 *
 * A page of another site can make a browser send requests here. It cannot choose Origin, and it can
 * choose Host only by making a name of its own resolve to this machine (DNS rebinding). So Host
 * must be an address or a name of this machine, and Origin, if present, must be Host. */
#ifndef WEFT_HOST_HTTP_GUARD_H
#define WEFT_HOST_HTTP_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* `own_names` are names of this machine; NULL and "" are skipped. */
bool http_guard_host(const char *host, const char *const *own_names, size_t name_count);
bool http_guard_origin(const char *origin, const char *host);

#endif
