#include "experiment/run/ledger.h"

#include "base/time.h"
#include "experiment/measure/metrics.h"

#include <string.h>

/* ---- changes ---- */

static void close_change(struct stage *stage, size_t seat, bool finished)
{
    struct stage_seat *s = stage->seats.items[seat];
    if (!s->open)
        return;
    struct story_change *change = &stage->story->changes.items[s->change];
    change->end = sim_now(stage->sim);
    change->finished = finished;
    change_book_close(&s->book, stage->story, s->change);
    s->open = false;
}

void ledger_give_up(struct stage *stage, size_t seat)
{
    close_change(stage, seat, false);
}

/* The first that is noticed after a fault is taken to be about it. */
static void begin_change(struct stage *stage, size_t seat, uint64_t now, const char *cause)
{
    struct stage_seat *s = stage->seats.items[seat];
    struct story_change change = {
        .who = s->name, .cause = arena_strdup(&stage->story->arena, cause), .begin = now};
    uint64_t fault = stage->fault;
    stage->fault = TIME_NEVER;
    if (s->open)
        return; /* more about the one under way */
    if (fault != TIME_NEVER) {
        change.tied = true;
        change.fault = fault;
    }
    change_book_begin(&s->book, (uint32_t)stage->topology.nodes.count);
    s->open = true;
    s->change = stage->story->changes.count;
    vec_push(&stage->story->changes, change);
}

/* ---- listening ---- */

static void hear_event(void *context, uint64_t now, unsigned manager, const struct sm_event *event)
{
    struct stage *stage = context;
    uint32_t index = stage->owner.items[manager];
    const struct stage_seat *seat = stage->seats.items[index];
    bool alarm = event->kind == SM_EVENT_WARNING || event->kind == SM_EVENT_ERROR;
    story_tell(stage->story, alarm ? STORY_ALARM : STORY_EVENT, now, seat->name, "%s", event->text);
    switch (event->kind) {
    case SM_EVENT_STATE: /* whoever is not master changes nothing */
        if (strncmp(event->text, "standby", 7) == 0 || strncmp(event->text, "not active", 10) == 0)
            ledger_give_up(stage, index);
        break;
    case SM_EVENT_CHANGE: begin_change(stage, index, now, event->text); break;
    case SM_EVENT_UP:
        close_change(stage, index, true);
        stage->settled = now;
        break;
    default: break;
    }
}

/* The node that a directed-route SMP from `port` is for; TOPOLOGY_NONE if it leads nowhere. */
static uint32_t follow_route(const struct topology *topology, uint32_t port, const uint8_t *mad)
{
    uint32_t node = topology->ports.items[port].node;
    for (unsigned hop = 1; hop <= wire_get(mad, SMP_HOP_COUNT); hop++) {
        unsigned number = (unsigned)wire_get_at(mad, SMP_INITIAL_PATH, hop);
        if (number == 0 || number > topology->nodes.items[node].port_count)
            return TOPOLOGY_NONE;
        uint32_t peer = topology->ports.items[topology_port_index(topology, node, number)].peer;
        if (peer == TOPOLOGY_NONE)
            return TOPOLOGY_NONE;
        node = topology->ports.items[peer].node;
    }
    return node;
}

static uint32_t find_lid(const struct stage *stage, unsigned lid)
{
    for (uint32_t port = 0; port < stage->topology.ports.count; port++) {
        const uint8_t *info = fabric_port_info(stage->fabric, port);
        unsigned first = (unsigned)wire_get(info, PORT_INFO_LID);
        if (first && lid >= first && lid < first + (1u << wire_get(info, PORT_INFO_LMC)))
            return stage->topology.ports.items[port].node;
    }
    return TOPOLOGY_NONE;
}

static void hear_sent(void *context, uint64_t now, unsigned manager,
                      const struct sm_message *message)
{
    struct stage *stage = context;
    uint32_t index = stage->owner.items[manager];
    struct stage_seat *seat = stage->seats.items[index];
    unsigned id = (unsigned)wire_get(message->mad, MAD_ATTRIBUTE_ID);
    struct change_smp smp = {
        .node = TOPOLOGY_NONE,
        .method = (unsigned)wire_get(message->mad, MAD_METHOD),
        .attribute = mad_attribute_find((unsigned)wire_get(message->mad, MAD_CLASS), id)};
    if (smp.method != METHOD_GET && smp.method != METHOD_SET)
        return;
    uint32_t place = stage->topology.ports.items[stage->places.items[index].port].node;
    metrics_sent_smp(stage->metrics, now, place, smp.method);
    sent_add(&stage->sent, smp.method, smp.attribute);
    if (!seat->open)
        return;
    if (smp.method == METHOD_SET)
        smp.node =
            wire_get(message->mad, MAD_CLASS) == CLASS_SUBN_DIRECTED
                ? follow_route(&stage->topology, stage->places.items[index].port, message->mad)
                : find_lid(stage, message->lid);
    smp.routed = stage->story->changes.items[seat->change].routing != 0;
    change_book_note(&seat->book, now, &smp);
}

/* A job may have been begun for an earlier change; only what falls into this one counts. */
static void hear_computed(void *context, uint64_t now, unsigned manager,
                          const struct sim_computation *computation)
{
    struct stage *stage = context;
    struct stage_seat *seat = stage->seats.items[stage->owner.items[manager]];
    if (!seat->open)
        return;
    struct story_change *change = &stage->story->changes.items[seat->change];
    uint64_t begin = computation->begin > change->begin ? computation->begin : change->begin;
    uint64_t end = computation->end > begin ? computation->end : begin;
    if (!change->routing)
        change->routing = begin ? begin : 1; /* 0 means never */
    change->computing += end - begin;
    change->routed = now;
    seat->book.operations += computation->operations;
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
