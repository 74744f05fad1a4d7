/* The simulator: managers on a simulated fabric in virtual time.
 *
 * It has the clock for the protocol cores. Each manager is attached to a port of the fabric, where
 * it sends and receives MADs, and runs at its deadlines.
 *
 * Computing routes takes time: the number of operations of a job times the fabric's attribute
 * `compute`. A manager runs its jobs in order and in parallel with its other work, as the daemon
 * does with its thread. With `paper_compute` the time is that of the papers' algorithms, and the
 * manager neither receives nor sends while it computes. */
#ifndef WEFT_HOST_SIM_SIM_H
#define WEFT_HOST_SIM_SIM_H

#include "fabric/fabric.h"
#include "host/sim/sim_administration.h"
#include "sm/sm.h"
#include "vswitch/vswitch.h"

struct sim;

struct sim *sim_new(struct fabric *fabric); /* does not own the fabric */
void sim_free(struct sim *sim);             /* frees its managers */

/* A finished job, successful or not, whose manager gets the result now. */
struct sim_computation {
    const struct sm_job *job;
    uint64_t begin, end; /* of computing; it may have been queued before */
    uint64_t operations;
};
/* Callbacks; each may be NULL. */
struct sim_listener {
    void *context;
    void (*event)(void *context, uint64_t now, unsigned manager, const struct sm_event *event);
    void (*sent)(void *context, uint64_t now, unsigned manager, const struct sm_message *message);
    void (*computed)(void *context, uint64_t now, unsigned manager,
                     const struct sim_computation *computation);
};
void sim_set_listener(struct sim *sim, const struct sim_listener *listener);

/* Attaches a manager to a port (port 0 of a switch, or of an adapter) and starts it. Returns its
 * number. */
unsigned sim_add_manager(struct sim *sim, uint32_t port, const struct sm_config *config);
/* The same with a manager that the caller created; the simulation owns it from then on. */
unsigned sim_attach_manager(struct sim *sim, uint32_t port, struct sm *sm);
void sim_kill_manager(struct sim *sim, unsigned manager);  /* without a handover */
struct sm *sim_manager(struct sim *sim, unsigned manager); /* NULL if it was killed */
/* The virtual machines of a manager (vswitch/vswitch.h); NULL if it was killed. */
struct vswitch *sim_machines(struct sim *sim, unsigned manager);
/* Submits a request, which is executed as time advances. Returns its ticket, or 0 with an error. */
uint64_t sim_vm_submit(struct sim *sim, unsigned manager, const struct vswitch_request *request,
                       struct err *err);
/* Runs until the request is finished, or until `limit`. NULL if the manager was killed. */
const struct vswitch_result *sim_vm_wait(struct sim *sim, unsigned manager, uint64_t ticket,
                                         uint64_t limit);
unsigned sim_manager_count(const struct sim *sim); /* with killed ones */

/* Adds a subnet administration to every present and later manager. Without it, queries of hosts are
 * not answered (data traffic does not query: sim_paths.h). */
void sim_add_administrations(struct sim *sim, const struct sim_administration_options *options);
struct sa *sim_sa(struct sim *sim, unsigned manager); /* NULL: none */
struct mad_layer *sim_mads(struct sim *sim); /* of all hosts; NULL without administration */
/* A callback at every step of the simulation, which returns its next deadline. Before, `ready` (or
 * NULL) is called for each file of the MAD layer whose owner is `context` and that has received
 * messages since. */
struct sim_hook {
    void *context;
    uint64_t (*attend)(void *context, uint64_t now);
    void (*ready)(void *context, struct mad_file *file);
};
void sim_add_hook(struct sim *sim, const struct sim_hook *hook); /* they run in this order */
void sim_remove_hook(struct sim *sim, const void *context);

/* Times here are picoseconds; managers use nanoseconds. The time is rounded down for a manager. Its
 * deadlines are whole nanoseconds, at which both clocks agree: no manager is called before its
 * deadline, nor repeatedly until it. */
uint64_t sim_now(const struct sim *sim);
uint64_t sim_now_ns(const struct sim *sim); /* for calls to a manager */
/* Runs everything that is due, then advances to the next event; false: that is at `until`. */
bool sim_step(struct sim *sim, uint64_t until);
/* As sim_step(), but stops at `pause`, from where another call continues the step. Returns whether
 * the step is complete. */
bool sim_step_part(struct sim *sim, uint64_t until, uint64_t pause);
/* Ends before `until` if the fabric is interrupted. */
void sim_run(struct sim *sim, uint64_t until);
/* Runs until `manager` is settled, or until `limit`. Returns whether it is settled. */
bool sim_run_until_settled(struct sim *sim, unsigned manager, uint64_t limit);

#endif
