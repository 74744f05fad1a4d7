/* Port lines, and the links between them.
 *
 *   [3]           "S-0002c902400a1b2c"[17]            # "leaf 3" lid 4 4xQDR
 *   [1](2c90300)  "S-0002c902400a1b2c"[5]             # lid 9 lmc 0 "leaf 3" lid 4 4xQDR
 *   [7][ext 12]   "H-0002c9030005f34e"[1](2c9030005f34f)   # "node17 HCA-1" lid 9 4xQDR s=4 w=2 v=3
 *   [2]           "far#Switch2"[4]  w=8 s=2           (ibsim)
 *   @[5]          "uplink"                            (ibsim: a name for this port)
 *   [2]           "far@uplink"                        (ibsim: a link to the port so named)
 *
 * Both ends of a link are listed and must name each other. In a net file one end may be missing
 * (ibsim requires both unless an alias is used). Between two nodes of a dump a missing end is an
 * error: the file was cut or badly edited.
 *
 * Width and speed: the annotation ("4xQDR") is the actual state of the link and takes precedence;
 * w=, s= and e= are masks of what the port enables, as in PortInfo. A link runs at the best setting
 * that both ends enable. An end without masks enables everything. */
#include "topology/formats/read.h"

#include <assert.h>
#include <string.h>

enum { ALL_WIDTHS = 31, ALL_SPEEDS = (1 << SPEED_COUNT) - 1 };

/* Any number of "[ext 12]" and "(guid)" behind a port number; returns the GUID. */
static bool scan_port_notes(char **at, uint64_t *guid)
{
    for (;;) {
        uint64_t number;
        char *c = *at;
        scan_blanks(&c);
        if (scan_word(&c, "[ext ")) {
            if (!scan_number(&c, &number) || *c++ != ']')
                return false;
        } else if (*c == '(') {
            c++;
            if (!scan_digits(&c, 16, guid) || *c++ != ')')
                return false;
        } else {
            return true;
        }
        *at = c;
    }
}

/* Returns the length of the word, of which at most size - 1 bytes are copied. */
static size_t copy_word(const char *at, char *word, size_t size)
{
    size_t length = 0;
    for (; at[length] && at[length] != ' ' && at[length] != '\t'; length++)
        if (length < size - 1)
            word[length] = at[length];
    word[length < size ? length : size - 1] = '\0';
    return length;
}

/* The value of w=, s= or e=: a mask, or a name such as 4x and EDR. */
static bool take_mask_option(char key, const char *value, struct link_end *end)
{
    uint64_t mask;
    char *at = (char *)value;
    enum link_width width;
    enum link_speed speed;
    uint16_t speeds;
    if (key == 'w' && link_width_parse(value, &width))
        return end->widths = (uint8_t)width, true;
    if (key != 'w' && link_speed_parse(value, &speed))
        return end->speeds |= 1u << speed, true;
    if (!scan_number(&at, &mask) || *at)
        return false;
    if (key == 'w')
        return widths_from_mask(mask, &end->widths);
    /* ibnetdiscover prints s=0 for ports with extended speeds only; ibsim reads it as QDR */
    if (key == 's' && mask == 0)
        mask = 1 << SPEED_QDR;
    if (!speeds_from_mask(key == 's' ? mask : 0, key == 'e' ? mask : 0, &speeds))
        return false;
    end->speeds |= speeds;
    return true;
}

/* One word of the form key=value. */
static int take_option(struct reader *reader, char *word, struct link_end *end)
{
    char *equals = strchr(word, '=');
    bool valid = true;
    if (strncmp(word, "length=", 7) == 0)
        valid = link_length_parse(word + 7, &end->length_mm);
    else if (equals == word + 1 && strchr("wse", word[0]))
        valid = take_mask_option(word[0], equals + 1, end);
    else if (equals != word + 1 || word[0] != 'v')
        return reader_fail(reader, "expected w=, s=, e=, v= or length=, not '%.40s'", word);
    return valid ? 0 : reader_fail(reader, "'%.40s' has an invalid value", word);
}

/* "4xQDR": enables everything up to it, so that the slower end decides. */
void link_end_enable(struct link_end *end, unsigned width, unsigned speed)
{
    unsigned most = link_width_multiple(width);
    end->widths = 0;
    for (unsigned bit = 1; bit <= ALL_WIDTHS && most; bit <<= 1)
        if (link_width_multiple(bit) <= most)
            end->widths |= (uint8_t)bit;
    end->speeds = speed == SPEED_COUNT ? 0 : (uint16_t)((2u << speed) - 1);
}

/* "4xQDR" */
static bool take_annotation(const char *word, struct link_end *end)
{
    enum link_width width;
    enum link_speed speed;
    const char *x = strchr(word, 'x');
    char width_name[8];
    if (!x || x - word > 2)
        return false;
    copy_word(word, width_name, (size_t)(x - word) + 2);
    if (!link_width_parse(width_name, &width) || !link_speed_parse(x + 1, &speed))
        return false;
    link_end_enable(end, width, speed);
    return true;
}

/* The text behind the peer's description: "lid 4 4xQDR s=4 w=2 v=3 slot 2". Other words are
 * ignored. */
static int take_tail(struct reader *reader, char *at, struct link_end *end)
{
    char word[64];
    struct link_end options = {0};
    bool annotated = false;
    for (scan_blanks(&at); *at; scan_blanks(&at)) {
        size_t length = copy_word(at, word, sizeof word);
        annotated |= take_annotation(word, end);
        if (strncmp(word, "length=", 7) == 0 ||
            (length > 1 && word[1] == '=' && strchr("wsev", word[0]))) {
            int error = take_option(reader, word, &options);
            if (error)
                return error;
        }
        at += length;
    }
    if (options.length_mm)
        end->length_mm = options.length_mm;
    if (!annotated) {
        end->widths = options.widths ? options.widths : end->widths;
        end->speeds = options.speeds ? options.speeds : end->speeds;
    }
    return 0;
}

/* The part of a port line behind the peer's name. */
static int take_peer(struct reader *reader, char *at, struct link_end *end)
{
    uint64_t number = 1; /* ibsim's default */
    scan_blanks(&at);
    if (*at == '[' && strncmp(at, "[ext", 4) != 0 && !scan_bracketed(&at, &number))
        return reader_fail(reader, "expected the peer's port number as [N]");
    if (number < 1 || number > TOPOLOGY_PORTS_PER_NODE)
        return reader_fail(reader, "the peer's port is %llu; expected 1 to %d",
                           (unsigned long long)number, TOPOLOGY_PORTS_PER_NODE);
    if (!scan_port_notes(&at, &end->peer_guid))
        return reader_fail(reader, "expected '(PORTGUID)' or '[ext N]' behind the peer's port");
    end->peer_port = (uint16_t)number;
    char *comment = strchr(at, '#'), word[64];
    for (scan_blanks(&at); *at && *at != '#'; scan_blanks(&at)) {
        at += copy_word(at, word, sizeof word);
        int error = take_option(reader, word, end);
        if (error)
            return error;
    }
    if (!comment)
        return 0;
    comment++;
    /* The comment of an adapter's port begins with its own LID; then comes the peer's description
     * in quotes, which may hold anything, quotes included. */
    struct topology_port *port = &reader->topology.ports.items[end->port];
    char *quote = strchr(comment, '"'), *last = strrchr(comment, '"');
    scan_blanks(&comment);
    if (reader->topology.nodes.items[port->node].kind != NODE_SWITCH) {
        int error = reader_take_lid(reader, comment, port);
        if (error)
            return error;
    } else if (quote && last > quote) {
        end->peer_text = arena_strdup(&reader->names, quote);
    }
    return quote && last > quote ? take_tail(reader, last + 1, end) : 0;
}

int reader_take_port(struct reader *reader, char *line)
{
    uint64_t number, guid = 0;
    char *name;
    bool is_alias = scan_word(&line, "@");
    if (reader->node == TOPOLOGY_NONE)
        return reader_fail(reader, "a port line outside of a node's record");
    const struct topology_node *node = &reader->topology.nodes.items[reader->node];
    if (!scan_bracketed(&line, &number))
        return reader_fail(reader, "expected a port number as [N]");
    if (number < 1 || number > node->port_count)
        return reader_fail(reader, "port %llu of \"%s\", which has ports 1 to %u",
                           (unsigned long long)number, node->name, node->port_count);
    struct link_end end = {
        .port = node->first_port + (uint32_t)number,
        .place = {reader->file, reader->lines->number},
        .widths = reader->widths,
        .target = TOPOLOGY_NONE,
    };
    if (!scan_port_notes(&line, &guid))
        return reader_fail(reader, "expected '(PORTGUID)' or '[ext N]' behind the port number");
    scan_blanks(&line);
    if (!scan_quoted(&line, &name) || !name[0])
        return reader_fail(reader, "expected the peer's name in quotes");
    struct err why;
    if (guid && node->kind != NODE_SWITCH &&
        topology_claim_guid(&reader->topology, end.port, guid, &why))
        return reader_fail(reader, "%s", why.message);
    const char *module = reader->module;
    if (is_alias) { /* @[5] "uplink": the port may be linked to as "module@uplink" */
        if (strpbrk(name, "#@"))
            return reader_fail(reader, "an alias has no '#' and no '@' in it");
        const char *full = arena_printf(&reader->names, "%s@%s", module, name);
        if (name_map_add(&reader->aliases, full, end.port) != end.port)
            return reader_fail(reader, "the alias \"%s\" is taken", name);
        return 0;
    }
    uint32_t earlier = reader->end_of_port.items[end.port];
    assert(earlier == TOPOLOGY_NONE || earlier < reader->ends.count);
    if (earlier != TOPOLOGY_NONE)
        return reader_fail(reader, "port %llu of \"%s\" is listed in line %u already",
                           (unsigned long long)number, node->name,
                           reader->ends.items[earlier].place.line);
    if (!module[0] || (name[0] != '@' && strpbrk(name, "#@")))
        end.peer_name = arena_strdup(&reader->names, name);
    else
        end.peer_name =
            arena_printf(&reader->names, "%s%s%s", module, name[0] == '@' ? "" : "#", name);
    int error = take_peer(reader, line, &end);
    if (error)
        return error;
    if (!end.speeds)
        end.speeds = reader->speeds;
    reader->end_of_port.items[end.port] = (uint32_t)reader->ends.count;
    vec_push(&reader->ends, end);
    return 0;
}

static int find_target(struct reader *reader, struct link_end *end)
{
    const struct topology *topology = &reader->topology;
    uint32_t node = name_map_get(&topology->by_name, end->peer_name);
    if (end->target != TOPOLOGY_NONE)
        return 0; /* of a list */
    if (node == MAP_NONE) {
        end->target = name_map_get(&reader->aliases, end->peer_name);
        if (end->target == MAP_NONE)
            return reader_fail_at(reader, end->place, "there is no node \"%s\"", end->peer_name);
    } else {
        if (end->peer_port > topology->nodes.items[node].port_count)
            return reader_fail_at(reader, end->place, "\"%s\" has no port %u, only 1 to %u",
                                  end->peer_name, end->peer_port,
                                  topology->nodes.items[node].port_count);
        end->target = topology->nodes.items[node].first_port + end->peer_port;
    }
    if (end->target == end->port)
        return reader_fail_at(reader, end->place, "the port is linked to itself");
    return 0;
}

bool reader_is_dumped(const struct reader *reader, uint32_t node)
{
    char key[NODE_KEY_BYTES];
    topology_node_key(&reader->topology.nodes.items[node], key);
    return strcmp(reader->topology.nodes.items[node].name, key) == 0;
}

/* Checks that both ends name each other. */
static int check_other_end(struct reader *reader, const struct link_end *end)
{
    const struct topology *topology = &reader->topology;
    uint32_t index = reader->end_of_port.items[end->target];
    const struct topology_node *peer =
        &topology->nodes.items[topology->ports.items[end->target].node];
    const char *name = reader->take_list_line ? peer->description : peer->name;
    unsigned number = topology_port_number(topology, end->target);
    if (index == TOPOLOGY_NONE) {
        if (!(reader->names_adapters && peer->kind == NODE_ADAPTER) &&
            reader_is_dumped(reader, topology->ports.items[end->port].node) &&
            reader_is_dumped(reader, topology->ports.items[end->target].node))
            return reader_fail_at(reader, end->place,
                                  "the link's other end, port %u of \"%s\", is not listed there",
                                  number, name);
        return 0;
    }
    const struct link_end *other = &reader->ends.items[index];
    if (other->target == end->port)
        return 0;
    return reader_fail_at(reader, end->place,
                          "the ends disagree: line %u says that port %u of \"%s\" is linked to "
                          "port %u of \"%s\"",
                          other->place.line, number, name,
                          topology_port_number(topology, other->target), other->peer_name);
}

static int take_peer_guid(struct reader *reader, const struct link_end *end)
{
    struct topology *topology = &reader->topology;
    const struct topology_port *port = &topology->ports.items[end->target];
    struct err why;
    if (!end->peer_guid || topology->nodes.items[port->node].kind == NODE_SWITCH ||
        port->guid == end->peer_guid)
        return 0;
    if (port->guid)
        return reader_fail_at(reader, end->place,
                              "the ends disagree: the peer's port GUID is 0x%llx, not 0x%llx",
                              (unsigned long long)port->guid, (unsigned long long)end->peer_guid);
    if (topology_claim_guid(topology, end->target, end->peer_guid, &why))
        return reader_fail_at(reader, end->place, "%s", why.message);
    return 0;
}

/* Sets the best width and speed that both ends enable; a mask of 0 enables everything. */
static int set_link_attributes(struct reader *reader, const struct link_end *end,
                               const struct link_end *other)
{
    struct topology_port *ports = reader->topology.ports.items;
    unsigned widths = (end->widths ? end->widths : ALL_WIDTHS) &
                      (other && other->widths ? other->widths : ALL_WIDTHS);
    unsigned speeds = (end->speeds ? end->speeds : ALL_SPEEDS) &
                      (other && other->speeds ? other->speeds : ALL_SPEEDS);
    struct topology_port *port = &ports[end->port], *peer = &ports[end->target];
    assert(port->peer == end->target && peer->peer == end->port);
    if (!widths || !speeds)
        return reader_fail_at(reader, end->place, "the ends of the link have no %s in common",
                              widths ? "speed" : "width");
    port->width_assumed = !end->widths && !(other && other->widths);
    port->speed_assumed = !end->speeds && !(other && other->speeds);
    if (!port->width_assumed) {
        port->width = 0;
        for (unsigned bit = 1; bit <= ALL_WIDTHS; bit <<= 1)
            if (widths & bit && link_width_multiple(bit) > link_width_multiple(port->width))
                port->width = (uint8_t)bit;
    }
    if (!port->speed_assumed)
        port->speed = (uint8_t)(31 - __builtin_clz(speeds));
    if (end->length_mm || (other && other->length_mm))
        port->length_mm = end->length_mm ? end->length_mm : other->length_mm;
    peer->width = port->width;
    peer->speed = port->speed;
    peer->width_assumed = port->width_assumed;
    peer->speed_assumed = port->speed_assumed;
    peer->length_mm = port->length_mm;
    return 0;
}

int reader_resolve_links(struct reader *reader)
{
    int error = 0;
    for (size_t i = 0; !error && i < reader->ends.count; i++)
        error = find_target(reader, &reader->ends.items[i]);
    for (size_t i = 0; !error && i < reader->ends.count; i++) {
        const struct link_end *end = &reader->ends.items[i];
        struct topology_port *port = &reader->topology.ports.items[end->port];
        struct err why;
        error = check_other_end(reader, end);
        if (!error)
            error = take_peer_guid(reader, end);
        if (error || port->peer == end->target)
            continue;
        uint32_t other = reader->end_of_port.items[end->target];
        if (topology_link(&reader->topology, end->port, end->target, &why))
            return reader_fail_at(reader, end->place, "%s", why.message);
        error = set_link_attributes(reader, end,
                                    other == TOPOLOGY_NONE ? NULL : &reader->ends.items[other]);
    }
    return error;
}
