/* The tables of a result store, and functions to access them.
 *
 * Times are picoseconds of the run. Unsigned 64-bit numbers (seeds) are stored in two's complement.
 * `n` numbers the rows of a run from 0. The journal mode is SQLite's default, because the
 * write-ahead log does not work on network file systems. */
#include "experiment/store/result_store_sql.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum {
    APPLICATION_ID = 0x77656674, /* "weft" */
    SCHEMA_VERSION = 1,
};

static const char schema[] =
    /* Long texts, stored once: many runs share scenarios and topologies. */
    "CREATE TABLE text(id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, body TEXT NOT NULL);"
    "CREATE INDEX text_hash ON text(hash);"

    /* Runs. point: canonical parameters; state: done or failed; hash: trace hash, 16 hex digits;
       verdict: NULL without traffic; scenario, template, topology: texts with parameters filled in,
       before that, and in ibnetdiscover format. The last columns are totals of a finished run. */
    "CREATE TABLE run(id INTEGER PRIMARY KEY, point TEXT NOT NULL, repetition INTEGER NOT NULL,"
    " seed INTEGER NOT NULL, state TEXT NOT NULL CHECK(state IN ('done', 'failed')),"
    " error TEXT NOT NULL, replay TEXT NOT NULL, hash TEXT NOT NULL, wall_s REAL NOT NULL,"
    " name TEXT NOT NULL, version TEXT NOT NULL,"
    " scenario INTEGER NOT NULL REFERENCES text, template INTEGER NOT NULL REFERENCES text,"
    " topology INTEGER NOT NULL REFERENCES text,"
    " switches INTEGER, adapters INTEGER, end_ps INTEGER, smps INTEGER, lost INTEGER, hops INTEGER,"
    " verdict TEXT,"
    " UNIQUE(point, repetition));"

    /* Parameters, in the order of the sweep. */
    "CREATE TABLE parameter(run INTEGER REFERENCES run ON DELETE CASCADE, n INTEGER,"
    " name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY(run, n)) WITHOUT ROWID;"

    /* Figures. */
    "CREATE TABLE figure(run INTEGER REFERENCES run ON DELETE CASCADE, n INTEGER,"
    " name TEXT NOT NULL, unit TEXT NOT NULL, value REAL, PRIMARY KEY(run, n)) WITHOUT ROWID;"
    "CREATE INDEX figure_name ON figure(name, run);"

    /* Series, their points, and a view of both. */
    "CREATE TABLE series(run INTEGER REFERENCES run ON DELETE CASCADE, n INTEGER,"
    " name TEXT NOT NULL, unit TEXT NOT NULL, PRIMARY KEY(run, n)) WITHOUT ROWID;"
    "CREATE TABLE series_point(run INTEGER REFERENCES run ON DELETE CASCADE, series INTEGER,"
    " n INTEGER, time_ps INTEGER NOT NULL, value REAL, PRIMARY KEY(run, series, n)) WITHOUT ROWID;"
    "CREATE VIEW series_value AS SELECT s.run, s.name, s.unit, p.time_ps, p.value"
    " FROM series s JOIN series_point p ON p.run = s.run AND p.series = s.n;"

    /* Events; kind is action, event, alarm or check. */
    "CREATE TABLE event(run INTEGER REFERENCES run ON DELETE CASCADE, n INTEGER,"
    " time_ps INTEGER NOT NULL, kind TEXT NOT NULL, who TEXT NOT NULL, text TEXT NOT NULL,"
    " PRIMARY KEY(run, n)) WITHOUT ROWID;"

    /* Changes of managers: start times of phases (0: no such phase), time of the computation, fault
       of the first change after it (NULL: none), Gets, Sets, and Sets of LFT blocks. */
    "CREATE TABLE change(run INTEGER REFERENCES run ON DELETE CASCADE, n INTEGER,"
    " who TEXT NOT NULL, cause TEXT NOT NULL, fault_ps INTEGER, begin_ps INTEGER,"
    " routing_ps INTEGER, computing_ps INTEGER, routed_ps INTEGER, end_ps INTEGER, gets INTEGER, "
    "sets INTEGER, blocks INTEGER,"
    " finished INTEGER, PRIMARY KEY(run, n)) WITHOUT ROWID;"

    /* Checks: statement, its line in the scenario, and the finding. */
    "CREATE TABLE checked(run INTEGER REFERENCES run ON DELETE CASCADE, n INTEGER,"
    " line TEXT NOT NULL, number INTEGER, time_ps INTEGER, holds INTEGER NOT NULL,"
    " finding TEXT NOT NULL, PRIMARY KEY(run, n)) WITHOUT ROWID;";

/* ---- errors ---- */

int sql_error(const struct result_store *store, struct err *err)
{
    int code = sqlite.errcode(store->db) & 0xff;
    if (code == SQLITE_NOTADB)
        return err_at(err, EINVAL, store->path, 0, "is not a result store");
    if (code == SQLITE_BUSY)
        return err_at(err, EBUSY, store->path, 0, "another process has locked it");
    if (code == SQLITE_FULL)
        return err_at(err, ENOSPC, store->path, 0, "%s", strerror(ENOSPC));
    return err_at(err, EIO, store->path, 0, "%s", sqlite.errmsg(store->db));
}

/* ---- statements ---- */

int sql_run(struct result_store *store, const char *sql, struct err *err)
{
    return sqlite.exec(store->db, sql, NULL, NULL, NULL) ? sql_error(store, err) : 0;
}

int sql_prepare(struct result_store *store, sqlite3_stmt **statement, const char *sql,
                struct err *err)
{
    *statement = NULL;
    return sqlite.prepare_v2(store->db, sql, -1, statement, NULL) ? sql_error(store, err) : 0;
}

static void bind_values(sqlite3_stmt *statement, const char *kinds, va_list values)
{
    sqlite.reset(statement);
    for (int i = 1; kinds[i - 1]; i++)
        switch (kinds[i - 1]) {
        case 'i': sqlite.bind_int64(statement, i, va_arg(values, int64_t)); break;
        case 'd': sqlite.bind_double(statement, i, va_arg(values, double)); break;
        default: sqlite.bind_text(statement, i, va_arg(values, const char *), -1, SQLITE_STATIC);
        }
}

void sql_bind(sqlite3_stmt *statement, const char *kinds, ...)
{
    va_list values;
    va_start(values, kinds);
    bind_values(statement, kinds, values);
    va_end(values);
}

int sql_step(struct result_store *store, sqlite3_stmt *statement, struct err *err)
{
    switch (sqlite.step(statement)) {
    case SQLITE_ROW: return 1;
    case SQLITE_DONE: return 0;
    default: return sql_error(store, err);
    }
}

static int run_query(struct result_store *store, sqlite3_stmt **statement, struct err *err,
                     const char *sql, const char *kinds, va_list values)
{
    int status = sql_prepare(store, statement, sql, err);
    if (status)
        return status;
    bind_values(*statement, kinds, values);
    return sql_step(store, *statement, err);
}

int sql_query(struct result_store *store, sqlite3_stmt **statement, struct err *err,
              const char *sql, const char *kinds, ...)
{
    va_list values;
    va_start(values, kinds);
    int status = run_query(store, statement, err, sql, kinds, values);
    va_end(values);
    return status;
}

int sql_do(struct result_store *store, struct err *err, const char *sql, const char *kinds, ...)
{
    sqlite3_stmt *statement;
    va_list values;
    va_start(values, kinds);
    int status = run_query(store, &statement, err, sql, kinds, values);
    va_end(values);
    sqlite.finalize(statement);
    return status < 0 ? status : 0;
}

int sql_number(struct result_store *store, struct err *err, int64_t *number, const char *sql,
               const char *kinds, ...)
{
    sqlite3_stmt *statement;
    va_list values;
    va_start(values, kinds);
    int status = run_query(store, &statement, err, sql, kinds, values);
    va_end(values);
    if (status == 1)
        *number = sqlite.column_int64(statement, 0);
    sqlite.finalize(statement);
    return status == 1 ? 0 : status == 0 ? -ENOENT : status;
}

const char *sql_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite.column_text(statement, column);
    return text ? text : "";
}

char *sql_copy(sqlite3_stmt *statement, int column, struct arena *arena)
{
    return arena_strdup(arena, sql_text(statement, column));
}

/* ---- transactions ---- */

int sql_begin(struct result_store *store, struct err *err)
{
    return sql_run(store, "BEGIN IMMEDIATE", err);
}

int sql_end(struct result_store *store, int status, struct err *err)
{
    if (status >= 0) {
        int kept = sql_run(store, "COMMIT", err);
        if (kept == 0)
            return status;
        status = kept;
    }
    sql_run(store, "ROLLBACK", NULL);
    return status;
}

/* ---- tables ---- */

int sql_prepare_tables(struct result_store *store, bool create, struct err *err)
{
    static const char count_tables[] = "SELECT count(*) FROM sqlite_master";
    int64_t tables = 0, application = 0, version = 0;
    char pragmas[96];
    snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             APPLICATION_ID, SCHEMA_VERSION);
    int status = sql_number(store, err, &tables, count_tables, "");
    if (status == 0 && tables == 0 && create && (status = sql_begin(store, err)) == 0) {
        /* Another process may have created them. */
        status = sql_number(store, err, &tables, count_tables, "");
        if (status == 0 && tables == 0) {
            status = sql_run(store, schema, err);
            if (status == 0)
                status = sql_run(store, pragmas, err);
        }
        status = sql_end(store, status, err);
    }
    if (status == 0)
        status = sql_number(store, err, &application, "PRAGMA application_id", "");
    if (status == 0)
        status = sql_number(store, err, &version, "PRAGMA user_version", "");
    if (status)
        return status;
    if (tables == 0 && !create)
        return err_at(err, EINVAL, store->path, 0, "is empty: no result store");
    if (application != APPLICATION_ID)
        return err_at(err, EINVAL, store->path, 0, "is not a result store");
    if (version != SCHEMA_VERSION)
        return err_at(err, EINVAL, store->path, 0,
                      "is a result store of version %" PRId64 "; this weft reads version %d",
                      version, SCHEMA_VERSION);
    return sql_run(store, create ? "PRAGMA foreign_keys = ON" : "PRAGMA query_only = ON", err);
}
