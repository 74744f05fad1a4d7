/* Plots of an experiment, made from its evidence. */
#ifndef WEFT_REPRODUCE_DRAW_H
#define WEFT_REPRODUCE_DRAW_H

#include "experiment/chart/chart.h"
#include "reproduce/evidence.h"

struct charts {
    struct chart *items; /* panels of one picture */
    size_t count, capacity;
};

/* Adds the charts of a plot for which there is evidence; `preset` NULL: any preset. */
void draw_plot(const struct recipe *recipe, const struct plot *plot,
               const struct evidence *evidence, const char *preset, struct charts *charts);
void charts_release(struct charts *charts);

#endif
