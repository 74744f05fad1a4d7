/* Programs of a test of the adapters: both attached to adapter A, whose port an SMP has made
 * Active.
 */
#ifndef WEFT_TEST_HOST_VERBS_PROGRAMS_H
#define WEFT_TEST_HOST_VERBS_PROGRAMS_H

#include "host/verbs/verbs.h"
#include "two_switches.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LID = 7, ENTRIES = 8, BYTES = 8192 };

struct stage {
    struct two_switches world;
    struct mad_layer *layer;
    struct verbs *verbs;
};

struct ring {
    uint8_t *at;
    size_t bytes;
};

/* A program with a domain, a CQ, a region and an RC queue pair. */
struct program {
    struct verbs_client *client;
    struct ring page, cq, qp;
    uint32_t domain, cq_object, region, key, qp_object, qp_number, posted;
    uint8_t memory[BYTES];
};

/* ---- the stage ---- */

static inline void set_port(struct stage *stage, enum wire_field field, uint64_t value)
{
    uint32_t port = two_switches_port(&stage->world, stage->world.a, 1);
    struct mad_file *file = mad_file_open(stage->layer, port, NULL);
    struct registration registration = {.class = CLASS_SUBN_DIRECTED, .class_version = 1};
    struct sent_mad smp = make_smp(ATTRIBUTE_PORT_INFO, 1, NULL, 0);
    int agent = mad_file_register(file, &registration);
    assert_true(agent >= 0);
    smp.head.agent = (uint32_t)agent;
    wire_set(smp.mad, MAD_METHOD, METHOD_SET);
    wire_set(smp.mad, MAD_ATTRIBUTE_MODIFIER, 1);
    uint8_t *info = smp.mad + SMP_DATA_OFFSET;
    memcpy(info, fabric_port_info(stage->world.fabric, port), SMP_DATA_BYTES);
    wire_set(info, PORT_INFO_PORT_STATE, PORT_STATE_NO_CHANGE);
    wire_set(info, PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_NO_CHANGE);
    wire_set(info, field, value);
    assert_int_equal(mad_file_send(file, 0, &smp.head, smp.mad, MAD_BYTES), 0);
    two_switches_run(&stage->world, stage->layer, 0);
    mad_file_close(file);
}

static inline int set_up(void **state)
{
    struct stage *stage = mem_zalloc(1, sizeof *stage);
    two_switches_make(&stage->world);
    stage->layer = mad_layer_new(stage->world.fabric);
    set_port(stage, PORT_INFO_LID, LID);
    set_port(stage, PORT_INFO_PORT_STATE, PORT_STATE_ARMED);
    set_port(stage, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    stage->verbs = verbs_new(stage->world.fabric);
    *state = stage;
    return 0;
}

static inline int tear_down(void **state)
{
    struct stage *stage = *state;
    verbs_free(stage->verbs);
    mad_layer_free(stage->layer);
    two_switches_end(&stage->world);
    mem_free(stage);
    return 0;
}

/* The programs' work is taken, and some time passes. */
static inline void run(struct stage *stage)
{
    verbs_serve(stage->verbs);
    fabric_run_network(stage->world.fabric, fabric_network_time(stage->world.fabric) + TIME_MS);
}

/* ---- programs ---- */

static inline struct ring map(int descriptor)
{
    struct stat status;
    assert_int_equal(fstat(descriptor, &status), 0);
    void *at =
        mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    assert_true(at != MAP_FAILED);
    return (struct ring){at, (size_t)status.st_size};
}

/* The result of a request; maps what comes with the answer. */
static inline int ask(struct program *program, const struct verbs_request *request, int descriptor,
                      struct verbs_answer *answer, struct ring *ring)
{
    const int *descriptors;
    int result = verbs_receive(program->client, request, sizeof *request, descriptor);
    if (result < 0)
        return result;
    const struct verbs_answer *got = verbs_next_answer(program->client, &descriptors);
    assert_non_null(got);
    *answer = *got;
    if (ring && got->descriptors)
        *ring = map(descriptors[0]);
    verbs_answer_sent(program->client);
    return answer->result;
}

static inline int memory_file(void)
{
    int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static inline void attach(struct stage *stage, struct program *program)
{
    struct verbs_request request = {.kind = VERBS_MEMORY};
    struct verbs_answer answer = {0};
    struct err err;
    memset(program, 0, sizeof *program);
    assert_int_equal(verbs_attach(stage->verbs, stage->world.a, program, &program->client, &err),
                     0);
    assert_int_equal(ask(program, &request, memory_file(), &answer, &program->page), 0);
}

static inline void register_memory(struct program *program, unsigned rights)
{
    struct verbs_request request = {.kind = VERBS_ADD_REGION};
    struct verbs_answer answer = {0};
    request.region.domain = program->domain;
    request.region.rights = rights;
    request.region.start = request.region.memory = (uintptr_t)program->memory;
    request.region.bytes = BYTES / 2;
    assert_int_equal(ask(program, &request, -1, &answer, NULL), 0);
    program->region = answer.object;
    program->key = answer.key;
}

static inline void open_program(struct stage *stage, struct program *program)
{
    struct verbs_request request = {.kind = VERBS_ADD_DOMAIN};
    struct verbs_answer answer = {0};
    attach(stage, program);
    assert_int_equal(ask(program, &request, -1, &answer, NULL), 0);
    program->domain = answer.object;
    request = (struct verbs_request){.kind = VERBS_ADD_CQ};
    request.cq.capacity = ENTRIES;
    request.cq.channel = VERBS_NONE;
    assert_int_equal(ask(program, &request, -1, &answer, &program->cq), 0);
    program->cq_object = answer.object;
    request = (struct verbs_request){.kind = VERBS_ADD_QP};
    request.qp_init.service = VERBS_RC;
    request.qp_init.domain = program->domain;
    request.qp_init.send_cq = request.qp_init.receive_cq = program->cq_object;
    request.qp_init.srq = VERBS_NONE;
    request.qp_init.sends = request.qp_init.receives = ENTRIES;
    request.qp_init.send_segments = request.qp_init.receive_segments = 1;
    assert_int_equal(ask(program, &request, -1, &answer, &program->qp), 0);
    program->qp_object = answer.object;
    program->qp_number = answer.qp_number;
    register_memory(program, 15);
}

static inline void release(struct ring *ring)
{
    if (ring->at)
        munmap(ring->at, ring->bytes);
    *ring = (struct ring){0};
}

static inline void close_program(struct program *program)
{
    verbs_detach(program->client);
    release(&program->page);
    release(&program->cq);
    release(&program->qp);
}

static inline void connect_by(struct program *program, uint32_t qp_number, struct verbs_path path)
{
    static const uint32_t masks[] = {
        [IBV_QPS_INIT] = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
        [IBV_QPS_RTR] = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | 1 << 19 | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
        [IBV_QPS_RTS] = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                        IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
    };
    for (unsigned to = IBV_QPS_INIT; to <= IBV_QPS_RTS; to++) {
        struct verbs_request request = {.kind = VERBS_MODIFY_QP, .object = program->qp_object};
        struct verbs_answer answer = {0};
        request.qp.mask = masks[to];
        request.qp.attributes = (struct verbs_qp_attributes){
            .state = (uint8_t)to,
            .access = 14,
            .port = 1,
            .mtu = 256,
            .dest_qp = qp_number,
            .path = path,
            .reads = 1,
            .reads_accepted = 1,
            .retry_count = 1,
            .rnr_retry = 1,
            .timeout = 1,
            .rnr_timer = 1,
        };
        assert_int_equal(ask(program, &request, -1, &answer, NULL), 0);
    }
}

static inline void connect_to(struct program *program, uint32_t qp_number)
{
    connect_by(program, qp_number, (struct verbs_path){.dlid = LID, .port = 1});
}

static inline void open_pair(struct stage *stage, struct program *a, struct program *b)
{
    open_program(stage, a);
    open_program(stage, b);
    connect_to(a, b->qp_number);
    connect_to(b, a->qp_number);
}

static inline void make_visible(struct program *program, uint32_t posted)
{
    struct verbs_qp_ring *ring = (void *)program->qp.at;
    struct verbs_page *page = (void *)program->page.at;
    __atomic_store_n(&ring->sends, posted, __ATOMIC_SEQ_CST);
    __atomic_store_n(&page->posted, 1, __ATOMIC_SEQ_CST);
}

static inline struct verbs_send *next_send(struct program *program)
{
    uint32_t stride = verbs_send_bytes(1, VERBS_INLINE);
    return (void *)(program->qp.at + VERBS_RING_HEAD + program->posted % ENTRIES * stride);
}

/* Writes `bytes` bytes from the start of a program's memory to the start of the other's. */
static inline struct verbs_send *write_to(struct program *from, const struct program *to,
                                          uint32_t bytes)
{
    struct verbs_send *send = next_send(from);
    struct verbs_segment *segment = (void *)(send + 1);
    *send = (struct verbs_send){.id = 100 + from->posted,
                                .address = (uintptr_t)to->memory,
                                .r_key = to->key,
                                .operation = VERBS_WRITE,
                                .flags = VERBS_SIGNALED,
                                .segments = 1};
    *segment = (struct verbs_segment){(uintptr_t)from->memory, bytes, from->key};
    return send;
}

static inline void post(struct stage *stage, struct program *program)
{
    make_visible(program, ++program->posted);
    run(stage);
}

static inline struct verbs_completion last_completion(const struct program *program)
{
    const struct verbs_cq_ring *ring = (const void *)program->cq.at;
    const struct verbs_completion *entries = (const void *)(program->cq.at + VERBS_RING_HEAD);
    assert_true(ring->produced > 0);
    return entries[(ring->produced - 1) % ENTRIES];
}

static inline uint32_t completions(const struct program *program)
{
    return ((const struct verbs_cq_ring *)(const void *)program->cq.at)->produced;
}

static inline bool is_zero(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i])
            return false;
    return true;
}

#endif
