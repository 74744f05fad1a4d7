/* Registrations are replicated to standbys. A standby that claims to have all registrations of its
 * master has every one that a client was told of. */
#include "registering.h"

#include "sa/internal.h"
#include "subnet/trust.h"

/* The master acknowledges more after the file is written. */
static void the_file_of_a_standby_is_not_surely_complete(void **state)
{
    struct sa_world *world = *state;
    register_things(world);
    struct sa *standby = a_standby(world), *reader = another(1);
    struct text text = {0};
    talk(world, standby);
    assert_int_equal(sa_registry_master(standby), MASTER);
    sa_registry_print(standby, 1000, &text);
    struct sa_registry_file file = {"FILE", text.data, text.length, 1000};
    assert_int_equal(sa_registry_read(reader, world->now, &file, NULL), 0);
    assert_true(same_registrations(world->sa, reader));
    assert_int_equal(sa_registry_master(reader), 0);
    text_release(&text);
    sa_free(reader);
    sa_free(standby);
}

static void a_standby_replicates_the_registrations_of_its_master(void **state)
{
    struct sa_world *world = *state;
    register_things(world);
    struct sa *standby = a_standby(world);
    assert_int_equal(sa_registry_master(standby), 0);
    size_t whole = talk(world, standby);
    assert_true(same_registrations(world->sa, standby));
    assert_int_equal(sa_registry_master(standby), MASTER);

    /* Only the change is sent, as soon as the gap allows. */
    join(world, 1, "H13");
    inform(world, "H13", 66, true);
    world->now += 20 * NS_PER_MS;
    size_t news = talk(world, standby);
    assert_true(news < whole / 2);
    assert_true(same_registrations(world->sa, standby));

    /* Removals are replicated, too. */
    leave(world, 1, "H11");
    leave(world, 2, "H4");
    service(world, METHOD_DELETE, 10, 0, "for ever");
    inform(world, "H11", 64, false);
    alias(world, METHOD_DELETE, "H12", 3, 0);
    alias(world, METHOD_SET, "H11", 2, 0xA1105); /* the same GUID, at another port */
    machine(world->sa, 12, 1, MACHINE_ENDED, "");
    machine(world->sa, 11, 3, MACHINE_RUNS, "");
    world->now += 20 * NS_PER_MS;
    talk(world, standby);
    assert_true(same_registrations(world->sa, standby));
    assert_null(wanted_machines_at(sa_machines(standby), 12, 1));
    assert_int_equal(alias_guids_port(sa_alias_guids(standby), 0xA1105), world_guid(world, "H11"));
    assert_int_equal(counts_of(standby).groups, 2);
    assert_int_equal(counts_of(standby).services, 1);
    assert_int_equal(counts_of(standby).subscriptions, 2);
    sa_free(standby);
}

/* So many that their rows are dropped: the standby gets all. */
static void a_standby_forgets_the_machines_that_ended(void **state)
{
    struct sa_world *world = *state;
    register_things(world);
    struct sa *standby = a_standby(world);
    talk(world, standby);
    for (unsigned i = 0; i < 2000; i++) {
        machine(world->sa, 100 + i, 1, MACHINE_RUNS, "short");
        if (i == 1000) {
            world->now += 20 * NS_PER_MS;
            talk(world, standby);
            assert_true(same_registrations(world->sa, standby));
        }
        machine(world->sa, 100 + i, 1, MACHINE_ENDED, "");
    }
    world->now += 20 * NS_PER_MS;
    talk(world, standby);
    assert_true(same_registrations(world->sa, standby));
    assert_true(sa_machines(world->sa)->rows.count < 600);
    assert_null(wanted_machines_any(sa_machines(standby), 1100));
    assert_non_null(wanted_machines_any(sa_machines(standby), 11));
    sa_free(standby);
}

/* The row of a machine is acknowledged when the file and the standby have it. */
static void a_machine_is_kept_when_file_and_standby_have_it(void **state)
{
    struct sa_world *world = *state;
    struct wanted_machines *wanted = sa_machines(world->sa);
    struct sa *standby = a_standby(world);
    talk(world, standby);
    sa_await_saves(world->sa, true);
    machine(world->sa, 11, 1, MACHINE_RUNS, "web1");
    sa_update_kept(world->sa, world->now);
    assert_true(sa_waits_for_save(world->sa) && wanted->kept < wanted->last);
    const struct sa_generations saved = sa_registry_generations(world->sa);
    sa_registrations_saved(world->sa, &saved);
    sa_update_kept(world->sa, world->now);
    assert_true(!sa_waits_for_save(world->sa) && wanted->kept < wanted->last);
    world->now += 20 * NS_PER_MS;
    talk(world, standby);
    sa_update_kept(world->sa, world->now);
    assert_true(wanted->kept >= wanted->last);
    sa_free(standby);
}

static void without_changes_ten_messages_are_sent_a_second(void **state)
{
    struct sa_world *world = *state;
    register_things(world);
    struct sa *standby = a_standby(world);
    talk(world, standby);
    struct sa_counts before = counts_of(world->sa);
    assert_int_equal(sa_deadline(world->sa), world->now + 200 * NS_PER_MS);
    for (unsigned i = 0; i < 40; i++) {
        world->now += 25 * NS_PER_MS;
        assert_true(talk(world, standby) < 300);
    }
    assert_int_equal(counts_of(world->sa).answers - before.answers, 5);
    sa_free(standby);
}

static void a_poll_is_repeated_after_a_lost_answer(void **state)
{
    struct sa_world *world = *state;
    struct sa_message message;
    register_things(world);
    struct sa *standby = a_standby(world);
    talk(world, standby);
    join(world, 1, "H13");
    world->now += 20 * NS_PER_MS;
    sa_expire(world->sa, world->now);
    assert_true(sa_next_output(world->sa, world->now, &message)); /* lost */
    assert_false(same_registrations(world->sa, standby));
    world->now += 2 * NS_PER_S;
    talk(world, standby);
    assert_true(same_registrations(world->sa, standby));
    sa_free(standby);
}

/* Both run for a while. */
static void talk_for(struct sa_world *world, struct sa *standby, uint64_t duration)
{
    for (uint64_t end = world->now + duration; world->now < end; world->now += 25 * NS_PER_MS)
        talk(world, standby);
}

/* The master answers clients without it after 1.6 s. */
static void a_standby_that_was_stopped_is_not_sure_of_its_registrations(void **state)
{
    struct sa_world *world = *state;
    struct sa_message message;
    register_things(world);
    struct sa *standby = a_standby(world);
    talk_for(world, standby, NS_PER_S);
    assert_int_equal(sa_registry_master(standby), MASTER);
    world->now += 1700 * NS_PER_MS;
    sa_expire(world->sa, world->now);
    while (sa_next_output(world->sa, world->now, &message)) { /* an answer to the last poll */
        message.address.lid = MASTER;
        sa_receive(standby, world->now, &message);
    }
    assert_int_equal(sa_registry_master(standby), 0);
    talk_for(world, standby, 300 * NS_PER_MS);
    assert_int_equal(sa_registry_master(standby), MASTER);
    assert_true(same_registrations(world->sa, standby));
    sa_free(standby);
}

/* Its clients will be asked to register again: some registrations may be missing. */
static void no_standby_claims_to_have_all_while_clients_of_the_master_were_not_asked(void **state)
{
    struct sa_world *world = *state;
    register_things(world);
    sa_set_incomplete(world->sa, true);
    struct sa *standby = a_standby(world);
    talk_for(world, standby, NS_PER_S);
    assert_true(same_registrations(world->sa, standby));
    assert_int_equal(sa_registry_master(standby), 0);
    sa_set_incomplete(world->sa, false);
    talk_for(world, standby, 300 * NS_PER_MS);
    assert_int_equal(sa_registry_master(standby), MASTER);
    sa_free(standby);
}

static void a_standby_whose_master_does_not_answer_is_not_sure_of_its_registrations(void **state)
{
    struct sa_world *world = *state;
    struct sa_message message;
    register_things(world);
    struct sa *standby = a_standby(world);
    talk_for(world, standby, NS_PER_S);
    for (unsigned i = 0; i < 34; i++, world->now += 50 * NS_PER_MS) {
        sa_expire(standby, world->now);
        while (sa_next_output(standby, world->now, &message))
            continue; /* lost */
        if (i == 0)
            assert_int_equal(sa_registry_master(standby), MASTER);
    }
    assert_int_equal(sa_registry_master(standby), 0);
    sa_free(standby);
}

static void a_restarted_master_is_polled_for_everything(void **state)
{
    struct sa_world *world = *state;
    register_things(world);
    struct sa *standby = a_standby(world), *old = world->sa;
    talk(world, standby);
    world->sa = another(78);
    world_update_view(world);
    for (unsigned i = 0; i < 20; i++) /* more generations than the former instance */
        inform(world, "H4", 100 + i, true);
    world->now += 3 * NS_PER_S;
    talk(world, standby);
    assert_true(same_registrations(world->sa, standby));
    assert_int_equal(counts_of(standby).subscriptions, 20);
    sa_free(old);
    sa_free(standby);
}

static void a_master_that_steps_down_answers_at_once(void **state)
{
    struct sa_world *world = *state;
    struct sa_view none = {.subnet = world->subnet};
    register_things(world);
    struct sa *standby = a_standby(world);
    talk(world, standby);
    join(world, 1, "H13"); /* within the gap after the last answer */
    sa_update_view(world->sa, world->now, &none);
    talk(world, standby);
    assert_true(same_registrations(world->sa, standby));
    sa_free(standby);
}

static void a_poll_of_a_port_that_is_no_peer_is_not_answered(void **state)
{
    struct sa_world *world = *state;
    register_things(world);
    for (unsigned i = 0; i < 3; i++) {
        standby_port(world)->manager = i == 1;
        standby_port(world)->peer_manager = i == 2;
        world_query(world, METHOD_GET_TABLE, 0xFF57, 0);
        wire_set(world->query, SA_SM_KEY, i ? KEY_WELL_KNOWN : 0);
        world->from = STANDBY;
        assert_int_equal(world_send(world), NO_ANSWER);
    }
}

static void a_poll_without_a_proof_gets_only_a_challenge(void **state)
{
    struct sa_world *world = *state;
    enum { HEADER = 32 };
    register_things(world);
    standby_port(world)->manager = standby_port(world)->peer_manager = true;
    world_query(world, METHOD_GET_TABLE, 0xFF57, 0);
    wire_set(world->query, SA_SM_KEY, KEY_WELL_KNOWN);
    world->from = STANDBY;
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(world->answer.bytes, SA_DATA_OFFSET + HEADER);
    wire_set(world->query, SA_SM_KEY, 7);
    assert_int_equal(world_send(world), NO_ANSWER);
}

static void a_standby_with_another_key_gets_no_registrations(void **state)
{
    struct sa_world *world = *state;
    register_things(world);
    struct sa *standby = standby_with_key(world, UINT64_C(0x1234567812345678));
    for (unsigned i = 0; i < 10; i++) {
        assert_true(talk(world, standby) <= MAD_BYTES);
        world->now += 3 * NS_PER_S;
    }
    assert_int_equal(counts_of(standby).services, 0);
    assert_int_equal(sa_registry_master(standby), 0);
    sa_free(standby);
}

/* The first poll arrives before the master knows that there is a standby at this port. */
static void a_standby_polls_again_soon_if_the_master_does_not_know_it_yet(void **state)
{
    struct sa_world *world = *state;
    register_things(world);
    struct sa *standby = a_standby(world);
    standby_port(world)->peer_manager = false;
    talk(world, standby);
    standby_port(world)->peer_manager = true;
    world->now += 150 * NS_PER_MS;
    talk(world, standby);
    assert_true(same_registrations(world->sa, standby));
    sa_free(standby);
}

/* A standby with a wrong GUID has the proof of another port. */
static void a_proof_is_worthless_at_another_port(void **state)
{
    struct sa_world *world = *state;
    register_things(world);
    struct sa *standby = a_standby(world);
    standby_port(world)->guid++;
    talk(world, standby);
    standby_port(world)->guid--;
    assert_int_equal(counts_of(standby).services, 0);
    sa_free(standby);
}

static void an_answer_that_somebody_changed_is_not_used(void **state)
{
    struct sa_world *world = *state;
    struct sa *standby = a_standby(world);
    struct sa_message message;
    talk(world, standby);
    register_things(world);
    world->now += NS_PER_S;
    sa_expire(world->sa, world->now);
    assert_true(sa_next_output(world->sa, world->now, &message));
    uint8_t *copy = mem_alloc(message.bytes);
    memcpy(copy, message.data, message.bytes);
    copy[message.bytes - 1] ^= 1;
    message.address.lid = MASTER;
    message.data = copy;
    sa_receive(standby, world->now, &message);
    assert_int_equal(counts_of(standby).services, 0);
    mem_free(copy);
    sa_free(standby);
}

/* It polls at once after each answer and never confirms what it was sent. */
static uint64_t register_with_a_false_standby(struct sa_world *world, const uint8_t *poll,
                                              unsigned turn)
{
    struct sa_message message, old = {.address.lid = STANDBY, .data = poll, .bytes = MAD_BYTES};
    uint64_t began = world->now;
    sa_receive(world->sa, world->now, &old);
    uint8_t *inform = world_query(world, METHOD_SET, ATTRIBUTE_INFORM_INFO, 0);
    wire_set(inform, INFORM_INFO_LID_RANGE_BEGIN, LID_PERMISSIVE);
    wire_set(inform, INFORM_INFO_IS_GENERIC, 1);
    wire_set(inform, INFORM_INFO_SUBSCRIBE, turn % 2 == 0);
    wire_set(inform, INFORM_INFO_TYPE, 0xFFFF);
    wire_set(inform, INFORM_INFO_TRAP_NUMBER, 200);
    struct sa_message query = {
        .address.lid = world_lid(world, "H4"), .data = world->query, .bytes = MAD_BYTES};
    sa_receive(world->sa, world->now, &query);
    for (; world->now < began + 2 * NS_PER_S; world->now += NS_PER_MS / 4) {
        sa_expire(world->sa, world->now);
        while (sa_next_output(world->sa, world->now, &message)) {
            if (message.address.lid != STANDBY)
                return world->now - began;
            sa_receive(world->sa, world->now, &old);
        }
    }
    fail_msg("no answer");
    return 0;
}

static void run_standby(struct sa_world *world, struct sa *standby, unsigned steps)
{
    for (unsigned i = 0; i < steps; i++) {
        world->now += 40 * NS_PER_MS;
        talk(world, standby);
    }
}

static void a_false_standby_delays_clients_rarely(void **state)
{
    struct sa_world *world = *state;
    struct sa *standby = a_standby(world);
    uint8_t poll[MAD_BYTES];
    talk(world, standby);
    run_standby(world, standby, 20);
    memcpy(poll, last_poll, sizeof poll);
    uint64_t waited = 0, longest = 0;
    for (unsigned i = 0; i < 200; i++) {
        world->now += NS_PER_S / 2;
        uint64_t one = register_with_a_false_standby(world, poll, i);
        waited += one;
        longest = one > longest ? one : longest;
    }
    assert_in_range(longest, NS_PER_S, 1601 * NS_PER_MS);
    assert_true(waited <= 5 * longest); /* it was late a few times in 100 s */
    for (unsigned i = 0; i < 3; i++) {  /* it behaves, but the master does not wait for it yet */
        world->now += 3 * NS_PER_S;
        talk(world, standby);
    }
    assert_true(same_registrations(world->sa, standby));
    assert_int_equal(sa_registry_master(standby), 0);
    run_standby(world, standby, 20000);
    assert_int_equal(sa_registry_master(standby), MASTER);
    sa_free(standby);
}

static void a_standby_of_a_master_without_replication_has_no_registrations(void **state)
{
    struct sa_world *world = *state;
    struct sa *standby = a_standby(world);
    register_things(world);
    talk(world, standby);
    assert_int_equal(counts_of(standby).services, 2);
    sa_follow(standby, world->now, &(struct sa_master){.lid = 9});
    assert_int_equal(sa_registry_master(standby), 0);
    assert_int_equal(counts_of(standby).services, 0);
    assert_int_equal(counts_of(standby).groups, 0);
    sa_free(standby);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN(open_registering, the_file_of_a_standby_is_not_surely_complete),
        TEST_IN(open_registering, a_standby_replicates_the_registrations_of_its_master),
        TEST_IN(open_registering, a_standby_forgets_the_machines_that_ended),
        TEST_IN(open_registering, a_machine_is_kept_when_file_and_standby_have_it),
        TEST_IN(open_registering, without_changes_ten_messages_are_sent_a_second),
        TEST_IN(open_registering, a_poll_is_repeated_after_a_lost_answer),
        TEST_IN(open_registering, a_restarted_master_is_polled_for_everything),
        TEST_IN(open_registering, a_standby_that_was_stopped_is_not_sure_of_its_registrations),
        TEST_IN(open_registering,
                no_standby_claims_to_have_all_while_clients_of_the_master_were_not_asked),
        TEST_IN(open_registering,
                a_standby_whose_master_does_not_answer_is_not_sure_of_its_registrations),
        TEST_IN(open_registering, a_master_that_steps_down_answers_at_once),
        TEST_IN(open_registering, a_poll_of_a_port_that_is_no_peer_is_not_answered),
        TEST_IN(open_registering, a_poll_without_a_proof_gets_only_a_challenge),
        TEST_IN(open_registering, a_standby_polls_again_soon_if_the_master_does_not_know_it_yet),
        TEST_IN(open_registering, a_standby_with_another_key_gets_no_registrations),
        TEST_IN(open_registering, a_proof_is_worthless_at_another_port),
        TEST_IN(open_registering, an_answer_that_somebody_changed_is_not_used),
        TEST_IN(open_registering, a_false_standby_delays_clients_rarely),
        TEST_IN(open_registering, a_standby_of_a_master_without_replication_has_no_registrations),
    };
    return RUN(tests);
}
