/* The log: one line for each event, as text or as a JSON object.
 *
 *   2026-03-01 09:12:44.103 up       subnet up: 36 switches, 324 adapters; …
 *   {"time":"2026-03-01T09:12:44.103+0100","event":"up","text":"subnet up: …"}
 *
 * Lines are buffered; the loop flushes the file when it is idle. A file that reaches its largest
 * size is renamed to FILE.1, which replaces an older one, and a new file begins. */
#ifndef WEFT_HOST_FILES_EVENT_LOG_H
#define WEFT_HOST_FILES_EVENT_LOG_H

#include "base/err.h"
#include "base/text.h"
#include "host/files/log_limit.h"
#include "host/manager/config.h"

#include <stdbool.h>
#include <stdint.h>

struct event_record;

struct event_log {
    struct log_options options;
    /* Sees every record, also those that its level keeps out of the file; or NULL. */
    void (*observe)(void *context, const struct event_record *record);
    void *observer;
    FILE *file;
    struct log_limit limit;
    uint64_t bytes;            /* in the file */
    uint64_t warnings, errors; /* since the start */
};

/* Opens the file, again if it was rotated. On error the open file stays in use. */
int event_log_open(struct event_log *log, const struct log_options *options, struct err *err);
void event_log_close(struct event_log *log);

void event_log_write_part(struct event_log *log, enum log_part part, const char *event,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));
#define event_log_write(log, event, ...) event_log_write_part(log, PART_WHOLE, event, __VA_ARGS__)
/* Logs a request, an answer or a decision, if the part is at the level debug. */
#define event_log_debug(log, part, ...)                                                            \
    do {                                                                                           \
        if ((log)->options.levels.of[part] == LEVEL_DEBUG)                                         \
            event_log_write_part(log, part, "debug", __VA_ARGS__);                                 \
    } while (0)

/* Writes how many lines about each place were left out in its last 5 minutes. */
void event_log_put_left_out(struct event_log *log, uint64_t now);
/* Logs the last line before the process ends without memory: allocates nothing and flushes the
 * file. `text` must need no escaping. */
void event_log_write_last(struct event_log *log, const char *text);

/* A line with figures after the text, "…; NodeInfo 36, PortInfo 684", or in JSON with its place and
 * figures: "node":"leaf3","guid":"0x…","port":7,"figures":{"NodeInfo":36,…}. */
struct event_figure {
    const char *name;
    uint64_t value;
};
struct event_record {
    const char *event, *text;
    enum log_part part;
    const char *node; /* the node that it is about; NULL: none */
    uint64_t guid;    /* of that node */
    unsigned port;    /* 0: the node as a whole */
    const struct event_figure *figures;
    size_t figure_count;
};
/* Of records with a node, the log has a limited number for each place (log_limit.h); the observer
 * sees all. */
void event_log_put(struct event_log *log, const struct event_record *record);
/* Prints a record as one line of JSON, or as a line of text. */
void event_record_print(const struct event_record *record, bool json, const char *prefix,
                        struct text *out);

#endif
