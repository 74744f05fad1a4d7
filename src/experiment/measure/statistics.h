/* Statistics of streams of integers, in constant memory.
 *
 * A summary has count, mean, deviation and exact extremes; a histogram has every percentile to
 * within a tenth of a percent; batches give the confidence interval of a mean and detect a trend;
 * buckets have sums over time. Batches and buckets double their width when they are full, since the
 * length of a run is not known.
 *
 * The simulation does not depend on these values, so they may be doubles. */
#ifndef WEFT_EXPERIMENT_MEASURE_STATISTICS_H
#define WEFT_EXPERIMENT_MEASURE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- count, mean, deviation, extremes ---- */

struct summary {
    uint64_t count, min, max;
    double mean, squares; /* squares: sum of the squared differences from the mean (Welford) */
};
void summary_add(struct summary *summary, uint64_t value);
double summary_deviation(
    const struct summary *summary); /* sample deviation; 0 for fewer than two values */

/* ---- percentiles ---- */

/* Log-linear cells: exact below 1024, above that 1024 cells for each power of two, each less than
 * 0.1 % wide. Inside a cell values are taken as evenly spread, so that percentiles of different
 * runs differ as the runs do. */
enum { HISTOGRAM_BITS = 10, HISTOGRAM_ROWS = 64 - HISTOGRAM_BITS + 1 };
struct histogram {
    uint64_t *rows[HISTOGRAM_ROWS]; /* the cells of a power of two; NULL: no value */
    uint64_t count, min, max;
};
void histogram_add(struct histogram *histogram, uint64_t value);
void histogram_release(struct histogram *histogram);
/* The smallest value that `percent` of all values do not exceed: exact for the extremes, else
 * within its cell. 0 if there are no values. */
uint64_t histogram_percentile(const struct histogram *histogram, double percent);

/* ---- batch means ---- */

/* Means of consecutive values, in 32 to 63 batches once there are enough values. Confidence
 * intervals use pairs of batches, because means of longer batches are less correlated. */
enum { BATCHES = 64, BATCHES_FEWEST = 32 };
struct batches {
    double means[BATCHES]; /* the first `count` are full */
    size_t count;
    uint64_t size, filled; /* values of a full batch (0 counts as 1), and of the current one */
    double sum;            /* of the current batch */
};
void batches_add(struct batches *batches, double value);
/* Half the width of the 95 % confidence interval of the mean; NaN with fewer than 32 batches. */
double batches_half_width(const struct batches *batches);
/* Whether the values have a trend: a line fitted to the batches rises (with `both`: or falls) by
 * more than four times its standard error, and by more than a tenth of the mean. */
bool batches_have_trend(const struct batches *batches, bool both);

/* ---- all of them, of one stream ---- */

struct value_distribution {
    struct summary summary;
    struct histogram histogram;
    struct batches batches;
};
void distribution_add(struct value_distribution *distribution, uint64_t value);

/* ---- sums over time ---- */

/* Each bucket has `columns` sums. */
enum { BUCKETS = 512 };
struct buckets {
    uint64_t begin, width; /* ps; the width doubles when the buckets are full */
    unsigned columns;
    size_t count; /* buckets in use */
    double *sums;
};
void buckets_init(struct buckets *buckets, uint64_t begin, uint64_t width, unsigned columns);
void buckets_release(struct buckets *buckets);
/* Times before `begin` count as `begin`. */
void buckets_add(struct buckets *buckets, uint64_t time, unsigned column, double amount);
double buckets_sum(const struct buckets *buckets, size_t bucket, unsigned column);

/* ---- means ---- */

/* Mean and half width of its 95 % confidence interval (Student's t). NaN for no values; the half
 * width also for one value. Values that are not finite are left out. */
struct quantity_mean {
    double mean, half_width;
    size_t count;
};
struct quantity_mean quantity_mean(const double *values, size_t count);

#endif
