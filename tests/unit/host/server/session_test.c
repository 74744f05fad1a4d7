/* Sessions without sockets: requests, answers, and invalid packets. */
#include "host/server/session.h"
#include "two_switches.h"

#include <errno.h>

enum { IS_SM = 1 << 1 };

struct stage {
    struct two_switches world;
    struct clients clients;
};

static int set_up(void **state)
{
    struct stage *stage = mem_zalloc(1, sizeof *stage);
    struct attachment attachment;
    struct err err;
    two_switches_make(&stage->world);
    assert_int_equal(attach_find(&stage->world.topology, "", &attachment, &err), 0);
    clients_init(&stage->clients, stage->world.fabric, &attachment);
    *state = stage;
    return 0;
}

static int tear_down(void **state)
{
    struct stage *stage = *state;
    clients_release(&stage->clients);
    two_switches_end(&stage->world);
    mem_free(stage);
    return 0;
}

static struct request make_request(enum request_kind what)
{
    return (struct request){.magic = PROTOCOL_MAGIC, .version = PROTOCOL_VERSION, .kind = what};
}

/* Sends a request in its own session. The data of the answer, at most `size` bytes, are copied to
 * `data`. */
static int send_request(struct stage *stage, const struct request *request, void *data, size_t size)
{
    struct session *session = session_begin(&stage->clients, NULL, 0, 1);
    const char *packet;
    struct answer answer;
    size_t bytes;
    assert_int_equal(session_receive(session, request, sizeof *request, NULL, 0), 0);
    assert_int_equal(session->state, SESSION_DONE);
    assert_true(session_next_answer(session, &packet, &bytes));
    memcpy(&answer, packet, sizeof answer);
    if (data) {
        memset(data, 0, size);
        memcpy(data, packet + sizeof answer, answer.bytes < size ? answer.bytes : size);
    }
    session_end(session);
    return answer.result;
}

/* Sends a request whose session stays open; NULL if it is refused. */
static struct session *open_session(struct stage *stage, struct request request, uint32_t handle)
{
    struct session *session = session_begin(&stage->clients, NULL, handle, 1);
    const char *packet;
    size_t bytes;
    assert_int_equal(session_receive(session, &request, sizeof request, NULL, 0), 0);
    assert_true(session_next_answer(session, &packet, &bytes));
    session_answer_sent(session, bytes);
    assert_false(session_next_answer(session, &packet, &bytes));
    if (session->state != SESSION_DONE)
        return session;
    session_end(session);
    return NULL;
}

static void ports_and_adapters_are_described(void **state)
{
    struct stage *stage = *state;
    struct request request = make_request(REQUEST_CA);
    struct answer_ca ca;
    struct answer_port port;
    assert_int_equal(send_request(stage, &request, &ca, sizeof ca), 0);
    assert_string_equal(ca.description, "A");
    strcpy(request.attach, "B");
    assert_int_equal(send_request(stage, &request, &ca, sizeof ca), 0);
    assert_string_equal(ca.description, "B");
    strcpy(request.attach, "C");
    assert_int_equal(send_request(stage, &request, NULL, 0), -ENODEV);
    request = make_request(REQUEST_PORT);
    request.port = 2;
    assert_int_equal(send_request(stage, &request, &port, sizeof port), 0);
    assert_int_equal(port.number, 2);
    request.port = 3;
    assert_int_equal(send_request(stage, &request, NULL, 0), -ENODEV);
    request.port = -1;
    assert_int_equal(send_request(stage, &request, NULL, 0), -ENODEV);
}

static void agents_are_registered_on_an_opened_port_by_its_handle(void **state)
{
    struct stage *stage = *state;
    struct session *opened = open_session(stage, make_request(REQUEST_OPEN), 0x1235);
    assert_non_null(opened);
    struct request request = make_request(REQUEST_REGISTER);
    request.registration.class = CLASS_SUBN_DIRECTED;
    request.registration.class_version = 1;
    request.handle = 0x1234;
    assert_int_equal(send_request(stage, &request, NULL, 0), 0);
    assert_int_equal(send_request(stage, &request, NULL, 0), 1);
    request.handle = 0x4321;
    assert_int_equal(send_request(stage, &request, NULL, 0), -EBADF);
    request = make_request(REQUEST_UNREGISTER);
    request.handle = 0x1234;
    request.agent = 1;
    assert_int_equal(send_request(stage, &request, NULL, 0), 0);
    assert_int_equal(send_request(stage, &request, NULL, 0), -EINVAL);
    session_end(opened);
    request.agent = 0;
    assert_int_equal(send_request(stage, &request, NULL, 0), -EBADF);
}

static void a_port_without_a_handle_cannot_be_opened(void **state)
{
    struct stage *stage = *state;
    assert_null(open_session(stage, make_request(REQUEST_OPEN), 0));
    struct session *opened = open_session(stage, make_request(REQUEST_OPEN), 7);
    assert_non_null(opened);
    assert_null(open_session(stage, make_request(REQUEST_OPEN), 7));
}

static void ports_are_opened_and_closed_in_any_order(void **state)
{
    struct stage *stage = *state;
    struct session *opened[70];
    struct request request = make_request(REQUEST_REGISTER);
    request.registration.class = CLASS_PERFORMANCE;
    request.registration.class_version = 1;
    for (uint32_t i = 0; i < 70; i++)
        opened[i] = open_session(stage, make_request(REQUEST_OPEN), i + 1);
    for (uint32_t i = 0; i < 70; i += 2)
        session_end(opened[i]);
    for (uint32_t i = 0; i < 70; i++) {
        request.handle = i;
        assert_int_equal(send_request(stage, &request, NULL, 0), i % 2 ? 0 : -EBADF);
    }
}

static void is_sm_is_set_while_the_session_of_a_manager_exists(void **state)
{
    struct stage *stage = *state;
    uint32_t port = two_switches_port(&stage->world, stage->world.a, 1);
    const uint8_t *info = fabric_port_info(stage->world.fabric, port);
    assert_false(wire_get(info, PORT_INFO_CAPABILITY_MASK) & IS_SM);
    struct session *manager = open_session(stage, make_request(REQUEST_MANAGER), 0);
    assert_non_null(manager);
    assert_true(wire_get(info, PORT_INFO_CAPABILITY_MASK) & IS_SM);
    assert_null(open_session(stage, make_request(REQUEST_MANAGER), 0));
    session_end(manager);
    assert_false(wire_get(info, PORT_INFO_CAPABILITY_MASK) & IS_SM);
    assert_non_null(open_session(stage, make_request(REQUEST_MANAGER), 0));
}

static int first_packet(struct stage *stage, const void *packet, size_t bytes)
{
    struct session *session = session_begin(&stage->clients, NULL, 0, 1);
    int result = session_receive(session, packet, bytes, NULL, 0);
    session_end(session);
    return result;
}

static void an_invalid_packet_is_an_error(void **state)
{
    struct stage *stage = *state;
    struct request request = make_request(REQUEST_CA);
    assert_int_equal(first_packet(stage, &request, sizeof request - 1), -EPROTO);
    assert_int_equal(first_packet(stage, "", 0), -EPROTO);
    request.magic++;
    assert_int_equal(first_packet(stage, &request, sizeof request), -EPROTO);
    request = make_request((enum request_kind)99);
    assert_int_equal(first_packet(stage, &request, sizeof request), -EPROTO);
    request = make_request(REQUEST_CA);
    memset(request.attach, 'x', sizeof request.attach);
    assert_int_equal(send_request(stage, &request, NULL, 0), -ENODEV);
    struct session *manager = open_session(stage, make_request(REQUEST_MANAGER), 0);
    assert_int_equal(session_receive(manager, &request, sizeof request, NULL, 0), -EPROTO);
    struct session *opened = open_session(stage, make_request(REQUEST_OPEN), 1);
    assert_int_equal(session_receive(opened, &request, sizeof(struct mad_head) - 1, NULL, 0),
                     -EPROTO);
    assert_int_equal(session_receive(opened, &request, sizeof request, NULL, 0), -EPROTO);
}

static void another_version_gets_an_error(void **state)
{
    struct stage *stage = *state;
    struct request request = make_request(REQUEST_CA);
    request.version++;
    assert_int_equal(send_request(stage, &request, NULL, 0), -EPROTONOSUPPORT);
}

static void a_long_answer_is_sent_in_several_packets(void **state)
{
    struct stage *stage = *state;
    struct session *session = session_begin(&stage->clients, NULL, 0, 1);
    struct request request = make_request(REQUEST_CTL);
    const char *packet;
    size_t bytes, total = 0, packets = 0;
    memcpy(request.text, "counters\0S0\0", 12);
    request.json = 1;
    assert_int_equal(session_receive(session, &request, sizeof request, NULL, 0), 0);
    size_t expected = session->answer.length;
    for (; session_next_answer(session, &packet, &bytes); packets++) {
        total += bytes;
        session_answer_sent(session, bytes);
    }
    assert_int_equal(total, expected);
    assert_true(packets > 0);
    session_end(session);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(ports_and_adapters_are_described),
        CLAIM(agents_are_registered_on_an_opened_port_by_its_handle),
        CLAIM(a_port_without_a_handle_cannot_be_opened),
        CLAIM(ports_are_opened_and_closed_in_any_order),
        CLAIM(is_sm_is_set_while_the_session_of_a_manager_exists),
        CLAIM(an_invalid_packet_is_an_error),
        CLAIM(another_version_gets_an_error),
        CLAIM(a_long_answer_is_sent_in_several_packets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
