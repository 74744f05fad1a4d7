/* A program that uses libibverbs in a way that the usual programs do not, for verbs_programs.sh.
 *
 * srq: completions of a destroyed QP are not polled; its SRQ must take as many requests as before.
 * race: threads destroy QPs while another one creates some, which must complete their requests.
 * arm: a thread requests notifications while another one resizes the CQ.
 * memory: what a program cannot access itself cannot be registered.
 * dlsym, dlvsym: loads libibverbs itself, and prints the devices that it finds. */
#include <infiniband/verbs.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PORT = 1, REQUESTS = 4, ROUNDS = 6, BYTES = 64 };

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static uint8_t memory[BYTES];

static void *need(void *object, const char *what)
{
    if (object)
        return object;
    perror(what);
    exit(1);
}

static void need_zero(int result, const char *what)
{
    if (result == 0)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(result));
    exit(1);
}

static void open_device(void)
{
    struct ibv_device **list = need(ibv_get_device_list(NULL), "ibv_get_device_list");
    context = need(list[0] ? ibv_open_device(list[0]) : NULL, "ibv_open_device");
    pd = need(ibv_alloc_pd(context), "ibv_alloc_pd");
    mr = need(ibv_reg_mr(pd, memory, BYTES, IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr");
}

/* ---- srq ---- */

static struct ibv_qp *add_qp(struct ibv_cq *cq, struct ibv_srq *srq)
{
    struct ibv_qp_init_attr init = {
        .send_cq = cq,
        .recv_cq = cq,
        .srq = srq,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC,
        .sq_sig_all = 1};
    return need(ibv_create_qp(pd, &init), "ibv_create_qp");
}

static void connect_qp(struct ibv_qp *qp, const struct ibv_qp *peer)
{
    struct ibv_port_attr port;
    need_zero(ibv_query_port(context, PORT, &port), "ibv_query_port");
    struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_INIT, .port_num = PORT};
    need_zero(ibv_modify_qp(qp, &attributes,
                            IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
              "INIT");
    attributes = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
                                      .path_mtu = IBV_MTU_256,
                                      .dest_qp_num = peer->qp_num,
                                      .min_rnr_timer = 12,
                                      .ah_attr = {.dlid = port.lid, .port_num = PORT}};
    need_zero(ibv_modify_qp(qp, &attributes,
                            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
              "RTR");
    attributes = (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTS, .timeout = 18, .retry_cnt = 7, .rnr_retry = 7};
    need_zero(ibv_modify_qp(qp, &attributes,
                            IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
              "RTS");
}

/* How many requests the SRQ takes. */
static unsigned fill(struct ibv_srq *srq)
{
    struct ibv_sge segment = {(uintptr_t)memory, BYTES, mr->lkey};
    struct ibv_recv_wr work = {.sg_list = &segment, .num_sge = 1}, *bad;
    unsigned count = 0;
    while (ibv_post_srq_recv(srq, &work, &bad) == 0)
        count++;
    return count;
}

static void send_one(struct ibv_qp *qp, struct ibv_cq *cq)
{
    struct ibv_sge segment = {(uintptr_t)memory, BYTES, mr->lkey};
    struct ibv_send_wr work = {.sg_list = &segment, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
    struct ibv_wc completion;
    need_zero(ibv_post_send(qp, &work, &bad), "ibv_post_send");
    for (time_t end = time(NULL) + 20; ibv_poll_cq(cq, 1, &completion) == 0;)
        if (time(NULL) > end)
            need(NULL, "no completion");
    need_zero(completion.status, "completion");
}

static int try_srq(void)
{
    struct ibv_srq_init_attr init = {.attr = {.max_wr = REQUESTS, .max_sge = 1}};
    struct ibv_srq *srq = need(ibv_create_srq(pd, &init), "ibv_create_srq");
    struct ibv_cq *cqs[2];
    for (unsigned i = 0; i < 2; i++)
        cqs[i] = need(ibv_create_cq(context, 64, NULL, NULL, 0), "ibv_create_cq");
    struct ibv_wc completion;
    unsigned taken = fill(srq);
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct ibv_qp *from = add_qp(cqs[0], NULL), *to = add_qp(cqs[1], srq);
        connect_qp(to, from);
        connect_qp(from, to);
        send_one(from, cqs[0]);
        need_zero(ibv_destroy_qp(to), "ibv_destroy_qp");
        need_zero(ibv_destroy_qp(from), "ibv_destroy_qp");
        unsigned again = fill(srq);
        if (again != 1) {
            printf("round %u: %u of %u requests came back, not 1\n", i, again, taken);
            return 1;
        }
        if (i % 2 && ibv_poll_cq(cqs[1], 1, &completion) != 0) {
            printf("a completion of a destroyed QP was polled\n");
            return 1;
        }
    }
    printf("the SRQ takes %u requests as before\n", taken);
    return 0;
}

/* ---- loading ---- */

static void *look_up(void *library, const char *name, bool version)
{
    return need(version ? dlvsym(library, name, "IBVERBS_1.1") : dlsym(library, name), name);
}

static int try_loading(bool version)
{
    void *library = need(dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL), "libibverbs.so.1");
    struct ibv_device **(*list)(int *) = look_up(library, "ibv_get_device_list", version);
    const char *(*name)(struct ibv_device *) = look_up(library, "ibv_get_device_name", version);
    struct ibv_context *(*open)(struct ibv_device *) = look_up(library, "ibv_open_device", version);
    int (*query)(struct ibv_context *, uint8_t, struct _compat_ibv_port_attr *) =
        look_up(library, "ibv_query_port", version);
    const char *(*text)(enum ibv_wc_status) = look_up(library, "ibv_wc_status_str", version);
    int count = 0;
    struct ibv_device **devices = list(&count);
    for (int i = 0; i < count; i++) {
        struct ibv_port_attr port = {0};
        struct ibv_context *opened = need(open(devices[i]), "ibv_open_device");
        need_zero(query(opened, PORT, (struct _compat_ibv_port_attr *)(void *)&port), "query");
        printf("%s LID %u, %s\n", name(devices[i]), port.lid, text(IBV_WC_SUCCESS));
    }
    if (dlsym(library, "ibv_no_such_function") || dlvsym(library, "ibv_open_device", "NONE_1"))
        printf("found what does not exist\n");
    return count != 1;
}

/* ---- race ---- */

enum { RACERS = 3, KEPT = 200 };
static atomic_bool stop;

static void *create_and_destroy(void *cq)
{
    while (!atomic_load(&stop))
        need_zero(ibv_destroy_qp(add_qp(cq, NULL)), "ibv_destroy_qp");
    return NULL;
}

/* Whether a receive request of the QP completes, which is flushed. */
static bool completes(struct ibv_qp *qp, struct ibv_cq *cq)
{
    struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_INIT, .port_num = PORT};
    struct ibv_recv_wr work = {.wr_id = 1}, *bad;
    struct ibv_wc completion;
    need_zero(ibv_modify_qp(qp, &attributes,
                            IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
              "INIT");
    need_zero(ibv_post_recv(qp, &work, &bad), "ibv_post_recv");
    attributes.qp_state = IBV_QPS_ERR;
    need_zero(ibv_modify_qp(qp, &attributes, IBV_QP_STATE), "ERR");
    time_t end = time(NULL) + 20;
    while (ibv_poll_cq(cq, 1, &completion) == 0)
        if (time(NULL) > end)
            return false;
    return true;
}

static int try_race(void)
{
    struct ibv_cq *cq = need(ibv_create_cq(context, 1024, NULL, NULL, 0), "ibv_create_cq");
    struct ibv_qp *qps[KEPT];
    pthread_t threads[RACERS];
    for (unsigned i = 0; i < RACERS; i++)
        need_zero(pthread_create(&threads[i], NULL, create_and_destroy, cq), "pthread_create");
    for (unsigned i = 0; i < KEPT; i++)
        qps[i] = add_qp(cq, NULL);
    atomic_store(&stop, true);
    for (unsigned i = 0; i < RACERS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < KEPT; i++)
        if (!completes(qps[i], cq)) {
            printf("QP %u of %d never completes\n", i, KEPT);
            return 1;
        }
    return 0;
}

/* ---- arm ---- */

static void *arm(void *cq)
{
    while (!atomic_load(&stop))
        need_zero(ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
    return NULL;
}

static int try_arm(void)
{
    struct ibv_cq_init_attr_ex init = {.cqe = 16, .wc_flags = IBV_WC_STANDARD_FLAGS};
    struct ibv_cq_ex *extended = need(ibv_create_cq_ex(context, &init), "ibv_create_cq_ex");
    struct ibv_cq *cq = ibv_cq_ex_to_cq(extended);
    struct ibv_poll_cq_attr none = {0};
    struct ibv_qp *qp = add_qp(cq, NULL);
    struct ibv_recv_wr work = {.wr_id = 1}, *bad;
    struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_INIT, .port_num = PORT};
    pthread_t thread;
    need_zero(pthread_create(&thread, NULL, arm, cq), "pthread_create");
    for (int i = 0; i < 2000; i++)
        need_zero(ibv_resize_cq(cq, 16 << i % 2), "ibv_resize_cq");
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    /* The thread that polls may arm, too. */
    need_zero(ibv_modify_qp(qp, &attributes,
                            IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
              "INIT");
    need_zero(ibv_post_recv(qp, &work, &bad), "ibv_post_recv");
    attributes.qp_state = IBV_QPS_ERR;
    need_zero(ibv_modify_qp(qp, &attributes, IBV_QP_STATE), "ERR");
    for (time_t end = time(NULL) + 20; ibv_start_poll(extended, &none);)
        if (time(NULL) > end)
            need(NULL, "no completion");
    need_zero(ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
    ibv_end_poll(extended);
    return 0;
}

/* ---- memory ---- */

static int expect(const char *what, char *at, size_t bytes, int access, bool possible)
{
    struct ibv_mr *region = ibv_reg_mr(pd, at, bytes, access);
    bool right = possible ? region != NULL : region == NULL && errno == EFAULT;
    if (!right)
        printf("%s: %s\n", what, region ? "was registered" : strerror(errno));
    return !right;
}

static int try_memory(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *at = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int write = IBV_ACCESS_LOCAL_WRITE, wrong = 0;
    if (at == MAP_FAILED || mprotect(at, page, PROT_READ) ||
        mprotect(at + 2 * page, page, PROT_NONE))
        need(NULL, "mmap");
    wrong += expect("read only, to read", at, page, IBV_ACCESS_REMOTE_READ, true);
    wrong += expect("read only, to write", at, page, write, false);
    wrong += expect("both, to read", at + 1, 2 * page - 1, 0, true);
    wrong += expect("both, to write", at, 2 * page, write, false);
    wrong += expect("writable", at + page, page, write | IBV_ACCESS_REMOTE_WRITE, true);
    wrong += expect("beyond the end", at + page, page + 1, 0, false);
    wrong += expect("unmapped", (char *)(uintptr_t)4096, page, 0, false);
    struct ibv_mr *region = need(ibv_reg_mr(pd, at + page, page, write), "ibv_reg_mr");
    if (ibv_rereg_mr(region, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, at, page, 0) == 0 ||
        errno != EFAULT) {
        printf("a region became one of memory that cannot be written\n");
        wrong++;
    }
    return wrong != 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } tests[] = {{"srq", try_srq}, {"race", try_race}, {"arm", try_arm}, {"memory", try_memory}};
    const char *name = argc == 2 ? argv[1] : "";
    if (strcmp(name, "dlsym") == 0 || strcmp(name, "dlvsym") == 0)
        return try_loading(strcmp(name, "dlvsym") == 0);
    open_device();
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (strcmp(name, tests[i].name) == 0)
            return tests[i].run();
    fprintf(stderr, "usage: verbs_client srq|race|arm|memory|dlsym|dlvsym\n");
    return 2;
}
