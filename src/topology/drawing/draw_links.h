/* Lines of drawings that show the width and the speed of links, and their legend. */
#ifndef WEFT_TOPOLOGY_DRAW_LINKS_H
#define WEFT_TOPOLOGY_DRAW_LINKS_H

#include "topology/summary.h"

struct link_styles {
    struct link_count counts[LINK_COUNTS];
    size_t count;
    unsigned rank[SPEED_COUNT]; /* 0: the fastest speed of the fabric */
    bool dense;                 /* thin, transparent lines */
};

void link_styles_init(struct link_styles *styles, const struct topology *topology, bool dense);
/* Attributes of an edge: "color=…, style=…, penwidth=…". */
void link_styles_put(const struct link_styles *styles, const struct topology_port *port,
                     struct text *out);
/* Cells of a row of an HTML-like table: for each width and speed a sample of its line, its name and
 * the number of links. */
void link_styles_put_legend(const struct link_styles *styles, struct text *out);

#endif
