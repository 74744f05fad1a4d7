/* machines [OPERATIONS [SEED [talk|count [FABRIC]]]]: virtual machines on three fabrics, at random,
 * in virtual time.
 *
 * Machines start, move and end, alone and several at once, while links, hypervisors and managers
 * fail and come back, SMPs get lost, and routes are computed anew. After each operation, when all
 * is quiet: every machine is where the last answer put it, also if its hypervisor was cut off or
 * lost power, and is reached at its own LID, exactly once; one that was removed is nowhere; no LID
 * is lost or given twice; the routes in force are those in the switches, deliver everything, and
 * cannot deadlock; and no other host's addresses have changed. All the while everybody sends to
 * everybody, and nobody may lose a packet who has nothing to do with it (machines_traffic.h). */
#include "machines.h"

#include "topology/virtual.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fabric_kind {
    const char *fabric, *engine;
};
static const struct fabric_kind kinds[] = {
    {"kary 4 2", "ftree"},
    {"torus 4x3 hosts=1", "dfsssp"},
    {"irregular 12 hosts=12 ports=6", "updn"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool talks, counts_only;

static void hear(void *context, uint64_t now, unsigned manager, const struct sm_event *event)
{
    char time[TIME_TEXT_BYTES];
    (void)context;
    if (talks)
        print_message("  %s, manager %u: %s\n", time_text(now, time), manager, event->text);
}

/* ---- operations ---- */

static struct order send_order(struct run *run, struct machine *machine, enum vswitch_verb verb,
                               const char *place)
{
    struct err err = {0};
    struct vswitch_request request = {
        .verb = verb,
        .guid = vswitch_guid(machine->name),
        .name = machine->name,
        .hypervisor = place,
        .mode = below(run, 2) ? VSWITCH_MINIMAL : VSWITCH_BALANCED,
    };
    struct order order = {
        .machine = machine,
        .from = find_port(run, request.guid, TOPOLOGY_NONE),
        .ticket = sim_vm_submit(run->world.sim, run->manager, &request, &err),
    };
    if (!order.ticket)
        complain(run, err.message);
    return order;
}

static struct order send_request(struct run *run, struct machine *machine)
{
    char name[32];
    bool somewhere = below(run, 3) != 0;
    enum vswitch_verb verb = !machine->lid   ? VSWITCH_CREATE
                             : below(run, 5) ? VSWITCH_MIGRATE
                                             : VSWITCH_DESTROY;
    uint32_t place = hypervisor(run, below(run, run->hypervisors));
    return send_order(run, machine, verb, somewhere ? place_name(run, place, name) : NULL);
}

static void take_result(struct run *run, struct machine *machine,
                        const struct vswitch_result *result)
{
    if (result->state != VSWITCH_DONE)
        return; /* full, most likely: it must be where it was */
    if (machine->lid && result->request.verb != VSWITCH_DESTROY && result->lid != machine->lid)
        complain(run, "a machine has changed its LID");
    machine->lid = result->request.verb == VSWITCH_DESTROY ? 0 : result->lid;
    if (machine->lid)
        machine->told = map_get(
            &run->world.topology.by_guid,
            sm_subnet(sim_manager(run->world.sim, run->manager))->nodes.items[result->to].guid);
}

static void say(const struct run *run, const struct order *order, const char *what)
{
    char time[TIME_TEXT_BYTES];
    if (talks)
        print_message("  %s, %s (port %d): %s\n", time_text(sim_now(run->world.sim), time),
                      order->machine->name, (int)order->from, what);
}

/* The machine stops when its move begins, and goes on as soon as the function at the new place is
 * up. */
static void follow(struct run *run, struct order *order)
{
    struct vswitch *vswitch = sim_machines(run->world.sim, run->manager);
    const struct vswitch_result *result = vswitch ? vswitch_result(vswitch, order->ticket) : NULL;
    unsigned number = number_of(run, order->machine);
    uint64_t guid = vswitch_guid(order->machine->name);
    if (order->over || !result)
        return;
    if (result->began_ns && !order->begun) {
        order->begun = true;
        say(run, order, "begins");
        watch_departs(run->watch, number);
    }
    order->over = result->state != VSWITCH_PENDING;
    if (order->over) {
        say(run, order, result->text);
        take_result(run, order->machine, result);
        watch_arrives(run->watch, number, find_port(run, guid, TOPOLOGY_NONE));
        return;
    }
    uint32_t port = find_port(run, guid, order->from);
    if (!order->begun || order->resumed || port == TOPOLOGY_NONE ||
        (order->from != TOPOLOGY_NONE && is_in_use(run, order->from, guid)))
        return;
    order->resumed = true;
    say(run, order, "goes on");
    watch_resumes(run->watch, number, port);
}

/* True if all are over in time. */
static bool follow_all(struct run *run, struct order *orders, unsigned count, uint64_t time)
{
    uint64_t limit = sim_now(run->world.sim) + time;
    for (unsigned pending = 1; pending;) {
        pending = 0;
        for (unsigned i = 0; i < count; i++) {
            follow(run, &orders[i]);
            pending += !orders[i].over;
        }
        if (pending && !sim_step(run->world.sim, limit))
            return false;
    }
    return true;
}

static void do_requests(struct run *run, unsigned count)
{
    struct order orders[MACHINES];
    unsigned first = below(run, MACHINES);
    for (unsigned i = 0; i < count; i++)
        orders[i] = send_request(run, &run->machines[(first + i) % MACHINES]);
    if (!follow_all(run, orders, count, 120 * TIME_S))
        complain(run, "a request is not over after two minutes");
}

/* Something goes wrong in the middle of a move of somebody. */
static struct machine *set_one_out(struct run *run)
{
    for (unsigned i = 0, at = below(run, MACHINES); i < MACHINES; i++) {
        struct machine *machine = &run->machines[(at + i) % MACHINES];
        if (!machine->lid)
            continue;
        struct order order = send_order(run, machine, VSWITCH_MIGRATE, NULL);
        machine->told = TOPOLOGY_NONE;
        follow_all(run, &order, 1, below(run, 200) * TIME_US);
        if (!order.begun && !order.over)
            watch_departs(run->watch, number_of(run, machine));
        run->unfinished = order;
        return machine;
    }
    return NULL;
}

/* Killed and started again, with nothing but the fabric to read from. */
static void do_manager(struct run *run)
{
    set_one_out(run);
    sim_kill_manager(run->world.sim, run->manager);
    pass(run, TIME_MS);
    run->manager = sim_add_manager(run->world.sim, run->manager_port, &run->config);
}

static void lose_smps(struct run *run, unsigned percent)
{
    struct err err = {0};
    fabric_set_loss(run->world.fabric, TOPOLOGY_NONE, 0, RNG_CERTAIN / 100 * percent, &err);
}

/* A standby takes over in the middle of a move: its master dies, or hands over; now and then SMPs
 * get lost, too. */
static void do_failover(struct run *run)
{
    uint32_t node = hypervisor(run, below(run, run->hypervisors));
    char name[32];
    uint32_t port = host(&run->world, place_name(run, node, name));
    if (port == run->manager_port)
        return;
    unsigned master = run->manager, standby = sim_add_manager(run->world.sim, port, &run->config);
    pass(run, below(run, 2) ? 10 * TIME_S : TIME_MS); /* with a copy of the subnet, or without */
    if (sm_state(sim_manager(run->world.sim, master)) != SM_MASTER) { /* it gave way */
        run->manager = standby;
        run->manager_port = port;
        sim_kill_manager(run->world.sim, master);
        return;
    }
    if (below(run, 3) == 0)
        lose_smps(run, LOSS_PERCENT);
    set_one_out(run);
    if (below(run, 2) == 0 &&
        sm_hand_over(sim_manager(run->world.sim, master), sim_now_ns(run->world.sim)))
        pass(run, below(run, 1000) * TIME_US);
    sim_kill_manager(run->world.sim, master);
    run->manager = standby;
    run->manager_port = port;
    pass(run, 5 * TIME_S);
    lose_smps(run, 0);
    pass(run, 15 * TIME_S);
}

static uint32_t some_other_hypervisor(struct run *run)
{
    const struct topology *topology = &run->world.topology;
    uint32_t own = topology->ports.items[topology->ports.items[run->manager_port].peer].node, node;
    do
        node = hypervisor(run, below(run, run->hypervisors));
    while (node == own);
    return node;
}

static void cut_power(struct run *run, uint32_t node)
{
    struct err err = {0};
    fabric_set_node(run->world.fabric, node, false, &err);
    pass(run, 5 * TIME_S);
    fabric_set_node(run->world.fabric, node, true, &err);
}

static void do_hypervisor(struct run *run)
{
    struct err err = {0};
    uint32_t node = some_other_hypervisor(run);
    if (below(run, 2))
        set_one_out(run);
    if (below(run, 2)) { /* its agent keeps silent for a while */
        watch_silences_node(run->watch, node);
        fabric_set_agent_delay(run->world.fabric, node, TIME_NEVER, &err);
        pass(run, 15 * TIME_S);
        fabric_set_agent_delay(run->world.fabric, node, 0, &err);
        settle_down(run);
        watch_hears_all(run->watch);
    } else {
        watch_fails_node(run->watch, node);
        cut_power(run, node);
    }
    pass(run, 15 * TIME_S);
}

/* Killed and started again with its file of LIDs: those of absent adapters remain theirs. */
static void restart_with_lids(struct run *run)
{
    set_one_out(run);
    sim_kill_manager(run->world.sim, run->manager);
    pass(run, TIME_MS);
    struct sm *sm = sm_new(&run->config, fabric_port_guid(run->world.fabric, run->manager_port, 0));
    for (uint32_t port = 0; port < run->world.topology.ports.count; port++)
        if (run->lids[port])
            sm_restore_lid(
                sm, &(struct sm_lid_fact){.guid = fabric_port_guid(run->world.fabric, port, 0),
                                          .lid = run->lids[port]});
    run->manager = sim_attach_manager(run->world.sim, run->manager_port, sm);
}

/* Its machines are removed, started elsewhere, or wait; now and then the manager is killed, too. */
static void do_cut_off(struct run *run)
{
    struct err err = {0};
    uint32_t node = some_other_hypervisor(run);
    uint32_t uplink = topology_port_index(&run->world.topology, node, VSWITCH_UPLINK);
    watch_fails_node(run->watch, node);
    fabric_set_link(run->world.fabric, uplink, false, &err);
    settle_down(run);
    for (unsigned i = 0; i < MACHINES; i++) {
        struct machine *machine = &run->machines[i];
        if (machine->lid && machine->place != node && below(run, 4))
            continue;
        struct order order = below(run, 2) && machine->lid
                                 ? send_order(run, machine, VSWITCH_DESTROY, NULL)
                                 : send_request(run, machine);
        if (!follow_all(run, &order, 1, 120 * TIME_S))
            complain(run, "a request is not over after two minutes");
    }
    bool restarts = below(run, 2), powers_off = below(run, 2);
    if (restarts)
        restart_with_lids(run);
    if (powers_off)
        fabric_set_node(run->world.fabric, node, false, &err);
    /* Prepopulated LIDs are those of functions, and neither remembers which. */
    if (restarts && powers_off && !run->config.dynamic_lids)
        run->renumbered = node;
    pass(run, 5 * TIME_S);
    fabric_set_node(run->world.fabric, node, true, &err);
    fabric_set_link(run->world.fabric, uplink, true, &err);
    pass(run, 15 * TIME_S);
    settle_down(run);
    end_journeys(run);
    watch_forgive(run->watch); /* machines that were cut off had no paths */
    watch_begin(run->watch);
}

static void report_unfinished(struct run *run)
{
    const struct vswitch_result *result =
        vswitch_result(sim_machines(run->world.sim, run->manager), run->unfinished.ticket);
    if (run->unfinished.machine && result)
        say(run, &run->unfinished, result->text);
}

static bool is_between_switches(const struct run *run, uint32_t port)
{
    const struct topology *topology = &run->world.topology;
    uint32_t peer = topology->ports.items[port].peer, node = topology->ports.items[port].node;
    if (peer == TOPOLOGY_NONE)
        return false;
    uint32_t other = topology->ports.items[peer].node;
    return topology->nodes.items[node].kind == NODE_SWITCH &&
           topology->nodes.items[other].kind == NODE_SWITCH &&
           !topology_is_vswitch(topology, node) && !topology_is_vswitch(topology, other);
}

static void do_link(struct run *run)
{
    struct err err = {0};
    uint32_t port;
    do
        port = below(run, (unsigned)run->world.topology.ports.count);
    while (!is_between_switches(run, port));
    set_one_out(run);
    watch_fails_link(run->watch, port);
    fabric_set_link(run->world.fabric, port, false, &err);
    if (below(run, 2)) { /* it comes back when all is well again: that costs nobody anything */
        settle_down(run);
        report_unfinished(run);
        check(run);
        watch_begin(run->watch);
    } else {
        pass(run, below(run, 3000) * TIME_US);
    }
    fabric_set_link(run->world.fabric, port, true, &err);
    /* The trap that tells of it can get lost where the link was, and is repeated after a second:
     * until then the manager may take it for one that was never down. */
    pass(run, 2 * TIME_S);
}

static void do_loss(struct run *run)
{
    lose_smps(run, LOSS_PERCENT);
    set_one_out(run);
    pass(run, 2 * TIME_S);
    lose_smps(run, 0);
    pass(run, 15 * TIME_S);
}

static void do_reroute(struct run *run)
{
    sm_reroute(sim_manager(run->world.sim, run->manager), sim_now_ns(run->world.sim));
}

static void do_one(struct run *run)
{
    do_requests(run, 1);
}

static void do_several(struct run *run)
{
    do_requests(run, 2 + below(run, 6));
}

static const struct {
    const char *name;
    unsigned percent;
    void (*perform)(struct run *run);
} operations_known[] = {
    {"a request", 54, do_one},
    {"several requests", 20, do_several},
    {"routes anew", 5, do_reroute},
    {"another manager", 3, do_manager},
    {"a standby", 3, do_failover},
    {"a hypervisor fails", 4, do_hypervisor},
    {"a link fails", 4, do_link},
    {"SMPs get lost", 3, do_loss},
    {"a hypervisor is cut off", 4, do_cut_off},
};

static void operate(struct run *run)
{
    unsigned dice = below(run, 100), i = 0;
    while (dice >= operations_known[i].percent)
        dice -= operations_known[i++].percent;
    run->kind = operations_known[i].name;
    if (talks)
        print_message("operation %llu: %s\n", (unsigned long long)run->operation, run->kind);
    watch_begin(run->watch);
    run->unfinished.machine = NULL;
    operations_known[i].perform(run);
    settle_down(run);
    check(run);
}

/* ---- runs ---- */

static void note_lids(struct run *run)
{
    const struct topology *topology = &run->world.topology;
    run->lids = mem_zalloc(topology->ports.count, sizeof *run->lids);
    for (uint32_t port = 0; port < topology->ports.count; port++) {
        const struct topology_node *node = &topology->nodes.items[topology->ports.items[port].node];
        bool end = (port == node->first_port) == (node->kind == NODE_SWITCH);
        if (end && topology_function(topology, port) <= 0)
            run->lids[port] =
                (uint16_t)wire_get(fabric_port_info(run->world.fabric, port), PORT_INFO_LID);
    }
}

static struct watch *watch_over(struct run *run)
{
    uint64_t guids[MACHINES];
    for (unsigned i = 0; i < MACHINES; i++)
        guids[i] = vswitch_guid(run->machines[i].name);
    return watch_new(&run->world, guids, MACHINES);
}

static void play(const struct fabric_kind *kind, bool dynamic, uint64_t operations, uint64_t seed)
{
    static struct run run;
    memset(&run, 0, sizeof run);
    char fabric[64];
    snprintf(fabric, sizeof fabric, "%s vfs=%d", kind->fabric, VFS);
    world_open(&run.world, "today", fabric);
    rng_seed(&run.rng, seed, dynamic);
    sm_config_init(&run.config);
    run.config.dynamic_lids = dynamic;
    run.config.drain_ns = 5 * NS_PER_MS; /* longer than any packet of these fabrics stays */
    run.config.engine = engine_find(kind->engine);
    run.hypervisors = world_hosts(&run.world);
    run.manager_port = host(&run.world, "H0");
    run.manager = settle(&run.world, run.manager_port, &run.config);
    for (unsigned i = 0; i < MACHINES; i++)
        snprintf(run.machines[i].name, sizeof run.machines[i].name, "vm%u", i);
    run.renumbered = TOPOLOGY_NONE;
    run.counts_only = counts_only;
    note_lids(&run);
    run.watch = watch_over(&run);
    sim_set_listener(run.world.sim, &(struct sim_listener){.event = hear});
    for (run.operation = 0; run.operation < operations; run.operation++)
        operate(&run);
    struct watch_sums sums = watch_sums(run.watch);
    print_message("  %llu packets arrived, %llu of them at machines\n",
                  (unsigned long long)sums.delivered, (unsigned long long)sums.to_machines);
    for (unsigned i = 0; i < WATCH_CAUSES; i++)
        print_message("  %8llu lost %s\n", (unsigned long long)sums.lost[i], watch_cause_names[i]);
    watch_free(run.watch);
    mem_free(run.lids);
    world_close(&run.world);
}

static uint64_t operations = 60, seed = 1;
static const char *only; /* this kind of fabric; NULL: all */

static void random_operations_leave_every_machine_at_one_place(void **state)
{
    (void)state;
    for (unsigned i = 0; i < KINDS; i++)
        for (unsigned dynamic = 0; dynamic < 2; dynamic++) {
            if (only && strncmp(only, kinds[i].fabric, strlen(only)) != 0)
                continue;
            print_message("%s with %s LIDs, seed %llu\n", kinds[i].fabric,
                          dynamic ? "dynamic" : "prepopulated", (unsigned long long)seed);
            play(&kinds[i], dynamic, operations, seed);
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_operations_leave_every_machine_at_one_place),
    };
    if (argc > 1)
        operations = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    talks = argc > 3 && strcmp(argv[3], "talk") == 0;
    counts_only = argc > 3 && strcmp(argv[3], "count") == 0;
    only = argc > 4 ? argv[4] : NULL;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
