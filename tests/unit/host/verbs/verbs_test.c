/* The adapters of programs, without sockets: what moves bytes, and what clients that break rules
 * cannot do. */
#include "programs.h"

#include "base/rng.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { FORGED = 20000 };

/* ---- what works ---- */

static void a_write_moves_bytes_between_programs(void **state)
{
    struct program *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
    open_pair(*state, a, b);
    memset(a->memory, 'x', BYTES);
    write_to(a, b, 1000);
    post(*state, a);
    assert_int_equal(completions(a), 1);
    assert_int_equal(last_completion(a).status, IBV_WC_SUCCESS);
    assert_int_equal(last_completion(a).id, 100);
    assert_memory_equal(a->memory, b->memory, 1000);
    assert_true(is_zero(b->memory + 1000, BYTES - 1000));
    close_program(a);
    close_program(b);
    mem_free(a);
    mem_free(b);
}

static void a_region_keeps_its_key_when_it_changes(void **state)
{
    struct program *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
    struct verbs_request request = {.kind = VERBS_REPLACE_REGION};
    struct verbs_answer answer = {0};
    open_pair(*state, a, b);
    memset(a->memory, 'x', BYTES);
    request.object = b->region;
    request.region.domain = b->domain;
    request.region.rights = 3;
    request.region.start = request.region.memory = (uintptr_t)b->memory + BYTES / 2;
    request.region.bytes = BYTES / 2;
    assert_int_equal(ask(b, &request, -1, &answer, NULL), 0);
    write_to(a, b, 64)->address = request.region.start;
    post(*state, a);
    assert_int_equal(last_completion(a).status, IBV_WC_SUCCESS);
    assert_memory_equal(b->memory + BYTES / 2, a->memory, 64);
    request.region.rights = 2; /* remote rights need the local one */
    assert_int_equal(ask(b, &request, -1, &answer, NULL), -EINVAL);
    write_to(a, b, 64); /* where it was before */
    post(*state, a);
    assert_int_equal(last_completion(a).status, IBV_WC_REM_ACCESS_ERR);
    assert_true(is_zero(b->memory, BYTES / 2));
    close_program(a);
    close_program(b);
    mem_free(a);
    mem_free(b);
}

/* ---- what must not work ---- */

static void keys_that_are_wrong_move_nothing(void **state)
{
    struct program *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
    for (unsigned wrong = 0; wrong < 5; wrong++) {
        static const uint8_t expected[] = {IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_ACCESS_ERR,
                                           IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_PROT_ERR,
                                           IBV_WC_REM_ACCESS_ERR};
        open_pair(*state, a, b);
        memset(a->memory, 'x', BYTES);
        struct verbs_send *send = write_to(a, b, 64);
        struct verbs_segment *segment = (void *)(send + 1);
        switch (wrong) {
        case 0: send->r_key++; break;
        case 1: send->address += BYTES / 2 - 63; break; /* the last byte is not registered */
        case 2: segment->key = b->key; break;           /* of another program */
        case 3: segment->address += BYTES / 2 - 63; break;
        default: send->r_key = a->key;
        }
        post(*state, a);
        assert_int_equal(last_completion(a).status, expected[wrong]);
        assert_true(is_zero(b->memory, BYTES));
        close_program(a);
        close_program(b);
    }
    mem_free(a);
    mem_free(b);
}

static void a_removed_region_is_not_written(void **state)
{
    struct program *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
    struct verbs_request request = {.kind = VERBS_REMOVE_REGION};
    struct verbs_answer answer = {0};
    open_pair(*state, a, b);
    memset(a->memory, 'x', BYTES);
    write_to(a, b, 64);
    make_visible(a, ++a->posted);
    verbs_serve(((struct stage *)*state)->verbs); /* the packet is on the way */
    request.object = b->region;
    assert_int_equal(ask(b, &request, -1, &answer, NULL), 0);
    run(*state);
    assert_int_equal(last_completion(a).status, IBV_WC_REM_ACCESS_ERR);
    assert_true(is_zero(b->memory, BYTES));
    close_program(a);
    close_program(b);
    mem_free(a);
    mem_free(b);
}

static void impossible_requests_fail_their_queue_pair(void **state)
{
    struct program *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
    for (unsigned wrong = 0; wrong < 4; wrong++) {
        open_pair(*state, a, b);
        struct verbs_send *send = write_to(a, b, 64);
        switch (wrong) {
        case 0: send->operation = 77; break;
        case 1: send->segments = 2; break;
        case 2: send->flags |= VERBS_INLINED, send->inline_bytes = 100000; break;
        default: send->flags |= VERBS_INLINED, send->operation = VERBS_READ;
        }
        post(*state, a);
        assert_int_equal(last_completion(a).status, IBV_WC_LOC_QP_OP_ERR);
        write_to(a, b, 64);
        post(*state, a);
        assert_int_equal(last_completion(a).status, IBV_WC_WR_FLUSH_ERR);
        assert_true(is_zero(b->memory, BYTES));
        close_program(a);
        close_program(b);
    }
    mem_free(a);
    mem_free(b);
}

static void an_impossible_request_fails_in_its_turn(void **state)
{
    struct program *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
    open_pair(*state, a, b);
    memset(a->memory, 'x', BYTES);
    write_to(a, b, 2000);
    a->posted++;
    write_to(a, b, 64)->operation = 77;
    a->posted++;
    write_to(a, b, 64);
    post(*state, a);
    const struct verbs_completion *entries = (const void *)(a->cq.at + VERBS_RING_HEAD);
    assert_int_equal(completions(a), 3);
    for (unsigned i = 0; i < 3; i++) {
        static const uint8_t statuses[] = {IBV_WC_SUCCESS, IBV_WC_LOC_QP_OP_ERR,
                                           IBV_WC_WR_FLUSH_ERR};
        assert_int_equal(entries[i].id, 100 + i);
        assert_int_equal(entries[i].status, statuses[i]);
    }
    assert_memory_equal(a->memory, b->memory, 2000);
    close_program(a);
    close_program(b);
    mem_free(a);
    mem_free(b);
}

/* A region of memory that its program has unmapped since: the peer gets the responder's NAK. */
static void a_responder_without_its_memory_says_so(void **state)
{
    static const uint8_t operations[] = {VERBS_WRITE, VERBS_WRITE, VERBS_FETCH_ADD,
                                         VERBS_COMPARE_SWAP};
    struct program *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
    for (unsigned i = 0; i < 4; i++) {
        struct verbs_request request = {.kind = VERBS_REPLACE_REGION};
        struct verbs_answer answer = {0};
        open_pair(*state, a, b);
        request.object = b->region;
        request.region.domain = b->domain;
        request.region.rights = 15;
        request.region.start = (uintptr_t)b->memory & ~UINT64_C(7);
        request.region.memory = 4096;
        request.region.bytes = BYTES / 2;
        assert_int_equal(ask(b, &request, -1, &answer, NULL), 0);
        struct verbs_send *send = write_to(a, b, i == 1 ? 2000 : 8);
        send->operation = operations[i];
        send->address = request.region.start;
        post(*state, a);
        for (unsigned more = 0; more < 10; more++)
            run(*state);
        assert_int_equal(completions(a), 1);
        assert_int_equal(last_completion(a).status, IBV_WC_REM_OP_ERR);
        close_program(a);
        close_program(b);
    }
    mem_free(a);
    mem_free(b);
}

static void a_count_that_cannot_be_true_ends_the_client(void **state)
{
    struct stage *stage = *state;
    struct program *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
    open_pair(stage, a, b);
    make_visible(a, ENTRIES + 1);
    run(stage);
    assert_ptr_equal(verbs_next_failed(stage->verbs), a);
    close_program(a);
    assert_null(verbs_next_failed(stage->verbs));
    /* The other one is served as before: its peer is gone. */
    write_to(b, a, 64);
    post(stage, b);
    for (unsigned i = 0; i < 10; i++)
        run(stage);
    assert_int_equal(last_completion(b).status, IBV_WC_RETRY_EXC_ERR);
    close_program(b);
    mem_free(a);
    mem_free(b);
}

static void a_full_cq_is_an_event_and_no_overflow(void **state)
{
    struct program *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
    open_pair(*state, a, b);
    for (unsigned i = 0; i < ENTRIES + 2; i++) {
        write_to(a, b, 8);
        post(*state, a);
    }
    assert_int_equal(completions(a), ENTRIES);
    assert_int_equal(((struct verbs_cq_ring *)(void *)a->cq.at)->overrun, 1);
    close_program(a);
    close_program(b);
    mem_free(a);
    mem_free(b);
}

static void a_path_names_a_port_that_exists(void **state)
{
    struct program *a = mem_alloc(sizeof *a);
    struct verbs_request request = {.kind = VERBS_MODIFY_QP};
    struct verbs_answer answer = {0};
    open_program(*state, a);
    request.object = a->qp_object;
    request.qp.mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    request.qp.attributes = (struct verbs_qp_attributes){.state = IBV_QPS_INIT, .port = 1};
    request.qp.attributes.p_key_index = PORT_P_KEYS;
    assert_int_equal(ask(a, &request, -1, &answer, NULL), -EINVAL);
    request.qp.attributes.p_key_index = 0;
    assert_int_equal(ask(a, &request, -1, &answer, NULL), 0);
    request.qp.mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | 1 << 19 | IBV_QP_RQ_PSN |
                      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    request.qp.attributes = (struct verbs_qp_attributes){
        .state = IBV_QPS_RTR, .mtu = 256, .path = {.dlid = LID}, .reads_accepted = VERBS_READS};
    for (unsigned port = 0; port <= 2; port++) {
        request.qp.attributes.path.port = (uint8_t)port;
        assert_int_equal(ask(a, &request, -1, &answer, NULL), port == 1 ? 0 : -EINVAL);
    }
    close_program(a);
    mem_free(a);
}

/* Opens a file of /proc that is mounted over a name ending in /mem, in the mount namespace of a
 * child with the same descriptors. -1: this user may not make one. */
static int open_mounted(const char *path, const char *name, long *child)
{
    int ends[2], fd = -1;
    close(open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    assert_int_equal(pipe(ends), 0);
    *child = syscall(SYS_clone, CLONE_FILES | CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0);
    if (*child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int opened =
            mount(path, name, NULL, MS_BIND, NULL) == 0 ? open(name, O_RDWR | O_CLOEXEC) : -1;
        if (write(ends[1], &opened, sizeof opened) != sizeof opened)
            _exit(1);
        for (;;)
            pause();
    }
    if (*child > 0)
        assert_int_equal(read(ends[0], &fd, sizeof fd), sizeof fd);
    close(ends[0]);
    close(ends[1]);
    return fd;
}

static void only_a_memory_file_is_taken(void **state)
{
    struct stage *stage = *state;
    struct program program = {0};
    struct verbs_request request = {.kind = VERBS_MEMORY}, domain = {.kind = VERBS_ADD_DOMAIN};
    struct verbs_answer answer = {0};
    struct err err;
    int ends[2];
    assert_int_equal(verbs_attach(stage->verbs, stage->world.a, &program, &program.client, &err),
                     0);
    assert_int_equal(verbs_receive(program.client, &domain, sizeof domain, -1), -EPROTO);
    assert_int_equal(ask(&program, &request, -1, &answer, NULL), -EINVAL);
    assert_int_equal(pipe(ends), 0);
    close(ends[1]);
    assert_int_equal(ask(&program, &request, ends[0], &answer, NULL), -EINVAL);
    static const char *const paths[] = {"/dev/null", "/proc/self/maps", "/proc/self/mem",
                                        "/proc/self/oom_score_adj"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        assert_int_equal(
            ask(&program, &request, open(paths[i], O_RDONLY | O_CLOEXEC), &answer, NULL), -EINVAL);
    assert_int_equal(ask(&program, &request, open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC),
                         &answer, NULL),
                     -EINVAL);
    char place[] = "/tmp/weft-verbs-XXXXXX", name[64];
    long child;
    assert_non_null(mkdtemp(place));
    snprintf(name, sizeof name, "%s/mem", place);
    int mounted = open_mounted("/proc/self/oom_score_adj", name, &child);
    if (mounted >= 0)
        assert_int_equal(ask(&program, &request, mounted, &answer, NULL), -EINVAL);
    if (child > 0) {
        kill((pid_t)child, SIGKILL);
        waitpid((pid_t)child, NULL, 0);
    }
    unlink(name);
    rmdir(place);
    verbs_detach(program.client);
}

static void a_request_before_the_answer_breaks_the_protocol(void **state)
{
    struct program program;
    struct verbs_request request = {.kind = VERBS_ADD_DOMAIN};
    attach(*state, &program);
    assert_int_equal(verbs_receive(program.client, &request, sizeof request, -1), 0);
    assert_int_equal(verbs_receive(program.client, &request, sizeof request, -1), -EPROTO);
    assert_int_equal(verbs_receive(program.client, &request, 3, -1), -EPROTO);
    close_program(&program);
}

/* A thread that posts work does not wait for the requests of other threads. */
static void a_doorbell_may_come_before_the_answer(void **state)
{
    struct program program;
    struct verbs_request request = {.kind = VERBS_ADD_DOMAIN}, bell = {.kind = VERBS_DOORBELL};
    const int *descriptors;
    attach(*state, &program);
    assert_int_equal(verbs_receive(program.client, &request, sizeof request, -1), 0);
    assert_int_equal(verbs_receive(program.client, &bell, sizeof bell, -1), 0);
    assert_non_null(verbs_next_answer(program.client, &descriptors));
    close_program(&program);
}

/* The descriptor of the memory of a process that is dead. */
static int dead_memory_file(struct program *program)
{
    struct verbs_request request = {.kind = VERBS_MEMORY};
    struct verbs_answer answer = {0};
    char path[64];
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    assert_true(child > 0);
    snprintf(path, sizeof path, "/proc/%d/mem", (int)child);
    int result = ask(program, &request, open(path, O_RDWR | O_CLOEXEC), &answer, NULL);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return result;
}

/* Its memory reads as an end of file, which sets no error number. */
static void the_memory_of_a_dead_process_fails_the_access(void **state)
{
    struct program *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
    for (unsigned dead = 0; dead < 2; dead++) {
        open_pair(*state, a, b);
        assert_int_equal(dead_memory_file(dead ? b : a), 0);
        write_to(a, b, 64);
        errno = EINTR;
        post(*state, a);
        for (unsigned i = 0; i < 10; i++)
            run(*state);
        assert_int_equal(last_completion(a).status,
                         dead ? IBV_WC_RETRY_EXC_ERR : IBV_WC_WR_FLUSH_ERR);
        close_program(a);
        close_program(b);
    }
    mem_free(a);
    mem_free(b);
}

/* Numbers that name nothing, in every request: an error, and the objects stay as they are. */
static void forged_requests_are_refused(void **state)
{
    struct stage *stage = *state;
    struct program *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
    struct rng rng;
    open_pair(stage, a, b);
    rng_seed(&rng, 1, 0);
    struct program forger;
    attach(stage, &forger);
    for (unsigned i = 0; i < FORGED; i++) {
        struct verbs_request request;
        struct verbs_answer answer = {0};
        uint8_t *bytes = (uint8_t *)&request;
        for (size_t at = 0; at < sizeof request; at++)
            bytes[at] = (uint8_t)(rng_next(&rng) % 3 ? 0 : rng_next(&rng));
        request.kind = VERBS_PORT + (uint32_t)(rng_next(&rng) % (VERBS_REMOVE_QP - VERBS_PORT + 1));
        request.object = (uint32_t)(rng_next(&rng) % 4);
        if (request.kind == VERBS_ADD_CQ || request.kind == VERBS_RESIZE_CQ)
            request.cq.capacity %= 64;
        assert_true(ask(&forger, &request, -1, &answer, NULL) <= 0);
    }
    close_program(&forger);
    memset(a->memory, 'y', BYTES);
    write_to(a, b, 300);
    post(stage, a);
    assert_int_equal(last_completion(a).status, IBV_WC_SUCCESS);
    assert_memory_equal(a->memory, b->memory, 300);
    close_program(a);
    close_program(b);
    mem_free(a);
    mem_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_write_moves_bytes_between_programs),
        TEST(a_region_keeps_its_key_when_it_changes),
        TEST(keys_that_are_wrong_move_nothing),
        TEST(a_removed_region_is_not_written),
        TEST(impossible_requests_fail_their_queue_pair),
        TEST(a_responder_without_its_memory_says_so),
        TEST(an_impossible_request_fails_in_its_turn),
        TEST(a_count_that_cannot_be_true_ends_the_client),
        TEST(a_full_cq_is_an_event_and_no_overflow),
        TEST(a_path_names_a_port_that_exists),
        TEST(only_a_memory_file_is_taken),
        TEST(a_request_before_the_answer_breaks_the_protocol),
        TEST(a_doorbell_may_come_before_the_answer),
        TEST(the_memory_of_a_dead_process_fails_the_access),
        TEST(forged_requests_are_refused),
    };
    signal(SIGPIPE, SIG_IGN); /* as in the server: nobody reads the events of these programs */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
