/* Parcels: a pool with a free list, and queues that link them by number (the pool moves when it
 * grows). */
#include "fabric/internal.h"

uint32_t parcel_new(struct data *data)
{
    uint32_t number = data->free_parcels;
    if (number == NOBODY) {
        number = (uint32_t)data->parcels.count;
        vec_push(&data->parcels, (struct parcel){0});
    } else {
        data->free_parcels = parcel_at(data, number)->next;
    }
    return number;
}

void parcel_free(struct data *data, uint32_t number)
{
    parcel_at(data, number)->next = data->free_parcels;
    data->free_parcels = number;
}

void parcel_push(struct data *data, struct parcel_queue *queue, uint32_t number)
{
    parcel_at(data, number)->next = NOBODY;
    if (queue->head == NOBODY)
        queue->head = number;
    else
        parcel_at(data, queue->tail)->next = number;
    queue->tail = number;
}

uint32_t parcel_pop(struct data *data, struct parcel_queue *queue)
{
    uint32_t number = queue->head;
    if (number != NOBODY)
        queue->head = parcel_at(data, number)->next;
    return number;
}
