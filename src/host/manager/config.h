/* The manager's configuration: `key value` lines, '#' starts a remark.
 *
 * One table (config.c) names every key, says whether it can change in a running manager, and checks
 * its value; the command line's options go through the same table. weft-sm.conf(5) explains each
 * key. */
#ifndef WEFT_HOST_MANAGER_CONFIG_H
#define WEFT_HOST_MANAGER_CONFIG_H

#include "routing/engine/hints.h"
#include "sm/sm.h"

enum { CONFIG_KEYS = 96 }; /* room for; the table has its own length */
enum { PORT_ANY = -1 };

/* The port of this machine that a manager uses. */
struct port_choice {
    uint64_t guid;  /* 0: any */
    const char *ca; /* NULL: any */
    int number;     /* PORT_ANY: any */
};

struct config {
    struct sm_config sm;
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
    int qos_wanted;           /* -1: as it follows from the rest */
    struct err policy_absent; /* "": it is there. Else an error, unless qos is off */
    struct partitions partitions;
    bool allow_both_pkeys;
    const char *values[CONFIG_KEYS]; /* as given, by key; NULL: not given */
    struct config_source {
        const char *key, *file; /* file: NULL if it is the command line */
        unsigned line;
    } source; /* of the value that is being set */
    struct arena strings;
};

void config_init(struct config *config);
void config_release(struct config *config);

const char *config_key(size_t index); /* all of them, then NULL */
/* One key. The error says what was expected. */
int config_set(struct config *config, const char *key, const char *value, struct err *err);
/* A whole file; the error names file and line. */
int config_read(struct config *config, const char *path, struct err *err);
/* What follows from the keys together; after the last of them. */
int config_finish(struct config *config, struct err *err);

/* Goes through the keys whose values differ: `tell` hears of each, and whether the running manager
 * takes it over. */
void config_compare(const struct config *before, const struct config *after,
                    void (*tell)(void *context, const char *key, const char *from, const char *to,
                                 bool live),
                    void *context);
/* Gives `after` the values of `before` for keys that cannot change in a running manager. */
void config_keep_fixed(const struct config *before, struct config *after);

#endif
