#include "experiment/ledger.h"

#include <string.h>

/* ---- changes ---- */

static struct story_change *close_change(struct stage *stage, size_t seat)
{
    struct stage_seat *s = stage->seats.items[seat];
    if (!s->open)
        return NULL;
    struct story_change *change = &stage->story->changes.items[s->change];
    change->end = sim_now(stage->sim);
    change->gets = s->gets;
    change->sets = s->sets;
    change->blocks = s->blocks;
    s->open = false;
    return change;
}

void ledger_give_up(struct stage *stage, size_t seat)
{
    close_change(stage, seat);
}

static void begin_change(struct stage *stage, size_t seat, uint64_t now, const char *cause)
{
    struct stage_seat *s = stage->seats.items[seat];
    struct story_change change = {
        .who = s->name, .cause = arena_strdup(&stage->story->arena, cause), .begin = now};
    if (s->open)
        return; /* more about the one under way */
    s->gets = s->sets = s->blocks = 0;
    s->open = true;
    s->change = stage->story->changes.count;
    vec_push(&stage->story->changes, change);
}

static void finish_change(struct stage *stage, size_t seat, uint64_t now)
{
    struct story_change *change = close_change(stage, seat);
    stage->settled = now;
    if (change)
        change->finished = true;
}

/* ---- listening ---- */

/* Whoever is not master changes nothing. */
static void hear_state(struct stage *stage, size_t seat, const char *text)
{
    if (strncmp(text, "standby", 7) == 0 || strncmp(text, "not active", 10) == 0)
        ledger_give_up(stage, seat);
}

static void hear_event(void *context, uint64_t now, unsigned manager, const struct sm_event *event)
{
    struct stage *stage = context;
    uint32_t index = stage->owner.items[manager];
    const struct stage_seat *seat = stage->seats.items[index];
    bool alarm = event->kind == SM_EVENT_WARNING || event->kind == SM_EVENT_ERROR;
    story_tell(stage->story, alarm ? STORY_ALARM : STORY_EVENT, now, seat->name, "%s", event->text);
    switch (event->kind) {
    case SM_EVENT_STATE: hear_state(stage, index, event->text); break;
    case SM_EVENT_CHANGE: begin_change(stage, index, now, event->text); break;
    case SM_EVENT_UP: finish_change(stage, index, now); break;
    default: break;
    }
}

static void hear_sent(void *context, uint64_t now, unsigned manager,
                      const struct sm_message *message)
{
    struct stage *stage = context;
    struct stage_seat *seat = stage->seats.items[stage->owner.items[manager]];
    unsigned method = (unsigned)wire_get(message->mad, MAD_METHOD);
    (void)now;
    unsigned id = (unsigned)wire_get(message->mad, MAD_ATTRIBUTE_ID);
    unsigned attribute = mad_attribute_find((unsigned)wire_get(message->mad, MAD_CLASS), id);
    if (method != METHOD_GET && method != METHOD_SET)
        return;
    if (method == METHOD_GET)
        seat->gets++;
    else
        seat->sets++;
    seat->blocks += method == METHOD_SET && id == ATTRIBUTE_LINEAR_FORWARDING_TABLE;
    if (attribute >= WIRE_ATTRIBUTE_COUNT)
        return;
    if (method == METHOD_GET)
        stage->sent.gets[attribute]++;
    else
        stage->sent.sets[attribute]++;
}

static void hear_computed(void *context, uint64_t now, unsigned manager, const struct sm_job *job)
{
    struct stage *stage = context;
    const struct stage_seat *seat = stage->seats.items[stage->owner.items[manager]];
    (void)job;
    if (seat->open)
        stage->story->changes.items[seat->change].routed = now;
}

void ledger_listen(struct stage *stage)
{
    sim_set_listener(stage->sim, &(struct sim_listener){.context = stage,
                                                        .event = hear_event,
                                                        .sent = hear_sent,
                                                        .computed = hear_computed});
}

/* ---- questions ---- */

void ledger_begin_run(struct stage *stage)
{
    stage->sent = (struct sent){0};
    stage->said = stage->story->events.count;
}

uint64_t ledger_sent(const struct stage *stage, unsigned method, unsigned attribute)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < WIRE_ATTRIBUTE_COUNT; i++) {
        if (attribute && wire_attributes[i].id != attribute)
            continue;
        sum += method == METHOD_SET ? 0 : stage->sent.gets[i];
        sum += method == METHOD_GET ? 0 : stage->sent.sets[i];
    }
    return sum;
}

bool ledger_said(const struct stage *stage, const char *text)
{
    for (size_t i = stage->said; i < stage->story->events.count; i++) {
        const struct story_event *event = &stage->story->events.items[i];
        if ((event->kind == STORY_EVENT || event->kind == STORY_ALARM) && strstr(event->text, text))
            return true;
    }
    return false;
}
