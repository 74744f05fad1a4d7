/* The books of a change: what a manager sends while it works one through, and the figures of it.
 *
 * Four phases follow each other. `detect` is from the fault to the first sign that the manager
 * noticed it (only for the first change after a fault); `discover` from there until the first
 * routes are computed; `compute` is the time that computing takes; `distribute` is the rest, up to
 * "the subnet is as wanted". SMPs belong to `discover` until routes are computed for the first
 * time, to `distribute` afterwards. A manager that overlaps phases does a little of the next one in
 * each. */
#ifndef WEFT_EXPERIMENT_MEASURE_CHANGES_H
#define WEFT_EXPERIMENT_MEASURE_CHANGES_H

#include "experiment/measure/run_record.h"
#include "wire/mad.h"

/* Requests that managers sent, by attribute; beyond these are the vendors' own. */
struct sent {
    uint64_t gets[WIRE_ATTRIBUTE_COUNT], sets[WIRE_ATTRIBUTE_COUNT];
};
/* Notes a request; others are left out. */
void sent_add(struct sent *sent, unsigned method, unsigned attribute);

enum { CHANGES_TOLD = 200 }; /* the first ones of a run have figures of their own */

struct change_record {
    struct sent sent;
    uint64_t gets, sets, blocks; /* blocks: of forwarding tables */
    uint64_t discover, distribute;
    uint64_t operations; /* of computing routes */
    uint64_t *written;   /* by node: when the last block of its table was sent; 0: none was */
    uint32_t nodes;
};

struct change_smp {
    uint32_t node;      /* that it is for; beyond the last: not known */
    unsigned method;    /* Get or Set */
    unsigned attribute; /* its index; WIRE_ATTRIBUTE_COUNT: a vendor's */
    bool routed;        /* routes have been computed in this change */
};

void change_record_begin(struct change_record *book, uint32_t nodes);
void change_record_note(struct change_record *book, uint64_t now, const struct change_smp *smp);
/* Ends it: the story's change gets its counts, the results its figures ("change.3.compute.time")
 * and the series of updated tables ("change.3.updated": the share, of the switches that were
 * written to, of those whose last block is out). */
void change_record_close(struct change_record *book, struct run_record *record, size_t change);
void change_record_release(struct change_record *book);

#endif
