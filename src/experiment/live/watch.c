#include "experiment/live/watch.h"

#include "base/time.h"

#include <math.h>

/* ---- packets ---- */

static void note_delivered(void *context, uint64_t now, const struct packet_view *packet)
{
    struct watch *watch = context;
    uint64_t latency = now - packet->made;
    watch->latency.delivered++;
    watch->latency.sum_ps += latency;
    if (latency > watch->latency.most_ps)
        watch->latency.most_ps = latency;
}

/* ---- begin and end ---- */

void watch_init(struct watch *watch, struct api_publisher *publisher)
{
    *watch = (struct watch){.publisher = publisher,
                            .observer = {.context = watch, .delivered = note_delivered}};
}

static void release_run(struct watch *watch)
{
    fabric_view_release(&watch->view);
    mem_free(watch->touched);
    problems_release(&watch->problems);
    watch->problems = (struct problems){0};
}

void watch_begin(struct watch *watch, const struct live_session *session)
{
    const struct topology *topology = &live_session_setup(session)->topology;
    size_t nodes = topology->nodes.count;
    release_run(watch);
    watch->session = session;
    fabric_view_init(&watch->view, live_session_setup(session)->fabric);
    api_log_release(&watch->publisher->log);
    api_publisher_begin(watch->publisher, topology, &watch->view.links, session->generation);
    watch->touched = mem_zalloc(nodes + 1, sizeof *watch->touched);
    watch->events_read = 0;
    watch->latency = (struct fabric_latency){0};
    watch->deadlock_since = TIME_NEVER;
}

void watch_release(struct watch *watch)
{
    release_run(watch);
}

/* ---- tables that are written ---- */

static void read_manager_tables(struct watch *watch, const struct sm *sm)
{
    const struct setup *setup = live_session_setup(watch->session);
    const struct subnet *subnet = sm_subnet(sm);
    bool idle = sm_progress(sm).phase == SM_PHASE_IDLE;
    for (uint32_t i = 0; i < subnet->nodes.count; i++) {
        const struct subnet_node *entry = &subnet->nodes.items[i];
        uint32_t node = entry->kind == SUBNET_SWITCH && entry->present
                            ? api_node_of(&setup->topology, entry->guid)
                            : TOPOLOGY_NONE;
        if (node == TOPOLOGY_NONE)
            continue;
        enum sm_table_progress progress = sm_table_progress(sm, i);
        watch->touched[node] = !idle && (watch->touched[node] || progress != SM_TABLE_IN_FORCE);
        watch->publisher->tick.waves[node] = progress == SM_TABLE_WAITS     ? API_WAVE_WAITS
                                             : progress == SM_TABLE_WRITTEN ? API_WAVE_WRITTEN
                                             : watch->touched[node]         ? API_WAVE_CONFIRMED
                                                                            : API_WAVE_NONE;
    }
}

static void read_waves(struct watch *watch)
{
    const struct setup *setup = live_session_setup(watch->session);
    memset(watch->publisher->tick.waves, API_WAVE_NONE, watch->publisher->tick.nodes_n);
    for (size_t i = 0; i < setup->instances.count; i++) {
        const struct sm *sm = setup_manager(setup, i);
        if (sm && sm_state(sm) == SM_MASTER)
            read_manager_tables(watch, sm);
    }
}

/* ---- traffic and events ---- */

static void read_events(struct watch *watch)
{
    const struct run_record *record = &watch->session->current->record;
    for (; watch->events_read < record->events.count; watch->events_read++) {
        const struct run_record_event *event = &record->events.items[watch->events_read];
        struct api_event copy = {.t_ns = time_ns_floor(event->time),
                                 .kind = run_record_kind_names[event->kind],
                                 .who = (char *)(uintptr_t)event->who,
                                 .text = (char *)(uintptr_t)event->text,
                                 .node = event->node};
        api_log_add(&watch->publisher->log, &copy);
    }
}

void watch_read(struct watch *watch)
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
    read_events(watch);
    watch_sections(watch);
}
