/* The commands of `weft ctl` that read a simulated fabric. `weft fabric` and `weft live` serve
 * them. */
#ifndef WEFT_HOST_FABRIC_CONTROL_FABRIC_CONTROL_H
#define WEFT_HOST_FABRIC_CONTROL_FABRIC_CONTROL_H

#include "base/control_command.h"
#include "fabric/data.h"
#include "fabric/fabric.h"
#include "host/fabric_view/fabric_view.h"

/* What a server lets its clients see. */
struct fabric_access {
    struct fabric *fabric;
    uint64_t wall_ps; /* wall clock since the start */
    const char *pace;
    void *context; /* of the functions */
    /* Adds members to the status, and lines; may be NULL. */
    void (*put_status)(void *context, struct record *record);
    path_finder *find_path; /* of path_hops_find() */
    void (*stop)(void *context);
};

/* "leaf3:7" */
const char *fabric_control_label(const struct topology *topology, uint32_t port, char text[40]);

/* status, counters, path, deadlock, stop */
extern const struct control_command fabric_commands[];

#endif
