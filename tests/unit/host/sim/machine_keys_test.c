/* P_Keys follow virtual machines: a function has the P_Keys of its machine only, never those of the
 * previous machine or of the hypervisor. */
#include "sim_world.h"
#include "vswitch_world.h"

#include "base/text.h"
#include "topology/virtual.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_MOST = 64 };

static const char *const names[] = {"web", "db", "other", "third"};
enum { MACHINES = sizeof names / sizeof *names };

struct keyed {
    struct world world;
    struct partitions partitions;
    struct partition_keys scratch;
    struct sm_config config;
    unsigned manager;
    unsigned looks; /* of machines with a function */
};

static unsigned long long guid_of_host(const struct keyed *keyed, const char *name)
{
    return fabric_port_guid(keyed->world.fabric, host(&keyed->world, name), 0);
}

/* web is in red, db in blue, H1 and H5 in a partition of hypervisors, and H1 in `more` others. */
static void read_rules(const struct keyed *keyed, unsigned others, struct partitions *partitions)
{
    struct text rules = {0};
    struct err err = {0};
    text_printf(&rules, "Default=0x7fff : ALL=limited, SELF=full ;\n");
    text_printf(&rules, "red=0x0010 : 0x%llx=full ;\n", (unsigned long long)vswitch_guid("web"));
    text_printf(&rules, "blue=0x0020 : 0x%llx=limited ;\n", (unsigned long long)vswitch_guid("db"));
    text_printf(&rules, "hosts=0x0030 : 0x%llx=full, 0x%llx=full ;\n", guid_of_host(keyed, "H1"),
                guid_of_host(keyed, "H5"));
    for (unsigned i = 0; i < others; i++)
        text_printf(&rules, "own%u=0x%x : 0x%llx=full ;\n", i, 0x100 + i,
                    guid_of_host(keyed, "H1"));
    if (partitions_read(partitions, from_text("rules", rules.data, &err)))
        fail_msg("%s", err.message);
    text_release(&rules);
}

static void open_keyed(struct keyed *keyed, bool dynamic)
{
    *keyed = (struct keyed){0};
    world_open(&keyed->world, "today", "kary 3 2 vfs=2");
    read_rules(keyed, 0, &keyed->partitions);
    sm_config_init(&keyed->config);
    keyed->config.partitions = &keyed->partitions;
    keyed->config.dynamic_lids = dynamic;
    keyed->manager = settle(&keyed->world, host(&keyed->world, "H0"), &keyed->config);
}

/* Applies new rules. */
static void change_rules(struct keyed *keyed, struct partitions *fresh)
{
    struct sim *sim = keyed->world.sim;
    keyed->config.partitions = fresh;
    sm_configure(sim_manager(sim, keyed->manager), sim_now_ns(sim), &keyed->config);
    sim_run_until_settled(sim, keyed->manager, sim_now(sim) + 30 * TIME_S);
    struct partitions before = keyed->partitions;
    keyed->partitions = *fresh;
    keyed->config.partitions = &keyed->partitions;
    sm_configure(sim_manager(sim, keyed->manager), sim_now_ns(sim), &keyed->config);
    partitions_release(&before);
}

static void close_keyed(struct keyed *keyed)
{
    world_close(&keyed->world);
    partition_keys_release(&keyed->scratch);
    partitions_release(&keyed->partitions);
}

static int ascending(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* The P_Keys of a port in ascending order. */
static unsigned keys_at(const struct keyed *keyed, uint32_t port, uint16_t *keys)
{
    unsigned room = fabric_p_keys(keyed->world.fabric, port, keys, KEYS_MOST), count = 0;
    assert_true(room <= KEYS_MOST);
    for (unsigned i = 0; i < room; i++)
        if (keys[i])
            keys[count++] = keys[i];
    qsort(keys, count, sizeof *keys, ascending);
    return count;
}

static void allowed(struct keyed *keyed, uint64_t guid)
{
    struct partition_port port = {.guid = guid, .kind = SUBNET_ADAPTER};
    partitions_find_keys(&keyed->partitions, &port, &keyed->scratch);
}

static bool is_allowed(const struct keyed *keyed, uint16_t key)
{
    for (size_t i = 0; i < keyed->scratch.keys.count; i++)
        if (keyed->scratch.keys.items[i] == key)
            return true;
    return false;
}

static bool is_up(const struct keyed *keyed, uint32_t port)
{
    const struct topology *topology = &keyed->world.topology;
    return topology_function(topology, port) > 0 &&
           fabric_node_is_up(keyed->world.fabric, topology->ports.items[port].node) &&
           wire_get(fabric_port_info(keyed->world.fabric, port), PORT_INFO_LID);
}

/* The virtual switch, if it enforces partitions, has the same P_Keys for this function. */
static void check_enforcement(const struct keyed *keyed, uint32_t port, const uint16_t *keys,
                              unsigned count)
{
    uint16_t guard[KEYS_MOST];
    uint32_t vf_port = keyed->world.topology.ports.items[port].peer;
    if (!wire_get(fabric_port_info(keyed->world.fabric, vf_port),
                  PORT_INFO_PARTITION_ENFORCEMENT_INBOUND))
        return;
    assert_int_equal(keys_at(keyed, vf_port, guard), count);
    assert_memory_equal(guard, keys, count * sizeof *keys);
}

/* Checks that a machine has no foreign P_Keys; `all`: and all of its own. */
static void check_keys(struct keyed *keyed, bool all)
{
    uint16_t keys[KEYS_MOST];
    for (uint32_t port = 0; port < keyed->world.topology.ports.count; port++)
        for (unsigned i = 0; i < MACHINES; i++) {
            uint64_t guid = vswitch_guid(names[i]);
            if (!is_up(keyed, port) || fabric_port_guid(keyed->world.fabric, port, 0) != guid)
                continue;
            unsigned count = keys_at(keyed, port, keys);
            allowed(keyed, guid);
            keyed->looks++;
            for (unsigned j = 0; j < count; j++)
                if (!is_allowed(keyed, keys[j]))
                    fail_msg("'%s' has the key 0x%04x", names[i], keys[j]);
            if (all)
                assert_int_equal(count, keyed->scratch.keys.count);
            if (all)
                check_enforcement(keyed, port, keys, count);
        }
}

/* Submits a request and checks the P_Keys after every step. */
static struct vswitch_result submit_and_check(struct keyed *keyed, enum vswitch_verb verb,
                                              const char *name, const char *place)
{
    struct sim *sim = keyed->world.sim;
    struct vswitch_request request = {
        .verb = verb, .guid = vswitch_guid(name), .name = name, .hypervisor = place};
    struct err err = {0};
    uint64_t ticket = sim_vm_submit(sim, keyed->manager, &request, &err);
    uint64_t limit = sim_now(sim) + 30 * TIME_S;
    if (!ticket)
        fail_msg("%s", err.message);
    const struct vswitch *machines = sim_machines(sim, keyed->manager);
    while (vswitch_result(machines, ticket)->state == VSWITCH_PENDING && sim_step(sim, limit))
        check_keys(keyed, false);
    return *vswitch_result(machines, ticket);
}

static void watched(struct keyed *keyed, enum vswitch_verb verb, const char *name,
                    const char *place)
{
    struct vswitch_result result = submit_and_check(keyed, verb, name, place);
    if (result.state != VSWITCH_DONE)
        fail_msg("'%s': %s", name, result.text);
    check_keys(keyed, true);
}

/* A settled function without a machine has the P_Keys of its own GUID, and no LID if LIDs are
 * dynamic. */
static void check_free_functions(struct keyed *keyed)
{
    uint16_t keys[KEYS_MOST];
    assert_true(sim_run_until_settled(keyed->world.sim, keyed->manager,
                                      sim_now(keyed->world.sim) + 30 * TIME_S));
    for (uint32_t port = 0; port < keyed->world.topology.ports.count; port++) {
        if (!is_up(keyed, port))
            continue;
        uint64_t guid = fabric_port_guid(keyed->world.fabric, port, 0);
        unsigned count = keys_at(keyed, port, keys);
        allowed(keyed, guid);
        assert_true(!keyed->config.dynamic_lids ||
                    functions_find_vm(sm_subnet(sim_manager(keyed->world.sim, keyed->manager)),
                                      guid) != SUBNET_NONE);
        assert_int_equal(count, keyed->scratch.keys.count);
        for (unsigned i = 0; i < count; i++)
            assert_true(is_allowed(keyed, keys[i]));
        check_enforcement(keyed, port, keys, count);
    }
}

static void run_machines(bool dynamic)
{
    struct keyed keyed;
    open_keyed(&keyed, dynamic);
    watched(&keyed, VSWITCH_CREATE, "web", "H1");
    watched(&keyed, VSWITCH_MIGRATE, "web", "H5");
    watched(&keyed, VSWITCH_CREATE, "other", "H1"); /* where web was */
    watched(&keyed, VSWITCH_CREATE, "db", "H5");
    check_free_functions(&keyed);
    watched(&keyed, VSWITCH_DESTROY, "web", NULL);
    check_free_functions(&keyed);
    watched(&keyed, VSWITCH_CREATE, "third", "H5");
    watched(&keyed, VSWITCH_MIGRATE, "db", "H1");
    watched(&keyed, VSWITCH_MIGRATE, "third", "H7");
    watched(&keyed, VSWITCH_CREATE, "web", "H5");
    watched(&keyed, VSWITCH_DESTROY, "other", NULL);
    watched(&keyed, VSWITCH_CREATE, "other", "H1"); /* a function that was used before */
    check_free_functions(&keyed);
    assert_true(keyed.looks > 100);
    check_world(&keyed.world, keyed.manager);
    close_keyed(&keyed);
}

static void keys_follow_machines_with_prepopulated_lids(void **state)
{
    (void)state;
    run_machines(false);
}

static void keys_follow_machines_with_dynamic_lids(void **state)
{
    (void)state;
    run_machines(true);
}

/* Rules that change during a move apply to the new place. */
static void rules_that_change_during_a_move_count_at_its_end(void **state)
{
    (void)state;
    for (unsigned steps = 0; steps < 60; steps += 3) {
        struct keyed keyed;
        struct partitions others;
        struct err err = {0};
        char text[128];
        open_keyed(&keyed, steps % 2);
        watched(&keyed, VSWITCH_CREATE, "web", "H1");
        snprintf(text, sizeof text, "Default=0x7fff : ALL=limited, SELF=full ;\ngreen=5 : 0x%llx ;",
                 (unsigned long long)vswitch_guid("web"));
        assert_int_equal(partitions_read(&others, from_text("rules", text, &err)), 0);
        struct vswitch_request request = {
            .verb = VSWITCH_MIGRATE, .guid = vswitch_guid("web"), .hypervisor = "H5"};
        struct sim *sim = keyed.world.sim;
        uint64_t ticket = sim_vm_submit(sim, keyed.manager, &request, &err);
        assert_true(ticket);
        for (unsigned i = 0; i < steps; i++)
            sim_step(sim, sim_now(sim) + TIME_S);
        keyed.config.partitions = &others;
        sm_configure(sim_manager(sim, keyed.manager), sim_now_ns(sim), &keyed.config);
        assert_non_null(sim_vm_wait(sim, keyed.manager, ticket, sim_now(sim) + 30 * TIME_S));
        partitions_release(&keyed.partitions);
        keyed.partitions = others;
        check_free_functions(&keyed);
        check_keys(&keyed, true);
        close_keyed(&keyed);
    }
}

/* A function that comes up has the table of its physical function, which may be longer than its
 * previous one. */
static void keys_of_the_hypervisor_are_not_inherited(void **state)
{
    (void)state;
    for (unsigned dynamic = 0; dynamic < 2; dynamic++) {
        struct keyed keyed;
        struct partitions fresh;
        open_keyed(&keyed, dynamic);
        watched(&keyed, VSWITCH_CREATE, "other", "H1");
        watched(&keyed, VSWITCH_DESTROY, "other", NULL);
        read_rules(&keyed, PARTITION_BLOCK + 4, &fresh);
        change_rules(&keyed, &fresh);
        watched(&keyed, VSWITCH_CREATE, "other", "H1");
        watched(&keyed, VSWITCH_CREATE, "web", "H1");
        check_free_functions(&keyed);
        close_keyed(&keyed);
    }
}

/* A P_Key table has 64 entries. */
static void a_machine_in_too_many_partitions_is_refused(void **state)
{
    (void)state;
    for (unsigned dynamic = 0; dynamic < 2; dynamic++) {
        struct keyed keyed;
        struct partitions fresh;
        struct text rules = {0};
        struct err err = {0};
        open_keyed(&keyed, dynamic);
        text_printf(&rules, "Default=0x7fff : ALL=limited, SELF=full ;\n");
        for (unsigned i = 0; i < KEYS_MOST; i++)
            text_printf(&rules, "p%u=0x%x : 0x%llx=full ;\n", i, 0x100 + i,
                        (unsigned long long)vswitch_guid("db"));
        assert_int_equal(partitions_read(&fresh, from_text("rules", rules.data, &err)), 0);
        change_rules(&keyed, &fresh);
        struct vswitch_result result = submit_and_check(&keyed, VSWITCH_CREATE, "db", "H1");
        assert_int_equal(result.state, VSWITCH_FAILED);
        assert_non_null(strstr(result.text, "rejects the P_Keys"));
        assert_int_equal(places_of(&keyed.world, vswitch_guid("db")), 0);
        check_free_functions(&keyed);
        watched(&keyed, VSWITCH_CREATE, "web", "H1");
        watched(&keyed, VSWITCH_CREATE, "other", "H1"); /* both functions are free */
        check_free_functions(&keyed);
        check_world(&keyed.world, keyed.manager);
        text_release(&rules);
        close_keyed(&keyed);
    }
}

static void a_hypervisor_that_fails_meanwhile_comes_back_without_foreign_keys(void **state)
{
    (void)state;
    for (unsigned steps = 0; steps < 40; steps++) {
        struct keyed keyed;
        struct err err = {0};
        open_keyed(&keyed, steps % 2);
        watched(&keyed, VSWITCH_CREATE, "web", "H1");
        struct vswitch_request request = {
            .verb = VSWITCH_MIGRATE, .guid = vswitch_guid("web"), .hypervisor = "H5"};
        struct sim *sim = keyed.world.sim;
        uint64_t ticket = sim_vm_submit(sim, keyed.manager, &request, &err);
        assert_true(ticket);
        for (unsigned i = 0; i < steps / 2; i++)
            sim_step(sim, sim_now(sim) + TIME_S);
        uint32_t node = topology_find(&keyed.world.topology, "H5-vswitch");
        assert_int_equal(fabric_set_node(keyed.world.fabric, node, false, &err), 0);
        const struct vswitch_result *result =
            sim_vm_wait(sim, keyed.manager, ticket, sim_now(sim) + 60 * TIME_S);
        assert_true(result && result->state != VSWITCH_PENDING);
        bool moved = result->state == VSWITCH_DONE; /* then it is started there again */
        sim_run(sim, sim_now(sim) + 15 * TIME_S);
        assert_int_equal(fabric_set_node(keyed.world.fabric, node, true, &err), 0);
        sim_run(sim, sim_now(sim) + 15 * TIME_S);
        check_free_functions(&keyed);
        watched(&keyed, VSWITCH_CREATE, "third", "H5");
        if (!moved)
            watched(&keyed, VSWITCH_CREATE, "other", "H5");
        check_free_functions(&keyed);
        close_keyed(&keyed);
    }
}

/* A manager that is killed at any step leaves no machine with foreign P_Keys, nor does its
 * successor. */
static void a_killed_manager_leaves_no_foreign_keys(void **state)
{
    (void)state;
    for (unsigned steps = 0; steps < 80; steps += 2) {
        struct keyed keyed;
        struct err err = {0};
        open_keyed(&keyed, steps / 2 % 2);
        watched(&keyed, VSWITCH_CREATE, "web", "H1");
        watched(&keyed, VSWITCH_CREATE, "other", "H5");
        watched(&keyed, VSWITCH_DESTROY, "other", NULL);
        struct vswitch_request request = {
            .verb = VSWITCH_MIGRATE, .guid = vswitch_guid("web"), .hypervisor = "H5"};
        struct sim *sim = keyed.world.sim;
        assert_true(sim_vm_submit(sim, keyed.manager, &request, &err));
        for (unsigned i = 0; i < steps; i++) {
            sim_step(sim, sim_now(sim) + TIME_S);
            check_keys(&keyed, false);
        }
        sim_kill_manager(sim, keyed.manager);
        keyed.manager = settle(&keyed.world, host(&keyed.world, "H2"), &keyed.config);
        check_free_functions(&keyed);
        assert_int_equal(places_of(&keyed.world, vswitch_guid("web")), 1);
        watched(&keyed, VSWITCH_CREATE, "third", "H1");
        watched(&keyed, VSWITCH_CREATE, "other", "H5");
        check_free_functions(&keyed);
        check_world(&keyed.world, keyed.manager);
        close_keyed(&keyed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_follow_machines_with_prepopulated_lids),
        cmocka_unit_test(keys_follow_machines_with_dynamic_lids),
        cmocka_unit_test(keys_of_the_hypervisor_are_not_inherited),
        cmocka_unit_test(a_machine_in_too_many_partitions_is_refused),
        cmocka_unit_test(a_hypervisor_that_fails_meanwhile_comes_back_without_foreign_keys),
        cmocka_unit_test(rules_that_change_during_a_move_count_at_its_end),
        cmocka_unit_test(a_killed_manager_leaves_no_foreign_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
