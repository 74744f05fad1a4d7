/* For tests that look at forwarding tables. */
#ifndef WEFT_TESTS_SM_TABLES_H
#define WEFT_TESTS_SM_TABLES_H

#include "toy.h"

enum { LFT = ATTRIBUTE_LINEAR_FORWARDING_TABLE };

static const char ring[] = "S1-S2 S2-S3 S3-S4 S4-S1 S1-H1 S2-H2 S3-H3 S4-H4";
static const char long_ring[] = "S1-S2 S2-S3 S3-S4 S4-S5 S5-S6 S6-S1 S1-H1 S2-H2 S4-H4 S6-H6";

static inline unsigned table_writes(const struct toy *toy)
{
    return toy_count(toy, NULL, LFT, METHOD_SET);
}

static inline unsigned state_of_port(const struct toy_port *port)
{
    return (unsigned)wire_get(port->info, PORT_INFO_PORT_STATE);
}

/* Whether an adapter may send on VL 0. */
static inline bool may_send(struct toy *toy, const char *node, unsigned port)
{
    const uint8_t *table = toy_node(toy, node)->ports[port].arbitration;
    for (unsigned i = 0; i < 8; i++)
        if (wire_get_at(table, VL_ARBITRATION_TABLE_VL, i) == 0 &&
            wire_get_at(table, VL_ARBITRATION_TABLE_WEIGHT, i))
            return true;
    return false;
}

#endif
