/* Adapters: senders put packets into output VLs, receivers take them out, and both are counted.
 *
 * A sender holds the next packet of its traffic. When it is due, the packet enters the output VL of
 * its service level as soon as there is room. Until then the sender waits, and its later packets
 * wait behind it without being drawn. A packet that meets a closed port is lost at once, like one
 * in the fabric. */
#include "fabric/internal.h"

#include <assert.h>
#include <errno.h>

static struct sender *sender_at(struct fabric *fabric, uint32_t number)
{
    return &fabric->data->senders.items[number];
}

/* ---- delivery and loss ---- */

static struct packet_view view_packet(struct data *data, const struct data_packet *data_packet)
{
    const struct sender *sender = &data->senders.items[data_packet->sender];
    bool to_vm = is_vm(data_packet->destination);
    return (struct packet_view){
        .traffic = sender->traffic,
        .source = sender->port,
        .destination = to_vm ? vm_at(data, data_packet->destination)->view.port
                       : data_packet->destination >= DATA_GROUP ? NONE
                                                                : data_packet->destination,
        .from_vm = sender->vm,
        .to_vm = to_vm ? data_packet->destination : NONE,
        .message_bytes = data->traffics.items[sender->traffic].message_bytes,
        .made = data_packet->made,
        .entered = data_packet->entered,
        .payload_bytes = data_packet->payload,
        .bytes = data_packet->bytes,
        .dlid = data_packet->dlid,
        .sl = data_packet->sl,
        .vl = data_packet->vl,
        .hops = data_packet->hops,
        .tries = data_packet->tries};
}

/* As the agent of the port decides, whose table is some cache misses away. */
static bool accepts_p_key(const struct fabric *fabric, const struct port *port, uint16_t p_key)
{
    uint16_t own = switch_core_of(fabric, port)->p_key;
    if ((own & 0x7FFF) && ((own ^ p_key) & 0x7FFF) == 0 && ((own | p_key) & 0x8000))
        return true;
    return sma_accepts_p_key(&fabric->nodes[port->node].sma, port->number, p_key);
}

void data_deliver(struct fabric *fabric, uint32_t number, uint32_t index)
{
    struct data *data = fabric->data;
    const struct data_packet *data_packet = data_packet_at(data, number);
    const struct port *port = &fabric->ports[index];
    bool multicast = lid_is_multicast(data_packet->dlid);
    bool to_vm = is_vm(data_packet->destination);
    bool is_here = (data_packet->dlid & port->lid_mask) == port->lid &&
                   (!to_vm || vm_at(data, data_packet->destination)->view.port == index);
    if (!multicast && !is_here) {
        data_lose(fabric, number, to_vm ? LOSS_MOVED : LOSS_NO_ROUTE, index);
        return;
    }
    if (!accepts_p_key(fabric, port, data_packet->p_key)) {
        data_lose(fabric, number, LOSS_P_KEY, index);
        return;
    }
    if (__builtin_expect(data_packet->hop_limit != 0, 0) &&
        router_forwards(fabric, data_packet, index)) {
        router_forward(fabric, number, index);
        return;
    }
    data->travelling--;
    data->totals.delivered++;
    data->totals.delivered_bytes += data_packet->bytes;
    data->totals.delivered_payload_bytes += data_packet->payload;
    data_trace(data, des_now(fabric->network), data_packet->made, index);
    if (carries_transport(data_packet)) {
        struct transport_packet packet = transport_port_take(fabric, number, index);
        data->transport.arrived(data->transport.context, des_now(fabric->network), index, &packet);
        return;
    }
    if (data->vms.count)
        vm_note_delivered(data, data_packet, des_now(fabric->network));
    if (data->observer.delivered) {
        struct packet_view packet = view_packet(data, data_packet);
        packet.destination = index;
        data->observer.delivered(data->observer.context, des_now(fabric->network), &packet);
    }
    multicast_drop_copy(fabric, data_packet_at(data, number)->multicast);
    pool_give(&data->data_packets, number);
}

/* A reliable packet waits at its sender until the time-out, counted from when it was sent. */
static bool schedule_retry(struct fabric *fabric, uint32_t number)
{
    struct data *data = fabric->data;
    struct data_packet *data_packet = data_packet_at(data, number);
    if (carries_transport(data_packet))
        return false;
    const struct sender *sender = sender_at(fabric, data_packet->sender);
    const struct traffic *traffic = &data->traffics.items[sender->traffic];
    bool multicast = lid_is_multicast(data_packet->dlid); /* unreliable */
    if (!traffic->retry_ps || multicast || !data_packet->dlid ||
        data_packet->tries >= traffic->retries || data_packet->tries == UINT8_MAX)
        return false;
    uint64_t now = des_now(fabric->network), at = data_packet->entered + traffic->retry_ps;
    data_packet->tries++;
    data->retrying++;
    data->totals.retried++;
    des_post(fabric->network, at > now ? at : now,
             (struct event){EVENT_RETRY, data_packet->sender, number});
    return true;
}

void data_lose(struct fabric *fabric, uint32_t number, enum loss cause, uint32_t port)
{
    struct data *data = fabric->data;
    const struct data_packet *data_packet = data_packet_at(data, number);
    data->travelling--;
    if (cause == LOSS_P_KEY) { /* the port that discards the packet sends trap 257 or 259 */
        struct sma_key_violation violation = {
            .dlid = data_packet->dlid,
            .key = data_packet->p_key,
            .sl = data_packet->sl,
        };
        if (carries_transport(data_packet)) {
            const struct transport_packet *packet = carried_packet_of(data, data_packet);
            violation.slid = packet->slid;
            violation.src_qp = packet->src_qp;
            violation.dest_qp = packet->dest_qp;
        } else {
            violation.slid = fabric->ports[sender_at(fabric, data_packet->sender)->port].lid;
        }
        fabric_report_p_key(fabric, port, &violation);
    }
    data_trace(data, des_now(fabric->network), data_packet->made,
               (uint64_t)(cause + 1) << 56 | port);
    if (schedule_retry(fabric, number))
        return;
    data->totals.lost[cause]++;
    if (carries_transport(data_packet)) {
        struct transport_packet packet = transport_port_take(fabric, number, port);
        if (data->transport.lost)
            data->transport.lost(data->transport.context, &packet);
        return;
    }
    if (data->vms.count)
        vm_note_lost(data, data_packet, cause);
    if (data->observer.lost) {
        struct packet_view packet = view_packet(data, data_packet);
        data->observer.lost(data->observer.context, des_now(fabric->network), &packet, cause, port);
    }
    multicast_drop_copy(fabric, data_packet_at(data, number)->multicast);
    pool_give(&data->data_packets, number);
}

/* ---- sending ---- */

/* Queues a sender for an output VL: at the end, or at the front if it was first already. */
static void queue_sender(struct fabric *fabric, uint32_t number, uint32_t port_vl, bool in_front)
{
    struct output_vl *output = &fabric->data->outputs[port_vl];
    struct sender *sender = sender_at(fabric, number);
    sender->waiting_for = port_vl;
    sender->next_waiting = in_front ? output->first_waiting : NONE;
    if (output->first_waiting == NONE)
        output->first_waiting = output->last_waiting = number;
    else if (in_front)
        output->first_waiting = number;
    else
        sender_at(fabric, output->last_waiting)->next_waiting = number;
    if (!in_front)
        output->last_waiting = number;
    link_start_sending(fabric, port_of(fabric, port_vl)); /* schedules the next attempt */
}

static void unqueue_sender(struct fabric *fabric, uint32_t number)
{
    struct sender *sender = sender_at(fabric, number);
    struct output_vl *output = &fabric->data->outputs[sender->waiting_for];
    assert(output->first_waiting != NONE); /* this sender is in the queue */
    uint32_t before = NONE, at = output->first_waiting;
    while (at != number) {
        before = at;
        at = sender_at(fabric, at)->next_waiting;
    }
    if (before == NONE)
        output->first_waiting = sender->next_waiting;
    else
        sender_at(fabric, before)->next_waiting = sender->next_waiting;
    if (output->last_waiting == number)
        output->last_waiting = before;
    sender->waiting_for = NONE;
}

enum outcome { ENTERED, REFUSED, QUEUED, HELD, PASSED };

/* Puts a packet into its VL, or loses it. Queues the sender if there is no room, or if other
 * senders wait for the VL, unless this one was first in its queue (`turn`). */
static enum outcome send_data_packet(struct fabric *fabric, uint32_t number,
                                     uint32_t data_packet_number, uint32_t turn)
{
    struct data *data = fabric->data;
    struct data_packet *data_packet = data_packet_at(data, data_packet_number);
    uint32_t index = sender_at(fabric, number)->port;
    const struct port *port = &fabric->ports[index];
    unsigned sl = data_packet->sl, blocks = blocks_of(data_packet->bytes);
    const struct switch_core *adapter = switch_core_of(fabric, port);
    unsigned vl = adapter->uniform_sl2vl
                      ? adapter->common_sl2vl >> sl * 4 & 15
                      : (unsigned)adapter->sl2vl[port->number][sl / 2] >> (sl % 2 ? 0 : 4) & 15;
    if (!port->open || vl >= port->vls) {
        data->travelling++;
        data_packet->entered = des_now(fabric->network);
        data_lose(fabric, data_packet_number,
                  port->open ? LOSS_NO_VL : cause_of_closed_port(fabric, index), index);
        return REFUSED;
    }
    uint32_t port_vl = port_vl_of(fabric, index, vl);
    struct output_vl *output = output_at(fabric, port_vl);
    bool others_wait = output->first_waiting != NONE && port_vl != turn;
    if (others_wait || !output_vl_has_room(fabric, port_vl, blocks)) {
        queue_sender(fabric, number, port_vl, port_vl == turn);
        return QUEUED;
    }
    data_packet->entered = data_packet->since = data_packet->tail = des_now(fabric->network);
    data_packet->vl = vl & 15;
    data_packet->hops = 0;
    output->used = (uint16_t)(output->used + blocks);
    data->travelling++;
    data->totals.entered++;
    deadlock_watch(fabric);
    output_vl_push(fabric, port_vl, data_packet_number);
    return ENTERED;
}

/* A packet is always ready; it is made when it can be sent. */
static bool is_saturated(const struct traffic *traffic)
{
    return traffic->arrival == ARRIVAL_SATURATED && traffic->pattern != PATTERN_TRACE;
}

/* Receivers are drawn among the active hosts, those to which the sender has a path. The streams of
 * senders do not depend on the fabric, so that these numbers come from hashes. `waits`: the port of
 * the sender has been open and is closed, and the sender makes a packet that is lost there. */
static struct data_path find_active_receiver(struct fabric *fabric, struct sender *sender,
                                             bool *waits)
{
    enum { TRIES = 64 };
    const struct data *data = fabric->data;
    const struct traffic *traffic = &data->traffics.items[sender->traffic];
    const struct port *port = &fabric->ports[sender->port];
    uint64_t random = hash_mix(fabric->seed ^ sender->source.rng.state[0] ^ sender->drawn);
    struct data_path path = {0};
    uint32_t receiver = traffic_redraw(traffic, &sender->source, &sender->next, random);
    *waits = port->active && !port->open && receiver != TRAFFIC_NONE;
    for (unsigned i = 0; i < TRIES && port->active && receiver != TRAFFIC_NONE; i++) {
        path =
            data->paths.find(data->paths.context, sender->port, traffic->receivers.items[receiver]);
        if (path.dlid) {
            sender->next.receiver = sender->source.message.receiver = receiver;
            return path;
        }
        random = hash_mix(random);
        receiver = traffic_redraw(traffic, &sender->source, &sender->next, random);
    }
    return path;
}

/* Makes the next data packet of the sender; NONE if there is no path. */
static uint32_t make_data_packet(struct fabric *fabric, uint32_t number)
{
    struct data *data = fabric->data;
    struct sender *sender = sender_at(fabric, number);
    const struct traffic *traffic = &data->traffics.items[sender->traffic];
    struct data_path path = {0};
    bool waits = false;
    if (data->paths.find)
        path = data->paths.find(data->paths.context, sender->port,
                                traffic->receivers.items[sender->next.receiver]);
    if (!path.dlid && data->paths.find)
        path = find_active_receiver(fabric, sender, &waits);
    if (!path.dlid && !waits)
        return NONE;
    uint32_t destination = traffic->receivers.items[sender->next.receiver];
    uint32_t data_packet_number = data_packet_new(data);
    *data_packet_at(data, data_packet_number) = (struct data_packet){
        .made = !is_saturated(traffic)   ? sender->next.time
                : sender->next.continues ? sender->message_made
                                         : des_now(fabric->network),
        .sender = number,
        .destination = destination,
        .dlid = path.dlid,
        .payload = (uint16_t)sender->next.payload_bytes,
        .bytes = (uint16_t)(sender->next.payload_bytes + DATA_OVERHEAD_BYTES +
                            (path.hop_limit ? WIRE_BYTES_GRH : 0)),
        .p_key = traffic->p_key,
        .sl = (sender->next.sl ? sender->next.sl + path.sl_offset : path.sl) & 15,
        .hop_limit = path.hop_limit && traffic->hop_limit ? traffic->hop_limit : path.hop_limit,
        .multicast = lid_is_multicast(path.dlid) ? multicast_start(fabric) : NONE,
    };
    return data_packet_number;
}

static void draw_next(struct fabric *fabric, struct sender *sender)
{
    const struct traffic *traffic = &fabric->data->traffics.items[sender->traffic];
    uint64_t bytes = sender->next.payload_bytes + DATA_OVERHEAD_BYTES;
    if (traffic->limit_ps_per_8_bytes)
        sender->earliest = des_now(fabric->network) + bytes * traffic->limit_ps_per_8_bytes / 8;
    sender->next = traffic_draw(traffic, &sender->source);
    sender->drawn++;
    sender->over = sender->next.time == TIME_NEVER;
}

static void schedule_sender(struct fabric *fabric, uint32_t number, uint64_t time)
{
    struct sender *sender = sender_at(fabric, number);
    if (sender->scheduled)
        return;
    sender->scheduled = true;
    des_post(fabric->network, time, (struct event){EVENT_SOURCE, number, 0});
}

/* Retries go before new packets. */
static bool offer_retries(struct fabric *fabric, uint32_t number, uint32_t turn)
{
    struct data *data = fabric->data;
    while (sender_at(fabric, number)->retries.head != NONE) {
        uint32_t data_packet = data_packet_pop(data, &sender_at(fabric, number)->retries);
        if (send_data_packet(fabric, number, data_packet, turn) != QUEUED) {
            data->retrying--;
            continue;
        }
        struct sender *sender = sender_at(fabric, number); /* put it back at the front */
        data_packet_at(data, data_packet)->next = sender->retries.head;
        if (sender->retries.head == NONE)
            sender->retries.tail = data_packet;
        sender->retries.head = data_packet;
        if (sender->waiting_for != NONE)
            return false;
        turn = NONE; /* its turn passed while it was queued again */
    }
    return true;
}

enum {
    HELD_MOST = 1 << 16, /* packets of one sender that static rate control holds */
    PASSED_MOST = 64,    /* packets that a saturated sender skips before it waits */
};

/* The path of the packet takes none before `free_at`. The packet waits at its sender, as in the
 * send queue of a queue pair, and later packets to other receivers pass it. A saturated sender,
 * which always has a packet for each receiver, draws another one instead. HELD: go on with the
 * next. */
static enum outcome hold_data_packet(struct fabric *fabric, uint32_t number, uint32_t data_packet,
                                     uint64_t *free_at, uint64_t interval)
{
    struct data *data = fabric->data;
    struct sender *sender = sender_at(fabric, number);
    const struct traffic *traffic = &data->traffics.items[sender->traffic];
    bool passes = is_saturated(traffic) && !traffic->message_bytes;
    if (passes ? ++sender->passed > PASSED_MOST : sender->held == HELD_MOST) {
        pool_give(&data->data_packets, data_packet); /* it is made again at that time */
        sender->passed = 0;
        schedule_sender(fabric, number, *free_at);
        return QUEUED;
    }
    if (passes) {
        pool_give(&data->data_packets, data_packet);
        return PASSED;
    }
    sender->held++;
    data->retrying++;
    des_post(fabric->network, *free_at, (struct event){EVENT_RETRY, number, data_packet});
    *free_at += interval;
    return HELD;
}

/* Whether the next packet has been read from memory. If not, the sender comes back then. */
static bool fetch_packet(struct fabric *fabric, uint32_t number)
{
    struct sender *sender = sender_at(fabric, number);
    const struct port *port = &fabric->ports[sender->port];
    if (!switch_core_of(fabric, port)->has_bus)
        return true;
    if (!sender->fetched)
        sender->fetched = host_bus_read(fabric, sender->port, sender->next.payload_bytes,
                                        !sender->next.continues);
    if (sender->fetched > des_now(fabric->network)) {
        schedule_sender(fabric, number, sender->fetched);
        return false;
    }
    return true;
}

/* Sends one new packet that is due. False: nothing more can be sent now. */
static bool offer_next(struct fabric *fabric, uint32_t number, uint32_t turn)
{
    struct data *data = fabric->data;
    struct sender *sender = sender_at(fabric, number);
    const struct traffic *traffic = &data->traffics.items[sender->traffic];
    uint64_t now = des_now(fabric->network);
    sender->over |= is_saturated(traffic) && now >= traffic->stop_ps;
    if (sender->over || data->stopped.items[sender->traffic])
        return false;
    bool linked = fabric->ports[sender->port].up; /* an adapter without a link takes no packets */
    uint64_t time = sender->next.time > sender->earliest ? sender->next.time : sender->earliest;
    if (time > now) {
        schedule_sender(fabric, number, time);
        return false;
    }
    if (linked && !fetch_packet(fabric, number))
        return false;
    uint32_t data_packet = linked ? make_data_packet(fabric, number) : NONE;
    enum outcome outcome = REFUSED;
    uint64_t interval, *free_at = NULL;
    if (data_packet != NONE)
        free_at = pacing_find(fabric, number, data_packet_at(data, data_packet), &interval);
    if (free_at && *free_at > now) {
        outcome = hold_data_packet(fabric, number, data_packet, free_at, interval);
        if (outcome == QUEUED)
            return false;
    } else if (data_packet != NONE) {
        outcome = send_data_packet(fabric, number, data_packet, turn);
    }
    if (outcome == QUEUED) {
        multicast_drop_copy(fabric, data_packet_at(data, data_packet)->multicast);
        pool_give(&data->data_packets, data_packet); /* it is made again when there is room */
        return false;
    }
    if (free_at && outcome == ENTERED)
        *free_at = now + interval;
    if (data_packet == NONE)
        data->totals.unroutable++;
    else
        sender_at(fabric, number)->made += outcome != PASSED;
    if (outcome == ENTERED)
        sender_at(fabric, number)->passed = 0;
    if (outcome != PASSED)
        sender_at(fabric, number)->fetched = 0;
    if (!sender_at(fabric, number)->next.continues)
        sender_at(fabric, number)->message_made = now;
    draw_next(fabric, sender_at(fabric, number));
    if (outcome == REFUSED && is_saturated(traffic) && sender->earliest < now + TIME_US)
        sender->earliest = now + TIME_US; /* ends the loop of take_turn() */
    return true;
}

/* Sends all that one sender can send now. Returns the VL whose queue it was in, or NONE. */
static uint32_t take_turn(struct fabric *fabric, uint32_t number)
{
    uint32_t turn = sender_at(fabric, number)->waiting_for;
    if (turn != NONE)
        unqueue_sender(fabric, number);
    if (!sender_at(fabric, number)->paused && offer_retries(fabric, number, turn)) {
        bool more = offer_next(fabric, number, turn);
        while (more)
            more = offer_next(fabric, number, NONE);
    }
    return turn;
}

/* Then the other senders in its queue may send, unless it is still first: a sender that put no
 * packet into the VL does not wake the next one. */
void sender_offer(struct fabric *fabric, uint32_t number)
{
    uint32_t turn = take_turn(fabric, number);
    while (turn != NONE && fabric->data->outputs[turn].first_waiting != NONE &&
           fabric->data->outputs[turn].first_waiting != number &&
           output_vl_has_room(fabric, turn, fabric->data->largest_blocks)) {
        number = fabric->data->outputs[turn].first_waiting;
        take_turn(fabric, number);
    }
}

void sender_due(struct fabric *fabric, uint32_t number)
{
    struct sender *sender = sender_at(fabric, number);
    sender->scheduled = false;
    if (sender->waiting_for == NONE)
        sender_offer(fabric, number);
}

void sender_retry(struct fabric *fabric, uint32_t number, uint32_t data_packet)
{
    struct sender *sender = sender_at(fabric, number);
    if (data_packet_at(fabric->data, data_packet)->tries == 0)
        sender->held--;
    data_packet_push(fabric->data, &sender->retries, data_packet);
    if (sender->waiting_for == NONE)
        sender_offer(fabric, number);
}

/* ---- traffic and totals ---- */

void fabric_observe_data(struct fabric *fabric, const struct data_observer *observer)
{
    fabric_unite(fabric);
    data_start(fabric);
    fabric->data->observer = *observer;
}

void fabric_set_paths(struct fabric *fabric, const struct data_paths *paths)
{
    fabric_unite(fabric);
    data_start(fabric);
    fabric->data->paths = *paths;
}

static struct data_path find_lid(void *context, uint32_t source, uint32_t destination)
{
    const struct fabric *fabric = context;
    struct data_path path = {0};
    if (destination >= DATA_VM || !fabric_port_passes_data(fabric, source) ||
        !fabric_port_passes_data(fabric, destination))
        return path;
    const uint8_t *to = fabric_port_info(fabric, destination);
    uint64_t prefix = wire_get(to, PORT_INFO_GID_PREFIX);
    if (prefix != wire_get(fabric_port_info(fabric, source), PORT_INFO_GID_PREFIX))
        return router_path_by_lid(fabric, source, prefix,
                                  router_flow(fabric_port_guid(fabric, source, 0),
                                              fabric_port_guid(fabric, destination, 0)));
    path.dlid = (uint16_t)wire_get(to, PORT_INFO_LID);
    return path;
}

/* A router reads what agents of other nodes have. */
static bool prepare_nothing(void *context)
{
    return !router_grh_bytes(context);
}

static struct data_path find_router_lid(void *context, uint32_t source, uint64_t prefix,
                                        uint64_t flow)
{
    return router_path_by_lid(context, source, prefix, flow);
}

void fabric_set_paths_by_lid(struct fabric *fabric)
{
    fabric_set_paths(fabric, &(struct data_paths){
                                 .context = fabric,
                                 .find = find_lid,
                                 .prepare = prepare_nothing,
                                 .find_router = find_router_lid,
                             });
}

static void add_sender(struct fabric *fabric, unsigned traffic, uint32_t member)
{
    struct data *data = fabric->data;
    assert(traffic < data->traffics.count && member < data->traffics.items[traffic].senders.count);
    const struct traffic *of = &data->traffics.items[traffic];
    uint32_t number = (uint32_t)data->senders.count;
    struct sender sender = {.traffic = traffic,
                            .port = of->senders.items[member],
                            .vm = NONE,
                            .next_of_vm = NONE,
                            .next_waiting = NONE,
                            .waiting_for = NONE,
                            .retries = {NONE, NONE}};
    if (is_vm(sender.port)) {
        sender.vm = sender.port;
        sender.next_of_vm = vm_at(data, sender.vm)->first_sender;
        vm_at(data, sender.vm)->first_sender = number;
        sender.port = vm_at(data, sender.vm)->view.port;
        sender.paused = sender.port == NONE;
    }
    traffic_source_init(&sender.source, of, member, fabric->seed,
                        (uint64_t)(traffic + 1) << 32 | member);
    sender.counted = sender.source;
    sender.next = traffic_draw(of, &sender.source);
    sender.ahead = traffic_draw(of, &sender.counted);
    sender.over = sender.next.time == TIME_NEVER;
    vec_push(&data->senders, sender);
    uint64_t now = des_now(fabric->network);
    if (!sender.over)
        schedule_sender(fabric, number, sender.next.time > now ? sender.next.time : now);
}

int fabric_check_payload(const struct node_options *options, const char *name, uint32_t payload,
                         unsigned grh_bytes, struct err *err)
{
    if (payload > options->agent.mtu)
        return err_set(err, EINVAL, "packets of %u bytes are larger than the MTU of %u at '%s'",
                       payload, options->agent.mtu, name);
    if (blocks_of(payload + DATA_OVERHEAD_BYTES + grh_bytes) > options->buffer_bytes / CREDIT_BYTES)
        return err_set(err, EINVAL,
                       "packets of %u bytes and their headers do not fit into the buffers of "
                       "%u bytes at '%s'",
                       payload, options->buffer_bytes, name);
    return 0;
}

int fabric_check_traffic(const struct fabric *fabric, const struct traffic *traffic,
                         struct err *err)
{
    int status = traffic_check(traffic, err);
    for (uint32_t i = 0; i < fabric->node_count && !status; i++)
        status =
            fabric_check_payload(&fabric->nodes[i].options, fabric->topology->nodes.items[i].name,
                                 traffic_largest_payload(traffic), router_grh_bytes(fabric), err);
    return status;
}

unsigned fabric_add_traffic(struct fabric *fabric, const struct traffic *traffic)
{
    fabric_unite(fabric);
    data_start(fabric);
    struct data *data = fabric->data;
    unsigned number = (unsigned)data->traffics.count;
    vec_push(&data->traffics, (struct traffic){0});
    vec_push(&data->stopped, false);
    traffic_copy(&data->traffics.items[number], traffic);
    uint32_t blocks = blocks_of(traffic_largest_payload(traffic) + DATA_OVERHEAD_BYTES +
                                router_grh_bytes(fabric));
    if (blocks > data->largest_blocks) {
        data->largest_blocks = blocks;
        credits_update_all(fabric); /* larger packets need limits to be sent earlier */
    }
    for (uint32_t member = 0; member < traffic->senders.count; member++)
        add_sender(fabric, number, member);
    return number;
}

void fabric_stop_traffic(struct fabric *fabric, unsigned traffic)
{
    assert(fabric->data && traffic < fabric->data->traffics.count);
    fabric_unite(fabric);
    fabric->data->stopped.items[traffic] = true;
}

/* The number of packets that wait at this sender. They are drawn in advance from a copy of its
 * stream, so that counting needs no memory. */
static uint64_t count_waiting(struct data *data, struct sender *sender, uint64_t now)
{
    const struct traffic *traffic = &data->traffics.items[sender->traffic];
    if (is_saturated(traffic) || data->stopped.items[sender->traffic] || sender->over ||
        sender->next.time > now)
        return 0;
    while (sender->ahead.time <= now) {
        sender->foreseen++;
        sender->ahead = traffic_draw(traffic, &sender->counted);
    }
    assert(sender->foreseen >= sender->drawn);
    return sender->foreseen - sender->drawn;
}

void sender_move(struct fabric *fabric, uint32_t number, uint32_t port)
{
    struct sender *sender = sender_at(fabric, number);
    sender->paused = port == NONE;
    if (sender->paused) /* a queued sender stays queued, and sends nothing in its turn */
        return;
    sender->port = port;
    /* Of the packets that came due while the VM was at no port, the backlog is sent. */
    uint64_t waiting = count_waiting(fabric->data, sender, des_now(fabric->network));
    for (; waiting > DATA_VM_BACKLOG && !sender->over; waiting--) {
        draw_next(fabric, sender);
        fabric->data->totals.unroutable++;
    }
    sender_offer(fabric, number);
}

void fabric_data_totals(struct fabric *fabric, struct data_totals *totals)
{
    struct data *data = fabric->data;
    if (!data) {
        *totals = (struct data_totals){0};
        return;
    }
    *totals = data->totals;
    totals->made += data->transport_made;
    totals->travelling = data->travelling;
    totals->waiting = data->retrying;
    for (size_t i = 0; i < data->senders.count; i++) {
        uint64_t waiting = count_waiting(data, &data->senders.items[i], des_now(fabric->network));
        totals->waiting += waiting;
        totals->made += data->senders.items[i].made + waiting;
    }
}

uint64_t fabric_packets_made(struct fabric *fabric, uint32_t traffic, uint32_t first, uint32_t last)
{
    struct data *data = fabric->data;
    uint64_t made = 0;
    for (size_t i = 0; data && i < data->senders.count; i++) {
        struct sender *sender = &data->senders.items[i];
        if ((traffic == NONE || sender->traffic == traffic) && sender->port >= first &&
            sender->port <= last)
            made += sender->made + count_waiting(data, sender, des_now(fabric->network));
    }
    return made;
}
