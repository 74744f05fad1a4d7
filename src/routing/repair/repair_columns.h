/* Columns of the tables that are broken: which of them are mended together, and by whom. Internal
 * to repair.c. */
#ifndef WEFT_ROUTING_REPAIR_REPAIR_COLUMNS_H
#define WEFT_ROUTING_REPAIR_REPAIR_COLUMNS_H

#include "routing/repair/repair_batch.h"

/* Ends that are left, and new addresses, by LID. */
struct repair_columns {
    uint32_t *first; /* by LID, one more at the end: rows of `at` */
    uint32_t *at;
    uint8_t *all; /* by LID: every switch has to be looked at */
};

/* LIDs that are mended together, up to BATCH_LIDS of them. */
struct repair_group {
    const uint16_t *lids;
    size_t count;
};
struct repair_lids {
    VEC(uint16_t) list;
};

/* False if one of them cannot be mended. */
bool repair_mend_columns(struct repair_column *column, const struct repair_columns *columns,
                         const struct workers *workers);

/* Finds what is broken in the entries for a group. */
void repair_look_at(struct repair_column *column, const struct repair_columns *columns,
                    struct repair_group group);

/* repair_crew.c: mends groups of terminals' columns side by side, as far as that is possible with
 * the order of channels as it is; there is one lane. Appends the LIDs for which that would have to
 * change, and those that are left for other reasons; for these everything is as it was. */
void repair_crew_mend(struct repair_column *column, struct repair_batch *batch,
                      const struct repair_columns *columns, const struct workers *workers,
                      const struct repair_group *groups, size_t count, struct repair_lids *blocked,
                      struct repair_lids *left);

#endif
