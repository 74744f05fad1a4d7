/* Files, and the transfer of MADs between programs and the fabric.
 *
 * The behaviour that a program can observe follows drivers/infiniband/core/user_mad.c and mad.c of
 * Linux. Not implemented: OPA, security modules, and synchronous errors that depend on the state of
 * the device (a client does not wait for the server's answer to a MAD). */
#include "host/mad/mad_internal.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <string.h>

enum { QUEUED_OVERHEAD = sizeof(struct mad_received) };

struct mad_layer *mad_layer_new(struct fabric *fabric)
{
    struct mad_layer *layer = mem_zalloc(1, sizeof *layer);
    layer->fabric = fabric;
    layer->timers = des_new();
    return layer;
}

void mad_layer_free(struct mad_layer *layer)
{
    if (!layer)
        return;
    while (layer->files)
        mad_file_close(layer->files);
    des_free(layer->timers);
    vec_release(&layer->ready);
    vec_release(&layer->rmpp.slots);
    pool_release(&layer->requests);
    vec_release(&layer->agents);
    vec_release(&layer->ports);
    map_release(&layer->port_slots);
    map_release(&layer->agent_slots);
    map_release(&layer->request_slots);
    mem_free(layer);
}

struct mad_port *mad_layer_port(struct mad_layer *layer, uint32_t port)
{
    uint32_t slot = map_get(&layer->port_slots, port);
    if (slot == MAP_NONE) {
        slot = (uint32_t)layer->ports.count;
        map_set(&layer->port_slots, port, slot);
        vec_push(&layer->ports, (struct mad_port){0});
    }
    return &layer->ports.items[slot];
}

struct mad_file *mad_file_open(struct mad_layer *layer, uint32_t port, void *owner)
{
    assert(port < fabric_topology(layer->fabric)->ports.count);
    struct mad_file *file = mem_zalloc(1, sizeof *file);
    file->layer = layer;
    file->port = port;
    file->owner = owner;
    file->next = layer->files;
    layer->files = file;
    if (mad_layer_port(layer, port)->files++ == 0)
        fabric_attach(layer->fabric, port);
    return file;
}

void mad_file_close(struct mad_file *file)
{
    if (!file)
        return;
    struct mad_layer *layer = file->layer;
    for (unsigned i = 0; i < FILE_AGENTS; i++)
        if (file->agents[i])
            mad_agent_drop(file->agents[i]);
    while (file->first)
        mad_file_taken(file);
    struct mad_file **at = &layer->files;
    while (*at != file)
        at = &(*at)->next;
    *at = file->next;
    for (size_t i = 0; file->ready && i < layer->ready.count; i++)
        if (layer->ready.items[i] == file)
            vec_remove(&layer->ready, i);
    assert(mad_layer_port(layer, file->port)->files > 0);
    if (--mad_layer_port(layer, file->port)->files == 0)
        fabric_detach(layer->fabric, file->port);
    map_release(&file->by_source);
    mem_free(file);
}

uint32_t mad_file_port(const struct mad_file *file)
{
    return file->port;
}

void *mad_file_owner(const struct mad_file *file)
{
    return file->owner;
}

bool mad_file_is_full(const struct mad_file *file)
{
    return file->status.requests + file->returned >= FILE_REQUESTS;
}

void mad_file_status(const struct mad_file *file, struct mad_file_status *status)
{
    *status = file->status;
    status->queued_bytes = file->queued_bytes;
}

/* ---- received messages ---- */

/* The source to which an unsolicited message counts; 0: none. */
static uint32_t source_of(const struct mad_head *head, const uint8_t *data)
{
    uint32_t lid = ntohs(head->lid);
    return head->status || mad_is_response(data) || lid == LID_PERMISSIVE ? 0 : lid;
}

static uint32_t queued_from(const struct mad_file *file, uint32_t source)
{
    uint32_t count = source ? map_get(&file->by_source, source) : 0;
    return count == MAP_NONE ? 0 : count;
}

void mad_file_enqueue(struct mad_file *file, const struct mad_head *head, const uint8_t *data,
                      size_t bytes)
{
    size_t size = QUEUED_OVERHEAD + bytes;
    uint32_t source = source_of(head, data), queued = queued_from(file, source);
    if ((file->first && head->status == 0 && file->queued_bytes + size > FILE_QUEUE_BYTES) ||
        queued >= FILE_SOURCE_MESSAGES) {
        file->status.dropped++;
        return;
    }
    if (source)
        map_set(&file->by_source, source, queued + 1);
    struct mad_received *message = mem_alloc(size);
    message->next = NULL;
    message->head = *head;
    message->head.length = (uint32_t)(sizeof *head + bytes);
    memcpy(message->data, data, bytes);
    if (file->last)
        file->last->next = message;
    else
        file->first = message;
    file->last = message;
    file->queued_bytes += size;
    file->returned += head->status != 0;
    file->status.received++;
    if (!file->ready)
        vec_push(&file->layer->ready, file);
    file->ready = true;
}

const struct mad_received *mad_file_next(const struct mad_file *file)
{
    return file->first;
}

void mad_file_taken(struct mad_file *file)
{
    assert(file->first);
    struct mad_received *message = file->first;
    file->first = message->next;
    if (!file->first)
        file->last = NULL;
    assert(file->queued_bytes >= QUEUED_OVERHEAD);
    file->queued_bytes -= QUEUED_OVERHEAD + message->head.length - sizeof message->head;
    file->returned -= message->head.status != 0;
    uint32_t source = source_of(&message->head, message->data), queued = queued_from(file, source);
    if (queued > 1)
        map_set(&file->by_source, source, queued - 1);
    else if (source)
        map_remove(&file->by_source, source);
    mem_free(message);
}

struct mad_file *mad_layer_next_ready(struct mad_layer *layer)
{
    if (!layer->ready.count)
        return NULL;
    struct mad_file *file = layer->ready.items[0];
    assert(file->ready && file->layer == layer);
    vec_remove(&layer->ready, 0);
    file->ready = false;
    return file;
}

/* ---- sending ---- */

static struct packet_header mad_packet_header(const struct mad_file *file,
                                              const struct mad_head *head)
{
    struct packet_header packet = {.dlid = ntohs(head->lid),
                                   .sl = head->sl & 15,
                                   .dest_qp = ntohl(head->qpn) & 0xffffff,
                                   .q_key = ntohl(head->q_key),
                                   .p_key = P_KEY_DEFAULT,
                                   .global = head->grh_present != 0};
    struct fabric *fabric = file->layer->fabric;
    uint16_t p_keys[PORT_P_KEYS];
    if (packet.dest_qp != QP_SMI &&
        head->p_key_index < fabric_p_keys(fabric, file->port, p_keys, PORT_P_KEYS))
        packet.p_key = p_keys[head->p_key_index];
    if (packet.global) {
        memcpy(packet.dgid, head->gid, sizeof packet.dgid);
        wire_set_bits(packet.sgid, 0, 64,
                      wire_get(fabric_port_info(fabric, file->port), PORT_INFO_GID_PREFIX));
        wire_set_bits(packet.sgid, 64, 64, fabric_port_guid(fabric, file->port, head->gid_index));
    }
    return packet;
}

/* Answers are matched by transaction ID and class: a second outstanding request with both equal is
 * refused. */
bool mad_is_duplicate(const struct mad_layer *layer, const uint8_t *mad)
{
    return !mad_is_response(mad) && mad_request_find(layer, wire_get(mad, MAD_TID),
                                                     (unsigned)wire_get(mad, MAD_CLASS)) != NONE;
}

int mad_file_send(struct mad_file *file, uint64_t now, const struct mad_head *head,
                  const uint8_t *data, size_t bytes)
{
    struct mad_layer *layer = file->layer;
    uint8_t mad[MAD_BYTES] = {0};
    if (bytes < WIRE_BYTES_RMPP || head->agent >= FILE_AGENTS)
        return -EINVAL;
    struct mad_agent *agent = file->agents[head->agent];
    if (!agent)
        return -EIO;
    memcpy(mad, data, bytes < MAD_BYTES ? bytes : MAD_BYTES);
    if (!mad_is_response(mad))
        wire_set_bits(mad, 64, 32, agent->high_tid);
    if (mad_is_smp(mad) != (ntohl(head->qpn) == QP_SMI))
        return -EINVAL; /* the receiver would drop it */
    struct packet_header packet = mad_packet_header(file, head);
    file->status.sent++;
    if (mad_agent_has_rmpp(agent, mad))
        return mad_rmpp_send(agent, now, head, &packet, data, bytes);
    if (bytes > MAD_BYTES || mad_is_duplicate(layer, mad))
        return -EINVAL;
    if (head->timeout_ms)
        mad_request_add(agent, now, head, &packet, mad);
    fabric_send(layer->fabric, file->port, &packet, mad);
    return 0;
}

/* ---- receiving ---- */

void mad_agent_give(struct mad_agent *agent, const struct fabric_delivery *delivery,
                    const uint8_t *message, size_t bytes)
{
    const struct packet_header *packet = &delivery->header;
    const struct fabric *fabric = agent->file->layer->fabric;
    uint32_t port = agent->file->port;
    unsigned path_mask = (1u << wire_get(fabric_port_info(fabric, port), PORT_INFO_LMC)) - 1;
    struct mad_head head = {.agent = agent->number,
                            .qpn = htonl(packet->src_qp),
                            .q_key = htonl(packet->q_key),
                            .lid = htons(packet->slid),
                            .sl = packet->sl,
                            .path_bits = (uint8_t)(packet->dlid & path_mask),
                            .grh_present = packet->global};
    if (packet->dest_qp != QP_SMI)
        head.p_key_index = (uint16_t)fabric_p_key_index(fabric, port, packet->p_key);
    if (packet->global) {
        memcpy(head.gid, packet->sgid, sizeof head.gid);
        head.hop_limit = 0xff;
    }
    mad_file_enqueue(agent->file, &head, message, bytes);
}

struct packet_header mad_answer_header(const struct packet_header *in)
{
    struct packet_header out = *in;
    out.dlid = in->slid;
    out.slid = in->dlid; /* of a port with several LIDs, the one that the other end used */
    out.dest_qp = in->src_qp;
    memcpy(out.dgid, in->sgid, sizeof out.dgid);
    memcpy(out.sgid, in->dgid, sizeof out.sgid);
    return out;
}

/* No agent serves this request: answers it with an error, so that its sender need not wait for a
 * time-out. */
static void answer_unserved(struct mad_layer *layer, const struct fabric_delivery *delivery)
{
    uint8_t mad[MAD_BYTES];
    uint64_t method = wire_get(delivery->mad, MAD_METHOD);
    if (method != METHOD_GET && method != METHOD_SET)
        return;
    memcpy(mad, delivery->mad, sizeof mad);
    wire_set(mad, MAD_METHOD, METHOD_GET_RESP);
    wire_set(mad, MAD_STATUS, STATUS_BAD_ATTRIBUTE);
    if (mad_is_directed(mad))
        wire_set(mad, SMP_DIRECTION, 1);
    struct packet_header packet = mad_answer_header(&delivery->header);
    fabric_send(layer->fabric, delivery->port, &packet, mad);
}

static void deliver_answer(struct mad_layer *layer, struct mad_agent *agent,
                           const struct fabric_delivery *delivery)
{
    uint64_t tid = wire_get(delivery->mad, MAD_TID);
    uint32_t request = mad_request_find(layer, tid, (unsigned)wire_get(delivery->mad, MAD_CLASS));
    bool user_segment = agent->registration.user_rmpp && mad_has_active_rmpp(delivery->mad);
    if (request == NONE && !user_segment)
        return; /* late, or a duplicate */
    mad_agent_give(agent, delivery, delivery->mad, MAD_BYTES);
    if (request != NONE)
        mad_request_done(layer, request);
}

void mad_layer_deliver(struct mad_layer *layer, uint64_t now,
                       const struct fabric_delivery *delivery)
{
    const uint8_t *mad = delivery->mad;
    if (wire_get(mad, MAD_BASE_VERSION) != 1 ||
        mad_is_smp(mad) != (delivery->header.dest_qp == QP_SMI))
        return;
    bool answer = mad_is_response(mad) && wire_get(mad, MAD_CLASS) != CLASS_CM;
    struct mad_agent *agent = answer
                                  ? mad_agent_by_tid(layer, delivery->port, wire_get(mad, MAD_TID))
                                  : mad_agent_by_method(layer, delivery->port, mad);
    if (!agent) {
        answer_unserved(layer, delivery);
        return;
    }
    if (mad_agent_has_rmpp(agent, mad))
        mad_rmpp_receive(agent, now, delivery);
    else if (answer)
        deliver_answer(layer, agent, delivery);
    else
        mad_agent_give(agent, delivery, mad, MAD_BYTES);
}

/* ---- time ---- */

uint64_t mad_layer_deadline(const struct mad_layer *layer)
{
    return des_next_time(layer->timers);
}

void mad_layer_expire(struct mad_layer *layer, uint64_t now)
{
    struct event event;
    while (des_pop(layer->timers, now, &event)) {
        if (event.kind == TIMER_REQUEST)
            mad_request_expire(layer, now, (uint32_t)event.b);
        else
            mad_rmpp_expire(layer, now, &event);
    }
}
