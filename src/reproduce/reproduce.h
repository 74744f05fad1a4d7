/* Reproduces the figures of the papers: runs the experiments, evaluates the claims and writes a
 * page.
 *
 * The output folder has the result stores under stores/, a folder of plots for each experiment, and
 * index.html. Stores are kept: an interrupted command continues, and a full run reuses the runs of
 * a quick one. Another seed than 1 has its own stores, under stores/seed-N/. */
#ifndef WEFT_REPRODUCE_REPRODUCE_H
#define WEFT_REPRODUCE_REPRODUCE_H

#include "experiment/sweep/sweep_run.h"
#include "reproduce/claims.h"
#include "reproduce/draw.h"
#include "reproduce/papers.h"

struct reproduce_options {
    const char *experiments, *out; /* folders */
    const char *const *names;      /* names, prefixes or patterns of experiments; none: all */
    size_t name_count;
    bool quick, retry;
    uint64_t seed; /* of the networks and of all random numbers; from 1 */
    uint64_t jobs;
    /* All may be NULL. The sweep is valid until the next one begins. */
    void (*begin)(void *context, const struct recipe *recipe, const char *path,
                  const struct sweep *sweep);
    void (*progress)(void *context, const struct sweep_counts *counts);
    void (*failure)(void *context, const struct sweep_run *run);
    void (*note)(void *context, const char *text);
    void *context;
};

/* One claim, evaluated. */
struct verdict {
    const struct claim *claim;
    struct finding findings[CLAIM_PRESETS];
    const struct expectation *expected[CLAIM_PRESETS]; /* NULL: it should hold */
};

/* A plot for one preset, or for all. */
struct picture {
    const struct plot *plot;
    const char *preset; /* NULL: all */
    const char *file;   /* path under the output folder, without extension; NULL: not written */
    struct charts charts;
};

struct experiment { /* results of one experiment */
    const struct recipe *recipe;
    VEC(struct picture) pictures;
    VEC(struct verdict) verdicts;
    size_t observations, failed, broken;
};

struct reproduction {
    struct recipes recipes;
    struct papers papers;
    struct expectations expectations;
    VEC(struct experiment) experiments;
    const char *folder;                       /* of the stores */
    VEC(const char *) stores;                 /* of the sweeps that were executed */
    size_t runs, there, done, failed, broken; /* of all sweeps */
    double seconds;
    uint64_t seed;
    bool quick, interrupted;
    const char *page; /* path of index.html */
    struct arena arena;
};

/* Where the experiments of an installed weft are. */
extern const char reproduce_installed_path[];

/* Marks the recipes that the names select. An error names an unknown one. */
int reproduce_choose(const struct recipes *recipes, const char *const *names, size_t count,
                     bool *chosen, struct err *err);

/* Executes everything. Failed runs and claims that do not hold are no error. Release *reproduction
 * also after an error. */
int reproduce(const struct reproduce_options *options, struct reproduction *reproduction,
              struct err *err);
void reproduction_release(struct reproduction *reproduction);

bool verdict_is_expected(const struct verdict *verdict, enum claim_preset preset);
struct tally_part {
    size_t claims, holds[CLAIM_PRESETS];
};
struct tally {
    struct tally_part all, kinds[CLAIM_KINDS];
    size_t unexpected; /* outcomes that differ from experiments/expected */
};
struct tally reproduction_count(const struct reproduction *reproduction);

/* present.c, present_claims.c, present_page.c: the table of claims in 80 columns, all as JSON, and
 * the page. */
/* The reason why a claim does not hold, or NULL. How many claims of an experiment have this reason
 * with a preset, and the index of the first. */
const char *verdict_reason(const struct verdict *verdict, enum claim_preset preset);
size_t experiment_count_reason(const struct experiment *experiment, enum claim_preset preset,
                               const char *reason, size_t *first);
/* Whether a reader would recognise the figure: the claims that hold, and those that do not with
 * their reasons. Appends nothing for an experiment without claims. */
void experiment_write_sentence(const struct experiment *experiment, struct text *out);
/* The claims of the chosen recipes, without results. */
void claims_write_list(const struct recipes *recipes, const bool *chosen, bool json,
                       struct text *out);
void reproduction_write_table(const struct reproduction *reproduction, struct text *out);
void reproduction_write_json(const struct reproduction *reproduction, struct text *out);
/* Its members; for a page also those of experiment_put_page(). */
void reproduction_put_json(const struct reproduction *reproduction, bool page, struct json *json);
/* What a page shows besides: the paper, the description and the plots of an experiment. */
void experiment_put_page(const struct experiment *experiment, const struct papers *papers,
                         struct json *json);
int reproduction_write_page(const struct reproduction *reproduction, const char *path,
                            struct err *err);

#endif
