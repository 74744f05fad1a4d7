/* Internal: a thin layer over SQLite. On failure each function fills the error with the path of the
 * store and the message of SQLite and returns a negative errno. */
#ifndef WEFT_EXPERIMENT_STORE_RESULT_STORE_SQL_H
#define WEFT_EXPERIMENT_STORE_RESULT_STORE_SQL_H

#include "experiment/store/library.h"
#include "experiment/store/result_store.h"

struct result_store {
    sqlite3 *db;
    char *path;
};

/* Creates the tables of an empty file, or checks their version. */
int sql_prepare_tables(struct result_store *store, bool create, struct err *err);

int sql_error(const struct result_store *store, struct err *err);
/* Executes statements without parameters. */
int sql_run(struct result_store *store, const char *sql, struct err *err);
int sql_prepare(struct result_store *store, sqlite3_stmt **statement, const char *sql,
                struct err *err);
/* Resets a statement and binds ?1, ?2 …: i int64_t, d double, s text that outlives the execution
 * (NULL: SQL NULL). */
void sql_bind(sqlite3_stmt *statement, const char *kinds, ...);
/* 1: a row, 0: no more rows, or an error. */
int sql_step(struct result_store *store, sqlite3_stmt *statement, struct err *err);
/* Prepares, binds and steps once; returns as sql_step() does. *statement is to be finalized, also
 * after an error. */
int sql_query(struct result_store *store, sqlite3_stmt **statement, struct err *err,
              const char *sql, const char *kinds, ...);
/* The same for statements that give no rows. */
int sql_do(struct result_store *store, struct err *err, const char *sql, const char *kinds, ...);
/* The same for one number; -ENOENT, without an error, if there is no row. */
int sql_number(struct result_store *store, struct err *err, int64_t *number, const char *sql,
               const char *kinds, ...);

/* Never NULL. */
const char *sql_text(sqlite3_stmt *statement, int column);
char *sql_copy(sqlite3_stmt *statement, int column, struct arena *arena);

/* A write transaction. sql_end() commits if `status` is not negative, else rolls back; it returns
 * `status`, or the error of the commit. */
int sql_begin(struct result_store *store, struct err *err);
int sql_end(struct result_store *store, int status, struct err *err);

/* Whether `run` can be added. 1: yes, and *replaces is the failed run to delete, or 0; 0: it exists
 * already; or a conflict as an error. */
int result_store_place(struct result_store *store, const struct result_run *run, int64_t *replaces,
                       struct err *err);

/* ---- the tables whose rows belong to a run (result_store_rows.c) ---- */

/* Each row is a struct of the record or of the results; a table maps columns to members. */
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
