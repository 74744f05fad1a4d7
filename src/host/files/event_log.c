/* Writes the log: lines of text or JSON, a file with a largest size, syslog(3). */
#include "host/files/event_log.h"

#include "base/time.h"

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

static enum log_level level_of(const char *event)
{
    return is_error(event) ? LEVEL_ERROR : strcmp(event, "debug") == 0 ? LEVEL_DEBUG : LEVEL_INFO;
}

static void write_to_syslog(const char *event, const char *text)
{
    int level = strcmp(event, "error") == 0      ? LOG_ERR
                : is_error(event)                ? LOG_WARNING
                : level_of(event) == LEVEL_DEBUG ? LOG_DEBUG
                                                 : LOG_INFO;
    struct text shown = {0};
    text_put_shown(&shown, text);
    syslog(level, "%s: %s", event, shown.data ? shown.data : "");
    text_release(&shown);
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

void event_record_print(const struct event_record *record, bool as_json, const char *prefix,
                        struct text *out)
{
    char when[48];
    struct json json = {.out = out};
    bool part = level_of(record->event) == LEVEL_DEBUG;
    clock_text(as_json, when);
    if (!as_json) {
        text_printf(out, "%s %-8s %s%s", when, record->event,
                    part ? log_part_names[record->part] : "", part ? ": " : "");
        text_put_shown(out, record->text);
        for (size_t i = 0; i < record->figure_count; i++)
            text_printf(out, "%s %s %llu", i ? "," : ";", record->figures[i].name,
                        (unsigned long long)record->figures[i].value);
        text_putc(out, '\n');
        return;
    }
    json_begin_object(&json, NULL);
    json_string(&json, "time", when);
    json_string(&json, "event", record->event);
    if (prefix)
        json_string(&json, "prefix", prefix);
    if (part)
        json_string(&json, "part", log_part_names[record->part]);
    if (record->node) {
        json_string(&json, "node", record->node);
        json_stringf(&json, "guid", "0x%016llx", (unsigned long long)record->guid);
        if (record->port)
            json_unsigned(&json, "port", record->port);
    }
    json_string(&json, "text", record->text);
    if (record->figure_count) {
        json_begin_object(&json, "figures");
        for (size_t i = 0; i < record->figure_count; i++)
            json_unsigned(&json, record->figures[i].name, record->figures[i].value);
        json_end_object(&json);
    }
    json_end_object(&json); /* ends with a line feed */
}

static void write_record(struct event_log *log, const struct event_record *record)
{
    struct text line = {0};
    if (log->options.syslog)
        write_to_syslog(record->event, record->text);
    event_record_print(record, log->options.json, log->options.prefix, &line);
    if (log->options.prefix && !log->options.json)
        fprintf(log->file, "%s ", log->options.prefix);
    fputs(line.data, log->file);
    if (log->options.flush)
        fflush(log->file);
    log->bytes += line.length + (log->options.prefix ? strlen(log->options.prefix) + 1 : 0);
    limit_size(log);
    text_release(&line);
}

static void write_left_out(struct event_log *log, const struct log_place *place)
{
    char text[160], guid[24];
    if (place->lines.count <= LOG_PLACE_LINES)
        return;
    snprintf(guid, sizeof guid, "0x%016llx", (unsigned long long)place->guid);
    snprintf(text, sizeof text, "%u more lines about port %u of %s were left out in 5 minutes",
             place->lines.count - LOG_PLACE_LINES, place->port, guid);
    write_record(log, &(struct event_record){.event = place->event,
                                             .text = text,
                                             .node = guid,
                                             .guid = place->guid,
                                             .port = place->port});
}

void event_log_put_left_out(struct event_log *log, uint64_t now)
{
    struct log_place place;
    while (log_limit_next_ended(&log->limit, now, &place))
        write_left_out(log, &place);
}

/* Errors, and events that are not about a place, are never left out. */
static bool is_within_limit(struct event_log *log, const struct event_record *record)
{
    struct log_place ended;
    if (!record->guid || record->figure_count || strcmp(record->event, "error") == 0 ||
        level_of(record->event) == LEVEL_DEBUG)
        return true;
    bool within = log_limit_take(&log->limit, time_monotonic_ns(), record->event, record->guid,
                                 record->port, &ended);
    write_left_out(log, &ended);
    return within;
}

void event_log_put(struct event_log *log, const struct event_record *record)
{
    assert(log->file);
    log->errors += strcmp(record->event, "error") == 0;
    log->warnings += strcmp(record->event, "warning") == 0;
    if (log->observe)
        log->observe(log->observer, record);
    if (level_of(record->event) <= log->options.levels.of[record->part] &&
        is_within_limit(log, record))
        write_record(log, record);
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

void event_log_write_part(struct event_log *log, enum log_part part, const char *event,
                          const char *format, ...)
{
    struct text text = {0};
    text_put_arguments(&text, format);
    event_log_put(log, &(struct event_record){.event = event, .text = text.data, .part = part});
    text_release(&text);
}
