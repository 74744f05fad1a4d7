/* Parcels: a pool with a free list, and queues that link them by number (the pool moves when it
 * grows). */
#include "fabric/internal.h"

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
