/* Communication management under any sequence of messages, calls and times.
 *
 * The input is a list of steps at one end. It plays the other ends: a message is put together from
 * few bytes, around the IDs that are in use, so that a short input gets beyond the first checks, or
 * is any MAD. The promises: what leaves is well-formed, the number of connections is bounded, an
 * event names a connection that exists or has just ended, an ID ends once, no deadline lies in the
 * past, and when all that waits has run out of time only established connections are left. */
#include "base/map.h"
#include "base/time.h"
#include "cm/cm.h"
#include "input.h"
#include "pure.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CONNECTIONS = 6, STEPS_AT_MOST = 300, GUIDS = 3, FIRST_ID = 10, SERVICE = 5 };

struct world {
    struct cm *cm;
    uint64_t now, digest;
    uint32_t open[CONNECTIONS]; /* IDs that events or calls have named, and that have not ended */
};

static void note(struct world *world, uint64_t value)
{
    world->digest = hash_mix(world->digest ^ value);
}

static void opened(struct world *world, uint32_t id)
{
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        promise(world->open[i] != id);
        if (world->open[i] == 0) {
            world->open[i] = id;
            return;
        }
    }
    promise(false); /* more than the limit */
}

static void ended(struct world *world, uint32_t id)
{
    unsigned i = 0;
    while (i < CONNECTIONS && world->open[i] != id)
        i++;
    promise(i < CONNECTIONS);
    world->open[i] = 0;
}

static void drain(struct world *world)
{
    struct cm_output output;
    struct cm_event event;
    struct cm_message message;
    while (cm_next_output(world->cm, &output)) {
        promise(cm_decode(&message, output.mad) == 0);
        note(world, hash_fnv1a(output.mad, sizeof output.mad));
    }
    while (cm_next_event(world->cm, &event)) {
        note(world, (uint64_t)event.kind << 32 | event.id);
        switch (event.kind) {
        case CM_EVENT_REQUEST:
        case CM_EVENT_SERVICE_REQUEST: opened(world, event.id); break;
        case CM_EVENT_REJECTED:
        case CM_EVENT_UNREACHABLE:
        case CM_EVENT_RELEASED:
        case CM_EVENT_SERVICE: ended(world, event.id); break;
        default: break;
        }
    }
    for (unsigned i = 0; i < CONNECTIONS; i++)
        promise(!world->open[i] || cm_state(world->cm, world->open[i]) != CM_FREE);
    promise(cm_connections(world->cm) <= CONNECTIONS);
    promise(cm_deadline(world->cm) > world->now);
}

/* One of the IDs that are in use, or one that is not. */
static uint32_t some_id(const struct world *world, unsigned choice)
{
    uint32_t id = world->open[choice % CONNECTIONS];
    return id && choice < 200 ? id : FIRST_ID + choice % 16;
}

static void step_message(struct world *world, struct input *input)
{
    static const uint8_t kinds[] = {0x10, 0x11, 0x12, 0x13, 0x14, 0x15,
                                    0x16, 0x17, 0x18, 0x19, 0x1A};
    struct cm_message message = {.kind = kinds[take(input) % sizeof kinds]};
    unsigned peer = take(input), more = take(input);
    struct cm_address from = {.lid = (uint16_t)(1 + peer % GUIDS)};
    uint8_t mad[MAD_BYTES];
    message.tid = more % 8;
    message.local_id = 100 + peer / 16;
    message.remote_id = some_id(world, take(input));
    message.ca_guid = 1 + peer % GUIDS;
    message.service_id = SERVICE + (more % 16 == 15);
    message.service = more % 5 == 4;
    message.qpn = 200 + peer / 32;
    message.remote_qpn = 300 + more % 2;
    message.cm_retries = more % 4;
    message.local_timeout = more % 6;
    message.service_timeout = more % 9;
    message.answers = more % 4;
    message.reason = more % 32;
    message.status = more % 3;
    message.information_bytes = more % 3 * 8;
    wire_set_bits(message.information, 0, 64, message.ca_guid);
    message.primary.ack_timeout = more % 7;
    cm_encode(&message, mad);
    cm_receive(world->cm, world->now, mad, &from);
}

static void step_any(struct world *world, struct input *input)
{
    uint8_t mad[MAD_BYTES] = {1, 7, 2, 3};
    size_t bytes = input->left < MAD_BYTES - 4 ? input->left : MAD_BYTES - 4;
    for (size_t i = 0; i < bytes; i++)
        mad[4 + i] = (uint8_t)take(input);
    cm_receive(world->cm, world->now, mad, &(struct cm_address){.lid = 9});
}

static void step_call(struct world *world, struct input *input)
{
    unsigned call = take(input) % 12, value = take(input);
    uint32_t id = some_id(world, take(input));
    struct cm_address to = {.lid = (uint16_t)(1 + value % GUIDS)};
    struct cm_message message = {.service_id = SERVICE,
                                 .qpn = 300 + value % 2,
                                 .reason = (uint16_t)value,
                                 .primary.ack_timeout = value % 7};
    bool known = cm_state(world->cm, id) != CM_FREE;
    uint32_t made = 0;
    int status = -1;
    switch (call) {
    case 0: made = cm_connect(world->cm, world->now, &message, &to); break;
    case 1: made = cm_resolve(world->cm, world->now, &message, &to); break;
    case 2: status = cm_accept(world->cm, world->now, id, &message); break;
    case 3: status = cm_reject(world->cm, world->now, id, &message); break;
    case 4: status = cm_delay(world->cm, world->now, id, value % 40); break;
    case 5: status = cm_confirm(world->cm, world->now, id); break;
    case 6: status = cm_established(world->cm, world->now, id); break;
    case 7: status = cm_disconnect(world->cm, world->now, id); break;
    case 8: status = cm_load_alternate(world->cm, world->now, id, &message.primary); break;
    case 9: status = cm_answer_alternate(world->cm, world->now, id, CM_LOADED); break;
    case 10: status = cm_answer_service(world->cm, world->now, id, &message); break;
    default:
        if (value % 2)
            cm_unlisten(world->cm, SERVICE);
        else
            cm_listen(world->cm, SERVICE);
    }
    if (made)
        opened(world, made);
    promise(known || status);
    if (status == 0 && (call == 3 || call == 10))
        ended(world, id);
}

static void advance(struct world *world, uint64_t by)
{
    world->now += by;
    cm_expire(world->cm, world->now);
}

static uint64_t run(const uint8_t *data, size_t size)
{
    struct world world = {0};
    struct input input = {data, size};
    struct cm_config config;
    cm_config_init(&config);
    config.first_id = FIRST_ID;
    config.ca_guid = 99;
    config.connections = CONNECTIONS;
    config.response = 2;
    config.packet_life = 1;
    config.cm_retries = 2;
    world.cm = cm_new(&config);
    cm_listen(world.cm, SERVICE);
    for (unsigned steps = 0; input.left && steps < STEPS_AT_MOST; steps++) {
        unsigned kind = take(&input);
        if (kind % 16 == 15)
            step_any(&world, &input);
        else if (kind % 4 == 0)
            step_call(&world, &input);
        else if (kind % 4 == 1)
            advance(&world, kind * TIME_US);
        else
            step_message(&world, &input);
        cm_expire(world.cm, world.now);
        drain(&world);
    }
    for (unsigned i = 0; i < 8; i++) { /* longer than all repetitions, delays and waits */
        advance(&world, cm_time_ps(31));
        drain(&world);
    }
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        enum cm_state state = world.open[i] ? cm_state(world.cm, world.open[i]) : CM_FREE;
        /* Only those are left that wait for their owner, or for nothing. */
        promise(state == CM_FREE || state == CM_ESTABLISHED || state == CM_REQ_RECEIVED ||
                state == CM_REP_RECEIVED || state == CM_SIDR_RECEIVED);
    }
    cm_free(world.cm);
    return world.digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    run_pure(run, data, size);
    return 0;
}
