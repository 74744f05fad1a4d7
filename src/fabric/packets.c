/* Pools of packets with free lists, and queues that link packets by number (a pool moves when it
 * grows): management packets, multicast copies, data packets. */
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

/* ---- data packets ---- */

uint32_t data_packet_new(struct data *data)
{
    uint32_t number = data->free_data_packets;
    if (number == NONE) {
        number = (uint32_t)data->data_packets.count;
        vec_push(&data->data_packets, (struct data_packet){0});
    } else {
        data->free_data_packets = data_packet_at(data, number)->next;
    }
    return number;
}

void data_packet_free(struct data *data, uint32_t number)
{
    data_packet_at(data, number)->next = data->free_data_packets;
    data->free_data_packets = number;
}

void data_packet_push(struct data *data, struct data_packet_queue *queue, uint32_t number)
{
    data_packet_at(data, number)->next = NONE;
    if (queue->head == NONE)
        queue->head = number;
    else
        data_packet_at(data, queue->tail)->next = number;
    queue->tail = number;
}

uint32_t data_packet_pop(struct data *data, struct data_packet_queue *queue)
{
    uint32_t number = queue->head;
    if (number != NONE)
        queue->head = data_packet_at(data, number)->next;
    return number;
}
