/* Conditions on parameters: "switches=8,16 change=removal" holds for runs whose `switches` is 8 or
 * 16 and whose `change` is "removal". Values may be shell patterns. */
#ifndef WEFT_REPRODUCE_CONDITIONS_H
#define WEFT_REPRODUCE_CONDITIONS_H

#include "base/mem.h"
#include "experiment/store/result_store.h"

#include <stdbool.h>

struct condition {
    const char *name;
    const char **values; /* alternatives */
    size_t count;
};
struct conditions {
    VEC(struct condition);
};

/* Reads NAME=VALUE[,VALUE...]; false if the form is wrong. Texts go to the arena. */
bool condition_read(struct condition *condition, const char *text, struct arena *arena);
/* Adds one of that form. */
bool conditions_add(struct conditions *conditions, const char *text, struct arena *arena);
/* Adds several, separated by blanks; the form must be right. */
void conditions_parse(struct conditions *conditions, const char *text, struct arena *arena);
void conditions_release(struct conditions *conditions);

/* Whether all conditions hold. `absent_fits`: a condition on a missing parameter holds. */
bool conditions_fit(const struct conditions *conditions, const struct result_parameter *parameters,
                    size_t count, bool absent_fits);

#endif
