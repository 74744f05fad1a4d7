/* Writes SwitchInfo and forwarding tables that differ from the wanted ones. */
#ifndef WEFT_SM_TABLES_PROGRAM_H
#define WEFT_SM_TABLES_PROGRAM_H

#include "sm/sm.h"
#include "sm/transactions.h"

uint64_t program_entries_changed(const struct sm *sm); /* by those Sets, of linear tables */
void program_schedule(struct sm *sm); /* compare everything wanted with actual soon */
bool program_is_due(const struct sm *sm);
void program_if_due(struct sm *sm);
void program_all(struct sm *sm);
/* No Set of this switch's tables or SwitchInfo is under way; true for other nodes. */
bool program_tables_are_confirmed(struct sm *sm, uint32_t node);
bool program_is_writing_tables(const struct sm *sm, uint32_t node);
/* The switch has no room for the routes; true for the first time. */
bool program_first_lacks_room(struct sm *sm, uint32_t node);
void program_switch(struct sm *sm, uint32_t node);
void program_block(struct sm *sm, uint32_t node, unsigned block); /* if it differs */
/* For random_table.c: a block was sent; its request has ended. */
void program_block_sent(struct sm *sm, uint32_t node);
void program_block_done(struct sm *sm, uint32_t node);
request_outcome program_block_ended, program_block_unanswered;
void program_report_refused_block(struct sm *sm, const struct request *request,
                                  const char *consequence);

#endif
