/* Port state of the data path: creation, ports that open and close, links that fail and train,
 * nodes that fail, packets that exceed their lifetime.
 *
 * data_port_refresh() copies what a manager sets at a port into the form that the data path reads.
 * A port passes data while its link is up and its state is Active. When it closes, packets that
 * wait to leave there are lost; packets that arrived before are still forwarded. */
#include "fabric/internal.h"
#include "wire/vswitch.h"

#include <assert.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { LARGE_FABRIC_PORTS = 0 }; /* sanitizers see in all tests what is read ahead */
#else
enum { LARGE_FABRIC_PORTS = 2048 }; /* with two VLs their state has a megabyte */
#endif
enum { LIFE_INFINITE = 20 }; /* HOQLife and LifeTimeValue: 4.096 us * 2^n below this */

static uint64_t decode_lifetime(uint64_t code)
{
    return code >= LIFE_INFINITE ? TIME_NEVER : (4096 * TIME_NS) << code;
}

/* ---- creation ---- */

static void clear_vls(struct data *data, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        data->inputs[i] = (struct input_vl){
            .queue = {NONE, NONE}, .wanted = NONE, .crossing = NONE, .next = NONE};
        uint64_t packets = data->outputs[i].packets, bytes = data->outputs[i].bytes;
        data->outputs[i] = (struct output_vl){.queue = {NONE, NONE},
                                              .first_waiting = NONE,
                                              .last_waiting = NONE,
                                              .crossing = NONE,
                                              .packets = packets,
                                              .bytes = bytes};
    }
}

void data_start(struct fabric *fabric)
{
    if (fabric->data)
        return;
    struct data *data = mem_zalloc(1, sizeof *data);
    fabric->data = data;
    for (uint32_t i = 0; i < fabric->node_count; i++)
        while (1u << data->vl_shift < fabric->nodes[i].options.agent.data_vls)
            data->vl_shift++;
    uint32_t port_vls = fabric->port_count << data->vl_shift;
    data->inputs = mem_zalloc_lines(port_vls, sizeof *data->inputs);
    data->outputs = mem_zalloc_lines(port_vls, sizeof *data->outputs);
    data->switch_cores = mem_zalloc_lines(fabric->node_count, sizeof *data->switch_cores);
    data->requests = arena_alloc(&data->memory, BITSET_WORDS(port_vls) * sizeof *data->requests);
    counters_start(fabric);
    data->routing_ps = fabric->routing_ps;
    data->connect_ps = fabric->options.mapping_ps + fabric->options.crossbar_ps;
    data->is_large = fabric->port_count > LARGE_FABRIC_PORTS;
    clear_vls(data, 0, port_vls);
    for (uint32_t i = 0; i < fabric->node_count; i++)
        data_port_refresh_node(fabric, i);
    for (uint32_t i = 0; i < fabric->port_count; i++) {
        data_port_refresh(fabric, i);
        credits_reset(fabric, i);
    }
    router_start(fabric);
}

void data_release(struct fabric *fabric)
{
    struct data *data = fabric->data;
    if (!data)
        return;
    for (size_t i = 0; i < data->traffics.count; i++)
        traffic_release(&data->traffics.items[i]);
    vec_release(&data->traffics);
    vec_release(&data->stopped);
    for (size_t i = 0; i < data->senders.count; i++)
        pacing_release(&data->senders.items[i].pacing);
    map_release(&data->ports_by_guid);
    vec_release(&data->senders);
    vec_release(&data->vms);
    data_packets_release(data);
    mem_free(data->inputs);
    mem_free(data->outputs);
    mem_free(data->switch_cores);
    mem_free(data->transport_waits);
    pool_release(&data->carried);
    vec_release(&data->tables);
    arena_release(&data->memory);
    mem_free(data);
    fabric->data = NULL;
}

/* ---- ports ---- */

/* Why a closed port passes no data: a node failed, the link failed, or a manager closed the
 * port. */
enum loss cause_of_closed_port(struct fabric *fabric, uint32_t index)
{
    const struct port *port = &fabric->ports[index];
    if (!node_of(fabric, index)->up || (port->peer != NONE && !node_of(fabric, port->peer)->up))
        return LOSS_DEAD_NODE;
    return port->up ? LOSS_INACTIVE_PORT : LOSS_DEAD_LINK;
}

/* Input VLs lose the packets that wait for a closed output VL; senders of an adapter try again. */
static void lose_waiting_packets(struct fabric *fabric, uint32_t port_vl, bool is_switch,
                                 enum loss cause)
{
    struct output_vl *output = &fabric->data->outputs[port_vl];
    if (!is_switch) {
        if (output->first_waiting != NONE)
            sender_offer(fabric, output->first_waiting);
        return;
    }
    uint32_t waiting = output->first_waiting;
    output->first_waiting = output->last_waiting = NONE;
    while (waiting != NONE) {
        uint32_t next = fabric->data->inputs[waiting].next;
        input_vl_output_closed(fabric, waiting, cause);
        waiting = next;
    }
}

static void close_vls(struct fabric *fabric, uint32_t index, unsigned first, enum loss cause)
{
    assert(first < 1u << fabric->data->vl_shift);
    bool is_switch = node_of(fabric, index)->is_switch;
    for (unsigned vl = first; vl < 1u << fabric->data->vl_shift; vl++) {
        struct output_vl *output = output_at(fabric, port_vl_of(fabric, index, vl));
        uint32_t number;
        while ((number = data_packet_pop(fabric->data, &output->queue)) != NONE) {
            free_blocks(&output->used, blocks_of(data_packet_at(fabric->data, number)->bytes));
            counters_discard(fabric, index, cause);
            data_lose(fabric, number, cause, index);
        }
        fabric->ports[index].ready &= (uint16_t) ~(1u << vl);
    }
    for (unsigned vl = first; vl < 1u << fabric->data->vl_shift; vl++)
        lose_waiting_packets(fabric, port_vl_of(fabric, index, vl), is_switch, cause);
}

/* Shorter limits apply to packets that are already in the buffers. */
static void start_lifetime_timers(struct fabric *fabric, uint32_t index)
{
    struct data *data = fabric->data;
    for (unsigned vl = 0; vl < 1u << data->vl_shift; vl++) {
        uint32_t port_vl = port_vl_of(fabric, index, vl);
        if (data->inputs[port_vl].queue.head != NONE)
            input_vl_start_lifetime(fabric, port_vl);
        if (data->outputs[port_vl].queue.head != NONE)
            output_vl_start_lifetime(fabric, port_vl);
    }
}

/* same_tables: the port's arbitration tables are those of the last time. */
static void refresh(struct fabric *fabric, uint32_t index, bool same_tables)
{
    struct port *port = &fabric->ports[index];
    struct node *node = node_of(fabric, index);
    const struct sma_port *agent = &node->sma.ports[port->number];
    const uint8_t *info = agent->info;
    unsigned code = (unsigned)wire_get(info, PORT_INFO_OPERATIONAL_VLS);
    unsigned vls = code >= 5 ? 15 : code ? 1u << (code - 1) : 1;
    bool was_open = port->open;
    uint64_t queue_life_before = port->queue_life_ps;
    unsigned vls_before = port->vls;
    port->internal_ps_per_8_bytes = port->ps_per_8_bytes * 100 / node->options.internal_percent;
    port->room = (uint16_t)(node->options.buffer_bytes / CREDIT_BYTES);
    port->peer_is_switch = port->peer != NONE && node_of(fabric, port->peer)->is_switch;
    port->queue_life_ps = TIME_NEVER;
    port->vls = (uint8_t)(vls < node->options.agent.data_vls ? vls : node->options.agent.data_vls);
    port->lid = (uint16_t)wire_get(info, PORT_INFO_LID);
    port->lid_mask = (uint16_t) ~((1u << wire_get(info, PORT_INFO_LMC)) - 1);
    port->lid &= port->lid_mask;
    if (node->is_switch) {
        port->keys_in = wire_get(info, PORT_INFO_PARTITION_ENFORCEMENT_INBOUND);
        port->keys_out = wire_get(info, PORT_INFO_PARTITION_ENFORCEMENT_OUTBOUND);
        port->queue_life_ps = decode_lifetime(wire_get(info, PORT_INFO_HOQ_LIFE));
    }
    if (!same_tables || port->vls != vls_before || !arbiter_has_limit(&port->arbiter, agent))
        arbiter_load(fabric->data, &port->arbiter, agent, node->options.agent.vl_arbitration,
                     port->vls);
    port->limits_life = port->queue_life_ps != TIME_NEVER ||
                        fabric->data->switch_cores[port->node].life_time_ps != TIME_NEVER;
    port->open = port->up && node->up && port->number != 0 &&
                 wire_get(info, PORT_INFO_PORT_STATE) == PORT_STATE_ACTIVE;
    port->active |= port->open;
    if (port->queue_life_ps < queue_life_before)
        start_lifetime_timers(fabric, index);
    if (was_open && !port->open)
        close_vls(fabric, index, 0, cause_of_closed_port(fabric, index));
    else if (port->vls < vls_before)
        close_vls(fabric, index, port->vls, LOSS_NO_VL);
    if (port->ready) /* a VL may have been added to the arbitration tables */
        link_start_sending(fabric, index);
    const struct data_observer *observer = &fabric->data->observer;
    if (port->open != was_open && observer->port_changed &&
        !(node->is_switch && port->peer_is_switch))
        observer->port_changed(observer->context, des_now(fabric->network), index, port->open);
    const struct data_transport *transport = &fabric->data->transport;
    if (transport->port_changed && !node->is_switch)
        transport->port_changed(transport->context, des_now(fabric->network), index);
}

void data_port_refresh(struct fabric *fabric, uint32_t index)
{
    refresh(fabric, index, false);
}

void data_port_written(struct fabric *fabric, uint32_t index, unsigned attribute)
{
    const struct node *node = &fabric->nodes[index];
    switch (attribute) {
    case ATTRIBUTE_PORT_INFO:
    case ATTRIBUTE_VL_ARBITRATION_TABLE:
    case ATTRIBUTE_P_KEY_TABLE:
        if (attribute == ATTRIBUTE_P_KEY_TABLE)
            data_port_refresh_node(fabric, index);
        for (unsigned number = 1; number <= node->sma.port_count; number++)
            refresh(fabric, node->first_port + number, attribute != ATTRIBUTE_VL_ARBITRATION_TABLE);
        /* A virtual switch shares its LID with its physical function. */
        if (node->sma.device && node->sma.port_count >= VSWITCH_PF &&
            fabric->ports[node->first_port + VSWITCH_PF].peer != NONE)
            data_port_refresh(fabric, fabric->ports[node->first_port + VSWITCH_PF].peer);
        break;
    case ATTRIBUTE_SWITCH_INFO:
    case ATTRIBUTE_SL2VL_TABLE: data_port_refresh_node(fabric, index); break;
    default: break; /* LFTs and MFTs are read in place */
    }
}

/* The first P_Key of all ports of an adapter, which nearly all packets have. 0: ports differ, or it
 * is a function, whose keys are written at its virtual switch. */
static uint16_t first_key(const struct sma *sma)
{
    uint16_t key = sma->port_count && !sma->host ? sma->ports[1].p_keys[0] : 0;
    for (unsigned number = 2; number <= sma->port_count; number++)
        key = sma->ports[number].p_keys[0] == key ? key : 0;
    return key;
}

void data_port_refresh_node(struct fabric *fabric, uint32_t index)
{
    const struct node *node = &fabric->nodes[index];
    const struct sma *sma = &node->sma;
    struct switch_core *switch_core = &fabric->data->switch_cores[index];
    switch_core->life = node->life;
    switch_core->up = node->up;
    switch_core->is_switch = node->is_switch;
    switch_core->first_port = node->first_port;
    switch_core->port_count = sma->port_count;
    switch_core->linear = sma->linear;
    switch_core->is_virtual = sma->device;
    switch_core->has_bus = !node->is_switch && host_bus_is_modelled(&node->options);
    switch_core->sl2vl = (const uint8_t(*)[8])sma->sl2vl;
    uint64_t life_before = switch_core->life_time_ps;
    switch_core->life_time_ps = TIME_NEVER;
    /* Most switches have the same mapping for all pairs of ports: one word then replaces the table.
     */
    size_t first = node->is_switch ? 0 : 1; /* adapters: a row for each port */
    size_t rows =
        node->is_switch ? (sma->port_count + 1u) * (sma->port_count + 1u) : sma->port_count + 1u;
    switch_core->uniform_sl2vl = true;
    for (size_t i = first + 1; i < rows && switch_core->uniform_sl2vl; i++)
        switch_core->uniform_sl2vl =
            memcmp(sma->sl2vl[i], sma->sl2vl[first], sizeof sma->sl2vl[0]) == 0;
    switch_core->common_sl2vl = 0;
    for (unsigned sl = 0; sl < 16; sl++)
        switch_core->common_sl2vl |= (uint64_t)(sma->sl2vl[first][sl / 2] >> (sl % 2 ? 0 : 4) & 15)
                                     << sl * 4;
    if (!node->is_switch) {
        switch_core->p_key = first_key(sma);
        return;
    }
    switch_core->linear_top = (uint16_t)wire_get(sma->switch_info, SWITCH_INFO_LINEAR_FDB_TOP);
    switch_core->life_time_ps =
        decode_lifetime(wire_get(sma->switch_info, SWITCH_INFO_LIFE_TIME_VALUE));
    for (unsigned number = 1; number <= sma->port_count; number++) {
        struct port *port = &fabric->ports[node->first_port + number];
        port->limits_life =
            port->queue_life_ps != TIME_NEVER || switch_core->life_time_ps != TIME_NEVER;
        if (switch_core->life_time_ps < life_before)
            start_lifetime_timers(fabric, node->first_port + number);
    }
}

/* ---- links and nodes ---- */

/* For one end of a link; both ends are up. */
void data_port_link_up(struct fabric *fabric, uint32_t index)
{
    data_port_refresh(fabric, index);
    credits_reset(fabric, index);
}

void data_port_link_down(struct fabric *fabric, uint32_t index)
{
    struct port *port = &fabric->ports[index];
    if (port->sent_vl != NONE) /* a partly sent packet is lost at the peer */
        free_blocks(&output_at(fabric, port->sent_vl)->used, port->sent_blocks);
    port->sent_vl = NONE;
    data_port_refresh(fabric, index);
}

static void lose_queue(struct fabric *fabric, struct data_packet_queue *queue, uint32_t port)
{
    uint32_t number;
    while ((number = data_packet_pop(fabric->data, queue)) != NONE)
        data_lose(fabric, number, LOSS_DEAD_NODE, port);
}

/* The life of the node has been incremented: its pending events are ignored. */
void data_port_node_down(struct fabric *fabric, uint32_t index)
{
    struct data *data = fabric->data;
    struct node *node = &fabric->nodes[index];
    assert(!node->up);
    uint32_t first = port_vl_of(fabric, node->first_port, 0);
    uint32_t count = (node->sma.port_count + 1u) << data->vl_shift;
    for (uint32_t port_vl = first; port_vl < first + count; port_vl++) {
        lose_queue(fabric, &data->inputs[port_vl].queue, port_of(fabric, port_vl));
        lose_queue(fabric, &data->outputs[port_vl].queue, port_of(fabric, port_vl));
        data->inputs[port_vl].used = 0; /* an adapter's: host_bus.c */
        data->outputs[port_vl].used = 0;
        bitset_drop(data->requests, port_vl);
    }
    if (node->is_switch)
        clear_vls(data, first, count);
    struct switch_core *switch_core = &data->switch_cores[index];
    switch_core->busy_until = switch_core->waiting = switch_core->waking = 0;
    data_port_refresh_node(fabric, index);
    for (unsigned number = 0; number <= node->sma.port_count; number++) {
        struct port *port = &fabric->ports[node->first_port + number];
        port->ready = port->new_limits = 0;
        port->sent_vl = NONE;
        port->input_busy = port->output_busy = false;
        port->held = NONE;
    }
}

/* ---- lifetimes ---- */

static void expire_output(struct fabric *fabric, uint32_t port_vl, uint64_t *again)
{
    struct data *data = fabric->data;
    struct output_vl *output = &data->outputs[port_vl];
    uint32_t index = port_of(fabric, port_vl), number;
    const struct port *port = &fabric->ports[index];
    uint64_t life = switch_core_of(fabric, port)->life_time_ps, now = des_now(fabric->network);
    while ((number = output->queue.head) != NONE) {
        const struct data_packet *data_packet = data_packet_at(data, number);
        uint64_t by_life = life == TIME_NEVER ? TIME_NEVER : data_packet->since + life;
        uint64_t by_queue = port->queue_life_ps == TIME_NEVER
                                ? TIME_NEVER
                                : output->head_since + port->queue_life_ps;
        *again = by_life < by_queue ? by_life : by_queue;
        /* A packet that is still crossing stays. */
        if (*again > now || (output->crossing != NONE && output->queue.tail == number))
            break;
        data_packet_pop(data, &output->queue);
        output->head_since = now;
        free_blocks(&output->used, blocks_of(data_packet->bytes));
        enum loss cause = by_life <= now ? LOSS_LIFETIME : LOSS_HEAD_OF_QUEUE;
        counters_discard(fabric, index, cause);
        data_lose(fabric, number, cause, index);
    }
    if (*again <= now)
        *again = now + TIME_US;
    output_vl_update_ready(fabric, port_vl);
    output_vl_serve_waiting(fabric, port_vl);
    link_start_sending(fabric, index);
}

/* Checks a head that waits for its output. One that is in the routing unit is checked again
 * later. */
static void expire_input(struct fabric *fabric, uint32_t port_vl, uint64_t *again)
{
    struct data *data = fabric->data;
    struct input_vl *input = &data->inputs[port_vl];
    uint64_t life = switch_core_of(fabric, &fabric->ports[port_of(fabric, port_vl)])->life_time_ps;
    uint64_t now = des_now(fabric->network);
    if (input->queue.head == NONE)
        return;
    *again = data_packet_at(data, input->queue.head)->since + life;
    if (*again > now)
        return;
    *again = now + TIME_US;
    if (input->requested || input->wanted == NONE)
        return;
    uint32_t wanted = input->wanted;
    input_vl_stop_waiting(fabric, port_vl, wanted);
    input_vl_discard(fabric, port_vl, port_of(fabric, wanted), LOSS_LIFETIME);
    output_vl_serve_waiting(fabric, wanted);
}

void data_port_expire(struct fabric *fabric, uint32_t port_vl, bool output)
{
    struct data *data = fabric->data;
    bool *timed = output ? &data->outputs[port_vl].timed : &data->inputs[port_vl].timed;
    uint64_t again = TIME_NEVER;
    *timed = false;
    if (output)
        expire_output(fabric, port_vl, &again);
    else if (switch_core_of(fabric, &fabric->ports[port_of(fabric, port_vl)])->life_time_ps !=
             TIME_NEVER)
        expire_input(fabric, port_vl, &again);
    const struct data_packet_queue *queue =
        output ? &data->outputs[port_vl].queue : &data->inputs[port_vl].queue;
    if (queue->head == NONE || *timed || again == TIME_NEVER)
        return;
    *timed = true;
    des_post(fabric->network, again,
             (struct event){output ? EVENT_OUTPUT_LIFE : EVENT_INPUT_LIFE, port_vl, 0});
}
