/* Writes PortInfo that differs from the wanted one. */
#ifndef WEFT_SM_TABLES_PROGRAM_PORTS_H
#define WEFT_SM_TABLES_PROGRAM_PORTS_H

#include "sm/sm.h"

void program_port(struct sm *sm, uint32_t port);
bool program_port_was_written(const struct sm *sm, uint32_t port); /* in the last seconds */
bool program_port_is_refused(const struct sm *sm, uint32_t port);  /* its settings */
void program_link(struct sm *sm, uint32_t port);                   /* both ends */
void program_node_ports(struct sm *sm, uint32_t node);             /* all links of a node */
/* Disables or enables a port of a switch. An isolated port gets a mark in PortInfo, which the other
 * commands remove. */
enum port_command { PORT_ENABLE, PORT_DISABLE, PORT_ISOLATE, PORT_UNMARK };
void program_switch_port(struct sm *sm, uint32_t port, enum port_command command);
bool program_port_is_marked(const uint8_t *info);
bool program_links_rise(struct sm *sm); /* a link between switches is not Active yet */
/* sm_policy.ports_once is in force: with mode static only. */
bool program_writes_ports_once(const struct sm *sm);
/* Writes an end port once, when it is first read. */
void program_end_port_once(struct sm *sm, uint32_t port);

#endif
