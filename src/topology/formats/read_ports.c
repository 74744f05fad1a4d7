/* Lines of 'ibnetdiscover --ports':
 *
 *   SW     4  3 0x0000000000200002 1x QDR - CA    11  1 0x0000000000100007 ( 'leaf2' - 'h4' )
 *   SW     4  6 0x0000000000200002 1x SDR                                    'leaf2'
 *
 * Kind, LID, port, GUID (of a switch: of port 0), width, speed, then the peer, and both
 * descriptions. A description that contains "' - '" cannot be told from two: the first place
 * counts. */
#include "topology/formats/read.h"

#include <string.h>

/* "SW     4  3 0x0000000000200002" */
static bool scan_end(char **at, struct list_end *end)
{
    static const struct {
        const char *word;
        enum node_kind kind;
    } kinds[] = {{"SW ", NODE_SWITCH}, {"CA ", NODE_ADAPTER}, {"RT ", NODE_ROUTER}};
    char *c = *at;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (!end->kind && scan_word(&c, kinds[i].word))
            end->kind = kinds[i].kind;
    if (!end->kind || !list_scan_lid_and_port(&c, end) || !scan_guid(&c, &end->port_guid))
        return false;
    *at = c;
    return true;
}

/* "( 'leaf2' - 'h4' )" */
static bool take_names(struct reader *reader, const char *at, struct list_line *line)
{
    const char *between = strstr(at, "' - '"), *end = strrchr(at, '\'');
    if (strncmp(at, "( '", 3) != 0 || !between || end < between + 5)
        return false;
    line->own.description = arena_strndup(&reader->names, at + 3, (size_t)(between - at - 3));
    line->peer.description =
        arena_strndup(&reader->names, between + 5, (size_t)(end - between - 5));
    return true;
}

int ports_take_line(struct reader *reader, char *at)
{
    struct list_line line = {0};
    if (!scan_end(&at, &line.own))
        return LINE_IS_FOREIGN;
    char *words[2]; /* width, speed */
    for (int i = 0; i < 2; i++) {
        scan_blanks(&at);
        words[i] = at;
        at += strcspn(at, " ");
    }
    list_take_rate(&line, words[0], words[1]);
    scan_blanks(&at);
    const char *last = strrchr(at, '\'');
    if (scan_word(&at, "- ")) {
        line.has_peer = true;
        if (!scan_end(&at, &line.peer))
            return reader_fail(reader, "expected kind, LID, port and GUID of the peer");
        scan_blanks(&at);
        if (!take_names(reader, at, &line))
            return reader_fail(reader, "expected ( 'description' - 'description' )");
    } else if (*at == '\'' && last > at) {
        line.own.description = arena_strndup(&reader->names, at + 1, (size_t)(last - at - 1));
    } else {
        return reader_fail(reader, "expected a description in quotes, not '%.40s'", at);
    }
    return list_add(reader, line);
}
