#include "host/files/event_log.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>

int event_log_open(struct event_log *log, const struct log_options *options, struct err *err)
{
    bool restart = options->restart && !log->file; /* not when it is opened again */
    FILE *file = options->path ? fopen(options->path, restart ? "we" : "ae") : stdout;
    if (!file)
        return err_at(err, errno, options->path, 0, "%s", strerror(errno));
    event_log_close(log);
    log->options = *options;
    log->file = file;
    log->bytes = 0;
    if (options->path && fseek(file, 0, SEEK_END) == 0 && ftell(file) > 0)
        log->bytes = (uint64_t)ftell(file);
    if (options->syslog)
        openlog("weft-sm", LOG_PID, LOG_DAEMON);
    return 0;
}

void event_log_close(struct event_log *log)
{
    if (!log->file)
        return;
    fflush(log->file);
    if (log->file != stdout)
        fclose(log->file);
    log->file = NULL;
}

/* The time in milliseconds: "2026-03-01 09:12:44.103", in JSON "2026-03-01T09:12:44.103+0100". */
static const char *clock_text(bool json, char text[48])
{
    struct timespec now;
    struct tm local;
    char zone[8];
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &local);
    size_t length = strftime(text, 48, json ? "%Y-%m-%dT%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &local);
    strftime(zone, sizeof zone, "%z", &local);
    snprintf(text + length, 48 - length, ".%03u%s", (unsigned)(now.tv_nsec / 1000000),
             json ? zone : "");
    return text;
}

static bool is_error(const char *event)
{
    return strcmp(event, "error") == 0 || strcmp(event, "warning") == 0;
}

static void write_to_syslog(const char *event, const char *text)
{
    int level = strcmp(event, "error") == 0 ? LOG_ERR : is_error(event) ? LOG_WARNING : LOG_INFO;
    syslog(level, "%s: %s", event, text);
}

/* Begins a new file; if the old one cannot be renamed, it is emptied. */
static void limit_size(struct event_log *log)
{
    static const uint64_t mib = 1 << 20;
    char old[PATH_MAX];
    const char *path = log->options.path;
    if (!path || !log->options.most_mib || log->bytes < log->options.most_mib * mib)
        return;
    snprintf(old, sizeof old, "%s.1", path);
    int failed = rename(path, old);
    FILE *file = fopen(path, failed ? "we" : "ae");
    if (!file)
        return; /* the old one stays in use */
    fclose(log->file);
    log->file = file;
    log->bytes = 0;
}

static void put_line(struct event_log *log, const struct text *line)
{
    if (log->options.prefix && !log->options.json)
        fprintf(log->file, "%s ", log->options.prefix);
    fputs(line->data, log->file);
    if (log->options.flush)
        fflush(log->file);
    log->bytes += line->length + (log->options.prefix ? strlen(log->options.prefix) + 1 : 0);
    limit_size(log);
}

void event_log_write_figures(struct event_log *log, const char *event, const char *text,
                             const struct event_figure *figures, size_t count)
{
    char when[48];
    struct text line = {0};
    struct json json = {.out = &line};
    assert(log->file);
    log->errors += strcmp(event, "error") == 0;
    log->warnings += strcmp(event, "warning") == 0;
    if (log->options.errors_only && !is_error(event))
        return;
    clock_text(log->options.json, when);
    if (log->options.syslog)
        write_to_syslog(event, text);
    if (log->options.json) {
        json_begin_object(&json, NULL);
        json_string(&json, "time", when);
        json_string(&json, "event", event);
        if (log->options.prefix)
            json_string(&json, "prefix", log->options.prefix);
        json_string(&json, "text", text);
        if (count) {
            json_begin_object(&json, "figures");
            for (size_t i = 0; i < count; i++)
                json_unsigned(&json, figures[i].name, figures[i].value);
            json_end_object(&json);
        }
        json_end_object(&json); /* ends with a line feed */
    } else {
        text_printf(&line, "%s %-8s %s", when, event, text);
        for (size_t i = 0; i < count; i++)
            text_printf(&line, "%s %s %llu", i ? "," : ";", figures[i].name,
                        (unsigned long long)figures[i].value);
        text_putc(&line, '\n');
    }
    put_line(log, &line);
    text_release(&line);
}

void event_log_write_last(struct event_log *log, const char *text)
{
    char when[48];
    fprintf(log->file,
            log->options.json ? "{\"time\":\"%s\",\"event\":\"error\",\"text\":\"%s\"}\n"
                              : "%s error    %s\n",
            clock_text(log->options.json, when), text);
    fflush(log->file);
}

void event_log_write(struct event_log *log, const char *event, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    event_log_write_figures(log, event, text, NULL, 0);
}
