/* Set(PortInfo): valid and invalid values; a refused Set changes nothing; the state machine of
 * ports; PortStateChange. */
#include "base/mem.h"
#include "fixture.h"

/* A refused Set must leave every port, and the commands to the links, as they were. */
struct saved_state {
    uint8_t infos[SWITCH_PORTS + 1][64];
    uint32_t commands[8];
};

static void save_state(const struct sma *sma, struct saved_state *saved_state)
{
    memset(saved_state, 0, sizeof *saved_state);
    for (unsigned port = 0; port <= sma->port_count; port++)
        memcpy(saved_state->infos[port], sma->ports[port].info, 64);
    memcpy(saved_state->commands, sma->link_commands, sizeof saved_state->commands);
}

static void refuses(struct sma *sma, unsigned port, enum wire_field field, uint64_t value)
{
    struct saved_state before, after;
    save_state(sma, &before);
    assert_int_equal(set_port_field(sma, port, field, value), STATUS_BAD_VALUE);
    save_state(sma, &after);
    assert_memory_equal(&before, &after, sizeof before);
}

static void accepts(struct sma *sma, unsigned port, enum wire_field field, uint64_t value)
{
    assert_int_equal(set_port_field(sma, port, field, value), STATUS_OK);
    assert_int_equal(port_field(sma, port, field), value);
}

static void an_unknown_port_is_refused(void **state)
{
    struct sma sma = a_switch();
    uint8_t data[SMP_DATA_BYTES] = {0};
    assert_int_equal(get_through(&sma, 1, ATTRIBUTE_PORT_INFO, SWITCH_PORTS, data), STATUS_OK);
    assert_int_equal(get_through(&sma, 1, ATTRIBUTE_PORT_INFO, SWITCH_PORTS + 1, data),
                     STATUS_BAD_VALUE);
    assert_int_equal(set_through(&sma, 1, ATTRIBUTE_PORT_INFO, SWITCH_PORTS + 1, data),
                     STATUS_BAD_VALUE);
    assert_int_equal(get_through(&sma, 1, ATTRIBUTE_PORT_INFO, 0x100, data), STATUS_BAD_VALUE);
    sma_release(&sma);
}

static void bit_31_of_the_modifier_requests_extended_speeds_of_the_same_port(void **state)
{
    struct sma sma = a_switch();
    uint8_t plain[SMP_DATA_BYTES] = {0}, extended[SMP_DATA_BYTES] = {0};
    assert_int_equal(get_through(&sma, 1, ATTRIBUTE_PORT_INFO, 3, plain), STATUS_OK);
    assert_int_equal(get_through(&sma, 1, ATTRIBUTE_PORT_INFO, 0x80000003, extended), STATUS_OK);
    assert_memory_equal(plain, extended, sizeof plain);
    assert_int_equal(wire_get(plain, PORT_INFO_LINK_SPEED_EXT_SUPPORTED), SPEEDS_EXT);
    sma_release(&sma);
}

static void a_strict_agent_shows_extended_speeds_only_with_bit_31(void **state)
{
    static const enum wire_field fields[] = {
        PORT_INFO_LINK_SPEED_EXT_SUPPORTED, PORT_INFO_LINK_SPEED_EXT_ENABLED,
        PORT_INFO_LINK_SPEED_EXT_ACTIVE,    PORT_INFO_LINK_SPEED_EXT2_SUPPORTED,
        PORT_INFO_LINK_SPEED_EXT2_ENABLED,  PORT_INFO_LINK_SPEED_EXT2_ACTIVE};
    struct sma_options options = plain_options();
    struct sma sma;
    options.strict_speeds = true;
    make_switch(&sma, &options);
    sma_set_link_support(&sma, 3, WIDTHS, SPEEDS, 31, false);
    sma_link_up(&sma, 3, 2, 4, 16 | 8, false);
    uint8_t plain[SMP_DATA_BYTES] = {0}, extended[SMP_DATA_BYTES] = {0};
    assert_int_equal(get_through(&sma, 3, ATTRIBUTE_PORT_INFO, 3, plain), STATUS_OK);
    assert_int_equal(get_through(&sma, 3, ATTRIBUTE_PORT_INFO, 0x80000003, extended), STATUS_OK);
    assert_int_equal(wire_get(plain, PORT_INFO_LINK_SPEED_ACTIVE), 4);
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++) {
        assert_int_equal(wire_get(plain, fields[i]), 0);
        assert_int_not_equal(wire_get(extended, fields[i]), 0);
    }
    /* The same for Set: without the bit, the agent ignores the fields and shows nothing. */
    wire_set(extended, PORT_INFO_PORT_STATE, 0);
    wire_set(extended, PORT_INFO_PORT_PHYSICAL_STATE, 0);
    wire_set(extended, PORT_INFO_LINK_SPEED_EXT_ENABLED, 30);
    assert_int_equal(set_through(&sma, 3, ATTRIBUTE_PORT_INFO, 3, extended), STATUS_OK);
    assert_int_equal(wire_get(extended, PORT_INFO_LINK_SPEED_EXT_ACTIVE), 0);
    assert_int_equal(port_field(&sma, 3, PORT_INFO_LINK_SPEED_EXT_ENABLED), SPEEDS_EXT);
    sma_release(&sma);
}

static void xdr_can_be_disabled_and_enabled(void **state)
{
    enum wire_field field = PORT_INFO_LINK_SPEED_EXT2_ENABLED;
    struct sma sma = a_switch();
    sma_set_link_support(&sma, 2, WIDTHS, SPEEDS, 31, false);
    assert_int_equal(port_field(&sma, 2, field), 1);
    assert_int_equal(set_port_field(&sma, 2, field, 6), STATUS_OK);
    assert_int_equal(port_field(&sma, 2, field), 0);
    assert_int_equal(set_port_field(&sma, 2, field, 0), STATUS_OK);
    assert_int_equal(port_field(&sma, 2, field), 0);
    assert_int_equal(set_port_field(&sma, 2, field, 7), STATUS_OK);
    assert_int_equal(port_field(&sma, 2, field), 1);
    refuses(&sma, 2, field, 2);
    sma_release(&sma);
}

static void port_0_of_an_adapter_is_the_input_port(void **state)
{
    struct sma sma = an_adapter();
    uint8_t data[SMP_DATA_BYTES] = {0};
    set_lids(&sma, 1, 11, 1);
    set_lids(&sma, 2, 12, 1);
    assert_int_equal(get_through(&sma, 2, ATTRIBUTE_PORT_INFO, 0, data), STATUS_OK);
    assert_int_equal(wire_get(data, PORT_INFO_LID), 12);
    assert_int_equal(get_through(&sma, 2, ATTRIBUTE_PORT_INFO, 1, data), STATUS_OK);
    assert_int_equal(wire_get(data, PORT_INFO_LID), 11);
    assert_int_equal(wire_get(data, PORT_INFO_LOCAL_PORT_NUM), 2);
    sma_release(&sma);
}

static void lids_are_unicast(void **state)
{
    struct sma sma = an_adapter();
    accepts(&sma, 1, PORT_INFO_LID, 0); /* it has no LID yet */
    accepts(&sma, 1, PORT_INFO_LID, 1);
    accepts(&sma, 1, PORT_INFO_LID, LID_UNICAST_LAST);
    refuses(&sma, 1, PORT_INFO_LID, 0);
    refuses(&sma, 1, PORT_INFO_LID, LID_MULTICAST_FIRST);
    refuses(&sma, 1, PORT_INFO_LID, LID_PERMISSIVE);
    accepts(&sma, 1, PORT_INFO_MASTER_SM_LID, LID_UNICAST_LAST);
    refuses(&sma, 1, PORT_INFO_MASTER_SM_LID, LID_MULTICAST_FIRST);
    sma_release(&sma);
}

static void a_base_lid_is_a_multiple_of_its_range(void **state)
{
    struct sma sma = an_adapter();
    accepts(&sma, 1, PORT_INFO_LID, 12);
    accepts(&sma, 1, PORT_INFO_LMC, 2);
    refuses(&sma, 1, PORT_INFO_LMC, 3);
    refuses(&sma, 1, PORT_INFO_LID, 13);
    for (unsigned lid = 12; lid < 16; lid++)
        assert_true(sma_owns_lid(&sma, 1, lid));
    assert_false(sma_owns_lid(&sma, 1, 11));
    assert_false(sma_owns_lid(&sma, 1, 16));
    sma_release(&sma);
}

static void a_base_switch_port_0_has_no_lmc(void **state)
{
    struct sma sma = a_switch();
    refuses(&sma, 0, PORT_INFO_LMC, 1);
    wire_set(sma.switch_info, SWITCH_INFO_ENHANCED_PORT0, 1);
    accepts(&sma, 0, PORT_INFO_LMC, 1);
    sma_release(&sma);
}

static void external_ports_of_a_switch_ignore_end_port_fields(void **state)
{
    static const struct {
        enum wire_field field;
        uint64_t value;
    } ignored[] = {{PORT_INFO_LID, LID_PERMISSIVE},
                   {PORT_INFO_M_KEY, 7},
                   {PORT_INFO_LMC, 7},
                   {PORT_INFO_MASTER_SM_LID, 3},
                   {PORT_INFO_M_KEY_PROTECT_BITS, 3}};
    struct sma sma = a_switch();
    for (unsigned i = 0; i < sizeof ignored / sizeof ignored[0]; i++) {
        assert_int_equal(set_port_field(&sma, 4, ignored[i].field, ignored[i].value), STATUS_OK);
        assert_int_equal(port_field(&sma, 4, ignored[i].field), 0);
        assert_int_equal(port_field(&sma, 0, ignored[i].field), 0);
    }
    sma_release(&sma);
}

static void widths_beyond_the_supported_are_refused(void **state)
{
    struct sma sma = a_switch();
    accepts(&sma, 2, PORT_INFO_LINK_WIDTH_ENABLED, 1);
    refuses(&sma, 2, PORT_INFO_LINK_WIDTH_ENABLED, 4);
    refuses(&sma, 2, PORT_INFO_LINK_WIDTH_ENABLED, 254);
    assert_int_equal(set_port_field(&sma, 2, PORT_INFO_LINK_WIDTH_ENABLED, 0), STATUS_OK);
    assert_int_equal(port_field(&sma, 2, PORT_INFO_LINK_WIDTH_ENABLED), 1);
    assert_int_equal(set_port_field(&sma, 2, PORT_INFO_LINK_WIDTH_ENABLED, 255), STATUS_OK);
    assert_int_equal(port_field(&sma, 2, PORT_INFO_LINK_WIDTH_ENABLED), WIDTHS);
    sma_release(&sma);
}

static void speeds_beyond_the_supported_are_refused(void **state)
{
    struct sma sma = a_switch();
    sma_set_link_support(&sma, 2, WIDTHS, 3, 1, false); /* SDR, DDR and FDR */
    accepts(&sma, 2, PORT_INFO_LINK_SPEED_ENABLED, 1);
    refuses(&sma, 2, PORT_INFO_LINK_SPEED_ENABLED, 4);
    assert_int_equal(set_port_field(&sma, 2, PORT_INFO_LINK_SPEED_ENABLED, 0), STATUS_OK);
    assert_int_equal(port_field(&sma, 2, PORT_INFO_LINK_SPEED_ENABLED), 1);
    assert_int_equal(set_port_field(&sma, 2, PORT_INFO_LINK_SPEED_ENABLED, 15), STATUS_OK);
    assert_int_equal(port_field(&sma, 2, PORT_INFO_LINK_SPEED_ENABLED), 3);
    sma_release(&sma);
}

static void extended_speeds_have_their_own_codes_for_none_and_all(void **state)
{
    struct sma sma = a_switch();
    enum wire_field field = PORT_INFO_LINK_SPEED_EXT_ENABLED;
    accepts(&sma, 2, field, 3);
    refuses(&sma, 2, field, 16);
    assert_int_equal(set_port_field(&sma, 2, field, 0), STATUS_OK);
    assert_int_equal(port_field(&sma, 2, field), 3);
    assert_int_equal(set_port_field(&sma, 2, field, 30), STATUS_OK);
    assert_int_equal(port_field(&sma, 2, field), 0);
    assert_int_equal(set_port_field(&sma, 2, field, 31), STATUS_OK);
    assert_int_equal(port_field(&sma, 2, field), SPEEDS_EXT);
    sma_release(&sma);
}

static void speeds_beyond_edr_show_in_the_second_capability_mask(void **state)
{
    enum { MASK2_IS_USED = 1 << 15, EXTENDED_SPEEDS = 1 << 14 };
    const uint32_t links = CAPABILITY2_HDR | CAPABILITY2_NDR | CAPABILITY2_XDR |
                           CAPABILITY2_EXTENDED_SPEEDS2 | CAPABILITY2_LINK_WIDTH_2X;
    struct sma sma = a_switch();
    assert_int_equal(port_field(&sma, 0, PORT_INFO_CAPABILITY_MASK2) & links,
                     CAPABILITY2_HDR | CAPABILITY2_NDR);
    assert_true(port_field(&sma, 0, PORT_INFO_CAPABILITY_MASK) & MASK2_IS_USED);
    assert_true(port_field(&sma, 0, PORT_INFO_CAPABILITY_MASK) & EXTENDED_SPEEDS);
    sma_set_link_support(&sma, 1, WIDTHS | 16, SPEEDS, 31, false);
    assert_int_equal(port_field(&sma, 0, PORT_INFO_CAPABILITY_MASK2) & links, links);
    sma_release(&sma);
}

static void mtu_and_vls_stay_within_the_ports_capabilities(void **state)
{
    struct sma sma = a_switch(); /* 2048 bytes, 8 VLs: codes 4 and 4 */
    accepts(&sma, 3, PORT_INFO_NEIGHBOR_MTU, 1);
    accepts(&sma, 3, PORT_INFO_NEIGHBOR_MTU, 4);
    refuses(&sma, 3, PORT_INFO_NEIGHBOR_MTU, 5);
    refuses(&sma, 3, PORT_INFO_NEIGHBOR_MTU, 0);
    accepts(&sma, 3, PORT_INFO_OPERATIONAL_VLS, 2);
    refuses(&sma, 3, PORT_INFO_OPERATIONAL_VLS, 5);
    assert_int_equal(set_port_field(&sma, 3, PORT_INFO_OPERATIONAL_VLS, 0), STATUS_OK);
    assert_int_equal(port_field(&sma, 3, PORT_INFO_OPERATIONAL_VLS), 2);
    accepts(&sma, 3, PORT_INFO_LINK_DOWN_DEFAULT_STATE, PHYSICAL_SLEEP);
    refuses(&sma, 3, PORT_INFO_LINK_DOWN_DEFAULT_STATE, PHYSICAL_DISABLED);
    sma_release(&sma);
}

static void capabilities_cannot_be_written(void **state)
{
    static const enum wire_field fields[] = {
        PORT_INFO_MTU_CAP,           PORT_INFO_VL_CAP,
        PORT_INFO_CAPABILITY_MASK,   PORT_INFO_GUID_CAP,
        PORT_INFO_LINK_WIDTH_ACTIVE, PORT_INFO_LINK_WIDTH_SUPPORTED,
        PORT_INFO_RESP_TIME_VALUE};
    struct sma sma = an_adapter();
    for (unsigned i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        uint64_t before = port_field(&sma, 1, fields[i]);
        assert_int_equal(set_port_field(&sma, 1, fields[i], before ^ 1), STATUS_OK);
        assert_int_equal(port_field(&sma, 1, fields[i]), before);
    }
    sma_release(&sma);
}

/* States */

static void a_port_goes_from_init_to_armed_to_active(void **state)
{
    struct sma sma = an_adapter();
    link_up(&sma, 1);
    assert_int_equal(sma_port_state(&sma, 1), PORT_STATE_INIT);
    refuses(&sma, 1, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    accepts(&sma, 1, PORT_INFO_PORT_STATE, PORT_STATE_ARMED);
    accepts(&sma, 1, PORT_INFO_PORT_STATE, PORT_STATE_ARMED);
    accepts(&sma, 1, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    accepts(&sma, 1, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    refuses(&sma, 1, PORT_INFO_PORT_STATE, PORT_STATE_ARMED);
    assert_int_equal(sma_port_state(&sma, 1), PORT_STATE_ACTIVE);
    sma_release(&sma);
}

static void a_port_that_is_down_can_be_neither_armed_nor_active(void **state)
{
    struct sma sma = an_adapter();
    refuses(&sma, 1, PORT_INFO_PORT_STATE, PORT_STATE_ARMED);
    refuses(&sma, 1, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    refuses(&sma, 1, PORT_INFO_PORT_STATE, 5);
    sma_release(&sma);
}

static void init_cannot_be_set(void **state)
{
    struct sma sma = an_adapter();
    link_up(&sma, 1);
    refuses(&sma, 1, PORT_INFO_PORT_STATE, PORT_STATE_INIT);
    sma.options.port_init = true; /* as in the papers */
    accepts(&sma, 1, PORT_INFO_PORT_STATE, PORT_STATE_ARMED);
    accepts(&sma, 1, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    accepts(&sma, 1, PORT_INFO_PORT_STATE, PORT_STATE_INIT);
    refuses(&sma, 2, PORT_INFO_PORT_STATE, PORT_STATE_INIT); /* it is down */
    sma_release(&sma);
}

static void no_change_changes_no_state(void **state)
{
    struct sma sma = an_adapter();
    link_up(&sma, 1);
    assert_int_equal(set_port_field(&sma, 1, PORT_INFO_VL_HIGH_LIMIT, 3), STATUS_OK);
    assert_int_equal(sma_port_state(&sma, 1), PORT_STATE_INIT);
    assert_int_equal(port_field(&sma, 1, PORT_INFO_PORT_PHYSICAL_STATE), PHYSICAL_LINK_UP);
    no_output(&sma, 0);
    sma_release(&sma);
}

static void commands_link(struct sma *sma, unsigned port, unsigned physical)
{
    struct sma_output output;
    assert_true(sma_next_output(sma, 0, &output));
    assert_int_equal(output.kind, SMA_LINK_COMMAND);
    assert_int_equal(output.port, port);
    assert_int_equal(output.physical_state, physical);
    no_output(sma, 0);
}

static void down_puts_the_link_into_its_default_state(void **state)
{
    struct sma sma = a_switch();
    link_up(&sma, 9);
    assert_int_equal(set_port_field(&sma, 9, PORT_INFO_PORT_STATE, PORT_STATE_DOWN), STATUS_OK);
    assert_int_equal(sma_port_state(&sma, 9), PORT_STATE_DOWN);
    commands_link(&sma, 9, PHYSICAL_POLLING);
    assert_int_equal(set_port_field(&sma, 9, PORT_INFO_LINK_DOWN_DEFAULT_STATE, PHYSICAL_SLEEP),
                     STATUS_OK);
    link_up(&sma, 9);
    assert_int_equal(set_port_field(&sma, 9, PORT_INFO_PORT_STATE, PORT_STATE_DOWN), STATUS_OK);
    commands_link(&sma, 9, PHYSICAL_SLEEP);
    sma_release(&sma);
}

static void physical_states_are_commands_to_the_link(void **state)
{
    struct sma sma = a_switch();
    link_up(&sma, 9);
    assert_int_equal(set_port_field(&sma, 9, PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_DISABLED),
                     STATUS_OK);
    assert_int_equal(sma_port_state(&sma, 9), PORT_STATE_DOWN);
    commands_link(&sma, 9, PHYSICAL_DISABLED);
    assert_int_equal(set_port_field(&sma, 9, PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_POLLING),
                     STATUS_OK);
    commands_link(&sma, 9, PHYSICAL_POLLING);
    refuses(&sma, 9, PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_TRAINING);
    refuses(&sma, 9, PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_LINK_UP);
    sma_release(&sma);
}

static void a_port_state_and_a_physical_command_exclude_each_other(void **state)
{
    struct sma sma = an_adapter();
    uint8_t data[SMP_DATA_BYTES];
    link_up(&sma, 1);
    memcpy(data, sma.ports[1].info, sizeof data);
    wire_set(data, PORT_INFO_PORT_STATE, PORT_STATE_ARMED);
    wire_set(data, PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_POLLING);
    assert_int_equal(set_through(&sma, 1, ATTRIBUTE_PORT_INFO, 1, data), STATUS_BAD_VALUE);
    assert_int_equal(sma_port_state(&sma, 1), PORT_STATE_INIT);
    no_output(&sma, 0);
    sma_release(&sma);
}

static void port_0_of_a_switch_is_always_active(void **state)
{
    struct sma sma = a_switch();
    assert_int_equal(sma_port_state(&sma, 0), PORT_STATE_ACTIVE);
    refuses(&sma, 0, PORT_INFO_PORT_STATE, PORT_STATE_DOWN);
    assert_int_equal(set_port_field(&sma, 0, PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_DISABLED),
                     STATUS_OK);
    assert_int_equal(sma_port_state(&sma, 0), PORT_STATE_ACTIVE);
    no_output(&sma, 0);
    sma_release(&sma);
}

static void link_commands_are_output_in_the_order_of_ports(void **state)
{
    struct sma sma;
    struct sma_options options = plain_options();
    struct sma_output output;
    sma_init(&sma, &(struct sma_identity){.kind = SWITCH, .port_count = 254, .description = "wide"},
             &options);
    static const unsigned ports[] = {254, 1, 33, 31, 32};
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(set_port_field(&sma, ports[i], PORT_INFO_PORT_STATE, PORT_STATE_DOWN),
                         STATUS_OK);
    static const unsigned ordered[] = {1, 31, 32, 33, 254};
    for (unsigned i = 0; i < 5; i++) {
        assert_true(sma_next_output(&sma, 0, &output));
        assert_int_equal(output.port, ordered[i]);
    }
    no_output(&sma, 0);
    sma_release(&sma);
}

static void new_widths_restart_a_polling_port(void **state)
{
    struct sma sma = a_switch();
    link_up(&sma, 5);
    accepts(&sma, 5, PORT_INFO_LINK_WIDTH_ENABLED, 1); /* takes effect when the link next trains */
    no_output(&sma, 0);
    accepts(&sma, 6, PORT_INFO_LINK_WIDTH_ENABLED, 1);
    commands_link(&sma, 6, PHYSICAL_POLLING);
    accepts(&sma, 6, PORT_INFO_LINK_WIDTH_ENABLED, 1);
    no_output(&sma, 0);
    sma_release(&sma);
}

/* PortStateChange */

static uint64_t state_change(struct sma *sma)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    assert_int_equal(get_through(sma, 1, ATTRIBUTE_SWITCH_INFO, 0, data), STATUS_OK);
    return wire_get(data, SWITCH_INFO_PORT_STATE_CHANGE);
}

static void write_state_change(struct sma *sma, uint64_t value)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    assert_int_equal(get_through(sma, 1, ATTRIBUTE_SWITCH_INFO, 0, data), STATUS_OK);
    wire_set(data, SWITCH_INFO_PORT_STATE_CHANGE, value);
    assert_int_equal(set_through(sma, 1, ATTRIBUTE_SWITCH_INFO, 0, data), STATUS_OK);
}

static void port_state_change_is_cleared_by_writing_one(void **state)
{
    struct sma sma = a_switch();
    assert_int_equal(state_change(&sma), 0);
    link_up(&sma, 1);
    assert_int_equal(state_change(&sma), 1);
    write_state_change(&sma, 0);
    assert_int_equal(state_change(&sma), 1);
    write_state_change(&sma, 1);
    assert_int_equal(state_change(&sma), 0);
    sma_link_down(&sma, 1, PHYSICAL_POLLING);
    assert_int_equal(state_change(&sma), 1);
    sma_release(&sma);
}

static void port_state_change_cannot_be_set_by_writing(void **state)
{
    struct sma sma = a_switch();
    write_state_change(&sma, 1);
    assert_int_equal(state_change(&sma), 0);
    sma_release(&sma);
}

static void a_state_set_by_a_manager_is_not_a_state_change(void **state)
{
    struct sma sma = a_switch();
    link_up(&sma, 1);
    write_state_change(&sma, 1);
    accepts(&sma, 1, PORT_INFO_PORT_STATE, PORT_STATE_ARMED);
    accepts(&sma, 1, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    assert_int_equal(set_port_field(&sma, 1, PORT_INFO_PORT_STATE, PORT_STATE_DOWN), STATUS_OK);
    sma_link_down(&sma, 1, PHYSICAL_POLLING); /* the physical layer executes it */
    assert_int_equal(state_change(&sma), 0);
    assert_int_equal(sma.ports[1].counters.total[COUNTER_LINK_DOWNED], 0);
    link_up(&sma, 1); /* not commanded by the manager */
    assert_int_equal(state_change(&sma), 1);
    sma_release(&sma);
}

static void a_lost_link_is_counted(void **state)
{
    struct sma sma = a_switch();
    link_up(&sma, 1);
    sma_link_down(&sma, 1, PHYSICAL_POLLING);
    assert_int_equal(sma.ports[1].counters.total[COUNTER_LINK_DOWNED], 1);
    assert_int_equal(sma_port_state(&sma, 1), PORT_STATE_DOWN);
    assert_int_equal(port_field(&sma, 1, PORT_INFO_LINK_SPEED_EXT_ACTIVE), 0);
    sma_release(&sma);
}

static void switch_info_refuses_a_top_beyond_its_table(void **state)
{
    struct sma_options options = plain_options();
    options.linear_entries = 1024;
    struct sma sma;
    make_switch(&sma, &options);
    uint8_t data[SMP_DATA_BYTES] = {0}, before[sizeof sma.switch_info];
    memcpy(before, sma.switch_info, sizeof before);
    wire_set(data, SWITCH_INFO_LIFE_TIME_VALUE, 3);
    wire_set(data, SWITCH_INFO_LINEAR_FDB_TOP, 1024);
    assert_int_equal(set_through(&sma, 1, ATTRIBUTE_SWITCH_INFO, 0, data), STATUS_BAD_VALUE);
    assert_memory_equal(before, sma.switch_info, sizeof before);
    memset(data, 0, sizeof data);
    wire_set(data, SWITCH_INFO_LINEAR_FDB_TOP, 1023);
    wire_set(data, SWITCH_INFO_LINEAR_FDB_CAP, 7);
    assert_int_equal(set_through(&sma, 1, ATTRIBUTE_SWITCH_INFO, 0, data), STATUS_OK);
    assert_int_equal(wire_get(data, SWITCH_INFO_LINEAR_FDB_TOP), 1023);
    assert_int_equal(wire_get(data, SWITCH_INFO_LINEAR_FDB_CAP), 1024);
    sma_release(&sma);
}

static void random_bytes_in_a_refused_set_change_nothing(void **state)
{
    struct sma sma = a_switch();
    uint32_t x = 12345;
    unsigned refused = 0;
    for (unsigned round = 0; round < 20000; round++) {
        uint8_t data[SMP_DATA_BYTES];
        struct saved_state before, after;
        memcpy(data, sma.ports[round % 21].info, sizeof data);
        for (unsigned i = 0; i < 3; i++) {
            x = x * 1664525 + 1013904223;
            data[x >> 16 & 63] = (uint8_t)(x >> 8);
        }
        wire_set(data, PORT_INFO_M_KEY, 0); /* or the next round fails */
        save_state(&sma, &before);
        if (set_through(&sma, 1, ATTRIBUTE_PORT_INFO, round % 21, data) == STATUS_OK)
            continue;
        refused++;
        save_state(&sma, &after);
        assert_memory_equal(&before, &after, sizeof before);
    }
    assert_in_range(refused, 1000, 20000);
    sma_release(&sma);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_port_is_refused),
        cmocka_unit_test(bit_31_of_the_modifier_requests_extended_speeds_of_the_same_port),
        cmocka_unit_test(a_strict_agent_shows_extended_speeds_only_with_bit_31),
        cmocka_unit_test(xdr_can_be_disabled_and_enabled),
        cmocka_unit_test(port_0_of_an_adapter_is_the_input_port),
        cmocka_unit_test(lids_are_unicast),
        cmocka_unit_test(a_base_lid_is_a_multiple_of_its_range),
        cmocka_unit_test(a_base_switch_port_0_has_no_lmc),
        cmocka_unit_test(external_ports_of_a_switch_ignore_end_port_fields),
        cmocka_unit_test(widths_beyond_the_supported_are_refused),
        cmocka_unit_test(speeds_beyond_the_supported_are_refused),
        cmocka_unit_test(extended_speeds_have_their_own_codes_for_none_and_all),
        cmocka_unit_test(speeds_beyond_edr_show_in_the_second_capability_mask),
        cmocka_unit_test(mtu_and_vls_stay_within_the_ports_capabilities),
        cmocka_unit_test(capabilities_cannot_be_written),
        cmocka_unit_test(a_port_goes_from_init_to_armed_to_active),
        cmocka_unit_test(a_port_that_is_down_can_be_neither_armed_nor_active),
        cmocka_unit_test(init_cannot_be_set),
        cmocka_unit_test(no_change_changes_no_state),
        cmocka_unit_test(down_puts_the_link_into_its_default_state),
        cmocka_unit_test(physical_states_are_commands_to_the_link),
        cmocka_unit_test(a_port_state_and_a_physical_command_exclude_each_other),
        cmocka_unit_test(port_0_of_a_switch_is_always_active),
        cmocka_unit_test(link_commands_are_output_in_the_order_of_ports),
        cmocka_unit_test(new_widths_restart_a_polling_port),
        cmocka_unit_test(port_state_change_is_cleared_by_writing_one),
        cmocka_unit_test(port_state_change_cannot_be_set_by_writing),
        cmocka_unit_test(a_state_set_by_a_manager_is_not_a_state_change),
        cmocka_unit_test(a_lost_link_is_counted),
        cmocka_unit_test(switch_info_refuses_a_top_beyond_its_table),
        cmocka_unit_test(random_bytes_in_a_refused_set_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
