/* From rules to keys, and from keys to places in a table.
 *
 * The rules of a port are those for many ports and those with its GUID, taken in the order of the
 * file: so finding a port's keys costs as much as it has rules, however many ports there are. */
#include "subnet/partitions.h"

#include "subnet/subnet.h"

#include <stdlib.h>
#include <string.h>

/* What a port has of a partition, and which of it has its place. */
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

static bool concerns(const struct partition_rule *rule, const struct partition_port *port)
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

/* `head`: the partition that index 0 is for so far. */
static void apply(const struct partitions *partitions, const struct partition_rule *rule,
                  struct partition_keys *keys, uint32_t *head)
{
    uint8_t *state = &keys->states.items[rule->partition];
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
    size_t one = 0, other; /* rules for many ports, whose GUID is 0, and rules for this one */
    uint32_t head = MAP_NONE;
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
        if (concerns(rule, port))
            apply(partitions, rule, keys, &head);
    }
    /* Whoever asks the manager has the default partition's key, maybe limited: answers need ours to
     * be full, whatever the rules say. */
    if (port->self && partitions->all.count) {
        struct partition_rule own = {.target = MEMBERS_SELF, .membership = MEMBER_FULL};
        own.index0 = head == own.partition;
        if (!(keys->states.count && keys->states.items[0] & HAS_FULL))
            apply(partitions, &own, keys, &head);
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

/* ---- places ---- */

/* Takes this key of the port's if it has it and it has no place yet. */
static bool take(const struct partitions *partitions, struct partition_keys *keys, uint16_t key)
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

/* First those that are the same, then those that are the same but for membership. */
static void keep_places(const struct partitions *partitions, struct partition_keys *keys,
                        const uint16_t *before, unsigned room, uint16_t *table)
{
    static const uint16_t changes[] = {0, PARTITION_FULL};
    for (unsigned i = 0; i < 2; i++)
        for (unsigned slot = 0; slot < room; slot++) {
            uint16_t key = before[slot] ^ changes[i];
            if (!table[slot] && before[slot] & PARTITION_DEFAULT && take(partitions, keys, key))
                table[slot] = key;
        }
}

bool partitions_place(const struct partitions *partitions, struct partition_keys *keys,
                      const uint16_t *before, unsigned room, uint16_t *table)
{
    if (keys->keys.count > room)
        return false;
    memset(table, 0, room * sizeof *table);
    for (size_t i = 0; i < keys->touched.count; i++)
        keys->states.items[keys->touched.items[i]] &= (uint8_t)~PLACED;
    if (keys->first && take(partitions, keys, keys->first))
        table[0] = keys->first;
    keep_places(partitions, keys, before, room, table);
    for (unsigned from = 1; from < room && !table[0] && keys->keys.count; from++)
        if (table[from] == keys->keys.items[0]) {
            table[0] = table[from];
            table[from] = 0;
        }
    unsigned slot = 0;
    for (size_t i = 0; i < keys->keys.count; i++) {
        if (!take(partitions, keys, keys->keys.items[i]))
            continue;
        while (table[slot])
            slot++;
        table[slot] = keys->keys.items[i];
    }
    return true;
}
