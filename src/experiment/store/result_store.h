/* The result store: runs with their results, in one SQLite 3 file.
 *
 * A run has its input (scenario, parameters, seed, version), its output (figures, series, events,
 * trace hash) and the command that repeats it. `weft sweep` fills a store, `weft sim --out` writes
 * one with a single run, `weft report` and `weft reproduce` read them. result_store_sql.c describes
 * the tables for SQL users.
 *
 * A run is identified by its point ("rate=20000 vls=1", see result_point()) and its repetition. It
 * is added completely or not at all, so that a killed process leaves a valid store. Several
 * processes may read and write the same store.
 *
 * Packets are not stored (weft sim --pcap captures them). */
#ifndef WEFT_EXPERIMENT_STORE_RESULT_STORE_H
#define WEFT_EXPERIMENT_STORE_RESULT_STORE_H

#include "base/err.h"
#include "base/mem.h"
#include "experiment/measure/results.h"
#include "experiment/measure/run_record.h"

#include <stdbool.h>
#include <stdint.h>

struct result_parameter {
    const char *name, *value;
};

/* A run without its results. NULL texts count as "". */
struct result_run {
    int64_t id;        /* row in this store */
    const char *point; /* NULL when adding: built from the parameters */
    const struct result_parameter *parameters;
    size_t parameter_count;
    uint32_t repetition; /* from 1 on; 0 counts as 1 */
    uint64_t seed;
    bool failed;                    /* it failed: only `error` is set */
    const char *error;              /* reason; "" when finished */
    const char *replay;             /* the command that repeats the run */
    const char *name;               /* file name of the scenario */
    const char *scenario;           /* its text with parameters filled in */
    const char *template;           /* its text before parameters are filled in; NULL: the same */
    const char *topology;           /* initial fabric, in ibnetdiscover format */
    const char *version;            /* of weft; NULL when adding: the running version */
    uint64_t hash;                  /* trace hash; taken from the record when adding */
    double wall_s;                  /* wall-clock seconds */
    uint32_t checks, checks_failed; /* taken from the record when adding */
};

struct result_store;

/* Opens a store. Writing creates it if needed; reading requires it. An error if the file is not a
 * store or has another version. */
enum result_store_mode { RESULT_STORE_READ, RESULT_STORE_WRITE };
int result_store_open(struct result_store **store, const char *path, enum result_store_mode mode,
                      struct err *err);
void result_store_close(struct result_store *store); /* may be NULL */
const char *result_store_path(const struct result_store *store);

/* ---- writing ---- */

/* Adds a finished run in one transaction; `results` may be NULL. It replaces a failed run of the
 * same point and repetition. If a finished run exists, nothing changes: 0 if seed and hash are
 * equal, else -EEXIST.
 *
 * Without a record, adds a run that failed, for the reason run->error. It replaces a failed run,
 * never a finished one. */
int result_store_add(struct result_store *store, const struct result_run *run,
                     const struct run_record *record, const struct results *results,
                     struct err *err);

/* Copies the runs of another store that are missing here; a finished run replaces a failed one.
 * Runs with the same point and repetition but another seed or trace are an error, and nothing
 * changes. *added may be NULL. */
int result_store_merge(struct result_store *store, const char *path, size_t *added,
                       struct err *err);

/* ---- reading ---- */

struct result_runs {
    VEC(struct result_run) items; /* by parameters (numbers as numbers), then by repetition */
    struct arena arena;           /* owns the texts */
};
/* All runs, finished and failed, without the long texts (scenario, template, topology are NULL).
 * The order does not depend on the order of adding. */
int result_store_read_runs(struct result_store *store, struct result_runs *runs, struct err *err);
void result_runs_release(struct result_runs *runs);
/* The long texts of one run. */
int result_store_read_texts(struct result_store *store, struct result_run *run, struct arena *arena,
                            struct err *err);

/* A template of the stored runs that differs from this one; *other is NULL if there is none. */
int result_store_find_other_template(struct result_store *store, const char *template,
                                     struct arena *arena, const char **other, struct err *err);
/* Reads figures and series of a run; `results` must be empty. */
int result_store_read_results(struct result_store *store, int64_t run, struct results *results,
                              struct err *err);
/* Reads events, changes, checks and totals of a run; the record must be empty. Results are read
 * separately, since they may be large. */
int result_store_read_record(struct result_store *store, int64_t run, struct run_record *record,
                             struct err *err);

/* ---- points ---- */

/* Appends the canonical name of a point: NAME=VALUE sorted by name and separated by a blank, values
 * with blanks in quotes; "" without parameters. */
void result_point(const struct result_parameter *parameters, size_t count, struct text *out);
/* The value of a parameter, or NULL. */
const char *result_parameter(const struct result_parameter *parameters, size_t count,
                             const char *name);
/* Whether a value is a number, without a unit. */
bool result_is_number(const char *value);
/* Order of values: numbers before words; numbers by value, words by strverscmp(): S9 before S10. */
int result_compare_values(const char *a, const char *b);
/* Sorts values and removes duplicates; returns how many are left. */
size_t result_sort_values(const char **values, size_t count);

#endif
