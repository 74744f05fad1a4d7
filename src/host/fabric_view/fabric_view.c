/* Reads states, loads and totals of the simulator into a tick. The load of a link is the share of
 * time in which its sender was busy, from differences of counters, over a window that is longer if
 * there are fewer packets. Injected faults are shown instead of the states that they cause: a cut
 * cable, not a link that is down. */
#include "host/fabric_view/fabric_view.h"

#include "base/time.h"
#include "console/action.h"

#include <math.h>

enum { PACKETS_PER_LINK = 10 }; /* in the window of the loads, in the mean of the links in use */

static void mark_init(struct fabric_view_mark *mark, size_t ports)
{
    mark->busy_ps = mem_zalloc(ports + 1, sizeof *mark->busy_ps);
    mark->vls = mem_zalloc(ports + 1, 1);
}

static void mark_release(struct fabric_view_mark *mark)
{
    mem_free(mark->busy_ps);
    mem_free(mark->vls);
}

void fabric_view_init(struct fabric_view *view, const struct fabric *fabric)
{
    const struct topology *topology = fabric_topology(fabric);
    size_t ports = topology->ports.count;
    *view = (struct fabric_view){.fabric = fabric, .vls = fabric_vls(fabric)};
    api_links_init(&view->links, topology);
    mark_init(&view->from, ports);
    mark_init(&view->next, ports);
    view->packets = mem_zalloc(ports * view->vls + 1, sizeof *view->packets);
}

void fabric_view_release(struct fabric_view *view)
{
    api_links_release(&view->links);
    mark_release(&view->from);
    mark_release(&view->next);
    mem_free(view->packets);
    *view = (struct fabric_view){0};
}

/* ---- nodes and links ---- */

static bool port_is_active(const struct fabric *fabric, uint32_t port)
{
    return wire_get(fabric_port_info(fabric, port), PORT_INFO_PORT_STATE) == PORT_STATE_ACTIVE;
}

static enum api_link_state link_state(const struct fabric *fabric, uint32_t port)
{
    uint32_t peer = fabric_topology(fabric)->ports.items[port].peer;
    if (fabric_link_is_idle(fabric, port))
        return API_LINK_NOT_ACTIVE;
    if (!fabric_link_is_up(fabric, port))
        return fabric_link_is_training(fabric, port) ? API_LINK_TRAINING : API_LINK_DOWN;
    return port_is_active(fabric, port) && port_is_active(fabric, peer) ? API_LINK_ACTIVE
                                                                        : API_LINK_NOT_ACTIVE;
}

static const struct {
    uint8_t node, link;
} fault_states[FAULT_STATES] = {
    [FAULT_CUT] = {.link = API_LINK_CUT},
    [FAULT_LOSSY] = {.link = API_LINK_LOSSY},
    [FAULT_BIT_ERRORS] = {.link = API_LINK_ERRORS},
    [FAULT_DOWN] = {.node = API_NODE_DOWN},
    [FAULT_MUTE] = {.node = API_NODE_MUTE},
    [FAULT_SLOW] = {.node = API_NODE_SLOW},
    [FAULT_DEGRADED] = {API_NODE_DEGRADED, API_LINK_DEGRADED},
};

/* A fault takes the place of the state that it causes, but not of a worse one. */
static void read_fault(const struct fabric_view *view, const struct fabric_fault *fault,
                       struct api_tick *tick)
{
    enum fault_state state = action_rows[fault->kind].lasting.state;
    if (fault->node != TOPOLOGY_NONE && tick->nodes[fault->node] == API_NODE_UP)
        tick->nodes[fault->node] = fault_states[state].node;
    if (fault->port == TOPOLOGY_NONE || !fault_states[state].link)
        return;
    uint8_t *link = &tick->links[view->links.of_port[fault->port]];
    if (state == FAULT_CUT ||
        (*link != API_LINK_DOWN && *link != API_LINK_TRAINING && *link != API_LINK_CUT))
        *link = fault_states[state].link;
}

/* ---- figures of a direction of a link ---- */

static unsigned percent(uint64_t part, uint64_t whole)
{
    uint64_t value = whole ? (100 * part + whole / 2) / whole : 0;
    return value > 100 ? 100 : (unsigned)value;
}

/* Returns how many packets the direction has carried since the last reading. */
static uint64_t read_direction(struct fabric_view *view, uint32_t port, size_t direction,
                               struct api_tick *tick)
{
    const struct fabric *fabric = view->fabric;
    uint32_t peer = fabric_topology(fabric)->ports.items[port].peer;
    uint64_t carried = 0, fullest = 0;
    unsigned used = 0;
    for (unsigned vl = 0; vl < view->vls; vl++) {
        struct vl_view now = fabric_vl(fabric, port, vl);
        uint64_t *packets = &view->packets[(size_t)port * view->vls + vl];
        uint64_t waiting = now.output_bytes + fabric_vl(fabric, peer, vl).input_bytes;
        used |= now.sent_packets != *packets && vl < 8 ? 1u << vl : 0;
        carried += now.sent_packets - *packets;
        *packets = now.sent_packets;
        fullest = waiting > fullest ? waiting : fullest;
    }
    uint64_t room = fabric_vl_room_bytes(fabric, port) + fabric_vl_room_bytes(fabric, peer);
    tick->wait[direction] = (uint8_t)percent(fullest, room);
    view->from.vls[port] |= (uint8_t)used;
    view->next.vls[port] |= (uint8_t)used;
    return carried;
}

/* The port that sends in a direction of a link: two for each, as in a tick. */
static uint32_t sender(const struct fabric_view *view, size_t direction)
{
    uint32_t port = view->links.ports[direction / 2];
    return direction % 2 ? fabric_topology(view->fabric)->ports.items[port].peer : port;
}

static void set_mark(const struct fabric_view *view, uint64_t now, struct fabric_view_mark *mark)
{
    for (size_t d = 0; d < 2 * (size_t)view->links.count; d++) {
        uint32_t port = sender(view, d);
        mark->busy_ps[port] = fabric_busy_ps(view->fabric, port);
        mark->vls[port] = 0;
    }
    mark->time = now;
    mark->packets = 0;
}

/* Two marks, so that the window moves on while it stays long enough. */
static void read_loads(struct fabric_view *view, uint64_t now, uint64_t carried,
                       struct api_tick *tick)
{
    size_t directions = 2 * (size_t)view->links.count;
    uint64_t needed = 0, window = now - view->from.time;
    for (size_t d = 0; d < directions; d++)
        needed += view->from.vls[sender(view, d)] ? PACKETS_PER_LINK : 0;
    view->from.packets += carried;
    view->next.packets += carried;
    if (carried)
        view->carried = now;
    bool enough = view->from.packets >= needed;
    for (size_t d = 0; d < directions && window; d++) {
        uint32_t port = sender(view, d);
        uint64_t busy = fabric_busy_ps(view->fabric, port) - view->from.busy_ps[port];
        tick->load[d] = enough ? (uint8_t)percent(busy, window) : tick->load[d];
        tick->vl[d] = view->from.vls[port];
    }
    if (enough || view->from.time == view->next.time) /* since it was idle */
        tick->window_ns = enough ? time_ns_floor(window) : 0;
    /* Traffic has ended if the second half of the window had none. */
    if (enough && now - view->carried >= window / 2) {
        set_mark(view, now, &view->from);
        set_mark(view, now, &view->next);
    } else if (enough && view->next.packets >= needed) {
        struct fabric_view_mark spent = view->from;
        view->from = view->next;
        view->next = spent;
        set_mark(view, now, &view->next);
    }
}

void fabric_view_read(struct fabric_view *view, uint64_t now, struct api_tick *tick)
{
    const struct topology_port *ports = fabric_topology(view->fabric)->ports.items;
    struct fabric_totals totals;
    const struct fabric_faults *faults = fabric_faults(view->fabric);
    uint64_t carried = 0;
    fabric_totals(view->fabric, &totals);
    tick->smps = totals.smps_sent;
    tick->t_ns = time_ns_floor(now);
    for (uint32_t i = 0; i < tick->nodes_n; i++)
        tick->nodes[i] = fabric_node_is_up(view->fabric, i) ? API_NODE_UP : API_NODE_DOWN;
    for (uint32_t i = 0; i < view->links.count; i++) {
        uint32_t port = view->links.ports[i], peer = ports[port].peer;
        tick->links[i] = (uint8_t)link_state(view->fabric, port);
        tick->errors[i] = port_counters_link_errors(fabric_counters(view->fabric, port)->total,
                                                    fabric_counters(view->fabric, peer)->total);
        carried += read_direction(view, port, 2 * (size_t)i, tick);
        carried += read_direction(view, peer, 2 * (size_t)i + 1, tick);
    }
    read_loads(view, now, carried, tick);
    for (size_t i = 0; i < faults->count; i++)
        read_fault(view, &faults->items[i], tick);
    view->time = now;
}

/* ---- traffic ---- */

void fabric_view_read_traffic(struct fabric_view *view, struct fabric *fabric, uint64_t elapsed,
                              const struct fabric_latency *latency, struct api_tick *tick)
{
    struct data_totals totals;
    struct json json = {.out = api_tick_section(tick, API_TRAFFIC)};
    double count = (double)latency->delivered;
    fabric_data_totals(fabric, &totals);
    if (elapsed) {
        uint64_t bytes = totals.delivered_bytes - view->totals.delivered_bytes;
        tick->throughput = (double)bytes * 8 / time_seconds((double)elapsed);
        tick->latency = latency->delivered ? (double)latency->sum_ps / count / TIME_NS : NAN;
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
                latency->delivered ? (double)latency->most_ps / TIME_NS : NAN);
    json_unsigned(&json, "deadlocks", totals.deadlocks);
    json_end_object(&json);
    view->totals = totals;
}
