/* Reproduction: runs the experiments, looks at what they found, and puts it beside the papers.
 *
 * Everything goes into one folder: the result stores under stores/ (kept, so that the same command
 * goes on where it was stopped, and a whole run takes over what a quick one has done), a folder of
 * plots for each experiment, and index.html with all of it. */
#ifndef WEFT_REPRODUCE_REPRODUCE_H
#define WEFT_REPRODUCE_REPRODUCE_H

#include "experiment/sweep/sweep_run.h"
#include "reproduce/claims.h"
#include "reproduce/draw.h"

struct reproduce_options {
    const char *experiments, *out; /* folders */
    const char *const *names;      /* of experiments, or how they begin, or patterns; none: all */
    size_t name_count;
    bool quick, retry;
    unsigned jobs;
    /* All may be NULL. */
    void (*begin)(void *context, const struct recipe *recipe, const char *sweep);
    void (*progress)(void *context, const struct sweep_counts *counts);
    void (*failure)(void *context, const struct sweep *sweep, const struct sweep_run *run);
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
    const char *file;   /* under the folder, without its ending; NULL: there is none */
    struct charts charts;
};

struct exhibit { /* what there is to see of one experiment */
    const struct recipe *recipe;
    VEC(struct picture) pictures;
    VEC(struct verdict) verdicts;
    size_t observations, failed, broken;
};

struct reproduction {
    struct recipes recipes;
    struct expectations expectations;
    VEC(struct exhibit) exhibits;
    VEC(const char *) stores;                 /* of the sweeps that were run */
    size_t runs, there, done, failed, broken; /* of all sweeps */
    double seconds;
    bool quick, interrupted;
    const char *page; /* path of index.html */
    struct arena arena;
};

/* Where the experiments are once weft is installed. */
extern const char reproduce_installed_path[];

/* The recipes that are meant by names; an error names what is not there. */
int reproduce_choose(const struct recipes *recipes, const char *const *names, size_t count,
                     bool *chosen, struct err *err);

/* All of it. What was found is in *reproduction even if runs failed or claims do not hold; an error
 * means that there is nothing to see. Release it in either case. */
int reproduce(const struct reproduce_options *options, struct reproduction *reproduction,
              struct err *err);
void reproduction_release(struct reproduction *reproduction);

bool verdict_is_expected(const struct verdict *verdict, enum claim_preset preset);
struct tally {
    size_t claims, holds[CLAIM_PRESETS];
    size_t unexpected; /* outcomes that are not those on record */
};
struct tally reproduction_count(const struct reproduction *reproduction);

/* present.c, present_page.c: the table of claims in 80 columns, all as JSON, and the page. */
/* Why a claim does not hold; NULL: it does, or nobody knows. How many of an exhibit's claims have
 * this reason with a preset, and which is the first: it is told once for all of them. */
const char *verdict_reason(const struct verdict *verdict, enum claim_preset preset);
size_t exhibit_count_reason(const struct exhibit *exhibit, enum claim_preset preset,
                            const char *reason, size_t *first);
void reproduction_write_table(const struct reproduction *reproduction, struct text *out);
void reproduction_write_json(const struct reproduction *reproduction, struct text *out);
int reproduction_write_page(const struct reproduction *reproduction, const char *path,
                            struct err *err);

#endif
