/* The server's input: what clients may send, in any order, without sockets.
 *
 * An input is a sequence of steps, each a byte that says what happens, a byte that says to which of
 * a few sessions, a length byte (in units of 8) and so many bytes. Raw packets alone would hardly
 * ever get past the first check, so there are steps that make the frame right and leave the rest
 * to chance. After each step the network comes to rest and all messages are read. */
#include "base/time.h"
#include "host/server/session.h"
#include "small_fabric.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SESSIONS = 4, STEPS = 200, UNIT = 8 };

enum step {
    STEP_RAW,      /* a packet as it is */
    STEP_REQUEST,  /* a request: the bytes come behind magic and version */
    STEP_OPEN,     /* a new session with an opened port at node `bytes[0]` */
    STEP_REGISTER, /* an agent with that registration */
    STEP_MAD,      /* head and MAD, sent by an agent that may be there */
    STEP_LONG,     /* a long message in the same way */
    STEP_CONTROL,  /* words for `weft ctl` */
    STEP_END,      /* the session ends */
    STEP_TIME,     /* time passes */
    STEP_COUNT,
};

struct theatre {
    struct fabric *fabric;
    struct clients clients;
    struct session *sessions[SESSIONS];
    uint32_t handles;
};

static void open_theatre(struct theatre *theatre)
{
    struct fabric_options options;
    memset(theatre, 0, sizeof *theatre);
    fabric_options_preset(&options, "paper", NULL);
    theatre->fabric = fabric_new(small_topology(), &options, 1);
    clients_init(&theatre->clients, theatre->fabric, &(struct attachment){.node = A});
}

static void close_theatre(struct theatre *theatre)
{
    clients_release(&theatre->clients);
    fabric_free(theatre->fabric);
}

static void end_session(struct theatre *theatre, unsigned which)
{
    if (theatre->sessions[which])
        session_end(theatre->sessions[which]);
    theatre->sessions[which] = NULL;
}

static void receive(struct theatre *theatre, unsigned which, const void *packet, size_t bytes,
                    const uint8_t *message, size_t message_bytes)
{
    const char *answer;
    size_t length;
    if (!theatre->sessions[which])
        theatre->sessions[which] = session_begin(&theatre->clients, NULL, ++theatre->handles, 1);
    struct session *session = theatre->sessions[which];
    if (session_receive(session, packet, bytes, message, message_bytes) < 0) {
        end_session(theatre, which);
        return;
    }
    while (session_next_answer(session, &answer, &length))
        session_answer_sent(session, length);
    if (session->state == SESSION_DONE)
        end_session(theatre, which);
}

static struct request make_request(enum request_kind ask)
{
    return (struct request){.magic = PROTOCOL_MAGIC, .version = PROTOCOL_VERSION, .kind = ask};
}

/* Copies at most as much as fits. */
static void overlay(void *target, size_t room, const uint8_t *bytes, size_t count)
{
    memcpy(target, bytes, count < room ? count : room);
}

static void open_port(struct theatre *theatre, unsigned which, const uint8_t *bytes, size_t count)
{
    static const char *const places[] = {"A", "B", "S", "A:2"};
    struct request request = make_request(REQUEST_OPEN);
    strcpy(request.attach, places[count ? bytes[0] % 4 : 0]);
    end_session(theatre, which);
    receive(theatre, which, &request, sizeof request, NULL, 0);
}

static void send_mad(struct theatre *theatre, unsigned which, const uint8_t *bytes, size_t count,
                     bool is_long)
{
    struct {
        struct mad_head head;
        uint8_t mad[MAD_BYTES];
    } packet;
    uint8_t message[8192];
    memset(&packet, 0, sizeof packet);
    overlay(&packet, sizeof packet, bytes, count);
    packet.head.agent %= 3;
    packet.mad[0] = 1;
    if (!is_long) {
        receive(theatre, which, &packet, sizeof packet, NULL, 0);
        return;
    }
    for (size_t i = 0; i < sizeof message; i++)
        message[i] = i < MAD_BYTES ? packet.mad[i] : (uint8_t)i;
    size_t length = MAD_BYTES + (count ? bytes[count - 1] : 0u) * 31u;
    receive(theatre, which, &packet, sizeof packet, message, length);
}

static void pass_time(struct theatre *theatre, const uint8_t *bytes, size_t count)
{
    theatre->clients.now += (count ? bytes[0] + 1u : 1u) * 50 * TIME_MS;
    fabric_run_timers(theatre->fabric, theatre->clients.now);
    mad_layer_expire(theatre->clients.mads, theatre->clients.now);
}

static void take_step(struct theatre *theatre, enum step step, unsigned which, const uint8_t *bytes,
                      size_t count)
{
    struct request request = make_request(REQUEST_REGISTER);
    switch (step) {
    case STEP_RAW: receive(theatre, which, bytes, count, NULL, 0); break;
    case STEP_REQUEST:
        overlay(&request.kind, sizeof request - 8, bytes, count);
        receive(theatre, which, &request, sizeof request, NULL, 0);
        break;
    case STEP_OPEN: open_port(theatre, which, bytes, count); break;
    case STEP_REGISTER:
        if (!theatre->sessions[which])
            break;
        request.handle = theatre->sessions[which]->handle - 1;
        overlay(&request.registration, sizeof request.registration, bytes, count);
        end_session(theatre, (which + 1) % SESSIONS);
        receive(theatre, (which + 1) % SESSIONS, &request, sizeof request, NULL, 0);
        break;
    case STEP_MAD: send_mad(theatre, which, bytes, count, false); break;
    case STEP_LONG: send_mad(theatre, which, bytes, count, true); break;
    case STEP_CONTROL:
        request = make_request(REQUEST_CTL);
        overlay(request.text, sizeof request.text, bytes, count);
        end_session(theatre, which);
        receive(theatre, which, &request, sizeof request, NULL, 0);
        break;
    case STEP_END: end_session(theatre, which); break;
    case STEP_TIME: pass_time(theatre, bytes, count); break;
    case STEP_COUNT: break;
    }
}

static void settle(struct theatre *theatre)
{
    struct fabric_delivery delivery;
    struct mad_file *file;
    uint64_t until = fabric_network_time(theatre->fabric) + TIME_MS;
    /* Bounded: two faults that feed each other would be found as an endless loop elsewhere. */
    for (unsigned i = 0; i < 10000; i++) {
        /* With an opened device of libibverbs there is always a next event. */
        bool more = fabric_run_network(theatre->fabric,
                                       verbs_started(theatre->clients.verbs) ? until : TIME_NEVER);
        while (fabric_next_delivery(theatre->fabric, &delivery)) {
            mad_layer_deliver(theatre->clients.mads, theatre->clients.now, &delivery);
            more = true;
        }
        if (!more)
            break;
    }
    while ((file = mad_layer_next_ready(theatre->clients.mads)) != NULL)
        while (mad_file_next(file))
            mad_file_taken(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct theatre theatre;
    open_theatre(&theatre);
    for (unsigned i = 0; i < STEPS && size >= 3; i++) {
        size_t count = (size_t)data[2] * UNIT;
        if (count > size - 3)
            count = size - 3;
        take_step(&theatre, (enum step)(data[0] % STEP_COUNT), data[1] % SESSIONS, data + 3, count);
        settle(&theatre);
        data += 3 + count;
        size -= 3 + count;
    }
    close_theatre(&theatre);
    return 0;
}
