/* Data traffic under the machines campaign, and whose packets may be lost.
 *
 * Everybody sends to everybody: physical functions of hypervisors, as ordinary hosts do, and
 * machines, as VMs of the fabric. All the time a little, and densely for some milliseconds when
 * an operation begins. A packet may be lost for two reasons:
 *   - it is to or from a machine that is on its way, and was sent before that was over;
 *   - its own way, by the tables that were in the switches when something failed, crossed what
 *     failed. As soon as one packet of this sender to this receiver that was sent after the
 *     failure has arrived, the way is whole again, and nothing that is sent later may be lost.
 * Reasons hold for one operation. Everything else that is lost is a finding, as are senders that
 * get no PathRecord, deadlocks, and a conservation check that fails. */
#ifndef WEFT_TESTS_CAMPAIGN_MACHINES_TRAFFIC_H
#define WEFT_TESTS_CAMPAIGN_MACHINES_TRAFFIC_H

#include "sim_world.h"

struct watch;

/* `machines` VMs, numbered from 0, with these GUIDs; nowhere yet. */
struct watch *watch_new(struct world *world, const uint64_t *guids, unsigned machines);
void watch_free(struct watch *watch);

/* No loss is allowed any more, and traffic becomes dense for a while. */
void watch_begin(struct watch *watch);
void watch_allow_no_loss(struct watch *watch);
/* Whoever sends over this link (either direction), or through this node, loses packets from now on.
 */
void watch_fails_link(struct watch *watch, uint32_t port);
void watch_fails_node(struct watch *watch, uint32_t node);
/* Its agent keeps silent, so that the manager cannot but take it for lost; and speaks again. */
void watch_silences_node(struct watch *watch, uint32_t node);
void watch_hears_all(struct watch *watch);

/* The machine stops for its journey … */
void watch_departs(struct watch *watch, unsigned machine);
/* … goes on at another port, while some switches may not lead there yet … */
void watch_resumes(struct watch *watch, unsigned machine, uint32_t port);
/* … and is there, or nowhere (TOPOLOGY_NONE), for good. */
void watch_arrives(struct watch *watch, unsigned machine, uint32_t port);
bool watch_is_travelling(const struct watch *watch, unsigned machine);

/* Nobody may lose anything now: each sends a few packets, and every machine gets some. */
void watch_probe(struct watch *watch);
/* NULL, or what was found. */
const char *watch_fault(struct watch *watch);
void watch_forgive(struct watch *watch); /* what was found is not found any more */

/* Why a packet was lost. */
enum watch_cause {
    WATCH_MOVING,   /* its own machine moves */
    WATCH_CUT,      /* its own way was cut */
    WATCH_PATHLESS, /* findings from here on: its sender was told that there is no path */
    WATCH_OTHER,
    WATCH_CAUSES,
};
extern const char *const watch_cause_names[WATCH_CAUSES];
struct watch_sums {
    uint64_t delivered, to_machines, lost[WATCH_CAUSES];
};
struct watch_sums watch_sums(const struct watch *watch);

#endif
