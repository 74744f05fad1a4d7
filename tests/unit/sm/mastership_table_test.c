/* Invariants of the transition table of mastership. */
#include "toy.h"

#include "sm/mastership/mastership_table.h"

enum { FACTS = 1 << 5 };

static struct mastership_core core_of(enum sm_state state, unsigned bits)
{
    struct mastership_core core;
    mastership_core_init(&core);
    core.state = state;
    core.syncing = bits & 1;
    core.ending = bits & 2;
    core.yielding = bits & 4;
    core.successor = bits & 8 ? 1 : MASTERSHIP_NOBODY;
    core.impatient = bits & 16;
    return core;
}

typedef void check(const struct mastership_core *core, enum mastership_event event,
                   struct mastership_transition step);

static void for_each_step(check *holds)
{
    for (unsigned state = SM_NOT_ACTIVE; state <= SM_MASTER; state++)
        for (unsigned event = 0; event < MASTERSHIP_EVENTS; event++)
            for (unsigned bits = 0; bits < FACTS; bits++)
                for (uint32_t who = 0; who < 3; who++) {
                    struct mastership_core core = core_of((enum sm_state)state, bits);
                    holds(&core, (enum mastership_event)event,
                          mastership_step(&core, (enum mastership_event)event, who));
                }
}

static void check_reason(const struct mastership_core *core, enum mastership_event event,
                         struct mastership_transition step)
{
    (void)event;
    assert_int_equal(step.next != core->state, step.why != NULL);
    assert_true(step.action != DO_NOTHING || step.next == core->state);
}

static void every_change_of_state_has_a_reason(void **state)
{
    for_each_step(check_reason);
}

static void check_becomes_master(const struct mastership_core *core, enum mastership_event event,
                                 struct mastership_transition step)
{
    if (step.next != SM_MASTER || core->state == SM_MASTER)
        return;
    assert_true((core->state == SM_DISCOVERING && event == ON_DISCOVERED) ||
                (core->state == SM_STANDBY && event == ON_HANDOVER) ||
                (core->state == SM_NOT_ACTIVE && event == ON_START_AS_MASTER));
}

static void a_manager_becomes_master_only_after_discovery_or_a_handover(void **state)
{
    for_each_step(check_becomes_master);
}

static void check_end(const struct mastership_core *core, enum mastership_event event,
                      struct mastership_transition step)
{
    (void)event;
    if (core->ending && core->state != SM_STANDBY)
        assert_int_not_equal(step.next, SM_STANDBY);
}

static void a_manager_that_ends_does_not_become_standby(void **state)
{
    for_each_step(check_end);
}

static void check_handovers(const struct mastership_core *core, enum mastership_event event,
                            struct mastership_transition step)
{
    (void)event;
    if (step.action != DO_SEND_HANDOVER)
        return;
    assert_int_equal(core->state, SM_MASTER);
    assert_true(core->successor == MASTERSHIP_NOBODY);
}

static void only_a_master_hands_over_and_to_one_at_a_time(void **state)
{
    for_each_step(check_handovers);
}

static void one_of_two_managers_has_the_higher_rank(void **state)
{
    for (unsigned i = 0; i < 16 * 16; i++) {
        struct mastership_peer a = {.guid = 1 + i % 4, .priority = i / 4 % 4},
                               b = {.guid = 1 + i / 16 % 4, .priority = i / 64};
        if (a.guid != b.guid)
            assert_int_not_equal(mastership_outranks(&a, &b), mastership_outranks(&b, &a));
    }
}

static void a_manager_that_yielded_has_no_higher_rank_by_its_guid(void **state)
{
    struct mastership_peer us = {.guid = 2, .state = SM_MASTER},
                           them = {.guid = 1, .state = SM_STANDBY, .yielded = true};
    assert_int_equal(mastership_classify(&us, &them), ON_MET_YIELDED_STANDBY);
    them.priority = 1;
    assert_int_equal(mastership_classify(&us, &them), ON_MET_HIGHER_STANDBY);
    us.priority = 2;
    assert_int_equal(mastership_classify(&us, &them), ON_MET_LOWER_STANDBY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_change_of_state_has_a_reason),
        cmocka_unit_test(a_manager_becomes_master_only_after_discovery_or_a_handover),
        cmocka_unit_test(a_manager_that_ends_does_not_become_standby),
        cmocka_unit_test(only_a_master_hands_over_and_to_one_at_a_time),
        cmocka_unit_test(one_of_two_managers_has_the_higher_rank),
        cmocka_unit_test(a_manager_that_yielded_has_no_higher_rank_by_its_guid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
