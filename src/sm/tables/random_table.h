/* Writes tables of switches without linear ones. */
#ifndef WEFT_SM_TABLES_RANDOM_TABLE_H
#define WEFT_SM_TABLES_RANDOM_TABLE_H

#include "sm/sm.h"

bool random_table_is_used(const struct subnet_node *node);
unsigned random_table_default(const struct sm *sm, uint32_t node);
void random_table_program(struct sm *sm, uint32_t node);

#endif
