/* Consumers at ports: deliveries, responses without a consumer, and checks of P_Keys and Q_Keys. */
#include "fabric/data.h"
#include "fixture.h"

/* manager H - 1 A 2 - target T, and a third adapter at port 3. */
struct star {
    struct world world;
    uint32_t manager, middle, target, third;
};

static void star_up(struct star *star)
{
    struct world *world = &star->world;
    world_init(world);
    star->manager = world_adapter(world, 1);
    star->middle = world_switch(world, 4);
    star->target = world_adapter(world, 1);
    star->third = world_adapter(world, 1);
    world_link(world, star->manager, 1, star->middle, 1);
    world_link(world, star->middle, 2, star->target, 1);
    world_link(world, star->middle, 3, star->third, 1);
    world_begin(world, 1);
    world_bring_up(world, world_port(world, star->manager, 1));
}

static bool request_lid(struct star *star, uint32_t node, unsigned class, unsigned method,
                        unsigned attribute, struct fabric_delivery *answer)
{
    uint8_t mad[MAD_BYTES];
    mad_fill(mad, class, method, attribute, 0);
    return world_exchange(&star->world, star->world.manager, world_lid(&star->world, node), mad,
                          answer);
}

static void sm_info_is_delivered_to_the_attached_consumer(void **state)
{
    (void)state;
    struct star star;
    star_up(&star);
    struct fabric_delivery delivery;
    uint32_t port = world_port(&star.world, star.target, 1);
    fabric_attach(star.world.fabric, port);
    assert_true(
        request_lid(&star, star.target, CLASS_SUBN_LID, METHOD_GET, ATTRIBUTE_SM_INFO, &delivery));
    assert_int_equal(delivery.port, port);
    assert_int_equal(wire_get(delivery.mad, MAD_METHOD), METHOD_GET);
    assert_int_equal(delivery.header.slid, world_lid(&star.world, star.manager));
    assert_int_equal(delivery.header.src_qp, QP_SMI);
    world_end(&star.world);
}

static void a_consumer_can_answer_a_directed_request(void **state)
{
    (void)state;
    struct star star;
    star_up(&star);
    struct fabric_delivery delivery;
    uint32_t port = world_port(&star.world, star.target, 1);
    uint8_t mad[MAD_BYTES];
    fabric_attach(star.world.fabric, port);
    mad_fill(mad, CLASS_SUBN_DIRECTED, METHOD_GET, ATTRIBUTE_SM_INFO, 0);
    mad_direct(mad, world_path(&star.world, star.target));
    assert_true(world_exchange(&star.world, star.world.manager, LID_PERMISSIVE, mad, &delivery));
    assert_int_equal(delivery.port, port);
    wire_set(delivery.mad, MAD_METHOD, METHOD_GET_RESP);
    wire_set(delivery.mad, SMP_DIRECTION, 1);
    assert_true(world_exchange(&star.world, port, LID_PERMISSIVE, delivery.mad, &delivery));
    assert_int_equal(delivery.port, star.world.manager);
    assert_int_equal(wire_get(delivery.mad, MAD_TID), wire_get(mad, MAD_TID));
    world_end(&star.world);
}

static void requests_without_a_consumer_get_status_unsupported(void **state)
{
    (void)state;
    static const struct {
        unsigned class, method, attribute;
    } requests[] = {{CLASS_SUBN_LID, METHOD_GET, ATTRIBUTE_SM_INFO},
                    {CLASS_SUBN_LID, METHOD_SET, ATTRIBUTE_SM_INFO},
                    {CLASS_SUBN_ADM, METHOD_GET, 0x11},
                    {CLASS_DEVICE, METHOD_GET, ATTRIBUTE_CLASS_PORT_INFO},
                    {CLASS_BOARD, METHOD_GET, ATTRIBUTE_CLASS_PORT_INFO},
                    {CLASS_BOARD, METHOD_SET, ATTRIBUTE_CLASS_PORT_INFO},
                    {CLASS_SNMP, METHOD_GET, ATTRIBUTE_CLASS_PORT_INFO}};
    struct star star;
    star_up(&star);
    struct fabric_delivery answer;
    for (unsigned i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        assert_true(request_lid(&star, star.target, requests[i].class, requests[i].method,
                                requests[i].attribute, &answer));
        assert_int_equal(wire_get(answer.mad, MAD_METHOD), METHOD_GET_RESP);
        assert_int_equal(wire_get(answer.mad, MAD_STATUS), STATUS_BAD_ATTRIBUTE);
        assert_int_equal(answer.header.slid, world_lid(&star.world, star.target));
    }
    uint32_t port = world_port(&star.world, star.target, 1);
    fabric_attach(star.world.fabric, port);
    fabric_attach(star.world.fabric, port);
    fabric_detach(star.world.fabric, port); /* another one remains */
    assert_true(
        request_lid(&star, star.target, CLASS_SUBN_LID, METHOD_GET, ATTRIBUTE_SM_INFO, &answer));
    assert_int_equal(answer.port, port);
    fabric_detach(star.world.fabric, port);
    assert_true(
        request_lid(&star, star.target, CLASS_SUBN_LID, METHOD_GET, ATTRIBUTE_SM_INFO, &answer));
    assert_int_equal(answer.port, star.world.manager);
    world_end(&star.world);
}

static void other_methods_without_a_consumer_are_dropped(void **state)
{
    (void)state;
    struct star star;
    star_up(&star);
    struct fabric_delivery answer;
    assert_false(
        request_lid(&star, star.target, CLASS_SUBN_LID, METHOD_TRAP, ATTRIBUTE_NOTICE, &answer));
    assert_false(request_lid(&star, star.target, CLASS_SUBN_LID, METHOD_GET_RESP,
                             ATTRIBUTE_NODE_INFO, &answer));
    assert_false(request_lid(&star, star.target, CLASS_SUBN_ADM, METHOD_GET_TABLE, 0x11, &answer));
    assert_false(request_lid(&star, star.target, CLASS_CM, METHOD_SEND, 0x10, &answer));
    world_end(&star.world);
}

static void mads_to_the_wrong_queue_pair_or_lid_are_dropped(void **state)
{
    (void)state;
    struct star star;
    star_up(&star);
    struct fabric_delivery delivery;
    uint8_t mad[MAD_BYTES];
    fabric_attach(star.world.fabric, world_port(&star.world, star.target, 1));
    uint16_t lid = world_lid(&star.world, star.target);
    struct packet_header header;
    mad_fill(mad, CLASS_SUBN_LID, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
    header = header_to(&star.world, mad, lid);
    header.dest_qp = QP_GSI; /* an SMP at QP1 */
    fabric_send(star.world.fabric, star.world.manager, &header, mad);
    header = header_to(&star.world, mad, LID_MULTICAST_FIRST);
    fabric_send(star.world.fabric, star.world.manager, &header, mad);
    mad_fill(mad, CLASS_PERFORMANCE, METHOD_GET, ATTRIBUTE_CLASS_PORT_INFO, 0);
    header = header_to(&star.world, mad, lid);
    header.dest_qp = QP_SMI; /* a GMP at QP0, which checks no P_Key */
    header.p_key = 0;
    fabric_send(star.world.fabric, star.world.manager, &header, mad);
    header = header_to(&star.world, mad, lid);
    header.dest_qp = 77;
    fabric_send(star.world.fabric, star.world.manager, &header, mad);
    header = header_to(&star.world, mad, LID_PERMISSIVE);
    fabric_send(star.world.fabric, star.world.manager, &header, mad);
    assert_false(world_take(&star.world, &delivery));
    assert_int_equal(world_info(&star.world, star.target, 1, PORT_INFO_P_KEY_VIOLATIONS), 0);
    world_end(&star.world);
}

static void path_bits_select_only_lids_of_the_port(void **state)
{
    (void)state;
    struct star star;
    star_up(&star);
    struct world *world = &star.world;
    struct fabric_delivery delivery;
    uint8_t mad[MAD_BYTES];
    fabric_attach(world->fabric, world_port(world, star.target, 1));
    mad_fill(mad, CLASS_SUBN_LID, METHOD_GET, ATTRIBUTE_SM_INFO, 0);
    struct packet_header header = header_to(world, mad, world_lid(world, star.target));
    header.slid = 0x1235;
    fabric_send(world->fabric, world->manager, &header, mad);
    assert_true(world_take(world, &delivery));
    assert_int_equal(delivery.header.slid, world->lids[world->manager]);
    const struct path here = path_of(0);
    assert_int_equal(world_set_port(world, &here, 1, PORT_INFO_LID, 8), 0);
    assert_int_equal(world_set_port(world, &here, 1, PORT_INFO_LMC, 2), 0);
    fabric_send(world->fabric, world->manager, &header, mad);
    assert_true(world_take(world, &delivery));
    assert_int_equal(delivery.header.slid, 9);
    world_end(world);
}

/* IsSM */

static void a_manager_sets_is_sm_and_causes_trap_144(void **state)
{
    (void)state;
    enum { IS_SM = 2 };
    struct star star;
    star_up(&star);
    struct fabric_delivery delivery;
    uint32_t port = world_port(&star.world, star.target, 1);
    assert_false(world_info(&star.world, star.target, 1, PORT_INFO_CAPABILITY_MASK) & IS_SM);
    fabric_set_manager(star.world.fabric, port, true);
    assert_true(world_info(&star.world, star.target, 1, PORT_INFO_CAPABILITY_MASK) & IS_SM);
    assert_int_equal(world_totals(&star.world).managers, 1);
    assert_true(world_take(&star.world, &delivery));
    const uint8_t *notice = delivery.mad + SMP_DATA_OFFSET;
    assert_int_equal(delivery.port, star.world.manager);
    assert_int_equal(wire_get(notice, NOTICE_TRAP_NUMBER), 144);
    assert_true(wire_get(notice + NOTICE_AT_DETAILS, TRAP_LOCAL_CHANGES_CAPABILITY_MASK) & IS_SM);
    fabric_set_manager(star.world.fabric, port, true); /* a second manager at the same port */
    fabric_set_manager(star.world.fabric, port, false);
    assert_true(world_info(&star.world, star.target, 1, PORT_INFO_CAPABILITY_MASK) & IS_SM);
    fabric_set_manager(star.world.fabric, port, false);
    fabric_set_manager(star.world.fabric, port, false); /* one more than were set */
    assert_false(world_info(&star.world, star.target, 1, PORT_INFO_CAPABILITY_MASK) & IS_SM);
    assert_int_equal(world_totals(&star.world).managers, 0);
    world_end(&star.world);
}

static void a_manager_on_a_switch_sets_is_sm_of_port_0(void **state)
{
    (void)state;
    enum { IS_SM = 2 };
    struct star star;
    star_up(&star);
    fabric_set_manager(star.world.fabric, world_port(&star.world, star.middle, 0), true);
    assert_true(world_info(&star.world, star.middle, 0, PORT_INFO_CAPABILITY_MASK) & IS_SM);
    fabric_set_node(star.world.fabric, star.middle, false, NULL);
    fabric_set_node(star.world.fabric, star.middle, true, NULL);
    assert_true(world_info(&star.world, star.middle, 0, PORT_INFO_CAPABILITY_MASK) & IS_SM);
    world_end(&star.world);
}

/* Keys */

static void set_p_key(struct star *star, uint32_t node, unsigned port, unsigned p_key)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    wire_set_at(data, P_KEY_TABLE_P_KEY, 0, p_key);
    assert_int_equal(world_ask(&star->world, world_path(&star->world, node), METHOD_SET,
                               ATTRIBUTE_P_KEY_TABLE, port << 16, data),
                     0);
}

/* Sends a performance query with this key; returns the number of the trap, 0 for a response, -1 for
 * none. */
static int request_with_keys(struct star *star, uint16_t p_key, uint32_t q_key,
                             struct fabric_delivery *delivery)
{
    uint8_t mad[MAD_BYTES];
    mad_fill(mad, CLASS_PERFORMANCE, METHOD_GET, ATTRIBUTE_CLASS_PORT_INFO, 0);
    struct packet_header header =
        header_to(&star->world, mad, world_lid(&star->world, star->target));
    header.p_key = p_key;
    header.q_key = q_key;
    header.sl = 3;
    fabric_send(star->world.fabric, star->world.manager, &header, mad);
    if (!world_take(&star->world, delivery))
        return -1;
    if (wire_get(delivery->mad, MAD_METHOD) != METHOD_TRAP)
        return 0;
    return (int)wire_get(delivery->mad + SMP_DATA_OFFSET, NOTICE_TRAP_NUMBER);
}

static void an_end_port_drops_a_wrong_p_key_with_trap_257(void **state)
{
    (void)state;
    struct star star;
    star_up(&star);
    struct fabric_delivery delivery;
    assert_int_equal(request_with_keys(&star, 0xFFFF, Q_KEY_GSI, &delivery), 0);
    assert_int_equal(request_with_keys(&star, 0x8123, Q_KEY_GSI, &delivery), 257);
    const uint8_t *details = delivery.mad + SMP_DATA_OFFSET + NOTICE_AT_DETAILS;
    assert_int_equal(wire_get(details, TRAP_BAD_P_KEY_LID1), world_lid(&star.world, star.manager));
    assert_int_equal(wire_get(details, TRAP_BAD_P_KEY_LID2), world_lid(&star.world, star.target));
    assert_int_equal(wire_get(details, TRAP_BAD_P_KEY_KEY), 0x8123);
    assert_int_equal(wire_get(details, TRAP_BAD_P_KEY_SL), 3);
    assert_int_equal(wire_get(details, TRAP_BAD_P_KEY_QP1), QP_GSI);
    assert_int_equal(delivery.header.slid, world_lid(&star.world, star.target));
    assert_int_equal(world_info(&star.world, star.target, 1, PORT_INFO_P_KEY_VIOLATIONS), 1);
    set_p_key(&star, star.target, 0, 0x8123);
    /* The target responds now; the manager's own port does not have that key and reports the
     * response. */
    assert_int_equal(request_with_keys(&star, 0x8123, Q_KEY_GSI, &delivery), 257);
    assert_int_equal(delivery.header.slid, world_lid(&star.world, star.manager));
    assert_int_equal(world_info(&star.world, star.manager, 1, PORT_INFO_P_KEY_VIOLATIONS), 1);
    world_end(&star.world);
}

static void an_end_port_drops_a_wrong_q_key_with_trap_258(void **state)
{
    (void)state;
    struct star star;
    star_up(&star);
    struct fabric_delivery delivery;
    assert_int_equal(request_with_keys(&star, 0xFFFF, 0x1234, &delivery), 258);
    const uint8_t *details = delivery.mad + SMP_DATA_OFFSET + NOTICE_AT_DETAILS;
    assert_int_equal(wire_get(details, TRAP_BAD_Q_KEY_KEY), 0x1234);
    assert_int_equal(world_info(&star.world, star.target, 1, PORT_INFO_Q_KEY_VIOLATIONS), 1);
    world_end(&star.world);
}

/* Of a packet whose P_Key the port has, but not its QP. */
static void a_transport_layer_reports_keys_by_the_traps_of_its_port(void **state)
{
    (void)state;
    for (unsigned q_key = 0; q_key < 2; q_key++) {
        struct star star;
        star_up(&star);
        struct fabric *fabric = star.world.fabric;
        struct fabric_delivery delivery;
        uint32_t port = fabric_topology(fabric)->nodes.items[star.target].first_port + 1;
        struct sma_key_violation violation = {
            .slid = 77, .dlid = 5, .key = 0x8123, .sl = 2, .src_qp = 8, .dest_qp = 9};
        if (q_key)
            fabric_report_q_key(fabric, port, &violation);
        else
            fabric_report_p_key(fabric, port, &violation);
        assert_true(world_take(&star.world, &delivery));
        const uint8_t *notice = delivery.mad + SMP_DATA_OFFSET;
        const uint8_t *details = notice + NOTICE_AT_DETAILS;
        assert_int_equal(wire_get(notice, NOTICE_TRAP_NUMBER), q_key ? 258 : 257);
        assert_int_equal(delivery.header.slid, world_lid(&star.world, star.target));
        assert_int_equal(wire_get(details, TRAP_BAD_P_KEY_LID1), 77);
        assert_int_equal(wire_get(details, TRAP_BAD_P_KEY_KEY), 0x8123);
        assert_int_equal(wire_get(details, TRAP_BAD_P_KEY_QP1), 8);
        assert_int_equal(wire_get(details, TRAP_BAD_P_KEY_QP2), 9);
        assert_int_equal(
            world_info(&star.world, star.target, 1,
                       q_key ? PORT_INFO_Q_KEY_VIOLATIONS : PORT_INFO_P_KEY_VIOLATIONS),
            1);
        world_end(&star.world);
    }
}

static void a_switch_enforces_partitions_where_enabled(void **state)
{
    (void)state;
    static const struct {
        enum wire_field direction;
        unsigned port, counter;
    } cases[] = {{PORT_INFO_PARTITION_ENFORCEMENT_INBOUND, 1, COUNTER_RECEIVE_CONSTRAINT_ERRORS},
                 {PORT_INFO_PARTITION_ENFORCEMENT_OUTBOUND, 2, COUNTER_TRANSMIT_CONSTRAINT_ERRORS}};
    for (unsigned i = 0; i < 2; i++) {
        struct star star;
        star_up(&star);
        struct fabric_delivery delivery;
        set_p_key(&star, star.middle, cases[i].port, 0x8001);
        assert_int_equal(request_with_keys(&star, 0xFFFF, Q_KEY_GSI, &delivery),
                         0); /* enforcement is not enabled yet */
        assert_int_equal(world_set_port(&star.world, world_path(&star.world, star.middle),
                                        cases[i].port, cases[i].direction, 1),
                         0);
        assert_int_equal(request_with_keys(&star, 0xFFFF, Q_KEY_GSI, &delivery), 259);
        const uint8_t *details = delivery.mad + SMP_DATA_OFFSET + NOTICE_AT_DETAILS;
        assert_int_equal(wire_get(details, TRAP_SWITCH_BAD_P_KEY_SWITCH_LID),
                         world_lid(&star.world, star.middle));
        assert_int_equal(wire_get(details, TRAP_SWITCH_BAD_P_KEY_PORT), cases[i].port);
        assert_int_equal(wire_get(details, TRAP_SWITCH_BAD_P_KEY_P_KEY), 0xFFFF);
        assert_int_equal(world_counter(&star.world, star.middle, cases[i].port, cases[i].counter),
                         1);
        assert_int_equal(
            world_counter(&star.world, star.middle, 1, COUNTER_RECEIVE_SWITCH_RELAY_ERRORS), 0);
        /* Partitions do not apply to SMPs. */
        assert_true(request_lid(&star, star.target, CLASS_SUBN_LID, METHOD_GET, ATTRIBUTE_NODE_INFO,
                                &delivery));
        world_end(&star.world);
    }
}

static void outbound_enforcement_applies_to_packets_of_the_switch_itself(void **state)
{
    (void)state;
    struct star star;
    star_up(&star);
    struct world *world = &star.world;
    struct fabric_delivery delivery;
    uint8_t mad[MAD_BYTES];
    set_p_key(&star, star.middle, 2, 0x8001);
    assert_int_equal(world_set_port(world, world_path(world, star.middle), 2,
                                    PORT_INFO_PARTITION_ENFORCEMENT_OUTBOUND, 1),
                     0);
    fabric_attach(world->fabric, world_port(world, star.middle, 0));
    mad_fill(mad, CLASS_PERFORMANCE, METHOD_GET, ATTRIBUTE_CLASS_PORT_INFO, 0);
    assert_true(world_exchange(world, world_port(world, star.middle, 0),
                               world_lid(world, star.target), mad, &delivery));
    assert_int_equal(wire_get(delivery.mad + SMP_DATA_OFFSET, NOTICE_TRAP_NUMBER), 259);
    world_end(world);
}

static void packets_of_an_sl_that_maps_to_vl_15_are_dropped(void **state)
{
    (void)state;
    struct star star;
    star_up(&star);
    struct world *world = &star.world;
    struct fabric_delivery delivery;
    uint8_t data[SMP_DATA_BYTES] = {0};
    wire_set_at(data, SL2VL_TABLE_VL, 3, VL_MANAGEMENT);
    assert_int_equal(world_ask(world, world_path(world, star.middle), METHOD_SET,
                               ATTRIBUTE_SL2VL_TABLE, 1 << 8 | 2, data),
                     0);
    assert_int_equal(request_with_keys(&star, 0xFFFF, Q_KEY_GSI, &delivery), -1);
    assert_int_equal(world_counter(world, star.middle, 1, COUNTER_RECEIVE_SWITCH_RELAY_ERRORS), 1);
    world_end(world);
}

static void only_four_bits_of_an_sl_are_sent(void **state)
{
    (void)state;
    struct star star;
    star_up(&star);
    uint8_t mad[MAD_BYTES];
    struct fabric_delivery delivery;
    mad_fill(mad, CLASS_PERFORMANCE, METHOD_GET, ATTRIBUTE_CLASS_PORT_INFO, 0);
    struct packet_header header = header_to(&star.world, mad, world_lid(&star.world, star.target));
    header.sl = 255;
    header.vl = 255;
    fabric_send(star.world.fabric, star.world.manager, &header, mad);
    assert_true(world_take(&star.world, &delivery));
    assert_int_equal(delivery.header.sl, 15);
    world_end(&star.world);
}

/* Attributes read by the operating system */

static void attributes_of_a_port_can_be_read_without_mads(void **state)
{
    (void)state;
    struct star star;
    star_up(&star);
    const struct world *world = &star.world;
    uint16_t p_keys[4] = {0};
    uint32_t port = world_port(world, star.target, 1), outer = world_port(world, star.middle, 2);
    assert_int_equal(fabric_p_keys(world->fabric, port, p_keys, 4), 4);
    assert_int_equal(p_keys[0], 0xFFFF);
    assert_int_equal(p_keys[1], 0);
    assert_int_equal(fabric_port_guid(world->fabric, port, 0),
                     world->topology.ports.items[port].guid);
    assert_int_equal(fabric_port_guid(world->fabric, port, 7), 0);
    assert_int_equal(fabric_port_guid(world->fabric, port, 8), 0);
    assert_int_equal(fabric_port_guid(world->fabric, outer, 1), 0);
    assert_int_equal(wire_get(fabric_node_info(world->fabric, star.target), NODE_INFO_NODE_GUID),
                     world->topology.nodes.items[star.target].guid);
    assert_ptr_equal(fabric_topology(world->fabric), &world->topology);
    world_end(&star.world);
}

static void deliveries_are_queued_in_order(void **state)
{
    (void)state;
    enum { MANY = 300 };
    struct star star;
    star_up(&star);
    struct fabric_delivery delivery;
    uint8_t mad[MAD_BYTES];
    uint64_t first = 0;
    for (unsigned i = 0; i < MANY; i++) { /* to itself: delivered at once */
        mad_fill(mad, CLASS_SUBN_LID, METHOD_GET, ATTRIBUTE_SM_INFO, 0);
        struct packet_header header =
            header_to(&star.world, mad, star.world.lids[star.world.manager]);
        fabric_send(star.world.fabric, star.world.manager, &header, mad);
        first = first ? first : wire_get(mad, MAD_TID);
        if (i % 3 == 2) { /* the ring buffer wraps while it grows */
            assert_true(fabric_next_delivery(star.world.fabric, &delivery));
            assert_int_equal(wire_get(delivery.mad, MAD_TID), first + i / 3);
        }
    }
    for (unsigned i = MANY / 3; i < MANY; i++) {
        assert_true(fabric_run_network(star.world.fabric, 0));
        assert_true(fabric_next_delivery(star.world.fabric, &delivery));
        assert_int_equal(wire_get(delivery.mad, MAD_TID), first + i);
    }
    assert_false(fabric_next_delivery(star.world.fabric, &delivery));
    world_end(&star.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sm_info_is_delivered_to_the_attached_consumer),
        cmocka_unit_test(a_consumer_can_answer_a_directed_request),
        cmocka_unit_test(requests_without_a_consumer_get_status_unsupported),
        cmocka_unit_test(other_methods_without_a_consumer_are_dropped),
        cmocka_unit_test(mads_to_the_wrong_queue_pair_or_lid_are_dropped),
        cmocka_unit_test(path_bits_select_only_lids_of_the_port),
        cmocka_unit_test(a_manager_sets_is_sm_and_causes_trap_144),
        cmocka_unit_test(a_manager_on_a_switch_sets_is_sm_of_port_0),
        cmocka_unit_test(an_end_port_drops_a_wrong_p_key_with_trap_257),
        cmocka_unit_test(an_end_port_drops_a_wrong_q_key_with_trap_258),
        cmocka_unit_test(a_transport_layer_reports_keys_by_the_traps_of_its_port),
        cmocka_unit_test(a_switch_enforces_partitions_where_enabled),
        cmocka_unit_test(outbound_enforcement_applies_to_packets_of_the_switch_itself),
        cmocka_unit_test(packets_of_an_sl_that_maps_to_vl_15_are_dropped),
        cmocka_unit_test(only_four_bits_of_an_sl_are_sent),
        cmocka_unit_test(attributes_of_a_port_can_be_read_without_mads),
        cmocka_unit_test(deliveries_are_queued_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
