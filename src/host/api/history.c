/* Past ticks within a bound of number and bytes: when one is exceeded, every second tick is
 * dropped, so that the history covers the whole run with coarser steps. Its JSON has a column for
 * each figure; losses and SMPs are differences from the tick before. */
#include "host/api/api.h"

/* Keeps every second item, and the last one. */
static void thin_out(struct api_history *history)
{
    size_t kept = 0;
    for (size_t i = 0; i < history->items.count; i++) {
        struct api_tick *item = &history->items.items[i];
        if (i % 2 == 0 || i + 1 == history->items.count) {
            history->items.items[kept++] = *item;
            continue;
        }
        history->bytes -= api_tick_bytes(item);
        api_tick_release(item);
    }
    history->items.count = kept;
}

void api_history_add(struct api_history *history, const struct api_tick *tick)
{
    struct api_tick copy;
    size_t limit = history->limit_bytes ? history->limit_bytes : (size_t)64 << 20;
    api_tick_init(&copy, tick->nodes_n, tick->links_n);
    api_tick_copy(&copy, tick);
    history->bytes += api_tick_bytes(&copy);
    vec_push(&history->items, copy);
    if (history->items.count > 2 &&
        (history->items.count > API_HISTORY_MOST || history->bytes > limit))
        thin_out(history);
}

void api_history_forget(struct api_history *history, uint64_t from_ns)
{
    size_t count = history->items.count;
    while (count > 0 && history->items.items[count - 1].t_ns >= from_ns) {
        struct api_tick *last = &history->items.items[--count];
        history->bytes -= api_tick_bytes(last);
        api_tick_release(last);
    }
    history->items.count = count;
}

void api_history_release(struct api_history *history)
{
    api_history_forget(history, 0);
    vec_release(&history->items);
}

const struct api_tick *api_history_at(const struct api_history *history, uint64_t t_ns)
{
    size_t at;
    lower_bound(at, history->items.count, history->items.items[at].t_ns <= t_ns);
    if (history->items.count == 0)
        return NULL;
    return &history->items.items[at ? at - 1 : 0];
}

/* ---- as JSON ---- */

enum column {
    COLUMN_T,
    COLUMN_SEQ,
    COLUMN_THROUGHPUT,
    COLUMN_LATENCY,
    COLUMN_LOST,
    COLUMN_SMPS,
    COLUMNS,
};

/* The figures of all ticks. */
struct figures {
    size_t count;
    struct figures_row {
        uint64_t t_ns, seq, lost, smps;
        double throughput, latency;
    } rows[];
};

static void write_value(struct json *json, enum column column, const struct figures_row *row,
                        const struct figures_row *last)
{
    switch (column) {
    case COLUMN_T: json_unsigned(json, NULL, row->t_ns); break;
    case COLUMN_SEQ: json_unsigned(json, NULL, row->seq); break;
    case COLUMN_THROUGHPUT: json_double(json, NULL, row->throughput); break;
    case COLUMN_LATENCY: json_double(json, NULL, row->latency); break;
    case COLUMN_LOST: json_unsigned(json, NULL, row->lost - (last ? last->lost : 0)); break;
    default: json_unsigned(json, NULL, row->smps - (last ? last->smps : 0));
    }
}

static void make_figures(void *source, struct http_response *response)
{
    static const char *const names[COLUMNS] = {"t", "seq", "throughput", "latency", "lost", "smps"};
    const struct figures *figures = source;
    struct json json = {.out = &response->body};
    json_begin_object(&json, NULL);
    for (enum column column = 0; column < COLUMNS; column++) {
        json_begin_array(&json, names[column]);
        for (size_t i = 0; i < figures->count; i++)
            write_value(&json, column, &figures->rows[i], i ? &figures->rows[i - 1] : NULL);
        json_end_array(&json);
    }
    json_end_object(&json);
}

void api_history_answer(const struct api_history *history, struct http_response *response)
{
    size_t count = history->items.count;
    struct figures *figures = mem_alloc(sizeof *figures + count * sizeof *figures->rows);
    figures->count = count;
    for (size_t i = 0; i < count; i++) {
        const struct api_tick *tick = &history->items.items[i];
        figures->rows[i] = (struct figures_row){tick->t_ns, tick->seq,        tick->lost,
                                                tick->smps, tick->throughput, tick->latency};
    }
    response->make = make_figures;
    response->release = mem_free;
    response->source = figures;
}
