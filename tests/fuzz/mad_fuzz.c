/* Fuzz target: any bytes as any attribute (read and written back) and as a stream of RMPP packets
 * for a sender and a receiver. */
#include "base/mem.h"
#include "base/time.h"
#include "wire/mad.h"
#include "wire/rmpp.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* Reading every element and writing it back must change nothing. */
static void try_attribute(const uint8_t *data, size_t size)
{
    enum wire_attribute attribute = data[0] % WIRE_ATTRIBUTE_COUNT;
    size_t bytes = wire_attributes[attribute].bytes;
    if (size - 1 < bytes)
        return;
    uint8_t *copy = mem_alloc(bytes);
    memcpy(copy, data + 1, bytes);
    for (unsigned i = 0; i < WIRE_FIELD_COUNT; i++)
        for (unsigned j = 0; j < wire_fields[i].count && wire_fields[i].attribute == attribute; j++)
            wire_set_at(copy, i, j, wire_get_at(copy, i, j));
    require(!memcmp(copy, data + 1, bytes));
    mem_free(copy);
}

static void try_rmpp(const uint8_t *data, size_t size)
{
    struct rmpp_options options = rmpp_defaults;
    struct rmpp_sender *sender = NULL;
    options.message_max = 1 << 20;
    struct rmpp_receiver *receiver = rmpp_receiver_create(&options);
    rmpp_sender_create(&sender, data, size, &options);
    uint64_t now = 0;
    for (size_t at = 0; at < size; at += MAD_BYTES) {
        uint8_t mad[MAD_BYTES] = {0}, out[MAD_BYTES];
        memcpy(mad, data + at, size - at < MAD_BYTES ? size - at : MAD_BYTES);
        now += mad[MAD_BYTES - 1] * TIME_S;
        rmpp_receiver_receive(receiver, now, mad);
        rmpp_receiver_expire(receiver, now);
        while (rmpp_receiver_next(receiver, now, out))
            require(wire_get(out, RMPP_FLAGS) == RMPP_FLAG_ACTIVE);
        if (!sender)
            continue;
        wire_set(mad, MAD_METHOD, wire_get(mad, MAD_METHOD) ^ METHOD_RESPONSE);
        rmpp_sender_receive(sender, now, mad);
        rmpp_sender_expire(sender, now);
        while (rmpp_sender_next(sender, now, out))
            require(wire_get(out, RMPP_VERSION) == RMPP_THIS_VERSION);
    }
    size_t bytes = 0;
    const uint8_t *message = rmpp_receiver_message(receiver, &bytes);
    require(!message || bytes < size + MAD_BYTES); /* the last packet was padded */
    rmpp_sender_free(sender);
    rmpp_receiver_free(receiver);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size)
        try_attribute(data, size);
    try_rmpp(data, size);
    return 0;
}
