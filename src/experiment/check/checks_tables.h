/* Inside of the checks: one part of the fabric, and its tables. */
#ifndef WEFT_EXPERIMENT_CHECK_CHECKS_TABLES_H
#define WEFT_EXPERIMENT_CHECK_CHECKS_TABLES_H

#include "experiment/check/checks.h"

struct part {
    const struct check_view *view;
    const struct topology *topology;
    uint32_t from; /* the port of the manager that it is looked at for */
    bool *has;     /* by port */
    struct complaint *complaint;
};

const char *part_node_name(const struct part *part, uint32_t port);
bool part_is_switch(const struct part *part, uint32_t port);
/* The other end of a port's link, if it is up and the other end belongs to the part. */
uint32_t part_peer(const struct part *part, uint32_t port);
/* Of the port's live PortInfo. */
unsigned part_field(const struct part *part, uint32_t port, enum wire_field field);
/* The part's only master, or NULL. */
struct sm *part_master(const struct part *part);

bool part_is_reachable(struct part *part);
bool part_is_deadlock_free(struct part *part);

#endif
