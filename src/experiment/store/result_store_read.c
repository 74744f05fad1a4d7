/* Reading a result store: runs in an order of their own, and stories and results as they were when
 * they were added. */
#include "experiment/store/result_store_sql.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- runs ---- */

static int read_parameters(struct result_store *store, struct result_run *run, struct arena *arena,
                           struct err *err)
{
    VEC(struct result_parameter) found = {0};
    sqlite3_stmt *statement;
    int status = sql_prepare(store, &statement,
                             "SELECT name, value FROM parameter WHERE run = ?1 ORDER BY n", err);
    if (status)
        return status;
    sql_bind(statement, "i", run->id);
    while ((status = sql_step(store, statement, err)) == 1)
        vec_push(&found, ((struct result_parameter){sql_copy(statement, 0, arena),
                                                    sql_copy(statement, 1, arena)}));
    sqlite3_finalize(statement);
    if (status == 0 && found.count) {
        struct result_parameter *kept = arena_alloc(arena, found.count * sizeof *kept);
        memcpy(kept, found.items, found.count * sizeof *kept);
        run->parameters = kept;
        run->parameter_count = found.count;
    }
    vec_release(&found);
    return status;
}

static const char run_query[] =
    "SELECT id, point, repetition, seed, state, error, replay, hash, wall_s, name, version,"
    " (SELECT count(*) FROM checked WHERE run = id),"
    " (SELECT count(*) FROM checked WHERE run = id AND NOT holds) FROM run";

static struct result_run read_run(sqlite3_stmt *statement, struct arena *arena)
{
    return (struct result_run){
        .id = sqlite3_column_int64(statement, 0),
        .point = sql_copy(statement, 1, arena),
        .repetition = (uint32_t)sqlite3_column_int64(statement, 2),
        .seed = (uint64_t)sqlite3_column_int64(statement, 3),
        .failed = strcmp(sql_text(statement, 4), "failed") == 0,
        .error = sql_copy(statement, 5, arena),
        .replay = sql_copy(statement, 6, arena),
        .hash = strtoull(sql_text(statement, 7), NULL, 16),
        .wall_s = sqlite3_column_double(statement, 8),
        .name = sql_copy(statement, 9, arena),
        .version = sql_copy(statement, 10, arena),
        .checks = (uint32_t)sqlite3_column_int64(statement, 11),
        .checks_failed = (uint32_t)sqlite3_column_int64(statement, 12),
    };
}

/* Parameter by parameter, so that a sweep's runs come in the order of its lines. */
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
    sqlite3_finalize(statement);
    for (size_t i = 0; i < runs->items.count && status == 0; i++)
        status = read_parameters(store, &runs->items.items[i], &runs->arena, err);
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

int result_store_read_texts(struct result_store *store, struct result_run *run, struct arena *arena,
                            struct err *err)
{
    sqlite3_stmt *statement;
    int status = sql_prepare(store, &statement,
                             "SELECT s.body, t.body, n.body FROM run r"
                             " JOIN text s ON s.id = r.scenario JOIN text t ON t.id = r.template"
                             " JOIN text n ON n.id = r.topology WHERE r.id = ?1",
                             err);
    if (status)
        return status;
    sql_bind(statement, "i", run->id);
    status = sql_step(store, statement, err);
    if (status == 1) {
        run->scenario = sql_copy(statement, 0, arena);
        run->template = sql_copy(statement, 1, arena);
        run->topology = sql_copy(statement, 2, arena);
    }
    sqlite3_finalize(statement);
    if (status == 0)
        return err_at(err, ENOENT, store->path, 0, "there is no such run any more");
    return status < 0 ? status : 0;
}

int result_store_find_other_template(struct result_store *store, const char *template,
                                     struct arena *arena, const char **other, struct err *err)
{
    sqlite3_stmt *statement;
    int status = sql_prepare(store, &statement,
                             "SELECT body FROM text WHERE id IN (SELECT template FROM run)"
                             " AND body <> ?1 ORDER BY id LIMIT 1",
                             err);
    *other = NULL;
    if (status)
        return status;
    sql_bind(statement, "s", template);
    status = sql_step(store, statement, err);
    if (status == 1)
        *other = sql_copy(statement, 0, arena);
    sqlite3_finalize(statement);
    return status < 0 ? status : 0;
}

bool result_store_has(struct result_store *store, const char *point, uint32_t repetition,
                      bool *failed)
{
    int64_t number;
    int status = sql_number(store, NULL, &number,
                            "SELECT state = 'failed' FROM run WHERE point = ?1 AND repetition = ?2",
                            "si", point, (int64_t)repetition);
    if (status == 0 && failed)
        *failed = number != 0;
    return status == 0;
}

/* ---- results ---- */

/* SQLite has no "not a number": it keeps none at all. */
static double read_value(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL
               ? (double)NAN
               : sqlite3_column_double(statement, column);
}

static int read_figures(struct result_store *store, int64_t run, struct results *results,
                        struct err *err)
{
    sqlite3_stmt *statement;
    int status = sql_prepare(store, &statement,
                             "SELECT name, unit, value FROM figure WHERE run = ?1 ORDER BY n", err);
    if (status)
        return status;
    sql_bind(statement, "i", run);
    while ((status = sql_step(store, statement, err)) == 1)
        results_set(results, sql_text(statement, 0), read_value(statement, 2),
                    sql_text(statement, 1));
    sqlite3_finalize(statement);
    return status;
}

static int read_points(struct result_store *store, int64_t run, int64_t n, size_t series,
                       struct results *results, struct err *err)
{
    sqlite3_stmt *statement;
    int status = sql_prepare(store, &statement,
                             "SELECT time_ps, value FROM series_point"
                             " WHERE run = ?1 AND series = ?2 ORDER BY n",
                             err);
    if (status)
        return status;
    sql_bind(statement, "ii", run, n);
    while ((status = sql_step(store, statement, err)) == 1)
        results_add_point(results, series, (uint64_t)sqlite3_column_int64(statement, 0),
                          read_value(statement, 1));
    sqlite3_finalize(statement);
    return status;
}

static int read_series(struct result_store *store, int64_t run, struct results *results,
                       struct err *err)
{
    sqlite3_stmt *statement;
    int status = sql_prepare(store, &statement,
                             "SELECT n, name, unit FROM series WHERE run = ?1 ORDER BY n", err);
    if (status)
        return status;
    sql_bind(statement, "i", run);
    while ((status = sql_step(store, statement, err)) == 1) {
        size_t series = results_series(results, sql_text(statement, 1), sql_text(statement, 2));
        status = read_points(store, run, sqlite3_column_int64(statement, 0), series, results, err);
        if (status)
            break;
    }
    sqlite3_finalize(statement);
    return status;
}

int result_store_read_results(struct result_store *store, int64_t run, struct results *results,
                              struct err *err)
{
    int status = read_figures(store, run, results, err);
    return status ? status : read_series(store, run, results, err);
}

bool result_store_figure(struct result_store *store, int64_t run, const char *name, double *value)
{
    sqlite3_stmt *statement;
    if (sql_prepare(store, &statement, "SELECT value FROM figure WHERE name = ?1 AND run = ?2",
                    NULL) < 0)
        return false;
    sql_bind(statement, "si", name, run);
    bool found = sql_step(store, statement, NULL) == 1;
    if (found)
        *value = read_value(statement, 0);
    sqlite3_finalize(statement);
    return found;
}

/* ---- stories ---- */

static enum run_record_kind parse_kind(const char *text)
{
    switch (text[0]) {
    case 'c': return RUN_RECORD_CHECK;
    case 'e': return RUN_RECORD_EVENT;
    default: return strcmp(text, "action") == 0 ? RUN_RECORD_ACTION : RUN_RECORD_ALARM;
    }
}

static int read_events(struct result_store *store, int64_t run, struct run_record *run_record,
                       struct err *err)
{
    sqlite3_stmt *statement;
    int status =
        sql_prepare(store, &statement,
                    "SELECT time_ps, kind, who, text FROM event WHERE run = ?1 ORDER BY n", err);
    if (status)
        return status;
    sql_bind(statement, "i", run);
    while ((status = sql_step(store, statement, err)) == 1)
        vec_push(&run_record->events,
                 ((struct run_record_event){.kind = parse_kind(sql_text(statement, 1)),
                                            .time = (uint64_t)sqlite3_column_int64(statement, 0),
                                            .who = sql_copy(statement, 2, &run_record->arena),
                                            .text = sql_copy(statement, 3, &run_record->arena)}));
    sqlite3_finalize(statement);
    return status;
}

static int read_changes(struct result_store *store, int64_t run, struct run_record *run_record,
                        struct err *err)
{
    sqlite3_stmt *statement;
    int status = sql_prepare(store, &statement,
                             "SELECT who, cause, begin_ps, routed_ps, end_ps, gets, sets, blocks,"
                             " finished, fault_ps, routing_ps, computing_ps, fault_ps IS NOT NULL"
                             " FROM change WHERE run = ?1 ORDER BY n",
                             err);
    if (status)
        return status;
    sql_bind(statement, "i", run);
    while ((status = sql_step(store, statement, err)) == 1)
        vec_push(
            &run_record->changes,
            ((struct run_record_change){.who = sql_copy(statement, 0, &run_record->arena),
                                        .cause = sql_copy(statement, 1, &run_record->arena),
                                        .begin = (uint64_t)sqlite3_column_int64(statement, 2),
                                        .routed = (uint64_t)sqlite3_column_int64(statement, 3),
                                        .end = (uint64_t)sqlite3_column_int64(statement, 4),
                                        .gets = (uint64_t)sqlite3_column_int64(statement, 5),
                                        .sets = (uint64_t)sqlite3_column_int64(statement, 6),
                                        .blocks = (uint64_t)sqlite3_column_int64(statement, 7),
                                        .finished = sqlite3_column_int(statement, 8) != 0,
                                        .fault = (uint64_t)sqlite3_column_int64(statement, 9),
                                        .routing = (uint64_t)sqlite3_column_int64(statement, 10),
                                        .computing = (uint64_t)sqlite3_column_int64(statement, 11),
                                        .tied = sqlite3_column_int(statement, 12) != 0}));
    sqlite3_finalize(statement);
    return status;
}

static int read_checks(struct result_store *store, int64_t run, struct run_record *run_record,
                       struct err *err)
{
    sqlite3_stmt *statement;
    int status = sql_prepare(store, &statement,
                             "SELECT line, number, time_ps, holds, finding FROM checked"
                             " WHERE run = ?1 ORDER BY n",
                             err);
    if (status)
        return status;
    sql_bind(statement, "i", run);
    while ((status = sql_step(store, statement, err)) == 1)
        vec_push(&run_record->checks, ((struct run_record_check){
                                          .line = sql_copy(statement, 0, &run_record->arena),
                                          .number = (unsigned)sqlite3_column_int(statement, 1),
                                          .time = (uint64_t)sqlite3_column_int64(statement, 2),
                                          .holds = sqlite3_column_int(statement, 3) != 0,
                                          .finding = sql_copy(statement, 4, &run_record->arena)}));
    sqlite3_finalize(statement);
    return status;
}

static int read_totals(struct result_store *store, int64_t run, struct run_record *run_record,
                       struct err *err)
{
    sqlite3_stmt *statement;
    int status =
        sql_prepare(store, &statement,
                    "SELECT name, seed, end_ps, hash, smps, lost, hops, switches, adapters,"
                    " verdict FROM run WHERE id = ?1",
                    err);
    if (status)
        return status;
    sql_bind(statement, "i", run);
    status = sql_step(store, statement, err);
    if (status == 1) {
        run_record->file = sql_copy(statement, 0, &run_record->arena);
        run_record->seed = (uint64_t)sqlite3_column_int64(statement, 1);
        run_record->end = (uint64_t)sqlite3_column_int64(statement, 2);
        run_record->hash = strtoull(sql_text(statement, 3), NULL, 16);
        run_record->smps = (uint64_t)sqlite3_column_int64(statement, 4);
        run_record->lost = (uint64_t)sqlite3_column_int64(statement, 5);
        run_record->hops = (uint64_t)sqlite3_column_int64(statement, 6);
        run_record->switches = (uint32_t)sqlite3_column_int64(statement, 7);
        run_record->adapters = (uint32_t)sqlite3_column_int64(statement, 8);
        if (sqlite3_column_type(statement, 9) != SQLITE_NULL)
            run_record->verdict = sql_copy(statement, 9, &run_record->arena);
    }
    sqlite3_finalize(statement);
    if (status == 0)
        return err_at(err, ENOENT, store->path, 0, "there is no such run any more");
    return status < 0 ? status : 0;
}

int result_store_read_story(struct result_store *store, int64_t run, struct run_record *run_record,
                            struct err *err)
{
    int status = read_totals(store, run, run_record, err);
    if (status == 0)
        status = read_events(store, run, run_record, err);
    if (status == 0)
        status = read_changes(store, run, run_record, err);
    return status ? status : read_checks(store, run, run_record, err);
}
