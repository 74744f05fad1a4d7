/* Estimators: Welford's mean and variance, a log-linear histogram, batch means with a linear fit
 * for the trend, sums over time, and Student's confidence interval. */
#include "experiment/measure/statistics.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- summary ---- */

void summary_add(struct summary *summary, uint64_t value)
{
    double before = (double)value - summary->mean;
    if (summary->count == 0 || value < summary->min)
        summary->min = value;
    if (value > summary->max)
        summary->max = value;
    summary->count++;
    summary->mean += before / (double)summary->count;
    summary->squares += before * ((double)value - summary->mean);
}

double summary_deviation(const struct summary *summary)
{
    return summary->count < 2 ? 0 : sqrt(summary->squares / (double)(summary->count - 1));
}

/* ---- histogram ---- */

enum { LINEAR = 1 << HISTOGRAM_BITS };

/* The first row has one value in each cell; each further row has cells of twice the width. */
static unsigned row_of(uint64_t value)
{
    return value < LINEAR ? 0 : 64u - (unsigned)__builtin_clzll(value) - HISTOGRAM_BITS;
}

static unsigned shift_of(unsigned row)
{
    return row ? row - 1 : 0;
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
    unsigned row = row_of(value);
    if (!histogram->rows[row])
        histogram->rows[row] = mem_zalloc(LINEAR, sizeof *histogram->rows[row]);
    if (histogram->count == 0 || value < histogram->min)
        histogram->min = value;
    if (value > histogram->max)
        histogram->max = value;
    histogram->count++;
    histogram->rows[row][(value >> shift_of(row)) % LINEAR]++;
}

void histogram_release(struct histogram *histogram)
{
    for (unsigned row = 0; row < HISTOGRAM_ROWS; row++)
        mem_free(histogram->rows[row]);
    *histogram = (struct histogram){0};
}

uint64_t histogram_percentile(const struct histogram *histogram, double percent)
{
    assert(percent >= 0 && percent <= 100);
    uint64_t rank = (uint64_t)ceil((double)histogram->count * percent / 100), seen = 0;
    if (histogram->count == 0)
        return 0;
    if (rank <= 1)
        return histogram->min;
    if (rank >= histogram->count)
        return histogram->max;
    for (unsigned row = 0; row < HISTOGRAM_ROWS; row++)
        for (uint64_t cell = 0; histogram->rows[row] && cell < LINEAR; cell++) {
            uint64_t here = histogram->rows[row][cell];
            if (seen + here < rank) {
                seen += here;
                continue;
            }
            uint64_t width = UINT64_C(1) << shift_of(row);
            uint64_t low = ((row ? LINEAR : 0) + cell) * width;
            double share = ((double)(rank - seen) - 0.5) / (double)here;
            uint64_t value = low + (uint64_t)(share * (double)width);
            return value < histogram->min   ? histogram->min
                   : value > histogram->max ? histogram->max
                                            : value;
        }
    return histogram->max;
}

/* ---- batches ---- */

static void average_pairs(double *means, size_t count)
{
    for (size_t i = 0; i < count / 2; i++)
        means[i] = (means[2 * i] + means[2 * i + 1]) / 2;
}

void batches_add(struct batches *batches, double value)
{
    if (batches->size == 0)
        batches->size = 1;
    batches->sum += value;
    if (++batches->filled < batches->size)
        return;
    batches->means[batches->count++] = batches->sum / (double)batches->size;
    batches->sum = 0;
    batches->filled = 0;
    if (batches->count < BATCHES)
        return;
    average_pairs(batches->means, BATCHES);
    batches->count = BATCHES / 2;
    batches->size *= 2;
}

double batches_half_width(const struct batches *batches)
{
    double means[BATCHES];
    if (batches->count < BATCHES_FEWEST)
        return NAN;
    memcpy(means, batches->means, batches->count * sizeof *means);
    average_pairs(means, batches->count);
    return quantity_mean(means, batches->count / 2).half_width;
}

bool batches_have_trend(const struct batches *batches, bool both)
{
    double n = (double)batches->count, middle = (n - 1) / 2, mean = 0, slope = 0, rest = 0;
    if (batches->count < 3)
        return false;
    for (size_t i = 0; i < batches->count; i++)
        mean += batches->means[i] / n;
    double spread = n * (n * n - 1) / 12; /* sum of (i - middle)^2 */
    for (size_t i = 0; i < batches->count; i++)
        slope += ((double)i - middle) * (batches->means[i] - mean) / spread;
    for (size_t i = 0; i < batches->count; i++) {
        double miss = batches->means[i] - mean - slope * ((double)i - middle);
        rest += miss * miss;
    }
    double error = sqrt(rest / (n - 2) / spread), rise = slope * (n - 1);
    if (both && slope < 0) {
        slope = -slope;
        rise = -rise;
    }
    return slope > 4 * error && rise > fabs(mean) / 10;
}

void distribution_add(struct value_distribution *distribution, uint64_t value)
{
    summary_add(&distribution->summary, value);
    histogram_add(&distribution->histogram, value);
    batches_add(&distribution->batches, (double)value);
}

/* ---- buckets ---- */

void buckets_init(struct buckets *buckets, uint64_t begin, uint64_t width, unsigned columns)
{
    assert(width > 0 && columns > 0);
    *buckets = (struct buckets){.begin = begin, .width = width, .columns = columns};
    buckets->sums = mem_zalloc((size_t)BUCKETS * columns, sizeof *buckets->sums);
}

void buckets_release(struct buckets *buckets)
{
    mem_free(buckets->sums);
    *buckets = (struct buckets){0};
}

/* Joins neighbours: half as many, twice as wide. */
static void double_width(struct buckets *buckets)
{
    size_t columns = buckets->columns, kept = (buckets->count + 1) / 2;
    double *sums = buckets->sums;
    for (size_t i = 0; i < kept; i++)
        for (size_t column = 0; column < columns; column++) {
            size_t second = 2 * i + 1; /* may be missing at the end */
            double more = second < buckets->count ? sums[second * columns + column] : 0;
            sums[i * columns + column] = sums[2 * i * columns + column] + more;
        }
    memset(sums + kept * columns, 0, (BUCKETS - kept) * columns * sizeof *sums);
    buckets->count = kept;
    buckets->width *= 2;
}

void buckets_add(struct buckets *buckets, uint64_t time, unsigned column, double amount)
{
    uint64_t since = time > buckets->begin ? time - buckets->begin : 0;
    while (since / buckets->width >= BUCKETS)
        double_width(buckets);
    size_t bucket = (size_t)(since / buckets->width);
    if (bucket >= buckets->count)
        buckets->count = bucket + 1;
    buckets->sums[bucket * buckets->columns + column] += amount;
}

double buckets_sum(const struct buckets *buckets, size_t bucket, unsigned column)
{
    assert(bucket < buckets->count && column < buckets->columns);
    return buckets->sums[bucket * buckets->columns + column];
}

/* ---- means ---- */

/* Student's t, two sides, 95 %, by degrees of freedom; the last is the normal distribution's. */
static double student_t(size_t freedom)
{
    static const double t[] = {0,     12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                               2.306, 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
                               2.120, 2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069,
                               2.064, 2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
    enum { LISTED = sizeof t / sizeof t[0] };
    if (freedom < LISTED)
        return t[freedom];
    return freedom < 60 ? 2.042 : freedom < 120 ? 2.000 : freedom < 1000 ? 1.980 : 1.962;
}

struct quantity_mean quantity_mean(const double *values, size_t count)
{
    struct quantity_mean result = {.mean = NAN, .half_width = NAN};
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        if (isfinite(values[i])) {
            sum += values[i];
            result.count++;
        }
    }
    if (result.count == 0)
        return result;
    result.mean = sum / (double)result.count;
    if (result.count < 2)
        return result;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            squares += (values[i] - result.mean) * (values[i] - result.mean);
    double deviation = sqrt(squares / (double)(result.count - 1));
    result.half_width = student_t(result.count - 1) * deviation / sqrt((double)result.count);
    return result;
}
