/* Agents and the management plane under any sequence of MADs and faults.
 *
 * The input is a list of steps. Each begins with a byte that says what is done: a MAD to a switch's
 * or an adapter's agent, a MAD sent into a small fabric, time, or a fault. A MAD is either raw, 256
 * bytes of the input, or put together from a few of them, so that a short input gets beyond the
 * version and class checks. After every step the promises hold that a manager relies on: an answer
 * is a response with the question's TID, states and LIDs are in range, hop pointers stay within the
 * path, and the network comes to rest. Agents and fabric are made when a step first needs them;
 * only the topology stays for the next input. */
#include "base/map.h"
#include "base/time.h"
#include "fabric/fabric.h"
#include "input.h"
#include "pure.h"
#include "sma/sma.h"
#include "wire/vswitch.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No time passes after so many events: agents may be told to repeat their traps every 4 us. */
enum { TIMED_EVENTS = 4000 };
enum { STEPS_AT_MOST = 100, MULTICAST_ENTRIES = 64 };

/* MADs */

static void take_raw_mad(struct input *input, uint8_t mad[MAD_BYTES])
{
    for (unsigned i = 0; i < MAD_BYTES && input->left; i++)
        mad[i] = (uint8_t)take(input);
}

/* Class and method, attribute, modifier, and patches: offset and value. */
static void take_short_mad(struct input *input, uint8_t mad[MAD_BYTES])
{
    static const uint8_t classes[] = {CLASS_SUBN_LID, CLASS_SUBN_DIRECTED, CLASS_PERFORMANCE,
                                      CLASS_SUBN_ADM};
    static const uint8_t methods[] = {METHOD_GET,          METHOD_SET,      METHOD_TRAP,
                                      METHOD_TRAP_REPRESS, METHOD_GET_RESP, METHOD_SEND};
    unsigned kind = take(input);
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_CLASS, classes[kind % 4]);
    wire_set(mad, MAD_METHOD, methods[kind / 4 % 6]);
    wire_set(mad, MAD_TID, take(input));
    unsigned attribute = take(input);
    wire_set(mad, MAD_ATTRIBUTE_ID,
             attribute == (ATTRIBUTE_VIRTUAL_FUNCTION & 0xFF) ? ATTRIBUTE_VIRTUAL_FUNCTION
                                                              : attribute);
    wire_set(mad, MAD_ATTRIBUTE_MODIFIER, take_bytes(input, 4));
    wire_set(mad, SMP_DR_SLID, LID_PERMISSIVE);
    wire_set(mad, SMP_DR_DLID, LID_PERMISSIVE);
    wire_set(mad + SMP_DATA_OFFSET, PORT_INFO_NEIGHBOR_MTU, 1); /* else no Set of it is valid */
    for (unsigned patches = take(input) % 32; patches && input->left; patches--) {
        unsigned offset = take(input);
        mad[offset] = (uint8_t)take(input);
    }
}

static void take_mad(struct input *input, uint8_t mad[MAD_BYTES])
{
    memset(mad, 0, MAD_BYTES);
    if (take(input) % 4 == 0)
        take_raw_mad(input, mad);
    else
        take_short_mad(input, mad);
}

/* Agents */

static void check_port_info(const uint8_t *info)
{
    uint64_t state = wire_get(info, PORT_INFO_PORT_STATE);
    uint64_t physical = wire_get(info, PORT_INFO_PORT_PHYSICAL_STATE);
    uint64_t lid = wire_get(info, PORT_INFO_LID), mtu = wire_get(info, PORT_INFO_NEIGHBOR_MTU);
    promise(state >= PORT_STATE_DOWN && state <= PORT_STATE_ACTIVE);
    promise(physical >= PHYSICAL_SLEEP && physical <= PHYSICAL_LINK_UP);
    promise(lid <= LID_UNICAST_LAST);
    promise(lid % (UINT64_C(1) << wire_get(info, PORT_INFO_LMC)) == 0);
    promise(mtu >= 1 && mtu <= wire_get(info, PORT_INFO_MTU_CAP));
    promise((wire_get(info, PORT_INFO_LINK_WIDTH_ENABLED) &
             ~wire_get(info, PORT_INFO_LINK_WIDTH_SUPPORTED)) == 0);
    promise((wire_get(info, PORT_INFO_LINK_SPEED_ENABLED) &
             ~wire_get(info, PORT_INFO_LINK_SPEED_SUPPORTED)) == 0);
}

static void check_outputs(struct sma *sma, uint64_t now)
{
    struct sma_output output;
    for (unsigned pulled = 0; sma_next_output(sma, now, &output); pulled++) {
        promise(pulled <= sma->port_count + 1u);
        promise(output.port <= sma->port_count);
        if (output.kind == SMA_SEND_TRAP)
            promise(wire_get(output.mad, MAD_METHOD) == METHOD_TRAP);
        else
            promise(output.physical_state >= PHYSICAL_SLEEP &&
                    output.physical_state <= PHYSICAL_DISABLED);
    }
    promise(sma_deadline(sma) > now);
}

static void step_agent(struct sma *sma, uint64_t now, struct input *input, uint64_t *digest)
{
    uint8_t mad[MAD_BYTES], before[MAD_BYTES];
    unsigned port = take(input) % (sma->port_count + 1u);
    if (sma->kind != NODE_SWITCH && port == 0)
        port = 1;
    take_mad(input, mad);
    memcpy(before, mad, sizeof before);
    switch (sma_receive(sma, now, port, 1, mad)) {
    case SMA_PASS: promise(memcmp(mad, before, sizeof mad) == 0); break;
    case SMA_DROP: break;
    case SMA_REPLY:
        promise(wire_get(mad, MAD_METHOD) == METHOD_GET_RESP);
        promise(wire_get(mad, MAD_TID) == wire_get(before, MAD_TID));
        promise(wire_get(mad, MAD_CLASS) == wire_get(before, MAD_CLASS));
        promise(wire_get(mad, MAD_ATTRIBUTE_ID) == wire_get(before, MAD_ATTRIBUTE_ID));
        promise(!mad_is_directed(mad) || wire_get(mad, SMP_DIRECTION));
        break;
    }
    *digest = hash_bytes(*digest, mad, sizeof mad);
    sma_expire(sma, now);
    check_outputs(sma, now);
    for (unsigned i = sma->kind == NODE_SWITCH ? 0 : 1; i <= sma->port_count; i++)
        check_port_info(sma->ports[i].info);
    for (unsigned lid = 0; sma->kind == NODE_SWITCH && lid < 70; lid++)
        promise(sma_route_unicast(sma, lid) <= 0xFF);
}

static void make_agent(struct sma *sma, unsigned which)
{
    static const struct {
        uint8_t kind, ports;
        uint16_t linear_entries;
    } shapes[] = {{NODE_SWITCH, 20, 1000}, {NODE_SWITCH, 3, 0}, {NODE_ADAPTER, 2, 0}};
    unsigned ports = shapes[which].ports;
    struct fabric_options options;
    fabric_options_preset(&options, "today", NULL);
    options.node.agent.linear_entries = shapes[which].linear_entries;
    options.node.agent.random_entries = 32;
    options.node.agent.multicast_entries = MULTICAST_ENTRIES;
    sma_init(sma,
             &(struct sma_identity){.kind = shapes[which].kind,
                                    .port_count = (uint8_t)ports,
                                    .guid = 1,
                                    .description = "fuzzed"},
             &options.node.agent);
    for (unsigned port = 0; port <= ports; port++)
        sma_set_link_support(sma, port, 3, 7, 31, port == 1);
    for (unsigned port = 1; port <= ports; port++)
        sma_link_up(sma, port, 2, 4, 8, false);
}

/* The fabric: a triangle of switches, one of them linked with itself, two adapters, one of which
 * has both its ports in it, and a hypervisor: virtual switch, physical and virtual functions. */

enum { H1, H2, S1, S2, S3, VS, PF, VF1, VF2, NODES };
enum { LINKS = 11 };

struct small_world {
    struct topology topology;
    struct fabric *fabric;
    uint64_t digest;
};

static void make_topology(struct topology *topology)
{
    static const uint8_t links[][4] = {{H1, 1, S1, 1},  {H2, 1, S2, 1}, {H2, 2, S3, 1},
                                       {S1, 2, S2, 2},  {S2, 3, S3, 2}, {S3, 3, S1, 3},
                                       {S1, 4, S1, 5},  {S2, 4, VS, 1}, {PF, 1, VS, 2},
                                       {VF1, 1, VS, 3}, {VF2, 1, VS, 4}};
    topology_init(topology);
    topology_add_node(topology, NODE_ADAPTER, "H1", 1, 0, NULL, NULL);
    topology_add_node(topology, NODE_ADAPTER, "H2", 2, 0, NULL, NULL);
    topology_add_node(topology, NODE_SWITCH, "S1", 5, 0, NULL, NULL);
    topology_add_node(topology, NODE_SWITCH, "S2", 4, 0, NULL, NULL);
    topology_add_node(topology, NODE_SWITCH, "S3", 17, 0, NULL, NULL);
    topology_add_node(topology, NODE_SWITCH, "VS", 4, 0, NULL, NULL);
    topology_add_node(topology, NODE_ADAPTER, "PF", 1, 0, NULL, NULL);
    topology_add_node(topology, NODE_ADAPTER, "VF1", 1, 0, NULL, NULL);
    topology_add_node(topology, NODE_ADAPTER, "VF2", 1, 0, NULL, NULL);
    topology->nodes.items[VS].device_id = VSWITCH_DEVICE_ID;
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
        topology_link(topology, topology_port_index(topology, links[i][0], links[i][1]),
                      topology_port_index(topology, links[i][2], links[i][3]), NULL);
}

static void world_begin(struct small_world *world, uint64_t seed)
{
    struct topology *topology = &world->topology;
    struct fabric_options options;
    if (!topology->nodes.count)
        make_topology(topology);
    fabric_options_preset(&options, "today", NULL);
    options.node.agent.linear_entries = 256;
    options.node.agent.multicast_entries = MULTICAST_ENTRIES;
    options.node.vl15_buffer = 4;
    fabric_options_set(&options, "S3:linear_entries", "0", NULL);
    fabric_options_set(&options, "S3:random_entries", "32", NULL);
    world->fabric = fabric_new(topology, &options, seed);
    fabric_attach(world->fabric, topology_port_index(topology, H1, 1));
    fabric_attach(world->fabric, topology_port_index(topology, S1, 0));
    fabric_attach(world->fabric, topology_port_index(topology, PF, 1));
}

static void take_deliveries(struct small_world *world)
{
    struct fabric_delivery delivery;
    while (fabric_next_delivery(world->fabric, &delivery)) {
        promise(delivery.port < world->topology.ports.count);
        world->digest = hash_bytes(world->digest, delivery.mad, MAD_BYTES);
        if (!mad_is_directed(delivery.mad))
            continue;
        promise(wire_get(delivery.mad, SMP_HOP_COUNT) <= SMP_MAX_HOPS);
        promise(wire_get(delivery.mad, SMP_HOP_POINTER) <=
                wire_get(delivery.mad, SMP_HOP_COUNT) + 1);
    }
}

/* A virtual function has a link if, and only if, it has a LID; the pair that shares one has one. */
static uint32_t check_hypervisor(const struct small_world *world)
{
    const struct topology *topology = &world->topology;
    uint32_t idle = 0;
    for (uint32_t node = VF1; node <= VF2; node++) {
        uint32_t port = topology_port_index(topology, node, 1);
        bool has_lid = wire_get(fabric_port_info(world->fabric, port), PORT_INFO_LID);
        promise(has_lid || !fabric_link_is_up(world->fabric, port));
        idle += !has_lid;
    }
    promise(wire_get(fabric_port_info(world->fabric, topology_port_index(topology, VS, 0)),
                     PORT_INFO_LID) ==
            wire_get(fabric_port_info(world->fabric, topology_port_index(topology, PF, 1)),
                     PORT_INFO_LID));
    return idle;
}

/* Everything that was set in motion ends, and soon: no packet lives for ever. */
static void settle(struct small_world *world)
{
    enum { EVENTS_AT_MOST = 200000 };
    struct fabric_totals before, after;
    fabric_totals(world->fabric, &before);
    while (fabric_run_network(world->fabric, TIME_NEVER))
        take_deliveries(world);
    fabric_totals(world->fabric, &after);
    promise(after.events - before.events < EVENTS_AT_MOST);
    promise(fabric_next_network_event(world->fabric) == TIME_NEVER);
    promise(after.links_up + after.links_down + after.links_idle == LINKS);
    promise(after.links_idle <= check_hypervisor(world)); /* fewer if some of them are cut */
    for (uint32_t port = 0; port < world->topology.ports.count; port++) {
        uint32_t node = world->topology.ports.items[port].node;
        const uint8_t *info = fabric_port_info(world->fabric, port);
        if (port != topology_port_index(&world->topology, node, 0))
            check_port_info(info);
        if (fabric_link_is_up(world->fabric, port))
            promise(wire_get(info, PORT_INFO_PORT_STATE) != PORT_STATE_DOWN &&
                    fabric_node_is_up(world->fabric, node));
    }
}

static void step_send(struct small_world *world, struct input *input)
{
    static const uint8_t from[][2] = {{H1, 1},  {S1, 0}, {H2, 1},  {H2, 2},
                                      {VF1, 1}, {VS, 0}, {VF2, 1}, {PF, 1}};
    uint8_t mad[MAD_BYTES];
    unsigned which = take(input);
    struct packet_header header = {
        .slid = (uint16_t)which,
        .dlid = which & 0x80 ? LID_PERMISSIVE : (uint16_t)take_bytes(input, 2),
        .sl = (uint8_t)(which >> 3),
        .global = which & 0x40,
        .p_key = which & 4 ? (uint16_t)take_bytes(input, 2) : P_KEY_DEFAULT,
        .q_key = Q_KEY_GSI};
    take_mad(input, mad);
    header.dest_qp = mad_is_smp(mad) ? QP_SMI : QP_GSI;
    fabric_send(world->fabric,
                topology_port_index(&world->topology, from[which % 8][0], from[which % 8][1]),
                &header, mad);
}

static void step_time(struct small_world *world, struct input *input)
{
    /* At most 17 ms. */
    uint64_t span = (uint64_t)take(input) << take(input) % 27;
    struct fabric_totals totals;
    fabric_totals(world->fabric, &totals);
    if (totals.events < TIMED_EVENTS &&
        fabric_run(world->fabric, fabric_network_time(world->fabric) + span))
        take_deliveries(world);
}

static void step_fault(struct small_world *world, struct input *input)
{
    unsigned what = take(input), value = take(input);
    uint32_t node = take(input) % NODES;
    uint32_t port = take(input) % (uint32_t)world->topology.ports.count;
    struct err err;
    switch (what % 8) {
    case 0: fabric_set_link(world->fabric, port, value & 1, &err); break;
    case 1: fabric_set_node(world->fabric, node, value & 1, &err); break;
    case 2: fabric_flap_port(world->fabric, port, &err); break;
    case 3: fabric_set_loss(world->fabric, port, what >> 3, (uint64_t)value << 24, &err); break;
    case 4:
        fabric_set_agent_delay(world->fabric, node, value == 255 ? TIME_NEVER : value * TIME_US,
                               &err);
        break;
    case 5: fabric_set_guid(world->fabric, node, value, &err); break;
    case 6: fabric_add_bit_errors(world->fabric, port, value, &err); break;
    case 7: fabric_set_manager(world->fabric, port, value & 1); break;
    }
}

static void step_fabric(struct small_world *world, unsigned what, struct input *input)
{
    switch (what) {
    case 3: step_time(world, input); break;
    case 4: step_fault(world, input); break;
    case 5: settle(world); break;
    default: step_send(world, input); break;
    }
}

static uint64_t run(const uint8_t *data, size_t size)
{
    static struct small_world world;
    struct input input = {data, size};
    struct sma agents[3] = {0};
    uint64_t now = 0;
    world.digest = 0;
    for (unsigned step = 0; step < STEPS_AT_MOST && input.left; step++) {
        unsigned what = take(&input);
        now += (uint64_t)what << 32;
        what %= 8;
        if (what < 3 && !agents[what].ports)
            make_agent(&agents[what], what);
        if (what < 3) {
            step_agent(&agents[what], now, &input, &world.digest);
            continue;
        }
        if (!world.fabric)
            world_begin(&world, size);
        step_fabric(&world, what, &input);
    }
    if (world.fabric)
        settle(&world);
    for (unsigned i = 0; i < 3; i++)
        if (agents[i].ports)
            sma_release(&agents[i]);
    fabric_free(world.fabric);
    world.fabric = NULL;
    return world.digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    run_pure(run, data, size);
    return 0;
}
