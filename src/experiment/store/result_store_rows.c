/* One table for each kind of row: adding, reading and copying use it. */
#include "experiment/store/result_store_sql.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

enum { COLUMNS_MOST = 12 };

/* Kinds of columns: s text, i uint64_t, u unsigned, b bool, d double (NaN is NULL), k kind of an
 * event by name, f fault of a change (NULL: none). */
#define AT(type, name) offsetof(struct type, name)
static const struct table {
    const char *name;
    const char *part; /* column of the part, or "" */
    size_t bytes;     /* size of the struct */
    const char *columns, *kinds;
    size_t members[COLUMNS_MOST];
} tables[ROWS_TABLES] = {
    [ROWS_PARAMETERS] = {"parameter",
                         "",
                         sizeof(struct result_parameter),
                         "name, value",
                         "ss",
                         {AT(result_parameter, name), AT(result_parameter, value)}},
    [ROWS_FIGURES] = {"figure",
                      "",
                      sizeof(struct figure),
                      "name, unit, value",
                      "ssd",
                      {AT(figure, name), AT(figure, unit), AT(figure, value)}},
    [ROWS_SERIES] = {"series",
                     "",
                     sizeof(struct series),
                     "name, unit",
                     "ss",
                     {AT(series, name), AT(series, unit)}},
    [ROWS_POINTS] = {"series_point",
                     "series, ",
                     sizeof(struct point),
                     "time_ps, value",
                     "id",
                     {AT(point, time), AT(point, value)}},
    [ROWS_EVENTS] = {"event",
                     "",
                     sizeof(struct run_record_event),
                     "time_ps, kind, who, text",
                     "ikss",
                     {AT(run_record_event, time), AT(run_record_event, kind),
                      AT(run_record_event, who), AT(run_record_event, text)}},
    [ROWS_CHANGES] = {"change",
                      "",
                      sizeof(struct run_record_change),
                      "who, cause, fault_ps, begin_ps, routing_ps, computing_ps, routed_ps, end_ps,"
                      " gets, sets, blocks, finished",
                      "ssfiiiiiiiib",
                      {AT(run_record_change, who), AT(run_record_change, cause),
                       AT(run_record_change, fault), AT(run_record_change, begin),
                       AT(run_record_change, routing), AT(run_record_change, computing),
                       AT(run_record_change, routed), AT(run_record_change, end),
                       AT(run_record_change, gets), AT(run_record_change, sets),
                       AT(run_record_change, blocks), AT(run_record_change, finished)}},
    [ROWS_CHECKS] = {"checked",
                     "",
                     sizeof(struct run_record_check),
                     "line, number, time_ps, holds, finding",
                     "suibs",
                     {AT(run_record_check, line), AT(run_record_check, number),
                      AT(run_record_check, time), AT(run_record_check, holds),
                      AT(run_record_check, finding)}},
};

/* ---- adding ---- */

static void bind_member(sqlite3_stmt *statement, int at, char kind, const void *member,
                        const void *row)
{
    switch (kind) {
    case 's': sqlite.bind_text(statement, at, *(char *const *)member, -1, SQLITE_STATIC); break;
    case 'i': sqlite.bind_int64(statement, at, *(const int64_t *)member); break;
    case 'u': sqlite.bind_int64(statement, at, *(const unsigned *)member); break;
    case 'b': sqlite.bind_int(statement, at, *(const bool *)member); break;
    case 'd': sqlite.bind_double(statement, at, *(const double *)member); break;
    case 'k':
        sqlite.bind_text(statement, at,
                         run_record_kind_names[*(const enum run_record_kind *)member], -1,
                         SQLITE_STATIC);
        break;
    default:
        if (((const struct run_record_change *)row)->tied)
            sqlite.bind_int64(statement, at, *(const int64_t *)member);
        else
            sqlite.bind_null(statement, at);
    }
}

int rows_add(struct result_store *store, unsigned number, int64_t run, int64_t part,
             const void *rows, size_t count, struct err *err)
{
    assert(number < ROWS_TABLES);
    const struct table *table = &tables[number];
    unsigned columns = (unsigned)strlen(table->kinds), fixed = table->part[0] ? 3 : 2;
    struct text sql = {0};
    sqlite3_stmt *statement;
    text_printf(&sql, "INSERT INTO %s(run, n, %s%s) VALUES(?", table->name, table->part,
                table->columns);
    for (unsigned i = 1; i < fixed + columns; i++)
        text_puts(&sql, ", ?");
    text_putc(&sql, ')');
    int status = sql_prepare(store, &statement, sql.data, err);
    for (size_t i = 0; i < count && status == 0; i++) {
        const char *row = (const char *)rows + i * table->bytes;
        sql_bind(statement, fixed == 3 ? "iii" : "ii", run, (int64_t)i, part);
        for (unsigned c = 0; c < columns; c++)
            bind_member(statement, (int)(fixed + c + 1), table->kinds[c], row + table->members[c],
                        row);
        status = sql_step(store, statement, err);
    }
    sqlite.finalize(statement);
    text_release(&sql);
    return status;
}

/* ---- reading ---- */

static void read_member(sqlite3_stmt *statement, int at, char kind, void *member, void *row,
                        struct arena *arena)
{
    bool is_null = sqlite.column_type(statement, at) == SQLITE_NULL;
    switch (kind) {
    case 's': *(const char **)member = sql_copy(statement, at, arena); break;
    case 'i': *(int64_t *)member = sqlite.column_int64(statement, at); break;
    case 'u': *(unsigned *)member = (unsigned)sqlite.column_int64(statement, at); break;
    case 'b': *(bool *)member = sqlite.column_int(statement, at) != 0; break;
    case 'd':
        *(double *)member = is_null ? (double)NAN : sqlite.column_double(statement, at);
        break;
    case 'k':
        for (enum run_record_kind one = 0; one < RUN_RECORD_KINDS; one++)
            if (strcmp(run_record_kind_names[one], sql_text(statement, at)) == 0)
                *(enum run_record_kind *)member = one;
        break;
    default:
        ((struct run_record_change *)row)->tied = !is_null;
        *(int64_t *)member = sqlite.column_int64(statement, at);
    }
}

void *rows_read(struct result_store *store, unsigned number, int64_t run, int64_t part,
                struct arena *arena, size_t *count, int *status, struct err *err)
{
    assert(number < ROWS_TABLES);
    const struct table *table = &tables[number];
    struct text sql = {0};
    sqlite3_stmt *statement;
    char *rows = NULL;
    size_t capacity = 0;
    *count = 0;
    text_printf(&sql, "SELECT %s FROM %s WHERE run = ?1%s ORDER BY n", table->columns, table->name,
                table->part[0] ? " AND series = ?2" : "");
    *status = sql_prepare(store, &statement, sql.data, err);
    if (*status == 0)
        sql_bind(statement, table->part[0] ? "ii" : "i", run, part);
    while (*status == 0 && (*status = sql_step(store, statement, err)) == 1) {
        rows = mem_reserve(rows, &capacity, *count + 1, table->bytes);
        char *row = memset(rows + *count * table->bytes, 0, table->bytes);
        for (int c = 0; table->kinds[c]; c++)
            read_member(statement, c, table->kinds[c], row + table->members[c], row, arena);
        ++*count;
        *status = 0;
    }
    sqlite.finalize(statement);
    text_release(&sql);
    if (*status)
        *count = 0;
    return rows;
}

/* ---- copying ---- */

int rows_copy(struct result_store *store, int64_t from, int64_t to, struct err *err)
{
    struct text sql = {0};
    int status = 0;
    for (const struct table *table = tables; table < tables + ROWS_TABLES && status == 0; table++) {
        text_clear(&sql);
        text_printf(
            &sql, "INSERT INTO %s(run, n, %s%s) SELECT ?2, n, %s%s FROM other.%s WHERE run = ?1",
            table->name, table->part, table->columns, table->part, table->columns, table->name);
        status = sql_do(store, err, sql.data, "ii", from, to);
    }
    text_release(&sql);
    return status;
}
