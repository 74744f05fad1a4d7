/* Makes a fabric of lists of ports.
 *
 * A list names nodes less well than ibnetdiscover's plain output does. Switches have one GUID in
 * all lists. An adapter is listed by the GUIDs of its ports where the list does not state the GUID
 * of the node: consecutive lines of one description are ports of one adapter if their GUIDs differ
 * by as much as their port numbers. The GUID of that adapter is then assumed to be that of port 1
 * minus 1, as in ibsim, unless another node or port has it. Plain iblinkinfo names the peer by LID
 * only; if LIDs are not assigned, by description.
 *
 * A node that only other nodes' lines name is an adapter (iblinkinfo --switches-only). Links are
 * made as those of a dump (read_links.c). */
#include "topology/formats/read.h"

#include <assert.h>
#include <string.h>

/* A node of the list; facts of the first line that states them. */
struct list_node {
    struct list_end facts;
    bool listed;    /* it has lines of its own */
    uint8_t ports;  /* the highest port number, at least */
    uint32_t index; /* in the topology */
};

struct list {
    struct reader *reader;
    VEC(struct list_node) nodes;
    struct map by_guid, by_lid, by_port; /* by_port: node << 8 | number to the index of its line */
    struct name_map by_name;
    VEC(uint8_t) repeated; /* by node: another one has the same description */
};

/* Copies a word that ends at a blank or a bracket; false if it is too long for a name. */
static bool copy_name(const char *word, char name[16])
{
    size_t length = strcspn(word, " )");
    return length < 16 && snprintf(name, 16, "%.*s", (int)length, word) > 0;
}

void list_take_rate(struct list_line *line, const char *width_word, const char *speed_word)
{
    static const struct {
        const char *text;
        enum link_speed speed;
    } rates[] = {
        {"2.5", SPEED_SDR},  {"5", SPEED_DDR},         {"5.0", SPEED_DDR}, {"10", SPEED_QDR},
        {"10.0", SPEED_QDR}, {"10.3125", SPEED_FDR10}, {"14", SPEED_FDR},  {"14.0625", SPEED_FDR},
        {"25", SPEED_EDR},   {"25.78125", SPEED_EDR},  {"50", SPEED_HDR},  {"53.125", SPEED_HDR},
        {"100", SPEED_NDR},  {"106.25", SPEED_NDR},    {"200", SPEED_XDR}, {"212.5", SPEED_XDR}};
    char name[16];
    enum link_width width = 0;
    enum link_speed speed = SPEED_COUNT;
    if (copy_name(width_word, name))
        link_width_parse(name, &width);
    if (copy_name(speed_word, name) && !link_speed_parse(name, &speed))
        for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
            if (strcmp(rates[i].text, name) == 0)
                speed = rates[i].speed;
    line->width = (uint8_t)width;
    line->speed = (uint8_t)speed;
}

bool list_scan_lid_and_port(char **at, struct list_end *end)
{
    uint64_t lid, number;
    char *c = *at;
    scan_blanks(&c);
    if (!scan_digits(&c, 10, &lid) || lid > UINT16_MAX)
        return false;
    scan_blanks(&c);
    if (!scan_digits(&c, 10, &number) || number > UINT8_MAX)
        return false;
    end->lid = (uint16_t)lid;
    end->number = (uint8_t)number;
    *at = c;
    return true;
}

int list_add(struct reader *reader, struct list_line line)
{
    if (line.own.number < 1 || line.own.number > TOPOLOGY_PORTS_PER_NODE ||
        (line.has_peer && (line.peer.number < 1 || line.peer.number > TOPOLOGY_PORTS_PER_NODE)))
        return reader_fail(reader, "a port number is not in 1 to %d", TOPOLOGY_PORTS_PER_NODE);
    if (line.own.lid > 0xbfff)
        line.own.lid = 0;
    if (line.peer.lid > 0xbfff)
        line.peer.lid = 0;
    line.place = (struct file_place){reader->file, reader->lines->number};
    vec_push(&reader->list_lines, line);
    return 0;
}

/* ---- nodes ---- */

static uint64_t guid_of(const struct list_end *end)
{
    return end->node_guid ? end->node_guid : end->port_guid;
}

/* Notes what an end tells of its node. */
static void learn(struct list *list, struct list_end *end, uint32_t node)
{
    assert(list->nodes.items && node < list->nodes.count);
    struct list_node *known = &list->nodes.items[node];
    struct list_end *facts = &known->facts;
    end->node = node;
    if (end->number > known->ports)
        known->ports = end->number;
    if (end->ports > known->ports)
        known->ports = end->ports;
    if (end->kind && !facts->kind)
        facts->kind = end->kind;
    if (end->system_guid && !facts->system_guid)
        facts->system_guid = end->system_guid;
    if (end->vendor_id && !facts->vendor_id)
        facts->vendor_id = end->vendor_id, facts->device_id = end->device_id;
    if (guid_of(end))
        map_add(&list->by_guid, guid_of(end), node);
    if (end->lid)
        map_add(&list->by_lid, end->lid, node);
}

static uint32_t add_list_node(struct list *list, const struct list_end *end, bool listed)
{
    uint32_t node = (uint32_t)list->nodes.count;
    struct list_node new = {.facts = *end, .listed = listed};
    vec_push(&list->nodes, new);
    uint32_t first = name_map_add(&list->by_name, end->description, node);
    *vec_at(&list->repeated, node) = 0;
    if (first != node)
        list->repeated.items[first] = 1;
    return node;
}

/* Whether this line is the next port of the adapter of the line before. */
static bool continues_adapter(const struct list_end *before, const struct list_end *end)
{
    int number = end->number - before->number;
    return end->kind == NODE_ADAPTER && before->kind == NODE_ADAPTER && !end->node_guid &&
           number != 0 && end->port_guid - before->port_guid == (uint64_t)(int64_t)number &&
           strcmp(end->description, before->description) == 0;
}

static int find_own_nodes(struct list *list)
{
    struct reader *reader = list->reader;
    for (uint32_t i = 0; i < reader->list_lines.count; i++) {
        struct list_line *line = &reader->list_lines.items[i];
        uint32_t node = map_get(&list->by_guid, guid_of(&line->own));
        if (!guid_of(&line->own))
            return reader_fail_at(reader, line->place, "a node's GUID cannot be 0");
        if (node == MAP_NONE && i && continues_adapter(&line[-1].own, &line->own))
            node = line[-1].own.node;
        if (node == MAP_NONE)
            node = add_list_node(list, &line->own, true);
        learn(list, &line->own, node);
        uint32_t earlier = map_add(&list->by_port, (uint64_t)node << 8 | line->own.number, i);
        if (earlier != i)
            return reader_fail_at(reader, line->place,
                                  "port %u of \"%s\" is listed in line %u already",
                                  line->own.number, line->own.description,
                                  reader->list_lines.items[earlier].place.line);
    }
    return 0;
}

static int find_peer_node(struct list *list, struct list_line *line)
{
    struct list_end *peer = &line->peer;
    uint32_t node = MAP_NONE;
    if (guid_of(peer)) {
        node = map_get(&list->by_guid, guid_of(peer));
    } else if (peer->lid) {
        node = map_get(&list->by_lid, peer->lid);
    } else {
        node = name_map_get(&list->by_name, peer->description);
        assert(node == MAP_NONE || list->repeated.items);
        if (node != MAP_NONE && list->repeated.items[node])
            return reader_fail_at(list->reader, line->place,
                                  "several nodes are named \"%s\", and the peer has no LID: "
                                  "expected the output of 'ibnetdiscover'",
                                  peer->description);
    }
    if (node == MAP_NONE && peer->kind != NODE_SWITCH) {
        if (!peer->kind)
            peer->kind = NODE_ADAPTER;
        node = add_list_node(list, peer, false);
    }
    if (node == MAP_NONE)
        return reader_fail_at(list->reader, line->place,
                              "the link's other end, port %u of \"%s\", is not listed",
                              peer->number, peer->description);
    learn(list, peer, node);
    return 0;
}

/* ---- the topology ---- */

static int fail_why(struct list *list, struct file_place place, const struct err *why)
{
    return reader_fail_at(list->reader, place, "%s", why->message);
}

/* The GUID of a node: that of the list, or the assumed one of an adapter. */
static uint64_t choose_guid(const struct list *list, const struct list_end *facts)
{
    if (facts->node_guid || facts->kind == NODE_SWITCH || !facts->port_guid)
        return guid_of(facts);
    uint64_t assumed = facts->port_guid - facts->number;
    bool taken = map_get(&list->by_guid, assumed) != MAP_NONE ||
                 map_get(&list->reader->topology.by_guid, assumed) != MAP_NONE;
    return assumed && !taken ? assumed : facts->port_guid;
}

/* Adds the nodes with a GUID, or those without one, which get the next free ones. */
static int add_nodes(struct list *list, bool with_guid)
{
    struct topology *topology = &list->reader->topology;
    struct err why;
    for (uint32_t i = 0; i < list->nodes.count; i++) {
        struct list_node *node = &list->nodes.items[i];
        const struct list_end *facts = &node->facts;
        if ((guid_of(facts) != 0) != with_guid)
            continue;
        if (topology_add_bare_node(topology, facts->kind, NULL, node->ports,
                                   choose_guid(list, facts), &node->index, &why))
            return fail_why(list, (struct file_place){0, 0}, &why);
        if (facts->description[0])
            topology_set_description(topology, node->index, facts->description,
                                     strlen(facts->description));
        struct topology_node *made = &topology->nodes.items[node->index];
        made->vendor_id = facts->vendor_id;
        made->device_id = facts->device_id;
        if (facts->system_guid)
            made->system_guid = facts->system_guid;
    }
    return 0;
}

/* The LID and the GUID of a port. */
static int set_port(struct list *list, const struct list_end *end, struct file_place place)
{
    struct topology *topology = &list->reader->topology;
    assert(list->nodes.items && topology->ports.items);
    uint32_t node = list->nodes.items[end->node].index;
    bool is_switch = topology->nodes.items[node].kind == NODE_SWITCH;
    uint32_t at = topology_port_index(topology, node, is_switch ? 0 : end->number);
    struct topology_port *port = &topology->ports.items[at];
    struct err why;
    if (end->lid)
        port->lid = end->lid;
    if (!end->port_guid || port->guid == end->port_guid)
        return 0;
    return topology_claim_guid(topology, at, end->port_guid, &why) ? fail_why(list, place, &why)
                                                                   : 0;
}

/* The ends of a link, for reader_resolve_links(). A node that is not listed has no lines of its
 * own: its end is that of the other node's line. */
static void add_link(struct list *list, const struct list_line *line)
{
    struct reader *reader = list->reader;
    assert(list->nodes.items && reader->end_of_port.items);
    const struct list_node *own = &list->nodes.items[line->own.node];
    const struct list_node *peer = &list->nodes.items[line->peer.node];
    struct link_end end = {
        .port = topology_port_index(&reader->topology, own->index, line->own.number),
        .target = topology_port_index(&reader->topology, peer->index, line->peer.number),
        .place = line->place,
        .peer_name = peer->facts.description,
    };
    link_end_enable(&end, line->width, line->speed);
    reader->end_of_port.items[end.port] = (uint32_t)reader->ends.count;
    vec_push(&reader->ends, end);
    if (peer->listed || reader->end_of_port.items[end.target] != TOPOLOGY_NONE)
        return;
    reader->end_of_port.items[end.target] = (uint32_t)reader->ends.count;
    uint32_t port = end.port;
    end.port = end.target;
    end.target = port;
    end.peer_name = own->facts.description;
    vec_push(&reader->ends, end);
}

int list_resolve(struct reader *reader)
{
    struct list list = {.reader = reader};
    bool has_links = false;
    /* iblinkinfo --line does not tell the kind of a node: only switches have several lines of a
     * GUID. */
    struct map lines = {0};
    for (uint32_t i = 0; i < reader->list_lines.count; i++) {
        struct list_end *own = &reader->list_lines.items[i].own;
        uint32_t first = own->kind ? i : map_add(&lines, guid_of(own), i);
        if (first != i)
            own->kind = reader->list_lines.items[first].own.kind = NODE_SWITCH;
    }
    for (uint32_t i = 0; i < reader->list_lines.count; i++)
        if (!reader->list_lines.items[i].own.kind)
            reader->list_lines.items[i].own.kind = NODE_ADAPTER;
    map_release(&lines);
    for (size_t i = 0; i < reader->list_lines.count; i++)
        has_links |= reader->list_lines.items[i].has_peer;
    if (!has_links)
        return reader_fail_at(reader, (struct file_place){0, 0}, "no port of this list has a peer");
    int error = find_own_nodes(&list);
    for (size_t i = 0; !error && i < reader->list_lines.count; i++)
        if (reader->list_lines.items[i].has_peer)
            error = find_peer_node(&list, &reader->list_lines.items[i]);
    if (!error)
        error = add_nodes(&list, true);
    for (size_t i = 0; !error && i < reader->list_lines.count; i++) {
        const struct list_line *line = &reader->list_lines.items[i];
        error = set_port(&list, &line->own, line->place);
        /* the port of an unlisted peer */
        if (!error && line->has_peer && !list.nodes.items[line->peer.node].listed &&
            guid_of(&line->peer))
            error = set_port(&list, &line->peer, line->place);
    }
    if (!error)
        error = add_nodes(&list, false);
    while (reader->end_of_port.count < reader->topology.ports.count)
        vec_push(&reader->end_of_port, TOPOLOGY_NONE);
    for (size_t i = 0; !error && i < reader->list_lines.count; i++)
        if (reader->list_lines.items[i].has_peer)
            add_link(&list, &reader->list_lines.items[i]);
    vec_release(&list.nodes);
    vec_release(&list.repeated);
    map_release(&list.by_guid);
    map_release(&list.by_lid);
    map_release(&list.by_port);
    name_map_release(&list.by_name);
    return error;
}
