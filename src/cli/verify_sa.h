/* Service levels and SL-to-VL tables of a running subnet, for weft verify --sa. */
#ifndef WEFT_CLI_VERIFY_SA_H
#define WEFT_CLI_VERIFY_SA_H

#include "base/err.h"
#include "host/device/port_choice.h"
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

#endif
