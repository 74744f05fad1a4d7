/* Limits the lines of the log about one place: a bad cable may cause hundreds. Of each kind of
 * event (link, trap, in, out, warning) at a port or node, LOG_PLACE_LINES are written in 5 minutes;
 * the others are counted, and the log says how many were left out. */
#ifndef WEFT_HOST_FILES_LOG_LIMIT_H
#define WEFT_HOST_FILES_LOG_LIMIT_H

#include "base/rate_limit.h"

enum { LOG_PLACE_LINES = 20, LOG_PLACES = 256 };

struct log_place {
    char event[16];
    uint64_t guid;
    unsigned port;
    struct rate_window lines;
};

/* All zero: no line yet. Two places may share an entry; the later one replaces the other. */
struct log_limit {
    struct log_place places[LOG_PLACES];
};

/* Counts a line; false: it is left out. `ended`: the place whose entry this line replaces, or whose
 * 5 minutes are over, if lines of it were left out; else ended->lines.count is 0. */
bool log_limit_take(struct log_limit *limit, uint64_t now, const char *event, uint64_t guid,
                    unsigned port, struct log_place *ended);
/* A place whose 5 minutes are over and of which lines were left out; false: there is none. */
bool log_limit_next_ended(struct log_limit *limit, uint64_t now, struct log_place *ended);

#endif
