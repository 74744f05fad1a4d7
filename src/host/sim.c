#include "host/sim.h"

#include "base/time.h"

#include <string.h>

struct seat {
    struct sm *sm; /* NULL: killed */
    uint32_t port;
    uint64_t busy_until; /* it takes its time over every SMP */
};

struct sim {
    struct fabric *fabric;
    VEC(struct seat) seats;
    struct sim_listener listener;
};

struct sim *sim_new(struct fabric *fabric)
{
    struct sim *sim = mem_zalloc(1, sizeof *sim);
    sim->fabric = fabric;
    return sim;
}

void sim_free(struct sim *sim)
{
    if (!sim)
        return;
    for (size_t i = 0; i < sim->seats.count; i++)
        sm_free(sim->seats.items[i].sm);
    vec_release(&sim->seats);
    mem_free(sim);
}

void sim_set_listener(struct sim *sim, const struct sim_listener *listener)
{
    sim->listener = *listener;
}

uint64_t sim_now(const struct sim *sim)
{
    return fabric_network_time(sim->fabric);
}

unsigned sim_seat_manager(struct sim *sim, uint32_t port, struct sm *sm)
{
    fabric_attach(sim->fabric, port);
    fabric_set_manager(sim->fabric, port, true);
    vec_push(&sim->seats, ((struct seat){.sm = sm, .port = port}));
    sm_start(sm, sim_now(sim));
    return (unsigned)sim->seats.count - 1;
}

unsigned sim_add_manager(struct sim *sim, uint32_t port, const struct sm_config *config)
{
    return sim_seat_manager(sim, port, sm_new(config, fabric_port_guid(sim->fabric, port, 0)));
}

void sim_kill_manager(struct sim *sim, unsigned manager)
{
    struct seat *seat = &sim->seats.items[manager];
    if (!seat->sm)
        return;
    sm_free(seat->sm);
    seat->sm = NULL;
    fabric_set_manager(sim->fabric, seat->port, false);
    fabric_detach(sim->fabric, seat->port);
}

struct sm *sim_manager(struct sim *sim, unsigned manager)
{
    return sim->seats.items[manager].sm;
}

static void send(struct sim *sim, unsigned manager, const struct sm_message *message)
{
    const struct seat *seat = &sim->seats.items[manager];
    if (sim->listener.sent)
        sim->listener.sent(sim->listener.context, sim_now(sim), manager, message);
    struct packet_header header = {.dlid = message->lid, .sl = message->sl};
    fabric_send(sim->fabric, seat->port, &header, message->mad);
}

static void compute(struct sim *sim, unsigned manager, struct sm_job *job)
{
    const struct seat *seat = &sim->seats.items[manager];
    struct err err = {0};
    int status = sm_job_run(job, &err);
    if (sim->listener.computed)
        sim->listener.computed(sim->listener.context, sim_now(sim), manager, job);
    sm_computed(seat->sm, sim_now(sim), job, status ? &err : NULL);
}

static void drain(struct sim *sim, unsigned manager)
{
    struct seat *seat = &sim->seats.items[manager];
    struct sm_output output;
    while (seat->busy_until <= sim_now(sim) && sm_next_output(seat->sm, sim_now(sim), &output)) {
        switch (output.kind) {
        case SM_SEND:
            send(sim, manager, &output.message);
            seat->busy_until = sim_now(sim) + fabric_manager_cost(sim->fabric);
            break;
        case SM_COMPUTE: compute(sim, manager, output.job); break;
        case SM_EVENT:
            if (sim->listener.event)
                sim->listener.event(sim->listener.context, sim_now(sim), manager, &output.event);
            break;
        case SM_PERSIST: break; /* a simulated manager that dies forgets */
        }
    }
}

static void deliver(struct sim *sim, const struct fabric_delivery *delivery)
{
    for (size_t i = 0; i < sim->seats.count; i++) {
        struct seat *seat = &sim->seats.items[i];
        if (!seat->sm || seat->port != delivery->port)
            continue;
        struct sm_message message = {.lid = delivery->header.slid, .sl = delivery->header.sl};
        memcpy(message.mad, delivery->mad, MAD_BYTES);
        sm_receive(seat->sm, sim_now(sim), &message);
        uint64_t from = seat->busy_until > sim_now(sim) ? seat->busy_until : sim_now(sim);
        seat->busy_until = from + fabric_manager_cost(sim->fabric);
    }
}

bool sim_step(struct sim *sim, uint64_t until)
{
    uint64_t next = until;
    for (unsigned i = 0; i < sim->seats.count; i++) {
        struct sm *sm = sim->seats.items[i].sm;
        if (!sm)
            continue;
        if (sm_deadline(sm) <= sim_now(sim))
            sm_expire(sm, sim_now(sim));
        drain(sim, i);
        if (sm_deadline(sm) < next)
            next = sm_deadline(sm);
        if (sim->seats.items[i].busy_until > sim_now(sim) && sim->seats.items[i].busy_until < next)
            next = sim->seats.items[i].busy_until;
    }
    struct fabric_delivery delivery;
    fabric_run(sim->fabric, next);
    while (fabric_next_delivery(sim->fabric, &delivery))
        deliver(sim, &delivery);
    return sim_now(sim) < until;
}

void sim_run(struct sim *sim, uint64_t until)
{
    while (sim_step(sim, until))
        ;
}

bool sim_run_until_settled(struct sim *sim, unsigned manager, uint64_t limit)
{
    do {
        const struct sm *sm = sim->seats.items[manager].sm;
        if (!sm || sm_is_settled(sm))
            return sm != NULL;
    } while (sim_step(sim, limit));
    return false;
}
