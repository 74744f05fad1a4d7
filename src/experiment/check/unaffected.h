/* `check no-loss-of unaffected`: whoever did not depend on what failed must not suffer from the
 * cure.
 *
 * When something is about to fail, the way of every pair of senders and receivers is followed
 * through the tables that are in the switches at that moment. Pairs whose way does not touch what
 * fails are unaffected, and stay so until a later failure touches theirs. From then on
 *   - with traffic, no packet of an unaffected pair may be lost, for whatever cause;
 *   - without, every state of tables and ports that the fabric passes through must deliver all
 *     unaffected pairs, from the base or renamed address that senders use at that moment.
 * Ways through switches with random forwarding tables are not followed: such pairs count as
 * affected. */
#ifndef WEFT_EXPERIMENT_CHECK_UNAFFECTED_H
#define WEFT_EXPERIMENT_CHECK_UNAFFECTED_H

#include "experiment/check/checks.h"
#include "experiment/scenario/action.h"
#include "fabric/data.h"
#include "fabric/traffic.h"
#include "host/sim/sim_paths.h"

struct unaffected;

/* Pairs are the senders and receivers of the traffic that was added; without any, all adapters. */
struct unaffected *unaffected_new(struct fabric *fabric, struct sim_paths *paths);
void unaffected_add(struct unaffected *unaffected, const struct traffic *traffic);
void unaffected_free(struct unaffected *unaffected);

/* All may be called with NULL, when nobody asks. */

/* Before an action is carried out. */
void unaffected_before(struct unaffected *unaffected, const struct action *action);
void unaffected_lost(struct unaffected *unaffected, uint64_t now, const struct packet_view *packet,
                     enum loss cause);
/* Every state must be seen, so time must pass event by event. */
bool unaffected_wants_all(const struct unaffected *unaffected);
void unaffected_look(struct unaffected *unaffected, uint64_t now);

uint64_t unaffected_losses(const struct unaffected *unaffected);
bool unaffected_holds(const struct unaffected *unaffected, struct complaint *complaint);

#endif
