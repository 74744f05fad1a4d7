/* A scenario: statements in the order of the file, one a line (weft-scenario(5)).
 *
 * Reading checks everything that does not depend on the fabric. setup.h binds names of nodes before
 * the run starts. */
#ifndef WEFT_EXPERIMENT_SCENARIO_SCENARIO_H
#define WEFT_EXPERIMENT_SCENARIO_SCENARIO_H

#include "console/action.h"
#include "experiment/scenario/check_parse.h"
#include "experiment/scenario/collect.h"
#include "experiment/scenario/connection_spec.h"
#include "experiment/scenario/moment.h"
#include "experiment/scenario/traffic_spec.h"

enum statement_kind {
    STATEMENT_TOPOLOGY, /* words: a file, or a kind of fabric and its parameters */
    STATEMENT_PRESET,   /* words: its name */
    STATEMENT_SEED,     /* number */
    STATEMENT_SET,      /* words: scope (text "" for all nodes), key, value */
    STATEMENT_MANAGER, /* words: NODE[:PORT], then keys and values; or "stopped" alone at the end */
    STATEMENT_TRAFFIC,
    STATEMENT_CONNECTION,
    STATEMENT_ALTERNATE,   /* number: of the connection statement; alternate */
    STATEMENT_MEASURE,     /* window */
    STATEMENT_COLLECT,     /* collections */
    STATEMENT_ON_DEADLOCK, /* number: 1: the run stops at a deadlock */
    STATEMENT_ON_STEADY,   /* number: share of 2^32 within which figures must be known; 0: any */
    STATEMENT_ACTION,
    STATEMENT_RUN,
    STATEMENT_CHECK,
};

/* The window in which figures are measured. */
struct measuring_window {
    struct moment from, to; /* to TIME_NEVER: the end of the run */
};

struct run {
    enum { RUN_TO, RUN_FOR, RUN_UNTIL_SETTLED } kind;
    struct moment time; /* RUN_FOR: a duration; RUN_UNTIL_SETTLED: the limit */
    struct word word;
};

/* When an action applies. */
struct timing {
    enum { ACTION_NOW, ACTION_AT, ACTION_AFTER } when;
    struct moment time; /* ACTION_AFTER: a duration */
    uint64_t within;    /* drawn from [time, time + within) if it is not 0 */
    struct word word;
};

struct statement {
    enum statement_kind kind;
    struct word word;    /* the first one */
    const char *line;    /* as written, without comment and indentation */
    const char *setting; /* "--set KEY=VALUE" of the command line; NULL: a line of the file */
    struct word *words;
    size_t word_count;
    uint64_t number;
    struct traffic_spec *spec;
    struct connection_spec *connection;
    struct alternate_spec alternate;
    struct measuring_window window;
    struct collection *collections;
    size_t collection_count;
    struct timing timing; /* STATEMENT_ACTION */
    struct action action;
    struct run run;
    struct check_statement check;
};

struct scenario {
    const char *file;
    const char *text; /* content of the file */
    /* Content of the file that the `topology` statement names; NULL: that file is read. */
    const char *network;
    VEC(struct statement) statements;
    struct arena arena;
};

/* `path` may be "-". On error nothing needs to be released. */
int scenario_read(struct scenario *scenario, const char *path, struct err *err);
int scenario_read_text(struct scenario *scenario, const char *name, const char *text, size_t length,
                       struct err *err);
/* Adds a setting KEY=VALUE of the command line, which overrides the file: an attribute of the
 * fabric, or sm.KEY, vm.KEY, topology.KEY, traffic.[N.]KEY or preset. */
int scenario_override(struct scenario *scenario, const char *setting, struct err *err);
void scenario_override_seed(struct scenario *scenario, uint64_t seed);
/* As `on steady SHARE stop`, in parts of 2^32. */
void scenario_override_steady(struct scenario *scenario, uint64_t parts);
void scenario_release(struct scenario *scenario);

/* The first statement of a kind after `last`, or in the scenario (NULL); NULL: there is none. */
const struct statement *scenario_next(const struct scenario *scenario, enum statement_kind kind,
                                      const struct statement *last);
/* The last statement of a kind, which overrides earlier ones; NULL: there is none. */
const struct statement *scenario_last(const struct scenario *scenario, enum statement_kind kind);
/* The `run until settled` that times of this statement count from (moment.h); NULL: there is none.
 */
const struct statement *scenario_settled_run(const struct scenario *scenario,
                                             const struct statement *statement);
/* Whether it is a setting of that scope (sm, vm …), in the file or of the command line. */
bool statement_sets(const struct statement *statement, const char *scope, bool in_file);

#endif
