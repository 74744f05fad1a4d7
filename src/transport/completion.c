/* Completion queues, asynchronous events and key violations: what a transport tells its owner.
 *
 * A CQ is a ring that grows to its capacity as completions wait. One that overflows is lost for
 * good: its QPs enter Error as they complete (11.6.3.1). */
#include "transport/internal.h"

#include <errno.h>

const char *const transport_status_names[TRANSPORT_STATUSES] = {
    "success",
    "local length error",
    "local QP operation error",
    "local protection error",
    "flushed",
    "bad response",
    "remote invalid request",
    "remote access error",
    "remote operation error",
    "retries exceeded",
    "RNR retries exceeded",
};

static struct cq *cq_find(const struct transport *transport, uint32_t number)
{
    return number < transport->cqs.count && transport->cqs.items[number].used
               ? &transport->cqs.items[number]
               : NULL;
}

int transport_add_cq(struct transport *transport, uint32_t capacity, uint32_t *cq)
{
    if (capacity == 0)
        return -EINVAL;
    *cq = pool_take(&transport->cqs);
    transport->cqs.items[*cq] = (struct cq){.used = true, .capacity = capacity};
    return 0;
}

int transport_resize_cq(struct transport *transport, uint32_t number, uint32_t capacity)
{
    struct cq *cq = cq_find(transport, number);
    if (!cq || capacity == 0 || capacity < cq->count)
        return -EINVAL;
    cq->capacity = capacity;
    return 0;
}

int transport_remove_cq(struct transport *transport, uint32_t number)
{
    struct cq *cq = cq_find(transport, number);
    if (!cq)
        return -EINVAL;
    if (cq->users)
        return -EBUSY;
    mem_free(cq->ring);
    *cq = (struct cq){0};
    pool_give(&transport->cqs, number);
    return 0;
}

int cq_use(struct transport *transport, uint32_t number, int change)
{
    struct cq *cq = cq_find(transport, number);
    if (!cq)
        return -EINVAL;
    cq->users += (uint32_t)change;
    return 0;
}

static void cq_grow(struct cq *cq)
{
    uint32_t size = cq->size ? cq->size * 2 : 16;
    struct transport_completion *ring = mem_alloc(size * sizeof *ring);
    for (uint32_t i = 0; i < cq->count; i++)
        ring[i] = cq->ring[(cq->first + i) & (cq->size - 1)];
    mem_free(cq->ring);
    cq->ring = ring;
    cq->size = size;
    cq->first = 0;
}

bool complete(struct transport *transport, uint32_t number, const struct transport_completion *from)
{
    struct cq *cq = &transport->cqs.items[number];
    if (cq->count == cq->capacity) {
        if (!cq->overrun)
            report_event(transport, EVENT_CQ_ERROR, number);
        cq->overrun = true;
        return false;
    }
    if (cq->count == cq->size)
        cq_grow(cq);
    cq->ring[(cq->first + cq->count++) & (cq->size - 1)] = *from;
    if (cq->armed && (!cq->solicited_only || from->solicited || from->status != STATUS_SUCCESS)) {
        cq->armed = false;
        report_event(transport, EVENT_COMPLETION, number);
    }
    return true;
}

bool transport_poll(struct transport *transport, uint32_t number,
                    struct transport_completion *completion)
{
    struct cq *cq = cq_find(transport, number);
    if (!cq || cq->count == 0)
        return false;
    *completion = cq->ring[cq->first];
    cq->first = (cq->first + 1) & (cq->size - 1);
    cq->count--;
    return true;
}

void transport_arm_cq(struct transport *transport, uint32_t number, bool solicited_only)
{
    struct cq *cq = cq_find(transport, number);
    if (!cq)
        return;
    cq->solicited_only = solicited_only && (!cq->armed || cq->solicited_only);
    cq->armed = true;
}

void report_event(struct transport *transport, unsigned kind, uint32_t object)
{
    vec_push(&transport->events, ((struct transport_event){(uint8_t)kind, object}));
}

bool transport_next_event(struct transport *transport, struct transport_event *event)
{
    if (transport->events_taken == transport->events.count)
        return false;
    *event = transport->events.items[transport->events_taken++];
    transport->events_taken = vec_drop_taken(&transport->events, transport->events_taken);
    return true;
}

/* An owner that reads no violations still has bounded memory. */
enum { VIOLATIONS_KEPT = 64 };

void report_violation(struct transport *transport, unsigned port,
                      const struct transport_packet *packet, bool q_key)
{
    struct transport_violation violation = {
        .q_key = q_key,
        .port = (uint8_t)port,
        .sl = packet->sl,
        .slid = packet->slid,
        .dlid = packet->dlid,
        .key = q_key ? packet->q_key : packet->p_key,
        .source_qp = packet->src_qp,
        .dest_qp = packet->dest_qp,
        .global = packet->global,
    };
    if (q_key)
        transport->counters.q_key_violations++;
    else
        transport->counters.p_key_violations++;
    if (transport->violations.count - transport->violations_taken >= VIOLATIONS_KEPT)
        return;
    memcpy(violation.sgid, packet->route.sgid, sizeof violation.sgid);
    memcpy(violation.dgid, packet->route.dgid, sizeof violation.dgid);
    vec_push(&transport->violations, violation);
}

bool transport_next_violation(struct transport *transport, struct transport_violation *violation)
{
    if (transport->violations_taken == transport->violations.count)
        return false;
    *violation = transport->violations.items[transport->violations_taken++];
    transport->violations_taken =
        vec_drop_taken(&transport->violations, transport->violations_taken);
    return true;
}
