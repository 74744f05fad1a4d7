/* Lines of iblinkinfo, also with --line, --port-guids and --switches-only:
 *
 *   Switch: 0x0000000000200002 leaf2:
 *              4    2[  ] ==( 4X          10.0 Gbps Active/  LinkUp)==>       8    1[  ] "h3" ( )
 *              4    4[  ] ==(                Down/ Polling)==>             [  ] "" ( )
 *   CA: h3:
 *         0x0000000000100005      8    1[  ] ==( 4X  10.0 Gbps Active/  LinkUp)==>  4  2[  ]
 * "leaf2" ( ) 0x0000000000200002 "    leaf2"  4  2[  ] ==( 4X …)==>  0x0000000000100005  8  1[  ]
 * "h3" ( )
 *
 * The last form (--line) states the GUID of the peer; the others name it by LID. */
#include "topology/formats/read.h"

#include <string.h>

/* "Switch: 0x0000000000200002 leaf2:" sets the node of the lines that follow. */
static bool take_heading(struct reader *reader, char *at)
{
    struct list_end node = {0};
    if (scan_word(&at, "Switch: ")) {
        node.kind = NODE_SWITCH;
        if (!scan_guid(&at, &node.port_guid))
            return false;
        scan_blanks(&at);
    } else if (scan_word(&at, "CA: ")) {
        node.kind = NODE_ADAPTER;
    } else if (scan_word(&at, "Router: ") || scan_word(&at, "RT: ")) {
        node.kind = NODE_ROUTER;
    } else {
        return false;
    }
    size_t length = strlen(at);
    length -= length && at[length - 1] == ':';
    node.description = arena_strndup(&reader->names, at, length);
    reader->list_node = node;
    reader->has_list_node = true;
    return true;
}

/* "8    1[  ]", "8    1[ext]": LID, port number, external port number */
static bool scan_lid_and_port(char **at, struct list_end *end)
{
    char *bracket = strchr(*at, ']');
    if (!list_scan_lid_and_port(at, end) || **at != '[' || !bracket)
        return false;
    *at = bracket + 1;
    return true;
}

/* What stands left of the arrow; `arrow` is its begin. */
static bool scan_own_end(struct reader *reader, char *at, char *arrow, struct list_end *own)
{
    uint64_t guid = 0;
    bool has_guid = scan_guid(&at, &guid);
    scan_blanks(&at);
    char *quote = arrow;
    while (quote > at && *quote != '"')
        quote--;
    if (has_guid && *at == '"' && quote > at) { /* --line */
        char *name = at + 1;
        while (*name == ' ')
            name++;
        *own = (struct list_end){.description =
                                     arena_strndup(&reader->names, name, (size_t)(quote - name))};
        at = quote + 1;
    } else {
        if (!reader->has_list_node)
            return false;
        *own = reader->list_node;
    }
    if (has_guid)
        own->port_guid = guid;
    return scan_lid_and_port(&at, own);
}

/* What stands right of the arrow. */
static bool scan_peer(struct reader *reader, char *at, struct list_line *line)
{
    struct list_end *peer = &line->peer;
    scan_guid(&at, &peer->port_guid);
    scan_blanks(&at);
    if (*at == '[') /* no peer */
        return true;
    if (!scan_lid_and_port(&at, peer))
        return false;
    char *first = strchr(at, '"'), *last = NULL;
    for (char *c = first; c && (c = strstr(c + 1, "\" (")) != NULL;)
        last = c;
    if (!first || !last)
        return false;
    line->has_peer = true;
    peer->description = arena_strndup(&reader->names, first + 1, (size_t)(last - first - 1));
    return true;
}

int linkinfo_take_line(struct reader *reader, char *at)
{
    struct list_line line = {.speed = SPEED_COUNT};
    char *state = strstr(at, "] ==("), *arrow = state ? strstr(state, "==>") : NULL;
    if (!arrow)
        return take_heading(reader, at) ? 0 : LINE_IS_FOREIGN;
    if (!scan_own_end(reader, at, state, &line.own))
        return reader_fail(reader, "expected LID and port of a node, below its heading");
    char *width = state + 5; /* " 4X          10.0 Gbps Active/  LinkUp" */
    scan_blanks(&width);
    char *speed = width + strcspn(width, " )");
    scan_blanks(&speed);
    list_take_rate(&line, width, speed);
    if (strstr(speed, "FDR10"))
        line.speed = SPEED_FDR10;
    if (!scan_peer(reader, arrow + 3, &line))
        return reader_fail(reader, "expected LID, port and description of the peer");
    return list_add(reader, line);
}
