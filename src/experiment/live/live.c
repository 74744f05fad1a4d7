/* The loop of the server: ties virtual time to wall time at a pace, cuts the run into parts of some
 * milliseconds so that clients are served in between, and publishes ticks. If the simulation is too
 * slow for the pace, it falls behind instead of catching up later. */
#include "experiment/live/live.h"

#include "base/time.h"

#define STEP_WALL_NS    (10 * NS_PER_MS) /* aim of the wall time of a part of the run */
#define WORK_WALL_NS    (40 * NS_PER_MS) /* requests wait for this time at the most */
#define ADVANCE_WALL_NS (5 * NS_PER_S)   /* steps and replays that take longer go on in parts */
#define TICK_NS         (100 * NS_PER_MS)
#define SLOW_TICK_NS    (250 * NS_PER_MS)
enum { MANY_LINKS = 5000 };
#define STEP_LEAST    TIME_NS
#define START_PART    (100 * TIME_US)
#define STEP_MOST     (10 * TIME_MS)
#define SETTLE_MOST   (60 * TIME_S)
#define START_WALL_NS NS_PER_S /* small subnets are up when the page is first served */

static uint64_t clock_now(const struct live *live)
{
    return live->options.clock_ns();
}

/* ---- begin and end ---- */

void live_refresh(struct live *live)
{
    watch_read(&live->watch);
    live->publisher.tick.running = live->running || live->starting;
    live->publisher.tick.work = live->starting      ? "start"
                                : live->until_event ? "event"
                                : live->goal_ps     ? "replay"
                                                    : NULL;
    live->publisher.tick.pace = live->pace;
    api_publish(&live->publisher);
    live->dirty = false;
    live->next_tick_ns =
        clock_now(live) + (live->watch.view.links.count > MANY_LINKS ? SLOW_TICK_NS : TICK_NS);
}

void live_progress(const struct live *live, struct text *out)
{
    const struct manager_page page = watch_page(&live->watch, watch_choose_manager(&live->watch));
    const char *refusal = live_session_refusal(&live->session);
    char time[TIME_TEXT_BYTES];
    time_text(live_session_now(&live->session), time);
    if (!live->starting && refusal)
        text_printf(out, "no routes after %s of virtual time: %s", time, refusal);
    else if (!live->starting)
        text_printf(out, "the subnet is up after %s of virtual time", time);
    else
        text_printf(out, "the subnet comes up: %s, %zu of %zu nodes, %s of virtual time",
                    page.sm ? sm_phase_name(sm_progress(page.sm).phase) : "no manager",
                    page.sm ? sm_subnet(page.sm)->nodes.count : 0,
                    live_session_setup(&live->session)->topology.nodes.count, time);
}

static void refresh(void *context)
{
    struct live *live = context;
    if (live->dirty)
        live_refresh(live);
}

/* Brings the subnet up for at most this wall time. */
static void start(struct live *live, uint64_t wall_ns)
{
    uint64_t end = clock_now(live) + wall_ns;
    bool rests = false;
    do
        rests = live_session_settle(&live->session, live_session_now(&live->session) + START_PART);
    while (!rests && live_session_now(&live->session) < SETTLE_MOST && clock_now(live) < end);
    watch_keep_tables(&live->watch);
    live->dirty = true;
    if (rests || live_session_now(&live->session) >= SETTLE_MOST) {
        live_run(live, !live->options.paused);
        live_refresh(live); /* loads are counted from here on */
    }
}

int live_begin(struct live *live, const struct live_options *options, struct err *err)
{
    *live = (struct live){.options = *options, .pace = options->pace, .step_ps = TIME_US};
    live->publisher.refresh = refresh;
    live->publisher.context = live;
    watch_init(&live->watch, &live->publisher);
    int status =
        live_session_begin(&live->session, options->name, options->text, options->seed,
                           &live->watch.observer, options->workers, options->interrupt, err);
    if (status)
        return status;
    watch_begin(&live->watch, &live->session);
    live->begin_wall_ns = clock_now(live);
    const struct http_options http = {.listen = options->listen,
                                      .token = options->token,
                                      .routes = live->routes,
                                      .route_count = live_add_routes(live)};
    status = http_server_start(&live->server, &http, err);
    if (status) {
        live_end(live);
        return status;
    }
    if (options->settle) {
        live->starting = true;
        start(live, START_WALL_NS);
    } else {
        live_run(live, !options->paused);
    }
    if (live->dirty)
        live_refresh(live);
    return 0;
}

void live_end(struct live *live)
{
    live_ctl_close(live);
    http_server_stop(live->server);
    api_publisher_release(&live->publisher);
    watch_release(&live->watch);
    live_session_end(&live->session);
    live->server = NULL;
}

/* ---- pace ---- */

static void set_anchor(struct live *live)
{
    live->anchor_wall_ns = clock_now(live);
    live->anchor_ps = live_session_now(&live->session);
}

void live_run(struct live *live, bool running)
{
    live->running = running && !live_session_halted(&live->session);
    live->starting = live->until_event = false;
    live->goal_ps = 0;
    live->dirty = true;
    live->publisher.tick.behind = false;
    set_anchor(live);
}

void live_set_pace(struct live *live, double pace)
{
    live->pace = pace;
    live->dirty = true;
    set_anchor(live);
}

/* The virtual time of the present wall time. */
static uint64_t target_time(const struct live *live)
{
    double wall_ns = (double)(clock_now(live) - live->anchor_wall_ns);
    double ps = wall_ns * live->pace * (double)TIME_NS;
    return live->anchor_ps + (ps < (double)TIME_LONGEST ? (uint64_t)ps : TIME_LONGEST);
}

/* ---- time ---- */

/* One part of the run; the next one is longer or shorter, so that it takes some milliseconds. */
static void advance_part(struct live *live, uint64_t until)
{
    uint64_t begin = clock_now(live), next = live_session_now(&live->session) + live->step_ps;
    live_session_advance(&live->session, next < until ? next : until);
    watch_keep_tables(&live->watch);
    uint64_t took = clock_now(live) - begin;
    if (took > STEP_WALL_NS && live->step_ps > STEP_LEAST)
        live->step_ps /= 2;
    else if (took < STEP_WALL_NS / 4 && live->step_ps < STEP_MOST && next <= until)
        live->step_ps *= 2;
    live->dirty = true;
}

/* Towards the goal, for at most this wall time. */
static void approach_goal(struct live *live, uint64_t wall_ns)
{
    uint64_t begin = clock_now(live);
    while (live_session_now(&live->session) < live->goal_ps && clock_now(live) < begin + wall_ns &&
           !live_session_halted(&live->session)) {
        if (live->step_ps > TIME_MS) /* tables of changes are read after each part */
            live->step_ps = TIME_MS;
        advance_part(live, live->goal_ps);
    }
    if (live_session_now(&live->session) >= live->goal_ps || live_session_halted(&live->session))
        live->goal_ps = 0;
    live->dirty = true;
}

void live_advance(struct live *live, uint64_t until)
{
    live->goal_ps = time_ns_to_ps(time_ns_ceil(until));
    approach_goal(live, ADVANCE_WALL_NS);
}

/* A fault, a trap, a link, a node, a master or its tables: what a person would call an event. */
static bool has_new_event(const struct live *live)
{
    const struct run_record *record = &live->session.current->record;
    for (size_t i = live->events_mark; i < record->events.count; i++)
        if (record->events.items[i].kind != RUN_RECORD_CHECK && !record->events.items[i].note)
            return true;
    return false;
}

static void advance_paced(struct live *live)
{
    uint64_t begin = clock_now(live);
    uint64_t target = live->until_event ? TIME_LONGEST : target_time(live);
    while (live_session_now(&live->session) < target && clock_now(live) < begin + WORK_WALL_NS &&
           !live_session_halted(&live->session)) {
        if (live->until_event && live->step_ps > TIME_US)
            live->step_ps = TIME_US;
        advance_part(live, target);
        if (live->until_event && has_new_event(live)) {
            live_run(live, false);
            return;
        }
    }
    bool behind = !live->until_event && live_session_now(&live->session) < target;
    live->publisher.tick.behind = behind;
    if (behind)
        set_anchor(live);
    if (live_session_halted(&live->session))
        live_run(live, false);
}

/* ---- actions ---- */

int live_apply(struct live *live, const struct action *actions, size_t count, struct json *json,
               struct err *err)
{
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        struct text line = {0};
        status = live_session_act(&live->session, &actions[i], err);
        action_print(&actions[i], &live_session_setup(&live->session)->topology, &line);
        if (status == 0 && json)
            json_string(json, NULL, line.data);
        text_release(&line);
    }
    live->dirty = true;
    return status;
}

/* ---- replay ---- */

int live_seek(struct live *live, uint64_t time, struct err *err)
{
    bool back = time < live_session_now(&live->session);
    int status = back ? live_session_seek(&live->session, 0, err) : 0;
    if (status)
        return status;
    if (back) {
        watch_begin(&live->watch, &live->session);
        api_history_forget(&live->publisher.history, time_ns_floor(time));
    }
    live_run(live, false);
    live_advance(live, time);
    return 0;
}

int live_restart(struct live *live, const uint64_t *seed, struct err *err)
{
    int status = live_session_restart(&live->session, seed, err);
    if (status)
        return status;
    watch_begin(&live->watch, &live->session);
    api_history_forget(&live->publisher.history, 0);
    live_run(live, false);
    return 0;
}

/* ---- the loop ---- */

void live_descriptors(const struct live *live, int fds[LIVE_DESCRIPTORS])
{
    fds[0] = http_server_fd(live->server);
    for (unsigned i = 0; i < LIVE_SOCKETS; i++)
        fds[1 + i] = live->sockets[i] ? control_socket_fd(live->sockets[i]) : -1;
}

/* The wall time at which there is something to do. */
static uint64_t next_work(const struct live *live)
{
    uint64_t clients = live_ctl_deadline(live);
    if (!live->running && !live->dirty && !live->goal_ps && !live->starting)
        return clients;
    if (live->goal_ps || live->starting || live->until_event || live->publisher.tick.behind)
        return 0;
    uint64_t now = clock_now(live), tick = live->next_tick_ns;
    uint64_t half = tick > now ? now + (tick - now) / 2 : 0;
    return half < clients ? half : clients;
}

int live_step(struct live *live)
{
    while (http_server_serve(live->server))
        ;
    live_ctl_serve(live, clock_now(live));
    if (live->starting)
        start(live, WORK_WALL_NS);
    else if (live->goal_ps)
        approach_goal(live, WORK_WALL_NS);
    else if (live->running)
        advance_paced(live);
    if (live->dirty && clock_now(live) >= live->next_tick_ns)
        live_refresh(live);
    uint64_t next = next_work(live), now = clock_now(live);
    return next == TIME_NEVER ? -1 : next > now ? (int)((next - now) / NS_PER_MS + 1) : 0;
}
