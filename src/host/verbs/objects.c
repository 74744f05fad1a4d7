/* The objects of a program beside its queue pairs: domains, regions, completion channels, CQs and
 * SRQs.
 *
 * Numbers of objects index a list per kind. Every number that a client sends is checked, and an
 * object that others use is not removed. */
#include "host/verbs/internal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- shared memory ---- */

/* Limits of all clients. A ring and the copies of its entries are up to five mappings, of which the
 * kernel gives a process 65530; a client has at most VERBS_RINGS. */
enum { RINGS = 12000 };
static const uint64_t client_bytes = UINT64_C(1) << 30, all_bytes = UINT64_C(1) << 32;

static bool charge(struct verbs_client *client, uint64_t bytes)
{
    struct budget *own = &client->used, *all = &client->verbs->used;
    if (own->rings >= VERBS_RINGS || all->rings >= RINGS || bytes > client_bytes - own->bytes ||
        bytes > all_bytes - all->bytes)
        return false;
    own->rings++;
    all->rings++;
    own->bytes += bytes;
    all->bytes += bytes;
    return true;
}

static void refund(struct verbs_client *client, const struct mapping *mapping)
{
    client->used.rings--;
    client->verbs->used.rings--;
    client->used.bytes -= mapping->charged;
    client->verbs->used.bytes -= mapping->charged;
}

int mapping_make(struct verbs_client *client, struct mapping *mapping, size_t bytes, uint64_t more)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *mapping = (struct mapping){.bytes = (bytes + page - 1) / page * page, .descriptor = -1};
    mapping->charged = 2 * mapping->bytes + more; /* the copies are as large as the ring */
    if (!charge(client, mapping->charged))
        return -ENOMEM;
    int fd = memfd_create("weft-verbs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) {
        refund(client, mapping);
        return -errno;
    }
    void *at = MAP_FAILED;
    if (ftruncate(fd, (off_t)mapping->bytes) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        at = mmap(NULL, mapping->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        int error = errno;
        close(fd);
        refund(client, mapping);
        return -error;
    }
    mapping->at = at;
    mapping->descriptor = fd;
    return 0;
}

void mapping_release(struct verbs_client *client, struct mapping *mapping)
{
    if (mapping->at) {
        munmap(mapping->at, mapping->bytes);
        if (mapping->descriptor >= 0)
            close(mapping->descriptor);
        refund(client, mapping);
    }
    *mapping = (struct mapping){.descriptor = -1};
}

void answer_with(struct verbs_client *client, int descriptor)
{
    client->descriptors[client->answer.descriptors++] = descriptor;
}

void answer_with_mapping(struct verbs_client *client, struct mapping *mapping)
{
    answer_with(client, mapping->descriptor);
    mapping->descriptor = -1;
}

/* ---- domains and regions ---- */

static int add_domain(struct verbs_client *client)
{
    uint32_t object;
    OBJECT_TAKE(&client->domains, object);
    if (object == VERBS_NONE)
        return -ENOMEM;
    client->domains.items[object] =
        (struct domain){true, transport_add_domain(client->adapter->transport)};
    client->answer.object = object;
    return 0;
}

static int remove_domain(struct verbs_client *client, uint32_t object)
{
    struct domain *domain = OBJECT_FIND(&client->domains, object);
    if (!domain)
        return -EINVAL;
    int result = transport_remove_domain(client->adapter->transport, domain->number);
    if (result == 0)
        domain->used = false;
    return result;
}

/* Whether it can be a range of a program's memory, of a domain that exists; the transport layer
 * checks the rest. */
static bool read_region(struct verbs_client *client, const struct verbs_request *request,
                        struct transport_region *region)
{
    const struct domain *domain = OBJECT_FIND(&client->domains, request->region.domain);
    if (!domain || request->region.memory > INT64_MAX || request->region.rights > 15 ||
        request->region.bytes > INT64_MAX - request->region.memory)
        return false;
    *region = (struct transport_region){.domain = domain->number,
                                        .rights = (uint8_t)request->region.rights,
                                        .start = request->region.start,
                                        .bytes = request->region.bytes};
    return true;
}

static void keep_region(struct region *region, const struct verbs_request *request)
{
    region->start = request->region.start;
    region->bytes = request->region.bytes;
    region->memory = request->region.memory;
}

static int add_region(struct verbs_client *client, const struct verbs_request *request)
{
    struct verbs *verbs = client->verbs;
    struct transport_region registered;
    uint32_t object = 0, key;
    while (object < client->regions.count && client->regions.items[object] != VERBS_NONE)
        object++;
    if (!read_region(client, request, &registered))
        return -EINVAL;
    if (object >= VERBS_OBJECTS)
        return -ENOMEM;
    uint32_t number = pool_take(&verbs->regions);
    struct region *region = &verbs->regions.items[number];
    region->generation++;
    registered.memory = region_name(region, number);
    if (transport_add_region(client->adapter->transport, &registered, &key)) {
        pool_give(&verbs->regions, number);
        return -EINVAL;
    }
    region->client = client;
    region->key = key;
    keep_region(region, request);
    map_set(&client->adapter->regions, key, number);
    if (object == client->regions.count)
        vec_push(&client->regions, number);
    else
        client->regions.items[object] = number;
    client->answer.object = object;
    client->answer.key = key;
    return 0;
}

static struct region *find_region(struct verbs_client *client, uint32_t object)
{
    return object < client->regions.count && client->regions.items[object] != VERBS_NONE
               ? &client->verbs->regions.items[client->regions.items[object]]
               : NULL;
}

static int replace_region(struct verbs_client *client, const struct verbs_request *request)
{
    struct transport_region registered;
    struct region *region = find_region(client, request->object);
    if (!region || !read_region(client, request, &registered))
        return -EINVAL;
    registered.memory = region_name(region, client->regions.items[request->object]);
    int result = transport_replace_region(client->adapter->transport, region->key, &registered);
    if (result == 0)
        keep_region(region, request);
    return result;
}

static int remove_region(struct verbs_client *client, uint32_t object)
{
    struct region *region = find_region(client, object);
    if (!region)
        return -EINVAL;
    transport_remove_region(client->adapter->transport, region->key);
    map_remove(&client->adapter->regions, region->key);
    region->client = NULL;
    pool_give(&client->verbs->regions, client->regions.items[object]);
    client->regions.items[object] = VERBS_NONE;
    return 0;
}

/* ---- completion channels ---- */

static int add_channel(struct verbs_client *client)
{
    uint32_t object;
    int ends[2];
    OBJECT_TAKE(&client->channels, object);
    if (object == VERBS_NONE || object >= VERBS_CHANNELS)
        return -ENOMEM; /* each is a descriptor of the server */
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    client->channels.items[object] = (struct channel){.used = true, .pipe = ends[1]};
    client->answer.object = object;
    answer_with(client, ends[0]);
    return 0;
}

static int remove_channel(struct verbs_client *client, uint32_t object)
{
    struct channel *channel = OBJECT_FIND(&client->channels, object);
    if (!channel)
        return -EINVAL;
    if (channel->users)
        return -EBUSY;
    close(channel->pipe);
    channel->used = false;
    return 0;
}

/* ---- CQs ---- */

static int make_cq_ring(struct verbs_client *client, struct cq *cq, uint32_t capacity)
{
    int result = mapping_make(
        client, &cq->ring, VERBS_RING_HEAD + (size_t)capacity * sizeof(struct verbs_completion), 0);
    if (result == 0)
        cq->capacity = capacity;
    return result;
}

static int add_cq(struct verbs_client *client, const struct verbs_request *request)
{
    uint32_t object, number;
    struct channel *channel = request->cq.channel == VERBS_NONE
                                  ? NULL
                                  : OBJECT_FIND(&client->channels, request->cq.channel);
    OBJECT_TAKE(&client->cqs, object);
    if (object == VERBS_NONE)
        return -ENOMEM;
    if (request->cq.capacity == 0 || request->cq.capacity > VERBS_CQ_ENTRIES ||
        (!channel && request->cq.channel != VERBS_NONE))
        return -EINVAL;
    struct cq *cq = &client->cqs.items[object];
    *cq = (struct cq){.used = false, .channel = request->cq.channel};
    int result = make_cq_ring(client, cq, verbs_round_up(request->cq.capacity));
    /* The ring is the limit: the transport layer's queue is emptied when the adapter is served. */
    if (result == 0)
        result = transport_add_cq(client->adapter->transport, VERBS_CQ_ENTRIES, &number);
    if (result)
        return result;
    transport_arm_cq(client->adapter->transport, number, false);
    cq->used = true;
    cq->number = number;
    if (channel)
        channel->users++;
    *vec_at(&client->adapter->cqs, number) = (struct owner){client, object};
    client->answer.object = object;
    client->answer.capacity = cq->capacity;
    answer_with_mapping(client, &cq->ring);
    return 0;
}

/* The client has read the old ring up to what it says there; the rest moves. */
static int resize_cq(struct verbs_client *client, const struct verbs_request *request)
{
    struct cq *cq = OBJECT_FIND(&client->cqs, request->object);
    if (!cq || request->cq.capacity == 0 || request->cq.capacity > VERBS_CQ_ENTRIES)
        return -EINVAL;
    struct cq new = *cq;
    struct verbs_cq_ring *before = (void *)cq->ring.at;
    uint32_t consumed = __atomic_load_n(&before->consumed, __ATOMIC_ACQUIRE);
    uint32_t capacity = verbs_round_up(request->cq.capacity), waiting = cq->produced - consumed;
    if (waiting > request->cq.capacity || waiting > cq->capacity)
        return -EINVAL;
    int result = make_cq_ring(client, &new, capacity);
    if (result)
        return result;
    assert(new.ring.at);
    struct verbs_cq_ring *after = (void *)new.ring.at;
    struct verbs_completion *from = (void *)(cq->ring.at + VERBS_RING_HEAD);
    struct verbs_completion *to = (void *)(new.ring.at + VERBS_RING_HEAD);
    for (uint32_t i = consumed; i != cq->produced; i++)
        to[i & (capacity - 1)] = from[i & (cq->capacity - 1)];
    after->produced = cq->produced;
    after->consumed = consumed;
    after->overrun = before->overrun;
    after->armed = before->armed;
    mapping_release(client, &cq->ring);
    *cq = new;
    client->answer.capacity = capacity;
    answer_with_mapping(client, &cq->ring);
    return 0;
}

static int remove_cq(struct verbs_client *client, uint32_t object)
{
    struct cq *cq = OBJECT_FIND(&client->cqs, object);
    if (!cq)
        return -EINVAL;
    int result = transport_remove_cq(client->adapter->transport, cq->number);
    if (result)
        return result;
    client->adapter->cqs.items[cq->number] = (struct owner){0};
    if (cq->channel != VERBS_NONE)
        client->channels.items[cq->channel].users--;
    mapping_release(client, &cq->ring);
    cq->used = false;
    return 0;
}

/* ---- SRQs ---- */

static int add_srq(struct verbs_client *client, const struct verbs_request *request)
{
    const struct domain *domain = OBJECT_FIND(&client->domains, request->srq.domain);
    uint32_t object, number;
    OBJECT_TAKE(&client->srqs, object);
    if (object == VERBS_NONE)
        return -ENOMEM;
    if (!domain || request->srq.capacity == 0 || request->srq.capacity > VERBS_ENTRIES ||
        request->srq.segments > VERBS_SEGMENTS || request->srq.limit > request->srq.capacity)
        return -EINVAL;
    struct srq *srq = &client->srqs.items[object];
    uint32_t capacity = verbs_round_up(request->srq.capacity);
    uint32_t segments = request->srq.segments ? request->srq.segments : 1;
    *srq = (struct srq){0};
    int result = work_init(&srq->receives, capacity, verbs_receive_bytes(segments), segments,
                           VERBS_RING_HEAD);
    if (result == 0)
        result = mapping_make(client, &srq->ring,
                              VERBS_RING_HEAD + (size_t)capacity * srq->receives.stride,
                              transport_queue_bytes(0, 0, capacity, segments));
    if (result == 0)
        result = transport_add_srq(client->adapter->transport, domain->number, capacity, &number);
    if (result) {
        mapping_release(client, &srq->ring);
        work_release(&srq->receives);
        return result;
    }
    srq->used = true;
    srq->number = number;
    srq->busy = mem_zalloc(capacity, sizeof *srq->busy);
    transport_set_srq_limit(client->adapter->transport, number, request->srq.limit);
    *vec_at(&client->adapter->srqs, number) = (struct owner){client, object};
    client->answer.object = object;
    client->answer.capacity = capacity;
    answer_with_mapping(client, &srq->ring);
    return 0;
}

static int modify_srq(struct verbs_client *client, const struct verbs_request *request)
{
    const struct srq *srq = OBJECT_FIND(&client->srqs, request->object);
    return srq ? transport_set_srq_limit(client->adapter->transport, srq->number,
                                         request->srq.limit)
               : -EINVAL;
}

static int remove_srq(struct verbs_client *client, uint32_t object)
{
    struct srq *srq = OBJECT_FIND(&client->srqs, object);
    if (!srq)
        return -EINVAL;
    int result = transport_remove_srq(client->adapter->transport, srq->number);
    if (result)
        return result;
    client->adapter->srqs.items[srq->number] = (struct owner){0};
    mapping_release(client, &srq->ring);
    work_release(&srq->receives);
    mem_free(srq->busy);
    srq->used = false;
    return 0;
}

/* ---- all ---- */

int object_request(struct verbs_client *client, const struct verbs_request *request)
{
    switch ((enum verbs_kind)request->kind) {
    case VERBS_ADD_DOMAIN: return add_domain(client);
    case VERBS_REMOVE_DOMAIN: return remove_domain(client, request->object);
    case VERBS_ADD_REGION: return add_region(client, request);
    case VERBS_REMOVE_REGION: return remove_region(client, request->object);
    case VERBS_REPLACE_REGION: return replace_region(client, request);
    case VERBS_ADD_CHANNEL: return add_channel(client);
    case VERBS_REMOVE_CHANNEL: return remove_channel(client, request->object);
    case VERBS_ADD_CQ: return add_cq(client, request);
    case VERBS_RESIZE_CQ: return resize_cq(client, request);
    case VERBS_REMOVE_CQ: return remove_cq(client, request->object);
    case VERBS_ADD_SRQ: return add_srq(client, request);
    case VERBS_MODIFY_SRQ: return modify_srq(client, request);
    case VERBS_REMOVE_SRQ: return remove_srq(client, request->object);
    case VERBS_ADD_QP: return qp_add(client, request);
    case VERBS_MODIFY_QP: return qp_modify(client, request);
    case VERBS_QUERY_QP: return qp_query(client, request);
    case VERBS_REMOVE_QP: return qp_remove(client, request->object);
    case VERBS_ATTACH_GROUP:
    case VERBS_DETACH_GROUP: return qp_join_group(client, request);
    case VERBS_MEMORY:
    case VERBS_PORT:
    case VERBS_IPCM:
    case VERBS_DOORBELL: break;
    }
    return -EPROTO;
}

void objects_release(struct verbs_client *client)
{
    for (uint32_t i = 0; i < client->qps.count; i++)
        qp_remove(client, i);
    for (uint32_t i = 0; i < client->srqs.count; i++)
        remove_srq(client, i);
    for (uint32_t i = 0; i < client->cqs.count; i++)
        remove_cq(client, i);
    for (uint32_t i = 0; i < client->channels.count; i++)
        remove_channel(client, i);
    for (uint32_t i = 0; i < client->regions.count; i++)
        remove_region(client, i);
    for (uint32_t i = 0; i < client->domains.count; i++)
        remove_domain(client, i);
    vec_release(&client->qps);
    vec_release(&client->srqs);
    vec_release(&client->cqs);
    vec_release(&client->channels);
    vec_release(&client->regions);
    vec_release(&client->domains);
}
