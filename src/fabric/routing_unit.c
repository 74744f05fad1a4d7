/* The routing unit of a switch: one look-up at a time for all its inputs, VL15 first, then the VLs
 * round-robin (Fig. 7 of "Modeling InfiniBand with OPNET"); or a pipeline at each input, in which
 * the look-up is a latency: it begins when a packet arrives and delays no other packet. Mapping and
 * crossbar arbitration follow the look-up and delay no other packet. */
#include "fabric/internal.h"

#include <assert.h>

static uint32_t first_vl(const struct fabric *fabric, const struct switch_core *switch_core)
{
    return port_vl_of(fabric, switch_core->first_port, 0);
}

/* A virtual switch is part of an adapter; its look-up is not that of a switch. */
static uint64_t look_up_ps(const struct fabric *fabric, const struct switch_core *switch_core)
{
    return switch_core->is_virtual ? fabric->options.vswitch_routing_ps : fabric->data->routing_ps;
}

static void start_look_up(struct fabric *fabric, struct switch_core *switch_core, uint32_t port_vl)
{
    uint64_t now = des_now(fabric->network);
    switch_core->busy_until = now + look_up_ps(fabric, switch_core);
    switch_core->cursor = port_vl - first_vl(fabric, switch_core);
    /* Without a delay behind the look-up, its event also says that the unit is free. */
    switch_core->waking |= fabric->data->connect_ps == 0;
    des_post_fifo(fabric->network, DELAY_CONNECT,
                  switch_core->busy_until + fabric->data->connect_ps,
                  (struct event){EVENT_CONNECT, port_vl, switch_core->life});
}

static void wake_unit(struct fabric *fabric, struct switch_core *switch_core)
{
    if (switch_core->waking)
        return;
    switch_core->waking = true;
    des_post_fifo(fabric->network, DELAY_UNIT, switch_core->busy_until,
                  (struct event){EVENT_UNIT_FREE,
                                 (uint32_t)(switch_core - fabric->data->switch_cores),
                                 switch_core->life});
}

void routing_unit_request(struct fabric *fabric, struct switch_core *switch_core, uint32_t port_vl)
{
    struct input_vl *input = &fabric->data->inputs[port_vl];
    uint64_t now = des_now(fabric->network);
    assert(!input->requested && input->wanted == NONE);
    input->requested = true;
    input->copied = 0;
    if (!fabric->options.routing_shared) { /* pipelined: the look-up began on arrival */
        uint64_t since = data_packet_at(fabric->data, input->queue.head)->since;
        uint64_t ready = since + look_up_ps(fabric, switch_core) + fabric->data->connect_ps;
        des_post_fifo(fabric->network, DELAY_CONNECT, ready > now ? ready : now,
                      (struct event){EVENT_CONNECT, port_vl, switch_core->life});
    } else if (switch_core->busy_until <= now && !switch_core->waiting) {
        start_look_up(fabric, switch_core, port_vl);
    } else {
        bitset_add(fabric->data->requests, port_vl);
        switch_core->waiting++;
        wake_unit(fabric, switch_core);
    }
}

/* The next VL of the node with a request, after the one served last. */
static uint32_t next_request(const struct fabric *fabric, const struct switch_core *switch_core)
{
    uint32_t first = first_vl(fabric, switch_core);
    uint32_t count = (switch_core->port_count + 1u) << fabric->data->vl_shift;
    for (uint32_t step = 1; step <= count; step++) {
        uint32_t port_vl = first + (switch_core->cursor + step) % count;
        uint64_t rest = fabric->data->requests[port_vl / 64] >> port_vl % 64;
        if (rest & 1)
            return port_vl;
        if (!rest) { /* skip to the end of the word, but not beyond the node */
            uint32_t jump = 63 - port_vl % 64, to_end = first + count - 1 - port_vl;
            step += jump < to_end ? jump : to_end;
        }
    }
    return NONE;
}

void routing_unit_free(struct fabric *fabric, uint32_t index, uint32_t life)
{
    struct switch_core *switch_core = &fabric->data->switch_cores[index];
    if (life != switch_core->life)
        return;
    switch_core->waking = false;
    if (!switch_core->waiting)
        return;
    if (switch_core->busy_until > des_now(fabric->network)) { /* VL15 came first */
        wake_unit(fabric, switch_core);
        return;
    }
    uint32_t port_vl = next_request(fabric, switch_core);
    assert(port_vl != NONE);
    bitset_drop(fabric->data->requests, port_vl);
    switch_core->waiting--;
    start_look_up(fabric, switch_core, port_vl);
    if (switch_core->waiting)
        wake_unit(fabric, switch_core);
}

uint64_t routing_unit_route_management(struct fabric *fabric, uint32_t node)
{
    uint64_t look_up =
        fabric->nodes[node].sma.device ? fabric->options.vswitch_routing_ps : fabric->routing_ps;
    if (!fabric->data || !fabric->options.routing_shared)
        return look_up;
    struct switch_core *switch_core = &fabric->data->switch_cores[node];
    uint64_t now = des_now(fabric->network);
    switch_core->busy_until =
        (switch_core->busy_until > now ? switch_core->busy_until : now) + look_up;
    return switch_core->busy_until - now;
}
