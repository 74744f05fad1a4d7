/* The queue of queries: one FIFO per client, and round robin among clients.
 *
 * A client is a source LID. A client with many queries does not delay the others: each is served
 * after one query of it. Queries are in one pool that never shrinks, so that hosts under load cause
 * no allocation. */
#include "sa/internal.h"

#include <assert.h>

#define NONE UINT32_MAX

enum { MESSAGE_LIMIT = 8192 }; /* bytes: a MultiPathRecord with the most GIDs */

void queue_init(struct query_queue *queue)
{
    *queue = (struct query_queue){.ring = NONE};
}

void queue_release(struct query_queue *queue)
{
    struct query query;
    while (queue_take(queue, &query))
        mem_free(query.more);
    pool_release(&queue->queries);
    pool_release(&queue->clients);
    map_release(&queue->by_lid);
    queue_init(queue);
}

static uint32_t new_client(struct query_queue *queue, unsigned lid)
{
    uint32_t index = pool_take(&queue->clients);
    struct client *client = &queue->clients.items[index];
    *client = (struct client){.lid = (uint16_t)lid, .head = NONE, .tail = NONE, .next = index};
    if (queue->ring != NONE) {
        client->next = queue->clients.items[queue->ring].next;
        queue->clients.items[queue->ring].next = index;
    }
    queue->ring = index;
    map_set(&queue->by_lid, lid, index);
    return index;
}

bool queue_put(struct query_queue *queue, const struct sa_config *config,
               const struct sa_message *message)
{
    assert(message->bytes >= SA_DATA_OFFSET);
    uint32_t client = map_get(&queue->by_lid, message->address.lid);
    if (queue->waiting >= config->queue_limit || message->bytes > MESSAGE_LIMIT)
        return false;
    if (client == MAP_NONE)
        client = new_client(queue, message->address.lid);
    struct client *from = &queue->clients.items[client];
    if (from->count >= config->client_limit)
        return false;
    uint32_t index = pool_take(&queue->queries);
    struct query *query = &queue->queries.items[index];
    *query = (struct query){.next = NONE, .address = message->address, .bytes = message->bytes};
    memcpy(query->mad, message->data, message->bytes < MAD_BYTES ? message->bytes : MAD_BYTES);
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
    from->count++;
    queue->waiting++;
    return true;
}

bool queue_take(struct query_queue *queue, struct query *query)
{
    if (queue->ring == NONE)
        return false;
    uint32_t previous = queue->ring, index = queue->clients.items[previous].next;
    struct client *client = &queue->clients.items[index];
    uint32_t taken = client->head;
    assert(client->count > 0 && queue->waiting > 0);
    *query = queue->queries.items[taken];
    client->head = queue->queries.items[taken].next;
    client->count--;
    pool_give(&queue->queries, taken);
    queue->waiting--;
    if (client->head != NONE) {
        queue->ring = index;
        return true;
    }
    /* A client without queries leaves the ring. */
    queue->clients.items[previous].next = client->next;
    queue->ring = previous == index ? NONE : previous;
    map_remove(&queue->by_lid, client->lid);
    pool_give(&queue->clients, index);
    return true;
}
