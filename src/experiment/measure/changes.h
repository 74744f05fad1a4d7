/* The SMPs of a change of a manager, and the figures made from them.
 *
 * A change has four phases. `detect` lasts from the fault to the first sign that the manager
 * noticed it (only for the first change after a fault); `discover` from there until the first
 * routes are computed; `compute` is the time of the computation; `distribute` is the rest, until
 * the subnet is as wanted. SMPs count as `discover` until routes are computed for the first time,
 * then as `distribute`, also where a manager overlaps the two. */
#ifndef WEFT_EXPERIMENT_MEASURE_CHANGES_H
#define WEFT_EXPERIMENT_MEASURE_CHANGES_H

#include "experiment/measure/run_record.h"
#include "wire/mad.h"

/* Requests that managers sent, by attribute; vendor attributes are not counted. */
struct sent {
    uint64_t gets[WIRE_ATTRIBUTE_COUNT], sets[WIRE_ATTRIBUTE_COUNT];
};
/* Counts a Get or Set; ignores other methods. */
void sent_add(struct sent *sent, unsigned method, unsigned attribute);

enum { CHANGES_PUBLISHED = 200 }; /* the first changes of a run have figures */

struct change_record {
    struct sent sent;
    uint64_t discover;   /* requests before the first computation ended */
    uint64_t operations; /* operations of the route computation */
    uint64_t second;   /* begin of the second computation, that of a hybrid's final tables; or 0 */
    uint64_t *written; /* by node: the time of the last LFT block; 0: none was sent */
    uint32_t nodes;
};

void change_record_begin(struct change_record *smps, uint32_t nodes);
/* Ends a change: its figures ("change.3.compute.time") and the series "change.3.updated" go to the
 * results. The series is the share of the written switches whose last block was sent. */
void change_record_close(struct change_record *smps, struct run_record *record, size_t index);
void change_record_release(struct change_record *smps);

#endif
