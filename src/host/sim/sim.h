/* The simulator host: managers on a simulated fabric, all in virtual time.
 *
 * It owns the clock that the cores do not have. Each manager sits at a port; what it sends enters
 * the fabric there, what is delivered there it receives, and its deadlines are events like any
 * other.
 *
 * Routes take time: the operations of a job, counted while it runs here, at the fabric's price for
 * one (attribute `compute`). A manager works on one job after the other, beside all else, as a
 * daemon with a thread for them does. With `paper_compute` it has that one thread alone: the steps
 * of the papers' own algorithms count, and until they are done it neither hears nor says anything.
 */
#ifndef WEFT_HOST_SIM_SIM_H
#define WEFT_HOST_SIM_SIM_H

#include "fabric/fabric.h"
#include "host/sim/sim_administration.h"
#include "sm/sm.h"
#include "vswitch/vswitch.h"

struct sim;

struct sim *sim_new(struct fabric *fabric); /* the fabric stays the caller's */
void sim_free(struct sim *sim);             /* and its managers */

/* A job that is done, successful or not, and is handed back to its manager now. */
struct sim_computation {
    const struct sm_job *job;
    uint64_t begin, end; /* it may have waited for another one before it began */
    uint64_t operations;
};
/* Hears of what managers do; each may be NULL. */
struct sim_listener {
    void *context;
    void (*event)(void *context, uint64_t now, unsigned manager, const struct sm_event *event);
    void (*sent)(void *context, uint64_t now, unsigned manager, const struct sm_message *message);
    void (*computed)(void *context, uint64_t now, unsigned manager,
                     const struct sim_computation *computation);
};
void sim_set_listener(struct sim *sim, const struct sim_listener *listener);

/* Puts a manager at a port (port 0 of a switch, or an adapter's) and starts it; its number. */
unsigned sim_add_manager(struct sim *sim, uint32_t port, const struct sm_config *config);
/* The same with one that the caller has made; it is the simulation's from then on. */
unsigned sim_seat_manager(struct sim *sim, uint32_t port, struct sm *sm);
void sim_kill_manager(struct sim *sim, unsigned manager);  /* without a word to anybody */
struct sm *sim_manager(struct sim *sim, unsigned manager); /* NULL if it was killed */
/* Virtual machines: what vswitch/vswitch.h says, of one manager (NULL if it was killed). */
struct vswitch *sim_machines(struct sim *sim, unsigned manager);
/* A ticket, or 0 with the reason; the request goes on as time does. */
uint64_t sim_vm_ask(struct sim *sim, unsigned manager, const struct vswitch_request *request,
                    struct err *err);
/* Runs until it is done or failed, or `limit` has passed; NULL if the manager was killed. */
const struct vswitch_result *sim_vm_wait(struct sim *sim, unsigned manager, uint64_t ticket,
                                         uint64_t limit);
unsigned sim_manager_count(const struct sim *sim); /* killed ones too */

/* Seats a subnet administration beside every manager that is there or comes later; without it hosts
 * can ask nobody (data traffic need not: sim_paths.h). */
void sim_administer(struct sim *sim, const struct sim_administration_options *options);
struct sa *sim_sa(struct sim *sim, unsigned manager); /* NULL if there is none */
struct mad_layer *sim_mads(struct sim *sim); /* of all hosts; NULL without administration */
/* Somebody who is called whenever MADs have come in or time has passed; its deadline counts, too.
 */
struct sim_attendant {
    void *context; /* NULL: nobody */
    uint64_t (*attend)(void *context, uint64_t now);
};
void sim_set_attendant(struct sim *sim, const struct sim_attendant *attendant);

/* The simulation's clock counts picoseconds, and so do all times here; managers count nanoseconds.
 * What they are told is the time rounded down. Their deadlines are whole nanoseconds, at which both
 * clocks show the same: no manager is called before its time, or again and again until it comes. */
uint64_t sim_now(const struct sim *sim);
uint64_t sim_now_ns(const struct sim *sim); /* for calls of a manager */
/* Everything that is due now, then on to the next thing that happens; false: that is at `until`. */
bool sim_step(struct sim *sim, uint64_t until);
void sim_run(struct sim *sim, uint64_t until);
/* Runs until `manager` is settled, or `limit` has passed; true if it is. */
bool sim_run_until_settled(struct sim *sim, unsigned manager, uint64_t limit);

#endif
