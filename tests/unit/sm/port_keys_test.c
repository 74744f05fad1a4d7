/* M_Keys of ports, violations that ports report, and settings that somebody else changes. */
#include "toy.h"

#include "sm/guard/port_keys.h"

#include <string.h>

#define KEY UINT64_C(0x5ec2e7a11ce0b0b5)

static const char star[] = "S1-S2 S1-H1 S2-H2 S2-H3";

static struct sm_config protecting(bool per_port)
{
    struct sm_config config = toy_config_sweeping(10 * TOY_S);
    config.m_key = KEY;
    config.m_key_per_port = per_port;
    config.m_key_protect = 2;
    config.m_key_lease_s = 60;
    config.full_every = 1;
    return config;
}

static struct toy *up_with(void **state, const struct sm_config *config)
{
    struct toy *toy = toy_open(state, star);
    toy_start_manager(toy, "H1", config);
    toy_settle(toy);
    toy_assert_up(toy);
    return toy;
}

static uint64_t key_at(struct toy *toy, const char *node)
{
    struct toy_node *n = toy_node(toy, node);
    return wire_get(n->ports[!n->is_switch].info, PORT_INFO_M_KEY);
}

static unsigned violations(const struct toy *toy)
{
    unsigned all = 0;
    for (unsigned i = 0; i < toy->node_count; i++)
        all += toy->nodes[i]->violations;
    return all;
}

static void one_key_protects_all_ports(void **state)
{
    struct sm_config config = protecting(false);
    struct toy *toy = up_with(state, &config);
    toy_run(toy, 60 * TOY_S);
    assert_true(key_at(toy, "H2") == KEY && key_at(toy, "S2") == KEY && key_at(toy, "H1") == KEY);
    assert_int_equal(violations(toy), 0);
}

static void each_port_has_its_own_key(void **state)
{
    static const char *const names[] = {"S1", "S2", "H1", "H2", "H3"};
    struct sm_config config = protecting(true);
    struct toy *toy = up_with(state, &config);
    for (unsigned i = 0; i < 5; i++)
        for (unsigned j = 0; j < i; j++)
            assert_true(key_at(toy, names[i]) && key_at(toy, names[i]) != key_at(toy, names[j]));
    assert_true(key_at(toy, "H2") == m_key_of_port(KEY, toy_node(toy, "H2")->guid + 1));
    toy_run(toy, 60 * TOY_S);
    toy_cut(toy, "S1", "S2");
    toy_run(toy, 20 * TOY_S);
    toy_link(toy, "S1", "S2");
    toy_run(toy, 30 * TOY_S);
    assert_true(toy_has_node(toy, "H2"));
    toy_settle(toy);
    toy_assert_up(toy);
}

/* The successor has the same secret, and the neighbours of its predecessor. */
static void a_restarted_manager_needs_the_links_that_it_knew(void **state)
{
    struct sm_config config = protecting(true);
    struct toy *toy = up_with(state, &config);
    const struct sm_neighbour *neighbours;
    VEC(struct sm_neighbour) saved = {0};
    size_t count = sm_neighbours(toy->sm, &neighbours);
    assert_true(count >= 8); /* both ends of four links */
    for (size_t i = 0; i < count; i++)
        vec_push(&saved, neighbours[i]);
    toy_kill(toy, 0);
    unsigned again = toy_add_manager(toy, "H1", &config);
    for (size_t i = 0; i < count; i++)
        sm_restore_neighbour(toy->managers[again].sm, &saved.items[i]);
    vec_release(&saved);
    sm_start(toy->managers[again].sm, toy->now);
    toy_run(toy, 10 * TOY_S);
    assert_int_equal(violations(toy), 0);
    assert_int_equal(sm_state(toy->managers[again].sm), SM_MASTER);
    const struct subnet *subnet = sm_subnet(toy->managers[again].sm);
    assert_int_equal(subnet->nodes.count, 5);
}

/* The number of a standby at H2 that has the same secret, but none of the links. */
static unsigned new_standby(struct toy *toy, const struct sm_config *config)
{
    unsigned second = toy_start_manager(toy, "H2", config);
    toy_run(toy, 20 * TOY_S);
    return second;
}

static void assert_unreadable_neighbor(struct toy *toy, unsigned manager, const char *words)
{
    struct problems problems = {0};
    sm_problems(toy->managers[manager].sm, toy->now, &problems);
    const struct problem *listed = problems.items.items;
    while (listed < problems.items.items + problems.items.count &&
           listed->kind != PROBLEM_UNREADABLE_NEIGHBOR)
        listed++;
    assert_true(listed < problems.items.items + problems.items.count);
    assert_non_null(strstr(listed->text, words));
    assert_non_null(strstr(listed->text, "'neighbors'"));
    problems_release(&problems);
}

static void a_standby_without_the_links_stands_by_and_says_what_is_missing(void **state)
{
    for (unsigned secret = 0; secret < 2; secret++) {
        struct sm_config config = protecting(true);
        struct sm_master master;
        config.sm_key = secret ? ~KEY : 1;
        struct toy *toy = up_with(state, &config);
        config.priority = 15; /* the master must not hand over to it */
        unsigned second = new_standby(toy, &config);
        struct sm *sm = toy->managers[second].sm;
        assert_int_equal(sm_state(sm), SM_STANDBY);
        assert_true(sm_master(sm, &master) && master.weft);
        assert_int_equal(master.lid, toy_lid(toy, "H1", 1));
        assert_unreadable_neighbor(toy, second, "stands by without a copy");
        toy_run(toy, 100 * TOY_S);
        assert_int_equal(sm_state(sm), SM_STANDBY);
        assert_int_equal(sm_state(toy->sm), SM_MASTER);
        toy_kill(toy, 0);
        toy_run(toy, 100 * TOY_S);
        assert_int_equal(sm_state(sm), SM_DISCOVERING);
        assert_unreadable_neighbor(toy, second, "does not become master");
        if (!secret)
            toy_close(state);
    }
}

static void a_standby_that_gets_the_links_copies_the_subnet(void **state)
{
    struct sm_config config = protecting(true);
    struct toy *toy = up_with(state, &config);
    unsigned second = new_standby(toy, &config);
    struct sm *sm = toy->managers[second].sm;
    const struct sm_neighbour *neighbours;
    size_t count = sm_neighbours(toy->sm, &neighbours);
    assert_false(sm_has_copy(sm));
    for (size_t i = 0; i < count; i++)
        sm_restore_neighbour(sm, &neighbours[i]);
    toy_run(toy, 40 * TOY_S);
    assert_true(sm_has_copy(sm));
    toy_kill(toy, 0);
    toy_run(toy, 3 * TOY_S);
    assert_int_equal(sm_state(sm), SM_MASTER);
    assert_int_equal(subnet_count_nodes(sm_subnet(sm)).switches, 2);
}

/* The leases of the M_Keys have expired, which their ports show by another protection level. */
static void a_standby_becomes_master_when_its_neighbor_needs_no_key_any_more(void **state)
{
    struct sm_config config = protecting(true);
    struct toy *toy = up_with(state, &config);
    struct sm *sm = toy->managers[new_standby(toy, &config)].sm;
    toy_kill(toy, 0);
    toy_run(toy, 5 * TOY_S);
    assert_int_equal(sm_state(sm), SM_DISCOVERING);
    for (unsigned i = 0; i < toy->node_count; i++) {
        struct toy_node *node = toy->nodes[i];
        wire_set(node->ports[!node->is_switch].info, PORT_INFO_M_KEY_PROTECT_BITS, 0);
    }
    toy_run(toy, 10 * TOY_S);
    assert_int_equal(sm_state(sm), SM_MASTER);
    assert_int_equal(subnet_count_nodes(sm_subnet(sm)).switches, 2);
}

/* ---- the key goes to its own port only ---- */

static void a_forged_trap_gets_no_key(void **state)
{
    struct sm_config config = protecting(false);
    struct toy *toy = up_with(state, &config);
    struct sm_output output;
    for (unsigned forged = 0; forged < 2; forged++) {
        struct sm_message trap = {.lid = (uint16_t)toy_lid(toy, forged ? "H3" : "H2", 1)};
        uint8_t *notice = trap.mad + SMP_DATA_OFFSET;
        wire_set(trap.mad, MAD_BASE_VERSION, 1);
        wire_set(trap.mad, MAD_CLASS, CLASS_SUBN_LID);
        wire_set(trap.mad, MAD_METHOD, METHOD_TRAP);
        wire_set(trap.mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_NOTICE);
        wire_set(notice, NOTICE_IS_GENERIC, 1);
        wire_set(notice, NOTICE_TRAP_NUMBER, 257);
        wire_set(notice, NOTICE_ISSUER_LID, toy_lid(toy, "H2", 1));
        sm_receive(toy->sm, toy->now, &trap);
        bool repressed = false;
        while (sm_next_output(toy->sm, toy->now, &output))
            if (output.kind == SM_SEND &&
                wire_get(output.message.mad, MAD_METHOD) == METHOD_TRAP_REPRESS) {
                assert_true(wire_get(output.message.mad, SMP_M_KEY) == (forged ? 0 : KEY));
                repressed = true;
            }
        assert_true(repressed || forged);
    }
}

/* ---- violations ---- */

/* H3 sends a Set with a wrong key to H2, which reports it. */
static void report_violation(struct toy *toy)
{
    uint8_t *details = wire_bytes(toy_trap(toy, "H2", 256), NOTICE_DATA);
    wire_set(details, TRAP_BAD_M_KEY_LID, toy_lid(toy, "H3", 1));
    wire_set(details, TRAP_BAD_M_KEY_METHOD, METHOD_SET);
    wire_set(details, TRAP_BAD_M_KEY_ATTRIBUTE_ID, ATTRIBUTE_PORT_INFO);
    wire_set(details, TRAP_BAD_M_KEY_M_KEY, UINT64_C(0xbad0bad0bad0bad0));
}

static void a_violation_is_counted_and_logged_with_its_sender(void **state)
{
    struct sm_config config = protecting(true);
    struct toy *toy = up_with(state, &config);
    toy_mark(toy);
    report_violation(toy);
    toy_run(toy, TOY_S);
    assert_true(toy_logged(toy, "S2 port 3 <-> H3 port 1 sent an SMP without the M_Key of H2"));
    assert_false(toy_logged(toy, "bad0bad0")); /* it may be a key of another port */
    assert_int_equal(sm_m_key_violations(toy->sm), 1);
    assert_true(toy_count(toy, "H2", ATTRIBUTE_PORT_INFO, METHOD_GET) > 0); /* stops the lease */
    toy_mark(toy);
    for (unsigned i = 0; i < 20; i++) {
        report_violation(toy);
        toy_run(toy, TOY_MS);
    }
    assert_int_equal(sm_m_key_violations(toy->sm), 21);
    assert_false(toy_logged(toy, "sent an SMP without"));
    struct problems problems = {0};
    sm_problems(toy->sm, toy->now, &problems);
    bool listed = false;
    for (size_t i = 0; i < problems.items.count; i++)
        listed |= problems.items.items[i].kind == PROBLEM_KEY_VIOLATION &&
                  strstr(subnet_place_name(sm_subnet(toy->sm), &problems.items.items[i].place).text,
                         "H3");
    assert_true(listed);
    problems_release(&problems);
}

/* ---- keys of data packets ---- */

static bool lists_refused(struct toy *toy, const char *place, const char *words)
{
    struct problems problems = {0};
    bool listed = false;
    sm_problems(toy->sm, toy->now, &problems);
    for (size_t i = 0; i < problems.items.count; i++) {
        const struct problem *problem = &problems.items.items[i];
        listed |= problem->kind == PROBLEM_REFUSED_PACKETS && strstr(problem->text, words) &&
                  strstr(subnet_place_name(sm_subnet(toy->sm), &problem->place).text, place);
    }
    problems_release(&problems);
    return listed;
}

/* `reporter` refuses a packet from a LID. */
static void refuse_packet(struct toy *toy, const char *reporter, unsigned trap, unsigned lid,
                          unsigned key)
{
    uint8_t *details = wire_bytes(toy_trap(toy, reporter, trap), NOTICE_DATA);
    bool at_switch = trap == ATTRIBUTE_TRAP_SWITCH_BAD_P_KEY;
    wire_set(details, at_switch ? TRAP_SWITCH_BAD_P_KEY_LID1 : TRAP_BAD_P_KEY_LID1, lid);
    wire_set(details, at_switch ? TRAP_SWITCH_BAD_P_KEY_P_KEY : TRAP_BAD_P_KEY_KEY, key);
    toy_run(toy, TOY_MS);
}

static void the_sender_of_refused_packets_is_listed_for_ten_minutes(void **state)
{
    static const unsigned traps[] = {257, 258, 259};
    static const char *const words[] = {"H2 refused packets from here because of their P_Key, the "
                                        "last one 0x8001: 1 reports",
                                        "H2 refused packets from here because of their Q_Key, the "
                                        "last one 0x8002: 1 reports",
                                        "S2 refused packets from here because of their P_Key, the "
                                        "last one 0x8003: 1 reports"};
    for (unsigned i = 0; i < 3; i++) {
        struct sm_config config = toy_config();
        struct toy *toy = up_with(state, &config);
        struct err err = {0};
        assert_false(lists_refused(toy, "", ""));
        refuse_packet(toy, i == 2 ? "S2" : "H2", traps[i], toy_lid(toy, "H3", 1), 0x8001 + i);
        assert_true(lists_refused(toy, "H3 port 1", words[i]));
        assert_false(lists_refused(toy, "H2", ""));
        toy_run(toy, 590 * TOY_S);
        assert_true(lists_refused(toy, "H3 port 1", words[i]));
        toy_run(toy, 11 * TOY_S);
        assert_false(lists_refused(toy, "", ""));
        refuse_packet(toy, "H2", 258, 4711, 5);
        assert_true(lists_refused(toy, "H2 port 1", "from an unknown LID"));
        assert_int_equal(sm_clear_problems(toy->sm, toy->now, "H2", 0, &err), 0);
        assert_false(lists_refused(toy, "", ""));
        if (i < 2)
            toy_close(state);
    }
}

static void a_directed_route_that_leads_nowhere_has_no_sender(void **state)
{
    struct sm_config config = protecting(true);
    struct toy *toy = up_with(state, &config);
    uint8_t *details = wire_bytes(toy_trap(toy, "H2", 256), NOTICE_DATA);
    wire_set(details, TRAP_BAD_M_KEY_DIRECTED, 1);
    wire_set(details, TRAP_BAD_M_KEY_HOP_COUNT, 2);
    wire_set_at(details, TRAP_BAD_M_KEY_RETURN_PATH, 1, 200);
    wire_set_at(details, TRAP_BAD_M_KEY_RETURN_PATH, 2, 1);
    toy_run(toy, TOY_S);
    assert_true(toy_logged(toy, "an unknown port sent"));
}

/* ---- settings that somebody else changes ---- */

static void a_foreign_set_is_undone_within_a_poll(void **state)
{
    static const enum wire_field fields[] = {PORT_INFO_MASTER_SM_LID, PORT_INFO_GID_PREFIX,
                                             PORT_INFO_LMC, PORT_INFO_M_KEY};
    struct sm_config config = toy_config(); /* no sweep in this test */
    config.watch_ports = 64;
    struct toy *toy = up_with(state, &config);
    uint8_t *info = toy_node(toy, "H3")->ports[1].info;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t right = wire_get(info, fields[i]);
        toy_mark(toy);
        wire_set(info, fields[i], right ^ 1);
        toy_run(toy, config.poll_ns + 100 * TOY_MS);
        assert_true(wire_get(info, fields[i]) == right);
        assert_true(toy_logged(toy, "another manager or host changed"));
    }
    static const char *const all[] = {"H1", "H2", "H3"}; /* several ports in one poll interval */
    for (unsigned i = 0; i < 3; i++)
        wire_set(toy_node(toy, all[i])->ports[1].info, PORT_INFO_MASTER_SM_LID, 99);
    toy_run(toy, config.poll_ns + 100 * TOY_MS);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(wire_get(toy_node(toy, all[i])->ports[1].info, PORT_INFO_MASTER_SM_LID),
                         toy_lid(toy, "H1", 1));
    toy_mark(toy);
    toy_run(toy, 20 * config.poll_ns);
    assert_false(toy_logged(toy, "somebody else"));
    assert_int_equal(toy_count(toy, NULL, 0, METHOD_SET), 0);
}

/* The other master has cleared PortStateChange of the switch at its new link. */
static void a_foreign_master_is_looked_for_behind_new_links(void **state)
{
    struct sm_config config = toy_config(); /* no sweep in this test */
    config.watch_ports = 64;
    struct toy *toy = up_with(state, &config);
    toy->traps = true;
    toy_cut(toy, "S2", "H3");
    toy_settle(toy);
    toy->traps = false;
    toy_link(toy, "S2", "H3");
    wire_set(toy_node(toy, "S2")->switch_info, SWITCH_INFO_PORT_STATE_CHANGE, 0);
    toy_run(toy, 5 * TOY_S);
    assert_false(toy_has_node(toy, "H3"));
    wire_set(toy_node(toy, "H2")->ports[1].info, PORT_INFO_MASTER_SM_LID, 99);
    toy_run(toy, config.poll_ns + 100 * TOY_MS);
    assert_true(toy_has_node(toy, "H3"));
}

/* Another master that was reachable for a moment has written the ports and tables of switches. */
static void tables_that_a_foreign_master_wrote_are_undone(void **state)
{
    struct sm_config config = toy_config(); /* no sweep in this test */
    config.watch_ports = 64;
    struct toy *toy = up_with(state, &config);
    toy_node(toy, "S2")->lft[toy_lid(toy, "H1", 1)] = PORT_NONE;
    wire_set(toy_node(toy, "S2")->ports[0].info, PORT_INFO_MASTER_SM_LID, 99);
    toy_run(toy, config.poll_ns + 200 * TOY_MS);
    toy_assert_up(toy);
}

/* Adapters answer other SMPs in firmware, but give SMInfo to programs of their host. */
static void a_stranger_gets_no_key_of_other_ports_with_sm_info(void **state)
{
    for (unsigned per_port = 0; per_port < 2; per_port++) {
        struct sm_config config = protecting(per_port);
        config.sm_key = ~KEY;
        struct toy *toy = up_with(state, &config);
        toy_claim_manager(toy, "H2", 15, SM_MASTER);
        toy_run(toy, 60 * TOY_S);
        assert_true(toy_count(toy, "H2", ATTRIBUTE_SM_INFO, METHOD_GET) > 0);
        assert_true(toy_node(toy, "H2")->received_m_key != KEY);
        if (!per_port)
            toy_close(state);
    }
}

static void m_keys_of_ports_differ_and_depend_on_the_secret(void **state)
{
    assert_true(m_key_of_port(KEY, 1) != m_key_of_port(KEY, 2));
    assert_true(m_key_of_port(KEY, 1) != m_key_of_port(KEY + 1, 1));
    assert_true(m_key_of_port(KEY, 1) == m_key_of_port(KEY, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(m_keys_of_ports_differ_and_depend_on_the_secret),
        TOY_TEST(one_key_protects_all_ports),
        TOY_TEST(each_port_has_its_own_key),
        TOY_TEST(a_restarted_manager_needs_the_links_that_it_knew),
        TOY_TEST(a_standby_without_the_links_stands_by_and_says_what_is_missing),
        TOY_TEST(a_standby_that_gets_the_links_copies_the_subnet),
        TOY_TEST(a_standby_becomes_master_when_its_neighbor_needs_no_key_any_more),
        TOY_TEST(a_forged_trap_gets_no_key),
        TOY_TEST(a_violation_is_counted_and_logged_with_its_sender),
        TOY_TEST(the_sender_of_refused_packets_is_listed_for_ten_minutes),
        TOY_TEST(a_directed_route_that_leads_nowhere_has_no_sender),
        TOY_TEST(tables_that_a_foreign_master_wrote_are_undone),
        TOY_TEST(a_stranger_gets_no_key_of_other_ports_with_sm_info),
        TOY_TEST(a_foreign_set_is_undone_within_a_poll),
        TOY_TEST(a_foreign_master_is_looked_for_behind_new_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
