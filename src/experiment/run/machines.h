/* The virtual machines of a stage: `vm` statements, carried out by whoever is master, and what
 * became of them.
 *
 *   machines.c          orders, from being asked to being done; guests of the fabric follow
 *   machines_churn.c    machines that start, move and end by themselves
 *   machines_figures.c  what is told of them all
 *   machines_check.c    `check machines`: asked of the fabric, not of managers
 *   shared_port.c       machines without LIDs of their own, for comparison
 *
 * A machine that traffic names is a guest of the fabric: it is stopped when its move begins at the
 * manager, and goes on when its function at the new place is up. An order whose manager dies, or
 * is master no longer, is given to the next one. */
#ifndef WEFT_EXPERIMENT_RUN_MACHINES_H
#define WEFT_EXPERIMENT_RUN_MACHINES_H

#include "base/map.h"
#include "base/rng.h"
#include "experiment/check/checks.h"
#include "experiment/measure/statistics.h"
#include "experiment/scenario/action.h"
#include "fabric/data.h"
#include "vswitch/vswitch.h"

struct setup;
struct shared_port;

struct machine {
    const char *name;
    uint64_t guid;
    uint32_t guest;  /* of the fabric; TOPOLOGY_NONE: no traffic knows it */
    bool named;      /* by a statement, not made by a churn */
    bool wanted;     /* it was started, and not stopped since */
    bool running;    /* as far as is known */
    uint32_t orders; /* that are open */
    uint16_t lid;
    uint32_t moves;
    uint32_t heard_to, heard_from; /* interruptions of its traffic that series have */
    struct vswitch_result last;    /* move, or start if there was none yet */
};

struct machine_order {
    uint32_t machine;
    enum vswitch_verb verb;
    char place[32]; /* a GUID, or "": whichever suits best */
    enum vswitch_mode mode;
    uint64_t asked;
    uint32_t manager;    /* of the simulator … */
    uint64_t ticket;     /* … and its ticket; 0: nobody could be asked yet */
    bool begun, resumed; /* resumed: its machine goes on at the new place */
    uint32_t from;       /* port where it was when it began */
};

struct churn {
    uint64_t boot_every, move_every; /* 0: none */
    uint64_t next_boot, next_move, until;
    uint32_t most; /* machines at a time */
    enum vswitch_mode mode;
    uint32_t boots;
    VEC(uint32_t) machines; /* those that are there, the oldest first */
    struct rng rng;
};

/* One kind of order: what all of them together took. */
struct order_sums {
    uint64_t done, failed, retried;
    struct summary time, function_smps, table_smps, switches; /* of those that were done */
    struct histogram times;
    uint64_t drains, reroutes;
};

struct machines {
    VEC(struct machine) items;
    struct name_map by_name;
    VEC(struct machine_order) orders; /* that are open */
    VEC(struct churn) churns;
    VEC(uint32_t) hypervisors; /* their adapters (nodes), where churns move machines to */
    struct order_sums sums[3]; /* by enum vswitch_verb */
    uint64_t first_order, first_churn, last_done;
    uint64_t others_lost; /* packets of those who did not move, made since the first order */
    uint64_t skipped;     /* by churns */
    uint64_t running;     /* machines */
    bool is_shared;
    struct shared_port *shared; /* NULL: machines have LIDs of their own */
};

/* set vm KEY VALUE, as far as it can be checked at once. */
int machines_set(const struct word *key, const struct word *value, struct cursor *cursor);
/* Machines that statements start, before the fabric is there. */
int machines_bind(struct setup *setup);
int machines_bind_action(const struct setup *setup, const struct action *action,
                         struct cursor *cursor);
/* Names of machines for traffic: their numbers are DATA_VM + i. */
size_t machines_names(const struct setup *setup, const char ***names);
void machines_begin(struct setup *setup); /* the fabric is there */
void machines_release(struct setup *setup);

void machines_perform(struct setup *setup, const struct action *action);
/* Somebody wants it; the reason is told when it fails. */
void machines_order(struct setup *setup, uint32_t machine, enum vswitch_verb verb,
                    uint32_t hypervisor, enum vswitch_mode mode);

/* The next time at which something must be done; TIME_NEVER. */
uint64_t machines_next(const struct setup *setup);
bool machines_are_busy(const struct setup *setup); /* every event may matter */
void machines_look(struct setup *setup, uint64_t now);
void machines_delivered(struct setup *setup, uint64_t now, const struct packet_view *packet);
void machines_lost(struct setup *setup, const struct packet_view *packet);
bool machines_are_settled(const struct setup *setup, struct complaint *complaint);

void machines_publish(struct setup *setup, uint64_t now);
bool machines_hold(const struct setup *setup, struct complaint *complaint);

/* ---- between the files ---- */

uint32_t machines_add(struct setup *setup, const char *name, bool named);
void machines_done(struct setup *setup, const struct machine_order *order,
                   const struct vswitch_result *result);
void churn_begin(struct setup *setup, const struct action *action);
void churns_look(struct setup *setup, uint64_t now);

#endif
