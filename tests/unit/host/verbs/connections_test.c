/* What programs ask the connection manager for, and what datagrams with wrong keys cause. Both
 * programs are at adapter A, whose port is Active; there is no subnet administration. */
#include "programs.h"

#include <arpa/inet.h>
#include <signal.h>

enum { ADDRESS = 0x0A000001, OTHER = 0x0A000002 };

struct connected {
    struct stage *stage;
    struct addresses addresses;
};

static int set_up_addresses(void **state)
{
    struct connected *connected = mem_zalloc(1, sizeof *connected);
    set_up((void **)&connected->stage);
    const struct two_switches *world = &connected->stage->world;
    addresses_add(&connected->addresses, two_switches_port(world, world->a, 1), ADDRESS);
    addresses_add(&connected->addresses, two_switches_port(world, world->b, 1), OTHER);
    verbs_serve_connections(connected->stage->verbs, connected->stage->layer,
                            &connected->addresses);
    *state = connected;
    return 0;
}

static int tear_down_addresses(void **state)
{
    struct connected *connected = *state;
    tear_down((void **)&connected->stage);
    addresses_release(&connected->addresses);
    mem_free(connected);
    return 0;
}

/* The result of a request. */
static int manage(struct program *program, struct ipcm_request request, uint32_t kind,
                  uint32_t object, struct verbs_answer *answer)
{
    const int *descriptors;
    request.kind = kind;
    request.object = object;
    int result = verbs_receive(program->client, &request, sizeof request, -1);
    if (result < 0)
        return result;
    const struct verbs_answer *got = verbs_next_answer(program->client, &descriptors);
    assert_non_null(got);
    if (answer)
        *answer = *got;
    result = got->result;
    verbs_answer_sent(program->client);
    return result;
}

static uint32_t make_id(struct program *program, uint32_t channel, enum ipcm_space space)
{
    struct verbs_answer answer = {0};
    struct ipcm_request request = {.channel = channel, .space = space};
    assert_int_equal(manage(program, request, IPCM_ADD_ID, 0, &answer), 0);
    return answer.object;
}

static uint32_t make_channel(struct program *program)
{
    struct verbs_answer answer = {0};
    assert_int_equal(manage(program, (struct ipcm_request){0}, IPCM_ADD_CHANNEL, 0, &answer), 0);
    return answer.object;
}

static struct ipcm_request to_address(uint32_t address, uint16_t port)
{
    return (struct ipcm_request){.to = {.address = address, .port = port, .family = 4}};
}

static int next_event(struct program *program, uint32_t channel, struct ipcm_event *event)
{
    struct verbs_answer answer = {0};
    int result = manage(program, (struct ipcm_request){0}, IPCM_NEXT_EVENT, channel, &answer);
    *event = answer.event;
    return result;
}

static void an_address_is_that_of_a_host(void **state)
{
    struct connected *connected = *state;
    struct program program;
    struct ipcm_event event;
    attach(connected->stage, &program);
    uint32_t channel = make_channel(&program);
    uint32_t id = make_id(&program, channel, IPCM_SPACE_TCP);
    assert_int_equal(manage(&program, to_address(OTHER, 7174), IPCM_RESOLVE, id, NULL), 0);
    assert_int_equal(next_event(&program, channel, &event), 0);
    assert_int_equal(event.kind, IPCM_ADDRESS_RESOLVED);
    id = make_id(&program, channel, IPCM_SPACE_TCP);
    assert_int_equal(manage(&program, to_address(OTHER + 7, 7174), IPCM_RESOLVE, id, NULL), 0);
    assert_int_equal(next_event(&program, channel, &event), 0);
    assert_int_equal(event.kind, IPCM_ADDRESS_ERROR);
    assert_int_equal(event.status, -EHOSTUNREACH);
    assert_int_equal(next_event(&program, channel, &event), -EAGAIN);
    close_program(&program);
}

static void a_port_number_is_taken_once(void **state)
{
    struct connected *connected = *state;
    struct program program;
    struct verbs_answer answer = {0};
    attach(connected->stage, &program);
    uint32_t channel = make_channel(&program);
    uint32_t first = make_id(&program, channel, IPCM_SPACE_TCP);
    uint32_t second = make_id(&program, channel, IPCM_SPACE_TCP);
    struct ipcm_request any = {.from = {.port = 7174}};
    struct ipcm_request own = {.from = {.address = ADDRESS, .port = 7174, .family = 4}};
    struct ipcm_request foreign = {.from = {.address = OTHER, .port = 7175, .family = 4}};
    assert_int_equal(manage(&program, any, IPCM_BIND, first, &answer), 0);
    assert_int_equal(manage(&program, own, IPCM_BIND, second, &answer), -EADDRINUSE);
    assert_int_equal(manage(&program, foreign, IPCM_BIND, second, &answer), -ENODEV);
    own.from.port = 0;
    assert_int_equal(manage(&program, own, IPCM_BIND, second, &answer), 0);
    assert_int_not_equal(answer.view.from.port, 0);
    assert_int_equal(answer.view.port, 1);
    close_program(&program);
}

static void an_open_number_is_found_behind_any_that_are_taken(void **state)
{
    enum { PROGRAMS = 2, FIRST_OPEN = 0x8000 };
    struct connected *connected = *state;
    struct program programs[PROGRAMS], last;
    struct verbs_answer answer = {0};
    for (unsigned i = 0; i < PROGRAMS; i++) {
        attach(connected->stage, &programs[i]);
        uint32_t channel = make_channel(&programs[i]);
        for (unsigned k = 0; k < IPCM_IDS; k++) { /* named, so the search has not passed them */
            uint32_t id = make_id(&programs[i], channel, IPCM_SPACE_TCP);
            struct ipcm_request named = {.from.port = (uint16_t)(FIRST_OPEN + i * IPCM_IDS + k)};
            assert_int_equal(manage(&programs[i], named, IPCM_BIND, id, NULL), 0);
        }
    }
    attach(connected->stage, &last);
    uint32_t id = make_id(&last, make_channel(&last), IPCM_SPACE_TCP);
    assert_int_equal(manage(&last, (struct ipcm_request){0}, IPCM_BIND, id, &answer), 0);
    assert_int_equal(answer.view.from.port, FIRST_OPEN + PROGRAMS * IPCM_IDS);
    for (unsigned i = 0; i < PROGRAMS; i++)
        close_program(&programs[i]);
    close_program(&last);
}

static void a_program_does_not_see_the_ids_of_another_one(void **state)
{
    struct connected *connected = *state;
    struct program one, other;
    attach(connected->stage, &one);
    attach(connected->stage, &other);
    uint32_t id = make_id(&one, make_channel(&one), IPCM_SPACE_TCP);
    make_channel(&other);
    for (uint32_t kind = IPCM_REMOVE_ID; kind <= IPCM_LEAVE; kind++)
        assert_int_equal(manage(&other, (struct ipcm_request){0}, kind, id, NULL), -EINVAL);
    assert_int_equal(manage(&one, (struct ipcm_request){0}, IPCM_VIEW, id, NULL), 0);
    close_program(&one);
    close_program(&other);
}

static void events_that_nobody_reads_are_limited(void **state)
{
    struct connected *connected = *state;
    struct program program;
    attach(connected->stage, &program);
    uint32_t id = make_id(&program, make_channel(&program), IPCM_SPACE_TCP);
    for (unsigned i = 0; i < IPCM_EVENTS; i++)
        assert_int_equal(manage(&program, to_address(OTHER + 7, 1), IPCM_RESOLVE, id, NULL), 0);
    assert_int_equal(manage(&program, to_address(OTHER + 7, 1), IPCM_RESOLVE, id, NULL), -ENOBUFS);
    close_program(&program);
}

static void a_port_without_a_manager_has_no_paths(void **state)
{
    struct connected *connected = *state;
    struct program program;
    struct ipcm_event event;
    attach(connected->stage, &program);
    uint32_t channel = make_channel(&program);
    uint32_t id = make_id(&program, channel, IPCM_SPACE_TCP);
    assert_int_equal(manage(&program, to_address(OTHER, 1), IPCM_RESOLVE, id, NULL), 0);
    assert_int_equal(next_event(&program, channel, &event), 0);
    assert_int_equal(manage(&program, (struct ipcm_request){0}, IPCM_ROUTE, id, NULL), 0);
    verbs_run_connections(connected->stage->verbs, 0);
    assert_int_equal(next_event(&program, channel, &event), 0);
    assert_int_equal(event.kind, IPCM_ROUTE_ERROR);
    assert_int_equal(manage(&program, (struct ipcm_request){0}, IPCM_CONNECT, id, NULL), -EINVAL);
    close_program(&program);
}

static void migration_respects_the_limit_of_events(void **state)
{
    struct connected *connected = *state;
    struct program program;
    attach(connected->stage, &program);
    uint32_t from = make_channel(&program), to = make_channel(&program);
    uint32_t id = make_id(&program, from, IPCM_SPACE_TCP);
    uint32_t other = make_id(&program, to, IPCM_SPACE_TCP);
    struct ipcm_request migrate = {.channel = to};
    struct ipcm_event event;
    for (unsigned i = 0; i < IPCM_EVENTS; i++)
        assert_int_equal(manage(&program, to_address(OTHER + 7, 1), IPCM_RESOLVE, id, NULL), 0);
    assert_int_equal(manage(&program, to_address(OTHER + 7, 1), IPCM_RESOLVE, other, NULL), 0);
    assert_int_equal(manage(&program, migrate, IPCM_MIGRATE, id, NULL), -ENOBUFS);
    assert_int_equal(next_event(&program, from, &event), 0);
    assert_int_equal(manage(&program, migrate, IPCM_MIGRATE, id, NULL), 0);
    assert_int_equal(next_event(&program, from, &event), -EAGAIN);
    close_program(&program);
}

/* ---- answers of the subnet administration, which is at the program's own port ---- */

struct administration {
    struct stage *stage;
    struct mad_file *file;
    unsigned queries;
    uint8_t last[MAD_BYTES];
};

static void open_administration(struct stage *stage, struct administration *sa)
{
    struct registration wanted = {.class = CLASS_SUBN_ADM, .class_version = 2};
    wanted.method_mask[0] = UINT32_C(1) << METHOD_GET;
    *sa = (struct administration){.stage = stage};
    set_port(stage, PORT_INFO_MASTER_SM_LID, LID);
    sa->file =
        mad_file_open(stage->layer, two_switches_port(&stage->world, stage->world.a, 1), NULL);
    assert_true(mad_file_register(sa->file, &wanted) >= 0);
}

static void run_administration(struct administration *sa)
{
    verbs_run_connections(sa->stage->verbs, 0);
    two_switches_run(&sa->stage->world, sa->stage->layer, 0);
    for (const struct mad_received *query; (query = mad_file_next(sa->file)) != NULL;) {
        memcpy(sa->last, query->data, MAD_BYTES);
        sa->queries++;
        mad_file_taken(sa->file);
    }
}

static void answer_query(struct administration *sa, const uint8_t *query, unsigned status)
{
    struct mad_head head = {.qpn = htonl(QP_GSI), .q_key = htonl(Q_KEY_GSI), .lid = htons(LID)};
    uint8_t mad[MAD_BYTES];
    memcpy(mad, query, sizeof mad);
    wire_set(mad, MAD_METHOD, METHOD_GET_RESP);
    wire_set(mad, MAD_STATUS, status);
    assert_int_equal(mad_file_send(sa->file, 0, &head, mad, MAD_BYTES), 0);
    two_switches_run(&sa->stage->world, sa->stage->layer, 0);
    verbs_run_connections(sa->stage->verbs, 0);
}

static uint32_t ask_for_path(struct program *program, uint32_t channel)
{
    uint32_t id = make_id(program, channel, IPCM_SPACE_TCP);
    struct ipcm_event event;
    struct ipcm_request route = {.timeout_ms = 2000};
    assert_int_equal(manage(program, to_address(OTHER, 1), IPCM_RESOLVE, id, NULL), 0);
    assert_int_equal(next_event(program, channel, &event), 0);
    assert_int_equal(manage(program, route, IPCM_ROUTE, id, NULL), 0);
    return id;
}

static void a_late_answer_is_not_one_to_the_next_query(void **state)
{
    struct connected *connected = *state;
    struct administration sa;
    struct program program;
    struct ipcm_event event;
    uint8_t first[MAD_BYTES];
    open_administration(connected->stage, &sa);
    attach(connected->stage, &program);
    uint32_t channel = make_channel(&program);
    ask_for_path(&program, channel);
    run_administration(&sa);
    assert_int_equal(sa.queries, 1);
    memcpy(first, sa.last, sizeof first);
    answer_query(&sa, first, STATUS_BAD_ATTRIBUTE);
    assert_int_equal(next_event(&program, channel, &event), 0);
    assert_int_equal(event.kind, IPCM_ROUTE_ERROR);
    assert_int_equal(event.status, -ENETUNREACH);
    uint32_t second = ask_for_path(&program, channel);
    run_administration(&sa);
    assert_int_equal(sa.queries, 2);
    answer_query(&sa, first, STATUS_OK);
    assert_int_equal(next_event(&program, channel, &event), -EAGAIN);
    answer_query(&sa, sa.last, STATUS_OK);
    assert_int_equal(next_event(&program, channel, &event), 0);
    assert_int_equal(event.kind, IPCM_ROUTE_RESOLVED);
    assert_int_equal(event.id, second);
    close_program(&program);
    mad_file_close(sa.file);
}

static void a_busy_administration_is_asked_until_the_deadline(void **state)
{
    struct connected *connected = *state;
    struct fabric *fabric = connected->stage->world.fabric;
    struct administration sa;
    struct program program;
    struct ipcm_event event;
    open_administration(connected->stage, &sa);
    attach(connected->stage, &program);
    uint32_t channel = make_channel(&program);
    ask_for_path(&program, channel);
    run_administration(&sa);
    answer_query(&sa, sa.last, STATUS_BUSY);
    run_administration(&sa);
    assert_int_equal(sa.queries, 1); /* not at once */
    unsigned answered = 1;
    for (unsigned i = 0; i < 40; i++) {
        fabric_run_network(fabric, fabric_network_time(fabric) + 100 * TIME_MS);
        run_administration(&sa);
        if (sa.queries > answered)
            answer_query(&sa, sa.last, STATUS_BUSY);
        answered = sa.queries;
    }
    assert_in_range(sa.queries, 2, 8);
    assert_int_equal(next_event(&program, channel, &event), 0);
    assert_int_equal(event.kind, IPCM_ROUTE_ERROR);
    assert_int_equal(event.status, -ETIMEDOUT);
    close_program(&program);
    mad_file_close(sa.file);
}

/* ---- keys ---- */

/* A datagram QP with a Q_Key, in the place of the program's RC QP. */
static void open_datagram(struct stage *stage, struct program *program, uint32_t q_key)
{
    static const uint32_t masks[] = {
        [IBV_QPS_INIT] = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY,
        [IBV_QPS_RTR] = IBV_QP_STATE,
        [IBV_QPS_RTS] = IBV_QP_STATE | IBV_QP_SQ_PSN,
    };
    struct verbs_request request = {.kind = VERBS_REMOVE_QP};
    struct verbs_answer answer = {0};
    open_program(stage, program);
    request.object = program->qp_object;
    assert_int_equal(ask(program, &request, -1, &answer, NULL), 0);
    release(&program->qp);
    request = (struct verbs_request){.kind = VERBS_ADD_QP};
    request.qp_init.service = VERBS_UD;
    request.qp_init.domain = program->domain;
    request.qp_init.send_cq = request.qp_init.receive_cq = program->cq_object;
    request.qp_init.srq = VERBS_NONE;
    request.qp_init.sends = request.qp_init.receives = ENTRIES;
    request.qp_init.send_segments = request.qp_init.receive_segments = 1;
    assert_int_equal(ask(program, &request, -1, &answer, &program->qp), 0);
    program->qp_object = answer.object;
    program->qp_number = answer.qp_number;
    for (unsigned to = IBV_QPS_INIT; to <= IBV_QPS_RTS; to++) {
        request = (struct verbs_request){.kind = VERBS_MODIFY_QP, .object = program->qp_object};
        request.qp.mask = masks[to];
        request.qp.attributes =
            (struct verbs_qp_attributes){.state = (uint8_t)to, .port = 1, .q_key = q_key};
        assert_int_equal(ask(program, &request, -1, &answer, NULL), 0);
    }
}

static void send_datagram(struct stage *stage, struct program *from, const struct program *to,
                          uint32_t q_key)
{
    struct verbs_send *send = next_send(from);
    struct verbs_segment *segment = (void *)(send + 1);
    *send = (struct verbs_send){.dest_qp = to->qp_number,
                                .q_key = q_key,
                                .operation = VERBS_SEND,
                                .flags = VERBS_SIGNALED,
                                .segments = 1,
                                .path = {.dlid = LID, .port = 1}};
    *segment = (struct verbs_segment){(uintptr_t)from->memory, 64, from->key};
    post(stage, from);
}

/* While programs' packets are on the way, the network is ahead of the clock of agents' timers. */
static void a_wrong_q_key_raises_a_trap_and_harms_no_timer(void **state)
{
    struct connected *connected = *state;
    struct stage *stage = connected->stage;
    struct program *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
    uint32_t port = two_switches_port(&stage->world, stage->world.a, 1);
    struct fabric_totals before, after;
    set_port(stage, PORT_INFO_MASTER_SM_LID, LID + 1);
    open_datagram(stage, a, 1);
    open_datagram(stage, b, 2);
    fabric_totals(stage->world.fabric, &before);
    for (unsigned i = 0; i < 3; i++) {
        send_datagram(stage, a, b, 1);
        fabric_run_network(stage->world.fabric,
                           fabric_network_time(stage->world.fabric) + 30 * TIME_S);
    }
    fabric_totals(stage->world.fabric, &after);
    assert_true(after.traps > before.traps);
    assert_int_equal(
        wire_get(fabric_port_info(stage->world.fabric, port), PORT_INFO_Q_KEY_VIOLATIONS), 3);
    close_program(a);
    close_program(b);
    mem_free(a);
    mem_free(b);
}

/* ---- a cut cable ---- */

static void a_request_at_a_port_without_a_link_times_out(void **state)
{
    struct connected *connected = *state;
    struct stage *stage = connected->stage;
    struct program *a = mem_alloc(sizeof *a);
    uint32_t port = two_switches_port(&stage->world, stage->world.a, 1);
    struct err err;
    open_program(stage, a);
    connect_by(a, 99, (struct verbs_path){.dlid = LID + 1, .port = 1});
    assert_int_equal(fabric_set_link(stage->world.fabric, port, false, &err), 0);
    run(stage);
    write_to(a, a, 1000);
    post(stage, a);
    assert_int_equal(completions(a), 1);
    assert_int_equal(last_completion(a).status, IBV_WC_RETRY_EXC_ERR);
    close_program(a);
    mem_free(a);
}

/* ---- groups ---- */

static void only_datagram_queue_pairs_join_groups(void **state)
{
    struct connected *connected = *state;
    struct program *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
    struct verbs_request request = {.kind = VERBS_ATTACH_GROUP};
    struct verbs_answer answer = {0};
    request.group.mlid = 0xC001;
    request.group.mgid[0] = 0xFF;
    open_program(connected->stage, a);
    request.object = a->qp_object;
    assert_int_equal(ask(a, &request, -1, &answer, NULL), -EINVAL);
    open_datagram(connected->stage, b, 1);
    request.object = b->qp_object;
    assert_int_equal(ask(b, &request, -1, &answer, NULL), 0);
    assert_int_equal(ask(b, &request, -1, &answer, NULL), -EINVAL);
    request.kind = VERBS_DETACH_GROUP;
    assert_int_equal(ask(b, &request, -1, &answer, NULL), 0);
    assert_int_equal(ask(b, &request, -1, &answer, NULL), -EINVAL);
    close_program(a);
    close_program(b);
    mem_free(a);
    mem_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_addresses, tear_down_addresses)
        TEST(an_address_is_that_of_a_host),
        TEST(a_port_number_is_taken_once),
        TEST(an_open_number_is_found_behind_any_that_are_taken),
        TEST(a_program_does_not_see_the_ids_of_another_one),
        TEST(events_that_nobody_reads_are_limited),
        TEST(a_port_without_a_manager_has_no_paths),
        TEST(migration_respects_the_limit_of_events),
        TEST(a_late_answer_is_not_one_to_the_next_query),
        TEST(a_busy_administration_is_asked_until_the_deadline),
        TEST(a_wrong_q_key_raises_a_trap_and_harms_no_timer),
        TEST(a_request_at_a_port_without_a_link_times_out),
        TEST(only_datagram_queue_pairs_join_groups),
    };
    signal(SIGPIPE, SIG_IGN); /* as in the server: nobody reads the events of these programs */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
