/* The event loop with simulated time.
 *
 * While programs run, their messages are handled and the clock stands still. When nobody runs
 * (host/lockstep), the work that they have posted is taken, and events are executed one time after
 * the other until one of them gives a program something to do. The network, the timers of agents,
 * time-outs of MADs and the programs have the same clock. */
#include "host/server/internal.h"

#include "base/time.h"

#include <unistd.h>

enum {
    STEPS = 1000, /* times that pass before messages are looked for again */
    PATIENCE_US =
        1000,    /* of the wall clock, before a long step: the kernel may hold back a message */
    IDLE_MS = 2, /* wall-clock time to wait if nothing will happen in simulated time */
};
#define LONG_STEP   (1 * TIME_MS)
#define LINGER_TICK (20 * TIME_MS)

/* ---- what programs would notice ---- */

static void program_opened(void *context, uint32_t process)
{
    lockstep_add_device(((struct server *)context)->lockstep, process);
}

static void program_completed(void *context, uint32_t process)
{
    lockstep_completed(((struct server *)context)->lockstep, process);
}

static void program_written(void *context, uint32_t process)
{
    struct server *server = context;
    if (lockstep_written(server->lockstep, process))
        server->stirred = true;
}

static void program_notified(void *context)
{
    ((struct server *)context)->stirred = true;
}

void simulated_start(struct server *server)
{
    const struct verbs_listener listener = {.context = server,
                                            .opened = program_opened,
                                            .completed = program_completed,
                                            .written = program_written,
                                            .notified = program_notified};
    server->clients.pace = "simulated";
    verbs_set_listener(server->clients.verbs, &listener);
}

/* ---- steps ---- */

static uint64_t next_time(struct server *server, uint64_t work)
{
    uint64_t next = time_first(work, lockstep_deadline(server->lockstep));
    next = time_first(next, fabric_next_network_event(server->fabric));
    next = time_first(next, fabric_next_timer(server->fabric));
    next = time_first(next, mad_layer_deadline(server->clients.mads));
    return server->lingering ? time_first(next, server->clients.now + LINGER_TICK) : next;
}

/* Executes what happens at the present time, and before. */
static void run_events(struct server *server)
{
    struct fabric_delivery delivery;
    uint64_t now = server->clients.now;
    fabric_run_timers(server->fabric, now);
    verbs_run_connections(server->clients.verbs, now);
    while (fabric_run_network(server->fabric, now))
        while (fabric_next_delivery(server->fabric, &delivery))
            mad_layer_deliver(server->clients.mads, now, &delivery);
    verbs_run_connections(server->clients.verbs, now);
    fabric_advance(server->fabric, now);
    if (mad_layer_deadline(server->clients.mads) <= now)
        mad_layer_expire(server->clients.mads, now);
    server->stirred |= server_finish(server);
}

/* Until a program has something to do. False: nothing will happen. */
static bool advance(struct server *server)
{
    server->stirred = false;
    for (int i = 0; i < STEPS && !server->stirred && !server->ended; i++) {
        if (lockstep_wake(server->lockstep))
            return true;
        uint64_t work = verbs_serve_until(server->clients.verbs, server->clients.now);
        server_close_failed(server);
        uint64_t next = next_time(server, work);
        if (next == TIME_NEVER)
            return false;
        if (!server->patient && next > server->clients.now + LONG_STEP &&
            lockstep_waits_for_messages(server->lockstep)) {
            server->patient = true;
            usleep(PATIENCE_US);
            return true;
        }
        if (next > lockstep_limit(server->lockstep)) {
            lockstep_pause(server->lockstep);
            return true;
        }
        if (next > server->clients.now) {
            server->clients.now = next;
            lockstep_advance(server->lockstep, next);
        }
        run_events(server);
    }
    lockstep_stir(server->lockstep);
    return true;
}

void simulated_run(struct server *server)
{
    struct epoll_event events[SERVER_EVENTS];
    bool idle = false;
    while (!server->ended) {
        bool quiet = lockstep_quiet(server->lockstep);
        int count = epoll_wait(server->epoll, events, SERVER_EVENTS, quiet && idle ? IDLE_MS : 0);
        idle = false;
        if (server->http)
            fabric_http_step(server->http);
        server->patient &= quiet && count == 0;
        if (count > 0) {
            server_handle(server, events, count);
            server_finish(server);
            lockstep_stir(server->lockstep);
        } else if (server->lingering && !quiet) {
            server_finish(server);
            lockstep_pause(server->lockstep);
        } else if (quiet) {
            idle = !advance(server);
        } else {
            lockstep_pause(server->lockstep);
        }
    }
}
