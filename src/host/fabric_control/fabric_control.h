/* The commands of `weft ctl` that read a simulated fabric. `weft fabric` and `weft live` serve
 * them. */
#ifndef WEFT_HOST_FABRIC_CONTROL_FABRIC_CONTROL_H
#define WEFT_HOST_FABRIC_CONTROL_FABRIC_CONTROL_H

#include "base/control_command.h"
#include "fabric/data.h"
#include "fabric/fabric.h"

/* What a server lets its clients see. */
struct fabric_access {
    struct fabric *fabric;
    uint64_t wall_ps; /* wall clock since the start */
    const char *pace;
    void *context; /* of the functions */
    /* Adds members to the status, and lines; may be NULL. */
    void (*put_status)(void *context, struct record *record);
    /* DLID and SL of the path between two end ports; dlid 0: there is none. NULL: the LID that the
     * destination has, SL 0. */
    struct data_path (*find_path)(void *context, uint32_t source, uint32_t target);
    void (*stop)(void *context);
};

/* "leaf3:7" */
const char *fabric_control_label(const struct topology *topology, uint32_t port, char text[40]);

/* status, counters, path, deadlock, stop */
extern const struct control_command fabric_commands[];

#endif
