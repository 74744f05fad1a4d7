/* Virtual functions (VFs) of hypervisors' adapters: known and wanted state of each.
 *
 * A hypervisor's adapter in vSwitch mode (wire/vswitch.h, paper 004) is a small switch, the
 * vSwitch, with a physical function (PF) and virtual functions behind it. A socket is the vSwitch's
 * port of one virtual function. Every socket has a row here; the function itself has a node and a
 * port in the subnet only while it has a LID or is about to get one.
 *
 * The known state is the last answer of the vSwitch (functions_learn()). The wanted state follows
 * from the LID assigned to the function's port or, while a request about a virtual machine (VM)
 * holds the function, from that request (functions_want()). Only sm/functions.c writes differences
 * to the fabric.
 *
 * The GUID of its port identifies a VM; the VM is attached to the function that reports this GUID.
 * If two functions report it, the first one counts until vswitch/model decides. */
#ifndef WEFT_SUBNET_FUNCTIONS_H
#define WEFT_SUBNET_FUNCTIONS_H

#include "base/map.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct subnet;

/* As in the attribute VirtualFunction. */
struct function_setting {
    uint16_t lid; /* 0: the function is down */
    uint8_t lmc;
    bool attached; /* a virtual machine has it */
    uint64_t guid; /* of its port; 0: the function's own */
};

/* The order of a request to a function, and its outcome. */
enum function_order { ORDER_NONE, ORDER_SETTING, ORDER_KEYS };
enum function_outcome {
    FUNCTION_PENDING,
    FUNCTION_DONE,
    FUNCTION_REFUSED,
    FUNCTION_LOST, /* no answer: it may or may not have been carried out */
};

struct virtual_function {
    uint32_t socket;
    uint32_t port; /* see functions_port() */
    /* Known; the LID is in the PortInfo of the function's port. */
    bool attached;
    uint64_t guid;
    /* Wanted. */
    bool evicted; /* the machine that it shows is somewhere else: it is to be detached */
    bool held;    /* for a request about a machine: nobody else writes it */
    enum function_order order;
    enum function_outcome outcome;  /* of keys: FUNCTION_DONE as soon as they are wanted blocks */
    struct function_setting wanted; /* of ORDER_SETTING */
    uint64_t
        key_owner; /* while it is held: the machine whose partition keys it is to have; 0: none */
    bool writing;  /* a Set is under way */
};

struct virtual_functions {
    VEC(struct virtual_function) rows;
    bool dynamic;            /* a function has no LID until a machine is attached */
    uint8_t lmc;             /* of functions */
    struct map machines;     /* port GUID of a machine → socket */
    VEC(uint32_t) contested; /* sockets that show a machine which counts as being elsewhere */
    uint32_t writing;        /* Sets under way */
    /* Counters of functions that came up and of holds that ended, for P_Key and QoS planning. */
    uint64_t activations, holds_ended;
};
/* The number of activations to plan for. It stays at `planned` while Sets are in progress, so that
 * functions that come up together are planned together. */
static inline uint64_t functions_activations(const struct virtual_functions *functions,
                                             uint64_t planned)
{
    return functions->writing ? planned : functions->activations;
}

void functions_release(struct virtual_functions *functions);
/* Rows for the sockets of a vSwitch that was just found. */
void functions_add(struct subnet *subnet, uint32_t vswitch);
/* NULL for ports that are no sockets. */
struct virtual_function *functions_at(const struct subnet *subnet, uint32_t socket);
/* The function's own port, also while its hypervisor is away; SUBNET_NONE: it has none. */
uint32_t functions_port(const struct subnet *subnet, uint32_t socket);
/* The function whose own port this is; NULL for all other ports. */
struct virtual_function *functions_of_port(const struct subnet *subnet, uint32_t port);
/* The socket that shows this machine, or SUBNET_NONE. */
uint32_t functions_find_machine(const struct subnet *subnet, uint64_t guid);
/* The physical function is up under this manager: others of its adapter can be written. */
bool functions_pf_is_ready(const struct subnet *subnet, uint32_t vswitch);

/* True if a VM can be attached to it. */
bool functions_is_free(const struct subnet *subnet, uint32_t socket);
/* A Set of the function, or of its port's partition keys, is under way. */
bool functions_is_busy(const struct subnet *subnet, uint32_t socket);

/* What a vSwitch answered to Get or Set. False if another node has the function's GUID. */
bool functions_learn(struct subnet *subnet, uint32_t socket, const uint8_t *data);
/* A function that is up has the settings of the PF, and its socket those of the PF's: also those
 * that came up before their PF was known. */
void functions_fill_in_all(struct subnet *subnet);
/* The function is down: its address is free, and its node is gone. */
void functions_unplug(struct subnet *subnet, uint32_t socket);

/* ---- what is wanted ---- */

/* Holds the function and sets its wanted state. */
void functions_want(struct subnet *subnet, uint32_t socket, const struct function_setting *wanted);
/* Partition keys go before machines, so that nobody ever starts with another's: a function that is
 * held and whose LID is up gets those of the machine that is about to have it. */
void functions_want_keys(struct subnet *subnet, uint32_t socket, uint64_t guid);
enum function_outcome functions_outcome(const struct subnet *subnet, uint32_t socket);
/* Ends the hold. */
void functions_end_hold(struct subnet *subnet, uint32_t socket);
/* Returns the wanted setting; true if it must be written. */
bool functions_differ(const struct subnet *subnet, uint32_t socket,
                      struct function_setting *wanted);

#endif
