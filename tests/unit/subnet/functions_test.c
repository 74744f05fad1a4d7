/* Virtual functions: known state from answers of vSwitches, wanted state from requests. */
#include "hypervisors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MACHINE = 0xabc };

static const struct subnet_port *port_of(const struct subnet *subnet, unsigned host, unsigned vf)
{
    uint32_t port = functions_port(subnet, hypervisors_vf_port(subnet, host, vf));
    return port == SUBNET_NONE ? NULL : &subnet->ports.items[port];
}

static void only_vf_ports_have_a_function(void **state)
{
    struct subnet subnet;
    unsigned count = 0;
    hypervisors_init(&subnet, false);
    for (uint32_t port = 0; port < subnet.ports.count; port++) {
        const struct virtual_function *function = functions_at(&subnet, port);
        count += function != NULL;
        assert_true(!function || function->vf_port == port);
    }
    assert_int_equal(count, HYPERVISORS * VFS);
    subnet_release(&subnet);
}

static void a_function_that_is_up_has_the_settings_of_its_pf(void **state)
{
    struct subnet subnet;
    hypervisors_init(&subnet, false);
    assert_true(hypervisors_answer(&subnet, 1, 2, 77, 0));
    const struct subnet_port *port = port_of(&subnet, 1, 2);
    assert_non_null(port);
    assert_true(port->known);
    assert_int_equal(wire_get(port->info, PORT_INFO_LID), 77);
    assert_int_equal(wire_get(port->info, PORT_INFO_MASTER_SM_LID), MANAGER_LID);
    assert_int_equal(port->guid, hypervisors_guid(1, 2));
    assert_string_equal(subnet.nodes.items[port->node].description, "host1-vf2");
    assert_int_equal(port->peer, hypervisors_vf_port(&subnet, 1, 2));
    subnet_release(&subnet);
}

static void with_dynamic_lids_a_function_without_one_has_no_node(void **state)
{
    struct subnet subnet;
    hypervisors_init(&subnet, true);
    hypervisors_answer(&subnet, 0, 1, 0, 0);
    assert_null(port_of(&subnet, 0, 1));
    hypervisors_answer(&subnet, 0, 1, 50, MACHINE);
    assert_int_not_equal(subnet.ports.items[hypervisors_vf_port(&subnet, 0, 1)].peer, SUBNET_NONE);
    hypervisors_answer(&subnet, 0, 1, 0, 0);
    assert_int_equal(subnet.ports.items[hypervisors_vf_port(&subnet, 0, 1)].peer, SUBNET_NONE);
    assert_false(
        subnet_is_present(&subnet, functions_port(&subnet, hypervisors_vf_port(&subnet, 0, 1))));
    subnet_release(&subnet);
}

static void a_function_with_the_guid_of_another_node_is_left_out(void **state)
{
    struct subnet subnet;
    hypervisors_init(&subnet, false);
    subnet_add_node(&subnet, hypervisors_guid(0, 1), SUBNET_SWITCH, 4);
    assert_false(hypervisors_answer(&subnet, 0, 1, 50, 0));
    subnet_release(&subnet);
}

static void a_function_without_its_wanted_lid_must_be_written(void **state)
{
    struct subnet subnet;
    struct function_setting wanted;
    hypervisors_init(&subnet, false);
    uint32_t vf_port = hypervisors_vf_port(&subnet, 0, 1);
    hypervisors_answer(&subnet, 0, 1, 0, 0);
    assert_false(functions_differ(&subnet, vf_port, &wanted)); /* no LID is assigned yet */
    subnet_set_lid(&subnet, functions_port(&subnet, vf_port), 60, 0);
    assert_true(functions_differ(&subnet, vf_port, &wanted));
    assert_int_equal(wanted.lid, 60);
    assert_false(wanted.attached);
    hypervisors_answer(&subnet, 0, 1, 60, 0);
    assert_false(functions_differ(&subnet, vf_port, &wanted));
    subnet_release(&subnet);
}

/* ---- requests ---- */

static void a_requested_setting_is_wanted_until_it_has_an_outcome(void **state)
{
    struct subnet subnet;
    struct function_setting wanted, asked = {.lid = 60, .attached = true, .guid = MACHINE};
    hypervisors_init(&subnet, false);
    hypervisors_populate(&subnet);
    subnet.functions.lmc = 2;
    uint32_t vf_port = hypervisors_vf_port(&subnet, 0, 1);
    assert_true(functions_is_free(&subnet, vf_port));
    functions_want(&subnet, vf_port, &asked);
    assert_false(functions_is_free(&subnet, vf_port));
    assert_true(functions_differ(&subnet, vf_port, &wanted));
    assert_true(wanted.attached && wanted.lid == 60 && wanted.lmc == 2 && wanted.guid == MACHINE);
    assert_int_equal(functions_outcome(&subnet, vf_port), FUNCTION_PENDING);
    functions_at(&subnet, vf_port)->outcome = FUNCTION_REFUSED;
    assert_false(functions_differ(&subnet, vf_port, &wanted));
    uint64_t holds_ended = subnet.functions.holds_ended;
    functions_end_hold(&subnet, vf_port);
    assert_true(functions_is_free(&subnet, vf_port));
    assert_true(subnet.functions.holds_ended > holds_ended); /* its P_Keys are planned again */
    subnet_release(&subnet);
}

static void keys_are_done_when_their_blocks_are_confirmed(void **state)
{
    struct subnet subnet;
    uint8_t block[BLOCK_BYTES] = {1};
    hypervisors_init(&subnet, false);
    hypervisors_populate(&subnet);
    uint32_t vf_port = hypervisors_vf_port(&subnet, 0, 1), port = functions_port(&subnet, vf_port);
    functions_at(&subnet, vf_port)->held = true;
    functions_want_keys(&subnet, vf_port, MACHINE);
    assert_int_equal(functions_outcome(&subnet, vf_port), FUNCTION_PENDING);
    blocks_want(&subnet.blocks, port, BLOCK_PARTITIONS, 0, block);
    functions_at(&subnet, vf_port)->outcome = FUNCTION_DONE; /* the keys are planned */
    assert_int_equal(functions_outcome(&subnet, vf_port), FUNCTION_PENDING);
    uint32_t row = blocks_take(&subnet.blocks);
    assert_true(functions_is_busy(&subnet, vf_port));
    blocks_set_actual(&subnet.blocks, row, block); /* and confirmed */
    assert_int_equal(functions_outcome(&subnet, vf_port), FUNCTION_DONE);
    assert_false(functions_is_busy(&subnet, vf_port));
    subnet_remove_node(&subnet, hypervisors_node(&subnet, 0));
    assert_int_equal(functions_outcome(&subnet, vf_port), FUNCTION_LOST);
    subnet_release(&subnet);
}

/* ---- machines ---- */

static void a_vm_is_at_the_function_that_reports_it(void **state)
{
    struct subnet subnet;
    hypervisors_init(&subnet, false);
    assert_int_equal(functions_find_vm(&subnet, MACHINE), SUBNET_NONE);
    hypervisors_answer(&subnet, 0, 1, 50, MACHINE);
    assert_int_equal(functions_find_vm(&subnet, MACHINE), hypervisors_vf_port(&subnet, 0, 1));
    hypervisors_answer(&subnet, 0, 1, 50, 0);
    assert_int_equal(functions_find_vm(&subnet, MACHINE), SUBNET_NONE);
    subnet_release(&subnet);
}

static void a_vm_is_at_the_second_function_when_the_first_loses_it(void **state)
{
    struct subnet subnet;
    hypervisors_init(&subnet, false);
    hypervisors_answer(&subnet, 0, 1, 50, MACHINE);
    hypervisors_answer(&subnet, 2, 2, 50, MACHINE);
    assert_int_equal(functions_find_vm(&subnet, MACHINE), hypervisors_vf_port(&subnet, 0, 1));
    assert_int_equal(subnet.functions.contested.count, 1);
    hypervisors_answer(&subnet, 0, 1, 50, 0);
    assert_int_equal(functions_find_vm(&subnet, MACHINE), hypervisors_vf_port(&subnet, 2, 2));
    subnet_release(&subnet);
}

static void a_vm_that_migrates_is_at_the_new_function_at_once(void **state)
{
    struct subnet subnet;
    hypervisors_init(&subnet, false);
    hypervisors_answer(&subnet, 0, 1, 50, MACHINE);
    functions_at(&subnet, hypervisors_vf_port(&subnet, 0, 1))->held = true;
    functions_at(&subnet, hypervisors_vf_port(&subnet, 1, 1))->held = true;
    hypervisors_answer(&subnet, 1, 1, 50, MACHINE);
    assert_int_equal(functions_find_vm(&subnet, MACHINE), hypervisors_vf_port(&subnet, 1, 1));
    assert_int_equal(subnet.functions.contested.count, 0);
    subnet_release(&subnet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_vf_ports_have_a_function),
        cmocka_unit_test(a_function_that_is_up_has_the_settings_of_its_pf),
        cmocka_unit_test(with_dynamic_lids_a_function_without_one_has_no_node),
        cmocka_unit_test(a_function_with_the_guid_of_another_node_is_left_out),
        cmocka_unit_test(a_function_without_its_wanted_lid_must_be_written),
        cmocka_unit_test(a_requested_setting_is_wanted_until_it_has_an_outcome),
        cmocka_unit_test(keys_are_done_when_their_blocks_are_confirmed),
        cmocka_unit_test(a_vm_is_at_the_function_that_reports_it),
        cmocka_unit_test(a_vm_is_at_the_second_function_when_the_first_loses_it),
        cmocka_unit_test(a_vm_that_migrates_is_at_the_new_function_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
