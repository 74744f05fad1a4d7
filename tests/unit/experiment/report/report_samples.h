/* Runs and sweeps that never were, for tests of reports: what they measured is made up, the fabric
 * and all formats are real. */
#ifndef WEFT_TESTS_REPORT_SAMPLES_H
#define WEFT_TESTS_REPORT_SAMPLES_H

#include <stddef.h>

/* A switch dies under traffic, the manager heals the fabric: one run with `points` samples in each
 * series. `hostile` puts it into every text; NULL: none. */
void sample_run(const char *path, size_t points, const char *hostile);
/* A run that measured nothing at all. */
void sample_empty_run(const char *path);
/* Three engines, eight rates, three repetitions; the last rates saturate, one run failed. */
void sample_sweep(const char *path);

#endif
