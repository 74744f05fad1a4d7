#include "experiment/live/session.h"

#include "base/time.h"

#include <errno.h>

#define SETTLE_STEP (100 * TIME_US)

/* ---- begin and end ---- */

static int open_run(struct live_session *session, struct pcap *pcap, struct err *err)
{
    const struct run_options options = {.pcap = pcap, .observer = session->observer};
    int status = scenario_read_text(&session->scenario, session->name, session->text,
                                    strlen(session->text), err);
    if (status)
        return status;
    if (session->has_seed)
        scenario_override_seed(&session->scenario, session->seed);
    session->record = (struct run_record){0};
    session->failure = (struct err){0};
    status = scenario_run_begin(&session->run, &session->scenario, &options, &session->record,
                                &session->failure);
    if (status) {
        *err = session->failure;
        run_record_release(&session->record);
        scenario_release(&session->scenario);
        return status;
    }
    session->next_action = 0;
    session->failed = false;
    return 0;
}

static void close_run(struct live_session *session)
{
    if (!session->run)
        return;
    scenario_run_end(session->run);
    session->run = NULL;
    run_record_release(&session->record);
    scenario_release(&session->scenario);
}

int live_session_begin(struct live_session *session, const char *name, const char *text,
                       const uint64_t *seed, const struct data_observer *observer, struct err *err)
{
    *session = (struct live_session){.name = mem_strdup(name),
                                     .text = mem_strdup(text),
                                     .seed = seed ? *seed : 0,
                                     .has_seed = seed != NULL,
                                     .observer = observer,
                                     .generation = 1};
    int status = open_run(session, NULL, err);
    if (status)
        live_session_end(session);
    return status;
}

static void drop_actions(struct live_session *session, size_t from)
{
    for (size_t i = from; i < session->actions.count; i++)
        mem_free(session->actions.items[i].line);
    session->actions.count = from;
}

void live_session_end(struct live_session *session)
{
    close_run(session);
    drop_actions(session, 0);
    vec_release(&session->actions);
    mem_free(session->name);
    mem_free(session->text);
    *session = (struct live_session){0};
}

/* ---- time ---- */

const struct setup *live_session_setup(const struct live_session *session)
{
    return scenario_run_setup(session->run);
}

uint64_t live_session_now(const struct live_session *session)
{
    return sim_now(live_session_setup(session)->sim);
}

const char *live_session_halted(const struct live_session *session)
{
    if (session->failed)
        return session->failure.message;
    if (scenario_run_is_halted(session->run))
        return "the scenario stops at a deadlock";
    return NULL;
}

/* Without recorded actions in between. */
static void advance_run(struct live_session *session, uint64_t until)
{
    if (!live_session_halted(session) && until > live_session_now(session) &&
        scenario_run_advance(session->run, until) < 0)
        session->failed = true;
}

void live_session_advance(struct live_session *session, uint64_t until)
{
    until = time_ns_to_ps(time_ns_ceil(until));
    while (session->next_action < session->actions.count && !live_session_halted(session)) {
        const struct live_session_action *action = &session->actions.items[session->next_action];
        if (action->time > until)
            break;
        advance_run(session, action->time);
        if (live_session_halted(session))
            return;
        session->failed = scenario_run_act(session->run, action->line, &session->failure) < 0;
        session->next_action++;
    }
    advance_run(session, until);
}

bool live_session_is_settled(const struct live_session *session)
{
    const struct setup *setup = live_session_setup(session);
    struct complaint complaint;
    return !scenario_run_is_settling(session->run) && settled_now(setup, &complaint) &&
           settled_changes_closed(setup, &complaint);
}

void live_session_settle(struct live_session *session, uint64_t limit)
{
    while (live_session_now(session) < limit && !live_session_halted(session) &&
           !live_session_is_settled(session))
        session->failed =
            scenario_run_settle(session->run, live_session_now(session) + SETTLE_STEP) < 0;
    live_session_advance(session, live_session_now(session)); /* to a whole nanosecond */
}

/* ---- actions ---- */

int live_session_act(struct live_session *session, const char *line, struct err *err)
{
    if (live_session_halted(session))
        return err_set(err, EPERM, "the run has ended: %.200s", live_session_halted(session));
    live_session_advance(session, live_session_now(session)); /* to a whole nanosecond */
    if (live_session_halted(session))
        return err_set(err, EPERM, "the run has ended: %.200s", live_session_halted(session));
    int status = scenario_run_act(session->run, line, err);
    if (status)
        return status;
    drop_actions(session, session->next_action);
    struct live_session_action action = {live_session_now(session), mem_strdup(line)};
    vec_push(&session->actions, action);
    session->next_action++;
    return 0;
}

/* ---- replay ---- */

static int reopen(struct live_session *session, struct err *err)
{
    close_run(session);
    session->generation++;
    return open_run(session, NULL, err);
}

int live_session_seek(struct live_session *session, uint64_t time, struct err *err)
{
    if (time > TIME_LONGEST)
        return err_set(err, ERANGE, "a run lasts 100 days at the most");
    int status = time < live_session_now(session) ? reopen(session, err) : 0;
    if (status == 0)
        live_session_advance(session, time);
    return status;
}

int live_session_restart(struct live_session *session, const uint64_t *seed, struct err *err)
{
    drop_actions(session, 0);
    if (seed) {
        session->seed = *seed;
        session->has_seed = true;
    }
    return reopen(session, err);
}

void live_session_export(const struct live_session *session, struct text *out)
{
    text_printf(out, "# a session of weft live; weft sim repeats it: trace %016llx\n",
                (unsigned long long)fabric_trace_hash(live_session_setup(session)->fabric));
    scenario_run_export(session->run, out);
}

int live_session_capture(const struct live_session *session, struct pcap *pcap, struct err *err)
{
    struct live_session copy = {.name = session->name,
                                .text = session->text,
                                .seed = session->seed,
                                .has_seed = session->has_seed};
    int status = open_run(&copy, pcap, err);
    if (status)
        return status;
    for (size_t i = 0; i < session->next_action; i++)
        vec_push(&copy.actions, session->actions.items[i]);
    live_session_advance(&copy, live_session_now(session));
    close_run(&copy);
    vec_release(&copy.actions);
    return 0;
}
