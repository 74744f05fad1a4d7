/* Virtual functions (VFs) of hypervisors' adapters: known and wanted state of each.
 *
 * A hypervisor's adapter in vSwitch mode (wire/vswitch.h, CLUSTER 2015) is a small switch, the
 * vSwitch, with a physical function (PF) and virtual functions behind it. A VF port is the
 * vSwitch's port of one virtual function. Every VF port has a row here; the function itself has a
 * node and a port in the subnet only while it has a LID or is about to get one.
 *
 * The known state is the last answer of the vSwitch (functions_update_known()). The wanted state
 * follows from the LID assigned to the function's port or, while a request about a virtual machine
 * (VM) holds the function, from that request (functions_want()). Only sm/tables/functions.c writes
 * differences to the fabric.
 *
 * The GUID of its port identifies a VM; the VM is attached to the function that reports this GUID.
 * If two functions report it, the VM is at the first one until vswitch/model decides. */
#ifndef WEFT_SUBNET_FUNCTIONS_H
#define WEFT_SUBNET_FUNCTIONS_H

#include "base/map.h"
#include "base/mem.h"
#include "wire/vswitch.h"

#include <stdbool.h>
#include <stdint.h>

struct subnet;

/* As in the attribute VirtualFunction. */
struct function_setting {
    uint16_t lid; /* 0: the function is down */
    uint8_t lmc;
    bool attached;                     /* a virtual machine has it */
    uint64_t guid;                     /* of its port; 0: the initial GUID of the function */
    char name[VSWITCH_NAME_BYTES + 1]; /* of the VM; "": not known, or too long */
};

/* The order of a request to a function, and its outcome. */
enum function_order { ORDER_NONE, ORDER_SETTING, ORDER_KEYS };
enum function_outcome {
    FUNCTION_PENDING,
    FUNCTION_DONE,
    FUNCTION_REFUSED,
    FUNCTION_LOST, /* no answer: the request may have been executed */
};

struct virtual_function {
    uint32_t vf_port;
    uint32_t port; /* see functions_port() */
    /* Known; the LID is in the PortInfo of the function's port. */
    bool attached;
    uint64_t guid;
    char name[VSWITCH_NAME_BYTES + 1]; /* of its VM; "": none, or not known */
    /* Wanted. */
    bool evicted; /* its VM is attached to another function: detach it */
    bool held;    /* only the request that holds it may write it */
    enum function_order order;
    enum function_outcome outcome;  /* of ORDER_KEYS: FUNCTION_DONE when the blocks are wanted */
    struct function_setting wanted; /* of ORDER_SETTING */
    uint64_t key_owner;             /* while held: GUID of the VM whose P_Keys it gets; 0: none */
    bool writing;                   /* a Set is in progress */
};

struct virtual_functions {
    VEC(struct virtual_function) rows;
    bool dynamic; /* only functions with a VM have LIDs */
    uint8_t lmc;
    struct map machines;     /* port GUID of a VM → VF port */
    VEC(uint32_t) contested; /* VF ports that report a VM of another VF port */
    uint32_t writing;        /* number of Sets in progress */
    /* Counters of functions that came up and of holds that ended, for P_Key and QoS planning. */
    uint64_t activations, holds_ended;
    uint64_t reports; /* counts changes of what functions report */
};
/* The number of activations to plan for. It stays at `planned` while Sets are in progress, so that
 * functions that come up together are planned together. */
static inline uint64_t functions_activations(const struct virtual_functions *functions,
                                             uint64_t planned)
{
    return functions->writing ? planned : functions->activations;
}

void functions_release(struct virtual_functions *functions);
/* Adds rows for the VF ports of a new vSwitch. */
void functions_add(struct subnet *subnet, uint32_t vswitch);
/* NULL if the port is not a VF port. */
struct virtual_function *functions_at(const struct subnet *subnet, uint32_t vf_port);
/* The port of the function, also while its hypervisor is absent; or SUBNET_NONE. */
uint32_t functions_port(const struct subnet *subnet, uint32_t vf_port);
/* The function with this port, or NULL. */
struct virtual_function *functions_of_port(const struct subnet *subnet, uint32_t port);
/* The VF port of the VM, or SUBNET_NONE. */
uint32_t functions_find_vm(const struct subnet *subnet, uint64_t guid);
/* True if this manager has configured the PF. Only then the other functions can be written. */
bool functions_pf_is_ready(const struct subnet *subnet, uint32_t vswitch);

/* True if a VM can be attached to the function. */
bool functions_is_free(const struct subnet *subnet, uint32_t vf_port);
/* True while a Set of the function, or of the P_Keys of its port, is in progress. */
bool functions_is_busy(const struct subnet *subnet, uint32_t vf_port);

/* Stores the answer of a vSwitch to Get or Set. False if another node has the GUID. */
bool functions_update_known(struct subnet *subnet, uint32_t vf_port, const uint8_t *data);
/* Copies the settings of the PF, and of its switch port, to functions that came up before the PF
 * was known. */
void functions_copy_pf_settings(struct subnet *subnet);
/* The function is down: frees its LID and removes its node. */
void functions_set_down(struct subnet *subnet, uint32_t vf_port);

/* ---- wanted state ---- */

/* Only the request that holds a function may write it, until functions_end_hold(). */
void functions_hold(struct subnet *subnet, uint32_t vf_port);
/* The VM of the function is detached: another function has its GUID. */
void functions_evict(struct subnet *subnet, uint32_t vf_port);
/* The outcome of what was wanted. A function that is set is no longer evicted. */
void functions_end_order(struct virtual_function *function, enum function_outcome outcome);
/* Holds the function and sets its wanted state. */
void functions_want(struct subnet *subnet, uint32_t vf_port, const struct function_setting *wanted);
/* Writes the P_Keys of a VM to a function that is held and has a LID, before the VM is attached. So
 * a VM never starts with the P_Keys of another one. */
void functions_want_keys(struct subnet *subnet, uint32_t vf_port, uint64_t guid);
enum function_outcome functions_outcome(const struct subnet *subnet, uint32_t vf_port);
/* Ends the hold. */
void functions_end_hold(struct subnet *subnet, uint32_t vf_port);
/* Returns the wanted setting; true if it must be written. */
bool functions_differ(const struct subnet *subnet, uint32_t vf_port,
                      struct function_setting *wanted);

#endif
