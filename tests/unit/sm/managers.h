/* Several managers in one toy subnet. */
#ifndef WEFT_TESTS_SM_MANAGERS_H
#define WEFT_TESTS_SM_MANAGERS_H

#include "toy.h"

enum { HANDOVER = 1, ACKNOWLEDGE, DISABLE, STANDBY, DISCOVER }; /* modifiers of Set(SMInfo) */

static const char star[] = "S1-S2 S1-H1 S2-H2 S2-H3";

struct sm_config with_priority(unsigned priority);
unsigned start_with_priority(struct toy *toy, const char *node, unsigned priority);
enum sm_state state_of(const struct toy *toy, unsigned manager);
/* The subnet is up before the second manager starts, which becomes standby. */
struct toy *master_and_standby(void **state);
/* What a master at this node writes into SMInfo. */
void fill_master(struct toy *toy, const char *node, uint64_t key, uint8_t info[64]);

#endif
