/* A list of the present problems of a subnet, each with its location.
 *
 * The list is derived from the state of the manager and of its host at each request, so that it
 * never contains a problem that has ended. */
#ifndef WEFT_SUBNET_PROBLEMS_H
#define WEFT_SUBNET_PROBLEMS_H

#include "subnet/names.h"

/* The most serious first. */
enum problem_kind {
    PROBLEM_NO_ROUTES, /* no engine computes routes for this network */
    PROBLEM_FOREIGN_MANAGER,
    PROBLEM_KEY_VIOLATION, /* a port sends SMPs without the M_Key */
    PROBLEM_SMALL_TABLE,   /* a switch has fewer entries than the subnet has LIDs */
    PROBLEM_REFUSED_TABLE, /* a switch refuses what the manager writes */
    PROBLEM_FILES,         /* a file cannot be written */
    PROBLEM_DEAD_AGENT,    /* the link is up, but the node behind it does not answer SMPs */
    PROBLEM_NODE_GONE,     /* a node that was in the subnet is not reachable */
    PROBLEM_DUPLICATE_GUID,
    PROBLEM_FLAPPING_LINK,
    PROBLEM_BAD_CABLE,     /* a port reports link errors */
    PROBLEM_SLOW_LINK,     /* it runs below the width or speed of both ends */
    PROBLEM_WRONG_CABLE,   /* it differs from the plan */
    PROBLEM_DISABLED_PORT, /* by the manager or by hand */
    PROBLEM_STUCK_COUNTER, /* it has reached its largest value and counts no further */
    PROBLEM_KINDS,
};

struct problem {
    enum problem_kind kind;
    struct subnet_place place;
    const char
        *object;       /* instead of a place: a file, a kind of difference from the plan; or NULL */
    uint64_t since_ns; /* on the clock of the manager: the `now` of its calls; 0: not known */
    const char *text;
};

struct problems {
    VEC(struct problem) items;
    VEC(bool) explained; /* by port of the subnet */
    struct arena memory; /* of objects and texts */
};

void problems_add(struct problems *problems, enum problem_kind kind, struct subnet_place place,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));
void problems_add_object(struct problems *problems, enum problem_kind kind, const char *object,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Marks a port whose state a listed problem explains: consequences are not listed. */
void problems_explain(struct problems *problems, uint32_t port);
bool problems_is_explained(const struct problems *problems, uint32_t port);
void problems_sort(struct problems *problems); /* the most serious first */
/* The same problem: kind and place are the same. NULL: there is none. */
const struct problem *problems_find(const struct problems *problems, const struct problem *wanted);
/* Sets the time of each problem: that in the list `known` if it has the problem, else now. */
void problems_set_times(struct problems *problems, const struct problems *known, uint64_t now_ns);
/* The name of the place, or the object; "" if there is none. */
void problem_put_place(const struct problem *problem, const struct subnet *subnet,
                       struct text *out);
void problems_release(struct problems *problems);
const char *problem_kind_name(enum problem_kind kind); /* "flapping link" */

#endif
