/* Interfaces between the files of discovery:
 *
 *   discovery.c         progress and order of probes
 *   discovery_read.c    requests
 *   discovery_learn.c   answers
 *   faults/             time-outs, flapping ports, duplicate GUIDs */
#ifndef WEFT_SM_DISCOVERY_H
#define WEFT_SM_DISCOVERY_H

#include "sm/internal.h"

/* discovery.c */
void discovery_probe(struct sm *sm, uint32_t port); /* now, or in its turn */
void discovery_probe_ended(struct sm *sm, uint32_t port);
bool discovery_explores_all(const struct sm *sm); /* a restart is scheduled */
void discovery_lost_path(struct sm *sm);          /* a link or node is gone */

/* discovery_read.c */
void discovery_send_probe(struct sm *sm, uint32_t port);    /* NodeInfo of the node behind it */
void discovery_read_port_now(struct sm *sm, uint32_t port); /* before all other requests */
void discovery_read_ports(struct sm *sm, uint32_t node);
/* Reads again what a strict agent did not show in its answer to a Get with this modifier. */
void discovery_read_hidden_speeds(struct sm *sm, uint32_t port, uint32_t modifier);
void discovery_read_tables(struct sm *sm, uint32_t node);
void discovery_read_description(struct sm *sm, uint32_t node, uint32_t end);

/* discovery_learn.c */
void discovery_forget_port(struct sm *sm, uint32_t port); /* of a node that stays present */
request_outcome discovery_learn_node, discovery_learn_port, discovery_learn_switch_info;

/* faults/ */
bool faults_is_ignored(struct sm *sm, uint32_t node); /* it does not answer some requests */
bool faults_has_excluded(struct sm *sm, uint32_t port, uint64_t guid); /* the node behind it */
bool faults_is_damped(struct sm *sm, uint32_t port);                   /* it flaps */
void faults_port_answered(struct sm *sm, uint32_t port);
bool faults_report_link(struct sm *sm, uint32_t port, bool down); /* it went down */
void faults_report_return(struct sm *sm, uint32_t port);          /* it is up */
void faults_forget_loss(struct sm *sm, uint32_t port);            /* its link was not lost */
void faults_port_read(struct sm *sm, uint32_t port);              /* its PortInfo has arrived */
void faults_note_flap(struct sm *sm, uint32_t port, uint32_t peer);
void discovery_suspect_switch(struct sm *sm, uint32_t node);
void faults_forget_claims(struct sm *sm); /* discovery restarts */
void faults_exclude(struct sm *sm, uint32_t through, uint64_t guid);
bool faults_check_claim(struct sm *sm, uint32_t through, uint32_t far);
void faults_resolve_claim(struct sm *sm, uint32_t port);
void faults_link_found(struct sm *sm, uint32_t through);

#endif
