/* QoS levels of virtual functions are those of their hypervisor, without further SMPs. */
#include "sim_world.h"
#include "vswitch_world.h"

struct heard {
    uint64_t maps, weights; /* Set(SL2VL), Set(VLArb) */
};

static void note_sent(void *context, uint64_t now, unsigned manager,
                      const struct sm_message *message)
{
    struct heard *heard = context;
    uint64_t attribute = wire_get(message->mad, MAD_ATTRIBUTE_ID);
    bool set = wire_get(message->mad, MAD_METHOD) == METHOD_SET;
    (void)now;
    (void)manager;
    heard->maps += set && attribute == ATTRIBUTE_SL2VL_TABLE;
    heard->weights += set && attribute == ATTRIBUTE_VL_ARBITRATION_TABLE;
}

static void listen(struct world *world, struct heard *heard)
{
    *heard = (struct heard){0};
    sim_set_listener(world->sim, &(struct sim_listener){.context = heard, .sent = note_sent});
}

static unsigned open_levels(struct world *world, struct heard *heard, bool dynamic)
{
    char text[] = "level default sl 0 weight 64\nlevel urgent sl 1 priority high weight 64\n";
    struct err err = {0};
    struct qos qos;
    qos_init(&qos);
    assert_int_equal(qos_read(&qos, from_text("levels", text, &err)), 0);
    qos.on = true;
    struct sm_config config = default_config();
    config.qos = &qos;
    config.dynamic_lids = dynamic;
    world_open(world, "today", "kary 2 2 vfs=2");
    unsigned manager = settle(world, host(world, "H0"), &config);
    qos_release(&qos);
    listen(world, heard);
    return manager;
}

static const uint8_t *map_of(const struct subnet *subnet, uint32_t port)
{
    return blocks_actual(&subnet->blocks, port, BLOCK_SL2VL, 0);
}

/* The manager's SL-to-VL tables of active functions are those of the hypervisor's adapter. */
static unsigned compare_maps(struct world *world, unsigned manager)
{
    const struct subnet *subnet = sm_subnet(sim_manager(world->sim, manager));
    unsigned compared = 0;
    for (uint32_t vf_port = 0; vf_port < subnet->ports.count; vf_port++) {
        uint32_t port = subnet->ports.items[vf_port].peer;
        if (!subnet_is_vf_port(subnet, vf_port) || port == SUBNET_NONE)
            continue;
        uint32_t pf = subnet_pf_of(subnet, subnet->ports.items[vf_port].node);
        assert_non_null(map_of(subnet, port));
        assert_memory_equal(map_of(subnet, port), map_of(subnet, pf), BLOCK_BYTES);
        assert_true(blocks_port_is_settled(&subnet->blocks, port));
        compared++;
    }
    return compared;
}

static void functions_have_the_levels_of_their_hypervisor(void **state)
{
    (void)state;
    for (unsigned dynamic = 0; dynamic < 2; dynamic++) {
        struct world world;
        struct heard heard;
        unsigned manager = open_levels(&world, &heard, dynamic);
        assert_int_equal(compare_maps(&world, manager), dynamic ? 0 : 2 * world_hosts(&world));
        must(&world, manager, VSWITCH_CREATE, "a", "H1", VSWITCH_BALANCED);
        must(&world, manager, VSWITCH_MIGRATE, "a", "H3", VSWITCH_BALANCED);
        assert_true(compare_maps(&world, manager) > 0);
        assert_int_equal(heard.maps, 0); /* no SMP was sent for it */
        assert_int_equal(heard.weights, 0);
        check_world(&world, manager);
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_have_the_levels_of_their_hypervisor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
