/* Runs the statements of a scenario in order: actions wait on an agenda for their time, `run`
 * statements advance time, checks are evaluated. */
#include "experiment/run/run_internal.h"

#include "base/time.h"
#include "experiment/check/unaffected.h"
#include "experiment/measure/metrics.h"

#include <assert.h>
#include <errno.h>

#define REPORT_TIME (10 * TIME_US) /* within which a manager reports the end of a change */
enum { PROGRESS_REPORTS = 500 };   /* progress reports of a `run` statement */

/* The time `wait` from now; an error if the run would last too long. */
static int add_time(struct scenario_run *state, uint64_t wait, const struct word *word,
                    uint64_t *time)
{
    *time = sim_now(state->setup.sim) + wait;
    return *time <= TIME_LONGEST
               ? 0
               : word_error(&state->setup.cursor, word, "a run lasts 100 days at the most");
}

/* ---- actions ---- */

/* The delay of an action with `within`: it depends on the seed and on the place of the statement.
 */
static uint64_t draw_delay(const struct scenario_run *state, const struct statement *statement)
{
    enum { STREAM = 0x77697468 };
    struct rng rng;
    if (!statement->timing.within)
        return 0;
    const struct scenario *scenario = state->setup.scenario;
    rng_seed(&rng, state->setup.record->seed,
             STREAM + (uint64_t)(statement - scenario->statements.items));
    return rng_below(&rng, statement->timing.within);
}

static int schedule_action(struct scenario_run *state, const struct statement *statement)
{
    const struct timing *timing = &statement->timing;
    uint64_t now = sim_now(state->setup.sim);
    uint64_t time = timing->time.ps + draw_delay(state, statement);
    struct due due = {time, statement};
    char text[TIME_TEXT_BYTES];
    if (timing->when == ACTION_NOW)
        return apply_statement(&state->setup, statement);
    if (timing->time.settled)
        due.time += state->setup.settled_run;
    if (timing->when == ACTION_AFTER && add_time(state, time, &timing->word, &due.time) < 0)
        return -EINVAL;
    if (due.time < now)
        return word_error(&state->setup.cursor, &timing->word, "%s has passed: the run is at %s",
                          timing->word.text, time_text(now, text));
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

static uint64_t next_due(const struct scenario_run *state)
{
    return state->done < state->agenda.count ? state->agenda.items[state->done].time : TIME_NEVER;
}

static int apply_due(struct scenario_run *state)
{
    int status = 0;
    while (status == 0 && next_due(state) <= sim_now(state->setup.sim))
        status = apply_statement(&state->setup, state->agenda.items[state->done++].statement);
    return status;
}

/* ---- time ---- */

static void update_observers(struct scenario_run *state)
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
    if (metrics_is_steady(setup->metrics) && !state->halted) {
        run_record_add_event(setup->record, RUN_RECORD_ACTION, sim_now(setup->sim), "scenario",
                             "the run stops: latency and throughput are steady and known");
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

/* As sim_step_part(), but stops where metrics or machines need a call. */
static bool step_time(struct scenario_run *state, uint64_t until, uint64_t pause)
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
    bool complete = sim_step_part(setup->sim, next, pause);
    update_observers(state);
    return complete;
}

static void advance_time(struct scenario_run *state, uint64_t until)
{
    struct setup *setup = &state->setup;
    assert(until >= sim_now(setup->sim));
    const struct run_options *options = &state->options;
    uint64_t reported = sim_now(setup->sim), interval = (until - reported) / PROGRESS_REPORTS + 1;
    update_observers(state);
    while (!state->halted) {
        uint64_t now = sim_now(setup->sim), next = next_update(setup);
        if (options->progress && reported + interval < next)
            next = reported + interval;
        next = next < until ? next : until;
        next = next < now ? now : next;
        if (unaffected_needs_every_event(setup->unaffected) || machines_are_busy(setup))
            step_time(state, next, TIME_NEVER);
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
static int run_agenda(struct scenario_run *state, uint64_t until)
{
    int status = apply_due(state);
    while (status == 0 && next_due(state) <= until && next_due(state) != TIME_NEVER &&
           !state->halted) {
        advance_time(state, next_due(state));
        status = state->halted ? 0 : apply_due(state);
    }
    return status;
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

/* Returns whether the statement is finished; else time is at `pause`. The test is made after whole
 * steps, so that its times do not depend on pauses. */
static bool settle(struct scenario_run *state, const struct statement *statement, uint64_t pause)
{
    struct setup *setup = &state->setup;
    uint64_t limit = state->end;
    struct check_failure failure;
    while (!state->halted) {
        uint64_t now = sim_now(setup->sim);
        if (!state->in_step) {
            state->step_end = limit;
            if (settled_now(setup, NULL)) {
                if (settled_changes_closed(setup, NULL))
                    return true;
                if (now + REPORT_TIME < limit) /* the manager reports soon */
                    state->step_end = now + REPORT_TIME;
            }
        }
        if (now >= limit)
            break;
        if (now >= pause)
            return false;
        state->in_step = !step_time(state, state->step_end, pause);
        if (state->options.progress)
            state->options.progress(state->options.context, sim_now(setup->sim), TIME_NEVER);
    }
    if (!state->interrupted &&
        (!settled_now(setup, &failure) || !settled_changes_closed(setup, &failure)))
        record_check(setup, statement->line, statement->word.line, false, failure.text);
    return true;
}

/* Returns 1 if the statement is finished, 0 if time is at `pause`, or an error. */
static int run_until_settled(struct scenario_run *state, const struct statement *statement,
                             uint64_t pause)
{
    struct setup *setup = &state->setup;
    int status = 0;
    if (state->stage == STAGE_ACTIONS) {
        status = run_agenda(state, pause);
        if (status == 0 && next_due(state) != TIME_NEVER && !state->halted) {
            advance_time(state, pause);
            return 0;
        }
        if (status == 0) /* the limit counts from the last action */
            status = add_time(state, statement->run.time.ps, &statement->run.word, &state->end);
        state->stage = STAGE_TRAIN;
        state->in_step = false;
        if (status || state->halted)
            return status ? status : 1;
    }
    if (state->stage == STAGE_TRAIN && setup->trained >= sim_now(setup->sim) &&
        state->end > sim_now(setup->sim)) {
        uint64_t until = setup->trained < state->end ? setup->trained : state->end;
        advance_time(state, until < pause ? until : pause);
        if (!state->halted && sim_now(setup->sim) < until)
            return 0;
    }
    state->stage = STAGE_SETTLE;
    if (!settle(state, statement, pause))
        return 0;
    if (state->halted)
        return 1;
    setup->settled_run = sim_now(setup->sim); /* at the latest the limit: from now on times count */
    flows_settled(setup, statement);
    status = measuring_settled(setup, statement);
    return status ? status : 1;
}

static int begin_run(struct scenario_run *state, const struct statement *statement)
{
    const struct run *run = &statement->run;
    struct setup *setup = &state->setup;
    uint64_t now = sim_now(setup->sim), until;
    char text[TIME_TEXT_BYTES];
    change_log_begin_run(setup);
    state->stage = STAGE_ACTIONS;
    switch (run->kind) {
    case RUN_TO:
        until = moment_time(&run->time, setup->settled_run);
        if (until < now)
            return word_error(&setup->cursor, &run->word, "%s has passed: the run is at %s",
                              run->word.text, time_text(now, text));
        return add_time(state, until - now, &run->word, &state->end);
    case RUN_FOR: return add_time(state, run->time.ps, &run->word, &state->end);
    case RUN_UNTIL_SETTLED: return 0;
    }
    return 0;
}

/* ---- scenarios ---- */

/* Executes the current `run` statement, or a part of it. As run_until_settled(). */
static int execute_run(struct scenario_run *state, const struct statement *statement,
                       uint64_t pause)
{
    int status = state->stage == STAGE_NONE ? begin_run(state, statement) : 0;
    if (status)
        return status;
    if (statement->run.kind == RUN_UNTIL_SETTLED) {
        status = run_until_settled(state, statement, pause);
    } else {
        uint64_t until = state->end < pause ? state->end : pause;
        status = run_agenda(state, until);
        if (status == 0)
            advance_time(state, until);
        if (status == 0)
            status = state->halted || sim_now(state->setup.sim) >= state->end;
    }
    if (status <= 0)
        return status;
    state->stage = STAGE_NONE;
    state->ran_to = sim_now(state->setup.sim);
    if (state->options.inspect)
        state->options.inspect(state->options.context, &state->setup);
    return status;
}

static int execute_statement(struct scenario_run *state, const struct statement *statement)
{
    struct check_failure failure;
    bool holds;
    switch (statement->kind) {
    case STATEMENT_ACTION: return schedule_action(state, statement);
    case STATEMENT_CONNECTION: return connections_start(&state->setup, statement);
    case STATEMENT_ALTERNATE: return connections_set_alternate(&state->setup, statement);
    case STATEMENT_CHECK:
        holds = check_evaluate(&state->setup, &statement->check, &failure);
        record_check(&state->setup, statement->line, statement->word.line, holds, failure.text);
        return 0;
    default: return 0; /* handled by setup.c */
    }
}

/* With `to_settled` also ends after a `run until settled`. */
static int advance_statements(struct scenario_run *state, uint64_t until, bool to_settled)
{
    const struct scenario *scenario = state->setup.scenario;
    int status = 0;
    while (state->next < scenario->statements.count && status == 0 && !state->interrupted) {
        const struct statement *statement = &scenario->statements.items[state->next];
        if (statement->kind == STATEMENT_RUN) {
            if (sim_now(state->setup.sim) >= until)
                return 0;
            status = execute_run(state, statement, until);
            if (status == 0)
                return 0;
            status = status < 0 ? status : 0;
        } else {
            status = execute_statement(state, statement);
        }
        state->next += status == 0;
        if (to_settled && statement->kind == STATEMENT_RUN &&
            statement->run.kind == RUN_UNTIL_SETTLED)
            return status;
    }
    if (status == 0 && until != TIME_NEVER && until > sim_now(state->setup.sim) && !state->halted) {
        status = run_agenda(state, until);
        if (status == 0)
            advance_time(state, until);
    }
    return status;
}

int scenario_run_advance(struct scenario_run *state, uint64_t until)
{
    return advance_statements(state, until, false);
}

int scenario_run_settle(struct scenario_run *state, uint64_t until)
{
    return advance_statements(state, until, true);
}

/* An action whose time no `run` statement reaches is an error. The conservation of packets is
 * checked after every run with traffic. */
static int check_end(struct scenario_run *state)
{
    struct setup *setup = &state->setup;
    struct err err = {0};
    if (next_due(state) != TIME_NEVER && !state->halted)
        return word_error(&setup->cursor, &state->agenda.items[state->done].statement->word,
                          "no 'run' statement reaches this time");
    if (!metrics_has_traffic(setup->metrics) && !setup->connections.sim)
        return 0;
    bool holds = fabric_check_data(setup->fabric, &err) == 0;
    record_check(setup, "conserved, at the end", 0, holds, holds ? "" : err.message);
    return 0;
}

int scenario_run_begin(struct scenario_run **run, struct scenario *scenario,
                       const struct run_options *options, struct run_record *record,
                       struct err *err)
{
    struct scenario_run *state = mem_zalloc(1, sizeof *state);
    state->options = *options;
    int status = setup_build(&state->setup, scenario, record, err);
    if (status) {
        mem_free(state);
        return status;
    }
    if (options->topology)
        topology_write_ibnetdiscover(&state->setup.topology, options->topology);
    state->setup.observer = options->observer;
    fabric_set_pcap(state->setup.fabric, options->pcap);
    fabric_set_interrupt(state->setup.fabric, options->interrupt);
    fabric_set_workers(state->setup.fabric, options->workers);
    *run = state;
    return 0;
}

void scenario_run_end(struct scenario_run *state)
{
    struct run_record *record = state->setup.record;
    struct fabric_totals totals;
    for (size_t i = 0; i < state->setup.instances.count; i++)
        change_log_close(&state->setup, i);
    fabric_totals(state->setup.fabric, &totals);
    record->end = sim_now(state->setup.sim);
    record->hash = fabric_trace_hash(state->setup.fabric);
    if (state->options.parallel)
        *state->options.parallel = fabric_partition_figures(state->setup.fabric);
    record->smps = totals.smps_sent;
    record->lost = totals.smps_lost;
    record->hops = totals.hops;
    measuring_publish(&state->setup, record->end);
    vec_release(&state->agenda);
    by_hand_release(state);
    setup_release(&state->setup);
    mem_free(state);
}

int run_scenario(struct scenario *scenario, const struct run_options *options,
                 struct run_record *record, struct err *err)
{
    struct scenario_run *state;
    int status = scenario_run_begin(&state, scenario, options, record, err);
    if (status)
        return status;
    status = scenario_run_advance(state, TIME_NEVER);
    if (status == 0)
        status = check_end(state);
    scenario_run_end(state);
    return status;
}
