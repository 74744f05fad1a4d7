/* What waits for the owner to take it: events to tell, replies to send, facts to keep. */
#include "sm/internal.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

struct outbox {
    VEC(struct sm_event) events;
    VEC(struct sm_message) replies;
    VEC(struct sm_fact) facts;
    size_t events_taken, replies_taken, facts_taken;
};

struct outbox *outbox_new(void)
{
    return mem_zalloc(1, sizeof(struct outbox));
}

void outbox_free(struct outbox *outbox)
{
    if (!outbox)
        return;
    vec_release(&outbox->events);
    vec_release(&outbox->replies);
    vec_release(&outbox->facts);
    mem_free(outbox);
}

void sm_say(struct sm *sm, enum sm_event_kind kind, const char *format, ...)
{
    struct sm_event event = {.kind = kind};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(event.text, sizeof event.text, format, arguments);
    va_end(arguments);
    vec_push(&sm->outbox->events, event);
}

void sm_reply(struct sm *sm, const struct sm_message *message)
{
    vec_push(&sm->outbox->replies, *message);
}

void sm_persist(struct sm *sm, struct sm_fact fact)
{
    vec_push(&sm->outbox->facts, fact);
}

bool outbox_next_event(struct sm *sm, struct sm_output *output)
{
    struct outbox *outbox = sm->outbox;
    assert(outbox->events_taken <= outbox->events.count);
    if (outbox->events_taken == outbox->events.count) {
        outbox->events.count = outbox->events_taken = 0;
        return false;
    }
    output->kind = SM_EVENT;
    output->event = outbox->events.items[outbox->events_taken++];
    return true;
}

bool outbox_next_reply(struct sm *sm, struct sm_output *output)
{
    struct outbox *outbox = sm->outbox;
    assert(outbox->replies_taken <= outbox->replies.count);
    if (outbox->replies_taken == outbox->replies.count) {
        outbox->replies.count = outbox->replies_taken = 0;
        return false;
    }
    output->kind = SM_SEND;
    output->message = outbox->replies.items[outbox->replies_taken++];
    return true;
}

bool outbox_next_fact(struct sm *sm, struct sm_output *output)
{
    struct outbox *outbox = sm->outbox;
    assert(outbox->facts_taken <= outbox->facts.count);
    if (outbox->facts_taken == outbox->facts.count) {
        outbox->facts.count = outbox->facts_taken = 0;
        return false;
    }
    output->kind = SM_PERSIST;
    output->fact = outbox->facts.items[outbox->facts_taken++];
    return true;
}
