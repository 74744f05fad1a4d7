/* What happens, one line each: for people, or as JSON objects.
 *
 *   2026-03-01 09:12:44.103 up       subnet up: 36 switches, 324 adapters; …
 *   {"time":"2026-03-01T09:12:44.103+0100","event":"up","text":"subnet up: …"}
 *
 * Lines are gathered and written out when the loop has time (fflush(3)). */
#ifndef WEFT_HOST_DAEMON_EVENT_LOG_H
#define WEFT_HOST_DAEMON_EVENT_LOG_H

#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct event_log {
    const char *path; /* NULL: standard output */
    FILE *file;
    bool json;
};

/* Opens the file, or opens it again after it was moved away. On error what was open stays so. */
int event_log_open(struct event_log *log, const char *path, bool json, struct err *err);
void event_log_close(struct event_log *log);

void event_log_write(struct event_log *log, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The last line before the process ends for lack of memory: allocates nothing and is written out at
 * once. `text` needs no escaping. */
void event_log_write_last(struct event_log *log, const char *text);

/* With figures behind the text: "…; NodeInfo 36, PortInfo 684", or "figures":{"NodeInfo":36,…}. */
struct event_figure {
    const char *name;
    uint64_t value;
};
void event_log_write_figures(struct event_log *log, const char *event, const char *text,
                             const struct event_figure *figures, size_t count);

#endif
