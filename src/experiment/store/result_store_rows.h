/* Inside of the result store: the tables whose rows belong to a run.
 *
 * Each row is a struct of the story or of the results, and a table says which column holds which
 * member. Adding rows, reading them back and copying them from another store follow from that. */
#ifndef WEFT_EXPERIMENT_STORE_RESULT_STORE_ROWS_H
#define WEFT_EXPERIMENT_STORE_RESULT_STORE_ROWS_H

#include "experiment/store/result_store_sql.h"

enum {
    ROWS_PARAMETERS, /* struct result_parameter */
    ROWS_FIGURES,    /* struct figure */
    ROWS_SERIES,     /* struct series, without its points */
    ROWS_POINTS,     /* struct point; the part is the series */
    ROWS_EVENTS,     /* struct run_record_event */
    ROWS_CHANGES,    /* struct run_record_change */
    ROWS_CHECKS,     /* struct run_record_check */
    ROWS_TABLES,
};

/* Adds `count` rows. `part` says to what of the run they belong, if not to the whole. */
int rows_add(struct result_store *store, unsigned table, int64_t run, int64_t part,
             const void *rows, size_t count, struct err *err);
/* The rows of a run in the order in which they were added, to be freed; texts are in the arena. On
 * an error there are none. */
void *rows_read(struct result_store *store, unsigned table, int64_t run, int64_t part,
                struct arena *arena, size_t *count, int *status, struct err *err);
/* Copies all rows of a run of the attached store to the run `to`. */
int rows_copy(struct result_store *store, int64_t from, int64_t to, struct err *err);

#endif
