/* Virtual machines (VMs) with their own InfiniBand addresses: placement and migration.
 *
 * A core without clock, socket or thread, on top of the manager's core. Its owner submits requests
 * to create, destroy and migrate VMs, calls vswitch_advance() after each turn of the manager, and
 * reads the results. Hypervisors report their VMs, and what is wanted of them is saved
 * (subnet/machines.h), so a manager that takes over has all state.
 *
 *   machines.c   requests, one state machine each
 *   placement.c  choice of hypervisor and function
 *   wanted.c     carries out again what a fault has undone
 *   model        steps of a move, and what the manager needs for planning
 *   vswitch.c    creation, names, lists
 *
 * A VM is identified by the GUID of its port. The GUID and the LID move with it. */
#ifndef WEFT_VSWITCH_VSWITCH_H
#define WEFT_VSWITCH_VSWITCH_H

#include "base/err.h"
#include "sm/sm.h"
#include "subnet/machines.h"
#include "vswitch/mode.h"

enum { VSWITCH_NAME_LIMIT = MACHINE_NAME_LIMIT }; /* bytes of the name of a VM or hypervisor */

enum vswitch_verb { VSWITCH_CREATE, VSWITCH_DESTROY, VSWITCH_MIGRATE };

struct vswitch_request {
    enum vswitch_verb verb;
    uint64_t guid;          /* of the VM: see vswitch_guid() */
    const char *name;       /* for display; or NULL */
    const char *hypervisor; /* name or GUID; NULL: the least loaded */
    enum vswitch_mode mode;
};

enum vswitch_state { VSWITCH_PENDING, VSWITCH_DONE, VSWITCH_FAILED };

/* Result of a request. */
struct vswitch_result {
    uint64_t ticket;
    struct vswitch_request request; /* its strings are not kept */
    enum vswitch_state state;
    uint64_t submitted_ns, began_ns, ended_ns; /* ended: all tables were acknowledged */
    uint16_t lid;
    uint32_t from, to;             /* vSwitches (nodes of the subnet), or SUBNET_NONE */
    unsigned function_smps;        /* to hypervisors */
    unsigned table_smps, switches; /* LFT blocks and switches written for it; a block shared by
                                      requests counts for each. Not valid if `rerouted` */
    unsigned waves, drains;
    uint64_t drained_ns;
    bool rerouted; /* routes were recomputed during the request */
    char text[256];
};

struct vswitch;
/* The caller owns both, which must outlive it. */
struct vswitch *vswitch_new(struct sm *sm, struct wanted_machines *wanted);
void vswitch_free(struct vswitch *vswitch); /* accepts NULL */

/* "0x…" is a GUID; any other name is hashed to a GUID. 0 for an empty name or a GUID of more than
 * 64 bits. */
uint64_t vswitch_guid(const char *name);

/* Validates a request: the name of a new VM has a maximum length and no control characters. 0 or
 * -EINVAL. */
int vswitch_check(const struct vswitch_request *request, struct err *err);
/* Returns the ticket, or 0 and the error. A GUID of a node or port that is not a VM is refused.
 * Requests are idempotent: one whose result already holds succeeds at once. */
uint64_t vswitch_submit(struct vswitch *vswitch, uint64_t now,
                        const struct vswitch_request *request, struct err *err);
/* NULL for a ticket that was never issued or has expired. */
const struct vswitch_result *vswitch_result(const struct vswitch *vswitch, uint64_t ticket);
/* Of the request that ended last; NULL: none has. */
const struct vswitch_result *vswitch_last_result(const struct vswitch *vswitch);
unsigned vswitch_pending(const struct vswitch *vswitch);

void vswitch_advance(struct vswitch *vswitch, uint64_t now);

struct vswitch_vm {
    uint64_t guid;
    const char *name; /* "": not known */
    uint16_t lid;
    const char *hypervisor; /* description of its adapter */
    uint32_t vf_port;       /* port of the vSwitch; SUBNET_NONE: no function is known to have it */
    uint32_t vswitch;       /* node, or SUBNET_NONE */
    unsigned function;
    bool reachable; /* its hypervisor is present */
    bool moving;
    bool removed; /* as soon as its hypervisor is back */
};
/* Iterates over VMs in the order of hypervisors, then over what is still to be carried out. *cursor
 * is 0 at first. */
bool vswitch_next_vm(const struct vswitch *vswitch, uint32_t *cursor, struct vswitch_vm *machine);
bool vswitch_find_vm(const struct vswitch *vswitch, uint64_t guid, struct vswitch_vm *machine);
/* The description of the hypervisor's adapter. */
const char *vswitch_hypervisor_name(const struct vswitch *vswitch, uint32_t node);

#endif
