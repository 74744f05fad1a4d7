/* Queries that wait: one queue a client, clients in turn.
 *
 * A client is a source LID. Whoever sends a thousand queries at once waits for its own; the others
 * are answered after one of them each. All queries live in one pool that grows to the limit and
 * stays: there is nothing to allocate or free while hosts ask. */
#include "sa/internal.h"

#include <assert.h>

#define NOBODY UINT32_MAX

enum { MESSAGE_LIMIT = 8192 }; /* bytes: a MultiPathRecord with as many GIDs as it can have */

void queue_init(struct query_queue *queue)
{
    *queue = (struct query_queue){.ring = NOBODY};
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
    *client = (struct client){.lid = (uint16_t)lid, .head = NOBODY, .tail = NOBODY, .next = index};
    if (queue->ring != NOBODY) {
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
    *query = (struct query){.next = NOBODY, .address = message->address, .bytes = message->bytes};
    memcpy(query->mad, message->data, message->bytes < MAD_BYTES ? message->bytes : MAD_BYTES);
    if (message->bytes > MAD_BYTES) {
        query->more = mem_alloc(message->bytes);
        memcpy(query->more, message->data, message->bytes);
    }
    if (from->tail == NOBODY)
        from->head = index;
    else
        queue->queries.items[from->tail].next = index;
    from->tail = index;
    assert(from->head != NOBODY);
    from->count++;
    queue->waiting++;
    return true;
}

bool queue_take(struct query_queue *queue, struct query *query)
{
    if (queue->ring == NOBODY)
        return false;
    uint32_t before = queue->ring, index = queue->clients.items[before].next;
    struct client *client = &queue->clients.items[index];
    uint32_t taken = client->head;
    assert(client->count > 0 && queue->waiting > 0);
    *query = queue->queries.items[taken];
    client->head = queue->queries.items[taken].next;
    client->count--;
    pool_give(&queue->queries, taken);
    queue->waiting--;
    if (client->head != NOBODY) {
        queue->ring = index;
        return true;
    }
    /* It has no more: out of the ring. */
    queue->clients.items[before].next = client->next;
    queue->ring = before == index ? NOBODY : before;
    map_remove(&queue->by_lid, client->lid);
    pool_give(&queue->clients, index);
    return true;
}
