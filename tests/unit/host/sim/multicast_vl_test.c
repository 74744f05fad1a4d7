/* Multicast with unicast routes on several VLs: on its own VL a group reaches all members without a
 * deadlock; on a VL of unicast routes it reaches as many as possible. */
#include "client_requests.h"
#include "sim_world.h"

#include "fabric/data.h"

#include <string.h>

/* IPoIB's broadcast group in the default partition, for IPv4 (RFC 4391). */
static const uint8_t broadcast[16] = {0xFF, 0x12,       0x40, 0x1B, 0xFF,
                                      0xFF, [12] = 255, 255,  255,  255};
static const uint8_t another[16] = {0xFF, 0x12, 0xA0, 0x1C, [15] = 7};

struct laned {
    struct world world;
    struct sim_clients *clients;
    uint64_t delivered;
    unsigned warnings, errors;
    struct data_path path; /* of all packets */
};

static void note_event(void *context, uint64_t now, unsigned manager, const struct sm_event *event)
{
    struct laned *laned = context;
    (void)now, (void)manager;
    laned->errors += event->kind == SM_EVENT_ERROR;
    laned->warnings += event->kind == SM_EVENT_WARNING;
}

static void note_delivered(void *context, uint64_t now, const struct packet_view *packet)
{
    struct laned *laned = context;
    (void)now, (void)packet;
    laned->delivered++;
}

static struct data_path find(void *context, uint32_t source, uint32_t destination)
{
    const struct laned *laned = context;
    (void)source, (void)destination;
    return laned->path;
}

/* A torus of sixteen switches with two hosts each and eight VLs. */
enum { HOSTS = 32 };
static void begin(struct laned *laned, const char *engine, unsigned lanes)
{
    struct sim_administration_options options;
    struct sm_config config;
    memset(laned, 0, sizeof *laned);
    world_open(&laned->world, "today", "torus dims=4,4 hosts=2");
    sim_set_listener(laned->world.sim,
                     &(struct sim_listener){.context = laned, .event = note_event});
    fabric_set_paths(laned->world.fabric, &(struct data_paths){.context = laned, .find = find});
    fabric_observe_data(laned->world.fabric,
                        &(struct data_observer){.context = laned, .delivered = note_delivered});
    sim_administration_options_init(&options);
    sim_add_administrations(laned->world.sim, &options);
    sm_config_init(&config);
    config.engine = engine_find(engine);
    config.engine_options.max_vls = lanes;
    settle(&laned->world, management_port(&laned->world, "S0_0"), &config);
    laned->clients = sim_clients_new(laned->world.sim, laned->world.fabric);
    laned->warnings = 0;
}

static void end(struct laned *laned)
{
    struct err err = {0};
    if (fabric_check_data(laned->world.fabric, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(laned->errors, 0);
    sim_clients_free(laned->clients);
    world_close(&laned->world);
}

static uint32_t host_number(const struct laned *laned, unsigned number)
{
    char name[16];
    snprintf(name, sizeof name, "H%u", number);
    return host(&laned->world, name);
}

/* Joins the broadcast group as IPoIB does, without parameters. */
static uint32_t join_broadcast(struct laned *laned, uint32_t port)
{
    enum { MGID = 1, PORT_GID = 2, JOIN_STATE = 0x10000 };
    uint8_t mad[MAD_BYTES] = {0}, *record = mad + SA_DATA_OFFSET;
    wire_set(mad, MAD_METHOD, METHOD_SET);
    wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_MC_MEMBER_RECORD);
    wire_set(mad, SA_COMPONENT_MASK, MGID | PORT_GID | JOIN_STATE);
    memcpy(wire_bytes(record, MC_MEMBER_RECORD_MGID), broadcast, 16);
    uint8_t *gid = wire_bytes(record, MC_MEMBER_RECORD_PORT_GID);
    wire_set_bits(gid, 0, 64, UINT64_C(0xFE80000000000000));
    wire_set_bits(gid, 64, 64, fabric_port_guid(laned->world.fabric, port, 0));
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, JOIN_FULL);
    return sim_clients_send(laned->clients, port, mad);
}

static void all_join(struct laned *laned, const uint8_t mgid[16])
{
    for (unsigned i = 0; i < HOSTS; i++) {
        uint32_t port = host_number(laned, i);
        if (mgid == broadcast)
            join_broadcast(laned, port);
        else
            client_join(&laned->world, laned->clients, port, mgid);
    }
    assert_true(sim_clients_run(laned->clients, sim_now(laned->world.sim) + TIME_S));
    for (uint32_t i = 0; i < HOSTS; i++) {
        const struct sim_query *question = sim_clients_query(laned->clients, i);
        assert_int_equal(question->status, STATUS_OK);
        const uint8_t *record = question->answer + SA_DATA_OFFSET;
        laned->path.dlid = (uint16_t)wire_get(record, MC_MEMBER_RECORD_MLID);
        laned->path.sl = (uint8_t)wire_get(record, MC_MEMBER_RECORD_SL);
    }
    run_for(&laned->world, 100 * TIME_MS);
}

/* The number of missing copies when all hosts send to the group. */
static uint64_t missing_copies(struct laned *laned)
{
    struct err err = {0};
    struct traffic traffic;
    struct data_totals totals;
    traffic_init(&traffic, 256);
    traffic.interval_ps = 100 * TIME_US;
    traffic.start_ps = sim_now(laned->world.sim);
    traffic.stop_ps = traffic.start_ps + 5 * TIME_MS;
    for (unsigned i = 0; i < HOSTS; i++) {
        vec_push(&traffic.senders, host_number(laned, i));
        vec_push(&traffic.receivers, host_number(laned, i));
    }
    if (fabric_check_traffic(laned->world.fabric, &traffic, &err) < 0)
        fail_msg("%s", err.message);
    fabric_add_traffic(laned->world.fabric, &traffic);
    traffic_release(&traffic);
    run_for(&laned->world, 20 * TIME_MS);
    fabric_data_totals(laned->world.fabric, &totals);
    assert_true(totals.made > HOSTS * 20);
    assert_int_equal(totals.travelling + totals.waiting, 0);
    assert_true(laned->delivered <= totals.made * (HOSTS - 1));
    return totals.made * (HOSTS - 1) - laned->delivered;
}

static void check_own_vl(const char *engine, unsigned lanes)
{
    struct laned laned;
    begin(&laned, engine, lanes);
    assert_true(sm_paths(sim_manager(laned.world.sim, 0)).routes->vls > 1);
    all_join(&laned, broadcast);
    assert_int_equal(laned.path.sl, 7);
    assert_int_equal(laned.warnings, 0);
    assert_int_equal(missing_copies(&laned), 0);
    end(&laned);
}

static void on_its_own_vl_a_group_reaches_all(void **state)
{
    (void)state;
    check_own_vl("dfsssp", 4);
    check_own_vl("dfsssp", 0);
    check_own_vl("nue", 8);
    check_own_vl("lash", 0);
    check_own_vl("dfsssp", 7);
    check_own_vl("lash", 7);
    check_own_vl("nue", 3);
}

/* A group gets the SL of its creator, even if it does not reach all members; that is logged. */
static void a_group_keeps_the_sl_that_its_creator_chose(void **state)
{
    struct laned laned;
    (void)state;
    begin(&laned, "dfsssp", 4);
    all_join(&laned, another);
    assert_int_equal(laned.path.sl, 0);
    assert_true(laned.warnings > 0);
    assert_true(missing_copies(&laned) > 0);
    end(&laned);
}

static void without_a_free_vl_the_broadcast_group_uses_the_default_sl(void **state)
{
    struct laned laned;
    (void)state;
    begin(&laned, "updn", 0);
    all_join(&laned, broadcast);
    assert_int_equal(laned.path.sl, 0);
    assert_int_equal(missing_copies(&laned), 0);
    end(&laned);
}

/* The number of warnings about unreached members while all hosts join a group with this SL. */
static unsigned warnings_at(uint8_t sl)
{
    struct laned laned;
    uint8_t mad[MAD_BYTES] = {0}, *record = mad + SA_DATA_OFFSET;
    uint8_t *gid = wire_bytes(record, MC_MEMBER_RECORD_PORT_GID);
    begin(&laned, "dfsssp", 4);
    wire_set(mad, MAD_METHOD, METHOD_SET);
    wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_MC_MEMBER_RECORD);
    wire_set(mad, SA_COMPONENT_MASK, 0x130C7); /* as client_join() has it */
    memcpy(wire_bytes(record, MC_MEMBER_RECORD_MGID), another, 16);
    wire_set_bits(gid, 0, 64, UINT64_C(0xFE80000000000000));
    wire_set(record, MC_MEMBER_RECORD_P_KEY, 0xFFFF);
    wire_set(record, MC_MEMBER_RECORD_SL, sl);
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, JOIN_FULL);
    for (unsigned i = 0; i < HOSTS; i++) {
        uint32_t port = host_number(&laned, i);
        wire_set_bits(gid, 64, 64, fabric_port_guid(laned.world.fabric, port, 0));
        sim_clients_send(laned.clients, port, mad);
    }
    assert_true(sim_clients_run(laned.clients, sim_now(laned.world.sim) + TIME_S));
    for (uint32_t i = 0; i < HOSTS; i++)
        assert_int_equal(sim_clients_query(laned.clients, i)->status, STATUS_OK);
    run_for(&laned.world, 100 * TIME_MS);
    unsigned warnings = laned.warnings;
    end(&laned);
    return warnings;
}

/* SLs beyond the eight VLs of a link map to the first VLs, which routes use. */
static void an_sl_beyond_the_vls_does_not_count_as_free(void **state)
{
    (void)state;
    unsigned first = warnings_at(0);
    assert_true(first > 0);
    assert_int_equal(warnings_at(8), first);
    assert_int_equal(warnings_at(7), 0);
    assert_int_equal(warnings_at(15), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_its_own_vl_a_group_reaches_all),
        cmocka_unit_test(a_group_keeps_the_sl_that_its_creator_chose),
        cmocka_unit_test(without_a_free_vl_the_broadcast_group_uses_the_default_sl),
        cmocka_unit_test(an_sl_beyond_the_vls_does_not_count_as_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
