/* The fabric of a run as a picture, with the nodes and links marked that actions name. */
#include "experiment/report/report.h"

#include "topology/drawing/export.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWING_BYTES = 300 << 10, WORD_BYTES = 256 };

/* Actions have the form "fail link NODE PORT", "fail switch NODE", "flap NODE PORT" …: the first
 * word that names a node counts, with the port number if one follows. */
static void mark_action(const struct topology *topology, const char *text, bool *nodes, bool *ports)
{
    char word[WORD_BYTES];
    for (size_t length; *text; text += length) {
        text += strspn(text, " \t");
        bool quoted = *text == '"';
        text += quoted;
        length = strcspn(text, quoted ? "\"" : " \t");
        if (length == 0 || length >= sizeof word)
            continue;
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        uint32_t node = topology_find(topology, word);
        if (node == TOPOLOGY_NONE)
            continue;
        const char *rest = text + length + strspn(text + length, " \t\"");
        unsigned long port = isdigit((unsigned char)*rest) ? strtoul(rest, NULL, 10) : 0;
        if (port > 0 && port <= topology->nodes.items[node].port_count)
            ports[topology_port_index(topology, node, (unsigned)port)] = true;
        else
            nodes[node] = true;
        return;
    }
}

/* Draws with fewer details until the picture is small enough. */
int report_picture(const struct topology *topology, const struct run_record *record,
                   struct text *out, struct err *err)
{
    const uint32_t limits[][2] = {{80, 160}, {0, 160}, {0, 0}}; /* hosts, switches */
    struct graph graph;
    bool *nodes = mem_zalloc(topology->nodes.count + 1, sizeof *nodes);
    bool *ports = mem_zalloc(topology->ports.count + 1, sizeof *ports);
    int status = -EFBIG;
    graph_init(&graph, topology);
    for (size_t i = 0; i < record->events.count; i++)
        if (record->events.items[i].kind == RUN_RECORD_ACTION)
            mark_action(topology, record->events.items[i].text, nodes, ports);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0] && status; i++) {
        text_clear(out);
        topology_draw(topology, &graph,
                      (struct drawing_limits){.host_limit = limits[i][0],
                                              .switch_limit = limits[i][1],
                                              .nodes = nodes,
                                              .ports = ports},
                      DRAWING_SVG, out);
        status = out->length <= DRAWING_BYTES ? 0 : -EFBIG;
    }
    if (status)
        text_clear(out);
    graph_release(&graph);
    mem_free(nodes);
    mem_free(ports);
    return status ? err_set(err, EFBIG, "the drawing is too large for a page") : 0;
}
