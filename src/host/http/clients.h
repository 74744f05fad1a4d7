/* The connections of the HTTP server: their number, their deadlines, and the rate of requests.
 *
 * When an address, or the server, has too many connections, one gives way to a new one: the oldest
 * that has not sent a complete request, else the oldest. So a client that sends its request at once
 * is served, however many connections sit idle, read slowly or watch. A request must arrive, and
 * its answer must be read, within the times of `struct http_limits`. A connection is closed by
 * shutdown(2): libmicrohttpd then reads the end of the connection. The caller locks.
 *
 * The cost of a request is the time that the owner's loop takes for it, which differs by a factor
 * of 10,000 between routes. Requests without the token share a part of the loop's time, with a
 * burst for a page that opens; among those that wait, the address that has used the least is next.
 *
 * Connections, requests and waiting requests of Unix sockets are counted separately from all
 * others: no flood over the network locks out a user of this machine. */
#ifndef WEFT_HOST_HTTP_CLIENTS_H
#define WEFT_HOST_HTTP_CLIENTS_H

#include "base/rate_limit.h"
#include "host/http/http.h"

#include <sys/socket.h>

enum { HTTP_RATE_SLOTS = 256, HTTP_RATE_LOCAL = HTTP_RATE_SLOTS /* of Unix sockets */ };

enum http_client_phase {
    HTTP_CLIENT_WAITS, /* no complete request was received */
    HTTP_CLIENT_READS, /* the answer is being sent */
    HTTP_CLIENT_STREAMS,
    HTTP_CLIENT_CLOSED,
};

struct http_client {
    struct http_client *previous, *next; /* oldest first */
    int fd;
    uint64_t address; /* hash of the peer's address; /64 of IPv6 */
    bool local;       /* at a Unix socket */
    enum http_client_phase phase;
    uint64_t deadline_ns;
};

struct http_clients {
    struct http_limits limits;
    struct http_client *first, *last;
    unsigned count;
    uint64_t seed;
    struct rate_flow rates[HTTP_RATE_SLOTS + 1]; /* by hash of the address: two may share one */
    unsigned waiting[2];   /* requests for the owner's loop; [1]: of Unix sockets */
    struct rate_flow loop; /* the loop's time for requests without the token */
    struct rate_flow spent[HTTP_RATE_SLOTS + 1]; /* the loop's time, by address as in `rates` */
};

/* `peer` may be NULL (Unix socket). `stream_closed`: a stream gave way to this connection. */
struct http_client *http_clients_add(struct http_clients *clients, int fd,
                                     const struct sockaddr *peer, uint64_t now_ns,
                                     bool *stream_closed);
void http_clients_remove(struct http_clients *clients, struct http_client *client);
/* Changes the phase and the deadline. */
void http_client_enter(struct http_clients *clients, struct http_client *client,
                       enum http_client_phase phase, uint64_t now_ns);
/* The answer is a stream. Returns whether the oldest stream of the same address gave way to it. */
bool http_client_enter_stream(struct http_clients *clients, struct http_client *client);
/* Counts a request; false if there are too many. */
bool http_client_may_ask(struct http_clients *clients, const struct http_client *client,
                         uint64_t now_ns);
/* A request for the owner's loop begins or ends to wait; false if too many wait. */
bool http_clients_begin_wait(struct http_clients *clients, bool local);
void http_clients_end_wait(struct http_clients *clients, bool local);
/* When a request of this kind may run in the loop. */
uint64_t http_clients_run_at(const struct http_clients *clients, bool trusted);
/* The order in which requests of these clients run: the lowest first. */
uint64_t http_clients_rank(const struct http_clients *clients, const struct http_client *client);
void http_clients_charge(struct http_clients *clients, const struct http_client *client,
                         bool trusted, uint64_t now_ns, uint64_t cost_ns);
/* Closes the connections whose deadline has passed. */
void http_clients_expire(struct http_clients *clients, uint64_t now_ns);

#endif
