/* Plans SL to VL and arbitration tables (see partitions.h on planners). */
#ifndef WEFT_SM_TABLES_QOS_H
#define WEFT_SM_TABLES_QOS_H

#include "sm/sm.h"

void qos_plan(struct sm *sm);
void qos_forget(struct sm *sm); /* another master may write tables from now on */
bool qos_is_asked_for(const struct sm *sm);
bool qos_configure(struct sm *sm, const struct qos *policy); /* true: something changed */
unsigned qos_vls(const struct sm *sm);                       /* VLs that remain for routes */
unsigned qos_limit_vls(struct sm *sm);        /* the same, limited by the configuration */
bool qos_writes_sources(const struct sm *sm); /* arbitration of adapters */
void qos_want_sources(struct sm *sm);
bool qos_is_source(struct sm *sm, uint32_t port); /* a port of an adapter with a link */
bool qos_is_settled(const struct sm *sm);         /* all tables are written */
void qos_serve(struct sm *sm);                    /* puts the written levels into force */
const struct qos *qos_served(const struct sm *sm, struct qos_layout *layout); /* in force */
void qos_set_port(struct sm *sm, uint32_t port, uint8_t *info);               /* VLHighLimit */
uint8_t qos_master_sl(struct sm *sm, const struct subnet_port *port);

#endif
