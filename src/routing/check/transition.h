/* An independent check of an update from old to new tables, step by step (rule: see
 * update/make_plan.h). */
#ifndef WEFT_ROUTING_CHECK_TRANSITION_H
#define WEFT_ROUTING_CHECK_TRANSITION_H

#include "routing/check/verify.h"
#include "routing/model/update_plan.h"

enum transition_time {
    TRANSITION_FIRST,  /* when sources begin to use the plan's first levels */
    TRANSITION_WAVE,   /* during the waves */
    TRANSITION_HOLD,   /* while VLs are held and the stuck entries are written */
    TRANSITION_LEVELS, /* when sources begin to use new service levels */
};

struct transition_report {
    bool safe;
    enum transition_time when; /* when it is unsafe */
    size_t wave;               /* the first unsafe wave; number of waves: after them */
    uint64_t drains;           /* in the plan */
    uint64_t left_out;         /* entries that differ and that the plan does not touch */
    uint64_t holes; /* entries that lead to no link, met by packets (old tables may have them) */
    struct verify_report cycle; /* only `cycle` and `findings` are filled */
};

void verify_transition(const struct network *network, const struct routes *before,
                       const struct routes *after, const struct update_plan *plan,
                       struct transition_report *report);
void transition_report_release(struct transition_report *report);

#endif
