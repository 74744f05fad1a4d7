/* Limits on connections and requests, against clients that flood or stall the server. Connections
 * are listed by age and counted by a seeded hash of the peer's address; the rate of requests is
 * limited by base/rate_limit.h. What a refused request is answered is left to exchange.c. */
#include "host/http/clients.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/time.h"

#include <netinet/in.h>

#define LOOP_BURST_NS (100 * NS_PER_MS) /* after a pause */

static uint64_t hash_address(const struct http_clients *clients, const struct sockaddr *peer)
{
    uint64_t word = 1;
    if (peer && peer->sa_family == AF_INET) {
        word = ((const struct sockaddr_in *)peer)->sin_addr.s_addr;
    } else if (peer && peer->sa_family == AF_INET6) {
        const struct in6_addr *address = &((const struct sockaddr_in6 *)peer)->sin6_addr;
        uint32_t v4;
        memcpy(&word, address, sizeof word);
        memcpy(&v4, address->s6_addr + 12, sizeof v4);
        if (IN6_IS_ADDR_V4MAPPED(address))
            word = v4;
    }
    return hash_mix(word ^ clients->seed);
}

static void close_client(struct http_client *client)
{
    client->phase = HTTP_CLIENT_CLOSED;
    shutdown(client->fd, SHUT_RDWR);
}

/* Whether a connection is open and shares a limit with the new one `own`: that of its address, or
 * that of all connections. */
static bool shares_limit(const struct http_client *client, const struct http_client *own,
                         bool of_address)
{
    return client->phase != HTTP_CLIENT_CLOSED && client->local == own->local &&
           (!of_address || client->address == own->address);
}

/* Closes the oldest connection without a complete request or, if there is none, the oldest one. A
 * page reconnects its stream by itself. */
static void close_oldest(struct http_clients *clients, const struct http_client *own,
                         bool of_address, bool *stream_closed)
{
    struct http_client *oldest = NULL;
    for (struct http_client *client = clients->first; client; client = client->next) {
        if (!shares_limit(client, own, of_address))
            continue;
        bool waits = client->phase == HTTP_CLIENT_WAITS;
        if (waits || !oldest)
            oldest = client;
        if (waits)
            break;
    }
    if (!oldest)
        return;
    *stream_closed = oldest->phase == HTTP_CLIENT_STREAMS;
    close_client(oldest);
}

static unsigned open_count(const struct http_clients *clients, const struct http_client *own,
                           bool of_address)
{
    unsigned count = 0;
    for (const struct http_client *client = clients->first; client; client = client->next)
        count += shares_limit(client, own, of_address);
    return count;
}

struct http_client *http_clients_add(struct http_clients *clients, int fd,
                                     const struct sockaddr *peer, uint64_t now_ns,
                                     bool *stream_closed)
{
    struct http_client *client = mem_zalloc(1, sizeof *client);
    client->fd = fd;
    client->address = hash_address(clients, peer);
    client->local = !peer;
    *stream_closed = false;
    if (open_count(clients, client, true) >= clients->limits.connections_per_address)
        close_oldest(clients, client, true, stream_closed);
    else if (open_count(clients, client, false) >= clients->limits.connections)
        close_oldest(clients, client, false, stream_closed);
    client->previous = clients->last;
    *(clients->last ? &clients->last->next : &clients->first) = client;
    clients->last = client;
    clients->count++;
    http_client_enter(clients, client, HTTP_CLIENT_WAITS, now_ns);
    return client;
}

void http_clients_remove(struct http_clients *clients, struct http_client *client)
{
    *(client->previous ? &client->previous->next : &clients->first) = client->next;
    *(client->next ? &client->next->previous : &clients->last) = client->previous;
    clients->count--;
    mem_free(client);
}

void http_client_enter(struct http_clients *clients, struct http_client *client,
                       enum http_client_phase phase, uint64_t now_ns)
{
    unsigned seconds = phase == HTTP_CLIENT_WAITS ? clients->limits.request_seconds
                                                  : clients->limits.response_seconds;
    if (client->phase == HTTP_CLIENT_CLOSED)
        return;
    client->phase = phase;
    client->deadline_ns = phase == HTTP_CLIENT_STREAMS ? TIME_NEVER : now_ns + seconds * NS_PER_S;
}

bool http_client_enter_stream(struct http_clients *clients, struct http_client *client)
{
    struct http_client *oldest = NULL;
    unsigned streams = 0;
    for (struct http_client *at = clients->first; at; at = at->next)
        if (at->phase == HTTP_CLIENT_STREAMS && shares_limit(at, client, true)) {
            oldest = oldest ? oldest : at;
            streams++;
        }
    bool full = oldest && streams >= clients->limits.streams_per_address;
    if (full)
        close_client(oldest);
    http_client_enter(clients, client, HTTP_CLIENT_STREAMS, 0);
    return full;
}

static uint64_t slot_of(const struct http_client *client)
{
    return client->local ? HTTP_RATE_LOCAL : client->address % HTTP_RATE_SLOTS;
}

bool http_client_may_ask(struct http_clients *clients, const struct http_client *client,
                         uint64_t now_ns)
{
    struct rate_flow *rate = &clients->rates[slot_of(client)];
    uint64_t cost = NS_PER_S / clients->limits.requests_per_second;
    if (!rate_flow_is_open(rate, now_ns))
        return false;
    rate_flow_add(rate, now_ns, cost, 2 * NS_PER_S - cost);
    return true;
}

bool http_clients_begin_wait(struct http_clients *clients, bool local)
{
    bool allowed = clients->waiting[local] < clients->limits.pending;
    clients->waiting[local] += allowed;
    return allowed;
}

void http_clients_end_wait(struct http_clients *clients, bool local)
{
    clients->waiting[local]--;
}

uint64_t http_clients_run_at(const struct http_clients *clients, bool trusted)
{
    return trusted ? 0 : rate_flow_next(&clients->loop);
}

uint64_t http_clients_rank(const struct http_clients *clients, const struct http_client *client)
{
    return rate_flow_next(&clients->spent[slot_of(client)]);
}

void http_clients_charge(struct http_clients *clients, const struct http_client *client,
                         bool trusted, uint64_t now_ns, uint64_t cost_ns)
{
    uint64_t share = cost_ns * 100 / clients->limits.loop_percent;
    rate_flow_add(&clients->spent[slot_of(client)], now_ns, share, 0);
    if (!trusted)
        rate_flow_add(&clients->loop, now_ns, share,
                      LOOP_BURST_NS * 100 / clients->limits.loop_percent);
}

void http_clients_expire(struct http_clients *clients, uint64_t now_ns)
{
    for (struct http_client *client = clients->first; client; client = client->next)
        if (client->phase != HTTP_CLIENT_CLOSED && client->deadline_ns <= now_ns)
            close_client(client);
}
