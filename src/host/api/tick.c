/* The state of a server as JSON: complete, or the difference between two states.
 *
 * States of nodes and links are sparse lists, since most are as they should be. Figures of links
 * are byte vectors in base64, since under load most of them change with every tick. */
#include "host/api/api.h"

#include <math.h>

static const char *const section_names[API_SECTIONS] = {
    [API_TRAFFIC] = "traffic",   [API_MANAGERS] = "managers",       [API_CHANGES] = "changes",
    [API_PROBLEMS] = "problems", [API_DEADLOCK] = "deadlock",       [API_FLOWS] = "flows",
    [API_VMS] = "vms",           [API_HYPERVISORS] = "hypervisors",
};
/* Until a server writes them. */
static const char *const section_defaults[API_SECTIONS] = {
    [API_TRAFFIC] = "null",  [API_MANAGERS] = "[]", [API_CHANGES] = "[]", [API_PROBLEMS] = "[]",
    [API_DEADLOCK] = "null", [API_FLOWS] = "[]",    [API_VMS] = "[]",     [API_HYPERVISORS] = "[]",
};

void api_tick_init(struct api_tick *tick, uint32_t nodes, uint32_t links)
{
    *tick = (struct api_tick){.nodes_n = nodes, .links_n = links};
    tick->nodes = mem_zalloc(nodes + 1, 1);
    tick->waves = mem_zalloc(nodes + 1, 1);
    tick->links = mem_zalloc(links + 1, 1);
    tick->load = mem_zalloc(2 * (size_t)links + 1, 1);
    tick->wait = mem_zalloc(2 * (size_t)links + 1, 1);
    tick->vl = mem_zalloc(2 * (size_t)links + 1, 1);
    tick->errors = mem_zalloc(links + 1, sizeof *tick->errors);
    tick->latency = NAN;
    for (unsigned i = 0; i < API_SECTIONS; i++)
        text_puts(&tick->sections[i], section_defaults[i]);
}

void api_tick_copy(struct api_tick *to, const struct api_tick *from)
{
    struct api_tick old = *to;
    size_t links = from->links_n;
    *to = *from;
    to->nodes = memcpy(old.nodes, from->nodes, from->nodes_n);
    to->waves = memcpy(old.waves, from->waves, from->nodes_n);
    to->links = memcpy(old.links, from->links, links);
    to->load = memcpy(old.load, from->load, 2 * links);
    to->wait = memcpy(old.wait, from->wait, 2 * links);
    to->vl = memcpy(old.vl, from->vl, 2 * links);
    to->errors = memcpy(old.errors, from->errors, links * sizeof *from->errors);
    for (unsigned i = 0; i < API_SECTIONS; i++) {
        to->sections[i] = old.sections[i];
        text_clear(&to->sections[i]);
        text_append(&to->sections[i], from->sections[i].data, from->sections[i].length);
    }
}

void api_tick_release(struct api_tick *tick)
{
    mem_free(tick->nodes);
    mem_free(tick->waves);
    mem_free(tick->links);
    mem_free(tick->load);
    mem_free(tick->wait);
    mem_free(tick->vl);
    mem_free(tick->errors);
    for (unsigned i = 0; i < API_SECTIONS; i++)
        text_release(&tick->sections[i]);
    *tick = (struct api_tick){0};
}

size_t api_tick_bytes(const struct api_tick *tick)
{
    size_t bytes = sizeof *tick + 2 * (size_t)tick->nodes_n + 11 * (size_t)tick->links_n;
    for (unsigned i = 0; i < API_SECTIONS; i++)
        bytes += tick->sections[i].length;
    return bytes;
}

struct text *api_tick_section(struct api_tick *tick, enum api_section section)
{
    text_clear(&tick->sections[section]);
    return &tick->sections[section];
}

/* ---- members ---- */

/* An element of an array of bytes or of 32-bit numbers; 0: there is no array. */
static uint32_t element(const void *array, size_t bytes, uint32_t i)
{
    return !array ? 0 : bytes == 1 ? ((const uint8_t *)array)[i] : ((const uint32_t *)array)[i];
}

/* [index, value] of those that differ; `before` NULL: from 0. */
static void write_sparse(struct json *json, const char *key, const void *now, const void *before,
                         size_t bytes, uint32_t count)
{
    if (before && memcmp(now, before, count * bytes) == 0)
        return;
    json_begin_array(json, key);
    for (uint32_t i = 0; i < count; i++)
        if (element(now, bytes, i) != element(before, bytes, i)) {
            json_begin_array(json, NULL);
            json_unsigned(json, NULL, i);
            json_unsigned(json, NULL, element(now, bytes, i));
            json_end_array(json);
        }
    json_end_array(json);
}

static void write_vector(struct json *json, const char *key, const uint8_t *now,
                         const uint8_t *before, size_t count)
{
    if (before && memcmp(now, before, count) == 0)
        return;
    json_base64(json, key, now, count);
}

static void write_events(struct json *json, const struct api_tick *tick,
                         const struct api_tick *before, const struct api_log *log)
{
    uint64_t from = before ? before->log_end : 0;
    if (from + API_LOG_SHOWN < tick->log_end)
        from = tick->log_end - API_LOG_SHOWN;
    if (from < log->dropped)
        from = log->dropped;
    if (before && from >= tick->log_end)
        return;
    json_begin_array(json, "events");
    for (uint64_t i = from; i < tick->log_end; i++) {
        const struct api_event *event = &log->items.items[i - log->dropped];
        json_begin_object(json, NULL);
        json_unsigned(json, "t", event->t_ns);
        json_string(json, "kind", event->kind);
        json_string(json, "who", event->who);
        json_string(json, "text", event->text);
        api_put_id(json, "node", event->node);
        json_end_object(json);
    }
    json_end_array(json);
}

/* ---- ticks ---- */

static void write_head(struct json *json, const struct api_tick *tick,
                       const struct api_tick *before, bool live)
{
    json_unsigned(json, "seq", tick->seq);
    json_unsigned(json, "t", tick->t_ns);
    json_bool(json, "running", tick->running);
    json_double(json, "pace", tick->pace);
    if (!before) {
        json_bool(json, "full", true);
        json_bool(json, "live", live);
    }
    if (!before || before->behind != tick->behind)
        json_bool(json, "behind", tick->behind);
    if (!before || before->work != tick->work)
        json_string(json, "work", tick->work);
    if (!before || before->window_ns != tick->window_ns)
        json_unsigned(json, "window", tick->window_ns);
    if (!before || strcmp(before->halted, tick->halted) != 0)
        json_string(json, "halted", tick->halted[0] ? tick->halted : NULL);
    if (!before || before->smps != tick->smps)
        json_unsigned(json, "smps", tick->smps);
    if (tick->hash[0] && (!before || strcmp(before->hash, tick->hash) != 0))
        json_string(json, "hash", tick->hash);
}

void api_tick_write(const struct api_tick *tick, const struct api_tick *before,
                    const struct api_log *log, bool live, struct text *out)
{
    struct json json = {.out = out};
    size_t directions = 2 * (size_t)tick->links_n;
    json_begin_object(&json, NULL);
    write_head(&json, tick, before, live);
    write_sparse(&json, "nodes", tick->nodes, before ? before->nodes : NULL, 1, tick->nodes_n);
    write_sparse(&json, "waves", tick->waves, before ? before->waves : NULL, 1, tick->nodes_n);
    write_sparse(&json, "links", tick->links, before ? before->links : NULL, 1, tick->links_n);
    write_vector(&json, "load", tick->load, before ? before->load : NULL, directions);
    write_vector(&json, "wait", tick->wait, before ? before->wait : NULL, directions);
    write_vector(&json, "vl", tick->vl, before ? before->vl : NULL, directions);
    write_sparse(&json, "errors", tick->errors, before ? before->errors : NULL,
                 sizeof *tick->errors, tick->links_n);
    for (unsigned i = 0; i < API_SECTIONS; i++) {
        const struct text *now = &tick->sections[i];
        const struct text *old = before ? &before->sections[i] : NULL;
        if (!old || old->length != now->length || memcmp(old->data, now->data, now->length) != 0)
            json_raw(&json, section_names[i], now->data);
    }
    write_events(&json, tick, before, log);
    json_end_object(&json);
}
