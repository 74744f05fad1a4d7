/* Answers that are deferred until the registration is durable.
 *
 * A client whose registration was confirmed does not register again after a failover. So the answer
 * to a Set or Delete waits until all registrations so far are in the owner's file (if it keeps one;
 * it reports saves with sa_registrations_saved()) and at every standby with a lease, which confirms
 * them by its next poll (sync.c). One save and one poll serve all waiting answers.
 *
 * No answer waits for the file for longer than `patience`, so a disk that hangs does not stop the
 * SA. A standby whose lease ends before it confirms is late: it gets no lease for ten seconds, and
 * for twice as long each further time, so that a slow or false standby delays clients rarely. No
 * answer waits for a standby whose port shows that its manager has ended. Queries never wait. */
#include "sa/internal.h"

#include <assert.h>

static const uint64_t patience = 100 * NS_PER_MS, late_least = 10 * NS_PER_S;
enum { LATE_MOST = 6 }; /* doublings */

bool generations_cover(const struct sa_generations *known, const struct sa_generations *needed)
{
    return known->groups >= needed->groups && known->others >= needed->others;
}

/* A standby that is not found may still run. */
static bool has_ended(const struct sa *sa, const struct standby *standby)
{
    uint32_t port = sa_port_at(sa, standby->address.lid);
    return port != SUBNET_NONE && !sa->view.subnet->ports.items[port].manager;
}

static bool lacks(const struct standby *standby, const struct sa_generations *needed)
{
    return standby->leased_until && !generations_cover(&standby->since, needed);
}

/* The time until which the answer waits; 0: its registration is durable. */
static uint64_t waits_until(const struct sa *sa, const struct deferred_answer *answer)
{
    uint64_t until = 0;
    if (sa->deferred.journaled && !generations_cover(&sa->deferred.kept, &answer->after))
        until = answer->until;
    for (unsigned i = 0; i < STANDBYS; i++) {
        const struct standby *standby = &sa->standbys[i];
        if (lacks(standby, &answer->after) && standby->leased_until > until &&
            !has_ended(sa, standby))
            until = standby->leased_until;
    }
    return until;
}

/* The first answer is sent. Standbys that lack its registration have no lease any more. */
static void note_late_standbys(struct sa *sa, const struct sa_generations *needed)
{
    for (unsigned i = 0; i < STANDBYS; i++) {
        struct standby *standby = &sa->standbys[i];
        if (!lacks(standby, needed))
            continue;
        if (sa->now > standby->late_until + (late_least << LATE_MOST))
            standby->lateness = 0;
        standby->leased_until = 0;
        standby->late_until = sa->now + (late_least << standby->lateness);
        standby->lateness += standby->lateness < LATE_MOST;
    }
}

static bool changes_registry(const struct query *query)
{
    return query_method(query) == METHOD_SET || query_method(query) == METHOD_DELETE;
}

bool deferred_is_full(const struct sa *sa, const struct query *query)
{
    return changes_registry(query) &&
           (sa->deferred.answers.count - sa->deferred.taken >= sa->config.queue_limit ||
            sa->queue.clients.items[query->client].deferred >= sa->config.client_limit);
}

bool deferred_keep(struct sa *sa, const struct query *query)
{
    struct deferred_answers *deferred = &sa->deferred;
    struct deferred_answer answer = {.client = query->client,
                                     .address = query->address,
                                     .asked_at = query->asked_at,
                                     .after = sa_registry_generations(sa),
                                     .until = sa->now + patience};
    if (!changes_registry(query) || wire_get(sa->out.bytes, MAD_STATUS) != STATUS_OK ||
        (deferred->taken == deferred->answers.count && sa->now >= waits_until(sa, &answer)))
        return false;
    memcpy(answer.mad, sa->out.bytes, MAD_BYTES);
    vec_push(&deferred->answers, answer);
    sa->queue.clients.items[answer.client].deferred++;
    return true;
}

bool deferred_next(struct sa *sa, struct sa_message *message)
{
    struct deferred_answers *deferred = &sa->deferred;
    assert(deferred->taken <= deferred->answers.count);
    if (deferred->taken == deferred->answers.count)
        return false;
    const struct deferred_answer *answer = &deferred->answers.items[deferred->taken];
    if (sa->now < waits_until(sa, answer))
        return false;
    note_late_standbys(sa, &answer->after);
    sa->queue.clients.items[answer->client].deferred--;
    memcpy(deferred->mad, answer->mad, MAD_BYTES);
    *message = (struct sa_message){.address = answer->address,
                                   .data = deferred->mad,
                                   .bytes = MAD_BYTES,
                                   .asked_at = answer->asked_at};
    deferred->taken = vec_drop_taken(&deferred->answers, deferred->taken + 1);
    return true;
}

uint64_t deferred_deadline(const struct sa *sa)
{
    const struct deferred_answers *deferred = &sa->deferred;
    if (deferred->taken == deferred->answers.count)
        return TIME_NEVER;
    return waits_until(sa, &deferred->answers.items[deferred->taken]);
}

bool deferred_awaits(const struct sa *sa, const struct standby *standby)
{
    const struct deferred_answers *deferred = &sa->deferred;
    return deferred->taken < deferred->answers.count && sa->now < standby->leased_until;
}

void sa_update_kept(struct sa *sa, uint64_t now)
{
    uint64_t kept = sa->deferred.journaled ? sa->deferred.kept.others : sa->registry.generation;
    for (unsigned i = 0; i < STANDBYS; i++) {
        const struct standby *standby = &sa->standbys[i];
        if (now < standby->leased_until && standby->since.others < kept && !has_ended(sa, standby))
            kept = standby->since.others;
    }
    sa->registry.machines.kept = kept;
}

void sa_await_saves(struct sa *sa, bool kept)
{
    sa->deferred.journaled = kept;
    sa->deferred.kept = sa_registry_generations(sa);
}

bool sa_waits_for_save(const struct sa *sa)
{
    const struct deferred_answers *deferred = &sa->deferred;
    if (!deferred->journaled)
        return false;
    return (sa->serves && deferred->kept.others < sa->registry.machines.last) ||
           (deferred->taken < deferred->answers.count &&
            !generations_cover(&deferred->kept,
                               &deferred->answers.items[deferred->answers.count - 1].after));
}

void sa_registrations_saved(struct sa *sa, const struct sa_generations *generations)
{
    sa->deferred.kept = *generations;
}
