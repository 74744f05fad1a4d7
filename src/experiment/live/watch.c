#include "experiment/live/watch.h"

#include "base/time.h"
#include "sma/sma.h"

#include <math.h>

/* ---- packets ---- */

static void note_delivered(void *context, uint64_t now, const struct packet_view *packet)
{
    struct watch *watch = context;
    uint64_t latency = now - packet->made;
    watch->delivered++;
    watch->latency_sum += latency;
    if (latency > watch->latency_most)
        watch->latency_most = latency;
}

static void note_lost(void *context, uint64_t now, const struct packet_view *packet,
                      enum loss cause, uint32_t port)
{
    struct watch *watch = context;
    (void)now;
    (void)packet;
    (void)cause;
    if (watch->lost && port < watch->links.port_count)
        watch->lost[port]++;
}

/* ---- begin and end ---- */

void watch_init(struct watch *watch)
{
    *watch = (struct watch){
        .observer = {.context = watch, .delivered = note_delivered, .lost = note_lost}};
}

static void release_run(struct watch *watch)
{
    api_places_release(&watch->places);
    api_links_release(&watch->links);
    api_tick_release(&watch->tick);
    mem_free(watch->busy_ps);
    mem_free(watch->packets);
    mem_free(watch->touched);
    mem_free(watch->lost);
    for (size_t i = 0; i < watch->problems.count; i++)
        mem_free(watch->problems.items[i].text);
    vec_release(&watch->problems);
}

void watch_begin(struct watch *watch, const struct live_session *session)
{
    const struct topology *topology = &live_session_setup(session)->topology;
    size_t ports = topology->ports.count, nodes = topology->nodes.count;
    uint64_t seq = watch->tick.seq;
    release_run(watch);
    watch->session = session;
    api_links_init(&watch->links, topology);
    api_places_init(&watch->places, topology, &watch->links);
    api_tick_init(&watch->tick, (uint32_t)nodes, watch->links.count);
    watch->tick.seq = seq;
    api_log_release(&watch->log);
    watch->vls = fabric_vls(live_session_setup(session)->fabric);
    watch->busy_ps = mem_zalloc(ports + 1, sizeof *watch->busy_ps);
    watch->packets = mem_zalloc(ports * watch->vls + 1, sizeof *watch->packets);
    watch->touched = mem_zalloc(nodes + 1, sizeof *watch->touched);
    watch->lost = mem_zalloc(ports + 1, sizeof *watch->lost);
    watch->events_read = 0;
    watch->time = 0;
    watch->totals = (struct data_totals){0};
    watch->delivered = watch->latency_sum = watch->latency_most = 0;
    watch->deadlock_since = TIME_NEVER;
}

void watch_release(struct watch *watch)
{
    release_run(watch);
    api_log_release(&watch->log);
}

/* ---- nodes and links ---- */

static void read_nodes(struct watch *watch)
{
    const struct setup *setup = live_session_setup(watch->session);
    for (uint32_t i = 0; i < watch->tick.nodes_n; i++)
        watch->tick.nodes[i] = !fabric_node_is_up(setup->fabric, i) ? API_NODE_DOWN
                               : setup->silent[i]                   ? API_NODE_MUTE
                                                                    : API_NODE_UP;
}

static bool port_is_active(const struct fabric *fabric, uint32_t port)
{
    return wire_get(fabric_port_info(fabric, port), PORT_INFO_PORT_STATE) == PORT_STATE_ACTIVE;
}

static enum api_link_state link_state(const struct setup *setup, uint32_t port)
{
    const struct fabric *fabric = setup->fabric;
    const struct topology_port *ports = setup->topology.ports.items;
    uint32_t peer = ports[port].peer;
    if (!fabric_link_is_up(fabric, port))
        return API_LINK_DOWN;
    return port_is_active(fabric, port) && port_is_active(fabric, peer) ? API_LINK_ACTIVE
                                                                        : API_LINK_NOT_ACTIVE;
}

/* Faults override the states that they cause. */
static void read_faults(struct watch *watch)
{
    const struct setup *setup = live_session_setup(watch->session);
    struct fabric_faults faults = {0};
    fabric_list_faults(setup->fabric, &faults);
    for (size_t i = 0; i < faults.items.count; i++) {
        const struct fabric_fault *fault = &faults.items.items[i];
        bool at_port = fault->kind == FABRIC_CABLE_CUT || fault->kind == FABRIC_SMP_LOSS ||
                       fault->kind == FABRIC_BAD_CABLE;
        uint32_t link =
            at_port && fault->at != TOPOLOGY_NONE ? watch->links.of_port[fault->at] : TOPOLOGY_NONE;
        if (fault->kind == FABRIC_AGENT_DELAY && watch->tick.nodes[fault->at] == API_NODE_UP)
            watch->tick.nodes[fault->at] =
                fault->value == TIME_NEVER ? API_NODE_MUTE : API_NODE_SLOW;
        if (link == TOPOLOGY_NONE)
            continue;
        uint8_t *state = &watch->tick.links[link];
        if (fault->kind == FABRIC_CABLE_CUT)
            *state = API_LINK_CUT;
        else if (*state == API_LINK_ACTIVE)
            *state = fault->kind == FABRIC_SMP_LOSS ? API_LINK_LOSSY : API_LINK_ERRORS;
    }
    vec_release(&faults.items);
}

static uint32_t port_errors(const struct watch *watch, uint32_t port)
{
    static const enum sma_counter counters[] = {COUNTER_SYMBOL_ERRORS,   COUNTER_LINK_RECOVERIES,
                                                COUNTER_LINK_DOWNED,     COUNTER_RCV_ERRORS,
                                                COUNTER_LOCAL_INTEGRITY, COUNTER_OVERRUNS};
    const struct sma_counters *values =
        fabric_counters(live_session_setup(watch->session)->fabric, port);
    uint64_t sum = watch->lost[port];
    for (unsigned i = 0; values && i < sizeof counters / sizeof counters[0]; i++)
        sum += values->total[counters[i]];
    return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

/* ---- figures of a direction of a link ---- */

static unsigned percent(uint64_t part, uint64_t whole)
{
    uint64_t value = whole ? (100 * part + whole / 2) / whole : 0;
    return value > 100 ? 100 : (unsigned)value;
}

static void read_direction(struct watch *watch, uint32_t port, size_t direction, uint64_t elapsed)
{
    const struct setup *setup = live_session_setup(watch->session);
    const struct fabric *fabric = setup->fabric;
    uint32_t peer = setup->topology.ports.items[port].peer;
    uint64_t busy = fabric_busy_ps(fabric, port), fullest = 0;
    unsigned used = 0;
    for (unsigned vl = 0; vl < watch->vls; vl++) {
        struct vl_view view = fabric_vl(fabric, port, vl);
        uint64_t *packets = &watch->packets[(size_t)port * watch->vls + vl];
        uint64_t waiting = view.output_bytes + fabric_vl(fabric, peer, vl).input_bytes;
        used |= view.sent_packets != *packets && vl < 8 ? 1u << vl : 0;
        *packets = view.sent_packets;
        fullest = waiting > fullest ? waiting : fullest;
    }
    uint64_t room = fabric_vl_room_bytes(fabric, port) + fabric_vl_room_bytes(fabric, peer);
    if (elapsed) {
        watch->tick.load[direction] = (uint8_t)percent(busy - watch->busy_ps[port], elapsed);
        watch->tick.vl[direction] = (uint8_t)used;
    }
    watch->tick.wait[direction] = (uint8_t)percent(fullest, room);
    watch->busy_ps[port] = busy;
}

static void read_links(struct watch *watch, uint64_t elapsed)
{
    const struct setup *setup = live_session_setup(watch->session);
    for (uint32_t i = 0; i < watch->links.count; i++) {
        uint32_t port = watch->links.ports[i], peer = setup->topology.ports.items[port].peer;
        watch->tick.links[i] = (uint8_t)link_state(setup, port);
        watch->tick.errors[i] = port_errors(watch, port) + port_errors(watch, peer);
        read_direction(watch, port, 2 * (size_t)i, elapsed);
        read_direction(watch, peer, 2 * (size_t)i + 1, elapsed);
    }
}

/* ---- tables that are written ---- */

/* The node of the topology that a node of a manager's subnet is, or TOPOLOGY_NONE. */
static uint32_t find_guid(const struct topology *topology, uint64_t guid)
{
    uint32_t node = map_get(&topology->by_guid, guid);
    return node == MAP_NONE ? TOPOLOGY_NONE : node;
}

static void read_manager_tables(struct watch *watch, const struct sm *sm)
{
    const struct setup *setup = live_session_setup(watch->session);
    const struct subnet *subnet = sm_subnet(sm);
    bool idle = strcmp(sm_progress(sm).phase, "idle") == 0;
    for (uint32_t i = 0; i < subnet->nodes.count; i++) {
        const struct subnet_node *entry = &subnet->nodes.items[i];
        uint32_t node = entry->kind == SUBNET_SWITCH && entry->present
                            ? find_guid(&setup->topology, entry->guid)
                            : TOPOLOGY_NONE;
        if (node == TOPOLOGY_NONE)
            continue;
        enum sm_table_progress progress = sm_table_progress(sm, i);
        watch->touched[node] = !idle && (watch->touched[node] || progress != SM_TABLE_IN_FORCE);
        watch->tick.waves[node] = progress == SM_TABLE_WAITS     ? API_WAVE_WAITS
                                  : progress == SM_TABLE_WRITTEN ? API_WAVE_WRITTEN
                                  : watch->touched[node]         ? API_WAVE_CONFIRMED
                                                                 : API_WAVE_NONE;
    }
}

static void read_waves(struct watch *watch)
{
    const struct setup *setup = live_session_setup(watch->session);
    memset(watch->tick.waves, API_WAVE_NONE, watch->tick.nodes_n);
    for (size_t i = 0; i < setup->instances.count; i++) {
        const struct sm *sm = setup_manager(setup, i);
        if (sm && sm_state(sm) == SM_MASTER)
            read_manager_tables(watch, sm);
    }
}

/* ---- traffic and events ---- */

static void read_traffic(struct watch *watch, uint64_t elapsed)
{
    struct api_tick *tick = &watch->tick;
    struct data_totals totals;
    struct json json = {.out = api_tick_section(tick, API_TRAFFIC)};
    fabric_data_totals(live_session_setup(watch->session)->fabric, &totals);
    if (elapsed) {
        uint64_t bytes = totals.delivered_bytes - watch->totals.delivered_bytes;
        tick->throughput = (double)bytes * 8 / time_seconds((double)elapsed);
        tick->latency = watch->delivered
                            ? (double)watch->latency_sum / (double)watch->delivered / TIME_NS
                            : NAN;
    }
    tick->lost = data_totals_lost(&totals);
    json_begin_object(&json, NULL);
    json_unsigned(&json, "made", totals.made);
    json_unsigned(&json, "delivered", totals.delivered);
    json_unsigned(&json, "travelling", totals.travelling);
    json_unsigned(&json, "waiting", totals.waiting);
    json_unsigned(&json, "unroutable", totals.unroutable);
    json_begin_object(&json, "lost");
    for (unsigned i = 0; i < LOSS_CAUSES; i++)
        if (totals.lost[i])
            json_unsigned(&json, loss_names[i], totals.lost[i]);
    json_end_object(&json);
    json_double(&json, "throughput", tick->throughput);
    json_double(&json, "latency", tick->latency);
    json_double(&json, "latency_max",
                watch->delivered ? (double)watch->latency_most / TIME_NS : NAN);
    json_unsigned(&json, "deadlocks", totals.deadlocks);
    json_end_object(&json);
    watch->totals = totals;
    watch->delivered = watch->latency_sum = watch->latency_most = 0;
}

static void read_events(struct watch *watch)
{
    const struct run_record *record = &watch->session->record;
    for (; watch->events_read < record->events.count; watch->events_read++) {
        const struct run_record_event *event = &record->events.items[watch->events_read];
        uint32_t node = api_place_in(&watch->places, event->text);
        if (node == TOPOLOGY_NONE)
            node = api_place_in(&watch->places, event->who);
        struct api_event copy = {.t_ns = time_ns_floor(event->time),
                                 .kind = run_record_kind_names[event->kind],
                                 .who = (char *)(uintptr_t)event->who,
                                 .text = (char *)(uintptr_t)event->text,
                                 .node = node};
        api_log_add(&watch->log, &copy);
    }
    watch->tick.log_end = api_log_end(&watch->log);
}

void watch_read(struct watch *watch)
{
    const struct setup *setup = live_session_setup(watch->session);
    struct api_tick *tick = &watch->tick;
    struct fabric_totals totals;
    uint64_t now = live_session_now(watch->session), elapsed = now - watch->time;
    const char *halted = live_session_halted(watch->session);
    fabric_totals(setup->fabric, &totals);
    tick->seq++;
    tick->t_ns = time_ns_floor(now);
    tick->smps = totals.smps_sent;
    snprintf(tick->halted, sizeof tick->halted, "%s", halted ? halted : "");
    snprintf(tick->hash, sizeof tick->hash, "%016llx",
             (unsigned long long)fabric_trace_hash(setup->fabric));
    read_nodes(watch);
    read_links(watch, elapsed);
    read_faults(watch);
    read_waves(watch);
    read_traffic(watch, elapsed);
    read_events(watch);
    watch_sections(watch);
    watch->time = now;
}
