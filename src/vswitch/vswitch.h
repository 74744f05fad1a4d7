/* Virtual machines with InfiniBand addresses of their own: where they are, and how they move.
 *
 * A core like the manager's, and on top of it: no clock, no socket, no thread. Its owner asks for
 * machines to be created, destroyed and migrated, calls vswitch_advance() whenever the manager has
 * had its turn or the deadline has passed, and looks how far each request is. What there is it
 * reads from the subnet; it keeps nothing that a manager which takes over could not find out.
 *
 *   machines.c   requests, one state machine each
 *   placement.c  which hypervisor, which function
 *   move.c       which functions are told what, in which order
 *   model        addresses and terminals, as far as the manager needs them when it plans
 *   waves.c      entries that follow a machine
 *   columns.c    which entries change, and in which order
 *   safety.c     whether that can deadlock, where ranks do not say
 *   vswitch.c    birth, lists
 *
 * A machine is known by the GUID of its port, which moves with it, as its LID does. */
#ifndef WEFT_VSWITCH_VSWITCH_H
#define WEFT_VSWITCH_VSWITCH_H

#include "base/err.h"
#include "sm/sm.h"
#include "vswitch/columns.h"

enum { VSWITCH_NAME_MOST = 64 }; /* bytes of a machine's name, and of a hypervisor's description */

enum vswitch_verb { VSWITCH_CREATE, VSWITCH_DESTROY, VSWITCH_MIGRATE };

struct vswitch_request {
    enum vswitch_verb verb;
    uint64_t guid;          /* of the machine: see vswitch_guid() */
    const char *name;       /* for people; copied; NULL: none */
    const char *hypervisor; /* name or GUID; NULL: whichever suits best */
    enum vswitch_mode mode;
};

enum vswitch_state { VSWITCH_PENDING, VSWITCH_DONE, VSWITCH_FAILED };

/* How a request went. */
struct vswitch_result {
    uint64_t ticket;
    struct vswitch_request request; /* its strings are not kept */
    enum vswitch_state state;
    uint64_t submitted_ns, began_ns, ended_ns; /* ended: all tables were acknowledged */
    uint16_t lid;
    uint32_t from, to;             /* vSwitches (nodes of the subnet), or SUBNET_NONE */
    unsigned function_smps;        /* to hypervisors */
    unsigned table_smps, switches; /* blocks written and switches touched on its account; blocks
                                      that others share count for each. If it was rerouted nobody
                                      knows: they are not to be shown */
    unsigned waves, drains;
    bool rerouted; /* routes were computed anew meanwhile, or had to be */
    char text[256];
};

struct vswitch;
struct vswitch *vswitch_new(struct sm *sm); /* the manager stays the caller's, and outlives it */
void vswitch_free(struct vswitch *vswitch); /* accepts NULL */

/* "0x…" is that GUID; any other name stands for one that follows from it, the same everywhere. 0
 * if there is no name, or more than 64 bits of a GUID. */
uint64_t vswitch_guid(const char *name);

/* Whether a request makes sense: a new machine's name must not be too long, nor have control
 * characters. 0 or -EINVAL. */
int vswitch_check(const struct vswitch_request *request, struct err *err);
/* Returns the ticket, or 0 with the reason. A GUID that a node or port has which is no machine
 * cannot be a machine's. The same request twice is carried out once: what is as
 * it is asked to be is done at once. */
uint64_t vswitch_submit(struct vswitch *vswitch, uint64_t now,
                        const struct vswitch_request *request, struct err *err);
/* NULL for a ticket that was never given out, or is so old that it was forgotten. */
const struct vswitch_result *vswitch_result(const struct vswitch *vswitch, uint64_t ticket);
unsigned vswitch_pending(const struct vswitch *vswitch);

void vswitch_advance(struct vswitch *vswitch, uint64_t now);
uint64_t vswitch_deadline(const struct vswitch *vswitch);

struct vswitch_machine {
    uint64_t guid;
    const char *name; /* "": nobody said one since this manager started */
    uint16_t lid;
    uint32_t socket;  /* where it is: port of a vSwitch */
    uint32_t vswitch; /* node */
    unsigned function;
    bool reachable; /* its hypervisor is there */
    bool moving;
};
/* All machines, in the order of hypervisors: call with *cursor 0 first. */
bool vswitch_next_machine(const struct vswitch *vswitch, uint32_t *cursor,
                          struct vswitch_machine *machine);
bool vswitch_find_machine(const struct vswitch *vswitch, uint64_t guid,
                          struct vswitch_machine *machine);
/* What people call a hypervisor: the description of its adapter. */
const char *vswitch_hypervisor_name(const struct vswitch *vswitch, uint32_t node);

/* Sums since the beginning. */
struct vswitch_counts {
    uint64_t created, destroyed, migrated, failed;
    uint64_t function_smps, table_smps; /* table_smps: as written, shared blocks once */
    uint64_t drains, reroutes;
};
void vswitch_counts(const struct vswitch *vswitch, struct vswitch_counts *counts);

#endif
