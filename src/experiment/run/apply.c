/* Applies actions to a run: to its fabric, traffic, machines, groups or managers. */
#include "experiment/run/setup.h"

#include "experiment/check/unaffected.h"
#include "experiment/measure/metrics.h"
#include "experiment/run/manager.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* A node that loses power stops the manager on it. */
static void stop_manager_at(struct setup *setup, uint32_t node)
{
    int instance = setup_find_instance(setup, node);
    if (instance < 0 || !setup_manager(setup, (size_t)instance))
        return;
    run_record_add_event_at(setup->record, RUN_RECORD_ACTION, sim_now(setup->sim), node, "scenario",
                            "the manager at %s stops with it", node_label(&setup->topology, node));
    setup_kill_manager(setup, (size_t)instance);
}

/* Whether another node has the GUID, too: managers leave it to that one. */
static bool is_guid_of_other(const struct fabric *fabric, uint32_t node, uint64_t guid)
{
    for (uint32_t other = 0; other < fabric_topology(fabric)->nodes.count; other++)
        if (other != node && wire_get(fabric_node_info(fabric, other), NODE_INFO_NODE_GUID) == guid)
            return true;
    return false;
}

/* Nodes that the checks do not expect in the subnet. */
static void find_silent_nodes(struct setup *setup)
{
    const struct fabric_faults *faults = fabric_faults(setup->fabric);
    memset(setup->silent, 0, setup->topology.nodes.count * sizeof *setup->silent);
    for (size_t i = 0; i < faults->count; i++) {
        const struct fabric_fault *fault = &faults->items[i];
        if (action_rows[fault->kind].lasting.state == FAULT_MUTE ||
            (fault->kind == ACTION_DUPLICATE_GUID &&
             is_guid_of_other(setup->fabric, fault->node, fault->value)))
            setup->silent[fault->node] = true;
    }
}

static int apply_to_fabric(struct setup *setup, const struct action *action, struct err *err)
{
    struct check_view view = setup_view(setup);
    if (action_row(action)->lasting.state == FAULT_DOWN)
        stop_manager_at(setup, action->node);
    if (action->kind == ACTION_RESTORE_SWITCH || action->kind == ACTION_RESTORE_NODE) {
        uint32_t cut_off = check_cut_off(&view).switches;
        if (cut_off > setup->cut_off_before)
            setup->cut_off_before = cut_off;
    }
    int status = action_apply(setup->fabric, action, err);
    find_silent_nodes(setup);
    return status;
}

/* Applies to a manager that does not run when it starts. */
static int configure_manager(struct setup *setup, size_t instance, const struct action *action,
                             struct err *err)
{
    struct config *config = &setup->instances.items[instance]->config;
    struct cursor cursor = {.file = setup->cursor.file, .err = err};
    struct sm *sm = setup_manager(setup, instance);
    int status = manager_reset(config, &action->key, &action->text, &cursor);
    if (status == 0 && sm)
        sm_configure(sm, sim_now_ns(setup->sim), &config->sm);
    return status;
}

static int apply_to_manager(struct setup *setup, const struct action *action, struct err *err)
{
    int found = setup_find_instance(setup, action->node);
    assert(found >= 0); /* bound by setup.c */
    size_t instance = (size_t)found;
    struct sm *sm = setup_manager(setup, instance);
    if (action->kind == ACTION_START_MANAGER) {
        setup_start_manager(setup, instance);
        return sm ? err_set(err, EALREADY, "the manager is running already") : 0;
    }
    if (action->kind == ACTION_CONFIGURE)
        return configure_manager(setup, instance, action, err);
    if (!sm)
        return err_set(err, ESRCH, "the manager is not running");
    if (action->kind == ACTION_KILL_MANAGER)
        setup_kill_manager(setup, instance);
    else if (action->kind == ACTION_STOP_MANAGER)
        sm_stop(sm, sim_now_ns(setup->sim));
    else
        sm_reroute(sm, sim_now_ns(setup->sim));
    return 0;
}

static int apply_to_owner(struct setup *setup, const struct action *action, struct err *err)
{
    switch (action_row(action)->owner) {
    case OWNER_FABRIC: return apply_to_fabric(setup, action, err);
    case OWNER_MANAGERS: return apply_to_manager(setup, action, err);
    case OWNER_MACHINES: machines_apply(setup, action); return 0;
    case OWNER_TRAFFIC:
        return action->kind == ACTION_START_TRAFFIC ? flows_start(setup, action->value, err)
                                                    : flows_stop(setup, action->value, err);
    case OWNER_CONNECTIONS: return connections_connect(setup, action, err);
    case OWNER_GROUPS:
        return action->kind == ACTION_JOIN ? multicast_join(setup, action, err)
                                           : multicast_leave(setup, action, err);
    default: return 0;
    }
}

/* The statement without its time, which the timeline shows already. */
static const char *without_time(const struct statement *statement)
{
    const char *line = statement->line;
    for (unsigned words = statement->timing.when == ACTION_NOW ? 0 : 2; words > 0; words--) {
        line += strcspn(line, " \t");
        line += strspn(line, " \t");
    }
    return line;
}

int apply_action(struct setup *setup, const struct action *action, const char *line,
                 const struct word *word)
{
    struct err reason = {0};
    uint64_t now = sim_now(setup->sim);
    enum action_owner owner = action_row(action)->owner;
    run_record_add_event_at(setup->record, RUN_RECORD_ACTION, now,
                            action_node(action, &setup->topology), "scenario", "%s", line);
    if (owner == OWNER_FABRIC || owner == OWNER_MANAGERS)
        setup->disturbed = now;
    if (action_has(action, ACTION_DETECTED)) {
        setup->fault = now;
        metrics_fault(setup->metrics, now);
    }
    if (action_has(action, ACTION_TRAINS))
        setup->trained = now + setup->options.training_ps;
    unaffected_before_action(setup->unaffected, action);
    if (apply_to_owner(setup, action, &reason) == 0)
        return 0;
    return word_error(&setup->cursor, word, "%.400s", reason.message);
}

int apply_statement(struct setup *setup, const struct statement *statement)
{
    return apply_action(setup, &statement->action, without_time(statement), &statement->word);
}
