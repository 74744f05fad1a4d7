#include "experiment/run/answers.h"

#include "base/nearest.h"
#include "base/quantity.h"
#include "base/time.h"
#include "experiment/check/unaffected.h"
#include "experiment/measure/metrics.h"
#include "experiment/run/ledger.h"
#include "experiment/run/measuring.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool holds_time(const struct stage *stage, const struct question *question,
                       struct complaint *complaint)
{
    char text[TIME_TEXT_BYTES];
    struct check_view view = stage_view(stage);
    if (!check_holds(&view, CHECK_SETTLED, complaint))
        return false;
    if (stage->settled < stage->disturbed)
        return complain(complaint, "nothing was done about the last action");
    uint64_t took = stage->settled - stage->disturbed;
    complain(complaint, "%s", time_text(took, text));
    return question_compare(question, took);
}

static bool holds_master(const struct stage *stage, const struct question *question,
                         struct complaint *complaint)
{
    struct check_view view = stage_view(stage);
    int seat = stage_find_seat(stage, question->node);
    const struct sm *sm = seat < 0 ? NULL : stage_manager(stage, (size_t)seat);
    if (!check_holds(&view, CHECK_ONE_MASTER, complaint))
        return false;
    return (sm && sm_state(sm) == SM_MASTER) ||
           complain(complaint, "the manager at '%.80s' is %s",
                    stage_node_name(stage, question->node), sm ? "not master" : "not running");
}

/* True if there is one now, or was one; the complaint has a part of the circle. */
static bool holds_deadlock(struct stage *stage, struct complaint *complaint)
{
    struct text cycle = {0};
    bool now = metrics_has_traffic(stage->metrics) && fabric_find_deadlock(stage->fabric, &cycle);
    for (char *at = cycle.data; at && *at; at++)
        if (*at == '\n')
            *at = at[1] ? ',' : 0;
    if (now)
        complain(complaint, "%.250s", cycle.data ? cycle.data : "");
    else if (metrics_saw_deadlock(stage->metrics))
        complain(complaint, "there was one before");
    text_release(&cycle);
    return now || metrics_saw_deadlock(stage->metrics);
}

static bool unknown_figure(const struct results *results, const char *name,
                           struct complaint *complaint)
{
    const char **names = mem_alloc((results->figures.count + 1) * sizeof *names);
    for (size_t i = 0; i < results->figures.count; i++)
        names[i] = results->figures.items[i].name;
    const char *near = nearest_word(name, names, results->figures.count);
    complain(complaint, "there is no figure '%.80s'%s%.80s%s", name, near ? "; did you mean '" : "",
             near ? near : "", near ? "'?" : "");
    mem_free(names);
    return false;
}

static bool holds_figure(struct stage *stage, const struct question *question,
                         struct complaint *complaint)
{
    const struct results *results = &stage->story->results;
    char text[QUANTITY_BYTES];
    measuring_publish(stage, sim_now(stage->sim));
    const struct figure *figure = results_find(results, question->text);
    if (!figure)
        return unknown_figure(results, question->text, complaint);
    if (question->unit[0] && strcmp(question->unit, figure->unit) != 0)
        return complain(complaint, "'%.80s' is in %.40s, not in %.40s", figure->name,
                        figure->unit[0] ? figure->unit : "plain numbers", question->unit);
    complain(complaint, "%s", quantity_text(figure->value, figure->unit, text));
    return question_compare_figure(question, figure->value);
}

bool answer_question(struct stage *stage, const struct question *question,
                     struct complaint *complaint)
{
    struct check_view view = stage_view(stage);
    struct err err = {0};
    uint64_t count;
    complaint->text[0] = 0;
    switch (question->kind) {
    case QUESTION_FABRIC: return check_holds(&view, question->check, complaint);
    case QUESTION_IN_ORDER: return check_in_order(&view, complaint);
    case QUESTION_MASTER: return holds_master(stage, question, complaint);
    case QUESTION_TIME: return holds_time(stage, question, complaint);
    case QUESTION_SMPS:
        count = ledger_sent(stage, question->method, question->attribute);
        complain(complaint, "%" PRIu64, count);
        return question_compare(question, count);
    case QUESTION_EVENT: return ledger_said(stage, question->text);
    case QUESTION_NO_EVENT: return !ledger_said(stage, question->text);
    case QUESTION_CONSERVED:
        return (metrics_has_traffic(stage->metrics) &&
                fabric_check_data(stage->fabric, &err) == 0) ||
               complain(complaint, "%.200s", err.message[0] ? err.message : "there is no traffic");
    case QUESTION_DEADLOCK: return holds_deadlock(stage, complaint);
    case QUESTION_NO_DEADLOCK: return !holds_deadlock(stage, complaint);
    case QUESTION_UNAFFECTED: return unaffected_holds(stage->unaffected, complaint);
    case QUESTION_OTHERS:
        count = stage->machines.others_lost;
        return count == 0 ||
               complain(complaint, "%" PRIu64 " packets of those who did not move were lost",
                        count);
    case QUESTION_MACHINES: return machines_hold(stage, complaint);
    case QUESTION_FIGURE: return holds_figure(stage, question, complaint);
    }
    return false;
}
