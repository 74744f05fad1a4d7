/* Log lines and figures of a change. */
#ifndef WEFT_SM_REPORT_H
#define WEFT_SM_REPORT_H

#include "sm/sm.h"

void report_begin(struct sm *sm, const char *cause);
/* Begins a change for a loss or a return at a port, and logs it even if a change is under way. */
void report_loss(struct sm *sm, uint32_t port, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void report_discovered(struct sm *sm);
void report_computed(struct sm *sm);
void report_end(struct sm *sm, bool up);
void report_nodes(struct sm *sm); /* logs nodes that appeared or vanished */

#endif
