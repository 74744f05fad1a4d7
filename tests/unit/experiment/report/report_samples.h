/* Synthetic runs and sweeps for tests of reports: invented values in real formats. */
#ifndef WEFT_TESTS_REPORT_SAMPLES_H
#define WEFT_TESTS_REPORT_SAMPLES_H

#include <stddef.h>

/* A switch fails under traffic and the manager repairs the tables: one run with `points` samples in
 * each series. `hostile` is inserted into every text; NULL: none. */
void sample_run(const char *path, size_t points, const char *hostile);
/* A run without results. */
void sample_empty_run(const char *path);
/* Three engines, eight rates, three repetitions; the last rates saturate, one run failed. */
void sample_sweep(const char *path);

#endif
