/* Evaluates the measures of claims. */
#include "reproduce/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Where a term is evaluated: the observations that count. Each condition, and each turn of a loop,
 * is a scope inside another one. */
struct scope {
    const struct scope *outer; /* NULL: of the preset */
    const struct evidence *evidence;
    struct condition condition;
    const char *network;           /* NULL: all */
    const struct observation *run; /* NULL: all */
    bool finite;                   /* in the turns of this loop, infinite values do not count */
};

static struct measured evaluate(const struct term *term, const struct scope *scope);

static double number(const struct term *term, const struct scope *scope)
{
    return evaluate(term, scope).least;
}

/* ---- values ---- */

struct measured measured_value(double value)
{
    return (struct measured){.least = value, .most = value, .half_width = NAN};
}

struct measured measured_range(double one, double other)
{
    if (isnan(one) || isnan(other))
        return measured_value(NAN);
    return (struct measured){
        .least = fmin(one, other), .most = fmax(one, other), .half_width = NAN};
}

/* ---- conditions ---- */

/* Release them after use. */
static struct conditions in_force(const struct scope *scope)
{
    struct conditions conditions = {0};
    for (; scope; scope = scope->outer) {
        bool hidden = !scope->condition.name;
        for (size_t i = 0; i < conditions.count && !hidden; i++)
            hidden = strcmp(conditions.items[i].name, scope->condition.name) == 0;
        if (!hidden)
            vec_push(&conditions, scope->condition);
    }
    return conditions;
}

/* Whether there is one run, and no condition inside the loop excludes it. */
static bool is_in_run(const struct scope *scope)
{
    struct conditions conditions = in_force(scope);
    bool is_in = scope->run && observation_matches(scope->run, &conditions, scope->network);
    conditions_release(&conditions);
    return is_in;
}

/* The values of a parameter in the runs that the conditions select, of all networks. */
static size_t values_of(const struct scope *scope, const char *parameter, const char ***values)
{
    struct conditions conditions = in_force(scope);
    size_t count = evidence_values(scope->evidence, &conditions, parameter, values);
    conditions_release(&conditions);
    return count;
}

/* The value of a parameter: of the run, as the innermost condition states it, or the first in the
 * runs that count; "" if there is none. */
static const char *value_of(const struct scope *scope, const char *parameter)
{
    const char **values, *value = "";
    if (scope->run)
        return observation_value(scope->run, parameter);
    for (const struct scope *at = scope; at; at = at->outer)
        if (at->condition.name && strcmp(at->condition.name, parameter) == 0) {
            if (at->condition.count == 1 && !strpbrk(at->condition.values[0], "*?["))
                return at->condition.values[0];
            break;
        }
    if (values_of(scope, parameter, &values))
        value = values[0];
    mem_free(values);
    return value;
}

/* The text of $NAME. */
static const char *look_up(const struct scope *scope, const char *parameter,
                           const struct recipe_table *table)
{
    return table ? recipe_table_find(table, value_of(scope, table->parameter))
                 : value_of(scope, parameter);
}

static double to_number(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    return end == text ? NAN : value;
}

static struct measured evaluate_where(const struct term *term, const struct scope *scope)
{
    struct scope inner = *scope;
    const char *value;
    inner.outer = scope;
    inner.condition = term->condition;
    if (term->table) {
        value = look_up(scope, NULL, term->table);
        inner.condition.values = &value;
    }
    return evaluate(term->of[0], &inner);
}

static struct measured evaluate_figure(const struct term *term, const struct scope *scope)
{
    if (scope->run)
        return measured_value(is_in_run(scope) ? observation_figure(scope->run, term->name) : NAN);
    struct conditions conditions = in_force(scope);
    struct quantity_mean mean =
        evidence_mean(scope->evidence, &conditions, scope->network, term->name);
    struct measured measured = measured_value(mean.mean);
    measured.half_width = mean.half_width;
    conditions_release(&conditions);
    return measured;
}

/* ---- operations ---- */

static double operate(enum operation operation, double one, double other)
{
    if (isnan(one) || isnan(other))
        return NAN;
    switch (operation) {
    case OPERATION_AND: return one > 0 && other > 0;
    case OPERATION_LESS: return one < other;
    case OPERATION_AT_MOST: return one <= other;
    case OPERATION_MORE: return one > other;
    case OPERATION_AT_LEAST: return one >= other;
    case OPERATION_EQUAL: return one == other;
    case OPERATION_PLUS: return one + other;
    case OPERATION_MINUS: return one - other;
    case OPERATION_TIMES: return one * other;
    case OPERATION_OVER: return one / other;
    default: return pow(one, other);
    }
}

static struct measured evaluate_operation(const struct term *term, const struct scope *scope)
{
    if (term->operation == OPERATION_IF)
        return number(term->of[1], scope) > 0 ? evaluate(term->of[0], scope) : measured_value(NAN);
    struct measured one = evaluate(term->of[0], scope);
    if (term->operation == OPERATION_ELSE)
        return isnan(one.least) ? evaluate(term->of[1], scope) : one;
    return measured_value(operate(term->operation, one.least, number(term->of[1], scope)));
}

/* ---- series of a run ---- */

static double seconds(const struct series *series, size_t point)
{
    return (double)series->points.items[point].time * 1e-12;
}

/* The number of points from one time to another. */
static double count_points(const struct series *series, double from, double to)
{
    const double rounding = 1e-9; /* figures are numbers of seconds, points of ps */
    size_t count = 0;
    for (size_t i = 0; i < series->points.count; i++)
        count += seconds(series, i) >= from - rounding && seconds(series, i) <= to + rounding;
    return (double)count;
}

/* The number of groups of points from a time on. A pause separates two groups. */
static double count_groups(const struct series *series, double from, double pause)
{
    double last = -INFINITY, groups = 0;
    for (size_t i = 0; i < series->points.count; i++) {
        double time = seconds(series, i);
        if (time < from)
            continue;
        groups += time - last > pause;
        last = time;
    }
    return groups;
}

static double first_above_zero(const struct series *series)
{
    for (size_t i = 0; i < series->points.count; i++)
        if (series->points.items[i].value > 0)
            return seconds(series, i);
    return NAN;
}

static double evaluate_series(const struct term *term, const struct scope *scope)
{
    const struct series *series =
        is_in_run(scope) ? results_find_series(&scope->run->results, term->of[0]->name) : NULL;
    double one = term->of[1] ? number(term->of[1], scope) : -INFINITY;
    double other = term->of[2] ? number(term->of[2], scope) : INFINITY;
    if (!series)
        return NAN;
    if (term->call == CALL_POINTS)
        return count_points(series, one, other);
    if (term->call == CALL_GROUPS)
        return count_groups(series, one, other);
    if (series->points.count == 0)
        return NAN;
    size_t last = series->points.count - 1;
    switch (term->call) {
    case CALL_BEGIN: return seconds(series, 0);
    case CALL_END: return seconds(series, last);
    case CALL_FINAL: return series->points.items[last].value;
    default: return first_above_zero(series);
    }
}

/* ---- loops ---- */

/* The values of the turns of a loop that are measured. */
struct sample {
    double x; /* of the parameter, or of the second term */
    double least, most;
};
struct samples {
    VEC(struct sample);
    bool missing; /* some were not measured */
};

static void add_sample(struct samples *samples, double x, const struct measured *y, bool finite)
{
    if (isnan(x) || (finite ? !isfinite(y->least) : isnan(y->least)))
        samples->missing = true;
    else
        vec_push(samples, ((struct sample){x, y->least, y->most}));
}

static void gather(struct samples *samples, const struct term *term, const struct term *x_term,
                   double x, const struct scope *scope);

static void gather_runs(struct samples *samples, const struct term *loop, const struct term *x_term,
                        struct scope *inner)
{
    struct conditions conditions = in_force(inner->outer);
    for (size_t i = 0; i < inner->evidence->items.count; i++) {
        inner->run = &inner->evidence->items.items[i];
        if (observation_matches(inner->run, &conditions, inner->network))
            gather(samples, loop->of[0], x_term, 0, inner);
    }
    conditions_release(&conditions);
}

static void gather_networks(struct samples *samples, const struct term *loop,
                            const struct term *x_term, struct scope *inner)
{
    const char **networks;
    size_t count = evidence_networks(inner->evidence, &networks);
    inner->finite = true;
    for (size_t i = 0; i < count; i++) {
        inner->network = networks[i];
        gather(samples, loop->of[0], x_term, 0, inner);
    }
    mem_free(networks);
}

static void gather(struct samples *samples, const struct term *term, const struct term *x_term,
                   double x, const struct scope *scope)
{
    struct scope inner = *scope;
    if (term->kind != TERM_LOOP) {
        struct measured y = evaluate(term, scope);
        add_sample(samples, x_term ? number(x_term, scope) : x, &y, scope->finite);
        return;
    }
    inner.outer = scope;
    inner.condition = (struct condition){0};
    inner.finite = false;
    if (strcmp(term->condition.name, "runs") == 0) {
        gather_runs(samples, term, x_term, &inner);
    } else if (strcmp(term->condition.name, "networks") == 0) {
        gather_networks(samples, term, x_term, &inner);
    } else {
        const char **values = NULL;
        size_t count = term->condition.count ? term->condition.count
                                             : values_of(scope, term->condition.name, &values);
        for (size_t i = 0; i < count; i++) {
            const char **value = values ? &values[i] : &term->condition.values[i];
            inner.condition = (struct condition){term->condition.name, value, 1};
            gather(samples, term->of[0], x_term, strtod(*value, NULL), &inner);
        }
        mem_free(values);
    }
}

/* ---- summaries ---- */

/* A least squares fit of a line; points that are not finite are left out. */
struct fit {
    double n, x, y, xx, xy, yy; /* number and sums */
};

static void add_to_fit(struct fit *fit, double x, double y)
{
    if (!isfinite(x) || !isfinite(y))
        return;
    fit->n++;
    fit->x += x;
    fit->y += y;
    fit->xx += x * x;
    fit->xy += x * y;
    fit->yy += y * y;
}

/* The exponent, if x and y are logarithms. */
static double slope(const struct fit *fit)
{
    double square = fit->n * fit->xx - fit->x * fit->x;
    return fit->n < 2 || square <= 0 ? NAN : (fit->n * fit->xy - fit->x * fit->y) / square;
}

/* The coefficient of determination, R^2; NaN with fewer than three points. */
static double quality(const struct fit *fit)
{
    double x = fit->n * fit->xx - fit->x * fit->x, y = fit->n * fit->yy - fit->y * fit->y;
    double both = fit->n * fit->xy - fit->x * fit->y;
    return fit->n < 3 || x <= 0 || y <= 0 ? NAN : both * both / (x * y);
}

/* The correlation of the ranks of values with their order; NaN with fewer than three. */
static double rank_correlation(const struct samples *samples)
{
    double n = (double)samples->count, squares = 0;
    for (size_t i = 0; i < samples->count; i++) {
        double value = samples->items[i].least, rank = 0;
        for (size_t j = 0; j < samples->count; j++) {
            double other = samples->items[j].least;
            rank += other < value ? 1 : other == value && j != i ? 0.5 : 0;
        }
        squares += (rank - (double)i) * (rank - (double)i);
    }
    return samples->count < 3 ? NAN : 1 - 6 * squares / (n * (n * n - 1));
}

static struct measured mean_of(const struct samples *samples, bool interval)
{
    VEC(double) values = {0};
    for (size_t i = 0; i < samples->count; i++)
        vec_push(&values, samples->items[i].least);
    struct quantity_mean mean = quantity_mean(values.items, values.count);
    struct measured measured = measured_value(mean.mean);
    if (interval)
        measured.half_width = mean.half_width;
    vec_release(&values);
    return measured;
}

struct digest {
    double least, most, sum, first, last;
    double least_step, most_step; /* ratios of successive values; NaN with fewer than two */
    double rises;                 /* how many values are larger than the one before */
    struct fit line, logs;        /* of values over x, and of their logarithms */
};

static struct digest digest(const struct samples *samples)
{
    struct digest all = {.least = NAN,
                         .most = NAN,
                         .sum = NAN,
                         .first = NAN,
                         .last = NAN,
                         .least_step = NAN,
                         .most_step = NAN};
    for (size_t i = 0; i < samples->count; i++) {
        double value = samples->items[i].least, x = samples->items[i].x;
        if (i > 0) {
            all.least_step = fmin(all.least_step, value / all.last); /* ignores NaN */
            all.most_step = fmax(all.most_step, value / all.last);
            all.rises += value > all.last;
        } else {
            all.first = value;
            all.sum = 0;
        }
        all.least = fmin(all.least, value);
        all.most = fmax(all.most, samples->items[i].most);
        all.last = value;
        all.sum += value;
        add_to_fit(&all.line, x, value);
        add_to_fit(&all.logs, log(x), log(value));
    }
    return all;
}

/* The exponent of a power law; 0 if the values do not follow one. */
static struct measured power_law(const struct digest *all)
{
    double fit = quality(&all->logs);
    bool follows = !(fit < 0.97) && !(all->least <= 0);
    struct measured measured = measured_value(follows ? slope(&all->logs) : 0);
    if (!isnan(fit)) /* more than two points */
        snprintf(measured.text, sizeof measured.text, "%sR^2 %.3f", follows ? "" : "no power law, ",
                 fit);
    return measured;
}

static struct measured summarize(const struct term *term, const struct samples *samples)
{
    const struct term *loop = term->of[0];
    struct digest all = digest(samples);
    switch (term->call) {
    case CALL_ALL:
        return samples->missing ? measured_value(NAN) : measured_range(all.least, all.most);
    case CALL_RANGE: return measured_range(all.least, all.most);
    case CALL_STEPS: return measured_range(all.least_step, all.most_step);
    case CALL_LEAST: return measured_value(all.least);
    case CALL_MOST: return measured_value(all.most);
    case CALL_MEAN:
        return mean_of(samples, loop->of[0]->kind != TERM_LOOP &&
                                    strcmp(loop->condition.name, "networks") == 0);
    case CALL_SHARE: return mean_of(samples, false);
    case CALL_SUM: return measured_value(all.sum);
    case CALL_COUNT: return measured_value((double)samples->count);
    case CALL_FIRST: return measured_value(all.first);
    case CALL_LAST: return measured_value(all.last);
    case CALL_RISES: return measured_value(all.rises);
    case CALL_POWER: return measured_value(slope(&all.logs));
    case CALL_FIT: return measured_value(quality(&all.logs));
    case CALL_POWER_LAW: return power_law(&all);
    case CALL_GEOMETRIC: return measured_value(exp(all.logs.y / all.logs.n));
    case CALL_RANK: return measured_value(rank_correlation(samples));
    default: return measured_value(quality(&all.line));
    }
}

static struct samples samples_of(const struct term *term, const struct scope *scope)
{
    struct samples samples = {0};
    const struct term *const *of = term->of;
    if (of[0]->kind == TERM_LOOP)
        gather(&samples, of[0], of[1], 0, scope);
    else
        for (; of < term->of + OPERANDS && *of; of++) {
            struct measured one = evaluate(*of, scope);
            add_sample(&samples, 0, &one, false);
        }
    return samples;
}

/* ---- terms ---- */

static struct measured evaluate_call(const struct term *term, const struct scope *scope)
{
    if (term->call >= CALL_ALL) {
        struct samples samples = samples_of(term, scope);
        struct measured measured = summarize(term, &samples);
        vec_release(&samples);
        return measured;
    }
    if (term->call >= CALL_POINTS)
        return measured_value(evaluate_series(term, scope));
    struct measured one = evaluate(term->of[0], scope);
    double other = term->of[1] ? number(term->of[1], scope) : NAN;
    switch (term->call) {
    case CALL_LOW: return measured_value(one.least);
    case CALL_HIGH: return measured_value(one.most);
    case CALL_MIN: return measured_value(fmin(one.least, other)); /* ignores NaN */
    case CALL_MAX: return measured_value(fmax(one.least, other));
    case CALL_ABS: return measured_value(fabs(one.least));
    case CALL_FLOOR: return measured_value(floor(one.least));
    default: return measured_value(one.least == 0 && other == 0 ? 1 : one.least / other);
    }
}

static struct measured evaluate(const struct term *term, const struct scope *scope)
{
    switch (term->kind) {
    case TERM_NUMBER: return measured_value(term->number);
    case TERM_FIGURE: return evaluate_figure(term, scope);
    case TERM_PARAMETER: return measured_value(to_number(look_up(scope, term->name, term->table)));
    case TERM_WHERE: return evaluate_where(term, scope);
    case TERM_OPERATION: return evaluate_operation(term, scope);
    default: return evaluate_call(term, scope);
    }
}

/* ---- explanations ---- */

static void put_value(struct text *out, const struct piece *piece, double value)
{
    if (piece->format == 'g')
        text_printf(out, "%.*g", piece->digits, value);
    else
        text_printf(out, "%.*f", piece->digits, value);
    if (piece->format == 'n')
        text_printf(out, " %s%s", piece->noun, value == 1 ? "" : "s");
}

static void explain(struct measured *measured, const struct piece *piece, const struct scope *scope)
{
    struct text out = {0};
    for (; piece; piece = piece->next) {
        text_puts(&out, piece->words);
        if (piece->term && piece->term->kind == TERM_CALL && piece->term->call == CALL_LIST) {
            struct samples samples = samples_of(piece->term, scope);
            for (size_t i = 0; i < samples.count; i++) {
                text_puts(&out, i ? ", " : "");
                put_value(&out, piece, samples.items[i].least);
            }
            vec_release(&samples);
        } else if (piece->term) {
            put_value(&out, piece, number(piece->term, scope));
        }
    }
    snprintf(measured->text, sizeof measured->text, "%s", out.data);
    text_release(&out);
}

struct measured measure_evaluate(const struct measure *measure, const struct evidence *evidence,
                                 const char *preset)
{
    const struct scope scope = {.evidence = evidence, .condition = {"preset", &preset, 1}};
    struct measured measured = evaluate(measure->value, &scope);
    if (measure->explanation)
        explain(&measured, measure->explanation, &scope);
    return measured;
}
