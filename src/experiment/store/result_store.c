/* Opens stores and adds runs. Other files: result_store_read.c reads, result_store_merge.c merges
 * stores, result_store_rows.c maps structs to rows, result_store_sql.c has the tables. */
#include "experiment/store/result_store.h"

#include "base/map.h"
#include "experiment/store/result_store_sql.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { WAIT_MS = 60000 }; /* while another process writes */

/* ---- opening ---- */

int result_store_open(struct result_store **out, const char *path, enum result_store_mode mode,
                      struct err *err)
{
    struct stat found;
    bool write = mode == RESULT_STORE_WRITE;
    int status = sqlite_library_open(err);
    *out = NULL;
    if (status)
        return status;
    if (stat(path, &found) < 0 && !(write && errno == ENOENT))
        return err_at(err, errno, path, 0, "%s", strerror(errno));
    struct result_store *store = mem_zalloc(1, sizeof *store);
    store->path = mem_strdup(path);
    /* Readers need write access, too: SQLite rolls back what a killed process left. */
    int flags = SQLITE_OPEN_READWRITE | (write ? SQLITE_OPEN_CREATE : 0);
    status = sqlite.open_v2(path, &store->db, flags, NULL) ? sql_error(store, err) : 0;
    if (status == 0) {
        sqlite.busy_timeout(store->db, WAIT_MS);
        status = sql_prepare_tables(store, write, err);
    }
    if (status) {
        result_store_close(store);
        return status;
    }
    *out = store;
    return 0;
}

void result_store_close(struct result_store *store)
{
    if (!store)
        return;
    sqlite.close(store->db);
    mem_free(store->path);
    mem_free(store);
}

const char *result_store_path(const struct result_store *store)
{
    return store->path;
}

/* ---- points ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct result_parameter *)a)->name,
                  ((const struct result_parameter *)b)->name);
}

void result_point(const struct result_parameter *parameters, size_t count, struct text *out)
{
    struct result_parameter *sorted = mem_zalloc(count + 1, sizeof *sorted);
    if (count)
        memcpy(sorted, parameters, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_names);
    text_puts(out, "");
    for (size_t i = 0; i < count; i++) {
        const char *value = sorted[i].value;
        const char *quote = !*value || strpbrk(value, " \t") ? "\"" : "";
        text_printf(out, "%s%s=%s%s%s", i ? " " : "", sorted[i].name, quote, value, quote);
    }
    mem_free(sorted);
}

const char *result_parameter(const struct result_parameter *parameters, size_t count,
                             const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(parameters[i].name, name) == 0)
            return parameters[i].value;
    return NULL;
}

/* strtod() also accepts "nan" and "infiniband". */
static bool parse_value(const char *text, double *number)
{
    const char *digits = text + (*text == '-' || *text == '+');
    char *end;
    *number = strtod(text, &end);
    return end > text && (isdigit((unsigned char)*digits) || *digits == '.');
}

bool result_is_number(const char *value)
{
    char *end;
    double number = strtod(value, &end);
    return end != value && *end == '\0' && isfinite(number);
}

int result_compare_values(const char *a, const char *b)
{
    double x, y;
    bool a_number = parse_value(a, &x), b_number = parse_value(b, &y);
    if (a_number != b_number)
        return a_number ? -1 : 1;
    if (a_number && x != y)
        return x < y ? -1 : 1;
    return strverscmp(a, b);
}

static int compare_items(const void *a, const void *b)
{
    return result_compare_values(*(const char *const *)a, *(const char *const *)b);
}

size_t result_sort_values(const char **values, size_t count)
{
    size_t left = 0;
    if (count)
        qsort(values, count, sizeof *values, compare_items);
    for (size_t i = 0; i < count; i++)
        if (left == 0 || strcmp(values[left - 1], values[i]) != 0)
            values[left++] = values[i];
    return left;
}

/* ---- a run's place ---- */

int result_store_place(struct result_store *store, const struct result_run *run, int64_t *replaces,
                       struct err *err)
{
    assert(run->point && run->repetition > 0);
    sqlite3_stmt *statement;
    char hash[24];
    int status = sql_query(store, &statement, err,
                           "SELECT id, state, seed, hash, version FROM run"
                           " WHERE point = ?1 AND repetition = ?2",
                           "si", run->point, (int64_t)run->repetition);
    *replaces = 0;
    snprintf(hash, sizeof hash, "%016" PRIx64, run->hash);
    if (status == 0) {
        status = 1;
    } else if (status == 1) {
        uint64_t seed = (uint64_t)sqlite.column_int64(statement, 2);
        bool failed = strcmp(sql_text(statement, 1), "failed") == 0;
        if (seed != run->seed)
            status = err_at(err, EEXIST, store->path, 0,
                            "'%.100s', repetition %" PRIu32 ", is there already with seed %" PRIu64
                            ", not %" PRIu64 ": one store holds one sweep with one seed",
                            run->point, run->repetition, seed, run->seed);
        else if (!failed && !run->failed && strcmp(sql_text(statement, 3), hash) != 0)
            status = err_at(err, EEXIST, store->path, 0,
                            "'%.100s', repetition %" PRIu32 ", seed %" PRIu64
                            ": the trace is %s by weft %.40s and %s by weft %.40s: the scenario, "
                            "its files or the program changed",
                            run->point, run->repetition, seed, sql_text(statement, 3),
                            sql_text(statement, 4), hash, run->version);
        else if (failed)
            *replaces = sqlite.column_int64(statement, 0);
        else
            status = 0;
    }
    sqlite.finalize(statement);
    return status;
}

/* ---- adding ---- */

static int store_text(struct result_store *store, const char *body, int64_t *id, struct err *err)
{
    uint64_t hash = 0;
    body = body ? body : "";
    for (const char *at = body; *at; at++)
        hash = hash_mix(hash + (unsigned char)*at + 1);
    int status = sql_number(store, err, id, "SELECT id FROM text WHERE hash = ?1 AND body = ?2",
                            "is", (int64_t)hash, body);
    if (status != -ENOENT)
        return status;
    status = sql_do(store, err, "INSERT INTO text(hash, body) VALUES(?1, ?2)", "is", (int64_t)hash,
                    body);
    *id = sqlite.last_insert_rowid(store->db);
    return status;
}

/* The row of a run, and its parameters. */
static int add_row(struct result_store *store, const struct result_run *run, int64_t *id,
                   struct err *err)
{
    int64_t scenario, template, topology;
    char hash[24] = "";
    if (!run->failed)
        snprintf(hash, sizeof hash, "%016" PRIx64, run->hash);
    int status = store_text(store, run->scenario, &scenario, err);
    if (status == 0)
        status = store_text(store, run->template ? run->template : run->scenario, &template, err);
    if (status == 0)
        status = store_text(store, run->topology, &topology, err);
    if (status == 0)
        status = sql_do(store, err,
                        "INSERT INTO run(point, repetition, seed, state, error, replay, hash,"
                        " wall_s, name, version, scenario, template, topology)"
                        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
                        "siissssdssiii", run->point, (int64_t)run->repetition, (int64_t)run->seed,
                        run->failed ? "failed" : "done", run->error ? run->error : "",
                        run->replay ? run->replay : "", hash, run->wall_s,
                        run->name ? run->name : "", run->version, scenario, template, topology);
    *id = sqlite.last_insert_rowid(store->db);
    return status ? status
                  : rows_add(store, ROWS_PARAMETERS, *id, 0, run->parameters, run->parameter_count,
                             err);
}

/* Rows of a record and of its results. */
static int add_rows(struct result_store *store, int64_t id, const struct run_record *record,
                    const struct results *results, struct err *err)
{
    const struct results none = {0};
    results = results ? results : &none;
    const struct {
        unsigned table;
        const void *rows;
        size_t count;
    } parts[] = {{ROWS_EVENTS, record->events.items, record->events.count},
                 {ROWS_CHANGES, record->changes.items, record->changes.count},
                 {ROWS_CHECKS, record->checks.items, record->checks.count},
                 {ROWS_FIGURES, results->figures.items, results->figures.count},
                 {ROWS_SERIES, results->series.items, results->series.count}};
    int status = sql_do(store, err,
                        "UPDATE run SET switches = ?2, adapters = ?3, end_ps = ?4, smps = ?5,"
                        " lost = ?6, hops = ?7, verdict = ?8 WHERE id = ?1",
                        "iiiiiiis", id, (int64_t)record->switches, (int64_t)record->adapters,
                        (int64_t)record->end, (int64_t)record->smps, (int64_t)record->lost,
                        (int64_t)record->hops, record->verdict);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == 0; i++)
        status = rows_add(store, parts[i].table, id, 0, parts[i].rows, parts[i].count, err);
    for (size_t i = 0; i < results->series.count && status == 0; i++)
        status = rows_add(store, ROWS_POINTS, id, (int64_t)i, results->series.items[i].points.items,
                          results->series.items[i].points.count, err);
    return status;
}

int result_store_add(struct result_store *store, const struct result_run *run,
                     const struct run_record *record, const struct results *results,
                     struct err *err)
{
    struct text point = {0};
    struct result_run whole = *run;
    int64_t id, replaces;
    if (!run->point)
        result_point(run->parameters, run->parameter_count, &point);
    whole.point = run->point ? run->point : point.data;
    whole.repetition = run->repetition ? run->repetition : 1;
    whole.version = run->version ? run->version : WEFT_VERSION;
    whole.failed = !record;
    whole.hash = record ? record->hash : 0;
    int status = sql_begin(store, err);
    if (status == 0) {
        status = result_store_place(store, &whole, &replaces, err);
        bool adds = status == 1;
        if (adds)
            status = sql_do(store, err, "DELETE FROM run WHERE id = ?1", "i", replaces);
        if (adds && status == 0)
            status = add_row(store, &whole, &id, err);
        if (adds && status == 0 && record)
            status = add_rows(store, id, record, results, err);
        status = sql_end(store, status, err);
    }
    text_release(&point);
    return status;
}
