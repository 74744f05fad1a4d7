/* The socket of one client: reads packets into its session, writes answers and MADs. */
#ifndef WEFT_HOST_SERVER_CONNECTION_H
#define WEFT_HOST_SERVER_CONNECTION_H

#include "host/server/session.h"

#include <sys/epoll.h>

struct connection {
    int fd;
    struct session *session;
    struct connection *next; /* in the list of closed connections */
    uint32_t interest;       /* events that epoll watches */
    bool watched, dead;
};

/* Accepts a connection; NULL with errno on failure. */
struct connection *connection_accept(int listener, struct clients *clients);
/* Ends the session; the connection is dead then, and must be freed. */
void connection_close(struct connection *connection);
void connection_free(struct connection *connection);
/* Reads pending packets, up to a limit. Closes the connection at its end or after an invalid
 * packet. */
void connection_read(struct connection *connection);
/* Writes until all is written or the socket is full. */
void connection_write(struct connection *connection);
bool connection_has_answer(const struct connection *connection);
/* The events that epoll has to watch. */
uint32_t connection_interest(const struct connection *connection);

#endif
