/* The ledger: what managers do while a scenario runs, noted in its story. */
#ifndef WEFT_EXPERIMENT_RUN_LEDGER_H
#define WEFT_EXPERIMENT_RUN_LEDGER_H

#include "experiment/run/stage.h"

void ledger_listen(struct stage *stage);
/* A run begins: what is counted for it starts at nothing. */
void ledger_begin_run(struct stage *stage);
/* The seat's change under way comes to no end. */
void ledger_give_up(struct stage *stage, size_t seat);
/* Requests sent during the last run; 0 means any. */
uint64_t ledger_sent(const struct stage *stage, unsigned method, unsigned attribute);
/* Whether a manager said something with this text in it during the last run. */
bool ledger_said(const struct stage *stage, const char *text);

#endif
