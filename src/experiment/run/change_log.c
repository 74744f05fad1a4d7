/* The changes, events and requests of managers, as the record of a run keeps them. Managers report
 * when a change begins and ends, and what it cost; the record has times of the simulation, in ps.
 */
#include "experiment/run/setup.h"

#include "base/time.h"
#include "experiment/measure/metrics.h"

#include <assert.h>
#include <string.h>

/* ---- changes ---- */

/* Takes the costs of the last change of a manager, and the reason if it has no routes. */
static void end_change(struct setup *setup, struct setup_instance *s, const struct sm_change *ended)
{
    struct run_record_change *change = &setup->record->changes.items[s->change];
    change->end = sim_now(setup->sim);
    change->finished = ended->outcome == SM_FINISHED;
    change->refusal = ended->refusal ? arena_strdup(&setup->record->arena, ended->refusal) : NULL;
    change->draining = ended->drained_ns * TIME_NS;
    change->stopped =
        ended->stopped ? change->begin + (ended->stopped - ended->begin) * TIME_NS : 0;
    change->gets = ended->requests.gets;
    change->sets = ended->requests.sets;
    change->blocks = ended->requests.tables - ended->requests.tables_read;
    change_record_close(&s->smps, setup->record, s->change);
    s->open = false;
}

void change_log_close(struct setup *setup, size_t instance)
{
    assert(instance < setup->instances.count);
    struct setup_instance *s = setup->instances.items[instance];
    struct sm_change last;
    if (s->open && sm_change_at(setup_manager(setup, instance), 0, &last))
        end_change(setup, s, &last);
}

static void begin_change(struct setup *setup, struct setup_instance *s, uint64_t now,
                         const char *cause)
{
    struct run_record_change change = {
        .who = s->name, .cause = arena_strdup(&setup->record->arena, cause), .begin = now};
    assert(!s->open);
    change.tied = setup->fault != TIME_NEVER;
    change.fault = change.tied ? setup->fault : 0;
    setup->fault = TIME_NEVER;
    change_record_begin(&s->smps, (uint32_t)setup->topology.nodes.count);
    s->open = true;
    s->change = setup->record->changes.count;
    vec_push(&setup->record->changes, change);
}

/* ---- reports of managers ---- */

/* The node of a port of the manager's subnet, or MAP_NONE. */
static uint32_t node_of_port(const struct setup *setup, uint32_t instance, uint32_t port)
{
    const struct sm *sm = setup_manager(setup, instance);
    const struct subnet *subnet = sm ? sm_subnet(sm) : NULL;
    if (!subnet || port >= subnet->ports.count)
        return MAP_NONE;
    return map_get(&setup->topology.by_guid,
                   subnet->nodes.items[subnet->ports.items[port].node].guid);
}

static void record_event(void *context, uint64_t now, unsigned manager,
                         const struct sm_event *event)
{
    struct setup *setup = context;
    assert(manager < setup->owner.count);
    uint32_t index = setup->owner.items[manager];
    struct setup_instance *instance = setup->instances.items[index];
    const struct sm_change *change = event->change;
    bool alarm = event->kind == SM_EVENT_WARNING || event->kind == SM_EVENT_ERROR;
    uint32_t node = node_of_port(setup, index, event->at);
    if (node == MAP_NONE) /* it names none: that of the manager */
        node = setup->topology.ports.items[setup->places.items[index].port].node;
    run_record_add_event_at(setup->record, alarm ? RUN_RECORD_ALARM : RUN_RECORD_EVENT, now, node,
                            instance->name, "%s", event->text);
    setup->record->events.items[setup->record->events.count - 1].note =
        event->kind == SM_EVENT_CHANGE && !change;
    if (!change)
        return;
    if (event->kind == SM_EVENT_CHANGE) {
        begin_change(setup, instance, now, change->text);
        return;
    }
    end_change(setup, instance, change);
    if (change->outcome == SM_FINISHED) {
        setup->settled = now;
        metrics_settled(setup->metrics, now);
    }
}

/* The destination node of a directed-route SMP sent at `port`, or TOPOLOGY_NONE. */
static uint32_t find_directed_node(const struct topology *topology, uint32_t port,
                                   const uint8_t *mad)
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

static void count_sent(void *context, uint64_t now, unsigned manager,
                       const struct sm_message *message)
{
    struct setup *setup = context;
    uint32_t index = setup->owner.items[manager];
    struct setup_instance *instance = setup->instances.items[index];
    unsigned class = (unsigned)wire_get(message->mad, MAD_CLASS);
    unsigned method = (unsigned)wire_get(message->mad, MAD_METHOD);
    unsigned id = (unsigned)wire_get(message->mad, MAD_ATTRIBUTE_ID);
    unsigned attribute = mad_attribute_find(class, id);
    if (method != METHOD_GET && method != METHOD_SET)
        return;
    uint32_t port = setup->places.items[index].port;
    metrics_sent_smp(setup->metrics, now, setup->topology.ports.items[port].node, method);
    sent_add(&setup->sent, method, attribute);
    if (!instance->open)
        return;
    sent_add(&instance->smps.sent, method, attribute);
    if (method == METHOD_SET &&
        (id == ATTRIBUTE_LINEAR_FORWARDING_TABLE || id == ATTRIBUTE_RANDOM_FORWARDING_TABLE)) {
        uint32_t lid_port =
            sm_subnet(setup_manager(setup, index))->by_lid[message->lid % LFT_ENTRIES];
        uint32_t node = class == CLASS_SUBN_DIRECTED
                            ? find_directed_node(&setup->topology, port, message->mad)
                            : node_of_port(setup, index, lid_port);
        if (node < setup->topology.nodes.count)
            instance->smps.written[node] = now;
    }
}

/* A computation may have begun before this change; only its part inside the change counts. */
static void record_computation(void *context, uint64_t now, unsigned manager,
                               const struct sim_computation *computation)
{
    struct setup *setup = context;
    struct setup_instance *instance = setup->instances.items[setup->owner.items[manager]];
    if (!instance->open)
        return;
    struct run_record_change *change = &setup->record->changes.items[instance->change];
    uint64_t begin = computation->begin > change->begin ? computation->begin : change->begin;
    uint64_t end = computation->end > begin ? computation->end : begin;
    struct sm_change last;
    if (!change->routing) {
        change->routing = begin ? begin : 1; /* 0 means unknown */
        sm_change_at(setup_manager(setup, setup->owner.items[manager]), 0, &last);
        instance->smps.discover = last.requests.gets + last.requests.sets;
    } else if (!instance->smps.second) {
        instance->smps.second = begin;
    }
    change->computing += end - begin;
    change->routed = now;
    instance->smps.operations += computation->operations;
}

void change_log_listen(struct setup *setup)
{
    sim_set_listener(setup->sim, &(struct sim_listener){.context = setup,
                                                        .event = record_event,
                                                        .sent = count_sent,
                                                        .computed = record_computation});
}

/* ---- queries ---- */

void change_log_begin_run(struct setup *setup)
{
    setup->sent = (struct sent){0};
    setup->events_before_run = setup->record->events.count;
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

bool change_log_has_event(const struct setup *setup, const char *text)
{
    for (size_t i = setup->events_before_run; i < setup->record->events.count; i++) {
        const struct run_record_event *event = &setup->record->events.items[i];
        if ((event->kind == RUN_RECORD_EVENT || event->kind == RUN_RECORD_ALARM) &&
            strstr(event->text, text))
            return true;
    }
    return false;
}
