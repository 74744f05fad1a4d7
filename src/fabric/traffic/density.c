/* Empirical densities: intervals between packets as they were measured.
 *
 * Each line of the file is "INTERVAL WEIGHT": an interval in any unit, since the rate of the
 * traffic gives the mean, and how often it occurs. An interval is drawn with the probability of its
 * weight. The draw is a binary search over integer sums. */
#include "fabric/traffic/internal.h"

#include "base/line_reader.h"

#include <errno.h>

enum { LINES_LIMIT = 1000 * 1000, WEIGHT_MOST = 1000000 };
#define WEIGHT_UNIT   1e-6 /* weights are integers in this unit */
#define INTERVAL_MOST 1e15
#define RATIO_MOST    1e6 /* of an interval to the mean */
#define RATIO_ONE     4294967296.0

typedef unsigned __int128 wide;

struct density_line {
    double interval, weight;
};

static int take_decimal(struct cursor *cursor, const char *what, double most, double *value)
{
    struct word word;
    const char *rest;
    int status = cursor_take(cursor, what, &word);
    if (status == 0 &&
        (!parse_decimal(word.text, value, &rest) || *rest || *value < 0 || *value > most))
        return word_error(cursor, &word, "'%.80s': expected %s from 0 to %g", word.text, what,
                          most);
    return status;
}

int traffic_read_density(struct traffic *traffic, const char *path, struct err *err)
{
    struct line_reader *lines = from_file(path, err);
    VEC(struct density_line) read = {0};
    struct cursor cursor;
    double sum = 0, weights = 0;
    while (line_reader_next(lines, &cursor)) {
        struct density_line line = {0};
        take_decimal(&cursor, "an interval", INTERVAL_MOST, &line.interval);
        take_decimal(&cursor, "a weight", WEIGHT_MOST, &line.weight);
        lines->status = cursor_take_end(&cursor);
        sum += line.interval * line.weight;
        weights += line.weight;
        if (lines->status == 0 && line.weight >= WEIGHT_UNIT)
            vec_push(&read, line);
        if (lines->status == 0 && read.count > LINES_LIMIT)
            lines->status = err_at(err, EFBIG, path, 0, "more than %d intervals", LINES_LIMIT);
    }
    if (lines->status == 0 && !(sum > 0))
        lines->status = err_at(err, EINVAL, path, 0, "the mean of these intervals is 0");
    traffic->density.count = 0;
    for (size_t i = 0; i < read.count && lines->status == 0; i++) {
        double ratio = read.items[i].interval / (sum / weights);
        uint64_t until = i ? traffic->density.items[i - 1].weight_until : 0;
        if (ratio > RATIO_MOST)
            lines->status =
                err_at(err, EINVAL, path, 0, "an interval is more than a million times the mean");
        vec_push(
            &traffic->density,
            ((struct traffic_interval){until + (uint64_t)(read.items[i].weight / WEIGHT_UNIT + 0.5),
                                       (uint64_t)(ratio * RATIO_ONE + 0.5)}));
    }
    vec_release(&read);
    return lines->status;
}

uint64_t density_draw(const struct traffic *traffic, struct rng *rng, uint64_t mean)
{
    const struct traffic_interval *items = traffic->density.items;
    uint64_t number = rng_below(rng, items[traffic->density.count - 1].weight_until);
    size_t at;
    lower_bound(at, traffic->density.count, items[at].weight_until <= number);
    wide scaled = ((wide)items[at].ratio * mean + (UINT64_C(1) << 31)) >> 32;
    return scaled > TIME_LONGEST ? TIME_LONGEST : (uint64_t)scaled;
}
