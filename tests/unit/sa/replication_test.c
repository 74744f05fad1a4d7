/* Registrations are replicated to standbys. A standby that claims to have all registrations of its
 * master has every one that a client was told of. */
#include "registering.h"

#include "base/rng.h"
#include "sa/internal.h"
#include "subnet/trust.h"

#include <stdio.h>

enum { MASTER = 1, STANDBY = 3 };    /* LIDs */
static uint8_t last_poll[MAD_BYTES]; /* of the standby */

/* Delivers messages until none is left. Returns the length of the longest to the standby. */
static size_t talk(struct sa_world *world, struct sa *standby)
{
    struct sa_message message;
    size_t longest = 0;
    bool any = true;
    registering_waits = true;
    while (any) {
        any = false;
        sa_expire(standby, world->now);
        while (sa_deadline(standby) <= world->now &&
               sa_next_output(standby, world->now, &message)) {
            message.address.lid = STANDBY;
            memcpy(last_poll, message.data, MAD_BYTES);
            sa_receive(world->sa, world->now, &message);
            any = true;
        }
        sa_expire(world->sa, world->now);
        while (sa_deadline(world->sa) <= world->now &&
               sa_next_output(world->sa, world->now, &message)) {
            longest = message.bytes > longest ? message.bytes : longest;
            message.address.lid = MASTER;
            sa_receive(standby, world->now, &message);
            any = true;
        }
    }
    return longest;
}

static struct subnet_port *standby_port(struct sa_world *world)
{
    return &world->subnet->ports.items[world->subnet->by_lid[STANDBY]];
}

static struct sa *standby_with_key(struct sa_world *world, uint64_t sm_key)
{
    struct subnet_port *port = standby_port(world);
    port->manager = port->peer_manager = true;
    struct sa *standby = at_port(5, port->guid, sm_key);
    sa_follow(standby, world->now, &(struct sa_master){.lid = MASTER, .tells = true});
    return standby;
}

static struct sa *a_standby(struct sa_world *world)
{
    return standby_with_key(world, KEY_WELL_KNOWN);
}

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

/* ---- two masters ---- */

/* What a test registers goes to this SA. Its view has all hosts, or lacks the last `missing`. */
static void serve(struct sa_world *world, struct sa *sa)
{
    world->sa = sa;
    world_update_view(world);
    registering_waits = true; /* its lease of the other one is not over */
    world->from = world_lid(world, "H4");
}

/* The link between the two is back: this one becomes a standby of the other again. */
static void stand_by(struct sa_world *world, struct sa *standby, struct sa *master)
{
    struct sa_view none = {.subnet = world->subnet};
    sa_update_view(standby, world->now, &none);
    world->sa = master;
    sa_follow(standby, world->now, &(struct sa_master){.lid = MASTER, .tells = true});
    talk(world, standby);
    world->now += NS_PER_S;
    talk(world, standby);
}

static bool has_service(struct sa *sa, uint64_t id)
{
    for (size_t i = 0; i < sa->registry.services.count; i++)
        if (wire_get(sa->registry.services.items[i].record, SERVICE_RECORD_ID) == id)
            return true;
    return false;
}

static const struct group *group_of(const struct sa *sa, unsigned number)
{
    uint8_t mgid[16];
    set_gid(mgid, UINT64_C(0xFF12A01C00000000), number);
    return groups_find(sa_groups(sa), mgid);
}

static bool is_member(struct sa_world *world, const struct sa *sa, unsigned group, const char *host)
{
    const struct group *found = group_of(sa, group);
    return found && group_find_member(found, world_guid(world, host));
}

static void split(struct sa_world *world, struct sa *first, struct sa *second)
{
    serve(world, first);
    join(world, 3, "H13");
    join(world, 1, "H4");
    service(world, METHOD_SET, 20, UINT32_MAX, "of the first");
    service(world, METHOD_SET, 11, 100, "changed by both");
    inform(world, "H13", 66, true);
    machine(first, 12, 2, MACHINE_REMOVED, "");
    serve(world, second);
    join(world, 1, "H13");
    join(world, 3, "H11"); /* with the same MLID as the first */
    leave(world, 1, "H11");
    leave(world, 2, "H4");
    service(world, METHOD_SET, 21, UINT32_MAX, "of the second");
    service(world, METHOD_SET, 11, 50, "changed again");
    service(world, METHOD_DELETE, 10, 0, "for ever");
    inform(world, "H4", 67, true);
    inform(world, "H11", 64, false);
    alias(world, METHOD_SET, "H11", 2, 0xA1106);
    machine(second, 11, 1, MACHINE_REMOVED, "");
    machine(second, 13, 4, MACHINE_RUNS, "web3");
    machine(second, 12, 5, MACHINE_RUNS, "elsewhere");
}

static void check_merged(struct sa_world *world, struct sa *first, struct sa *second)
{
    assert_true(same_registrations(first, second));
    for (unsigned i = 0; i < 2; i++) {
        struct sa *sa = i ? second : first;
        assert_true(is_member(world, sa, 3, "H13") && is_member(world, sa, 3, "H11"));
        assert_true(is_member(world, sa, 1, "H4") && is_member(world, sa, 1, "H13"));
        assert_true(is_member(world, sa, 1, "H12") && !is_member(world, sa, 1, "H11"));
        assert_null(group_of(sa, 2));
        assert_true(has_service(sa, 20) && has_service(sa, 21) && !has_service(sa, 10));
        assert_int_equal(counts_of(sa).services, 3);
        assert_int_equal(counts_of(sa).subscriptions, 3);
        assert_int_equal(alias_guids_port(sa_alias_guids(sa), 0xA1106), world_guid(world, "H11"));
        assert_int_equal(alias_guids_port(sa_alias_guids(sa), 0xA1105), world_guid(world, "H12"));
        assert_int_equal(wanted_machines_at(sa_machines(sa), 11, 1)->wish, MACHINE_REMOVED);
        assert_int_equal(wanted_machines_at(sa_machines(sa), 13, 4)->wish, MACHINE_RUNS);
        assert_int_equal(wanted_machines_at(sa_machines(sa), 12, 2)->wish, MACHINE_REMOVED);
        assert_null(wanted_machines_at(sa_machines(sa), 12, 5)); /* contradicts the first */
    }
}

static void two_masters_merge_what_they_acknowledged(void **state)
{
    struct sa_world *world = *state;
    register_things(world);
    struct sa *master = world->sa, *standby = a_standby(world);
    talk(world, standby);
    world->now += NS_PER_S;
    talk(world, standby);
    split(world, master, standby);
    stand_by(world, standby, master);
    check_merged(world, master, standby);

    /* Nothing has changed since: the next poll is short, and a second split is merged like the
     * first. */
    serve(world, standby);
    service(world, METHOD_DELETE, 21, 0, "of the second");
    stand_by(world, standby, master);
    assert_false(has_service(master, 21));
    assert_int_equal(counts_of(master).services, 2);
    assert_true(same_registrations(master, standby));
    sa_free(standby);
}

/* The former standby stays master. */
static void a_former_master_tells_its_successor_what_it_acknowledged(void **state)
{
    struct sa_world *world = *state;
    register_things(world);
    struct sa *former = world->sa;
    struct subnet_port *port = standby_port(world);
    struct sa *successor = a_standby(world);
    talk(world, successor);
    world->now += NS_PER_S;
    talk(world, successor);
    split(world, successor, former);
    /* In this test the standby is at the LID of a standby, whichever it is. */
    successor->guid = former->guid;
    former->guid = port->guid;
    former->standbys[0].address.lid = MASTER;
    stand_by(world, former, successor);
    check_merged(world, successor, former);
    world->sa = successor;
    sa_free(former);
}

/* Ports of the other part expired there: the client did not ask for that. */
static void what_expired_in_the_other_part_stays(void **state)
{
    struct sa_world *world = *state;
    register_things(world);
    struct sa *master = world->sa, *standby = a_standby(world);
    talk(world, standby);
    world->now += NS_PER_S;
    talk(world, standby);
    serve(world, standby);
    map_set(&standby->expired_ports, world_guid(world, "H12"), 1);
    leave(world, 1, "H12");
    join(world, 4, "H13");
    stand_by(world, standby, master);
    assert_true(is_member(world, master, 1, "H12") && is_member(world, master, 4, "H13"));
    assert_true(same_registrations(master, standby));
    sa_free(standby);
}

/* The master acknowledged more of machines than its standby had confirmed, and was killed. */
static void a_restarted_master_tells_what_was_wanted_of_machines(void **state)
{
    struct sa_world *world = *state;
    register_things(world);
    struct sa *killed = world->sa, *successor = a_standby(world);
    struct text text = {0};
    talk(world, successor);
    machine(killed, 11, 1, MACHINE_ENDED, "");
    machine(killed, 12, 2, MACHINE_REMOVED, "");
    machine(killed, 14, 3, MACHINE_RUNS, "web4");
    sa_registry_print_changes(killed, 0, &(struct sa_generations){1, 1}, &text);
    struct sa *restarted = at_port(78, standby_port(world)->guid, KEY_WELL_KNOWN);
    struct sa_registry_file file = {"FILE", text.data, text.length, 0};
    machine(restarted, 11, 1, MACHINE_RUNS, ""); /* the journal has both */
    assert_int_equal(sa_registry_read(restarted, world->now, &file, NULL), 0);
    serve(world, successor);
    service(world, METHOD_DELETE, 10, 0, "for ever");
    machine(successor, 12, 2, MACHINE_RUNS, "again");
    stand_by(world, restarted, successor);
    assert_false(has_service(successor, 10)); /* clients repeat theirs */
    assert_int_equal(wanted_machines_at(sa_machines(successor), 11, 1)->wish, MACHINE_REMOVED);
    assert_int_equal(wanted_machines_at(sa_machines(successor), 12, 2)->wish, MACHINE_RUNS);
    assert_int_equal(wanted_machines_at(sa_machines(successor), 14, 3)->wish, MACHINE_RUNS);
    assert_int_equal(wanted_machines_at(sa_machines(restarted), 12, 2)->wish, MACHINE_RUNS);
    text_release(&text);
    sa_free(killed);
    sa_free(restarted);
}

/* Two subnets that were never one become one. */
static void strangers_only_add_what_the_other_does_not_have(void **state)
{
    struct sa_world *world = *state;
    register_things(world);
    struct sa *master = world->sa, *other = at_port(5, standby_port(world)->guid, KEY_WELL_KNOWN);
    standby_port(world)->manager = standby_port(world)->peer_manager = true;
    serve(world, other);
    service(world, METHOD_SET, 21, UINT32_MAX, "of the other");
    service(world, METHOD_SET, 10, 7, "not for ever");
    join(world, 1, "H13");
    stand_by(world, other, master);
    assert_true(has_service(master, 10) && has_service(master, 11) && has_service(master, 21));
    assert_true(is_member(world, master, 1, "H11") && is_member(world, master, 1, "H12"));
    assert_true(same_registrations(master, other));
    sa_free(other);
}

/* ---- losses and stops ---- */

enum { CLIENTS = 6, STEP_MS = 5, LONGEST_STOP_MS = 3000 };

/* A master and its standby between which messages are lost and delayed, while clients register. */
struct replication {
    struct sa_world *world;
    struct sa *standby;
    struct rng rng;
    uint64_t master_stopped_until, standby_stopped_until, cut_until;
    VEC(struct delayed {
        uint64_t at;
        bool to_standby;
        size_t bytes;
        uint8_t *data;
    })
    flying;
    bool acknowledged[CLIENTS]; /* the client has an answer to its last request */
    bool subscribed[CLIENTS];
    uint64_t claims; /* times at which the standby claimed to have all */
    uint64_t longest_wait;
    uint64_t asked_at[CLIENTS]; /* or the time at which a stopped master continues */
};

static bool happens(struct replication *r, unsigned per_mille)
{
    return rng_below(&r->rng, 1000) < per_mille;
}

static const char *client_name(unsigned client)
{
    static const char *const names[CLIENTS] = {"H4", "H7", "H12", "H13", "H14", "H15"};
    return names[client];
}

static void send_subscription(struct replication *r, unsigned client)
{
    struct sa_world *world = r->world;
    uint8_t *info = world_query(world, METHOD_SET, ATTRIBUTE_INFORM_INFO, 0);
    r->subscribed[client] = !r->subscribed[client];
    r->acknowledged[client] = false;
    r->asked_at[client] = world->now;
    wire_set(info, INFORM_INFO_LID_RANGE_BEGIN, 0xFFFF);
    wire_set(info, INFORM_INFO_IS_GENERIC, 1);
    wire_set(info, INFORM_INFO_SUBSCRIBE, r->subscribed[client]);
    wire_set(info, INFORM_INFO_TYPE, 0xFFFF);
    wire_set(info, INFORM_INFO_TRAP_NUMBER, 128);
    wire_set(info, INFORM_INFO_PRODUCER_TYPE, 0xFFFFFF);
    struct sa_message query = {.address.lid = world_lid(world, client_name(client)),
                               .data = world->query,
                               .bytes = MAD_BYTES};
    sa_receive(world->sa, world->now, &query);
}

static void dispatch(struct replication *r, bool to_standby, const struct sa_message *message)
{
    uint64_t delay = rng_below(&r->rng, happens(r, 20) ? 400 : 10) * NS_PER_MS;
    if (happens(r, 30) || r->world->now < r->cut_until)
        return;
    struct delayed one = {r->world->now + delay, to_standby, message->bytes,
                          mem_alloc(message->bytes)};
    memcpy(one.data, message->data, message->bytes);
    vec_push(&r->flying, one);
}

static void deliver(struct replication *r)
{
    uint64_t now = r->world->now;
    for (size_t i = 0; i < r->flying.count;) {
        struct delayed one = r->flying.items[i];
        if (now < one.at ||
            now < (one.to_standby ? r->standby_stopped_until : r->master_stopped_until)) {
            i++;
            continue;
        }
        struct sa_message message = {
            .address.lid = one.to_standby ? MASTER : STANDBY, .data = one.data, .bytes = one.bytes};
        sa_receive(one.to_standby ? r->standby : r->world->sa, now, &message);
        mem_free(one.data);
        vec_remove(&r->flying, i);
    }
}

static void run_sides(struct replication *r)
{
    struct sa_message message;
    uint64_t now = r->world->now;
    if (now >= r->standby_stopped_until) {
        sa_expire(r->standby, now);
        while (sa_deadline(r->standby) <= now && sa_next_output(r->standby, now, &message))
            dispatch(r, false, &message);
    }
    if (now < r->master_stopped_until)
        return;
    sa_expire(r->world->sa, now);
    while (sa_deadline(r->world->sa) <= now && sa_next_output(r->world->sa, now, &message)) {
        if (message.address.lid == STANDBY) {
            dispatch(r, true, &message);
            continue;
        }
        for (unsigned i = 0; i < CLIENTS; i++)
            if (world_lid(r->world, client_name(i)) == message.address.lid && !r->acknowledged[i]) {
                r->acknowledged[i] = true;
                uint64_t wait = now - r->asked_at[i];
                r->longest_wait = wait > r->longest_wait ? wait : r->longest_wait;
            }
    }
}

static bool is_subscribed(const char *registrations, uint16_t lid)
{
    char line[64];
    snprintf(line, sizeof line, "rep_addr: lid=0x%04x ", lid);
    return strstr(registrations, line) != NULL;
}

/* The master may end now. */
static void check_claim(struct replication *r)
{
    if (r->world->now < r->standby_stopped_until || sa_registry_master(r->standby) != MASTER)
        return;
    struct text text = {0};
    sa_registry_print(r->standby, 0, &text);
    r->claims++;
    for (unsigned i = 0; i < CLIENTS; i++)
        if (r->acknowledged[i] &&
            is_subscribed(text.data, world_lid(r->world, client_name(i))) != r->subscribed[i])
            fail_msg("after %llu ms the standby lacks what %s was told",
                     (unsigned long long)(r->world->now / NS_PER_MS), client_name(i));
    text_release(&text);
}

static void stop_and_cut(struct replication *r)
{
    uint64_t now = r->world->now, length = rng_below(&r->rng, LONGEST_STOP_MS) * NS_PER_MS;
    if (rng_below(&r->rng, 10000) == 0)
        r->standby_stopped_until = now + length;
    if (rng_below(&r->rng, 10000) == 0) {
        r->master_stopped_until = now + length;
        for (unsigned i = 0; i < CLIENTS; i++)
            r->asked_at[i] = r->master_stopped_until;
    }
    if (rng_below(&r->rng, 10000) == 0)
        r->cut_until = now + length;
}

/* For 100 s. */
static void run_replication(struct replication *r)
{
    for (unsigned i = 0; i < CLIENTS; i++)
        r->acknowledged[i] = true;
    for (unsigned step = 0; step < 20000; step++, r->world->now += STEP_MS * NS_PER_MS) {
        unsigned client = (unsigned)rng_below(&r->rng, CLIENTS);
        stop_and_cut(r);
        deliver(r);
        if (happens(r, 20) && r->acknowledged[client] && r->world->now >= r->master_stopped_until)
            send_subscription(r, client);
        run_sides(r);
        check_claim(r);
    }
    for (size_t i = 0; i < r->flying.count; i++)
        mem_free(r->flying.items[i].data);
    vec_release(&r->flying);
}

static void a_standby_that_claims_to_have_all_has_every_acknowledged_registration(void **state)
{
    uint64_t claims = 0;
    for (unsigned seed = 0; seed < 5; seed++) {
        void *world = NULL;
        open_registering(&world);
        struct replication r = {.world = world, .standby = a_standby(world)};
        rng_seed(&r.rng, seed, 0);
        run_replication(&r);
        assert_true(r.longest_wait < 3 * NS_PER_S);
        claims += r.claims;
        sa_free(r.standby);
        close_world(&world);
    }
    (void)state;
    assert_in_range(claims, 20000, 80000);
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
        TEST_IN(open_registering, two_masters_merge_what_they_acknowledged),
        TEST_IN(open_registering, a_former_master_tells_its_successor_what_it_acknowledged),
        TEST_IN(open_registering, what_expired_in_the_other_part_stays),
        TEST_IN(open_registering, a_restarted_master_tells_what_was_wanted_of_machines),
        TEST_IN(open_registering, strangers_only_add_what_the_other_does_not_have),
        cmocka_unit_test(a_standby_that_claims_to_have_all_has_every_acknowledged_registration),
    };
    return RUN(tests);
}
