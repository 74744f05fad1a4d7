/* Points of a sweep: from numbers to parameters, and parameters filled into the scenario.
 *
 * The number of a point has one digit for each `vary` line, the last line being the lowest digit.
 */
#include "experiment/sweep/sweep.h"

#include "base/nearest.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>

/* ---- points ---- */

size_t sweep_point_count(const struct sweep *sweep)
{
    size_t count = 1;
    for (size_t i = 0; i < sweep->axes.count && count <= SWEEP_MOST_RUNS; i++)
        count *= sweep->axes.items[i].value_count;
    return count;
}

size_t sweep_value(const struct sweep *sweep, size_t point, size_t axis)
{
    assert(axis < sweep->axes.count && sweep->axes.items[axis].value_count > 0);
    for (size_t i = sweep->axes.count - 1; i > axis; i--)
        point /= sweep->axes.items[i].value_count;
    return point % sweep->axes.items[axis].value_count;
}

void sweep_parameters(const struct sweep *sweep, size_t point, struct result_parameter *parameters)
{
    for (size_t i = 0; i < sweep->axes.count; i++) {
        const struct sweep_axis *axis = &sweep->axes.items[i];
        size_t row = sweep_value(sweep, point, i) * axis->name_count;
        for (size_t j = 0; j < axis->name_count; j++)
            *parameters++ = (struct result_parameter){axis->names[j], axis->values[row + j]};
    }
}

size_t sweep_settings(const struct sweep *sweep, size_t point, const char ***settings,
                      struct arena *arena)
{
    size_t count = 0;
    *settings = arena_alloc(arena, (sweep->parameter_count + 1) * sizeof **settings);
    for (size_t i = 0; i < sweep->axes.count; i++) {
        const struct sweep_axis *axis = &sweep->axes.items[i];
        size_t row = sweep_value(sweep, point, i) * axis->name_count;
        for (size_t j = 0; j < axis->name_count; j++)
            if (!axis->in_text[j])
                (*settings)[count++] =
                    arena_printf(arena, "%s=%s", axis->names[j], axis->values[row + j]);
    }
    return count;
}

/* ---- the text ---- */

struct place {
    size_t start, length; /* including the braces */
    unsigned line, column;
};

/* A position in the text, with its line. */
struct walk {
    const char *text;
    size_t at, line_start;
    unsigned line;
    bool quoted, comment;
};

static bool next_place(struct walk *walk, struct place *place)
{
    for (; walk->text[walk->at]; walk->at++) {
        char c = walk->text[walk->at];
        if (c == '\n') {
            walk->line++;
            walk->line_start = walk->at + 1;
            walk->quoted = walk->comment = false;
        } else if (c == '"') {
            walk->quoted = !walk->quoted;
        } else if (c == '#' && !walk->quoted) {
            walk->comment = true;
        } else if (c == '{' && !walk->comment) {
            const char *name = walk->text + walk->at + 1;
            size_t length = 0; /* of NAME in {NAME} */
            while (isalnum((unsigned char)name[length]) ||
                   (name[length] && strchr("_.-:*", name[length])))
                length++;
            if (length == 0 || name[length] != '}')
                continue;
            length += 2;
            *place = (struct place){walk->at, length, walk->line,
                                    (unsigned)(walk->at - walk->line_start) + 1};
            walk->at += length;
            return true;
        }
    }
    return false;
}

/* The axis and name of a placeholder. */
static bool find_name(const struct sweep *sweep, const struct place *place, size_t *axis,
                      size_t *name)
{
    const char *text = sweep->template + place->start + 1;
    size_t length = place->length - 2;
    for (*axis = 0; *axis < sweep->axes.count; ++*axis)
        for (*name = 0; *name < sweep->axes.items[*axis].name_count; ++*name) {
            const char *candidate = sweep->axes.items[*axis].names[*name];
            if (strlen(candidate) == length && strncmp(candidate, text, length) == 0)
                return true;
        }
    return false;
}

static int unknown_placeholder(const struct sweep *sweep, const struct place *place,
                               struct err *err)
{
    const char *names[SWEEP_MOST_PARAMETERS], *near;
    struct arena arena = {0};
    size_t count = 0;
    const char *name = arena_strndup(&arena, sweep->template + place->start + 1, place->length - 2);
    for (size_t i = 0; i < sweep->axes.count; i++)
        for (size_t j = 0; j < sweep->axes.items[i].name_count; j++)
            names[count++] = sweep->axes.items[i].names[j];
    near = nearest_word(name, names, count);
    int status =
        err_at_column(err, EINVAL, sweep->scenario, place->line, place->column,
                      "{%.80s} is not varied by %.160s%s%.80s%s", name, sweep->file,
                      near ? "; did you mean '{" : "", near ? near : "", near ? "}'?" : "");
    arena_release(&arena);
    return status;
}

int sweep_bind_template(struct sweep *sweep, struct err *err)
{
    struct walk walk = {.text = sweep->template, .line = 1};
    struct place place;
    size_t axis, name;
    while (next_place(&walk, &place)) {
        if (!find_name(sweep, &place, &axis, &name))
            return unknown_placeholder(sweep, &place, err);
        sweep->axes.items[axis].in_text[name] = true;
    }
    return 0;
}

void sweep_render(const struct sweep *sweep, size_t point, struct text *out)
{
    struct walk walk = {.text = sweep->template, .line = 1};
    struct place place;
    size_t axis, name, copied = 0;
    while (next_place(&walk, &place)) {
        text_append(out, sweep->template + copied, place.start - copied);
        copied = place.start + place.length;
        if (find_name(sweep, &place, &axis, &name)) {
            const struct sweep_axis *found = &sweep->axes.items[axis];
            size_t row = sweep_value(sweep, point, axis) * found->name_count;
            text_puts(out, found->values[row + name]);
        }
    }
    text_puts(out, sweep->template + copied);
}
