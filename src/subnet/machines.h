/* What is wanted of virtual machines (VMs): where each runs, and where one is still to be removed.
 *
 * A request about a VM that has ended changes a row here, so that it holds although a hypervisor is
 * cut off, its adapter restarts, or another manager takes over. A VM runs at one place at most.
 * Where it may run against a request (its hypervisor was absent), a row says so until the VM is
 * removed. The registry of the SA owns the rows: they are saved and replicated with registrations
 * (sa/persist.c). vswitch/wanted.c carries them out.
 *
 * Each request that changes a VM gets a number, the decision, that is higher than all that the
 * manager knows. It tells which of two managers knows more of a VM. A VM that a manager only finds
 * at a hypervisor, or starts again, is no decision.
 *
 * A row that ended stays, so that other managers learn of it, until many have ended. */
#ifndef WEFT_SUBNET_MACHINES_H
#define WEFT_SUBNET_MACHINES_H

#include "base/map.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

enum { MACHINE_NAME_LIMIT = 64, WANTED_MACHINES_LIMIT = 131072 };

enum machine_wish { MACHINE_ENDED, MACHINE_RUNS, MACHINE_REMOVED };

struct wanted_machine {
    uint64_t guid, place; /* of the VM's port; of the vSwitch */
    enum machine_wish wish;
    uint16_t lid;                         /* the last one; 0: not known */
    char name[MACHINE_NAME_LIMIT + 1];    /* of the VM; "": not known */
    char adapter[MACHINE_NAME_LIMIT + 1]; /* description of the hypervisor's adapter */
    uint64_t changed;                     /* generation of the registry at the last change */
    uint64_t decision;                    /* 0: none is known */
    uint64_t decided;                     /* generation at the last decision of this run, or 0 */
    uint32_t next;                        /* row of the same VM, or MAP_NONE */
};

struct wanted_machines {
    VEC(struct wanted_machine) rows;
    struct map by_guid;        /* GUID → its last row */
    size_t ended;              /* rows that ended */
    uint64_t dropped;          /* generation when rows that ended were dropped */
    uint64_t decisions;        /* the last one */
    uint64_t decision_dropped; /* the last one of the dropped rows */
    uint64_t last;             /* generation of the last change */
    uint64_t *generation, own; /* counts changes: that of the registry, or `own` */
    uint64_t kept;             /* changes up to this generation are saved */
};

/* `generation` of the owner, or NULL: then nothing is saved, and nobody waits for it. */
void wanted_machines_init(struct wanted_machines *wanted, uint64_t *generation);
void wanted_machines_release(struct wanted_machines *wanted);
/* The row of the VM at a place, or NULL; where it is to run, or NULL. Valid until the next change.
 */
const struct wanted_machine *wanted_machines_at(const struct wanted_machines *wanted, uint64_t guid,
                                                uint64_t place);
const struct wanted_machine *wanted_machines_running(const struct wanted_machines *wanted,
                                                     uint64_t guid);
/* A row that has not ended, or NULL. */
const struct wanted_machine *wanted_machines_any(const struct wanted_machines *wanted,
                                                 uint64_t guid);
/* Adds or replaces the row of the VM at its place; an empty name or adapter leaves the known one. A
 * VM that runs there is to be removed everywhere else. */
void wanted_machines_set(struct wanted_machines *wanted, const struct wanted_machine *row);
/* The same for a new decision. */
void wanted_machines_decide(struct wanted_machines *wanted, const struct wanted_machine *row);
/* What is known of a VM, apart from changes after generation `until`. */
struct machine_history {
    bool known;                          /* it has rows */
    uint64_t changed, decided, decision; /* the last ones of its rows */
};
struct machine_history wanted_machines_history(const struct wanted_machines *wanted, uint64_t guid,
                                               uint64_t until);
void wanted_machines_clear(struct wanted_machines *wanted);

#endif
