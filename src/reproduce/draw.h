/* Plots of an experiment: from evidence to charts. */
#ifndef WEFT_REPRODUCE_DRAW_H
#define WEFT_REPRODUCE_DRAW_H

#include "experiment/chart/chart.h"
#include "reproduce/evidence.h"

struct charts {
    struct chart *items; /* panels of one picture */
    size_t count, capacity;
};

/* Adds the charts of a plot, as far as there is evidence; `preset` may be NULL: all of it. */
void draw_plot(const struct recipe *recipe, const struct plot *plot,
               const struct evidence *evidence, const char *preset, struct charts *charts);
void charts_release(struct charts *charts);

#endif
