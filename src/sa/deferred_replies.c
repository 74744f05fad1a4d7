/* Answers that are deferred until the registration is durable.
 *
 * A client whose registration was confirmed does not register again after a failover. So the answer
 * to a Set or Delete waits until all registrations so far are in the owner's file (if it keeps one;
 * it reports saves with sa_registrations_saved()) and at every standby in sync, which confirms them
 * by its next poll (sync.c). One save and one poll serve all waiting answers.
 *
 * A standby that does not poll within `patience` is not in sync until it does. A standby that polls
 * but does not confirm is late: no answer waits for it for one second, and for twice as long each
 * further time, so that a slow or false standby does not delay clients. No answer waits for longer
 * than `patience`, so a disk that hangs does not stop the SA. Queries never wait. */
#include "sa/internal.h"

#include <assert.h>

static const uint64_t patience = 100 * NS_PER_MS, late_least = 1 * NS_PER_S;
enum { LATE_MOST = 6 }; /* doublings */

static bool covers(const struct sa_generations *known, const struct sa_generations *needed)
{
    return known->groups >= needed->groups && known->others >= needed->others;
}

static bool is_in_sync(const struct sa *sa, const struct standby *standby)
{
    return standby->instance == sa->config.instance && sa->now >= standby->late_until &&
           (standby->polling || sa->now < standby->answered_at + patience);
}

/* Marks the standbys that have not confirmed in time as late. */
static void note_late_standbys(struct sa *sa, const struct sa_generations *needed)
{
    for (unsigned i = 0; i < STANDBYS; i++) {
        struct standby *standby = &sa->standbys[i];
        if (!is_in_sync(sa, standby) || covers(&standby->since, needed))
            continue;
        standby->late_until = sa->now + (late_least << standby->lateness);
        standby->lateness += standby->lateness < LATE_MOST;
    }
}

static bool is_durable(const struct sa *sa, const struct sa_generations *needed)
{
    if (sa->deferred.journaled && !covers(&sa->deferred.kept, needed))
        return false;
    for (unsigned i = 0; i < STANDBYS; i++)
        if (is_in_sync(sa, &sa->standbys[i]) && !covers(&sa->standbys[i].since, needed))
            return false;
    return true;
}

static bool changes_registry(const struct query *query)
{
    return query_method(query) == METHOD_SET || query_method(query) == METHOD_DELETE;
}

bool deferred_is_full(const struct sa *sa, const struct query *query)
{
    return changes_registry(query) &&
           sa->deferred.answers.count - sa->deferred.taken >= sa->config.queue_limit;
}

bool deferred_keep(struct sa *sa, const struct query *query)
{
    struct deferred_answers *deferred = &sa->deferred;
    struct deferred_answer answer = {.address = query->address,
                                     .after = sa_registry_generations(sa),
                                     .until = sa->now + patience};
    if (!changes_registry(query) || wire_get(sa->out.bytes, MAD_STATUS) != STATUS_OK ||
        (deferred->taken == deferred->answers.count && is_durable(sa, &answer.after)))
        return false;
    memcpy(answer.mad, sa->out.bytes, MAD_BYTES);
    vec_push(&deferred->answers, answer);
    return true;
}

bool deferred_next(struct sa *sa, struct sa_message *message)
{
    struct deferred_answers *deferred = &sa->deferred;
    assert(deferred->taken <= deferred->answers.count);
    if (deferred->taken == deferred->answers.count)
        return false;
    const struct deferred_answer *answer = &deferred->answers.items[deferred->taken];
    if (sa->now >= answer->until)
        note_late_standbys(sa, &answer->after);
    if (sa->now < answer->until && !is_durable(sa, &answer->after))
        return false;
    memcpy(deferred->mad, answer->mad, MAD_BYTES);
    *message =
        (struct sa_message){.address = answer->address, .data = deferred->mad, .bytes = MAD_BYTES};
    deferred->taken = vec_drop_taken(&deferred->answers, deferred->taken + 1);
    return true;
}

uint64_t deferred_deadline(const struct sa *sa)
{
    const struct deferred_answers *deferred = &sa->deferred;
    if (deferred->taken == deferred->answers.count)
        return TIME_NEVER;
    const struct deferred_answer *answer = &deferred->answers.items[deferred->taken];
    return is_durable(sa, &answer->after) ? 0 : answer->until;
}

bool deferred_awaits(const struct sa *sa, const struct standby *standby)
{
    const struct deferred_answers *deferred = &sa->deferred;
    return deferred->taken < deferred->answers.count && is_in_sync(sa, standby);
}

void sa_await_saves(struct sa *sa, bool kept)
{
    sa->deferred.journaled = kept;
    sa->deferred.kept = sa_registry_generations(sa);
}

bool sa_waits_for_save(const struct sa *sa)
{
    const struct deferred_answers *deferred = &sa->deferred;
    return deferred->journaled && deferred->taken < deferred->answers.count &&
           !covers(&deferred->kept, &deferred->answers.items[deferred->answers.count - 1].after);
}

void sa_registrations_saved(struct sa *sa, const struct sa_generations *generations)
{
    sa->deferred.kept = *generations;
}
