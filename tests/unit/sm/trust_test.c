/* Managers with and without the SM_Key (subnet/trust.h), and nodes that only claim to be one. */
#include "managers.h"

#include "subnet/trust.h"

#include <string.h>

#define KEY   UINT64_C(0x5ec2e7a11ce0b0b5)
#define OTHER UINT64_C(0x0dd0dd0dd0dd0dd0)

static struct sm_config with_key(unsigned priority, uint64_t key)
{
    struct sm_config config = with_priority(priority);
    config.sm_key = key;
    return config;
}

static unsigned start(struct toy *toy, const char *node, unsigned priority, uint64_t key)
{
    struct sm_config config = with_key(priority, key);
    return toy_start_manager(toy, node, &config);
}

/* ---- peers ---- */

static void managers_with_the_same_secret_key_elect_and_hand_over(void **state)
{
    struct toy *toy = toy_open(state, star);
    start(toy, "H1", 1, KEY);
    toy_settle(toy);
    start(toy, "H2", 9, KEY);
    toy_run(toy, 60 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
    assert_true(sm_has_copy(toy->managers[0].sm));
    assert_false(toy_logged(toy, "ignored"));
    assert_false(toy_logged(toy, "refused"));
    toy_kill(toy, 1);
    toy_run(toy, 60 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
}

static void managers_with_different_keys_ignore_each_other(void **state)
{
    for (unsigned i = 0; i < 2; i++) {
        struct toy *toy = toy_open(state, star);
        start(toy, "H1", 1, KEY);
        toy_settle(toy);
        start(toy, "H2", 15, i ? OTHER : KEY_WELL_KNOWN);
        toy_run(toy, 60 * TOY_S);
        assert_int_equal(state_of(toy, 0), SM_MASTER);
        assert_true(toy_logged(toy, i ? "is ignored: it does not prove that it holds the SM_Key"
                                      : "is ignored: it shows another SM_Key"));
        if (i == 0)
            toy_close(state);
    }
}

/* Neither a standby that outranks the manager nor a master is handed over to or obeyed. */
static void a_manager_that_shows_no_key_or_another_one_is_a_stranger(void **state)
{
    static const uint64_t shown[] = {0, KEY_WELL_KNOWN, OTHER};
    for (unsigned i = 0; i < 6; i++) {
        struct toy *toy = toy_open(state, star);
        toy_claim_manager(toy, "H2", 15, i < 3 ? SM_STANDBY : SM_MASTER);
        wire_set(toy_node(toy, "H2")->manager, SM_INFO_SM_KEY, shown[i % 3]);
        start(toy, "H1", 0, KEY);
        toy_run(toy, 60 * TOY_S);
        assert_int_equal(state_of(toy, 0), SM_MASTER);
        assert_int_equal(toy_node(toy, "H2")->last_control, 0);
        toy_assert_up(toy);
        assert_true(toy_logged(toy, "is ignored"));
        if (i < 5)
            toy_close(state);
    }
}

static void a_manager_with_the_well_known_key_trusts_one_that_shows_none(void **state)
{
    struct toy *toy = toy_open(state, star);
    start(toy, "H1", 0, KEY_WELL_KNOWN);
    toy_settle(toy);
    toy_claim_manager(toy, "H2", 15, SM_STANDBY); /* as OpenSM does */
    toy_run(toy, 60 * TOY_S);
    assert_int_equal(toy_node(toy, "H2")->last_control, HANDOVER);
}

static void with_the_well_known_key_another_key_is_a_stranger(void **state)
{
    struct toy *toy = toy_open(state, star);
    start(toy, "H1", 0, KEY_WELL_KNOWN);
    toy_settle(toy);
    toy_claim_manager(toy, "H2", 15, SM_STANDBY);
    wire_set(toy_node(toy, "H2")->manager, SM_INFO_SM_KEY, OTHER);
    toy_run(toy, 60 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
    assert_int_equal(toy_node(toy, "H2")->last_control, 0);
    assert_true(toy_logged(toy, "it shows another SM_Key"));
}

static void only_managers_at_allowed_ports_are_peers(void **state)
{
    for (unsigned allowed = 0; allowed < 2; allowed++) {
        struct toy *toy = toy_open(state, star);
        const uint64_t guids[] = {toy_node(toy, allowed ? "H2" : "H3")->guid + 1};
        struct sm_config config = with_key(0, KEY_WELL_KNOWN);
        config.allowed_sm_guids = guids;
        config.allowed_sm_guid_count = 1;
        toy_start_manager(toy, "H1", &config);
        toy_settle(toy);
        toy_claim_manager(toy, "H2", 15, SM_STANDBY);
        toy_run(toy, 60 * TOY_S);
        assert_int_equal(toy_node(toy, "H2")->last_control, allowed ? HANDOVER : 0);
        assert_int_equal(toy_logged(toy, "allowed_sm_guids does not name its port"), !allowed);
        if (!allowed)
            toy_close(state);
    }
}

static void an_allowed_guid_at_another_port_is_a_stranger(void **state)
{
    struct toy *toy = toy_open(state, star);
    const uint64_t guids[] = {toy_node(toy, "H2")->guid + 1, toy_node(toy, "H3")->guid + 1};
    struct sm_config config = with_key(0, KEY_WELL_KNOWN);
    config.allowed_sm_guids = guids;
    config.allowed_sm_guid_count = 2;
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    toy_claim_manager(toy, "H2", 15, SM_STANDBY);
    wire_set(toy_node(toy, "H2")->manager, SM_INFO_GUID, guids[1]);
    toy_run(toy, 60 * TOY_S);
    assert_int_equal(toy_node(toy, "H2")->last_control, 0);
    assert_true(toy_logged(toy, "it claims the GUID of another port"));
}

/* ---- Set(SMInfo) ---- */

/* A standby of a master at H1; both have this key. */
static struct toy *standby_of_h1(void **state, uint64_t key)
{
    struct toy *toy = toy_open(state, star);
    start(toy, "H1", 5, key);
    toy_settle(toy);
    start(toy, "H2", 1, key);
    toy_run(toy, 5 * TOY_S);
    assert_int_equal(state_of(toy, 1), SM_STANDBY);
    return toy;
}

static void a_standby_obeys_only_holders_of_a_secret_key(void **state)
{
    static const uint64_t shown[] = {0, KEY_WELL_KNOWN, OTHER, KEY ^ 1};
    struct toy *toy = standby_of_h1(state, KEY);
    uint8_t info[64];
    for (unsigned i = 0; i < 4; i++)
        for (unsigned control = HANDOVER; control <= DISCOVER; control++) {
            fill_master(toy, "H1", shown[i], info);
            assert_int_equal(toy_send_info(toy, "H3", 1, METHOD_SET, control, info),
                             STATUS_BAD_VALUE);
            assert_int_equal(wire_get(info, SM_INFO_SM_KEY), 0);
            assert_int_equal(state_of(toy, 1), SM_STANDBY);
        }
    assert_true(toy_logged(toy, "refused 1 Set(SMInfo)"));
    fill_master(toy, "H1", KEY, info);
    assert_int_equal(toy_send_info(toy, "H1", 1, METHOD_SET, DISABLE, info), STATUS_OK);
    assert_int_equal(state_of(toy, 1), SM_NOT_ACTIVE);
}

static void a_master_ignores_a_handover_without_the_key(void **state)
{
    struct toy *toy = toy_open(state, star);
    uint8_t info[64];
    start(toy, "H1", 5, KEY);
    toy_settle(toy);
    fill_master(toy, "H3", 0, info);
    toy_mark(toy);
    assert_int_equal(toy_send_info(toy, "H3", 0, METHOD_SET, HANDOVER, info), STATUS_BAD_VALUE);
    toy_run(toy, TOY_S);
    assert_false(toy_logged(toy, "two subnets become one"));
}

static void only_a_master_may_control_others(void **state)
{
    static const enum sm_state states[] = {SM_NOT_ACTIVE, SM_DISCOVERING, SM_STANDBY};
    struct toy *toy = standby_of_h1(state, KEY_WELL_KNOWN);
    uint8_t info[64];
    for (unsigned control = HANDOVER; control <= DISCOVER; control++) {
        for (unsigned i = 0; control != ACKNOWLEDGE && i < 3; i++) {
            fill_master(toy, "H1", 0, info);
            wire_set(info, SM_INFO_STATE, states[i]);
            assert_int_equal(toy_send_info(toy, "H1", 1, METHOD_SET, control, info),
                             STATUS_BAD_VALUE);
        }
        if (control == HANDOVER)
            continue; /* a new master may hand over */
        fill_master(toy, "H3", 0, info);
        assert_int_equal(toy_send_info(toy, "H3", 1, METHOD_SET, control, info), STATUS_BAD_VALUE);
    }
    assert_int_equal(state_of(toy, 1), SM_STANDBY);
}

/* With a key that everybody knows, allowed_sm_guids must hold for the port that a Set or Get comes
 * from, not for the GUID in it. */
static void a_set_in_the_name_of_an_allowed_manager_is_refused(void **state)
{
    struct toy *toy = toy_open(state, star);
    const uint64_t guids[] = {toy_node(toy, "H1")->guid + 1, toy_node(toy, "H2")->guid + 1};
    struct sm_config config = with_key(5, KEY_WELL_KNOWN);
    config.allowed_sm_guids = guids;
    config.allowed_sm_guid_count = 2;
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    config.priority = 1;
    toy_start_manager(toy, "H2", &config);
    toy_run(toy, 5 * TOY_S);
    assert_int_equal(state_of(toy, 1), SM_STANDBY);
    uint8_t info[64];
    for (unsigned control = HANDOVER; control <= DISCOVER; control++) {
        fill_master(toy, "H1", KEY_WELL_KNOWN, info);
        assert_int_equal(toy_send_info(toy, "H3", 1, METHOD_SET, control, info), STATUS_BAD_VALUE);
        assert_int_equal(state_of(toy, 1), SM_STANDBY);
    }
    fill_master(toy, "H2", KEY_WELL_KNOWN, info);
    assert_int_equal(toy_send_info(toy, "H3", 0, METHOD_SET, HANDOVER, info), STATUS_BAD_VALUE);
    assert_true(toy_logged(toy, "it comes from another port"));
    fill_master(toy, "H1", KEY_WELL_KNOWN, info);
    assert_int_equal(toy_send_info(toy, "H1", 1, METHOD_SET, DISABLE, info), STATUS_OK);
    assert_int_equal(state_of(toy, 1), SM_NOT_ACTIVE);
}

/* Without a secret key only the port from which it was sent tells. */
static void a_control_from_another_port_than_it_claims_is_refused(void **state)
{
    struct toy *toy = standby_of_h1(state, KEY_WELL_KNOWN);
    uint8_t info[64];
    for (unsigned control = HANDOVER; control <= DISCOVER; control++) {
        fill_master(toy, "H1", KEY_WELL_KNOWN, info);
        assert_int_equal(toy_send_info(toy, "H3", 1, METHOD_SET, control, info), STATUS_BAD_VALUE);
        assert_int_equal(state_of(toy, 1), SM_STANDBY);
    }
    assert_true(toy_logged(toy, "it comes from another port"));
    fill_master(toy, "H1", KEY_WELL_KNOWN, info);
    assert_int_equal(toy_send_info(toy, "H1", 1, METHOD_SET, DISABLE, info), STATUS_OK);
}

/* ---- the key stays secret ---- */

static bool has_key(const uint8_t *data)
{
    uint8_t bytes[8];
    wire_set_bits(bytes, 0, 64, KEY);
    for (unsigned i = 0; i + sizeof bytes <= 64; i++)
        if (memcmp(data + i, bytes, sizeof bytes) == 0)
            return true;
    return false;
}

static void sm_info_shows_the_key_only_to_who_has_it(void **state)
{
    struct toy *toy = toy_open(state, star);
    uint8_t info[64] = {0};
    start(toy, "H1", 5, KEY);
    toy_settle(toy);
    toy_send_info(toy, "H2", 0, METHOD_GET, 0, info);
    assert_false(has_key(info));
    fill_master(toy, "H2", KEY ^ 1, info);
    toy_send_info(toy, "H2", 0, METHOD_GET, 0, info);
    assert_false(has_key(info));
    fill_master(toy, "H2", KEY, info);
    toy_send_info(toy, "H2", 0, METHOD_GET, 0, info);
    assert_int_equal(wire_get(info, SM_INFO_SM_KEY), KEY);
}

/* A stranger receives queries; none of them has the key. */
static void queries_of_a_stranger_do_not_carry_the_key(void **state)
{
    struct toy *toy = toy_open(state, star);
    toy_claim_manager(toy, "H2", 15, SM_MASTER);
    start(toy, "H1", 0, KEY);
    toy_run(toy, 60 * TOY_S);
    assert_true(toy_count(toy, "H2", ATTRIBUTE_SM_INFO, METHOD_GET) > 0);
    assert_false(has_key(toy_node(toy, "H2")->received_info));
    assert_false(toy_logged(toy, "5ec2e7a1"));
}

/* ---- proofs ---- */

static void a_proof_is_valid_for_one_nonce_one_port_and_one_sm_info(void **state)
{
    struct trust trust = {.sm_key = KEY, .salt = 1}, other = {.sm_key = OTHER, .salt = 1};
    uint8_t request[64] = {0}, again[64] = {0}, answer[64] = {0}, changed[64];
    trust_seal_request(&trust, 0x22, 1, request);
    trust_seal_request(&trust, 0x22, 2, again);
    assert_true(memcmp(request, again, sizeof request) != 0);
    wire_set(answer, SM_INFO_GUID, 0x22);
    wire_set(answer, SM_INFO_PRIORITY, 3);
    trust_seal_answer(&trust, 0x22, request, answer);
    assert_int_equal(trust_judge_answer(&trust, 0x22, request, answer), TRUST_PEER);
    assert_int_equal(trust_judge_answer(&trust, 0x22, again, answer), TRUST_NO_KEY);
    assert_int_equal(trust_judge_answer(&trust, 0x23, request, answer), TRUST_OTHER_GUID);
    assert_int_equal(trust_judge_answer(&other, 0x22, request, answer), TRUST_NO_KEY);
    memcpy(changed, answer, sizeof changed);
    wire_set(changed, SM_INFO_PRIORITY, 15);
    assert_int_equal(trust_judge_answer(&trust, 0x22, request, changed), TRUST_NO_KEY);
    memcpy(changed, answer, sizeof changed);
    wire_set(changed, SM_INFO_GUID, 0x23);
    assert_int_equal(trust_judge_answer(&trust, 0x23, request, changed), TRUST_NO_KEY);
    assert_true(trust_request_is_sealed(&trust, 0x22, request));
    assert_false(trust_request_is_sealed(&trust, 0x23, request));
    assert_false(trust_request_is_sealed(&trust, 0x22, answer));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOY_TEST(managers_with_the_same_secret_key_elect_and_hand_over),
        TOY_TEST(managers_with_different_keys_ignore_each_other),
        TOY_TEST(a_manager_that_shows_no_key_or_another_one_is_a_stranger),
        TOY_TEST(a_manager_with_the_well_known_key_trusts_one_that_shows_none),
        TOY_TEST(with_the_well_known_key_another_key_is_a_stranger),
        TOY_TEST(only_managers_at_allowed_ports_are_peers),
        TOY_TEST(an_allowed_guid_at_another_port_is_a_stranger),
        TOY_TEST(a_set_in_the_name_of_an_allowed_manager_is_refused),
        TOY_TEST(a_standby_obeys_only_holders_of_a_secret_key),
        TOY_TEST(a_master_ignores_a_handover_without_the_key),
        TOY_TEST(only_a_master_may_control_others),
        TOY_TEST(a_control_from_another_port_than_it_claims_is_refused),
        TOY_TEST(sm_info_shows_the_key_only_to_who_has_it),
        TOY_TEST(queries_of_a_stranger_do_not_carry_the_key),
        cmocka_unit_test(a_proof_is_valid_for_one_nonce_one_port_and_one_sm_info),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
