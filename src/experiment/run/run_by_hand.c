/* Actions by hand: what a person does during a run, and the scenario that repeats it.
 *
 * An action by hand applies at the present time and is recorded with the statement before which it
 * stands in the exported scenario. During a `run` statement that is `at TIME ACTION` in front of
 * it; between two `run` statements, and at the very end, it is the action alone. A `run until
 * settled` with such an action starts again after it, as it does when the action is in the file.
 *
 * The export states all times of actions as absolute times, so that it needs no random numbers for
 * them. It ends where the run is now. */
#include "experiment/run/run_internal.h"

#include "host/manager/config.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

const struct setup *scenario_run_setup(const struct scenario_run *run)
{
    return &run->setup;
}

bool scenario_run_is_halted(const struct scenario_run *run)
{
    return run->halted;
}

bool scenario_run_is_settling(const struct scenario_run *run)
{
    return run->stage != STAGE_NONE &&
           run->setup.scenario->statements.items[run->next].run.kind == RUN_UNTIL_SETTLED;
}

void by_hand_release(struct scenario_run *run)
{
    for (size_t i = 0; i < run->by_hand.count; i++)
        mem_free(run->by_hand.items[i].line);
    vec_release(&run->by_hand);
}

/* ---- actions ---- */

/* Whoever holds the token of a page must not read files of the user that serves it. A refused
 * action leaves nothing behind: a machine is added last. */
static int bind_by_hand(struct setup *setup, struct action *action)
{
    if (action->kind == ACTION_CONFIGURE && config_key_names_file(action->key.text))
        return word_error(&setup->cursor, &action->key,
                          "'%.40s' names a file, which only a scenario may do", action->key.text);
    if (action->text.text && strpbrk(action->text.text, "\"\n\r"))
        return word_error(&setup->cursor, &action->text, "'%.40s' cannot be written in a scenario",
                          action->text.text);
    int status = 0;
    if (action->machine.name.text)
        status = action_check_word(action->machine.name.text, "name", setup->cursor.err);
    if (status == 0)
        status = setup_bind_action(setup, action);
    if (status == 0 && action->kind == ACTION_START_MACHINE)
        status = machines_add_later(setup, &action->machine.name, &setup->cursor);
    return status;
}

int scenario_run_act(struct scenario_run *run, const struct action *wanted, struct err *err)
{
    struct setup *setup = &run->setup;
    struct by_hand act = {.time = sim_now(setup->sim),
                          .next = run->next,
                          .in_run = run->stage != STAGE_NONE ||
                                    run->next == setup->scenario->statements.count};
    assert(act.time % TIME_NS == 0);
    if (run->halted)
        return err_set(err, EPERM, "the run has ended");
    struct action action = *wanted;
    uint64_t fault = setup->fault, disturbed = setup->disturbed, trained = setup->trained;
    const struct cursor cursor = setup->cursor;
    struct text line = {0};
    setup->cursor = (struct cursor){.file = "", .err = err};
    int status = bind_by_hand(setup, &action);
    if (status == 0) {
        action_print(&action, &setup->topology, &line);
        status = apply_action(setup, &action, line.data, &action.first);
    }
    setup->cursor = cursor;
    if (status) {
        setup->fault = fault;
        setup->disturbed = disturbed;
        setup->trained = trained;
        text_release(&line);
        return status;
    }
    act.line = line.data;
    vec_push(&run->by_hand, act);
    if (run->stage > STAGE_ACTIONS)
        run->stage = STAGE_ACTIONS;
    return 0;
}

/* ---- export ---- */

/* Whole nanoseconds, as the language reads them. */
static void put_time(struct text *out, uint64_t ps)
{
    uint64_t ns = ps / TIME_NS;
    if (ps % TIME_NS)
        text_printf(out, "%" PRIu64 ".%06" PRIu64 "us", ps / TIME_US, ps % TIME_US);
    else
        text_printf(out, "%" PRIu64 ".%06" PRIu64 "ms", ns / NS_PER_MS, ns % NS_PER_MS);
}

/* With `paths`, the file of a relative path stays the same wherever the export is stored; else no
 * folder of this machine is named that the scenario does not name relative to its own. */
static void put_topology(const struct scenario *scenario, const struct statement *statement,
                         bool paths, struct text *out)
{
    const char *name = statement->words[0].text;
    char folder[PATH_MAX], path[2 * PATH_MAX], real[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", scenario->file);
    snprintf(path, sizeof path, "%s/%s", dirname(folder), name);
    if (paths && strpbrk(name, "./") && name[0] != '/' && realpath(path, real))
        text_printf(out, "topology \"%s\"\n", real);
    else if (!paths && name[0] == '/')
        text_printf(out, "topology \"%s\"\n", strrchr(name, '/') + 1);
    else
        text_printf(out, "%s\n", statement->line);
}

static const struct due *find_applied(const struct scenario_run *run,
                                      const struct statement *statement)
{
    for (size_t i = 0; i < run->done; i++)
        if (run->agenda.items[i].statement == statement)
            return &run->agenda.items[i];
    return NULL;
}

/* `line` is an action of which the first words are its time, if it has one. */
static void put_action(const struct scenario_run *run, const struct statement *statement,
                       struct text *out)
{
    const struct due *due = find_applied(run, statement);
    const char *line = statement->line;
    unsigned words = statement->timing.within ? 4 : 2;
    if (statement->timing.when == ACTION_NOW) {
        text_printf(out, "%s\n", line);
        return;
    }
    if (!due)
        return;
    for (; words > 0; words--) {
        line += strcspn(line, " \t");
        line += strspn(line, " \t");
    }
    text_puts(out, "at ");
    put_time(out, due->time);
    text_printf(out, " %s\n", line);
}

static void put_by_hand(const struct scenario_run *run, size_t next, struct text *out)
{
    for (size_t i = 0; i < run->by_hand.count; i++) {
        const struct by_hand *act = &run->by_hand.items[i];
        if (act->next != next || act->time == sim_now(run->setup.sim))
            continue;
        if (act->in_run) {
            text_puts(out, "at ");
            put_time(out, act->time);
            text_putc(out, ' ');
        }
        text_printf(out, "%s\n", act->line);
    }
}

/* Whether times may count from the end of a `run until settled` that has not ended yet. */
static bool is_settled_missing(const struct scenario_run *run)
{
    const struct scenario *scenario = run->setup.scenario;
    const struct statement *first = scenario_next(scenario, STATEMENT_RUN, NULL);
    while (first && first->run.kind != RUN_UNTIL_SETTLED)
        first = scenario_next(scenario, STATEMENT_RUN, first);
    return first && first >= scenario->statements.items + run->next;
}

/* Traffic may name machines that no statement has started yet: they start at the end, when time
 * does not advance any more. */
static void put_machines(const struct scenario_run *run, struct text *out)
{
    const struct scenario *scenario = run->setup.scenario;
    for (const struct statement *statement = NULL;
         (statement = scenario_next(scenario, STATEMENT_ACTION, statement));) {
        const struct action *action = &statement->action;
        bool executed = statement < scenario->statements.items + run->next &&
                        (statement->timing.when == ACTION_NOW || find_applied(run, statement));
        if (action->kind == ACTION_START_MACHINE && !executed)
            text_printf(out, "vm start %s at %s\n", action->machine.name.text,
                        action->node_word.text ? action->node_word.text : "auto");
    }
}

/* The last `run` statement ends now; then the actions by hand of this moment follow. */
static void put_end(const struct scenario_run *run, struct text *out)
{
    uint64_t now = sim_now(run->setup.sim);
    if (now > run->ran_to) {
        text_puts(out, "run ");
        put_time(out, now);
        text_putc(out, '\n');
    }
    for (size_t i = 0; i < run->by_hand.count; i++)
        if (run->by_hand.items[i].time == now)
            text_printf(out, "%s\n", run->by_hand.items[i].line);
    if (is_settled_missing(run))
        text_puts(out, "run until settled limit 0s\n");
    put_machines(run, out);
}

void scenario_run_export(const struct scenario_run *run, bool paths, struct text *out)
{
    const struct scenario *scenario = run->setup.scenario;
    text_printf(out, "seed %" PRIu64 "\n", run->setup.record->seed);
    for (size_t i = 0; i < scenario->statements.count; i++) {
        const struct statement *statement = &scenario->statements.items[i];
        put_by_hand(run, i, out);
        if (statement->kind == STATEMENT_TOPOLOGY)
            put_topology(scenario, statement, paths, out);
        else if (statement->kind == STATEMENT_ACTION && i < run->next)
            put_action(run, statement, out);
        else if (statement->kind != STATEMENT_ACTION && statement->kind != STATEMENT_SEED &&
                 !statement->setting &&
                 (i < run->next ||
                  (statement->kind != STATEMENT_RUN && statement->kind != STATEMENT_CHECK)))
            text_printf(out, "%s\n", statement->line);
    }
    put_by_hand(run, scenario->statements.count, out);
    put_end(run, out);
}
