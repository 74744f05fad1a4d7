/* Internal: the tables whose rows belong to a run.
 *
 * Each row is a struct of the record or of the results; a table maps columns to members. Adding,
 * reading and copying of rows use that table. */
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

/* Adds `count` rows. `part` is the series that points belong to. */
int rows_add(struct result_store *store, unsigned table, int64_t run, int64_t part,
             const void *rows, size_t count, struct err *err);
/* Reads the rows of a run in the order of adding. The caller frees the array; texts are in the
 * arena. NULL on error. */
void *rows_read(struct result_store *store, unsigned table, int64_t run, int64_t part,
                struct arena *arena, size_t *count, int *status, struct err *err);
/* Copies all rows of a run of the attached store to the run `to`. */
int rows_copy(struct result_store *store, int64_t from, int64_t to, struct err *err);

#endif
