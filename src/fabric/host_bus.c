/* The way between the memory of a host and the link: an adapter's own time, then the host's bus.
 *
 * Both serve one packet at a time in each direction, in the order in which packets come. A bus
 * moves a packet in transactions of limited size; each costs time beyond that of its data. On PCI
 * and PCI-X both directions share the bus, and a read takes two transactions, the request and its
 * split completion. On PCI Express each direction has lanes of its own. The functions of a virtual
 * switch share what their device has.
 *
 * A sender reads its next packet over the bus when the packet is due and the one before has entered
 * its output VL. A packet that arrives occupies its input VL until it is in memory, so that a slow
 * bus holds back credits. Left out: requests of PCI Express reads, which take the other direction
 * 1 % of its time; reading work requests and writing completions; reading a packet again that is
 * sent again. */
#include "fabric/internal.h"

#include <assert.h>
#include <string.h>

enum {
    PCI_X_BURST = 512,       /* the default of the maximum memory read byte count */
    PCI_X_CLOCKS = 8,        /* address, attributes, response, turn-around and arbitration */
    PCI_EXPRESS_BURST = 256, /* the usual maximum payload */
    PCI_EXPRESS_HEADER = 24, /* framing, sequence number, header for 64-bit addresses and LCRC */
};

struct bus {
    const char *name;
    uint64_t ps_per_64_bytes;
    unsigned burst;
    uint64_t read_ps, write_ps; /* of a transaction, beside its data */
    bool shared;                /* by both directions */
};

#define PCI_X(name, clock_ps)                                                                      \
    {                                                                                              \
        name, 8 * (clock_ps), PCI_X_BURST, 2 * PCI_X_CLOCKS *(clock_ps), PCI_X_CLOCKS *(clock_ps), \
            true                                                                                   \
    }
#define PCI_EXPRESS(name, lanes, lane_ps)                                                          \
    {                                                                                              \
        name, (lane_ps) / (lanes), PCI_EXPRESS_BURST, (lane_ps) / (lanes)*PCI_EXPRESS_HEADER / 64, \
            (lane_ps) / (lanes)*PCI_EXPRESS_HEADER / 64, false                                     \
    }
/* Time of 64 bytes on a lane: 2.5 and 5 GT/s with 8b/10b, then 8, 16 and 32 GT/s with 128b/130b. */
#define PCI_EXPRESS_WIDTHS(generation, lane_ps)                                                    \
    PCI_EXPRESS("pcie" generation "x1", 1, lane_ps),                                               \
        PCI_EXPRESS("pcie" generation "x4", 4, lane_ps),                                           \
        PCI_EXPRESS("pcie" generation "x8", 8, lane_ps),                                           \
        PCI_EXPRESS("pcie" generation "x16", 16, lane_ps)

static const struct bus buses[] = {
    {.name = "none"},
    PCI_X("pci-x-66", UINT64_C(15000)),
    PCI_X("pci-x-100", UINT64_C(10000)),
    PCI_X("pci-x-133", UINT64_C(7500)),
    PCI_EXPRESS_WIDTHS("1", UINT64_C(256000)),
    PCI_EXPRESS_WIDTHS("2", UINT64_C(128000)),
    PCI_EXPRESS_WIDTHS("3", UINT64_C(65000)),
    PCI_EXPRESS_WIDTHS("4", UINT64_C(32500)),
    PCI_EXPRESS_WIDTHS("5", UINT64_C(16250)),
};
enum { BUSES = sizeof buses / sizeof buses[0] };

const char *host_bus_name(unsigned number)
{
    return number < BUSES ? buses[number].name : NULL;
}

bool host_bus_is_modelled(const struct node_options *options)
{
    return options->bus || options->adapter_packet_ps || options->adapter_message_ps;
}

/* What the functions of one device share is kept at its virtual switch. */
static struct host_side *side_of(struct fabric *fabric, uint32_t index)
{
    const struct port *port = &fabric->ports[index];
    uint32_t node = port->node;
    if (port->peer != NONE && node_of(fabric, port->peer)->sma.device)
        node = fabric->ports[port->peer].node;
    return &fabric->nodes[node].host_side;
}

/* The end of the transfer of a packet that is ready now. */
static uint64_t transfer(struct fabric *fabric, uint32_t index, enum host_direction direction,
                         uint64_t payload, uint64_t own_ps)
{
    const struct node_options *options = &node_of(fabric, index)->options;
    struct host_side *side = side_of(fabric, index);
    assert(options->bus < BUSES);
    const struct bus *bus = &buses[options->bus];
    uint64_t now = des_now(fabric->network);
    uint64_t *adapter = &side->adapter_free[direction];
    *adapter = (*adapter > now ? *adapter : now) + own_ps;
    if (!options->bus)
        return *adapter;
    uint64_t *free_at = &side->bus_free[bus->shared ? HOST_READS : direction];
    uint64_t transactions = (payload + bus->burst - 1) / bus->burst;
    uint64_t each = direction == HOST_READS ? bus->read_ps : bus->write_ps;
    *free_at = (*free_at > *adapter ? *free_at : *adapter) + transactions * each +
               (payload * bus->ps_per_64_bytes + 63) / 64;
    return *free_at;
}

uint64_t host_bus_read(struct fabric *fabric, uint32_t port, uint64_t payload, bool begins_message)
{
    const struct node_options *options = &node_of(fabric, port)->options;
    uint64_t own = options->adapter_packet_ps + (begins_message ? options->adapter_message_ps : 0);
    return transfer(fabric, port, HOST_READS, payload, own);
}

uint64_t host_bus_reads_until(struct fabric *fabric, uint32_t port)
{
    const struct host_side *side = side_of(fabric, port);
    uint64_t bus = side->bus_free[HOST_READS], adapter = side->adapter_free[HOST_READS];
    return bus > adapter ? bus : adapter;
}

void host_bus_receive(struct fabric *fabric, uint32_t number, uint32_t port_vl)
{
    struct data *data = fabric->data;
    struct input_vl *input = &data->inputs[port_vl];
    uint32_t index = port_of(fabric, port_vl);
    const struct data_packet *data_packet = data_packet_at(data, number);
    uint64_t end = transfer(fabric, index, HOST_WRITES, data_packet->payload,
                            node_of(fabric, index)->options.adapter_packet_ps);
    input->used = (uint16_t)(input->used + blocks_of(data_packet->bytes));
    data_packet_push(data, &input->queue, number);
    des_post(fabric->network, end,
             (struct event){EVENT_IN_MEMORY, port_vl, node_of(fabric, index)->life});
}

void host_bus_written(struct fabric *fabric, uint32_t port_vl, uint32_t life)
{
    struct data *data = fabric->data;
    uint32_t index = port_of(fabric, port_vl);
    struct input_vl *input = &data->inputs[port_vl];
    if (life != node_of(fabric, index)->life)
        return;
    uint32_t number = data_packet_pop(data, &input->queue);
    assert(number != NONE);
    free_blocks(&input->used, blocks_of(data_packet_at(data, number)->bytes));
    data_deliver(fabric, number, index);
    if (fabric->ports[index].up)
        credits_update(fabric, port_vl);
}
