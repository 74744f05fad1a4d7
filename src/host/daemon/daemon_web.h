/* What the files of the daemon's live page share.
 *
 *   daemon_web.c           ticks, routes, tables of the past
 *   daemon_web_sections.c  managers, changes, problems, machines
 *   daemon_web_actions.c   changes by hand: the commands of weft ctl
 *   subnet_view.c          topology, states and paths
 *   subnet_members.c       multicast groups and partitions */
#ifndef WEFT_HOST_DAEMON_DAEMON_WEB_H
#define WEFT_HOST_DAEMON_DAEMON_WEB_H

#include "host/daemon/daemon_internal.h"
#include "host/daemon/subnet_view.h"

struct daemon_web {
    struct daemon *daemon;
    struct subnet_view view;
    struct api_publisher publisher;
    uint64_t start_ns, next_tick;
    uint64_t described_at;
    struct api_versions versions; /* switches by row of the subnet */
    uint64_t machines_seen;       /* end of the last request about a virtual machine */
};

/* Nanoseconds since the start: the time of the API. */
uint64_t daemon_web_now(const struct daemon_web *web);
/* The node of the topology that a row of the subnet is shown as, or TOPOLOGY_NONE. */
uint32_t daemon_web_node(const struct daemon_web *web, uint32_t row);

void daemon_web_write_sections(struct daemon_web *web);
/* POST /api/v1/actions */
void daemon_web_act(void *web, const struct http_request *request, struct http_response *response);

#endif
