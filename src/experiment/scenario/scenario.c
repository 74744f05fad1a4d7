/* Parses a scenario line by line: a table gives the reader of each kind of statement, and other
 * statements begin with the verb of an action. Settings of the command line become further
 * statements at the end of the list. Nothing is executed here: see setup.c and run.c. */
#include "experiment/scenario/scenario.h"

#include "base/file.h"
#include "base/time.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

enum { FILE_LIMIT = 1024 * 1024 };
#define SETTLE_LIMIT (60 * TIME_S)

bool statement_sets(const struct statement *statement, const char *scope, bool in_file)
{
    return statement->kind == STATEMENT_SET && !statement->setting == in_file &&
           strcmp(statement->words[0].text, scope) == 0;
}

const struct statement *scenario_next(const struct scenario *scenario, enum statement_kind kind,
                                      const struct statement *last)
{
    const struct statement *end = scenario->statements.items + scenario->statements.count;
    const struct statement *next = last ? last + 1 : scenario->statements.items;
    while (next < end && next->kind != kind)
        next++;
    return next < end ? next : NULL;
}

const struct statement *scenario_last(const struct scenario *scenario, enum statement_kind kind)
{
    for (size_t i = scenario->statements.count; i-- > 0;)
        if (scenario->statements.items[i].kind == kind)
            return &scenario->statements.items[i];
    return NULL;
}

const struct statement *scenario_settled_run(const struct scenario *scenario,
                                             const struct statement *statement)
{
    bool of_setup = statement->kind == STATEMENT_TRAFFIC || statement->kind == STATEMENT_MEASURE ||
                    statement->kind == STATEMENT_COLLECT;
    const struct statement *found = NULL;
    for (size_t i = 0; i < scenario->statements.count; i++) {
        const struct statement *run = &scenario->statements.items[i];
        if (run >= statement && (found || !of_setup))
            break;
        if (run->kind == STATEMENT_RUN && run->run.kind == RUN_UNTIL_SETTLED)
            found = run;
    }
    return found;
}

/* ---- statements ---- */

/* Copies the words that are left on the line, without taking them. */
static void keep_words(struct statement *statement, struct cursor *cursor)
{
    size_t bytes = (cursor->count - cursor->at) * sizeof *statement->words;
    statement->word_count = cursor->count - cursor->at;
    statement->words = arena_alloc(cursor->arena, bytes + 1);
    memcpy(statement->words, cursor->words + cursor->at, bytes);
}

static void read_topology(struct statement *statement, struct cursor *cursor)
{
    struct word word;
    keep_words(statement, cursor);
    cursor_take(cursor, "a file, or a kind of fabric such as 'clos 3 1 4'", &word);
    cursor->at = cursor->count; /* parameters are checked when the fabric is generated */
}

static void read_preset(struct statement *statement, struct cursor *cursor)
{
    static const char *const presets[] = {"today", "paper"};
    unsigned index;
    keep_words(statement, cursor);
    cursor_take_choice(cursor, "preset", presets, 2, &index);
}

static void read_seed(struct statement *statement, struct cursor *cursor)
{
    cursor_take_number(cursor, "a seed", 0, UINT64_MAX, &statement->number);
}

/* set [SCOPE] KEY VALUE; `switch` and `adapter` may have a '*' behind them. */
static void read_set(struct statement *statement, struct cursor *cursor)
{
    struct word *words = arena_alloc(cursor->arena, 3 * sizeof *words);
    unsigned left = cursor->count - cursor->at;
    words[0] = (struct word){"", cursor->end.line, cursor->end.column};
    if (left >= 3)
        cursor_take(cursor, "a scope", &words[0]);
    if (left >= 4 &&
        (strcmp(words[0].text, "switch") == 0 || strcmp(words[0].text, "adapter") == 0)) {
        const struct word *pattern = &cursor->words[cursor->at];
        if (!cursor_accept(cursor, "*"))
            word_error(cursor, pattern,
                       "'%.80s': expected '*', or 'set PATTERN KEY VALUE' for some", pattern->text);
    }
    cursor_take(cursor, "an attribute", &words[1]);
    cursor_take(cursor, "a value", &words[2]);
    statement->words = words;
    statement->word_count = 3;
}

static void read_manager(struct statement *statement, struct cursor *cursor)
{
    struct word word;
    keep_words(statement, cursor);
    cursor_take(cursor, "the node where the manager sits", &word);
    while (!cursor_is_done(cursor)) {
        cursor_take(cursor, "a key", &word);
        if (strcmp(word.text, "stopped") == 0)
            break;
        cursor_take(cursor, "a value", &word);
    }
}

static void read_traffic(struct statement *statement, struct cursor *cursor)
{
    statement->spec = arena_alloc(cursor->arena, sizeof *statement->spec);
    traffic_spec_read(statement->spec, cursor);
}

static void read_connection(struct statement *statement, struct cursor *cursor)
{
    statement->connection = arena_alloc(cursor->arena, sizeof *statement->connection);
    connection_spec_read(statement->connection, cursor);
}

/* connect all PATTERN … */
static void read_connect(struct statement *statement, struct cursor *cursor)
{
    statement->connection = arena_alloc(cursor->arena, sizeof *statement->connection);
    connect_spec_read(statement->connection, cursor);
}

/* alternate N auto|LID */
static void read_alternate(struct statement *statement, struct cursor *cursor)
{
    cursor_take_number(cursor, "the number of a connection", 1, UINT32_MAX, &statement->number);
    alternate_spec_read(&statement->alternate, cursor);
}

/* measure from MOMENT [to MOMENT] */
static void read_measure(struct statement *statement, struct cursor *cursor)
{
    struct measuring_window *window = &statement->window;
    window->to = (struct moment){.ps = TIME_NEVER};
    cursor_take_exact(cursor, "from");
    moment_take(cursor, &window->from);
    if (!cursor_is_done(cursor)) {
        cursor_take_exact(cursor, "to");
        moment_take(cursor, &window->to);
        if (window->to.settled == window->from.settled && window->to.ps <= window->from.ps)
            word_error(cursor, &cursor->words[cursor->at - 1], "the window ends before it begins");
    }
}

static void read_collect(struct statement *statement, struct cursor *cursor)
{
    statement->collections = arena_alloc(cursor->arena, sizeof *statement->collections);
    statement->collection_count = 1;
    collect_read(statement->collections, cursor);
}

static void read_every(struct statement *statement, struct cursor *cursor)
{
    collect_read_samples(&statement->collections, &statement->collection_count, cursor);
}

/* on deadlock stop|continue
 * on steady PERCENT stop|continue */
static void read_on(struct statement *statement, struct cursor *cursor)
{
    static const char *const what[] = {"continue", "stop"};
    unsigned index;
    if (cursor_accept(cursor, "steady")) {
        statement->kind = STATEMENT_ON_STEADY;
        cursor_take_percent(cursor, &statement->number);
    } else {
        cursor_take_exact(cursor, "deadlock");
        statement->number = 1;
    }
    if (cursor_take_choice(cursor, "thing to do then", what, 2, &index) == 0 && index == 0)
        statement->number = 0;
}

/* [at MOMENT | after TIME [within TIME]] ACTION */
static void read_action(struct statement *statement, struct cursor *cursor)
{
    struct timing *timing = &statement->timing;
    cursor->at--; /* the statement's word is the action's */
    if (cursor_accept(cursor, "at"))
        timing->when = ACTION_AT;
    else if (cursor_accept(cursor, "after"))
        timing->when = ACTION_AFTER;
    if (timing->when != ACTION_NOW) {
        timing->word = cursor_next(cursor);
        if (timing->when == ACTION_AT)
            moment_take(cursor, &timing->time);
        else
            cursor_take_time(cursor, &timing->time.ps);
        if (cursor_accept(cursor, "within"))
            cursor_take_time(cursor, &timing->within);
    }
    action_read(&statement->action, cursor);
}

static void read_run(struct statement *statement, struct cursor *cursor)
{
    struct run *run = &statement->run;
    run->word = cursor_next(cursor);
    if (cursor_accept(cursor, "until")) {
        run->kind = RUN_UNTIL_SETTLED;
        run->time.ps = SETTLE_LIMIT;
        cursor_take_exact(cursor, "settled");
        if (!cursor_is_done(cursor)) {
            cursor_take_exact(cursor, "limit");
            cursor_take_time(cursor, &run->time.ps);
        }
    } else if (cursor_accept(cursor, "for")) {
        run->kind = RUN_FOR;
        cursor_take_time(cursor, &run->time.ps);
    } else {
        run->kind = RUN_TO;
        moment_take(cursor, &run->time);
    }
}

static void read_check(struct statement *statement, struct cursor *cursor)
{
    check_statement_read(&statement->check, cursor);
}

static const struct {
    const char *name;
    enum statement_kind kind;
    void (*read)(struct statement *statement, struct cursor *cursor);
} kinds[] = {
    {"topology", STATEMENT_TOPOLOGY, read_topology},
    {"preset", STATEMENT_PRESET, read_preset},
    {"seed", STATEMENT_SEED, read_seed},
    {"set", STATEMENT_SET, read_set},
    {"sm", STATEMENT_MANAGER, read_manager},
    {"traffic", STATEMENT_TRAFFIC, read_traffic},
    {"connect", STATEMENT_CONNECTION, read_connect},
    {"connection", STATEMENT_CONNECTION, read_connection},
    {"alternate", STATEMENT_ALTERNATE, read_alternate},
    {"measure", STATEMENT_MEASURE, read_measure},
    {"collect", STATEMENT_COLLECT, read_collect},
    {"every", STATEMENT_COLLECT, read_every},
    {"on", STATEMENT_ON_DEADLOCK, read_on},
    {"at", STATEMENT_ACTION, read_action},
    {"after", STATEMENT_ACTION, read_action},
    {"run", STATEMENT_RUN, read_run},
    {"check", STATEMENT_CHECK, read_check},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Verbs of actions are statements, too. A reader takes the words of its statement; the cursor keeps
 * the first error. */
static int read_statement(struct scenario *scenario, struct cursor *cursor, const char *line)
{
    struct statement statement = {.kind = STATEMENT_ACTION, .line = line};
    const char *names[KINDS + ACTION_VERBS];
    unsigned kind;
    for (unsigned i = 0; i < KINDS; i++)
        names[i] = kinds[i].name;
    size_t count = KINDS + action_verbs(names + KINDS);
    statement.word = cursor_next(cursor);
    cursor_take_choice(cursor, "statement", names, count, &kind);
    if (kind < KINDS) {
        statement.kind = kinds[kind].kind;
        kinds[kind].read(&statement, cursor);
    } else {
        read_action(&statement, cursor);
    }
    if (cursor_take_end(cursor) == 0)
        vec_push(&scenario->statements, statement);
    return cursor->status;
}

/* ---- files ---- */

/* Each statement keeps its line as written, without comment and indentation. */
int scenario_read_text(struct scenario *scenario, const char *name, const char *text, size_t length,
                       struct err *err)
{
    struct line_reader *reader = from_bytes(name, text, length, err);
    struct cursor cursor;
    if (length > FILE_LIMIT)
        return err_at(err, EFBIG, name, 0, "more than %d MiB", FILE_LIMIT >> 20);
    *scenario = (struct scenario){0};
    scenario->file = reader->file = arena_strdup(&scenario->arena, name);
    scenario->text = arena_strndup(&scenario->arena, text, length);
    reader->arena = &scenario->arena;
    while (line_reader_next(reader, &cursor)) {
        size_t start = cursor.words[0].column - 1;
        reader->status = read_statement(
            scenario, &cursor,
            arena_strndup(reader->arena, reader->line + start, cursor.end.column - 1 - start));
    }
    if (reader->status)
        scenario_release(scenario);
    return reader->status;
}

int scenario_read(struct scenario *scenario, const char *path, struct err *err)
{
    struct text text;
    int status = file_read(path, FILE_LIMIT, &text, err);
    if (status == 0)
        status = scenario_read_text(scenario, path, text.data, text.length, err);
    text_release(&text);
    return status;
}

int scenario_override(struct scenario *scenario, const char *setting, struct err *err)
{
    static const char *const scopes[] = {"sm.", "vm.", "topology.", "traffic."};
    struct arena *arena = &scenario->arena;
    const char *equals = strchr(setting, '='), *key = setting;
    struct statement statement = {.kind = STATEMENT_SET, .line = "", .word_count = 3};
    if (!equals)
        return err_set(err, EINVAL, "--set %.120s: expected KEY=VALUE", setting);
    for (unsigned i = 0; i < sizeof scopes / sizeof scopes[0]; i++)
        if (strncmp(setting, scopes[i], strlen(scopes[i])) == 0)
            key = setting + strlen(scopes[i]);
    if (isdigit((unsigned char)*key) && key[strspn(key, "0123456789")] == '.') /* traffic.2.size */
        key += strspn(key, "0123456789") + 1;
    size_t scope = key > setting ? (size_t)(key - setting) - 1 : 0; /* without the dot */
    statement.setting = arena_printf(arena, "--set %.120s", setting);
    statement.words = arena_alloc(arena, 3 * sizeof *statement.words);
    statement.words[0].text = arena_strndup(arena, setting, scope);
    statement.words[1].text = arena_strndup(arena, key, (size_t)(equals - key));
    statement.words[2].text = arena_strdup(arena, equals + 1);
    if (strcmp(statement.words[1].text, "preset") == 0 && scope == 0) {
        statement.kind = STATEMENT_PRESET;
        statement.words[0] = statement.words[2];
    }
    vec_push(&scenario->statements, statement);
    return 0;
}

void scenario_override_seed(struct scenario *scenario, uint64_t seed)
{
    struct statement statement = {.kind = STATEMENT_SEED, .line = "", .number = seed};
    vec_push(&scenario->statements, statement);
}

void scenario_override_steady(struct scenario *scenario, uint64_t parts)
{
    struct statement statement = {.kind = STATEMENT_ON_STEADY, .line = "", .number = parts};
    vec_push(&scenario->statements, statement);
}

void scenario_release(struct scenario *scenario)
{
    vec_release(&scenario->statements);
    arena_release(&scenario->arena);
    *scenario = (struct scenario){0};
}
