/* A list of the present problems of a subnet, each with its location.
 *
 * The list is derived from the state of the manager and of its host at each request, so that it
 * never contains a problem that has ended. */
#ifndef WEFT_SUBNET_PROBLEMS_H
#define WEFT_SUBNET_PROBLEMS_H

#include "subnet/names.h"

enum problem_kind { /* the most serious first */
#define PROBLEM(kind, ...) PROBLEM_##kind,
#include "subnet/problems.def"
#undef PROBLEM
                    PROBLEM_KINDS,
};
enum problem_severity { PROBLEM_CRITICAL, PROBLEM_WARNING, PROBLEM_INFORMATION };
struct problem_info {
    const char *name; /* "flapping link" */
    enum problem_severity severity;
    const char *advice; /* what to do */
};
extern const struct problem_info problem_infos[PROBLEM_KINDS];
extern const char *const problem_severity_names[]; /* "critical" */

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
/* Those that are more than information. */
size_t problems_count(const struct problems *problems);

#endif
