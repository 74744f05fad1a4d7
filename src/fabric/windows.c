/* Windows: the partitions of a divided fabric advance together by the least delay between them.
 *
 * In a window each partition reads the mail of the window before and handles its events. What it
 * sends to another partition arrives in a later window. The caller's threads execute one partition
 * each; the end of workers_run() is the barrier between windows.
 *
 * Packets are numbered in one pool. A packet that crosses takes its number with it, and its new
 * owner returns a free number by its own mail: the pools of free packets stay in balance, whatever
 * the traffic. */
#include "fabric/partitions.h"

#include <assert.h>

enum { REPORTS_MANY = 8192 }; /* that wait for the observer */

/* ---- mail ---- */

static unsigned fifo_of(uint32_t kind)
{
    switch (kind) {
    case EVENT_HEADER: return DELAY_HEADER;
    case EVENT_PACKET: return DELAY_WHOLE;
    case EVENT_CREDITS: return DELAY_CREDITS;
    default: return DES_FIFOS; /* none */
    }
}

static void post(struct des *queue, uint64_t time, struct event event)
{
    unsigned fifo = fifo_of(event.kind);
    if (fifo < DES_FIFOS)
        des_post_fifo(queue, fifo, time, event);
    else
        des_post(queue, time, event);
}

void partitions_post(struct fabric *fabric, uint64_t time, struct event event)
{
    struct partition *from = fabric->partition;
    unsigned to = fabric->partitions->of_node[fabric->ports[event.a].node];
    if (!from || from->number == to) {
        post(fabric->network, time, event);
        return;
    }
    assert(time >= fabric->partitions->end);
    vec_push(&from->mail[fabric->partitions->turn][to].events, ((struct des_entry){time, event}));
    if (time < from->next)
        from->next = time;
}

void partitions_read_mail(struct partitions *partitions, struct partition *partition)
{
    struct data *data = &partition->data;
    for (unsigned i = 0; i < partitions->count; i++) {
        struct mail *mail = &partitions->items[i].mail[!partitions->turn][partition->number];
        for (size_t j = 0; j < mail->events.count; j++) {
            const struct des_entry *entry = &mail->events.items[j];
            post(partitions->queues[partition->number], entry->time, entry->event);
            partition->owed[i] +=
                entry->event.kind == EVENT_HEADER || entry->event.kind == EVENT_PACKET;
        }
        for (size_t j = 0; j < mail->packets.count; j++)
            pool_give(&data->data_packets, mail->packets.items[j]);
        mail->events.count = mail->packets.count = 0;
    }
}

static void return_packets(struct partitions *partitions, struct partition *partition)
{
    struct data *data = &partition->data;
    for (unsigned i = 0; i < partitions->count; i++)
        for (; partition->owed[i] && data->data_packets.free; partition->owed[i]--)
            vec_push(&partition->mail[partitions->turn][i].packets, pool_take(&data->data_packets));
}

/* ---- reports ---- */

static const struct report *next_report(const struct partition *partition)
{
    return partition->told < partition->reports.count ? &partition->reports.items[partition->told]
                                                      : NULL;
}

/* In the order of their events, as one thread would make them. Partitions share no place, so that
 * the events of two partitions never have the same time and order. */
static void tell_observer(struct fabric *fabric)
{
    struct partitions *partitions = fabric->partitions;
    const struct data_observer *observer = &fabric->data->observer;
    struct partition *first;
    do {
        const struct report *report = NULL;
        first = NULL;
        for (unsigned i = 0; i < partitions->count; i++) {
            const struct report *next = next_report(&partitions->items[i]);
            if (next && (!report || next->time < report->time ||
                         (next->time == report->time && next->order < report->order))) {
                report = next;
                first = &partitions->items[i];
            }
        }
        if (first) {
            first->told++;
            if (report->cause == LOSS_CAUSES)
                observer->delivered(observer->context, report->time, &report->packet);
            else
                observer->lost(observer->context, report->time, &report->packet, report->cause,
                               report->port);
        }
    } while (first);
    for (unsigned i = 0; i < partitions->count; i++)
        partitions->items[i].told = partitions->items[i].reports.count = 0;
}

/* ---- windows ---- */

static void run_window(void *context, size_t index)
{
    struct partitions *partitions = context;
    struct partition *partition = &partitions->items[index];
    partitions_read_mail(partitions, partition);
    partition->next = TIME_NEVER;
    uint64_t before = partition->fabric.totals.events;
    fabric_run_partition(partition, partitions->end - 1);
    partition->handled = partition->fabric.totals.events - before;
    return_packets(partitions, partition);
    uint64_t own = des_next_time(partitions->queues[index]);
    if (own < partition->next)
        partition->next = own;
}

static uint64_t most_handled(const struct partitions *partitions)
{
    uint64_t most = 0;
    for (unsigned i = 0; i < partitions->count; i++)
        if (partitions->items[i].handled > most)
            most = partitions->items[i].handled;
    return most;
}

bool partitions_run_windows(struct fabric *fabric, uint64_t limit)
{
    struct partitions *partitions = fabric->partitions;
    bool interrupted = false;
    while (!interrupted) {
        uint64_t first = TIME_NEVER;
        size_t reports = 0;
        for (unsigned i = 0; i < partitions->count; i++) {
            const struct partition *partition = &partitions->items[i];
            first = partition->next < first ? partition->next : first;
            reports += partition->reports.count;
        }
        if (reports > REPORTS_MANY)
            tell_observer(fabric);
        if (first >= limit)
            break;
        partitions->end =
            limit - first < partitions->lookahead ? limit : first + partitions->lookahead;
        workers_run(partitions->workers, partitions->count, run_window, partitions);
        partitions->turn = !partitions->turn;
        partitions->figures.windows++;
        partitions->figures.critical += most_handled(partitions);
        interrupted = fabric->interrupt && *fabric->interrupt;
    }
    partitions_collect(fabric);
    tell_observer(fabric);
    return !interrupted;
}

/* Global events are executed between windows: at their times, before those of the data path. */
static uint64_t next_limit(const struct fabric *fabric, uint64_t until)
{
    uint64_t limit = until == TIME_NEVER ? TIME_NEVER : until + 1;
    uint64_t network = des_next_time(fabric->network), timer = des_next_time(fabric->timers);
    limit = network < limit ? network : limit;
    return timer < limit ? timer + 1 : limit;
}

enum stretch { STRETCH_ENDED, STRETCH_UNITED };

/* Runs a divided fabric up to `until`, or to an event that needs the whole one: it has united the
 * fabric then. The check for deadlocks only reads. */
static enum stretch run_divided(struct fabric *fabric, uint64_t until)
{
    struct event event;
    while (true) {
        if (!partitions_run_windows(fabric, next_limit(fabric, until)))
            return STRETCH_ENDED;
        uint64_t network = des_next_time(fabric->network), timer = des_next_time(fabric->timers);
        if (network > until && timer > until) {
            if (until != TIME_NEVER) {
                des_advance(fabric->network, until);
                des_advance(fabric->timers, until);
            }
            return STRETCH_ENDED;
        }
        if (timer < network || !des_pop(fabric->network, until, &event))
            break;
        if (event.kind != EVENT_DEADLOCK)
            partitions_unite(fabric);
        if (event.kind < EVENT_DEADLOCK)
            des_advance(fabric->timers, des_now(fabric->network));
        fabric_handle_event(fabric, &event);
        if (!fabric->partitions->divided)
            return STRETCH_UNITED;
    }
    partitions_unite(fabric);
    return STRETCH_UNITED;
}

/* A manager may have other paths since the last call, without a packet: they are made ready for
 * reading by several threads here, not by the first thread that asks. */
static bool is_still_divided(struct fabric *fabric)
{
    if (!fabric->partitions->divided)
        return false;
    if (!fabric->data->paths.prepare(fabric->data->paths.context))
        partitions_unite(fabric);
    return fabric->partitions->divided;
}

bool partitions_run(struct fabric *fabric, uint64_t until)
{
    while (true) {
        if (fabric->deliveries.count)
            return true;
        if (is_still_divided(fabric) || partitions_divide(fabric)) {
            if (run_divided(fabric, until) == STRETCH_ENDED)
                return false;
            continue;
        }
        uint64_t events = fabric->totals.events + fabric->partitions->probe_length;
        enum fabric_pause pause = fabric_run_events(fabric, until, events);
        if (pause != PAUSE_EVENTS)
            return pause == PAUSE_DELIVERY;
    }
}
