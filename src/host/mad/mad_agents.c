/* MAD agents: their registration, and the lookup of the agent that a received MAD is for.
 *
 * A registration names a class, its version and the methods that the agent serves. Two agents of
 * one port cannot serve the same method. In the vendor classes 0x30 to 0x4f the OUI is part of the
 * class. An agent with class 0 only sends requests. */
#include "host/mad/mad_internal.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum {
    CLASS_LAST = 0x4f, /* of all but the directed-route class */
    VERSION_END = 0x83,
};

static bool is_vendor_class(unsigned class)
{
    return class >= CLASS_VENDOR_RMPP_FIRST && class <= CLASS_VENDOR_RMPP_LAST;
}

bool mad_agent_has_rmpp(const struct mad_agent *agent, const uint8_t *mad)
{
    return agent->registration.rmpp_version == RMPP_THIS_VERSION &&
           !agent->registration.user_rmpp && mad_has_active_rmpp(mad);
}

static bool is_valid_registration(const struct registration *wanted)
{
    static const uint8_t no_oui[3];
    if (wanted->rmpp_version > RMPP_THIS_VERSION)
        return false;
    if (wanted->class == 0)
        return true;
    if (wanted->class_version >= VERSION_END)
        return false;
    if (wanted->class > CLASS_LAST && wanted->class != CLASS_SUBN_DIRECTED)
        return false;
    if (is_vendor_class(wanted->class) && memcmp(wanted->oui, no_oui, sizeof no_oui) == 0)
        return false;
    return !wanted->rmpp_version || wanted->user_rmpp || mad_class_has_rmpp(wanted->class);
}

static bool is_same_class(const struct registration *a, unsigned class, unsigned version,
                          const uint8_t oui[3])
{
    return a->class == class && a->class_version == version &&
           (!is_vendor_class(class) || memcmp(a->oui, oui, 3) == 0);
}

static bool methods_overlap(const struct mad_agent *agent, const struct registration *wanted)
{
    const struct registration *has = &agent->registration;
    if (!is_same_class(has, wanted->class, wanted->class_version, wanted->oui))
        return false;
    for (unsigned i = 0; i < 4; i++)
        if (has->method_mask[i] & wanted->method_mask[i])
            return true;
    return false;
}

int mad_file_register(struct mad_file *file, const struct registration *registration)
{
    struct mad_layer *layer = file->layer;
    struct mad_port *port = mad_layer_port(layer, file->port);
    unsigned number = 0;
    assert(file->status.agents <= FILE_AGENTS);
    while (number < FILE_AGENTS && file->agents[number])
        number++;
    if (number == FILE_AGENTS)
        return -ENOMEM;
    if (!is_valid_registration(registration))
        return -EINVAL;
    for (struct mad_agent *other = port->agents; registration->class && other; other = other->next)
        if (methods_overlap(other, registration))
            return -EINVAL;
    struct mad_agent *agent = mem_zalloc(1, sizeof *agent);
    agent->file = file;
    agent->number = number;
    /* Never reused, so that a late answer cannot reach an agent that was registered later. */
    agent->high_tid = ++layer->last_high_tid;
    agent->registration = *registration;
    agent->next = port->agents;
    port->agents = agent;
    file->agents[number] = agent;
    file->status.agents++;
    map_set(&layer->agent_slots, agent->high_tid, (uint32_t)layer->agents.count);
    vec_push(&layer->agents, agent);
    return (int)number;
}

void mad_agent_drop(struct mad_agent *agent)
{
    struct mad_file *file = agent->file;
    struct mad_layer *layer = file->layer;
    mad_requests_drop(agent);
    mad_rmpp_drop(agent);
    struct mad_agent **at = &mad_layer_port(layer, file->port)->agents;
    while (*at != agent)
        at = &(*at)->next;
    *at = agent->next;
    assert(file->agents[agent->number] == agent && file->status.agents > 0);
    file->agents[agent->number] = NULL;
    file->status.agents--;
    uint32_t slot = map_get(&layer->agent_slots, agent->high_tid);
    map_remove(&layer->agent_slots, agent->high_tid);
    assert(slot != MAP_NONE && layer->agents.items[slot] == agent);
    struct mad_agent *last = layer->agents.items[--layer->agents.count];
    if (last != agent) {
        layer->agents.items[slot] = last;
        map_set(&layer->agent_slots, last->high_tid, slot);
    }
    mem_free(agent);
}

int mad_file_unregister(struct mad_file *file, uint32_t agent)
{
    if (agent >= FILE_AGENTS || !file->agents[agent])
        return -EINVAL;
    mad_agent_drop(file->agents[agent]);
    return 0;
}

struct mad_agent *mad_agent_by_tid(const struct mad_layer *layer, uint32_t port, uint64_t tid)
{
    uint32_t slot = map_get(&layer->agent_slots, tid >> 32);
    if (slot == MAP_NONE || layer->agents.items[slot]->file->port != port)
        return NULL;
    return layer->agents.items[slot];
}

struct mad_agent *mad_agent_by_method(const struct mad_layer *layer, uint32_t port,
                                      const uint8_t *mad)
{
    unsigned class = (unsigned)wire_get(mad, MAD_CLASS);
    unsigned version = (unsigned)wire_get(mad, MAD_CLASS_VERSION);
    unsigned method = wire_get(mad, MAD_METHOD) & 0x7f;
    const uint8_t *oui = mad + wire_fields[VENDOR_OUI].offset / 8;
    uint32_t slot = map_get(&layer->port_slots, port);
    if (slot == MAP_NONE)
        return NULL;
    struct mad_agent *agent = layer->ports.items[slot].agents;
    for (; agent; agent = agent->next)
        if (is_same_class(&agent->registration, class, version, oui) &&
            (agent->registration.method_mask[method / 32] >> (method % 32) & 1))
            return agent;
    return NULL;
}
