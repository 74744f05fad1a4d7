/* What a subnet shows on the live page: its topology as the manager knows it, and states. */
#ifndef WEFT_HOST_DAEMON_SUBNET_VIEW_H
#define WEFT_HOST_DAEMON_SUBNET_VIEW_H

#include "host/api/api.h"
#include "perf/perf.h"
#include "sm/sm.h"

struct subnet_view {
    struct topology topology; /* also nodes that are gone, and their last links */
    struct api_links links;
    uint32_t *rows;      /* by node of the topology: row in the subnet */
    bool *touched;       /* by node: its table was to change in the present change */
    uint64_t signature;  /* of nodes and links */
    uint64_t generation; /* counts topologies */
};

/* Describes the subnet anew if nodes or links have appeared or moved; returns whether it did. */
bool subnet_view_update(struct subnet_view *view, const struct subnet *subnet);
void subnet_view_release(struct subnet_view *view);
void subnet_view_read(struct subnet_view *view, const struct sm *sm, const struct perf *perf,
                      struct api_tick *tick);
/* The path by the tables that the switches have confirmed. */
void subnet_view_path(const struct subnet_view *view, const struct sm *sm, uint32_t from,
                      uint32_t to, struct text *out);

#endif
