/* `check no-loss-of unaffected`: a repair must not harm pairs that did not depend on what failed.
 *
 * Before a failure, the path of every pair of senders and receivers is followed through the present
 * LFTs. Pairs whose path does not use what fails are unaffected until a later failure concerns
 * their path. With traffic, no packet of an unaffected pair may be lost from then on, whatever the
 * cause. Without traffic, every state of tables and ports must deliver all unaffected pairs, by the
 * base or renamed LID that senders use at that time.
 *
 * Paths through switches with random forwarding tables are not followed: such pairs count as
 * affected. */
#ifndef WEFT_EXPERIMENT_CHECK_UNAFFECTED_H
#define WEFT_EXPERIMENT_CHECK_UNAFFECTED_H

#include "console/action.h"
#include "experiment/check/checks.h"
#include "fabric/data.h"
#include "fabric/traffic/traffic.h"
#include "host/sim/sim_paths.h"

struct unaffected;

/* Pairs are the senders and receivers of the traffic that was added; without any, all adapters. */
struct unaffected *unaffected_new(struct fabric *fabric, struct sim_paths *paths);
void unaffected_add(struct unaffected *unaffected, const struct traffic *traffic);
void unaffected_free(struct unaffected *unaffected);

/* The functions below accept NULL: the check is off. */

/* Called before an action is applied. */
void unaffected_before_action(struct unaffected *unaffected, const struct action *action);
void unaffected_lost(struct unaffected *unaffected, uint64_t now, const struct packet_view *packet,
                     enum loss cause);
/* Whether time must advance event by event, so that every state is checked. */
bool unaffected_needs_every_event(const struct unaffected *unaffected);
void unaffected_update(struct unaffected *unaffected, uint64_t now);

uint64_t unaffected_losses(const struct unaffected *unaffected);
bool unaffected_holds(const struct unaffected *unaffected, struct check_failure *failure);

#endif
