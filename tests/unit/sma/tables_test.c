/* Tables: blocks are read as written, unknown blocks are refused, and look-ups of the data path
 * return the written values. */
#include "fixture.h"

static void fill(uint8_t data[SMP_DATA_BYTES], unsigned seed)
{
    for (unsigned i = 0; i < SMP_DATA_BYTES; i++)
        data[i] = (uint8_t)(i * 37 + seed * 101 + 7);
}

/* Writes and reads back each of these modifiers, then checks that none disturbed another. */
static void blocks_round_trip(struct sma *sma, unsigned attribute, const uint32_t *modifiers,
                              unsigned count, unsigned bytes, unsigned skip)
{
    uint8_t written[SMP_DATA_BYTES], read[SMP_DATA_BYTES];
    for (unsigned i = 0; i < count; i++) {
        fill(written, i);
        memcpy(read, written, sizeof read);
        assert_int_equal(set_through(sma, 1, attribute, modifiers[i], read), STATUS_OK);
        assert_memory_equal(written + skip, read + skip, bytes - skip);
    }
    for (unsigned i = 0; i < count; i++) {
        fill(written, i);
        assert_int_equal(get_through(sma, 1, attribute, modifiers[i], read), STATUS_OK);
        assert_memory_equal(written + skip, read + skip, bytes - skip);
    }
}

static void refused(struct sma *sma, unsigned attribute, uint32_t modifier)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    assert_int_equal(get_through(sma, 1, attribute, modifier, data), STATUS_BAD_VALUE);
    assert_int_equal(set_through(sma, 1, attribute, modifier, data), STATUS_BAD_VALUE);
}

static void set_top(struct sma *sma, unsigned top)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    wire_set(data, SWITCH_INFO_LINEAR_FDB_TOP, top);
    assert_int_equal(set_through(sma, 1, ATTRIBUTE_SWITCH_INFO, 0, data), STATUS_OK);
}

static void linear_blocks_are_read_as_written(void **state)
{
    static const uint32_t blocks[] = {0, 1, 2, 767};
    struct sma sma = a_switch();
    blocks_round_trip(&sma, ATTRIBUTE_LINEAR_FORWARDING_TABLE, blocks, 4, 64, 0);
    refused(&sma, ATTRIBUTE_LINEAR_FORWARDING_TABLE, 768);
    refused(&sma, ATTRIBUTE_LINEAR_FORWARDING_TABLE, UINT32_MAX);
    sma_release(&sma);
}

static void a_linear_table_that_ends_within_a_block_keeps_what_fits(void **state)
{
    struct sma_options options = plain_options();
    options.linear_entries = 100;
    struct sma sma;
    make_switch(&sma, &options);
    uint8_t data[SMP_DATA_BYTES];
    memset(data, 5, sizeof data);
    assert_int_equal(set_through(&sma, 1, ATTRIBUTE_LINEAR_FORWARDING_TABLE, 1, data), STATUS_OK);
    for (unsigned i = 0; i < SMP_DATA_BYTES; i++)
        assert_int_equal(data[i], i < 36 ? 5 : 0xFF);
    refused(&sma, ATTRIBUTE_LINEAR_FORWARDING_TABLE, 2);
    sma_release(&sma);
}

static void the_linear_top_limits_look_ups(void **state)
{
    struct sma sma = a_switch();
    uint8_t data[SMP_DATA_BYTES];
    memset(data, 5, sizeof data);
    assert_int_equal(set_through(&sma, 1, ATTRIBUTE_LINEAR_FORWARDING_TABLE, 0, data), STATUS_OK);
    assert_int_equal(sma_route_unicast(&sma, 10), 0xFF);
    set_top(&sma, 10);
    assert_int_equal(sma_route_unicast(&sma, 1), 5);
    assert_int_equal(sma_route_unicast(&sma, 10), 5);
    assert_int_equal(sma_route_unicast(&sma, 11), 0xFF);
    assert_int_equal(sma_route_unicast(&sma, 0), 0xFF);
    set_top(&sma, LID_UNICAST_LAST);
    assert_int_equal(sma_route_unicast(&sma, 63), 5);
    assert_int_equal(sma_route_unicast(&sma, 64), 0xFF); /* not written */
    assert_int_equal(sma_route_unicast(&sma, LID_UNICAST_LAST), 0xFF);
    assert_int_equal(sma_route_unicast(&sma, LID_MULTICAST_FIRST), 0xFF);
    assert_int_equal(sma_route_unicast(&sma, LID_PERMISSIVE), 0xFF);
    sma_release(&sma);
}

static void a_linear_table_uses_memory_up_to_its_highest_block(void **state)
{
    struct sma sma = a_switch();
    uint8_t data[SMP_DATA_BYTES], none[SMP_DATA_BYTES];
    memset(none, 0xFF, sizeof none);
    assert_int_equal(sma.linear_filled, 64);
    set_top(&sma, 70);
    assert_int_equal(sma.linear_filled, 128);
    memset(data, 5, sizeof data);
    assert_int_equal(set_through(&sma, 1, ATTRIBUTE_LINEAR_FORWARDING_TABLE, 9, data), STATUS_OK);
    assert_int_equal(sma.linear_filled, 640);
    for (unsigned block = 0; block < 768; block++) {
        assert_int_equal(get_through(&sma, 1, ATTRIBUTE_LINEAR_FORWARDING_TABLE, block, data),
                         STATUS_OK);
        if (block != 9)
            assert_memory_equal(data, none, sizeof data);
    }
    assert_int_equal(sma.linear_filled, 640);
    sma_release(&sma);
}

static struct sma random_switch(void)
{
    struct sma_options options = plain_options();
    options.linear_entries = 0;
    struct sma sma;
    make_switch(&sma, &options);
    return sma;
}

static void set_random(struct sma *sma, unsigned entry, bool valid, unsigned lid, unsigned lmc,
                       unsigned port)
{
    uint8_t data[SMP_DATA_BYTES];
    unsigned block = entry / 16, at = entry % 16;
    assert_int_equal(get_through(sma, 1, ATTRIBUTE_RANDOM_FORWARDING_TABLE, block, data),
                     STATUS_OK);
    wire_set_at(data, RANDOM_FORWARDING_TABLE_VALID, at, valid);
    wire_set_at(data, RANDOM_FORWARDING_TABLE_LID, at, lid);
    wire_set_at(data, RANDOM_FORWARDING_TABLE_LMC, at, lmc);
    wire_set_at(data, RANDOM_FORWARDING_TABLE_PORT, at, port);
    assert_int_equal(set_through(sma, 1, ATTRIBUTE_RANDOM_FORWARDING_TABLE, block, data),
                     STATUS_OK);
}

static void a_switch_has_a_linear_or_a_random_table(void **state)
{
    struct sma linear = a_switch(), random = random_switch();
    assert_int_equal(wire_get(linear.switch_info, SWITCH_INFO_LINEAR_FDB_CAP), 49152);
    assert_int_equal(wire_get(linear.switch_info, SWITCH_INFO_RANDOM_FDB_CAP), 0);
    assert_int_equal(wire_get(random.switch_info, SWITCH_INFO_LINEAR_FDB_CAP), 0);
    assert_int_equal(wire_get(random.switch_info, SWITCH_INFO_RANDOM_FDB_CAP), 64);
    refused(&linear, ATTRIBUTE_RANDOM_FORWARDING_TABLE, 0);
    refused(&random, ATTRIBUTE_LINEAR_FORWARDING_TABLE, 0);
    sma_release(&linear);
    sma_release(&random);
}

static void random_blocks_are_read_as_written(void **state)
{
    static const uint32_t blocks[] = {0, 1, 3};
    struct sma sma = random_switch();
    blocks_round_trip(&sma, ATTRIBUTE_RANDOM_FORWARDING_TABLE, blocks, 3, 64, 0);
    refused(&sma, ATTRIBUTE_RANDOM_FORWARDING_TABLE, 4);
    sma_release(&sma);
}

static void random_entries_cover_their_range_and_the_default_port_the_rest(void **state)
{
    struct sma sma = random_switch();
    uint8_t data[SMP_DATA_BYTES] = {0};
    set_random(&sma, 0, true, 40, 2, 7);
    set_random(&sma, 63, true, LID_UNICAST_LAST, 0, 8);
    set_random(&sma, 5, false, 50, 0, 9);
    assert_int_equal(sma_route_unicast(&sma, 39), 0xFF);
    for (unsigned lid = 40; lid < 44; lid++)
        assert_int_equal(sma_route_unicast(&sma, lid), 7);
    assert_int_equal(sma_route_unicast(&sma, 44), 0xFF);
    assert_int_equal(sma_route_unicast(&sma, LID_UNICAST_LAST), 8);
    assert_int_equal(sma_route_unicast(&sma, 50), 0xFF);
    wire_set(data, SWITCH_INFO_DEFAULT_PORT, 3);
    assert_int_equal(set_through(&sma, 1, ATTRIBUTE_SWITCH_INFO, 0, data), STATUS_OK);
    assert_int_equal(sma_route_unicast(&sma, 50), 3);
    assert_int_equal(sma_route_unicast(&sma, 41), 7);
    set_random(&sma, 0, false, 40, 2, 7);
    assert_int_equal(sma_route_unicast(&sma, 41), 3);
    sma_release(&sma);
}

static void a_random_range_at_the_end_of_the_lids_stays_within_them(void **state)
{
    struct sma sma = random_switch();
    set_random(&sma, 0, true, LID_PERMISSIVE, 7, 7);
    set_random(&sma, 1, true, 0, 7, 6);
    set_random(&sma, 2, true, LID_UNICAST_LAST, 7, 5);
    assert_int_equal(sma_route_unicast(&sma, 0), 0xFF);
    assert_int_equal(sma_route_unicast(&sma, 1), 6);
    assert_int_equal(sma_route_unicast(&sma, LID_UNICAST_LAST), 5);
    assert_int_equal(sma_route_unicast(&sma, LID_PERMISSIVE), 0xFF);
    sma_release(&sma);
}

static void multicast_blocks_are_read_as_written(void **state)
{
    static const uint32_t blocks[] = {0, 1, 2, 0x10000000, 0x10000002};
    struct sma sma = a_switch(); /* 20 ports: positions 0 and 1 */
    blocks_round_trip(&sma, ATTRIBUTE_MULTICAST_FORWARDING_TABLE, blocks, 5, 64, 0);
    refused(&sma, ATTRIBUTE_MULTICAST_FORWARDING_TABLE, 3);
    refused(&sma, ATTRIBUTE_MULTICAST_FORWARDING_TABLE, 0x1FF);
    refused(&sma, ATTRIBUTE_MULTICAST_FORWARDING_TABLE, 0x20000000);
    refused(&sma, ATTRIBUTE_MULTICAST_FORWARDING_TABLE, 0xF0000000);
    sma_release(&sma);
}

static void multicast_masks_select_the_ports(void **state)
{
    enum { GROUP = LID_MULTICAST_FIRST + 33 };
    struct sma sma = a_switch();
    uint8_t low[SMP_DATA_BYTES] = {0}, high[SMP_DATA_BYTES] = {0};
    wire_set_at(low, MULTICAST_FORWARDING_TABLE_PORT_MASK, 1, 1 << 15 | 1);
    wire_set_at(high, MULTICAST_FORWARDING_TABLE_PORT_MASK, 1, 1 << 4);
    assert_int_equal(set_through(&sma, 1, ATTRIBUTE_MULTICAST_FORWARDING_TABLE, 1, low), STATUS_OK);
    assert_int_equal(set_through(&sma, 1, ATTRIBUTE_MULTICAST_FORWARDING_TABLE, 0x10000001, high),
                     STATUS_OK);
    for (unsigned port = 0; port <= SWITCH_PORTS; port++) {
        assert_int_equal(sma_route_multicast(&sma, GROUP, port),
                         port == 0 || port == 15 || port == 20);
        assert_false(sma_route_multicast(&sma, GROUP + 1, port));
        assert_false(sma_route_multicast(&sma, LID_MULTICAST_FIRST + 96, port));
        assert_false(sma_route_multicast(&sma, LID_MULTICAST_LAST, port));
        assert_false(sma_route_multicast(&sma, 33, port));
    }
    sma_release(&sma);
}

static void the_multicast_top_limits_look_ups_once_it_is_set(void **state)
{
    struct sma sma = a_switch();
    uint8_t masks[SMP_DATA_BYTES], info[SMP_DATA_BYTES] = {0};
    memset(masks, 0xFF, sizeof masks);
    assert_int_equal(set_through(&sma, 1, ATTRIBUTE_MULTICAST_FORWARDING_TABLE, 0, masks),
                     STATUS_OK);
    assert_true(sma_route_multicast(&sma, LID_MULTICAST_FIRST + 31, 1));
    wire_set(info, SWITCH_INFO_MULTICAST_FDB_TOP, LID_MULTICAST_FIRST + 10);
    assert_int_equal(set_through(&sma, 1, ATTRIBUTE_SWITCH_INFO, 0, info), STATUS_OK);
    assert_true(sma_route_multicast(&sma, LID_MULTICAST_FIRST + 10, 1));
    assert_false(sma_route_multicast(&sma, LID_MULTICAST_FIRST + 11, 1));
    sma_release(&sma);
}

static void a_switch_without_multicast_has_no_multicast_blocks(void **state)
{
    struct sma_options options = plain_options();
    options.multicast_entries = 0;
    struct sma sma;
    make_switch(&sma, &options);
    refused(&sma, ATTRIBUTE_MULTICAST_FORWARDING_TABLE, 0);
    assert_false(sma_route_multicast(&sma, LID_MULTICAST_FIRST, 1));
    sma_release(&sma);
}

static void a_switch_maps_sls_to_vls_for_each_pair_of_ports(void **state)
{
    static const uint32_t pairs[] = {0x0000, 0x0102, 0x0201, 0x1414, 0x1400, 0x0014};
    struct sma sma = a_switch();
    blocks_round_trip(&sma, ATTRIBUTE_SL2VL_TABLE, pairs, 6, WIRE_BYTES_SL2VL_TABLE, 0);
    refused(&sma, ATTRIBUTE_SL2VL_TABLE, 0x0115);
    refused(&sma, ATTRIBUTE_SL2VL_TABLE, 0x1501);
    uint8_t data[SMP_DATA_BYTES] = {0};
    wire_set_at(data, SL2VL_TABLE_VL, 3, 6);
    wire_set_at(data, SL2VL_TABLE_VL, 15, 15);
    assert_int_equal(set_through(&sma, 1, ATTRIBUTE_SL2VL_TABLE, 0x0205, data), STATUS_OK);
    assert_int_equal(sma_map_sl(&sma, 2, 5, 3), 6);
    assert_int_equal(sma_map_sl(&sma, 2, 5, 15), 15);
    assert_int_equal(sma_map_sl(&sma, 5, 2, 3), 3); /* initial map: VL = SL */
    sma_release(&sma);
}

static void one_map_can_be_set_for_many_ports(void **state)
{
    enum { ALL_OUTPUTS = 0x10000, ALL_INPUTS = 0x20000 };
    struct sma_options options = plain_options();
    struct sma sma;
    uint8_t data[SMP_DATA_BYTES] = {0x55}, info[SMP_DATA_BYTES] = {0};
    options.sl2vl_wildcards = true;
    make_switch(&sma, &options);
    assert_int_equal(get_through(&sma, 1, ATTRIBUTE_SWITCH_INFO, 0, info), STATUS_OK);
    assert_int_equal(wire_get(info, SWITCH_INFO_OPTIMIZED_SL2VL), 1);
    assert_int_equal(set_through(&sma, 1, ATTRIBUTE_SL2VL_TABLE, ALL_INPUTS | 7, data), STATUS_OK);
    assert_int_equal(data[0], 0x55);
    for (unsigned input = 0; input <= SWITCH_PORTS; input++) {
        assert_int_equal(sma_map_sl(&sma, input, 7, 0), 5);
        assert_int_equal(sma_map_sl(&sma, input, 8, 0), 0);
    }
    data[0] = 0x44;
    assert_int_equal(set_through(&sma, 1, ATTRIBUTE_SL2VL_TABLE, ALL_OUTPUTS | 0x0300, data),
                     STATUS_OK);
    assert_int_equal(sma_map_sl(&sma, 3, 9, 0), 4);
    assert_int_equal(sma_map_sl(&sma, 4, 9, 0), 0);
    data[0] = 0x33;
    assert_int_equal(set_through(&sma, 1, ATTRIBUTE_SL2VL_TABLE, ALL_INPUTS | ALL_OUTPUTS, data),
                     STATUS_OK);
    assert_int_equal(sma_map_sl(&sma, 20, 20, 0), 3);
    refused(&sma, ATTRIBUTE_SL2VL_TABLE, ALL_INPUTS | 21);
    sma_release(&sma);
    sma = a_switch(); /* without wildcards */
    refused(&sma, ATTRIBUTE_SL2VL_TABLE, ALL_INPUTS | 7);
    sma_release(&sma);
}

static void an_adapter_maps_sls_to_vls_for_each_port(void **state)
{
    struct sma sma = an_adapter();
    uint8_t one[SMP_DATA_BYTES] = {0x11}, two[SMP_DATA_BYTES] = {0x22};
    assert_int_equal(set_through(&sma, 1, ATTRIBUTE_SL2VL_TABLE, 0, one), STATUS_OK);
    assert_int_equal(set_through(&sma, 2, ATTRIBUTE_SL2VL_TABLE, 0, two), STATUS_OK);
    assert_int_equal(sma_map_sl(&sma, 0, 1, 0), 1);
    assert_int_equal(sma_map_sl(&sma, 0, 2, 0), 2);
    sma_release(&sma);
}

static void arbitration_tables_are_read_as_written(void **state)
{
    static const uint32_t parts[] = {0x10000, 0x20000, 0x30000, 0x40000, 0x10014, 0x40014};
    struct sma sma = a_switch();
    blocks_round_trip(&sma, ATTRIBUTE_VL_ARBITRATION_TABLE, parts, 6, 64, 0);
    refused(&sma, ATTRIBUTE_VL_ARBITRATION_TABLE, 0x00001);
    refused(&sma, ATTRIBUTE_VL_ARBITRATION_TABLE, 0x50001);
    refused(&sma, ATTRIBUTE_VL_ARBITRATION_TABLE, 0x10015);
    sma_release(&sma);
}

static void arbitration_tables_of_32_entries_have_no_upper_halves(void **state)
{
    struct sma_options options = plain_options();
    options.vl_arbitration = 32;
    struct sma sma;
    uint8_t data[SMP_DATA_BYTES] = {0};
    make_switch(&sma, &options);
    assert_int_equal(get_through(&sma, 1, ATTRIBUTE_VL_ARBITRATION_TABLE, 0x10001, data),
                     STATUS_OK);
    assert_int_equal(get_through(&sma, 1, ATTRIBUTE_VL_ARBITRATION_TABLE, 0x30001, data),
                     STATUS_OK);
    refused(&sma, ATTRIBUTE_VL_ARBITRATION_TABLE, 0x20001);
    refused(&sma, ATTRIBUTE_VL_ARBITRATION_TABLE, 0x40001);
    sma_release(&sma);
}

static void p_key_blocks_are_read_as_written(void **state)
{
    static const uint32_t of_switch[] = {0, 1, 0x10000, 0x140001};
    static const uint32_t of_adapter[] = {0, 1};
    struct sma switch_agent = a_switch(), adapter = an_adapter();
    blocks_round_trip(&switch_agent, ATTRIBUTE_P_KEY_TABLE, of_switch, 4, 64, 0);
    blocks_round_trip(&adapter, ATTRIBUTE_P_KEY_TABLE, of_adapter, 2, 64, 0);
    refused(&switch_agent, ATTRIBUTE_P_KEY_TABLE, 2);
    refused(&switch_agent, ATTRIBUTE_P_KEY_TABLE, 0x150000);
    refused(&adapter, ATTRIBUTE_P_KEY_TABLE, 2);
    sma_release(&switch_agent);
    sma_release(&adapter);
}

static void p_keys_match_in_fifteen_bits_if_one_is_a_full_member(void **state)
{
    struct sma sma = an_adapter();
    uint8_t data[SMP_DATA_BYTES] = {0};
    assert_true(sma_accepts_p_key(&sma, 1, 0xFFFF)); /* initial table */
    wire_set_at(data, P_KEY_TABLE_P_KEY, 0, 0x8001);
    wire_set_at(data, P_KEY_TABLE_P_KEY, 31, 0x0002);
    assert_int_equal(set_through(&sma, 1, ATTRIBUTE_P_KEY_TABLE, 0, data), STATUS_OK);
    assert_true(sma_accepts_p_key(&sma, 1, 0x8001));
    assert_true(sma_accepts_p_key(&sma, 1, 0x0001));
    assert_true(sma_accepts_p_key(&sma, 1, 0x8002));
    assert_false(sma_accepts_p_key(&sma, 1, 0x0002)); /* two limited members */
    assert_false(sma_accepts_p_key(&sma, 1, 0x8003));
    assert_false(sma_accepts_p_key(&sma, 1, 0x8000)); /* no valid P_Key */
    assert_false(sma_accepts_p_key(&sma, 1, 0xFFFF));
    assert_true(sma_accepts_p_key(&sma, 2, 0xFFFF)); /* the other port has its own table */
    /* Packets of a limited member have its limited key. */
    assert_true(sma_may_send_p_key(&sma, 1, 0x8001));
    assert_true(sma_may_send_p_key(&sma, 1, 0x0002));
    assert_false(sma_may_send_p_key(&sma, 1, 0x8002));
    assert_false(sma_may_send_p_key(&sma, 1, 0x8003));
    assert_false(sma_may_send_p_key(&sma, 1, 0));
    assert_int_equal(sma_own_p_key(&sma, 1, 0x8002), 0x0002);
    assert_int_equal(sma_own_p_key(&sma, 1, 0x0001), 0x8001);
    assert_int_equal(sma_own_p_key(&sma, 1, 0x8003), 0x8003);
    assert_int_equal(sma_own_p_key(&sma, 1, 0), 0);
    sma_release(&sma);
}

static void guid_blocks_are_read_as_written_except_the_port_guid(void **state)
{
    static const uint32_t first[] = {0}, second[] = {1};
    struct sma sma = an_adapter();
    uint8_t data[SMP_DATA_BYTES] = {0};
    blocks_round_trip(&sma, ATTRIBUTE_GUID_INFO, first, 1, 64, 8);
    blocks_round_trip(&sma, ATTRIBUTE_GUID_INFO, second, 1, 64, 0);
    assert_int_equal(get_through(&sma, 1, ATTRIBUTE_GUID_INFO, 0, data), STATUS_OK);
    assert_int_equal(wire_get_at(data, GUID_INFO_GUID, 0), ADAPTER_GUID + 1);
    refused(&sma, ATTRIBUTE_GUID_INFO, 2);
    assert_int_equal(get_through(&sma, 2, ATTRIBUTE_GUID_INFO, 0, data), STATUS_OK);
    assert_int_equal(wire_get_at(data, GUID_INFO_GUID, 0), ADAPTER_GUID + 2);
    assert_int_equal(wire_get_at(data, GUID_INFO_GUID, 1), 0);
    sma_release(&sma);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_blocks_are_read_as_written),
        cmocka_unit_test(a_linear_table_that_ends_within_a_block_keeps_what_fits),
        cmocka_unit_test(the_linear_top_limits_look_ups),
        cmocka_unit_test(a_linear_table_uses_memory_up_to_its_highest_block),
        cmocka_unit_test(a_switch_has_a_linear_or_a_random_table),
        cmocka_unit_test(random_blocks_are_read_as_written),
        cmocka_unit_test(random_entries_cover_their_range_and_the_default_port_the_rest),
        cmocka_unit_test(a_random_range_at_the_end_of_the_lids_stays_within_them),
        cmocka_unit_test(multicast_blocks_are_read_as_written),
        cmocka_unit_test(multicast_masks_select_the_ports),
        cmocka_unit_test(the_multicast_top_limits_look_ups_once_it_is_set),
        cmocka_unit_test(a_switch_without_multicast_has_no_multicast_blocks),
        cmocka_unit_test(a_switch_maps_sls_to_vls_for_each_pair_of_ports),
        cmocka_unit_test(one_map_can_be_set_for_many_ports),
        cmocka_unit_test(an_adapter_maps_sls_to_vls_for_each_port),
        cmocka_unit_test(arbitration_tables_are_read_as_written),
        cmocka_unit_test(arbitration_tables_of_32_entries_have_no_upper_halves),
        cmocka_unit_test(p_key_blocks_are_read_as_written),
        cmocka_unit_test(p_keys_match_in_fifteen_bits_if_one_is_a_full_member),
        cmocka_unit_test(guid_blocks_are_read_as_written_except_the_port_guid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
