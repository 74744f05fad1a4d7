/* The axes and figures that a report on a sweep shows.
 *
 * By default x is the parameter with the most different numbers, curves are grouped by all other
 * parameters that vary, and y are the figures of `wanted` that differ between points. */
#include "experiment/report/report_sweep.h"

#include "base/nearest.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>

enum { Y_CHOSEN = 6 };

/* Patterns in order of preference; if none matches, all figures that differ are candidates. */
static const char *const wanted[] = {"accepted",    "throughput*", "latency.mean",
                                     "latency.p99", "lost*",       "change.*.time"};

/* ---- names ---- */

static int unknown_name_error(const struct report_sweep *sweep, const char *option,
                              const char *name, bool parameters, bool figures, struct err *err)
{
    const char *what = !figures ? "parameter" : !parameters ? "figure" : "parameter or figure";
    VEC(const char *) names = {0};
    for (size_t i = 0; parameters && i < sweep->parameters.count; i++)
        vec_push(&names, sweep->parameters.items[i].name);
    for (size_t i = 0; figures && i < sweep->figures.count; i++)
        vec_push(&names, sweep->figures.items[i].name);
    const char *nearest = nearest_word(name, names.items, names.count);
    struct text hint = {0};
    if (nearest)
        text_printf(&hint, "; did you mean '%s'?", nearest);
    else if (names.count)
        text_printf(&hint, "; there is '%s', for one", names.items[0]);
    else
        text_puts(&hint, ", nor any other");
    int status = err_at(err, EINVAL, sweep->store, 0, "--%s: there is no %s '%s'%s", option, what,
                        name, hint.data);
    text_release(&hint);
    vec_release(&names);
    return status;
}

static bool contains(const size_t *items, size_t count, size_t wanted_item)
{
    for (size_t i = 0; i < count; i++)
        if (items[i] == wanted_item)
            return true;
    return false;
}

/* ---- x ---- */

static void find_x(struct report_sweep *sweep, size_t not_this)
{
    for (unsigned pass = 0; pass < 2 && sweep->x_parameter == SWEEP_NONE; pass++) {
        size_t most = 1;
        for (size_t i = 0; i < sweep->parameters.count; i++) {
            const struct sweep_parameter *parameter = &sweep->parameters.items[i];
            if ((pass == 0 && !parameter->numbers) || parameter->values <= most || i == not_this)
                continue;
            most = parameter->values;
            sweep->x_parameter = i;
        }
    }
}

static int choose_x(struct report_sweep *sweep, const struct report_choice *choice, struct err *err)
{
    sweep->x_parameter = sweep->x_figure = SWEEP_NONE;
    if (!choice->x) {
        find_x(sweep, choice->by ? sweep_find_parameter(sweep, choice->by) : SWEEP_NONE);
        return 0;
    }
    sweep->x_parameter = sweep_find_parameter(sweep, choice->x);
    if (sweep->x_parameter == SWEEP_NONE)
        sweep->x_figure = sweep_find_figure(sweep, choice->x);
    if (sweep->x_parameter == SWEEP_NONE && sweep->x_figure == SWEEP_NONE)
        return unknown_name_error(sweep, "x", choice->x, true, true, err);
    return 0;
}

/* ---- by ---- */

/* The parameter that a curve of one figure over another follows; it cannot distinguish curves. */
static size_t find_curve_parameter(const struct report_sweep *sweep)
{
    size_t best = SWEEP_NONE, most = 1;
    for (size_t i = 0; sweep->x_figure != SWEEP_NONE && i < sweep->parameters.count; i++) {
        const struct sweep_parameter *parameter = &sweep->parameters.items[i];
        if (parameter->numbers && parameter->values > most) {
            most = parameter->values;
            best = i;
        }
    }
    return best;
}

static int choose_by(struct report_sweep *sweep, const struct report_choice *choice,
                     struct err *err)
{
    size_t chosen = choice->by ? sweep_find_parameter(sweep, choice->by) : SWEEP_NONE;
    size_t along = find_curve_parameter(sweep);
    if (choice->by && chosen == SWEEP_NONE)
        return unknown_name_error(sweep, "by", choice->by, true, false, err);
    if (choice->by)
        vec_push(&sweep->by, chosen);
    for (size_t i = 0; i < sweep->parameters.count; i++) {
        if (sweep->parameters.items[i].values < 2 || i == sweep->x_parameter || i == chosen ||
            (i == along && !choice->by))
            continue;
        if (choice->by) {
            if (sweep->x_figure == SWEEP_NONE)
                vec_push(&sweep->pooled, i);
        } else {
            vec_push(&sweep->by, i);
        }
    }
    return 0;
}

/* ---- y ---- */

static bool figure_differs(const struct report_sweep *sweep, size_t figure)
{
    double first = NAN;
    for (size_t r = 0; r < sweep->finished.count; r++) {
        double value = sweep->values[r * sweep->figures.count + figure];
        if (!isfinite(value))
            continue;
        if (isfinite(first) && value != first)
            return true;
        first = value;
    }
    return false;
}

/* Whether a chosen figure has the same values under another name. */
static bool is_duplicate(const struct report_sweep *sweep, size_t figure)
{
    for (size_t y = 0; y < sweep->y.count; y++) {
        bool same = true;
        for (size_t r = 0; r < sweep->finished.count && same; r++) {
            const double *row = &sweep->values[r * sweep->figures.count];
            same = row[figure] == row[sweep->y.items[y]];
        }
        if (same)
            return true;
    }
    return false;
}

static void add_matching_y(struct report_sweep *sweep, const char *pattern)
{
    bool single = sweep->points.count < 2;
    for (size_t i = 0; i < sweep->figures.count && sweep->y.count < Y_CHOSEN; i++) {
        if (fnmatch(pattern, sweep->figures.items[i].name, 0) != 0 || i == sweep->x_figure ||
            i == sweep->saturated || contains(sweep->y.items, sweep->y.count, i))
            continue;
        if (single || (figure_differs(sweep, i) && !is_duplicate(sweep, i)))
            vec_push(&sweep->y, i);
    }
}

static int choose_y(struct report_sweep *sweep, const struct report_choice *choice, struct err *err)
{
    sweep->saturated = sweep_find_figure(sweep, "saturated");
    for (size_t i = 0; i < choice->y_count; i++) {
        size_t figure = sweep_find_figure(sweep, choice->y[i]);
        if (figure == SWEEP_NONE)
            return unknown_name_error(sweep, "y", choice->y[i], false, true, err);
        if (!contains(sweep->y.items, sweep->y.count, figure))
            vec_push(&sweep->y, figure);
    }
    for (size_t i = 0; choice->y_count == 0 && i < sizeof wanted / sizeof wanted[0]; i++)
        add_matching_y(sweep, wanted[i]);
    if (sweep->y.count == 0)
        add_matching_y(sweep, "*");
    return 0;
}

int sweep_choose(struct report_sweep *sweep, const struct report_choice *choice, struct err *err)
{
    int status = choose_x(sweep, choice, err);
    if (status == 0)
        status = choose_by(sweep, choice, err);
    if (status == 0)
        status = choose_y(sweep, choice, err);
    return status;
}
