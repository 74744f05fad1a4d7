/* Lines of opensm-subnet.lst, which OpenSM writes with log flag 0x40:
 *
 *   { SW Ports:24 SystemGUID:… NodeGUID:… PortGUID:… VenID:0002C9 DevID:BD36 Rev:000000A1
 *     {leaf 3} LID:0004 PN:02 } { CA-SM … {h3} LID:0008 PN:01 } PHY=4x LOG=ACT SPD=10
 *
 * (one line). All numbers are hexadecimal. OpenSM 3.3.23 does not know NDR and prints SPD=??. */
#include "topology/formats/read.h"

#include <string.h>

/* "NodeGUID:0000000000100004 " */
static bool scan_field(char **at, const char *key, uint64_t limit, uint64_t *value)
{
    scan_blanks(at);
    return scan_word(at, key) && scan_digits(at, 16, value) && *value <= limit;
}

/* "} LID:0008 PN:01 } " behind a description; returns false if other text stands there. */
static bool scan_description_end(char **at, struct list_end *end)
{
    uint64_t lid, number;
    char *c = *at;
    if (!scan_word(&c, "}") || !scan_field(&c, "LID:", UINT16_MAX, &lid) ||
        !scan_field(&c, "PN:", UINT8_MAX, &number))
        return false;
    scan_blanks(&c);
    if (!scan_word(&c, "}"))
        return false;
    scan_blanks(&c);
    end->lid = (uint16_t)lid;
    end->number = (uint8_t)number;
    *at = c;
    return true;
}

/* One end of a link, from "{ SW" to its last brace. */
static bool scan_list_end(struct reader *reader, char **at, struct list_end *end)
{
    uint64_t ports, vendor, device, revision;
    char *c = *at;
    if (!scan_word(&c, "{ "))
        return false;
    end->kind = strncmp(c, "SW", 2) == 0                               ? NODE_SWITCH
                : strncmp(c, "CA", 2) == 0                             ? NODE_ADAPTER
                : strncmp(c, "Rt", 2) == 0 || strncmp(c, "RT", 2) == 0 ? NODE_ROUTER
                                                                       : 0;
    c += strcspn(c, " ");
    if (!end->kind || !scan_field(&c, "Ports:", TOPOLOGY_PORTS_PER_NODE, &ports) ||
        !scan_field(&c, "SystemGUID:", UINT64_MAX, &end->system_guid) ||
        !scan_field(&c, "NodeGUID:", UINT64_MAX, &end->node_guid) ||
        !scan_field(&c, "PortGUID:", UINT64_MAX, &end->port_guid) ||
        !scan_field(&c, "VenID:", UINT32_MAX, &vendor) ||
        !scan_field(&c, "DevID:", UINT16_MAX, &device) ||
        !scan_field(&c, "Rev:", UINT32_MAX, &revision))
        return false;
    scan_blanks(&c);
    if (!scan_word(&c, "{"))
        return false;
    end->ports = (uint8_t)ports;
    end->vendor_id = (uint32_t)vendor & 0xffffff;
    end->device_id = (uint16_t)device;
    char *name = c;
    for (; (c = strchr(c, '}')) != NULL; c++) {
        char *description_end = c;
        if (!scan_description_end(&c, end))
            continue;
        end->description = arena_strndup(&reader->names, name, (size_t)(description_end - name));
        *at = c;
        return true;
    }
    return false;
}

int subnet_list_take_line(struct reader *reader, char *at)
{
    struct list_line line = {.speed = SPEED_COUNT};
    if (strncmp(at, "{ ", 2) != 0)
        return LINE_IS_FOREIGN;
    if (!scan_list_end(reader, &at, &line.own))
        return reader_fail(reader, "expected '{ SW Ports:… {description} LID:… PN:… }'");
    if (!scan_list_end(reader, &at, &line.peer))
        return reader_fail(reader,
                           "expected the peer as '{ SW Ports:… {description} LID:… PN:… }'");
    line.has_peer = true;
    char *width = strstr(at, "PHY="), *speed = strstr(at, "SPD=");
    list_take_rate(&line, width ? width + 4 : "", speed ? speed + 4 : "");
    return list_add(reader, line);
}
