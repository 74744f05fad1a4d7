/* The queue of queries: one FIFO per client; clients share the work of the SA equally.
 *
 * A client is a port. Each client has a clock of the work that its queries caused, in records; the
 * client whose clock is least is served next (start-time fair queueing, Goyal et al. 1996). When a
 * client without queries sends one, its clock is set forward to that of the client served last,
 * minus CREDIT. So a client that sends few queries is served next, and other clients delay it by at
 * most one query, however many or expensive their queries are. Queries are in one pool that never
 * shrinks, so that no memory is allocated under load.
 *
 * The queue also bounds the bytes of long answers on their way to a client. The kernel keeps a copy
 * of such an answer until the client acknowledges its segments or all retries are over, and does
 * not report when that was. So an answer counts for ANSWER_MS, with a share that decreases over
 * time. */
#include "sa/internal.h"

#include <assert.h>

#define NONE UINT32_MAX

enum { MESSAGE_LIMIT = 8192 };        /* bytes: a MultiPathRecord with the most GIDs */
enum { CREDIT = 64, QUERY_WORK = 4 }; /* in records */
enum { ANSWER_MS = 8000 };            /* four transmissions of two seconds each */

void queue_init(struct query_queue *queue)
{
    *queue = (struct query_queue){.clock = CREDIT};
}

void queue_release(struct query_queue *queue)
{
    struct query query;
    while (queue_take(queue, &query))
        mem_free(query.more);
    pool_release(&queue->queries);
    vec_release(&queue->clients);
    vec_release(&queue->heap);
    map_release(&queue->by_guid);
    queue_init(queue);
}

uint32_t queue_client(struct query_queue *queue, uint64_t guid)
{
    uint32_t index = map_get(&queue->by_guid, guid);
    if (index == MAP_NONE) {
        index = (uint32_t)queue->clients.count;
        map_set(&queue->by_guid, guid, index);
        vec_push(&queue->clients, ((struct client){.head = NONE, .tail = NONE}));
    }
    return index;
}

/* ---- the clients with queries: a heap with the least clock on top ---- */

static bool is_before(const struct query_queue *queue, uint32_t a, uint32_t b)
{
    const struct client *one = &queue->clients.items[a], *other = &queue->clients.items[b];
    return one->clock != other->clock ? one->clock < other->clock : one->order < other->order;
}

static void place_client(struct query_queue *queue, uint32_t place, uint32_t client)
{
    queue->heap.items[place] = client;
    queue->clients.items[client].place = place;
}

static void sift_up(struct query_queue *queue, uint32_t place)
{
    uint32_t client = queue->heap.items[place];
    for (uint32_t above; place && is_before(queue, client, queue->heap.items[(place - 1) / 2]);
         place = above) {
        above = (place - 1) / 2;
        place_client(queue, place, queue->heap.items[above]);
    }
    place_client(queue, place, client);
}

static void sift_down(struct query_queue *queue, uint32_t place)
{
    uint32_t client = queue->heap.items[place], count = (uint32_t)queue->heap.count;
    for (uint32_t below; (below = 2 * place + 1) < count; place = below) {
        if (below + 1 < count &&
            is_before(queue, queue->heap.items[below + 1], queue->heap.items[below]))
            below++;
        if (!is_before(queue, queue->heap.items[below], client))
            break;
        place_client(queue, place, queue->heap.items[below]);
    }
    place_client(queue, place, client);
}

void queue_charge(struct query_queue *queue, uint32_t client, uint32_t work)
{
    struct client *charged = &queue->clients.items[client];
    charged->clock += work;
    if (charged->count)
        sift_down(queue, charged->place);
}

/* ---- queries ---- */

/* Whether so many bytes of long answers fit to those that are probably still on their way to the
 * client; they do in any case if there are none. Their cost is the time after which they are not.
 */
static bool fits(const struct client *client, const struct sa_config *config, uint64_t now,
                 size_t bytes, uint64_t *cost)
{
    const uint64_t longest = ANSWER_MS * NS_PER_MS;
    uint64_t backlog = rate_flow_backlog(&client->answers, now);
    *cost = bytes < config->client_bytes ? bytes * longest / config->client_bytes : longest;
    return !backlog || (bytes <= config->client_bytes && backlog + *cost <= longest);
}

bool queue_may_answer(struct query_queue *queue, const struct sa_config *config, uint32_t client,
                      uint64_t now, size_t bytes)
{
    struct client *to = &queue->clients.items[client];
    uint64_t cost;
    to->last_bytes = bytes;
    if (!fits(to, config, now, bytes, &cost))
        return false;
    rate_flow_add(&to->answers, now, cost, 0);
    return true;
}

bool queue_has_room(struct query_queue *queue, const struct sa_config *config, uint32_t client,
                    uint64_t now)
{
    const struct client *to = &queue->clients.items[client];
    uint64_t cost;
    return fits(to, config, now, to->last_bytes, &cost);
}

bool queue_put(struct query_queue *queue, const struct sa_config *config, uint64_t now,
               uint32_t client, const struct sa_message *message)
{
    assert(message->bytes >= SA_DATA_OFFSET && client < queue->clients.count);
    struct client *from = &queue->clients.items[client];
    if (queue->waiting >= config->queue_limit || message->bytes > MESSAGE_LIMIT ||
        from->count >= config->client_limit)
        return false;
    uint32_t index = pool_take(&queue->queries);
    struct query *query = &queue->queries.items[index];
    size_t copied = message->bytes < MAD_BYTES ? message->bytes : MAD_BYTES;
    query->next = NONE;
    query->client = client;
    query->address = message->address;
    query->asked_at = now;
    query->bytes = message->bytes;
    query->more = NULL;
    memcpy(query->mad, message->data, copied);
    memset(query->mad + copied, 0, MAD_BYTES - copied);
    if (message->bytes > MAD_BYTES) {
        query->more = mem_alloc(message->bytes);
        memcpy(query->more, message->data, message->bytes);
    }
    if (from->tail == NONE)
        from->head = index;
    else
        queue->queries.items[from->tail].next = index;
    from->tail = index;
    assert(from->head != NONE);
    if (from->count++ == 0) {
        uint64_t least = queue->clock - CREDIT;
        from->clock = from->clock > least ? from->clock : least;
        from->order = queue->order++;
        vec_push(&queue->heap, query->client);
        sift_up(queue, (uint32_t)queue->heap.count - 1);
    }
    queue->waiting++;
    return true;
}

bool queue_take(struct query_queue *queue, struct query *query)
{
    if (!queue->waiting)
        return false;
    struct client *client = &queue->clients.items[queue->heap.items[0]];
    uint32_t taken = client->head;
    assert(client->count > 0 && taken != NONE);
    *query = queue->queries.items[taken];
    client->head = queue->queries.items[taken].next;
    if (client->head == NONE)
        client->tail = NONE;
    client->count--;
    pool_give(&queue->queries, taken);
    queue->waiting--;
    queue->clock = client->clock > queue->clock ? client->clock : queue->clock;
    client->clock += QUERY_WORK;
    client->order = queue->order++;
    if (!client->count)
        queue->heap.items[0] = queue->heap.items[--queue->heap.count];
    if (queue->heap.count)
        sift_down(queue, 0);
    return true;
}
