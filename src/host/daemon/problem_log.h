/* Logs each problem once when it appears, and once when it is over, and knows since when each one
 * exists. A problem is the same as before if its kind and place are the same. */
#ifndef WEFT_HOST_DAEMON_PROBLEM_LOG_H
#define WEFT_HOST_DAEMON_PROBLEM_LOG_H

#include "base/text.h"
#include "subnet/problems.h"

struct problem_log {
    struct problems known; /* at the last comparison */
};

/* Sets the time of each problem: since it is known, else now. Sorts the list. */
void problem_log_set_times(const struct problem_log *log, struct problems *problems);

typedef void problem_log_writer(void *context, const char *event, const char *text);

/* Compares the list with the last one, writes the differences and takes the list. `is_over`: NULL,
 * or whether a problem that is not listed any more is over. */
void problem_log_update(struct problem_log *log, struct problems *problems,
                        bool (*is_over)(enum problem_kind kind), problem_log_writer *write,
                        void *context);
void problem_log_release(struct problem_log *log);

#endif
