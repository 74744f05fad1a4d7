/* Sources are stopped while tables without a safe order are written. */
#ifndef WEFT_SM_TABLES_QUIESCE_H
#define WEFT_SM_TABLES_QUIESCE_H

#include "sm/sm.h"

/* Marks arbitration tables of quiesced sources: their first entry, with weight 0. */
enum { QUIESCE_MARK_VL = 14 };
bool quiesce_is_possible(struct sm *sm, const char **why_not);
void quiesce_begin(struct sm *sm, uint16_t vls); /* in addition to those quiesced already */
void quiesce_end(struct sm *sm);
bool quiesce_is_on(const struct sm *sm);
uint16_t quiesce_vls(const struct sm *sm);      /* the VLs of routes that are quiesced */
uint8_t quiesce_life_time(const struct sm *sm); /* LifeTimeValue that every switch should have */
uint32_t quiesce_count(const struct sm *sm);    /* begins and ends so far */
void quiesce_assume_none(struct sm *sm);        /* the previous master left no source quiesced */
void quiesce_forget(struct sm *sm);      /* no longer master; the next one ends the quiesce */
bool quiesce_was_refused(struct sm *sm); /* by at least one source */
/* Looks for sources that the last master left quiesced. */
void quiesce_find_inherited(struct sm *sm);
void quiesce_audit(struct sm *sm); /* the same, although a copy showed none */

#endif
