/* Functions for the measures of claims: values, ranges, and means over networks and sizes. */
#include "reproduce/claims.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- results ---- */

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

struct measured measured_both(struct measured one, struct measured other)
{
    struct measured least = measured_range(one.least, other.least);
    struct measured most = measured_range(one.most, other.most);
    return measured_range(least.least, most.most);
}

struct measured measured_mean(struct evidence_summary summary)
{
    return (struct measured){
        .least = summary.mean, .most = summary.mean, .half_width = summary.half_width};
}

struct measured measured_explain(struct measured measured, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(measured.text, sizeof measured.text, format, arguments);
    va_end(arguments);
    return measured;
}

/* ---- evidence ---- */

enum { WHERE_BYTES = 256 };

struct evidence_summary claim_summary(const struct claim_case *c, const char *figure,
                                      const char *where, ...)
{
    char all[WHERE_BYTES];
    int length = snprintf(all, sizeof all, "preset=%s ", c->preset);
    va_list arguments;
    va_start(arguments, where);
    vsnprintf(all + length, sizeof all - (size_t)length, where, arguments);
    va_end(arguments);
    return evidence_summarize(c->evidence, all, c->network, figure);
}

size_t claim_values(const struct claim_case *c, const char *parameter, const char ***values,
                    const char *where)
{
    char all[WHERE_BYTES];
    snprintf(all, sizeof all, "preset=%s %s", c->preset, where);
    return evidence_values(c->evidence, all, parameter, values);
}

struct evidence_summary claim_over_networks(const struct claim_case *c,
                                            double (*value_of)(const struct claim_case *c,
                                                               const void *context),
                                            const void *context)
{
    struct evidence_summary summary = {.least = NAN, .most = NAN};
    const char **networks;
    VEC(double) values = {0};
    size_t count = evidence_networks(c->evidence, &networks);
    for (size_t i = 0; i < count; i++) {
        struct claim_case one = *c;
        one.network = networks[i];
        double value = value_of(&one, context);
        if (!isfinite(value))
            continue;
        vec_push(&values, value);
        summary.sum += value;
        summary.least = fmin(summary.least, value); /* ignores NaN */
        summary.most = fmax(summary.most, value);
    }
    struct quantity_mean mean = quantity_mean(values.items, values.count);
    summary.count = summary.networks = values.count;
    summary.mean = mean.mean;
    summary.half_width = mean.half_width;
    vec_release(&values);
    mem_free(networks);
    return summary;
}

struct comparison {
    const char *figure, *over, *under;
};

static double ratio_of_network(const struct claim_case *c, const void *context)
{
    const struct comparison *ratio = context;
    return claim_mean(c, ratio->figure, "%s", ratio->over) /
           claim_mean(c, ratio->figure, "%s", ratio->under);
}

struct evidence_summary claim_ratio(const struct claim_case *c, const char *figure,
                                    const char *over, const char *under)
{
    return claim_over_networks(c, ratio_of_network, &(struct comparison){figure, over, under});
}

/* ---- sizes ---- */

void claim_fit_add(struct claim_fit *fit, double x, double y)
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

static double fit_slope(const struct claim_fit *fit)
{
    double square = fit->n * fit->xx - fit->x * fit->x;
    return fit->n < 2 || square <= 0 ? NAN : (fit->n * fit->xy - fit->x * fit->y) / square;
}

double claim_fit_quality(const struct claim_fit *fit)
{
    double x = fit->n * fit->xx - fit->x * fit->x, y = fit->n * fit->yy - fit->y * fit->y;
    double both = fit->n * fit->xy - fit->x * fit->y;
    return fit->n < 3 || x <= 0 || y <= 0 ? NAN : both * both / (x * y);
}

/* The correlation of the ranks of values with their order; NaN with fewer than three. */
static double rank_correlation(const double *values, size_t count)
{
    double n = (double)count, squares = 0;
    for (size_t i = 0; i < count; i++) {
        double rank = 0;
        for (size_t j = 0; j < count; j++)
            rank += values[j] < values[i] ? 1 : values[j] == values[i] && j != i ? 0.5 : 0;
        squares += (rank - (double)i) * (rank - (double)i);
    }
    return count < 3 ? NAN : 1 - 6 * squares / (n * (n * n - 1));
}

struct claim_range claim_over_values(const struct claim_case *c, const char *parameter,
                                     claim_of_size *value_of, const void *context)
{
    struct claim_range range = {.least = NAN,
                                .most = NAN,
                                .mean = NAN,
                                .first = NAN,
                                .last = NAN,
                                .least_step = NAN,
                                .most_step = NAN};
    struct claim_fit fit = {0};
    VEC(double) values = {0};
    const char **sizes;
    double sum = 0;
    size_t count = claim_values(c, parameter, &sizes, "");
    for (size_t i = 0; i < count; i++) {
        double value = value_of(c, sizes[i], context);
        if (isnan(value))
            continue;
        if (values.count > 0) {
            range.least_step = fmin(range.least_step, value / range.last); /* ignores NaN */
            range.most_step = fmax(range.most_step, value / range.last);
        } else {
            range.first = value;
        }
        range.least = fmin(range.least, value);
        range.most = fmax(range.most, value);
        range.last = value;
        sum += value;
        claim_fit_add(&fit, log(strtod(sizes[i], NULL)), log(value));
        vec_push(&values, value);
        range.mean = sum / (double)values.count;
    }
    range.count = values.count;
    range.power = fit_slope(&fit);
    range.fit = claim_fit_quality(&fit);
    range.geometric = exp(fit.y / fit.n);
    range.rank = rank_correlation(values.items, values.count);
    vec_release(&values);
    mem_free(sizes);
    return range;
}

struct claim_range claim_over_sizes(const struct claim_case *c, claim_of_size *value_of,
                                    const void *context)
{
    return claim_over_values(c, "switches", value_of, context);
}

static double ratio_of_size(const struct claim_case *c, const char *size, const void *context)
{
    const struct comparison *ratio = context;
    double over = claim_mean(c, ratio->figure, "switches=%s %s", size, ratio->over);
    double under = claim_mean(c, ratio->figure, "switches=%s %s", size, ratio->under);
    return over == 0 && under == 0 ? 1 : over / under;
}

struct claim_range claim_compare(const struct claim_case *c, const char *figure, const char *over,
                                 const char *under)
{
    return claim_over_sizes(c, ratio_of_size, &(struct comparison){figure, over, under});
}

static double figure_of_size(const struct claim_case *c, const char *size, const void *context)
{
    const struct claim_figure *of = context;
    return claim_mean(c, of->figure, "switches=%s %s", size, of->where);
}

struct claim_range claim_figure_over_sizes(const struct claim_case *c, const char *figure,
                                           const char *where)
{
    return claim_over_sizes(c, figure_of_size, &(struct claim_figure){figure, where});
}

/* ---- measures ---- */

struct measured measure_mean(const struct claim_case *c)
{
    return measured_mean(claim_summary(c, c->detail, CLAIM_ALL));
}

struct measured measure_growth(const struct claim_case *c)
{
    const struct claim_figure *of = c->detail;
    struct claim_range range = claim_figure_over_sizes(c, of->figure, of->where);
    return measured_range(range.least_step, range.most_step);
}
