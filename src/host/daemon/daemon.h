/* The manager as a daemon on a port of this machine. */
#ifndef WEFT_HOST_DAEMON_DAEMON_H
#define WEFT_HOST_DAEMON_DAEMON_H

#include "base/err.h"
#include "base/workers.h"

#include <stdbool.h>

struct daemon_setting {
    const char *key, *value; /* as in the configuration file */
};

struct daemon_options {
    const char *config;                    /* file, or NULL */
    const struct daemon_setting *settings; /* override the file, also after a reload */
    size_t setting_count;
    struct workers (*make_workers)(unsigned count); /* threads for the routing engines */
    bool strict;                                    /* unknown keys are errors */
    bool once;                                      /* ends when the subnet is up */
    void (*print_error)(const struct err *err); /* for all errors of a configuration but the last */
};

enum { DAEMON_INCOMPLETE = 3 }; /* once: the subnet is up, except for sm_exceptions() */

/* Runs until SIGINT or SIGTERM, or once. Returns 0; 1 if the subnet could not be brought up, the
 * port disappeared or (once) a file could not be written; DAEMON_INCOMPLETE; -errno if the start
 * failed. */
int daemon_run(const struct daemon_options *options, struct err *err);

#endif
