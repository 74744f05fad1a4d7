/* The toy wire: see toy.h. */
#include "toy.h"

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

void toy_init(struct toy *toy, unsigned count, const struct transport_config *config, uint64_t seed)
{
    *toy = (struct toy){.count = count, .ps_per_byte = 80, .latency_ps = TIME_US, .traces = true};
    rng_seed(&toy->rng, seed, 0);
    for (unsigned i = 0; i < count; i++) {
        toy->adapters[i] = transport_new(config);
        for (unsigned port = 1; port <= config->ports; port++)
            transport_set_port(
                toy->adapters[i], port,
                &(struct transport_port){.lid = (uint16_t)(TOY_LID + i + 100 * (port - 1)),
                                         .mtu = 2048,
                                         .active = true});
    }
}

void toy_release(struct toy *toy)
{
    for (unsigned i = 0; i < toy->count; i++) {
        transport_free(toy->adapters[i]);
        vec_release(&toy->events[i]);
        vec_release(&toy->violations[i]);
    }
    for (size_t i = 0; i < toy->flights.count; i++)
        free(toy->flights.items[i].bytes);
    vec_release(&toy->flights);
    vec_release(&toy->trace);
}

static uint8_t *bytes_at(uint8_t kind, uint64_t memory, uint64_t offset, uint64_t count)
{
    if (kind == PAYLOAD_WORK)
        return (uint8_t *)(uintptr_t)memory + offset;
    struct toy_region *region = (struct toy_region *)(uintptr_t)memory;
    assert_true(offset >= region->start && offset - region->start <= region->count &&
                count <= region->count - (offset - region->start));
    return region->bytes + (offset - region->start);
}

static void run_atomic(struct toy *toy, unsigned adapter, const struct transport_access *access)
{
    uint64_t before, after;
    uint8_t *at = bytes_at(access->target, access->memory, access->offset, 8);
    memcpy(&before, at, 8);
    if (access->kind == ACCESS_FETCH_ADD)
        after = before + access->swap_or_add;
    else
        after = before == access->compare ? access->swap_or_add : before;
    memcpy(at, &after, 8);
    toy->atomics++;
    transport_answer_atomic(toy->adapters[adapter], access->qp, access->ticket, before);
}

static void run_access(struct toy *toy, unsigned adapter, const struct transport_access *access)
{
    toy->places++;
    switch (access->kind) {
    case ACCESS_PLACE:
        memcpy(bytes_at(access->target, access->memory, access->offset, access->payload.bytes),
               bytes_at(access->payload.source, access->payload.memory, access->payload.offset,
                        access->payload.bytes),
               access->payload.bytes);
        break;
    case ACCESS_PLACE_ROUTE: {
        uint8_t *at = bytes_at(access->target, access->memory, 0, 40);
        memcpy(at + 8, access->route.sgid, 16);
        memcpy(at + 24, access->route.dgid, 16);
        break;
    }
    case ACCESS_PLACE_VALUE:
        memcpy(bytes_at(access->target, access->memory, access->offset, 8), &access->value, 8);
        break;
    default: run_atomic(toy, adapter, access); break;
    }
}

void toy_drain(struct toy *toy, unsigned adapter)
{
    struct transport *transport = toy->adapters[adapter];
    struct transport_access access;
    struct transport_event event;
    struct transport_violation violation;
    while (transport_next_access(transport, &access))
        run_access(toy, adapter, &access);
    while (transport_next_event(transport, &event))
        vec_push(&toy->events[adapter], event);
    while (transport_next_violation(transport, &violation))
        vec_push(&toy->violations[adapter], violation);
}

static void trace(struct toy *toy, unsigned adapter, bool sent,
                  const struct transport_packet *packet)
{
    if (toy->traces)
        vec_push(&toy->trace, ((struct toy_trace){toy->now, (uint8_t)adapter, sent, *packet}));
}

static void fly(struct toy *toy, unsigned from, unsigned to, uint64_t time,
                const struct transport_packet *packet)
{
    struct toy_flight flight = {time, toy->order++, (uint8_t)from, (uint8_t)to, *packet, NULL};
    uint32_t count = packet->payload.bytes;
    if (count && packet->payload.source != PAYLOAD_NONE && packet->payload.memory) {
        flight.bytes = malloc(count);
        memcpy(
            flight.bytes,
            bytes_at(packet->payload.source, packet->payload.memory, packet->payload.offset, count),
            count);
        flight.packet.payload.source = PAYLOAD_WORK;
        flight.packet.payload.memory = (uintptr_t)flight.bytes;
        flight.packet.payload.offset = 0;
    }
    vec_push(&toy->flights, flight);
}

/* The adapter with this LID; multicast goes to all others. */
static void launch(struct toy *toy, unsigned from, struct transport_packet *packet)
{
    uint64_t done = toy->now + transport_packet_bytes(packet) * toy->ps_per_byte;
    bool response = transport_parts_of(packet->opcode) & PART_RESPONSE;
    toy->free_at[from] = done;
    trace(toy, from, true, packet);
    if (toy->filter && !toy->filter(toy, from, packet))
        return;
    for (unsigned to = 0; to < toy->count; to++) {
        bool here = packet->dlid >= 0xC000 ? to != from : packet->dlid % 100 == TOY_LID + to;
        if (!here)
            continue;
        bool datagram = transport_service_of(packet->opcode) == TRANSPORT_UD;
        unsigned copies = rng_chance(&toy->rng, toy->duplicates) && !datagram ? 2 : 1;
        for (unsigned copy = 0; copy < copies; copy++) {
            uint64_t time = done + toy->latency_ps;
            bool lost = rng_chance(&toy->rng, toy->loss);
            if (rng_chance(&toy->rng, toy->reorder))
                time += rng_below(&toy->rng, toy->jitter_ps + 1);
            if (!lost || (toy->lose_requests_only && response))
                fly(toy, from, to, time, packet);
        }
    }
}

static void send_from(struct toy *toy, unsigned adapter)
{
    struct transport_packet packet;
    unsigned ports = transport_ready(toy->adapters[adapter], 1) ? 1 : 2;
    if (toy->stopped[adapter] || toy->free_at[adapter] > toy->now)
        return;
    for (unsigned port = ports; port <= 2; port++)
        if (transport_next_packet(toy->adapters[adapter], toy->now, port, 0xFFFF, &packet)) {
            launch(toy, adapter, &packet);
            toy_drain(toy, adapter);
            return;
        }
}

static size_t first_flight(const struct toy *toy)
{
    size_t first = 0;
    for (size_t i = 1; i < toy->flights.count; i++) {
        const struct toy_flight *a = &toy->flights.items[i], *b = &toy->flights.items[first];
        if (a->time < b->time || (a->time == b->time && a->order < b->order))
            first = i;
    }
    return first;
}

static void land(struct toy *toy, size_t index)
{
    struct toy_flight flight = toy->flights.items[index];
    toy->flights.items[index] = toy->flights.items[--toy->flights.count];
    if (!toy->stopped[flight.to]) {
        trace(toy, flight.to, false, &flight.packet);
        transport_receive(toy->adapters[flight.to], toy->now,
                          flight.packet.dlid >= 0xC000 ? 1 : flight.packet.dlid / 100 + 1,
                          &flight.packet);
        toy_drain(toy, flight.to);
    }
    free(flight.bytes);
}

static bool waits_to_send(const struct toy *toy, unsigned adapter)
{
    return !toy->stopped[adapter] && (transport_ready(toy->adapters[adapter], 1) ||
                                      transport_ready(toy->adapters[adapter], 2));
}

void toy_run(struct toy *toy, uint64_t until)
{
    for (;;) {
        uint64_t next = TIME_NEVER;
        for (unsigned i = 0; i < toy->count; i++) {
            if (toy->stopped[i])
                continue;
            transport_expire(toy->adapters[i], toy->now);
            toy_drain(toy, i);
            send_from(toy, i);
            next = time_first(next, transport_deadline(toy->adapters[i]));
            if (waits_to_send(toy, i))
                next = time_first(next, toy->free_at[i]);
        }
        size_t flight = first_flight(toy);
        if (toy->flights.count)
            next = time_first(next, toy->flights.items[flight].time);
        if (next == TIME_NEVER || next > until)
            break;
        toy->now = next > toy->now ? next : toy->now;
        if (toy->flights.count && toy->flights.items[flight].time <= toy->now)
            land(toy, flight);
    }
    if (until != TIME_NEVER && until > toy->now)
        toy->now = until;
}

/* ---- pairs ---- */

const struct toy_pair toy_pair_default = {
    .service = TRANSPORT_RC,
    .mtu = 1024,
    .psn = {100, 0xFFFFF0},
    .timeout = 8, /* 1.05 ms */
    .retry_count = 7,
    .rnr_retry = 7,
    .rnr_timer = 1,
    .reads = 4,
    .access = 15,
    .requests = 64,
    .region_bytes = 1 << 16,
    .srq = TRANSPORT_NONE,
};

void toy_end_init(struct toy *toy, struct toy_end *end, unsigned adapter,
                  const struct toy_pair *pair)
{
    struct transport *transport = toy->adapters[adapter];
    *end = (struct toy_end){.adapter = adapter, .domain = transport_add_domain(transport)};
    end->region =
        (struct toy_region){mem_zalloc(1, pair->region_bytes), 0x10000, pair->region_bytes};
    struct transport_region region = {end->domain, 15, 0x10000, pair->region_bytes,
                                      (uintptr_t)&end->region};
    assert_int_equal(transport_add_region(transport, &region, &end->key), 0);
    assert_int_equal(transport_add_cq(transport, 4096, &end->cq), 0);
    struct transport_qp_init init = {
        .service = pair->service,
        .signal_all = true,
        .credits = pair->credits,
        .domain = end->domain,
        .send_cq = end->cq,
        .receive_cq = end->cq,
        .srq = pair->srq,
        .sends = pair->requests,
        .receives = pair->requests,
    };
    assert_int_equal(transport_add_qp(transport, &init, &end->qp), 0);
}

void toy_end_release(struct toy_end *end)
{
    mem_free(end->region.bytes);
}

static void modify(struct toy *toy, const struct toy_end *end,
                   const struct transport_qp_attributes *attributes, uint32_t mask)
{
    struct err err = {0};
    if (transport_modify_qp(toy->adapters[end->adapter], toy->now, end->qp, attributes,
                            mask | ATTRIBUTE_STATE, &err))
        fail_msg("%s", err.message);
}

void toy_bring(struct toy *toy, const struct toy_end *end, const struct toy_end *peer,
               const struct toy_pair *pair, unsigned which, unsigned state)
{
    struct transport_qp_attributes attributes = {
        .access = pair->access,
        .port = 1,
        .mtu = pair->mtu,
        .q_key = 0x1234,
        .dest_qp = peer ? peer->qp : 0,
        .send_psn = pair->psn[which],
        .receive_psn = pair->psn[!which],
        .path = {.dlid = (uint16_t)(peer ? TOY_LID + peer->adapter : 0)},
        .retry_count = pair->retry_count,
        .rnr_retry = pair->rnr_retry,
        .rnr_timer = pair->rnr_timer,
        .timeout = pair->timeout,
        .reads = pair->reads,
        .reads_accepted = pair->reads,
    };
    for (unsigned from = STATE_RESET, to = STATE_INIT; from < state; from = to++) {
        uint32_t required, optional;
        attributes.state = (uint8_t)to;
        assert_true(transport_transition(pair->service, from, to, &required, &optional));
        modify(toy, end, &attributes, required);
    }
}

void toy_connect(struct toy *toy, struct toy_end ends[2], const struct toy_pair *pair)
{
    struct toy_pair first = *pair;
    first.srq = TRANSPORT_NONE;
    toy_end_init(toy, &ends[0], 0, &first);
    toy_end_init(toy, &ends[1], 1, pair);
    for (unsigned i = 0; i < 2; i++)
        toy_bring(toy, &ends[i], &ends[!i], pair, i, STATE_RTS);
}

int toy_send(struct toy *toy, struct toy_end *end, unsigned operation, uint64_t id, uint32_t offset,
             uint32_t bytes, uint32_t remote_offset, const struct toy_end *remote)
{
    struct transport_segment segment = {end->region.start + offset, bytes, end->key};
    struct transport_work work = {
        .id = id,
        .memory = (uintptr_t)(end->region.bytes + offset),
        .operation = (uint8_t)operation,
        .segment_count = 1,
        .segments = &segment,
        .immediate = (uint32_t)id,
        .r_key = remote ? remote->key : 0,
        .address = remote ? remote->region.start + remote_offset : 0,
    };
    return transport_post_send(toy->adapters[end->adapter], end->qp, &work);
}

int toy_receive(struct toy *toy, struct toy_end *end, uint64_t id, uint32_t offset, uint32_t bytes)
{
    struct transport_segment segment = {end->region.start + offset, bytes, end->key};
    struct transport_receive_work work = {id, (uintptr_t)(end->region.bytes + offset), 1, &segment};
    return transport_post_receive(toy->adapters[end->adapter], end->qp, &work);
}

struct transport_completion toy_poll(struct toy *toy, const struct toy_end *end)
{
    struct transport_completion completion;
    if (!transport_poll(toy->adapters[end->adapter], end->cq, &completion))
        completion = (struct transport_completion){.status = 255};
    return completion;
}

bool toy_had_event(const struct toy *toy, unsigned adapter, unsigned kind)
{
    for (size_t i = 0; i < toy->events[adapter].count; i++)
        if (toy->events[adapter].items[i].kind == kind)
            return true;
    return false;
}
