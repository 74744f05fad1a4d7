/* The order in which new tables are written. */
#ifndef WEFT_SM_TABLES_DISTRIBUTE_H
#define WEFT_SM_TABLES_DISTRIBUTE_H

#include "sm/reconfigure.h"
#include "sm/sm.h"

/* The progress of a plan (routing/model/update_plan.h) that is being written. */
struct table_writer {
    uint32_t wave;      /* the next wave */
    bool dropped;       /* the stuck entries drop packets */
    bool drained;       /* a drain has begun since the last Set was confirmed */
    uint64_t resume_at; /* end of a drain; 0: none is under way */
};

/* Begins a drain of packets that pass at most `hops` switches, unless it has begun; true if it is
 * over. */
bool distribute_drain_is_over(struct sm *sm, struct table_writer *writer, unsigned hops);

enum reconfigure_event distribute_begin(struct sm *sm);
reconfigure_action distribute_keep_tables, distribute_next_wave, distribute_drained_wave;
reconfigure_action distribute_stop_sources, distribute_stop_all_sources, distribute_start_sources;
reconfigure_action distribute_drop_rest, distribute_drain, distribute_drain_quiesced;
reconfigure_action distribute_moves;
reconfigure_action distribute_check_quiesced, distribute_write_all, distribute_write_wanted;
reconfigure_action distribute_stop_ports, distribute_start_ports;
/* EVENT_NONE until all wanted entries are confirmed and drains are over. */
enum reconfigure_event distribute_progress(struct sm *sm);
bool distribute_has_written_waves(const struct sm *sm);
/* Sets waves, drains and their time, all since the manager started. */
void distribute_costs(const struct sm *sm, struct sm_change *costs);
uint64_t distribute_drained_ns(const struct sm *sm); /* without drains of moves */
void distribute_reset(struct sm *sm);                /* no distribution is under way */

#endif
