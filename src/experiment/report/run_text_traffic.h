/* The part of a run's summary that is about traffic, and the pictures of its changes. */
#ifndef WEFT_EXPERIMENT_REPORT_RUN_TEXT_TRAFFIC_H
#define WEFT_EXPERIMENT_REPORT_RUN_TEXT_TRAFFIC_H

#include "experiment/measure/run_record.h"

/* The phases of each change as bars, with the traffic's curves below them. */
void run_record_write_pictures(const struct run_record *record, struct text *out);
/* Rates, latencies, what became of all packets, and whether it was steady; nothing without
 * traffic. */
void run_record_write_traffic(const struct run_record *record, struct text *out);

#endif
