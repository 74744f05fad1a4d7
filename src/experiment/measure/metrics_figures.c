/* The figures and series that every run with traffic has. */
#include "experiment/measure/metrics_internal.h"

#include "base/time.h"

#include <string.h>

/* ---- the window ---- */

static void set_rates(struct metrics *metrics, double seconds, const struct data_totals *after)
{
    struct results *results = &metrics->record->results;
    const struct data_totals *before = &metrics->window.before;
    double made = (double)(after->made - before->made) / seconds;
    double delivered = (double)(after->delivered - before->delivered) / seconds;
    double bytes = (double)(after->delivered_bytes - before->delivered_bytes);
    double payload = (double)(after->delivered_payload_bytes - before->delivered_payload_bytes);
    results_set(results, "offered", made, "packets/s");
    results_set(results, "accepted", delivered, "packets/s");
    results_set(results, "throughput", delivered, "packets/s");
    results_set(results, "offered.node", made / metrics->senders, "packets/s");
    results_set(results, "accepted.node", delivered / metrics->senders, "packets/s");
    results_set(results, "accepted.bits", 8 * bytes / seconds, "bits/s");
    results_set(results, "accepted.payload", 8 * payload / seconds, "bits/s");
}

static void set_latencies(struct metrics *metrics)
{
    struct results *results = &metrics->record->results;
    if (metrics->latency.summary.count == 0)
        return;
    results_set_distribution(results, "latency", &metrics->latency, 1e12, "s");
    results_set_distribution(results, "network-latency", &metrics->network, 1e12, "s");
    if (metrics->messages.latency.summary.count)
        results_set_distribution(results, "message-latency", &metrics->messages.latency, 1e12, "s");
    results_set(results, "hops.mean", metrics->hops.mean, "hops");
    results_set(results, "hops.max", (double)metrics->hops.max, "hops");
}

struct steady_window metrics_steady_window(const struct metrics *metrics,
                                           const struct data_totals *after)
{
    const struct data_totals *before = &metrics->window.before;
    return (struct steady_window){.made = after->made - before->made,
                                  .delivered = after->delivered - before->delivered,
                                  .waiting_before = before->waiting,
                                  .waiting_after = after->waiting,
                                  .always = metrics->always,
                                  .latency = &metrics->latency.batches};
}

bool metrics_window_is_steady(const struct metrics *metrics, enum steady_verdict verdict)
{
    return metrics->always ? !batches_have_trend(&metrics->network.batches, true)
                           : verdict == STEADY_YES;
}

static void set_verdict(struct metrics *metrics, const struct data_totals *after)
{
    struct run_record *record = metrics->record;
    char text[STEADY_TEXT_BYTES];
    struct steady_window window = metrics_steady_window(metrics, after);
    enum steady_verdict verdict = steady_judge(&window);
    bool steady = metrics_window_is_steady(metrics, verdict);
    record->verdict = arena_strdup(&record->arena, steady_text(verdict, &window, text));
    if (verdict == STEADY_UNKNOWN)
        return;
    results_set(&record->results, "steady", steady, "");
    results_set(&record->results, "saturated", verdict == STEADY_SATURATED, "");
}

static void set_window(struct metrics *metrics, uint64_t now, const struct data_totals *totals)
{
    struct results *results = &metrics->record->results;
    const struct metrics_window *window = &metrics->window;
    if (!window->begun)
        return;
    uint64_t end = window->ended ? window->ended_at : now;
    const struct data_totals *after = window->ended ? &window->after : totals;
    results_set(results, "window.from", time_seconds((double)window->begun_at), "s");
    results_set(results, "window.to", time_seconds((double)end), "s");
    if (end > window->begun_at)
        set_rates(metrics, time_seconds((double)(end - window->begun_at)), after);
    set_latencies(metrics);
    set_verdict(metrics, after);
}

/* ---- the whole run ---- */

static void set_totals(struct metrics *metrics, const struct data_totals *totals)
{
    struct results *results = &metrics->record->results;
    char name[LOSS_NAME_BYTES];
    results_set(results, "made", (double)totals->made, "packets");
    results_set(results, "delivered", (double)totals->delivered, "packets");
    results_set(results, "lost", (double)data_totals_lost(totals), "packets");
    for (unsigned i = 0; i < LOSS_CAUSES; i++)
        results_set(results, collect_loss_name(i, name), (double)totals->lost[i], "packets");
    results_set(results, "travelling", (double)totals->travelling, "packets");
    results_set(results, "waiting", (double)totals->waiting, "packets");
    results_set(results, "unroutable", (double)totals->unroutable, "packets");
    results_set(results, "entered", (double)totals->entered, "packets");
    results_set(results, "retried", (double)totals->retried, "packets");
    results_set(results, "duplicates", (double)totals->duplicates, "packets");
    results_set(results, "credit-packets", (double)totals->credit_packets, "packets");
    results_set(results, "packet-hops", (double)totals->hops, "hops");
    results_set(results, "deadlocks", (double)totals->deadlocks, "");
}

/* ---- over time ---- */

/* Empties the series of that name; false if a statement collects under it. */
static bool empty_series(struct metrics *metrics, const char *name, const char *unit,
                         size_t *series)
{
    struct results *results = &metrics->record->results;
    for (size_t i = 0; i < metrics->collectors.count; i++) {
        const struct collection *collection = metrics->collectors.items[i].collection;
        if (collect_is_series(collection->how) && strcmp(collection->name, name) == 0)
            return false;
    }
    *series = results_series(results, name, unit);
    results->series.items[*series].points.count = 0;
    return true;
}

static uint64_t bucket_begin(const struct buckets *buckets, size_t bucket)
{
    return buckets->begin + bucket * buckets->width;
}

/* The rate in each bucket, at its beginning; the last bucket ends now. */
static void set_rate_series(struct metrics *metrics, const char *name, const char *unit,
                            unsigned column, uint64_t now)
{
    struct results *results = &metrics->record->results;
    const struct buckets *buckets = &metrics->timeline;
    size_t series;
    if (!empty_series(metrics, name, unit, &series))
        return;
    for (size_t i = 0; i < buckets->count; i++) {
        uint64_t begin = bucket_begin(buckets, i), end = begin + buckets->width;
        double time = time_seconds((double)((end < now || now <= begin ? end : now) - begin));
        results_add_point(results, series, begin, buckets_sum(buckets, i, column) / time);
    }
}

/* The running total at the end of each bucket, over columns [first, last]. */
static void set_total_series(struct metrics *metrics, const char *name, unsigned first,
                             unsigned last, uint64_t now)
{
    struct results *results = &metrics->record->results;
    const struct buckets *buckets = &metrics->timeline;
    size_t series;
    double sum = 0;
    if (!empty_series(metrics, name, "packets", &series))
        return;
    results_add_point(results, series, buckets->begin, 0);
    for (size_t i = 0; i < buckets->count; i++) {
        uint64_t end = bucket_begin(buckets, i) + buckets->width;
        for (unsigned column = first; column <= last; column++)
            sum += buckets_sum(buckets, i, column);
        results_add_point(results, series, end < now ? end : now, sum);
    }
}

static void set_latency_series(struct metrics *metrics)
{
    struct results *results = &metrics->record->results;
    const struct buckets *buckets = &metrics->timeline;
    size_t series;
    if (!empty_series(metrics, "latency", "s", &series))
        return;
    for (size_t i = 0; i < buckets->count; i++) {
        double packets = buckets_sum(buckets, i, TIMELINE_DELIVERED);
        if (packets > 0)
            results_add_point(results, series, bucket_begin(buckets, i),
                              time_seconds(buckets_sum(buckets, i, TIMELINE_LATENCY) / packets));
    }
}

static void set_timeline(struct metrics *metrics, uint64_t now, const struct data_totals *totals)
{
    set_rate_series(metrics, "accepted", "packets/s", TIMELINE_DELIVERED, now);
    set_rate_series(metrics, "accepted.bits", "bits/s", TIMELINE_BITS, now);
    set_total_series(metrics, "lost", TIMELINE_LOST, TIMELINE_COLUMNS - 1, now);
    for (unsigned cause = 0; cause < LOSS_CAUSES; cause++) {
        char name[LOSS_NAME_BYTES];
        if (totals->lost[cause])
            set_total_series(metrics, collect_loss_name(cause, name), TIMELINE_LOST + cause,
                             TIMELINE_LOST + cause, now);
    }
    set_latency_series(metrics);
}

void metrics_publish_traffic(struct metrics *metrics, uint64_t now)
{
    struct results *results = &metrics->record->results;
    struct data_totals totals;
    if (!metrics->any)
        return;
    fabric_data_totals(metrics->fabric, &totals);
    if (now > metrics->start) /* extend the last bucket to now */
        buckets_add(&metrics->timeline, now - 1, TIMELINE_DELIVERED, 0);
    set_window(metrics, now, &totals);
    set_totals(metrics, &totals);
    if (metrics->messages.seen) {
        results_set(results, "messages.delivered", (double)metrics->messages.delivered, "messages");
        results_set(results, "messages.lost", (double)metrics->messages.lost, "messages");
    }
    struct stoppage_figures stopped = stoppage_figures(&metrics->stoppage, now);
    results_set(results, "traffic.stopped.any", stopped.any, "s");
    results_set(results, "traffic.stopped.any.longest", stopped.any_longest, "s");
    results_set(results, "traffic.stopped.all", stopped.all, "s");
    results_set(results, "traffic.stopped.all.longest", stopped.all_longest, "s");
    results_set(results, "traffic.stopped.mean", stopped.mean, "s");
    recovery_publish(&metrics->recovery, metrics->start, now, metrics->fabric, results);
    set_timeline(metrics, now, &totals);
}
