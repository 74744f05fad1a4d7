/* Internal: a thin layer over SQLite. On failure each function fills the error with the path of the
 * store and the message of SQLite and returns a negative errno. */
#ifndef WEFT_EXPERIMENT_STORE_RESULT_STORE_SQL_H
#define WEFT_EXPERIMENT_STORE_RESULT_STORE_SQL_H

#include "experiment/store/result_store.h"

#include <sqlite3.h>

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

#endif
