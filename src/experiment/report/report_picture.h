/* The fabric of a run as a picture: graphviz's drawing, cleaned up for a page. */
#ifndef WEFT_EXPERIMENT_REPORT_REPORT_PICTURE_H
#define WEFT_EXPERIMENT_REPORT_REPORT_PICTURE_H

#include "base/err.h"
#include "base/text.h"
#include "experiment/measure/run_record.h"
#include "topology/topology.h"

/* Appends one <svg> element. What the story's actions name is marked. Node names are told by hover
 * titles; there are no ids and no comments, so that the same fabric gives the same text. -ENOENT
 * where graphviz is not installed, -EFBIG where the drawing is too large for a page. */
int report_picture(const struct topology *topology, const struct run_record *record,
                   struct text *out, struct err *err);

#endif
