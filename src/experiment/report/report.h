/* Reports on runs and sweeps.
 *
 * The report on a run is one HTML page: verdict, picture of the fabric, phases of the manager over
 * curves of the traffic, losses by cause, latency and throughput, checks, events, and the command
 * that repeats it. The report on a sweep has tables of means with confidence intervals and curves
 * over a parameter. Both exist as CSV, as JSON and as plots by gnuplot. The same store gives the
 * same bytes. */
#ifndef WEFT_EXPERIMENT_REPORT_REPORT_H
#define WEFT_EXPERIMENT_REPORT_REPORT_H

#include "experiment/report/page.h"
#include "experiment/store/result_store.h"

struct chart_plot;
struct topology;

/* ---- the folder of one run ----
 *
 *   report.html   the report                  run.json      all data
 *   timeline.txt  events                      summary.txt   tables and text graphics
 *   figures.csv   figures                     series.csv    series
 *   scenario.weft and topology.net            the input
 *   run.db        all data as a result store */

struct run_folder {
    const struct run_record *record;
    const char *scenario; /* its text */
    const struct text *topology;
    const char *const *settings; /* of the command line: "key=value" */
    size_t setting_count;
    double wall_s; /* wall-clock seconds */
};

/* Creates the folder if needed. Files of an earlier run are replaced. */
int run_folder_make(const char *folder, struct err *err);
int run_folder_write(const char *folder, const struct run_folder *run, struct err *err);
/* DIR/run.db (weft sim --out DIR) to DIR/report.html. */
int report_write_run(const char *dir, struct err *err);

/* ---- one run ---- */

/* A run with everything that its store has of it. */
struct report_run {
    struct result_run run;
    struct run_record record;
    struct results results;
    struct arena arena;
};
/* `run` comes from result_store_read_runs(). On error nothing needs to be released. */
int report_run_read(struct report_run *report, struct result_store *store,
                    const struct result_run *run, struct err *err);
void report_run_release(struct report_run *report);

/* The sum of the "lost.CAUSE" figures, or else "lost"; NaN without either. */
double report_lost(const struct report_run *report);
/* The longest time from an action to the end of the change that it caused; *answered counts these
 * changes. */
uint64_t report_healing(const struct report_run *report, size_t *answered);
/* Writes the fabric as one <svg> element. Nodes and links that actions name are marked. -EFBIG if
 * the drawing is too large for a page. */
int report_picture(const struct topology *topology, const struct run_record *record,
                   struct text *out, struct err *err);
/* The summary in one sentence; false if the run failed, a check does not hold, or something is
 * wrong at the end: nodes cut off, packets without a path, traffic not recovered, saturation,
 * losses. */
bool report_run_verdict(const struct report_run *report, struct text *out);
/* Makes the page; the caller writes and releases it. */
void report_run_page(const struct report_run *report, struct page *page);
/* The path without its folder; "" for NULL. */
const char *report_base_name(const char *path);
/* Members of a page: the command that repeats a run, its seed, version and trace hash. */
void report_put_origin(const struct result_run *run, struct json *json);
/* Figures and points of series: name, unit, time in seconds (empty for figures), value. */
void report_run_csv(const struct report_run *report, struct text *out);
void report_run_json(const struct report_run *report, struct text *out);
/* Plots phases over curves, around the first change that an action caused, or of the whole run. */
int report_run_plot(const struct report_run *report, const struct chart_plot *plot,
                    struct err *err);

/* ---- a sweep ---- */

/* What to draw. Defaults for NULL: x is the parameter with the most numbers, y the figures that
 * differ between points, by all other parameters that vary. */
struct report_choice {
    const char *x, *by; /* x: a parameter or a figure; by: a parameter */
    const char *const *y;
    size_t y_count;
};

struct report_sweep; /* points and figures, read into memory */
/* Reads the figures of the runs and applies the choice. An error names what does not exist, and the
 * nearest name. */
int report_sweep_read(struct report_sweep **sweep, struct result_store *store,
                      const struct result_runs *runs, const struct report_choice *choice,
                      struct err *err);
void report_sweep_free(struct report_sweep *sweep);

/* The chosen figures of all points, in columns for a terminal. */
void report_sweep_text(const struct report_sweep *sweep, struct text *out);
void report_sweep_page(const struct report_sweep *sweep, struct page *page);
/* One line a point: parameters, repetitions, and for each figure its mean and half width. */
void report_sweep_csv(const struct report_sweep *sweep, struct text *out);
void report_sweep_json(const struct report_sweep *sweep, struct text *out);
/* Plots the curves of the chosen figures, one panel each. */
int report_sweep_plot(const struct report_sweep *sweep, const struct chart_plot *plot,
                      struct err *err);

#endif
