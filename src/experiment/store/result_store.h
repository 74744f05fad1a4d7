/* The result store: what runs measured, kept in one SQLite 3 file.
 *
 * A store holds runs, each with all it takes to look at it again without running it: what was
 * played (scenario, parameters, seed, version), what came of it (figures, series, story, trace
 * hash), and the command that plays it once more. `weft sweep` fills one, `weft sim --out` writes
 * one with a single run, `weft report` and `weft reproduce` read them; the tables are described in
 * result_store_sql.c, for those who would rather ask in SQL.
 *
 * A run is known by its point ("rate=20000 vls=1", see result_point()) and its repetition. It is
 * added as a whole or not at all: a process that is killed leaves a store that holds all the runs
 * that were added before. Several processes may add to and read from the same store.
 *
 * Not kept: the packets themselves (weft sim --pcap does that). */
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

/* What a run is, beside what it found. Texts that are NULL count as "". */
struct result_run {
    int64_t id;        /* given by the store; of no meaning elsewhere */
    const char *point; /* NULL when adding: made of the parameters */
    const struct result_parameter *parameters;
    size_t parameter_count;
    uint32_t repetition; /* from 1 on; 0 counts as 1 */
    uint64_t seed;
    bool failed;          /* it came to no end: there is an error, and nothing else was found */
    const char *error;    /* why; "" when done */
    const char *replay;   /* the command that plays it again */
    const char *name;     /* of the scenario: its file */
    const char *scenario; /* its text as it was played */
    const char *template; /* its text before parameters were put in; NULL: the same */
    const char *topology; /* in ibnetdiscover's format, as the run began */
    const char *version;  /* of weft; NULL when adding: this one's */
    uint64_t hash;        /* of the trace; taken from the story when adding */
    double wall_s;        /* how long it took */
    uint32_t checks, checks_failed; /* taken from the story when adding */
};

struct result_store;

/* Opens a store. To write, it is made unless it is there; to read, it must be there. An error if
 * the file is something else, or a store of another version. */
enum result_store_mode { RESULT_STORE_READ, RESULT_STORE_WRITE };
int result_store_open(struct result_store **store, const char *path, enum result_store_mode mode,
                      struct err *err);
void result_store_close(struct result_store *store); /* may be NULL */
const char *result_store_path(const struct result_store *store);

/* ---- writing ---- */

/* Adds a finished run: one transaction. `results` may be NULL. A failed run of the same point and
 * repetition is replaced. If a finished one is there already nothing is changed: 0 if it is the
 * same (seed and hash), else -EEXIST and an error that tells both.
 *
 * Without a record, adds a run that failed, for the reason run->error. It replaces a failed run,
 * never a finished one. */
int result_store_add(struct result_store *store, const struct result_run *run,
                     const struct run_record *record, const struct results *results,
                     struct err *err);

/* Takes over all runs of another store that are not there yet; a finished run beats a failed one.
 * Runs with the same point and repetition but of different seeds, or with different traces, are a
 * contradiction: an error, and nothing is changed. *added may be NULL. */
int result_store_merge(struct result_store *store, const char *path, size_t *added,
                       struct err *err);

/* ---- reading ---- */

struct result_runs {
    VEC(struct result_run) items; /* by parameters (numbers as numbers), then by repetition */
    struct arena arena;           /* of all their texts */
};
/* All runs, finished and failed, without the long texts (scenario, template, topology are NULL):
 * the same whatever the order in which they were added. */
int result_store_read_runs(struct result_store *store, struct result_runs *runs, struct err *err);
void result_runs_release(struct result_runs *runs);
/* The long texts of one run. */
int result_store_read_texts(struct result_store *store, struct result_run *run, struct arena *arena,
                            struct err *err);

/* Of the texts that runs were made from (templates) one that is not this; *other is NULL if there
 * is none. */
int result_store_find_other_template(struct result_store *store, const char *template,
                                     struct arena *arena, const char **other, struct err *err);
/* Figures and series of a run as they were measured; `results` must be empty. */
int result_store_read_results(struct result_store *store, int64_t run, struct results *results,
                              struct err *err);
/* Events, changes, checks and totals of a run; `story` must be empty. Its results are read apart
 * (result_store_read_results), since they may be many. */
int result_store_read_story(struct result_store *store, int64_t run, struct run_record *record,
                            struct err *err);

/* ---- points ---- */

/* Appends the canonical name of a point: NAME=VALUE by name, one blank between, values with blanks
 * in quotes; "" if there are no parameters. */
void result_point(const struct result_parameter *parameters, size_t count, struct text *out);
/* The value of the parameter of that name, or NULL. */
const char *result_parameter(const struct result_parameter *parameters, size_t count,
                             const char *name);
/* Whether a value is a number, without a unit. */
bool result_is_number(const char *value);
/* How values sort: numbers by size and before words, words by letters. */
int result_compare_values(const char *a, const char *b);
/* Sorts values and removes duplicates; returns how many are left. */
size_t result_sort_values(const char **values, size_t count);

#endif
