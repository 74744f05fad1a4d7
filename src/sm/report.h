/* Records and log lines of changes. */
#ifndef WEFT_SM_REPORT_H
#define WEFT_SM_REPORT_H

#include "sm/sm.h"

/* Something changed. `begins`: a change begins with it; else the one under way includes it. */
void report_cause(struct sm *sm, struct sm_cause cause, bool begins);
void report_computes(struct sm *sm);                      /* the host computes tables */
void report_computed(struct sm *sm, const char *refusal); /* NULL: there are tables */
void report_end(struct sm *sm, bool up);
/* This manager is not master any more. The change that was under way; NULL: none was. */
const struct sm_change *report_abandon(struct sm *sm);
void report_nodes(struct sm *sm); /* logs nodes that appeared or vanished */
/* The log says that the node is in the subnet, or will not say so. */
bool report_is_announced(const struct sm *sm, uint32_t node);

#endif
