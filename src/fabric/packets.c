/* Packets: a pool of them with a free list, queues that link them by number, and what the copies of
 * one multicast packet share.
 *
 * Packets are named by number: the pool moves when it grows, so that a pointer into it holds only
 * until the next packet is made. */
#include "fabric/internal.h"

uint32_t packet_new(struct fabric *fabric)
{
    uint32_t number = fabric->free_packets;
    if (number == NOBODY) {
        number = (uint32_t)fabric->packets.count;
        vec_push(&fabric->packets, (struct packet){0});
    } else {
        fabric->free_packets = packet_at(fabric, number)->next;
    }
    struct packet *packet = packet_at(fabric, number);
    packet->next = packet->port = packet->flood = NOBODY;
    packet->hops = 0;
    packet->bytes = MAD_BYTES + PACKET_OVERHEAD_BYTES;
    return number;
}

uint32_t flood_start(struct fabric *fabric)
{
    uint32_t flood = fabric->free_floods;
    if (flood == NOBODY) {
        flood = (uint32_t)fabric->floods.count;
        vec_push(&fabric->floods, (struct flood){0});
    } else {
        fabric->free_floods = fabric->floods.items[flood].left;
    }
    fabric->floods.items[flood] = (struct flood){.copies = 1, .left = fabric->port_count};
    return flood;
}

bool flood_goes_on(struct fabric *fabric, uint32_t number)
{
    struct flood *flood = &fabric->floods.items[number];
    if (!flood->left)
        return false;
    flood->left--;
    return true;
}

void flood_join(struct fabric *fabric, uint32_t flood)
{
    if (flood != NOBODY)
        fabric->floods.items[flood].copies++;
}

void flood_leave(struct fabric *fabric, uint32_t flood)
{
    if (flood == NOBODY || --fabric->floods.items[flood].copies)
        return;
    fabric->floods.items[flood].left = fabric->free_floods;
    fabric->free_floods = flood;
}

uint32_t packet_copy(struct fabric *fabric, uint32_t number)
{
    uint32_t copy = packet_new(fabric);
    *packet_at(fabric, copy) = *packet_at(fabric, number);
    packet_at(fabric, copy)->next = NOBODY;
    flood_join(fabric, packet_at(fabric, copy)->flood);
    return copy;
}

void packet_drop(struct fabric *fabric, uint32_t number)
{
    struct packet *packet = packet_at(fabric, number);
    flood_leave(fabric, packet->flood);
    packet->next = fabric->free_packets;
    fabric->free_packets = number;
}

void queue_push(struct fabric *fabric, struct packet_queue *queue, uint32_t number)
{
    packet_at(fabric, number)->next = NOBODY;
    if (queue->count++)
        packet_at(fabric, queue->tail)->next = number;
    else
        queue->head = number;
    queue->tail = number;
}

uint32_t queue_pop(struct fabric *fabric, struct packet_queue *queue)
{
    if (!queue->count)
        return NOBODY;
    uint32_t number = queue->head;
    queue->head = packet_at(fabric, number)->next;
    queue->count--;
    return number;
}

void queue_clear(struct fabric *fabric, struct packet_queue *queue)
{
    for (uint32_t number; (number = queue_pop(fabric, queue)) != NOBODY;)
        packet_drop(fabric, number);
}
