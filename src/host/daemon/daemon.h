/* The manager as a daemon: the core of src/sm on a port of this machine. */
#ifndef WEFT_HOST_DAEMON_DAEMON_H
#define WEFT_HOST_DAEMON_DAEMON_H

#include "base/err.h"
#include "routing/model/workers.h"

#include <stdbool.h>

struct daemon_setting {
    const char *key, *value; /* as in the configuration file */
};

struct daemon_options {
    const char *config;                    /* a file, or NULL */
    const struct daemon_setting *settings; /* over the file; reloading keeps them */
    size_t setting_count;
    struct workers (*make_workers)(unsigned count); /* threads for the routing engines */
    bool once;                                      /* until the subnet is up */
};

/* Runs until a signal asks for the end (SIGINT, SIGTERM), or once. 0: done; 1: the subnet could not
 * be brought up, the port went away, or (once) a file could not be written; -errno with the reason
 * in *err: it never began. */
int daemon_run(const struct daemon_options *options, struct err *err);

#endif
