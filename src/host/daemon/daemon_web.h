/* What the files of the daemon's live page share.
 *
 *   daemon_web.c           ticks, routes, tables of the past
 *   daemon_web_sections.c  managers, changes, problems, machines
 *   daemon_web_actions.c   changes by hand: the commands of weft ctl
 *   change_history.c       the last changes of the subnet
 *   subnet_view.c          topology, states and paths
 *   subnet_members.c       multicast groups and partitions */
#ifndef WEFT_HOST_DAEMON_DAEMON_WEB_H
#define WEFT_HOST_DAEMON_DAEMON_WEB_H

#include "host/daemon/change_history.h"
#include "host/daemon/daemon_internal.h"
#include "host/daemon/subnet_view.h"

struct daemon_web {
    struct daemon *daemon;
    struct subnet_view view;
    struct api_publisher publisher;
    uint64_t start_ns, next_tick;
    uint64_t described_at;
    struct change_history changes;
    uint64_t failed_changes;      /* sm_totals(), when it was last read */
    struct change_costs costs;    /* gets, sets and blocks that were sent */
    struct api_versions versions; /* switches by row of the subnet */
    uint64_t machines_seen;       /* end of the last request about a virtual machine */
};

/* Nanoseconds since the start: the time of the API. */
uint64_t daemon_web_now(const struct daemon_web *web);
/* The costs of all changes so far. */
struct change_costs daemon_web_costs(const struct daemon_web *web);
/* The node of the topology that a row of the subnet is shown as, or TOPOLOGY_NONE. */
uint32_t daemon_web_node(const struct daemon_web *web, uint32_t row);

void daemon_web_write_sections(struct daemon_web *web);
/* POST /api/v1/actions */
void daemon_web_act(void *web, const struct http_request *request, struct http_response *response);

#endif
