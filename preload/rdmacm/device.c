/* The device that all IDs share, and requests to the connection manager. */
#include "internal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct context *device;
static struct ibv_pd *domain;
static struct table ids;

pthread_mutex_t cm_events_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cm_events_acked = PTHREAD_COND_INITIALIZER;

struct context *cm_device(void)
{
    pthread_mutex_lock(&lock);
    if (!device) {
        struct ibv_device **list = ibv_get_device_list(NULL);
        struct ibv_context *opened = list && list[0] ? ibv_open_device(list[0]) : fail(ENODEV);
        if (list)
            ibv_free_device_list(list);
        device = opened ? context_of(opened) : NULL;
    }
    pthread_mutex_unlock(&lock);
    return device;
}

struct ibv_pd *cm_domain(void)
{
    struct context *context = cm_device();
    pthread_mutex_lock(&lock);
    if (context && !domain)
        domain = ibv_alloc_pd(&context->verbs.context);
    pthread_mutex_unlock(&lock);
    return domain;
}

int cm_call(struct ipcm_request *request, struct verbs_answer *answer, int descriptors[2])
{
    struct context *context = cm_device();
    int result = context ? verbs_call(context, request, sizeof *request, answer, descriptors) : -1;
    return result < 0 ? -1 : 0;
}

struct id *cm_find(uint32_t object)
{
    struct context *context = cm_device();
    pthread_mutex_lock(&context->lock);
    struct id *id = table_get(&ids, object);
    pthread_mutex_unlock(&context->lock);
    return id;
}

int cm_keep(uint32_t object, struct id *id)
{
    return table_set(cm_device(), &ids, object, id);
}

void cm_forget(uint32_t object, const struct id *id)
{
    table_clear(cm_device(), &ids, object, id);
}

WEFT_EXPORT struct ibv_context **rdma_get_devices(int *count)
{
    struct context *context = cm_device();
    struct ibv_context **list = context ? calloc(2, sizeof *list) : NULL;
    if (list)
        list[0] = &context->verbs.context;
    if (count)
        *count = list ? 1 : 0;
    return list;
}

WEFT_EXPORT void rdma_free_devices(struct ibv_context **list)
{
    free(list);
}
