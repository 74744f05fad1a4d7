/* Reading sweeps. Whatever can be known to be wrong before the first run is refused here, with line
 * and column: in the sweep's file, or in the scenario's for a placeholder that nothing varies. */
#include "experiment/sweep/sweep.h"

#include "base/file.h"
#include "base/time.h"
#include "experiment/sweep/sweep_template.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT = 1024 * 1024, MOST_REPETITIONS = 100000 };

/* What was said once must not be said again. */
struct reader {
    struct sweep *sweep;
    struct word scenario, store, repeat, seed, timeout, memory;
};

/* ---- single values ---- */

static int take_once(struct cursor *cursor, struct word *said)
{
    const struct word *word = &cursor->words[0];
    if (said->text)
        return word_error(cursor, word, "a second '%s': the first is in line %u", word->text,
                          said->line);
    *said = *word;
    return 0;
}

/* Paths are as seen from the sweep's file. */
static const char *beside(const struct sweep *sweep, const char *path, struct arena *arena)
{
    const char *slash = strrchr(sweep->file, '/');
    if (path[0] == '/' || !slash)
        return arena_strdup(arena, path);
    return arena_printf(arena, "%.*s/%s", (int)(slash - sweep->file), sweep->file, path);
}

static int read_path(struct reader *reader, struct cursor *cursor, struct word *said,
                     const char **path)
{
    struct word word;
    take_once(cursor, said);
    cursor_take(cursor, "a file", &word);
    *path = beside(reader->sweep, word.text, &reader->sweep->arena);
    return cursor_take_end(cursor);
}

static int read_scenario(struct reader *reader, struct cursor *cursor)
{
    return read_path(reader, cursor, &reader->scenario, &reader->sweep->scenario);
}

static int read_store(struct reader *reader, struct cursor *cursor)
{
    return read_path(reader, cursor, &reader->store, &reader->sweep->store);
}

static int read_repeat(struct reader *reader, struct cursor *cursor)
{
    take_once(cursor, &reader->repeat);
    cursor_take_number(cursor, "a number of repetitions", 1, MOST_REPETITIONS,
                       &reader->sweep->repeat);
    return cursor_take_end(cursor);
}

static int read_seed(struct reader *reader, struct cursor *cursor)
{
    take_once(cursor, &reader->seed);
    cursor_take_number(cursor, "a seed", 0, UINT64_MAX, &reader->sweep->seed);
    return cursor_take_end(cursor);
}

static int read_timeout(struct reader *reader, struct cursor *cursor)
{
    take_once(cursor, &reader->timeout);
    cursor_take_time(cursor, &reader->sweep->timeout);
    if (reader->sweep->timeout < TIME_MS)
        return word_error(cursor, &cursor->words[1], "'%.80s': expected a millisecond or more",
                          cursor->words[1].text);
    return cursor_take_end(cursor);
}

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

static int read_memory(struct reader *reader, struct cursor *cursor)
{
    struct word word;
    take_once(cursor, &reader->memory);
    cursor_take(cursor, "a size such as 500MiB or 2GiB", &word);
    if (!parse_bytes(word.text, &reader->sweep->memory))
        return word_error(
            cursor, &word,
            "'%.80s' is no size: expected a number with KiB, MiB, GiB or TiB, such as "
            "500MiB",
            word.text);
    return cursor_take_end(cursor);
}

/* ---- what is kept ---- */

static int read_patterns(struct cursor *cursor, const char *what, struct name_patterns *patterns)
{
    struct word word;
    do {
        cursor_take(cursor, what, &word);
        vec_push(patterns, word.text);
    } while (!cursor_is_done(cursor));
    return cursor->status;
}

static int read_keep(struct reader *reader, struct cursor *cursor)
{
    return read_patterns(cursor, "names of figures, such as latency.*", &reader->sweep->figures);
}

static int read_series(struct reader *reader, struct cursor *cursor)
{
    return read_patterns(cursor, "names of series, such as throughput", &reader->sweep->series);
}

/* ---- what is varied ---- */

/* Splits at commas; 0 if a piece is empty. */
static size_t split(const char *text, const char **pieces, size_t most, struct arena *arena)
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

static int check_name(const struct sweep *sweep, struct cursor *cursor, const struct word *word,
                      const char *name)
{
    if (strpbrk(name, "={} \t"))
        return word_error(cursor, word, "'%.80s' is no name: it has a '=', a brace or a blank",
                          name);
    for (size_t i = 0; i < sweep->axes.count; i++)
        for (size_t j = 0; j < sweep->axes.items[i].name_count; j++)
            if (strcmp(sweep->axes.items[i].names[j], name) == 0)
                return word_error(cursor, word, "'%.80s' is varied in line %u already", name,
                                  sweep->axes.items[i].word.line);
    return 0;
}

static int read_names(struct sweep *sweep, struct cursor *cursor, struct sweep_axis *axis)
{
    const char *names[SWEEP_MOST_PARAMETERS];
    int status = cursor_take(cursor, "the name of a parameter", &axis->word);
    size_t room = SWEEP_MOST_PARAMETERS - sweep->parameter_count;
    axis->name_count = split(axis->word.text, names, room, &sweep->arena);
    if (axis->name_count == 0)
        return word_error(cursor, &axis->word,
                          "'%.80s': expected a name, or names with a comma between (%d parameters "
                          "at the most)",
                          axis->word.text, SWEEP_MOST_PARAMETERS);
    axis->names = arena_alloc(&sweep->arena, axis->name_count * sizeof *axis->names);
    axis->in_text = arena_alloc(&sweep->arena, axis->name_count * sizeof *axis->in_text);
    for (size_t i = 0; i < axis->name_count && status == 0; i++) {
        axis->names[i] = names[i];
        status = check_name(sweep, cursor, &axis->word, names[i]);
        for (size_t j = 0; j < i && status == 0; j++)
            if (strcmp(names[i], names[j]) == 0)
                status = word_error(cursor, &axis->word, "'%.80s' twice", names[i]);
    }
    return status;
}

static int add_value(struct sweep *sweep, struct cursor *cursor, struct sweep_axis *axis,
                     const struct word *word)
{
    const char *pieces[SWEEP_MOST_PARAMETERS] = {word->text};
    size_t count = axis->name_count;
    const char **row = axis->values + axis->value_count * count;
    if (count > 1 && split(word->text, pieces, count, &sweep->arena) != count)
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

static int read_vary(struct reader *reader, struct cursor *cursor)
{
    struct sweep *sweep = reader->sweep;
    struct sweep_axis axis = {0};
    struct word word;
    read_names(sweep, cursor, &axis);
    cursor_take_exact(cursor, "in");
    if (cursor->status)
        return cursor->status;
    axis.values = arena_alloc(&sweep->arena, cursor->count * axis.name_count * sizeof *axis.values);
    do {
        cursor_take(cursor, "a value", &word);
        add_value(sweep, cursor, &axis, &word);
    } while (!cursor_is_done(cursor));
    vec_push(&sweep->axes, axis);
    sweep->parameter_count += axis.name_count;
    if (sweep_point_count(sweep) > SWEEP_MOST_RUNS)
        return word_error(cursor, &cursor->words[0], "more than %d points", SWEEP_MOST_RUNS);
    return cursor->status;
}

/* ---- lines ---- */

static int read_line(struct reader *reader, struct cursor *cursor)
{
    static const char *const names[] = {"scenario", "vary",   "repeat", "seed",  "store",
                                        "timeout",  "memory", "keep",   "series"};
    static int (*const readers[])(struct reader *, struct cursor *) = {
        read_scenario, read_vary,   read_repeat, read_seed,  read_store,
        read_timeout,  read_memory, read_keep,   read_series};
    unsigned index;
    int status =
        cursor_take_choice(cursor, "statement", names, sizeof names / sizeof names[0], &index);
    return status ? status : readers[index](reader, cursor);
}

/* ---- the scenario ---- */

static int read_template(struct sweep *sweep, const struct word *word, struct err *err)
{
    struct cursor cursor = {.file = sweep->file, .err = err};
    struct text text = {0};
    struct err reason = {0};
    char message[1024];
    int status = file_read(sweep->scenario, FILE_LIMIT, &text, &reason);
    if (status)
        word_error(&cursor, word, "%.400s", err_text(&reason, message, sizeof message));
    else
        sweep->template = arena_strdup(&sweep->arena, text.data);
    text_release(&text);
    return status ? -EINVAL : template_bind(sweep, err);
}

/* fig22.sweep keeps its runs in fig22.db. */
static const char *default_store(struct sweep *sweep)
{
    const char *dot = strrchr(sweep->file, '.');
    size_t length = dot && !strchr(dot, '/') ? (size_t)(dot - sweep->file) : strlen(sweep->file);
    return arena_printf(&sweep->arena, "%.*s.db", (int)length, sweep->file);
}

int sweep_read(struct sweep *sweep, struct line_reader *lines)
{
    *sweep = (struct sweep){.repeat = 1, .seed = 1};
    struct reader reader = {.sweep = sweep};
    struct cursor cursor;
    sweep->file = arena_strdup(&sweep->arena, lines->file);
    lines->limit = FILE_LIMIT;
    lines->arena = &sweep->arena;
    while (line_reader_next(lines, &cursor))
        lines->status = read_line(&reader, &cursor);
    int status = lines->status;
    if (status == 0 && !sweep->scenario)
        status = err_at(lines->err, EINVAL, sweep->file, 0,
                        "no 'scenario' statement: a sweep needs a scenario to vary");
    if (status == 0)
        status = read_template(sweep, &reader.scenario, lines->err);
    if (status == 0 && !sweep->store)
        sweep->store = default_store(sweep);
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
