/* The last changes of the subnet, for the live page: when they began, when routes were computed,
 * when they ended, and what they cost. */
#ifndef WEFT_HOST_DAEMON_CHANGE_HISTORY_H
#define WEFT_HOST_DAEMON_CHANGE_HISTORY_H

#include "host/api/api.h"

enum { CHANGES_KEPT = 50 };

/* Totals since the manager started: the cost of a change is a difference of them. */
struct change_costs {
    uint64_t gets, sets, blocks; /* blocks: Sets of LFT blocks */
    uint64_t drained_ns;
};

struct change_history {
    struct api_change items[CHANGES_KEPT]; /* a ring; the causes are copies */
    uint64_t count;                        /* all that began; also the next id */
    bool open;                             /* the last one is under way */
    struct change_costs before;            /* when it began */
};

/* A cause that is reported while a change is under way belongs to that change. */
void change_history_begin(struct change_history *history, uint64_t now_ns, const char *cause,
                          const struct change_costs *costs);
/* Routes are being computed, or were. A computation of no change is not recorded. */
void change_history_compute(struct change_history *history, uint64_t now_ns, bool begins);
/* `finished`: all tables are in force; else the manager gave up. */
void change_history_end(struct change_history *history, uint64_t now_ns, bool finished,
                        const struct change_costs *costs);
/* The change under way, or API_NONE. */
uint64_t change_history_open(const struct change_history *history);
/* The cause of the last change; "": there was none. */
const char *change_history_last_cause(const struct change_history *history);
/* A JSON array, oldest first. */
void change_history_write(const struct change_history *history, const struct change_costs *costs,
                          struct record *record);
void change_history_release(struct change_history *history);

#endif
