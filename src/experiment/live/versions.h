/* Versions of the forwarding tables in the switches, one for each change that a manager finished,
 * and what moved between two of them. */
#ifndef WEFT_EXPERIMENT_LIVE_VERSIONS_H
#define WEFT_EXPERIMENT_LIVE_VERSIONS_H

#include "base/record.h"
#include "experiment/live/watch.h"

struct versions {
    struct api_versions all; /* switches by node */
    size_t changes_seen;     /* of the record */
};

void versions_begin(struct versions *versions, const struct watch *watch);
void versions_release(struct versions *versions);
/* Adds a version if a change has finished since the last call. */
void versions_read(struct versions *versions, const struct watch *watch);
/* The list of versions under this key, or NULL. */
void versions_put(const struct versions *versions, const char *key, struct record *record);
/* False: there is no such version, or it is not kept any more. */
bool versions_compare(const struct versions *versions, const struct watch *watch, uint64_t a,
                      uint64_t b, struct text *out);

#endif
