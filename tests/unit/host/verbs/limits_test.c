/* What one program can take of the server: memory, descriptors and time, and nothing of another
 * program. */
#include "programs.h"

#include "transport/transport.h"

#include <signal.h>

enum { LONG = 1 << 20 };

static struct verbs_client_view view_of(const struct program *program)
{
    struct verbs_client_view view;
    verbs_client_view(program->client, &view);
    return view;
}

static uint32_t register_bytes(struct program *program, void *at, uint64_t bytes)
{
    struct verbs_request request = {.kind = VERBS_ADD_REGION};
    struct verbs_answer answer = {0};
    request.region.domain = program->domain;
    request.region.rights = 15;
    request.region.start = request.region.memory = (uintptr_t)at;
    request.region.bytes = bytes;
    assert_int_equal(ask(program, &request, -1, &answer, NULL), 0);
    return answer.key;
}

/* A READ has no window: the packets of the response wait in the transport layer, not in copies. */
static void a_long_message_to_itself_waits_for_room(void **state)
{
    struct stage *stage = *state;
    struct program *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
    uint8_t *from = mem_zalloc(1, LONG), *to = mem_zalloc(1, LONG);
    struct fabric *fabric = stage->world.fabric;
    open_pair(stage, a, b);
    memset(from, 'x', LONG);
    uint32_t key = register_bytes(b, from, LONG);
    struct verbs_send *send = write_to(a, b, 64);
    send->operation = VERBS_READ;
    send->r_key = key;
    send->address = (uintptr_t)from;
    *(struct verbs_segment *)(void *)(send + 1) =
        (struct verbs_segment){(uintptr_t)to, LONG, register_bytes(a, to, LONG)};
    make_visible(a, ++a->posted);
    verbs_serve(stage->verbs);
    uint64_t begin = fabric_network_time(fabric);
    while (completions(a) == 0) {
        fabric_run_network(fabric, fabric_network_time(fabric) + TIME_US / 10);
        assert_true(view_of(b).read_bytes - view_of(a).written_bytes <= UINT64_C(64) * 256);
        assert_true(fabric_network_time(fabric) < begin + 10 * TIME_MS);
    }
    assert_int_equal(last_completion(a).status, IBV_WC_SUCCESS);
    assert_memory_equal(from, to, LONG);
    assert_true(fabric_network_time(fabric) - begin > 10 * TIME_US); /* it took time */
    close_program(a);
    close_program(b);
    mem_free(from);
    mem_free(to);
    mem_free(a);
    mem_free(b);
}

/* Path bits beyond the LMC would be the address of another port. */
static void path_bits_do_not_forge_an_address(void **state)
{
    struct program *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
    open_program(*state, a);
    open_program(*state, b);
    connect_by(a, b->qp_number, (struct verbs_path){.dlid = LID, .port = 1, .path_bits = 8});
    connect_to(b, a->qp_number);
    write_to(a, b, 64);
    post(*state, a);
    assert_int_equal(last_completion(a).status, IBV_WC_SUCCESS);
    close_program(a);
    close_program(b);
    mem_free(a);
    mem_free(b);
}

/* How many objects a program gets, of at most `most`; the rest is refused for want of memory. */
static unsigned count_objects(struct program *program, const struct verbs_request *request,
                              unsigned most)
{
    struct verbs_answer answer = {0};
    for (unsigned count = 0; count < most; count++) {
        int result = ask(program, request, -1, &answer, NULL);
        if (result) {
            assert_int_equal(result, -ENOMEM);
            return count;
        }
    }
    return most;
}

static void completion_channels_are_limited(void **state)
{
    struct program *a = mem_alloc(sizeof *a);
    struct verbs_request request = {.kind = VERBS_ADD_CHANNEL};
    open_program(*state, a);
    assert_int_equal(count_objects(a, &request, 300), VERBS_CHANNELS);
    close_program(a);
    mem_free(a);
}

/* One program cannot take all memory, and what it took is free again when it ends. */
static void the_memory_of_rings_is_limited(void **state)
{
    struct program *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
    struct verbs_request queues = {.kind = VERBS_ADD_QP}, cqs = {.kind = VERBS_ADD_CQ};
    cqs.cq.capacity = 1;
    cqs.cq.channel = VERBS_NONE;
    for (unsigned round = 0; round < 6; round++) {
        open_program(*state, a);
        queues.qp_init.service = VERBS_UD;
        queues.qp_init.domain = a->domain;
        queues.qp_init.send_cq = queues.qp_init.receive_cq = a->cq_object;
        queues.qp_init.srq = VERBS_NONE;
        queues.qp_init.sends = queues.qp_init.receives = VERBS_ENTRIES;
        queues.qp_init.send_segments = queues.qp_init.receive_segments = VERBS_SEGMENTS;
        unsigned count = count_objects(a, &queues, 300);
        assert_in_range(count, 10, 30); /* with what their entries take in the transport layer */
        open_program(*state, b);        /* the other one gets its own */
        close_program(b);
        close_program(a);
    }
    open_program(*state, a);
    assert_in_range(count_objects(a, &cqs, VERBS_RINGS + 1), VERBS_RINGS - 10, VERBS_RINGS);
    open_program(*state, b);
    close_program(b);
    close_program(a);
    mem_free(a);
    mem_free(b);
}

/* A pass takes a part of what a program has posted; the rest is taken in the next ones. */
static void a_pass_takes_a_part_of_much_work(void **state)
{
    struct stage *stage = *state;
    struct program *a = mem_alloc(sizeof *a);
    struct verbs_request request = {.kind = VERBS_ADD_QP};
    struct verbs_answer answer = {0};
    open_program(stage, a);
    release(&a->qp);
    request.qp_init.service = VERBS_RC;
    request.qp_init.domain = a->domain;
    request.qp_init.send_cq = request.qp_init.receive_cq = a->cq_object;
    request.qp_init.srq = VERBS_NONE;
    request.qp_init.receives = VERBS_ENTRIES;
    assert_int_equal(ask(a, &request, -1, &answer, &a->qp), 0);
    a->qp_object = answer.object;
    connect_to(a, answer.qp_number);
    __atomic_store_n(&((struct verbs_qp_ring *)(void *)a->qp.at)->receives, VERBS_ENTRIES,
                     __ATOMIC_SEQ_CST);
    __atomic_store_n(&((struct verbs_page *)(void *)a->page.at)->posted, 1, __ATOMIC_SEQ_CST);
    for (unsigned taken = 4096; taken <= VERBS_ENTRIES; taken += 4096) {
        assert_true(verbs_has_work(stage->verbs));
        verbs_serve(stage->verbs);
        assert_int_equal(view_of(a).receives, taken);
    }
    while (verbs_has_work(stage->verbs))
        verbs_serve(stage->verbs);
    assert_int_equal(view_of(a).receives, VERBS_ENTRIES);
    assert_null(verbs_next_failed(stage->verbs));
    close_program(a);
    mem_free(a);
}

static void set_state(struct program *program, uint8_t state)
{
    struct verbs_request request = {.kind = VERBS_MODIFY_QP, .object = program->qp_object};
    struct verbs_answer answer = {0};
    request.qp.mask = IBV_QP_STATE;
    request.qp.attributes.state = state;
    assert_int_equal(ask(program, &request, -1, &answer, NULL), 0);
}

static void write_inline(struct program *from, const struct program *to, char byte)
{
    struct verbs_send *send = write_to(from, to, 0);
    send->flags |= VERBS_INLINED;
    send->inline_bytes = 100;
    send->address += from->posted % ENTRIES * 100;
    memset(send + 1, byte, 100);
}

/* A request that finds its queue full does not replace the one that has its slot. */
static void a_request_too_many_changes_no_other(void **state)
{
    struct stage *stage = *state;
    struct program *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
    open_pair(stage, a, b);
    set_state(a, IBV_QPS_SQD);
    for (unsigned i = 0; i <= ENTRIES; i++) {
        write_inline(a, b, i < ENTRIES ? 'x' : 'y');
        make_visible(a, ++a->posted);
        verbs_serve(stage->verbs);
    }
    assert_ptr_equal(verbs_next_failed(stage->verbs), a);
    set_state(a, IBV_QPS_RTS);
    fabric_run_network(stage->world.fabric,
                       fabric_network_time(stage->world.fabric) + TIME_US * 100);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(b->memory[i], 'x');
    close_program(a);
    close_program(b);
    mem_free(a);
    mem_free(b);
}

static uint8_t state_of(struct program *program)
{
    struct verbs_request request = {.kind = VERBS_QUERY_QP, .object = program->qp_object};
    struct verbs_answer answer = {0};
    assert_int_equal(ask(program, &request, -1, &answer, NULL), 0);
    return answer.attributes.state;
}

/* A responder whose memory cannot be read fails; not another QP that names the same peer. */
static void a_responder_without_memory_fails_alone(void **state)
{
    struct stage *stage = *state;
    struct program *other = mem_alloc(sizeof *other);
    struct program *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
    const long page = sysconf(_SC_PAGESIZE);
    void *gone =
        mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(gone != MAP_FAILED);
    open_program(stage, other);
    open_pair(stage, a, b);
    connect_to(other, a->qp_number);
    struct verbs_send *send = write_to(a, b, 64);
    send->operation = VERBS_READ;
    send->address = (uintptr_t)gone;
    send->r_key = register_bytes(b, gone, (uint64_t)page);
    munmap(gone, (size_t)page);
    post(stage, a);
    assert_int_equal(state_of(b), IBV_QPS_ERR);
    assert_int_equal(state_of(other), IBV_QPS_RTS);
    close_program(other);
    close_program(a);
    close_program(b);
    mem_free(other);
    mem_free(a);
    mem_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_long_message_to_itself_waits_for_room), TEST(path_bits_do_not_forge_an_address),
        TEST(completion_channels_are_limited),         TEST(the_memory_of_rings_is_limited),
        TEST(a_pass_takes_a_part_of_much_work),        TEST(a_request_too_many_changes_no_other),
        TEST(a_responder_without_memory_fails_alone),
    };
    signal(SIGPIPE, SIG_IGN); /* as in the server: nobody reads the events of these programs */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
