/* Runs, records and replays a session. Each run is parsed again from the text of the scenario; a
 * replay applies the recorded actions at their times. There is no way back if the network file has
 * changed. */
#include "experiment/live/session.h"

#include "base/time.h"

#include <assert.h>
#include <errno.h>

#define SETTLE_STEP (100 * TIME_US)
#define REFUSED_FOR (100 * TIME_MS) /* a manager may learn of more nodes meanwhile */

/* ---- begin and end ---- */

/* NULL: an error. */
static struct live_session_run *open_run(const struct live_session *session, struct pcap *pcap,
                                         struct err *err)
{
    const struct run_options options = {.pcap = pcap,
                                        .observer = session->observer,
                                        .interrupt = session->interrupt,
                                        .workers = session->workers};
    struct live_session_run *opened = mem_zalloc(1, sizeof *opened);
    int status = scenario_read_text(&opened->scenario, session->name, session->text,
                                    strlen(session->text), err);
    if (status) {
        mem_free(opened);
        return NULL;
    }
    if (session->has_seed)
        scenario_override_seed(&opened->scenario, session->seed);
    status = scenario_run_begin(&opened->run, &opened->scenario, &options, &opened->record,
                                &opened->failure);
    if (status == 0)
        return opened;
    *err = opened->failure;
    run_record_release(&opened->record);
    scenario_release(&opened->scenario);
    mem_free(opened);
    return NULL;
}

static void close_run(struct live_session_run *run)
{
    if (!run)
        return;
    scenario_run_end(run->run);
    run_record_release(&run->record);
    scenario_release(&run->scenario);
    mem_free(run);
}

int live_session_begin(struct live_session *session, const char *name, const char *text,
                       const uint64_t *seed, const struct data_observer *observer,
                       const struct workers *workers, const volatile sig_atomic_t *interrupt,
                       struct err *err)
{
    *session = (struct live_session){.name = mem_strdup(name),
                                     .text = mem_strdup(text),
                                     .seed = seed ? *seed : 0,
                                     .has_seed = seed != NULL,
                                     .observer = observer,
                                     .workers = workers,
                                     .interrupt = interrupt,
                                     .generation = 1};
    session->current = open_run(session, NULL, err);
    if (session->current)
        return 0;
    live_session_end(session);
    return -EINVAL;
}

static void drop_actions(struct live_session *session, size_t from)
{
    for (size_t i = from; i < session->actions.count; i++)
        action_release(&session->actions.items[i].action);
    session->actions.count = from;
}

void live_session_end(struct live_session *session)
{
    close_run(session->current);
    drop_actions(session, 0);
    vec_release(&session->actions);
    mem_free(session->name);
    mem_free(session->text);
    *session = (struct live_session){0};
}

/* ---- time ---- */

const struct setup *live_session_setup(const struct live_session *session)
{
    assert(session->current); /* since live_session_begin() */
    return scenario_run_setup(session->current->run);
}

uint64_t live_session_now(const struct live_session *session)
{
    return sim_now(live_session_setup(session)->sim);
}

const char *live_session_halted(const struct live_session *session)
{
    if (session->failed)
        return session->current->failure.message;
    if (scenario_run_is_halted(session->current->run))
        return "the scenario stops at a deadlock";
    return NULL;
}

/* Without recorded actions in between. */
static void advance_run(struct live_session *session, uint64_t until)
{
    if (!live_session_halted(session) && until > live_session_now(session) &&
        scenario_run_advance(session->current->run, until) < 0)
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
        session->failed = scenario_run_act(session->current->run, &action->action,
                                           &session->current->failure) < 0;
        session->next_action++;
    }
    advance_run(session, until);
}

bool live_session_is_settled(const struct live_session *session)
{
    const struct setup *setup = live_session_setup(session);
    return !scenario_run_is_settling(session->current->run) && settled_now(setup, NULL) &&
           settled_changes_closed(setup, NULL);
}

const char *live_session_refusal(const struct live_session *session)
{
    const struct setup *setup = live_session_setup(session);
    for (size_t i = 0; i < setup->instances.count; i++) {
        const struct setup_instance *instance = setup->instances.items[i];
        const struct sm *sm = setup_manager(setup, i);
        if (sm && sm_refusal(sm) && !instance->open && setup->record->changes.count &&
            setup->record->changes.items[instance->change].end + REFUSED_FOR <= sim_now(setup->sim))
            return sm_refusal(sm)->message;
    }
    return NULL;
}

bool live_session_settle(struct live_session *session, uint64_t limit)
{
    bool rests = false;
    while (!rests && live_session_now(session) < limit) {
        rests = live_session_halted(session) || live_session_is_settled(session) ||
                live_session_refusal(session);
        if (!rests)
            session->failed = scenario_run_settle(session->current->run,
                                                  live_session_now(session) + SETTLE_STEP) < 0;
    }
    live_session_advance(session, live_session_now(session)); /* to a whole nanosecond */
    return rests;
}

/* ---- actions ---- */

int live_session_act(struct live_session *session, const struct action *action, struct err *err)
{
    if (live_session_halted(session))
        return err_set(err, EPERM, "the run has ended: %.200s", live_session_halted(session));
    live_session_advance(session, live_session_now(session)); /* to a whole nanosecond */
    if (live_session_halted(session))
        return err_set(err, EPERM, "the run has ended: %.200s", live_session_halted(session));
    assert(session->current);
    int status = scenario_run_act(session->current->run, action, err);
    if (status)
        return status;
    drop_actions(session, session->next_action);
    struct live_session_action kept = {live_session_now(session), action_copy(action)};
    vec_push(&session->actions, kept);
    session->next_action++;
    return 0;
}

/* ---- replay ---- */

/* Actions of a session belong to its network: the file may have changed since. */
static bool same_network(const struct live_session_run *a, const struct live_session_run *b)
{
    struct text texts[2] = {{0}, {0}};
    topology_write_ibnetdiscover(&scenario_run_setup(a->run)->topology, &texts[0]);
    topology_write_ibnetdiscover(&scenario_run_setup(b->run)->topology, &texts[1]);
    bool same = texts[0].length == texts[1].length &&
                memcmp(texts[0].data, texts[1].data, texts[0].length) == 0;
    text_release(&texts[0]);
    text_release(&texts[1]);
    return same;
}

/* If the scenario cannot be read any more, the present run goes on. */
static int reopen(struct live_session *session, struct err *err)
{
    struct live_session_run *opened = open_run(session, NULL, err);
    if (!opened)
        return -EINVAL;
    if (!same_network(session->current, opened)) {
        close_run(opened);
        return err_set(err, ESTALE, "the file of the network has changed since the start");
    }
    close_run(session->current);
    session->current = opened;
    session->generation++;
    session->next_action = 0;
    session->failed = false;
    return 0;
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
    const struct live_session before = *session;
    if (seed) {
        session->seed = *seed;
        session->has_seed = true;
    }
    int status = reopen(session, err);
    if (status == 0) {
        drop_actions(session, 0);
    } else {
        session->seed = before.seed;
        session->has_seed = before.has_seed;
    }
    return status;
}

void live_session_export(const struct live_session *session, bool paths, struct text *out)
{
    text_printf(out, "# a session of weft live; weft sim repeats it: trace %016llx\n",
                (unsigned long long)fabric_trace_hash(live_session_setup(session)->fabric));
    scenario_run_export(session->current->run, paths, out);
}

int live_session_capture(const struct live_session *session, struct pcap *pcap, struct err *err)
{
    struct live_session copy = {.name = session->name,
                                .text = session->text,
                                .seed = session->seed,
                                .has_seed = session->has_seed,
                                .interrupt = session->interrupt};
    copy.current = open_run(&copy, pcap, err);
    if (!copy.current)
        return -EINVAL;
    for (size_t i = 0; i < session->next_action; i++)
        vec_push(&copy.actions, session->actions.items[i]);
    live_session_advance(&copy, live_session_now(session));
    close_run(copy.current);
    vec_release(&copy.actions);
    return 0;
}
