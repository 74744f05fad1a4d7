#include "experiment/run/setup.h"

#include "base/time.h"
#include "experiment/check/unaffected.h"
#include "experiment/measure/metrics.h"
#include "experiment/run/manager.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* A node that loses power stops the manager on it. */
static int set_node(struct setup *setup, const struct action *action, bool up, struct err *err)
{
    int instance = setup_find_instance(setup, action->node);
    if (!up && instance >= 0 && setup_manager(setup, (size_t)instance)) {
        run_record_add_event_at(setup->record, RUN_RECORD_ACTION, sim_now(setup->sim), action->node,
                                "scenario", "the manager at %s stops with it",
                                node_label(&setup->topology, action->node));
        setup_kill_manager(setup, (size_t)instance);
    }
    return fabric_set_node(setup->fabric, action->node, up, err);
}

static int set_agent_delay(struct setup *setup, const struct action *action, uint64_t delay,
                           struct err *err)
{
    setup->silent[action->node] = delay == TIME_NEVER;
    return fabric_set_agent_delay(setup->fabric, action->node, delay, err);
}

/* Managers isolate a node with a duplicate GUID: the checks do not expect it in the subnet. */
static int duplicate_guid(struct setup *setup, const struct action *action, struct err *err)
{
    const struct topology *topology = &setup->topology;
    bool taken = false;
    for (uint32_t node = 0; node < topology->nodes.count; node++)
        taken |= node != action->node && wire_get(fabric_node_info(setup->fabric, node),
                                                  NODE_INFO_NODE_GUID) == action->value;
    setup->silent[action->node] = taken;
    return fabric_set_guid(setup->fabric, action->node, action->value, err);
}

/* Applies to a manager that does not run when it starts. */
static int configure_manager(struct setup *setup, size_t instance, const struct action *action,
                             struct err *err)
{
    struct config *config = &setup->instances.items[instance]->config;
    struct cursor cursor = {.file = setup->cursor.file, .err = err};
    struct sm *sm = setup_manager(setup, instance);
    int status = manager_reset(config, &action->key_word, &action->value_word, &cursor);
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

static int restore_node(struct setup *setup, const struct action *action, struct err *err)
{
    struct check_view view = setup_view(setup);
    uint32_t cut_off = check_cut_off(&view).switches;
    if (cut_off > setup->cut_off_before)
        setup->cut_off_before = cut_off;
    return set_node(setup, action, true, err);
}

static int apply_kind(struct setup *setup, const struct action *action, struct err *err)
{
    struct fabric *fabric = setup->fabric;
    switch (action->kind) {
    case ACTION_FAIL_LINK: return fabric_set_link(fabric, action->port, false, err);
    case ACTION_RESTORE_LINK: return fabric_set_link(fabric, action->port, true, err);
    case ACTION_FAIL_NODE: return set_node(setup, action, false, err);
    case ACTION_RESTORE_NODE: return restore_node(setup, action, err);
    case ACTION_FLAP: return fabric_flap_port(fabric, action->port, err);
    case ACTION_DROP:
        return fabric_set_loss(fabric, action->port, action->attribute, action->value, err);
    case ACTION_SLOW: return set_agent_delay(setup, action, action->value, err);
    case ACTION_MUTE: return set_agent_delay(setup, action, TIME_NEVER, err);
    case ACTION_HEAL: return set_agent_delay(setup, action, 0, err);
    case ACTION_DUPLICATE_GUID: return duplicate_guid(setup, action, err);
    case ACTION_BIT_ERRORS:
        return (action->per_second ? fabric_set_bit_error_rate : fabric_add_bit_errors)(
            fabric, action->port, (unsigned)action->value, err);
    case ACTION_START_TRAFFIC: return flows_start(setup, action->value, err);
    case ACTION_STOP_TRAFFIC: return flows_stop(setup, action->value, err);
    case ACTION_START_MACHINE:
    case ACTION_STOP_MACHINE:
    case ACTION_MOVE_MACHINE:
    case ACTION_MACHINE_SMP:
    case ACTION_CHURN: machines_apply(setup, action); return 0;
    case ACTION_JOIN: return multicast_join(setup, action, err);
    case ACTION_LEAVE: return multicast_leave(setup, action, err);
    case ACTION_KILL_MANAGER:
    case ACTION_START_MANAGER:
    case ACTION_STOP_MANAGER:
    case ACTION_CONFIGURE:
    case ACTION_REROUTE: return apply_to_manager(setup, action, err);
    }
    return 0;
}

/* The statement without its time, which the timeline shows already. */
static const char *without_time(const struct statement *statement)
{
    const char *line = statement->line;
    for (unsigned words = statement->action.when == ACTION_NOW ? 0 : 2; words > 0; words--) {
        line += strcspn(line, " \t");
        line += strspn(line, " \t");
    }
    return line;
}

/* Whether a manager has to detect the action. */
static bool is_fault(enum action_kind kind)
{
    switch (kind) {
    case ACTION_FAIL_LINK:
    case ACTION_RESTORE_LINK:
    case ACTION_FAIL_NODE:
    case ACTION_RESTORE_NODE:
    case ACTION_FLAP:
    case ACTION_KILL_MANAGER:
    case ACTION_STOP_MANAGER: return true;
    default: return false;
    }
}

int apply_action(struct setup *setup, const struct statement *statement)
{
    struct err reason = {0};
    uint64_t now = sim_now(setup->sim);
    enum action_kind kind = statement->action.kind;
    run_record_add_event_at(setup->record, RUN_RECORD_ACTION, now, statement->action.node,
                            "scenario", "%s", without_time(statement));
    if (kind < ACTION_START_TRAFFIC || kind > ACTION_LEAVE)
        setup->disturbed = now;
    if (is_fault(kind)) {
        setup->fault = now;
        metrics_fault(setup->metrics, now);
    }
    if (kind == ACTION_RESTORE_LINK || kind == ACTION_RESTORE_NODE || kind == ACTION_FLAP)
        setup->trained = now + setup->options.training_ps;
    unaffected_before_action(setup->unaffected, &statement->action);
    if (apply_kind(setup, &statement->action, &reason) == 0)
        return 0;
    return word_error(&setup->cursor, &statement->word, "%.400s", reason.message);
}
