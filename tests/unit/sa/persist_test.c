/* Registrations survive their manager: written to a file and read, and replicated to standbys. */
#include "test.h"

#include "subnet/trust.h"

#include <errno.h>

static bool in_sync; /* a standby is in sync */

static int open_world(void **state)
{
    struct sa_world *world = mem_zalloc(1, sizeof *world);
    struct sa_config config;
    sa_config_init(&config);
    config.instance = 77;
    world_open(world, &(struct sa_world_shape){.kind = "figure1", .config = &config});
    *state = world;
    in_sync = false;
    return 0;
}

static int close_world(void **state)
{
    world_close(*state);
    mem_free(*state);
    return 0;
}

/* ---- registering ---- */

/* With a standby in sync the answer waits until the standby has the registration. */
static void register_now(struct sa_world *world)
{
    unsigned status = world_send(world);
    if (!in_sync || status != NO_ANSWER)
        assert_int_equal(status, STATUS_OK);
}

static void join(struct sa_world *world, unsigned group, const char *host)
{
    uint8_t *record =
        world_query(world, METHOD_SET, ATTRIBUTE_MC_MEMBER_RECORD,
                    BIT(0) | BIT(1) | BIT(2) | BIT(6) | BIT(7) | BIT(12) | BIT(13) | BIT(16));
    set_gid(wire_bytes(record, MC_MEMBER_RECORD_MGID), UINT64_C(0xFF12A01C00000000), group);
    set_gid(wire_bytes(record, MC_MEMBER_RECORD_PORT_GID), PREFIX, world_guid(world, host));
    wire_set(record, MC_MEMBER_RECORD_P_KEY, 0xFFFF);
    wire_set(record, MC_MEMBER_RECORD_Q_KEY, 0x1234);
    wire_set(record, MC_MEMBER_RECORD_FLOW_LABEL, 0x54321);
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, JOIN_FULL);
    world->from = world_lid(world, host);
    register_now(world);
}

static void leave(struct sa_world *world, unsigned group, const char *host)
{
    uint8_t *record =
        world_query(world, METHOD_DELETE, ATTRIBUTE_MC_MEMBER_RECORD, BIT(0) | BIT(1) | BIT(16));
    set_gid(wire_bytes(record, MC_MEMBER_RECORD_MGID), UINT64_C(0xFF12A01C00000000), group);
    set_gid(wire_bytes(record, MC_MEMBER_RECORD_PORT_GID), PREFIX, world_guid(world, host));
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, JOIN_FULL);
    world->from = world_lid(world, host);
    register_now(world);
}

static void service(struct sa_world *world, unsigned method, uint64_t id, uint32_t lease_s,
                    const char *name)
{
    uint8_t *record = world_query(world, method, ATTRIBUTE_SERVICE_RECORD,
                                  BIT(0) | BIT(1) | BIT(4) | BIT(5) | BIT(6));
    wire_set(record, SERVICE_RECORD_ID, id);
    set_gid(wire_bytes(record, SERVICE_RECORD_GID), PREFIX, world_guid(world, "H4"));
    wire_set(record, SERVICE_RECORD_LEASE, lease_s);
    memset(wire_bytes(record, SERVICE_RECORD_KEY), 0x5A, 16);
    memcpy(wire_bytes(record, SERVICE_RECORD_NAME), name, strlen(name));
    for (unsigned i = 0; i < 16; i++)
        wire_set_at(record, SERVICE_RECORD_DATA8, i, i + 1);
    wire_set_at(record, SERVICE_RECORD_DATA64, 1, UINT64_C(0x0102030405060708));
    register_now(world);
}

static void inform(struct sa_world *world, const char *host, unsigned trap, bool subscribe)
{
    uint8_t *info = world_query(world, METHOD_SET, ATTRIBUTE_INFORM_INFO, 0);
    wire_set(info, INFORM_INFO_LID_RANGE_BEGIN, 0xFFFF);
    wire_set(info, INFORM_INFO_IS_GENERIC, 1);
    wire_set(info, INFORM_INFO_SUBSCRIBE, subscribe);
    wire_set(info, INFORM_INFO_TYPE, 0xFFFF);
    wire_set(info, INFORM_INFO_TRAP_NUMBER, trap);
    wire_set(info, INFORM_INFO_PRODUCER_TYPE, 0xFFFFFF);
    world->from = world_lid(world, host);
    register_now(world);
}

static void register_things(struct sa_world *world)
{
    join(world, 1, "H11");
    join(world, 1, "H12");
    join(world, 2, "H4");
    service(world, METHOD_SET, 10, UINT32_MAX, "for ever");
    service(world, METHOD_SET, 11, 100, "with 'quotes'\n");
    inform(world, "H11", 64, true);
    inform(world, "H12", 128, true);
}

/* The text of all registrations, without the line with the generations. */
static struct text printed(const struct sa *sa)
{
    struct text text = {0};
    sa_registry_print(sa, 0, &text);
    char *end = strchr(text.data, '\n');
    assert_non_null(end);
    memset(text.data, '-', (size_t)(end - text.data));
    return text;
}

static bool same_registrations(const struct sa *a, const struct sa *b)
{
    struct text one = printed(a), other = printed(b);
    const char *from = strchr(one.data, '\n'), *to = strchr(other.data, '\n');
    bool same = strcmp(from, to) == 0;
    text_release(&one);
    text_release(&other);
    return same;
}

static struct sa *at_port(uint64_t instance, uint64_t guid, uint64_t sm_key)
{
    struct sa_config config;
    sa_config_init(&config);
    config.instance = instance;
    config.sm_key = sm_key;
    config.salt = instance * 3;
    return sa_new(&config, guid);
}

static struct sa *another(uint64_t instance)
{
    return at_port(instance, 99, KEY_WELL_KNOWN);
}

static struct sa_counts counts_of(const struct sa *sa)
{
    struct sa_counts counts;
    sa_counts(sa, &counts);
    return counts;
}

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
    (void)state;
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
    (void)state;
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
    (void)state;
    struct sa *reader = another(1);
    struct err err = {0};
    struct sa_registry_file file = {"FILE", "\0\0\0\0", 4, 0};
    assert_int_equal(sa_registry_read(reader, 0, &file, &err), -EINVAL);
    sa_free(reader);
}

/* ---- standbys ---- */

enum { MASTER = 1, STANDBY = 3 };    /* LIDs */
static uint8_t last_poll[MAD_BYTES]; /* of the standby */

/* Delivers messages until none is left. Returns the length of the longest to the standby. */
static size_t talk(struct sa_world *world, struct sa *standby)
{
    struct sa_message message;
    size_t longest = 0;
    bool any = true;
    in_sync = true;
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
    assert_int_equal(read_text(reader, world->now, text.data, 1000, NULL), 0);
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
    world->now += 20 * NS_PER_MS;
    talk(world, standby);
    assert_true(same_registrations(world->sa, standby));
    assert_int_equal(counts_of(standby).groups, 2);
    assert_int_equal(counts_of(standby).services, 1);
    assert_int_equal(counts_of(standby).subscriptions, 2);
    sa_free(standby);
}

static void without_changes_two_messages_are_sent_every_half_second(void **state)
{
    struct sa_world *world = *state;
    register_things(world);
    struct sa *standby = a_standby(world);
    talk(world, standby);
    struct sa_counts before = counts_of(world->sa);
    assert_int_equal(sa_deadline(world->sa), world->now + 500 * NS_PER_MS);
    for (unsigned i = 0; i < 10 * 20; i++) {
        world->now += 25 * NS_PER_MS;
        assert_true(talk(world, standby) < 300);
    }
    assert_int_equal(counts_of(world->sa).answers - before.answers, 10);
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

/* The master answers clients without it after 100 ms. */
static void a_standby_that_was_stopped_is_not_sure_of_its_registrations(void **state)
{
    struct sa_world *world = *state;
    struct sa_message message;
    register_things(world);
    struct sa *standby = a_standby(world);
    talk_for(world, standby, NS_PER_S);
    assert_int_equal(sa_registry_master(standby), MASTER);
    join(world, 1, "H13");
    world->now += 300 * NS_PER_MS;
    sa_expire(world->sa, world->now);
    while (sa_next_output(world->sa, world->now, &message)) { /* an answer to the last poll */
        message.address.lid = MASTER;
        sa_receive(standby, world->now, &message);
    }
    sa_expire(standby, world->now);
    assert_int_equal(sa_registry_master(standby), 0);
    talk_for(world, standby, 50 * NS_PER_MS);
    assert_int_equal(sa_registry_master(standby), MASTER);
    assert_true(same_registrations(world->sa, standby));
    sa_free(standby);
}

static void a_standby_whose_master_does_not_answer_is_not_sure_of_its_registrations(void **state)
{
    struct sa_world *world = *state;
    struct sa_message message;
    register_things(world);
    struct sa *standby = a_standby(world);
    talk_for(world, standby, NS_PER_S);
    for (unsigned i = 0; i < 24; i++, world->now += 50 * NS_PER_MS) {
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
    for (; world->now < began + NS_PER_S; world->now += NS_PER_MS / 4) {
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

static void a_false_standby_slows_nobody(void **state)
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
    assert_in_range(longest, 90 * NS_PER_MS, 101 * NS_PER_MS);
    assert_true(waited <= 10 * longest); /* it was late a few times in 100 s */
    for (unsigned i = 0; i < 3; i++) {   /* it behaves, but the master does not wait for it yet */
        world->now += 3 * NS_PER_S;
        talk(world, standby);
    }
    assert_true(same_registrations(world->sa, standby));
    assert_int_equal(sa_registry_master(standby), 0);
    run_standby(world, standby, 2000);
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

/* ---- client reregistration ---- */

static void a_port_that_was_absent_for_too_long_must_reregister(void **state)
{
    struct sa_world *world = *state;
    const struct network_terminal *last = &world->network.terminals.items[world->hosts - 1];
    uint64_t guid = last->guid, reregistered;
    struct subnet_port *port = NULL;
    for (uint32_t i = 0; i < world->subnet->ports.count; i++)
        if (world->subnet->ports.items[i].guid == guid)
            port = &world->subnet->ports.items[i];
    if (!port) {
        fail_msg("the last host has no port");
        return;
    }
    uint32_t node = map_get(&world->subnet->by_guid, world->subnet->nodes.items[port->node].guid);
    inform(world, world->subnet->nodes.items[node].description, 64, true);
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
        TEST(registrations_are_read_as_they_were_written),
        TEST(leases_continue_while_no_manager_runs),
        TEST(long_leases_are_read_and_the_longest_never_ends),
        TEST(a_file_of_opensm_is_read),
        TEST(a_bad_line_is_an_error_and_changes_nothing),
        TEST(nul_bytes_are_an_error),
        TEST(the_file_of_a_standby_is_not_surely_complete),
        TEST(a_standby_replicates_the_registrations_of_its_master),
        TEST(without_changes_two_messages_are_sent_every_half_second),
        TEST(a_poll_is_repeated_after_a_lost_answer),
        TEST(a_restarted_master_is_polled_for_everything),
        TEST(a_standby_that_was_stopped_is_not_sure_of_its_registrations),
        TEST(a_standby_whose_master_does_not_answer_is_not_sure_of_its_registrations),
        TEST(a_master_that_steps_down_answers_at_once),
        TEST(a_poll_of_a_port_that_is_no_peer_is_not_answered),
        TEST(a_poll_without_a_proof_gets_only_a_challenge),
        TEST(a_standby_polls_again_soon_if_the_master_does_not_know_it_yet),
        TEST(a_standby_with_another_key_gets_no_registrations),
        TEST(a_proof_is_worthless_at_another_port),
        TEST(an_answer_that_somebody_changed_is_not_used),
        TEST(a_false_standby_slows_nobody),
        TEST(a_standby_of_a_master_without_replication_has_no_registrations),
        TEST(a_port_that_was_absent_for_too_long_must_reregister),
    };
    return RUN(tests);
}
