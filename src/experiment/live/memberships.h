/* Partitions and multicast groups. */
#ifndef WEFT_EXPERIMENT_LIVE_MEMBERSHIPS_H
#define WEFT_EXPERIMENT_LIVE_MEMBERSHIPS_H

#include "experiment/live/watch.h"

void memberships_write_partitions(const struct watch *watch, struct text *out);
void memberships_write_groups(const struct watch *watch, struct text *out);

struct painted_partition {
    const char *name;
    unsigned key;               /* without the bit of membership */
    const char *full, *limited; /* ids of adapters, joined by commas; NULL: none */
};
/* Writes the rules of all partitions with this one, as `partition_rules` has them. */
int memberships_put_rules(const struct watch *watch, const struct painted_partition *partition,
                          struct text *out, struct err *err);

#endif
