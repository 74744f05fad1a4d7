/* The ledger: what managers do while a scenario runs, noted in its story. */
#ifndef WEFT_EXPERIMENT_RUN_CHANGE_LOG_H
#define WEFT_EXPERIMENT_RUN_CHANGE_LOG_H

#include "experiment/run/setup.h"

void change_log_listen(struct setup *setup);
/* A run begins: what is counted for it starts at nothing. */
void change_log_begin_run(struct setup *setup);
/* Something failed: the next change that a manager begins is taken to be about it. */
void change_log_fault(struct setup *setup, uint64_t now);
/* The seat's change under way comes to no end. */
void change_log_give_up(struct setup *setup, size_t seat);
/* Requests sent during the last run; 0 means any. */
uint64_t change_log_sent(const struct setup *setup, unsigned method, unsigned attribute);
/* Whether a manager said something with this text in it during the last run. */
bool change_log_said(const struct setup *setup, const char *text);

#endif
