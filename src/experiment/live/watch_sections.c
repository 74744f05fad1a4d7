/* Sections of a tick as JSON: the cycle of a deadlock, the flows of the scenario, and the virtual
 * machines with their hypervisors. */
#include "experiment/live/watch.h"

#include "base/time.h"
#include "host/manager_view/machine_control.h"

/* ---- deadlock ---- */

static void write_deadlock(struct live_watch *watch)
{
    const struct setup *setup = live_session_setup(watch->session);
    struct deadlock_cycle cycle = {0};
    struct json json = {.out = api_tick_section(&watch->publisher->tick, API_DEADLOCK)};
    bool found = watch->view.totals.travelling && fabric_list_deadlock(setup->fabric, &cycle);
    if (!found) {
        json_null(&json, NULL);
        watch->deadlock_since = TIME_NEVER;
        return;
    }
    if (watch->deadlock_since == TIME_NEVER)
        watch->deadlock_since = watch->publisher->tick.t_ns;
    json_begin_object(&json, NULL);
    json_unsigned(&json, "t", watch->deadlock_since);
    json_begin_array(&json, "hops");
    for (size_t i = 0; i < cycle.hops.count; i++) {
        const struct deadlock_hop *hop = &cycle.hops.items[i];
        json_begin_object(&json, NULL);
        api_put_output(&json, &setup->topology, &watch->view.links, hop->port);
        json_unsigned(&json, "vl", hop->vl);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
    vec_release(&cycle.hops);
}

/* ---- flows and machines ---- */

static void write_flows(struct live_watch *watch)
{
    const struct setup *setup = live_session_setup(watch->session);
    const struct scenario *scenario = setup->scenario;
    struct json json = {.out = api_tick_section(&watch->publisher->tick, API_FLOWS)};
    size_t flow = 0;
    json_begin_array(&json, NULL);
    for (size_t i = 0; i < scenario->statements.count && flow < setup->flows.count; i++) {
        if (scenario->statements.items[i].kind != STATEMENT_TRAFFIC)
            continue;
        json_begin_object(&json, NULL);
        json_unsigned(&json, "id", flow + 1);
        json_string(&json, "text", scenario->statements.items[i].line);
        json_bool(&json, "running", setup->flows.items[flow++].running);
        json_end_object(&json);
    }
    json_end_array(&json);
}

/* The adapter at the same virtual switch as the port of a virtual function. */
static uint32_t find_hypervisor(const struct setup *setup, uint32_t port)
{
    const struct topology_port *ports = setup->topology.ports.items;
    if (port == TOPOLOGY_NONE)
        return TOPOLOGY_NONE;
    if (ports[port].shares != TOPOLOGY_NONE)
        return ports[ports[port].shares].node;
    uint32_t at = ports[port].peer == TOPOLOGY_NONE ? TOPOLOGY_NONE : ports[ports[port].peer].node;
    for (size_t i = 0; i < setup->machines.hypervisors.count; i++) {
        uint32_t node = setup->machines.hypervisors.items[i];
        uint32_t peer = ports[setup->topology.nodes.items[node].first_port + 1].peer;
        if (peer != TOPOLOGY_NONE && ports[peer].node == at)
            return node;
    }
    return TOPOLOGY_NONE;
}

static const char *machine_state(const struct setup *setup, uint32_t number)
{
    static const char *const busy[] = {[VSWITCH_CREATE] = "starting",
                                       [VSWITCH_DESTROY] = "stopping",
                                       [VSWITCH_MIGRATE] = "moving"};
    const struct machines *machines = &setup->machines;
    for (size_t i = 0; i < machines->orders.count; i++)
        if (machines->orders.items[i].machine == number)
            return busy[machines->orders.items[i].verb];
    return machines->items.items[number].running ? "running" : "stopped";
}

static void write_machine(const struct setup *setup, const struct vswitch *vswitch, uint32_t number,
                          struct json *json)
{
    const struct machine *machine = &setup->machines.items.items[number];
    const struct vm_view *view =
        machine->vm == TOPOLOGY_NONE ? NULL : fabric_vm(setup->fabric, machine->vm);
    json_begin_object(json, NULL);
    json_string(json, "name", machine->name);
    api_put_id(json, "node", find_hypervisor(setup, machines_port(setup, number)));
    struct vswitch_vm known;
    char pending[128];
    json_string(json, "state", machine_state(setup, number));
    if (vswitch && vswitch_find_vm(vswitch, machine->guid, &known) &&
        machine_pending(&known, pending, sizeof pending))
        json_string(json, "pending", pending);
    json_unsigned(json, "lid", machine->lid);
    json_unsigned(json, "moves", machine->moves);
    json_unsigned(json, "smps", machine->last.function_smps + machine->last.table_smps);
    uint64_t downtime = view ? view->to.downtime_ps : 0;
    bool down = downtime && downtime != TIME_NEVER;
    api_put_number(json, "downtime", down ? time_ns_floor(downtime) : API_NONE);
    json_end_object(json);
}

static void write_machines(struct live_watch *watch)
{
    const struct setup *setup = live_session_setup(watch->session);
    struct json json = {.out = api_tick_section(&watch->publisher->tick, API_VMS)};
    size_t manager = watch_choose_manager(watch);
    const struct vswitch *vswitch =
        manager < setup->instances.count
            ? sim_machines(setup->sim, setup->places.items[manager].manager)
            : NULL;
    json_begin_array(&json, NULL);
    for (uint32_t i = 0; i < setup->machines.items.count; i++)
        if (setup->machines.items.items[i].named)
            write_machine(setup, vswitch, i, &json);
    json_end_array(&json);
    json = (struct json){.out = api_tick_section(&watch->publisher->tick, API_HYPERVISORS)};
    json_begin_array(&json, NULL);
    for (size_t i = 0; i < setup->machines.hypervisors.count; i++)
        json_unsigned(&json, NULL, setup->machines.hypervisors.items[i]);
    json_end_array(&json);
}

void watch_sections(struct live_watch *watch)
{
    write_deadlock(watch);
    write_flows(watch);
    write_machines(watch);
}
