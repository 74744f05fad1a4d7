/* Reads runs, records and results from a store. */
#include "experiment/store/result_store_sql.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Fills an empty VEC. */
#define READ_ROWS(vec, store, table, run, part, arena, status, err)                                \
    ((vec)->items = rows_read(store, table, run, part, arena, &(vec)->count, status, err),         \
     (vec)->capacity = (vec)->count)

/* ---- runs ---- */

static const char run_query[] =
    "SELECT id, point, repetition, seed, state, error, replay, hash, wall_s, name, version,"
    " (SELECT count(*) FROM checked WHERE run = id),"
    " (SELECT count(*) FROM checked WHERE run = id AND NOT holds) FROM run";

static struct result_run read_run(sqlite3_stmt *statement, struct arena *arena)
{
    return (struct result_run){
        .id = sqlite.column_int64(statement, 0),
        .point = sql_copy(statement, 1, arena),
        .repetition = (uint32_t)sqlite.column_int64(statement, 2),
        .seed = (uint64_t)sqlite.column_int64(statement, 3),
        .failed = strcmp(sql_text(statement, 4), "failed") == 0,
        .error = sql_copy(statement, 5, arena),
        .replay = sql_copy(statement, 6, arena),
        .hash = strtoull(sql_text(statement, 7), NULL, 16),
        .wall_s = sqlite.column_double(statement, 8),
        .name = sql_copy(statement, 9, arena),
        .version = sql_copy(statement, 10, arena),
        .checks = (uint32_t)sqlite.column_int64(statement, 11),
        .checks_failed = (uint32_t)sqlite.column_int64(statement, 12),
    };
}

/* By parameters, then by repetition: the order of the lines of a sweep. */
static int compare_runs(const void *first, const void *second)
{
    const struct result_run *a = first, *b = second;
    for (size_t i = 0; i < a->parameter_count && i < b->parameter_count; i++) {
        int order = strcmp(a->parameters[i].name, b->parameters[i].name);
        if (order == 0)
            order = result_compare_values(a->parameters[i].value, b->parameters[i].value);
        if (order)
            return order;
    }
    if (a->parameter_count != b->parameter_count)
        return a->parameter_count < b->parameter_count ? -1 : 1;
    if (a->repetition != b->repetition)
        return a->repetition < b->repetition ? -1 : 1;
    return strcmp(a->point, b->point);
}

int result_store_read_runs(struct result_store *store, struct result_runs *runs, struct err *err)
{
    sqlite3_stmt *statement;
    *runs = (struct result_runs){0};
    int status = sql_prepare(store, &statement, run_query, err);
    if (status)
        return status;
    while ((status = sql_step(store, statement, err)) == 1)
        vec_push(&runs->items, read_run(statement, &runs->arena));
    sqlite.finalize(statement);
    for (size_t i = 0; i < runs->items.count && status == 0; i++) {
        struct result_run *run = &runs->items.items[i];
        struct result_parameter *found = rows_read(store, ROWS_PARAMETERS, run->id, 0, &runs->arena,
                                                   &run->parameter_count, &status, err);
        size_t bytes = run->parameter_count * sizeof *found;
        run->parameters =
            memcpy(arena_alloc(&runs->arena, bytes + 1), found ? (void *)found : "", bytes);
        mem_free(found);
    }
    if (status)
        result_runs_release(runs);
    else if (runs->items.count)
        qsort(runs->items.items, runs->items.count, sizeof *runs->items.items, compare_runs);
    return status;
}

void result_runs_release(struct result_runs *runs)
{
    vec_release(&runs->items);
    arena_release(&runs->arena);
}

/* Finalizes a query for one run; an error if there was no row. */
static int end_query(struct result_store *store, sqlite3_stmt *statement, int status,
                     struct err *err)
{
    sqlite.finalize(statement);
    if (status == 0)
        return err_at(err, ENOENT, store->path, 0, "there is no such run any more");
    return status < 0 ? status : 0;
}

int result_store_read_texts(struct result_store *store, struct result_run *run, struct arena *arena,
                            struct err *err)
{
    sqlite3_stmt *statement;
    int status = sql_query(store, &statement, err,
                           "SELECT s.body, t.body, n.body FROM run r"
                           " JOIN text s ON s.id = r.scenario JOIN text t ON t.id = r.template"
                           " JOIN text n ON n.id = r.topology WHERE r.id = ?1",
                           "i", run->id);
    if (status == 1) {
        run->scenario = sql_copy(statement, 0, arena);
        run->template = sql_copy(statement, 1, arena);
        run->topology = sql_copy(statement, 2, arena);
    }
    return end_query(store, statement, status, err);
}

int result_store_find_other_template(struct result_store *store, const char *template,
                                     struct arena *arena, const char **other, struct err *err)
{
    sqlite3_stmt *statement;
    int status = sql_query(store, &statement, err,
                           "SELECT body FROM text WHERE id IN (SELECT template FROM run)"
                           " AND body <> ?1 ORDER BY id LIMIT 1",
                           "s", template);
    *other = status == 1 ? sql_copy(statement, 0, arena) : NULL;
    sqlite.finalize(statement);
    return status < 0 ? status : 0;
}

/* ---- results ---- */

int result_store_read_results(struct result_store *store, int64_t run, struct results *results,
                              struct err *err)
{
    int status;
    READ_ROWS(&results->figures, store, ROWS_FIGURES, run, 0, &results->arena, &status, err);
    results_index(results);
    if (status == 0)
        READ_ROWS(&results->series, store, ROWS_SERIES, run, 0, &results->arena, &status, err);
    for (size_t i = 0; i < results->series.count && status == 0; i++)
        READ_ROWS(&results->series.items[i].points, store, ROWS_POINTS, run, (int64_t)i, NULL,
                  &status, err);
    return status;
}

/* ---- records ---- */

static int read_totals(struct result_store *store, int64_t run, struct run_record *record,
                       struct err *err)
{
    sqlite3_stmt *statement;
    int status = sql_query(store, &statement, err,
                           "SELECT name, seed, end_ps, hash, smps, lost, hops, switches, adapters,"
                           " verdict FROM run WHERE id = ?1",
                           "i", run);
    if (status == 1) {
        record->file = sql_copy(statement, 0, &record->arena);
        record->seed = (uint64_t)sqlite.column_int64(statement, 1);
        record->end = (uint64_t)sqlite.column_int64(statement, 2);
        record->hash = strtoull(sql_text(statement, 3), NULL, 16);
        record->smps = (uint64_t)sqlite.column_int64(statement, 4);
        record->lost = (uint64_t)sqlite.column_int64(statement, 5);
        record->hops = (uint64_t)sqlite.column_int64(statement, 6);
        record->switches = (uint32_t)sqlite.column_int64(statement, 7);
        record->adapters = (uint32_t)sqlite.column_int64(statement, 8);
        if (sqlite.column_type(statement, 9) != SQLITE_NULL)
            record->verdict = sql_copy(statement, 9, &record->arena);
    }
    return end_query(store, statement, status, err);
}

int result_store_read_record(struct result_store *store, int64_t run, struct run_record *record,
                             struct err *err)
{
    int status = read_totals(store, run, record, err);
    if (status == 0)
        READ_ROWS(&record->events, store, ROWS_EVENTS, run, 0, &record->arena, &status, err);
    if (status == 0)
        READ_ROWS(&record->changes, store, ROWS_CHANGES, run, 0, &record->arena, &status, err);
    if (status == 0)
        READ_ROWS(&record->checks, store, ROWS_CHECKS, run, 0, &record->arena, &status, err);
    return status;
}
