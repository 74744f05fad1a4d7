/* The figures of a run with machines (weft-scenario(5) lists them). */
#include "experiment/run/setup.h"
#include "experiment/run/shared_port.h"

#include "base/time.h"
#include "topology/virtual.h"

#include <stdio.h>

enum { NAME_BYTES = 160 };

static void vm_figure(struct setup *setup, const char *who, const char *what, double value,
                      const char *unit)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "vm.%.100s%s%.50s", who, who[0] && what[0] ? "." : "", what);
    results_set(&setup->record->results, name, value, unit);
}

static void set_summary(struct setup *setup, const char *who, const char *what,
                        const struct summary *summary, double scale, const char *unit)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%s.least", what);
    vm_figure(setup, who, name, (double)summary->min / scale, unit);
    snprintf(name, sizeof name, "%s.mean", what);
    vm_figure(setup, who, name, summary->mean / scale, unit);
    snprintf(name, sizeof name, "%s.most", what);
    vm_figure(setup, who, name, (double)summary->max / scale, unit);
}

static void set_orders(struct setup *setup, const char *who, const struct order_sums *sums)
{
    vm_figure(setup, who, "done", (double)sums->done, "times");
    vm_figure(setup, who, "failed", (double)sums->failed, "times");
    if (!sums->done)
        return;
    set_summary(setup, who, "time", &sums->time, 1e12, "s");
    vm_figure(setup, who, "time.p99", time_seconds((double)histogram_percentile(&sums->times, 99)),
              "s");
    set_summary(setup, who, "drained", &sums->drained, 1e12, "s");
    set_summary(setup, who, "smps.hypervisors", &sums->function_smps, 1, "SMPs");
    set_summary(setup, who, "smps.tables", &sums->table_smps, 1, "SMPs");
    set_summary(setup, who, "switches", &sums->switches, 1, "switches");
    vm_figure(setup, who, "drains", (double)sums->drains, "times");
    vm_figure(setup, who, "reroutes", (double)sums->reroutes, "times");
}

static uint64_t lost_by(const struct vm_view *view)
{
    uint64_t lost = 0;
    for (unsigned i = 0; i < LOSS_CAUSES; i++)
        lost += view->to.lost[i] + view->from.lost[i];
    return lost;
}

static void set_machine(struct setup *setup, const struct machine *machine)
{
    const struct vswitch_result *last = &machine->last;
    struct run_record_machine entry = {.name = machine->name,
                                       .lid = machine->lid,
                                       .moves = machine->moves,
                                       .switches = last->switches,
                                       .table_smps = last->table_smps,
                                       .time_ps =
                                           time_ns_to_ps(last->ended_ns - last->submitted_ns),
                                       .has_traffic = machine->vm != TOPOLOGY_NONE};
    vm_figure(setup, machine->name, "lid", machine->lid, "");
    vm_figure(setup, machine->name, "moves", machine->moves, "times");
    vm_figure(setup, machine->name, "smps.hypervisors", last->function_smps, "SMPs");
    vm_figure(setup, machine->name, "smps.tables", last->table_smps, "SMPs");
    vm_figure(setup, machine->name, "switches", last->switches, "switches");
    vm_figure(setup, machine->name, "time", time_seconds((double)entry.time_ps), "s");
    vm_figure(setup, machine->name, "drained",
              time_seconds((double)time_ns_to_ps(last->drained_ns)), "s");
    if (entry.has_traffic) {
        const struct vm_view *view = fabric_vm(setup->fabric, machine->vm);
        const struct vm_direction *to = &view->to, *from = &view->from;
        entry.downtime_ps = to->longest_ps > from->longest_ps ? to->longest_ps : from->longest_ps;
        entry.lost = lost_by(view);
        vm_figure(setup, machine->name, "downtime", time_seconds((double)entry.downtime_ps), "s");
        vm_figure(setup, machine->name, "lost", (double)entry.lost, "packets");
        vm_figure(setup, machine->name, "delivered", (double)(to->delivered + from->delivered),
                  "packets");
    }
    vec_push(&setup->record->machines, entry);
}

static void set_vms(struct setup *setup)
{
    const struct machines *machines = &setup->machines;
    struct summary downtime = {0};
    uint64_t lost = 0;
    bool any = false;
    for (size_t i = 0; i < machines->items.count; i++) {
        if (machines->items.items[i].vm == TOPOLOGY_NONE)
            continue;
        const struct vm_view *view = fabric_vm(setup->fabric, machines->items.items[i].vm);
        const struct vm_direction *sides[2] = {&view->to, &view->from};
        any = true;
        lost += lost_by(view);
        for (unsigned j = 0; j < 2; j++)
            if (sides[j]->interruptions)
                summary_add(&downtime, sides[j]->longest_ps);
    }
    if (!any)
        return;
    if (downtime.count)
        set_summary(setup, "", "downtime", &downtime, 1e12, "s");
    vm_figure(setup, "", "lost", (double)lost, "packets");
    vm_figure(setup, "", "others.lost", (double)machines->others_lost, "packets");
}

static void set_churn(struct setup *setup, uint64_t now)
{
    const struct machines *machines = &setup->machines;
    uint64_t end = machines_next(setup) == TIME_NEVER && machines->orders.count == 0
                       ? machines->last_done
                       : now;
    if (machines->churns.count == 0 || end <= machines->first_churn)
        return;
    double minutes = time_seconds((double)(end - machines->first_churn)) / 60;
    vm_figure(setup, "", "skipped", (double)machines->skipped, "times");
    vm_figure(setup, "", "rate", (double)machines->sums[VSWITCH_CREATE].done / minutes,
              "boots/minute");
    vm_figure(setup, "move", "rate", (double)machines->sums[VSWITCH_MIGRATE].done / minutes,
              "moves/minute");
}

/* Capacity, and LIDs in use; a virtual switch shares the LID of its hypervisor. */
static void set_capacity(struct setup *setup)
{
    const struct topology *topology = &setup->topology;
    uint64_t functions = 0, lids = 0;
    for (uint32_t port = 0; port < topology->ports.count; port++) {
        const struct topology_node *node = &topology->nodes.items[topology->ports.items[port].node];
        bool is_end = node->kind == NODE_SWITCH ? port == node->first_port
                                                : topology->ports.items[port].peer != TOPOLOGY_NONE;
        functions += topology_function(topology, port) > 0;
        if (!is_end || topology_is_vswitch(topology, topology->ports.items[port].node))
            continue;
        const uint8_t *info = fabric_port_info(setup->fabric, port);
        if (wire_get(info, PORT_INFO_LID))
            lids += UINT64_C(1) << wire_get(info, PORT_INFO_LMC);
    }
    vm_figure(setup, "", "hypervisors", (double)setup->machines.hypervisors.count, "");
    vm_figure(setup, "", "functions", (double)functions, "");
    vm_figure(setup, "", "lids", (double)lids, "LIDs");
}

void machines_publish(struct setup *setup, uint64_t now)
{
    static const char *const kinds[] = {
        [VSWITCH_CREATE] = "start", [VSWITCH_DESTROY] = "stop", [VSWITCH_MIGRATE] = "move"};
    struct machines *machines = &setup->machines;
    uint64_t failed = 0, smps[2] = {0};
    if (machines->items.count == 0 && machines->churns.count == 0)
        return;
    vm_figure(setup, "", "running", (double)machines->running, "machines");
    vm_figure(setup, "", "waiting", (double)machines->orders.count, "orders");
    for (unsigned i = 0; i < 3; i++) {
        const struct order_sums *sums = &machines->sums[i];
        smps[0] += (uint64_t)(sums->function_smps.mean * (double)sums->done + 0.5);
        smps[1] += (uint64_t)(sums->table_smps.mean * (double)sums->done + 0.5);
        failed += sums->failed;
        set_orders(setup, kinds[i], sums);
    }
    vm_figure(setup, "", "failed", (double)failed, "times");
    vm_figure(setup, "", "smps.hypervisors", (double)smps[0], "SMPs");
    vm_figure(setup, "", "smps.tables", (double)smps[1], "SMPs");
    if (machines->shared) {
        struct shared_port_counts counts = shared_port_counts(machines->shared);
        vm_figure(setup, "queries", "", (double)counts.queries, "queries");
        vm_figure(setup, "queries", "time.most", time_seconds((double)counts.longest_ps), "s");
    }
    if (machines->smps_sent) {
        struct fabric_totals totals;
        fabric_totals(setup->fabric, &totals);
        vm_figure(setup, "qp0", "sent", (double)machines->smps_sent, "SMPs");
        vm_figure(setup, "qp0", "answered", (double)machines->smps_answered, "SMPs");
        vm_figure(setup, "qp0", "discarded", (double)totals.smps_barred, "SMPs");
    }
    set_capacity(setup);
    set_churn(setup, now);
    set_vms(setup);
    setup->record->machines.count = 0;
    for (size_t i = 0; i < machines->items.count; i++)
        if (machines->items.items[i].named)
            set_machine(setup, &machines->items.items[i]);
}
