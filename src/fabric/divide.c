/* Divides a fabric for several threads, and unites it again.
 *
 * It is divided while only the data path is active, and in a way that concerns one node at a time.
 * Everything else needs the whole fabric: management packets and agents; ports that the next data
 * packet makes Active; packets with a P_Key that a port refuses, which cause traps; multicast,
 * whose copies have a count in common; reliable traffic, whose senders notice a loss at once;
 * virtual machines and connections, which move and call back. A run that has these all the time
 * runs in one thread. */
#include "fabric/partitions.h"

#include <assert.h>
#include <string.h>

enum {
    FIRST_PROBE = 4096,   /* events that are counted before the fabric is divided */
    LAST_PROBE = 1 << 20, /* the same, if it did not pay repeatedly */
    WINDOWS_WORTH = 256,  /* of a division: fewer do not pay */
    EVENTS_WORTH = 128,   /* of a window, for each partition: fewer do not pay */
    PACKETS_MOST = 1 << 26,
    REFILL = 64,
};

/* ---- creation ---- */

void fabric_set_workers(struct fabric *fabric, const struct workers *workers)
{
    assert(!fabric->partitions);
    if (workers_count(workers) < 2)
        return;
    struct partitions *partitions = mem_zalloc(1, sizeof *partitions);
    unsigned count = workers_count(workers);
    partitions->workers = workers;
    partitions->count = count < PARTITIONS_MOST ? count : PARTITIONS_MOST;
    partitions->probe_length = FIRST_PROBE;
    fabric->partitions = partitions;
}

void fabric_divide_always(struct fabric *fabric)
{
    fabric->partitions->always = true;
    fabric->partitions->probe_length = 1;
}

void partitions_free(struct fabric *fabric)
{
    struct partitions *partitions = fabric->partitions;
    if (!partitions)
        return;
    for (unsigned i = 0; i < partitions->count && partitions->items; i++) {
        struct partition *partition = &partitions->items[i];
        for (unsigned turn = 0; turn < 2; turn++) {
            for (unsigned to = 0; to < partitions->count; to++) {
                vec_release(&partition->mail[turn][to].events);
                vec_release(&partition->mail[turn][to].packets);
            }
            mem_free(partition->mail[turn]);
        }
        mem_free(partition->owed);
        mem_free(partition->data.requests);
        vec_release(&partition->reports);
        des_free(partitions->queues[i]);
    }
    mem_free(partitions->items);
    mem_free(partitions->queues);
    mem_free(partitions->of_node);
    mem_free(partitions);
    fabric->partitions = NULL;
}

/* The pool must not move while several threads use it: it gets more address space than it can
 * need. */
static void reserve_packets(struct data *data)
{
    struct data_packet *items = mem_map_sparse(PACKETS_MOST * sizeof *items);
    if (data->data_packets.count)
        memcpy(items, data->data_packets.items, data->data_packets.count * sizeof *items);
    mem_free(data->data_packets.items);
    data->data_packets.items = items;
    data->data_packets.capacity = PACKETS_MOST;
    data->is_reserved = true;
}

void data_packets_release(struct data *data)
{
    if (data->is_reserved) {
        mem_unmap(data->data_packets.items, PACKETS_MOST * sizeof(struct data_packet));
        data->data_packets.items = NULL;
    }
    vec_release(&data->data_packets);
}

static void create(struct fabric *fabric)
{
    struct partitions *partitions = fabric->partitions;
    unsigned count = partitions->count;
    size_t words = BITSET_WORDS((size_t)fabric->port_count << fabric->data->vl_shift);
    partitions_cut(fabric);
    reserve_packets(fabric->data);
    partitions->items = mem_zalloc_lines(count, sizeof *partitions->items);
    partitions->queues = mem_zalloc(count, sizeof(struct des *));
    for (unsigned i = 0; i < count; i++) {
        struct partition *partition = &partitions->items[i];
        partition->number = i;
        partition->data.requests = mem_zalloc(words, sizeof *partition->data.requests);
        partition->owed = mem_zalloc(count, sizeof *partition->owed);
        for (unsigned turn = 0; turn < 2; turn++)
            partition->mail[turn] = mem_zalloc(count, sizeof *partition->mail[turn]);
        partitions->queues[i] = des_new();
    }
}

/* ---- may it be divided? ---- */

static bool refuses_keys(const struct fabric *fabric, const struct port *port, uint16_t p_key)
{
    const struct node *node = &fabric->nodes[port->node];
    if (!node->is_switch)
        return !sma_accepts_p_key(&node->sma, port->number, p_key);
    return (port->keys_in && !sma_may_send_p_key(&node->sma, port->number, p_key)) ||
           (port->keys_out && !sma_accepts_p_key(&node->sma, port->number, p_key));
}

static bool traffic_needs_whole(const struct traffic *traffic)
{
    bool groups = false;
    for (size_t i = 0; i < traffic->receivers.count && !groups; i++)
        groups = traffic->receivers.items[i] >= DATA_GROUP;
    return traffic->retry_ps || groups;
}

/* The least delay between partitions, but not more than a window should have. 0: traffic, the state
 * of a port or its keys need the whole fabric. */
static uint64_t find_lookahead(const struct fabric *fabric)
{
    const struct data *data = fabric->data;
    uint64_t least = TIME_MS;
    for (size_t i = 0; i < data->traffics.count; i++)
        if (traffic_needs_whole(&data->traffics.items[i]))
            return 0;
    for (uint32_t i = 0; i < fabric->port_count; i++) {
        const struct port *port = &fabric->ports[i];
        if (!port->up)
            continue;
        if (sma_port_state(&fabric->nodes[port->node].sma, port->number) == PORT_STATE_ARMED)
            return 0;
        uint16_t last = 0;
        for (size_t j = 0; j < data->traffics.count; j++) {
            uint16_t p_key = data->traffics.items[j].p_key;
            if (p_key != last && refuses_keys(fabric, port, p_key))
                return 0;
            last = p_key;
        }
        uint64_t delay = port->flight_ps + wire_time(port, CREDIT_PACKET_BYTES);
        if (port->crosses && delay < least)
            least = delay;
    }
    return least;
}

/* What is known without a look at every port. */
static bool may_divide(const struct fabric *fabric)
{
    const struct data *data = fabric->data;
    return data && data->paths.prepare && data->travelling &&
           (data->watched || !fabric->options.deadlock_check_ps) && !fabric->undivided &&
           !fabric->deliveries.count && !data->vms.count && !data->transport_waits;
}

static void restart_probe(struct fabric *fabric)
{
    fabric->partitions->probe_time = des_now(fabric->network);
    fabric->partitions->probe_events = fabric->totals.events;
}

/* Dividing and uniting take time: what did not pay is tried again later and later. */
static void note_worth(struct partitions *partitions, bool paid)
{
    if (partitions->always)
        return;
    if (paid)
        partitions->probe_length = FIRST_PROBE;
    else if (partitions->probe_length < LAST_PROBE)
        partitions->probe_length *= 2;
}

/* ---- dividing ---- */

static uint32_t node_of_event(const struct fabric *fabric, const struct event *event)
{
    switch ((enum event_kind)event->kind) {
    case EVENT_UNIT_FREE: return event->a;
    case EVENT_SOURCE:
    case EVENT_RETRY: return fabric->ports[fabric->data->senders.items[event->a].port].node;
    case EVENT_INPUT_LIFE:
    case EVENT_OUTPUT_LIFE:
    case EVENT_CONNECT:
    case EVENT_IN_MEMORY:
    case EVENT_CROSSED: return fabric->ports[port_of(fabric, event->a)].node;
    default: return fabric->ports[event->a].node;
    }
}

static unsigned choose_partition(const void *context, const struct event *event)
{
    const struct fabric *fabric = context;
    const struct partitions *partitions = fabric->partitions;
    return event->kind <= EVENT_DEADLOCK || event->kind == EVENT_TRANSPORT
               ? partitions->count
               : partitions->of_node[node_of_event(fabric, event)];
}

/* The observer is called between windows. */
static void note_report(struct partition *partition, uint64_t now, const struct packet_view *packet,
                        enum loss cause, uint32_t port)
{
    struct report report = {.time = now,
                            .order = des_order(now, *partition->event),
                            .packet = *packet,
                            .port = port,
                            .cause = cause};
    vec_push(&partition->reports, report);
}

static void note_delivered(void *context, uint64_t now, const struct packet_view *packet)
{
    note_report(context, now, packet, LOSS_CAUSES, NONE);
}

static void note_lost(void *context, uint64_t now, const struct packet_view *packet,
                      enum loss cause, uint32_t port)
{
    note_report(context, now, packet, cause, port);
}

/* A fabric that shares all arrays, and counts from zero. */
static void make_view(struct fabric *fabric, struct partition *partition, struct des *queue)
{
    struct data *data = &partition->data;
    uint64_t *requests = data->requests;
    const struct data_observer *observer = &fabric->data->observer;
    partition->fabric = *fabric;
    partition->fabric.network = queue;
    partition->fabric.data = data;
    partition->fabric.partition = partition;
    partition->fabric.totals = (struct fabric_totals){0};
    *data = *fabric->data;
    data->requests = requests;
    data->whole = fabric->data;
    data->totals = (struct data_totals){0};
    data->travelling = data->on_links = data->retrying = data->trace = 0;
    data->data_packets.free = 0;
    data->data_packets.count = data->data_packets.capacity;
    data->observer = (struct data_observer){
        .context = partition,
        .delivered = observer->delivered ? note_delivered : NULL,
        .lost = observer->lost ? note_lost : NULL,
    };
    memcpy(requests, fabric->data->requests,
           BITSET_WORDS((size_t)fabric->port_count << data->vl_shift) * sizeof *requests);
    memset(partition->owed, 0, fabric->partitions->count * sizeof *partition->owed);
}

bool partitions_divide(struct fabric *fabric)
{
    struct partitions *partitions = fabric->partitions;
    uint64_t events = fabric->totals.events - partitions->probe_events;
    uint64_t span = des_now(fabric->network) - partitions->probe_time;
    if (events < partitions->probe_length)
        return false;
    restart_probe(fabric);
    if (!may_divide(fabric))
        return false;
    if (!partitions->is_cut)
        create(fabric);
    uint64_t lookahead = find_lookahead(fabric);
    if (lookahead == 0 || !fabric->data->paths.prepare(fabric->data->paths.context) ||
        (!partitions->always && span &&
         events * lookahead / span < EVENTS_WORTH * partitions->count)) {
        note_worth(partitions, false);
        return false;
    }
    partitions->lookahead = lookahead;
    partitions->windows_before = partitions->figures.windows;
    for (unsigned i = 0; i < partitions->count; i++)
        make_view(fabric, &partitions->items[i], partitions->queues[i]);
    struct data *data = fabric->data;
    assert(partitions->count);
    for (unsigned i = 0; data->data_packets.free; i = (i + 1) % partitions->count) {
        uint32_t number = pool_take(&data->data_packets);
        pool_give(&partitions->items[i].data.data_packets, number);
    }
    des_divide(fabric->network, partitions->queues, partitions->count, choose_partition, fabric);
    for (unsigned i = 0; i < partitions->count; i++)
        partitions->items[i].next = des_next_time(partitions->queues[i]);
    partitions->divided = true;
    partitions->figures.divisions++;
    return true;
}

/* Packets that have never been used; their memory is zero. */
bool partitions_refill(struct data *data)
{
    if (data->is_reserved && !data->whole)
        mem_fail("data packets");
    if (!data->whole)
        return false;
    size_t first = __atomic_fetch_add(&data->whole->data_packets.count, REFILL, __ATOMIC_RELAXED);
    if (first + REFILL > PACKETS_MOST)
        mem_fail("data packets");
    for (size_t i = first; i < first + REFILL; i++)
        pool_give(&data->data_packets, (uint32_t)i);
    return true;
}

/* ---- uniting ---- */

static void add_totals(struct data_totals *to, const struct data_totals *from)
{
    _Static_assert(sizeof *to % sizeof(uint64_t) == 0, "all totals are of one type");
    uint64_t sums[sizeof *to / sizeof(uint64_t)], more[sizeof *to / sizeof(uint64_t)];
    memcpy(sums, to, sizeof sums);
    memcpy(more, from, sizeof more);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        sums[i] += more[i];
    memcpy(to, sums, sizeof sums);
}

/* A count of a partition may be below zero, since a packet ends elsewhere than it began: sums are
 * modulo 2^64. */
void partitions_collect(struct fabric *fabric)
{
    struct data *to = fabric->data;
    for (unsigned i = 0; i < fabric->partitions->count; i++) {
        struct partition *partition = &fabric->partitions->items[i];
        struct data *from = &partition->data;
        add_totals(&to->totals, &from->totals);
        to->travelling += from->travelling;
        to->on_links += from->on_links;
        to->retrying += from->retrying;
        to->trace += from->trace;
        to->overflowed |= from->overflowed;
        fabric->totals.events += partition->fabric.totals.events;
        fabric->partitions->figures.events += partition->fabric.totals.events;
        from->totals = (struct data_totals){0};
        from->travelling = from->on_links = from->retrying = from->trace = 0;
        partition->fabric.totals.events = 0;
    }
}

/* The bits of a node are those of its partition. */
static void unite_requests(struct fabric *fabric)
{
    struct data *data = fabric->data;
    for (uint32_t node = 0; node < fabric->node_count; node++) {
        const struct switch_core *core = &data->switch_cores[node];
        const uint64_t *from =
            fabric->partitions->items[fabric->partitions->of_node[node]].data.requests;
        uint32_t first = port_vl_of(fabric, core->first_port, 0);
        uint32_t count = core->is_switch ? (core->port_count + 1u) << data->vl_shift : 0;
        for (uint32_t bit = first; bit < first + count; bit++)
            if (bitset_has(from, bit))
                bitset_add(data->requests, bit);
            else
                bitset_drop(data->requests, bit);
    }
}

void partitions_unite(struct fabric *fabric)
{
    struct partitions *partitions = fabric->partitions;
    if (!partitions || !partitions->divided)
        return;
    for (unsigned i = 0; i < partitions->count; i++)
        partitions_read_mail(partitions, &partitions->items[i]);
    partitions->divided = false;
    unite_requests(fabric);
    for (unsigned i = 0; i < partitions->count; i++) {
        struct data *data = &partitions->items[i].data;
        while (data->data_packets.free) {
            uint32_t number = pool_take(&data->data_packets);
            pool_give(&fabric->data->data_packets, number);
        }
    }
    des_unite(fabric->network, partitions->queues, partitions->count);
    restart_probe(fabric);
    note_worth(partitions,
               partitions->figures.windows - partitions->windows_before > WINDOWS_WORTH);
}

struct partition_figures fabric_partition_figures(const struct fabric *fabric)
{
    struct partition_figures figures = {0};
    if (fabric->partitions)
        figures = fabric->partitions->figures;
    figures.all_events = fabric->totals.events;
    return figures;
}
