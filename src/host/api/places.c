#include "host/api/api.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_BYTES = 256 };

void api_places_init(struct api_places *places, const struct topology *topology,
                     const struct api_links *links)
{
    *places = (struct api_places){.topology = topology, .links = links};
    const char **labels = topology_labels(topology);
    for (uint32_t i = 0; i < topology->nodes.count; i++)
        name_map_add(&places->by_label, labels[i], i);
    mem_free(labels);
}

void api_places_release(struct api_places *places)
{
    name_map_release(&places->by_label);
}

static uint32_t find_label(const struct api_places *places, const char *name, size_t length)
{
    char label[NAME_BYTES];
    if (length >= sizeof label)
        return TOPOLOGY_NONE;
    snprintf(label, sizeof label, "%.*s", (int)length, name);
    uint32_t node = name_map_get(&places->by_label, label);
    return node == MAP_NONE ? TOPOLOGY_NONE : node;
}

struct api_place api_place_of(const struct api_places *places, const char *text)
{
    const struct topology *topology = places->topology;
    const char *port = strstr(text, " port ");
    struct api_place place = {TOPOLOGY_NONE, TOPOLOGY_NONE};
    place.node = find_label(places, text, port ? (size_t)(port - text) : strlen(text));
    if (place.node == TOPOLOGY_NONE || !port)
        return place;
    unsigned long number = strtoul(port + strlen(" port "), NULL, 10);
    if (number <= topology->nodes.items[place.node].port_count)
        place.link =
            places->links->of_port[topology_port_index(topology, place.node, (unsigned)number)];
    return place;
}

uint32_t api_place_in(const struct api_places *places, const char *text)
{
    static const char separators[] = " \t'\",;:()";
    uint32_t found = TOPOLOGY_NONE;
    while (*text && found == TOPOLOGY_NONE) {
        text += strspn(text, separators);
        size_t length = strcspn(text, separators);
        found = length ? find_label(places, text, length) : TOPOLOGY_NONE;
        text += length;
    }
    return found;
}
