#include "host/daemon/event_log.h"

#include <assert.h>
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

void event_log_write_figures(struct event_log *log, const char *event, const char *text,
                             const struct event_figure *figures, size_t count)
{
    char when[48];
    struct text line = {0};
    struct json json = {.out = &line};
    assert(log->file);
    clock_text(log->json, when);
    if (log->json) {
        json_begin_object(&json, NULL);
        json_string(&json, "time", when);
        json_string(&json, "event", event);
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
    fputs(line.data, log->file);
    text_release(&line);
}

void event_log_write_last(struct event_log *log, const char *text)
{
    char when[48];
    fprintf(log->file,
            log->json ? "{\"time\":\"%s\",\"event\":\"error\",\"text\":\"%s\"}\n"
                      : "%s error    %s\n",
            clock_text(log->json, when), text);
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
