/* The transport layer under any sequence of packets, work requests, state changes and times.
 *
 * The input is a list of steps at an adapter with three QPs, one of each service, whose peers do
 * not exist: the input plays them. A packet is put together from a few bytes around the PSNs that
 * the QP expects, so that a short input gets beyond the first checks. After every step the promises
 * hold that an owner relies on: packets that leave are well-formed and survive encoding, accesses
 * stay within what was registered and allowed, each request completes once and in order, and
 * events, timers and violations are bounded. */
#include "base/map.h"
#include "input.h"
#include "pure.h"
#include "transport/transport.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { QPS = 3, STEPS_AT_MOST = 300, REGION = 1 << 16, START = 1 << 20, CAPACITY = 16 };

struct world {
    struct transport *transport;
    uint64_t now, digest;
    uint32_t qps[QPS], cq, keys[2]; /* keys: everything; local only */
    uint64_t next_send[QPS], next_receive[QPS], sent[QPS], received[QPS];
    bool ordered[QPS]; /* until a reset forgets requests */
};

static const uint8_t services[QPS] = {TRANSPORT_RC, TRANSPORT_UC, TRANSPORT_UD};

/* ---- the adapter ---- */

static struct transport_qp_attributes attributes_for(const struct world *world, unsigned which)
{
    return (struct transport_qp_attributes){
        .access = 14,
        .port = 1,
        .mtu = 256,
        .q_key = 7,
        .dest_qp = 100 + which,
        .receive_psn = 0xFFFFFE,
        .send_psn = 0xFFFFFC,
        .path = {.dlid = 2},
        .alternate = {.dlid = 3, .port = 2, .timeout = 2},
        .migration = MIGRATION_REARM,
        .retry_count = 3,
        .rnr_retry = 2,
        .rnr_timer = 1,
        .timeout = 1,
        .reads = 2,
        .reads_accepted = 2,
        .current_state = (uint8_t)(world->now & 3),
    };
}

static void advance_state(struct world *world, unsigned which, unsigned to)
{
    struct transport_qp_attributes attributes = attributes_for(world, which);
    struct transport_qp_view view;
    uint32_t required, optional;
    transport_query_qp(world->transport, world->qps[which], &view);
    if (!transport_transition(services[which], view.attributes.state, to, &required, &optional))
        required = 0;
    attributes.state = (uint8_t)to;
    transport_modify_qp(world->transport, world->now, world->qps[which], &attributes,
                        required | ATTRIBUTE_STATE, NULL);
    if (to == STATE_RESET) {
        world->ordered[which] = false;
    }
}

static void make_world(struct world *world)
{
    struct transport_config config;
    transport_config_init(&config);
    config.accesses = true;
    config.ports = 2;
    config.window = 8;
    config.packets_per_acknowledge = 3;
    *world = (struct world){.transport = transport_new(&config)};
    struct transport_port port = {.lid = 1, .mtu = 2048, .active = true};
    transport_set_port(world->transport, 1, &port);
    port.lid = 11;
    transport_set_port(world->transport, 2, &port);
    uint32_t domain = transport_add_domain(world->transport);
    struct transport_region region = {domain, 15, START, REGION, 1};
    promise(transport_add_region(world->transport, &region, &world->keys[0]) == 0);
    region.rights = RIGHT_LOCAL_WRITE;
    region.memory = 2;
    promise(transport_add_region(world->transport, &region, &world->keys[1]) == 0);
    promise(transport_add_cq(world->transport, 4096, &world->cq) == 0);
    for (unsigned i = 0; i < QPS; i++) {
        struct transport_qp_init init = {services[i], true,           i == 0,   domain,  world->cq,
                                         world->cq,   TRANSPORT_NONE, CAPACITY, CAPACITY};
        promise(transport_add_qp(world->transport, &init, &world->qps[i]) == 0);
        world->ordered[i] = true;
        for (unsigned to = STATE_INIT; to <= STATE_RTS; to++)
            advance_state(world, i, to);
    }
}

/* ---- steps ---- */

static void step_packet(struct world *world, struct input *input)
{
    unsigned which = take(input) % QPS, flags = take(input);
    struct transport_qp_view view;
    transport_query_qp(world->transport, world->qps[which], &view);
    uint8_t opcode = TRANSPORT_OPCODE(services[which], take(input) & 31);
    bool response = transport_parts_of(opcode) & PART_RESPONSE;
    uint32_t base = response ? view.unacknowledged_psn : view.expected_psn;
    static const uint32_t lengths[] = {0, 8, 256, 100};
    struct transport_packet packet = {
        .slid = flags & 1 ? (uint16_t)take(input) : 2,
        .dlid = 1,
        .opcode = flags & 2 ? (uint8_t)take(input) : opcode,
        .migrated = flags & 4,
        .acknowledge = flags & 8,
        .solicited = flags & 16,
        .p_key = flags & 32 ? (uint16_t)take_bytes(input, 2) : 0xFFFF,
        .dest_qp = world->qps[which],
        .psn = (base + (uint32_t)(int8_t)take(input) / 16) & TRANSPORT_PSN_MASK,
        .q_key = take(input) & 7,
        .payload = {.bytes = lengths[flags >> 6], .source = PAYLOAD_WORK, .memory = 99},
    };
    unsigned parts = transport_parts_of(packet.opcode);
    if (parts & (PART_RETH | PART_ATOMIC_ETH)) {
        packet.r_key = world->keys[0] + (take(input) & 15 ? 0 : take(input));
        packet.address = START + (take(input) & 15 ? take_bytes(input, 2) & ~7u
                                                   : (uint64_t)take_bytes(input, 4) << 20);
        packet.dma_bytes =
            take(input) & 7 ? packet.payload.bytes + 256 * (take(input) & 3) : take_bytes(input, 4);
    }
    packet.syndrome = (uint8_t)(parts & PART_AETH ? take(input) : 0);
    packet.msn = parts & PART_AETH ? take(input) : 0;
    packet.immediate = parts & PART_INVALIDATE ? world->keys[1] : take(input);
    transport_receive(world->transport, world->now, 1 + (flags & 1 && take(input) & 1), &packet);
}

static void step_send(struct world *world, struct input *input)
{
    unsigned which = take(input) % QPS, flags = take(input);
    struct transport_segment segments[2];
    struct transport_path path = {.dlid = 2, .sl = flags & 3};
    for (unsigned i = 0; i < 2; i++)
        segments[i] = (struct transport_segment){START + take(input) * 8u, take(input) * 8u,
                                                 world->keys[0] + (flags == 255)};
    struct transport_work work = {
        .id = world->next_send[which],
        .memory = 3,
        .operation = (uint8_t)(take(input) % 10),
        .flags = (uint8_t)(flags >> 4),
        .segment_count = (uint8_t)(flags >> 2 & 1 ? 2 : 1),
        .segments = segments,
        .r_key = 5,
        .address = 6,
        .path = &path,
        .dest_qp = 200,
        .q_key = 7,
    };
    if (work.operation >= WORK_COMPARE_SWAP)
        segments[0].bytes = 8;
    if (transport_post_send(world->transport, world->qps[which], &work) == 0)
        world->next_send[which]++;
}

static void step_receive(struct world *world, struct input *input)
{
    unsigned which = take(input) % QPS;
    struct transport_segment segment = {START, take(input) * 8u, world->keys[0]};
    struct transport_receive_work work = {world->next_receive[which], 4, 1, &segment};
    if (take(input) == 0)
        segment.key++;
    if (transport_post_receive(world->transport, world->qps[which], &work) == 0)
        world->next_receive[which]++;
}

/* ---- promises ---- */

static void note(struct world *world, uint64_t value)
{
    world->digest = hash_mix(world->digest ^ value);
}

static void check_packet(struct world *world, const struct transport_packet *packet)
{
    uint8_t bytes[64 + TRANSPORT_OVERHEAD_MAX], vl;
    const uint8_t *payload;
    struct transport_packet back;
    unsigned parts = transport_parts_of(packet->opcode);
    promise(parts != 0 && packet->psn <= TRANSPORT_PSN_MASK && packet->msn <= 0xFFFFFF);
    promise(packet->payload.bytes <= 2048 && (parts & PART_PAYLOAD || !packet->payload.bytes));
    if (packet->payload.source == PAYLOAD_REGION)
        promise(packet->payload.memory == 1 && packet->payload.offset >= START &&
                packet->payload.offset + packet->payload.bytes <= START + REGION);
    struct transport_packet sent = *packet;
    sent.payload.bytes %= 64; /* the headers matter here, and checksums take time */
    size_t count = transport_packet_encode(&sent, 0, NULL, bytes);
    promise(transport_packet_decode(&back, &vl, bytes, count, &payload) == 0);
    promise(back.psn == packet->psn && back.opcode == packet->opcode &&
            back.dest_qp == packet->dest_qp && back.payload.bytes == sent.payload.bytes);
    for (size_t i = 0; i < count && i < 60; i++)
        note(world, bytes[i]);
}

static void check_access(struct world *world, const struct transport_access *access)
{
    uint64_t bytes = access->kind == ACCESS_PLACE         ? access->payload.bytes
                     : access->kind == ACCESS_PLACE_ROUTE ? 40
                                                          : 8;
    if (access->target == PAYLOAD_REGION) {
        promise(access->memory == 1 && access->key == world->keys[0]);
        promise(access->offset >= START && access->offset + bytes <= START + REGION);
    } else {
        promise(access->memory == 3 || access->memory == 4);
        promise(access->offset + bytes <= 4096);
    }
    if (access->kind == ACCESS_COMPARE_SWAP || access->kind == ACCESS_FETCH_ADD)
        transport_answer_atomic(world->transport, access->qp, access->ticket, world->now);
    note(world, access->offset);
}

static void check_completion(struct world *world, const struct transport_completion *completion)
{
    unsigned which = 0;
    while (which < QPS && world->qps[which] != completion->qp)
        which++;
    promise(which < QPS && completion->status < TRANSPORT_STATUSES);
    bool receive = completion->operation >= WORK_RECEIVE;
    uint64_t *done = receive ? &world->received[which] : &world->sent[which];
    if (world->ordered[which])
        promise(completion->id == *done);
    promise(completion->id >= *done &&
            completion->id < (receive ? world->next_receive : world->next_send)[which]);
    *done = completion->id + 1;
    note(world, completion->id * 16 + completion->status);
}

static void drain(struct world *world)
{
    struct transport_access access;
    struct transport_completion completion;
    struct transport_event event;
    struct transport_violation violation;
    while (transport_next_access(world->transport, &access))
        check_access(world, &access);
    while (transport_poll(world->transport, world->cq, &completion))
        check_completion(world, &completion);
    while (transport_next_event(world->transport, &event))
        note(world, event.kind);
    while (transport_next_violation(world->transport, &violation))
        note(world, violation.key);
    promise(transport_deadline(world->transport) > world->now);
}

static void step_pull(struct world *world, unsigned most)
{
    struct transport_packet packet;
    for (unsigned port = 1; port <= 2; port++)
        for (unsigned i = 0; i < most; i++) {
            if (!transport_next_packet(world->transport, world->now, port, 0xFFFF, &packet))
                break;
            check_packet(world, &packet);
        }
}

static void step(struct world *world, struct input *input)
{
    unsigned kind = take(input);
    switch (kind % 8) {
    case 0:
    case 1:
    case 2: step_packet(world, input); break;
    case 3: step_send(world, input); break;
    case 4: step_receive(world, input); break;
    case 5: step_pull(world, kind / 8); break;
    case 6:
        world->now += (uint64_t)(kind / 8) * kind * TIME_US;
        transport_expire(world->transport, world->now);
        break;
    default:
        if (kind / 8 % 4 == 0)
            advance_state(world, take(input) % QPS, take(input) % TRANSPORT_STATES);
        else if (kind / 8 % 4 == 1)
            transport_set_port(world->transport, 1,
                               &(struct transport_port){.lid = 1, .mtu = 256, .active = kind & 64});
        else
            step_pull(world, 1);
    }
    transport_expire(world->transport, world->now);
    drain(world);
}

static uint64_t run(const uint8_t *data, size_t size)
{
    struct world world;
    struct input input = {data, size};
    make_world(&world);
    for (unsigned steps = 0; input.left && steps < STEPS_AT_MOST; steps++)
        step(&world, &input);
    for (unsigned i = 0; i < QPS; i++) /* all that is left is flushed */
        advance_state(&world, i, STATE_ERROR);
    drain(&world);
    for (unsigned i = 0; i < QPS; i++)
        if (world.ordered[i])
            promise(world.sent[i] == world.next_send[i] &&
                    world.received[i] == world.next_receive[i]);
    transport_free(world.transport);
    return world.digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    run_pure(run, data, size);
    return 0;
}
