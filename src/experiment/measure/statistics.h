/* Statistics of streams of integers, in constant memory.
 *
 * What a long run measures cannot be kept value by value, and need not be: a summary has count,
 * mean, deviation and exact extremes; a histogram has every percentile to within half a percent;
 * batches tell how far a mean can be trusted, and whether it still moves; buckets show sums over
 * time. Batches and buckets do not know how long the run will be: when they are full, neighbours
 * are put together and each is twice as long from then on.
 *
 * Nothing here decides what a simulation does, so doubles will do. */
#ifndef WEFT_EXPERIMENT_MEASURE_STATISTICS_H
#define WEFT_EXPERIMENT_MEASURE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- count, mean, deviation, extremes ---- */

struct summary {
    uint64_t count, min, max;
    double mean, squares; /* squares: of the differences from the mean, summed (Welford) */
};
void summary_add(struct summary *summary, uint64_t value);
double summary_deviation(const struct summary *summary); /* of a sample; 0 for less than two */

/* ---- percentiles ---- */

/* Log-linear: values below 128 exactly, above that 128 cells for each power of two, which is less
 * than 0.8 % from one end of a cell to the other. */
enum { HISTOGRAM_BITS = 7, HISTOGRAM_CELLS = (64 - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS };
struct histogram {
    uint64_t *cells; /* NULL: nothing was added yet */
    uint64_t count, min, max;
};
void histogram_add(struct histogram *histogram, uint64_t value);
void histogram_release(struct histogram *histogram);
/* The smallest value that `percent` of all do not exceed: exact at both ends, else the middle of
 * its cell. 0 if there are none. */
uint64_t histogram_percentile(const struct histogram *histogram, double percent);

/* ---- batch means ---- */

/* Consecutive values by the batch. 32 to 63 full batches once there are enough values; pairs of
 * them are what intervals are made of, as means of longer batches depend less on each other. */
enum { BATCHES = 64, BATCHES_FEWEST = 32 };
struct batches {
    double means[BATCHES]; /* the first `count` are full */
    size_t count;
    uint64_t size, filled; /* values of a full batch (0 counts as 1), and of the one under way */
    double sum;            /* of the one under way */
};
void batches_add(struct batches *batches, double value);
/* Half the width of the 95 % confidence interval of the mean; NaN with fewer than 32 batches. */
double batches_half_width(const struct batches *batches);
/* Whether the values still move: a straight line through the batches rises (or, if `both`, falls)
 * by more than four times its standard error, and by more than a tenth of the mean in all. */
bool batches_have_trend(const struct batches *batches, bool both);

/* ---- sums over time ---- */

/* Each bucket has `columns` sums. */
enum { BUCKETS = 512 };
struct buckets {
    uint64_t begin, width; /* ps; width doubles as time goes on */
    unsigned columns;
    size_t count; /* buckets up to the last that something was added to */
    double *sums;
};
void buckets_init(struct buckets *buckets, uint64_t begin, uint64_t width, unsigned columns);
void buckets_release(struct buckets *buckets);
/* Times before the beginning count as the beginning. */
void buckets_add(struct buckets *buckets, uint64_t time, unsigned column, double amount);
double buckets_sum(const struct buckets *buckets, size_t bucket, unsigned column);

/* ---- means ---- */

/* Mean and the half width of its 95 % confidence interval (Student's t); NaN where there is none:
 * no values, or only one. Values that are no numbers are left out. */
struct quantity_mean {
    double mean, half_width;
    size_t count;
};
struct quantity_mean quantity_mean(const double *values, size_t count);

#endif
