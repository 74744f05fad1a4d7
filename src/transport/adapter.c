/* The adapter: its ports, QPs and timers, and which QP sends next.
 *
 * A QP that may have a packet is in the ready list of its port and SL; QPs of a list take turns,
 * packet by packet. Each QP has at most one timer. Timers are a heap in which an entry may be
 * earlier than the timer it stands for: a timer that is restarted with every acknowledgement costs
 * nothing until the old entry comes up. */
#include "transport/internal.h"

#include <errno.h>

void transport_config_init(struct transport_config *config)
{
    *config = (struct transport_config){.ports = 1, .packets_per_acknowledge = 64, .window = 128};
}

struct transport *transport_new(const struct transport_config *config)
{
    assert(config->ports >= 1 && config->ports <= TRANSPORT_PORTS_MAX);
    assert(config->packets_per_acknowledge >= 1 && config->window >= 1 &&
           config->window <= TRANSPORT_WINDOW);
    struct transport *transport = mem_zalloc(1, sizeof *transport);
    transport->config = *config;
    for (unsigned port = 1; port <= config->ports; port++) {
        transport->ports[port].state = (struct transport_port){.mtu = 2048};
        vec_push(&transport->ports[port].p_keys, 0xFFFF);
        for (unsigned sl = 0; sl < SERVICE_LEVELS; sl++)
            transport->ports[port].lists[sl].first = NONE;
    }
    return transport;
}

void transport_free(struct transport *transport)
{
    if (!transport)
        return;
    for (unsigned port = 1; port <= TRANSPORT_PORTS_MAX; port++)
        vec_release(&transport->ports[port].p_keys);
    for (size_t i = 0; i < transport->cqs.count; i++)
        mem_free(transport->cqs.items[i].ring);
    pool_release(&transport->qps);
    pool_release(&transport->regions);
    pool_release(&transport->domains);
    pool_release(&transport->cqs);
    pool_release(&transport->srqs);
    pool_release(&transport->works);
    pool_release(&transport->receives);
    pool_release(&transport->segments);
    pool_release(&transport->responses);
    vec_release(&transport->timers);
    vec_release(&transport->attachments);
    vec_release(&transport->accesses);
    vec_release(&transport->events);
    vec_release(&transport->violations);
    mem_free(transport);
}

/* ---- ports ---- */

void transport_set_port(struct transport *transport, unsigned port,
                        const struct transport_port *state)
{
    assert(port >= 1 && port <= transport->config.ports);
    bool closes = transport->ports[port].state.active && !state->active;
    transport->ports[port].state = *state;
    if (closes)
        transport_lose_link(transport, port);
}

void transport_lose_link(struct transport *transport, unsigned port)
{
    assert(port >= 1 && port <= transport->config.ports);
    for (size_t i = 0; i < transport->qps.count; i++) {
        struct qp *qp = &transport->qps.items[i];
        if (qp->used && qp->attributes.port == port &&
            qp->attributes.migration == MIGRATION_ARMED && qp->attributes.alternate.port != port)
            migration_migrate(transport, qp);
    }
}

void transport_set_p_key(struct transport *transport, unsigned port, unsigned index, uint16_t p_key)
{
    assert(port >= 1 && port <= transport->config.ports && index < 65536);
    *vec_at(&transport->ports[port].p_keys, index) = p_key;
}

uint16_t port_p_key(const struct transport *transport, unsigned port, unsigned index)
{
    const struct port *at = &transport->ports[port];
    return index < at->p_keys.count ? at->p_keys.items[index] : 0;
}

/* ---- QPs ---- */

struct qp *qp_find(const struct transport *transport, uint32_t number)
{
    uint32_t index = number - TRANSPORT_FIRST_QP;
    return index < transport->qps.count && transport->qps.items[index].used
               ? &transport->qps.items[index]
               : NULL;
}

static bool service_known(unsigned service)
{
    return service == TRANSPORT_RC || service == TRANSPORT_UC || service == TRANSPORT_UD;
}

/* Counts a QP as a user of its objects, in the order of the calls; undoes that if one does not
 * exist. */
static int use_objects(struct transport *transport, const struct transport_qp_init *init,
                       int change)
{
    if (domain_use(transport, init->domain, change))
        return -EINVAL;
    if (cq_use(transport, init->send_cq, change))
        goto no_send_cq;
    if (cq_use(transport, init->receive_cq, change))
        goto no_receive_cq;
    if (init->srq == NONE || srq_use(transport, init->srq, change) == 0)
        return 0;
    cq_use(transport, init->receive_cq, -change);
no_receive_cq:
    cq_use(transport, init->send_cq, -change);
no_send_cq:
    domain_use(transport, init->domain, -change);
    return -EINVAL;
}

int transport_add_qp(struct transport *transport, const struct transport_qp_init *init,
                     uint32_t *number)
{
    if (!service_known(init->service) || use_objects(transport, init, 1))
        return -EINVAL;
    uint32_t index = pool_take(&transport->qps);
    if (index > TRANSPORT_QP_MASK - 1 - TRANSPORT_FIRST_QP) { /* the last number is multicast */
        pool_give(&transport->qps, index);
        use_objects(transport, init, -1);
        return -ENOMEM;
    }
    struct qp *qp = &transport->qps.items[index];
    *qp = (struct qp){
        .used = true,
        .init = *init,
        .next_ssn = 1,
        .cursor = NONE,
        .receive = NONE,
        .deadline = TIME_NEVER,
        .scheduled = TIME_NEVER,
        .sends = QUEUE_EMPTY,
        .receives = QUEUE_EMPTY,
        .responses = QUEUE_EMPTY,
        .history = QUEUE_EMPTY,
    };
    *number = index + TRANSPORT_FIRST_QP;
    return 0;
}

static void timer_remove(struct transport *transport, struct qp *qp);
static void unready(struct transport *transport, struct qp *qp);

int transport_remove_qp(struct transport *transport, uint32_t number)
{
    struct qp *qp = qp_find(transport, number);
    if (!qp)
        return -EINVAL;
    qp_drop_work(transport, qp);
    if (qp->scheduled != TIME_NEVER)
        timer_remove(transport, qp);
    unready(transport, qp);
    for (size_t i = transport->attachments.count; i-- > 0;)
        if (transport->attachments.items[i].qp == number)
            vec_remove(&transport->attachments, i);
    use_objects(transport, &qp->init, -1);
    qp->used = false;
    pool_give(&transport->qps, number - TRANSPORT_FIRST_QP);
    return 0;
}

int transport_query_qp(const struct transport *transport, uint32_t number,
                       struct transport_qp_view *view)
{
    const struct qp *qp = qp_find(transport, number);
    if (!qp)
        return -EINVAL;
    *view = (struct transport_qp_view){
        .attributes = qp->attributes,
        .init = qp->init,
        .sends_pending = qp->sends.count,
        .receives_pending = qp->receives.count,
        .next_psn = qp->high_psn,
        .unacknowledged_psn = qp->unacknowledged_psn,
        .expected_psn = qp->expected_psn,
        .draining = qp->draining,
        .progress_ps = qp->progress_ps,
        .resent_packets = qp->resent_packets,
        .timeouts = qp->timeouts,
        .sequence_naks = qp->sequence_naks,
        .rnr_naks = qp->rnr_naks,
        .migrations = qp->migrations,
    };
    return 0;
}

/* ---- ready lists ---- */

static unsigned service_level(struct transport *transport, const struct qp *qp)
{
    if (qp->init.service != TRANSPORT_UD)
        return qp->attributes.path.sl;
    return qp->cursor == NONE ? 0 : work_at(transport, qp->cursor)->path.sl;
}

static void ready_add(struct transport *transport, struct qp *qp)
{
    struct port *port = &transport->ports[qp->attributes.port];
    unsigned sl = service_level(transport, qp);
    uint32_t index = (uint32_t)(qp - transport->qps.items);
    qp->next = NONE;
    qp->ready = true;
    qp->ready_port = qp->attributes.port;
    qp->ready_sl = (uint8_t)sl;
    if (port->lists[sl].first == NONE)
        port->lists[sl].first = index;
    else
        transport->qps.items[port->lists[sl].last].next = index;
    port->lists[sl].last = index;
    port->ready |= (uint16_t)(1u << sl);
}

static struct qp *ready_take(struct transport *transport, struct port *port, unsigned sl)
{
    struct qp *qp = &transport->qps.items[port->lists[sl].first];
    port->lists[sl].first = qp->next;
    if (qp->next == NONE)
        port->ready &= (uint16_t) ~(1u << sl);
    qp->ready = false;
    return qp;
}

static void unready(struct transport *transport, struct qp *qp)
{
    if (!qp->ready)
        return;
    struct port *port = &transport->ports[qp->ready_port];
    uint32_t index = (uint32_t)(qp - transport->qps.items), before = NONE;
    for (uint32_t at = port->lists[qp->ready_sl].first; at != index;
         at = transport->qps.items[at].next)
        before = at;
    if (before == NONE)
        port->lists[qp->ready_sl].first = qp->next;
    else
        transport->qps.items[before].next = qp->next;
    if (port->lists[qp->ready_sl].last == index)
        port->lists[qp->ready_sl].last = before;
    if (port->lists[qp->ready_sl].first == NONE)
        port->ready &= (uint16_t) ~(1u << qp->ready_sl);
    qp->ready = false;
}

void qp_wake(struct transport *transport, struct qp *qp)
{
    if (!qp->ready && qp->attributes.port)
        ready_add(transport, qp);
}

uint16_t transport_ready(const struct transport *transport, unsigned port)
{
    return transport->ports[port].state.active ? transport->ports[port].ready : 0;
}

/* A QP sends responses and requests in turns. */
static bool qp_next_packet(struct transport *transport, struct qp *qp, uint64_t now,
                           struct transport_packet *packet)
{
    if (qp->init.service == TRANSPORT_UD)
        return datagram_next(transport, qp, packet);
    bool requests_first = qp->turn;
    if (!requests_first && responses_next(transport, qp, packet)) {
        qp->turn = true;
        return true;
    }
    if (requester_next(transport, qp, now, packet)) {
        qp->turn = false;
        return true;
    }
    return requests_first && responses_next(transport, qp, packet);
}

static bool build_packet(struct transport *transport, uint64_t now, unsigned number,
                         uint16_t service_levels, struct transport_packet *packet)
{
    struct port *port = &transport->ports[number];
    uint16_t ready;
    while ((ready = port->ready & service_levels) != 0) {
        uint16_t later = (uint16_t)(ready & ~((2u << port->last_sl) - 1));
        unsigned sl = (unsigned)__builtin_ctz(later ? later : ready);
        struct qp *qp = ready_take(transport, port, sl);
        if (qp->attributes.port != number || service_level(transport, qp) != sl) {
            qp_wake(transport, qp); /* its path has changed since it was added */
            continue;
        }
        if (qp_next_packet(transport, qp, now, packet)) {
            packet->payload.qp = qp_number(transport, qp) & TRANSPORT_QP_MASK;
            qp_wake(transport, qp);
            port->last_sl = (uint8_t)sl;
            transport->counters.sent_packets++;
            return true;
        }
    }
    return false;
}

bool transport_next_packet(struct transport *transport, uint64_t now, unsigned port,
                           uint16_t service_levels, struct transport_packet *packet)
{
    return transport->ports[port].state.active &&
           build_packet(transport, now, port, service_levels, packet);
}

/* It ends: requests beyond the window wait for acknowledgements, which cannot come. */
void transport_discard(struct transport *transport, uint64_t now, unsigned port)
{
    struct transport_packet packet;
    while (build_packet(transport, now, port, UINT16_MAX, &packet))
        ;
}

void qp_address_packet(const struct transport *transport, const struct qp *qp,
                       struct transport_packet *packet)
{
    const struct transport_qp_attributes *attributes = &qp->attributes;
    const struct transport_path *path = &attributes->path;
    memset(packet, 0, sizeof *packet);
    packet->slid = port_slid(transport, attributes->port, path);
    packet->dlid = path->dlid;
    packet->sl = path->sl;
    packet->global = path->global;
    if (path->global)
        packet->route = path->route;
    packet->migrated = attributes->migration == MIGRATION_MIGRATED;
    packet->p_key = port_p_key(transport, attributes->port, attributes->p_key_index);
    packet->dest_qp = attributes->dest_qp;
}

/* ---- packets in ---- */

static bool receives_packets(const struct qp *qp)
{
    unsigned state = qp->attributes.state;
    return state == STATE_RTR || state == STATE_RTS || state == STATE_SQD || state == STATE_SQE;
}

static void connected_receive(struct transport *transport, struct qp *qp, uint64_t now,
                              unsigned port, const struct transport_packet *packet)
{
    if (!migration_admit(transport, qp, port, packet)) {
        transport->counters.discarded++;
        return;
    }
    if (!qp->established) {
        qp->established = true;
        if (qp->attributes.state == STATE_RTR)
            report_event(transport, EVENT_ESTABLISHED, packet->dest_qp);
    }
    if (transport_parts_of(packet->opcode) & PART_RESPONSE)
        requester_receive(transport, qp, now, packet);
    else
        responder_receive(transport, qp, packet);
    qp_wake(transport, qp);
}

void transport_receive(struct transport *transport, uint64_t now, unsigned port,
                       const struct transport_packet *packet)
{
    if (!transport->ports[port].state.active)
        return;
    transport->counters.received_packets++;
    unsigned service = transport_service_of(packet->opcode);
    if (!transport_parts_of(packet->opcode) || packet->payload.bytes > TRANSPORT_MTU_MAX) {
        transport->counters.discarded++;
        return;
    }
    if (service == TRANSPORT_UD) {
        datagram_receive(transport, port, packet);
        return;
    }
    struct qp *qp = qp_find(transport, packet->dest_qp);
    if (!qp || qp->init.service != service || !receives_packets(qp)) {
        transport->counters.discarded++;
        return;
    }
    if (!p_key_matches(packet->p_key, port_p_key(transport, port, qp->attributes.p_key_index))) {
        report_violation(transport, port, packet, false);
        return;
    }
    connected_receive(transport, qp, now, port, packet);
}

/* ---- timers ---- */

static bool timer_before(const struct timer_item *a, const struct timer_item *b)
{
    return a->time < b->time || (a->time == b->time && a->qp < b->qp);
}

static void timer_put(struct transport *transport, uint32_t index, struct timer_item item)
{
    transport->timers.items[index] = item;
    transport->qps.items[item.qp].heap_index = index;
}

static void timer_rise(struct transport *transport, uint32_t index, struct timer_item item)
{
    while (index > 0) {
        uint32_t parent = (index - 1) / 2;
        if (!timer_before(&item, &transport->timers.items[parent]))
            break;
        timer_put(transport, index, transport->timers.items[parent]);
        index = parent;
    }
    timer_put(transport, index, item);
}

static void timer_sink(struct transport *transport, uint32_t index, struct timer_item item)
{
    size_t count = transport->timers.count;
    for (uint32_t child; (child = 2 * index + 1) < count; index = child) {
        const struct timer_item *items = transport->timers.items;
        if (child + 1 < count && timer_before(&items[child + 1], &items[child]))
            child++;
        if (!timer_before(&items[child], &item))
            break;
        timer_put(transport, index, items[child]);
    }
    timer_put(transport, index, item);
}

static void timer_remove(struct transport *transport, struct qp *qp)
{
    uint32_t index = qp->heap_index;
    struct timer_item last = transport->timers.items[--transport->timers.count];
    qp->scheduled = TIME_NEVER;
    if (index == transport->timers.count)
        return;
    if (index > 0 && timer_before(&last, &transport->timers.items[(index - 1) / 2]))
        timer_rise(transport, index, last);
    else
        timer_sink(transport, index, last);
}

void qp_set_timer(struct transport *transport, struct qp *qp, enum timer timer, uint64_t deadline)
{
    qp->timer = (uint8_t)(deadline == TIME_NEVER ? TIMER_OFF : timer);
    qp->deadline = deadline;
    if (deadline >= qp->scheduled)
        return;
    struct timer_item item = {deadline, (uint32_t)(qp - transport->qps.items)};
    bool in_heap = qp->scheduled != TIME_NEVER;
    qp->scheduled = deadline;
    if (!in_heap) {
        qp->heap_index = (uint32_t)transport->timers.count;
        vec_push(&transport->timers, item);
    }
    timer_rise(transport, qp->heap_index, item);
}

uint64_t transport_deadline(const struct transport *transport)
{
    return transport->timers.count ? transport->timers.items[0].time : TIME_NEVER;
}

void transport_expire(struct transport *transport, uint64_t now)
{
    while (transport_deadline(transport) <= now) {
        struct qp *qp = &transport->qps.items[transport->timers.items[0].qp];
        timer_remove(transport, qp);
        if (qp->deadline <= now)
            requester_expire(transport, qp, now);
        else
            qp_set_timer(transport, qp, qp->timer, qp->deadline);
    }
}

uint64_t transport_timeout_ps(unsigned n)
{
    return n == 0 ? TIME_NEVER : 4096 * TIME_NS << n;
}

const struct transport_counters *transport_counters(const struct transport *transport)
{
    return &transport->counters;
}
