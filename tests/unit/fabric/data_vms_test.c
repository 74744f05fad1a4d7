/* Virtual machines: their traffic follows them, only the move causes losses, and the downtime is
 * measured between two deliveries. */
#include "vswitch_fixture.h"

#include "fabric/data.h"

enum { VM_LID = 30, OTHER_LID = 31 };

struct scene {
    struct cloud cloud;
    struct fabric *fabric;
    uint32_t vms[2];
    uint64_t delivered, lost, foreign_lost, latest_latency;
    uint32_t last_at;
    struct packet_view lost_packet;
};

static struct data_path find(void *context, uint32_t source, uint32_t destination)
{
    const struct scene *scene = context;
    assert_true(source < scene->cloud.world.topology.ports.count);
    for (unsigned i = 0; i < 2; i++)
        if (destination == scene->vms[i])
            return (struct data_path){.dlid = (uint16_t)(VM_LID + i)};
    return (struct data_path){
        .dlid = (uint16_t)wire_get(fabric_port_info(scene->fabric, destination), PORT_INFO_LID)};
}

static void hear_delivered(void *context, uint64_t now, const struct packet_view *packet)
{
    struct scene *scene = context;
    scene->delivered++;
    scene->last_at = packet->destination;
    scene->latest_latency = now - packet->entered;
}

static void hear_lost(void *context, uint64_t now, const struct packet_view *packet,
                      enum loss cause, uint32_t port)
{
    struct scene *scene = context;
    (void)now, (void)cause, (void)port;
    scene->lost++;
    scene->foreign_lost += packet->from_vm == TOPOLOGY_NONE && packet->to_vm == TOPOLOGY_NONE;
    scene->lost_packet = *packet;
}

static void scene_begin(struct scene *scene)
{
    memset(scene, 0, sizeof *scene);
    cloud_begin(&scene->cloud);
    scene->fabric = scene->cloud.world.fabric;
    for (unsigned i = 0; i < 2; i++)
        scene->vms[i] = fabric_add_vm(scene->fabric);
    fabric_set_paths(scene->fabric, &(struct data_paths){.context = scene, .find = find});
    fabric_observe_data(
        scene->fabric,
        &(struct data_observer){.context = scene, .delivered = hear_delivered, .lost = hear_lost});
}

static void check(struct scene *scene)
{
    struct err err = {0};
    if (fabric_check_data(scene->fabric, &err))
        fail_msg("%s", err.message);
}

static void scene_end(struct scene *scene)
{
    check(scene);
    cloud_end(&scene->cloud);
}

static void run(struct scene *scene, uint64_t ps)
{
    uint64_t until = fabric_network_time(scene->fabric) + ps;
    struct fabric_delivery delivery;
    while (fabric_run(scene->fabric, until))
        fabric_next_delivery(scene->fabric, &delivery);
    check(scene);
}

/* One packet of 256 bytes every `interval`. */
static unsigned send(struct scene *scene, uint32_t from, uint32_t to, uint64_t interval,
                     uint64_t retry_ps)
{
    struct traffic traffic;
    struct err err = {0};
    traffic_init(&traffic, 256);
    vec_push(&traffic.senders, from);
    vec_push(&traffic.receivers, to);
    traffic.arrival = ARRIVAL_CONSTANT;
    traffic.interval_ps = interval;
    traffic.start_ps = fabric_network_time(scene->fabric);
    traffic.retry_ps = retry_ps;
    traffic.retries = retry_ps ? 100 : 0;
    if (fabric_check_traffic(scene->fabric, &traffic, &err))
        fail_msg("%s", err.message);
    unsigned number = fabric_add_traffic(scene->fabric, &traffic);
    traffic_release(&traffic);
    return number;
}

static uint64_t sum(const struct vm_direction *side)
{
    uint64_t lost = 0;
    for (unsigned i = 0; i < LOSS_CAUSES; i++)
        lost += side->lost[i];
    return lost;
}

/* The addresses first, the machine when they are there. */
static void migrate(struct scene *scene, unsigned vm, unsigned from_host, unsigned from,
                    unsigned to_host, unsigned to)
{
    fabric_move_vm(scene->fabric, scene->vms[vm], TOPOLOGY_NONE);
    assert_int_equal(cloud_set_function(&scene->cloud, from_host, from, 0, 0), 0);
    cloud_place(&scene->cloud, VM_LID + vm, to_host, to);
    fabric_move_vm(scene->fabric, scene->vms[vm], cloud_port(&scene->cloud, to_host, to));
}

static void start(struct scene *scene, unsigned vm, unsigned host, unsigned number)
{
    cloud_place(&scene->cloud, VM_LID + vm, host, number);
    fabric_move_vm(scene->fabric, scene->vms[vm], cloud_port(&scene->cloud, host, number));
}

static void packets_to_a_vm_follow_it(void **state)
{
    (void)state;
    struct scene scene;
    scene_begin(&scene);
    start(&scene, 0, 0, 1);
    const struct vm_view *vm = fabric_vm(scene.fabric, scene.vms[0]);
    unsigned traffic = send(&scene, scene.cloud.world.manager, scene.vms[0], TIME_US, 0);
    run(&scene, TIME_MS);
    assert_int_equal(scene.last_at, cloud_port(&scene.cloud, 0, 1));
    assert_in_range(vm->to.delivered, 995, 1000);
    assert_int_equal(scene.lost, 0);
    uint64_t last = vm->to.last_ps;
    migrate(&scene, 0, 0, 1, 1, 2);
    assert_true(vm->to.interrupted);
    run(&scene, TIME_MS);
    assert_int_equal(vm->moves, 1);
    assert_int_equal(scene.last_at, cloud_port(&scene.cloud, 1, 2));
    assert_false(vm->to.interrupted);
    assert_int_equal(vm->to.interruptions, 1);
    /* Out for as long as it was away, and a packet's interval or so more. */
    assert_true(vm->to.downtime_ps >= vm->attached_ps - last);
    assert_in_range(vm->to.downtime_ps, vm->attached_ps - vm->detached_ps,
                    vm->attached_ps - vm->detached_ps + 5 * TIME_US);
    assert_int_equal(vm->to.longest_ps, vm->to.downtime_ps);
    assert_int_equal(vm->to.total_ps, vm->to.downtime_ps);
    /* One packet a microsecond was lost for the time. */
    uint64_t lost = sum(&vm->to);
    assert_in_range(lost, vm->to.downtime_ps / TIME_US - 4, vm->to.downtime_ps / TIME_US + 4);
    assert_true(vm->to.lost[LOSS_MOVED] > 0);
    assert_int_equal(vm->to.lost[LOSS_OUTPUT_IS_INPUT], 0); /* all tables are right */
    assert_int_equal(scene.lost, lost);
    assert_int_equal(scene.lost_packet.to_vm, scene.vms[0]);
    assert_int_equal(scene.lost_packet.from_vm, TOPOLOGY_NONE);
    fabric_stop_traffic(scene.fabric, traffic);
    run(&scene, TIME_MS);
    assert_int_equal(scene.delivered, vm->to.delivered);
    scene_end(&scene);
}

static void packets_of_a_vm_wait_and_leave_from_its_new_port(void **state)
{
    (void)state;
    struct scene scene;
    scene_begin(&scene);
    start(&scene, 0, 0, 1);
    const struct vm_view *vm = fabric_vm(scene.fabric, scene.vms[0]);
    unsigned traffic = send(&scene, scene.vms[0], scene.cloud.world.manager, 10 * TIME_US, 0);
    run(&scene, TIME_MS);
    fabric_move_vm(scene.fabric, scene.vms[0], TOPOLOGY_NONE);
    run(&scene, 100 * TIME_US);
    uint64_t delivered = vm->from.delivered;
    run(&scene, 100 * TIME_US);
    assert_int_equal(vm->from.delivered, delivered); /* silence */
    struct data_totals totals;
    fabric_data_totals(scene.fabric, &totals);
    assert_in_range(totals.waiting, 19, 21);
    migrate(&scene, 0, 0, 1, 1, 1);
    assert_int_equal(vm->port, cloud_port(&scene.cloud, 1, 1));
    run(&scene, TIME_MS);
    fabric_stop_traffic(scene.fabric, traffic);
    run(&scene, TIME_MS);
    fabric_data_totals(scene.fabric, &totals);
    assert_int_equal(totals.unroutable, 0);
    assert_int_equal(sum(&vm->from), 0);
    assert_int_equal(totals.delivered, totals.made);
    assert_int_equal(vm->from.delivered, totals.made);
    assert_in_range(vm->from.downtime_ps, 200 * TIME_US, 300 * TIME_US);
    scene_end(&scene);
}

static void a_vm_drops_old_packets_beyond_its_backlog(void **state)
{
    (void)state;
    struct scene scene;
    scene_begin(&scene);
    start(&scene, 0, 0, 1);
    const struct vm_view *vm = fabric_vm(scene.fabric, scene.vms[0]);
    send(&scene, scene.vms[0], scene.cloud.world.manager, 10 * TIME_US, 0);
    run(&scene, TIME_MS);
    fabric_move_vm(scene.fabric, scene.vms[0], TOPOLOGY_NONE);
    run(&scene, 10 * TIME_MS);
    uint64_t before = vm->from.delivered;
    struct data_totals totals;
    fabric_move_vm(scene.fabric, scene.vms[0], cloud_port(&scene.cloud, 0, 1));
    fabric_data_totals(scene.fabric, &totals);
    assert_in_range(totals.unroutable, 1000 - DATA_VM_BACKLOG - 2, 1000 - DATA_VM_BACKLOG + 2);
    run(&scene, 5 * TIME_US + 200 * TIME_US);
    assert_in_range(vm->from.delivered - before, DATA_VM_BACKLOG + 18, DATA_VM_BACKLOG + 22);
    scene_end(&scene);
}

static void two_vms_move_and_no_other_traffic_is_lost(void **state)
{
    (void)state;
    struct scene scene;
    scene_begin(&scene);
    start(&scene, 0, 0, 1);
    start(&scene, 1, 1, 1);
    uint32_t a = cloud_port(&scene.cloud, 0, 0), b = cloud_port(&scene.cloud, 1, 0);
    send(&scene, scene.vms[0], scene.vms[1], TIME_US, 0);
    send(&scene, scene.vms[1], scene.vms[0], TIME_US, 0);
    send(&scene, a, b, TIME_US, 0);
    send(&scene, b, scene.cloud.world.manager, TIME_US, 0);
    run(&scene, TIME_MS);
    migrate(&scene, 0, 0, 1, 1, 2); /* now both are at B */
    run(&scene, TIME_MS);
    assert_int_equal(scene.foreign_lost, 0);
    migrate(&scene, 1, 1, 1, 0, 2);
    run(&scene, TIME_MS);
    assert_int_equal(scene.foreign_lost, 0);
    for (unsigned i = 0; i < 2; i++) {
        const struct vm_view *vm = fabric_vm(scene.fabric, scene.vms[i]);
        assert_int_equal(vm->moves, 1);
        assert_true(vm->to.delivered > 2000 && vm->from.delivered > 2000);
        assert_in_range(sum(&vm->to), 1, 400);
        assert_false(vm->to.interrupted);
        assert_false(vm->from.interrupted);
    }
    scene_end(&scene);
}

static void an_address_without_its_vm_accepts_no_packets(void **state)
{
    (void)state;
    struct scene scene;
    scene_begin(&scene);
    cloud_place(&scene.cloud, VM_LID, 0, 1);
    const struct vm_view *vm = fabric_vm(scene.fabric, scene.vms[0]);
    send(&scene, scene.cloud.world.manager, scene.vms[0], 10 * TIME_US, 0);
    run(&scene, TIME_MS);
    assert_int_equal(vm->to.delivered, 0);
    assert_in_range(vm->to.lost[LOSS_MOVED], 99, 101);
    fabric_move_vm(scene.fabric, scene.vms[0], cloud_port(&scene.cloud, 0, 1));
    run(&scene, TIME_MS);
    assert_in_range(vm->to.delivered, 99, 101);
    assert_int_equal(vm->moves, 0);
    assert_int_equal(vm->to.interruptions, 0);
    scene_end(&scene);
}

static void reliable_packets_survive_the_move(void **state)
{
    (void)state;
    struct scene scene;
    scene_begin(&scene);
    start(&scene, 0, 0, 1);
    send(&scene, scene.cloud.world.manager, scene.vms[0], 5 * TIME_US, 50 * TIME_US);
    unsigned traffic = 1;
    assert_int_equal(
        send(&scene, scene.vms[0], cloud_port(&scene.cloud, 1, 0), 5 * TIME_US, 50 * TIME_US),
        traffic);
    run(&scene, TIME_MS);
    for (unsigned i = 0; i < 5; i++) {
        migrate(&scene, 0, i % 2, 1, (i + 1) % 2, 1);
        run(&scene, TIME_MS);
    }
    fabric_stop_traffic(scene.fabric, 0);
    fabric_stop_traffic(scene.fabric, 1);
    run(&scene, 10 * TIME_MS);
    struct data_totals totals;
    fabric_data_totals(scene.fabric, &totals);
    assert_true(totals.retried > 0);
    assert_int_equal(scene.lost, 0);
    assert_int_equal(totals.delivered, totals.made);
    assert_int_equal(fabric_vm(scene.fabric, scene.vms[0])->moves, 5);
    scene_end(&scene);
}

/* A saturated VM that moves while it waits for a full output buffer. */
static void a_vm_that_moves_leaves_the_queue_of_its_port(void **state)
{
    (void)state;
    struct scene scene;
    struct traffic traffic;
    scene_begin(&scene);
    start(&scene, 0, 0, 1);
    start(&scene, 1, 0, 2);
    for (unsigned i = 0; i < 2; i++) {
        traffic_init(&traffic, 256);
        vec_push(&traffic.senders, scene.vms[i]);
        vec_push(&traffic.receivers, scene.cloud.world.manager);
        traffic.arrival = ARRIVAL_SATURATED;
        traffic.start_ps = fabric_network_time(scene.fabric);
        fabric_add_traffic(scene.fabric, &traffic);
        traffic_release(&traffic);
    }
    run(&scene, TIME_MS);
    fabric_move_vm(scene.fabric, scene.vms[0], TOPOLOGY_NONE);
    run(&scene, TIME_MS);
    uint64_t stopped = fabric_vm(scene.fabric, scene.vms[0])->from.delivered;
    run(&scene, TIME_MS);
    assert_int_equal(fabric_vm(scene.fabric, scene.vms[0])->from.delivered, stopped);
    migrate(&scene, 0, 0, 1, 1, 1);
    run(&scene, TIME_MS);
    for (unsigned i = 0; i < 2; i++)
        assert_true(fabric_vm(scene.fabric, scene.vms[i])->from.delivered > stopped + 100);
    /* A VM whose LID is exchanged at its port: packets in flight are lost, the others arrive. */
    uint64_t before = fabric_vm(scene.fabric, scene.vms[1])->from.delivered;
    fabric_move_vm(scene.fabric, scene.vms[1], TOPOLOGY_NONE);
    fabric_move_vm(scene.fabric, scene.vms[1], cloud_port(&scene.cloud, 0, 2));
    run(&scene, TIME_MS);
    assert_true(fabric_vm(scene.fabric, scene.vms[1])->from.delivered > before + 100);
    scene_end(&scene);
}

/* A quick move: packets sent before it arrive after the VM. */
static void packets_from_before_the_move_do_not_end_the_downtime(void **state)
{
    (void)state;
    struct scene scene;
    struct data_totals totals = {0};
    scene_begin(&scene);
    start(&scene, 0, 0, 1);
    cloud_place(&scene.cloud, OTHER_LID, 1, 1);
    const struct vm_view *vm = fabric_vm(scene.fabric, scene.vms[0]);
    send(&scene, scene.vms[0], scene.cloud.world.manager, 20 * TIME_US, 0);
    run(&scene, 100 * TIME_US);
    while (!totals.travelling) {
        run(&scene, 100 * TIME_NS);
        fabric_data_totals(scene.fabric, &totals);
    }
    uint64_t before = vm->from.delivered;
    fabric_move_vm(scene.fabric, scene.vms[0], cloud_port(&scene.cloud, 1, 1));
    run(&scene, 10 * TIME_US);
    assert_int_equal(vm->from.delivered, before + 1);
    assert_true(vm->from.interrupted);
    uint64_t last = vm->from.last_ps;
    run(&scene, 15 * TIME_US);
    assert_false(vm->from.interrupted);
    assert_int_equal(vm->from.interruptions, 1);
    assert_int_equal(vm->from.downtime_ps, vm->from.last_ps - last);
    assert_int_equal(sum(&vm->from), 0);
    scene_end(&scene);
}

static void a_new_lid_holds_for_data_at_once(void **state)
{
    (void)state;
    struct scene scene;
    enum { NEW_LID = 50 };
    scene_begin(&scene);
    cloud_place(&scene.cloud, 40, 0, 1);
    cloud_route(&scene.cloud, 41, 1);
    cloud_route(&scene.cloud, NEW_LID, 1);
    send(&scene, scene.cloud.world.manager, cloud_port(&scene.cloud, 0, 1), 10 * TIME_US, 0);
    send(&scene, scene.cloud.world.manager, cloud_port(&scene.cloud, 0, 0), 10 * TIME_US, 0);
    run(&scene, 100 * TIME_US);
    /* A virtual function's while it is up; and the pair's, given to the switch. */
    assert_int_equal(cloud_set_function(&scene.cloud, 0, 1, 41, 0), 0);
    assert_int_equal(
        world_set_port(&scene.cloud.world, &scene.cloud.hosts[0].path, 0, PORT_INFO_LID, NEW_LID),
        0);
    run(&scene, 10 * TIME_US); /* packets in flight to the old ones */
    uint64_t delivered = scene.delivered, lost = scene.lost;
    run(&scene, 100 * TIME_US);
    assert_in_range(scene.delivered - delivered, 19, 21);
    assert_int_equal(scene.lost, lost);
    scene_end(&scene);
}

static uint64_t latency_with(uint64_t routing_ps)
{
    struct scene scene;
    memset(&scene, 0, sizeof scene);
    world_init(&scene.cloud.world);
    scene.cloud.world.options.vswitch_routing_ps = routing_ps;
    cloud_begin_with(&scene.cloud);
    scene.fabric = scene.cloud.world.fabric;
    fabric_set_paths(scene.fabric, &(struct data_paths){.context = &scene, .find = find});
    fabric_observe_data(scene.fabric,
                        &(struct data_observer){.context = &scene, .delivered = hear_delivered});
    send(&scene, scene.cloud.world.manager, cloud_port(&scene.cloud, 0, 0), 10 * TIME_US, 0);
    run(&scene, 100 * TIME_US);
    assert_true(scene.delivered > 5);
    scene_end(&scene);
    return scene.latest_latency;
}

static void a_look_up_in_a_virtual_switch_has_its_own_cost(void **state)
{
    (void)state;
    assert_int_equal(latency_with(1010 * TIME_NS) - latency_with(10 * TIME_NS), TIME_US);
}

static struct vm_view a_move(void)
{
    struct scene scene;
    scene_begin(&scene);
    start(&scene, 0, 0, 1);
    send(&scene, scene.cloud.world.manager, scene.vms[0], TIME_US, 0);
    send(&scene, scene.vms[0], scene.cloud.world.manager, TIME_US, 0);
    run(&scene, TIME_MS);
    migrate(&scene, 0, 0, 1, 1, 2);
    run(&scene, TIME_MS);
    struct vm_view view = *fabric_vm(scene.fabric, scene.vms[0]);
    scene_end(&scene);
    return view;
}

static void a_move_is_reproducible(void **state)
{
    (void)state;
    struct vm_view a = a_move(), b = a_move();
    const struct vm_direction *sides[2][2] = {{&a.to, &b.to}, {&a.from, &b.from}};
    assert_int_equal(a.attached_ps, b.attached_ps);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(sides[i][0]->last_ps, sides[i][1]->last_ps);
        assert_int_equal(sides[i][0]->delivered, sides[i][1]->delivered);
        assert_int_equal(sides[i][0]->downtime_ps, sides[i][1]->downtime_ps);
        assert_memory_equal(sides[i][0]->lost, sides[i][1]->lost, sizeof a.to.lost);
    }
}

static void a_hypervisor_fails_with_its_vm(void **state)
{
    (void)state;
    struct scene scene;
    scene_begin(&scene);
    start(&scene, 0, 0, 1);
    send(&scene, scene.cloud.world.manager, scene.vms[0], TIME_US, 0);
    send(&scene, scene.vms[0], scene.cloud.world.manager, TIME_US, 0);
    run(&scene, TIME_MS);
    assert_int_equal(fabric_set_node(scene.fabric, scene.cloud.hosts[0].vswitch, false, NULL), 0);
    run(&scene, TIME_MS);
    const struct vm_view *vm = fabric_vm(scene.fabric, scene.vms[0]);
    assert_true(vm->to.lost[LOSS_DEAD_NODE] > 900);
    /* It starts again at the other one. */
    fabric_move_vm(scene.fabric, scene.vms[0], TOPOLOGY_NONE);
    start(&scene, 0, 1, 1);
    run(&scene, TIME_MS);
    assert_true(vm->to.delivered > 1900);
    assert_in_range(vm->to.downtime_ps, TIME_MS, TIME_MS + 200 * TIME_US);
    scene_end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_to_a_vm_follow_it),
        cmocka_unit_test(packets_of_a_vm_wait_and_leave_from_its_new_port),
        cmocka_unit_test(a_vm_drops_old_packets_beyond_its_backlog),
        cmocka_unit_test(two_vms_move_and_no_other_traffic_is_lost),
        cmocka_unit_test(an_address_without_its_vm_accepts_no_packets),
        cmocka_unit_test(reliable_packets_survive_the_move),
        cmocka_unit_test(a_vm_that_moves_leaves_the_queue_of_its_port),
        cmocka_unit_test(packets_from_before_the_move_do_not_end_the_downtime),
        cmocka_unit_test(a_new_lid_holds_for_data_at_once),
        cmocka_unit_test(a_look_up_in_a_virtual_switch_has_its_own_cost),
        cmocka_unit_test(a_move_is_reproducible),
        cmocka_unit_test(a_hypervisor_fails_with_its_vm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
