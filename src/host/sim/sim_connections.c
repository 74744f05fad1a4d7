/* Drives the transport layers of simulated adapters: posts messages, passes packets between them
 * and the fabric, and measures what a connection sees.
 *
 * Two neighbouring ports of a node, 1 and 2 or 3 and 4, are one adapter: a connection can have its
 * alternate path on the other one.
 *
 * Messages have a length and no bytes. UC and UD give their sender no acknowledgement: their
 * messages carry their number as immediate data, by which the receiver knows which ones are lost.
 *
 * sim_cm.c sets connections up by messages, where that is wanted; sim_connections_paths.c finds
 * paths and partitions. Not modelled: packets from an adapter to itself. */
#include "host/sim/sim_connections_internal.h"
#include "sma/sma.h"

#include <assert.h>
#include <errno.h>

/* Of UC and UD, the messages on the way whose times are known; of later ones the latency is not
 * measured. A power of two. */
enum { RING = 4096, ADDRESS = 0 };

/* The number of a port of the fabric in the transport layer of its adapter. */
unsigned number_in_adapter(const struct sim_connections *connections, uint32_t port)
{
    const struct topology *topology = fabric_topology(connections->fabric);
    uint32_t node = topology->ports.items[port].node;
    return (port - topology->nodes.items[node].first_port - 1) % TRANSPORT_PORTS_MAX + 1;
}

static bool is_reliable(const struct connection *connection)
{
    return connection->view.config.service == TRANSPORT_RC;
}

/* Whether messages need receive requests. */
static bool needs_receives(const struct connection_config *config)
{
    return config->service != TRANSPORT_RC || config->operation == CONNECTION_SEND ||
           config->operation == CONNECTION_SEND_IMMEDIATE ||
           config->operation == CONNECTION_WRITE_IMMEDIATE;
}

/* ---- progress ---- */

static void note_progress(struct connection *connection, uint64_t at)
{
    uint64_t gap = at > connection->progress_ps ? at - connection->progress_ps : 0;
    if (gap > connection->view.longest_ps)
        connection->view.longest_ps = gap;
    connection->progress_ps = at;
    connection->resumes = false;
}

static void complete(struct sim_connections *connections, uint32_t number, uint64_t message)
{
    struct connection *connection = &connections->connections.items[number];
    uint64_t now = sim_now(connections->sim);
    connection->view.completed++;
    connection->view.completed_bytes += connection->view.config.message_bytes;
    connection->view.last_ps = now;
    note_progress(connection, now);
    if (connections->listener.completed && connection->view.posted - message <= connection->ring)
        connections->listener.completed(connections->listener.context, now, number,
                                        now - connection->posted_ps[message % connection->ring]);
}

/* ---- work ---- */

static void post_receive(struct sim_connections *connections, uint32_t number)
{
    const struct connection *connection = &connections->connections.items[number];
    const struct adapter *adapter = &connections->adapters.items[connection->adapters[1]];
    struct transport_segment segment = {
        .address = ADDRESS,
        .bytes = connection->view.config.message_bytes +
                 (connection->view.config.service == TRANSPORT_UD ? TRANSPORT_GRH_ROOM : 0),
        .key = adapter->key};
    struct transport_receive_work work = {.id = number, .segment_count = 1, .segments = &segment};
    transport_post_receive(adapter->transport, connection->qps[1], &work);
}

static int post_message(struct sim_connections *connections, uint32_t number)
{
    static const uint8_t operations[2][CONNECTION_OPERATIONS] = {
        {WORK_SEND, WORK_WRITE, WORK_READ, WORK_SEND_IMMEDIATE, WORK_WRITE_IMMEDIATE,
         WORK_COMPARE_SWAP, WORK_FETCH_ADD},
        {WORK_SEND_IMMEDIATE, WORK_WRITE_IMMEDIATE, WORK_READ, WORK_SEND_IMMEDIATE,
         WORK_WRITE_IMMEDIATE},
    };
    struct connection *connection = &connections->connections.items[number];
    const struct connection_config *config = &connection->view.config;
    const struct adapter *own = &connections->adapters.items[connection->adapters[0]];
    struct transport_segment segment = {ADDRESS, config->message_bytes, own->key};
    struct transport_work work = {
        .id = number,
        .operation = operations[!is_reliable(connection)][config->operation],
        .flags = WORK_SIGNALED,
        .segment_count = 1,
        .segments = &segment,
        .immediate = (uint32_t)connection->view.posted,
        .r_key = connection->r_key,
        .address = ADDRESS,
        .path = &connection->path,
        .dest_qp = connection->qps[1],
        .q_key = connection->q_key,
    };
    if (connection->view.posted == connection->sent && !connection->resumes) /* it was idle */
        connection->progress_ps = sim_now(connections->sim);
    connection->posted_ps[connection->view.posted % connection->ring] = sim_now(connections->sim);
    int status = transport_post_send(own->transport, connection->qps[0], &work);
    connection->view.posted += status == 0;
    return status;
}

static void post_messages(struct sim_connections *connections, uint32_t number)
{
    struct connection *connection = &connections->connections.items[number];
    const struct connection_config *config = &connection->view.config;
    uint64_t now = sim_now(connections->sim);
    while (!connection->view.broken && connection->view.posted < config->messages &&
           connection->view.posted - connection->sent < config->outstanding &&
           now >= connection->next_ps && post_message(connections, number) == 0) {
        if (!config->every_ps)
            continue;
        connection->next_ps = (config->keeps_rate ? connection->next_ps : now) + config->every_ps;
        if (connection->next_ps > now)
            fabric_call_transport(connections->fabric, config->from, connection->next_ps);
    }
}

/* It will begin anew: what the QP has counted is kept. */
static void connection_break(struct sim_connections *connections, uint32_t number)
{
    struct connection *connection = &connections->connections.items[number];
    struct adapter *adapter = &connections->adapters.items[connection->adapters[0]];
    struct transport_qp_view qp;
    if (transport_query_qp(adapter->transport, connection->qps[0], &qp) == 0) {
        connection->view.timeouts += qp.timeouts;
        connection->view.sequence_naks += qp.sequence_naks;
        connection->view.rnr_naks += qp.rnr_naks;
        connection->view.resent_packets += qp.resent_packets;
    }
    connection->retry_ps = sim_now(connections->sim) + connection->view.config.reconnect_ps;
    vec_push(&adapter->broken, number);
    fabric_call_transport(connections->fabric, connection->view.config.from, connection->retry_ps);
}

static void end_send(struct sim_connections *connections,
                     const struct transport_completion *completion)
{
    uint32_t number = (uint32_t)completion->id;
    struct connection *connection = &connections->connections.items[number];
    if (completion->status != STATUS_SUCCESS) {
        if (connection->view.broken)
            return; /* flushed */
        connection->view.broken = true;
        connection->view.status = completion->status;
        connection->view.broken_ps = sim_now(connections->sim);
        if (connection->view.config.reconnect_ps) {
            connection_break(connections, number);
            return;
        }
        note_progress(connection, connection->view.broken_ps);
        if (connection->cm_ids[0])
            sim_cm_release(connections->cm, number);
        return;
    }
    uint64_t message = connection->sent++;
    if (is_reliable(connection))
        complete(connections, number, message);
    post_messages(connections, number);
    if (connection->cm_ids[0] && connection->sent == connection->view.config.messages)
        sim_cm_release(connections->cm, number);
}

static void end_receive(struct sim_connections *connections,
                        const struct transport_completion *completion)
{
    uint32_t number = (uint32_t)completion->id;
    struct connection *connection = &connections->connections.items[number];
    if (completion->status != STATUS_SUCCESS)
        return;
    post_receive(connections, number);
    if (is_reliable(connection))
        return;
    uint64_t message =
        connection->expected + (uint32_t)(completion->immediate - (uint32_t)connection->expected);
    connection->view.lost += message - connection->expected;
    connection->expected = message + 1;
    complete(connections, number, message);
}

/* ---- adapters ---- */

static uint32_t requester_at(const struct adapter *adapter, uint32_t qp)
{
    return qp < adapter->requesters.count ? adapter->requesters.items[qp] : MAP_NONE;
}

static void note_event(struct sim_connections *connections, const struct adapter *adapter,
                       const struct transport_event *event)
{
    uint32_t number =
        event->kind == EVENT_MIGRATED ? requester_at(adapter, event->object) : MAP_NONE;
    if (number == MAP_NONE)
        return; /* a failed QP is known by its completions */
    struct connection *connection = &connections->connections.items[number];
    connection->view.migrations++;
    connection->view.migrated_ps = sim_now(connections->sim);
    if (connection->cm_ids[0])
        sim_cm_migrated(connections->cm, number);
    if (connections->listener.migrated)
        connections->listener.migrated(connections->listener.context, connection->view.migrated_ps,
                                       number);
}

/* Takes what the transport layer gives out, except packets. */
static void drain(struct sim_connections *connections, struct adapter *adapter)
{
    struct transport_completion completion;
    struct transport_event event;
    struct transport_violation violation;
    while (transport_poll(adapter->transport, adapter->send_cq, &completion))
        end_send(connections, &completion);
    while (transport_poll(adapter->transport, adapter->receive_cq, &completion))
        end_receive(connections, &completion);
    while (transport_next_event(adapter->transport, &event))
        note_event(connections, adapter, &event);
    while (transport_next_violation(adapter->transport, &violation)) {
        struct sma_key_violation report = {.key = violation.key,
                                           .sl = violation.sl,
                                           .slid = violation.slid,
                                           .dlid = violation.dlid,
                                           .src_qp = violation.source_qp,
                                           .dest_qp = violation.dest_qp};
        uint32_t port = adapter->ports[violation.port - 1];
        if (violation.q_key)
            fabric_report_q_key(connections->fabric, port, &report);
        else
            fabric_report_p_key(connections->fabric, port, &report);
    }
}

/* After the transport layer was fed. */
static void serve(struct sim_connections *connections, struct adapter *adapter)
{
    drain(connections, adapter);
    for (unsigned i = 0; i < TRANSPORT_PORTS_MAX; i++)
        if (transport_ready(adapter->transport, i + 1))
            fabric_offer_transport(connections->fabric, adapter->ports[i]);
    uint64_t deadline = transport_deadline(adapter->transport);
    if (deadline < adapter->wake) {
        uint64_t now = sim_now(connections->sim);
        adapter->wake = deadline > now ? deadline : now;
        fabric_call_transport(connections->fabric, adapter->ports[0], adapter->wake);
    }
}

static struct adapter *adapter_at(struct sim_connections *connections, uint32_t port)
{
    uint32_t number = connections->adapter_of[port];
    return number == MAP_NONE ? NULL : &connections->adapters.items[number];
}

static bool next_packet(void *context, uint64_t now, uint32_t port, uint16_t service_levels,
                        struct transport_packet *packet)
{
    struct sim_connections *connections = context;
    struct adapter *adapter = adapter_at(connections, port);
    if (!adapter ||
        !transport_next_packet(adapter->transport, now, number_in_adapter(connections, port),
                               service_levels, packet))
        return false;
    drain(connections, adapter); /* sends of UC and UD complete when their last packet leaves */
    return true;
}

static void packet_arrived(void *context, uint64_t now, uint32_t port,
                           const struct transport_packet *packet)
{
    struct sim_connections *connections = context;
    struct adapter *adapter = adapter_at(connections, port);
    struct transport_qp_view view;
    if (!adapter)
        return;
    transport_receive(adapter->transport, now, number_in_adapter(connections, port), packet);
    uint32_t number = requester_at(adapter, packet->dest_qp);
    if (number != MAP_NONE && transport_query_qp(adapter->transport, packet->dest_qp, &view) == 0 &&
        view.progress_ps == now)
        note_progress(&connections->connections.items[number], now);
    serve(connections, adapter);
}

static void connections_resume(struct sim_connections *connections, struct adapter *adapter,
                               uint64_t now);

static void adapter_due(void *context, uint64_t now, uint32_t port)
{
    struct sim_connections *connections = context;
    struct adapter *adapter = adapter_at(connections, port);
    if (!adapter)
        return;
    if (adapter->wake <= now)
        adapter->wake = TIME_NEVER;
    if (transport_deadline(adapter->transport) <= now)
        transport_expire(adapter->transport, now);
    for (size_t i = 0; i < adapter->paced.count; i++)
        post_messages(connections, adapter->paced.items[i]);
    serve(connections, adapter);
    connections_resume(connections, adapter, now);
}

/* Entries behind the last one of a table are not stored. */
static void set_p_keys(const struct sim_connections *connections, struct adapter *adapter,
                       uint32_t port, unsigned number)
{
    uint16_t keys[PORT_P_KEYS];
    unsigned count = fabric_p_keys(connections->fabric, port, keys, PORT_P_KEYS);
    while (count > 0 && keys[count - 1] == 0)
        count--;
    for (unsigned i = 0; i < count || i < adapter->p_keys[number - 1]; i++)
        transport_set_p_key(adapter->transport, number, i, i < count ? keys[i] : 0);
    adapter->p_keys[number - 1] = (uint16_t)count;
}

/* The transport layer sends while its port has a LID; the port discards what it cannot send. */
static void set_port(struct sim_connections *connections, struct adapter *adapter, uint32_t port)
{
    const uint8_t *info = fabric_port_info(connections->fabric, port);
    unsigned number = number_in_adapter(connections, port);
    set_p_keys(connections, adapter, port, number);
    struct transport_port state = {
        .lid = (uint16_t)wire_get(info, PORT_INFO_LID),
        .lmc = (uint8_t)wire_get(info, PORT_INFO_LMC),
        .mtu = (uint16_t)fabric_transport_mtu(connections->fabric),
        .active = wire_get(info, PORT_INFO_LID) != 0,
    };
    transport_set_port(adapter->transport, number, &state);
    if (wire_get(info, PORT_INFO_PORT_STATE) == PORT_STATE_DOWN)
        transport_lose_link(adapter->transport, number);
}

static void port_changed(void *context, uint64_t now, uint32_t port)
{
    struct sim_connections *connections = context;
    struct adapter *adapter = adapter_at(connections, port);
    (void)now;
    if (!adapter)
        return;
    set_port(connections, adapter, port);
    serve(connections, adapter);
}

void connection_find_ports(const struct sim_connections *connections, uint32_t port,
                           uint32_t ports[TRANSPORT_PORTS_MAX])
{
    const struct topology *topology = fabric_topology(connections->fabric);
    const struct topology_node *node = &topology->nodes.items[topology->ports.items[port].node];
    uint32_t first = port - number_in_adapter(connections, port) + 1;
    for (uint32_t i = 0; i < TRANSPORT_PORTS_MAX; i++)
        ports[i] = first + i <= node->first_port + node->port_count ? first + i : MAP_NONE;
}

uint32_t find_adapter(struct sim_connections *connections, uint32_t port)
{
    struct transport_config config;
    if (connections->adapter_of[port] != MAP_NONE)
        return connections->adapter_of[port];
    struct adapter adapter = {.sends = 1, .receives = 1, .wake = TIME_NEVER};
    connection_find_ports(connections, port, adapter.ports);
    transport_config_init(&config);
    config.ports = TRANSPORT_PORTS_MAX;
    adapter.transport = transport_new(&config);
    adapter.domain = transport_add_domain(adapter.transport);
    struct transport_region region = {.domain = adapter.domain,
                                      .rights = RIGHT_LOCAL_WRITE | RIGHT_REMOTE_WRITE |
                                                RIGHT_REMOTE_READ | RIGHT_REMOTE_ATOMIC,
                                      .start = ADDRESS,
                                      .bytes = 2 * (uint64_t)TRANSPORT_MESSAGE_MAX};
    int status = transport_add_region(adapter.transport, &region, &adapter.key);
    assert(status == 0);
    status = transport_add_cq(adapter.transport, adapter.sends, &adapter.send_cq);
    assert(status == 0);
    status = transport_add_cq(adapter.transport, adapter.receives, &adapter.receive_cq);
    assert(status == 0);
    (void)status;
    for (unsigned i = 0; i < TRANSPORT_PORTS_MAX && adapter.ports[i] != MAP_NONE; i++) {
        set_port(connections, &adapter, adapter.ports[i]);
        connections->adapter_of[adapter.ports[i]] = (uint32_t)connections->adapters.count;
    }
    vec_push(&connections->adapters, adapter);
    return connections->adapter_of[port];
}

/* ---- connections ---- */

struct sim_connections *sim_connections_new(struct sim *sim, struct fabric *fabric,
                                            struct sim_paths *paths)
{
    struct sim_connections *connections = mem_zalloc(1, sizeof *connections);
    size_t ports = fabric_topology(fabric)->ports.count;
    connections->sim = sim;
    connections->fabric = fabric;
    connections->paths = paths;
    connections->adapter_of = mem_alloc((ports + 1) * sizeof *connections->adapter_of);
    for (size_t i = 0; i < ports; i++)
        connections->adapter_of[i] = MAP_NONE;
    fabric_set_transport(fabric, &(struct data_transport){.context = connections,
                                                          .next_packet = next_packet,
                                                          .arrived = packet_arrived,
                                                          .due = adapter_due,
                                                          .port_changed = port_changed});
    return connections;
}

void sim_connections_free(struct sim_connections *connections)
{
    if (!connections)
        return;
    for (size_t i = 0; i < connections->adapters.count; i++) {
        transport_free(connections->adapters.items[i].transport);
        vec_release(&connections->adapters.items[i].requesters);
        vec_release(&connections->adapters.items[i].paced);
        vec_release(&connections->adapters.items[i].broken);
    }
    for (size_t i = 0; i < connections->connections.count; i++)
        mem_free(connections->connections.items[i].posted_ps);
    sim_cm_free(connections->cm);
    vec_release(&connections->adapters);
    vec_release(&connections->connections);
    mem_free(connections->adapter_of);
    mem_free(connections);
}

void sim_connections_listen(struct sim_connections *connections,
                            const struct connection_listener *listener)
{
    connections->listener = *listener;
}

void sim_connections_use_clients(struct sim_connections *connections, struct sim_clients *clients)
{
    connections->clients = clients;
}

void connection_add_qp(struct sim_connections *connections, struct connection *connection,
                       unsigned end)
{
    struct adapter *adapter = &connections->adapters.items[connection->adapters[end]];
    const struct connection_config *config = &connection->view.config;
    uint32_t requests = config->outstanding;
    struct transport_qp_init init = {.service = config->service,
                                     .domain = adapter->domain,
                                     .send_cq = adapter->send_cq,
                                     .receive_cq = adapter->receive_cq,
                                     .srq = TRANSPORT_NONE,
                                     .sends = requests,
                                     .receives = requests};
    adapter->sends += requests;
    adapter->receives += requests;
    int status = transport_resize_cq(adapter->transport, adapter->send_cq, adapter->sends);
    assert(status == 0);
    status = transport_resize_cq(adapter->transport, adapter->receive_cq, adapter->receives);
    assert(status == 0);
    status = transport_add_qp(adapter->transport, &init, &connection->qps[end]);
    assert(status == 0);
    (void)status;
}

int connection_bring_up(struct sim_connections *connections, const struct connection *connection,
                        unsigned end, const struct transport_path *path, unsigned from, unsigned to,
                        struct err *err)
{
    const struct connection_config *config = &connection->view.config;
    const struct adapter *adapter = &connections->adapters.items[connection->adapters[end]];
    struct transport_qp_attributes attributes = {
        .access = RIGHT_REMOTE_WRITE | RIGHT_REMOTE_READ | RIGHT_REMOTE_ATOMIC,
        .port = path->port,
        .p_key_index = connection->p_key_indexes[end],
        .mtu = (uint16_t)fabric_transport_mtu(connections->fabric),
        .q_key = CONNECTION_Q_KEY,
        .dest_qp = connection->qps[!end],
        .send_psn = connection->psns[end],
        .receive_psn = connection->psns[!end],
        .path = *path,
        .retry_count = config->retry,
        .rnr_retry = 7,
        .timeout = config->timeout,
        .reads = CONNECTION_READS,
        .reads_accepted = CONNECTION_READS,
    };
    int status = 0;
    for (; from < to && !status; from++) {
        uint32_t required, optional;
        transport_transition(config->service, from, from + 1, &required, &optional);
        attributes.state = (uint8_t)(from + 1);
        status =
            transport_modify_qp(adapter->transport, sim_now(connections->sim), connection->qps[end],
                                &attributes, required | ATTRIBUTE_STATE, err);
    }
    return status;
}

/* ---- begin ---- */

void connection_post_receives(struct sim_connections *connections, uint32_t number)
{
    const struct connection_config *config = &connections->connections.items[number].view.config;
    for (uint32_t i = 0; i < config->outstanding && needs_receives(config); i++)
        post_receive(connections, number);
}

void connection_begin(struct sim_connections *connections, uint32_t number)
{
    struct connection *connection = &connections->connections.items[number];
    struct adapter *adapter = &connections->adapters.items[connection->adapters[0]];
    connection->view.stage = CONNECTION_ESTABLISHED;
    connection->view.begun_ps = connection->view.last_ps = connection->progress_ps =
        sim_now(connections->sim);
    while (is_reliable(connection) && adapter->requesters.count <= connection->qps[0])
        vec_push(&adapter->requesters, MAP_NONE);
    if (is_reliable(connection))
        adapter->requesters.items[connection->qps[0]] = number;
    connection->next_ps = connection->view.begun_ps;
    if (connection->view.config.every_ps)
        vec_push(&adapter->paced, number);
    post_messages(connections, number);
    serve(connections, adapter);
}

/* Both ends at once, with what connection management would have negotiated. */
static int set_up(struct sim_connections *connections, uint32_t number,
                  const struct sim_path_pair *pair, struct err *err)
{
    struct connection *connection = &connections->connections.items[number];
    struct transport_path paths[2];
    int status = 0;
    for (unsigned end = 0; end < 2; end++) {
        paths[end] = connection_path(connections, pair, end, connection->view.config.timeout);
        connection_add_qp(connections, connection, end);
    }
    connection->path = paths[0];
    connection->q_key =
        connection->view.config.q_key ? connection->view.config.q_key : CONNECTION_Q_KEY;
    connection->r_key = connections->adapters.items[connection->adapters[1]].key;
    for (unsigned end = 0; end < 2 && !status; end++)
        status = connection_bring_up(connections, connection, end, &paths[end], STATE_RESET,
                                     STATE_RTS, err);
    if (connection->view.config.has_alternate && !status)
        status = connection_load_alternate(connections, connection, err);
    return status;
}

/* Begins a broken connection anew, with new QPs; messages that were not completed are sent again.
 * False: there is no path yet. */
static bool resume(struct sim_connections *connections, uint32_t number)
{
    struct connection *connection = &connections->connections.items[number];
    struct sim_path_pair pair = {0};
    struct err err;
    if (connection_find_paths(connections, connection, &pair, &err))
        return false;
    for (unsigned end = 0; end < 2; end++) {
        struct transport *transport =
            connections->adapters.items[connection->adapters[end]].transport;
        transport_remove_qp(transport, connection->qps[end]);
        connection->psns[end] = (connection->psns[end] + 65537) & TRANSPORT_PSN_MASK;
    }
    if (set_up(connections, number, &pair, &err))
        return false;
    connection->view.broken = false;
    connection->view.posted = connection->sent;
    connection->view.reconnections++;
    connection->resumes = true;
    struct adapter *adapter = &connections->adapters.items[connection->adapters[0]];
    while (adapter->requesters.count <= connection->qps[0])
        vec_push(&adapter->requesters, MAP_NONE);
    adapter->requesters.items[connection->qps[0]] = number;
    if (connections->listener.reconnected)
        connections->listener.reconnected(connections->listener.context, sim_now(connections->sim),
                                          number, connection->view.broken_ps);
    connection_post_receives(connections, number);
    post_messages(connections, number);
    return true;
}

static void connections_resume(struct sim_connections *connections, struct adapter *adapter,
                               uint64_t now)
{
    size_t kept = 0;
    for (size_t i = 0; i < adapter->broken.count; i++) {
        uint32_t number = adapter->broken.items[i];
        struct connection *connection = &connections->connections.items[number];
        if (connection->retry_ps <= now) {
            if (resume(connections, number))
                continue;
            connection->retry_ps = now + connection->view.config.reconnect_ps;
            fabric_call_transport(connections->fabric, connection->view.config.from,
                                  connection->retry_ps);
        }
        adapter->broken.items[kept++] = number;
    }
    if (kept < adapter->broken.count)
        serve(connections, adapter);
    adapter->broken.count = kept;
}

int sim_connections_add(struct sim_connections *connections, const struct connection_config *config,
                        struct err *err)
{
    struct sim_path_pair pair = {0};
    int status = sim_connections_check(connections->fabric, config, err);
    if (status)
        return status;
    uint32_t number = (uint32_t)connections->connections.count;
    uint64_t now = sim_now(connections->sim);
    struct connection new = {.view.config = *config,
                             .view.requested_ps = now,
                             .ring = config->service == TRANSPORT_RC ? config->outstanding : RING};
    if (!config->by_cm)
        status = connection_find_paths(connections, &new, &pair, err);
    if (status)
        return status;
    new.adapters[0] = find_adapter(connections, config->from);
    new.adapters[1] = find_adapter(connections, config->to);
    new.psns[0] = new.psns[1] = (uint32_t)(number * 65537) & TRANSPORT_PSN_MASK;
    new.posted_ps = mem_zalloc(new.ring, sizeof *new.posted_ps);
    vec_push(&connections->connections, new);
    if (config->by_cm) {
        if (!connections->cm)
            connections->cm = sim_cm_new(connections);
        sim_cm_connect(connections->cm, number);
        return 0;
    }
    status = set_up(connections, number, &pair, err);
    if (status) {
        mem_free(new.posted_ps);
        connections->connections.count--;
        return status;
    }
    connection_post_receives(connections, number);
    connection_begin(connections, number);
    return 0;
}
