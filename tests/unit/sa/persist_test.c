/* Registrations survive their manager: they are written to a file and read. */
#include "registering.h"

#include <errno.h>

static int read_text(struct sa *sa, uint64_t now, const char *text, uint64_t wall_s,
                     struct err *err)
{
    struct sa_registry_file file = {"FILE", text, strlen(text), wall_s};
    return sa_registry_read(sa, now, &file, err);
}

/* ---- files ---- */

static void registrations_are_read_as_they_were_written(void **state)
{
    struct sa_world *world = *state;
    struct sa *reader = another(1);
    struct text text = {0};
    register_things(world);
    sa_registry_print(world->sa, 1000, &text);
    assert_int_equal(read_text(reader, world->now, text.data, 1000, NULL), 0);
    assert_true(same_registrations(world->sa, reader));
    assert_int_equal(counts_of(reader).groups, 3);
    assert_int_equal(counts_of(reader).services, 2);
    assert_int_equal(counts_of(reader).subscriptions, 2);
    assert_int_equal(sa_registry_master(reader),
                     world->subnet->ports.items[world->subnet->own_port].lid);
    text_release(&text);
    sa_free(reader);
}

static void long_leases_are_read_and_the_longest_never_ends(void **state)
{
    static const char line[] =
        "Service Record: id=0x%016x gid=0xfe80000000000000:0x0002c90000000001 pkey=0xffff "
        "lease=0x%x key=0x0000000000000000:0x0000000000000000 name='it' "
        "data8=0x0000000000000000:0x0000000000000000 data16=0x0000000000000000:0x0000000000000000 "
        "data32=0x0000000000000000:0x0000000000000000 data64=0x0000000000000000:0x0000000000000000 "
        "modified_time=0x5 lease_period=0x%x\n\n";
    static const unsigned leases[] = {60, UINT32_MAX - 1, UINT32_MAX};
    struct sa *reader = another(1);
    struct text text = {0};
    for (unsigned i = 0; i < 3; i++)
        text_printf(&text, line, i + 1, leases[i], leases[i]);
    assert_int_equal(read_text(reader, 5 * NS_PER_S, text.data, 5, NULL), 0);
    sa_expire(reader, 5 * NS_PER_S);
    assert_int_equal(sa_deadline(reader), 65 * NS_PER_S);
    sa_expire(reader, 65 * NS_PER_S);
    assert_int_equal(counts_of(reader).services, 2);
    assert_int_equal(sa_deadline(reader), (5 + UINT64_C(0xFFFFFFFE)) * NS_PER_S);
    sa_expire(reader, sa_deadline(reader));
    assert_int_equal(counts_of(reader).services, 1);
    assert_int_equal(sa_deadline(reader), TIME_NEVER);
    text_release(&text);
    sa_free(reader);
}

static void leases_continue_while_no_manager_runs(void **state)
{
    struct sa_world *world = *state;
    struct sa *reader = another(1);
    struct text text = {0};
    register_things(world);
    sa_registry_print(world->sa, 1000, &text);
    assert_int_equal(read_text(reader, 5 * NS_PER_S, text.data, 1040, NULL), 0);
    sa_expire(reader, 5 * NS_PER_S);
    assert_int_equal(sa_deadline(reader), 65 * NS_PER_S);
    sa_expire(reader, 65 * NS_PER_S);
    assert_int_equal(counts_of(reader).services, 1);
    assert_int_equal(read_text(reader, 5 * NS_PER_S, text.data, 9999, NULL), 0);
    sa_expire(reader, 5 * NS_PER_S);
    assert_int_equal(counts_of(reader).services, 1);
    text_release(&text);
    sa_free(reader);
}

static void a_file_of_opensm_is_read(void **state)
{
    struct sa *reader = another(1);
    static const char file[] =
        "# opensm SA dump\n\n"
        "Path: something else\n"
        "MC Group 0xc001  (well known): mgid=0xff12401bffff0000:0x00000000ffffffff "
        "port_gid=0x0000000000000000:0x0000000000000000 qkey=0x00000b1b mlid=0xc001 mtu=0x84 "
        "tclass=0x00 pkey=0xffff rate=0x83 pkt_life=0x92 sl_flow_hop=0x10000203 scope_state=0x20 "
        "proxy_join=0x0\n\n"
        "mcm_port: port_gid=0xfe80000000000000:0x0000000000100001 scope_state=0x21 "
        "proxy_join=0x0\n\n"
        "Service Record: id=0x0000000000000005 gid=0xfe80000000000000:0x0000000000100003 "
        "pkey=0xffff lease=0xffffffff key=0x0000000000000000:0x0000000000000000 name='it' "
        "data8=0x0000000000000000:0x0000000000000000 data16=0x0000000000000000:0x0000000000000000 "
        "data32=0x0000000000000000:0x0000000000000000 data64=0x0000000000000000:0x0000000000000000 "
        "modified_time=0x5 lease_period=0xffffffff\n\n"
        "InformInfo Record: subscriber_gid=0xfe80000000000000:0x0000000000100001 "
        "subscriber_enum=0x0 InformInfo: gid=0x0000000000000000:0x0000000000000000 "
        "lid_range_begin=0xffff lid_range_end=0x0 is_generic=0x1 subscribe=0x1 trap_type=0xffff "
        "trap_num=0x40 qpn_resp_time_val=0x112 node_type=0xffffff rep_addr: lid=0x0004 "
        "path_bits=0x00 static_rate=0x00 remote_qp=0x00000001 remote_qkey=0x80010000 "
        "pkey_ix=0x0000 sl=0x00\n\n";
    assert_int_equal(read_text(reader, 0, file, 1000, NULL), 0);
    const struct group *group = sa_groups(reader)->all.items[0];
    assert_int_equal(group->mlid, 0xC001);
    assert_true(group->permanent);
    assert_int_equal(group->sl, 1);
    assert_int_equal(group->flow_label, 2);
    assert_int_equal(group->hop_limit, 3);
    assert_int_equal(group->members.items[0].guid, 0x100001);
    assert_int_equal(counts_of(reader).services, 1);
    assert_int_equal(counts_of(reader).subscriptions, 1);
    assert_int_equal(sa_registry_master(reader), 0); /* the master is not known */
    sa_free(reader);
}

static void a_bad_line_is_an_error_and_changes_nothing(void **state)
{
    struct sa_world *world = *state;
    static const char *const bad[] = {
        "MC Group 0xc001 : nonsense\n",
        "mcm_port: port_gid=0xfe80000000000000:0x1 scope_state=0x21 proxy_join=0x0\n",
        "Service Record: id=0x1\n",
        "InformInfo Record: subscriber_gid=0x1\n",
        "# weft: groups left 0x5-0x1\n",
    };
    register_things(world);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct text text = {0}, before = printed(world->sa);
        struct err err = {0};
        sa_registry_print(world->sa, 0, &text);
        unsigned lines = 1;
        for (const char *at = text.data; *at; at++)
            lines += *at == '\n';
        text_puts(&text, "\nPath:\n"); /* ends the group */
        text_puts(&text, bad[i]);
        assert_int_equal(read_text(world->sa, world->now, text.data, 0, &err), -EINVAL);
        assert_int_equal(err.line, lines + 2);
        assert_string_equal(err.file, "FILE");
        struct text after = printed(world->sa);
        assert_string_equal(before.data, after.data);
        text_release(&before);
        text_release(&after);
        text_release(&text);
    }
}

static void nul_bytes_are_an_error(void **state)
{
    struct sa *reader = another(1);
    struct err err = {0};
    struct sa_registry_file file = {"FILE", "\0\0\0\0", 4, 0};
    assert_int_equal(sa_registry_read(reader, 0, &file, &err), -EINVAL);
    sa_free(reader);
}

/* ---- client reregistration ---- */

static void a_port_that_was_absent_for_too_long_must_reregister(void **state)
{
    struct sa_world *world = *state;
    const char *name = world_last_host(world);
    uint64_t guid = world_guid(world, name), reregistered;
    inform(world, name, 64, true);
    world_miss_hosts(world, 1);
    world->now += 59 * NS_PER_S;
    sa_expire(world->sa, world->now);
    world_miss_hosts(world, 0);
    assert_false(sa_next_reregistration(world->sa, &reregistered)); /* it was absent briefly */
    world_miss_hosts(world, 1);
    world->now += 61 * NS_PER_S;
    sa_expire(world->sa, world->now);
    assert_int_equal(counts_of(world->sa).subscriptions, 0);
    world_miss_hosts(world, 0);
    assert_true(sa_next_reregistration(world->sa, &reregistered));
    assert_int_equal(reregistered, guid);
    assert_false(sa_next_reregistration(world->sa, &reregistered));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN(open_registering, registrations_are_read_as_they_were_written),
        TEST_IN(open_registering, leases_continue_while_no_manager_runs),
        TEST_IN(open_registering, long_leases_are_read_and_the_longest_never_ends),
        TEST_IN(open_registering, a_file_of_opensm_is_read),
        TEST_IN(open_registering, a_bad_line_is_an_error_and_changes_nothing),
        TEST_IN(open_registering, nul_bytes_are_an_error),
        TEST_IN(open_registering, a_port_that_was_absent_for_too_long_must_reregister),
    };
    return RUN(tests);
}
