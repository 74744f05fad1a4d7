#include "experiment/run/stage.h"

#include "base/time.h"
#include "experiment/check/unaffected.h"
#include "experiment/measure/metrics.h"
#include "experiment/run/ledger.h"
#include "experiment/run/manager.h"
#include "experiment/run/measuring.h"
#include "experiment/scenario/names.h"
#include "topology/generate.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>

enum { SEATS_MOST = 256 };

const char *stage_node_name(const struct stage *stage, uint32_t node)
{
    return node_label(&stage->topology, node);
}

/* ---- topology ---- */

static int read_net(struct stage *stage, const struct word *word, struct err *err)
{
    char folder[4096], path[8192];
    struct err reason = {0};
    char text[1024];
    snprintf(folder, sizeof folder, "%s", stage->scenario->file);
    if (word->text[0] == '/' || strcmp(stage->scenario->file, "-") == 0)
        snprintf(path, sizeof path, "%s", word->text);
    else
        snprintf(path, sizeof path, "%s/%s", dirname(folder), word->text);
    if (topology_read(&stage->topology, from_file(path, &reason)) == 0)
        return 0;
    struct cursor cursor = scenario_cursor(stage->scenario, err);
    return word_error(&cursor, word, "%.400s", err_text(&reason, text, sizeof text));
}

/* The command line's parameters go before those of the same name. */
static int generate(struct stage *stage, const struct statement *statement, struct err *err)
{
    const struct scenario *scenario = stage->scenario;
    const char *words[WORDS_PER_LINE * 2];
    size_t count = 0;
    struct err reason = {0};
    for (size_t i = 1; i < statement->word_count; i++)
        words[count++] = statement->words[i].text;
    for (size_t i = 0; i < scenario->statements.count && count < WORDS_PER_LINE * 2; i++) {
        const struct statement *setting = &scenario->statements.items[i];
        if (!statement_sets(setting, "topology", false))
            continue;
        const char *name = setting->words[1].text;
        size_t length = strlen(name), j = 0;
        while (j < count && (strncmp(words[j], name, length) != 0 || words[j][length] != '='))
            j++;
        words[j] = arena_printf(&stage->story->arena, "%s=%s", name, setting->words[2].text);
        count += j == count;
    }
    if (topology_generate(&stage->topology, statement->words[0].text, words, count,
                          stage->story->seed, &reason) == 0)
        return 0;
    struct cursor cursor = scenario_cursor(stage->scenario, err);
    return word_error(&cursor, &statement->words[0], "%.400s", reason.message);
}

/* Something with a dot or a slash is a file; kinds have neither. */
static int make_topology(struct stage *stage, struct err *err)
{
    const struct statement *statement = NULL;
    struct cursor cursor = scenario_cursor(stage->scenario, err);
    for (size_t i = 0; i < stage->scenario->statements.count; i++) {
        const struct statement *other = &stage->scenario->statements.items[i];
        if (other->kind != STATEMENT_TOPOLOGY)
            continue;
        if (statement)
            return word_error(&cursor, &other->word, "a second topology: the first is in line %u",
                              statement->word.line);
        statement = other;
    }
    if (!statement)
        return err_at(err, EINVAL, stage->scenario->file, 0,
                      "no 'topology' statement: a scenario needs a fabric");
    if (!strpbrk(statement->words[0].text, "./"))
        return generate(stage, statement, err);
    if (statement->word_count > 1)
        return word_error(&cursor, &statement->words[1], "'%.80s': a file takes no parameters",
                          statement->words[1].text);
    return read_net(stage, &statement->words[0], err);
}

/* ---- attributes ---- */

static int unknown_attribute(const struct stage *stage, const struct word *word,
                             struct cursor *cursor)
{
    struct text list = {0};
    const char *names[256];
    size_t count = 0;
    fabric_options_list(&stage->options, &list);
    for (char *line = list.data, *next; line && *line && count < 256; line = next) {
        next = strchrnul(line, '\n');
        next += *next != 0;
        line[strcspn(line, " \n")] = 0;
        names[count++] = line;
    }
    int status = word_unknown(cursor, word, "attribute of a fabric", names, count);
    text_release(&list);
    return status;
}

/* words: scope, key, value */
static int set_attribute(struct stage *stage, const struct word *words, struct cursor *cursor)
{
    struct err reason = {0};
    char key[256];
    const char *scope = words[0].text;
    if (strcmp(scope, "switch") == 0 || strcmp(scope, "adapter") == 0)
        snprintf(key, sizeof key, "%s:%s", scope[0] == 's' ? "switches" : "adapters",
                 words[1].text);
    else if (snprintf(key, sizeof key, "%s%s%s", scope, *scope ? ":" : "", words[1].text) >=
             (int)sizeof key)
        return word_error(cursor, &words[0], "the pattern is too long");
    if (fabric_options_set(&stage->options, key, words[2].text, &reason) == 0)
        return 0;
    if (strncmp(reason.message, "no attribute", 12) == 0)
        return unknown_attribute(stage, &words[1], cursor);
    return word_error(cursor, &words[2], "%.400s", reason.message);
}

/* Settings of managers, generators and traffic are theirs. */
static int set_attributes(struct stage *stage, struct err *err)
{
    int status = 0;
    for (size_t i = 0; i < stage->scenario->statements.count && status == 0; i++) {
        const struct statement *statement = &stage->scenario->statements.items[i];
        const char *scope = statement->kind == STATEMENT_SET ? statement->words[0].text : "sm";
        struct cursor cursor = statement_cursor(stage->scenario, statement, err);
        if (strcmp(scope, "vm") == 0)
            status = machines_set(&statement->words[1], &statement->words[2], &cursor);
        else if (strcmp(scope, "sm") != 0 && !statement_sets(statement, "topology", false) &&
                 !flows_is_setting(statement))
            status = set_attribute(stage, statement->words, &cursor);
    }
    return status;
}

/* ---- managers ---- */

/* `set sm` statements of the file, or the command line's. */
static int set_managers(struct stage *stage, struct stage_seat *seat, bool in_file, struct err *err)
{
    int status = 0;
    for (size_t i = 0; i < stage->scenario->statements.count && status == 0; i++) {
        const struct statement *other = &stage->scenario->statements.items[i];
        struct cursor cursor = statement_cursor(stage->scenario, other, err);
        if (statement_sets(other, "sm", in_file))
            status = manager_set(&seat->config, &other->words[1], &other->words[2], &cursor);
    }
    return status;
}

static int configure_manager(struct stage *stage, struct stage_seat *seat,
                             const struct statement *statement, const char *preset, struct err *err)
{
    struct cursor cursor = scenario_cursor(stage->scenario, err);
    struct err reason = {0};
    manager_preset(&seat->config, preset);
    int status = set_managers(stage, seat, true, err);
    for (size_t i = 1; i + 1 < statement->word_count && status == 0; i += 2)
        status =
            manager_set(&seat->config, &statement->words[i], &statement->words[i + 1], &cursor);
    seat->stopped = statement->word_count % 2 == 0; /* one word behind the pairs */
    if (status == 0)
        status = set_managers(stage, seat, false, err);
    if (status == 0 && config_finish(&seat->config, &reason) < 0)
        return word_error(&cursor, &statement->word, "%.400s", reason.message);
    return status;
}

/* The port of NODE[:PORT]: at a switch it is port 0, at an adapter the first unless another is
 * named. */
static int find_place(struct stage *stage, const struct word *word, uint32_t *port, struct err *err)
{
    struct cursor cursor = scenario_cursor(stage->scenario, err);
    struct place place;
    int status = bind_place(word, &stage->topology, &cursor, 1, &place);
    if (status)
        return status;
    bool at_switch = stage->topology.nodes.items[place.node].kind == NODE_SWITCH;
    if (stage_find_seat(stage, place.node) >= 0)
        return word_error(&cursor, word, "there is a manager at '%.80s' already",
                          stage_node_name(stage, place.node));
    if (place.count && at_switch != (place.numbers[0] == 0))
        return word_error(&cursor, word,
                          "a manager sits at port 0 of a switch, or at a port of an "
                          "adapter from 1 on");
    return bind_port_number(word, place.node, place.count ? place.numbers[0] : !at_switch,
                            &stage->topology, &cursor, port);
}

static int add_managers(struct stage *stage, const char *preset, struct err *err)
{
    int status = 0;
    for (size_t i = 0; i < stage->scenario->statements.count && status == 0; i++) {
        const struct statement *statement = &stage->scenario->statements.items[i];
        uint32_t port = TOPOLOGY_NONE;
        if (statement->kind != STATEMENT_MANAGER)
            continue;
        struct cursor cursor = scenario_cursor(stage->scenario, err);
        if (stage->seats.count == SEATS_MOST)
            return word_error(&cursor, &statement->word, "more than %d managers", SEATS_MOST);
        status = find_place(stage, &statement->words[0], &port, err);
        if (status)
            return status;
        struct stage_seat *seat = mem_zalloc(1, sizeof *seat);
        config_init(&seat->config);
        seat->name = arena_strdup(&stage->story->arena,
                                  stage_node_name(stage, stage->topology.ports.items[port].node));
        vec_push(&stage->seats, seat);
        vec_push(&stage->places, ((struct check_seat){port, NO_MANAGER}));
        status = configure_manager(stage, seat, statement, preset, err);
    }
    return status;
}

int stage_find_seat(const struct stage *stage, uint32_t node)
{
    for (size_t i = 0; i < stage->places.count; i++)
        if (stage->topology.ports.items[stage->places.items[i].port].node == node)
            return (int)i;
    return -1;
}

struct sm *stage_manager(const struct stage *stage, size_t seat)
{
    uint32_t manager = stage->places.items[seat].manager;
    return manager == NO_MANAGER ? NULL : sim_manager(stage->sim, manager);
}

void stage_start_manager(struct stage *stage, size_t seat)
{
    if (stage_manager(stage, seat))
        return;
    struct stage_seat *s = stage->seats.items[seat];
    s->open = false;
    vec_push(&stage->owner, (uint32_t)seat);
    stage->places.items[seat].manager =
        sim_add_manager(stage->sim, stage->places.items[seat].port, &s->config.sm);
}

void stage_kill_manager(struct stage *stage, size_t seat)
{
    if (!stage_manager(stage, seat))
        return;
    ledger_give_up(stage, seat);
    sim_kill_manager(stage->sim, stage->places.items[seat].manager);
    stage->places.items[seat].manager = NO_MANAGER;
}

struct check_view stage_view(const struct stage *stage)
{
    return (struct check_view){stage->fabric, stage->sim, stage->places.items, stage->places.count,
                               stage->silent};
}

/* ---- all of it ---- */

static int bind_action(struct stage *stage, struct action *action, struct cursor *cursor)
{
    int status = action_bind(action, &stage->topology, cursor);
    bool of_traffic = action->kind == ACTION_START_TRAFFIC || action->kind == ACTION_STOP_TRAFFIC;
    if (status == 0 && action->kind >= ACTION_KILL_MANAGER &&
        stage_find_seat(stage, action->node) < 0)
        return word_error(cursor, &action->node_word, "no manager sits at '%.80s'",
                          action->node_word.text);
    if (status == 0 && of_traffic && action->value > stage->flows.count)
        return word_error(cursor, &action->value_word, "there are %zu 'traffic' statements",
                          stage->flows.count);
    if (status == 0 && action->kind >= ACTION_START_MACHINE && action->kind <= ACTION_CHURN)
        return machines_bind_action(stage, action, cursor);
    return status;
}

static int bind_statements(struct stage *stage, struct err *err)
{
    struct cursor cursor = scenario_cursor(stage->scenario, err);
    int status = 0;
    for (size_t i = 0; i < stage->scenario->statements.count && status == 0; i++) {
        struct statement *statement = &stage->scenario->statements.items[i];
        if (statement->kind == STATEMENT_CHECK)
            status = question_bind(&statement->question, &stage->topology, &cursor);
        if (statement->kind == STATEMENT_ACTION)
            status = bind_action(stage, &statement->action, &cursor);
        for (size_t j = 0; j < statement->collection_count && status == 0; j++)
            status = collect_bind(&statement->collections[j], &stage->topology, &cursor);
    }
    return status;
}

int stage_build(struct stage *stage, struct scenario *scenario, struct story *story,
                struct err *err)
{
    const struct statement *given = scenario_last(scenario, STATEMENT_PRESET);
    const char *preset = given ? given->words[0].text : "today";
    const struct statement *seed = scenario_last(scenario, STATEMENT_SEED);
    const struct statement *deadlock = scenario_last(scenario, STATEMENT_ON_DEADLOCK);
    *stage = (struct stage){.scenario = scenario,
                            .story = story,
                            .fault = TIME_NEVER,
                            .stop_on_deadlock = deadlock && deadlock->number};
    topology_init(&stage->topology);
    story->file = arena_strdup(&story->arena, scenario->file);
    story->seed = seed ? seed->number : 1;
    int status = fabric_options_preset(&stage->options, preset, err);
    if (status == 0)
        status = set_attributes(stage, err);
    if (status == 0)
        status = make_topology(stage, err);
    if (status == 0)
        status = add_managers(stage, preset, err);
    if (status == 0)
        status = machines_bind(stage, err);
    if (status == 0)
        status = flows_bind(stage, err);
    if (status == 0)
        status = bind_statements(stage, err);
    if (status == 0)
        status = measuring_check_names(stage, err);
    if (status) {
        stage_release(stage);
        return status;
    }
    for (size_t i = 0; i < stage->topology.nodes.count; i++)
        if (stage->topology.nodes.items[i].kind == NODE_SWITCH)
            story->switches++;
        else
            story->adapters++;
    stage->silent = mem_zalloc(stage->topology.nodes.count + 1, sizeof *stage->silent);
    stage->fabric = fabric_new(&stage->topology, &stage->options, story->seed);
    stage->sim = sim_new(stage->fabric);
    ledger_listen(stage);
    stage->paths = sim_paths_new(stage->sim, stage->fabric);
    machines_begin(stage);
    measuring_begin(stage);
    flows_begin(stage);
    for (size_t i = 0; i < stage->seats.count; i++)
        if (!stage->seats.items[i]->stopped)
            stage_start_manager(stage, i);
    return 0;
}

void stage_release(struct stage *stage)
{
    metrics_free(stage->metrics);
    unaffected_free(stage->unaffected);
    machines_release(stage);
    sim_paths_free(stage->paths);
    sim_free(stage->sim);
    fabric_free(stage->fabric);
    flows_release(stage);
    for (size_t i = 0; i < stage->seats.count; i++) {
        change_book_release(&stage->seats.items[i]->book);
        config_release(&stage->seats.items[i]->config);
        mem_free(stage->seats.items[i]);
    }
    vec_release(&stage->seats);
    vec_release(&stage->places);
    vec_release(&stage->owner);
    mem_free(stage->silent);
    topology_release(&stage->topology);
    *stage = (struct stage){0};
}
