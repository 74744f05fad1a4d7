/* Runs the statements of a scenario in order: actions wait on an agenda for their time, `run`
 * statements advance time, checks are evaluated. */
#include "experiment/run/run.h"

#include "base/time.h"
#include "experiment/check/unaffected.h"
#include "experiment/measure/metrics.h"

#include <assert.h>
#include <errno.h>

#define REPORT_TIME (10 * TIME_US) /* within which a manager reports the end of a change */
enum { PROGRESS_REPORTS = 500 };   /* progress reports of a `run` statement */

struct due {
    uint64_t time;
    const struct statement *statement;
};

struct run_state {
    struct setup setup;
    VEC(struct due) agenda; /* by time, then by line; the first `done` were applied */
    size_t done;
    bool halted;      /* a deadlock or an interrupt ended the run */
    bool interrupted; /* no statement is executed any more */
    const struct run_options *options;
};

/* The time `wait` from now; an error if the run would last too long. */
static int add_time(struct run_state *state, uint64_t wait, const struct word *word, uint64_t *time)
{
    *time = sim_now(state->setup.sim) + wait;
    return *time <= TIME_LONGEST
               ? 0
               : word_error(&state->setup.cursor, word, "a run lasts 100 days at the most");
}

/* ---- actions ---- */

/* The delay of an action with `within`: it depends on the seed and on the place of the statement.
 */
static uint64_t draw_delay(const struct run_state *state, const struct statement *statement)
{
    enum { STREAM = 0x77697468 };
    struct rng rng;
    if (!statement->action.within)
        return 0;
    const struct scenario *scenario = state->setup.scenario;
    rng_seed(&rng, state->setup.record->seed,
             STREAM + (uint64_t)(statement - scenario->statements.items));
    return rng_below(&rng, statement->action.within);
}

static int schedule_action(struct run_state *state, const struct statement *statement)
{
    const struct action *action = &statement->action;
    uint64_t now = sim_now(state->setup.sim);
    uint64_t time = action->time.ps + draw_delay(state, statement);
    struct due due = {time, statement};
    char text[TIME_TEXT_BYTES];
    if (action->when == ACTION_NOW)
        return apply_action(&state->setup, statement);
    if (action->time.settled)
        due.time += state->setup.settled_run;
    if (action->when == ACTION_AFTER && add_time(state, time, &action->when_word, &due.time) < 0)
        return -EINVAL;
    if (due.time < now)
        return word_error(&state->setup.cursor, &action->when_word,
                          "%s has passed: the run is at %s", action->when_word.text,
                          time_text(now, text));
    vec_push(&state->agenda, due);
    for (size_t i = state->agenda.count - 1; i > state->done; i--) {
        struct due *items = state->agenda.items;
        if (items[i - 1].time <= items[i].time)
            break;
        due = items[i];
        items[i] = items[i - 1];
        items[i - 1] = due;
    }
    return 0;
}

static uint64_t next_due(const struct run_state *state)
{
    return state->done < state->agenda.count ? state->agenda.items[state->done].time : TIME_NEVER;
}

static int apply_due(struct run_state *state)
{
    int status = 0;
    while (status == 0 && next_due(state) <= sim_now(state->setup.sim))
        status = apply_action(&state->setup, state->agenda.items[state->done++].statement);
    return status;
}

/* ---- time ---- */

static void update_observers(struct run_state *state)
{
    struct setup *setup = &state->setup;
    machines_update(setup, sim_now(setup->sim));
    metrics_update(setup->metrics, sim_now(setup->sim));
    unaffected_update(setup->unaffected, sim_now(setup->sim));
    if (setup->stop_on_deadlock && metrics_saw_deadlock(setup->metrics) && !state->halted) {
        run_record_add_event(setup->record, RUN_RECORD_ACTION, sim_now(setup->sim), "scenario",
                             "the run stops at the deadlock");
        state->halted = true;
    }
    if (fabric_is_interrupted(setup->fabric) && !state->interrupted) {
        run_record_add_event(setup->record, RUN_RECORD_ALARM, sim_now(setup->sim), "scenario",
                             "interrupted: the results are partial");
        results_set(&setup->record->results, "partial", 1, "");
        state->halted = state->interrupted = true;
    }
}

/* The next time at which metrics or machines need a call. */
static uint64_t next_update(const struct setup *setup)
{
    uint64_t own = machines_next(setup), next = metrics_next(setup->metrics);
    return own < next ? own : next;
}

/* As sim_step(), but stops where metrics or machines need a call. False when the time is reached.
 */
static bool step_time(struct run_state *state, uint64_t until)
{
    struct setup *setup = &state->setup;
    uint64_t now = sim_now(setup->sim), next = next_update(setup);
    if (next < now)
        next = now;
    if (next > until)
        next = until;
    if (unaffected_needs_every_event(setup->unaffected)) {
        sim_step(setup->sim, now); /* lets managers send, which schedules events */
        uint64_t event = fabric_next_network_event(setup->fabric);
        uint64_t timer = fabric_next_timer(setup->fabric);
        event = timer < event ? timer : event;
        next = event < next ? event : next;
    }
    sim_step(setup->sim, next);
    update_observers(state);
    return !state->halted && sim_now(setup->sim) < until;
}

static void advance_time(struct run_state *state, uint64_t until)
{
    struct setup *setup = &state->setup;
    assert(until >= sim_now(setup->sim));
    const struct run_options *options = state->options;
    uint64_t reported = sim_now(setup->sim), interval = (until - reported) / PROGRESS_REPORTS + 1;
    update_observers(state);
    while (!state->halted) {
        uint64_t now = sim_now(setup->sim), next = next_update(setup);
        if (options->progress && reported + interval < next)
            next = reported + interval;
        next = next < until ? next : until;
        next = next < now ? now : next;
        if (unaffected_needs_every_event(setup->unaffected) || machines_are_busy(setup))
            step_time(state, next);
        else
            sim_run(setup->sim, next);
        update_observers(state);
        now = sim_now(setup->sim);
        if (options->progress && now >= reported + interval) {
            options->progress(options->context, now, until);
            reported = now;
        }
        if (now >= until)
            break;
    }
}

/* ---- runs ---- */

/* Applies actions up to a time, each at its own. */
static int run_agenda(struct run_state *state, uint64_t until)
{
    int status = apply_due(state);
    while (status == 0 && next_due(state) <= until && next_due(state) != TIME_NEVER &&
           !state->halted) {
        advance_time(state, next_due(state));
        status = state->halted ? 0 : apply_due(state);
    }
    return status;
}

static int run_until_time(struct run_state *state, uint64_t until)
{
    int status = run_agenda(state, until);
    if (status == 0)
        advance_time(state, until);
    return status;
}

/* Whether no manager works on a change. */
static bool are_changes_closed(const struct setup *setup, struct complaint *complaint)
{
    for (size_t i = 0; i < setup->instances.count; i++) {
        const struct setup_instance *instance = setup->instances.items[i];
        if (instance->open)
            return complain(complaint, "the manager at '%.80s' is still at work", instance->name);
    }
    return true;
}

/* Whether managers have no work left. It is a cheap test before the checks of the whole fabric. */
static bool are_managers_idle(const struct setup *setup, struct complaint *complaint)
{
    for (size_t i = 0; i < setup->instances.count; i++) {
        const struct sm *sm = setup_manager(setup, i);
        if (!sm || sm_own_link_is_down(sm) ||
            (sm_state(sm) != SM_DISCOVERING && (sm_state(sm) != SM_MASTER || sm_is_settled(sm))))
            continue;
        return complain(complaint, "the manager at '%.80s' is still %s",
                        setup->instances.items[i]->name,
                        sm_state(sm) == SM_MASTER ? "at work" : "discovering");
    }
    return true;
}

/* Managers have no work left and their databases match the fabric: an undetected fault is not
 * settled. */
static bool is_settled(const struct setup *setup, struct complaint *complaint)
{
    static const enum check_kind kinds[] = {CHECK_SETTLED, CHECK_ONE_MASTER, CHECK_DISCOVERED,
                                            CHECK_ACTIVE};
    struct check_view view = setup_view(setup);
    if (!are_managers_idle(setup, complaint) || !machines_are_settled(setup, complaint))
        return false;
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (!check_holds(&view, kinds[i], complaint))
            return false;
    return true;
}

static void record_check(struct setup *setup, const char *line, unsigned number, bool holds,
                         const char *finding)
{
    struct run_record *record = setup->record;
    struct run_record_check check = {arena_strdup(&record->arena, line), number,
                                     sim_now(setup->sim), holds,
                                     arena_strdup(&record->arena, finding)};
    vec_push(&record->checks, check);
    run_record_add_event(record, RUN_RECORD_CHECK, check.time, holds ? "ok" : "FAILED", "%s%s%s%s",
                         check.line, finding[0] ? " (" : "", finding, finding[0] ? ")" : "");
}

/* The run of this statement has ended, at the latest at its limit: from now on times count. */
static int begin_after_settled(struct run_state *state, const struct statement *run)
{
    state->setup.settled_run = sim_now(state->setup.sim);
    flows_settled(&state->setup, run);
    return measuring_settled(&state->setup, run);
}

static int run_until_settled(struct run_state *state, const struct statement *statement)
{
    struct setup *setup = &state->setup;
    struct complaint complaint;
    uint64_t limit;
    int status = run_agenda(state, TIME_NEVER);
    if (status == 0)
        status = add_time(state, statement->run.time.ps, &statement->run.word, &limit);
    if (status || state->halted)
        return status;
    if (setup->trained >= sim_now(setup->sim)) /* wait for links that train */
        advance_time(state, setup->trained < limit ? setup->trained : limit);
    while (!state->halted) {
        uint64_t now = sim_now(setup->sim), until = limit;
        if (is_settled(setup, &complaint)) {
            if (are_changes_closed(setup, &complaint))
                return begin_after_settled(state, statement);
            until = now + REPORT_TIME < limit ? now + REPORT_TIME
                                              : limit; /* the manager reports soon */
        }
        if (!step_time(state, until) && until == limit)
            break;
        if (state->options->progress)
            state->options->progress(state->options->context, sim_now(setup->sim), TIME_NEVER);
    }
    if (state->interrupted)
        return 0;
    if (!is_settled(setup, &complaint) || !are_changes_closed(setup, &complaint))
        record_check(setup, statement->line, statement->word.line, false, complaint.text);
    return state->halted ? 0 : begin_after_settled(state, statement);
}

static int run_statement(struct run_state *state, const struct statement *statement)
{
    const struct run *run = &statement->run;
    struct setup *setup = &state->setup;
    uint64_t now = sim_now(setup->sim), until;
    char text[TIME_TEXT_BYTES];
    change_log_begin_run(setup);
    switch (run->kind) {
    case RUN_TO:
        until = moment_time(&run->time, setup->settled_run);
        if (until < now)
            return word_error(&setup->cursor, &run->word, "%s has passed: the run is at %s",
                              run->word.text, time_text(now, text));
        return add_time(state, until - now, &run->word, &until) < 0 ? -EINVAL
                                                                    : run_until_time(state, until);
    case RUN_FOR:
        return add_time(state, run->time.ps, &run->word, &until) < 0 ? -EINVAL
                                                                     : run_until_time(state, until);
    case RUN_UNTIL_SETTLED: return run_until_settled(state, statement);
    }
    return 0;
}

/* ---- scenarios ---- */

static int execute_statement(struct run_state *state, const struct statement *statement)
{
    struct complaint complaint;
    int status;
    bool holds;
    switch (statement->kind) {
    case STATEMENT_ACTION: return schedule_action(state, statement);
    case STATEMENT_RUN:
        status = run_statement(state, statement);
        if (status == 0 && state->options->inspect)
            state->options->inspect(state->options->context, &state->setup);
        return status;
    case STATEMENT_CHECK:
        holds = check_evaluate(&state->setup, &statement->check, &complaint);
        record_check(&state->setup, statement->line, statement->word.line, holds, complaint.text);
        return 0;
    default: return 0; /* handled by setup.c */
    }
}

/* An action whose time no `run` statement reaches is an error. The conservation of packets is
 * checked after every run with traffic. */
static int check_end(struct run_state *state)
{
    struct setup *setup = &state->setup;
    struct err err = {0};
    if (next_due(state) != TIME_NEVER && !state->halted)
        return word_error(&setup->cursor, &state->agenda.items[state->done].statement->word,
                          "no 'run' statement reaches this time");
    if (!metrics_has_traffic(setup->metrics))
        return 0;
    bool holds = fabric_check_data(setup->fabric, &err) == 0;
    record_check(setup, "conserved, at the end", 0, holds, holds ? "" : err.message);
    return 0;
}

int run_scenario(struct scenario *scenario, const struct run_options *options,
                 struct run_record *record, struct err *err)
{
    struct run_state state = {.options = options};
    struct fabric_totals totals;
    int status = setup_build(&state.setup, scenario, record, err);
    if (status)
        return status;
    if (options->topology)
        topology_write_ibnetdiscover(&state.setup.topology, options->topology);
    fabric_set_pcap(state.setup.fabric, options->pcap);
    fabric_set_interrupt(state.setup.fabric, options->interrupt);
    for (size_t i = 0; i < scenario->statements.count && status == 0 && !state.interrupted; i++)
        status = execute_statement(&state, &scenario->statements.items[i]);
    if (status == 0)
        status = check_end(&state);
    for (size_t i = 0; i < state.setup.instances.count; i++)
        change_log_close(&state.setup, i, false);
    fabric_totals(state.setup.fabric, &totals);
    record->end = sim_now(state.setup.sim);
    record->hash = fabric_trace_hash(state.setup.fabric);
    record->smps = totals.smps_sent;
    record->lost = totals.smps_lost;
    record->hops = totals.hops;
    measuring_publish(&state.setup, record->end);
    vec_release(&state.agenda);
    setup_release(&state.setup);
    return status;
}
