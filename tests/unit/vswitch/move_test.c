/* Moves of VMs: the steps, their order, and the addresses afterwards. */
#include "hypervisors.h"
#include "vswitch/model/move.h"
#include "vswitch/model/terminals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MACHINE = 0xabc };

static void check_steps(const struct move *move, struct subnet *subnet, const enum move_step *steps)
{
    enum move_step step = MOVE_PLANNED;
    do {
        step = move_next(move, subnet, step);
        assert_int_equal(step, *steps);
    } while (*steps++ != MOVE_DONE);
}

static void a_vm_starts_migrates_and_stops_by_these_steps(void **state)
{
    struct subnet subnet;
    hypervisors_init(&subnet, false);
    uint32_t here = hypervisors_vf_port(&subnet, 0, 1), there = hypervisors_vf_port(&subnet, 1, 1);
    const struct move start = {.source = SUBNET_NONE, .target = there, .lid = 50};
    const struct move end = {.source = here, .target = SUBNET_NONE, .lid = 50, .keys = true};
    struct move moves = {.source = here, .target = there, .lid = 50};
    check_steps(&start, &subnet, (enum move_step[]){MOVE_ATTACH, MOVE_DONE});
    check_steps(&end, &subnet, (enum move_step[]){MOVE_DETACH, MOVE_DONE});
    check_steps(&moves, &subnet, (enum move_step[]){MOVE_ATTACH, MOVE_DETACH, MOVE_DONE});
    moves.keys = true;
    check_steps(&moves, &subnet,
                (enum move_step[]){MOVE_KEYS, MOVE_ATTACH, MOVE_DETACH, MOVE_DONE});
    moves.open = 60;
    check_steps(&moves, &subnet,
                (enum move_step[]){MOVE_OPEN, MOVE_KEYS, MOVE_ATTACH, MOVE_DETACH, MOVE_DONE});
    subnet_remove_node(&subnet, hypervisors_node(&subnet, 0)); /* its hypervisor is absent */
    check_steps(&moves, &subnet, (enum move_step[]){MOVE_OPEN, MOVE_KEYS, MOVE_ATTACH, MOVE_DONE});
    subnet_release(&subnet);
}

static void check_wanted(struct subnet *subnet, uint32_t vf_port, uint16_t lid, uint64_t machine)
{
    struct function_setting wanted;
    assert_true(functions_differ(subnet, vf_port, &wanted));
    assert_int_equal(wanted.lid, lid);
    assert_int_equal(wanted.attached, machine != 0);
    assert_int_equal(wanted.guid, machine);
    functions_end_hold(subnet, vf_port);
}

static void each_step_sets_the_wanted_state_of_one_function(void **state)
{
    struct subnet subnet;
    hypervisors_init(&subnet, false);
    hypervisors_populate(&subnet);
    uint32_t here = hypervisors_vf_port(&subnet, 0, 1), there = hypervisors_vf_port(&subnet, 1, 1);
    const struct move move = {MACHINE,   "web1",       .source = here, .target = there,
                              .lid = 50, .before = 51, .left = 52,     .open = 53};
    assert_int_equal(move_begin(&move, &subnet, MOVE_OPEN), there);
    check_wanted(&subnet, there, 53, 0);
    assert_int_equal(move_begin(&move, &subnet, MOVE_ATTACH), there);
    check_wanted(&subnet, there, 50, MACHINE);
    assert_string_equal(functions_at(&subnet, there)->wanted.name, "web1");
    assert_int_equal(move_begin(&move, &subnet, MOVE_DETACH), here);
    check_wanted(&subnet, here, 52, 0);
    assert_string_equal(functions_at(&subnet, here)->wanted.name, "");
    assert_int_equal(move_begin(&move, &subnet, MOVE_UNDO), there);
    check_wanted(&subnet, there, 51, 0);
    functions_at(&subnet, there)->held = true;
    assert_int_equal(move_begin(&move, &subnet, MOVE_KEYS), there);
    assert_int_equal(functions_at(&subnet, there)->key_owner, MACHINE);
    subnet_release(&subnet);
}

/* ---- addresses ---- */

static void make_network(struct network *network, const struct subnet *subnet)
{
    const struct subnet_node *node = &subnet->nodes.items[hypervisors_switch(subnet)];
    network_init(network);
    uint32_t at = network_add_switch(network, node->guid, SWITCH_LID, 0, node->port_count);
    for (unsigned number = 1; number <= HYPERVISORS; number++)
        assert_true(terminals_add(network, subnet, at, number,
                                  subnet->ports.items[node->first_port + number].peer));
    assert_false(terminals_add(network, subnet, at, MANAGER_AT, subnet->own_port));
    assert_int_equal(network_finish(network), 0);
}

/* The port of the switch to which the terminal of the LID is connected; 0: none. */
static unsigned port_to(const struct network *network, unsigned lid)
{
    uint32_t owner = lid <= network->top_lid ? network->owner[lid] : NETWORK_NONE;
    return owner == NETWORK_NONE ? 0 : network->terminals.items[owner].port;
}

static void prepopulated_lids_are_exchanged(void **state)
{
    struct subnet subnet;
    struct network network;
    hypervisors_init(&subnet, false);
    hypervisors_populate(&subnet);
    make_network(&network, &subnet);
    uint16_t lid = hypervisors_lid(0, 1), other = hypervisors_lid(2, 1);
    assert_int_equal(port_to(&network, lid), 1);
    assert_int_equal(port_to(&network, other), 3);
    uint32_t here = hypervisors_vf_port(&subnet, 0, 1), there = hypervisors_vf_port(&subnet, 2, 1);
    const struct move move = {MACHINE,    .source = here,  .target = there,
                              .lid = lid, .before = other, .left = other};
    hypervisors_answer(&subnet, 2, 1, lid, MACHINE); /* both have answered */
    hypervisors_answer(&subnet, 0, 1, other, 0);
    move_addresses(&move, &subnet, &network);
    assert_int_equal(subnet.by_lid[lid], functions_port(&subnet, there));
    assert_int_equal(subnet.by_lid[other], functions_port(&subnet, here));
    assert_int_equal(port_to(&network, lid), 3);
    assert_int_equal(port_to(&network, other), 1);
    assert_int_equal(network.terminals.items[network.owner[lid]].guid, MACHINE);
    assert_false(functions_at(&subnet, here)->held || functions_at(&subnet, there)->held);
    network_release(&network);
    subnet_release(&subnet);
}

static void a_dynamic_lid_is_no_terminal_before_it_is_placed(void **state)
{
    struct subnet subnet;
    struct network network;
    hypervisors_init(&subnet, true);
    make_network(&network, &subnet);
    uint32_t vf_port = hypervisors_vf_port(&subnet, 1, 2);
    struct move move = {MACHINE, .source = SUBNET_NONE, .target = vf_port, .lid = 50};
    hypervisors_answer(&subnet, 1, 2, 50, MACHINE);
    move_addresses(&move, &subnet, &network);
    assert_int_equal(subnet.by_lid[50], functions_port(&subnet, vf_port));
    assert_int_equal(port_to(&network, 50), 0);
    terminals_place(&network, &subnet, functions_port(&subnet, vf_port), TERMINALS_MAKE);
    assert_int_equal(port_to(&network, 50), 2);
    /* The VM stops, but its hypervisor does not answer. */
    move = (struct move){MACHINE, .source = vf_port, .target = SUBNET_NONE, .lid = 50};
    move_addresses(&move, &subnet, &network);
    assert_int_equal(functions_find_vm(&subnet, MACHINE), SUBNET_NONE);
    assert_int_equal(subnet.by_lid[50], SUBNET_NONE);
    assert_int_equal(port_to(&network, 50), 0);
    network_release(&network);
    subnet_release(&subnet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vm_starts_migrates_and_stops_by_these_steps),
        cmocka_unit_test(each_step_sets_the_wanted_state_of_one_function),
        cmocka_unit_test(prepopulated_lids_are_exchanged),
        cmocka_unit_test(a_dynamic_lid_is_no_terminal_before_it_is_placed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
