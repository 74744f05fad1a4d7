/* The fabric of a run as a picture by graphviz. */
#include "experiment/report/report.h"

#include "base/map.h"
#include "experiment/chart/program.h"
#include "topology/drawing/export.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWING_BYTES = 300 << 10, DRAWING_LIMIT = 64 << 20, WORD_BYTES = 256 };

/* ---- what was touched ---- */

struct touched {
    const struct topology *topology;
    const struct graph *graph;
    struct name_map
        titles; /* graphviz titles of nodes and links that actions name: "s3", "s3--h7" */
    struct arena arena;
};

static void node_title(const struct touched *touched, uint32_t node, char title[16])
{
    uint32_t at = touched->graph->switch_of[node];
    if (at == TOPOLOGY_NONE)
        snprintf(title, 16, "h%u", node);
    else
        snprintf(title, 16, "s%u", at);
}

static void mark_title(struct touched *touched, const char *title)
{
    name_map_add(&touched->titles, arena_strdup(&touched->arena, title), 1);
}

/* In both directions, since either end may come first in the drawing. */
static void mark_link(struct touched *touched, uint32_t port)
{
    const struct topology_port *ports = touched->topology->ports.items;
    char one[16], other[16], title[40];
    if (ports[port].peer == TOPOLOGY_NONE)
        return;
    node_title(touched, ports[port].node, one);
    node_title(touched, ports[ports[port].peer].node, other);
    snprintf(title, sizeof title, "%s--%s", one, other);
    mark_title(touched, title);
    snprintf(title, sizeof title, "%s--%s", other, one);
    mark_title(touched, title);
}

/* Actions have the form "fail link NODE PORT", "fail switch NODE", "flap NODE PORT" …: the first
 * word that names a node counts, with the port number if one follows. */
static void mark_action(struct touched *touched, const char *text)
{
    char word[WORD_BYTES];
    const struct topology *topology = touched->topology;
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
        if (port > 0 && port <= topology->nodes.items[node].port_count) {
            mark_link(touched, topology_port_index(topology, node, (unsigned)port));
        } else {
            char title[16];
            node_title(touched, node, title);
            mark_title(touched, title);
        }
        return;
    }
}

/* ---- cleaning ---- */

/* The description of node "s14" or "h7"; NULL if the title names no node. */
static const char *title_text(const struct touched *touched, const char *title)
{
    char *end;
    if ((title[0] != 's' && title[0] != 'h') || !isdigit((unsigned char)title[1]))
        return NULL;
    unsigned long index = strtoul(title + 1, &end, 10);
    if (*end)
        return NULL;
    if (title[0] == 's')
        index = index < touched->graph->switch_count ? touched->graph->node[index] : TOPOLOGY_NONE;
    if (index >= touched->topology->nodes.count)
        return NULL;
    return touched->topology->nodes.items[index].description;
}

/* The title of the group at `at`, with the entities of graphviz decoded. */
static void read_title(const char *at, char *title, size_t size)
{
    const char *begin = strstr(at, "<title>"), *end = begin ? strstr(begin, "</title>") : NULL;
    size_t length = 0;
    title[0] = '\0';
    if (!begin || !end)
        return;
    for (begin += strlen("<title>"); begin < end && length + 1 < size;) {
        bool dash = strncmp(begin, "&#45;", 5) == 0;
        title[length++] = dash ? '-' : *begin;
        begin += dash ? 5 : 1;
    }
    title[length] = '\0';
}

/* The position after `end` if `start` is at `at`, else NULL. */
static const char *skip_past(const char *at, const char *start, const char *end)
{
    size_t length = strlen(start);
    const char *found = strncmp(at, start, length) == 0 ? strstr(at + length, end) : NULL;
    return found ? found + strlen(end) : NULL;
}

/* Copies the SVG without ids and comments. graphviz has escaped names, so they cannot look like
 * tags. */
static void put_clean(const struct touched *touched, const char *svg, struct text *out)
{
    char title[64];
    for (const char *at = svg, *next; *at; at = next) {
        if ((next = skip_past(at, "<!--", "-->\n"))) {
            continue;
        } else if ((next = skip_past(at, "<g id=\"", "\""))) {
            read_title(at, title, sizeof title);
            bool is_touched = name_map_get(&touched->titles, title) != MAP_NONE;
            text_puts(out, is_touched ? "<g data-touched=\"yes\"" : "<g");
        } else if ((next = skip_past(at, "<title>", "</title>"))) {
            read_title(at, title, sizeof title);
            const char *name = title_text(touched, title);
            if (!name)
                continue;
            text_puts(out, "<title>");
            text_put_markup(out, name);
            text_puts(out, "</title>");
        } else {
            text_putc(out, *at);
            next = at + 1;
        }
    }
}

/* ---- drawing ---- */

/* Draws with fewer details until the picture is small enough. */
static int draw_fabric(const struct touched *touched, struct text *svg, struct err *err)
{
    const struct drawing_limits limits[] = {DRAWING_LIMITS,
                                            {.host_limit = 0, .switch_limit = 160},
                                            {.host_limit = 0, .switch_limit = 0}};
    const char *argv[] = {NULL, "-Tsvg", NULL};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct text dot = {0};
        argv[0] = topology_write_dot(touched->topology, touched->graph, limits[i], &dot);
        text_clear(svg);
        int status = program_run(argv, "graphviz", &dot, DRAWING_LIMIT, svg, err);
        text_release(&dot);
        if (status || svg->length <= DRAWING_BYTES)
            return status;
    }
    return err_set(err, EFBIG, "the drawing is too large for a page");
}

int report_picture(const struct topology *topology, const struct run_record *record,
                   struct text *out, struct err *err)
{
    struct graph graph;
    struct text svg = {0};
    struct touched touched = {.topology = topology, .graph = &graph};
    graph_init(&graph, topology);
    for (size_t i = 0; i < record->events.count; i++)
        if (record->events.items[i].kind == RUN_RECORD_ACTION)
            mark_action(&touched, record->events.items[i].text);
    int status = draw_fabric(&touched, &svg, err);
    const char *start = status == 0 && svg.data ? strstr(svg.data, "<svg") : NULL;
    if (status == 0 && !start)
        status = err_set(err, EIO, "graphviz drew nothing");
    if (status == 0 && start)
        put_clean(&touched, start, out);
    name_map_release(&touched.titles);
    arena_release(&touched.arena);
    text_release(&svg);
    graph_release(&graph);
    return status;
}
