/* Two masters, after a subnet was split, merge the registrations that each has acknowledged. */
#include "registering.h"

#include "sa/internal.h"
#include "subnet/trust.h"

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

/* What the manager at H4 has of machine 11 at place 1. */
static enum machine_wish wish_of(struct sa *sa)
{
    const struct wanted_machine *row = wanted_machines_at(sa_machines(sa), 11, 1);
    return row ? row->wish : MACHINE_ENDED;
}

static void find_machine(struct sa *sa)
{
    wanted_machines_set(
        sa_machines(sa),
        &(struct wanted_machine){.guid = 11, .place = 1, .wish = MACHINE_RUNS, .lid = 7});
}

static struct sa *restart(struct sa_world *world, struct sa *sa, uint64_t instance)
{
    struct text text = {0};
    sa_registry_print(sa, 0, &text);
    struct sa *restarted = at_port(instance, standby_port(world)->guid, KEY_WELL_KNOWN);
    struct sa_registry_file file = {"FILE", text.data, text.length, 0};
    assert_int_equal(sa_registry_read(restarted, world->now, &file, NULL), 0);
    text_release(&text);
    return restarted;
}

/* Its standby was restarted with an old file, took over, and found the machine that the killed
 * master had removed. */
static void check_both_restarted(struct sa_world *world, bool copied, enum machine_wish wish,
                                 bool decides)
{
    struct sa *killed = world->sa, *successor = at_port(79, 0, KEY_WELL_KNOWN);
    if (copied) { /* before the last request */
        sa_free(successor);
        machine(killed, 11, 1, MACHINE_RUNS, "web");
        successor = restart(world, killed, 79);
    } else
        for (unsigned i = 0; i < 9; i++) /* it decided much, of others */
            machine(successor, 50 + i, 3, MACHINE_RUNS, "other");
    machine(killed, 11, 1, MACHINE_REMOVED, "");
    if (wish == MACHINE_ENDED)
        machine(killed, 11, 1, MACHINE_ENDED, "");
    struct sa *restarted = restart(world, killed, 78);
    serve(world, successor);
    find_machine(successor);
    if (decides)
        machine(successor, 11, 1, MACHINE_RUNS, "again");
    standby_port(world)->manager = standby_port(world)->peer_manager = true;
    stand_by(world, restarted, successor);
    /* It asks the hypervisor whether the machine has ended. */
    assert_int_equal(wish_of(successor), decides ? MACHINE_RUNS : MACHINE_REMOVED);
    assert_int_equal(wish_of(restarted), wish_of(successor));
    assert_true(same_registrations(restarted, successor));
    world->sa = killed;
    sa_free(restarted);
    sa_free(successor);
}

static void a_restarted_standby_does_not_undo_a_request(void **state)
{
    struct sa_world *world = *state;
    check_both_restarted(world, false, MACHINE_REMOVED, false);
    check_both_restarted(world, true, MACHINE_REMOVED, false);
    check_both_restarted(world, true, MACHINE_ENDED, false);
    check_both_restarted(world, false, MACHINE_REMOVED, true);
    check_both_restarted(world, true, MACHINE_REMOVED, true);
}

/* The master is the one that was not restarted, or has the newer file. */
static void an_old_file_does_not_undo_a_request(void **state)
{
    struct sa_world *world = *state;
    struct sa *master = world->sa;
    machine(master, 11, 1, MACHINE_RUNS, "web");
    machine(master, 12, 1, MACHINE_RUNS, "web");
    struct sa *old = restart(world, master, 78);
    machine(master, 11, 1, MACHINE_REMOVED, "");
    machine(master, 12, 1, MACHINE_ENDED, "");
    struct sa *successor = restart(world, master, 79);
    serve(world, successor);
    standby_port(world)->manager = standby_port(world)->peer_manager = true;
    stand_by(world, old, successor);
    assert_int_equal(wish_of(successor), MACHINE_REMOVED);
    assert_null(wanted_machines_any(sa_machines(successor), 12));
    assert_true(same_registrations(old, successor));
    world->sa = master;
    sa_free(old);
    sa_free(successor);
}

/* The successor has dropped the rows of many that ended. */
static void all_places_of_a_machine_are_taken(void **state)
{
    struct sa_world *world = *state;
    struct sa *killed = world->sa, *successor = at_port(79, 0, KEY_WELL_KNOWN);
    machine(killed, 14, 1, MACHINE_RUNS, "stale");
    for (unsigned i = 0; i < 2000; i++)
        machine(successor, 100 + i / 2, 1, i % 2 ? MACHINE_ENDED : MACHINE_RUNS, "short");
    assert_true(sa_machines(successor)->decision_dropped > 1000);
    machine(killed, 11, 1, MACHINE_RUNS, "web");
    machine(killed, 11, 2, MACHINE_RUNS, "web"); /* and is to be removed at the first place */
    struct sa *restarted = restart(world, killed, 78);
    serve(world, successor);
    find_machine(successor);
    standby_port(world)->manager = standby_port(world)->peer_manager = true;
    stand_by(world, restarted, successor);
    assert_int_equal(wish_of(successor), MACHINE_REMOVED);
    assert_int_equal(wanted_machines_running(sa_machines(successor), 11)->place, 2);
    assert_null(wanted_machines_any(sa_machines(successor), 14));
    assert_true(same_registrations(restarted, successor));
    world->sa = killed;
    sa_free(restarted);
    sa_free(successor);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN(open_registering, two_masters_merge_what_they_acknowledged),
        TEST_IN(open_registering, a_former_master_tells_its_successor_what_it_acknowledged),
        TEST_IN(open_registering, what_expired_in_the_other_part_stays),
        TEST_IN(open_registering, a_restarted_master_tells_what_was_wanted_of_machines),
        TEST_IN(open_registering, a_restarted_standby_does_not_undo_a_request),
        TEST_IN(open_registering, an_old_file_does_not_undo_a_request),
        TEST_IN(open_registering, all_places_of_a_machine_are_taken),
        TEST_IN(open_registering, strangers_only_add_what_the_other_does_not_have),
    };
    return RUN(tests);
}
