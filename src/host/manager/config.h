/* The manager's configuration: lines of `key value`; '#' starts a comment.
 *
 * A table in config.c has all keys, their values and whether they can change in a running manager.
 * Command-line options use the same table. weft-sm.conf(5) explains each key. */
#ifndef WEFT_HOST_MANAGER_CONFIG_H
#define WEFT_HOST_MANAGER_CONFIG_H

#include "host/device/port_choice.h"
#include "perf/counters.h"
#include "routing/engine/hints.h"
#include "sa/sa.h"
#include "sm/sm.h"
#include "topology/topology.h"

enum { CONFIG_KEYS = 128 };        /* at least the length of the table of keys */
#define CONFIG_CONTROL_AUTO "auto" /* value of `control`: the default path */

struct config {
    struct sm_config sm;
    struct sa_config sa;
    struct counter_config counters;
    struct port_choice port;
    const char *dump, *state, *log, *control; /* NULL: none */
    bool json;
    unsigned threads; /* 0: one for each processor */
    bool lmc_given;
    enum root_choice root;
    struct guid_list root_guids, root_file, first;
    struct port_weights weights;
    struct user_routes user_routes;
    struct qos qos;
    int qos_wanted;           /* -1: on if there is a policy or option */
    struct err policy_absent; /* the policy file is missing: an error unless qos is off */
    struct partitions partitions;
    struct topology plan; /* of topology_plan, if has_plan */
    bool has_plan;
    bool allow_both_pkeys;
    uint64_t sa_key;
    bool check_sgid_spoofing, enhanced_trust;
    struct guid_list allowed_sm_guids;
    bool reading_keys;               /* the lines are those of key_file */
    const char *values[CONFIG_KEYS]; /* as text, by key; NULL: default */
    struct config_source {
        const char *key, *file; /* file: NULL for the command line */
        unsigned line;
    } source; /* of the value that is being set */
    struct arena strings;
};

void config_init(struct config *config);
void config_release(struct config *config);

const char *config_key(size_t index); /* NULL after the last one */
/* Sets one key. */
int config_set(struct config *config, const char *key, const char *value, struct err *err);
/* Reads a file. */
int config_read(struct config *config, const char *path, struct err *err);
/* Checks and completes the configuration after the last key. */
int config_finish(struct config *config, struct err *err);

/* Calls `report` for each key whose value differs; `live`: it can change in a running manager. */
void config_compare(const struct config *before, const struct config *after,
                    void (*report)(void *context, const char *key, const char *from, const char *to,
                                   bool live),
                    void *context);
/* Gives `after` the values of `before` for keys that cannot change in a running manager. */
void config_keep_fixed(const struct config *before, struct config *after);

#endif
