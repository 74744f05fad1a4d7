/* Parses the administrator's file of node names and looks names up in both directions: by GUID with
 * a map, by name with a linear search. */
#include "subnet/node_names.h"

#include <stdlib.h>

static int read_name(struct node_names *names, struct cursor *line)
{
    struct word guid, name;
    char *end;
    cursor_take(line, "a GUID", &guid);
    cursor_take(line, "a name", &name);
    if (cursor_take_end(line) < 0)
        return line->status;
    struct node_name entry = {.guid = strtoull(guid.text, &end, 16)};
    if (*end || !entry.guid)
        return word_error(line, &guid, "'%s': expected a GUID such as 0x0002c90300001234",
                          guid.text);
    if (!*name.text)
        return word_error(line, &name, "the name is empty");
    snprintf(entry.text, sizeof entry.text, "%s", name.text);
    map_set(&names->by_guid, entry.guid, (uint32_t)names->items.count);
    vec_push(&names->items, entry);
    return 0;
}

int node_names_read(struct node_names *names, struct line_reader *lines)
{
    struct cursor line;
    *names = (struct node_names){0};
    while (line_reader_next(lines, &line))
        lines->status = read_name(names, &line);
    if (lines->status < 0)
        node_names_release(names);
    return lines->status;
}

void node_names_release(struct node_names *names)
{
    map_release(&names->by_guid);
    vec_release(&names->items);
    *names = (struct node_names){0};
}

const char *node_names_find(const struct node_names *names, uint64_t guid)
{
    uint32_t index = names ? map_get(&names->by_guid, guid) : MAP_NONE;
    return index == MAP_NONE ? NULL : names->items.items[index].text;
}

uint64_t node_names_guid(const struct node_names *names, const char *name)
{
    for (size_t i = 0; names && i < names->items.count; i++)
        if (strcmp(names->items.items[i].text, name) == 0)
            return names->items.items[i].guid;
    return 0;
}
