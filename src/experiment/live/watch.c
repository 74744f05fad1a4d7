/* Assembles a tick from the fabric, its traffic and the new events of the record. The observer of
 * delivered packets sums their latency from one tick to the next. */
#include "experiment/live/watch.h"

#include "base/time.h"

#include <math.h>

/* ---- packets ---- */

static void note_delivered(void *context, uint64_t now, const struct packet_view *packet)
{
    struct live_watch *watch = context;
    uint64_t latency = now - packet->made;
    watch->latency.delivered++;
    watch->latency.sum_ps += latency;
    if (latency > watch->latency.most_ps)
        watch->latency.most_ps = latency;
}

/* ---- begin and end ---- */

void watch_init(struct live_watch *watch, struct api_publisher *publisher)
{
    *watch = (struct live_watch){.publisher = publisher,
                                 .observer = {.context = watch, .delivered = note_delivered}};
}

static void release_run(struct live_watch *watch)
{
    fabric_view_release(&watch->view);
    mem_free(watch->touched);
    problems_release(&watch->problems);
    api_versions_release(&watch->versions);
    watch->problems = (struct problems){0};
    watch->changes_seen = 0;
    watch->machines_seen = 0;
}

void watch_begin(struct live_watch *watch, const struct live_session *session)
{
    const struct topology *topology = &live_session_setup(session)->topology;
    size_t nodes = topology->nodes.count;
    release_run(watch);
    watch->session = session;
    fabric_view_init(&watch->view, live_session_setup(session)->fabric);
    api_log_release(&watch->publisher->log);
    api_publisher_begin(watch->publisher,
                        api_network_written(topology, &watch->view.links, session->generation));
    watch->touched = mem_zalloc(nodes + 1, sizeof *watch->touched);
    watch->events_read = 0;
    watch->latency = (struct fabric_latency){0};
    watch->deadlock_since = TIME_NEVER;
}

void watch_release(struct live_watch *watch)
{
    release_run(watch);
}

/* ---- tables that are written ---- */

static void read_waves(struct live_watch *watch)
{
    const struct setup *setup = live_session_setup(watch->session);
    memset(watch->publisher->tick.waves, API_WAVE_NONE, watch->publisher->tick.nodes_n);
    for (size_t i = 0; i < setup->instances.count; i++) {
        const struct sm *sm = setup_manager(setup, i);
        const struct manager_page page = watch_page(watch, i);
        if (sm && sm_state(sm) == SM_MASTER)
            manager_page_read_waves(&page, watch->touched, watch->publisher->tick.waves);
    }
}

/* ---- traffic and events ---- */

void watch_read(struct live_watch *watch)
{
    const struct setup *setup = live_session_setup(watch->session);
    struct api_tick *tick = &watch->publisher->tick;
    uint64_t now = live_session_now(watch->session), elapsed = now - watch->view.time;
    const char *halted = live_session_halted(watch->session);
    snprintf(tick->halted, sizeof tick->halted, "%s", halted ? halted : "");
    snprintf(tick->hash, sizeof tick->hash, "%016llx",
             (unsigned long long)fabric_trace_hash(setup->fabric));
    fabric_view_read(&watch->view, now, tick);
    for (uint32_t i = 0; i < tick->nodes_n; i++) /* also those with a duplicate GUID */
        if (tick->nodes[i] == API_NODE_UP && setup->silent[i])
            tick->nodes[i] = API_NODE_MUTE;
    read_waves(watch);
    fabric_view_read_traffic(&watch->view, setup->fabric, elapsed, &watch->latency, tick);
    watch->latency = (struct fabric_latency){0};
    const struct run_record *record = &watch->session->current->record;
    for (; watch->events_read < record->events.count; watch->events_read++) {
        const struct run_record_event *event = &record->events.items[watch->events_read];
        struct api_event copy = {.t_ns = time_ns_floor(event->time),
                                 .kind = run_record_kind_names[event->kind],
                                 .who = event->who,
                                 .text = event->text,
                                 .node = event->node};
        api_log_add(&watch->publisher->log, &copy);
    }
    watch_read_managers(watch);
    watch_sections(watch);
}

/* ---- paths ---- */

static struct data_path find_path(void *paths, uint32_t source, uint32_t target)
{
    return sim_paths_show(paths, source, target);
}

void watch_put_path(const struct live_watch *watch, uint32_t from, uint32_t to, struct text *out)
{
    path_view_write(&watch->view, &watch->publisher->tick, from, to, find_path,
                    live_session_setup(watch->session)->paths, out);
}
