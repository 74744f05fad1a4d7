/* Protection domains and memory regions of the stand-in for libibverbs. */
#include "internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const unsigned rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                               IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
/* These change nothing here: huge pages are like others. */
static const unsigned harmless = IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE;

/* ---- domains ---- */

WEFT_EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *of)
{
    struct verbs_request request = {.kind = VERBS_ADD_DOMAIN};
    struct verbs_answer answer;
    struct pd *pd = calloc(1, sizeof *pd);
    if (!pd)
        return fail(ENOMEM);
    if (verbs_call(context_of(of), &request, sizeof request, &answer, NULL)) {
        free(pd);
        return NULL;
    }
    pd->pd = (struct ibv_pd){.context = of, .handle = answer.object};
    return &pd->pd;
}

WEFT_EXPORT int ibv_dealloc_pd(struct ibv_pd *of)
{
    struct pd *pd = (struct pd *)of;
    int result = pd->parent ? 0 : verbs_remove(of->context, VERBS_REMOVE_DOMAIN, of->handle);
    if (result == 0)
        free(pd);
    return -result;
}

/* ---- regions ---- */

/* The next mapping of this process; false at the end. */
static bool next_mapping(FILE *maps, uintptr_t *start, uintptr_t *end, bool *readable,
                         bool *writable)
{
    char line[128], protection[5];
    if (!fgets(line, sizeof line, maps))
        return false;
    bool whole = strchr(line, '\n') != NULL;
    for (int c = 0; !whole && c != '\n' && c != EOF;)
        c = getc(maps); /* the rest of a long path */
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", start, end, protection) != 3)
        return false;
    *readable = protection[0] == 'r';
    *writable = protection[1] == 'w';
    return true;
}

/* Whether this process could access the range itself, as an adapter finds out when it pins the
 * pages. The server reads and writes whatever the protection of a page is. */
static int check_range(uintptr_t address, size_t bytes, bool writes)
{
    uintptr_t start, end, last = address + bytes;
    bool readable, writable;
    if (bytes == 0 || last < address)
        return 0; /* the server checks the numbers */
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        return -errno;
    while (address < last && next_mapping(maps, &start, &end, &readable, &writable)) {
        if (end <= address)
            continue;
        if (start > address || !readable || (writes && !writable))
            break;
        address = end;
    }
    fclose(maps);
    return address < last ? -EFAULT : 0;
}

/* Fills a request. -EOPNOTSUPP: unknown access flags. -EFAULT: no such memory. */
static int fill_request(struct verbs_request *request, struct ibv_pd *pd, void *address,
                        size_t bytes, uint64_t start, unsigned access)
{
    if (access & ~(rights | harmless | IBV_ACCESS_ZERO_BASED))
        return -EOPNOTSUPP;
    request->region.domain = pd_of(pd)->pd.handle;
    request->region.rights = access & rights;
    request->region.start = access & IBV_ACCESS_ZERO_BASED ? 0 : start;
    request->region.bytes = bytes;
    request->region.memory = (uintptr_t)address;
    return check_range((uintptr_t)address, bytes,
                       access & rights & ~(unsigned)IBV_ACCESS_REMOTE_READ);
}

static void keep_region(struct mr *mr, struct ibv_pd *pd, const struct verbs_request *request,
                        unsigned access)
{
    mr->mr.context = pd->context;
    mr->mr.pd = pd;
    mr->mr.addr = (void *)(uintptr_t)request->region.memory;
    mr->mr.length = request->region.bytes;
    mr->start = request->region.start;
    mr->access = access;
}

static int add_region(struct mr *mr, struct ibv_pd *pd, void *address, size_t bytes, uint64_t start,
                      unsigned access)
{
    struct verbs_request request = {.kind = VERBS_ADD_REGION};
    struct verbs_answer answer;
    struct context *context = context_of(pd->context);
    int result = fill_request(&request, pd, address, bytes, start, access);
    if (result == 0)
        result = verbs_call(context, &request, sizeof request, &answer, NULL);
    if (result)
        return result;
    keep_region(mr, pd, &request, access);
    mr->mr.handle = answer.object;
    mr->mr.lkey = mr->mr.rkey = answer.key;
    return table_set(context, &context->regions, answer.key >> 8, mr);
}

static int remove_region(struct mr *mr)
{
    struct context *context = context_of(mr->mr.context);
    int result = verbs_remove(mr->mr.context, VERBS_REMOVE_REGION, mr->mr.handle);
    if (result == 0)
        table_clear(context, &context->regions, mr->mr.lkey >> 8, mr);
    return result;
}

static struct ibv_mr *register_region(struct ibv_pd *pd, void *address, size_t bytes,
                                      uint64_t start, unsigned access)
{
    struct mr *mr = calloc(1, sizeof *mr);
    int result = mr ? add_region(mr, pd, address, bytes, start, access) : -ENOMEM;
    if (result == 0)
        return &mr->mr;
    free(mr);
    return fail(-result);
}

WEFT_EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t bytes, int access)
{
    return register_region(pd, address, bytes, (uintptr_t)address, (unsigned)access);
}

WEFT_EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *address, size_t bytes,
                                           uint64_t iova, int access)
{
    return register_region(pd, address, bytes, iova, (unsigned)access);
}

WEFT_EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t bytes,
                                            uint64_t iova, unsigned access)
{
    return register_region(pd, address, bytes, iova, access);
}

WEFT_EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
                                             uint64_t iova, int fd, int access)
{
    (void)pd, (void)offset, (void)length, (void)iova, (void)fd, (void)access;
    return fail(EOPNOTSUPP);
}

/* The keys stay. */
WEFT_EXPORT int ibv_rereg_mr(struct ibv_mr *of, int flags, struct ibv_pd *pd, void *address,
                             size_t bytes, int access)
{
    struct mr *mr = CONTAINER(of, struct mr, mr);
    struct verbs_request request = {.kind = VERBS_REPLACE_REGION, .object = of->handle};
    struct verbs_answer answer;
    bool moves = flags & IBV_REREG_MR_CHANGE_TRANSLATION;
    if (flags == 0 || flags & ~IBV_REREG_MR_FLAGS_SUPPORTED || (moves && bytes == 0)) {
        errno = EINVAL;
        return IBV_REREG_MR_ERR_INPUT;
    }
    pd = flags & IBV_REREG_MR_CHANGE_PD ? pd : of->pd;
    unsigned rights_now = flags & IBV_REREG_MR_CHANGE_ACCESS ? (unsigned)access : mr->access;
    int result = fill_request(&request, pd, moves ? address : of->addr, moves ? bytes : of->length,
                              moves ? (uintptr_t)address : mr->start, rights_now);
    if (result == 0)
        result = verbs_call(context_of(of->context), &request, sizeof request, &answer, NULL);
    if (result) {
        errno = -result;
        return IBV_REREG_MR_ERR_CMD;
    }
    pthread_mutex_lock(&context_of(of->context)->lock);
    keep_region(mr, pd, &request, rights_now);
    pthread_mutex_unlock(&context_of(of->context)->lock);
    return 0;
}

WEFT_EXPORT int ibv_dereg_mr(struct ibv_mr *of)
{
    struct mr *mr = CONTAINER(of, struct mr, mr);
    int result = remove_region(mr);
    if (result == 0)
        free(mr);
    return -result;
}

bool memory_covers(struct context *context, const struct pd *pd, uint32_t key, uint64_t address,
                   uint32_t bytes)
{
    pthread_mutex_lock(&context->lock);
    const struct mr *mr = table_get(&context->regions, key >> 8);
    bool covers = mr && mr->mr.lkey == key && pd_of(mr->mr.pd) == pd &&
                  mr->start == (uintptr_t)mr->mr.addr && address >= mr->start &&
                  bytes <= mr->mr.length && address - mr->start <= mr->mr.length - bytes;
    pthread_mutex_unlock(&context->lock);
    return covers;
}
