/* An independent check of an update from old to new tables, step by step (rule: see order.h). */
#ifndef WEFT_ROUTING_CHECK_TRANSITION_H
#define WEFT_ROUTING_CHECK_TRANSITION_H

#include "routing/check/verify.h"
#include "routing/model/update_plan.h"

enum transition_time {
    TRANSITION_FIRST,  /* when sources hear of the plan's first levels */
    TRANSITION_WAVE,   /* while waves go out */
    TRANSITION_HOLD,   /* while lanes are held and the stuck entries are written */
    TRANSITION_LEVELS, /* when sources hear of new service levels */
};

struct transition_report {
    bool safe;
    enum transition_time when; /* it is not */
    size_t wave;               /* the first wave during which it is not; all waves: after them */
    uint64_t drains;           /* asked for by the plan */
    uint64_t left_out;         /* entries that differ and that the plan does not touch */
    uint64_t holes; /* entries without a way on, met on the way (old tables may have them) */
    struct verify_report cycle; /* only `cycle` and `findings` are filled */
};

void verify_transition(const struct network *network, const struct routes *before,
                       const struct routes *after, const struct update_plan *plan,
                       struct transition_report *report);
void transition_report_release(struct transition_report *report);

#endif
