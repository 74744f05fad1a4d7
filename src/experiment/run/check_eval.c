/* Evaluates `check` statements against the run: fabric, managers, traffic, machines and figures.
 * Most answers come from the modules that own the data; check_parse.c reads the statements. */
#include "experiment/run/setup.h"

#include "base/parse.h"
#include "base/quantity.h"
#include "base/time.h"
#include "experiment/check/unaffected.h"
#include "experiment/measure/metrics.h"

#include <inttypes.h>
#include <string.h>

static bool holds_time(const struct setup *setup, const struct check_statement *check,
                       struct check_failure *failure)
{
    char text[TIME_TEXT_BYTES];
    struct check_view view = setup_view(setup);
    if (!check_holds(&view, CHECK_SETTLED, failure))
        return false;
    if (setup->settled < setup->disturbed)
        return check_fail(failure, "no change followed the last action");
    uint64_t took = setup->settled - setup->disturbed;
    check_fail(failure, "%s", time_text(took, text));
    return check_statement_compare(check, took);
}

static bool holds_master(const struct setup *setup, const struct check_statement *check,
                         struct check_failure *failure)
{
    struct check_view view = setup_view(setup);
    int instance = setup_find_instance(setup, check->node);
    const struct sm *sm = instance < 0 ? NULL : setup_manager(setup, (size_t)instance);
    if (!check_holds(&view, CHECK_ONE_MASTER, failure))
        return false;
    return (sm && sm_state(sm) == SM_MASTER) ||
           check_fail(failure, "the manager at '%.80s' is %s",
                      node_label(&setup->topology, check->node), sm ? "not master" : "not running");
}

static uint64_t lid_of_node(const struct setup *setup, uint32_t index)
{
    unsigned number = setup->topology.nodes.items[index].kind == NODE_SWITCH ? 0 : 1;
    uint32_t port = topology_port_index(&setup->topology, index, number);
    return wire_get(fabric_port_info(setup->fabric, port), PORT_INFO_LID);
}

/* True if there is a deadlock or there was one; the failure has the cycle as NODE:PORT:VL. */
static bool holds_deadlock(struct setup *setup, struct check_failure *failure)
{
    const struct topology *topology = &setup->topology;
    struct deadlock_cycle cycle = {0};
    struct text places = {0};
    bool now = metrics_has_traffic(setup->metrics) && fabric_list_deadlock(setup->fabric, &cycle);
    text_printf(&places, "%zu VLs wait in a cycle", cycle.hops.count);
    for (size_t i = 0; i < cycle.hops.count && places.length < sizeof failure->text; i++) {
        const struct deadlock_hop *hop = &cycle.hops.items[i];
        const struct topology_port *port = &topology->ports.items[hop->port];
        text_printf(&places, "%s%s:%u:%u", i ? " -> " : ": ", node_label(topology, port->node),
                    hop->port - topology->nodes.items[port->node].first_port, hop->vl);
    }
    if (now && places.length < sizeof failure->text)
        check_fail(failure, "%s", places.data);
    else if (now)
        check_fail(failure, "%zu VLs wait in a cycle, which the timeline lists", cycle.hops.count);
    else if (metrics_saw_deadlock(setup->metrics))
        check_fail(failure, "there was a deadlock before");
    text_release(&places);
    vec_release(&cycle.hops);
    return now || metrics_saw_deadlock(setup->metrics);
}

static bool unknown_figure(const struct results *results, const char *name,
                           struct check_failure *failure)
{
    const char **names = mem_alloc((results->figures.count + 1) * sizeof *names);
    for (size_t i = 0; i < results->figures.count; i++)
        names[i] = results->figures.items[i].name;
    const char *near = nearest_word(name, names, results->figures.count);
    check_fail(failure, "there is no figure '%.80s'%s%.80s%s", name, near ? "; did you mean '" : "",
               near ? near : "", near ? "'?" : "");
    mem_free(names);
    return false;
}

static bool holds_figure(struct setup *setup, const struct check_statement *check,
                         struct check_failure *failure)
{
    const struct results *results = &setup->record->results;
    char text[QUANTITY_BYTES];
    measuring_publish(setup, sim_now(setup->sim));
    const struct figure *figure = results_find(results, check->text);
    if (!figure)
        return unknown_figure(results, check->text, failure);
    if (check->unit[0] && strcmp(check->unit, figure->unit) != 0)
        return check_fail(failure, "'%.80s' is in %.40s, not in %.40s", figure->name,
                          figure->unit[0] ? figure->unit : "plain numbers", check->unit);
    check_fail(failure, "%s", quantity_text(figure->value, figure->unit, text));
    return check_statement_compare_figure(check, figure->value);
}

bool check_evaluate(struct setup *setup, const struct check_statement *check,
                    struct check_failure *failure)
{
    struct check_view view = setup_view(setup);
    struct err err = {0};
    uint64_t count;
    failure->text[0] = 0;
    switch (check->kind) {
    case CHECK_STATEMENT_FABRIC: return check_holds(&view, check->fabric, failure);
    case CHECK_STATEMENT_IN_ORDER: return check_in_order(&view, failure);
    case CHECK_STATEMENT_MASTER: return holds_master(setup, check, failure);
    case CHECK_STATEMENT_TIME: return holds_time(setup, check, failure);
    case CHECK_STATEMENT_LID:
        count = lid_of_node(setup, check->node);
        check_fail(failure, "%" PRIu64, count);
        return check_statement_compare(check, count);
    case CHECK_STATEMENT_SMPS:
        count = change_log_sent(setup, check->method, check->attribute);
        check_fail(failure, "%" PRIu64, count);
        return check_statement_compare(check, count);
    case CHECK_STATEMENT_EVENT: return change_log_has_event(setup, check->text);
    case CHECK_STATEMENT_NO_EVENT: return !change_log_has_event(setup, check->text);
    case CHECK_STATEMENT_CONSERVED:
        return (metrics_has_traffic(setup->metrics) &&
                fabric_check_data(setup->fabric, &err) == 0) ||
               check_fail(failure, "%.200s", err.message[0] ? err.message : "there is no traffic");
    case CHECK_STATEMENT_DEADLOCK: return holds_deadlock(setup, failure);
    case CHECK_STATEMENT_NO_DEADLOCK: return !holds_deadlock(setup, failure);
    case CHECK_STATEMENT_UNAFFECTED: return unaffected_holds(setup->unaffected, failure);
    case CHECK_STATEMENT_OTHERS:
        count = setup->machines.others_lost;
        return count == 0 ||
               check_fail(failure, "%" PRIu64 " packets of end points that did not move were lost",
                          count);
    case CHECK_STATEMENT_MACHINES: return machines_hold(setup, failure);
    case CHECK_STATEMENT_FIGURE: return holds_figure(setup, check, failure);
    }
    return false;
}
