/* What a simulated fabric shows on the live page: states of nodes and links, loads, errors, paths.
 *
 * `weft live` and `weft fabric --web` use it. Reading changes nothing in the fabric. */
#ifndef WEFT_HOST_FABRIC_VIEW_FABRIC_VIEW_H
#define WEFT_HOST_FABRIC_VIEW_FABRIC_VIEW_H

#include "fabric/data.h"
#include "fabric/fabric.h"
#include "host/api/api.h"

/* A moment since which loads are counted. */
struct fabric_view_mark {
    uint64_t time, packets; /* ps; packets that links have carried since */
    uint64_t *busy_ps;      /* by port: at this time */
    uint8_t *vls;           /* by port: used since, a bit each */
};
struct fabric_view {
    const struct fabric *fabric;
    struct api_links links;
    uint64_t time;     /* of the last reading, ps */
    uint64_t *packets; /* at the last reading, by port and VL */
    unsigned vls;
    /* Loads are means since `from`; `next` will replace it. */
    struct fabric_view_mark from, next;
    uint64_t
        carried; /* the last time at which links had carried packets since the reading before */
    struct data_totals totals; /* at the last reading of the traffic */
};

/* Of the packets delivered since the last reading. */
struct fabric_latency {
    uint64_t delivered, sum_ps, most_ps;
};

void fabric_view_init(struct fabric_view *view, const struct fabric *fabric);
void fabric_view_release(struct fabric_view *view);
/* Reads the state into a tick. Loads are means over a time in which every link that is used has
 * carried ten packets: over less, whole packets make a link seem to be full or idle. */
void fabric_view_read(struct fabric_view *view, uint64_t now_ps, struct api_tick *tick);
/* The data traffic and its rates since the last reading, `elapsed_ps` ago. */
void fabric_view_read_traffic(struct fabric_view *view, struct fabric *fabric, uint64_t elapsed_ps,
                              const struct fabric_latency *latency, struct api_tick *tick);

/* ---- path_hops.c ---- */

enum { PATH_HOPS_MOST = 64 };
struct path_hop {
    uint32_t port; /* that the packet leaves by */
    unsigned vl;
};
struct path_hops {
    VEC(struct path_hop) items;
    struct data_path path;
    uint32_t source, target; /* end ports; TOPOLOGY_NONE: none */
    bool has_ends;           /* two nodes of which the first one can send */
    char reason[200];        /* why the packet does not arrive; "": it does */
};
/* The first port of an adapter with a cable, or port 0 of a switch; TOPOLOGY_NONE: none. */
uint32_t path_end_port(const struct topology *topology, uint32_t node);
/* DLID and SL of the path between two end ports; dlid 0: there is none. */
typedef struct data_path path_finder(void *context, uint32_t source, uint32_t target);
/* Follows the tables in the switches from one node to another. Without `find`, the packet has the
 * LID of the destination and SL 0: the SL of a path is known to its manager only. */
void path_hops_find(struct path_hops *hops, const struct fabric *fabric, uint32_t from, uint32_t to,
                    path_finder *find, void *context);
void path_hops_release(struct path_hops *hops);

/* ---- path_view.c ---- */

/* path_hops_find(), and other shortest paths. */
void path_view_write(const struct fabric_view *view, const struct api_tick *tick, uint32_t from,
                     uint32_t to, path_finder *find, void *context, struct text *out);

#endif
