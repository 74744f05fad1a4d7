/* Counts the bytes of each open message that were delivered or lost; when this is the whole
 * message, its latency or loss is counted and its entry is removed. Packets of a message are
 * recognised by a hash. */
#include "experiment/measure/messages.h"

void messages_ended(struct messages *messages, uint64_t now, const struct packet_view *packet,
                    bool lost, bool in_window)
{
    uint64_t ends = (uint64_t)packet->source << 32 | packet->destination;
    uint64_t machines = (uint64_t)packet->from_vm << 32 | packet->to_vm;
    uint64_t key = hash_mix(hash_mix(hash_mix(packet->made + packet->traffic) ^ ends) ^ machines);
    uint32_t number = map_get(&messages->open, key);
    messages->seen = true;
    if (number == MAP_NONE) {
        number = pool_take(&messages->pool);
        messages->pool.items[number] = (struct open_message){0};
        map_set(&messages->open, key, number);
    }
    struct open_message *message = &messages->pool.items[number];
    message->ended_bytes += packet->payload_bytes;
    message->lost |= lost;
    if (message->ended_bytes < packet->message_bytes)
        return;
    if (message->lost)
        messages->lost++;
    else
        messages->delivered++;
    if (!message->lost && in_window)
        distribution_add(&messages->latency, now - packet->made);
    map_remove(&messages->open, key);
    pool_give(&messages->pool, number);
}

void messages_release(struct messages *messages)
{
    histogram_release(&messages->latency.histogram);
    map_release(&messages->open);
    pool_release(&messages->pool);
}
