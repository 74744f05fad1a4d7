/* Questions to the fabric server, one connection each. */
#ifndef WEFT_PRELOAD_ASK_H
#define WEFT_PRELOAD_ASK_H

#include "host/socket/protocol.h"

#include <stddef.h>

#define WEFT_EXPORT __attribute__((visibility("default")))

/* A request with the environment's attachment filled in. */
void ask_prepare(struct request *request, enum ask ask);
/* Asks and takes the answer's struct or text (at most `size` bytes of it) into `data`, which may be
 * NULL. Returns the server's result, or -errno when there is no server to ask. */
int ask_server(const struct request *request, void *data, size_t size);
/* The same, but the connection stays: returns its descriptor, or -errno. */
int ask_stay(const struct request *request, int descriptor_flags);
/* The name under which the server knows an opened port's connection, or -errno. */
int ask_handle(int fd, uint32_t *handle);

#endif
