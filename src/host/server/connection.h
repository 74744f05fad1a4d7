/* The socket of one client: reads packets into its session, writes out what waits for it. */
#ifndef WEFT_HOST_SERVER_CONNECTION_H
#define WEFT_HOST_SERVER_CONNECTION_H

#include "host/server/session.h"

#include <sys/epoll.h>

struct connection {
    int fd;
    struct session *session;
    struct connection *next; /* of those that died in this round */
    uint32_t interest;       /* what epoll watches for */
    bool watched, dead;
};

/* Takes one connection from the listening socket; NULL with errno when none could be. */
struct connection *connection_accept(int listener, struct clients *clients);
void connection_free(struct connection *connection);
/* Reads what is there, up to a bound. Closes the connection at its end or when it makes no sense.
 * Returns how many packets came. */
unsigned connection_read(struct connection *connection);
/* Writes until nothing is left or the socket is full. */
void connection_write(struct connection *connection);
/* What epoll should watch for now. */
uint32_t connection_interest(const struct connection *connection);

#endif
