/* Discovery: reads nodes, ports and links of the subnet and stores what it reads.
 *
 *   discovery.c         progress and order of probes
 *   discovery_read.c    requests
 *   discovery_learn.c   answers */
#ifndef WEFT_SM_DISCOVERY_DISCOVERY_H
#define WEFT_SM_DISCOVERY_DISCOVERY_H

#include "sm/sm.h"
#include "sm/transactions.h"

enum { CAPABILITY_IS_SM = 1 << 1 }; /* in PortInfo.CapabilityMask */

bool discovery_is_complete(const struct sm *sm); /* no request of discovery is under way */
void discovery_start(struct sm *sm);
/* Whether the manager's own port was read. If not, discovery restarts after a while: discovery of
 * the subnet starts at that port. */
bool discovery_knows_itself(struct sm *sm);
void discovery_restart(struct sm *sm); /* from scratch; LIDs are kept */
/* Sends the next probe or restarts; false: there is nothing to continue with or to wait for. */
bool discovery_continue(struct sm *sm);
void discovery_update_paths(struct sm *sm); /* directed routes, if a link or node was lost */
void discovery_explore_all(struct sm *sm);  /* restart soon */
/* Whether the manager leaves this port alone until the next sweep; see sm_is_avoiding_port(). */
void discovery_avoid_port(struct sm *sm, uint32_t port, bool avoid);
void discovery_retry_port(struct sm *sm,
                          uint32_t port); /* reads a port that is avoided or unread */
bool discovery_has_unread_port(const struct sm *sm, uint32_t port);
/* A switch does not clear PortStateChange; true for the first time. */
bool discovery_note_stuck_change(struct sm *sm, uint32_t node);
bool discovery_is_reading(struct sm *sm, uint32_t node);
void discovery_read_port(struct sm *sm, uint32_t port);
/* Of PortInfo: the port's number, and bit 31 once its node is known to understand it. */
uint32_t sm_port_info_modifier(const struct sm *sm, uint32_t port);
void discovery_read_switch(struct sm *sm, uint32_t node);    /* SwitchInfo and unknown blocks */
void discovery_read_node(struct sm *sm, uint32_t node);      /* SwitchInfo and known ports */
void discovery_read_all(struct sm *sm, uint32_t node);       /* everything, known or not */
void discovery_refresh_switch(struct sm *sm, uint32_t node); /* clear PortStateChange, read ports */
void discovery_forget_description(struct sm *sm, uint32_t node);
void discovery_forget_tables(struct sm *sm, uint32_t node);
/* A block of a switch's forwarding table; NULL: it is not known. */
void discovery_store_block(struct sm *sm, uint32_t node, uint32_t block, const uint8_t *data);
void discovery_store_random_table(struct sm *sm, uint32_t node);
void discovery_store_port(struct sm *sm, uint32_t port, const uint8_t *info); /* PortInfo */
void discovery_note_manager(struct sm *sm, uint32_t port); /* by IsSM of the stored PortInfo */
void discovery_learn_switch(struct sm *sm, uint32_t node, const uint8_t *info);
void discovery_probe(struct sm *sm, uint32_t port); /* now, or in its turn */
void discovery_probe_ended(struct sm *sm, uint32_t port);
bool discovery_explores_all(const struct sm *sm);           /* a restart is scheduled */
void discovery_lost_path(struct sm *sm);                    /* a link or node is gone */
void discovery_send_probe(struct sm *sm, uint32_t port);    /* NodeInfo of the node behind it */
void discovery_read_port_now(struct sm *sm, uint32_t port); /* before all other requests */
void discovery_read_ports(struct sm *sm, uint32_t node);
/* Reads again what a strict agent did not show in its answer to a Get with this modifier. */
void discovery_read_hidden_speeds(struct sm *sm, uint32_t port, uint32_t modifier);
void discovery_read_tables(struct sm *sm, uint32_t node);
void discovery_read_description(struct sm *sm, uint32_t node, uint32_t end);
void discovery_forget_port(struct sm *sm, uint32_t port); /* of a node that stays present */
request_outcome discovery_learn_node, discovery_learn_port, discovery_learn_switch_info;

#endif
