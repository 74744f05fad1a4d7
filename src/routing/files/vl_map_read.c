/* Reads path SLs and SL-to-VL tables, each in two forms, with one reader of blocks. */
#include "routing/files/vl_map_read.h"

#include "base/map.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* State of the reader. */
struct vl_map_reader {
    struct vl_map *map;
    struct line_reader *lines;
    struct map by_port, by_node; /* GUIDs to end points; of an adapter its first port */
    uint32_t current;            /* end point of the block, or NETWORK_NONE */
    uint64_t entries;
};

static bool scan_unsigned(char **at, int base, uint64_t *value)
{
    char *end;
    *at += strspn(*at, " \t");
    if (!isxdigit((unsigned char)**at))
        return false;
    *value = strtoull(*at, &end, base);
    if (end == *at)
        return false;
    *at = end;
    return true;
}

static bool scan_colon(char **at)
{
    *at += strspn(*at, " \t");
    if (**at != ':')
        return false;
    ++*at;
    return true;
}

/* "Channel Adapter 0x…, …" and "Switch 0x…, …" open a block. Adapters are named by the GUID of a
 * port or, in tables of VLs, of the node; those that the network lacks are reported with their
 * first line. */
static bool read_block_header(struct vl_map_reader *reader, char *line)
{
    static const char *const kinds[] = {"Switch ", "Channel Adapter ", "Router "};
    uint64_t guid;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t length = strlen(kinds[i]);
        if (strncmp(line, kinds[i], length) != 0)
            continue;
        line += length;
        if (!scan_unsigned(&line, 16, &guid))
            return true;
        reader->current = map_get(&reader->by_port, guid);
        if (i == 0 && reader->current == MAP_NONE)
            line_reader_error(reader->lines, "the network has no switch 0x%016" PRIx64, guid);
        return true;
    }
    return false;
}

static int put_sl(struct vl_map_reader *reader, uint32_t end_point, uint64_t dlid, uint64_t sl)
{
    struct vl_map *map = reader->map;
    if (sl >= VL_MAP_SLS && sl != VL_MAP_NO_PATH)
        return line_reader_error(reader->lines, "%" PRIu64 " is not an SL: expected 0 to 15", sl);
    if (network_owner(map->network, dlid > UINT16_MAX ? 0 : (uint32_t)dlid) == NETWORK_NONE)
        return line_reader_error(reader->lines, "the network has no LID %" PRIu64, dlid);
    vl_map_set_sl(map, end_point, (uint16_t)dlid, (uint8_t)sl);
    reader->entries++;
    return 0;
}

/* The SL after the colon of "0x0005 : 1", or of OpenSM's "0x0005 : 1  : 4   : 3" (SL, MTU, rate)
 * and "0x0005 : UNREACHABLE". */
static bool scan_sl(char *at, uint64_t *sl)
{
    static const char unreachable[] = "UNREACHABLE";
    uint64_t ignored;
    at += strspn(at, " \t");
    if (strncmp(at, unreachable, sizeof unreachable - 1) == 0) {
        at += sizeof unreachable - 1;
        *sl = VL_MAP_NO_PATH;
    } else {
        if (!scan_unsigned(&at, 10, sl))
            return false;
        *sl = *sl < VL_MAP_NO_PATH ? *sl : VL_MAP_UNSET;
        while (scan_colon(&at))
            if (!scan_unsigned(&at, 10, &ignored))
                return false;
    }
    return !at[strspn(at, " \t\r")];
}

static int take_path_sl(struct vl_map_reader *reader, char *line)
{
    uint64_t guid, dlid, sl;
    char *at = line;
    if (strncmp(line, "0x", 2) != 0 || !scan_unsigned(&at, 16, &guid))
        return 0;
    if (scan_colon(&at)) {
        if (!scan_sl(at, &sl))
            return line_reader_error(reader->lines, "expected \"0x<dlid> : <sl>\"");
        if (reader->current == NETWORK_NONE)
            return line_reader_error(reader->lines, "no source of this network before this line");
        return put_sl(reader, reader->current, guid, sl);
    }
    if (!scan_unsigned(&at, 0, &dlid) || !scan_unsigned(&at, 10, &sl))
        return 0;
    sl = sl < VL_MAP_NO_PATH ? sl : VL_MAP_UNSET;
    uint32_t source = map_get(&reader->by_node, guid);
    if (source == NETWORK_NONE)
        return line_reader_error(reader->lines, "no node of this network has that GUID");
    int rc = put_sl(reader, source, dlid, sl);
    if (source & NETWORK_SWITCH)
        return rc;
    const struct network *network = reader->map->network;
    for (uint32_t port = source + 1;
         port < network->terminals.count && !rc && network->terminals.items[port].node_guid == guid;
         port++)
        rc = put_sl(reader, port, dlid, sl);
    return rc;
}

static int put_vls(struct vl_map_reader *reader, uint32_t end_point, uint64_t in, uint64_t out,
                   const uint8_t vl_of_sl[VL_MAP_SLS])
{
    struct vl_map *map = reader->map;
    if (!(end_point & NETWORK_SWITCH))
        return 0; /* an adapter's VL does not affect the switch that follows */
    uint32_t at = end_point & ~NETWORK_SWITCH;
    size_t ports = map->network->switches.items[at].port_count + 1u;
    if (in >= ports || out >= ports)
        return line_reader_error(reader->lines, "the switch has no such port");
    vl_map_set_vls(map, at, (uint8_t)in, (uint8_t)out, vl_of_sl);
    reader->entries++;
    return 0;
}

/* "0x<guid> in out 0x01 0x23 …" */
static int take_nibbles(struct vl_map_reader *reader, char *at)
{
    uint64_t guid, in, out, pair;
    uint8_t vl_of_sl[VL_MAP_SLS];
    if (!scan_unsigned(&at, 16, &guid) || !scan_unsigned(&at, 10, &in) ||
        !scan_unsigned(&at, 10, &out))
        return 0;
    for (int sl = 0; sl < VL_MAP_SLS; sl += 2) {
        if (!scan_unsigned(&at, 16, &pair) || pair > 0xFF)
            return line_reader_error(reader->lines, "expected eight bytes, two VLs each");
        vl_of_sl[sl] = (uint8_t)(pair >> 4);
        vl_of_sl[sl + 1] = pair & 15;
    }
    uint32_t node = map_get(&reader->by_node, guid);
    if (node == NETWORK_NONE)
        return line_reader_error(reader->lines, "no node of this network has that GUID");
    return put_vls(reader, node, in, out, vl_of_sl);
}

static int take_sl2vl(struct vl_map_reader *reader, char *line)
{
    uint64_t in, out, vl;
    uint8_t vl_of_sl[VL_MAP_SLS];
    char *at = line;
    if (strncmp(line, "0x", 2) == 0)
        return take_nibbles(reader, line);
    if (!isdigit((unsigned char)*line) || !scan_unsigned(&at, 10, &in) ||
        !scan_unsigned(&at, 10, &out) || !scan_colon(&at))
        return 0;
    for (int sl = 0; sl < VL_MAP_SLS; sl++) {
        if (!scan_unsigned(&at, 10, &vl) || vl > 15)
            return line_reader_error(reader->lines, "expected 16 VLs, 0 to 15");
        vl_of_sl[sl] = (uint8_t)vl;
    }
    return reader->current == NETWORK_NONE ? 0
                                           : put_vls(reader, reader->current, in, out, vl_of_sl);
}

static int read_vl_map(struct vl_map *map, struct line_reader *lines, const char *what,
                       int (*take)(struct vl_map_reader *, char *))
{
    enum { FILE_LIMIT = 1 << 30 };
    struct vl_map_reader reader = {.map = map, .lines = lines, .current = NETWORK_NONE};
    lines->limit = FILE_LIMIT;
    for (uint32_t i = 0; i < map->network->terminals.count; i++) {
        const struct network_terminal *terminal = &map->network->terminals.items[i];
        map_add(&reader.by_port, terminal->guid, i);
        map_add(&reader.by_node, terminal->node_guid ? terminal->node_guid : terminal->guid, i);
    }
    for (uint32_t i = 0; i < map->network->switches.count; i++) {
        map_add(&reader.by_port, map->network->switches.items[i].guid, NETWORK_SWITCH | i);
        map_add(&reader.by_node, map->network->switches.items[i].guid, NETWORK_SWITCH | i);
    }
    while (line_reader_next_line(lines))
        if (!read_block_header(&reader, lines->copy))
            take(&reader, lines->copy);
    map_release(&reader.by_port);
    map_release(&reader.by_node);
    if (lines->status == 0 && reader.entries == 0)
        return err_at(lines->err, EINVAL, lines->file, 0, "no %s in this file", what);
    return lines->status;
}

int vl_map_read_path_sl(struct vl_map *map, struct line_reader *lines)
{
    return read_vl_map(map, lines, "path SLs ('0x<node guid> <dlid> <sl>')", take_path_sl);
}

int vl_map_read_sl2vl(struct vl_map *map, struct line_reader *lines)
{
    return read_vl_map(map, lines, "SL-to-VL tables of switches", take_sl2vl);
}
