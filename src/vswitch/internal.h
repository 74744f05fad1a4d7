/* Declarations shared by the files of this library. */
#ifndef WEFT_VSWITCH_INTERNAL_H
#define WEFT_VSWITCH_INTERNAL_H

#include "base/map.h"
#include "base/time.h"
#include "vswitch/model/addresses.h"
#include "vswitch/model/move.h"
#include "vswitch/vswitch.h"

/* States of a request (docs/decisions/015-vswitch.md has the diagram). */
enum operation_state {
    OPERATION_WAITING,  /* until the manager is idle and a function is free */
    OPERATION_STEPPING, /* the steps of move.h are in progress */
    OPERATION_MOVING,   /* the manager changes LIDs and table entries */
    OPERATION_DONE,     /* what is wanted now is to be noted */
    OPERATION_SAVING,   /* and saved */
    OPERATION_OVER,
};

struct operation {
    struct vswitch_result result;
    char name[VSWITCH_NAME_LIMIT + 1], hypervisor[VSWITCH_NAME_LIMIT + 1];
    enum operation_state state;
    struct move move;
    enum move_step step;
    uint32_t pending_vf_port; /* VF port of the function that the step writes */
    const char *undo_reason;
    uint64_t change;     /* number of the manager's change of addresses */
    bool repeats;        /* of an earlier request what a fault has undone */
    uint32_t unwanted;   /* VF port that keeps a VM against an earlier request; or SUBNET_NONE */
    uint64_t generation; /* of the wanted VMs that has to be saved */
};

struct vswitch {
    struct sm *sm;
    VEC(struct operation *) operations; /* in the order of submission */
    VEC(struct vswitch_result) past;    /* ring of results, by request number */
    uint64_t tickets, last_ended;       /* of requests: issued; that of the last one that ended */
    uint16_t next_lid;                  /* where the search for a free LID continues */
    struct wanted_machines *wanted;
    struct seen { /* of the last comparison with the wanted VMs */
        uint64_t wanted, subnet, reports, ended, retry_at;
    } seen;
};

static inline const struct subnet *subnet_of(const struct vswitch *vswitch)
{
    return sm_subnet(vswitch->sm);
}

/* vswitch.c */
/* The description of a node other than a VM that has this GUID, or NULL. */
const char *names_owner(const struct vswitch *vswitch, uint64_t guid);

/* machines.c */
/* Adds a request of its own; `repeats` and `unwanted` as in struct operation. */
uint64_t operations_add(struct vswitch *vswitch, uint64_t now,
                        const struct vswitch_request *request, bool repeats, uint32_t unwanted);
bool operations_have(const struct vswitch *vswitch, uint64_t guid);

/* wanted.c */
uint64_t wanted_place(const struct vswitch *vswitch, uint32_t node);
/* Sets the row of the VM of a request at the vSwitch. */
void wanted_note(struct vswitch *vswitch, const struct operation *operation, uint32_t node,
                 enum machine_wish wish, const char *name, uint16_t lid);
/* Makes requests of what differs from the wanted VMs, if something changed. */
void wanted_carry_out(struct vswitch *vswitch, uint64_t now);

/* placement.c */
/* The vSwitch of a hypervisor by name or GUID, or SUBNET_NONE. */
uint32_t placement_find(const struct vswitch *vswitch, const char *name);
/* A free function of the vSwitch, or SUBNET_NONE. */
uint32_t placement_function(const struct vswitch *vswitch, uint32_t node);
/* A free function of the least loaded hypervisor; with a source, at the same leaf switch if
 * possible. */
uint32_t placement_auto(const struct vswitch *vswitch, uint32_t source);
/* A VM can be attached there, and no request does that. */
bool placement_is_free(const struct vswitch *vswitch, uint32_t vf_port);
bool placement_is_taken(const struct vswitch *vswitch, uint32_t vf_port);

#endif
