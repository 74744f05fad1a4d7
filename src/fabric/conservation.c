/* The conservation check of the data path, and its views for other folders.
 *
 * The check counts again what the data path keeps running totals of: every packet in every queue,
 * every block in every buffer. It walks over all VLs, and every run with traffic ends with it. */
#include "fabric/internal.h"

#include <assert.h>
#include <errno.h>

const char *const loss_names[LOSS_CAUSES] = {
    [LOSS_INACTIVE_PORT] = "inactive port",
    [LOSS_DEAD_LINK] = "dead link",
    [LOSS_DEAD_NODE] = "dead node",
    [LOSS_NO_ROUTE] = "no route",
    [LOSS_OUTPUT_IS_INPUT] = "output = input",
    [LOSS_NO_VL] = "no VL",
    [LOSS_LIFETIME] = "lifetime",
    [LOSS_HEAD_OF_QUEUE] = "head of queue",
    [LOSS_OVERFLOW] = "overflow",
    [LOSS_P_KEY] = "P_Key",
    [LOSS_BIT_ERROR] = "bit error",
    [LOSS_MOVED] = "VM moved",
    [LOSS_HOP_LIMIT] = "hop limit",
    [LOSS_NO_SUBNET] = "no route to subnet",
    [LOSS_ROUTER_FULL] = "router full",
};

struct vl_view fabric_vl(const struct fabric *fabric, uint32_t port, unsigned vl)
{
    assert(port < fabric->port_count);
    struct vl_view view = {0};
    if (!fabric->data || vl >= 1u << fabric->data->vl_shift)
        return view;
    uint32_t port_vl = port_vl_of(fabric, port, vl);
    const struct output_vl *output = &fabric->data->outputs[port_vl];
    unsigned credits = (unsigned)(output->limit - output->sent) % CREDIT_MODULUS;
    view.sent_packets = output->packets;
    view.sent_bytes = output->bytes;
    view.input_bytes = (uint64_t)fabric->data->inputs[port_vl].used * CREDIT_BYTES;
    view.output_bytes = (uint64_t)output->used * CREDIT_BYTES;
    view.credit_blocks = credits;
    return view;
}

uint64_t fabric_vl_room_bytes(const struct fabric *fabric, uint32_t port)
{
    assert(port < fabric->port_count);
    return (uint64_t)fabric->ports[port].room * CREDIT_BYTES;
}

unsigned fabric_vls(const struct fabric *fabric)
{
    return fabric->data ? 1u << fabric->data->vl_shift : 0;
}

uint64_t fabric_busy_ps(const struct fabric *fabric, uint32_t port)
{
    assert(port < fabric->port_count);
    return fabric->ports[port].busy_ps;
}

bool fabric_port_passes_data(const struct fabric *fabric, uint32_t index)
{
    const struct port *port = &fabric->ports[index];
    const struct node *node = &fabric->nodes[port->node];
    return port->up && node->up && sma_port_state(&node->sma, port->number) == PORT_STATE_ACTIVE;
}

struct count {
    uint64_t data_packets, blocks;
};

static struct count count_queue(struct data *data, const struct data_packet_queue *queue)
{
    struct count count = {0};
    for (uint32_t number = queue->head; number != NONE;
         number = data_packet_at(data, number)->next) {
        count.data_packets++;
        count.blocks += blocks_of(data_packet_at(data, number)->bytes);
    }
    return count;
}

static int check_port_conservation(struct fabric *fabric, uint32_t index, uint64_t *data_packets,
                                   struct err *err)
{
    struct data *data = fabric->data;
    const struct port *port = &fabric->ports[index];
    const char *name = fabric->topology->nodes.items[port->node].name;
    for (unsigned vl = 0; vl < 1u << data->vl_shift; vl++) {
        uint32_t port_vl = port_vl_of(fabric, index, vl);
        const struct input_vl *input = &data->inputs[port_vl];
        const struct output_vl *output = &data->outputs[port_vl];
        struct count in = count_queue(data, &input->queue);
        struct count out = count_queue(data, &output->queue);
        uint64_t sending = port->sent_vl == port_vl ? port->sent_blocks : 0;
        uint64_t crossing = input->crossing == NONE ? 0 : input->crossing_blocks;
        *data_packets += in.data_packets + out.data_packets;
        if (in.blocks + crossing != input->used || out.blocks + sending != output->used)
            return err_set(err, EPROTO,
                           "%s port %u VL %u: %u + %u blocks counted, %u + %u in the buffers", name,
                           port->number, vl, input->used, output->used,
                           (unsigned)(in.blocks + crossing), (unsigned)(out.blocks + sending));
        bool routes = node_of(fabric, index)->sma.router && port->room < router_room(fabric, index);
        uint64_t room = routes ? router_room(fabric, index) : port->room;
        if (input->used > port->room ||
            output->used > room + transport_port_blocks(fabric, port_vl))
            return err_set(err, EPROTO, "%s port %u VL %u: a buffer holds more than its size", name,
                           port->number, vl);
        if (port->up &&
            (unsigned)(output->limit - output->sent) % CREDIT_MODULUS >= CREDIT_MODULUS / 2)
            return err_set(err, EPROTO, "%s port %u VL %u: sent more than the credits granted",
                           name, port->number, vl);
    }
    return 0;
}

int fabric_check_data(struct fabric *fabric, struct err *err)
{
    struct data *data = fabric->data;
    if (!data)
        return 0;
    uint64_t data_packets = data->on_links, ended = data->totals.delivered;
    uint64_t now = des_now(fabric->network);
    for (uint32_t i = 0; i < fabric->port_count; i++) {
        const struct port *port = &fabric->ports[i];
        uint64_t until = port->free_at > now ? port->free_at : now;
        int status = check_port_conservation(fabric, i, &data_packets, err);
        if (status)
            return status;
        if (port->busy_ps > until)
            return err_set(err, EPROTO, "%s port %u was busy for longer than the run lasts",
                           fabric->topology->nodes.items[port->node].name, port->number);
    }
    for (unsigned cause = 0; cause < LOSS_CAUSES; cause++)
        ended += data->totals.lost[cause];
    if (data_packets != data->travelling)
        return err_set(err, EPROTO, "%llu packets are in the fabric, but %llu are counted",
                       (unsigned long long)data_packets, (unsigned long long)data->travelling);
    uint64_t made = data->totals.duplicates + data->transport_made;
    for (size_t i = 0; i < data->senders.count; i++)
        made += data->senders.items[i].made;
    if (made != ended + data->travelling + data->retrying)
        return err_set(err, EPROTO, "%llu packets were made, but %llu are accounted for",
                       (unsigned long long)made,
                       (unsigned long long)(ended + data->travelling + data->retrying));
    return data->overflowed ? err_set(err, EPROTO, "a packet with credits found no room") : 0;
}
