/* Faults of nodes, ports and links, for the other parts: nodes that do not answer, links that flap,
 * count errors or run slowly, duplicate GUIDs. recorded.h lists the files. */
#ifndef WEFT_SM_FAULTS_FAULTS_H
#define WEFT_SM_FAULTS_FAULTS_H

#include "sm/sm.h"
#include "sm/transactions.h"

void discovery_lost_contact(struct sm *sm, uint32_t end_port);
void discovery_suspect(struct sm *sm, uint32_t end_port, uint32_t through);
/* Late: the node that a request asks has not answered since a time-out. Silent: for so long that a
 * request would have been given up. */
bool faults_is_missing(const struct sm *sm, const struct request *request, uint64_t for_ns);
bool faults_is_silent(const struct sm *sm, const struct request *request);
bool faults_note_timeout(struct sm *sm, const struct request *request); /* the first in a row */
void faults_end_silence(struct sm *sm, const struct request *request);  /* it was answered */
/* Counts requests to late nodes; false: the node is not late. */
bool faults_begin_wait(struct sm *sm, const struct request *request);
void faults_end_wait(struct sm *sm, const struct request *request);
/* The node is late and not silent, and another request to it is outstanding. */
bool faults_is_waited_for(const struct sm *sm, const struct request *request);
/* A port reported trap 129, 130 or 131. */
void faults_note_errors(struct sm *sm, uint32_t port, unsigned trap);
void faults_isolate_babbling(struct sm *sm, uint32_t port); /* an adapter's, if so configured */
void faults_guid_changed(struct sm *sm, uint32_t node, uint64_t guid);
void faults_retry_disabled(struct sm *sm);    /* enables ports whose time is over */
bool faults_doubt_links(const struct sm *sm); /* nodes with the same GUID may be mixed up */
bool faults_take_restart(struct sm *sm);      /* discovery is to start from scratch now */
void faults_verify_links(struct sm *sm);      /* in a sweep, if GUIDs are in doubt */
bool faults_probe_links(struct sm *sm);       /* the same, between sweeps; false: no doubt */
void faults_change_ended(struct sm *sm);      /* all nodes that are present have answered */
bool faults_is_ignored(struct sm *sm, uint32_t node); /* it does not answer some requests */
bool faults_has_excluded(struct sm *sm, uint32_t port, uint64_t guid); /* the node behind it */
bool faults_probe_deferred(struct sm *sm); /* discovery is complete; false: none was */
bool faults_prefer_other(struct sm *sm, uint32_t through, uint64_t guid); /* than that node */
bool faults_is_damped(struct sm *sm, uint32_t port);                      /* it flaps */
void faults_port_answered(struct sm *sm, uint32_t port);
bool faults_report_link(struct sm *sm, uint32_t port, bool down); /* it went down */
void faults_report_return(struct sm *sm, uint32_t port);          /* it is up */
/* Links to these nodes are up: only the agent of the first of them is known to have failed. */
struct absent_group;
bool faults_agent_is_dead(struct sm *sm, const struct absent_group *group);
void faults_discovery_restarts(
    struct sm *sm); /* links that are up are not reported when found again */
void faults_forget_loss(struct sm *sm, uint32_t port);          /* its link was not lost */
bool faults_has_errors(struct sm *sm, uint32_t port);           /* its link, recently */
void faults_node_left(struct sm *sm, uint32_t node);            /* it is not present now */
void faults_port_read(struct sm *sm, uint32_t port, bool down); /* its PortInfo has arrived */
void faults_note_flap(struct sm *sm, uint32_t port, uint32_t peer);
void discovery_suspect_switch(struct sm *sm, uint32_t node);
void faults_forget_claims(struct sm *sm); /* discovery restarts */
void faults_exclude(struct sm *sm, uint32_t through, uint64_t guid);
bool faults_check_claim(struct sm *sm, uint32_t through, uint32_t far);
void faults_resolve_claim(struct sm *sm, uint32_t port);
void faults_link_found(struct sm *sm, uint32_t through);

#endif
