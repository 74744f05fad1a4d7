/* The configuration of the daemon: it is made at the start and again after SIGHUP. */
#include "host/daemon/daemon_internal.h"

#include "base/time.h"
#include "host/daemon/readiness.h"

#include <inttypes.h>
#include <stdlib.h>

static const uint64_t link_poll_interval = 100 * NS_PER_MS;

/* Errors of a configuration, except for the last one, which the caller reports. */
typedef void report_error(struct daemon *daemon, const struct err *err);

static void print_config_error(struct daemon *daemon, const struct err *err)
{
    if (daemon->options->print_error)
        daemon->options->print_error(err);
}

static void log_config_error(struct daemon *daemon, const struct err *err)
{
    char text[1024];
    event_log_write(&daemon->log, "error", "%s", err_text(err, text, sizeof text));
}

static int make_config(struct daemon *daemon, report_error *report, struct config **result,
                       struct err *err)
{
    const struct daemon_options *options = daemon->options;
    struct config *config = mem_zalloc(1, sizeof *config);
    const char *directory = getenv("STATE_DIRECTORY"); /* systemd's */
    config_init(config);
    config->strict = options->strict;
    int status = directory && *directory ? config_set(config, "state", directory, err) : 0;
    if (status == 0 && options->config)
        status = config_read(config, options->config, err);
    for (size_t i = 0; i < options->setting_count && status == 0; i++)
        status = config_set(config, options->settings[i].key, options->settings[i].value, err);
    if (status == 0)
        status = config_finish(config, err);
    config->sm.link_poll_ns = options->once ? TIME_NEVER : link_poll_interval;
    for (size_t i = 0; i + 1 < config->errors.count; i++)
        report(daemon, &config->errors.items[i]);
    if (status < 0) {
        config_release(config);
        mem_free(config);
        return status;
    }
    *result = config;
    return 0;
}

int daemon_read_config(struct daemon *daemon, struct err *err)
{
    return make_config(daemon, print_config_error, &daemon->config, err);
}

static void log_difference(void *context, const char *key, const char *from, const char *to,
                           bool live)
{
    struct daemon *daemon = context;
    if (live)
        event_log_write(&daemon->log, "config", "%s %s (was %s)", key, to, from);
    else
        event_log_write(&daemon->log, "warning",
                        "%s stays %s: it takes a restart to change it to %s", key, from, to);
}

/* Logs lines of the configuration that are not in force as they are written, once each. */
void daemon_log_config(struct daemon *daemon)
{
    unsigned defaults = 0;
    for (size_t i = 0; i < daemon->config->lines.count; i++) {
        const struct config_line *line = &daemon->config->lines.items[i];
        bool none = line->effect == CONFIG_NO_EFFECT;
        defaults += none && line->standard;
        bool warns = line->effect == CONFIG_UNKNOWN || line->effect == CONFIG_PARTLY;
        if ((none && !line->standard) || warns)
            event_log_write(&daemon->log, warns ? "warning" : "config", "%s:%u: %s %s%s: %s",
                            line->file, line->line, line->key, line->value,
                            none ? " has no effect" : "", line->text);
    }
    if (defaults)
        event_log_write(&daemon->log, "config",
                        "%u keys have OpenSM's defaults and no effect here: weft sm --all "
                        "--check-config lists them",
                        defaults);
    for (size_t i = 0; i < daemon->config->qos.warnings.count; i++)
        event_log_write(&daemon->log, "warning", "%s", daemon->config->qos.warnings.items[i].text);
}

void daemon_free_retired(struct daemon *daemon)
{
    for (size_t i = 0; i < daemon->retired.count; i++) {
        config_release(daemon->retired.items[i]);
        mem_free(daemon->retired.items[i]);
    }
    daemon->retired.count = 0;
}

/* OpenSM's configuration may name a log file where weft may not write. */
int daemon_open_log(struct daemon *daemon, const struct config *config, struct err *err)
{
    struct log_options options = config->log;
    char text[1024];
    int status = event_log_open(&daemon->log, &options, err);
    if (status == 0 || !config->log_optional)
        return status;
    options.path = NULL;
    status = event_log_open(&daemon->log, &options, NULL);
    event_log_write(&daemon->log, "warning", "%s; the log is standard output",
                    err_text(err, text, sizeof text));
    return status;
}

void daemon_reload_config(struct daemon *daemon, uint64_t now)
{
    struct err err = {0};
    struct config *fresh = NULL;
    char text[1024];
    if (daemon->ready) /* READY=1 ends a reload, and must not come before the first one */
        readiness_notify("RELOADING=1\nMONOTONIC_USEC=%" PRIu64, time_monotonic_ns() / NS_PER_US);
    int status = make_config(daemon, log_config_error, &fresh, &err);
    if (status == 0) {
        config_compare(daemon->config, fresh, log_difference, daemon);
        config_keep_fixed(daemon->config, fresh);
        status = config_finish(fresh, &err);
        vec_push(&daemon->retired, fresh); /* swapped below if it is used */
    }
    if (status == 0)
        status = daemon_open_log(daemon, fresh, &err);
    if (status < 0) {
        event_log_write(&daemon->log, "error", "the configuration stays as it was: %s",
                        err_text(&err, text, sizeof text));
    } else {
        daemon->retired.items[daemon->retired.count - 1] = daemon->config;
        daemon->config = fresh;
        fresh->sm.engine_options.workers = &daemon->workers;
        sm_configure(daemon->sm, now, &fresh->sm);
        perf_configure(daemon->perf, &fresh->perf);
        sa_set_partitions(daemon->sa, fresh->sm.partitions);
        sa_set_subnet_timeout(daemon->sa, fresh->sm.subnet_timeout);
        sa_set_limits(daemon->sa, &fresh->sa);
        daemon->dump_due |= fresh->dump != NULL;
        event_log_write(&daemon->log, "config", "read again");
        daemon_log_config(daemon);
    }
    if (daemon->ready)
        readiness_notify("READY=1");
}
