/* Addresses of virtual functions and VMs. */
#include "hypervisors.h"
#include "vswitch/model/addresses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MACHINE = 0xabc, LID = 50 };

/* Sets the LFT entry of the switch for the LID to this hypervisor. */
static void lead_to(struct subnet *subnet, uint16_t lid, unsigned host)
{
    struct subnet_tables *tables = subnet->nodes.items[hypervisors_switch(subnet)].tables;
    subnet_extend_tables(tables, lid + 1u);
    tables->actual[lid] = (uint8_t)(host + 1);
    tables->known[lid / LFT_BLOCK / 64] |= UINT64_C(1) << (lid / LFT_BLOCK % 64);
}

static void show_twice(struct subnet *subnet, bool dynamic)
{
    hypervisors_init(subnet, dynamic);
    hypervisors_answer(subnet, 0, 1, LID, MACHINE);
    hypervisors_answer(subnet, 1, 1, LID, MACHINE);
}

static void check_eviction(struct subnet *subnet, unsigned from, unsigned stays)
{
    struct function_setting wanted;
    uint32_t vf_port = hypervisors_vf_port(subnet, from, 1);
    assert_int_equal(addresses_evict_next(subnet), vf_port);
    assert_int_equal(addresses_evict_next(subnet), SUBNET_NONE);
    assert_int_equal(functions_find_vm(subnet, MACHINE), hypervisors_vf_port(subnet, stays, 1));
    assert_true(functions_differ(subnet, vf_port, &wanted)); /* the VM must be detached */
    assert_true(!wanted.attached && wanted.guid == 0 && wanted.lid != LID);
    assert_false(functions_is_free(subnet, vf_port));
    hypervisors_answer(subnet, stays, 1, LID, MACHINE);
    assert_false(functions_at(subnet, hypervisors_vf_port(subnet, stays, 1))->evicted);
}

static void of_two_functions_of_a_vm_the_lfts_decide(void **state)
{
    for (unsigned dynamic = 0; dynamic < 2; dynamic++)
        for (unsigned used = 0; used < 2; used++) {
            struct subnet subnet;
            show_twice(&subnet, dynamic);
            lead_to(&subnet, LID, used);
            check_eviction(&subnet, 1 - used, used);
            subnet_release(&subnet);
        }
}

static void a_function_with_a_wanted_lid_wins_over_a_new_one(void **state)
{
    struct subnet subnet;
    show_twice(&subnet, false);
    lead_to(&subnet, LID, 1);
    subnet_set_lid(&subnet, functions_port(&subnet, hypervisors_vf_port(&subnet, 0, 1)), LID, 0);
    check_eviction(&subnet, 1, 0);
    subnet_release(&subnet);
}

static void a_function_of_an_absent_hypervisor_does_not_win(void **state)
{
    struct subnet subnet;
    show_twice(&subnet, false);
    subnet_remove_node(&subnet, hypervisors_node(&subnet, 0));
    assert_int_equal(addresses_evict_next(&subnet), SUBNET_NONE);
    assert_int_equal(functions_find_vm(&subnet, MACHINE), hypervisors_vf_port(&subnet, 1, 1));
    subnet_release(&subnet);
}

static void a_vm_at_three_functions_is_evicted_from_two(void **state)
{
    struct subnet subnet;
    show_twice(&subnet, false);
    hypervisors_answer(&subnet, 2, 1, LID, MACHINE);
    lead_to(&subnet, LID, 1);
    unsigned evicted = 0;
    while (addresses_evict_next(&subnet) != SUBNET_NONE)
        evicted++;
    assert_int_equal(evicted, 2);
    assert_int_equal(functions_find_vm(&subnet, MACHINE), hypervisors_vf_port(&subnet, 1, 1));
    subnet_release(&subnet);
}

static void a_vswitch_has_the_lid_of_its_physical_function(void **state)
{
    struct subnet subnet;
    hypervisors_init(&subnet, false);
    addresses_share(&subnet);
    for (unsigned host = 0; host < HYPERVISORS; host++)
        assert_int_equal(subnet_port_at(&subnet, hypervisors_node(&subnet, host), 0)->lid,
                         PF_LID + host);
    subnet_release(&subnet);
}

static void free_lids_are_assigned_round_robin(void **state)
{
    struct subnet subnet;
    uint16_t next = LID_UNICAST_LAST;
    hypervisors_init(&subnet, true);
    assert_int_equal(addresses_next_free(&subnet, &next), LID_UNICAST_LAST);
    assert_int_equal(addresses_next_free(&subnet, &next), 3); /* 1 and 2 are in use */
    subnet.functions.lmc = 3;
    next = 0;
    assert_int_equal(addresses_next_free(&subnet, &next), 16); /* PFs are from 10 on */
    assert_int_equal(addresses_next_free(&subnet, &next), 24);
    for (uint32_t lid = 1; lid <= LID_UNICAST_LAST; lid++)
        subnet.by_lid[lid] = 0;
    assert_int_equal(addresses_next_free(&subnet, &next), 0);
    subnet_release(&subnet);
}

static void reserved_lids_are_assigned_last(void **state)
{
    struct subnet subnet;
    uint16_t next = 3;
    hypervisors_init(&subnet, true);
    subnet_reserve_lids(&subnet, 4, 1);
    assert_int_equal(addresses_next_free(&subnet, &next), 3);
    assert_int_equal(addresses_next_free(&subnet, &next), 6);
    for (uint32_t lid = 6; lid <= LID_UNICAST_LAST; lid++)
        subnet.by_lid[lid] = 0;
    subnet.by_lid[3] = 0;
    assert_int_equal(addresses_next_free(&subnet, &next), 4);
    assert_int_equal(addresses_next_free(&subnet, &next), 5);
    subnet_release(&subnet);
}

/* A port that gets them is known, and may lose them again. */
static void a_reservation_ends_when_a_port_gets_the_lids(void **state)
{
    struct subnet subnet;
    hypervisors_init(&subnet, true);
    uint32_t port = subnet.nodes.items[hypervisors_node(&subnet, 0)].first_port;
    subnet_reserve_lids(&subnet, 40, 2);
    assert_true(subnet_lid_range_reserved(&subnet, 43, 0));
    assert_false(subnet_lid_range_reserved(&subnet, 44, 0));
    subnet_set_lid(&subnet, port, 40, 2);
    subnet_set_lid(&subnet, port, 0, 0);
    assert_false(subnet_lid_range_reserved(&subnet, 40, 2));
    subnet_release(&subnet);
}

static void with_dynamic_lids_linear_fdb_top_grows_in_steps(void **state)
{
    for (unsigned dynamic = 0; dynamic < 2; dynamic++) {
        struct subnet subnet;
        hypervisors_init(&subnet, dynamic);
        struct subnet_node *node = &subnet.nodes.items[hypervisors_switch(&subnet)];
        node->tables->wanted_top = 100;
        assert_int_equal(addresses_table_top(&subnet, node), dynamic ? 2047 : 100);
        wire_set(node->switch_info, SWITCH_INFO_LINEAR_FDB_CAP, 1024);
        assert_int_equal(addresses_table_top(&subnet, node), dynamic ? 1023 : 100);
        node->tables->wanted_top = LID_UNICAST_LAST;
        wire_set(node->switch_info, SWITCH_INFO_LINEAR_FDB_CAP, 0);
        assert_int_equal(addresses_table_top(&subnet, node), LID_UNICAST_LAST);
        subnet_release(&subnet);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_two_functions_of_a_vm_the_lfts_decide),
        cmocka_unit_test(a_function_with_a_wanted_lid_wins_over_a_new_one),
        cmocka_unit_test(a_function_of_an_absent_hypervisor_does_not_win),
        cmocka_unit_test(a_vm_at_three_functions_is_evicted_from_two),
        cmocka_unit_test(a_vswitch_has_the_lid_of_its_physical_function),
        cmocka_unit_test(free_lids_are_assigned_round_robin),
        cmocka_unit_test(reserved_lids_are_assigned_last),
        cmocka_unit_test(a_reservation_ends_when_a_port_gets_the_lids),
        cmocka_unit_test(with_dynamic_lids_linear_fdb_top_grows_in_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
