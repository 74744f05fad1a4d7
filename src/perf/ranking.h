/* Which ports are busiest, and which links are worst: loads of ports in the last interval or in the
 * last hour, sorted; and how evenly the links of each stage are loaded.
 *
 * Stages are pairs of levels. Adapters are level 0, switches with adapters level 1, and any other
 * switch is one level above its lowest neighbour; in a fat tree these are the levels of the tree. A
 * stage has all links from one level to another, in one direction. Its imbalance is the largest
 * load divided by the mean one: 1 is perfect.
 *
 * The wait share is the share of time in which a port had packets and no credits, if a tick of
 * PortXmitWait is the time of four bytes on the link. The specification leaves that to the device.
 */
#ifndef WEFT_PERF_RANKING_H
#define WEFT_PERF_RANKING_H

#include "perf/perf.h"

struct port_load {
    uint32_t port;            /* of the subnet */
    double transmit, receive; /* bytes per second */
    double load, wait;        /* shares of the link's data rate, and of time */
    uint64_t errors, discards;
};

enum rank_key { RANK_LOAD, RANK_WAIT, RANK_ERRORS, RANK_DISCARDS, RANK_KEYS };
extern const char *const rank_key_names[RANK_KEYS];
bool rank_key_parse(const char *name, enum rank_key *key);

/* The load of a port; false: it is not read now, or has no interval yet. */
bool port_load_of(const struct perf *perf, const struct subnet *subnet, uint64_t now, uint32_t port,
                  bool hour, struct port_load *load);
/* The first `most` ports by a key, those with a key of 0 left out. Returns their number. */
size_t ranking_make(const struct perf *perf, const struct subnet *subnet, uint64_t now,
                    enum rank_key key, bool hour, struct port_load *rows, size_t most);

struct stage {
    unsigned from, to; /* levels */
    unsigned links;
    double mean, max; /* load */
    uint32_t busiest; /* the port with that load */
};
enum { STAGES_MOST = 32 };
/* All stages by their levels. Returns their number. `sent` is what all adapters send, in bytes a
 * second. */
size_t ranking_stages(const struct perf *perf, const struct subnet *subnet, uint64_t now, bool hour,
                      struct stage stages[STAGES_MOST], double *sent);
/* max / mean; 0 if the stage has no load. */
double stage_imbalance(const struct stage *stage);

#endif
