/* Inside of the checks: one part of the fabric, and its tables. */
#ifndef WEFT_EXPERIMENT_CHECK_CHECKS_TABLES_H
#define WEFT_EXPERIMENT_CHECK_CHECKS_TABLES_H

#include "experiment/check/checks.h"

struct part {
    const struct check_view *view;
    const struct topology *topology;
    uint32_t from; /* port of the manager that the part is found from */
    bool *has;     /* by port: belongs to the part */
    struct check_failure *failure;
};

const char *part_node_name(const struct part *part, uint32_t port);
bool part_is_switch(const struct part *part, uint32_t port);
/* The peer of a port whose link is up, if it belongs to the part; else TOPOLOGY_NONE. */
uint32_t part_peer(const struct part *part, uint32_t port);
/* A field of the PortInfo of the agent. */
unsigned part_field(const struct part *part, uint32_t port, enum wire_field field);
/* The only master of the part, or NULL. */
struct sm *part_master(const struct part *part);

bool part_is_reachable(struct part *part);
bool part_is_deadlock_free(struct part *part);

#endif
