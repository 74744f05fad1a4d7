/* Admission of SMPs that the manager did not ask for: traps, and requests for its SMInfo.
 *
 * Any host can send them, at any rate and with any content. So the manager counts them by their
 * source port, and ignores those beyond a budget. The port is the one with the SLID of the packet,
 * or the one at the end of the return path of a directed route, which the switches wrote. It is not
 * the one that a notice names. (A host that can also forge the SLID needs privileged access to its
 * adapter's firmware; only the adapter or its switch can prevent that.)
 *
 * A budget is a number of SMPs in a window of WINDOW_S seconds. The first SMP beyond it is logged,
 * and at the end of the window the number of all of them. The adapter's port can be disabled for
 * traps that its own agent or programs sent (babbling_port_policy), but not for reports of key
 * violations, which another host can provoke. */
#include "sm/admission.h"
#include "base/rate_limit.h"
#include "sm/faults/faults.h"
#include "sm/internal.h"
#include "subnet/names.h"

#include <stdio.h>

enum { WINDOW_S = 10 };
static const uint64_t window_ns = WINDOW_S * NS_PER_S;

static const struct {
    const char *name; /* plural */
    uint32_t allowed;
    bool babbling;
} budgets[ADMIT_KINDS] = {
    [ADMIT_TRAP] = {"traps", 50, true},
    [ADMIT_VIOLATION] = {"reports of key violations", 50, false},
    [ADMIT_FORGED] = {"traps in the name of another port", 10, true},
    [ADMIT_SM_INFO] = {"requests for SMInfo", 2000, false},
};

struct admission_source {
    struct rate_window counts[ADMIT_KINDS];
};
struct admission {
    VEC(struct admission_source)
    sources;             /* by port of the subnet; 0: unknown ports; else port + 1 */
    uint64_t summary_at; /* end of the first window whose budget is exceeded */
};

static void init_admission(struct sm *sm)
{
    sm->admission->summary_at = TIME_NEVER;
}

/* Follows the ports of arrival back from the manager. A directed route may also end in a part that
 * is routed by LID; then the LID identifies the port. */
uint32_t admission_origin(const struct sm *sm, const struct sm_message *message)
{
    if (message->lid < LFT_ENTRIES && message->lid)
        return sm->subnet.by_lid[message->lid];
    unsigned hops = (unsigned)wire_get(message->mad, SMP_HOP_COUNT);
    if (!mad_is_directed(message->mad) || sm->subnet.own_port == SUBNET_NONE || hops > SMP_MAX_HOPS)
        return SUBNET_NONE;
    return subnet_follow_back(&sm->subnet, sm->subnet.own_port, message->mad, SMP_RETURN_PATH,
                              hops);
}

/* "1,204,311" */
static const char *print_count(char text[16], uint32_t count)
{
    if (count >= 1000000)
        snprintf(text, 16, "%u,%03u,%03u", count / 1000000, count / 1000 % 1000, count % 1000);
    else if (count >= 1000)
        snprintf(text, 16, "%u,%03u", count / 1000, count % 1000);
    else
        snprintf(text, 16, "%u", count);
    return text;
}

static const char *origin_name(const struct sm *sm, uint32_t origin, struct subnet_name *name)
{
    *name = origin == SUBNET_NONE ? (struct subnet_name){"an unknown port"}
                                  : subnet_node_name(&sm->subnet, port_at(sm, origin)->node);
    return name->text;
}

/* Ends a window: logs how many SMPs it ignored. */
static void end_window(struct sm *sm, uint32_t origin, enum admission_kind kind,
                       struct rate_window *count)
{
    struct subnet_name name;
    char text[16];
    if (count->count > budgets[kind].allowed + 1)
        sm_log_at(sm, SM_EVENT_WARNING, origin, "%s from %s: %s more were ignored in %d s",
                  budgets[kind].name, origin_name(sm, origin, &name),
                  print_count(text, count->count - budgets[kind].allowed - 1), WINDOW_S);
    *count = (struct rate_window){0};
}

bool admission_take(struct sm *sm, uint32_t origin, enum admission_kind kind)
{
    struct admission *admission = sm->admission;
    size_t index = origin == SUBNET_NONE ? 0 : (size_t)origin + 1;
    struct rate_window *count = &vec_at(&admission->sources, index)->counts[kind];
    struct subnet_name name;
    if (rate_window_is_over(count, sm->now, window_ns))
        end_window(sm, origin, kind, count);
    uint32_t number = rate_window_add(count, sm->now, window_ns);
    if (number != budgets[kind].allowed + 1)
        return number <= budgets[kind].allowed;
    admission->summary_at = time_first(rate_window_end(count, window_ns), admission->summary_at);
    sm_log_at(sm, SM_EVENT_WARNING, origin, "too many %s from %s: more than %u in %d s are ignored",
              budgets[kind].name, origin_name(sm, origin, &name), budgets[kind].allowed, WINDOW_S);
    if (budgets[kind].babbling && origin != SUBNET_NONE)
        faults_isolate_babbling(sm, origin);
    return false;
}

static uint64_t admission_deadline(const struct sm *sm)
{
    return sm->admission->summary_at;
}

static void admission_expire(struct sm *sm)
{
    struct admission *admission = sm->admission;
    if (sm->now < admission->summary_at)
        return;
    admission->summary_at = TIME_NEVER;
    for (size_t i = 0; i < admission->sources.count; i++)
        for (unsigned kind = 0; kind < ADMIT_KINDS; kind++) {
            struct rate_window *count = &admission->sources.items[i].counts[kind];
            if (count->count <= budgets[kind].allowed)
                continue;
            if (rate_window_is_over(count, sm->now, window_ns))
                end_window(sm, i ? (uint32_t)i - 1 : SUBNET_NONE, kind, count);
            else
                admission->summary_at =
                    time_first(rate_window_end(count, window_ns), admission->summary_at);
        }
}

SM_PART(admission, .init = init_admission, .vectors = {VECTOR(admission, sources)},
        .expire = admission_expire, .deadline = admission_deadline);
