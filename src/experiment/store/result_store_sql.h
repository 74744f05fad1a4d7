/* Inside of the result store: SQLite with less ceremony. Every function that can fail fills the
 * error with the store's path and SQLite's words, and returns a negative errno. */
#ifndef WEFT_EXPERIMENT_STORE_RESULT_STORE_SQL_H
#define WEFT_EXPERIMENT_STORE_RESULT_STORE_SQL_H

#include "experiment/store/result_store.h"

#include <sqlite3.h>

struct result_store {
    sqlite3 *db;
    char *path;
};

/* Makes the tables of an empty file, or sees that they are those of this version. */
int sql_prepare_tables(struct result_store *store, bool create, struct err *err);

int sql_error(const struct result_store *store, struct err *err);
/* Statements without values. */
int sql_run(struct result_store *store, const char *sql, struct err *err);
int sql_prepare(struct result_store *store, sqlite3_stmt **statement, const char *sql,
                struct err *err);
/* Binds ?1, ?2 …: 'i' an int64_t, 'd' a double, 's' a text that lives until the statement is done
 * (NULL is SQL's). Also makes a statement that was used before ready for the next time. */
void sql_bind(sqlite3_stmt *statement, const char *kinds, ...);
/* 1: a row is there, 0: no more, or an error. */
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

/* A write transaction; `status` says whether to keep what was done, and is returned unless keeping
 * it fails. */
int sql_begin(struct result_store *store, struct err *err);
int sql_end(struct result_store *store, int status, struct err *err);

/* What the writers share: can `run` go beside what is there under its name? 1: yes (*replaces is
 * the failed one in its place, or 0), 0: it is there already, or a contradiction. */
int result_store_place(struct result_store *store, const struct result_run *run, int64_t *replaces,
                       struct err *err);

#endif
