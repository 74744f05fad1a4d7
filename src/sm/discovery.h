/* What the files of discovery share and nobody else sees.
 *
 *   discovery.c         how far it has come, and where it goes on
 *   discovery_read.c    the questions
 *   discovery_learn.c   what the answers mean
 *   discovery_faults.c  silence, flapping ports, doubtful answers */
#ifndef WEFT_SM_DISCOVERY_H
#define WEFT_SM_DISCOVERY_H

#include "sm/internal.h"

/* discovery.c */
void discovery_probe(struct sm *sm, uint32_t port);
void discovery_probe_ended(struct sm *sm, uint32_t port); /* the question has come to an end */
bool discovery_explores_all(const struct sm *sm);         /* it is about to */
void discovery_lost_path(struct sm *sm); /* a link or node is gone: paths are found again */

/* discovery_read.c */
void discovery_send_probe(struct sm *sm, uint32_t port); /* who is behind it */
void discovery_read_port_now(struct sm *sm, uint32_t port);
void discovery_read_ports(struct sm *sm, uint32_t node);
void discovery_read_tables(struct sm *sm, uint32_t node);
void discovery_read_description(struct sm *sm, uint32_t node, uint32_t end);

/* discovery_learn.c */
void discovery_forget_port(struct sm *sm, uint32_t port); /* its node is present all the same */
request_outcome discovery_learn_node, discovery_learn_port, discovery_learn_switch_info;

/* discovery_faults.c */
bool faults_is_ignored(struct sm *sm, uint32_t node); /* it left answers out */
bool faults_is_damped(struct sm *sm, uint32_t port);  /* it flaps */
void faults_port_answered(struct sm *sm, uint32_t port);
void faults_forget_claims(struct sm *sm); /* nothing is known of who is where */
void discovery_suspect_switch(struct sm *sm, uint32_t node);
void faults_note_flap(struct sm *sm, uint32_t port);
void faults_exclude(struct sm *sm, uint32_t through, uint64_t guid);
bool faults_check_claim(struct sm *sm, uint32_t through, uint32_t far);
void faults_resolve_claim(struct sm *sm, uint32_t port);
void faults_link_found(struct sm *sm, uint32_t through);

#endif
