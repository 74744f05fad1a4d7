/* The writer of Prometheus' text format. It keeps no state of its own: whether a sample has labels
 * already is seen from the end of the text. */
#include "host/metrics/format.h"

#include <string.h>

void metric_family(struct text *out, const char *name, const char *type, const char *help)
{
    text_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void metric_begin(struct text *out, const char *name)
{
    text_puts(out, name);
}

static void begin_label(struct text *out, const char *label)
{
    bool first = !out->length || out->data[out->length - 1] != '"';
    text_putc(out, first ? '{' : ',');
    text_puts(out, label);
    text_puts(out, "=\"");
}

/* Backslash, quote and line feed are escaped; invalid UTF-8 becomes U+FFFD. */
void metric_label(struct text *out, const char *label, const char *value)
{
    begin_label(out, label);
    for (const char *at = value; *at;) {
        size_t length = text_utf8_length(at);
        if (*at == '\\' || *at == '"')
            text_putc(out, '\\');
        if (*at == '\n')
            text_puts(out, "\\n");
        else if (length)
            text_append(out, at, length);
        else
            text_puts(out, "\xef\xbf\xbd");
        at += length ? length : 1;
    }
    text_putc(out, '"');
}

void metric_label_number(struct text *out, const char *label, uint64_t value)
{
    begin_label(out, label);
    text_printf(out, "%llu\"", (unsigned long long)value);
}

void metric_label_guid(struct text *out, const char *label, uint64_t guid)
{
    begin_label(out, label);
    text_printf(out, "0x%016llx\"", (unsigned long long)guid);
}

static void end_labels(struct text *out)
{
    text_puts(out, out->data[out->length - 1] == '"' ? "} " : " ");
}

void metric_end(struct text *out, uint64_t value)
{
    end_labels(out);
    text_printf(out, "%llu\n", (unsigned long long)value);
}

void metric_end_double(struct text *out, double value)
{
    end_labels(out);
    text_printf(out, "%.9g\n", value);
}

bool metric_is_named(const char *names, const char *name, size_t length)
{
    if (!names || !*names)
        return true;
    for (size_t bytes; *names; names += bytes + (names[bytes] == ',')) {
        bytes = strcspn(names, ",");
        bool open = bytes && names[bytes - 1] == '*';
        if ((open ? bytes - 1 <= length : bytes == length) &&
            strncmp(names, name, bytes - open) == 0)
            return true;
    }
    return false;
}

static void put_single(struct text *out, const char *name, const char *type, const char *help,
                       uint64_t value)
{
    metric_family(out, name, type, help);
    metric_begin(out, name);
    metric_end(out, value);
}

void metric_counter(struct text *out, const char *name, const char *help, uint64_t value)
{
    put_single(out, name, "counter", help, value);
}

void metric_gauge(struct text *out, const char *name, const char *help, uint64_t value)
{
    put_single(out, name, "gauge", help, value);
}

void metric_seconds(struct text *out, const char *name, const char *type, const char *help,
                    uint64_t ns)
{
    metric_family(out, name, type, help);
    metric_begin(out, name);
    metric_end_double(out, (double)ns / 1e9);
}
