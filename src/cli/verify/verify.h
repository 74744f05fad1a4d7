/* Parts of `weft verify`: what a running subnet adds (--sa), the routes to the LIDs of one port
 * (--disjoint), and several subnets. */
#ifndef WEFT_CLI_VERIFY_H
#define WEFT_CLI_VERIFY_H

#include "base/record.h"
#include "base/workers.h"
#include "host/device/port_choice.h"
#include "routing/check/verify.h"
#include "routing/model/routes.h"
#include "routing/model/vl_map.h"

struct verify_sa {
    struct port_choice port;
    bool adapters;   /* only paths between adapter ports */
    bool has_tables; /* do not read SL-to-VL tables */
    uint16_t sm_lid; /* result: where the SA is */
};

/* Queries the SA for the path SLs of all sources, one query each, and reads the SL-to-VL tables
 * from the switches: the SA's copy may be missing or old (OpenSM without QoS has none). Pairs
 * without a path record get VL_MAP_NO_PATH. */
int verify_sa_read(struct vl_map *map, struct verify_sa *options, struct err *err);

void verify_put_findings(struct record *record, const struct verify_report *report);

/* Prints how far the routes to the LIDs of each port are independent: sums and the `worst` pairs.
 */
void verify_put_disjoint(struct record *record, const struct network *network,
                         const struct routes *routes, const struct workers *workers,
                         unsigned worst);

/* Checks dumps of several subnets, each alone and together. Returns an exit status. */
struct verify_subnets {
    const struct workers *workers;
    bool adapters, discards, json;
};
int verify_subnets(char **files, size_t count, const struct verify_subnets *wanted,
                   struct err *err);

#endif
