/* The fabric description itself: adding nodes, naming them, linking their ports.
 *
 * This file enforces that names, node GUIDs and port GUIDs are unique. Missing GUIDs follow the
 * scheme of ibsim, so that tools see the same net file in both simulators: adapters count from
 * 0x100000 and take one GUID for the node and one for each port, switches count from 0x200000 and
 * take one in all. (ibsim starts routers at 0, which is not a GUID; here they start at 0x300000.)
 */
#include "topology/topology.h"

#include "base/parse.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void topology_init(struct topology *topology)
{
    *topology = (struct topology){
        .next_guid =
            {[NODE_ADAPTER] = 0x100000, [NODE_SWITCH] = 0x200000, [NODE_ROUTER] = 0x300000},
    };
}

void topology_release(struct topology *topology)
{
    if (!topology)
        return;
    vec_release(&topology->nodes);
    vec_release(&topology->ports);
    name_map_release(&topology->by_name);
    map_release(&topology->by_guid);
    arena_release(&topology->strings);
}

static int check_new_node(const struct topology *topology, const char *name, unsigned port_count,
                          struct err *err)
{
    size_t length = strlen(name);
    bool valid = length > 0 && length <= TOPOLOGY_NAME_BYTES;
    for (size_t shown, i = 0; valid && name[i]; i += shown) {
        shown = text_shown_length(name + i);
        valid = shown && name[i] != '"';
    }
    if (!valid)
        return err_set(err, EINVAL,
                       "a node's name has 1 to %d bytes of UTF-8, no quotes and no control "
                       "characters",
                       TOPOLOGY_NAME_BYTES);
    if (port_count == 0 || port_count > TOPOLOGY_PORTS_PER_NODE)
        return err_set(err, EINVAL, "a node has 1 to %d ports, not %u", TOPOLOGY_PORTS_PER_NODE,
                       port_count);
    if (topology->nodes.count >= TOPOLOGY_MAX_NODES)
        return err_set(err, EFBIG, "more than %d nodes", TOPOLOGY_MAX_NODES);
    if (topology->ports.count + port_count + 1 > TOPOLOGY_MAX_PORTS)
        return err_set(err, EFBIG, "more than %d ports", TOPOLOGY_MAX_PORTS);
    if (name_map_get(&topology->by_name, name) != MAP_NONE)
        return err_set(err, EEXIST, "there is already a node \"%s\"", name);
    return 0;
}

static int check_guid_is_free(const struct topology *topology, uint64_t guid, struct err *err)
{
    uint32_t owner = map_get(&topology->by_guid, guid);
    if (owner == MAP_NONE)
        return 0;
    return err_set(err, EEXIST, "GUID 0x%016llx belongs to node \"%s\" already",
                   (unsigned long long)guid, topology->nodes.items[owner].name);
}

/* A switch has one GUID; other nodes have one more for each port. */
static unsigned guid_count(enum node_kind kind, unsigned port_count)
{
    return kind == NODE_SWITCH ? 1 : port_count + 1;
}

int topology_add_bare_node(struct topology *topology, enum node_kind kind, const char *name,
                           unsigned port_count, uint64_t guid, uint32_t *index, struct err *err)
{
    char key[NODE_KEY_BYTES];
    if (!guid) { /* the first of a free range for the node and its ports */
        uint64_t next = topology->next_guid[kind];
        for (guid = next; next < guid + guid_count(kind, port_count); next++)
            if (map_get(&topology->by_guid, next) != MAP_NONE)
                guid = next + 1;
        topology->next_guid[kind] = next;
    }
    struct topology_node node = {
        .guid = guid,
        .system_guid = guid,
        .first_port = (uint32_t)topology->ports.count,
        .kind = (uint8_t)kind,
        .port_count = (uint8_t)port_count,
    };
    if (!name) {
        topology_node_key(&node, key);
        name = key;
    }
    int error = check_new_node(topology, name, port_count, err);
    if (!error)
        error = check_guid_is_free(topology, guid, err);
    if (error)
        return error;
    uint32_t at = (uint32_t)topology->nodes.count;
    node.name = arena_strdup(&topology->strings, name);
    vec_push(&topology->nodes, node);
    topology_set_description(topology, at, name, strlen(name));
    struct topology_port port = {
        .node = at,
        .peer = TOPOLOGY_NONE,
        .shares = TOPOLOGY_NONE,
        .length_mm = TOPOLOGY_LENGTH_MM,
        .width = WIDTH_4X,
        .speed = SPEED_SDR,
    };
    for (unsigned i = 0; i <= port_count; i++)
        vec_push(&topology->ports, port);
    assert(topology->ports.count == node.first_port + port_count + 1);
    name_map_add(&topology->by_name, node.name, at);
    map_add(&topology->by_guid, guid, at);
    if (index)
        *index = at;
    return 0;
}

int topology_add_node(struct topology *topology, enum node_kind kind, const char *name,
                      unsigned port_count, uint64_t guid, uint32_t *index, struct err *err)
{
    for (unsigned i = 1; guid && i < guid_count(kind, port_count); i++) {
        int error = check_guid_is_free(topology, guid + i, err);
        if (error)
            return error;
    }
    uint32_t node;
    int error = topology_add_bare_node(topology, kind, name, port_count, guid, &node, err);
    if (error)
        return error;
    uint64_t first = topology->nodes.items[node].guid;
    struct topology_port *ports = topology->ports.items + topology->nodes.items[node].first_port;
    for (unsigned i = 0; i <= port_count; i++) {
        ports[i].guid = kind == NODE_SWITCH ? (i ? 0 : first) : (i ? first + i : 0);
        if (ports[i].guid)
            map_add(&topology->by_guid, ports[i].guid, node);
    }
    if (index)
        *index = node;
    return 0;
}

int topology_claim_guid(struct topology *topology, uint32_t port, uint64_t guid, struct err *err)
{
    assert(port < topology->ports.count);
    uint32_t owner = topology->ports.items[port].node;
    const struct topology_node *node = &topology->nodes.items[owner];
    if (!guid)
        return err_set(err, EINVAL, "a port GUID of 0 is none");
    if (map_add(&topology->by_guid, guid, owner) != owner)
        return check_guid_is_free(topology, guid, err);
    for (unsigned i = 0; i <= node->port_count; i++)
        if (node->first_port + i != port &&
            topology->ports.items[node->first_port + i].guid == guid)
            return err_set(err, EEXIST, "GUID 0x%016llx belongs to port %u already",
                           (unsigned long long)guid, i);
    topology->ports.items[port].guid = guid;
    return 0;
}

void topology_fill_port_guids(struct topology *topology)
{
    for (uint32_t at = 0; at < topology->nodes.count; at++) {
        const struct topology_node *node = &topology->nodes.items[at];
        struct topology_port *ports = topology->ports.items + node->first_port;
        if (node->kind == NODE_SWITCH) {
            if (!ports[0].guid)
                ports[0].guid = node->guid;
            continue;
        }
        for (unsigned i = 1; i <= node->port_count; i++) {
            uint64_t guid = node->guid + i;
            if (ports[i].guid)
                continue;
            while (guid == 0 || map_get(&topology->by_guid, guid) != MAP_NONE)
                guid += UINT64_C(1) << 32;
            ports[i].guid = guid;
            map_add(&topology->by_guid, guid, at);
        }
    }
}

void topology_set_description(struct topology *topology, uint32_t node, const char *text,
                              size_t length)
{
    assert(node < topology->nodes.count);
    if (length > TOPOLOGY_DESCRIPTION_BYTES) {
        length = TOPOLOGY_DESCRIPTION_BYTES;
        for (int i = 0; i < 3 && ((unsigned char)text[length] & 0xc0) == 0x80; i++)
            length--;
    }
    char *copy = arena_strndup(&topology->strings, text, length);
    text_make_shown(copy);
    topology->nodes.items[node].description = copy;
}

int topology_link(struct topology *topology, uint32_t a, uint32_t b, struct err *err)
{
    struct topology_port *ports = topology->ports.items;
    if (a >= topology->ports.count || b >= topology->ports.count || a == b)
        return err_set(err, EINVAL, "a link joins two different ports");
    uint32_t ends[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        const char *name = topology->nodes.items[ports[ends[i]].node].name;
        unsigned number = topology_port_number(topology, ends[i]);
        if (number == 0)
            return err_set(err, EINVAL, "port 0 of \"%s\" takes no link", name);
        if (ports[ends[i]].peer != TOPOLOGY_NONE)
            return err_set(err, EBUSY, "port %u of \"%s\" has a link already", number, name);
    }
    ports[a].peer = b;
    ports[b].peer = a;
    assert(ports[ports[a].peer].peer == a);
    return 0;
}

uint32_t topology_find(const struct topology *topology, const char *text)
{
    uint32_t found;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && text[2]) {
        char *end;
        uint64_t guid = strtoull(text, &end, 16);
        if (!*end && (found = map_get(&topology->by_guid, guid)) != MAP_NONE)
            return found;
    }
    found = name_map_get(&topology->by_name, text);
    if (found != MAP_NONE)
        return found;
    found = TOPOLOGY_NONE;
    for (uint32_t i = 0; i < topology->nodes.count; i++) {
        if (strcmp(topology->nodes.items[i].description, text) != 0)
            continue;
        if (found != TOPOLOGY_NONE)
            return TOPOLOGY_NONE;
        found = i;
    }
    return found;
}

const char *topology_label(const struct topology *topology, uint32_t node)
{
    assert(node < topology->nodes.count);
    const struct topology_node *n = &topology->nodes.items[node];
    return topology_find(topology, n->description) == node ? n->description : n->name;
}

/* As topology_label() of each node, without a search for each. */
const char **topology_labels(const struct topology *topology)
{
    size_t count = topology->nodes.count;
    const char **labels = mem_alloc((count + 1) * sizeof *labels);
    bool *shared = mem_zalloc(count + 1, sizeof *shared);
    struct name_map first = {0};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = name_map_add(&first, topology->nodes.items[i].description, i);
        shared[i] = shared[other] = shared[other] || other != i;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct topology_node *node = &topology->nodes.items[i];
        bool may_be_other = strncmp(node->description, "0x", 2) == 0 ||
                            name_map_get(&topology->by_name, node->description) != MAP_NONE;
        labels[i] = may_be_other ? topology_label(topology, i)
                    : shared[i]  ? node->name
                                 : node->description;
    }
    name_map_release(&first);
    mem_free(shared);
    return labels;
}

void topology_node_key(const struct topology_node *node, char key[NODE_KEY_BYTES])
{
    /* Not by snprintf(), which costs ten times as much: each node of a file has a key. */
    key[0] = "?HSR"[node->kind & 3];
    key[1] = '-';
    for (unsigned i = 0; i < 16; i++)
        key[2 + i] = "0123456789abcdef"[node->guid >> (60 - 4 * i) & 15];
    key[18] = 0;
}

static const struct {
    enum link_width width;
    unsigned multiple;
    const char *name;
} widths[] = {
    {WIDTH_1X, 1, "1x"}, {WIDTH_2X, 2, "2x"},    {WIDTH_4X, 4, "4x"},
    {WIDTH_8X, 8, "8x"}, {WIDTH_12X, 12, "12x"},
};

unsigned link_width_multiple(enum link_width width)
{
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        if (widths[i].width == width)
            return widths[i].multiple;
    return 0;
}

const char *link_width_name(enum link_width width)
{
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        if (widths[i].width == width)
            return widths[i].name;
    return "??";
}

bool link_width_parse(const char *name, enum link_width *width)
{
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        if (widths[i].name[0] == name[0] && strcasecmp(widths[i].name, name) == 0)
            return *width = widths[i].width, true;
    return false;
}

bool link_length_parse(const char *text, uint32_t *mm)
{
    enum { MOST_MM = 100000000 };
    char digits[16];
    size_t length = strspn(text, "0123456789");
    uint64_t number;
    if (length >= sizeof digits)
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    bool metres = strcmp(text + length, "m") == 0;
    if ((!metres && strcmp(text + length, "mm") != 0) || !parse_number(digits, &number))
        return false;
    number *= metres ? 1000 : 1;
    *mm = (uint32_t)number;
    return number >= 1 && number <= MOST_MM;
}

/* Data rate of 1x after line coding: 8b/10b up to QDR, 64b/66b from FDR10 to EDR; from HDR on,
 * after forward error correction. */
static const struct {
    const char *name;
    uint64_t bits_per_second;
} speeds[SPEED_COUNT] = {
    [SPEED_SDR] = {"SDR", 2000000000},   [SPEED_DDR] = {"DDR", 4000000000},
    [SPEED_QDR] = {"QDR", 8000000000},   [SPEED_FDR10] = {"FDR10", 10000000000},
    [SPEED_FDR] = {"FDR", 13636363636},  [SPEED_EDR] = {"EDR", 25000000000},
    [SPEED_HDR] = {"HDR", 50000000000},  [SPEED_NDR] = {"NDR", 100000000000},
    [SPEED_XDR] = {"XDR", 200000000000},
};

const char *link_speed_name(enum link_speed speed)
{
    return speed < SPEED_COUNT ? speeds[speed].name : "???";
}

bool link_speed_parse(const char *name, enum link_speed *speed)
{
    for (unsigned i = 0; i < SPEED_COUNT; i++)
        if ((speeds[i].name[0] | 32) == (name[0] | 32) && strcasecmp(speeds[i].name, name) == 0)
            return *speed = i, true;
    return false;
}

uint64_t link_data_rate(enum link_width width, enum link_speed speed)
{
    return speed < SPEED_COUNT ? link_width_multiple(width) * speeds[speed].bits_per_second : 0;
}

uint64_t topology_link_rate(const struct topology *topology, uint32_t port)
{
    const struct topology_port *here = &topology->ports.items[port];
    assert(here->peer != TOPOLOGY_NONE);
    const struct topology_port *there = &topology->ports.items[here->peer];
    uint64_t own = link_data_rate(here->width, here->speed);
    uint64_t other = link_data_rate(there->width, there->speed);
    return own < other ? own : other;
}
