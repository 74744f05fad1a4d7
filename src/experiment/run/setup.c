/* Builds a run from a scenario: makes or reads the topology, applies settings, places managers and
 * binds names, so that errors appear before the simulation starts; then makes fabric and simulator.
 * Settings of the command line override those of the file. */
#include "experiment/run/setup.h"

#include "base/time.h"
#include "experiment/check/unaffected.h"
#include "experiment/measure/metrics.h"
#include "experiment/run/manager.h"
#include "topology/generators/generate.h"
#include "topology/virtual.h"

#include <assert.h>
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>

enum { INSTANCES_MOST = 256 };

struct cursor setup_setting_cursor(const struct setup *setup, const struct statement *setting)
{
    return (struct cursor){.file = setting->setting ? setting->setting : setup->scenario->file,
                           .err = setup->cursor.err};
}

/* ---- topology ---- */

static int read_topology_file(struct setup *setup, const struct word *word)
{
    char folder[4096], path[8192];
    struct err reason = {0};
    char text[1024];
    snprintf(folder, sizeof folder, "%s", setup->scenario->file);
    if (word->text[0] == '/' || strcmp(setup->scenario->file, "-") == 0)
        snprintf(path, sizeof path, "%s", word->text);
    else
        snprintf(path, sizeof path, "%s/%s", dirname(folder), word->text);
    const char *network = setup->scenario->network;
    int status = network ? topology_read(&setup->topology, from_text(path, network, &reason))
                         : topology_read(&setup->topology, from_file(path, &reason));
    if (status == 0) {
        if (setup->topology.warning)
            run_record_add_event(setup->record, RUN_RECORD_ALARM, 0, "topology", "%s",
                                 setup->topology.warning);
        return 0;
    }
    return word_error(&setup->cursor, word, "%.400s", err_text(&reason, text, sizeof text));
}

/* Parameters of the command line override those of the statement. */
static int generate_topology(struct setup *setup, const struct statement *statement)
{
    const struct scenario *scenario = setup->scenario;
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
        words[j] = arena_printf(&setup->record->arena, "%s=%s", name, setting->words[2].text);
        count += j == count;
    }
    if (topology_generate(&setup->topology, statement->words[0].text, words, count,
                          setup->record->seed, &reason) == 0)
        return 0;
    return word_error(&setup->cursor, &statement->words[0], "%.400s", reason.message);
}

/* A name with a dot or a slash is a file; kinds of fabrics have neither. */
static int make_topology(struct setup *setup)
{
    const struct statement *statement = scenario_next(setup->scenario, STATEMENT_TOPOLOGY, NULL);
    const struct statement *last = scenario_last(setup->scenario, STATEMENT_TOPOLOGY);
    if (last != statement)
        return word_error(&setup->cursor, &last->word, "a second topology: the first is in line %u",
                          statement->word.line);
    if (!statement)
        return err_at(setup->cursor.err, EINVAL, setup->scenario->file, 0,
                      "no 'topology' statement: a scenario needs a fabric");
    if (!strpbrk(statement->words[0].text, "./"))
        return generate_topology(setup, statement);
    if (statement->word_count > 1)
        return word_error(&setup->cursor, &statement->words[1],
                          "'%.80s': a file takes no parameters", statement->words[1].text);
    return read_topology_file(setup, &statement->words[0]);
}

/* ---- attributes ---- */

/* words: scope, key, value */
static int set_attribute(struct setup *setup, const struct word *words, struct cursor *cursor)
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
    int status = fabric_options_set(&setup->options, key, words[2].text, &reason);
    const struct word *wrong = &words[status == -ENOENT ? 1 : 2];
    if (status == 0) {
        status = fabric_options_check_pattern(key, &setup->topology, &reason);
        wrong = &words[0];
    }
    return status ? word_error(cursor, wrong, "%.400s", reason.message) : 0;
}

/* Attributes of the fabric; other scopes are handled where they apply. */
static int set_attributes(struct setup *setup)
{
    int status = 0;
    for (size_t i = 0; i < setup->scenario->statements.count && status == 0; i++) {
        const struct statement *statement = &setup->scenario->statements.items[i];
        const char *scope = statement->kind == STATEMENT_SET ? statement->words[0].text : "sm";
        struct cursor cursor = setup_setting_cursor(setup, statement);
        if (strcmp(scope, "vm") == 0)
            status = machines_set(setup, &statement->words[1], &statement->words[2], &cursor);
        else if (strcmp(scope, "sm") != 0 && !statement_sets(statement, "topology", false) &&
                 !flows_is_setting(statement))
            status = set_attribute(setup, statement->words, &cursor);
    }
    return status;
}

/* ---- managers ---- */

/* `set sm` statements of the file, or the command line's. */
static int set_managers(struct setup *setup, struct setup_instance *instance, bool in_file)
{
    int status = 0;
    for (size_t i = 0; i < setup->scenario->statements.count && status == 0; i++) {
        const struct statement *other = &setup->scenario->statements.items[i];
        struct cursor cursor = setup_setting_cursor(setup, other);
        if (statement_sets(other, "sm", in_file))
            status = manager_set(&instance->config, &other->words[1], &other->words[2], &cursor);
    }
    return status;
}

static int configure_manager(struct setup *setup, struct setup_instance *instance,
                             const struct statement *statement, const char *preset)
{
    struct err reason = {0};
    manager_preset(&instance->config, preset);
    instance->config.sm.linear_entries = setup->options.node.agent.linear_entries;
    int status = set_managers(setup, instance, true);
    for (size_t i = 1; i + 1 < statement->word_count && status == 0; i += 2)
        status = manager_set(&instance->config, &statement->words[i], &statement->words[i + 1],
                             &setup->cursor);
    instance->stopped = statement->word_count % 2 == 0; /* the word `stopped` follows the pairs */
    if (status == 0)
        status = set_managers(setup, instance, false);
    if (status == 0 && manager_finish(&instance->config, &reason) < 0)
        return word_error(&setup->cursor, &statement->word, "%.400s", reason.message);
    return status;
}

/* The port of NODE[:PORT]: port 0 of a switch, the first port of an adapter by default. */
static int find_place(struct setup *setup, const struct word *word, uint32_t *port)
{
    struct named_place place;
    int status = bind_place(word, &setup->topology, &setup->cursor, 1, &place);
    if (status)
        return status;
    bool at_switch = setup->topology.nodes.items[place.node].kind == NODE_SWITCH;
    const struct topology_node *node = &setup->topology.nodes.items[place.node];
    if (!at_switch && setup->topology.ports.items[node->first_port + 1].shares != TOPOLOGY_NONE &&
        topology_function(&setup->topology, node->first_port + 1) > 0)
        return word_error(&setup->cursor, word,
                          "'%.80s' is a virtual function at a shared port, to which QP0 is barred: "
                          "no manager can run there",
                          node_label(&setup->topology, place.node));
    if (setup_find_instance(setup, place.node) >= 0)
        return word_error(&setup->cursor, word, "there is a manager at '%.80s' already",
                          node_label(&setup->topology, place.node));
    if (place.count && at_switch != (place.numbers[0] == 0))
        return word_error(&setup->cursor, word,
                          "a manager runs at port 0 of a switch, or at port 1 or higher of an "
                          "adapter");
    return bind_port_number(word, place.node, place.count ? place.numbers[0] : !at_switch,
                            &setup->topology, &setup->cursor, port);
}

static int add_managers(struct setup *setup, const char *preset)
{
    int status = 0;
    for (const struct statement *statement = NULL;
         status == 0 &&
         (statement = scenario_next(setup->scenario, STATEMENT_MANAGER, statement));) {
        uint32_t port = TOPOLOGY_NONE;
        if (setup->instances.count == INSTANCES_MOST)
            return word_error(&setup->cursor, &statement->word, "more than %d managers",
                              INSTANCES_MOST);
        status = find_place(setup, &statement->words[0], &port);
        if (status)
            return status;
        struct setup_instance *instance = mem_zalloc(1, sizeof *instance);
        config_init(&instance->config);
        instance->config.sm.watch_ports = 0; /* simulations watch none */
        instance->name =
            arena_strdup(&setup->record->arena,
                         node_label(&setup->topology, setup->topology.ports.items[port].node));
        vec_push(&setup->instances, instance);
        vec_push(&setup->places, ((struct manager_instance){port, NO_MANAGER}));
        status = configure_manager(setup, instance, statement, preset);
    }
    return status;
}

/* The papers' manager starts as master if it is the only one. In mode static it writes each port
 * once, when it is first read, which leaves the ports of virtual switches closed. */
static int apply_paper_policy(struct setup *setup)
{
    bool hypervisors = false;
    for (uint32_t node = 0; node < setup->topology.nodes.count; node++)
        hypervisors |= topology_is_vswitch(&setup->topology, node);
    for (size_t i = 0; i < setup->instances.count; i++) {
        struct sm_config *config = &setup->instances.items[i]->config.sm;
        if (config->policy != &sm_policy_paper)
            continue;
        config->alone = setup->instances.count == 1;
        if (hypervisors && config->mode == SM_STATIC)
            return err_set(
                setup->cursor.err, EINVAL,
                "the papers' manager at '%.80s' does not support virtual switches in mode "
                "static: use 'set sm mode ordered', or preset today",
                setup->instances.items[i]->name);
    }
    return 0;
}

int setup_find_instance(const struct setup *setup, uint32_t node)
{
    for (size_t i = 0; i < setup->places.count; i++)
        if (setup->topology.ports.items[setup->places.items[i].port].node == node)
            return (int)i;
    return -1;
}

struct sm *setup_manager(const struct setup *setup, size_t instance)
{
    assert(instance < setup->places.count);
    uint32_t manager = setup->places.items[instance].manager;
    return manager == NO_MANAGER ? NULL : sim_manager(setup->sim, manager);
}

void setup_start_manager(struct setup *setup, size_t instance)
{
    if (setup_manager(setup, instance))
        return;
    struct setup_instance *s = setup->instances.items[instance];
    vec_push(&setup->owner, (uint32_t)instance);
    setup->places.items[instance].manager =
        sim_add_manager(setup->sim, setup->places.items[instance].port, &s->config.sm);
    multicast_tell_manager(setup, setup_manager(setup, instance));
}

void setup_kill_manager(struct setup *setup, size_t instance)
{
    if (!setup_manager(setup, instance))
        return;
    change_log_close(setup, instance);
    sim_kill_manager(setup->sim, setup->places.items[instance].manager);
    setup->places.items[instance].manager = NO_MANAGER;
}

struct check_view setup_view(const struct setup *setup)
{
    return (struct check_view){setup->fabric,       setup->sim,    setup->places.items,
                               setup->places.count, setup->silent, false};
}

/* ---- setup ---- */

int setup_bind_action(struct setup *setup, struct action *action)
{
    struct cursor *cursor = &setup->cursor;
    enum action_owner owner = action_row(action)->owner;
    int status = action_bind(action, &setup->topology, cursor);
    if (status == 0 && owner == OWNER_MANAGERS && setup_find_instance(setup, action->node) < 0)
        return word_error(cursor, &action->node_word, "there is no manager at '%.80s'",
                          node_label(&setup->topology, action->node));
    if (status == 0 && action->kind == ACTION_CONFIGURE && !manager_key_is_live(action->key.text))
        return word_error(cursor, &action->key,
                          "'%.80s' is not a setting that a running manager can change",
                          action->key.text);
    if (status == 0 && owner == OWNER_TRAFFIC &&
        (action->value == 0 || action->value > setup->flows.count))
        return word_error(cursor, &action->value_word, "there are %zu 'traffic' statements",
                          setup->flows.count);
    if (status == 0 && owner == OWNER_MACHINES)
        return machines_bind_action(setup, action, cursor);
    return status;
}

const struct statement *setup_settled_run(struct setup *setup, const struct statement *statement)
{
    const struct statement *run = scenario_settled_run(setup->scenario, statement);
    bool in_order = statement->kind == STATEMENT_ACTION || statement->kind == STATEMENT_RUN;
    if (!run)
        word_error(&setup->cursor, &statement->word,
                   "'settled' is the end of a 'run until settled', and there is none%s",
                   in_order ? " before this line" : "");
    return run;
}

/* Whether times of the statement count from `settled`; flows.c checks those of traffic. */
static bool counts_from_settled(const struct statement *statement)
{
    switch (statement->kind) {
    case STATEMENT_MEASURE: return statement->window.from.settled || statement->window.to.settled;
    case STATEMENT_ACTION: return statement->timing.time.settled;
    case STATEMENT_RUN: return statement->run.time.settled;
    case STATEMENT_COLLECT: /* a statement with times has one collection */
        return statement->collections[0].from.settled || statement->collections[0].to.settled;
    default: return false;
    }
}

static int bind_statements(struct setup *setup)
{
    int status = 0;
    for (size_t i = 0; i < setup->scenario->statements.count && status == 0; i++) {
        struct statement *statement = &setup->scenario->statements.items[i];
        if (counts_from_settled(statement) && !setup_settled_run(setup, statement))
            return -EINVAL;
        struct check_statement *check = &statement->check;
        if (statement->kind == STATEMENT_CHECK && check->node_word.text)
            status = bind_node(&check->node_word, &setup->topology, &setup->cursor, &check->node);
        if (statement->kind == STATEMENT_ACTION)
            status = setup_bind_action(setup, &statement->action);
        for (size_t j = 0; j < statement->collection_count && status == 0; j++)
            status = collect_bind(&statement->collections[j], &setup->topology, setup->flows.count,
                                  &setup->cursor);
    }
    return status;
}

int setup_build(struct setup *setup, struct scenario *scenario, struct run_record *record,
                struct err *err)
{
    const struct statement *given = scenario_last(scenario, STATEMENT_PRESET);
    const char *preset = given ? given->words[0].text : "today";
    const struct statement *seed = scenario_last(scenario, STATEMENT_SEED);
    const struct statement *deadlock = scenario_last(scenario, STATEMENT_ON_DEADLOCK);
    *setup = (struct setup){.scenario = scenario,
                            .record = record,
                            .cursor = {.file = scenario->file, .err = err},
                            .fault = TIME_NEVER,
                            .stop_on_deadlock = deadlock && deadlock->number};
    topology_init(&setup->topology);
    record->file = arena_strdup(&record->arena, scenario->file);
    record->seed = seed ? seed->number : 1;
    int status = fabric_options_preset(&setup->options, preset, err);
    if (status == 0)
        status = make_topology(setup);
    if (status == 0)
        status = set_attributes(setup);
    if (status == 0 && setup->machines.is_shared)
        topology_share_ports(&setup->topology);
    if (status == 0)
        status = add_managers(setup, preset);
    if (status == 0)
        status = apply_paper_policy(setup);
    if (status == 0)
        status = machines_bind(setup);
    if (status == 0)
        status = flows_bind(setup);
    if (status == 0)
        status = connections_bind(setup);
    if (status == 0)
        status = bind_statements(setup);
    if (status == 0)
        status = flows_check_managers(setup);
    if (status == 0)
        status = measuring_check_names(setup);
    if (status) {
        setup_release(setup);
        return status;
    }
    for (size_t i = 0; i < setup->topology.nodes.count; i++)
        if (setup->topology.nodes.items[i].kind == NODE_SWITCH)
            record->switches++;
        else
            record->adapters++;
    setup->silent = mem_zalloc(setup->topology.nodes.count + 1, sizeof *setup->silent);
    setup->fabric = fabric_new(&setup->topology, &setup->options, record->seed);
    setup->sim = sim_new(setup->fabric);
    change_log_listen(setup);
    setup->paths = sim_paths_new(setup->sim, setup->fabric);
    multicast_bind_flows(setup);
    machines_begin(setup);
    measuring_begin(setup);
    flows_begin(setup);
    connections_begin(setup);
    for (size_t i = 0; i < setup->instances.count; i++)
        if (!setup->instances.items[i]->stopped)
            setup_start_manager(setup, i);
    return 0;
}

void setup_release(struct setup *setup)
{
    metrics_free(setup->metrics);
    mem_free(setup->traffics);
    unaffected_free(setup->unaffected);
    connections_release(setup);
    machines_release(setup);
    sim_paths_free(setup->paths);
    sim_free(setup->sim);
    multicast_release(setup);
    fabric_free(setup->fabric);
    flows_release(setup);
    for (size_t i = 0; i < setup->instances.count; i++) {
        change_record_release(&setup->instances.items[i]->smps);
        config_release(&setup->instances.items[i]->config);
        mem_free(setup->instances.items[i]);
    }
    vec_release(&setup->instances);
    vec_release(&setup->places);
    vec_release(&setup->owner);
    mem_free(setup->silent);
    topology_release(&setup->topology);
    *setup = (struct setup){0};
}
