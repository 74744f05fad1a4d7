/* Reports: what runs measured, for people.
 *
 * A run becomes one HTML page: verdict, picture of the fabric, the manager's phases over the
 * traffic's curves, losses by cause, latency and throughput, checks, the story, and how to run it
 * again. A sweep becomes tables of means with confidence intervals and curves of one figure over a
 * parameter. Both also as CSV, as JSON and as plots by gnuplot. The same store gives the same
 * bytes.
 *
 * Pages of other kinds are made with page.h and chart.h alone. */
#ifndef WEFT_EXPERIMENT_REPORT_REPORT_H
#define WEFT_EXPERIMENT_REPORT_REPORT_H

#include "experiment/report/page.h"
#include "experiment/store/result_store.h"

struct topology;

/* DIR/run.db (weft sim --out DIR) to DIR/report.html. */
int report_write_run(const char *dir, struct err *err);

/* ---- one run ---- */

/* A run with all that its store knows of it. */
struct report_run {
    struct result_run run;
    struct run_record record;
    struct results results;
    struct arena arena;
};
/* `run` as result_store_read_runs() gave it. On error nothing needs to be released. */
int report_run_read(struct report_run *report, struct result_store *store,
                    const struct result_run *run, struct err *err);
void report_run_release(struct report_run *report);

/* What "lost.CAUSE" figures add up to, or else "lost"; NaN if there are none. */
double report_lost(const struct report_run *report);
/* The longest time from an action to the end of the change that answers it; *answered counts
 * these. */
uint64_t report_healing(const struct report_run *report, size_t *answered);
/* Appends the fabric as one <svg> element: graphviz's drawing, cleaned up for a page. What the
 * actions of the record name is marked. Node names are hover titles; there are no ids and no
 * comments, so that the same fabric gives the same text. -ENOENT where graphviz is not installed,
 * -EFBIG where the drawing is too large for a page. */
int report_picture(const struct topology *topology, const struct run_record *record,
                   struct text *out, struct err *err);
/* The answer in one sentence; false if it is a bad one. */
bool report_run_verdict(const struct report_run *report, struct text *out);
/* The whole page; the caller writes and releases it. */
void report_run_page(const struct report_run *report, struct page *page);
/* Figures and points of series: name, unit, time in seconds (empty for figures), value. */
void report_run_csv(const struct report_run *report, struct text *out);
void report_run_json(const struct report_run *report, struct text *out);
/* Phases over curves, around the first change that answers an action, or else of the whole run. */
int report_run_plot(const struct report_run *report, const char *path, bool keep, struct err *err);

/* ---- a sweep ---- */

/* What to draw. NULLs are chosen: x is the parameter with the most numbers, y are figures that
 * differ between points, and by is all else that varies. */
struct report_choice {
    const char *x, *by; /* x: a parameter or a figure; by: a parameter */
    const char *const *y;
    size_t y_count;
};

struct report_sweep; /* points and figures, read into memory */
/* The runs' figures and what was chosen. An error names what is not there, and the nearest name. */
int report_sweep_read(struct report_sweep **sweep, struct result_store *store,
                      const struct result_runs *runs, const struct report_choice *choice,
                      struct err *err);
void report_sweep_free(struct report_sweep *sweep);

/* Points by what was chosen, in columns, for a terminal. */
void report_sweep_text(const struct report_sweep *sweep, struct text *out);
void report_sweep_page(const struct report_sweep *sweep, struct page *page);
/* One line a point: parameters, repetitions, and for each figure its mean and half width. */
void report_sweep_csv(const struct report_sweep *sweep, struct text *out);
void report_sweep_json(const struct report_sweep *sweep, struct text *out);
/* The curves of the chosen y, panels above each other if there are several. */
int report_sweep_plot(const struct report_sweep *sweep, const char *path, bool keep,
                      struct err *err);

#endif
