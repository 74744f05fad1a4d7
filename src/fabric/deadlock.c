/* Deadlock detection: packets that wait for each other in a cycle.
 *
 * An output VL of a switch is blocked when the input VL at the peer has no room for its head. That
 * input VL is blocked when its head waits for room in an output VL of its switch. VLs are FIFOs, so
 * each waits for at most one other VL, and a cycle of blocked VLs can never move again by itself:
 * there are no false reports. Anything that still moves (a packet on the crossbar or the
 * link, a look-up) breaks the chain. Only lifetime limits can end a deadlock.
 *
 * The check runs periodically while packets are in the fabric. */
#include "fabric/internal.h"

#include <assert.h>

static unsigned head_blocks(struct data *data, const struct data_packet_queue *queue)
{
    assert(queue->head != NONE);
    return blocks_of(data_packet_at(data, queue->head)->bytes);
}

/* The output VL that this one waits for, over the link and through the next switch; NONE if it is
 * not blocked. */
static uint32_t blocked_by(struct fabric *fabric, uint32_t port_vl)
{
    struct data *data = fabric->data;
    const struct output_vl *output = &data->outputs[port_vl];
    const struct port *port = &fabric->ports[port_of(fabric, port_vl)];
    if (output->queue.head == NONE || port->sent_vl == port_vl || !port->open ||
        !port->peer_is_switch || output->crossing != NONE)
        return NONE;
    const struct port *peer = &fabric->ports[port->peer];
    const struct input_vl *input =
        &data->inputs[port_vl_of(fabric, port->peer, vl_of(fabric, port_vl))];
    if (input->used + head_blocks(data, &output->queue) <= peer->room)
        return NONE;
    if (input->queue.head == NONE || input->crossing != NONE || input->wanted == NONE)
        return NONE;
    const struct output_vl *wanted = &data->outputs[input->wanted];
    const struct port *beyond = &fabric->ports[port_of(fabric, input->wanted)];
    if (wanted->used + head_blocks(data, &input->queue) <= beyond->room)
        return NONE;
    return input->wanted;
}

/* Returns a VL on a cycle, or NONE. Follows every chain until it meets itself or an older one. */
static uint32_t find_cycle(struct fabric *fabric)
{
    uint32_t port_vls = fabric->port_count << fabric->data->vl_shift;
    uint32_t *chain = mem_zalloc(port_vls, sizeof *chain); /* 1 + its number; 0: not visited */
    uint32_t found = NONE;
    for (uint32_t start = 0; start < port_vls && found == NONE; start++) {
        uint32_t port_vl = start;
        while (port_vl != NONE && !chain[port_vl]) {
            chain[port_vl] = start + 1;
            port_vl = blocked_by(fabric, port_vl);
            if (port_vl != NONE && chain[port_vl] == start + 1)
                found = port_vl;
        }
    }
    mem_free(chain);
    return found;
}

bool fabric_list_deadlock(struct fabric *fabric, struct deadlock_cycle *cycle)
{
    uint32_t first = fabric->data ? find_cycle(fabric) : NONE, port_vl = first;
    if (first == NONE)
        return false;
    do {
        struct deadlock_hop hop = {port_of(fabric, port_vl), vl_of(fabric, port_vl)};
        vec_push(&cycle->hops, hop);
        port_vl = blocked_by(fabric, port_vl);
    } while (port_vl != first);
    return true;
}

bool fabric_find_deadlock(struct fabric *fabric, struct text *cycle)
{
    struct deadlock_cycle list = {0};
    bool found = fabric_list_deadlock(fabric, &list);
    for (size_t i = 0; cycle && i < list.hops.count; i++) {
        const struct port *port = &fabric->ports[list.hops.items[i].port];
        const struct port *peer = &fabric->ports[port->peer];
        text_printf(cycle, "%s port %u VL %u -> %s port %u\n",
                    topology_label(fabric->topology, port->node), port->number,
                    list.hops.items[i].vl, topology_label(fabric->topology, peer->node),
                    peer->number);
    }
    vec_release(&list.hops);
    return found;
}

void deadlock_watch(struct fabric *fabric)
{
    if (fabric->data->watched || !fabric->options.deadlock_check_ps)
        return;
    fabric->data->watched = true;
    des_post(fabric->network, des_now(fabric->network) + fabric->options.deadlock_check_ps,
             (struct event){EVENT_DEADLOCK, 0, 0});
}

void deadlock_check(struct fabric *fabric)
{
    struct data *data = fabric->data;
    struct text cycle = {0};
    data->watched = false;
    if (!data->travelling)
        return;
    bool found = fabric_find_deadlock(fabric, &cycle);
    if (found && !data->deadlocked) {
        data->totals.deadlocks++;
        if (data->observer.deadlock)
            data->observer.deadlock(data->observer.context, des_now(fabric->network), cycle.data);
    }
    data->deadlocked = found;
    text_release(&cycle);
    deadlock_watch(fabric);
}
