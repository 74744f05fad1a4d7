/* Bars and curves over time in the characters of a terminal. */
#include "experiment/report/drawing.h"

#include "base/time.h"

#include <assert.h>
#include <string.h>

static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const marks[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
enum { HEIGHTS = 8 };

static unsigned column_of(const struct canvas *canvas, uint64_t time)
{
    assert(canvas->to > canvas->from && canvas->columns > 0);
    if (time <= canvas->from)
        return 0;
    if (time >= canvas->to)
        return canvas->columns;
    double share = (double)(time - canvas->from) / (double)(canvas->to - canvas->from);
    return (unsigned)(share * canvas->columns);
}

void drawing_bar(const struct canvas *canvas, uint64_t from, uint64_t to, struct text *out)
{
    unsigned first = column_of(canvas, from), last = column_of(canvas, to);
    if (first == canvas->columns)
        first--;
    if (last <= first)
        last = first + 1;
    text_printf(out, "%*s", (int)first, "");
    for (unsigned column = first; column < last; column++)
        text_puts(out, canvas->plain ? "#" : "█");
}

void drawing_axis(const struct canvas *canvas, struct text *out)
{
    char first[TIME_TEXT_BYTES], last[TIME_TEXT_BYTES];
    time_text(canvas->from, first);
    time_text(canvas->to, last);
    unsigned width = (unsigned)(strlen(first) + strlen(last));
    text_printf(out, "%s%*s%s", first, width < canvas->columns ? (int)(canvas->columns - width) : 1,
                "", last);
}

/* The value at a time; 0 before the first point. */
static double value_at(const struct series *series, uint64_t time)
{
    size_t after;
    lower_bound(after, series->points.count, series->points.items[after].time <= time);
    return after ? series->points.items[after - 1].value : 0;
}

static double amount_between(const struct series *series, uint64_t from, uint64_t to,
                             enum curve curve)
{
    double most = value_at(series, from);
    if (curve == CURVE_TOTAL)
        return value_at(series, to) - (from ? most : 0);
    for (size_t i = 0; i < series->points.count && series->points.items[i].time < to; i++)
        if (series->points.items[i].time >= from && series->points.items[i].value > most)
            most = series->points.items[i].value;
    return most;
}

double drawing_amount(const struct canvas *canvas, const struct series *series, enum curve curve)
{
    return amount_between(series, canvas->from, canvas->to, curve);
}

static double column_amount(const struct canvas *canvas, const struct series *series,
                            enum curve curve, unsigned column)
{
    double width = (double)(canvas->to - canvas->from) / canvas->columns;
    uint64_t from = canvas->from + (uint64_t)(width * column);
    uint64_t to = canvas->from + (uint64_t)(width * (column + 1));
    return amount_between(series, from, to > from ? to : from + 1, curve);
}

void drawing_curve(const struct canvas *canvas, const struct series *series, enum curve curve,
                   struct text *out)
{
    double most = 0;
    for (unsigned column = 0; column < canvas->columns; column++) {
        double value = column_amount(canvas, series, curve, column);
        most = value > most ? value : most;
    }
    for (unsigned column = 0; column < canvas->columns; column++) {
        double value = column_amount(canvas, series, curve, column);
        unsigned height = most > 0 ? (unsigned)(value / most * HEIGHTS + 0.5) : 0;
        if (value > 0 && height == 0)
            height = 1;
        text_puts(out, (canvas->plain ? marks : blocks)[height]);
    }
}
