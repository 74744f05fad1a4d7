/* Routers: packets with a global route header go on in the next subnet
 * (docs/decisions/021-routers.md).
 *
 * A router takes every packet that arrives and returns its credits at once. It decrements the hop
 * limit, finds the port for the prefix of the DGID (sma_route_prefix()), then LID and SL in that
 * subnet as a client of its administration, and queues the packet at that port, after the attribute
 * `router_delay`. If the memory of `router_buffer` bytes for its output VL is full, the packet is
 * lost: so nothing in one subnet waits for another one, and deadlocks cannot span subnets. */
#include "fabric/internal.h"

/* There is always room for one packet. */
uint64_t router_room(const struct fabric *fabric, uint32_t index)
{
    uint32_t bytes = fabric->nodes[fabric->ports[index].node].options.router_bytes;
    uint32_t largest = fabric->data->largest_blocks;
    return bytes / CREDIT_BYTES > largest ? bytes / CREDIT_BYTES : largest;
}

unsigned router_grh_bytes(const struct fabric *fabric)
{
    for (uint32_t i = 0; i < fabric->node_count; i++)
        if (fabric->nodes[i].sma.router)
            return WIRE_BYTES_GRH;
    return 0;
}

static uint64_t prefix_of(const struct fabric *fabric, uint32_t port)
{
    return wire_get(
        fabric->nodes[fabric->ports[port].node].sma.ports[fabric->ports[port].number].info,
        PORT_INFO_GID_PREFIX);
}

/* What the global route header of a packet says. */
struct global_route {
    uint64_t prefix, flow;
    uint32_t destination; /* the port of the DGID, or NONE */
};

void router_start(struct fabric *fabric)
{
    if (router_grh_bytes(fabric))
        for (uint32_t i = 0; i < fabric->port_count; i++)
            if (fabric_port_guid(fabric, i, 0))
                map_add(&fabric->data->ports_by_guid, fabric_port_guid(fabric, i, 0), i);
}

static struct global_route route_of(struct fabric *fabric, const struct data_packet *data_packet)
{
    struct data *data = fabric->data;
    struct global_route route = {.destination = data_packet->destination};
    uint64_t from, to;
    if (carries_transport(data_packet)) {
        const struct transport_packet *packet = carried_packet_of(data, data_packet);
        route.prefix = wire_get_bits(packet->route.dgid, 0, 64);
        from = wire_get_bits(packet->route.sgid, 64, 64);
        to = wire_get_bits(packet->route.dgid, 64, 64);
        uint32_t port = map_get(&data->ports_by_guid, to);
        route.destination = port == MAP_NONE ? NONE : port;
    } else {
        const struct sender *sender = &data->senders.items[data_packet->sender];
        const struct traffic *traffic = &data->traffics.items[sender->traffic];
        if (route.destination >= fabric->port_count)
            route.destination = NONE;
        if (route.destination == NONE)
            return route;
        route.prefix = traffic->prefix ? traffic->prefix : prefix_of(fabric, route.destination);
        from = fabric_port_guid(fabric, sender->port, 0);
        to = fabric_port_guid(fabric, route.destination, 0);
    }
    route.flow = router_flow(from, to);
    return route;
}

bool router_forwards(const struct fabric *fabric, const struct data_packet *data_packet,
                     uint32_t index)
{
    uint32_t node = fabric->ports[index].node;
    return data_packet->hop_limit && fabric->nodes[node].sma.router &&
           (data_packet->destination >= fabric->port_count ||
            fabric->ports[data_packet->destination].node != node);
}

/* Writes the new local route header. */
static void set_local_route(struct fabric *fabric, struct data_packet *data_packet,
                            const struct data_path *path, uint32_t output)
{
    struct data *data = fabric->data;
    if (carries_transport(data_packet)) {
        struct transport_packet *packet =
            &data->carried.items[data_packet->sender - CARRIES_TRANSPORT].packet;
        packet->route.hop_limit--;
        packet->slid = fabric->ports[output].lid;
        packet->dlid = path->dlid;
        packet->sl = path->sl;
        data_packet->sl = path->sl & 15;
    } else {
        const struct sender *sender = &data->senders.items[data_packet->sender];
        uint8_t sl = data->traffics.items[sender->traffic].sl;
        data_packet->sl = (sl && sl != TRAFFIC_RANDOM_SL ? sl + path->sl_offset : path->sl) & 15;
    }
    data_packet->dlid = path->dlid;
    data_packet->hop_limit--;
}

/* The port by which a packet leaves, and its path from there; NONE and the cause: it is lost. */
static uint32_t choose_output(const struct fabric *fabric, uint32_t index,
                              struct global_route route, struct data_path *path, enum loss *cause)
{
    const struct data_paths *paths = &fabric->data->paths;
    const struct node *node = &fabric->nodes[fabric->ports[index].node];
    struct sma_next_subnet next =
        sma_route_prefix(&node->sma, fabric->ports[index].number, route.prefix, route.flow);
    *cause = next.returns ? LOSS_OUTPUT_IS_INPUT : LOSS_NO_SUBNET;
    if (!next.port)
        return NONE;
    uint32_t output = node->first_port + next.port;
    if (!next.adjacent && paths->find_router)
        *path = paths->find_router(paths->context, output, route.prefix, route.flow);
    else if (next.adjacent && route.destination != NONE)
        *path = paths->find(paths->context, output, route.destination);
    *cause = LOSS_NO_ROUTE;
    if (next.adjacent && path->hop_limit)
        return NONE; /* no port of that subnet has the GUID */
    return path->dlid ? output : NONE;
}

static uint32_t find_output(struct fabric *fabric, uint32_t index,
                            const struct data_packet *data_packet, struct data_path *path,
                            enum loss *cause)
{
    struct global_route route = route_of(fabric, data_packet);
    *cause = LOSS_HOP_LIMIT;
    return data_packet->hop_limit <= 1 ? NONE : choose_output(fabric, index, route, path, cause);
}

uint32_t fabric_route_across(const struct fabric *fabric, uint32_t index, uint32_t source,
                             uint32_t destination, struct data_path *path)
{
    const struct global_route route = {
        .prefix = prefix_of(fabric, destination),
        .flow = router_flow(fabric_port_guid(fabric, source, 0),
                            fabric_port_guid(fabric, destination, 0)),
        .destination = destination,
    };
    enum loss cause;
    *path = (struct data_path){0};
    if (!fabric->data || !fabric->nodes[fabric->ports[index].node].sma.router)
        return NONE;
    return choose_output(fabric, index, route, path, &cause);
}

void router_forward(struct fabric *fabric, uint32_t number, uint32_t index)
{
    struct data *data = fabric->data;
    struct data_packet *data_packet = data_packet_at(data, number);
    struct data_path path = {0};
    enum loss cause;
    uint32_t output = find_output(fabric, index, data_packet, &path, &cause);
    if (output == NONE) {
        data_lose(fabric, number, cause, index);
        return;
    }
    const struct port *port = &fabric->ports[output];
    set_local_route(fabric, data_packet, &path, output);
    unsigned sl = data_packet->sl, blocks = blocks_of(data_packet->bytes);
    unsigned vl = node_of(fabric, output)->sma.sl2vl[port->number][sl / 2] >> (sl % 2 ? 0 : 4) & 15;
    if (!port->open || vl >= port->vls) {
        data_lose(fabric, number, port->open ? LOSS_NO_VL : cause_of_closed_port(fabric, output),
                  output);
        return;
    }
    uint32_t port_vl = port_vl_of(fabric, output, vl);
    struct output_vl *queue = output_at(fabric, port_vl);
    if (queue->used + blocks > router_room(fabric, output)) {
        counters_discard(fabric, output, LOSS_ROUTER_FULL);
        data_lose(fabric, number, LOSS_ROUTER_FULL, output);
        return;
    }
    uint64_t now = des_now(fabric->network);
    data_packet->since = now;
    data_packet->tail = now + fabric->options.router_ps + wire_time(port, data_packet->bytes);
    data_packet->vl = vl & 15;
    data_packet->hops += data_packet->hops < UINT8_MAX;
    queue->used = (uint16_t)(queue->used + blocks);
    output_vl_push(fabric, port_vl, number);
}

/* ---- general service packets ----
 *
 * They have no hop limit of their own: node.c counts their hops. */

bool router_takes(const struct fabric *fabric, uint32_t port, const struct packet_header *header)
{
    const struct node *node = &fabric->nodes[fabric->ports[port].node];
    uint64_t guid = wire_get_bits(header->dgid, 64, 64);
    if (!node->sma.router || !header->global || header->dest_qp == QP_SMI || !fabric->data)
        return false;
    for (unsigned number = 1; number <= node->sma.port_count; number++)
        if (fabric_port_guid(fabric, node->first_port + number, 0) == guid)
            return false;
    return true;
}

unsigned router_route_packet(struct fabric *fabric, uint32_t port, struct packet_header *header)
{
    const struct node *node = node_of(fabric, port);
    const struct data_paths *paths = &fabric->data->paths;
    uint64_t prefix = wire_get_bits(header->dgid, 0, 64);
    uint64_t guid = wire_get_bits(header->dgid, 64, 64);
    uint64_t flow = router_flow(wire_get_bits(header->sgid, 64, 64), guid);
    struct sma_next_subnet next =
        sma_route_prefix(&node->sma, fabric->ports[port].number, prefix, flow);
    uint32_t output = node->first_port + next.port;
    uint32_t destination = map_get(&fabric->data->ports_by_guid, guid);
    struct data_path path = {0};
    if (!next.port)
        return 0;
    if (!next.adjacent && paths->find_router)
        path = paths->find_router(paths->context, output, prefix, flow);
    else if (next.adjacent && paths->find && destination != MAP_NONE)
        path = paths->find(paths->context, output, destination);
    if (!path.dlid || (next.adjacent && path.hop_limit))
        return 0;
    header->slid = fabric->ports[output].lid;
    header->dlid = path.dlid;
    header->sl = path.sl & 15;
    return next.port;
}

/* ---- paths of fabrics whose managers are other programs ---- */

struct data_path router_path_by_lid(const struct fabric *fabric, uint32_t source, uint64_t prefix,
                                    uint64_t flow)
{
    struct data_path path = {0};
    uint64_t own = prefix_of(fabric, source);
    unsigned count = 0;
    for (unsigned turn = 0; turn < 2; turn++) {
        uint64_t chosen = count ? flow % count : 0;
        for (uint32_t i = 0; i < fabric->port_count; i++) {
            const struct port *port = &fabric->ports[i];
            const struct node *node = &fabric->nodes[port->node];
            if (!node->sma.router || !port->number || port->node == fabric->ports[source].node ||
                prefix_of(fabric, i) != own || !fabric_port_passes_data(fabric, i) ||
                !sma_route_prefix(&node->sma, port->number, prefix, flow).port)
                continue;
            if (turn == 0)
                count++;
            else if (chosen-- == 0)
                path = (struct data_path){.dlid = port->lid, .hop_limit = ROUTER_HOP_LIMIT};
        }
    }
    return path;
}
