#include "vswitch/steps.h"

#include <assert.h>

static void add(struct steps *steps, const struct subnet *subnet, enum step_kind kind,
                uint32_t socket, struct function_setting wanted)
{
    assert(steps->count < sizeof steps->items / sizeof *steps->items);
    if (wanted.lid)
        wanted.lmc = subnet->functions.lmc;
    steps->items[steps->count++] = (struct step){kind, socket, wanted};
}

/* The new place is told first: whoever dies in between, the machine's address is at one place at
 * least. */
void steps_plan(struct steps *steps, const struct subnet *subnet,
                const struct steps_request *request)
{
    const struct function_setting machine = {
        .lid = request->lid, .attached = true, .guid = request->guid};
    *steps = (struct steps){0};
    if (request->target != SUBNET_NONE && request->keys) {
        if (request->open)
            add(steps, subnet, STEP_OPEN, request->target,
                (struct function_setting){.lid = request->open});
        add(steps, subnet, STEP_KEYS, request->target, machine);
    }
    if (request->target != SUBNET_NONE)
        add(steps, subnet, STEP_ATTACH, request->target, machine);
    if (request->source != SUBNET_NONE)
        add(steps, subnet, STEP_DETACH, request->source,
            (struct function_setting){.lid = request->left});
}

void steps_plan_undo(struct steps *steps, const struct subnet *subnet, uint32_t target,
                     uint16_t lid)
{
    *steps = (struct steps){0};
    add(steps, subnet, STEP_UNDO, target, (struct function_setting){.lid = lid});
}

/* An old place that does not answer is gone, and the machine is at the new place, or nowhere. */
struct step_verdict steps_judge(enum step_kind kind, enum function_outcome outcome)
{
    static const char silent[] = "the hypervisor does not answer: nothing has changed";
    static const struct step_verdict verdicts[STEP_KINDS][FUNCTION_LOST + 1] = {
        [STEP_OPEN] = {[FUNCTION_REFUSED] = {STEPS_FAIL, "refuses it", .by_name = true},
                       [FUNCTION_LOST] = {STEPS_FAIL, silent}},
        [STEP_KEYS] = {[FUNCTION_REFUSED] = {STEPS_UNDO,
                                             "the function does not take its partitions"},
                       [FUNCTION_LOST] = {STEPS_FAIL, silent}},
        [STEP_ATTACH] = {[FUNCTION_REFUSED] = {STEPS_FAIL, "refuses it", .by_name = true},
                         [FUNCTION_LOST] = {STEPS_FAIL, silent}},
        [STEP_DETACH] = {[FUNCTION_REFUSED] = {STEPS_UNDO, "the hypervisor refuses to let it go"}},
        [STEP_UNDO] = {[FUNCTION_DONE] = {STEPS_FAIL, NULL},
                       [FUNCTION_REFUSED] = {STEPS_FAIL, NULL},
                       [FUNCTION_LOST] = {STEPS_FAIL, NULL}},
    };
    assert(outcome != FUNCTION_PENDING);
    return verdicts[kind][outcome];
}
