/* Versions of the forwarding tables in the switches, one for each change that a manager finished
 * and for each request about a virtual machine that changed entries, and what moved between two. */
#ifndef WEFT_EXPERIMENT_LIVE_VERSIONS_H
#define WEFT_EXPERIMENT_LIVE_VERSIONS_H

#include "base/record.h"
#include "experiment/live/watch.h"

struct versions {
    struct api_versions all; /* switches by node */
    size_t changes_seen;     /* of the record */
    uint64_t machines_seen;  /* end of the last request about a virtual machine, ns */
};

void versions_begin(struct versions *versions, const struct watch *watch);
void versions_release(struct versions *versions);
/* Adds versions if a change or a request has ended since the last call. */
void versions_read(struct versions *versions, const struct watch *watch);
/* The list of versions under this key, or NULL. */
void versions_put(const struct versions *versions, const char *key, struct record *record);
/* -ENOENT: there is no such version, or it is not kept any more. */
int versions_compare(const struct versions *versions, const struct watch *watch, uint64_t a,
                     uint64_t b, struct text *out, struct err *err);

#endif
