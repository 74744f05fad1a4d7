/* Pools of packets with free lists, and queues that link packets by number (a pool moves when it
 * grows): management packets and multicast copies; those of data packets are in data_path.h. */
#include "fabric/internal.h"

#include <assert.h>
#include <string.h>

uint32_t packet_new(struct fabric *fabric)
{
    uint32_t number = pool_take(&fabric->packets);
    fabric->undivided++;
    struct packet *packet = packet_at(fabric, number);
    packet->next = packet->port = packet->multicast = NONE;
    packet->hops = 0;
    packet->bytes = MAD_BYTES + PACKET_OVERHEAD_BYTES;
    return number;
}

uint32_t multicast_start(struct fabric *fabric)
{
    uint32_t multicast = pool_take(&fabric->multicasts);
    fabric->undivided++;
    fabric->multicasts.items[multicast] =
        (struct multicast_copies){.copies = 1, .left = fabric->port_count};
    return multicast;
}

bool multicast_may_forward(struct fabric *fabric, uint32_t number)
{
    struct multicast_copies *multicast = &fabric->multicasts.items[number];
    assert(number < fabric->multicasts.count);
    if (!multicast->left)
        return false;
    multicast->left--;
    return true;
}

void multicast_add_copy(struct fabric *fabric, uint32_t multicast)
{
    if (multicast != NONE)
        fabric->multicasts.items[multicast].copies++;
}

void multicast_drop_copy(struct fabric *fabric, uint32_t multicast)
{
    assert(multicast == NONE || fabric->multicasts.items[multicast].copies > 0);
    if (multicast == NONE || --fabric->multicasts.items[multicast].copies)
        return;
    pool_give(&fabric->multicasts, multicast);
    fabric->undivided--;
}

uint32_t packet_copy(struct fabric *fabric, uint32_t number)
{
    uint32_t copy = packet_new(fabric);
    *packet_at(fabric, copy) = *packet_at(fabric, number);
    packet_at(fabric, copy)->next = NONE;
    multicast_add_copy(fabric, packet_at(fabric, copy)->multicast);
    return copy;
}

void packet_drop(struct fabric *fabric, uint32_t number)
{
    multicast_drop_copy(fabric, packet_at(fabric, number)->multicast);
    pool_give(&fabric->packets, number);
    fabric->undivided--;
}

void queue_push(struct fabric *fabric, struct packet_queue *queue, uint32_t number)
{
    assert(number < fabric->packets.count);
    packet_at(fabric, number)->next = NONE;
    if (queue->count++)
        packet_at(fabric, queue->tail)->next = number;
    else
        queue->head = number;
    queue->tail = number;
}

uint32_t queue_pop(struct fabric *fabric, struct packet_queue *queue)
{
    if (!queue->count)
        return NONE;
    uint32_t number = queue->head;
    queue->head = packet_at(fabric, number)->next;
    queue->count--;
    return number;
}

void queue_clear(struct fabric *fabric, struct packet_queue *queue)
{
    for (uint32_t number; (number = queue_pop(fabric, queue)) != NONE;)
        packet_drop(fabric, number);
}

/* The pool grows here, since an array of pool_take() would not begin at a cache line. */
uint32_t data_packet_new(struct data *data)
{
    if (!data->data_packets.free && data->data_packets.count == data->data_packets.capacity &&
        !partitions_refill(data)) {
        size_t capacity = data->data_packets.capacity * 3 / 2 + 256;
        struct data_packet *items = mem_zalloc_lines(capacity, sizeof *items);
        if (data->data_packets.count)
            memcpy(items, data->data_packets.items, data->data_packets.count * sizeof *items);
        mem_free(data->data_packets.items);
        data->data_packets.items = items;
        data->data_packets.capacity = capacity;
    }
    return pool_take(&data->data_packets);
}
