/* Debug lines about requests (PART_TRANSACTIONS). */
#ifndef WEFT_SM_DEBUG_H
#define WEFT_SM_DEBUG_H

#include "sm/internal.h"
#include "sm/transactions.h"

/* "Get(NodeInfo) modifier 0x0 to S1 by 0,1,4, TID 0x3f2: ..." The path is that of the message;
 * NULL: it is not known. */
#define debug_request(sm, request, message, ...)                                                   \
    do {                                                                                           \
        if (sm_is_debugged(sm, PART_TRANSACTIONS))                                                 \
            debug_print_request(sm, request, message, __VA_ARGS__);                                \
    } while (0)
void debug_print_request(struct sm *sm, const struct request *request,
                         const struct sm_message *message, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
const char *smp_attribute_name(unsigned id); /* "NodeInfo" */

#endif
