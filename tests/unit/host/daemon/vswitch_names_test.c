/* Names of machines and hypervisors, and answers of the control socket. */
#include "sim_world.h"
#include "vswitch_world.h"

#include "host/manager_view/machine_control.h"
#include "topology/generators/generate.h"
#include "vswitch/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static unsigned start(struct world *world, bool dynamic)
{
    world_open(world, "today", "kary 2 2 vfs=2");
    struct sm_config config = default_config();
    config.dynamic_lids = dynamic;
    return settle(world, host(world, "H0"), &config);
}

static const struct subnet *subnet_under(struct world *world, unsigned manager)
{
    return sm_subnet(sim_manager(world->sim, manager));
}

/* ---- GUIDs ---- */

static void must_refuse(struct world *world, unsigned manager, uint64_t guid)
{
    char name[24];
    snprintf(name, sizeof name, "0x%llx", (unsigned long long)guid);
    struct vswitch_result result =
        ask(world, manager, VSWITCH_CREATE, name, "H1", VSWITCH_BALANCED);
    if (result.state != VSWITCH_FAILED || !strstr(result.text, "is not a VM"))
        fail_msg("%s: %s", name, result.text);
}

static void the_guid_of_another_node_is_refused(void **state)
{
    (void)state;
    for (unsigned dynamic = 0; dynamic < 2; dynamic++) {
        struct world world;
        unsigned manager = start(&world, dynamic);
        const struct subnet *subnet = subnet_under(&world, manager);
        unsigned refused = 0;
        for (uint32_t node = 0; node < subnet->nodes.count; node++)
            must_refuse(&world, manager, subnet->nodes.items[node].guid);
        for (uint32_t port = 0; port < subnet->ports.count; port++) {
            const struct virtual_function *function = functions_at(subnet, port);
            uint64_t guid = function ? function->guid : subnet->ports.items[port].guid;
            if (!(function || subnet_is_end_port(subnet, port)) || !guid)
                continue;
            must_refuse(&world, manager, guid);
            refused++;
        }
        assert_true(refused > world_hosts(&world) * 3);
        check_world(&world, manager);
        world_close(&world);
    }
}

static void the_guid_of_a_destroyed_machine_can_be_used_again(void **state)
{
    (void)state;
    for (unsigned dynamic = 0; dynamic < 2; dynamic++) {
        struct world world;
        unsigned manager = start(&world, dynamic);
        for (unsigned i = 0; i < 3; i++) {
            const char *place = i % 2 ? "H1" : "H3";
            must(&world, manager, VSWITCH_CREATE, "0x77", place, VSWITCH_BALANCED);
            must(&world, manager, VSWITCH_MIGRATE, "0x77", "H2", VSWITCH_BALANCED);
            must(&world, manager, VSWITCH_DESTROY, "0x77", NULL, VSWITCH_BALANCED);
        }
        check_world(&world, manager);
        world_close(&world);
    }
}

static void a_guid_has_64_bits(void **state)
{
    (void)state;
    assert_int_equal(vswitch_guid("0xffffffffffffffff"), UINT64_MAX);
    assert_int_equal(vswitch_guid("0x1ffffffffffffffff"), 0);
    assert_int_equal(vswitch_guid("0x0"), 0);
    assert_int_not_equal(vswitch_guid("0xhaus"), 0);
}

/* ---- names ---- */

static void a_hypervisor_may_have_the_longest_description(void **state)
{
    (void)state;
    static char longest[VSWITCH_NAME_LIMIT + 1];
    static const char *const words[] = {"2", "2", "vfs=2"};
    struct world world;
    struct fabric_options options;
    struct err err = {0};
    memset(longest, 'h', sizeof longest - 1);
    topology_init(&world.topology);
    assert_int_equal(topology_generate(&world.topology, "kary", words, 3, 1, &err), 0);
    world.topology.nodes.items[topology_find(&world.topology, "H2")].description = longest;
    assert_int_equal(fabric_options_preset(&options, "today", &err), 0);
    world.fabric = fabric_new(&world.topology, &options, 1);
    world.sim = sim_new(world.fabric);
    struct sm_config config = default_config();
    unsigned manager = settle(&world, host(&world, "H0"), &config);
    must(&world, manager, VSWITCH_CREATE, "alpha", longest, VSWITCH_BALANCED);
    must(&world, manager, VSWITCH_MIGRATE, "alpha", "H1", VSWITCH_BALANCED);
    must(&world, manager, VSWITCH_MIGRATE, "alpha", longest, VSWITCH_BALANCED);
    world_close(&world);
}

static void names_with_control_characters_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"\033[2Jclean", "two\nlines", "\x7f"};
    struct world world;
    struct err err = {0};
    unsigned manager = start(&world, false);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct vswitch_request request = {
            .verb = VSWITCH_CREATE, .guid = vswitch_guid(names[i]), .name = names[i]};
        assert_int_equal(sim_vm_submit(world.sim, manager, &request, &err), 0);
        assert_non_null(strstr(err.message, "control characters"));
    }
    must(&world, manager, VSWITCH_CREATE, "größer & schöner", "H1", VSWITCH_BALANCED);
    world_close(&world);
}

static void names_of_unknown_machines_are_not_stored(void **state)
{
    (void)state;
    struct world world;
    unsigned manager = start(&world, false);
    const struct vswitch *machines = sim_machines(world.sim, manager);
    struct vswitch_vm machine;
    for (unsigned i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "nobody%u", i);
        ask(&world, manager, VSWITCH_MIGRATE, name, "H1", VSWITCH_BALANCED);
        ask(&world, manager, VSWITCH_CREATE, name, "nowhere", VSWITCH_BALANCED);
        ask(&world, manager, VSWITCH_DESTROY, name, NULL, VSWITCH_BALANCED);
    }
    assert_int_equal(machines->wanted->rows.count - machines->wanted->ended, 0);
    must(&world, manager, VSWITCH_CREATE, "alpha", "H1", VSWITCH_BALANCED);
    assert_true(vswitch_find_vm(machines, vswitch_guid("alpha"), &machine));
    assert_string_equal(machine.name, "alpha");
    ask(&world, manager, VSWITCH_MIGRATE, "alpha", "nowhere", VSWITCH_BALANCED);
    assert_true(vswitch_find_vm(machines, vswitch_guid("alpha"), &machine));
    assert_string_equal(machine.name, "alpha");
    /* The virtual switch stores "alpha"; the other name is too long for that. */
    static const char other[] = "a name of more than the forty bytes that fit";
    must(&world, manager, VSWITCH_CREATE, other, "H2", VSWITCH_BALANCED);
    assert_int_equal(machines->wanted->rows.count - machines->wanted->ended, 2);
    must(&world, manager, VSWITCH_DESTROY, "alpha", NULL, VSWITCH_BALANCED);
    assert_int_equal(machines->wanted->rows.count - machines->wanted->ended, 1);
    must(&world, manager, VSWITCH_MIGRATE, other, "H1", VSWITCH_BALANCED);
    assert_true(vswitch_find_vm(machines, vswitch_guid(other), &machine));
    assert_string_equal(machine.name, other);
    must(&world, manager, VSWITCH_DESTROY, other, NULL, VSWITCH_BALANCED);
    assert_int_equal(machines->wanted->rows.count - machines->wanted->ended, 0);
    world_close(&world);
}

/* ---- answers ---- */

static int control(struct world *world, unsigned manager, const char *command, struct text *out)
{
    char copy[256];
    const char *words[8] = {"vm"};
    unsigned count = 1;
    snprintf(copy, sizeof copy, "%s", command);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        words[count++] = word;
    static const struct control_command *const tables[] = {machine_commands,
                                                           machine_report_commands, NULL};
    struct machine_access access = {sim_machines(world->sim, manager),
                                    sim_manager(world->sim, manager)};
    struct control_answer answer = {.json = true};
    struct control_call call = {
        .subjects = {[CONTROL_MACHINES] = &access}, .now = sim_now(world->sim), .answer = &answer};
    const struct control_command *found = control_find(tables, words, count);
    int result = found ? control_run(found, &call, words, count)
                       : control_refuse("a manager", tables, &call, words, count);
    text_clear(out);
    text_append(out, answer.text.data, answer.text.length);
    control_answer_release(&answer);
    return result;
}

static void errors_have_a_code_and_a_reason(void **state)
{
    (void)state;
    static const struct {
        const char *command;
        int result;
        const char *says;
    } cases[] = {
        {"show nobody", -ENOENT, "there is no machine 'nobody'"},
        {"ticket 99", -ENOENT, "there is no ticket 99"},
        {"frobnicate", -EINVAL, "expected: vm start NAME"},
        {"start a at", -EINVAL, "the line ends here"},
        {"start 0x1ffffffffffffffff", -EINVAL, "GUID"},
        {"start a at nowhere", -EIO, "\"error\":\"no hypervisor 'nowhere'\""},
        {"migrate nobody", -EIO, "\"error\":\"no such machine\""},
    };
    struct world world;
    struct text out = {0};
    unsigned manager = start(&world, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int result = control(&world, manager, cases[i].command, &out);
        if (result != cases[i].result || !out.data || !strstr(out.data, cases[i].says))
            fail_msg("'%s': %d, %s", cases[i].command, result, out.data ? out.data : "");
    }
    text_release(&out);
    world_close(&world);
}

/* On a torus, dfsssp's VLs seldom allow another path: most moves need new routes. */
static void a_move_with_new_routes_reports_no_figures(void **state)
{
    struct text out = {0};
    unsigned rerouted = 0;
    char command[32];
    struct world *world = world_for(state, "today", "torus dims=4x4 vfs=1");
    struct sm_config config = default_config();
    config.engine = engine_find("dfsssp");
    unsigned manager = settle(world, host(world, "H0"), &config);
    must(world, manager, VSWITCH_CREATE, "alpha", "H0", VSWITCH_BALANCED);
    for (unsigned i = 1; i < 12; i++) {
        char place[8];
        snprintf(place, sizeof place, "H%u", i);
        struct vswitch_result result =
            must(world, manager, VSWITCH_MIGRATE, "alpha", place, VSWITCH_BALANCED);
        snprintf(command, sizeof command, "ticket %llu", (unsigned long long)result.ticket);
        assert_int_equal(control(world, manager, command, &out), 0);
        const char *says = result.rerouted ? "\"table_smps\":null,\"switches\":null" : "_smps\":";
        assert_non_null(strstr(out.data, says));
        assert_int_equal(!strstr(out.data, "null"), !result.rerouted);
        assert_int_equal(!strstr(result.text, "SMP"), result.rerouted);
        rerouted += result.rerouted;
    }
    assert_true(rerouted > 0);
    text_release(&out);
}

/* As docs/vswitch.md and weft-ctl(1) state, for these engines. */
static void up_down_routes_are_not_computed_again_for_a_move(void **state)
{
    (void)state;
    static const char *const engines[] = {"updn", "ftree", "fera", "pira", "dr", "pira+fera"};
    for (unsigned run = 0; run < 2 * sizeof engines / sizeof *engines; run++) {
        const char *engine = engines[run / 2];
        bool dynamic = run % 2, is_tree = strcmp(engine, "ftree") == 0;
        struct world world;
        world_open(&world, "today", is_tree ? "kary 4 2 vfs=1" : "torus dims=4x4 vfs=1");
        struct sm_config config = default_config();
        config.engine = engine_find(engine);
        config.lmc = config.engine->renames ? 2 : 0;
        config.dynamic_lids = dynamic;
        unsigned manager = settle(&world, host(&world, "H0"), &config);
        must(&world, manager, VSWITCH_CREATE, "alpha", "H0", VSWITCH_BALANCED);
        for (unsigned i = 1; i < 6; i++) {
            char place[8];
            snprintf(place, sizeof place, "H%u", i * 5 % 16);
            struct vswitch_result result =
                must(&world, manager, VSWITCH_MIGRATE, "alpha", place, VSWITCH_BALANCED);
            assert_false(result.rerouted);
            assert_true(result.table_smps <= (dynamic ? 1 : 2) * result.switches);
        }
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_guid_of_another_node_is_refused),
        cmocka_unit_test(the_guid_of_a_destroyed_machine_can_be_used_again),
        cmocka_unit_test(a_guid_has_64_bits),
        cmocka_unit_test(a_hypervisor_may_have_the_longest_description),
        cmocka_unit_test(names_with_control_characters_are_refused),
        cmocka_unit_test(names_of_unknown_machines_are_not_stored),
        cmocka_unit_test(errors_have_a_code_and_a_reason),
        WORLD_TEST(a_move_with_new_routes_reports_no_figures),
        cmocka_unit_test(up_down_routes_are_not_computed_again_for_a_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
