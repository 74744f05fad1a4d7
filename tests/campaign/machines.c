/* machines [OPERATIONS [SEED]]: virtual machines on three fabrics, at random, in virtual time.
 *
 * Machines start, move and end, alone and several at once, while links, hypervisors and managers
 * fail and come back, SMPs get lost, and routes are computed anew. After each operation, when all
 * is quiet: every machine that should be is reached at its own LID, exactly once; no LID is lost or
 * given twice; the routes in force are those in the switches, deliver everything, and cannot
 * deadlock; and no other host's addresses have changed. */
#include "../unit/host/vswitch_world.h"

#include "base/rng.h"
#include "topology/virtual.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MACHINES = 24, VFS = 3 };

struct fabric_kind {
    const char *kind, *words[3];
    size_t count;
    const char *engine;
};
static const struct fabric_kind kinds[] = {
    {"kary", {"4", "2"}, 2, "ftree"},
    {"torus", {"4x3", "hosts=1"}, 2, "dfsssp"},
    {"irregular", {"12", "hosts=12", "ports=6"}, 3, "updn"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct machine {
    char name[16];
    unsigned lid;    /* 0: it should not be */
    uint32_t place;  /* vSwitch of the topology */
    bool may_be_off; /* its hypervisor lost power while it was on its way */
};

struct run {
    struct world world;
    struct rng rng;
    struct sm_config config;
    struct machine machines[MACHINES];
    unsigned manager, hypervisors;
    uint32_t seat; /* the manager's port */
    uint64_t operation;
    uint16_t *lids; /* by port of the topology: of everybody but functions */
};

static unsigned below(struct run *run, unsigned bound)
{
    return (unsigned)rng_below(&run->rng, bound);
}

static void complain(const struct run *run, const char *what)
{
    fail_msg("operation %llu: %s", (unsigned long long)run->operation, what);
}

/* ---- places ---- */

static uint32_t hypervisor(const struct run *run, unsigned number)
{
    const struct topology *topology = &run->world.topology;
    for (uint32_t node = 0; node < topology->nodes.count; node++)
        if (topology_is_vswitch(topology, node) && number-- == 0)
            return node;
    return TOPOLOGY_NONE;
}

/* "H3" of "H3-vswitch". */
static const char *place_name(const struct run *run, uint32_t node, char name[32])
{
    snprintf(name, 32, "%s", run->world.topology.nodes.items[node].description);
    *strchr(name, '-') = 0;
    return name;
}

static uint32_t place_of(const struct run *run, uint64_t guid)
{
    const struct topology *topology = &run->world.topology;
    for (uint32_t port = 0; port < topology->ports.count; port++)
        if (topology_function(topology, port) > 0 && fabric_link_is_up(run->world.fabric, port) &&
            fabric_port_guid(run->world.fabric, port, 0) == guid)
            return topology->ports.items[topology->ports.items[port].peer].node;
    return TOPOLOGY_NONE;
}

/* ---- what must hold ---- */

static void settle_down(struct run *run)
{
    struct sim *sim = run->world.sim;
    for (unsigned i = 0; i < 40; i++) {
        sim_run(sim, sim_now(sim) + TIME_S);
        if (sim_run_until_settled(sim, run->manager, sim_now(sim) + 60 * TIME_S) &&
            vswitch_pending(sim_machines(sim, run->manager)) == 0)
            return;
    }
    complain(run, "the manager does not come to rest");
}

static void check_machines(struct run *run)
{
    unsigned expected = 0, listed = 0;
    uint32_t cursor = 0;
    struct vswitch_machine found;
    for (unsigned i = 0; i < MACHINES; i++) {
        struct machine *machine = &run->machines[i];
        uint64_t guid = vswitch_guid(machine->name);
        uint32_t place = place_of(run, guid);
        unsigned places = places_of(&run->world, guid);
        if (machine->may_be_off && places == 0)
            machine->lid = 0;
        machine->may_be_off = false;
        if (!machine->lid && places)
            complain(run, "a machine that is gone is still somewhere");
        if (!machine->lid)
            continue;
        expected++;
        char name[32];
        if (places != 1 || place == TOPOLOGY_NONE)
            complain(run, places ? "a machine is at two places" : "a machine is nowhere");
        machine->place = place;
        if (!is_at(&run->world, run->manager, machine->name, place_name(run, place, name),
                   machine->lid))
            complain(run, "a machine has another LID, or the manager thinks it elsewhere");
    }
    while (vswitch_next_machine(sim_machines(run->world.sim, run->manager), &cursor, &found))
        listed++;
    if (listed != expected)
        complain(run, "the manager lists others than those that are");
}

static void check_lids(struct run *run)
{
    const struct subnet *subnet = sm_subnet(sim_manager(run->world.sim, run->manager));
    const struct topology *topology = &run->world.topology;
    unsigned functions = 0, expected = 0;
    for (unsigned i = 0; i < MACHINES; i++)
        expected += run->machines[i].lid != 0;
    if (!run->config.dynamic_lids)
        expected = run->hypervisors * VFS;
    for (unsigned lid = 1; lid < LFT_ENTRIES; lid++) {
        uint32_t port = subnet->by_lid[lid];
        functions += port != SUBNET_NONE && subnet_socket_of(subnet, port) != SUBNET_NONE;
    }
    if (functions != expected)
        complain(run, "LIDs got lost, or are kept for nobody");
    for (uint32_t port = 0; port < topology->ports.count; port++)
        if (topology_function(topology, port) <= 0 && run->lids[port] &&
            wire_get(fabric_port_info(run->world.fabric, port), PORT_INFO_LID) != run->lids[port])
            complain(run, "somebody else has another LID than before");
}

static void check(struct run *run)
{
    const char *fault = world_fault(&run->world, run->manager);
    if (fault)
        complain(run, fault);
    check_machines(run);
    check_lids(run);
}

/* ---- operations ---- */

static uint64_t send_request(struct run *run, struct machine *machine)
{
    char name[32];
    struct err err = {0};
    bool somewhere = below(run, 3) != 0;
    struct vswitch_request request = {
        .verb = !machine->lid   ? VSWITCH_CREATE
                : below(run, 5) ? VSWITCH_MIGRATE
                                : VSWITCH_DESTROY,
        .guid = vswitch_guid(machine->name),
        .name = machine->name,
        .hypervisor =
            somewhere ? place_name(run, hypervisor(run, below(run, run->hypervisors)), name) : NULL,
        .mode = below(run, 2) ? VSWITCH_MINIMAL : VSWITCH_BALANCED,
    };
    uint64_t ticket = sim_vm_ask(run->world.sim, run->manager, &request, &err);
    if (!ticket)
        complain(run, err.message);
    return ticket;
}

static void take_result(struct run *run, struct machine *machine, uint64_t ticket)
{
    const struct vswitch_result *result =
        sim_vm_wait(run->world.sim, run->manager, ticket, sim_now(run->world.sim) + 120 * TIME_S);
    if (!result || result->state == VSWITCH_PENDING)
        complain(run, "a request is not over after two minutes");
    if (result->state != VSWITCH_DONE)
        return; /* full, most likely: it must be where it was */
    if (machine->lid && result->request.verb != VSWITCH_DESTROY && result->lid != machine->lid)
        complain(run, "a machine has changed its LID");
    machine->lid = result->request.verb == VSWITCH_DESTROY ? 0 : result->lid;
}

static void do_requests(struct run *run, unsigned count)
{
    uint64_t tickets[MACHINES];
    unsigned first = below(run, MACHINES);
    for (unsigned i = 0; i < count; i++)
        tickets[i] = send_request(run, &run->machines[(first + i) % MACHINES]);
    for (unsigned i = 0; i < count; i++)
        take_result(run, &run->machines[(first + i) % MACHINES], tickets[i]);
}

/* Something goes wrong in the middle of a move of somebody. */
static struct machine *set_one_out(struct run *run)
{
    struct err err = {0};
    for (unsigned i = 0, at = below(run, MACHINES); i < MACHINES; i++) {
        struct machine *machine = &run->machines[(at + i) % MACHINES];
        if (!machine->lid)
            continue;
        struct vswitch_request request = {.verb = VSWITCH_MIGRATE,
                                          .guid = vswitch_guid(machine->name),
                                          .mode =
                                              below(run, 2) ? VSWITCH_MINIMAL : VSWITCH_BALANCED};
        sim_vm_ask(run->world.sim, run->manager, &request, &err);
        sim_run(run->world.sim, sim_now(run->world.sim) + below(run, 200) * TIME_US);
        return machine;
    }
    return NULL;
}

static void do_manager(struct run *run)
{
    set_one_out(run);
    sim_kill_manager(run->world.sim, run->manager);
    sim_run(run->world.sim, sim_now(run->world.sim) + TIME_MS);
    run->manager = sim_add_manager(run->world.sim, run->seat, &run->config);
}

static void do_hypervisor(struct run *run)
{
    struct err err = {0};
    uint32_t node = hypervisor(run, 1 + below(run, run->hypervisors - 1)); /* not the manager's */
    struct machine *machine = below(run, 2) ? set_one_out(run) : NULL;
    if (below(run, 2)) { /* its agent keeps silent for a while */
        fabric_set_agent_delay(run->world.fabric, node, TIME_NEVER, &err);
        sim_run(run->world.sim, sim_now(run->world.sim) + 15 * TIME_S);
        fabric_set_agent_delay(run->world.fabric, node, 0, &err);
    } else {
        for (unsigned i = 0; i < MACHINES; i++)
            if (run->machines[i].lid && run->machines[i].place == node)
                run->machines[i].may_be_off = true;
        if (machine)
            machine->may_be_off = true;
        fabric_set_node(run->world.fabric, node, false, &err);
        sim_run(run->world.sim, sim_now(run->world.sim) + 5 * TIME_S);
        fabric_set_node(run->world.fabric, node, true, &err);
    }
    sim_run(run->world.sim, sim_now(run->world.sim) + 15 * TIME_S);
}

static void do_link(struct run *run)
{
    const struct topology *topology = &run->world.topology;
    struct err err = {0};
    for (unsigned i = 0; i < 100; i++) {
        uint32_t port = below(run, (unsigned)topology->ports.count);
        uint32_t peer = topology->ports.items[port].peer;
        uint32_t node = topology->ports.items[port].node;
        if (peer == TOPOLOGY_NONE || topology->nodes.items[node].kind != NODE_SWITCH ||
            topology->nodes.items[topology->ports.items[peer].node].kind != NODE_SWITCH ||
            topology_is_vswitch(topology, node) ||
            topology_is_vswitch(topology, topology->ports.items[peer].node))
            continue;
        set_one_out(run);
        fabric_set_link(run->world.fabric, port, false, &err);
        sim_run(run->world.sim, sim_now(run->world.sim) + below(run, 3) * TIME_S);
        fabric_set_link(run->world.fabric, port, true, &err);
        return;
    }
}

static void do_loss(struct run *run)
{
    struct err err = {0};
    fabric_set_loss(run->world.fabric, TOPOLOGY_NONE, 0, RNG_CERTAIN / 50, &err);
    set_one_out(run);
    sim_run(run->world.sim, sim_now(run->world.sim) + 2 * TIME_S);
    fabric_set_loss(run->world.fabric, TOPOLOGY_NONE, 0, 0, &err);
    sim_run(run->world.sim, sim_now(run->world.sim) + 15 * TIME_S);
}

static void operate(struct run *run)
{
    unsigned dice = below(run, 100);
    if (dice < 60)
        do_requests(run, 1);
    else if (dice < 80)
        do_requests(run, 2 + below(run, 6));
    else if (dice < 85)
        sm_reroute(sim_manager(run->world.sim, run->manager), sim_now(run->world.sim));
    else if (dice < 89)
        do_manager(run);
    else if (dice < 93)
        do_hypervisor(run);
    else if (dice < 97)
        do_link(run);
    else
        do_loss(run);
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

static void play(const struct fabric_kind *kind, bool dynamic, uint64_t operations, uint64_t seed)
{
    static struct run run;
    memset(&run, 0, sizeof run);
    char vfs[8];
    snprintf(vfs, sizeof vfs, "%d", VFS);
    open_virtual(&run.world, kind->kind, kind->words, kind->count, vfs);
    rng_seed(&run.rng, seed, dynamic);
    sm_config_init(&run.config);
    run.config.dynamic_lids = dynamic;
    run.config.engine = engine_find(kind->engine);
    run.hypervisors = world_hosts(&run.world);
    run.seat = host(&run.world, "H0");
    run.manager = settle(&run.world, run.seat, &run.config);
    for (unsigned i = 0; i < MACHINES; i++)
        snprintf(run.machines[i].name, sizeof run.machines[i].name, "vm%u", i);
    note_lids(&run);
    for (run.operation = 0; run.operation < operations; run.operation++)
        operate(&run);
    mem_free(run.lids);
    world_close(&run.world);
}

static uint64_t operations = 60, seed = 1;

static void random_operations_leave_every_machine_at_one_place(void **state)
{
    (void)state;
    for (unsigned i = 0; i < KINDS; i++)
        for (unsigned dynamic = 0; dynamic < 2; dynamic++) {
            print_message("%s with %s LIDs, seed %llu\n", kinds[i].kind,
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
    return cmocka_run_group_tests(tests, NULL, NULL);
}
