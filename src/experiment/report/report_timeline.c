/* Chooses the windows of a timeline, and makes panels of the series that belong together. */
#include "experiment/report/report_timeline.h"
#include "experiment/report/words.h"

#include "base/quantity.h"
#include "base/time.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct run_record_event *timeline_cause(const struct run_record *record, size_t change)
{
    assert(change < record->changes.count);
    const struct run_record_change *answer = &record->changes.items[change];
    const struct run_record_event *cause = NULL;
    for (size_t i = 0; answer->tied && i < record->events.count; i++)
        if (record->events.items[i].kind == RUN_RECORD_ACTION &&
            record->events.items[i].time <= answer->fault)
            cause = &record->events.items[i];
    return cause;
}

/* ---- kinds of series ---- */

/* Panels from top to bottom. Series of one rank and unit share a panel. */
enum rank {
    RANK_PACKETS,
    RANK_LOST,
    RANK_LATENCY,
    RANK_UPDATED,
    RANK_OTHER_RATE,
    RANK_OTHER,
    RANKS
};

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), least = strlen(end);
    return length >= least && strcmp(text + length - least, end) == 0;
}

static enum rank rank_of(const struct series *series)
{
    if (strcmp(series->unit, "packets/s") == 0)
        return RANK_PACKETS;
    if (strncmp(series->name, "lost", 4) == 0 && strcmp(series->unit, "packets") == 0)
        return RANK_LOST;
    if (strcmp(series->unit, "s") == 0)
        return RANK_LATENCY;
    if (strncmp(series->name, "change.", 7) == 0 && ends_with(series->name, ".updated"))
        return RANK_UPDATED;
    return ends_with(series->unit, "/s") ? RANK_OTHER_RATE : RANK_OTHER;
}

/* ---- windows ---- */

enum { STEP_POINTS = 64 };

/* The mean interval of its first points. */
static uint64_t usual_step(const struct series *series)
{
    size_t last = series->points.count < STEP_POINTS ? series->points.count : STEP_POINTS;
    if (last < 2)
        return 0;
    return (series->points.items[last - 1].time - series->points.items[0].time) / (last - 1);
}

static bool has_action(const struct timeline *timeline, const struct window *window)
{
    for (size_t i = window->first; i <= window->last; i++)
        if (timeline_cause(timeline->record, i))
            return true;
    return false;
}

static int compare_windows(const void *a, const void *b)
{
    const struct window *one = a, *two = b;
    if (one->from != two->from)
        return one->from < two->from ? -1 : 1;
    return (one->first > two->first) - (one->first < two->first);
}

/* One window for each change, in the order of time; overlapping windows are joined. */
static void find_windows(const struct timeline *timeline, struct windows *found)
{
    const struct results *results = timeline->results;
    const struct run_record *record = timeline->record;
    struct windows all = {0};
    uint64_t room = 0; /* a window shows some points of each series */
    for (size_t i = 0; i < results->series.count; i++) {
        uint64_t step = usual_step(&results->series.items[i]);
        room = 4 * step > room ? 4 * step : room;
    }
    for (size_t i = 0; i < record->changes.count; i++) {
        const struct run_record_change *change = &record->changes.items[i];
        const struct run_record_event *cause = timeline_cause(record, i);
        uint64_t from = change->tied ? change->fault : change->begin;
        uint64_t to = change->end > from ? change->end : from;
        uint64_t margin = (to - from) * 3 / 10;
        margin = margin > room ? margin : room;
        struct window window = {.from = from > margin ? from - margin : 0,
                                .to = to + margin < record->end ? to + margin : record->end,
                                .origin = cause ? cause->time : change->begin,
                                .first = i,
                                .last = i,
                                .moment = cause ? cause->text : change->cause};
        vec_push(&all, window);
    }
    if (all.count)
        qsort(all.items, all.count, sizeof *all.items, compare_windows);
    for (size_t i = 0; i < all.count; i++) {
        struct window *last = found->count ? &found->items[found->count - 1] : NULL;
        if (!last || all.items[i].from >= last->to) {
            vec_push(found, all.items[i]);
            continue;
        }
        last->to = all.items[i].to > last->to ? all.items[i].to : last->to;
        last->first = all.items[i].first < last->first ? all.items[i].first : last->first;
        last->last = all.items[i].last > last->last ? all.items[i].last : last->last;
    }
    vec_release(&all);
}

void timeline_windows(const struct timeline *timeline, size_t most, struct windows *windows)
{
    const struct results *results = timeline->results;
    const struct run_record *record = timeline->record;
    struct windows found = {0};
    uint64_t first =
        UINT64_MAX; /* if traffic starts late, the whole run is the time with traffic */
    for (size_t i = 0; i < results->series.count; i++) {
        const struct series *series = &results->series.items[i];
        if (rank_of(series) != RANK_UPDATED && series->points.count &&
            series->points.items[0].time < first)
            first = series->points.items[0].time;
    }
    struct window whole = {.from = first < record->end && first > record->end / 3 ? first : 0,
                           .to = record->end,
                           .last = record->changes.count ? record->changes.count - 1 : 0,
                           .moment = ""};
    vec_push(windows, whole);
    find_windows(timeline, &found);
    size_t room[] = {most, most}; /* without and with an action */
    for (size_t i = 0; i < found.count; i++)
        room[false] -= room[false] && has_action(timeline, &found.items[i]);
    for (size_t i = 0; i < found.count; i++) {
        bool action = has_action(timeline, &found.items[i]);
        if (room[action] == 0)
            continue;
        room[action]--;
        vec_push(windows, found.items[i]);
    }
    vec_release(&found);
}

/* ---- panels ---- */

static size_t first_part(const char *name)
{
    return strcspn(name, ".");
}

static bool belong_together(const struct series *a, const struct series *b)
{
    if (strcmp(a->unit, b->unit) != 0 || rank_of(a) != rank_of(b))
        return false;
    return rank_of(a) == RANK_PACKETS || (first_part(a->name) == first_part(b->name) &&
                                          strncmp(a->name, b->name, first_part(a->name)) == 0);
}

void timeline_words(const char *name, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s", name);
    for (char *at = buffer; *at; at++)
        if (*at == '.' || *at == '-' || *at == '_')
            *at = ' ';
}

/* An interval longer than LONG_PAUSE times the usual one is a gap. */
enum { LONG_PAUSE = 5, PANEL_HEIGHT = 112 };

static void add_series(struct chart *chart, const struct series *series, const char *name,
                       const struct window *window)
{
    enum rank rank = rank_of(series);
    bool sum = false, updated = rank == RANK_UPDATED; /* sum: it is not a running total */
    for (size_t i = 1; i < series->points.count && rank == RANK_LOST; i++)
        sum |= series->points.items[i].value < series->points.items[i - 1].value;
    bool steps = rank == RANK_LOST || updated;
    size_t group = chart_add_group(chart, name, steps ? CHART_STEPS : CHART_LINES), beyond = 0;
    double total = 0, x = 0, y = 0, origin = time_seconds(window->origin);
    uint64_t pause = steps ? 0 : LONG_PAUSE * usual_step(series), before = 0;
    for (size_t i = 0; i < series->points.count; i++) {
        const struct point *point = &series->points.items[i];
        total += sum && isfinite(point->value) ? point->value : 0;
        if (point->time > window->to && beyond++ > 0)
            break; /* one point beyond, so that lines leave the frame */
        x = time_seconds(point->time) - origin;
        y = sum ? total : point->value;
        if (i == 0 && updated)
            chart_add_point(chart, group, x, 0);
        if (i > 0 && pause && point->time - before > pause)
            chart_add_point(chart, group, x, NAN);
        chart_add_point(chart, group, x, y);
        before = point->time;
    }
    if (updated && before < window->to) /* the share stays constant */
        chart_add_point(chart, group, time_seconds(window->to) - origin, y);
}

static void name_axes(struct chart *chart, const struct series *first, size_t members)
{
    char name[128];
    struct text words = {0};
    snprintf(name, sizeof name, "%s", first->name);
    if (members > 1 && first_part(first->name) < sizeof name)
        name[first_part(first->name)] = '\0';
    report_words(name, &words);
    const char *shown = rank_of(first) == RANK_LOST                     ? "packets lost in total"
                        : rank_of(first) == RANK_UPDATED                ? "switches updated"
                        : rank_of(first) == RANK_PACKETS && members > 1 ? "throughput"
                                                                        : words.data;
    chart_set_axis(chart, &chart->y, shown, first->unit);
    text_release(&words);
}

/* Adds all series that belong with series `s` and are not in a panel yet. */
static void fill_panel(const struct timeline *timeline, const struct window *window, size_t s,
                       bool *taken, struct chart *chart, size_t *left_out)
{
    const struct series *all = timeline->results->series.items;
    size_t members = 0, part = first_part(all[s].name);
    bool same_part = true;
    for (size_t i = s; i < timeline->results->series.count; i++) {
        if (taken[i] || !belong_together(&all[s], &all[i]))
            continue;
        members++;
        same_part &=
            first_part(all[i].name) == part && strncmp(all[i].name, all[s].name, part) == 0;
    }
    name_axes(chart, &all[s], members);
    for (size_t i = s; i < timeline->results->series.count; i++) {
        char name[128];
        if (taken[i] || !belong_together(&all[s], &all[i]))
            continue;
        taken[i] = true;
        /* "" if it is alone, "all" for the sum of the others, without the first part of the name if
         * all share it. */
        size_t own = first_part(all[i].name);
        const char *rest = all[i].name[own] == '.' ? all[i].name + own + 1 : "all";
        timeline_words(members == 1 ? "" : same_part ? rest : all[i].name, name, sizeof name);
        if (chart->groups.count < TIMELINE_SERIES)
            add_series(chart, &all[i], name, window);
        else
            ++*left_out;
    }
}

/* Leaves out series in bits that repeat another one, and details of a change in the picture of the
 * whole run. */
static bool is_relevant(const struct results *results, size_t index, const struct window *window)
{
    const struct series *series = &results->series.items[index];
    size_t length = strlen(series->name), within = 0;
    for (size_t i = 0; i < series->points.count; i++)
        within += series->points.items[i].time >= window->from &&
                  series->points.items[i].time <= window->to;
    if (within == 0 || (rank_of(series) == RANK_UPDATED && !window->moment[0]))
        return false;
    for (size_t i = 0; i < results->series.count && ends_with(series->name, ".bits"); i++)
        if (strlen(results->series.items[i].name) + 5 == length &&
            strncmp(results->series.items[i].name, series->name, length - 5) == 0)
            return false;
    return true;
}

static void add_moments(const struct timeline *timeline, const struct window *window,
                        struct chart *chart)
{
    const struct run_record *record = timeline->record;
    double origin = time_seconds(window->origin);
    for (size_t i = 0; i < record->changes.count; i++)
        for (enum sm_step kind = 0; kind < SM_STEPS; kind++) {
            char time[QUANTITY_BYTES];
            uint64_t from, to;
            if (!run_record_step(&record->changes.items[i], kind, &from, &to) ||
                to < window->from || from > window->to)
                continue;
            chart_add_band(chart, time_seconds((double)from) - origin,
                           time_seconds((double)to) - origin, sm_step_name(kind),
                           quantity_text(time_seconds((double)(to - from)), "s", time), kind);
        }
    for (size_t i = 0; i < record->events.count; i++) {
        const struct run_record_event *event = &record->events.items[i];
        if (event->kind == RUN_RECORD_ACTION && event->time >= window->from &&
            event->time <= window->to)
            chart_add_mark(chart, time_seconds(event->time) - origin, event->text);
    }
}

size_t timeline_charts(const struct timeline *timeline, const struct window *window,
                       struct chart *charts, size_t *left_out)
{
    const struct results *results = timeline->results;
    bool *taken = mem_zalloc(results->series.count + 1, sizeof *taken);
    size_t count = 0;
    *left_out = 0;
    for (size_t s = 0; s < results->series.count; s++)
        taken[s] = !is_relevant(results, s, window);
    for (enum rank rank = 0; rank < RANKS; rank++) {
        for (size_t s = 0; s < results->series.count; s++) {
            if (taken[s] || rank_of(&results->series.items[s]) != rank)
                continue;
            if (count == TIMELINE_PANELS) {
                ++*left_out;
                continue;
            }
            chart_init(&charts[count]);
            fill_panel(timeline, window, s, taken, &charts[count++], left_out);
        }
    }
    if (count == 0)
        chart_init(&charts[count++]); /* only phases */
    char label[128] = "time", time[QUANTITY_BYTES];
    if (window->moment[0])
        snprintf(label, sizeof label, "time since %.40s, at %s", window->moment,
                 quantity_moment(window->origin, time));
    for (size_t i = 0; i < count; i++) {
        chart_set_axis(&charts[i], &charts[i].x, label, "s");
        charts[i].x.low = time_seconds(window->from) - time_seconds(window->origin);
        charts[i].x.high = time_seconds(window->to) - time_seconds(window->origin);
        charts[i].height = charts[i].groups.count ? PANEL_HEIGHT : 0;
    }
    add_moments(timeline, window, &charts[0]);
    mem_free(taken);
    return count;
}
