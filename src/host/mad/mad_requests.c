/* Outstanding requests: lookup by transaction ID, retries, time-outs.
 *
 * Requests are stored in a pool. The map has the first request of a transaction ID; further ones,
 * of other classes, are linked to it. */
#include "host/mad/mad_internal.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define KERNEL_TICK (4 * TIME_MS)

/* The kernel rounds time-outs up to its tick. With that, a program that waits in poll(2) for the
 * same time always sees poll's time-out first. */
static void start_request_timer(struct mad_layer *layer, uint64_t now, uint32_t index)
{
    struct mad_request *request = &layer->requests.items[index];
    uint64_t tick = (now + request->timeout_ps) / KERNEL_TICK + 1;
    request->timer = des_schedule(layer->timers, tick * KERNEL_TICK,
                                  (struct event){.kind = TIMER_REQUEST, .b = index});
}

void mad_request_add(struct mad_agent *agent, uint64_t now, const struct mad_head *head,
                     const struct packet_header *packet, const uint8_t mad[MAD_BYTES])
{
    struct mad_layer *layer = agent->file->layer;
    assert(head->timeout_ms > 0);
    uint32_t index = pool_take(&layer->requests);
    struct mad_request *request = &layer->requests.items[index];
    *request = (struct mad_request){.tid = wire_get(mad, MAD_TID),
                                    .agent = agent,
                                    .head = *head,
                                    .packet = *packet,
                                    .timeout_ps = head->timeout_ms * TIME_MS,
                                    .retries = head->retries,
                                    .next = map_get(&layer->request_slots, wire_get(mad, MAD_TID))};
    memcpy(request->mad, mad, MAD_BYTES);
    map_set(&layer->request_slots, request->tid, index);
    agent->file->status.requests++;
    start_request_timer(layer, now, index);
}

uint32_t mad_request_find(const struct mad_layer *layer, uint64_t tid, unsigned class)
{
    uint32_t index = map_get(&layer->request_slots, tid);
    while (index != NONE && wire_get(layer->requests.items[index].mad, MAD_CLASS) != class)
        index = layer->requests.items[index].next;
    return index;
}

void mad_request_done(struct mad_layer *layer, uint32_t index)
{
    assert(index < layer->requests.count && layer->requests.items[index].agent);
    struct mad_request *request = &layer->requests.items[index];
    uint32_t first = map_get(&layer->request_slots, request->tid);
    if (first != index) {
        while (layer->requests.items[first].next != index)
            first = layer->requests.items[first].next;
        layer->requests.items[first].next = request->next;
    } else if (request->next != NONE) {
        map_set(&layer->request_slots, request->tid, request->next);
    } else {
        map_remove(&layer->request_slots, request->tid);
    }
    assert(request->agent->file->status.requests > 0);
    des_cancel(layer->timers, request->timer);
    request->agent->file->status.requests--;
    request->agent = NULL;
    pool_give(&layer->requests, index);
}

/* As in the kernel, a program gets back the common MAD header of its request, with the transaction
 * ID that was sent. */
void mad_request_expire(struct mad_layer *layer, uint64_t now, uint32_t index)
{
    assert(index < layer->requests.count && layer->requests.items[index].agent);
    struct mad_request *request = &layer->requests.items[index];
    struct mad_file *file = request->agent->file;
    if (request->retries > 0) {
        request->retries--;
        start_request_timer(layer, now, index);
        fabric_send(layer->fabric, file->port, &request->packet, request->mad);
        return;
    }
    file->status.timeouts++;
    request->head.status = ETIMEDOUT;
    mad_file_enqueue(file, &request->head, request->mad, MAD_HEADER_BYTES);
    mad_request_done(layer, index);
}

void mad_requests_drop(struct mad_agent *agent)
{
    struct mad_layer *layer = agent->file->layer;
    for (uint32_t i = 0; i < layer->requests.count && agent->file->status.requests > 0; i++)
        if (layer->requests.items[i].agent == agent)
            mad_request_done(layer, i);
}
