/* The life of an order: submitted to a master, followed until the vSwitch manager reports it done
 * or failed, submitted again if that master is lost. When the new function is up, the machine's
 * traffic continues there. Losses are counted unless a machine's own move explains them. */
#include "experiment/run/machines.h"

#include "base/time.h"
#include "experiment/measure/metrics.h"
#include "experiment/run/setup.h"
#include "experiment/run/shared_port.h"
#include "topology/virtual.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- binding ---- */

uint32_t machines_add(struct setup *setup, const char *name, bool named)
{
    struct machines *machines = &setup->machines;
    uint32_t number = (uint32_t)machines->items.count;
    const char *kept = arena_strdup(&setup->record->arena, name);
    name_map_add(&machines->by_name, kept, number);
    vec_push(&machines->items, ((struct machine){.name = kept,
                                                 .guid = vswitch_guid(kept),
                                                 .vm = TOPOLOGY_NONE,
                                                 .function = TOPOLOGY_NONE,
                                                 .named = named}));
    return number;
}

static bool is_hypervisor(const struct setup *setup, uint32_t node)
{
    const struct topology_node *at = &setup->topology.nodes.items[node];
    return at->kind == NODE_ADAPTER && topology_function(&setup->topology, at->first_port + 1) == 0;
}

int machines_set(struct setup *setup, const struct word *key, const struct word *value,
                 struct cursor *cursor)
{
    static const char *const keys[] = {"model"};
    static const char *const models[] = {"vswitch", "shared-port"};
    if (strcmp(key->text, keys[0]) != 0)
        return word_unknown(cursor, key, "setting of machines", keys, 1);
    for (unsigned i = 0; i < 2; i++) {
        if (strcmp(value->text, models[i]) != 0)
            continue;
        setup->machines.is_shared = i == 1;
        return 0;
    }
    return word_unknown(cursor, value, "model of machines", models, 2);
}

int machines_bind(struct setup *setup)
{
    setup->machines.first_order = setup->machines.first_churn = TIME_NEVER;
    for (const struct statement *statement = NULL;
         (statement = scenario_next(setup->scenario, STATEMENT_ACTION, statement));) {
        const struct word *name = &statement->action.machine.name;
        bool starts = statement->action.kind == ACTION_START_MACHINE;
        if (starts && !vswitch_guid(name->text))
            return word_error(&setup->cursor, name, "'%.80s' is not a name for a machine",
                              name->text);
        if (starts && name_map_get(&setup->machines.by_name, name->text) == MAP_NONE)
            machines_add(setup, name->text, true);
    }
    for (uint32_t node = 0; node < setup->topology.nodes.count; node++)
        if (is_hypervisor(setup, node))
            vec_push(&setup->machines.hypervisors, node);
    return 0;
}

/* Virtual machines of the fabric need a data path, so they exist only with traffic. */
static void add_data_end(struct setup *setup, struct machine *machine)
{
    if (!setup->flows.count)
        return;
    machine->vm = fabric_add_vm(setup->fabric);
    sim_paths_add_vm(setup->paths, machine->vm, machine->guid);
}

int machines_add_later(struct setup *setup, const struct word *name, struct cursor *cursor)
{
    if (name_map_get(&setup->machines.by_name, name->text) != MAP_NONE)
        return 0;
    if (!vswitch_guid(name->text))
        return word_error(cursor, name, "'%.80s' is not a name for a machine", name->text);
    uint32_t number = machines_add(setup, name->text, true);
    add_data_end(setup, &setup->machines.items.items[number]);
    return 0;
}

int machines_bind_action(const struct setup *setup, const struct action *action,
                         struct cursor *cursor)
{
    const struct word *name = &action->machine.name;
    if (name->text && action->kind != ACTION_START_MACHINE &&
        name_map_get(&setup->machines.by_name, name->text) == MAP_NONE)
        return word_error(cursor, name, "no 'vm start' starts '%.80s'", name->text);
    if (action->node != TOPOLOGY_NONE && !is_hypervisor(setup, action->node))
        return word_error(cursor, &action->node_word,
                          "'%.80s' is not a hypervisor: generators make them by vfs=N",
                          node_label(&setup->topology, action->node));
    if (setup->machines.is_shared && action->node == TOPOLOGY_NONE &&
        (action->kind == ACTION_START_MACHINE || action->kind == ACTION_MOVE_MACHINE))
        return word_error(cursor, name, "machines at shared ports need a named hypervisor");
    return 0;
}

size_t machines_names(const struct setup *setup, const char ***names)
{
    size_t count = setup->machines.items.count;
    *names = mem_alloc((count + 1) * sizeof **names);
    for (size_t i = 0; i < count; i++)
        (*names)[i] = setup->machines.items.items[i].name;
    return count;
}

void machines_begin(struct setup *setup)
{
    struct machines *machines = &setup->machines;
    for (size_t i = 0; i < machines->items.count; i++)
        add_data_end(setup, &machines->items.items[i]);
    if (machines->is_shared)
        machines->shared = shared_port_new(setup);
    machine_smps_begin(setup);
}

void machines_release(struct setup *setup)
{
    struct machines *machines = &setup->machines;
    shared_port_free(machines->shared);
    machine_smps_release(setup);
    for (size_t i = 0; i < machines->churns.count; i++)
        vec_release(&machines->churns.items[i].machines);
    for (unsigned i = 0; i < 3; i++)
        histogram_release(&machines->sums[i].times);
    vec_release(&machines->items);
    vec_release(&machines->orders);
    vec_release(&machines->churns);
    vec_release(&machines->hypervisors);
    name_map_release(&machines->by_name);
}

/* ---- orders ---- */

/* The number of the first master in the simulator, or NO_MANAGER. */
static uint32_t find_master(const struct setup *setup)
{
    for (size_t i = 0; i < setup->instances.count; i++) {
        const struct sm *sm = setup_manager(setup, i);
        if (sm && sm_state(sm) == SM_MASTER)
            return setup->places.items[i].manager;
    }
    return NO_MANAGER;
}

/* Submits an order to the first master; without a master it waits. */
static void submit_order(struct setup *setup, struct machine_order *order)
{
    const struct machine *machine = &setup->machines.items.items[order->machine];
    struct vswitch_request request = {.verb = order->verb,
                                      .guid = machine->guid,
                                      .name = machine->name,
                                      .hypervisor = order->place[0] ? order->place : NULL,
                                      .mode = order->mode};
    struct err reason = {0};
    order->request_id = 0;
    order->manager = find_master(setup);
    if (order->manager != NO_MANAGER)
        order->request_id = sim_vm_submit(setup->sim, order->manager, &request, &reason);
}

static void report_waiting(struct setup *setup)
{
    metrics_report(setup->metrics, sim_now(setup->sim), MEASURE_MACHINES_WAITING,
                   setup->machines.orders.count);
}

void machines_order(struct setup *setup, uint32_t number, enum vswitch_verb verb,
                    uint32_t hypervisor, enum vswitch_mode mode)
{
    assert(number < setup->machines.items.count);
    struct machines *machines = &setup->machines;
    struct machine *machine = &machines->items.items[number];
    struct machine_order order = {
        .machine = number, .verb = verb, .mode = mode, .submitted = sim_now(setup->sim)};
    if (hypervisor != TOPOLOGY_NONE)
        snprintf(order.place, sizeof order.place, "0x%016" PRIx64,
                 setup->topology.nodes.items[hypervisor].guid);
    machine->wanted = verb == VSWITCH_CREATE || (verb == VSWITCH_MIGRATE && machine->wanted);
    machine->orders++;
    if (machines->first_order == TIME_NEVER)
        machines->first_order = order.submitted;
    if (machines->shared) {
        shared_port_order(setup, &order, hypervisor);
        return;
    }
    submit_order(setup, &order);
    vec_push(&machines->orders, order);
    report_waiting(setup);
}

void machines_apply(struct setup *setup, const struct action *action)
{
    uint32_t number = action->machine.name.text
                          ? name_map_get(&setup->machines.by_name, action->machine.name.text)
                          : MAP_NONE;
    switch (action->kind) {
    case ACTION_START_MACHINE:
        machines_order(setup, number, VSWITCH_CREATE, action->node, VSWITCH_BALANCED);
        break;
    case ACTION_STOP_MACHINE:
        machines_order(setup, number, VSWITCH_DESTROY, TOPOLOGY_NONE, VSWITCH_BALANCED);
        break;
    case ACTION_MOVE_MACHINE:
        machines_order(setup, number, VSWITCH_MIGRATE, action->node,
                       action->machine.minimal ? VSWITCH_MINIMAL : VSWITCH_BALANCED);
        break;
    case ACTION_MACHINE_SMP: machine_smp_send(setup, number); break;
    default: churn_begin(setup, action); break;
    }
    machines_update(setup, sim_now(setup->sim));
}

/* ---- progress of orders ---- */

/* The port of the function of a machine, or TOPOLOGY_NONE. */
static uint32_t find_port(const struct setup *setup, uint32_t manager, uint64_t guid)
{
    const struct topology *topology = &setup->topology;
    const struct vswitch *vswitch = sim_machines(setup->sim, manager);
    struct vswitch_vm machine;
    if (!vswitch || !vswitch_find_vm(vswitch, guid, &machine))
        return TOPOLOGY_NONE;
    if (machine.vswitch == SUBNET_NONE) /* only wanted */
        return TOPOLOGY_NONE;
    const struct subnet *subnet = sm_subnet(sim_manager(setup->sim, manager));
    const struct subnet_node *known = &subnet->nodes.items[machine.vswitch];
    uint32_t node = map_get(&topology->by_guid, known->guid);
    if (node == MAP_NONE)
        return TOPOLOGY_NONE;
    uint32_t vf_port = topology_port_index(topology, node, machine.vf_port - known->first_port);
    return topology->ports.items[vf_port].peer;
}

uint32_t machines_port(const struct setup *setup, uint32_t number)
{
    const struct machine *machine = &setup->machines.items.items[number];
    uint32_t master = find_master(setup);
    if (setup->machines.is_shared)
        return machine->function;
    return master == NO_MANAGER ? TOPOLOGY_NONE : find_port(setup, master, machine->guid);
}

static void move_vm(struct setup *setup, const struct machine *machine, uint32_t port)
{
    if (machine->vm != TOPOLOGY_NONE)
        fabric_move_vm(setup->fabric, machine->vm, port);
}

/* The time of an order in picoseconds. The manager counts whole nanoseconds, so both ends are
 * rounded down. */
static uint64_t order_time_ps(const struct machine_order *order,
                              const struct vswitch_result *result)
{
    return time_ns_to_ps(result->ended_ns - time_ns_floor(order->submitted));
}

static void add_to_sums(struct order_sums *sums, const struct machine_order *order,
                        const struct vswitch_result *result)
{
    sums->failed += result->state == VSWITCH_FAILED;
    if (result->state != VSWITCH_DONE)
        return;
    sums->done++;
    summary_add(&sums->time, order_time_ps(order, result));
    histogram_add(&sums->times, order_time_ps(order, result));
    summary_add(&sums->function_smps, result->function_smps);
    summary_add(&sums->table_smps, result->table_smps);
    summary_add(&sums->switches, result->switches);
    summary_add(&sums->drained, time_ns_to_ps(result->drained_ns));
    sums->drains += result->drains;
    sums->reroutes += result->rerouted;
}

static void record_order(struct setup *setup, const struct machine_order *order,
                         const struct vswitch_result *result)
{
    static const char *const verbs[] = {"started", "stopped", "moved"};
    const struct machine *machine = &setup->machines.items.items[order->machine];
    bool failed = result->state == VSWITCH_FAILED;
    char took[TIME_TEXT_BYTES];
    if (machine->named || failed)
        run_record_add_event(setup->record, failed ? RUN_RECORD_ALARM : RUN_RECORD_EVENT,
                             time_ns_to_ps(result->ended_ns), machine->name, "%s%s after %s: %s",
                             failed ? "could not be " : "", verbs[order->verb],
                             time_text(order_time_ps(order, result), took), result->text);
}

/* Reports a completed order to the series. */
static void report_order(struct setup *setup, const struct machine_order *order,
                         const struct vswitch_result *result)
{
    static const enum measure counts[] = {[VSWITCH_CREATE] = MEASURE_MACHINES_STARTS,
                                          [VSWITCH_DESTROY] = MEASURE_MACHINES_STOPS,
                                          [VSWITCH_MIGRATE] = MEASURE_MACHINES_MOVES};
    struct metrics *metrics = setup->metrics;
    uint64_t now = sim_now(setup->sim);
    bool done = result->state == VSWITCH_DONE;
    metrics_report(metrics, now, done ? counts[order->verb] : MEASURE_MACHINES_FAILED, 1);
    if (!done)
        return;
    metrics_report(metrics, now, MEASURE_MACHINES_SMPS,
                   (uint64_t)result->function_smps + result->table_smps);
    metrics_report(metrics, now, MEASURE_MACHINES_TIME, order_time_ps(order, result));
    metrics_report(metrics, now, MEASURE_MACHINES_RUNNING, setup->machines.running);
}

void machines_done(struct setup *setup, const struct machine_order *order,
                   const struct vswitch_result *result)
{
    struct machines *machines = &setup->machines;
    struct machine *machine = &machines->items.items[order->machine];
    assert(machine->orders > 0);
    bool done = result->state == VSWITCH_DONE;
    add_to_sums(&machines->sums[order->verb], order, result);
    machine->orders--;
    if (done) {
        machines->running -= machine->running;
        machine->running = order->verb != VSWITCH_DESTROY;
        machines->running += machine->running;
        machine->lid = order->verb == VSWITCH_DESTROY ? 0 : result->lid;
        machine->moves += order->verb == VSWITCH_MIGRATE;
        if (order->verb != VSWITCH_DESTROY)
            machine->last = *result;
        machines->last_done = time_ns_to_ps(result->ended_ns);
    }
    machine->wanted &= done || order->verb != VSWITCH_CREATE;
    report_order(setup, order, result);
    record_order(setup, order, result);
}

/* A step of an order of a named machine, for the timeline. */
static void record_step(struct setup *setup, const struct machine *machine, const char *step,
                        uint32_t port)
{
    if (machine->named && machine->vm != TOPOLOGY_NONE && port != TOPOLOGY_NONE)
        run_record_add_event_at(
            setup->record, RUN_RECORD_EVENT, sim_now(setup->sim),
            setup->topology.ports.items[port].node, machine->name, "%s %s", step,
            node_label(&setup->topology, setup->topology.ports.items[port].node));
}

/* Moves the machine as soon as its function at the target is up, before all switches route to it.
 */
static void resume_machine(struct setup *setup, struct machine_order *order)
{
    const struct machine *machine = &setup->machines.items.items[order->machine];
    if (machine->vm == TOPOLOGY_NONE || order->verb == VSWITCH_DESTROY || order->resumed)
        return;
    uint32_t port = find_port(setup, order->manager, machine->guid);
    if (port == order->from || port == TOPOLOGY_NONE || !fabric_link_is_up(setup->fabric, port) ||
        fabric_port_guid(setup->fabric, port, 0) != machine->guid)
        return;
    move_vm(setup, machine, port);
    record_step(setup, machine, "attached to", port);
    order->resumed = true;
}

/* Advances an order; true if it is complete. */
static bool advance_order(struct setup *setup, struct machine_order *order)
{
    struct machines *machines = &setup->machines;
    const struct machine *machine = &machines->items.items[order->machine];
    const struct vswitch *vswitch =
        order->request_id ? sim_machines(setup->sim, order->manager) : NULL;
    const struct vswitch_result *result =
        vswitch ? vswitch_result(vswitch, order->request_id) : NULL;
    const struct sm *sm = order->request_id ? sim_manager(setup->sim, order->manager) : NULL;
    bool is_master = sm && sm_state(sm) == SM_MASTER;
    if (!result || (result->state == VSWITCH_FAILED && !is_master)) {
        machines->sums[order->verb].retried += order->request_id != 0;
        submit_order(setup, order);
        return false;
    }
    if (result->began_ns && !order->begun) {
        order->begun = true;
        order->from = find_port(setup, order->manager, machine->guid);
        if (order->verb != VSWITCH_CREATE) {
            move_vm(setup, machine, TOPOLOGY_NONE);
            record_step(setup, machine, "detached from", order->from);
        }
    }
    if (result->state == VSWITCH_PENDING) {
        resume_machine(setup, order);
        return false;
    }
    machines_done(setup, order, result);
    uint32_t port = find_port(setup, order->manager, machine->guid);
    move_vm(setup, machine, port);
    if (port == TOPOLOGY_NONE && machine->vm != TOPOLOGY_NONE)
        sim_paths_forget_vm(setup->paths, machine->vm);
    return true;
}

/* Whether an order may be complete, needs another manager, or may have begun. Most steps change
 * none of that. */
static bool may_advance(const struct setup *setup)
{
    const struct machines *machines = &setup->machines;
    uint64_t pending = 0;
    for (size_t i = 0; i < setup->instances.count; i++)
        if (setup_manager(setup, i))
            pending += vswitch_pending(sim_machines(setup->sim, setup->places.items[i].manager));
    if (pending != machines->orders.count)
        return true;
    for (size_t i = 0; i < machines->orders.count; i++) {
        const struct machine_order *order = &machines->orders.items[i];
        if (!(order->begun && order->resumed) &&
            machines->items.items[order->machine].vm != TOPOLOGY_NONE)
            return true;
    }
    return false;
}

static void advance_orders(struct setup *setup)
{
    struct machines *machines = &setup->machines;
    size_t kept = 0;
    if (machines->orders.count == 0 || !may_advance(setup))
        return;
    for (size_t i = 0; i < machines->orders.count; i++) {
        struct machine_order order = machines->orders.items[i];
        if (!advance_order(setup, &order))
            machines->orders.items[kept++] = order;
    }
    if (kept == machines->orders.count)
        return;
    machines->orders.count = kept;
    report_waiting(setup);
}

void machines_update(struct setup *setup, uint64_t now)
{
    advance_orders(setup);
    shared_port_update(setup);
    machine_smps_update(setup);
    churns_update(setup, now);
}

bool machines_are_busy(const struct setup *setup)
{
    const struct machines *machines = &setup->machines;
    return machines->orders.count || shared_port_counts(machines->shared).open ||
           machines->smps.count;
}

bool machines_are_settled(const struct setup *setup, struct check_failure *failure)
{
    const struct machines *machines = &setup->machines;
    if (machines->orders.count)
        return check_fail(failure, "the order for '%.80s' is not complete",
                          machines->items.items[machines->orders.items[0].machine].name);
    if (machines_are_busy(setup))
        return check_fail(failure, "%s has no answer yet",
                          machines->smps.count ? "an SMP of a machine"
                                               : "a path query of a sender");
    return machines_next(setup) == TIME_NEVER || check_fail(failure, "a churn is running");
}

bool machines_hold(const struct setup *setup, struct check_failure *failure)
{
    const struct machines *machines = &setup->machines;
    const struct sm_config *config =
        setup->instances.count ? &setup->instances.items[0]->config.sm : NULL;
    struct check_view view = setup_view(setup);
    if (machines->items.count == 0)
        return check_fail(failure, "there are no machines");
    if (!machines_are_settled(setup, failure))
        return false;
    struct expected_machine *items = mem_alloc(machines->items.count * sizeof *items);
    struct expected_machines expected = {.items = items,
                                         .count = machines->items.count,
                                         .dynamic_lids = config && config->dynamic_lids,
                                         .partitions = config ? config->partitions : NULL};
    for (size_t i = 0; i < machines->items.count; i++) {
        const struct machine *machine = &machines->items.items[i];
        items[i] =
            (struct expected_machine){machine->name, machine->guid, machine->lid, machine->wanted};
    }
    bool holds = check_machines(&view, &expected, failure);
    mem_free(items);
    return holds;
}

/* ---- packets ---- */

/* The first packet after a move gives the length of the interruption. */
static void report_downtime(struct setup *setup, uint64_t now, const struct vm_direction *side,
                            uint32_t *reported)
{
    if (side->interruptions == *reported)
        return;
    *reported = side->interruptions;
    metrics_report(setup->metrics, now, MEASURE_MACHINES_PAUSE, side->downtime_ps);
}

void machines_delivered(struct setup *setup, uint64_t now, const struct packet_view *packet)
{
    struct machine *items = setup->machines.items.items;
    if (packet->to_vm != TOPOLOGY_NONE)
        report_downtime(setup, now, &fabric_vm(setup->fabric, packet->to_vm)->to,
                        &items[packet->to_vm - DATA_VM].reported_to);
    if (packet->from_vm != TOPOLOGY_NONE)
        report_downtime(setup, now, &fabric_vm(setup->fabric, packet->from_vm)->from,
                        &items[packet->from_vm - DATA_VM].reported_from);
}

/* Whether a move of the machine itself explains the loss of a packet. */
static bool is_explained(const struct setup *setup, uint32_t vm, const struct packet_view *packet)
{
    if (vm == TOPOLOGY_NONE)
        return false;
    const struct machine *machine = &setup->machines.items.items[vm - DATA_VM];
    return machine->orders || !machine->running ||
           machine->last.ended_ns >= time_ns_floor(packet->made) || setup->machines.is_shared;
}

void machines_lost(struct setup *setup, const struct packet_view *packet)
{
    setup->machines.others_lost += packet->made >= setup->machines.first_order &&
                                   !is_explained(setup, packet->from_vm, packet) &&
                                   !is_explained(setup, packet->to_vm, packet);
}
