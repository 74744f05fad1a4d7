/* Devices and contexts of the stand-in for libibverbs.
 *
 * There is one device, the adapter at the attachment of the program. Opening it opens a connection
 * to the fabric server, and passes it the file of this process's memory, so that the server can
 * move payload. A process that has forked passes its own memory before its next request. */
#include "internal.h"

#include "host/socket/endpoint.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* Providers that programs link read behind the structure of a device, to see if it is theirs. */
static struct {
    struct ibv_device device;
    char behind[1024];
} device;
static uint64_t device_guid;

static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;
static struct context *contexts;

/* ---- requests ---- */

static void note_fork(void)
{
    for (struct context *context = contexts; context; context = context->next)
        context->forked = true;
}

static void take_descriptors(struct msghdr *packet, int descriptors[2])
{
    struct cmsghdr *entry = CMSG_FIRSTHDR(packet);
    if (!entry || entry->cmsg_level != SOL_SOCKET || entry->cmsg_type != SCM_RIGHTS)
        return;
    size_t count = (entry->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(descriptors, CMSG_DATA(entry), (count < 2 ? count : 2) * sizeof(int));
}

static int exchange(struct context *context, const void *request, size_t bytes, int descriptor,
                    struct verbs_answer *answer, int descriptors[2])
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct iovec piece = {answer, sizeof *answer};
    struct msghdr packet = {.msg_iov = &piece,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof control};
    descriptors[0] = descriptors[1] = -1;
    bool sent = endpoint_send(context->socket, request, bytes, &descriptor, descriptor >= 0,
                              MSG_NOSIGNAL) >= 0;
    int error = errno;
    time_kick();
    if (!sent)
        return error == EPIPE ? -EIO : -error;
    ssize_t got;
    do
        got = recvmsg(context->socket, &packet, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got != sizeof *answer)
        return -EIO; /* the server has ended, or has closed the device */
    take_descriptors(&packet, descriptors);
    return answer->result;
}

/* Passes the memory of this process. */
static int pass_memory(struct context *context, struct verbs_answer *answer, int descriptors[2])
{
    struct verbs_request request = {.kind = VERBS_MEMORY, .object = (uint32_t)getpid()};
    int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    if (memory < 0)
        return -errno;
    int result = exchange(context, &request, sizeof request, memory, answer, descriptors);
    close(memory);
    return result;
}

int verbs_call(struct context *context, const void *request, size_t bytes,
               struct verbs_answer *answer, int descriptors[2])
{
    int none[2];
    int result = 0;
    if (time_is_simulated()) { /* what was posted before comes first */
        weft_time_spend(TIME_CALL);
        weft_time_sync();
    }
    pthread_mutex_lock(&context->request_lock);
    if (context->forked) {
        result = pass_memory(context, answer, none);
        context->forked = result != 0;
    }
    if (result == 0)
        result = exchange(context, request, bytes, -1, answer, descriptors ? descriptors : none);
    pthread_mutex_unlock(&context->request_lock);
    if (result < 0)
        errno = -result;
    return result;
}

int verbs_remove(struct ibv_context *context, enum verbs_kind kind, uint32_t object)
{
    struct verbs_request request = {.kind = kind, .object = object};
    struct verbs_answer answer;
    return verbs_call(context_of(context), &request, sizeof request, &answer, NULL);
}

void verbs_ring_doorbell(struct context *context)
{
    __atomic_store_n(&context->page->posted, 1, __ATOMIC_SEQ_CST);
    if (!context->forked && !__atomic_load_n(&context->page->sleeping, __ATOMIC_SEQ_CST))
        return;
    if (context->forked) { /* the server must know the memory first */
        struct verbs_answer answer;
        struct verbs_request request = {.kind = VERBS_PORT, .object = 1};
        verbs_call(context, &request, sizeof request, &answer, NULL);
    }
    uint32_t doorbell[2] = {VERBS_DOORBELL, 0};
    /* A full socket wakes the server just as well. */
    ssize_t sent = send(context->socket, doorbell, sizeof doorbell, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)sent;
}

int verbs_map(struct ring *ring, int descriptor)
{
    struct stat status;
    void *at = MAP_FAILED;
    if (descriptor >= 0 && fstat(descriptor, &status) == 0)
        at = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    int error = descriptor < 0 ? EIO : errno;
    if (descriptor >= 0)
        close(descriptor);
    if (at == MAP_FAILED)
        return -error;
    *ring = (struct ring){at, (size_t)status.st_size};
    return 0;
}

void verbs_unmap(struct ring *ring)
{
    if (ring->at)
        munmap(ring->at, ring->bytes);
    *ring = (struct ring){0};
}

void verbs_wait_for_events(pthread_mutex_t *mutex, pthread_cond_t *cond,
                           const uint32_t *acknowledged, uint32_t given)
{
    pthread_mutex_lock(mutex);
    while (*acknowledged != given)
        pthread_cond_wait(cond, mutex);
    pthread_mutex_unlock(mutex);
}

int table_set(struct context *context, struct table *table, uint32_t index, void *item)
{
    int result = 0;
    pthread_mutex_lock(&context->lock);
    if (index >= table->count) {
        uint32_t count = verbs_round_up(index + 16);
        void **items = realloc(table->items, count * sizeof *items);
        if (items) {
            memset(items + table->count, 0, (count - table->count) * sizeof *items);
            table->items = items;
            table->count = count;
        } else {
            result = -ENOMEM;
        }
    }
    if (result == 0)
        table->items[index] = item;
    pthread_mutex_unlock(&context->lock);
    return result;
}

void table_clear(struct context *context, struct table *table, uint32_t index, const void *item)
{
    pthread_mutex_lock(&context->lock);
    if (table_get(table, index) == item)
        table->items[index] = NULL;
    pthread_mutex_unlock(&context->lock);
}

/* ---- devices ---- */

WEFT_EXPORT struct ibv_device **ibv_get_device_list(int *count)
{
    struct request request;
    struct answer_ca ca;
    struct ibv_device **list = calloc(2, sizeof *list);
    if (count)
        *count = 0;
    if (!list)
        return fail(ENOMEM);
    client_prepare(&request, REQUEST_CA);
    /* A switch has no queue pairs for programs. */
    if (client_request(&request, &ca, sizeof ca) < 0 || ca.port_count == 0)
        return list;
    device.device.node_type = IBV_NODE_CA;
    device.device.transport_type = IBV_TRANSPORT_IB;
    snprintf(device.device.name, sizeof device.device.name, "%.19s", ca.name);
    snprintf(device.device.dev_name, sizeof device.device.dev_name, "uverbs0");
    snprintf(device.device.dev_path, sizeof device.device.dev_path,
             "/sys/class/infiniband_verbs/uverbs0");
    snprintf(device.device.ibdev_path, sizeof device.device.ibdev_path,
             "/sys/class/infiniband/%.19s", ca.name);
    device_guid = htobe64(ca.node_guid);
    list[0] = &device.device;
    if (count)
        *count = 1;
    return list;
}

WEFT_EXPORT void ibv_free_device_list(struct ibv_device **list)
{
    free(list);
}

WEFT_EXPORT const char *ibv_get_device_name(struct ibv_device *of)
{
    return of->name;
}

WEFT_EXPORT __be64 ibv_get_device_guid(struct ibv_device *of)
{
    (void)of;
    return device_guid;
}

WEFT_EXPORT int ibv_get_device_index(struct ibv_device *of)
{
    (void)of;
    return 1;
}

/* ---- contexts ---- */

static int start_context(struct context *context)
{
    struct verbs_answer answer;
    struct ring page = {0};
    int descriptors[2] = {-1, -1};
    int result = pass_memory(context, &answer, descriptors);
    if (result)
        return result;
    result = verbs_map(&page, descriptors[0]);
    if (result) {
        close(descriptors[1]);
        return result;
    }
    assert(page.at);
    context->page = (struct verbs_page *)(void *)page.at;
    context->verbs.context.async_fd = descriptors[1];
    return context->page->version == VERBS_VERSION ? 0 : -EPROTO;
}

static void free_context(struct context *context)
{
    if (context->socket >= 0)
        close(context->socket);
    if (context->verbs.context.async_fd > 0)
        close(context->verbs.context.async_fd);
    if (context->page)
        munmap(context->page, (size_t)sysconf(_SC_PAGESIZE));
    free(context->qps.items);
    free(context->cqs.items);
    free(context->srqs.items);
    free(context->regions.items);
    free(context);
}

WEFT_EXPORT struct ibv_context *ibv_open_device(struct ibv_device *of)
{
    static bool registered;
    struct request request;
    struct context *context = calloc(1, sizeof *context);
    if (!context)
        return fail(ENOMEM);
    client_prepare(&request, REQUEST_CA);
    int result = client_request(&request, &context->ca, sizeof context->ca);
    client_prepare(&request, REQUEST_VERBS);
    context->socket = result < 0 ? result : client_connect(&request, FD_CLOEXEC);
    if (context->socket < 0) {
        result = context->socket;
        free(context);
        return fail(-result);
    }
    context->ports = context->ca.port_count < 2 ? context->ca.port_count : 2;
    pthread_mutex_init(&context->lock, NULL);
    pthread_mutex_init(&context->request_lock, NULL);
    pthread_mutex_init(&context->verbs.context.mutex, NULL);
    result = start_context(context);
    if (result) {
        free_context(context);
        return fail(-result);
    }
    context->verbs.sz = sizeof context->verbs;
    context->verbs.context.device = of;
    context->verbs.context.cmd_fd = context->socket;
    context->verbs.context.num_comp_vectors = 1;
    context->verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
    device_offer(&context->verbs);
    cq_offer(&context->verbs);
    qp_offer(&context->verbs);
    work_offer(&context->verbs);
    pthread_mutex_lock(&contexts_lock);
    context->next = contexts;
    contexts = context;
    if (!registered)
        pthread_atfork(NULL, NULL, note_fork);
    registered = true;
    pthread_mutex_unlock(&contexts_lock);
    return &context->verbs.context;
}

WEFT_EXPORT int ibv_close_device(struct ibv_context *of)
{
    struct context *context = context_of(of);
    pthread_mutex_lock(&contexts_lock);
    struct context **at = &contexts;
    while (*at && *at != context)
        at = &(*at)->next;
    if (*at)
        *at = context->next;
    pthread_mutex_unlock(&contexts_lock);
    free_context(context);
    return 0;
}

/* Another process's context cannot be joined. */
WEFT_EXPORT struct ibv_context *ibv_import_device(int cmd_fd)
{
    (void)cmd_fd;
    return fail(EOPNOTSUPP);
}

/* ---- attributes ---- */

WEFT_EXPORT int ibv_query_device(struct ibv_context *of, struct ibv_device_attr *attributes)
{
    const struct context *context = context_of(of);
    *attributes = (struct ibv_device_attr){
        .node_guid = htobe64(context->ca.node_guid),
        .sys_image_guid = htobe64(context->ca.system_guid),
        .max_mr_size = INT64_MAX,
        .page_size_cap = ~UINT64_C(4095),
        .vendor_id = 0x1405,
        .vendor_part_id = 1,
        .max_qp = VERBS_RINGS,
        .max_qp_wr = VERBS_ENTRIES,
        .device_cap_flags = IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_SHUTDOWN_PORT |
                            IBV_DEVICE_PORT_ACTIVE_EVENT | IBV_DEVICE_SYS_IMAGE_GUID |
                            IBV_DEVICE_AUTO_PATH_MIG | IBV_DEVICE_BAD_PKEY_CNTR |
                            IBV_DEVICE_BAD_QKEY_CNTR,
        .max_sge = VERBS_SEGMENTS,
        .max_sge_rd = VERBS_SEGMENTS,
        .max_cq = VERBS_RINGS,
        .max_cqe = VERBS_CQ_ENTRIES,
        .max_mr = VERBS_OBJECTS,
        .max_pd = VERBS_OBJECTS,
        .max_qp_rd_atom = VERBS_READS,
        .max_res_rd_atom = VERBS_READS * VERBS_RINGS,
        .max_qp_init_rd_atom = VERBS_READS,
        .atomic_cap = IBV_ATOMIC_HCA,
        .max_ah = INT32_MAX,
        .max_srq = VERBS_RINGS,
        .max_srq_wr = VERBS_ENTRIES,
        .max_srq_sge = VERBS_SEGMENTS,
        .max_pkeys = PORT_P_KEYS,
        .local_ca_ack_delay = 0,
        .phys_port_cnt = (uint8_t)context->ports,
    };
    snprintf(attributes->fw_ver, sizeof attributes->fw_ver, "%.19s", context->ca.firmware);
    return 0;
}

static int query_device_ex(struct ibv_context *context,
                           const struct ibv_query_device_ex_input *input,
                           struct ibv_device_attr_ex *attributes, size_t size)
{
    struct ibv_device_attr_ex all = {0};
    if (input && input->comp_mask)
        return EINVAL;
    ibv_query_device(context, &all.orig_attr);
    all.phys_port_cnt_ex = all.orig_attr.phys_port_cnt;
    memset(attributes, 0, size);
    memcpy(attributes, &all, size < sizeof all ? size : sizeof all);
    return 0;
}

int verbs_query_port(struct ibv_context *context, uint32_t number, struct verbs_port *port)
{
    struct verbs_request request = {.kind = VERBS_PORT, .object = number};
    struct verbs_answer answer;
    int result = verbs_call(context_of(context), &request, sizeof request, &answer, NULL);
    *port = answer.port;
    if (port->port.p_key_count > PORT_P_KEYS)
        port->port.p_key_count = PORT_P_KEYS;
    if (port->gid_count > VERBS_GIDS)
        port->gid_count = VERBS_GIDS;
    return result;
}

static int query_port(struct ibv_context *context, uint8_t number, struct ibv_port_attr *to,
                      size_t size)
{
    struct verbs_port port;
    int result = verbs_query_port(context, number, &port);
    if (result)
        return -result;
    struct ibv_port_attr all = {
        .state = (enum ibv_port_state)port.port.state,
        .max_mtu = mtu_code(port.max_mtu),
        .active_mtu = mtu_code(port.mtu),
        .gid_tbl_len = (int)port.gid_count,
        .port_cap_flags = port.port.capability_mask,
        .max_msg_sz = port.max_message,
        .bad_pkey_cntr = port.p_key_violations,
        .qkey_viol_cntr = port.q_key_violations,
        .pkey_tbl_len = (uint16_t)port.port.p_key_count,
        .lid = (uint16_t)port.port.base_lid,
        .sm_lid = (uint16_t)port.port.sm_lid,
        .lmc = (uint8_t)port.port.lmc,
        .max_vl_num = port.vls,
        .sm_sl = (uint8_t)port.port.sm_sl,
        .subnet_timeout = port.subnet_timeout,
        .init_type_reply = port.init_reply,
        .active_width = port.width,
        .active_speed = port.speed,
        .phys_state = (uint8_t)port.port.physical_state,
        .link_layer = IBV_LINK_LAYER_INFINIBAND,
    };
    memset(to, 0, size);
    memcpy(to, &all, size < sizeof all ? size : sizeof all);
    return 0;
}

/* The structure of programs that were built before port_cap_flags2 existed. */
WEFT_EXPORT int ibv_query_port(struct ibv_context *context, uint8_t number,
                               struct _compat_ibv_port_attr *to)
{
    return query_port(context, number, (struct ibv_port_attr *)to,
                      offsetof(struct ibv_port_attr, port_cap_flags2));
}

WEFT_EXPORT int ibv_query_gid(struct ibv_context *context, uint8_t number, int index,
                              union ibv_gid *gid)
{
    struct verbs_port port;
    int result = verbs_query_port(context, number, &port);
    if (result == 0 && (index < 0 || (uint32_t)index >= port.gid_count)) {
        errno = EINVAL;
        return -1;
    }
    if (result)
        return -1;
    memcpy(gid->raw, port.gids[index], sizeof gid->raw);
    return 0;
}

static bool gid_is_used(const uint8_t gid[16])
{
    static const uint8_t none[8];
    return memcmp(gid + 8, none, sizeof none) != 0;
}

WEFT_EXPORT int _ibv_query_gid_ex(struct ibv_context *context, uint32_t number, uint32_t index,
                                  struct ibv_gid_entry *entry, uint32_t flags, size_t size)
{
    struct ibv_gid_entry all = {.gid_index = index, .port_num = number};
    all.gid_type = IBV_GID_TYPE_IB;
    struct verbs_port port;
    int result = flags ? -EOPNOTSUPP : verbs_query_port(context, number, &port);
    if (result)
        return -result;
    if (index >= port.gid_count)
        return EINVAL;
    if (!gid_is_used(port.gids[index]))
        return ENODATA;
    memcpy(all.gid.raw, port.gids[index], sizeof all.gid.raw);
    memcpy(entry, &all, size < sizeof all ? size : sizeof all);
    return 0;
}

WEFT_EXPORT ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
                                         size_t room, uint32_t flags, size_t size)
{
    size_t count = 0;
    if (flags)
        return -EOPNOTSUPP;
    for (uint32_t number = 1; number <= context_of(context)->ports; number++) {
        struct verbs_port port;
        int result = verbs_query_port(context, number, &port);
        if (result)
            return result;
        for (uint32_t i = 0; i < port.gid_count; i++) {
            if (!gid_is_used(port.gids[i]))
                continue;
            if (count == room)
                return -EINVAL;
            if (_ibv_query_gid_ex(context, number, i, (void *)((char *)entries + count * size), 0,
                                  size) == 0)
                count++;
        }
    }
    return (ssize_t)count;
}

int ibv_query_gid_type(struct ibv_context *context, uint8_t number, unsigned index, unsigned *type);
WEFT_EXPORT int ibv_query_gid_type(struct ibv_context *context, uint8_t number, unsigned index,
                                   unsigned *type)
{
    (void)context, (void)number, (void)index;
    *type = 0; /* IB */
    return 0;
}

WEFT_EXPORT int ibv_query_pkey(struct ibv_context *context, uint8_t number, int index,
                               __be16 *p_key)
{
    struct verbs_port port;
    if (verbs_query_port(context, number, &port))
        return -1;
    if (index < 0 || (uint32_t)index >= port.port.p_key_count) {
        errno = EINVAL;
        return -1;
    }
    *p_key = htobe16(port.port.p_keys[index]);
    return 0;
}

WEFT_EXPORT int ibv_get_pkey_index(struct ibv_context *context, uint8_t number, __be16 p_key)
{
    struct verbs_port port;
    if (verbs_query_port(context, number, &port))
        return -1;
    for (uint32_t i = 0; i < port.port.p_key_count; i++)
        if (port.port.p_keys[i] == be16toh(p_key))
            return (int)i;
    errno = EINVAL;
    return -1;
}

static int query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
    (void)context;
    values->comp_mask = 0; /* there is no clock of the adapter */
    return EOPNOTSUPP;
}

void device_offer(struct verbs_context *verbs)
{
    verbs->query_port = query_port;
    verbs->query_device_ex = query_device_ex;
    verbs->query_rt_values = query_rt_values;
}

/* ---- fork ---- */

/* Registered memory is not pinned: the pages of parent and child are copied on write as others. */
WEFT_EXPORT int ibv_fork_init(void)
{
    return 0;
}

WEFT_EXPORT enum ibv_fork_status ibv_is_fork_initialized(void)
{
    return IBV_FORK_UNNEEDED;
}

int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);
WEFT_EXPORT int ibv_dontfork_range(void *base, size_t size)
{
    (void)base, (void)size;
    return 0;
}

WEFT_EXPORT int ibv_dofork_range(void *base, size_t size)
{
    (void)base, (void)size;
    return 0;
}
