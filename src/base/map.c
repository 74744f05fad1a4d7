/* The operations of both hash maps. Tables double before they are more than three quarters full,
 * and never shrink. Only integer keys can be removed. */
#include "base/map.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>

static size_t map_home(const struct map *map, uint64_t key)
{
    return hash_mix(key + 0x9e3779b97f4a7c15u) & (map->size - 1);
}

/* The slot that holds the key, or the free one where it would go. */
static struct map_slot *map_find(const struct map *map, uint64_t key)
{
    size_t at = map_home(map, key);
    while (map->slots[at].value != MAP_NONE && map->slots[at].key != key)
        at = (at + 1) & (map->size - 1);
    return &map->slots[at];
}

static void map_grow(struct map *map)
{
    assert((map->size & (map->size - 1)) == 0 && map->count <= map->size);
    if ((map->count + 1) * 4 <= map->size * 3)
        return;
    struct map old = *map;
    map->size = old.size ? old.size * 2 : 16;
    map->slots = mem_alloc(map->size * sizeof *map->slots);
    for (size_t i = 0; i < map->size; i++)
        map->slots[i] = (struct map_slot){.value = MAP_NONE};
    for (size_t i = 0; i < old.size; i++)
        if (old.slots[i].value != MAP_NONE)
            *map_find(map, old.slots[i].key) = old.slots[i];
    mem_free(old.slots);
}

uint32_t map_get(const struct map *map, uint64_t key)
{
    return map->size ? map_find(map, key)->value : MAP_NONE;
}

uint32_t map_add(struct map *map, uint64_t key, uint32_t value)
{
    assert(value != MAP_NONE);
    map_grow(map);
    struct map_slot *slot = map_find(map, key);
    if (slot->value == MAP_NONE) {
        *slot = (struct map_slot){key, value};
        map->count++;
    }
    return slot->value;
}

void map_set(struct map *map, uint64_t key, uint32_t value)
{
    assert(value != MAP_NONE);
    map_grow(map);
    struct map_slot *slot = map_find(map, key);
    map->count += slot->value == MAP_NONE;
    *slot = (struct map_slot){key, value};
}

bool map_remove(struct map *map, uint64_t key)
{
    if (!map->size)
        return false;
    size_t hole = (size_t)(map_find(map, key) - map->slots);
    if (map->slots[hole].value == MAP_NONE)
        return false;
    size_t mask = map->size - 1;
    for (size_t at = (hole + 1) & mask; map->slots[at].value != MAP_NONE; at = (at + 1) & mask) {
        size_t home = map_home(map, map->slots[at].key);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            map->slots[hole] = map->slots[at];
            hole = at;
        }
    }
    map->slots[hole].value = MAP_NONE;
    assert(map->count > 0);
    map->count--;
    return true;
}

void map_release(struct map *map)
{
    mem_free(map->slots);
    *map = (struct map){0};
}

static struct name_slot *name_find(const struct name_map *map, const char *name)
{
    size_t at = hash_mix(hash_fnv1a(name, strlen(name))) & (map->size - 1);
    while (map->slots[at].name && strcmp(map->slots[at].name, name) != 0)
        at = (at + 1) & (map->size - 1);
    return &map->slots[at];
}

uint32_t name_map_get(const struct name_map *map, const char *name)
{
    const struct name_slot *slot = map->size ? name_find(map, name) : NULL;
    return slot && slot->name ? slot->value : MAP_NONE;
}

uint32_t name_map_add(struct name_map *map, const char *name, uint32_t value)
{
    assert(name && value != MAP_NONE);
    if ((map->count + 1) * 4 > map->size * 3) {
        struct name_map old = *map;
        map->size = old.size ? old.size * 2 : 16;
        map->slots = mem_zalloc(map->size, sizeof *map->slots);
        for (size_t i = 0; i < old.size; i++)
            if (old.slots[i].name)
                *name_find(map, old.slots[i].name) = old.slots[i];
        mem_free(old.slots);
    }
    struct name_slot *slot = name_find(map, name);
    if (!slot->name) {
        *slot = (struct name_slot){name, value};
        map->count++;
    }
    return slot->value;
}

void name_map_release(struct name_map *map)
{
    mem_free(map->slots);
    *map = (struct name_map){0};
}
