/* The MAD layer on a small fabric behaves as the kernel's. */
#include "two_switches.h"

#include <errno.h>

enum { OWN_LID = 5, LONG_MESSAGE = 100000, GET_TABLE = 0x12, GET_TABLE_RESP = 0x92 };

struct stage {
    struct two_switches world;
    struct mad_layer *layer;
};

static int set_up(void **state)
{
    struct stage *stage = mem_zalloc(1, sizeof *stage);
    two_switches_make(&stage->world);
    stage->layer = mad_layer_new(stage->world.fabric);
    *state = stage;
    return 0;
}

static int tear_down(void **state)
{
    struct stage *stage = *state;
    mad_layer_free(stage->layer);
    two_switches_end(&stage->world);
    mem_free(stage);
    return 0;
}

static struct mad_file *open_at(struct stage *stage, uint32_t node, unsigned port)
{
    return mad_file_open(stage->layer, two_switches_port(&stage->world, node, port), NULL);
}

static struct registration service(unsigned class, unsigned version, unsigned method)
{
    struct registration registration = {.class = (uint8_t) class,
                                        .class_version = (uint8_t)version};
    if (method)
        registration.method_mask[method / 32] = 1u << method % 32;
    return registration;
}

static unsigned register_client(struct mad_file *file, unsigned class)
{
    struct registration registration = service(class, class == CLASS_SUBN_ADM ? 2 : 1, 0);
    registration.oui[1] = 0x14;
    int agent = mad_file_register(file, &registration);
    assert_true(agent >= 0);
    return (unsigned)agent;
}

static int send_as(struct stage *stage, struct mad_file *file, unsigned agent, struct sent_mad sent,
                   uint64_t now)
{
    sent.head.agent = agent;
    int result = mad_file_send(file, now, &sent.head, sent.mad, MAD_BYTES);
    two_switches_run(&stage->world, stage->layer, now);
    return result;
}

/* Takes the only received message. */
static struct mad_head take_message(struct mad_file *file, uint8_t mad[MAD_BYTES])
{
    const struct mad_received *message = mad_file_next(file);
    assert_non_null(message);
    struct mad_head head = message->head;
    memset(mad, 0, MAD_BYTES);
    memcpy(mad, message->data,
           received_bytes(message) < MAD_BYTES ? received_bytes(message) : MAD_BYTES);
    mad_file_taken(file);
    return head;
}

/* Port 0 of a switch is always active: with a LID it can send to itself by LID routing. */
static struct mad_file *open_switch_with_lid(struct stage *stage)
{
    struct mad_file *file = open_at(stage, stage->world.s0, 0);
    unsigned agent = register_client(file, CLASS_SUBN_DIRECTED);
    struct sent_mad set = make_smp(ATTRIBUTE_PORT_INFO, 1, NULL, 0);
    uint8_t answer[MAD_BYTES];
    memcpy(
        set.mad + SMP_DATA_OFFSET,
        fabric_port_info(stage->world.fabric, two_switches_port(&stage->world, stage->world.s0, 0)),
        SMP_DATA_BYTES);
    wire_set(set.mad, MAD_METHOD, METHOD_SET);
    wire_set(set.mad + SMP_DATA_OFFSET, PORT_INFO_LID, OWN_LID);
    wire_set(set.mad + SMP_DATA_OFFSET, PORT_INFO_MASTER_SM_LID, OWN_LID);
    wire_set(set.mad + SMP_DATA_OFFSET, PORT_INFO_PORT_STATE, PORT_STATE_NO_CHANGE);
    wire_set(set.mad + SMP_DATA_OFFSET, PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_NO_CHANGE);
    assert_int_equal(send_as(stage, file, agent, set, 0), 0);
    take_message(file, answer);
    assert_int_equal(wire_get(answer, SMP_STATUS), 0);
    assert_int_equal(mad_file_unregister(file, agent), 0);
    return file;
}

/* ---- transactions ---- */

static void an_answer_goes_to_the_requesting_program(void **state)
{
    struct stage *stage = *state;
    struct mad_file *one = open_at(stage, stage->world.a, 1);
    struct mad_file *two = open_at(stage, stage->world.a, 1);
    uint8_t answer[MAD_BYTES];
    unsigned agent_one = register_client(one, CLASS_SUBN_DIRECTED);
    unsigned agent_two = register_client(two, CLASS_SUBN_DIRECTED);
    struct sent_mad near = make_smp(ATTRIBUTE_NODE_INFO, 7, NULL, 0);
    struct sent_mad far = make_smp(ATTRIBUTE_NODE_INFO, 7, (uint8_t[]){1}, 1);
    assert_int_equal(send_as(stage, one, agent_one, near, 0), 0);
    assert_int_equal(send_as(stage, two, agent_two, far, 0), 0);
    assert_int_equal(take_message(one, answer).status, 0);
    assert_int_equal(wire_get(answer + SMP_DATA_OFFSET, NODE_INFO_NODE_TYPE), NODE_ADAPTER);
    take_message(two, answer);
    assert_int_equal(wire_get(answer + SMP_DATA_OFFSET, NODE_INFO_NODE_TYPE), NODE_SWITCH);
    assert_null(mad_file_next(one));
    assert_null(mad_file_next(two));
}

static void the_upper_half_of_a_transaction_id_belongs_to_the_agent(void **state)
{
    struct stage *stage = *state;
    struct mad_file *file = open_at(stage, stage->world.a, 1);
    uint8_t first[MAD_BYTES], second[MAD_BYTES];
    unsigned agent = register_client(file, CLASS_SUBN_DIRECTED);
    unsigned other = register_client(file, CLASS_SUBN_DIRECTED);
    struct sent_mad smp = make_smp(ATTRIBUTE_NODE_INFO, 0xdeadbeef00001234, NULL, 0);
    send_as(stage, file, agent, smp, 0);
    send_as(stage, file, other, smp, 0);
    assert_int_equal(take_message(file, first).agent, agent);
    assert_int_equal(take_message(file, second).agent, other);
    assert_int_equal(wire_get(first, MAD_TID) & 0xffffffff, 0x1234);
    assert_int_equal(wire_get(second, MAD_TID) & 0xffffffff, 0x1234);
    assert_int_not_equal(wire_get(first, MAD_TID) >> 32, 0xdeadbeef);
    assert_int_not_equal(wire_get(first, MAD_TID) >> 32, wire_get(second, MAD_TID) >> 32);
}

static void a_transaction_id_in_use_is_refused(void **state)
{
    struct stage *stage = *state;
    struct mad_file *file = open_at(stage, stage->world.a, 1);
    unsigned agent = register_client(file, CLASS_SUBN_DIRECTED);
    struct sent_mad lost = make_smp(ATTRIBUTE_NODE_INFO, 7, (uint8_t[]){1, 4}, 2);
    assert_int_equal(send_as(stage, file, agent, lost, 0), 0);
    assert_int_equal(send_as(stage, file, agent, lost, 0), -EINVAL);
    wire_set(lost.mad, MAD_TID, 8);
    assert_int_equal(send_as(stage, file, agent, lost, 0), 0);
}

static void a_lost_request_is_returned_after_its_time_out(void **state)
{
    struct stage *stage = *state;
    struct mad_file *file = open_at(stage, stage->world.a, 1);
    uint8_t header[MAD_BYTES];
    unsigned agent = register_client(file, CLASS_SUBN_DIRECTED);
    struct sent_mad lost = make_smp(ATTRIBUTE_NODE_INFO, 7, (uint8_t[]){1, 4}, 2);
    assert_int_equal(send_as(stage, file, agent, lost, 5 * TIME_S), 0);
    uint64_t deadline = mad_layer_deadline(stage->layer);
    assert_true(deadline > 5 * TIME_S + 100 * TIME_MS);
    assert_true(deadline <= 5 * TIME_S + 110 * TIME_MS);
    mad_layer_expire(stage->layer, deadline - 1);
    assert_null(mad_file_next(file));
    mad_layer_expire(stage->layer, deadline);
    assert_int_equal(mad_file_next(file)->head.length, sizeof(struct mad_head) + MAD_HEADER_BYTES);
    struct mad_head head = take_message(file, header);
    assert_int_equal(head.status, ETIMEDOUT);
    assert_int_equal(head.agent, agent);
    assert_int_equal(wire_get(header, MAD_TID) & 0xffffffff, 7);
    assert_int_equal(wire_get(header, MAD_METHOD), METHOD_GET);
    assert_true(mad_layer_deadline(stage->layer) == TIME_NEVER);
}

static void a_request_is_repeated_before_it_times_out(void **state)
{
    struct stage *stage = *state;
    struct mad_file *file = open_at(stage, stage->world.a, 1);
    struct fabric_totals before, after;
    uint8_t header[MAD_BYTES];
    unsigned agent = register_client(file, CLASS_SUBN_DIRECTED);
    struct sent_mad lost = make_smp(ATTRIBUTE_NODE_INFO, 7, (uint8_t[]){1, 4}, 2);
    lost.head.retries = 3;
    fabric_totals(stage->world.fabric, &before);
    send_as(stage, file, agent, lost, 0);
    unsigned rounds = 0;
    for (; !mad_file_next(file) && rounds < 10; rounds++) {
        mad_layer_expire(stage->layer, mad_layer_deadline(stage->layer));
        two_switches_run(&stage->world, stage->layer, 0);
    }
    fabric_totals(stage->world.fabric, &after);
    assert_int_equal(rounds, 4);
    assert_int_equal(after.smps_sent - before.smps_sent, 4);
    assert_int_equal(take_message(file, header).status, ETIMEDOUT);
}

static void an_answer_stops_the_timer(void **state)
{
    struct stage *stage = *state;
    struct mad_file *file = open_at(stage, stage->world.a, 1);
    struct mad_file_status status;
    unsigned agent = register_client(file, CLASS_SUBN_DIRECTED);
    send_as(stage, file, agent, make_smp(ATTRIBUTE_NODE_INFO, 7, NULL, 0), 0);
    mad_file_status(file, &status);
    assert_int_equal(status.requests, 0);
    assert_true(mad_layer_deadline(stage->layer) == TIME_NEVER);
}

/* ---- registrations ---- */

static void a_method_has_one_agent_at_a_port(void **state)
{
    struct stage *stage = *state;
    struct mad_file *one = open_at(stage, stage->world.a, 1);
    struct mad_file *two = open_at(stage, stage->world.a, 1);
    struct mad_file *elsewhere = open_at(stage, stage->world.b, 1);
    struct registration gets = service(CLASS_SUBN_ADM, 2, METHOD_GET);
    struct registration sets = service(CLASS_SUBN_ADM, 2, METHOD_SET);
    assert_true(mad_file_register(one, &gets) >= 0);
    assert_int_equal(mad_file_register(two, &gets), -EINVAL);
    assert_true(mad_file_register(two, &sets) >= 0);
    assert_true(mad_file_register(elsewhere, &gets) >= 0);
    assert_int_equal(mad_file_unregister(one, 0), 0);
    assert_true(mad_file_register(two, &gets) >= 0);
}

static void vendor_classes_with_different_ouis_are_different(void **state)
{
    struct stage *stage = *state;
    struct mad_file *file = open_at(stage, stage->world.a, 1);
    struct registration one = service(0x32, 1, METHOD_GET), two = one, none = one;
    memcpy(one.oui, "\0\x14\5", 3);
    memcpy(two.oui, "\0\x14\6", 3);
    assert_true(mad_file_register(file, &one) >= 0);
    assert_true(mad_file_register(file, &two) >= 0);
    assert_int_equal(mad_file_register(file, &one), -EINVAL);
    assert_int_equal(mad_file_register(file, &none), -EINVAL);
}

static void an_invalid_registration_is_refused(void **state)
{
    struct stage *stage = *state;
    struct mad_file *file = open_at(stage, stage->world.a, 1);
    struct registration high_class = service(0x82, 1, METHOD_GET);
    struct registration high_version = service(CLASS_SUBN_ADM, 0x83, METHOD_GET);
    struct registration rmpp_of_smps = service(CLASS_SUBN_LID, 1, METHOD_GET);
    rmpp_of_smps.rmpp_version = 1;
    struct registration rmpp_two = service(CLASS_SUBN_ADM, 2, METHOD_GET);
    rmpp_two.rmpp_version = 2;
    assert_int_equal(mad_file_register(file, &high_class), -EINVAL);
    assert_int_equal(mad_file_register(file, &high_version), -EINVAL);
    assert_int_equal(mad_file_register(file, &rmpp_of_smps), -EINVAL);
    assert_int_equal(mad_file_register(file, &rmpp_two), -EINVAL);
    assert_int_equal(mad_file_unregister(file, 0), -EINVAL);
    assert_int_equal(mad_file_unregister(file, 1000), -EINVAL);
}

static void a_file_has_room_for_32_agents(void **state)
{
    struct stage *stage = *state;
    struct mad_file *file = open_at(stage, stage->world.a, 1);
    struct registration client = service(CLASS_PERFORMANCE, 1, 0);
    for (int i = 0; i < FILE_AGENTS; i++)
        assert_int_equal(mad_file_register(file, &client), i);
    assert_int_equal(mad_file_register(file, &client), -ENOMEM);
    assert_int_equal(mad_file_unregister(file, 9), 0);
    assert_int_equal(mad_file_register(file, &client), 9);
}

static void an_unsolicited_mad_goes_to_the_agent_that_serves_it(void **state)
{
    struct stage *stage = *state;
    struct mad_file *client = open_switch_with_lid(stage);
    struct mad_file *server = open_at(stage, stage->world.s0, 0);
    struct registration served = service(CLASS_SUBN_ADM, 2, METHOD_GET);
    uint8_t mad[MAD_BYTES];
    int agent = mad_file_register(server, &served);
    struct sent_mad question = make_mad(CLASS_SUBN_ADM, METHOD_GET, 0x11, 77);
    question.head.lid = htons(OWN_LID);
    send_as(stage, client, register_client(client, CLASS_SUBN_ADM), question, 0);
    assert_null(mad_file_next(client));
    struct mad_head head = take_message(server, mad);
    assert_int_equal(head.agent, agent);
    assert_int_equal(ntohs(head.lid), OWN_LID);
    assert_int_equal(ntohl(head.qpn), QP_GSI);

    struct sent_mad answer = {.head = head};
    memcpy(answer.mad, mad, MAD_BYTES);
    wire_set(answer.mad, MAD_METHOD, METHOD_GET_RESP);
    send_as(stage, server, (unsigned)agent, answer, 0);
    take_message(client, mad);
    assert_int_equal(wire_get(mad, MAD_TID) & 0xffffffff, 77);
    assert_int_equal(wire_get(mad, MAD_METHOD), METHOD_GET_RESP);
}

static void one_lid_has_a_share_of_the_queue_only(void **state)
{
    struct stage *stage = *state;
    struct mad_file *client = open_switch_with_lid(stage);
    struct mad_file *server = open_at(stage, stage->world.s0, 0);
    struct registration served = service(CLASS_SUBN_ADM, 2, METHOD_GET);
    struct mad_file_status status;
    unsigned agent = register_client(client, CLASS_SUBN_ADM);
    assert_true(mad_file_register(server, &served) >= 0);
    for (unsigned i = 1; i <= FILE_SOURCE_MESSAGES + 10; i++) {
        struct sent_mad question = make_mad(CLASS_SUBN_ADM, METHOD_GET, 0x11, i);
        question.head.lid = htons(OWN_LID);
        send_as(stage, client, agent, question, 0);
    }
    mad_file_status(server, &status);
    assert_int_equal(status.received, FILE_SOURCE_MESSAGES);
    assert_int_equal(status.dropped, 10);
    while (mad_file_next(server))
        mad_file_taken(server);
    struct sent_mad question = make_mad(CLASS_SUBN_ADM, METHOD_GET, 0x11, 9999);
    question.head.lid = htons(OWN_LID);
    send_as(stage, client, agent, question, 0);
    assert_non_null(mad_file_next(server));
}

static void a_request_without_an_agent_is_answered_unsupported(void **state)
{
    struct stage *stage = *state;
    struct mad_file *file = open_switch_with_lid(stage);
    uint8_t mad[MAD_BYTES];
    struct sent_mad question = make_mad(CLASS_SUBN_ADM, METHOD_GET, 0x11, 77);
    question.head.lid = htons(OWN_LID);
    send_as(stage, file, register_client(file, CLASS_SUBN_ADM), question, 0);
    take_message(file, mad);
    assert_int_equal(wire_get(mad, MAD_METHOD), METHOD_GET_RESP);
    assert_int_equal(wire_get(mad, MAD_STATUS), STATUS_BAD_ATTRIBUTE);
}

/* ---- long messages ---- */

static uint8_t pattern(size_t i)
{
    return (uint8_t)(i * 2654435761u >> 13);
}

static void a_long_answer_arrives_whole(void **state)
{
    struct stage *stage = *state;
    struct mad_file *client = open_switch_with_lid(stage);
    struct mad_file *server = open_at(stage, stage->world.s0, 0);
    struct registration served = service(CLASS_SUBN_ADM, 2, GET_TABLE);
    struct registration asks = service(CLASS_SUBN_ADM, 2, 0);
    uint8_t mad[MAD_BYTES];
    served.rmpp_version = asks.rmpp_version = 1;
    int serving = mad_file_register(server, &served), asking = mad_file_register(client, &asks);
    struct sent_mad question = make_mad(CLASS_SUBN_ADM, GET_TABLE, 0x11, 77);
    question.head.lid = htons(OWN_LID);
    send_as(stage, client, (unsigned)asking, question, 0);
    struct mad_head head = take_message(server, mad);

    uint8_t *message = mem_alloc(LONG_MESSAGE);
    for (size_t i = 0; i < LONG_MESSAGE; i++)
        message[i] = pattern(i);
    memcpy(message, mad, SA_DATA_OFFSET);
    wire_set(message, MAD_METHOD, GET_TABLE_RESP);
    wire_set(message, RMPP_FLAGS, RMPP_FLAG_ACTIVE);
    head.agent = (uint32_t)serving;
    assert_int_equal(mad_file_send(server, 0, &head, message, LONG_MESSAGE), 0);
    mem_free(message);
    two_switches_run(&stage->world, stage->layer, 0);

    const struct mad_received *got = mad_file_next(client);
    assert_non_null(got);
    assert_int_equal(received_bytes(got), LONG_MESSAGE);
    for (size_t i = SA_DATA_OFFSET; i < LONG_MESSAGE; i++)
        if (got->data[i] != pattern(i))
            fail_msg("byte %zu differs", i);
    assert_int_equal(got->head.agent, asking);
    mad_file_taken(client);
    assert_null(mad_file_next(client));
    struct mad_file_status status;
    mad_file_status(client, &status);
    assert_int_equal(status.requests, 0);
}

/* No port has this LID. */
static void long_messages_that_nobody_acknowledges_are_limited(void **state)
{
    enum { BYTES = 4 << 20, LIMIT = 32 << 20, NOBODY = 99 };
    struct stage *stage = *state;
    struct mad_file *server = open_at(stage, stage->world.s0, 0);
    struct registration served = service(CLASS_SUBN_ADM, 2, GET_TABLE);
    served.rmpp_version = 1;
    struct sent_mad answer = make_mad(CLASS_SUBN_ADM, GET_TABLE_RESP, 0x11, 1);
    answer.head.agent = (uint32_t)mad_file_register(server, &served);
    answer.head.lid = htons(NOBODY);
    uint8_t *message = mem_zalloc(1, BYTES);
    memcpy(message, answer.mad, SA_DATA_OFFSET);
    wire_set(message, RMPP_FLAGS, RMPP_FLAG_ACTIVE);
    for (unsigned i = 1; i <= LIMIT / BYTES; i++) {
        wire_set(message, MAD_TID, i);
        assert_int_equal(mad_file_send(server, 0, &answer.head, message, BYTES), 0);
    }
    wire_set(message, MAD_TID, 1000);
    assert_int_equal(mad_file_send(server, 0, &answer.head, message, BYTES), -ENOMEM);
    answer.head.lid = htons(NOBODY + 1);
    assert_int_equal(mad_file_send(server, 0, &answer.head, message, BYTES), 0);
    mem_free(message);
}

/* Passes a segment of a request from the port with this LID to the layer. */
static void deliver_segment(struct stage *stage, uint16_t slid, uint64_t tid, uint32_t segment,
                            bool last)
{
    struct sent_mad sent = make_mad(CLASS_SUBN_ADM, METHOD_GET_MULTI, 0x3A, tid);
    struct fabric_delivery delivery = {.port = two_switches_port(&stage->world, stage->world.s0, 0),
                                       .header = {.slid = slid,
                                                  .dlid = OWN_LID,
                                                  .src_qp = QP_GSI,
                                                  .dest_qp = QP_GSI,
                                                  .q_key = Q_KEY_GSI,
                                                  .p_key = P_KEY_DEFAULT}};
    wire_set(sent.mad, RMPP_VERSION, RMPP_THIS_VERSION);
    wire_set(sent.mad, RMPP_TYPE, RMPP_DATA);
    wire_set(sent.mad, RMPP_FLAGS,
             RMPP_FLAG_ACTIVE | (segment == 1 ? RMPP_FLAG_FIRST : 0) | (last ? RMPP_FLAG_LAST : 0));
    wire_set(sent.mad, RMPP_DATA1, segment);
    wire_set(sent.mad, RMPP_DATA2, last ? MAD_BYTES - WIRE_BYTES_RMPP : 0);
    memcpy(delivery.mad, sent.mad, MAD_BYTES);
    mad_layer_deliver(stage->layer, 0, &delivery);
}

static struct mad_file *open_multi_path_server(struct stage *stage)
{
    struct mad_file *server = open_switch_with_lid(stage);
    struct registration served = service(CLASS_SUBN_ADM, 2, METHOD_GET_MULTI);
    served.rmpp_version = 1;
    assert_true(mad_file_register(server, &served) >= 0);
    return server;
}

static void transfers_that_a_port_does_not_end_prevent_no_other_port_from_sending(void **state)
{
    enum { ATTACKERS = 100, EACH = 50, HONEST = 1000 };
    struct stage *stage = *state;
    struct mad_file *server = open_multi_path_server(stage);
    for (unsigned slid = 100; slid < 100 + ATTACKERS; slid++)
        for (unsigned tid = 1; tid <= EACH; tid++)
            deliver_segment(stage, (uint16_t)slid, tid, 1, false);
    assert_null(mad_file_next(server));
    deliver_segment(stage, HONEST, 7, 1, false);
    deliver_segment(stage, HONEST, 7, 2, true);
    assert_non_null(mad_file_next(server));
    assert_int_equal(ntohs(mad_file_next(server)->head.lid), HONEST);
}

static void a_request_of_more_than_a_mebibyte_is_stopped(void **state)
{
    enum { SEGMENTS = (1 << 20) / (MAD_BYTES - SA_DATA_OFFSET) + 1 };
    struct stage *stage = *state;
    struct mad_file *server = open_multi_path_server(stage);
    for (unsigned segment = 1; segment <= SEGMENTS; segment++)
        deliver_segment(stage, 100, 7, segment, segment == SEGMENTS);
    assert_null(mad_file_next(server));
}

static void without_rmpp_a_long_message_is_refused(void **state)
{
    struct stage *stage = *state;
    struct mad_file *file = open_switch_with_lid(stage);
    struct sent_mad question = make_mad(CLASS_SUBN_ADM, GET_TABLE, 0x11, 77);
    uint8_t message[2 * MAD_BYTES] = {0};
    memcpy(message, question.mad, MAD_BYTES);
    question.head.agent = register_client(file, CLASS_SUBN_ADM);
    assert_int_equal(mad_file_send(file, 0, &question.head, message, sizeof message), -EINVAL);
    assert_int_equal(mad_file_send(file, 0, &question.head, message, 20), -EINVAL);
    question.head.agent = 12;
    assert_int_equal(mad_file_send(file, 0, &question.head, message, MAD_BYTES), -EIO);
}

/* ---- bounds ---- */

static void a_full_queue_drops_messages_but_no_time_out(void **state)
{
    struct stage *stage = *state;
    struct mad_file *file = open_at(stage, stage->world.a, 1);
    struct mad_file_status status;
    unsigned agent = register_client(file, CLASS_SUBN_DIRECTED);
    struct sent_mad smp = make_smp(ATTRIBUTE_NODE_INFO, 0, NULL, 0);
    do {
        wire_set(smp.mad, MAD_TID, wire_get(smp.mad, MAD_TID) + 1);
        send_as(stage, file, agent, smp, 0);
        mad_file_status(file, &status);
    } while (status.dropped < 10);
    assert_true(status.queued_bytes <= FILE_QUEUE_BYTES);
    uint64_t received = status.received;
    struct sent_mad lost = make_smp(ATTRIBUTE_NODE_INFO, 1, (uint8_t[]){1, 4}, 2);
    send_as(stage, file, agent, lost, 0);
    mad_layer_expire(stage->layer, mad_layer_deadline(stage->layer));
    mad_file_status(file, &status);
    assert_int_equal(status.received, received + 1);
    assert_int_equal(status.timeouts, 1);
}

/* A program that sends requests and takes neither answers nor time-outs is not read for ever. */
static void requests_that_timed_out_count_as_outstanding_until_they_are_taken(void **state)
{
    struct stage *stage = *state;
    struct mad_file *file = open_at(stage, stage->world.a, 1);
    unsigned agent = register_client(file, CLASS_SUBN_DIRECTED);
    for (unsigned i = 1; i <= FILE_REQUESTS; i++) {
        assert_false(mad_file_is_full(file));
        send_as(stage, file, agent, make_smp(ATTRIBUTE_NODE_INFO, i, (uint8_t[]){1, 4}, 2), 0);
    }
    assert_true(mad_file_is_full(file));
    while (mad_layer_deadline(stage->layer) != TIME_NEVER)
        mad_layer_expire(stage->layer, mad_layer_deadline(stage->layer));
    assert_true(mad_file_is_full(file));
    mad_file_taken(file);
    assert_false(mad_file_is_full(file));
}

static void closing_a_file_removes_its_agents_and_requests(void **state)
{
    struct stage *stage = *state;
    struct mad_file *file = open_at(stage, stage->world.a, 1);
    struct registration gets = service(CLASS_SUBN_ADM, 2, METHOD_GET);
    unsigned agent = register_client(file, CLASS_SUBN_DIRECTED);
    assert_true(mad_file_register(file, &gets) >= 0);
    send_as(stage, file, agent, make_smp(ATTRIBUTE_NODE_INFO, 1, (uint8_t[]){1, 4}, 2), 0);
    send_as(stage, file, agent, make_smp(ATTRIBUTE_NODE_INFO, 2, NULL, 0), 0);
    struct sent_mad flying = make_smp(ATTRIBUTE_NODE_INFO, 3, (uint8_t[]){1}, 1);
    flying.head.agent = agent;
    mad_file_send(file, 0, &flying.head, flying.mad, MAD_BYTES);
    mad_file_close(file);
    assert_null(mad_layer_next_ready(stage->layer));
    assert_true(mad_layer_deadline(stage->layer) == TIME_NEVER);
    two_switches_run(&stage->world, stage->layer, 0);
    struct mad_file *heir = open_at(stage, stage->world.a, 1);
    assert_true(mad_file_register(heir, &gets) >= 0);
    assert_null(mad_file_next(heir));
}

static void files_with_new_messages_are_returned_once(void **state)
{
    struct stage *stage = *state;
    struct mad_file *one = open_at(stage, stage->world.a, 1);
    struct mad_file *two = open_at(stage, stage->world.b, 1);
    send_as(stage, two, register_client(two, CLASS_SUBN_DIRECTED),
            make_smp(ATTRIBUTE_NODE_INFO, 1, NULL, 0), 0);
    unsigned agent = register_client(one, CLASS_SUBN_DIRECTED);
    send_as(stage, one, agent, make_smp(ATTRIBUTE_NODE_INFO, 1, NULL, 0), 0);
    send_as(stage, one, agent, make_smp(ATTRIBUTE_NODE_INFO, 2, NULL, 0), 0);
    assert_ptr_equal(mad_layer_next_ready(stage->layer), two);
    assert_ptr_equal(mad_layer_next_ready(stage->layer), one);
    assert_null(mad_layer_next_ready(stage->layer));
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(an_answer_goes_to_the_requesting_program),
        CLAIM(the_upper_half_of_a_transaction_id_belongs_to_the_agent),
        CLAIM(a_transaction_id_in_use_is_refused),
        CLAIM(a_lost_request_is_returned_after_its_time_out),
        CLAIM(a_request_is_repeated_before_it_times_out),
        CLAIM(an_answer_stops_the_timer),
        CLAIM(a_method_has_one_agent_at_a_port),
        CLAIM(vendor_classes_with_different_ouis_are_different),
        CLAIM(an_invalid_registration_is_refused),
        CLAIM(a_file_has_room_for_32_agents),
        CLAIM(an_unsolicited_mad_goes_to_the_agent_that_serves_it),
        CLAIM(one_lid_has_a_share_of_the_queue_only),
        CLAIM(a_request_without_an_agent_is_answered_unsupported),
        CLAIM(a_long_answer_arrives_whole),
        CLAIM(long_messages_that_nobody_acknowledges_are_limited),
        CLAIM(transfers_that_a_port_does_not_end_prevent_no_other_port_from_sending),
        CLAIM(a_request_of_more_than_a_mebibyte_is_stopped),
        CLAIM(without_rmpp_a_long_message_is_refused),
        CLAIM(a_full_queue_drops_messages_but_no_time_out),
        CLAIM(requests_that_timed_out_count_as_outstanding_until_they_are_taken),
        CLAIM(closing_a_file_removes_its_agents_and_requests),
        CLAIM(files_with_new_messages_are_returned_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
