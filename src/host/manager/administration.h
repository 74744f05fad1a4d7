/* Manager and subnet administration side by side, as every host of the two has them. */
#ifndef WEFT_HOST_MANAGER_ADMINISTRATION_H
#define WEFT_HOST_MANAGER_ADMINISTRATION_H

#include "sa/sa.h"
#include "sm/sm.h"

/* Methods, by bit, of all that can be asked of an administration. */
enum {
    ADMINISTRATION_METHODS = 1 << METHOD_GET | 1 << METHOD_SET | 1 << METHOD_GET_TABLE |
                             1 << METHOD_GET_MULTI | 1 << METHOD_DELETE |
                             1 << METHOD_GET_TRACE_TABLE
};

/* Shows the administration what the manager has now. */
void administration_look(struct sa *sa, uint64_t now, const struct sm *sm, uint8_t priority);
/* Whose registrations the administration has, the manager has to know, and whom it stands by the
 * administration. With `ask`, clients whose registrations are missing are asked for them. */
void administration_mind(struct sa *sa, uint64_t now, struct sm *sm, bool ask);

#endif
