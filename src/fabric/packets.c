/* Packets: a pool of them with a free list, queues that link them by number, and what the copies of
 * one multicast packet share.
 *
 * Packets are named by number: the pool moves when it grows, so that a pointer into it holds only
 * until the next packet is made. */
#include "fabric/internal.h"

uint32_t packet_new(struct fabric *fabric)
{
    uint32_t number = fabric->free_packets;
    if (number == NONE) {
        number = (uint32_t)fabric->packets.count;
        vec_push(&fabric->packets, (struct packet){0});
    } else {
        fabric->free_packets = packet_at(fabric, number)->next;
    }
    struct packet *packet = packet_at(fabric, number);
    packet->next = packet->port = packet->multicast = NONE;
    packet->hops = 0;
    packet->bytes = MAD_BYTES + PACKET_OVERHEAD_BYTES;
    return number;
}

uint32_t multicast_start(struct fabric *fabric)
{
    uint32_t multicast = fabric->free_multicasts;
    if (multicast == NONE) {
        multicast = (uint32_t)fabric->multicasts.count;
        vec_push(&fabric->multicasts, (struct multicast_copies){0});
    } else {
        fabric->free_multicasts = fabric->multicasts.items[multicast].left;
    }
    fabric->multicasts.items[multicast] =
        (struct multicast_copies){.copies = 1, .left = fabric->port_count};
    return multicast;
}

bool multicast_may_forward(struct fabric *fabric, uint32_t number)
{
    struct multicast_copies *multicast = &fabric->multicasts.items[number];
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
    if (multicast == NONE || --fabric->multicasts.items[multicast].copies)
        return;
    fabric->multicasts.items[multicast].left = fabric->free_multicasts;
    fabric->free_multicasts = multicast;
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
    struct packet *packet = packet_at(fabric, number);
    multicast_drop_copy(fabric, packet->multicast);
    packet->next = fabric->free_packets;
    fabric->free_packets = number;
}

void queue_push(struct fabric *fabric, struct packet_queue *queue, uint32_t number)
{
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
