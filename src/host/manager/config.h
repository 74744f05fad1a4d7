/* The manager's configuration: lines of `key value`; '#' starts a comment.
 *
 * The table in config_keys.c has all keys, their values and whether they can change in a running
 * manager. Command-line options use the same table. weft-sm.conf(5) explains each key.
 *
 * Files of OpenSM (opensm.conf) are configurations, too: the table has OpenSM's keys, which set
 * keys of weft or have no effect. The configuration records what each line does. */
#ifndef WEFT_HOST_MANAGER_CONFIG_H
#define WEFT_HOST_MANAGER_CONFIG_H

#include "base/log_levels.h"
#include "host/device/port_choice.h"
#include "perf/perf.h"
#include "routing/engine/hints.h"
#include "sa/sa.h"
#include "sm/sm.h"
#include "topology/topology.h"

enum { CONFIG_KEYS = 384 };        /* at least the length of the table of keys */
#define CONFIG_CONTROL_AUTO "auto" /* value of `control`: the default path */

struct log_options {
    const char *path; /* NULL: standard output */
    bool json;
    struct log_levels levels;
    bool restart;       /* the file is emptied at the start */
    bool flush;         /* after each line */
    bool syslog;        /* lines also go to syslog(3) */
    uint32_t most_mib;  /* size of the file, which is then renamed; 0: no limit */
    const char *prefix; /* of each line; NULL: none */
};

enum config_effect {
    CONFIG_IN_FORCE,
    CONFIG_DEFAULT,   /* OpenSM's default: nothing is set */
    CONFIG_NO_EFFECT, /* the key has no effect here */
    CONFIG_PARTLY,    /* in force, but not all of it */
    CONFIG_UNKNOWN,   /* there is no such key */
    CONFIG_ERROR,
};
struct config_line {
    const char *file; /* NULL for the command line */
    unsigned line;
    const char *key, *value; /* not the value of a secret */
    enum config_effect effect;
    bool standard; /* no effect, but the value is OpenSM's default anyway */
    const char *text;
};

struct config {
    bool strict; /* unknown keys and engines are errors; the owner's */
    struct sm_config sm;
    struct sa_config sa;
    struct perf_config perf;
    struct port_choice port;
    const char *dump, *state, *control; /* NULL: none */
    const char *metrics;                /* the address of the HTTP server; NULL: none */
    const char *web;                    /* the same for the live page */
    const char *token_file;             /* with the token that changes need; NULL: a random one */
    struct log_options log;
    bool log_optional; /* without the file, the log is standard output */
    unsigned threads;  /* 0: one for each processor */
    bool lmc_given;
    enum root_choice root;
    struct guid_list root_guids, root_file, first;
    struct port_weights weights, ignored_ports;
    struct port_weights all_weights; /* of both files */
    struct user_routes user_routes;
    struct qos qos;
    int qos_wanted;           /* -1: on if there is a policy or option */
    struct err policy_absent; /* the policy file is missing: an error unless qos is off */
    struct partitions partitions;
    struct node_names names;
    struct prefix_rules prefix_rules;
    struct topology plan; /* of topology_plan, if has_plan */
    bool has_plan;
    bool allow_both_pkeys;
    struct guid_list allowed_sm_guids;
    bool reading_keys;               /* the lines are those of key_file */
    const char *values[CONFIG_KEYS]; /* as text, by key; NULL: default */
    uint32_t set_by[CONFIG_KEYS];    /* by key: 1 + the index in `lines` that set it; 0: none */
    struct config_source {
        const char *key, *file; /* file: NULL for the command line */
        unsigned line;
    } source; /* of the value that is being set */
    struct {
        enum config_effect kind;
        bool standard;
        char text[400];
    } effect;                             /* of that value */
    VEC(struct config_line) lines;        /* all that were read */
    VEC(struct err) errors;               /* of all files */
    bool from_key_file[CONFIG_KEYS];      /* the value is in the key file */
    uint64_t opensm_poll, opensm_retries; /* other values than OpenSM's defaults; 0: none */
    struct arena strings;
};

void config_init(struct config *config);
void config_release(struct config *config);

const char *config_key(size_t index); /* the keys of weft; NULL after the last one */
/* Whether the key is a setting of simulated managers. */
enum config_in_runs { CONFIG_NOT_IN_RUNS, CONFIG_BEFORE_RUNS, CONFIG_IN_RUNS };
enum config_in_runs config_key_in_runs(const char *key);
/* Sets one key. */
int config_set(struct config *config, const char *key, const char *value, struct err *err);
/* Whether the value of this key, or of the key that OpenSM calls so, is the name of a file. */
bool config_key_names_file(const char *key);
/* Reads a file to its end. After errors `errors` has all of them, and *err is the last one. */
int config_read(struct config *config, const char *path, struct err *err);
/* The same for the text of a file, which errors name. */
int config_read_text(struct config *config, const char *name, const char *text, struct err *err);
/* Checks and completes the configuration after the last key. */
int config_finish(struct config *config, struct err *err);

/* Calls `report` for each key whose value differs; `live`: it can change in a running manager. */
void config_compare(const struct config *before, const struct config *after,
                    void (*report)(void *context, const char *key, const char *from, const char *to,
                                   bool live),
                    void *context);
/* Gives `after` the values of `before` for keys that cannot change in a running manager. */
void config_keep_fixed(const struct config *before, struct config *after);

/* Prints what each line that was read does. */
void config_print_lines(const struct config *config, bool all, struct text *out);
/* Prints the configuration in weft's format; keys that are not given are comments. */
void config_print(const struct config *config, struct text *out);
/* Prints all keys of OpenSM and what they do. */
void config_print_opensm_keys(struct text *out);

#endif
