/* Points of a sweep: from numbers to parameters, and parameters filled into the scenario.
 *
 * The number of a point has one digit for each `vary` line, the last line being the lowest digit.
 */
#include "experiment/sweep/sweep.h"

#include "base/parse.h"

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
    struct result_parameter parameters[SWEEP_MOST_PARAMETERS];
    size_t count = 0;
    sweep_parameters(sweep, point, parameters);
    *settings = arena_alloc(arena, (sweep->parameter_count + 1) * sizeof **settings);
    for (size_t i = 0; i < sweep->parameter_count; i++)
        if (!sweep->in_text[i])
            (*settings)[count++] =
                arena_printf(arena, "%s=%s", parameters[i].name, parameters[i].value);
    return count;
}

/* ---- the text ---- */

/* The last placeholder found, and how far the text was read. */
struct placeholder {
    const char *start; /* of {NAME} */
    size_t length;     /* of NAME */
    const char *at, *line_start;
    unsigned line;
    bool quoted, comment;
};

static bool next_place(struct placeholder *place)
{
    for (; *place->at; place->at++) {
        const char *at = place->at;
        if (*at == '\n') {
            place->line++;
            place->line_start = at + 1;
            place->quoted = place->comment = false;
        } else if (*at == '"') {
            place->quoted = !place->quoted;
        } else if (*at == '#' && !place->quoted) {
            place->comment = true;
        } else if (*at == '{' && !place->comment) {
            size_t length = 0;
            while (isalnum((unsigned char)at[length + 1]) ||
                   (at[length + 1] && strchr("_.-:*", at[length + 1])))
                length++;
            if (length == 0 || at[length + 1] != '}')
                continue;
            place->start = at;
            place->length = length;
            place->at = at + length + 2;
            return true;
        }
    }
    return false;
}

/* The parameter of a placeholder; parameter_count: none. */
static size_t find_parameter(const struct sweep *sweep, const struct placeholder *place)
{
    size_t found = 0;
    for (size_t i = 0; i < sweep->axes.count; i++)
        for (size_t j = 0; j < sweep->axes.items[i].name_count; j++, found++) {
            const char *name = sweep->axes.items[i].names[j];
            if (strncmp(name, place->start + 1, place->length) == 0 && !name[place->length])
                return found;
        }
    return found;
}

int sweep_bind_template(struct sweep *sweep, struct err *err)
{
    struct placeholder place = {.at = sweep->template, .line_start = sweep->template, .line = 1};
    struct result_parameter parameters[SWEEP_MOST_PARAMETERS];
    const char *names[SWEEP_MOST_PARAMETERS];
    sweep_parameters(sweep, 0, parameters);
    for (size_t i = 0; i < sweep->parameter_count; i++)
        names[i] = parameters[i].name;
    while (next_place(&place)) {
        size_t found = find_parameter(sweep, &place);
        if (found < sweep->parameter_count) {
            sweep->in_text[found] = true;
            continue;
        }
        const char *name = arena_strndup(&sweep->arena, place.start + 1, place.length);
        const char *near = nearest_word(name, names, sweep->parameter_count);
        return err_at_column(err, EINVAL, sweep->scenario, place.line,
                             (unsigned)(place.start - place.line_start) + 1,
                             "{%.80s} is not varied by %.160s%s%.80s%s", name, sweep->file,
                             near ? "; did you mean '{" : "", near ? near : "", near ? "}'?" : "");
    }
    return 0;
}

void sweep_render(const struct sweep *sweep, size_t point, struct text *out)
{
    struct placeholder place = {.at = sweep->template};
    struct result_parameter parameters[SWEEP_MOST_PARAMETERS] = {0};
    const char *copied = sweep->template;
    sweep_parameters(sweep, point, parameters);
    while (next_place(&place)) {
        size_t found = find_parameter(sweep, &place);
        text_append(out, copied, (size_t)(place.start - copied));
        if (found < sweep->parameter_count)
            text_puts(out, parameters[found].value);
        copied = place.at;
    }
    text_puts(out, copied);
}
