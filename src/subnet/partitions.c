/* Computes the P_Keys of a port from rules, and their indices in its P_Key table.
 *
 * The rules of a port are the general ones and those with its GUID, in the order of the file. The
 * cost for a port depends on the number of its rules only. */
#include "subnet/partitions.h"

#include "subnet/subnet.h"

#include <assert.h>
#include <string.h>

/* The memberships of a port in a partition, and which of its keys have an index. */
enum { HAS_LIMITED = 1, HAS_FULL = 2, PLACED_LIMITED = 4, PLACED_FULL = 8, TOUCHED = 16 };
enum { PLACED = PLACED_LIMITED | PLACED_FULL };

void partitions_release(struct partitions *partitions)
{
    vec_release(&partitions->all);
    vec_release(&partitions->rules);
    vec_release(&partitions->groups);
    map_release(&partitions->by_key);
    arena_release(&partitions->names);
    *partitions = (struct partitions){0};
}

void partition_keys_release(struct partition_keys *keys)
{
    vec_release(&keys->keys);
    vec_release(&keys->states);
    vec_release(&keys->touched);
    *keys = (struct partition_keys){0};
}

/* ---- keys of a port ---- */

static bool rule_applies(const struct partition_rule *rule, const struct partition_port *port)
{
    switch ((enum partition_target)rule->target) {
    case MEMBERS_PORT: return rule->guid == port->guid;
    case MEMBERS_ALL: return true;
    case MEMBERS_ADAPTERS: return port->kind == SUBNET_ADAPTER;
    case MEMBERS_SWITCHES: return port->kind == SUBNET_SWITCH;
    case MEMBERS_ROUTERS: return port->kind == SUBNET_ROUTER;
    default: return port->self;
    }
}

/* `head` is the partition of the key at index 0, or MAP_NONE. */
static void apply_rule(const struct partitions *partitions, const struct partition_rule *rule,
                       struct partition_keys *keys, uint32_t *head)
{
    uint8_t *state = &keys->states.items[rule->partition];
    assert(rule->partition < partitions->all.count && rule->membership <= MEMBER_BOTH);
    if (!*state)
        vec_push(&keys->touched, rule->partition);
    if (rule->membership == MEMBER_BOTH && partitions->allow_both)
        *state = TOUCHED | HAS_FULL | HAS_LIMITED;
    else
        *state = TOUCHED | (rule->membership == MEMBER_LIMITED ? HAS_LIMITED : HAS_FULL);
    if (rule->index0)
        *head = rule->partition;
    else if (*head == rule->partition)
        *head = MAP_NONE;
}

void partitions_find_keys(const struct partitions *partitions, const struct partition_port *port,
                          struct partition_keys *keys)
{
    const struct partition_rule *rules = partitions->rules.items;
    size_t one = 0, other; /* next general rule, next rule of this port */
    uint32_t head = MAP_NONE;
    assert(partitions->general <= partitions->rules.count);
    for (size_t i = 0; i < keys->touched.count; i++)
        if (keys->touched.items[i] < keys->states.count)
            keys->states.items[keys->touched.items[i]] = 0;
    while (keys->states.count < partitions->all.count)
        vec_push(&keys->states, 0);
    keys->touched.count = keys->keys.count = 0;
    keys->first = 0;
    lower_bound(other, partitions->rules.count, rules[other].guid < port->guid);
    for (;;) {
        bool general = one < partitions->general;
        bool own = other < partitions->rules.count && rules[other].guid == port->guid;
        if (!general && !own)
            break;
        general = general && (!own || rules[one].order < rules[other].order);
        const struct partition_rule *rule = &rules[general ? one++ : other++];
        if (rule_applies(rule, port))
            apply_rule(partitions, rule, keys, &head);
    }
    /* The manager must be a full member of the default partition: its clients may be limited
     * members. */
    if (port->self && partitions->all.count) {
        struct partition_rule own = {.target = MEMBERS_SELF, .membership = MEMBER_FULL};
        own.index0 = head == own.partition;
        if (!(keys->states.count && keys->states.items[0] & HAS_FULL))
            apply_rule(partitions, &own, keys, &head);
    }
    for (size_t i = 0; i < keys->touched.count; i++) {
        uint32_t partition = keys->touched.items[i];
        uint16_t key = partitions->all.items[partition].key;
        uint16_t full = (uint16_t)(key | PARTITION_FULL);
        bool is_full = keys->states.items[partition] & HAS_FULL;
        if (is_full)
            vec_push(&keys->keys, full);
        if (keys->states.items[partition] & HAS_LIMITED)
            vec_push(&keys->keys, key);
        if (partition == head)
            keys->first = is_full ? full : key;
    }
}

/* ---- indices ---- */

/* True if the port has this key and the key has no index yet; marks it as placed. */
static bool place_key(const struct partitions *partitions, struct partition_keys *keys,
                      uint16_t key)
{
    uint32_t partition = map_get(&partitions->by_key, key & PARTITION_DEFAULT);
    bool full = key & PARTITION_FULL;
    if (partition == MAP_NONE || partition >= keys->states.count)
        return false;
    uint8_t *state = &keys->states.items[partition], placed = full ? PLACED_FULL : PLACED_LIMITED;
    if (!(*state & (full ? HAS_FULL : HAS_LIMITED)) || *state & placed)
        return false;
    *state |= placed;
    return true;
}

/* Keeps the index of equal keys first, then of keys that differ in the membership bit only. */
static void keep_indices(const struct partitions *partitions, struct partition_keys *keys,
                         const uint16_t *before, unsigned capacity, uint16_t *table)
{
    static const uint16_t changes[] = {0, PARTITION_FULL};
    for (unsigned i = 0; i < 2; i++)
        for (unsigned slot = 0; slot < capacity; slot++) {
            uint16_t key = before[slot] ^ changes[i];
            if (!table[slot] && before[slot] & PARTITION_DEFAULT &&
                place_key(partitions, keys, key))
                table[slot] = key;
        }
}

bool partitions_place(const struct partitions *partitions, struct partition_keys *keys,
                      const uint16_t *before, unsigned capacity, uint16_t *table)
{
    if (keys->keys.count > capacity)
        return false;
    memset(table, 0, capacity * sizeof *table);
    for (size_t i = 0; i < keys->touched.count; i++)
        keys->states.items[keys->touched.items[i]] &= (uint8_t)~PLACED;
    if (keys->first && place_key(partitions, keys, keys->first))
        table[0] = keys->first;
    keep_indices(partitions, keys, before, capacity, table);
    for (unsigned from = 1; from < capacity && !table[0] && keys->keys.count; from++)
        if (table[from] == keys->keys.items[0]) {
            table[0] = table[from];
            table[from] = 0;
        }
    unsigned slot = 0;
    for (size_t i = 0; i < keys->keys.count; i++) {
        if (!place_key(partitions, keys, keys->keys.items[i]))
            continue;
        while (table[slot])
            slot++;
        table[slot] = keys->keys.items[i];
    }
    return true;
}
