/* Adapters: one transport layer for all programs that are attached to a node, between their work
 * and the fabric.
 *
 * The payload of a packet is copied when it leaves and placed when it arrives, so that what a
 * program does to its memory in between has the effect that it has on hardware. A packet to a LID
 * of the port that sends it does not leave the adapter. */
#include "host/verbs/internal.h"
#include "host/verbs/ipcm.h"

#include "base/time.h"
#include "wire/link_rate.h"

#include <infiniband/verbs.h>
#include <string.h>

/* Packets from an adapter to itself: their delay, their rate (100 Gb/s), and how many may be on
 * the way. Further ones stay in the transport layer, as they do while a link is busy. */
#define LOOP_TIME (300 * TIME_NS)
enum { LOOP_PS_PER_BYTE = 80, LOOP_PACKETS = 64 };

/* ---- buffers ---- */

static void give_buffer(struct verbs *verbs, const struct transport_packet *packet)
{
    verbs->packets--;
    if (packet->payload.bytes)
        pool_give(&verbs->buffers, (uint32_t)packet->payload.memory);
}

/* Replaces the name of the payload by the number of a buffer with its bytes. */
static bool fill_buffer(struct adapter *adapter, struct transport_packet *packet)
{
    struct verbs *verbs = adapter->verbs;
    verbs->packets++;
    if (packet->payload.bytes == 0)
        return true;
    uint32_t number = pool_take(&verbs->buffers);
    if (!memory_read_payload(adapter, &packet->payload, verbs->buffers.items[number].data)) {
        pool_give(&verbs->buffers, number);
        verbs->packets--;
        return false;
    }
    packet->payload.memory = number;
    packet->payload.offset = 0;
    return true;
}

/* The adapter of a program that was killed answers nothing more for it. */
static bool is_dead(const struct adapter *adapter, uint32_t qp)
{
    return qp < adapter->qps.count && adapter->qps.items[qp].client &&
           adapter->qps.items[qp].client->dead;
}

static void drain_accesses(struct adapter *adapter, const struct transport_packet *packet)
{
    struct transport_access access;
    const uint8_t *data = packet && packet->payload.bytes
                              ? adapter->verbs->buffers.items[packet->payload.memory].data
                              : NULL;
    while (transport_next_access(adapter->transport, &access))
        if (!memory_execute(adapter, &access, data)) {
            if (memory_is_requester(&access) || is_dead(adapter, access.qp))
                adapter_break_qp(adapter, access.qp);
            else
                transport_refuse_access(adapter->transport, access.qp);
        }
}

void adapter_break_qp(struct adapter *adapter, uint32_t number)
{
    struct transport_qp_attributes attributes = {.state = STATE_ERROR};
    struct err err;
    if (number >= adapter->qps.count || !adapter->qps.items[number].client)
        return;
    struct owner *owner = &adapter->qps.items[number];
    struct qp *qp = &owner->client->qps.items[owner->object];
    if (qp->broken)
        return;
    qp->broken = true;
    event_send(owner->client, IBV_EVENT_QP_FATAL, owner->object);
    transport_modify_qp(adapter->transport, fabric_network_time(adapter->verbs->fabric), number,
                        &attributes, ATTRIBUTE_STATE, &err);
}

/* ---- ports ---- */

static unsigned port_number(const struct adapter *adapter, uint32_t port)
{
    return port - adapter->first_port + 1;
}

static unsigned field(const struct adapter *adapter, unsigned port, enum wire_field wanted)
{
    return (unsigned)wire_get(fabric_port_info(adapter->verbs->fabric, adapter_port(adapter, port)),
                              wanted);
}

uint32_t adapter_mtu(const struct adapter *adapter, unsigned port)
{
    uint32_t most = fabric_transport_mtu(adapter->verbs->fabric);
    uint32_t mtu = mtu_of_code(field(adapter, port, PORT_INFO_NEIGHBOR_MTU));
    return mtu < most ? mtu : most;
}

unsigned adapter_gid_count(const struct adapter *adapter, unsigned port)
{
    unsigned count = field(adapter, port, PORT_INFO_GUID_CAP);
    return count == 0 ? 1 : count < VERBS_GIDS ? count : VERBS_GIDS;
}

void adapter_gid(const struct adapter *adapter, unsigned port, unsigned index, uint8_t gid[16])
{
    const struct fabric *fabric = adapter->verbs->fabric;
    uint32_t at = adapter_port(adapter, port);
    uint64_t guid = fabric_port_guid(fabric, at, index);
    uint64_t prefix = wire_get(fabric_port_info(fabric, at), PORT_INFO_GID_PREFIX);
    for (unsigned i = 0; i < 8; i++) {
        gid[i] = guid ? (uint8_t)(prefix >> (56 - 8 * i)) : 0;
        gid[8 + i] = (uint8_t)(guid >> (56 - 8 * i));
    }
}

static void tell_programs(struct adapter *adapter, unsigned port, uint32_t type)
{
    for (size_t i = 0; i < adapter->verbs->clients.count; i++)
        if (adapter->verbs->clients.items[i]->adapter == adapter)
            event_send(adapter->verbs->clients.items[i], type, port);
}

static struct port_memory look_at_port(const struct adapter *adapter, unsigned port)
{
    uint16_t p_keys[PORT_P_KEYS] = {0};
    unsigned count =
        fabric_p_keys(adapter->verbs->fabric, adapter_port(adapter, port), p_keys, PORT_P_KEYS);
    for (unsigned i = 0; i < count && i < PORT_P_KEYS; i++)
        transport_set_p_key(adapter->transport, port, i, p_keys[i]);
    uint8_t gid[16];
    adapter_gid(adapter, port, 0, gid);
    return (struct port_memory){
        .lid = (uint16_t)field(adapter, port, PORT_INFO_LID),
        .sm_lid = (uint16_t)field(adapter, port, PORT_INFO_MASTER_SM_LID),
        .active = field(adapter, port, PORT_INFO_PORT_STATE) == PORT_STATE_ACTIVE,
        .gid = hash_fnv1a(gid, sizeof gid),
        .p_keys = hash_fnv1a(p_keys, sizeof p_keys),
    };
}

/* Passes what a manager has made of a port to the transport layer, and its changes to programs. */
static void refresh_port(struct adapter *adapter, unsigned port)
{
    struct port_memory now = look_at_port(adapter, port), *before = &adapter->memory[port];
    struct transport_port state = {
        .lid = now.lid,
        .mtu = (uint16_t)adapter_mtu(adapter, port),
        .lmc = (uint8_t)field(adapter, port, PORT_INFO_LMC),
        .active = now.active,
    };
    transport_set_port(adapter->transport, port, &state);
    if (now.active != before->active)
        tell_programs(adapter, port, now.active ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR);
    if (now.lid != before->lid)
        tell_programs(adapter, port, IBV_EVENT_LID_CHANGE);
    if (now.sm_lid != before->sm_lid)
        tell_programs(adapter, port, IBV_EVENT_SM_CHANGE);
    if (now.gid != before->gid)
        tell_programs(adapter, port, IBV_EVENT_GID_CHANGE);
    if (now.p_keys != before->p_keys)
        tell_programs(adapter, port, IBV_EVENT_PKEY_CHANGE);
    *before = now;
}

/* ---- between the transport layer and the fabric ---- */

static void drain_events(struct adapter *adapter)
{
    struct transport_event event;
    struct transport_violation violation;
    while (transport_next_event(adapter->transport, &event))
        event_report(adapter, &event);
    while (transport_next_violation(adapter->transport, &violation)) {
        struct sma_key_violation report = {.key = violation.key,
                                           .sl = violation.sl,
                                           .slid = violation.slid,
                                           .dlid = violation.dlid,
                                           .src_qp = violation.source_qp,
                                           .dest_qp = violation.dest_qp};
        uint32_t port = adapter_port(adapter, violation.port);
        if (violation.q_key)
            fabric_report_q_key(adapter->verbs->fabric, port, &report);
        else
            fabric_report_p_key(adapter->verbs->fabric, port, &report);
    }
}

void adapter_call_at(struct adapter *adapter, uint64_t time)
{
    uint64_t now = fabric_network_time(adapter->verbs->fabric);
    if (time >= adapter->wake)
        return;
    adapter->wake = time > now ? time : now;
    fabric_call_transport(adapter->verbs->fabric, adapter->first_port, adapter->wake);
}

void adapter_serve(struct adapter *adapter)
{
    drain_accesses(adapter, NULL);
    drain_events(adapter);
    for (unsigned port = 1; port <= adapter->ports; port++) {
        if (!adapter->memory[port].active)
            transport_discard(adapter->transport, fabric_network_time(adapter->verbs->fabric),
                              port);
        else if (transport_ready(adapter->transport, port))
            fabric_offer_transport(adapter->verbs->fabric, adapter_port(adapter, port));
    }
    drain_events(adapter); /* datagrams complete when they are discarded */
    adapter_call_at(adapter, transport_deadline(adapter->transport));
}

static struct adapter *adapter_at(struct verbs *verbs, uint32_t port)
{
    uint32_t number = verbs->adapter_of[port];
    return number == MAP_NONE ? NULL : verbs->adapters.items[number];
}

static bool is_local(const struct adapter *adapter, unsigned port, uint16_t dlid)
{
    uint16_t mask = (uint16_t) ~((1u << field(adapter, port, PORT_INFO_LMC)) - 1);
    return (dlid & mask) == (adapter->memory[port].lid & mask);
}

static bool loop_is_full(const struct adapter *adapter)
{
    return adapter->looped.count - adapter->looped_taken >= LOOP_PACKETS;
}

static void loop_packet(struct adapter *adapter, uint64_t now, unsigned port,
                        const struct transport_packet *packet)
{
    uint64_t begin = adapter->loop_free > now ? adapter->loop_free : now;
    adapter->loop_free = begin + (uint64_t)transport_packet_bytes(packet) * LOOP_PS_PER_BYTE;
    struct looped looped = {adapter->loop_free + LOOP_TIME, (uint8_t)port, *packet};
    vec_push(&adapter->looped, looped);
    adapter_call_at(adapter, looped.time);
}

static bool next_packet(void *context, uint64_t now, uint32_t port, uint16_t service_levels,
                        struct transport_packet *packet)
{
    struct verbs *verbs = context;
    struct adapter *adapter = adapter_at(verbs, port);
    if (!adapter)
        return false;
    unsigned number = port_number(adapter, port);
    while (!loop_is_full(adapter) &&
           transport_next_packet(adapter->transport, now, number, service_levels, packet)) {
        bool filled = fill_buffer(adapter, packet);
        if (!filled)
            adapter_break_qp(adapter, packet->payload.qp);
        drain_events(adapter); /* sends of UC and UD complete when their last packet leaves */
        if (filled && !is_local(adapter, number, packet->dlid))
            return true;
        if (filled)
            loop_packet(adapter, now, number, packet);
    }
    drain_events(adapter); /* requests with wrong keys complete without a packet */
    return false;
}

static void receive_packet(struct adapter *adapter, uint64_t now, unsigned port,
                           const struct transport_packet *packet)
{
    transport_receive(adapter->transport, now, port, packet);
    drain_accesses(adapter, packet);
    give_buffer(adapter->verbs, packet);
}

static void packet_arrived(void *context, uint64_t now, uint32_t port,
                           const struct transport_packet *packet)
{
    struct verbs *verbs = context;
    struct adapter *adapter = adapter_at(verbs, port);
    if (!adapter) {
        give_buffer(verbs, packet);
        return;
    }
    receive_packet(adapter, now, port_number(adapter, port), packet);
    adapter_serve(adapter);
}

static void packet_lost(void *context, const struct transport_packet *packet)
{
    give_buffer(context, packet);
}

static void adapter_due(void *context, uint64_t now, uint32_t port)
{
    struct adapter *adapter = adapter_at(context, port);
    if (!adapter)
        return;
    if (adapter->wake <= now)
        adapter->wake = TIME_NEVER;
    while (adapter->looped_taken < adapter->looped.count &&
           adapter->looped.items[adapter->looped_taken].time <= now) {
        struct looped looped = adapter->looped.items[adapter->looped_taken++];
        receive_packet(adapter, now, looped.port, &looped.packet);
    }
    adapter->looped_taken = vec_drop_taken(&adapter->looped, adapter->looped_taken);
    if (transport_deadline(adapter->transport) <= now)
        transport_expire(adapter->transport, now);
    if (adapter->verbs->ipcm)
        ipcm_expire(adapter->verbs->ipcm, adapter, now);
    adapter_serve(adapter); /* offers what waited for room in the loop */
    if (adapter->looped_taken < adapter->looped.count)
        adapter_call_at(adapter, adapter->looped.items[adapter->looped_taken].time);
}

static void port_changed(void *context, uint64_t now, uint32_t port)
{
    struct adapter *adapter = adapter_at(context, port);
    (void)now;
    if (!adapter)
        return;
    refresh_port(adapter, port_number(adapter, port));
    adapter_serve(adapter);
}

/* ---- making ---- */

static void start(struct verbs *verbs)
{
    size_t ports = fabric_topology(verbs->fabric)->ports.count;
    verbs->adapter_of = mem_alloc((ports + 1) * sizeof *verbs->adapter_of);
    for (size_t i = 0; i < ports; i++)
        verbs->adapter_of[i] = MAP_NONE;
    verbs->started = true;
    fabric_set_transport(verbs->fabric, &(struct data_transport){.context = verbs,
                                                                 .next_packet = next_packet,
                                                                 .arrived = packet_arrived,
                                                                 .lost = packet_lost,
                                                                 .due = adapter_due,
                                                                 .port_changed = port_changed});
}

struct adapter *adapter_find(struct verbs *verbs, uint32_t node)
{
    const struct topology_node *place = &fabric_topology(verbs->fabric)->nodes.items[node];
    struct transport_config config;
    if (!verbs->started)
        start(verbs);
    uint32_t first = place->first_port + 1;
    if (verbs->adapter_of[first] != MAP_NONE)
        return verbs->adapters.items[verbs->adapter_of[first]];
    struct adapter *adapter = mem_zalloc(1, sizeof *adapter);
    *adapter = (struct adapter){.verbs = verbs, .node = node, .first_port = first};
    adapter->wake = TIME_NEVER;
    adapter->ports =
        place->port_count < TRANSPORT_PORTS_MAX ? place->port_count : TRANSPORT_PORTS_MAX;
    transport_config_init(&config);
    config.ports = (uint8_t)adapter->ports;
    config.accesses = true;
    adapter->transport = transport_new(&config);
    for (unsigned port = 1; port <= adapter->ports; port++) {
        verbs->adapter_of[adapter_port(adapter, port)] = (uint32_t)verbs->adapters.count;
        refresh_port(adapter, port);
    }
    vec_push(&verbs->adapters, adapter);
    return adapter;
}

void adapter_release(struct adapter *adapter)
{
    transport_free(adapter->transport);
    map_release(&adapter->regions);
    vec_release(&adapter->qps);
    vec_release(&adapter->cqs);
    vec_release(&adapter->srqs);
    vec_release(&adapter->looped);
    mem_free(adapter);
}
