/* Reads and writes dumps of forwarding tables. */
#include "routing/files/lfts.h"

#include "base/map.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { FILE_LIMIT = 2000000000 };

struct lfts_reader {
    struct routes *routes;
    const struct network *network;
    struct line_reader *lines;
    struct map by_guid;
    bool *seen;  /* by switch */
    uint32_t at; /* switch of the current block, or NETWORK_NONE */
};

static int read_switch_header(struct lfts_reader *reader, const char *line)
{
    const char *word = strstr(line, "guid 0x");
    if (!word)
        return line_reader_error(reader->lines, "expected the switch's \"guid 0x...\"");
    uint64_t guid = strtoull(word + strlen("guid "), NULL, 16);
    reader->at = map_get(&reader->by_guid, guid);
    if (reader->at == MAP_NONE)
        return line_reader_error(reader->lines, "the network has no switch 0x%016" PRIx64, guid);
    if (reader->seen[reader->at])
        return line_reader_error(reader->lines, "a second table for switch 0x%016" PRIx64, guid);
    reader->seen[reader->at] = true;
    return 0;
}

static int read_lft_entry(struct lfts_reader *reader, const char *line)
{
    char *end;
    uint64_t lid = strtoull(line, &end, 16), port = 0;
    const char *rest = end + strspn(end, " \t");
    bool sound = rest > end && isdigit((unsigned char)*rest);
    if (sound)
        port = strtoull(rest, &end, 10);
    if (!sound || (*end && !isspace((unsigned char)*end)))
        return line_reader_error(reader->lines, "expected \"0x<lid> <port>\"");
    if (reader->at == NETWORK_NONE)
        return line_reader_error(reader->lines, "an entry before the first switch");
    if (lid > NETWORK_TOP_LID)
        return line_reader_error(reader->lines, "0x%" PRIx64 " is not a unicast LID", lid);
    if (port == PORT_NONE)
        return 0;
    if (port > reader->network->switches.items[reader->at].port_count)
        return line_reader_error(reader->lines, "the switch has no port %" PRIu64, port);
    if (lid < reader->routes->stride)
        routes_row(reader->routes, reader->at)[lid] = (uint8_t)port;
    return 0;
}

int lfts_read(struct routes *routes, const struct network *network, struct line_reader *lines)
{
    struct lfts_reader reader = {
        .routes = routes,
        .network = network,
        .lines = lines,
        .at = NETWORK_NONE,
        .seen = mem_zalloc(network->switches.count + 1, sizeof *reader.seen),
    };
    lines->limit = FILE_LIMIT;
    routes_init(routes, network, "lfts");
    for (uint32_t i = 0; i < network->switches.count; i++)
        map_add(&reader.by_guid, network->switches.items[i].guid, i);
    while (line_reader_next_line(lines)) {
        const char *line = lines->copy + strspn(lines->copy, " \t");
        if (strncmp(line, "Unicast lids", strlen("Unicast lids")) == 0)
            read_switch_header(&reader, line);
        else if (strncmp(line, "0x", 2) == 0)
            read_lft_entry(&reader, line);
    }
    map_release(&reader.by_guid);
    mem_free(reader.seen);
    if (lines->status)
        routes_release(routes);
    return lines->status;
}

static void note_owner(struct line_reader *lines, uint64_t *guids, uint64_t lid, uint64_t guid)
{
    if (lid == 0 || lid > NETWORK_TOP_LID)
        return;
    if (guids[lid] && guids[lid] != guid)
        line_reader_error(lines, "LID %" PRIu64 " has two owners", lid);
    guids[lid] = guid;
}

/* "Unicast lids [0-6] of switch Lid 1 guid 0x...", "0x0001 000 # Switch portguid 0x..." */
int lfts_read_owners(uint64_t *guids, struct line_reader *lines)
{
    bool any = false;
    lines->limit = FILE_LIMIT;
    memset(guids, 0, (NETWORK_TOP_LID + 1u) * sizeof *guids);
    while (line_reader_next_line(lines)) {
        const char *line = lines->copy + strspn(lines->copy, " \t");
        const char *lid = strstr(line, "Lid "), *guid = strstr(line, " guid 0x");
        const char *port = strncmp(line, "0x", 2) == 0 ? strstr(line, "portguid 0x") : NULL;
        bool header = strncmp(line, "Unicast lids", strlen("Unicast lids")) == 0;
        any |= header;
        if (header && lid && guid)
            note_owner(lines, guids, strtoull(lid + strlen("Lid "), NULL, 10),
                       strtoull(guid + strlen(" guid "), NULL, 16));
        else if (port)
            note_owner(lines, guids, strtoull(line, NULL, 16),
                       strtoull(port + strlen("portguid "), NULL, 16));
    }
    if (lines->status == 0 && !any)
        return err_set(lines->err, EINVAL, "%s has no forwarding tables ('Unicast lids ...')",
                       lines->file);
    return lines->status;
}

/* "0x0001 000". Faster than printf: these are most of the bytes. */
static void write_entry(struct text *out, uint32_t lid, uint8_t port)
{
    static const char digits[] = "0123456789abcdef";
    char entry[] = "0x0000 000 # ";
    for (int i = 0; i < 4; i++)
        entry[2 + i] = digits[lid >> (12 - 4 * i) & 15];
    entry[7] = (char)('0' + port / 100);
    entry[8] = (char)('0' + port / 10 % 10);
    entry[9] = (char)('0' + port % 10);
    text_append(out, entry, sizeof entry - 1);
}

/* The end of a line: the owner of a LID, as in every table. */
static void write_owner(const struct network *network, uint32_t lid, struct text *out)
{
    uint32_t owner = network_owner(network, lid);
    if (owner == NETWORK_NONE) {
        text_puts(out, "unknown node and type\n");
        return;
    }
    bool is_switch = owner & NETWORK_SWITCH;
    uint64_t guid = is_switch ? network->switches.items[owner & ~NETWORK_SWITCH].guid
                              : network->terminals.items[owner].guid;
    const char *name = network_name_of(network, owner);
    text_printf(out, "%s portguid 0x%016" PRIx64 ": '%s'\n",
                is_switch ? "Switch" : "Channel Adapter", guid, name ? name : "");
}

void lfts_write(const struct routes *routes, const struct network *network, struct text *out)
{
    struct text owners = {0};
    size_t *start = mem_alloc((routes->top_lid + 2u) * sizeof *start);
    for (uint32_t lid = 0; lid <= routes->top_lid; lid++) {
        start[lid] = owners.length;
        write_owner(network, lid, &owners);
    }
    start[routes->top_lid + 1] = owners.length;
    for (uint32_t at = 0; at < routes->switch_count; at++) {
        const struct network_switch *node = &network->switches.items[at];
        const char *name = network_name_of(network, NETWORK_SWITCH | at);
        text_printf(out, "Unicast lids [0-%u] of switch Lid %u guid 0x%016" PRIx64 " ('%s'):\n",
                    routes->top_lid, node->lid, node->guid, name ? name : "");
        for (uint32_t lid = 0; lid <= routes->top_lid; lid++) {
            uint8_t port = routes_port(routes, at, lid);
            if (port == PORT_NONE)
                continue;
            write_entry(out, lid, port);
            text_append(out, owners.data + start[lid], start[lid + 1] - start[lid]);
            if (!routes_is_explicit(routes, at, lid)) {
                out->length--; /* the end of the line */
                text_puts(out, ", by the default port\n");
            }
        }
        text_printf(out, "%u lids dumped\n", routes->top_lid);
    }
    text_release(&owners);
    mem_free(start);
}
