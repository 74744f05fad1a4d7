/* Reads sweeps. Errors that can be found before the first run are reported with line and column: of
 * the sweep, or of the scenario for a placeholder that nothing varies. */
#include "experiment/sweep/sweep.h"

#include "base/file.h"
#include "base/time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT = 1024 * 1024, MOST_REPETITIONS = 100000 };

/* Paths are relative to the file of the sweep. */
static const char *take_path(struct sweep *sweep, struct cursor *cursor)
{
    const char *slash = strrchr(sweep->file, '/');
    struct word word;
    cursor_take(cursor, "a file", &word);
    if (word.text[0] == '/' || !slash)
        return arena_strdup(&sweep->arena, word.text);
    return arena_printf(&sweep->arena, "%.*s/%s", (int)(slash - sweep->file), sweep->file,
                        word.text);
}

/* "500MiB" */
static bool parse_bytes(const char *text, uint64_t *bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    size_t length = strspn(text, "0123456789");
    *bytes = length <= 6 ? strtoull(text, NULL, 10) : 0;
    for (unsigned i = 0; i < sizeof units / sizeof units[0] && *bytes; i++)
        if (strcmp(text + length, units[i]) == 0) {
            *bytes <<= 10 * (i + 1);
            return true;
        }
    return false;
}

static void read_patterns(struct cursor *cursor, const char *what, struct name_patterns *patterns)
{
    struct word word;
    do {
        cursor_take(cursor, what, &word);
        vec_push(patterns, word.text);
    } while (!cursor_is_done(cursor));
}

/* ---- what is varied ---- */

/* Splits at commas; 0 if a piece is empty or there are too many. */
static size_t split_at_commas(const char *text, const char **pieces, size_t most,
                              struct arena *arena)
{
    size_t count = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        if (length == 0 || count == most)
            return 0;
        pieces[count++] = arena_strndup(arena, text, length);
        if (!text[length])
            return count;
        text += length + 1;
    }
}

static int read_names(struct sweep *sweep, struct cursor *cursor, struct sweep_axis *axis)
{
    const char *names[SWEEP_MOST_PARAMETERS];
    const struct word *word = &axis->word;
    cursor_take(cursor, "the name of a parameter", &axis->word);
    size_t room = SWEEP_MOST_PARAMETERS - sweep->parameter_count;
    axis->name_count = split_at_commas(word->text, names, room, &sweep->arena);
    if (axis->name_count == 0)
        return word_error(cursor, word,
                          "'%.80s': expected a name, or names with a comma between (%d parameters "
                          "at the most)",
                          word->text, SWEEP_MOST_PARAMETERS);
    axis->names = arena_alloc(&sweep->arena, axis->name_count * sizeof *axis->names);
    for (size_t i = 0; i < axis->name_count; i++) {
        axis->names[i] = names[i];
        if (strpbrk(names[i], "={} \t"))
            return word_error(cursor, word,
                              "'%.80s' is not a name: it has a '=', a brace or a blank", names[i]);
        for (size_t a = 0; a < sweep->axes.count; a++)
            for (size_t j = 0; j < sweep->axes.items[a].name_count; j++)
                if (strcmp(sweep->axes.items[a].names[j], names[i]) == 0)
                    return word_error(cursor, word, "'%.80s' is varied in line %u already",
                                      names[i], sweep->axes.items[a].word.line);
        for (size_t j = 0; j < i; j++)
            if (strcmp(names[i], names[j]) == 0)
                return word_error(cursor, word, "'%.80s' twice", names[i]);
    }
    return 0;
}

static int add_value(struct sweep *sweep, struct cursor *cursor, struct sweep_axis *axis,
                     const struct word *word)
{
    const char *pieces[SWEEP_MOST_PARAMETERS] = {word->text};
    size_t count = axis->name_count;
    const char **row = axis->values + axis->value_count * count;
    if (count > 1 && split_at_commas(word->text, pieces, count, &sweep->arena) != count)
        return word_error(cursor, word, "'%.80s': expected %zu values with commas between",
                          word->text, count);
    if (strpbrk(word->text, "{}\""))
        return word_error(cursor, word, "'%.80s': a value has no braces and no quotes", word->text);
    for (size_t i = 0; i < axis->value_count; i++) {
        size_t same = 0;
        while (same < count && strcmp(axis->values[i * count + same], pieces[same]) == 0)
            same++;
        if (same == count)
            return word_error(cursor, word, "'%.80s' twice", word->text);
    }
    memcpy(row, pieces, count * sizeof *row);
    axis->value_count++;
    return 0;
}

static void read_vary(struct sweep *sweep, struct cursor *cursor)
{
    struct sweep_axis axis = {0};
    struct word word;
    read_names(sweep, cursor, &axis);
    cursor_take_exact(cursor, "in");
    if (cursor->status)
        return;
    axis.values = arena_alloc(&sweep->arena, cursor->count * axis.name_count * sizeof *axis.values);
    do {
        cursor_take(cursor, "a value", &word);
        add_value(sweep, cursor, &axis, &word);
    } while (!cursor_is_done(cursor));
    vec_push(&sweep->axes, axis);
    sweep->parameter_count += axis.name_count;
    if (sweep_point_count(sweep) > SWEEP_MOST_RUNS)
        word_error(cursor, &cursor->words[0], "more than %d points", SWEEP_MOST_RUNS);
}

/* ---- lines ---- */

enum statement { SCENARIO, VARY, REPEAT, SEED, STORE, TIMEOUT, MEMORY, KEEP, SERIES, STATEMENTS };
static const char *const statements[STATEMENTS] = {"scenario", "vary",   "repeat", "seed",  "store",
                                                   "timeout",  "memory", "keep",   "series"};

/* `first` has the first statement of each kind. */
static int read_line(struct sweep *sweep, struct cursor *cursor, struct word first[STATEMENTS])
{
    unsigned statement;
    struct word word;
    if (cursor_take_choice(cursor, "statement", statements, STATEMENTS, &statement))
        return cursor->status;
    bool once = statement != VARY && statement != KEEP && statement != SERIES;
    if (once && first[statement].text)
        return word_error(cursor, &cursor->words[0], "a second '%s': the first is in line %u",
                          statements[statement], first[statement].line);
    first[statement] = cursor->words[0];
    switch ((enum statement)statement) {
    case SCENARIO: sweep->scenario = take_path(sweep, cursor); break;
    case STORE: sweep->store = take_path(sweep, cursor); break;
    case REPEAT:
        cursor_take_number(cursor, "a number of repetitions", 1, MOST_REPETITIONS, &sweep->repeat);
        break;
    case SEED: cursor_take_number(cursor, "a seed", 0, UINT64_MAX, &sweep->seed); break;
    case TIMEOUT:
        cursor_take_time(cursor, &sweep->timeout);
        if (sweep->timeout < TIME_MS)
            word_error(cursor, &cursor->words[1], "'%.80s': expected a millisecond or more",
                       cursor->words[1].text);
        break;
    case MEMORY:
        cursor_take(cursor, "a size such as 500MiB or 2GiB", &word);
        if (!parse_bytes(word.text, &sweep->memory))
            word_error(cursor, &word,
                       "'%.80s' is not a size: expected a number with KiB, MiB, GiB or TiB, such "
                       "as 500MiB",
                       word.text);
        break;
    case KEEP: read_patterns(cursor, "names of figures, such as latency.*", &sweep->figures); break;
    case SERIES:
        read_patterns(cursor, "names of series, such as throughput", &sweep->series);
        break;
    default: read_vary(sweep, cursor);
    }
    return cursor_take_end(cursor);
}

/* ---- all ---- */

int sweep_read(struct sweep *sweep, struct line_reader *lines)
{
    *sweep = (struct sweep){.repeat = 1, .seed = 1};
    struct word first[STATEMENTS] = {0};
    struct cursor cursor;
    struct text text = {0};
    struct err reason = {0};
    char message[1024];
    sweep->file = arena_strdup(&sweep->arena, lines->file);
    lines->limit = FILE_LIMIT;
    lines->arena = &sweep->arena;
    while (line_reader_next(lines, &cursor))
        lines->status = read_line(sweep, &cursor, first);
    int status = lines->status;
    if (status == 0 && !sweep->scenario)
        status = err_at(lines->err, EINVAL, sweep->file, 0,
                        "no 'scenario' statement: a sweep needs a scenario to vary");
    if (status == 0 && file_read(sweep->scenario, FILE_LIMIT, &text, &reason)) {
        cursor = (struct cursor){.file = sweep->file, .err = lines->err};
        status = word_error(&cursor, &first[SCENARIO], "%.400s",
                            err_text(&reason, message, sizeof message));
    }
    if (status == 0) {
        sweep->template = arena_strdup(&sweep->arena, text.data);
        status = sweep_bind_template(sweep, lines->err);
    }
    text_release(&text);
    const char *dot = strrchr(sweep->file, '.');
    if (!dot || strchr(dot, '/'))
        dot = sweep->file + strlen(sweep->file);
    if (status == 0 && !sweep->store) /* fig22.sweep keeps its runs in fig22.db */
        sweep->store =
            arena_printf(&sweep->arena, "%.*s.db", (int)(dot - sweep->file), sweep->file);
    if (status)
        sweep_release(sweep);
    return status;
}

void sweep_release(struct sweep *sweep)
{
    vec_release(&sweep->axes);
    vec_release(&sweep->figures);
    vec_release(&sweep->series);
    arena_release(&sweep->arena);
    *sweep = (struct sweep){0};
}
