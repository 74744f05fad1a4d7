/* Links that lose SMPs and agents that answer late: examine.c. */
#ifndef WEFT_SM_GUARD_EXAMINE_H
#define WEFT_SM_GUARD_EXAMINE_H

#include "sm/sm.h"

struct request;

/* A request was answered. If that was late or not at the first try, its path is examined. */
void examine_answer(struct sm *sm, const struct request *request);
/* A link that loses SMPs or has a bad cable explains that nothing behind it answers: it is the link
 * of this port, or on the path to its node or to that at the other end of its last link. */
bool examine_explains(struct sm *sm, uint32_t port);
bool examine_link_loses(struct sm *sm, uint32_t port); /* the link at this port */

#endif
