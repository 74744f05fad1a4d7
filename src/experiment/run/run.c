/* Statements one after the other: actions wait on an agenda until a run comes to their time, runs
 * let time pass, checks look. */
#include "experiment/run/run.h"

#include "base/time.h"
#include "experiment/check/unaffected.h"
#include "experiment/measure/metrics.h"

#include <errno.h>

#define MOMENT (10 * TIME_US) /* in which a manager can tell that it is through */
enum { SLICES = 500 };        /* of a run, between two words about its progress */

struct due {
    uint64_t time;
    const struct statement *statement;
};

struct play {
    struct setup setup;
    VEC(struct due) agenda; /* by time, then in the order of the file; the past is cut off */
    size_t done;
    bool halted; /* by a deadlock: nothing happens any more */
    const struct run_options *options;
};

/* The time `wait` from now on; an error when the run would last too long. */
static int later(struct play *play, uint64_t wait, const struct word *word, uint64_t *time)
{
    *time = sim_now(play->setup.sim) + wait;
    return *time <= TIME_LONGEST
               ? 0
               : word_error(&play->setup.cursor, word, "a run lasts 100 days at the most");
}

/* ---- actions ---- */

static int schedule(struct play *play, const struct statement *statement)
{
    const struct action *action = &statement->action;
    uint64_t now = sim_now(play->setup.sim);
    struct due due = {action->time, statement};
    char text[TIME_TEXT_BYTES];
    if (action->when == ACTION_NOW)
        return apply_action(&play->setup, statement);
    if (action->when == ACTION_AFTER &&
        later(play, action->time, &action->when_word, &due.time) < 0)
        return -EINVAL;
    if (due.time < now)
        return word_error(&play->setup.cursor, &action->when_word,
                          "%s is over: the run is at %s already", action->when_word.text,
                          time_text(now, text));
    vec_push(&play->agenda, due);
    for (size_t i = play->agenda.count - 1; i > play->done; i--) {
        struct due *items = play->agenda.items;
        if (items[i - 1].time <= items[i].time)
            break;
        due = items[i];
        items[i] = items[i - 1];
        items[i - 1] = due;
    }
    return 0;
}

static uint64_t next_due(const struct play *play)
{
    return play->done < play->agenda.count ? play->agenda.items[play->done].time : TIME_NEVER;
}

static int perform_due(struct play *play)
{
    int status = 0;
    while (status == 0 && next_due(play) <= sim_now(play->setup.sim))
        status = apply_action(&play->setup, play->agenda.items[play->done++].statement);
    return status;
}

/* ---- time ---- */

static void look(struct play *play)
{
    struct setup *setup = &play->setup;
    machines_look(setup, sim_now(setup->sim));
    metrics_look(setup->metrics, sim_now(setup->sim));
    unaffected_look(setup->unaffected, sim_now(setup->sim));
    if (setup->stop_on_deadlock && metrics_saw_deadlock(setup->metrics) && !play->halted) {
        run_record_tell(setup->record, RUN_RECORD_ACTION, sim_now(setup->sim), "scenario",
                        "the run stops at the deadlock");
        play->halted = true;
    }
}

/* When something must be looked at, or done. */
static uint64_t next_look(const struct setup *setup)
{
    uint64_t own = machines_next(setup), next = metrics_next(setup->metrics);
    return own < next ? own : next;
}

/* As sim_step(), but no farther than to where something must be looked at. */
static bool step(struct play *play, uint64_t until)
{
    struct setup *setup = &play->setup;
    uint64_t now = sim_now(setup->sim), next = next_look(setup);
    if (next < now)
        next = now;
    if (next > until)
        next = until;
    if (unaffected_wants_all(setup->unaffected)) {
        sim_step(setup->sim, now); /* what managers want to send is events, too */
        uint64_t event = fabric_next_network_event(setup->fabric);
        uint64_t timer = fabric_next_timer(setup->fabric);
        event = timer < event ? timer : event;
        next = event < next ? event : next;
    }
    sim_step(setup->sim, next);
    look(play);
    return !play->halted && sim_now(setup->sim) < until;
}

static void pass_time(struct play *play, uint64_t until)
{
    struct setup *setup = &play->setup;
    const struct run_options *options = play->options;
    uint64_t said = sim_now(setup->sim), slice = (until - said) / SLICES + 1;
    look(play);
    while (!play->halted) {
        uint64_t now = sim_now(setup->sim), next = next_look(setup);
        if (options->progress && said + slice < next)
            next = said + slice;
        next = next < until ? next : until;
        next = next < now ? now : next;
        if (unaffected_wants_all(setup->unaffected) || machines_are_busy(setup))
            step(play, next);
        else
            sim_run(setup->sim, next);
        look(play);
        now = sim_now(setup->sim);
        if (options->progress && now >= said + slice) {
            options->progress(options->context, now, until);
            said = now;
        }
        if (now >= until)
            break;
    }
}

/* ---- runs ---- */

/* What is due up to a time, at its time. */
static int run_agenda(struct play *play, uint64_t until)
{
    int status = perform_due(play);
    while (status == 0 && next_due(play) <= until && next_due(play) != TIME_NEVER &&
           !play->halted) {
        pass_time(play, next_due(play));
        status = play->halted ? 0 : perform_due(play);
    }
    return status;
}

static int run_to(struct play *play, uint64_t until)
{
    int status = run_agenda(play, until);
    if (status == 0)
        pass_time(play, until);
    return status;
}

/* Managers have said that they are through. */
static bool is_reported(const struct setup *setup, struct complaint *complaint)
{
    for (size_t i = 0; i < setup->seats.count; i++) {
        const struct setup_seat *seat = setup->seats.items[i];
        if (seat->open)
            return complain(complaint, "the manager at '%.80s' is still at work", seat->name);
    }
    return true;
}

/* What can be said without a look at the whole fabric, which would take longer than most steps. */
static bool is_quiet(const struct setup *setup, struct complaint *complaint)
{
    for (size_t i = 0; i < setup->seats.count; i++) {
        const struct sm *sm = setup_manager(setup, i);
        if (!sm ||
            (sm_state(sm) != SM_DISCOVERING && (sm_state(sm) != SM_MASTER || sm_is_settled(sm))))
            continue;
        return complain(complaint, "the manager at '%.80s' is still %s",
                        setup->seats.items[i]->name,
                        sm_state(sm) == SM_MASTER ? "at work" : "discovering");
    }
    return true;
}

/* Nothing left to do, and what managers know is what is there: a fault that nobody has noticed yet
 * is not settled. */
static bool is_settled(const struct setup *setup, struct complaint *complaint)
{
    static const enum check_kind kinds[] = {CHECK_SETTLED, CHECK_ONE_MASTER, CHECK_DISCOVERED,
                                            CHECK_ACTIVE};
    struct check_view view = setup_view(setup);
    if (!is_quiet(setup, complaint) || !machines_are_settled(setup, complaint))
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
    run_record_tell(record, RUN_RECORD_CHECK, check.time, holds ? "ok" : "FAILED", "%s%s%s%s",
                    check.line, finding[0] ? " (" : "", finding, finding[0] ? ")" : "");
}

static int run_until_settled(struct play *play, const struct statement *statement)
{
    struct setup *setup = &play->setup;
    struct complaint complaint;
    uint64_t limit;
    int status = run_agenda(play, TIME_NEVER);
    if (status == 0)
        status = later(play, statement->run.time, &statement->run.word, &limit);
    if (status || play->halted)
        return status;
    if (setup->trained >= sim_now(setup->sim)) /* a link that still trains is not there yet */
        pass_time(play, setup->trained < limit ? setup->trained : limit);
    while (!play->halted) {
        uint64_t now = sim_now(setup->sim), until = limit;
        if (is_settled(setup, &complaint)) {
            if (is_reported(setup, &complaint))
                return 0;
            until = now + MOMENT < limit ? now + MOMENT : limit; /* no need to wait for a sweep */
        }
        if (!step(play, until) && until == limit)
            break;
        if (play->options->progress)
            play->options->progress(play->options->context, sim_now(setup->sim), TIME_NEVER);
    }
    if (!is_settled(setup, &complaint) || !is_reported(setup, &complaint))
        record_check(setup, statement->line, statement->word.line, false, complaint.text);
    return 0;
}

static int run(struct play *play, const struct statement *statement)
{
    const struct run *run = &statement->run;
    struct setup *setup = &play->setup;
    uint64_t now = sim_now(setup->sim), until;
    char text[TIME_TEXT_BYTES];
    change_log_begin_run(setup);
    switch (run->kind) {
    case RUN_TO:
        if (run->time < now)
            return word_error(&setup->cursor, &run->word, "%s is over: the run is at %s already",
                              run->word.text, time_text(now, text));
        return run_to(play, run->time);
    case RUN_FOR:
        return later(play, run->time, &run->word, &until) < 0 ? -EINVAL : run_to(play, until);
    case RUN_UNTIL_SETTLED: return run_until_settled(play, statement);
    }
    return 0;
}

/* ---- all of it ---- */

static int play_statement(struct play *play, const struct statement *statement)
{
    struct complaint complaint;
    bool holds;
    switch (statement->kind) {
    case STATEMENT_ACTION: return schedule(play, statement);
    case STATEMENT_RUN: return run(play, statement);
    case STATEMENT_CHECK:
        holds = check_evaluate(&play->setup, &statement->check, &complaint);
        record_check(&play->setup, statement->line, statement->word.line, holds, complaint.text);
        return 0;
    default: return 0; /* said what there is */
    }
}

/* An action that no run comes to is a mistake: it would look as if it had been tried. And nothing
 * may get lost in the books, whatever the scenario was about. */
static int check_end(struct play *play)
{
    struct setup *setup = &play->setup;
    struct err err = {0};
    if (next_due(play) != TIME_NEVER && !play->halted)
        return word_error(&setup->cursor, &play->agenda.items[play->done].statement->word,
                          "no 'run' comes to this time");
    if (!metrics_has_traffic(setup->metrics))
        return 0;
    bool holds = fabric_check_data(setup->fabric, &err) == 0;
    record_check(setup, "conserved, at the end", 0, holds, holds ? "" : err.message);
    return 0;
}

int run_scenario(struct scenario *scenario, const struct run_options *options,
                 struct run_record *record, struct err *err)
{
    struct play play = {.options = options};
    struct fabric_totals totals;
    int status = setup_build(&play.setup, scenario, record, err);
    if (status)
        return status;
    if (options->topology)
        topology_write_ibnetdiscover(&play.setup.topology, options->topology);
    fabric_set_pcap(play.setup.fabric, options->pcap);
    for (size_t i = 0; i < scenario->statements.count && status == 0; i++)
        status = play_statement(&play, &scenario->statements.items[i]);
    if (status == 0)
        status = check_end(&play);
    for (size_t i = 0; i < play.setup.seats.count; i++)
        change_log_close(&play.setup, i, false);
    fabric_totals(play.setup.fabric, &totals);
    record->end = sim_now(play.setup.sim);
    record->hash = fabric_trace_hash(play.setup.fabric);
    record->smps = totals.smps_sent;
    record->lost = totals.smps_lost;
    record->hops = totals.hops;
    measuring_publish(&play.setup, record->end);
    vec_release(&play.agenda);
    setup_release(&play.setup);
    return status;
}
