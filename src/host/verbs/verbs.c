/* Opened devices: attaching, requests and their answers, and the work that programs have posted.
 *
 * Everything that a client sends is checked. A client that breaks the protocol or the rules of its
 * rings is detached; its objects end with it, and no other client notices more than a peer that is
 * gone. */
#include "host/verbs/internal.h"
#include "host/verbs/ipcm.h"

#include "base/err.h"
#include "base/time.h"
#include "wire/link_rate.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

struct verbs *verbs_new(struct fabric *fabric)
{
    struct verbs *verbs = mem_zalloc(1, sizeof *verbs);
    verbs->fabric = fabric;
    verbs->until = TIME_NEVER;
    return verbs;
}

void verbs_free(struct verbs *verbs)
{
    if (!verbs)
        return;
    ipcm_free(verbs->ipcm);
    for (size_t i = 0; i < verbs->adapters.count; i++)
        adapter_release(verbs->adapters.items[i]);
    vec_release(&verbs->adapters);
    vec_release(&verbs->clients);
    mem_free(verbs->adapter_of);
    pool_release(&verbs->regions);
    pool_release(&verbs->buffers);
    mem_free(verbs);
}

static struct sample sample_now(const struct verbs_client *client)
{
    return (struct sample){client->verbs->now, client->sends_taken,
                           client->read_bytes + client->written_bytes};
}

static void take_sample(struct verbs_client *client)
{
    client->samples[0] = client->samples[1];
    client->samples[1] = sample_now(client);
}

void verbs_serve_connections(struct verbs *verbs, struct mad_layer *mads,
                             const struct addresses *addresses)
{
    verbs->ipcm = ipcm_new(verbs, mads, addresses);
}

void verbs_run_connections(struct verbs *verbs, uint64_t now)
{
    verbs->now = now;
    for (size_t i = 0; i < verbs->clients.count; i++)
        if (now - verbs->clients.items[i]->samples[1].at >= TIME_S)
            take_sample(verbs->clients.items[i]);
    if (verbs->ipcm)
        ipcm_run(verbs->ipcm, now);
}

bool verbs_started(const struct verbs *verbs)
{
    return verbs->started;
}

bool verbs_busy(const struct verbs *verbs)
{
    return verbs->packets > 0;
}

/* ---- clients ---- */

int verbs_attach(struct verbs *verbs, uint32_t node, void *owner, struct verbs_client **result,
                 struct err *err)
{
    const struct topology_node *place = &fabric_topology(verbs->fabric)->nodes.items[node];
    if (place->kind != NODE_ADAPTER)
        return err_set(err, EOPNOTSUPP, "%s is no adapter: it has no queue pairs for programs",
                       place->name);
    if (fabric_transport_mtu(verbs->fabric) == 0)
        return err_set(err, EOPNOTSUPP,
                       "packets of 256 bytes do not fit into the buffers of all nodes");
    struct verbs_client *client = mem_zalloc(1, sizeof *client);
    *client = (struct verbs_client){
        .verbs = verbs, .owner = owner, .memory = -1, .events = -1, .next_work = TIME_NEVER};
    client->adapter = adapter_find(verbs, node);
    client->page.descriptor = -1;
    client->samples[0] = client->samples[1] = sample_now(client);
    size_t at = 0;
    while (at < verbs->clients.count && verbs->clients.items[at]->adapter->node <= node)
        at++;
    vec_insert(&verbs->clients, at, client);
    *result = client;
    return 0;
}

void verbs_detach(struct verbs_client *client)
{
    if (!client)
        return;
    struct verbs *verbs = client->verbs;
    size_t at = 0;
    while (verbs->clients.items[at] != client)
        at++;
    vec_remove(&verbs->clients, at);
    verbs_answer_sent(client);
    ipcm_release_client(client);
    objects_release(client);
    mapping_release(client, &client->page);
    if (client->memory >= 0)
        close(client->memory);
    if (client->events >= 0)
        close(client->events);
    mem_free(client);
}

/* ---- requests ---- */

/* Whether it is the file through which a process accesses its memory: /proc/PID/mem, by the name
 * that its file system gives it. Another file could block the server, or be written with the
 * server's rights. Where a file of /proc is mounted elsewhere, the name is that of the place. */
static bool is_memory_file(int descriptor)
{
    struct statfs system;
    struct statx status;
    char link[64], path[256];
    if (fstatfs(descriptor, &system) < 0 || system.f_type != PROC_SUPER_MAGIC ||
        statx(descriptor, "", AT_EMPTY_PATH, STATX_TYPE, &status) < 0 ||
        status.stx_attributes & STATX_ATTR_MOUNT_ROOT)
        return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0 || (fcntl(descriptor, F_GETFL) & O_ACCMODE) != O_RDWR)
        return false;
    path[length] = 0;
    const char *name = strrchr(path, '/');
    return name && strcmp(name, "/mem") == 0;
}

/* The first time it opens the device; later, after a fork, it replaces the memory. */
static int set_memory(struct verbs_client *client, uint32_t process, int descriptor)
{
    int ends[2];
    if (descriptor < 0 || !is_memory_file(descriptor)) {
        if (descriptor >= 0)
            close(descriptor);
        return -EINVAL;
    }
    if (client->memory >= 0)
        close(client->memory);
    client->memory = descriptor;
    client->dead = false;
    client->process = process;
    if (client->verbs->listener.opened)
        client->verbs->listener.opened(client->verbs->listener.context, process);
    if (client->page.at)
        return 0;
    int result = mapping_make(client, &client->page, sizeof(struct verbs_page), 0);
    if (result)
        return result;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    page_of(client)->version = VERBS_VERSION;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    client->events = ends[1];
    answer_with_mapping(client, &client->page);
    answer_with(client, ends[0]);
    return 0;
}

static int describe_port(struct verbs_client *client, uint32_t number)
{
    const struct adapter *adapter = client->adapter;
    struct verbs_port *view = &client->answer.port;
    if (number < 1 || number > adapter->ports)
        return -EINVAL;
    uint32_t port = adapter_port(adapter, number);
    const uint8_t *info = fabric_port_info(client->verbs->fabric, port);
    unsigned cap = (unsigned)wire_get(info, PORT_INFO_MTU_CAP);
    *view = (struct verbs_port){
        .port = {.number = number,
                 .base_lid = (uint32_t)wire_get(info, PORT_INFO_LID),
                 .lmc = (uint32_t)wire_get(info, PORT_INFO_LMC),
                 .sm_lid = (uint32_t)wire_get(info, PORT_INFO_MASTER_SM_LID),
                 .sm_sl = (uint32_t)wire_get(info, PORT_INFO_MASTER_SM_SL),
                 .state = (uint32_t)wire_get(info, PORT_INFO_PORT_STATE),
                 .physical_state = (uint32_t)wire_get(info, PORT_INFO_PORT_PHYSICAL_STATE),
                 .capability_mask = (uint32_t)wire_get(info, PORT_INFO_CAPABILITY_MASK),
                 .gid_prefix = wire_get(info, PORT_INFO_GID_PREFIX)},
        .mtu = adapter_mtu(adapter, number),
        .max_mtu = mtu_of_code(cap),
        .max_message = TRANSPORT_MESSAGE_MAX,
        .gid_count = adapter_gid_count(adapter, number),
        .p_key_violations = (uint32_t)wire_get(info, PORT_INFO_P_KEY_VIOLATIONS),
        .q_key_violations = (uint32_t)wire_get(info, PORT_INFO_Q_KEY_VIOLATIONS),
        .vls = (uint8_t)wire_get(info, PORT_INFO_VL_CAP),
        .subnet_timeout = (uint8_t)wire_get(info, PORT_INFO_SUBNET_TIME_OUT),
        .init_reply = (uint8_t)wire_get(info, PORT_INFO_INIT_TYPE_REPLY),
        .width = (uint8_t)wire_get(info, PORT_INFO_LINK_WIDTH_ACTIVE),
    };
    unsigned extended = (unsigned)wire_get(info, PORT_INFO_LINK_SPEED_EXT_ACTIVE);
    view->speed = (uint8_t)(extended ? extended << 4 : wire_get(info, PORT_INFO_LINK_SPEED_ACTIVE));
    view->port.p_key_count =
        fabric_p_keys(client->verbs->fabric, port, view->port.p_keys, PORT_P_KEYS);
    for (unsigned i = 0; i < view->gid_count; i++)
        adapter_gid(adapter, number, i, view->gids[i]);
    return 0;
}

/* Both kinds of requests begin with kind and object. */
union request_packet {
    struct verbs_request verbs;
    struct ipcm_request ipcm;
};

static bool read_request(const void *packet, size_t bytes, union request_packet *request)
{
    memset(request, 0, sizeof *request);
    if (bytes < 2 * sizeof(uint32_t) || bytes > sizeof *request)
        return false;
    memcpy(request, packet, bytes);
    return bytes <=
           (request->verbs.kind >= VERBS_IPCM ? sizeof request->ipcm : sizeof request->verbs);
}

int verbs_receive(struct verbs_client *client, const void *packet, size_t bytes, int descriptor)
{
    union request_packet both;
    bool readable = read_request(packet, bytes, &both);
    const struct verbs_request request = both.verbs;
    /* Threads send doorbells while another one waits for an answer. */
    if (!readable || (request.kind != VERBS_MEMORY && descriptor >= 0) ||
        (request.kind != VERBS_DOORBELL && client->answering)) {
        if (descriptor >= 0)
            close(descriptor);
        return -EPROTO;
    }
    if (client->page.at)
        work_take(client); /* what was posted before the request comes first */
    if (request.kind == VERBS_DOORBELL)
        return client->page.at ? 0 : -EPROTO;
    memset(&client->answer, 0, sizeof client->answer);
    int result;
    if (request.kind == VERBS_MEMORY)
        result = set_memory(client, request.object, descriptor);
    else if (!client->page.at)
        result = -EPROTO;
    else if (request.kind == VERBS_PORT)
        result = describe_port(client, request.object);
    else if (request.kind >= VERBS_IPCM)
        result = ipcm_request(client, &both.ipcm);
    else
        result = object_request(client, &request);
    if (result == -EPROTO)
        return -EPROTO;
    client->answer.result = result;
    client->answering = true;
    adapter_serve(client->adapter);
    return 0;
}

const struct verbs_answer *verbs_next_answer(const struct verbs_client *client,
                                             const int **descriptors)
{
    *descriptors = client->descriptors;
    return client->answering ? &client->answer : NULL;
}

/* The client has the descriptors now: reading ends of pipes, and rings, which stay mapped. */
void verbs_answer_sent(struct verbs_client *client)
{
    for (uint32_t i = 0; i < client->answer.descriptors; i++)
        close(client->descriptors[i]);
    client->answering = false;
    client->answer.descriptors = 0;
}

/* ---- work ---- */

static bool has_posted(const struct verbs_client *client)
{
    return client->page.at && __atomic_load_n(&page_of(client)->posted, __ATOMIC_SEQ_CST);
}

bool verbs_has_work(const struct verbs *verbs)
{
    for (size_t i = 0; i < verbs->clients.count; i++)
        if (!verbs->clients.items[i]->failed && has_posted(verbs->clients.items[i]))
            return true;
    return false;
}

void verbs_serve(struct verbs *verbs)
{
    for (size_t i = 0; i < verbs->clients.count; i++) {
        struct verbs_client *client = verbs->clients.items[i];
        if (client->failed || !has_posted(client))
            continue;
        __atomic_store_n(&page_of(client)->posted, 0, __ATOMIC_SEQ_CST);
        work_take(client);
    }
}

uint64_t verbs_serve_until(struct verbs *verbs, uint64_t now)
{
    uint64_t next = TIME_NEVER;
    verbs->until = now;
    for (size_t i = 0; i < verbs->clients.count; i++) {
        struct verbs_client *client = verbs->clients.items[i];
        if (client->failed || !client->page.at)
            continue;
        if (__atomic_exchange_n(&page_of(client)->posted, 0, __ATOMIC_SEQ_CST))
            client->next_work = work_next_time(client);
        if (client->next_work <= now) {
            work_take(client);
            client->next_work = work_next_time(client);
        }
        if (!client->failed && client->next_work < next)
            next = client->next_work;
    }
    return next;
}

void verbs_set_listener(struct verbs *verbs, const struct verbs_listener *listener)
{
    verbs->listener = *listener;
}

bool verbs_prepare_sleep(struct verbs *verbs)
{
    bool posted = false;
    for (size_t i = 0; i < verbs->clients.count; i++) {
        struct verbs_client *client = verbs->clients.items[i];
        if (client->page.at)
            __atomic_store_n(&page_of(client)->sleeping, 1, __ATOMIC_SEQ_CST);
        posted |= has_posted(client) && !client->failed;
    }
    return posted;
}

void verbs_end_sleep(struct verbs *verbs)
{
    for (size_t i = 0; i < verbs->clients.count; i++)
        if (verbs->clients.items[i]->page.at)
            __atomic_store_n(&page_of(verbs->clients.items[i])->sleeping, 0, __ATOMIC_SEQ_CST);
}

void *verbs_next_failed(struct verbs *verbs)
{
    for (size_t i = 0; i < verbs->clients.count; i++)
        if (verbs->clients.items[i]->failed)
            return verbs->clients.items[i]->owner;
    return NULL;
}

bool verbs_client_next_qp(const struct verbs_client *client, uint32_t *at,
                          struct verbs_qp_view *view)
{
    static const char *const services[] = {
        [TRANSPORT_RC] = "RC", [TRANSPORT_UC] = "UC", [TRANSPORT_UD] = "UD"};
    struct transport_qp_view qp;
    while (*at < client->qps.count && !client->qps.items[*at].used)
        ++*at;
    if (*at >= client->qps.count)
        return false;
    const struct qp *found = &client->qps.items[(*at)++];
    if (transport_query_qp(client->adapter->transport, found->number, &qp))
        return false;
    *view = (struct verbs_qp_view){.service = services[found->service],
                                   .state = transport_state_names[qp.attributes.state],
                                   .number = found->number,
                                   .remote_qp = qp.attributes.dest_qp,
                                   .sends = qp.sends_pending,
                                   .receives = qp.receives_pending,
                                   .remote_lid = qp.attributes.path.dlid,
                                   .resent_packets = qp.resent_packets,
                                   .timeouts = qp.timeouts,
                                   .rnr_naks = qp.rnr_naks};
    return true;
}

static void view_rates(struct verbs_client *client, struct verbs_client_view *view)
{
    const struct sample now = sample_now(client), *before = &client->samples[0];
    uint64_t ms = (now.at - before->at) / TIME_MS;
    if (!ms)
        return;
    view->messages_per_second = (now.messages - before->messages) * 1000 / ms;
    view->bytes_per_second = (now.bytes - before->bytes) * 1000 / ms;
}

void verbs_client_view(struct verbs_client *client, struct verbs_client_view *view)
{
    *view = (struct verbs_client_view){
        .node = client->adapter->node,
        .sends = client->sends_taken,
        .receives = client->receives_taken,
        .completions = client->completions,
        .read_bytes = client->read_bytes,
        .written_bytes = client->written_bytes,
    };
    view_rates(client, view);
    if (client->verbs->ipcm)
        ipcm_count(client, &view->listening, &view->connections);
    for (size_t i = 0; i < client->regions.count; i++)
        view->regions += client->regions.items[i] != VERBS_NONE;
    for (size_t i = 0; i < client->cqs.count; i++)
        view->cqs += client->cqs.items[i].used;
    for (size_t i = 0; i < client->qps.count; i++) {
        struct transport_qp_view qp;
        if (!client->qps.items[i].used ||
            transport_query_qp(client->adapter->transport, client->qps.items[i].number, &qp))
            continue;
        view->qps++;
        view->resent_packets += qp.resent_packets;
        view->timeouts += qp.timeouts;
    }
}
