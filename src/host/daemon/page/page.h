/* What the files of the daemon's live page share.
 *
 *   page.c          ticks and routes; host/manager_view has what is shown
 *   page_actions.c  changes by hand: the commands of weft ctl */
#ifndef WEFT_HOST_DAEMON_PAGE_PAGE_H
#define WEFT_HOST_DAEMON_PAGE_PAGE_H

#include "console/action.h"
#include "host/daemon/daemon_internal.h"
#include "host/manager_view/manager_page.h"

struct daemon_web {
    struct daemon *daemon;
    struct api_network *network; /* of the subnet, also of nodes that are gone */
    bool *touched;               /* by node: its table was to change in the present change */
    uint64_t signature;          /* of nodes and links */
    uint64_t generation;         /* counts topologies; 0: there is none yet */
    struct api_publisher publisher;
    uint64_t start_ns, next_tick;
    uint64_t described_at;
    struct api_versions versions;
    uint64_t machines_seen; /* end of the last request about a virtual machine */
};

static inline const struct topology *daemon_web_topology(const struct daemon_web *web)
{
    return api_network_topology(web->network);
}
/* Nanoseconds since the start: the time of the API. */
uint64_t daemon_web_now(const struct daemon_web *web);
/* POST /api/v1/actions */
bool daemon_web_offers(const struct action_row *row); /* an action of pages */
void daemon_web_act(void *web, const struct http_request *request, struct http_response *response);

#endif
