#include "host/sim/sim.h"

#include "base/time.h"
#include "routing/check/verify.h"
#include "routing/paper/paper_cost.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { INBOX_LIMIT = 1024 }; /* what comes beyond is lost */

/* A job has its result from the start; the manager gets it when its time has passed. */
struct errand {
    struct sm_job *job;
    int status;
    struct err err;
    struct sim_computation done;
};

struct seat {
    struct sm *sm; /* NULL: killed */
    struct vswitch *vswitch;
    struct sim_administration *administration; /* NULL: none */
    struct text file;                          /* that it left behind */
    uint32_t port;
    uint64_t busy_until;          /* it takes its time over every SMP */
    VEC(struct errand) errands;   /* the first is under way, the others wait for it */
    VEC(struct sm_message) inbox; /* came while it was deaf */
};

struct sim {
    struct fabric *fabric;
    VEC(struct seat) seats;
    struct sim_listener listener;
    struct sim_administration_options options;
    struct mad_layer *mads; /* NULL: there is no administration */
    struct sim_attendant attendant;
};

static void release_seat(struct seat *seat)
{
    for (size_t i = 0; i < seat->errands.count; i++)
        sm_job_free(seat->errands.items[i].job);
    vec_release(&seat->errands);
    vec_release(&seat->inbox);
    vswitch_free(seat->vswitch);
    seat->vswitch = NULL;
    sim_administration_free(seat->administration);
    seat->administration = NULL;
    sm_free(seat->sm);
    seat->sm = NULL;
}

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
    for (size_t i = 0; i < sim->seats.count; i++) {
        release_seat(&sim->seats.items[i]);
        text_release(&sim->seats.items[i].file);
    }
    mad_layer_free(sim->mads);
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

uint64_t sim_now_ns(const struct sim *sim)
{
    return time_ns_floor(sim_now(sim));
}

/* ---- administration ---- */

static void seat_administration(struct sim *sim, struct seat *seat)
{
    const struct text *file = NULL;
    if (!sim->mads || !seat->sm)
        return;
    for (size_t i = 0; i < sim->seats.count; i++)
        if (sim->seats.items[i].port == seat->port && sim->seats.items[i].file.length)
            file = &sim->seats.items[i].file;
    seat->administration = sim_administration_new(&sim->options, sim->fabric, sim->mads, seat->port,
                                                  seat->sm, sim_now(sim), file);
}

void sim_administer(struct sim *sim, const struct sim_administration_options *options)
{
    if (sim->mads)
        return;
    sim->options = *options;
    sim->mads = mad_layer_new(sim->fabric);
    for (size_t i = 0; i < sim->seats.count; i++)
        seat_administration(sim, &sim->seats.items[i]);
}

struct sa *sim_sa(struct sim *sim, unsigned manager)
{
    struct sim_administration *administration = sim->seats.items[manager].administration;
    return administration ? sim_administration_sa(administration) : NULL;
}

struct mad_layer *sim_mads(struct sim *sim)
{
    return sim->mads;
}

void sim_set_attendant(struct sim *sim, const struct sim_attendant *attendant)
{
    sim->attendant = *attendant;
}

/* What there is to do at QP1; when there is more. */
static uint64_t attend_hosts(struct sim *sim)
{
    uint64_t next = TIME_NEVER;
    if (!sim->mads)
        return next;
    mad_layer_expire(sim->mads, sim_now(sim));
    if (sim->attendant.context)
        next = sim->attendant.attend(sim->attendant.context, sim_now(sim));
    uint64_t own = mad_layer_deadline(sim->mads);
    return own < next ? own : next;
}

/* ---- managers ---- */

unsigned sim_seat_manager(struct sim *sim, uint32_t port, struct sm *sm)
{
    fabric_attach(sim->fabric, port);
    fabric_set_manager(sim->fabric, port, true);
    vec_push(&sim->seats, ((struct seat){.sm = sm, .vswitch = vswitch_new(sm), .port = port}));
    seat_administration(sim, &sim->seats.items[sim->seats.count - 1]);
    sm_start(sm, sim_now_ns(sim));
    return (unsigned)sim->seats.count - 1;
}

unsigned sim_add_manager(struct sim *sim, uint32_t port, const struct sm_config *config)
{
    return sim_seat_manager(sim, port, sm_new(config, fabric_port_guid(sim->fabric, port, 0)));
}

void sim_kill_manager(struct sim *sim, unsigned manager)
{
    assert(manager < sim->seats.count);
    struct seat *seat = &sim->seats.items[manager];
    if (!seat->sm)
        return;
    text_clear(&seat->file);
    if (seat->administration && sim->options.kept)
        sa_registry_print(sim_administration_sa(seat->administration), 1 + sim_now(sim) / TIME_S,
                          &seat->file);
    release_seat(seat);
    fabric_set_manager(sim->fabric, seat->port, false);
    fabric_detach(sim->fabric, seat->port);
}

struct sm *sim_manager(struct sim *sim, unsigned manager)
{
    assert(manager < sim->seats.count);
    return sim->seats.items[manager].sm;
}

struct vswitch *sim_machines(struct sim *sim, unsigned manager)
{
    assert(manager < sim->seats.count);
    return sim->seats.items[manager].vswitch;
}

uint64_t sim_vm_ask(struct sim *sim, unsigned manager, const struct vswitch_request *request,
                    struct err *err)
{
    struct seat *seat = &sim->seats.items[manager];
    if (!seat->sm) {
        err_set(err, ESRCH, "that manager is not there any more");
        return 0;
    }
    return vswitch_submit(seat->vswitch, sim_now_ns(sim), request, err);
}

const struct vswitch_result *sim_vm_wait(struct sim *sim, unsigned manager, uint64_t ticket,
                                         uint64_t limit)
{
    const struct vswitch_result *result;
    do {
        if (!sim->seats.items[manager].sm)
            return NULL;
        result = vswitch_result(sim->seats.items[manager].vswitch, ticket);
    } while (result && result->state == VSWITCH_PENDING && sim_step(sim, limit));
    return result;
}

unsigned sim_manager_count(const struct sim *sim)
{
    return (unsigned)sim->seats.count;
}

static void send(struct sim *sim, unsigned manager, const struct sm_message *message)
{
    struct seat *seat = &sim->seats.items[manager];
    if (sim->listener.sent)
        sim->listener.sent(sim->listener.context, sim_now(sim), manager, message);
    struct packet_header header = {.dlid = message->lid, .sl = message->sl};
    fabric_send(sim->fabric, seat->port, &header, message->mad);
    seat->busy_until = sim_now(sim) + fabric_manager_cost(sim->fabric);
    if (wire_get(message->mad, MAD_METHOD) == METHOD_GET) {
        struct cost more = fabric_options_of(sim->fabric)->manager_get;
        seat->busy_until +=
            more.base_ps + more.per_node_ps * fabric_topology(sim->fabric)->nodes.count;
    }
}

/* ---- computing ---- */

/* What sm_job_run() did: the engine, the check of its tables (of those that were there, too, if a
 * new master could not keep them), and the order of the updates. */
static uint64_t own_operations(const struct sm_job *job)
{
    uint64_t one_check = verify_operations(&job->network, &job->routes);
    uint64_t checks = job->routes.ports != NULL && !job->repaired; /* a repair counts its own */
    if (job->adopt && job->has_before)
        checks++;
    return job->routes.operations + checks * one_check + job->plan.operations;
}

static void begin_errand(struct sim *sim, struct seat *seat, struct sm_job *job)
{
    const struct fabric_options *options = fabric_options_of(sim->fabric);
    size_t before = seat->errands.count;
    struct errand errand = {.job = job, .done.job = job};
    errand.status = sm_job_run(job, &errand.err);
    uint64_t operations = own_operations(job);
    if (options->paper_compute) /* a new master that keeps the tables it finds has computed none */
        operations = job->adopt && !job->has_before
                         ? 0
                         : paper_steps(&job->network, job->engine, &job->options);
    uint64_t begin = before ? seat->errands.items[before - 1].done.end : sim_now(sim);
    uint64_t price = options->compute_ps;
    errand.done.operations = operations;
    errand.done.begin = begin;
    errand.done.end =
        begin + (price && operations > TIME_LONGEST / price ? TIME_LONGEST : operations * price);
    assert(begin >= sim_now(sim) && errand.done.end >= begin);
    vec_push(&seat->errands, errand);
}

/* Hands back what is done; true if anything is. */
static bool finish_errands(struct sim *sim, unsigned manager)
{
    struct seat *seat = &sim->seats.items[manager];
    size_t before = seat->errands.count;
    while (seat->errands.count && seat->errands.items[0].done.end <= sim_now(sim)) {
        struct errand errand = seat->errands.items[0];
        vec_remove(&seat->errands, 0);
        if (sim->listener.computed)
            sim->listener.computed(sim->listener.context, sim_now(sim), manager, &errand.done);
        sm_computed(seat->sm, sim_now_ns(sim), errand.job, errand.status ? &errand.err : NULL);
    }
    return seat->errands.count < before;
}

static bool is_deaf(const struct sim *sim, const struct seat *seat)
{
    return seat->errands.count && fabric_options_of(sim->fabric)->paper_compute;
}

/* ---- in and out ---- */

/* What the manager wants done, as far as it can be now; true if it got routes at once. */
static bool drain(struct sim *sim, unsigned manager)
{
    bool routed = false;
    struct seat *seat = &sim->seats.items[manager];
    struct sm_output output;
    while (!is_deaf(sim, seat) && seat->busy_until <= sim_now(sim) &&
           sm_next_output(seat->sm, sim_now_ns(sim), &output)) {
        switch (output.kind) {
        case SM_SEND: send(sim, manager, &output.message); break;
        case SM_COMPUTE:
            begin_errand(sim, seat, output.job);
            routed |= finish_errands(sim, manager); /* where computing costs nothing */
            break;
        case SM_EVENT:
            if (sim->listener.event)
                sim->listener.event(sim->listener.context, sim_now(sim), manager, &output.event);
            break;
        case SM_PERSIST: break; /* a simulated manager that dies forgets */
        }
    }
    return routed;
}

static void receive(struct sim *sim, struct seat *seat, const struct sm_message *message)
{
    sm_receive(seat->sm, sim_now_ns(sim), message);
    if (seat->administration && wire_get(message->mad, MAD_METHOD) == METHOD_TRAP &&
        wire_get(message->mad, MAD_ATTRIBUTE_ID) == ATTRIBUTE_NOTICE)
        sim_administration_notice(seat->administration, sim_now(sim), seat->sm,
                                  message->mad + SMP_DATA_OFFSET);
    uint64_t from = seat->busy_until > sim_now(sim) ? seat->busy_until : sim_now(sim);
    seat->busy_until = from + fabric_manager_cost(sim->fabric);
}

static void deliver(struct sim *sim, const struct fabric_delivery *delivery)
{
    if (sim->mads && delivery->header.dest_qp == QP_GSI) {
        mad_layer_deliver(sim->mads, sim_now(sim), delivery);
        return;
    }
    for (size_t i = 0; i < sim->seats.count; i++) {
        struct seat *seat = &sim->seats.items[i];
        if (!seat->sm || seat->port != delivery->port)
            continue;
        struct sm_message message = {.lid = delivery->header.slid, .sl = delivery->header.sl};
        memcpy(message.mad, delivery->mad, MAD_BYTES);
        if (!is_deaf(sim, seat))
            receive(sim, seat, &message);
        else if (seat->inbox.count < INBOX_LIMIT)
            vec_push(&seat->inbox, message);
    }
}

/* ---- time ---- */

/* Everything that a manager has to do now; true if it got routes that it waited for. */
static bool attend(struct sim *sim, unsigned manager)
{
    struct seat *seat = &sim->seats.items[manager];
    bool routed = finish_errands(sim, manager);
    if (is_deaf(sim, seat))
        return routed;
    for (size_t i = 0; i < seat->inbox.count; i++)
        receive(sim, seat, &seat->inbox.items[i]);
    seat->inbox.count = 0;
    if (sm_deadline(seat->sm) <= sim_now_ns(sim))
        sm_expire(seat->sm, sim_now_ns(sim));
    vswitch_advance(seat->vswitch, sim_now_ns(sim));
    routed |= drain(sim, manager);
    if (vswitch_pending(seat->vswitch)) { /* it may have waited for something that came to an end */
        vswitch_advance(seat->vswitch, sim_now_ns(sim));
        routed |= drain(sim, manager);
    }
    if (seat->administration) {
        sim_administration_attend(seat->administration, sim_now(sim), seat->sm);
        routed |= drain(sim, manager);
    }
    return routed;
}

/* When it wants to be attended to next. */
static uint64_t next_of(const struct sim *sim, const struct seat *seat)
{
    uint64_t next = seat->errands.count ? seat->errands.items[0].done.end : TIME_NEVER;
    if (is_deaf(sim, seat))
        return next;
    uint64_t manager = sm_deadline(seat->sm), machines = vswitch_deadline(seat->vswitch);
    uint64_t first = time_ns_to_ps(manager < machines ? manager : machines);
    next = first < next ? first : next;
    if (seat->busy_until > sim_now(sim) && seat->busy_until < next)
        next = seat->busy_until;
    if (seat->administration) {
        uint64_t own = sim_administration_deadline(seat->administration, sim_now(sim));
        next = own < next ? own : next;
    }
    return next;
}

bool sim_step(struct sim *sim, uint64_t until)
{
    uint64_t next = until;
    bool routed = false;
    for (unsigned i = 0; i < sim->seats.count; i++) {
        if (!sim->seats.items[i].sm)
            continue;
        routed |= attend(sim, i);
        uint64_t own = next_of(sim, &sim->seats.items[i]);
        next = own < next ? own : next;
    }
    uint64_t hosts = attend_hosts(sim);
    next = hosts < next ? hosts : next;
    if (routed) /* something has happened: the manager may be settled now */
        return sim_now(sim) < until;
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
