/* Derived figures.
 *
 * fault.*            copies of change.N.* and of its series of updated tables, N being the last
 *                    change that the run ties to an action. A manager may need several changes:
 *                    fault.changes counts those from N on. fault.first.time is the time until the
 *                    first routes are in: of a hybrid the provisional ones, else fault.time.
 * offered.bits,      the offered traffic on the wire, of all senders and of one. All packets of
 * offered.node.bits  a run have one size.
 * lost.before        packets lost for other causes than a port that a manager closed.
 * lost.share         lost packets divided by the packets that are made in LOSS_WINDOW_S. Runs end
 *                    when routes are up to date, so a share of their own packets would be smaller
 *                    the longer that takes. The window is the same for all, and longer than any
 *                    update of the experiments; no packet is lost after an update. */
#include "reproduce/evidence.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 128, LOSS_WINDOW_S = 20 };

static double change_figure(const struct results *results, unsigned number, const char *what)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "change.%u.%s", number, what);
    return results_value(results, name);
}

/* Copies figures and the series of updated tables of a change. */
static void copy_change(struct results *results, unsigned number)
{
    char prefix[NAME_BYTES], name[NAME_BYTES];
    size_t count = results->figures.count;
    snprintf(prefix, sizeof prefix, "change.%u.", number);
    for (size_t i = 0; i < count; i++) {
        struct figure figure = results->figures.items[i]; /* a copy: results_set() may move them */
        if (strncmp(figure.name, prefix, strlen(prefix)) != 0)
            continue;
        snprintf(name, sizeof name, "fault.%s", figure.name + strlen(prefix));
        results_set(results, name, figure.value, figure.unit);
    }
    snprintf(name, sizeof name, "change.%u.updated", number);
    if (!results_find_series(results, name))
        return;
    size_t copy = results_series(results, "fault.updated", "share");
    const struct series *series = results_find_series(results, name); /* it may have moved */
    for (size_t i = 0; i < series->points.count; i++)
        results_add_point(results, copy, series->points.items[i].time,
                          series->points.items[i].value);
}

static void derive_bits(struct results *results)
{
    double packets = results_value(results, "accepted");
    double size = results_value(results, "accepted.bits") / packets;
    double offered = results_value(results, "offered") * size;
    double node = results_value(results, "offered.node") * size;
    if (!(packets > 0) || isnan(offered) || isnan(node))
        return;
    results_set(results, "offered.bits", offered, "bits/s");
    results_set(results, "offered.node.bits", node, "bits/s");
}

static void derive_losses(struct results *results)
{
    double lost = results_value(results, "lost"), offered = results_value(results, "offered");
    double closed = results_value(results, "lost.inactive-port");
    if (isnan(lost) || isnan(closed))
        return;
    results_set(results, "lost.before", lost - closed, "packets");
    if (offered > 0)
        results_set(results, "lost.share", lost / (offered * LOSS_WINDOW_S), "share");
}

void derive_figures(struct observation *observation)
{
    struct results *results = &observation->results;
    unsigned fault_change = 0, number = 1; /* the last change after a fault; 0: none */
    for (; !isnan(change_figure(results, number, "time")); number++)
        if (!isnan(change_figure(results, number, "detect.time")))
            fault_change = number;
    if (fault_change) {
        copy_change(results, fault_change);
        results_set(results, "fault.changes", number - fault_change, "changes");
        if (isnan(results_value(results, "fault.first.time")))
            results_set(results, "fault.first.time", results_value(results, "fault.time"), "s");
    }
    derive_bits(results);
    derive_losses(results);
}
