/* Figures that follow from others.
 *
 * fault.*        the same as change.N.*, N being the change that answers the scenario's last action
 *                (the last one that a run ties to any), its series of updated tables, too. A
 *                manager may need several changes for it (a second sweep finds what the first had
 *                not seen): fault.changes counts those from then on.
 * offered.bits,  what was offered, on the wire, by all senders and by one: runs count packets, and
 * offered.node.bits  all packets of a run have one size.
 * lost.before    packets lost for another reason than a port that a manager had closed.
 * lost.share     of the packets made. */
#include "reproduce/evidence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 128 };

static double change_figure(const struct results *results, unsigned number, const char *what)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "change.%u.%s", number, what);
    const struct figure *figure = results_find(results, name);
    return figure ? figure->value : NAN;
}

/* 0: none. */
static unsigned find_answer(const struct results *results)
{
    unsigned answer = 0;
    for (unsigned number = 1; !isnan(change_figure(results, number, "time")); number++)
        if (!isnan(change_figure(results, number, "detect.time")))
            answer = number;
    return answer;
}

static void copy_change(struct results *results, unsigned number)
{
    char prefix[NAME_BYTES], name[NAME_BYTES];
    size_t count = results->figures.count;
    snprintf(prefix, sizeof prefix, "change.%u.", number);
    for (size_t i = 0; i < count; i++) {
        struct figure figure = results->figures.items[i]; /* setting may move them */
        if (strncmp(figure.name, prefix, strlen(prefix)) != 0)
            continue;
        snprintf(name, sizeof name, "fault.%s", figure.name + strlen(prefix));
        results_set(results, name, figure.value, figure.unit);
    }
}

static void count_changes(struct results *results, unsigned first)
{
    unsigned number = first;
    while (!isnan(change_figure(results, number, "time")))
        number++;
    results_set(results, "fault.changes", number - first, "changes");
}

static void copy_updates(struct results *results, unsigned number)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "change.%u.updated", number);
    for (size_t i = 0; i < results->series.count; i++) {
        if (strcmp(results->series.items[i].name, name) != 0)
            continue;
        size_t copy = results_series(results, "fault.updated", "share");
        for (size_t k = 0; k < results->series.items[i].points.count; k++) {
            struct point point = results->series.items[i].points.items[k];
            results_add_point(results, copy, point.time, point.value);
        }
        return;
    }
}

static void derive_bits(struct results *results)
{
    const struct figure *packets = results_find(results, "accepted");
    const struct figure *bits = results_find(results, "accepted.bits");
    const struct figure *offered = results_find(results, "offered");
    const struct figure *node = results_find(results, "offered.node");
    if (!packets || !bits || !offered || !node || packets->value <= 0)
        return;
    double size = bits->value / packets->value;
    double all = offered->value * size, one = node->value * size;
    results_set(results, "offered.bits", all, "bits/s");
    results_set(results, "offered.node.bits", one, "bits/s");
}

static void derive_losses(struct results *results)
{
    const struct figure *lost = results_find(results, "lost");
    const struct figure *closed = results_find(results, "lost.inactive-port");
    const struct figure *made = results_find(results, "made");
    if (!lost || !closed || !made)
        return;
    double all = lost->value, sent = made->value; /* setting may move them */
    results_set(results, "lost.before", all - closed->value, "packets");
    if (sent > 0)
        results_set(results, "lost.share", all / sent, "share");
}

void derive_figures(struct observation *observation)
{
    struct results *results = &observation->results;
    unsigned answer = find_answer(results);
    if (answer) {
        copy_change(results, answer);
        count_changes(results, answer);
        copy_updates(results, answer);
    }
    derive_bits(results);
    derive_losses(results);
}
