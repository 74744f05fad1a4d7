/* Virtual machines: `vm` statements, executed by the master, and their figures.
 *
 *   machines.c          orders, from submission to completion; the data path follows the machine
 *   machines_churn.c    machines that start, move and stop at a given rate
 *   machines_figures.c  figures
 *   machines_check.c    `check machines`, which reads the fabric and no manager
 *   machine_smps.c      SMPs that machines send from QP0
 *   shared_port.c       machines without LIDs of their own, for comparison
 *
 * A machine with traffic is a virtual machine of the fabric. It stops when its move begins at the
 * manager and continues when its function at the target is up. An order whose manager dies or loses
 * mastership is submitted to the next master. */
#ifndef WEFT_EXPERIMENT_RUN_MACHINES_H
#define WEFT_EXPERIMENT_RUN_MACHINES_H

#include "base/map.h"
#include "base/rng.h"
#include "console/action.h"
#include "experiment/check/checks.h"
#include "experiment/measure/statistics.h"
#include "fabric/data.h"
#include "vswitch/vswitch.h"

struct setup;
struct shared_port;
struct sim_smp;

struct machine {
    const char *name;
    uint64_t guid;
    uint32_t vm;       /* virtual machine of the fabric; TOPOLOGY_NONE: it has no traffic */
    uint32_t function; /* at a shared port: port of its virtual function, or TOPOLOGY_NONE */
    bool named;        /* by a statement, not by a churn */
    bool wanted;       /* started and not stopped since */
    bool running;      /* the last completed order left it running */
    uint32_t orders;   /* open orders */
    uint16_t lid;
    uint32_t moves;
    uint32_t reported_to, reported_from; /* interruptions that the series include */
    struct vswitch_result last;          /* last move, or start */
};

struct machine_order {
    uint32_t machine;
    enum vswitch_verb verb;
    char place[32]; /* GUID of the hypervisor; "": the manager chooses */
    enum vswitch_mode mode;
    uint64_t submitted;
    uint32_t manager;    /* index in the simulator */
    uint64_t request_id; /* at the manager; 0: not submitted */
    bool begun, resumed; /* resumed: the machine runs at the target */
    uint32_t from;       /* port of the machine before the order */
};

struct churn {
    uint64_t boot_every, move_every; /* 0: none */
    uint64_t next_boot, next_move, until;
    uint32_t most; /* limit of running machines */
    enum vswitch_mode mode;
    uint32_t boots;
    VEC(uint32_t) machines; /* running machines, the oldest first */
    struct rng rng;
};

/* Sums over all orders of one kind. */
struct order_sums {
    uint64_t done, failed, retried;
    struct summary time, drained, function_smps, table_smps, switches; /* of completed orders */
    struct histogram times;
    uint64_t drains, reroutes;
};

struct machines {
    VEC(struct machine) items;
    struct name_map by_name;
    VEC(struct machine_order) orders; /* open orders */
    VEC(struct churn) churns;
    VEC(uint32_t) hypervisors; /* nodes of adapters with virtual functions */
    struct order_sums sums[3]; /* by enum vswitch_verb */
    uint64_t first_order, first_churn, last_done;
    uint64_t
        others_lost;  /* lost packets of machines that did not move, sent since the first order */
    uint64_t skipped; /* boots and moves that churns skipped */
    uint64_t running; /* machines */
    bool is_shared;
    struct shared_port *shared; /* NULL: machines have LIDs of their own */
    VEC(struct sim_smp *) smps; /* SMPs of machines without an answer yet */
    uint64_t smps_sent, smps_answered;
};

/* Applies `set vm KEY VALUE`. */
int machines_set(struct setup *setup, const struct word *key, const struct word *value,
                 struct cursor *cursor);
/* Adds the machines that statements start. */
int machines_bind(struct setup *setup);
/* Adds a machine while the run is under way. */
int machines_add_later(struct setup *setup, const struct word *name, struct cursor *cursor);
int machines_bind_action(const struct setup *setup, const struct action *action,
                         struct cursor *cursor);
/* Names of machines for traffic; machine i is the end point DATA_VM + i. */
size_t machines_names(const struct setup *setup, const char ***names);
void machines_begin(struct setup *setup); /* called when the fabric exists */
void machines_release(struct setup *setup);

void machines_apply(struct setup *setup, const struct action *action);
/* Submits an order. A failure is reported when the order completes. */
void machines_order(struct setup *setup, uint32_t machine, enum vswitch_verb verb,
                    uint32_t hypervisor, enum vswitch_mode mode);

/* The next time at which machines_update() must be called, or TIME_NEVER. */
uint64_t machines_next(const struct setup *setup);
bool machines_are_busy(
    const struct setup *setup); /* machines_update() must be called after every event */
void machines_update(struct setup *setup, uint64_t now);
void machines_delivered(struct setup *setup, uint64_t now, const struct packet_view *packet);
void machines_lost(struct setup *setup, const struct packet_view *packet);
bool machines_are_settled(const struct setup *setup, struct check_failure *failure);

void machines_publish(struct setup *setup, uint64_t now);
bool machines_hold(const struct setup *setup, struct check_failure *failure);

/* ---- between the files ---- */

uint32_t machines_add(struct setup *setup, const char *name, bool named);
void machines_done(struct setup *setup, const struct machine_order *order,
                   const struct vswitch_result *result);
/* The port of the virtual function of a machine, or TOPOLOGY_NONE. */
uint32_t machines_port(const struct setup *setup, uint32_t machine);
void machine_smps_begin(struct setup *setup);
void machine_smps_release(struct setup *setup);
void machine_smp_send(struct setup *setup, uint32_t machine);
void machine_smps_update(struct setup *setup);
void churn_begin(struct setup *setup, const struct action *action);
void churns_update(struct setup *setup, uint64_t now);

#endif
