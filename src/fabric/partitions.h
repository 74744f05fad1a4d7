/* One run on several threads: the private side. docs/decisions/ explains the design.
 *
 * The fabric is cut into partitions, one for each thread: switches with the hosts behind them
 * (cut.c). While it is divided, each partition has a queue with the events of the data path at its
 * nodes, and a `struct fabric` of its own, which shares the arrays of nodes, ports, VLs and senders
 * with the whole one but has its own totals and pool of free packets: the code of the data path
 * runs on it as on the whole fabric (divide.c).
 *
 * Time advances in windows (windows.c). A packet or a flow-control packet that is sent now reaches
 * the next node after the flight time and the time of a flow-control packet at the earliest. In a
 * window as long as the least such delay between partitions, no partition needs to know what the
 * others do. What passes between them travels as mail, which is read at the begin of the next
 * window. The queue orders events by time, kind and place, whatever the order in which they were
 * posted: the run is the same for any number of partitions.
 *
 * Events that concern more than the data path (management packets, agents, faults, training,
 * timers) are executed on the whole fabric, between windows. */
#ifndef WEFT_FABRIC_PARTITIONS_H
#define WEFT_FABRIC_PARTITIONS_H

#include "fabric/internal.h"

/* From one partition to another. */
struct mail {
    VEC(struct des_entry) events;
    VEC(uint32_t) packets; /* numbers of free data packets, returned for those received */
};

/* A call of the observer that waits for the end of the window. */
struct report {
    uint64_t time, order; /* of the event that caused it: time, des_order() */
    struct packet_view packet;
    uint32_t port;
    enum loss cause; /* LOSS_CAUSES: delivered */
};

struct partition {
    struct fabric fabric;
    struct data data;
    unsigned number;
    const struct event *event; /* being handled */
    /* By partition. Mail of this window, and of the one before, alternates. */
    struct mail *mail[2];
    uint32_t *owed; /* data packets received whose numbers have not been returned */
    VEC(struct report) reports;
    size_t told;      /* of the reports */
    uint64_t handled; /* events in the last window */
    uint64_t next;    /* time of its next event, mail included */
};

struct partitions {
    const struct workers *workers;
    unsigned count;
    bool is_cut, divided;
    bool always; /* divided whether it pays or not */
    uint8_t *of_node;
    struct partition *items;
    struct des **queues;
    uint64_t lookahead; /* the least delay between partitions */
    uint64_t end;       /* of the present window */
    unsigned turn;      /* of struct partition.mail */
    /* The fabric is divided when it has so many events that it pays: since when they are counted,
     * and how many are counted before the decision. */
    uint64_t probe_time, probe_events, probe_length;
    uint64_t windows_before; /* figures.windows when the fabric was divided last */
    struct partition_figures figures;
};

enum { PARTITIONS_MOST = 64 };

/* cut.c: sets of_node and the ports whose links cross. */
void partitions_cut(struct fabric *fabric);

/* divide.c */
/* Divides the fabric, if it may be divided now and it pays. */
bool partitions_divide(struct fabric *fabric);
/* Adds the totals of the partitions to those of the whole fabric. */
void partitions_collect(struct fabric *fabric);

/* windows.c */
/* Runs windows up to `limit`, which is not included. False: interrupted. */
bool partitions_run_windows(struct fabric *fabric, uint64_t limit);
/* Moves the mail of the last window to the queues of its receivers. */
void partitions_read_mail(struct partitions *partitions, struct partition *partition);

/* fabric.c */
void fabric_handle_event(struct fabric *fabric, const struct event *event);
/* Handles the events of a partition up to and including `until`. */
void fabric_run_partition(struct partition *partition, uint64_t until);
enum fabric_pause {
    PAUSE_END, /* at `until`, or interrupted */
    PAUSE_DELIVERY,
    PAUSE_EVENTS, /* totals.events has the given value */
};
enum fabric_pause fabric_run_events(struct fabric *fabric, uint64_t until, uint64_t events);

#endif
