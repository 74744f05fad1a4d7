/* Logs each problem once when it appears and once when it ends, and records the time at which it
 * appeared. A problem is the same as before if its kind and place are the same. */
#ifndef WEFT_HOST_DAEMON_PROBLEMS_PROBLEM_LOG_H
#define WEFT_HOST_DAEMON_PROBLEMS_PROBLEM_LOG_H

#include "base/text.h"
#include "subnet/problems.h"

typedef void problem_log_writer(void *context, const char *event, const char *text);

/* Compares the list with the known one, logs the differences and makes it the known one, sorted and
 * with times. `subnet` has the names. `is_over`: NULL, or a function that returns whether a problem
 * that is no longer listed has ended. */
void problem_log_update(struct problems *known, struct problems *problems, uint64_t now_ns,
                        const struct subnet *subnet, bool (*is_over)(enum problem_kind kind),
                        problem_log_writer *write, void *context);

#endif
