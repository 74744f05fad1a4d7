/* Answers that wait until what they say is safe.
 *
 * Who is told that it has joined relies on it: it does not ask again when managers change. So the
 * answer to a Set or Delete waits until everything registered so far is where a manager's death
 * cannot reach it: in the owner's file (if it keeps one, and says so with sa_kept()), and at every
 * standby that is in step with us, which says so by asking for what comes after (sync.c). One
 * writing and one telling serve all answers that wait, so that a storm of joins costs few of them.
 *
 * A standby that does not ask again within PATIENCE does not count until it does, and no answer
 * waits for longer than that: an administration whose disk hangs still administers. Questions that
 * change nothing never wait. */
#include "sa/internal.h"

static const uint64_t patience = 100 * NS_PER_MS;

static bool covers(const struct sa_generations *known, const struct sa_generations *needed)
{
    return known->groups >= needed->groups && known->others >= needed->others;
}

static bool is_in_step(const struct sa *sa, const struct watcher *watcher)
{
    return watcher->instance == sa->config.instance &&
           (watcher->waits || sa->now < watcher->told + patience);
}

static bool is_safe(const struct sa *sa, const struct sa_generations *needed)
{
    if (sa->held.journaled && !covers(&sa->held.kept, needed))
        return false;
    for (unsigned i = 0; i < WATCHERS; i++)
        if (is_in_step(sa, &sa->watchers[i]) && !covers(&sa->watchers[i].since, needed))
            return false;
    return true;
}

static bool may_wait(const struct query *query)
{
    return query_method(query) == METHOD_SET || query_method(query) == METHOD_DELETE;
}

bool deferred_is_full(const struct sa *sa, const struct query *query)
{
    return may_wait(query) && sa->held.answers.count - sa->held.taken >= sa->config.queue_limit;
}

bool deferred_keep(struct sa *sa, const struct query *query)
{
    struct deferred_answers *held = &sa->held;
    struct deferred_answer answer = {.address = query->address,
                                     .after = sa_registry_generations(sa),
                                     .until = sa->now + patience};
    if (!may_wait(query) || wire_get(sa->out.bytes, MAD_STATUS) != STATUS_OK ||
        (held->taken == held->answers.count && is_safe(sa, &answer.after)))
        return false;
    memcpy(answer.mad, sa->out.bytes, MAD_BYTES);
    vec_push(&held->answers, answer);
    return true;
}

bool deferred_next(struct sa *sa, struct sa_message *message)
{
    struct deferred_answers *held = &sa->held;
    if (held->taken == held->answers.count)
        return false;
    const struct deferred_answer *answer = &held->answers.items[held->taken];
    if (sa->now < answer->until && !is_safe(sa, &answer->after))
        return false;
    memcpy(held->mad, answer->mad, MAD_BYTES);
    *message =
        (struct sa_message){.address = answer->address, .data = held->mad, .bytes = MAD_BYTES};
    held->taken = vec_forget(&held->answers, held->taken + 1);
    return true;
}

uint64_t deferred_deadline(const struct sa *sa)
{
    const struct deferred_answers *held = &sa->held;
    if (held->taken == held->answers.count)
        return TIME_NEVER;
    const struct deferred_answer *answer = &held->answers.items[held->taken];
    return is_safe(sa, &answer->after) ? 0 : answer->until;
}

bool deferred_for(const struct sa *sa, const struct watcher *watcher)
{
    const struct deferred_answers *held = &sa->held;
    return held->taken < held->answers.count && is_in_step(sa, watcher);
}

void sa_keep_registrations(struct sa *sa, bool kept)
{
    sa->held.journaled = kept;
    sa->held.kept = sa_registry_generations(sa);
}

bool sa_waits_for_keeping(const struct sa *sa)
{
    const struct deferred_answers *held = &sa->held;
    return held->journaled && held->taken < held->answers.count &&
           !covers(&held->kept, &held->answers.items[held->answers.count - 1].after);
}

void sa_kept(struct sa *sa, const struct sa_generations *generations)
{
    sa->held.kept = *generations;
}
