#include "experiment/run/shared_port.h"

#include "experiment/run/stage.h"
#include "host/sim/sim_clients.h"

#include <stdio.h>

enum { NOTHING_ASKED = UINT32_MAX };

/* What one sender knows of one machine. */
struct peer {
    uint32_t source, guest;
    uint16_t lid;
    uint32_t question; /* or NOTHING_ASKED */
};

struct shared_port {
    struct stage *stage;
    struct sim_clients *clients;
    VEC(struct peer) peers;
    struct map by_pair;
    uint64_t queries, longest; /* longest: from question to answer */
    uint32_t open;
};

static uint16_t lid_of(const struct stage *stage, uint32_t port)
{
    return (uint16_t)wire_get(fabric_port_info(stage->fabric, port), PORT_INFO_LID);
}

/* The first time somebody sends it knows where to, as if it had asked when it connected. */
static struct data_path find(void *context, uint32_t source, uint32_t destination)
{
    struct shared_port *shared = context;
    struct stage *stage = shared->stage;
    if (destination < DATA_VM)
        return sim_paths_find(stage->paths, source, destination);
    uint64_t pair = (uint64_t)source << 32 | destination;
    uint32_t at = map_get(&shared->by_pair, pair);
    if (at == MAP_NONE) {
        uint32_t port = fabric_vm(stage->fabric, destination)->port;
        if (port == TOPOLOGY_NONE)
            return (struct data_path){0};
        at = map_add(&shared->by_pair, pair, (uint32_t)shared->peers.count);
        vec_push(&shared->peers,
                 ((struct peer){source, destination, lid_of(stage, port), NOTHING_ASKED}));
    }
    return (struct data_path){.dlid = shared->peers.items[at].lid};
}

struct shared_port *shared_port_new(struct stage *stage)
{
    struct shared_port *shared = mem_zalloc(1, sizeof *shared);
    struct sim_administration_options options;
    sim_administration_options_init(&options);
    sim_administer(stage->sim, &options);
    shared->stage = stage;
    shared->clients = sim_clients_new(stage->sim, stage->fabric);
    fabric_set_paths(stage->fabric, &(struct data_paths){shared, find});
    return shared;
}

void shared_port_free(struct shared_port *shared)
{
    if (!shared)
        return;
    sim_clients_free(shared->clients);
    vec_release(&shared->peers);
    map_release(&shared->by_pair);
    mem_free(shared);
}

static void ask_again(struct shared_port *shared, uint32_t guest, uint32_t port)
{
    for (size_t i = 0; i < shared->peers.count; i++) {
        struct peer *peer = &shared->peers.items[i];
        if (peer->guest != guest)
            continue;
        peer->question = sim_clients_path(shared->clients, peer->source, port);
        shared->queries++;
        shared->open++;
    }
}

void shared_port_order(struct stage *stage, const struct machine_order *order, uint32_t hypervisor)
{
    const struct topology *topology = &stage->topology;
    struct machine *machine = &stage->machines.items.items[order->machine];
    uint64_t now = sim_now_ns(stage->sim);
    uint32_t port = order->verb == VSWITCH_DESTROY
                        ? TOPOLOGY_NONE
                        : topology->nodes.items[hypervisor].first_port + 1;
    struct vswitch_result result = {.request.verb = order->verb,
                                    .state = VSWITCH_DONE,
                                    .asked_ns = now,
                                    .began_ns = now,
                                    .ended_ns = now,
                                    .lid = port == TOPOLOGY_NONE ? 0 : lid_of(stage, port)};
    snprintf(result.text, sizeof result.text, "at a shared port, LID %u", result.lid);
    machines_done(stage, order, &result);
    if (machine->guest == TOPOLOGY_NONE)
        return;
    fabric_move_vm(stage->fabric, machine->guest, port);
    if (order->verb == VSWITCH_MIGRATE)
        ask_again(stage->machines.shared, machine->guest, port);
}

void shared_port_look(struct stage *stage, uint64_t now)
{
    struct shared_port *shared = stage->machines.shared;
    (void)now;
    for (size_t i = 0; shared && shared->open && i < shared->peers.count; i++) {
        struct peer *peer = &shared->peers.items[i];
        if (peer->question == NOTHING_ASKED)
            continue;
        const struct sim_question *question = sim_clients_question(shared->clients, peer->question);
        if (question->state == SIM_OPEN)
            continue;
        if (question->state == SIM_ANSWERED && question->bytes >= SA_DATA_OFFSET)
            peer->lid = (uint16_t)wire_get(question->answer + SA_DATA_OFFSET, PATH_RECORD_DLID);
        uint64_t took = question->answered - question->asked;
        if (question->state == SIM_ANSWERED && took > shared->longest)
            shared->longest = took;
        peer->question = NOTHING_ASKED;
        shared->open--;
    }
}

bool shared_port_is_idle(const struct shared_port *shared)
{
    return shared->open == 0;
}

uint64_t shared_port_longest(const struct shared_port *shared)
{
    return shared->longest;
}

uint64_t shared_port_queries(const struct shared_port *shared)
{
    return shared->queries;
}
