/* The table of keys, for the files that read, check and print configurations.
 *
 * config_keys.c has one row for each key: those of weft first, then those of OpenSM that have
 * another name, another unit or no effect here. A key of OpenSM that weft also has, with the same
 * meaning, is one row. */
#ifndef WEFT_HOST_MANAGER_CONFIG_KEY_H
#define WEFT_HOST_MANAGER_CONFIG_KEY_H

#include "base/field.h"
#include "host/manager/config.h"

/* The type of a value. */
enum key_kind {
    NUMBER,
    TIME,
    FLAG,
    PATH,
    WORD,
    QOS_OPTION,
    OTHER,
    RENAMED,    /* OpenSM's name for the key `ours` */
    TRANSLATED, /* OpenSM's; `set` sets other keys */
    NO_EFFECT,  /* OpenSM's; `reason` says why */
};
struct key {
    const char *name; /* NO_EFFECT: one or several; '*' at the end: all keys that begin like this */
    bool live;        /* can change in a running manager */
    enum key_kind kind;
    struct field field;       /* of struct config */
    uint64_t low, high;       /* of a number; a time has only `low`, in ns. RENAMED: larger values
                                 become `high`, if that is not 0 */
    const char *low_reason;   /* of a time: why it cannot be shorter */
    const char *const *words; /* the choices; the field gets the index */
    const char *instead;      /* a word that may replace a number or a time; RENAMED: 0 is this */
    uint64_t instead_value;   /* its meaning */
    const char *standard;     /* the default, where the field does not say it; NULL: that of the
                                 field, or "none" */
    int (*set)(struct config *config, const char *value, struct err *err); /* OTHER, TRANSLATED */
    const char *if_true; /* TRANSLATED without `set`: TRUE sets `ours` to this, FALSE nothing */
    int (*check)(const char *value, struct err *err); /* PATH: NULL if every text is valid */
    bool reads_file; /* OTHER: the value is the name of a file, which is read */
    enum config_in_runs in_runs;
    bool secret; /* its value is neither logged nor in errors; only these may be in a key file */
    /* Keys of OpenSM. */
    const char *opensm; /* value in a file that `opensm -c` writes; NULL: the vendor's key */
    const char *ours;   /* RENAMED, TRANSLATED without `set` */
    const char *unit;   /* RENAMED: of a time */
    bool own_default;   /* RENAMED: OpenSM's default stands for that of weft */
    bool optional_file; /* RENAMED: a missing file is not an error, as in OpenSM */
    bool hint; /* RENAMED: nor is an error in the file, which only guides routes or names */
    const char *reason; /* NO_EFFECT; RENAMED: what differs, or NULL; TRANSLATED: what is set */
};

extern const struct key config_keys[];
extern const size_t config_key_count;
const struct key *config_key_find(const char *name); /* NULL: there is none */
bool config_key_is_named(const struct key *key, const char *name);

bool config_value_is_none(const char *value); /* "none", or "(null)" in OpenSM's files */
bool config_value_is_default(const struct key *key, const char *value); /* OpenSM's */
enum { CONFIG_VALUE_BYTES = 64 };
/* The default of a key of weft as text. Returns buffer. */
bool config_parse_flag(const char *value, bool *flag); /* yes, no, TRUE or FALSE */
const char *config_default(const struct key *key, char buffer[CONFIG_VALUE_BYTES]);
/* Sets a key of weft. */
const char **config_path_at(struct config *config, const struct key *key);
int config_set_value(struct config *config, const struct key *key, const char *value,
                     struct err *err);
/* Adds to an error about a file where the configuration names that file. */
void config_add_source(const struct config_source *source, struct err *err);
/* For translations: sets a key of weft and adds it to the description of the line. */
int config_put(struct config *config, const char *ours, const char *value, struct err *err);
/* Sets a key of OpenSM, and says what that did in config->effect. */
int config_set_opensm(struct config *config, const struct key *key, const char *value,
                      struct err *err);
/* Completes settings that depend on several keys of OpenSM. */
int config_finish_opensm(struct config *config, struct err *err);

int config_check_address(const char *value, struct err *err); /* of the HTTP server */

/* Setters of config_values.c and config_values_opensm.c. */
typedef int config_setter(struct config *config, const char *value, struct err *err);
config_setter config_set_engine, config_set_allowed_guids, config_set_root, config_set_root_file,
    config_set_first, config_set_weights, config_set_user_routes, config_set_partitions,
    config_set_topology_plan, config_set_lmc, config_set_qos_policy, config_set_guid,
    config_set_key_file, config_set_accumulation, config_set_node_names, config_set_prefix_routes,
    config_set_ignored_ports, config_set_log_level;
config_setter opensm_set_engine, opensm_set_polling, opensm_set_polling_retries,
    opensm_set_log_file, opensm_set_log_flags, opensm_set_syslog_flags;

#endif
