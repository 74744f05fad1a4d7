/* Requests to the fabric server, one connection for each. */
#ifndef WEFT_PRELOAD_CLIENT_H
#define WEFT_PRELOAD_CLIENT_H

#include "host/socket/protocol.h"

#include <stddef.h>

#define WEFT_EXPORT __attribute__((visibility("default")))

/* Begins a request, with the attachment of the environment. */
void client_prepare(struct request *request, enum request_kind kind);
/* Sends a request and copies the data of the answer, at most `size` bytes, to `data`, which may be
 * NULL. Returns the server's result, or -errno if there is no server. */
int client_request(const struct request *request, void *data, size_t size);
/* The same, but keeps the connection open. Returns its descriptor, or -errno. */
int client_connect(const struct request *request, int descriptor_flags);
/* Reads the handle of an opened port from its descriptor. 0 or -errno. */
int client_handle(int fd, uint32_t *handle);

#endif
