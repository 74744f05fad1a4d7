#include "host/daemon/event_log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int event_log_open(struct event_log *log, const char *path, bool json, struct err *err)
{
    FILE *file = path ? fopen(path, "ae") : stdout;
    if (!file)
        return err_at(err, errno, path, 0, "%s", strerror(errno));
    event_log_close(log);
    *log = (struct event_log){path, file, json};
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

void event_log_flush(struct event_log *log)
{
    fflush(log->file);
}

static void read_clock(struct tm *local, unsigned *milliseconds)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, local);
    *milliseconds = (unsigned)(now.tv_nsec / 1000000);
}

static void write_json(struct event_log *log, const char *event, const char *text,
                       const struct event_figure *figures, size_t count)
{
    char day[32], zone[8];
    unsigned milliseconds;
    struct tm local;
    struct text line = {0};
    struct json json = {.out = &line};
    read_clock(&local, &milliseconds);
    strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &local);
    strftime(zone, sizeof zone, "%z", &local);
    json_begin_object(&json, NULL);
    json_stringf(&json, "time", "%s.%03u%s", day, milliseconds, zone);
    json_string(&json, "event", event);
    json_string(&json, "text", text);
    if (count) {
        json_begin_object(&json, "figures");
        for (size_t i = 0; i < count; i++)
            json_unsigned(&json, figures[i].name, figures[i].value);
        json_end_object(&json);
    }
    json_end_object(&json);
    fputs(line.data, log->file); /* ends with a line feed */
    text_release(&line);
}

void event_log_write_figures(struct event_log *log, const char *event, const char *text,
                             const struct event_figure *figures, size_t count)
{
    char day[32];
    unsigned milliseconds;
    struct tm local;
    if (log->json) {
        write_json(log, event, text, figures, count);
        return;
    }
    read_clock(&local, &milliseconds);
    strftime(day, sizeof day, "%Y-%m-%d %H:%M:%S", &local);
    fprintf(log->file, "%s.%03u %-8s %s", day, milliseconds, event, text);
    for (size_t i = 0; i < count; i++)
        fprintf(log->file, "%s %s %llu", i ? "," : ";", figures[i].name,
                (unsigned long long)figures[i].value);
    fputc('\n', log->file);
}

void event_log_write_last(struct event_log *log, const char *text)
{
    char day[32];
    unsigned milliseconds;
    struct tm local;
    read_clock(&local, &milliseconds);
    if (log->json) {
        strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &local);
        fprintf(log->file, "{\"time\":\"%s.%03u\",\"event\":\"error\",\"text\":\"%s\"}\n", day,
                milliseconds, text);
    } else {
        strftime(day, sizeof day, "%Y-%m-%d %H:%M:%S", &local);
        fprintf(log->file, "%s.%03u %-8s %s\n", day, milliseconds, "error", text);
    }
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
