/* Registrations over the end of the process: no client is answered before its registration is
 * written, and all complete pieces of the journal are read. */
#include "host/daemon/registrations.h"
#include "host/daemon/store.h"
#include "sa_world.h"
#include "test.h"

#include <sys/stat.h>

static const uint8_t mgid[16] = {0xFF, 0x12, 0xA0, 0x1C, [15] = 7};
static const char *const hosts[] = {"H1", "H2", "H3", "H4", "H5", "H6"};
enum { HOSTS = sizeof hosts / sizeof *hosts };
#define PREFIX UINT64_C(0xFE80000000000000)

/* An administration with its files. Each start creates a new one. */
struct life {
    struct sa_world world;
    struct event_log log;
    struct registrations registrations;
};

static void start(struct life *life, const char *directory, uint64_t instance)
{
    static const char *const words[] = {"switches=4", "hosts=8", "ports=8"};
    struct sa_config config;
    sa_config_init(&config);
    config.instance = instance;
    memset(life, 0, sizeof *life);
    world_open(&life->world, &(struct sa_world_shape){.kind = "irregular",
                                                      .words = {words[0], words[1], words[2]},
                                                      .config = &config});
    assert_int_equal(event_log_open(&life->log, "/dev/null", false, NULL), 0);
    life->registrations =
        (struct registrations){.directory = mem_strdup(directory), .log = &life->log};
    registrations_open(&life->registrations, life->world.sa, life->world.now);
}

/* Ends without writing, as a killed process. */
static void kill_process(struct life *life)
{
    registrations_close(&life->registrations);
    event_log_close(&life->log);
    world_close(&life->world);
}

static void send_request(struct life *life, const char *host, unsigned method, uint64_t mask)
{
    struct sa_world *world = &life->world;
    uint8_t *record = world_query(world, method, ATTRIBUTE_MC_MEMBER_RECORD, mask);
    uint8_t *gid = wire_bytes(record, MC_MEMBER_RECORD_PORT_GID);
    memcpy(wire_bytes(record, MC_MEMBER_RECORD_MGID), mgid, 16);
    wire_set_bits(gid, 0, 64, PREFIX);
    wire_set_bits(gid, 64, 64, world_guid(world, host));
    wire_set(record, MC_MEMBER_RECORD_P_KEY, 0xFFFF);
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, JOIN_FULL);
    world->from = world_lid(world, host);
    assert_int_equal(world_send(world), NO_ANSWER); /* not yet */
}

static unsigned answers(struct life *life)
{
    struct sa_message message;
    unsigned count = 0;
    while (sa_next_output(life->world.sa, life->world.now, &message)) {
        assert_int_equal(wire_get(message.data, MAD_STATUS), STATUS_OK);
        count++;
    }
    return count;
}

static void join(struct life *life, const char *host)
{
    send_request(life, host, METHOD_SET, 0x130C7);
    assert_int_equal(answers(life), 0);
    assert_true(registrations_commit(&life->registrations, life->world.sa));
    assert_int_equal(answers(life), 1);
    assert_false(registrations_commit(&life->registrations, life->world.sa));
}

static void leave(struct life *life, const char *host)
{
    send_request(life, host, METHOD_DELETE, 0x10003);
    assert_true(registrations_commit(&life->registrations, life->world.sa));
    assert_int_equal(answers(life), 1);
}

/* The members, one bit each. */
static unsigned members(struct life *life)
{
    const struct group *group = groups_find(sa_groups(life->world.sa), mgid);
    unsigned set = 0;
    for (unsigned i = 0; group && i < HOSTS; i++)
        set |= (unsigned)(group_find_member(group, world_guid(&life->world, hosts[i])) != NULL)
               << i;
    return set;
}

/* Writes the dump. */
static void write_dump(struct life *life, const char *directory)
{
    struct text content = {0};
    registrations_take(&life->registrations, life->world.now, life->world.sa, &content);
    assert_true(content.length > 0);
    assert_int_equal(store_replace(directory, REGISTRATIONS_FILE, &content), 0);
    text_release(&content);
}

static int make(void **state)
{
    char *directory = mem_zalloc(64, 1);
    make_directory(directory);
    *state = directory;
    return 0;
}

static int end(void **state)
{
    static const char *const names[] = {REGISTRATIONS_FILE, REGISTRATIONS_JOURNAL,
                                        REGISTRATIONS_FILE ".bad"};
    char path[160];
    for (unsigned i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", (char *)*state, names[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(*state), 0);
    mem_free(*state);
    return 0;
}

static void answered_registrations_survive_a_restart(void **state)
{
    struct life life;
    start(&life, *state, 1);
    join(&life, "H1");
    join(&life, "H2");
    join(&life, "H3");
    leave(&life, "H2");
    kill_process(&life);
    start(&life, *state, 2);
    assert_int_equal(members(&life), 0x5);
    join(&life, "H6"); /* and continues to work */
    kill_process(&life);
    start(&life, *state, 3);
    assert_int_equal(members(&life), 0x25);
    kill_process(&life);
    start(&life, *state, 4); /* without changes in between */
    assert_int_equal(members(&life), 0x25);
    kill_process(&life);
}

static void one_write_serves_all_waiting_clients(void **state)
{
    struct life life;
    struct stat before, after;
    char path[160];
    snprintf(path, sizeof path, "%s/%s", (char *)*state, REGISTRATIONS_JOURNAL);
    start(&life, *state, 1);
    join(&life, "H1");
    assert_int_equal(stat(path, &before), 0);
    for (unsigned i = 1; i < HOSTS; i++)
        send_request(&life, hosts[i], METHOD_SET, 0x130C7);
    assert_int_equal(answers(&life), 0);
    assert_true(registrations_commit(&life.registrations, life.world.sa));
    assert_int_equal(answers(&life), HOSTS - 1);
    assert_int_equal(stat(path, &after), 0);
    assert_true(after.st_size > before.st_size);
    assert_int_equal(after.st_ino, before.st_ino); /* it was appended to */
    kill_process(&life);
    start(&life, *state, 2);
    assert_int_equal(members(&life), 0x3F);
    kill_process(&life);
}

static void the_newer_file_is_used(void **state)
{
    struct life life;
    start(&life, *state, 1);
    join(&life, "H1");
    join(&life, "H2");
    write_dump(&life, *state);
    kill_process(&life);
    start(&life, *state, 2); /* both have the same generation */
    assert_int_equal(members(&life), 0x3);
    join(&life, "H3"); /* the journal is newer */
    kill_process(&life);
    start(&life, *state, 3);
    assert_int_equal(members(&life), 0x7);
    join(&life, "H4");
    write_dump(&life, *state);
    groups_leave((struct groups *)sa_groups(life.world.sa),
                 groups_find(sa_groups(life.world.sa), mgid), world_guid(&life.world, "H1"), 0xF);
    write_dump(&life, *state); /* the dump is newer: no client waits for this change */
    kill_process(&life);
    start(&life, *state, 4);
    assert_int_equal(members(&life), 0xE);
    kill_process(&life);
}

/* A journal that is truncated at any byte yields an earlier state. */
static void a_truncated_journal_is_read_up_to_its_last_complete_piece(void **state)
{
    struct life life;
    struct text journal = {0}, cut = {0};
    unsigned known = 0;
    start(&life, *state, 1);
    for (unsigned i = 0; i < HOSTS; i++)
        join(&life, hosts[i]);
    kill_process(&life);
    assert_int_equal(store_read(*state, REGISTRATIONS_JOURNAL, &journal), 0);
    for (size_t length = 0; length <= journal.length; length += 37) {
        char path[160];
        snprintf(path, sizeof path, "%s/%s", (char *)*state, REGISTRATIONS_FILE);
        unlink(path);
        text_clear(&cut);
        text_append(&cut, journal.data, length);
        assert_int_equal(store_replace(*state, REGISTRATIONS_JOURNAL, &cut), 0);
        start(&life, *state, 2);
        unsigned set = members(&life);
        assert_int_equal(set & (set + 1), 0); /* only the last ones are missing */
        assert_true(set >= known);
        known = set;
        kill_process(&life);
    }
    assert_true(known >= 0x1F);
    text_release(&journal);
    text_release(&cut);
}

static void an_invalid_journal_is_ignored(void **state)
{
    struct life life;
    struct text journal = {0}, other = {0};
    start(&life, *state, 1);
    join(&life, "H1");
    write_dump(&life, *state);
    join(&life, "H2");
    kill_process(&life);
    assert_int_equal(store_read(*state, REGISTRATIONS_JOURNAL, &journal), 0);
    /* without the first piece, which is the whole state */
    size_t at = 0, bytes;
    assert_non_null(journal_next(&journal, &at, &bytes));
    text_append(&other, journal.data + at, journal.length - at);
    assert_int_equal(store_replace(*state, REGISTRATIONS_JOURNAL, &other), 0);
    start(&life, *state, 2);
    assert_int_equal(members(&life), 0x1);
    kill_process(&life);
    text_clear(&other);
    text_puts(&other, "# weft: piece of 99999999999999999999 0\nnonsense");
    assert_int_equal(store_replace(*state, REGISTRATIONS_JOURNAL, &other), 0);
    start(&life, *state, 3);
    assert_int_equal(members(&life), 0x1);
    kill_process(&life);
    text_release(&journal);
    text_release(&other);
}

static void clients_are_answered_if_the_journal_cannot_be_written(void **state)
{
    struct life life;
    start(&life, *state, 1);
    life.registrations.journal.directory = "/nonexistent";
    join(&life, "H1");
    join(&life, "H2");
    assert_true(life.registrations.journal_failed);
    life.registrations.journal.directory = *state;
    join(&life, "H3"); /* from now on everything is saved */
    assert_false(life.registrations.journal_failed);
    kill_process(&life);
    start(&life, *state, 2);
    assert_int_equal(members(&life), 0x7);
    kill_process(&life);
}

int main(void)
{
#define TEST(claim) cmocka_unit_test_setup_teardown(claim, make, end)
    const struct CMUnitTest tests[] = {
        TEST(answered_registrations_survive_a_restart),
        TEST(one_write_serves_all_waiting_clients),
        TEST(the_newer_file_is_used),
        TEST(a_truncated_journal_is_read_up_to_its_last_complete_piece),
        TEST(an_invalid_journal_is_ignored),
        TEST(clients_are_answered_if_the_journal_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
