#include "experiment/run/setup.h"

#include "base/time.h"
#include "experiment/measure/metrics.h"

#include <string.h>

/* ---- changes ---- */

void change_log_close(struct setup *setup, size_t seat, bool finished)
{
    struct setup_seat *s = setup->seats.items[seat];
    if (!s->open)
        return;
    struct run_record_change *change = &setup->record->changes.items[s->change];
    change->end = sim_now(setup->sim);
    change->finished = finished;
    change_record_close(&s->book, setup->record, s->change);
    s->open = false;
}

static void begin_change(struct setup *setup, size_t seat, uint64_t now, const char *cause)
{
    struct setup_seat *s = setup->seats.items[seat];
    struct run_record_change change = {
        .who = s->name, .cause = arena_strdup(&setup->record->arena, cause), .begin = now};
    uint64_t fault = setup->fault;
    setup->fault = TIME_NEVER;
    if (s->open)
        return; /* more about the one under way */
    if (fault != TIME_NEVER) {
        change.tied = true;
        change.fault = fault;
    }
    change_record_begin(&s->book, (uint32_t)setup->topology.nodes.count);
    s->open = true;
    s->change = setup->record->changes.count;
    vec_push(&setup->record->changes, change);
}

/* ---- listening ---- */

static void hear_event(void *context, uint64_t now, unsigned manager, const struct sm_event *event)
{
    struct setup *setup = context;
    uint32_t index = setup->owner.items[manager];
    const struct setup_seat *seat = setup->seats.items[index];
    bool alarm = event->kind == SM_EVENT_WARNING || event->kind == SM_EVENT_ERROR;
    run_record_tell(setup->record, alarm ? RUN_RECORD_ALARM : RUN_RECORD_EVENT, now, seat->name,
                    "%s", event->text);
    switch (event->kind) {
    case SM_EVENT_STATE: /* whoever is not master changes nothing */
        if (strncmp(event->text, "standby", 7) == 0 || strncmp(event->text, "not active", 10) == 0)
            change_log_close(setup, index, false);
        break;
    case SM_EVENT_CHANGE: begin_change(setup, index, now, event->text); break;
    case SM_EVENT_UP:
        change_log_close(setup, index, true);
        setup->settled = now;
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

static uint32_t find_lid(const struct setup *setup, unsigned lid)
{
    for (uint32_t port = 0; port < setup->topology.ports.count; port++) {
        const uint8_t *info = fabric_port_info(setup->fabric, port);
        unsigned first = (unsigned)wire_get(info, PORT_INFO_LID);
        if (first && lid >= first && lid < first + (1u << wire_get(info, PORT_INFO_LMC)))
            return setup->topology.ports.items[port].node;
    }
    return TOPOLOGY_NONE;
}

static void hear_sent(void *context, uint64_t now, unsigned manager,
                      const struct sm_message *message)
{
    struct setup *setup = context;
    uint32_t index = setup->owner.items[manager];
    struct setup_seat *seat = setup->seats.items[index];
    unsigned id = (unsigned)wire_get(message->mad, MAD_ATTRIBUTE_ID);
    struct change_smp smp = {
        .node = TOPOLOGY_NONE,
        .method = (unsigned)wire_get(message->mad, MAD_METHOD),
        .attribute = mad_attribute_find((unsigned)wire_get(message->mad, MAD_CLASS), id)};
    if (smp.method != METHOD_GET && smp.method != METHOD_SET)
        return;
    uint32_t place = setup->topology.ports.items[setup->places.items[index].port].node;
    metrics_sent_smp(setup->metrics, now, place, smp.method);
    sent_add(&setup->sent, smp.method, smp.attribute);
    if (!seat->open)
        return;
    if (smp.method == METHOD_SET)
        smp.node =
            wire_get(message->mad, MAD_CLASS) == CLASS_SUBN_DIRECTED
                ? follow_route(&setup->topology, setup->places.items[index].port, message->mad)
                : find_lid(setup, message->lid);
    smp.routed = setup->record->changes.items[seat->change].routing != 0;
    change_record_note(&seat->book, now, &smp);
}

/* A job may have been begun for an earlier change; only what falls into this one counts. */
static void hear_computed(void *context, uint64_t now, unsigned manager,
                          const struct sim_computation *computation)
{
    struct setup *setup = context;
    struct setup_seat *seat = setup->seats.items[setup->owner.items[manager]];
    if (!seat->open)
        return;
    struct run_record_change *change = &setup->record->changes.items[seat->change];
    uint64_t begin = computation->begin > change->begin ? computation->begin : change->begin;
    uint64_t end = computation->end > begin ? computation->end : begin;
    if (!change->routing)
        change->routing = begin ? begin : 1; /* 0 means never */
    change->computing += end - begin;
    change->routed = now;
    seat->book.operations += computation->operations;
}

void change_log_listen(struct setup *setup)
{
    sim_set_listener(setup->sim, &(struct sim_listener){.context = setup,
                                                        .event = hear_event,
                                                        .sent = hear_sent,
                                                        .computed = hear_computed});
}

/* ---- questions ---- */

void change_log_begin_run(struct setup *setup)
{
    setup->sent = (struct sent){0};
    setup->said = setup->record->events.count;
}

uint64_t change_log_sent(const struct setup *setup, unsigned method, unsigned attribute)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < WIRE_ATTRIBUTE_COUNT; i++) {
        if (attribute && wire_attributes[i].id != attribute)
            continue;
        sum += method == METHOD_SET ? 0 : setup->sent.gets[i];
        sum += method == METHOD_GET ? 0 : setup->sent.sets[i];
    }
    return sum;
}

bool change_log_said(const struct setup *setup, const char *text)
{
    for (size_t i = setup->said; i < setup->record->events.count; i++) {
        const struct run_record_event *event = &setup->record->events.items[i];
        if ((event->kind == RUN_RECORD_EVENT || event->kind == RUN_RECORD_ALARM) &&
            strstr(event->text, text))
            return true;
    }
    return false;
}
