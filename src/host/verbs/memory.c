/* The memory of programs: finds it by the names that payloads and accesses carry, checks that it is
 * registered now, and copies.
 *
 * The transport layer has checked keys and ranges when it accepted a request. They are checked here
 * again at the moment of the access, since a program may remove a region in between. Nothing is
 * read or written but through a registered region. */
#include "host/verbs/internal.h"

#include <errno.h>
#include <string.h>

/* ---- the program's address space ---- */

/* From the program to `to`, or to the program from `from`; the other one is NULL. */
static bool copy_bytes(struct verbs_client *client, uint64_t address, uint8_t *to,
                       const uint8_t *from, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        off_t at = (off_t)(address + done);
        ssize_t moved = to ? pread(client->memory, to + done, bytes - done, at)
                           : pwrite(client->memory, from + done, bytes - done, at);
        if (moved < 0 && errno == EINTR)
            continue;
        client->dead |= moved == 0;
        if (moved <= 0)
            return false;
        done += (size_t)moved;
    }
    *(to ? &client->read_bytes : &client->written_bytes) += bytes;
    if (from && client->verbs->listener.written)
        client->verbs->listener.written(client->verbs->listener.context, client->process);
    return true;
}

/* ---- names ---- */

/* The address in the program of a range of a region; false: it is not registered. */
static bool find_in_region(const struct region *region, uint64_t address, uint64_t bytes,
                           uint64_t *in_program)
{
    if (!region->client || address < region->start || bytes > region->bytes ||
        address - region->start > region->bytes - bytes)
        return false;
    *in_program = region->memory + (address - region->start);
    return true;
}

static const struct region *region_of_name(const struct verbs *verbs, uint64_t name)
{
    uint32_t number = (uint32_t)name;
    if (number >= verbs->regions.count)
        return NULL;
    const struct region *region = &verbs->regions.items[number];
    return region->generation == name >> 32 ? region : NULL;
}

struct gathered {
    struct verbs_client *client;
    const struct verbs_segment *segments;
    unsigned count;
    const uint8_t *inlined; /* the message itself, or NULL */
    uint32_t inline_bytes;
};

static struct qp *qp_of(const struct adapter *adapter, uint32_t number,
                        struct verbs_client **client)
{
    if (number >= adapter->qps.count || !adapter->qps.items[number].client)
        return NULL;
    *client = adapter->qps.items[number].client;
    return &(*client)->qps.items[adapter->qps.items[number].object];
}

static bool find_message(const struct adapter *adapter, uint64_t name, struct gathered *found)
{
    enum memory_kind kind = (enum memory_kind)(name >> 62);
    uint32_t object = memory_object(name), slot = (uint32_t)name;
    const struct work_queue *queue;
    *found = (struct gathered){0};
    if (kind == MEMORY_SHARED) {
        if (object >= adapter->srqs.count || !adapter->srqs.items[object].client)
            return false;
        const struct owner *owner = &adapter->srqs.items[object];
        found->client = owner->client;
        queue = &owner->client->srqs.items[owner->object].receives;
    } else {
        const struct qp *qp = qp_of(adapter, object, &found->client);
        if (!qp)
            return false;
        queue = kind == MEMORY_SEND ? &qp->sends : &qp->receives;
    }
    const uint8_t *copy = queue->copies + (size_t)(slot % queue->capacity) * queue->stride;
    if (kind != MEMORY_SEND) {
        const struct verbs_receive *receive = (const void *)copy;
        found->segments = (const void *)(receive + 1);
        found->count = receive->segments;
        return true;
    }
    const struct verbs_send *send = (const void *)copy;
    if (send->flags & VERBS_INLINED) {
        found->inlined = (const uint8_t *)(send + 1);
        found->inline_bytes = send->inline_bytes;
        return true;
    }
    found->segments = (const void *)(send + 1);
    found->count = send->segments;
    return true;
}

/* Copies a part of a message, to or from the program: one of `to` and `from` is NULL. */
static bool copy_message(const struct adapter *adapter, uint64_t name, uint64_t offset, uint8_t *to,
                         const uint8_t *from, uint64_t bytes)
{
    struct gathered message;
    if (!find_message(adapter, name, &message))
        return false;
    if (message.inlined) {
        if (!to || offset > message.inline_bytes || bytes > message.inline_bytes - offset)
            return false;
        memcpy(to, message.inlined + offset, bytes);
        return true;
    }
    for (unsigned i = 0; i < message.count && bytes; i++) {
        const struct verbs_segment *segment = &message.segments[i];
        uint64_t address;
        if (offset >= segment->bytes) {
            offset -= segment->bytes;
            continue;
        }
        uint64_t part = segment->bytes - offset < bytes ? segment->bytes - offset : bytes;
        uint32_t number = map_get(&adapter->regions, segment->key);
        if (number == MAP_NONE)
            return false;
        const struct region *region = &adapter->verbs->regions.items[number];
        if (region->client != message.client ||
            !find_in_region(region, segment->address + offset, part, &address) ||
            !copy_bytes(message.client, address, to, from, part))
            return false;
        to = to ? to + part : NULL;
        from = from ? from + part : NULL;
        bytes -= part;
        offset = 0;
    }
    return bytes == 0;
}

static bool copy_region(const struct adapter *adapter, uint64_t name, uint64_t at, uint8_t *to,
                        const uint8_t *from, uint64_t bytes)
{
    uint64_t address;
    const struct region *region = region_of_name(adapter->verbs, name);
    return region && find_in_region(region, at, bytes, &address) &&
           copy_bytes(region->client, address, to, from, bytes);
}

bool memory_read_payload(struct adapter *adapter, const struct transport_payload *payload,
                         uint8_t *data)
{
    if (payload->source == PAYLOAD_REGION)
        return copy_region(adapter, payload->memory, payload->offset, data, NULL, payload->bytes);
    return copy_message(adapter, payload->memory, payload->offset, data, NULL, payload->bytes);
}

/* ---- accesses ---- */

static bool write_target(struct adapter *adapter, const struct transport_access *access,
                         const void *data, size_t bytes)
{
    if (access->target == PAYLOAD_REGION)
        return copy_region(adapter, access->memory, access->offset, NULL, data, bytes);
    return copy_message(adapter, access->memory, access->offset, NULL, data, bytes);
}

static bool write_route(struct adapter *adapter, const struct transport_access *access)
{
    const struct transport_global_route *route = &access->route;
    uint8_t bytes[TRANSPORT_GRH_ROOM] = {
        (uint8_t)(0x60 | route->traffic_class >> 4),
        (uint8_t)(route->traffic_class << 4 | (route->flow_label >> 16 & 15)),
        (uint8_t)(route->flow_label >> 8),
        (uint8_t)route->flow_label,
        0,
        0,
        0x1B, /* IBA transport */
        route->hop_limit,
    };
    memcpy(bytes + 8, route->sgid, 16);
    memcpy(bytes + 24, route->dgid, 16);
    return write_target(adapter, access, bytes, sizeof bytes);
}

static bool execute_atomic(struct adapter *adapter, const struct transport_access *access)
{
    uint64_t original = 0, value;
    bool done = copy_region(adapter, access->memory, access->offset, (uint8_t *)&original, NULL,
                            sizeof original);
    value = access->kind == ACCESS_FETCH_ADD ? original + access->swap_or_add
            : original == access->compare    ? access->swap_or_add
                                             : original;
    if (done && value != original)
        done = copy_region(adapter, access->memory, access->offset, NULL, (uint8_t *)&value,
                           sizeof value);
    if (done)
        transport_answer_atomic(adapter->transport, access->qp, access->ticket, original);
    return done;
}

bool memory_is_requester(const struct transport_access *access)
{
    return access->target == PAYLOAD_WORK && access->memory >> 62 == MEMORY_SEND;
}

bool memory_execute(struct adapter *adapter, const struct transport_access *access,
                    const uint8_t *data)
{
    switch ((enum transport_access_kind)access->kind) {
    case ACCESS_PLACE: return data && write_target(adapter, access, data, access->payload.bytes);
    case ACCESS_PLACE_ROUTE: return write_route(adapter, access);
    case ACCESS_PLACE_VALUE:
        return write_target(adapter, access, &access->value, sizeof access->value);
    case ACCESS_COMPARE_SWAP:
    case ACCESS_FETCH_ADD: return execute_atomic(adapter, access);
    }
    return false;
}
