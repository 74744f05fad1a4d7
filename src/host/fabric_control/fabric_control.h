/* The commands of `weft ctl` for a simulated fabric: reports and faults. `weft fabric` and `weft
 * live` serve them. Reports read the fabric; a fault is read into a struct, which the server
 * applies: at once, or as a statement of a session. */
#ifndef WEFT_HOST_FABRIC_CONTROL_FABRIC_CONTROL_H
#define WEFT_HOST_FABRIC_CONTROL_FABRIC_CONTROL_H

#include "base/control_command.h"
#include "fabric/data.h"
#include "fabric/fabric.h"

enum fabric_command_kind {
    FABRIC_LINK_DOWN, /* port */
    FABRIC_LINK_UP,
    FABRIC_TURN_OFF, /* node */
    FABRIC_TURN_ON,
    FABRIC_FLAP,       /* port */
    FABRIC_DROP,       /* port, attribute, value, amount */
    FABRIC_SLOW_AGENT, /* node, value, amount */
    FABRIC_MUTE_AGENT, /* node */
    FABRIC_HEAL_AGENT,
    FABRIC_GUID,           /* node, value */
    FABRIC_BIT_ERRORS,     /* port, value */
    FABRIC_BIT_ERROR_RATE, /* the same, a second */
};

/* A fault, whose names and numbers are valid for the fabric. */
struct fabric_command {
    enum fabric_command_kind kind;
    uint32_t node, port; /* TOPOLOGY_NONE: none */
    unsigned attribute;  /* 0: all */
    uint64_t value;
    const char *amount; /* a percentage or a time as the client wrote it */
};

/* What a server lets its clients see and do. */
struct fabric_access {
    struct fabric *fabric;
    uint64_t wall_ps; /* wall clock since the start */
    const char *pace;
    void *context; /* of the functions */
    int (*apply)(void *context, const struct fabric_command *command, struct err *err);
    /* Adds members to the status, and lines; may be NULL. */
    void (*put_status)(void *context, struct record *record);
    /* DLID and SL of the path between two end ports; dlid 0: there is none. NULL: the LID that the
     * destination has, SL 0. */
    struct data_path (*find_path)(void *context, uint32_t source, uint32_t target);
    /* Starts or stops the data traffic; NULL: it cannot be changed. */
    int (*set_traffic)(void *context, bool sending, struct err *err);
    void (*stop)(void *context);
};

/* Whether a fabric has a fault of this name. */
bool fabric_control_has(const char *name);
/* 0, or -EINVAL with the error message in `out`. */
int fabric_control_run(const struct fabric_access *access, const char *const *words, unsigned count,
                       struct text *out);
/* Changes the fabric at once; traps and time-outs follow from that. */
int fabric_command_apply(struct fabric *fabric, const struct fabric_command *command,
                         struct err *err);
/* "leaf3:7" */
const char *fabric_control_label(const struct topology *topology, uint32_t port, char text[40]);

/* ---- fabric_report.c ---- */

/* status, counters, path, deadlock, stop */
extern const struct control_command fabric_commands[];

#endif
