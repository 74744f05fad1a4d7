/* How connections are found without a search: by the other end's communication ID, by its QP, and
 * by the earliest deadline.
 *
 * Connections with the same key form a chain; the map has the first one. Deadlines are in a heap in
 * which each connection knows its place. */
#include "cm/internal.h"

/* ---- chains ---- */

/* Another number behind a GUID: a communication ID, or a QP. */
static uint64_t key_of(uint64_t guid, uint32_t number)
{
    return hash_mix(guid ^ hash_mix(number));
}

static uint64_t chain_key(const struct connection *connection, enum chain chain)
{
    return key_of(connection->remote_guid,
                  chain == BY_PEER ? connection->remote_id : connection->remote_qpn);
}

void chain_add(struct cm *cm, struct connection *connection, enum chain chain)
{
    uint32_t number = (uint32_t)(connection - cm->connections.items);
    uint64_t key = chain_key(connection, chain);
    assert(!connection->in_chain[chain]);
    connection->in_chain[chain] = true;
    connection->chain_next[chain] = map_get(&cm->chains[chain], key);
    map_set(&cm->chains[chain], key, number);
}

void chain_remove(struct cm *cm, struct connection *connection, enum chain chain)
{
    uint32_t number = (uint32_t)(connection - cm->connections.items);
    uint64_t key = chain_key(connection, chain);
    if (!connection->in_chain[chain])
        return;
    connection->in_chain[chain] = false;
    uint32_t at = map_get(&cm->chains[chain], key), next = connection->chain_next[chain];
    if (at == number && next == MAP_NONE)
        map_remove(&cm->chains[chain], key);
    else if (at == number)
        map_set(&cm->chains[chain], key, next);
    for (; at != number && at != MAP_NONE; at = cm->connections.items[at].chain_next[chain])
        if (cm->connections.items[at].chain_next[chain] == number)
            cm->connections.items[at].chain_next[chain] = next;
}

struct connection *connection_in_chain(const struct cm *cm, enum chain chain, uint64_t guid,
                                       uint32_t number)
{
    uint32_t at = map_get(&cm->chains[chain], key_of(guid, number));
    while (at != MAP_NONE) {
        struct connection *connection = &cm->connections.items[at];
        bool found = chain == BY_PEER
                         ? connection->remote_id == number
                         : connection->state == CM_ESTABLISHED && connection->remote_qpn == number;
        if (found && connection->remote_guid == guid)
            return connection;
        at = connection->chain_next[chain];
    }
    return NULL;
}

/* ---- deadlines ---- */

static bool is_before(const struct cm *cm, uint32_t a, uint32_t b)
{
    const struct connection *one = &cm->connections.items[a], *other = &cm->connections.items[b];
    return one->deadline < other->deadline ||
           (one->deadline == other->deadline && one->id < other->id);
}

static void put(struct cm *cm, size_t at, uint32_t number)
{
    cm->deadlines.items[at] = number;
    cm->connections.items[number].heap_at = (uint32_t)at + 1;
}

/* Puts a connection where there is room, or above or below. */
static void sift(struct cm *cm, size_t at, uint32_t number)
{
    const uint32_t *heap = cm->deadlines.items;
    size_t count = cm->deadlines.count;
    for (; at && is_before(cm, number, heap[(at - 1) / 2]); at = (at - 1) / 2)
        put(cm, at, heap[(at - 1) / 2]);
    for (size_t below; (below = 2 * at + 1) < count; at = below) {
        below += below + 1 < count && is_before(cm, heap[below + 1], heap[below]);
        if (!is_before(cm, heap[below], number))
            break;
        put(cm, at, heap[below]);
    }
    put(cm, at, number);
}

void set_deadline(struct cm *cm, struct connection *connection, uint64_t deadline)
{
    uint32_t number = (uint32_t)(connection - cm->connections.items), at = connection->heap_at;
    connection->deadline = deadline;
    if (deadline != TIME_NEVER && !at)
        vec_push(&cm->deadlines, number);
    if (deadline != TIME_NEVER) {
        sift(cm, at ? at - 1 : cm->deadlines.count - 1, number);
    } else if (at) {
        uint32_t last = cm->deadlines.items[--cm->deadlines.count];
        connection->heap_at = 0;
        if (last != number)
            sift(cm, at - 1, last);
    }
}

uint64_t cm_deadline(const struct cm *cm)
{
    return cm->deadlines.count ? cm->connections.items[cm->deadlines.items[0]].deadline
                               : TIME_NEVER;
}

struct connection *connection_due(struct cm *cm, uint64_t now)
{
    if (cm_deadline(cm) > now)
        return NULL;
    struct connection *connection = &cm->connections.items[cm->deadlines.items[0]];
    set_deadline(cm, connection, TIME_NEVER);
    return connection;
}
