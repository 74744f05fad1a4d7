/* The text format of Prometheus (version 0.0.4).
 *
 * A family is a name, a help text, a type and samples; a sample is the name, labels and a value.
 * Names of nodes come from the fabric and may contain anything: metric_label() escapes them. */
#ifndef WEFT_HOST_METRICS_FORMAT_H
#define WEFT_HOST_METRICS_FORMAT_H

#include "base/text.h"

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* The type is "counter", "gauge" or "histogram". */
void metric_family(struct text *out, const char *name, const char *type, const char *help);

/* A sample: metric_begin(), any number of metric_label(), one value. */
void metric_begin(struct text *out, const char *name);
void metric_label(struct text *out, const char *label, const char *value);
void metric_label_number(struct text *out, const char *label, uint64_t value);
void metric_label_guid(struct text *out, const char *label, uint64_t guid); /* "0x…", 16 digits */
void metric_end(struct text *out, uint64_t value);
void metric_end_double(struct text *out, double value);

/* Whether a comma-separated list has the name of a family, or its beginning followed by *. An empty
 * list has all. */
bool metric_is_named(const char *names, const char *name, size_t length);

/* A family with one sample without labels. */
void metric_counter(struct text *out, const char *name, const char *help, uint64_t value);
void metric_gauge(struct text *out, const char *name, const char *help, uint64_t value);
void metric_seconds(struct text *out, const char *name, const char *type, const char *help,
                    uint64_t ns);

#endif
