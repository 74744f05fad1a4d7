/* Hosts and the subnet administration on a simulated fabric: in normal operation, during reroutes,
 * and over failovers. */
#include "client_requests.h"
#include "sim_world.h"

#include <string.h>

static const uint8_t mgid[16] = {0xFF, 0x12, 0xA0, 0x1C, [15] = 7};

struct life {
    struct world world;
    struct sim_clients *clients;
    unsigned *asked; /* by port of the fabric: Set(PortInfo) with ClientReregister */
    unsigned asked_in_all;
};

static void count_reregistrations(void *context, uint64_t now, unsigned manager,
                                  const struct sm_message *message)
{
    struct life *life = context;
    (void)now;
    (void)manager;
    if (wire_get(message->mad, MAD_METHOD) == METHOD_SET &&
        wire_get(message->mad, MAD_ATTRIBUTE_ID) == ATTRIBUTE_PORT_INFO &&
        wire_get(message->mad + SMP_DATA_OFFSET, PORT_INFO_CLIENT_REREGISTER)) {
        unsigned lid = (unsigned)wire_get(message->mad + SMP_DATA_OFFSET, PORT_INFO_LID);
        life->asked[lid]++;
        life->asked_in_all++;
    }
}

static struct sm_config life_config(unsigned priority)
{
    struct sm_config config;
    sm_config_init(&config);
    config.timeout_ns = 20 * NS_PER_MS;
    config.sweep_ns = 1 * NS_PER_S;
    config.drain_ns = 10 * NS_PER_MS;
    config.priority = (uint8_t)priority;
    return config;
}

static void open_life(struct life *life, bool synchronised, bool kept)
{
    struct sim_administration_options options;
    *life = (struct life){0};
    world_open(&life->world, "today", "irregular switches=12 ports=6 hosts=10");
    life->asked = mem_zalloc(LID_UNICAST_LAST + 1, sizeof *life->asked);
    sim_set_listener(life->world.sim,
                     &(struct sim_listener){.context = life, .sent = count_reregistrations});
    sim_administration_options_init(&options);
    options.synchronised = synchronised;
    options.kept = kept;
    sim_add_administrations(life->world.sim, &options);
    struct sm_config config = life_config(5);
    settle(&life->world, host(&life->world, "H0"), &config);
    life->clients = sim_clients_new(life->world.sim, life->world.fabric);
}

static void close_life(struct life *life)
{
    sim_clients_free(life->clients);
    world_close(&life->world);
    mem_free(life->asked);
}

static void answered_well(struct life *life)
{
    assert_true(sim_clients_run(life->clients, sim_now(life->world.sim) + 30 * TIME_S));
}

static unsigned status_of(struct life *life, uint32_t question)
{
    answered_well(life);
    assert_int_equal(sim_clients_query(life->clients, question)->state, SIM_ANSWERED);
    return sim_clients_query(life->clients, question)->status;
}

static unsigned lid_of(const struct life *life, uint32_t port)
{
    return (unsigned)wire_get(fabric_port_info(life->world.fabric, port), PORT_INFO_LID);
}

static struct sa_counts counts(struct life *life, unsigned manager)
{
    struct sa_counts counts;
    sa_counts(sim_sa(life->world.sim, manager), &counts);
    return counts;
}

/* ---- normal operation ---- */

static void hosts_join_groups_and_leave_them(void **state)
{
    (void)state;
    struct life life;
    open_life(&life, true, false);
    assert_int_equal(
        status_of(&life, client_join(&life.world, life.clients, host(&life.world, "H3"), mgid)),
        STATUS_OK);
    assert_int_equal(
        status_of(&life, client_join(&life.world, life.clients, host(&life.world, "H4"), mgid)),
        STATUS_OK);
    const struct groups *groups = sa_groups(sim_sa(life.world.sim, 0));
    assert_int_equal(groups_find(groups, mgid)->members.count, 2);
    client_leave(&life.world, life.clients, host(&life.world, "H3"), mgid);
    client_leave(&life.world, life.clients, host(&life.world, "H4"), mgid);
    answered_well(&life);
    assert_null(groups_find(groups, mgid));
    close_life(&life);
}

static void a_path_record_leads_to_the_destination(void **state)
{
    (void)state;
    struct life life;
    open_life(&life, true, false);
    uint32_t to = host(&life.world, "H8");
    uint32_t question = sim_clients_path(life.clients, host(&life.world, "H2"), to, 0);
    assert_int_equal(status_of(&life, question), STATUS_OK);
    const uint8_t *path = sim_clients_query(life.clients, question)->answer + SA_DATA_OFFSET;
    assert_int_equal(wire_get(path, PATH_RECORD_DLID), lid_of(&life, to));
    close_life(&life);
}

static void tables_longer_than_a_packet_come_whole(void **state)
{
    (void)state;
    struct life life;
    uint8_t mad[MAD_BYTES] = {0};
    open_life(&life, true, false);
    wire_set(mad, MAD_METHOD, METHOD_GET_TABLE);
    wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_NODE_RECORD);
    uint32_t question = sim_clients_send(life.clients, host(&life.world, "H2"), mad);
    assert_int_equal(status_of(&life, question), STATUS_OK);
    const struct sim_query *q = sim_clients_query(life.clients, question);
    size_t record = 8 * (size_t)wire_get(q->answer, SA_ATTRIBUTE_OFFSET);
    assert_int_equal((q->bytes - SA_DATA_OFFSET) / record, 12 + 10);
    close_life(&life);
}

static void subscribers_get_reports_of_hosts_that_leave_and_return(void **state)
{
    (void)state;
    struct life life;
    open_life(&life, true, false);
    uint32_t subscriber = host(&life.world, "H5"), victim = host(&life.world, "H6");
    client_subscribe(life.clients, subscriber, 64);
    client_subscribe(life.clients, subscriber, 65);
    answered_well(&life);
    assert_int_equal(fabric_set_link(life.world.fabric, victim, false, NULL), 0);
    run_for(&life.world, 3 * TIME_S);
    assert_int_equal(sim_clients_reports(life.clients, subscriber), 1);
    assert_int_equal(fabric_set_link(life.world.fabric, victim, true, NULL), 0);
    run_for(&life.world, 3 * TIME_S);
    assert_int_equal(sim_clients_reports(life.clients, subscriber), 2); /* each once */
    close_life(&life);
}

static void queries_take_the_configured_time(void **state)
{
    (void)state;
    struct life life;
    open_life(&life, true, false);
    uint64_t begin = sim_now(life.world.sim), last = 0;
    enum { QUERIES = 200 };
    for (unsigned i = 0; i < QUERIES; i++)
        sim_clients_path(life.clients, host(&life.world, i % 2 ? "H2" : "H3"),
                         host(&life.world, "H9"), 0);
    answered_well(&life);
    for (uint32_t i = 0; i < QUERIES; i++) {
        const struct sim_query *question = sim_clients_query(life.clients, i);
        assert_int_equal(question->status, STATUS_OK);
        last = question->answered > last ? question->answered : last;
    }
    assert_true(last - begin >= (QUERIES - 1) * 4 * TIME_US);
    assert_true(last - begin <= QUERIES * 4 * TIME_US + 1 * TIME_MS);
    close_life(&life);
}

/* ---- while routes change ---- */

static uint32_t a_link_between_switches(const struct world *world)
{
    for (unsigned number = 1;; number++) {
        uint32_t port =
            topology_port_index(&world->topology, topology_find(&world->topology, "S3"), number);
        uint32_t peer = world->topology.ports.items[port].peer;
        if (peer != TOPOLOGY_NONE &&
            world->topology.nodes.items[world->topology.ports.items[peer].node].kind == NODE_SWITCH)
            return port;
    }
}

/* Queries all pairs at every step, by direct calls of the administration. */
static void every_path_is_there(struct life *life)
{
    static const char *const names[] = {"H0", "H2", "H5", "H9"};
    struct sim *sim = life->world.sim;
    struct sm_paths paths = sm_paths(sim_manager(sim, 0));
    assert_non_null(paths.network);
    for (unsigned i = 0; i < 4; i++)
        for (unsigned j = 0; j < 4; j++) {
            uint32_t from = NETWORK_NONE, to = NETWORK_NONE;
            for (uint32_t t = 0; t < paths.network->terminals.count; t++) {
                uint64_t guid = paths.network->terminals.items[t].guid;
                if (guid == fabric_port_guid(life->world.fabric, host(&life->world, names[i]), 0))
                    from = t;
                if (guid == fabric_port_guid(life->world.fabric, host(&life->world, names[j]), 0))
                    to = t;
            }
            assert_int_not_equal(from, NETWORK_NONE);
            assert_int_not_equal(to, NETWORK_NONE);
            assert_int_equal(path_lookup(paths.routes, paths.network, from, to).dlid,
                             lid_of(life, host(&life->world, names[j])));
        }
}

static void paths_are_answered_at_every_step_of_a_reroute(void **state)
{
    (void)state;
    struct life life;
    open_life(&life, true, false);
    uint32_t from = host(&life.world, "H2"), link = a_link_between_switches(&life.world);
    unsigned asked = 0, generations = 0;
    uint64_t generation = sm_paths(sim_manager(life.world.sim, 0)).generation;
    for (unsigned round = 0; round < 2; round++) {
        assert_int_equal(fabric_set_link(life.world.fabric, link, round % 2, NULL), 0);
        for (unsigned slice = 0; slice < 3000; slice++) {
            uint64_t until = sim_now(life.world.sim) + 500 * TIME_US;
            sim_clients_path(life.clients, from, host(&life.world, "H9"), 0);
            asked++;
            do {
                every_path_is_there(&life);
                uint64_t now = sm_paths(sim_manager(life.world.sim, 0)).generation;
                generations += now != generation;
                generation = now;
            } while (sim_step(life.world.sim, until));
        }
        answered_well(&life);
    }
    for (uint32_t i = 0; i < asked; i++) {
        const struct sim_query *question = sim_clients_query(life.clients, i);
        assert_int_equal(question->state, SIM_ANSWERED);
        assert_int_equal(question->status, STATUS_OK);
        assert_int_equal(wire_get(question->answer + SA_DATA_OFFSET, PATH_RECORD_DLID),
                         lid_of(&life, host(&life.world, "H9")));
    }
    assert_true(generations >= 2); /* routes changed meanwhile */
    close_life(&life);
}

/* ---- failover ---- */

static void register_clients(struct life *life)
{
    for (unsigned i = 1; i < 9; i++) {
        char name[8] = {'H', (char)('0' + i)};
        client_join(&life->world, life->clients, host(&life->world, name), mgid);
        client_subscribe(life->clients, host(&life->world, name), 64 + i % 4);
    }
    answered_well(life);
    assert_int_equal(life->asked_in_all,
                     0); /* ports that came up under this manager have its LID */
}

static unsigned stand_by(struct life *life)
{
    struct sm_config config = life_config(1);
    unsigned standby = sim_add_manager(life->world.sim, host(&life->world, "H7"), &config);
    uint64_t limit = sim_now(life->world.sim) + 60 * TIME_S;
    while (!sm_has_copy(sim_manager(life->world.sim, standby)))
        assert_true(sim_step(life->world.sim, limit));
    run_for(&life->world, 1 * TIME_S);
    return standby;
}

static void all_are_requested_once(const struct life *life)
{
    unsigned ports = 0;
    for (unsigned lid = 1; lid <= LID_UNICAST_LAST; lid++) {
        assert_true(life->asked[lid] <= 1);
        ports += life->asked[lid];
    }
    assert_int_equal(ports, 12 + 10);
}

static void after_a_failover_registrations_are_known_without_reregistration(void **state)
{
    (void)state;
    struct life life;
    open_life(&life, true, false);
    register_clients(&life);
    unsigned standby = stand_by(&life);
    assert_int_equal(counts(&life, standby).subscriptions, 8);
    sim_kill_manager(life.world.sim, 0);
    assert_true(
        sim_run_until_settled(life.world.sim, standby, sim_now(life.world.sim) + 10 * TIME_S));
    run_for(&life.world, 2 * TIME_S);
    const struct groups *groups = sa_groups(sim_sa(life.world.sim, standby));
    assert_int_equal(groups_find(groups, mgid)->members.count, 8);
    assert_int_equal(counts(&life, standby).subscriptions, 8);
    assert_int_equal(life.asked_in_all, 0);
    /* And it answers requests. */
    uint32_t question =
        sim_clients_path(life.clients, host(&life.world, "H2"), host(&life.world, "H3"), 0);
    assert_int_equal(status_of(&life, question), STATUS_OK);
    close_life(&life);
}

static void without_a_copy_clients_reregister_once(void **state)
{
    (void)state;
    struct life life;
    open_life(&life, false, false);
    register_clients(&life);
    unsigned standby = stand_by(&life);
    assert_int_equal(counts(&life, standby).subscriptions, 0);
    sim_kill_manager(life.world.sim, 0);
    assert_true(
        sim_run_until_settled(life.world.sim, standby, sim_now(life.world.sim) + 10 * TIME_S));
    run_for(&life.world, 5 * TIME_S);
    all_are_requested_once(&life);
    close_life(&life);
}

/* The number of acknowledged members that are unknown to a manager. */
static unsigned unknown_members(struct life *life, unsigned manager, uint32_t questions)
{
    const struct group *group = groups_find(sa_groups(sim_sa(life->world.sim, manager)), mgid);
    unsigned count = 0;
    for (uint32_t i = 0; i < questions; i++) {
        const struct sim_query *question = sim_clients_query(life->clients, i);
        uint64_t guid = fabric_port_guid(life->world.fabric, question->port, 0);
        if (question->state == SIM_ANSWERED && question->status == STATUS_OK)
            count += !group || !group_find_member(group, guid);
    }
    return count;
}

/* Hosts join one after another; the master is killed a little later each time. */
static void acknowledged_joins_survive_a_failover_at_any_time(void **state)
{
    (void)state;
    unsigned answered = 0, kills = 0;
    for (uint64_t delay = 20 * TIME_US; delay < 40 * TIME_MS; delay = delay * 7 / 4) {
        struct life life;
        uint32_t questions = 0;
        open_life(&life, true, false);
        unsigned standby = stand_by(&life);
        uint64_t end = sim_now(life.world.sim) + delay;
        while (sim_now(life.world.sim) < end) {
            char name[8] = {'H', (char)('1' + questions % 9)};
            if (questions < 9)
                client_join(&life.world, life.clients, host(&life.world, name), mgid), questions++;
            uint64_t next = sim_now(life.world.sim) + delay / 5;
            sim_run(life.world.sim, next < end ? next : end);
        }
        for (uint32_t i = 0; i < questions; i++)
            answered += sim_clients_query(life.clients, i)->state == SIM_ANSWERED;
        sim_kill_manager(life.world.sim, 0);
        kills++;
        assert_int_equal(unknown_members(&life, standby, questions), 0);
        close_life(&life);
    }
    assert_true(kills > 10);
    assert_true(answered > kills); /* some were answered before the end */
}

/* Answers are delayed for a short time, and once. */
static void a_dead_standby_delays_answers_once(void **state)
{
    (void)state;
    struct life life;
    open_life(&life, true, false);
    unsigned standby = stand_by(&life);
    sim_kill_manager(life.world.sim, standby);
    for (unsigned i = 0; i < 3; i++) {
        char name[8] = {'H', (char)('1' + i)};
        uint32_t number = client_join(&life.world, life.clients, host(&life.world, name), mgid);
        assert_int_equal(status_of(&life, number), STATUS_OK);
        const struct sim_query *question = sim_clients_query(life.clients, number);
        uint64_t took = question->answered - question->asked;
        assert_true(i ? took < 1 * TIME_MS : took < 150 * TIME_MS);
    }
    close_life(&life);
}

static void restart(struct life *life)
{
    struct sm_config config = life_config(5);
    sim_kill_manager(life->world.sim, 0);
    run_for(&life->world, 1 * TIME_S);
    unsigned manager = settle(&life->world, host(&life->world, "H0"), &config);
    assert_int_equal(manager, 1);
    run_for(&life->world, 5 * TIME_S);
}

static void a_restart_with_the_file_requests_no_reregistration(void **state)
{
    (void)state;
    struct life life;
    open_life(&life, true, true);
    register_clients(&life);
    restart(&life);
    const struct groups *groups = sa_groups(sim_sa(life.world.sim, 1));
    assert_int_equal(groups_find(groups, mgid)->members.count, 8);
    assert_int_equal(counts(&life, 1).subscriptions, 8);
    assert_int_equal(life.asked_in_all, 0);
    close_life(&life);
}

static void a_restart_without_the_file_requests_one_reregistration(void **state)
{
    (void)state;
    struct life life;
    open_life(&life, true, false);
    register_clients(&life);
    restart(&life);
    assert_int_equal(counts(&life, 1).subscriptions, 0);
    all_are_requested_once(&life);
    close_life(&life);
}

/* ---- two masters ---- */

static void set_link(struct life *life, const char *name, bool up)
{
    assert_int_equal(fabric_set_link(life->world.fabric, host(&life->world, name), up, NULL), 0);
}

static unsigned masters(struct life *life, unsigned *master)
{
    unsigned count = 0;
    for (unsigned i = 0; i < 2; i++)
        if (sm_state(sim_manager(life->world.sim, i)) == SM_MASTER) {
            *master = i;
            count++;
        }
    return count;
}

/* Every client whose registration was acknowledged by the other master is asked to register again,
 * and so are those whose registrations the new master has. */
static void the_registrations_of_both_masters_are_asked_for(struct life *life, uint32_t number)
{
    unsigned master = 2;
    assert_int_equal(masters(life, &master), 1);
    assert_true(sim_run_until_settled(life->world.sim, master, sim_now(life->world.sim) + TIME_S));
    run_for(&life->world, 5 * TIME_S);
    const struct group *group = groups_find(sa_groups(sim_sa(life->world.sim, master)), mgid);
    for (uint32_t i = 0; i < number; i++) {
        const struct sim_query *query = sim_clients_query(life->clients, i);
        uint64_t guid = fabric_port_guid(life->world.fabric, query->port, 0);
        assert_int_equal(query->state, SIM_ANSWERED);
        assert_true(life->asked[lid_of(life, query->port)] > 0 ||
                    (group && group_find_member(group, guid)));
    }
}

static void clients_of_a_master_that_was_cut_off_register_again(void **state)
{
    (void)state;
    for (unsigned rank = 0; rank < 2; rank++) { /* the first or the second master stays */
        struct life life;
        open_life(&life, true, false);
        struct sm_config config = life_config(rank ? 9 : 1);
        unsigned second = sim_add_manager(life.world.sim, host(&life.world, "H7"), &config);
        run_for(&life.world, 10 * TIME_S);
        unsigned first = 2;
        assert_int_equal(masters(&life, &first), 1);
        assert_int_equal(first, rank ? second : 0);
        set_link(&life, first ? "H7" : "H0", false);
        run_for(&life.world, 4 * TIME_S);
        assert_int_equal(sm_state(sim_manager(life.world.sim, !first)), SM_MASTER);
        uint32_t number = 0;
        for (; number < 3; number++) {
            char name[8] = {'H', (char)('1' + number)};
            client_join(&life.world, life.clients, host(&life.world, name), mgid);
        }
        answered_well(&life);
        memset(life.asked, 0, (LID_UNICAST_LAST + 1) * sizeof *life.asked);
        set_link(&life, first ? "H7" : "H0", true);
        run_for(&life.world, 20 * TIME_S);
        the_registrations_of_both_masters_are_asked_for(&life, number);
        close_life(&life);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_join_groups_and_leave_them),
        cmocka_unit_test(a_path_record_leads_to_the_destination),
        cmocka_unit_test(tables_longer_than_a_packet_come_whole),
        cmocka_unit_test(subscribers_get_reports_of_hosts_that_leave_and_return),
        cmocka_unit_test(queries_take_the_configured_time),
        cmocka_unit_test(paths_are_answered_at_every_step_of_a_reroute),
        cmocka_unit_test(after_a_failover_registrations_are_known_without_reregistration),
        cmocka_unit_test(without_a_copy_clients_reregister_once),
        cmocka_unit_test(acknowledged_joins_survive_a_failover_at_any_time),
        cmocka_unit_test(a_dead_standby_delays_answers_once),
        cmocka_unit_test(a_restart_with_the_file_requests_no_reregistration),
        cmocka_unit_test(a_restart_without_the_file_requests_one_reregistration),
        cmocka_unit_test(clients_of_a_master_that_was_cut_off_register_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
