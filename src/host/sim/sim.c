/* The loop of the simulator: runs each manager at its deadlines, advances the fabric to the next
 * one and delivers the packets that arrive. It charges managers for time: for each SMP sent or
 * received, and for the operations of each job. */
#include "host/sim/sim.h"

#include "base/time.h"
#include "routing/paper/published.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { INBOX_LIMIT = 1024 }; /* further MADs are lost */

/* A job is computed when it is submitted; the manager gets the result at its end time. */
struct pending_job {
    struct sm_job *job;
    int status;
    struct err err;
    struct sim_computation done;
};

struct instance {
    struct sm *sm; /* NULL: killed */
    struct vswitch *vswitch;
    struct sim_administration *administration; /* NULL: none */
    struct text file;                          /* registrations, saved when it was killed */
    uint32_t port;
    uint64_t busy_until;          /* processing time of SMPs */
    VEC(struct pending_job) jobs; /* the first one runs, the others are queued */
    VEC(struct sm_message) inbox; /* received while it could not process them */
};

struct sim {
    struct fabric *fabric;
    VEC(struct instance) instances;
    struct sim_listener listener;
    struct sim_administration_options options;
    struct mad_layer *mads; /* NULL: no administration */
    VEC(struct sim_hook) hooks;
    struct wanted_machines machines; /* all managers have the same, at once */
};

static void release_instance(struct instance *instance)
{
    for (size_t i = 0; i < instance->jobs.count; i++)
        sm_job_free(instance->jobs.items[i].job);
    vec_release(&instance->jobs);
    vec_release(&instance->inbox);
    vswitch_free(instance->vswitch);
    instance->vswitch = NULL;
    sim_administration_free(instance->administration);
    instance->administration = NULL;
    sm_free(instance->sm);
    instance->sm = NULL;
}

struct sim *sim_new(struct fabric *fabric)
{
    struct sim *sim = mem_zalloc(1, sizeof *sim);
    wanted_machines_init(&sim->machines, NULL);
    sim->fabric = fabric;
    return sim;
}

void sim_free(struct sim *sim)
{
    if (!sim)
        return;
    for (size_t i = 0; i < sim->instances.count; i++) {
        release_instance(&sim->instances.items[i]);
        text_release(&sim->instances.items[i].file);
    }
    mad_layer_free(sim->mads);
    vec_release(&sim->hooks);
    wanted_machines_release(&sim->machines);
    vec_release(&sim->instances);
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

static void add_administration(struct sim *sim, struct instance *instance)
{
    const struct text *file = NULL;
    if (!sim->mads || !instance->sm)
        return;
    for (size_t i = 0; i < sim->instances.count; i++)
        if (sim->instances.items[i].port == instance->port && sim->instances.items[i].file.length)
            file = &sim->instances.items[i].file;
    instance->administration = sim_administration_new(
        &sim->options, sim->fabric, sim->mads, instance->port, instance->sm, sim_now(sim), file);
}

void sim_add_administrations(struct sim *sim, const struct sim_administration_options *options)
{
    if (sim->mads)
        return;
    sim->options = *options;
    sim->mads = mad_layer_new(sim->fabric);
    for (size_t i = 0; i < sim->instances.count; i++)
        add_administration(sim, &sim->instances.items[i]);
}

struct sa *sim_sa(struct sim *sim, unsigned manager)
{
    assert(manager < sim->instances.count);
    struct sim_administration *administration = sim->instances.items[manager].administration;
    return administration ? sim_administration_sa(administration) : NULL;
}

struct mad_layer *sim_mads(struct sim *sim)
{
    return sim->mads;
}

void sim_add_hook(struct sim *sim, const struct sim_hook *hook)
{
    vec_push(&sim->hooks, *hook);
}

void sim_remove_hook(struct sim *sim, const void *context)
{
    for (size_t i = sim->hooks.count; i-- > 0;)
        if (sim->hooks.items[i].context == context)
            vec_remove(&sim->hooks, i);
}

static void tell_ready(struct sim *sim)
{
    for (struct mad_file *file; (file = mad_layer_next_ready(sim->mads)) != NULL;)
        for (size_t i = 0; i < sim->hooks.count; i++)
            if (sim->hooks.items[i].context == mad_file_owner(file) && sim->hooks.items[i].ready)
                sim->hooks.items[i].ready(sim->hooks.items[i].context, file);
}

/* Runs the MAD layer of the hosts. Returns its next deadline. */
static uint64_t run_hosts(struct sim *sim)
{
    uint64_t next = TIME_NEVER;
    if (!sim->mads)
        return next;
    mad_layer_expire(sim->mads, sim_now(sim));
    tell_ready(sim);
    for (size_t i = 0; i < sim->hooks.count; i++) {
        uint64_t hook = sim->hooks.items[i].attend(sim->hooks.items[i].context, sim_now(sim));
        next = hook < next ? hook : next;
    }
    uint64_t own = mad_layer_deadline(sim->mads);
    return own < next ? own : next;
}

/* ---- managers ---- */

unsigned sim_attach_manager(struct sim *sim, uint32_t port, struct sm *sm)
{
    assert(sm && port < fabric_topology(sim->fabric)->ports.count);
    fabric_attach(sim->fabric, port);
    fabric_set_manager(sim->fabric, port, true);
    vec_push(
        &sim->instances,
        ((struct instance){.sm = sm, .vswitch = vswitch_new(sm, &sim->machines), .port = port}));
    add_administration(sim, &sim->instances.items[sim->instances.count - 1]);
    sm_start(sm, sim_now_ns(sim));
    return (unsigned)sim->instances.count - 1;
}

unsigned sim_add_manager(struct sim *sim, uint32_t port, const struct sm_config *config)
{
    return sim_attach_manager(sim, port, sm_new(config, fabric_port_guid(sim->fabric, port, 0)));
}

void sim_kill_manager(struct sim *sim, unsigned manager)
{
    assert(manager < sim->instances.count);
    struct instance *instance = &sim->instances.items[manager];
    if (!instance->sm)
        return;
    text_clear(&instance->file);
    if (instance->administration && sim->options.kept)
        sa_registry_print(sim_administration_sa(instance->administration),
                          1 + sim_now(sim) / TIME_S, &instance->file);
    release_instance(instance);
    fabric_set_manager(sim->fabric, instance->port, false);
    fabric_detach(sim->fabric, instance->port);
}

struct sm *sim_manager(struct sim *sim, unsigned manager)
{
    assert(manager < sim->instances.count);
    return sim->instances.items[manager].sm;
}

struct vswitch *sim_machines(struct sim *sim, unsigned manager)
{
    assert(manager < sim->instances.count);
    return sim->instances.items[manager].vswitch;
}

uint64_t sim_vm_submit(struct sim *sim, unsigned manager, const struct vswitch_request *request,
                       struct err *err)
{
    assert(manager < sim->instances.count);
    struct instance *instance = &sim->instances.items[manager];
    if (!instance->sm) {
        err_set(err, ESRCH, "that manager was killed");
        return 0;
    }
    return vswitch_submit(instance->vswitch, sim_now_ns(sim), request, err);
}

const struct vswitch_result *sim_vm_wait(struct sim *sim, unsigned manager, uint64_t ticket,
                                         uint64_t limit)
{
    const struct vswitch_result *result;
    assert(manager < sim->instances.count);
    do {
        if (!sim->instances.items[manager].sm)
            return NULL;
        result = vswitch_result(sim->instances.items[manager].vswitch, ticket);
    } while (result && result->state == VSWITCH_PENDING && sim_step(sim, limit));
    return result;
}

unsigned sim_manager_count(const struct sim *sim)
{
    return (unsigned)sim->instances.count;
}

static void send_smp(struct sim *sim, unsigned manager, const struct sm_message *message)
{
    struct instance *instance = &sim->instances.items[manager];
    if (sim->listener.sent)
        sim->listener.sent(sim->listener.context, sim_now(sim), manager, message);
    struct packet_header header = {.dlid = message->lid, .sl = message->sl};
    fabric_send(sim->fabric, instance->port, &header, message->mad);
    instance->busy_until = sim_now(sim) + fabric_manager_cost(sim->fabric);
    if (wire_get(message->mad, MAD_METHOD) == METHOD_GET) {
        struct cost more = fabric_options_of(sim->fabric)->manager_get;
        instance->busy_until +=
            more.base_ps + more.per_node_ps * fabric_topology(sim->fabric)->nodes.count;
    }
}

/* ---- computing ---- */

static void begin_job(struct sim *sim, struct instance *instance, struct sm_job *job)
{
    const struct fabric_options *options = fabric_options_of(sim->fabric);
    size_t before = instance->jobs.count;
    struct pending_job pending_job = {.job = job, .done.job = job};
    pending_job.status = sm_job_run(job, &pending_job.err);
    const struct sm_job_report report = sm_job_report(job);
    uint64_t operations = report.operations;
    if (options->paper_compute) /* a new master that keeps the existing tables computes none */
        operations =
            report.kept ? 0 : published_steps(report.network, report.engine, report.options);
    uint64_t begin = before ? instance->jobs.items[before - 1].done.end : sim_now(sim);
    uint64_t price = options->compute_ps;
    pending_job.done.operations = operations;
    pending_job.done.begin = begin;
    pending_job.done.end =
        begin + (price && operations > TIME_LONGEST / price ? TIME_LONGEST : operations * price);
    assert(begin >= sim_now(sim) && pending_job.done.end >= begin);
    vec_push(&instance->jobs, pending_job);
}

/* Passes results of finished jobs to the manager. Returns true if there were any. */
static bool finish_jobs(struct sim *sim, unsigned manager)
{
    struct instance *instance = &sim->instances.items[manager];
    size_t before = instance->jobs.count;
    while (instance->jobs.count && instance->jobs.items[0].done.end <= sim_now(sim)) {
        struct pending_job pending_job = instance->jobs.items[0];
        vec_remove(&instance->jobs, 0);
        if (sim->listener.computed)
            sim->listener.computed(sim->listener.context, sim_now(sim), manager, &pending_job.done);
        sm_computed(instance->sm, sim_now_ns(sim), pending_job.job,
                    pending_job.status ? &pending_job.err : NULL);
    }
    return instance->jobs.count < before;
}

static bool is_blocked(const struct sim *sim, const struct instance *instance)
{
    return instance->jobs.count && fabric_options_of(sim->fabric)->paper_compute;
}

/* ---- messages ---- */

/* Executes the outputs of the manager until it is busy. Returns true if it got results of a job. */
static bool execute_outputs(struct sim *sim, unsigned manager)
{
    bool routed = false;
    struct instance *instance = &sim->instances.items[manager];
    struct sm_output output;
    while (!is_blocked(sim, instance) && instance->busy_until <= sim_now(sim) &&
           sm_next_output(instance->sm, sim_now_ns(sim), &output)) {
        switch (output.kind) {
        case SM_SEND: send_smp(sim, manager, &output.message); break;
        case SM_COMPUTE:
            begin_job(sim, instance, output.job);
            routed |= finish_jobs(sim, manager); /* computing may take no time */
            break;
        case SM_EVENT:
            if (sim->listener.event)
                sim->listener.event(sim->listener.context, sim_now(sim), manager, &output.event);
            break;
        case SM_PERSIST: break; /* LIDs are not preserved over the end of a simulated manager */
        }
    }
    return routed;
}

static void receive_smp(struct sim *sim, struct instance *instance,
                        const struct sm_message *message)
{
    if (sm_receive(instance->sm, sim_now_ns(sim), message) && instance->administration)
        sim_administration_notice(instance->administration, sim_now(sim), instance->sm,
                                  message->mad + SMP_DATA_OFFSET);
    uint64_t from = instance->busy_until > sim_now(sim) ? instance->busy_until : sim_now(sim);
    instance->busy_until = from + fabric_manager_cost(sim->fabric);
}

static void deliver_packet(struct sim *sim, const struct fabric_delivery *delivery)
{
    if (sim->mads && delivery->header.dest_qp == QP_GSI) {
        mad_layer_deliver(sim->mads, sim_now(sim), delivery);
        return;
    }
    bool is_managers = false;
    for (size_t i = 0; i < sim->instances.count; i++) {
        struct instance *instance = &sim->instances.items[i];
        if (!instance->sm || instance->port != delivery->port)
            continue;
        is_managers = true;
        struct sm_message message = {.lid = delivery->header.slid, .sl = delivery->header.sl};
        memcpy(message.mad, delivery->mad, MAD_BYTES);
        if (!is_blocked(sim, instance))
            receive_smp(sim, instance, &message);
        else if (instance->inbox.count < INBOX_LIMIT)
            vec_push(&instance->inbox, message);
    }
    if (sim->mads && !is_managers && mad_is_response(delivery->mad)) /* to an SMP of a host */
        mad_layer_deliver(sim->mads, sim_now(sim), delivery);
}

/* ---- time ---- */

/* Runs a manager at the present time. Returns true if it got results of a job. */
static bool run_manager(struct sim *sim, unsigned manager)
{
    struct instance *instance = &sim->instances.items[manager];
    bool routed = finish_jobs(sim, manager);
    if (is_blocked(sim, instance))
        return routed;
    for (size_t i = 0; i < instance->inbox.count; i++)
        receive_smp(sim, instance, &instance->inbox.items[i]);
    instance->inbox.count = 0;
    if (sm_deadline(instance->sm) <= sim_now_ns(sim))
        sm_expire(instance->sm, sim_now_ns(sim));
    vswitch_advance(instance->vswitch, sim_now_ns(sim));
    routed |= execute_outputs(sim, manager);
    if (vswitch_pending(instance->vswitch)) { /* a request may have waited for the manager */
        vswitch_advance(instance->vswitch, sim_now_ns(sim));
        routed |= execute_outputs(sim, manager);
    }
    if (instance->administration) {
        sim_administration_run(instance->administration, sim_now(sim), instance->sm);
        routed |= execute_outputs(sim, manager);
    }
    return routed;
}

/* The time at which a manager has to run next. */
static uint64_t next_deadline(const struct sim *sim, const struct instance *instance)
{
    uint64_t next = instance->jobs.count ? instance->jobs.items[0].done.end : TIME_NEVER;
    if (is_blocked(sim, instance))
        return next;
    uint64_t first = time_ns_to_ps(sm_deadline(instance->sm));
    next = first < next ? first : next;
    if (instance->busy_until > sim_now(sim) && instance->busy_until < next)
        next = instance->busy_until;
    if (instance->administration) {
        uint64_t own = sim_administration_deadline(instance->administration, sim_now(sim));
        next = own < next ? own : next;
    }
    return next;
}

bool sim_step(struct sim *sim, uint64_t until)
{
    sim_step_part(sim, until, TIME_NEVER);
    return sim_now(sim) < until;
}

bool sim_step_part(struct sim *sim, uint64_t until, uint64_t pause)
{
    uint64_t next = until;
    bool routed = false;
    for (unsigned i = 0; i < sim->instances.count; i++) {
        if (!sim->instances.items[i].sm)
            continue;
        routed |= run_manager(sim, i);
        uint64_t own = next_deadline(sim, &sim->instances.items[i]);
        next = own < next ? own : next;
    }
    uint64_t hosts = run_hosts(sim);
    next = hosts < next ? hosts : next;
    if (routed) /* the manager may be settled now */
        return true;
    struct fabric_delivery delivery;
    bool early = fabric_run(sim->fabric, next < pause ? next : pause);
    while (fabric_next_delivery(sim->fabric, &delivery))
        deliver_packet(sim, &delivery);
    return early || next <= pause;
}

void sim_run(struct sim *sim, uint64_t until)
{
    while (sim_step(sim, until) && !fabric_is_interrupted(sim->fabric))
        ;
}

bool sim_run_until_settled(struct sim *sim, unsigned manager, uint64_t limit)
{
    assert(manager < sim->instances.count);
    do {
        const struct sm *sm = sim->instances.items[manager].sm;
        if (!sm || sm_is_settled(sm))
            return sm != NULL;
    } while (sim_step(sim, limit));
    return false;
}
