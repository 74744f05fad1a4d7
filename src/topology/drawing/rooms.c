/* See rooms.h. Every name is split once; each depth of places needs one pass with a hash map. */
#include "topology/drawing/rooms.h"

#include <stdlib.h>

enum { DEPTHS = 6 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Bytes of UTF-8 beyond ASCII count as letters: no character is split. */
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
}

static bool is_separator(char c)
{
    return !is_digit(c) && !is_letter(c);
}

/* The length of the first `depth` places of a name; 0: it has fewer, or nothing follows them. */
static size_t place_length(const char *name, unsigned depth)
{
    for (size_t i = 1; *name && name[i]; i++) {
        bool ends = is_separator(name[i]) ? !is_separator(name[i - 1])
                                          : is_digit(name[i - 1]) && is_letter(name[i]);
        if (!ends || --depth)
            continue;
        size_t next = i;
        while (name[next] && is_separator(name[next]))
            next++;
        return name[next] ? i : 0;
    }
    return 0;
}

/* The description, unless it is none: a node that has only a GUID is in no room. */
static const char *switch_name(const struct topology *topology, uint32_t node)
{
    char key[NODE_KEY_BYTES];
    const char *name = topology_label(topology, node);
    topology_node_key(&topology->nodes.items[node], key);
    return strcmp(name, key) == 0 ? "" : name;
}

/* Text with numbers by their value: "r2" is before "r10". */
static int compare_names(const char *a, const char *b)
{
    while (*a && *b) {
        if (is_digit(*a) && is_digit(*b)) {
            a += strspn(a, "0");
            b += strspn(b, "0");
            size_t digits = strspn(a, "0123456789"), others = strspn(b, "0123456789");
            int order = digits != others ? (digits < others ? -1 : 1) : strncmp(a, b, digits);
            if (order)
                return order;
            a += digits;
            b += others;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++, b++;
        }
    }
    return (*a != 0) - (*b != 0);
}

struct named {
    const char *name;
    uint32_t index, room; /* rooms are sorted with room 0 */
};

/* By room, then by name; names that differ only in leading zeros keep their order in the file. */
static int compare_named(const void *one, const void *other)
{
    const struct named *a = one, *b = other;
    if (a->room != b->room)
        return a->room < b->room ? -1 : 1;
    int order = compare_names(a->name, b->name);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

struct depth {
    uint32_t *room; /* by switch; TOPOLOGY_NONE: none */
    const char **name;
    uint32_t count, named; /* rooms; switches in one */
};

static struct depth split_names(const char *const *names, uint32_t count, unsigned depth,
                                struct arena *memory)
{
    struct depth found = {
        .room = arena_alloc(memory, (count + 1) * sizeof *found.room),
        .name = arena_alloc(memory, (count + 1) * sizeof *found.name),
    };
    struct name_map map = {0};
    for (uint32_t i = 0; i < count; i++) {
        size_t length = place_length(names[i], depth);
        found.room[i] = TOPOLOGY_NONE;
        if (!length)
            continue;
        char *place = arena_strndup(memory, names[i], length);
        found.room[i] = name_map_add(&map, place, found.count);
        if (found.room[i] == found.count)
            found.name[found.count++] = place;
        found.named++;
    }
    name_map_release(&map);
    return found;
}

static bool has_rooms(const struct depth *depth, uint32_t switches)
{
    return depth->count >= 2 && 2 * depth->count <= depth->named && 2 * depth->named >= switches;
}

/* How far the number of rooms is from the square root of the number of switches: a ratio. */
static double distance_from_root(uint32_t rooms, uint32_t switches)
{
    double square = (double)rooms * rooms;
    return square > switches ? square / switches : switches / square;
}

void rooms_find(struct rooms *rooms, const struct topology *topology, const struct graph *graph)
{
    uint32_t count = graph->switch_count;
    *rooms = (struct rooms){0};
    const char **names = arena_alloc(&rooms->memory, (count + 1) * sizeof *names);
    struct depth best = {0};
    for (uint32_t i = 0; i < count; i++)
        names[i] = switch_name(topology, graph->node[i]);
    for (unsigned depth = 1; depth <= DEPTHS; depth++) {
        struct depth found = split_names(names, count, depth, &rooms->memory);
        if (has_rooms(&found, count) && (!best.count || distance_from_root(found.count, count) <
                                                            distance_from_root(best.count, count)))
            best = found;
        if (!found.named)
            break;
    }
    if (!best.count)
        return;
    rooms->name = arena_alloc(&rooms->memory, best.count * sizeof *rooms->name);
    rooms->of = arena_alloc(&rooms->memory, count * sizeof *rooms->of);
    rooms->order = arena_alloc(&rooms->memory, count * sizeof *rooms->order);
    /* Numbers the rooms by their names, and orders the switches by room and name. */
    struct named *list = mem_alloc((count + 1) * sizeof *list);
    uint32_t *rank = mem_alloc((best.count + 1) * sizeof *rank);
    for (uint32_t i = 0; i < best.count; i++)
        list[i] = (struct named){best.name[i], i, 0};
    qsort(list, best.count, sizeof *list, compare_named);
    for (uint32_t i = 0; i < best.count; i++) {
        rank[list[i].index] = i;
        rooms->name[i] = list[i].name;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t room = best.room[i] == TOPOLOGY_NONE ? TOPOLOGY_NONE : rank[best.room[i]];
        rooms->of[i] = room == TOPOLOGY_NONE ? -1 : (int32_t)room;
        list[i] = (struct named){names[i], i, room};
    }
    qsort(list, count, sizeof *list, compare_named);
    for (uint32_t i = 0; i < count; i++)
        rooms->order[i] = list[i].index;
    rooms->count = best.count;
    mem_free(list);
    mem_free(rank);
}

void rooms_release(struct rooms *rooms)
{
    arena_release(&rooms->memory);
    *rooms = (struct rooms){0};
}
