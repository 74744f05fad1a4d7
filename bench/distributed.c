/* distributed: does it pay to have a second manager compute half of the tables?
 *
 * A standby that knows the fabric gets a request over a connection, computes the tables for its
 * half of the destinations, and sends the entries; the master meanwhile computes the other half,
 * and lays the answer into its tables. Here the standby is a second process and the connection TCP
 * to this machine, which is quicker than any between two machines. Beside it stand one and two
 * threads of the master alone. For engines that take terminals one by one in a fixed pattern: those
 * that choose by the load of the routes so far cannot be cut into parts without other results.
 *
 * The best of several runs each, in milliseconds: by the clock, and the master's own time on a
 * processor, which other work on the machine does not disturb so much and below which the clock
 * cannot fall. */
#include "cli/workers.h"
#include "routing/engines/turns.h"
#include "topology/generate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 15, WORDS = 2 };

static const struct shape {
    const char *name, *words[WORDS];
    size_t count;
} shapes[] = {
    {"648", {"648"}, 1},
    {"5,832", {"5832"}, 1},
    {"11,664", {"11664"}, 1},
    {"27,648", {"m=24,24,48", "w=1,24,24"}, 2},
};

struct request {
    uint32_t engine, shard, shards;
};

/* LIDs side by side. */
struct lid_range {
    uint32_t first, count;
};
struct lid_ranges {
    VEC(struct lid_range) items;
    size_t total;
};

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "distributed: %s: %s\n", what, strerror(errno));
    exit(2);
}

static double now_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void send_all(int connection, const void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t count = write(connection, (const char *)data + done, size - done);
        if (count <= 0)
            give_up("write");
        done += (size_t)count;
    }
}

/* False at the end of the connection. */
static bool receive_all(int connection, void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t count = read(connection, (char *)data + done, size - done);
        if (count < 0)
            give_up("read");
        if (count == 0)
            return false;
        done += (size_t)count;
    }
    return true;
}

static void add_lid(struct lid_ranges *ranges, uint16_t lid)
{
    struct lid_range *last =
        ranges->items.count ? &ranges->items.items[ranges->items.count - 1] : NULL;
    ranges->total++;
    if (last && last->first + last->count == lid)
        last->count++;
    else
        vec_push(&ranges->items, ((struct lid_range){lid, 1}));
}

static void list_ranges(const struct network *network, const struct request *request,
                        struct lid_ranges *ranges)
{
    struct turns_shard shard = turns_shard(network, request->shard, request->shards);
    *ranges = (struct lid_ranges){0};
    for (uint32_t at = shard.first; at < shard.end; at++) {
        add_lid(ranges, network->switches.items[at].lid);
        for (uint32_t i = network->first_terminal[at]; i < network->first_terminal[at + 1]; i++)
            add_lid(ranges, network->terminals.items[network->terminals_at[i]].lid);
    }
}

static void compute(const struct network *network, const struct request *request, unsigned threads,
                    struct routes *routes)
{
    struct workers workers = workers_of_threads(threads);
    struct engine_options options = {.leave_proof = true,
                                     .workers = &workers,
                                     .shard = request->shard,
                                     .shards = request->shards};
    struct err err;
    if (engine_at(request->engine)->compute(network, &options, routes, &err)) {
        fprintf(stderr, "distributed: %s\n", err.message);
        exit(2);
    }
}

/* The standby: request after request, until the master is gone. */
static void serve(int connection, const struct network *network)
{
    struct request request;
    while (receive_all(connection, &request, sizeof request)) {
        struct routes routes;
        struct lid_ranges ranges;
        compute(network, &request, 1, &routes);
        list_ranges(network, &request, &ranges);
        uint8_t *answer = mem_alloc(ranges.total * routes.switch_count), *end = answer;
        for (uint32_t at = 0; at < routes.switch_count; at++) {
            for (size_t i = 0; i < ranges.items.count; i++) {
                const struct lid_range *range = &ranges.items.items[i];
                memcpy(end, routes_row(&routes, at) + range->first, range->count);
                end += range->count;
            }
        }
        send_all(connection, answer, (size_t)(end - answer));
        mem_free(answer);
        vec_release(&ranges.items);
        routes_release(&routes);
    }
}

/* The master's side of one computation. */
static void compute_together(int connection, const struct network *network, uint32_t engine,
                             struct routes *routes)
{
    struct request mine = {engine, 0, 2}, theirs = {engine, 1, 2};
    struct lid_ranges ranges;
    send_all(connection, &theirs, sizeof theirs);
    compute(network, &mine, 1, routes);
    list_ranges(network, &theirs, &ranges);
    uint8_t *row = mem_alloc(ranges.total);
    for (uint32_t at = 0; at < routes->switch_count; at++) {
        const uint8_t *next = row;
        if (!receive_all(connection, row, ranges.total))
            give_up("the standby is gone");
        for (size_t i = 0; i < ranges.items.count; i++) {
            const struct lid_range *range = &ranges.items.items[i];
            memcpy(routes_row(routes, at) + range->first, next, range->count);
            next += range->count;
        }
    }
    mem_free(row);
    vec_release(&ranges.items);
}

struct times {
    double wall, processor;
};

/* The best times; connection < 0: with threads, here. */
static struct times best_ms(const struct network *network, uint32_t engine, unsigned threads,
                            int connection, struct routes *last)
{
    struct request all = {engine, 0, 1};
    struct times best = {0};
    for (int run = 0; run < RUNS; run++) {
        if (run)
            routes_release(last);
        struct times start = {now_ms(CLOCK_MONOTONIC), now_ms(CLOCK_PROCESS_CPUTIME_ID)};
        if (connection < 0)
            compute(network, &all, threads, last);
        else
            compute_together(connection, network, engine, last);
        double wall = now_ms(CLOCK_MONOTONIC) - start.wall;
        double processor = now_ms(CLOCK_PROCESS_CPUTIME_ID) - start.processor;
        best.wall = run == 0 || wall < best.wall ? wall : best.wall;
        best.processor = run == 0 || processor < best.processor ? processor : best.processor;
    }
    return best;
}

static int connect_standby(const struct network *network, pid_t *standby)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) ||
        listen(listener, 1) || getsockname(listener, (struct sockaddr *)&address, &length))
        give_up("listen");
    fflush(stdout);
    *standby = fork();
    if (*standby < 0)
        give_up("fork");
    int connection =
        *standby ? accept(listener, NULL, NULL) : socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0 ||
        (!*standby && connect(connection, (struct sockaddr *)&address, sizeof address)))
        give_up("connect");
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    close(listener);
    if (*standby)
        return connection;
    serve(connection, network);
    _exit(0);
}

static void measure(const struct shape *shape, uint32_t engine, const struct network *network)
{
    struct routes alone, threaded, together;
    pid_t standby;
    struct times one = best_ms(network, engine, 1, -1, &alone);
    struct times two = best_ms(network, engine, 2, -1, &threaded);
    int connection = connect_standby(network, &standby);
    struct times shared = best_ms(network, engine, 1, connection, &together);
    close(connection);
    waitpid(standby, NULL, 0);
    bool same =
        !routes_compare(&alone, &threaded).entries && !routes_compare(&alone, &together).entries;
    printf("%-8s %-8s %9.2f %9.2f %9.2f   %9.2f %9.2f  %s\n", shape->name, engine_at(engine)->name,
           one.wall, two.wall, shared.wall, one.processor, shared.processor,
           same ? "the same tables" : "OTHER TABLES");
    routes_release(&alone);
    routes_release(&threaded);
    routes_release(&together);
}

int main(void)
{
    printf("%-17s %29s   %19s\n", "", "by the clock", "master's processor");
    printf("%-8s %-8s %9s %9s %9s   %9s %9s\n", "hosts", "engine", "1 thread", "2 threads",
           "standby", "1 thread", "standby");
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct topology topology;
        struct network network;
        struct err err = {0};
        topology_init(&topology);
        if (topology_generate(&topology, "fattree", shapes[i].words, shapes[i].count, 1, &err) ||
            network_from_topology(&network, &topology, &err)) {
            fprintf(stderr, "distributed: %s\n", err.message);
            return 2;
        }
        topology_release(&topology);
        for (uint32_t engine = 0; engine_at(engine); engine++)
            if (engine_at(engine) == &engine_ftree || engine_at(engine) == &engine_minhop)
                measure(&shapes[i], engine, &network);
        network_release(&network);
    }
    return 0;
}
