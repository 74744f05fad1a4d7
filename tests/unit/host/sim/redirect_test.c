/* An administration at another port than its manager: hosts and standbys follow redirections, and
 * stop with an error at a loop of redirections. */
#include "client_requests.h"
#include "sim_world.h"

#include <string.h>

static const uint8_t mgid[16] = {0xFF, 0x12, 0xA0, 0x1C, [15] = 7};

struct away {
    struct world world;
    struct sim_clients *clients;
    uint32_t seat; /* port of the administration */
};

static struct sm_config config_of(unsigned priority)
{
    struct sm_config config;
    sm_config_init(&config);
    config.timeout_ns = 20 * NS_PER_MS;
    config.sweep_ns = 1 * NS_PER_S;
    config.priority = (uint8_t)priority;
    return config;
}

static void begin(struct away *away)
{
    struct sim_administration_options options;
    struct sm_config config = config_of(5);
    world_open(&away->world, "today", "irregular switches=12 ports=6 hosts=10");
    away->seat = host(&away->world, "H9");
    sim_administration_options_init(&options);
    options.elsewhere = true;
    options.port = away->seat;
    sim_add_administrations(away->world.sim, &options);
    settle(&away->world, host(&away->world, "H0"), &config);
    away->clients = sim_clients_new(away->world.sim, away->world.fabric);
}

static void end(struct away *away)
{
    sim_clients_free(away->clients);
    world_close(&away->world);
}

static const struct sim_query *answer_to(struct away *away, uint32_t question)
{
    assert_true(sim_clients_run(away->clients, sim_now(away->world.sim) + 30 * TIME_S));
    return sim_clients_query(away->clients, question);
}

static uint16_t lid_of(const struct away *away, const char *name)
{
    uint32_t port = host(&away->world, name);
    return (uint16_t)wire_get(fabric_port_info(away->world.fabric, port), PORT_INFO_LID);
}

static void a_host_follows_and_stores_a_redirection(void **state)
{
    (void)state;
    struct away away;
    begin(&away);
    uint32_t number = client_join(&away.world, away.clients, host(&away.world, "H3"), mgid);
    const struct sim_query *question = answer_to(&away, number);
    assert_int_equal(question->state, SIM_ANSWERED);
    assert_int_equal(question->status, STATUS_OK);
    assert_int_equal(question->tries, 2); /* to the manager, and to the redirection */
    const struct groups *groups = sa_groups(sim_sa(away.world.sim, 0));
    assert_int_equal(groups_find(groups, mgid)->members.count, 1);
    /* The next request uses the redirection at once. */
    number = sim_clients_path(away.clients, host(&away.world, "H3"), host(&away.world, "H8"), 0);
    question = answer_to(&away, number);
    assert_int_equal(question->status, STATUS_OK);
    assert_int_equal(question->tries, 1);
    assert_int_equal(wire_get(question->answer + SA_DATA_OFFSET, PATH_RECORD_DLID),
                     lid_of(&away, "H8"));
    end(&away);
}

static void class_port_info_has_the_redirection(void **state)
{
    (void)state;
    struct away away;
    uint8_t mad[MAD_BYTES] = {0};
    begin(&away);
    wire_set(mad, MAD_METHOD, METHOD_GET);
    wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_CLASS_PORT_INFO);
    uint32_t number = sim_clients_send(away.clients, host(&away.world, "H3"), mad);
    const struct sim_query *question = answer_to(&away, number);
    assert_int_equal(question->status, STATUS_OK);
    assert_int_equal(question->tries, 1);
    const uint8_t *info = question->answer + SA_DATA_OFFSET;
    assert_int_equal(wire_get(info, CLASS_PORT_INFO_REDIRECT_LID), lid_of(&away, "H9"));
    assert_int_equal(wire_get(info, CLASS_PORT_INFO_REDIRECT_QP), QP_GSI);
    assert_int_equal(wire_get(info, CLASS_PORT_INFO_REDIRECT_P_KEY), 0xFFFF);
    end(&away);
}

static void long_tables_come_from_the_redirected_port(void **state)
{
    (void)state;
    struct away away;
    uint8_t mad[MAD_BYTES] = {0};
    begin(&away);
    wire_set(mad, MAD_METHOD, METHOD_GET_TABLE);
    wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_NODE_RECORD);
    const struct sim_query *question =
        answer_to(&away, sim_clients_send(away.clients, host(&away.world, "H2"), mad));
    assert_int_equal(question->status, STATUS_OK);
    assert_int_equal(question->tries, 2);
    size_t record = 8 * (size_t)wire_get(question->answer, SA_ATTRIBUTE_OFFSET);
    assert_int_equal((question->bytes - SA_DATA_OFFSET) / record, 12 + 10);
    end(&away);
}

static void a_loop_of_redirections_is_an_error(void **state)
{
    (void)state;
    struct away away;
    begin(&away);
    sa_redirect(sim_sa(away.world.sim, 0),
                &(struct redirect){.lid = lid_of(&away, "H0"), .qp = QP_GSI, .q_key = Q_KEY_GSI});
    const struct sim_query *question =
        answer_to(&away, client_join(&away.world, away.clients, host(&away.world, "H3"), mgid));
    assert_int_equal(question->state, SIM_UNANSWERED);
    assert_int_equal(question->status, STATUS_REDIRECT);
    assert_int_equal(question->tries, 2);
    assert_non_null(strstr(question->trouble, "which has redirected it before"));
    /* After the loop is resolved, requests are answered. */
    sa_redirect(sim_sa(away.world.sim, 0), NULL);
    question =
        answer_to(&away, client_join(&away.world, away.clients, host(&away.world, "H3"), mgid));
    assert_int_equal(question->status, STATUS_OK);
    end(&away);
}

static void a_redirection_is_dropped_when_the_master_changes(void **state)
{
    (void)state;
    struct away away;
    struct sm_config config = config_of(5);
    begin(&away);
    uint32_t number = client_join(&away.world, away.clients, host(&away.world, "H3"), mgid);
    assert_int_equal(answer_to(&away, number)->status, STATUS_OK);
    sim_kill_manager(away.world.sim, 0);
    sim_add_manager(away.world.sim, host(&away.world, "H7"), &config);
    run_for(&away.world, 5 * TIME_S);
    number = client_join(&away.world, away.clients, host(&away.world, "H3"), mgid);
    const struct sim_query *question = answer_to(&away, number);
    assert_int_equal(question->status, STATUS_OK);
    assert_int_equal(question->trail.count, 2);
    assert_int_equal(question->trail.steps[0].lid, lid_of(&away, "H7"));
    end(&away);
}

/* That port is in use, so the standby's administration uses its own port. */
static unsigned stand_by(struct away *away)
{
    struct sm_config config = config_of(1);
    unsigned standby = sim_add_manager(away->world.sim, host(&away->world, "H7"), &config);
    uint64_t limit = sim_now(away->world.sim) + 60 * TIME_S;
    while (!sm_has_copy(sim_manager(away->world.sim, standby)))
        assert_true(sim_step(away->world.sim, limit));
    run_for(&away->world, 1 * TIME_S);
    return standby;
}

static void a_standby_follows_its_master_s_administration(void **state)
{
    (void)state;
    struct away away;
    begin(&away);
    answer_to(&away, client_join(&away.world, away.clients, host(&away.world, "H3"), mgid));
    unsigned standby = stand_by(&away);
    const struct groups *groups = sa_groups(sim_sa(away.world.sim, standby));
    assert_non_null(groups_find(groups, mgid));
    assert_int_equal(groups_find(groups, mgid)->members.count, 1);
    assert_int_equal(sa_registry_master(sim_sa(away.world.sim, standby)), lid_of(&away, "H0"));
    /* And later changes. */
    answer_to(&away, client_join(&away.world, away.clients, host(&away.world, "H4"), mgid));
    run_for(&away.world, 1 * TIME_S);
    assert_int_equal(groups_find(groups, mgid)->members.count, 2);
    end(&away);
}

static void a_standby_logs_a_loop_of_redirections_once(void **state)
{
    (void)state;
    struct away away;
    struct err err;
    begin(&away);
    sa_redirect(sim_sa(away.world.sim, 0),
                &(struct redirect){.lid = lid_of(&away, "H0"), .qp = QP_GSI, .q_key = Q_KEY_GSI});
    unsigned standby = stand_by(&away);
    run_for(&away.world, 20 * TIME_S);
    struct sa *sa = sim_sa(away.world.sim, standby);
    assert_int_equal(sa_registry_master(sa), 0);
    assert_true(sa_next_sync_error(sa, &err));
    assert_non_null(strstr(err.message, "which has redirected it before"));
    assert_false(sa_next_sync_error(sa, &err));
    end(&away);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_follows_and_stores_a_redirection),
        cmocka_unit_test(class_port_info_has_the_redirection),
        cmocka_unit_test(long_tables_come_from_the_redirected_port),
        cmocka_unit_test(a_loop_of_redirections_is_an_error),
        cmocka_unit_test(a_redirection_is_dropped_when_the_master_changes),
        cmocka_unit_test(a_standby_follows_its_master_s_administration),
        cmocka_unit_test(a_standby_logs_a_loop_of_redirections_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
