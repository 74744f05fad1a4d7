/* A control socket, for `weft ctl`: the listening socket and the clients that have sent no request
 * yet.
 *
 * Each request has its own connection, as with a fabric server (host/socket/protocol.h). Only the
 * owner of the process and root can connect. Requests are received without waiting. A client that
 * sends no request within 5 s is disconnected, and so is the oldest of too many. */
#ifndef WEFT_HOST_CONTROL_CONTROL_SOCKET_H
#define WEFT_HOST_CONTROL_CONTROL_SOCKET_H

#include "base/err.h"
#include "host/socket/protocol.h"

#include <stdbool.h>

enum { CONTROL_WORDS = CTL_BYTES / 2 - 1 }; /* none is empty */

struct control_request {
    int fd; /* the receiver answers and closes it: control_reply.h */
    bool json;
    /* The rest NULL. They are parts of `text`: the request must not be moved. */
    const char *words[CONTROL_WORDS + 1];
    unsigned count;
    char text[CTL_BYTES]; /* each word ends with NUL, the last one with two */
};

struct control_socket;

int control_socket_open(struct control_socket **result, const char *path, struct err *err);
void control_socket_close(struct control_socket *socket);   /* accepts NULL; removes the file */
int control_socket_fd(const struct control_socket *socket); /* readable: call ..._next() */
/* When to call ..._next() if the descriptor is not readable before, for clients that send no
 * request; in nanoseconds, as `now` below. Accepts NULL. */
uint64_t control_socket_deadline(const struct control_socket *socket);
/* The next request. False: there is none now; then call again when the descriptor is readable. */
bool control_socket_next(struct control_socket *socket, uint64_t now,
                         struct control_request *request);

#endif
