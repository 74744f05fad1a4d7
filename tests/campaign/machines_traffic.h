/* Data traffic under the machines campaign, and whose packets may be lost.
 *
 * Everybody sends to everybody: physical functions of hypervisors, as ordinary hosts do, and
 * machines, as guests of the fabric. All the time a little, and densely for some milliseconds when
 * an operation begins. A packet may be lost only if there is an excuse for it:
 *   - it is to or from a machine that is on its way, and was sent before that was over;
 *   - its path crossed what failed, when it failed;
 *   - it met an entry that drops, and the manager said that it stops traffic to some LIDs because
 *     new tables have no safe order (decision 005). Engines with lanes need that when all routes
 *     are computed anew; such losses are counted by themselves.
 *   - something failed in the middle of a move, so that the manager could not mend its tables and
 *     computed all anew: until the last of them is written, new entries may lead to old ones over
 *     what failed. These are counted by themselves, too.
 * Excuses hold for one operation. Everything else that is lost is a finding, as are packets that
 * wait for each other in a circle, and books that do not balance. */
#ifndef WEFT_TESTS_CAMPAIGN_MACHINES_TRAFFIC_H
#define WEFT_TESTS_CAMPAIGN_MACHINES_TRAFFIC_H

#include "../unit/host/sim_world.h"

struct watch;

/* `machines` guests, numbered from 0, with these GUIDs; nowhere yet. */
struct watch *watch_new(struct world *world, const uint64_t *guids, unsigned machines);
void watch_free(struct watch *watch);

/* Nobody has an excuse any more, and traffic becomes dense for a while. */
void watch_begin(struct watch *watch);
void watch_excuse_nobody(struct watch *watch);
/* Whoever sends over this link (either direction), or through this node, loses packets from now on.
 */
void watch_fails_link(struct watch *watch, uint32_t port);
void watch_fails_node(struct watch *watch, uint32_t node);

/* Traffic to some LIDs has to stop for a while: the manager says so. */
void watch_stops(struct watch *watch);
/* All routes are others now. */
void watch_recomputes(struct watch *watch);

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

struct watch_sums {
    uint64_t delivered, to_machines, excused, stopped, recomputed;
};
struct watch_sums watch_sums(const struct watch *watch);

#endif
