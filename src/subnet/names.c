/* Makes names of nodes, ports and links from the subnet, and finds the node that a name or a GUID
 * means. A description that several nodes have finds none of them. */
#include "subnet/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DESCRIPTION_BYTES = 64 };

static bool is_unique(const struct subnet *subnet, uint32_t index)
{
    const struct subnet_node *node = &subnet->nodes.items[index];
    for (uint32_t i = 0; i < subnet->nodes.count; i++)
        if (i != index && subnet->nodes.items[i].present &&
            strncmp(subnet->nodes.items[i].description, node->description, DESCRIPTION_BYTES) == 0)
            return false;
    return true;
}

const char *subnet_node_label(const struct subnet *subnet, const struct subnet_node *node)
{
    const char *given = node_names_find(subnet->names, node->guid);
    return given ? given : node->description;
}

struct subnet_name subnet_node_name(const struct subnet *subnet, uint32_t index)
{
    const struct subnet_node *node = &subnet->nodes.items[index];
    const char *given = node_names_find(subnet->names, node->guid);
    struct subnet_name name;
    if (given)
        snprintf(name.text, sizeof name.text, "%s", given);
    else if (!node->description[0])
        snprintf(name.text, sizeof name.text, "0x%016llx", (unsigned long long)node->guid);
    else if (is_unique(subnet, index))
        snprintf(name.text, sizeof name.text, "%s", node->description);
    else
        snprintf(name.text, sizeof name.text, "%s (0x%016llx)", node->description,
                 (unsigned long long)node->guid);
    return name;
}

struct subnet_place subnet_at_node(const struct subnet *subnet, uint32_t node)
{
    return (struct subnet_place){.kind = SUBNET_AT_NODE, .guid = subnet->nodes.items[node].guid};
}

struct subnet_place subnet_at_port(const struct subnet *subnet, uint32_t port)
{
    const struct subnet_port *p = &subnet->ports.items[port];
    return (struct subnet_place){
        .kind = SUBNET_AT_PORT, .port = p->number, .guid = subnet->nodes.items[p->node].guid};
}

struct subnet_place subnet_at_link(const struct subnet *subnet, uint32_t port)
{
    const struct subnet_port *p = &subnet->ports.items[port];
    uint32_t peer = p->peer != SUBNET_NONE ? p->peer : p->last_peer;
    struct subnet_place place = subnet_at_port(subnet, port);
    if (peer == SUBNET_NONE)
        return place;
    place.kind = SUBNET_AT_LINK;
    place.peer_port = subnet->ports.items[peer].number;
    place.peer_guid = subnet->nodes.items[subnet->ports.items[peer].node].guid;
    return place;
}

bool subnet_same_place(const struct subnet_place *a, const struct subnet_place *b)
{
    return a->kind == b->kind && a->guid == b->guid && a->port == b->port;
}

/* The name of a node, and of one of its ports unless `port` is negative. */
static struct subnet_name name_of_guid(const struct subnet *subnet, uint64_t guid, int port)
{
    uint32_t node = map_get(&subnet->by_guid, guid);
    struct subnet_name name;
    if (node == MAP_NONE)
        snprintf(name.text, sizeof name.text, "0x%016llx", (unsigned long long)guid);
    else
        name = subnet_node_name(subnet, node);
    size_t length = strlen(name.text);
    if (port >= 0)
        snprintf(name.text + length, sizeof name.text - length, " port %d", port);
    return name;
}

static bool is_switch(const struct subnet *subnet, uint64_t guid)
{
    uint32_t node = map_get(&subnet->by_guid, guid);
    return node != MAP_NONE && subnet->nodes.items[node].kind == SUBNET_SWITCH;
}

struct subnet_name subnet_place_name(const struct subnet *subnet, const struct subnet_place *place)
{
    struct subnet_name near, far, name = {""};
    if (place->kind == SUBNET_NOWHERE)
        return name;
    near = name_of_guid(subnet, place->guid, place->kind == SUBNET_AT_NODE ? -1 : place->port);
    if (place->kind != SUBNET_AT_LINK)
        return near;
    far = name_of_guid(subnet, place->peer_guid, place->peer_port);
    bool near_switch = is_switch(subnet, place->guid),
         far_switch = is_switch(subnet, place->peer_guid),
         near_first = near_switch != far_switch ? near_switch : strcmp(near.text, far.text) < 0;
    snprintf(name.text, sizeof name.text, "%.105s <-> %.105s", near_first ? near.text : far.text,
             near_first ? far.text : near.text);
    return name;
}

struct subnet_name subnet_port_name(const struct subnet *subnet, uint32_t port)
{
    struct subnet_place place = subnet_at_port(subnet, port);
    return subnet_place_name(subnet, &place);
}

struct subnet_name subnet_link_name(const struct subnet *subnet, uint32_t port)
{
    struct subnet_place place = subnet_at_link(subnet, port);
    return subnet_place_name(subnet, &place);
}

uint32_t subnet_find_node(const struct subnet *subnet, const char *name)
{
    uint32_t found = SUBNET_NONE;
    char *end;
    uint64_t guid = strtoull(name, &end, 16);
    if (strncmp(name, "0x", 2) == 0 && !*end)
        return map_get(&subnet->by_guid, guid);
    guid = node_names_guid(subnet->names, name);
    if (guid && map_get(&subnet->by_guid, guid) != MAP_NONE)
        return map_get(&subnet->by_guid, guid);
    for (uint32_t i = 0; i < subnet->nodes.count; i++) {
        if (strcmp(subnet->nodes.items[i].description, name) != 0)
            continue;
        if (found != SUBNET_NONE)
            return SUBNET_NONE;
        found = i;
    }
    return found;
}

const char *subnet_kind_name(const struct subnet_node *node)
{
    return node->kind == SUBNET_SWITCH   ? "switch"
           : node->kind == SUBNET_ROUTER ? "router"
                                         : "adapter";
}
