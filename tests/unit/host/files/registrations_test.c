/* Registrations over the end of the process: no client is answered before its registration is
 * written, and all complete pieces of the journal are read. */
#include "host/files/store.h"
#include "life.h"
#include "test.h"

#include <sys/stat.h>

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
    life_start(&life, *state, 1);
    life_join(&life, "H1");
    life_join(&life, "H2");
    life_join(&life, "H3");
    life_leave(&life, "H2");
    life_kill(&life);
    life_start(&life, *state, 2);
    assert_int_equal(life_members(&life), 0x5);
    life_join(&life, "H6"); /* and continues to work */
    life_kill(&life);
    life_start(&life, *state, 3);
    assert_int_equal(life_members(&life), 0x25);
    life_kill(&life);
    life_start(&life, *state, 4); /* without changes in between */
    assert_int_equal(life_members(&life), 0x25);
    life_kill(&life);
}

static void one_write_serves_all_waiting_clients(void **state)
{
    struct life life;
    struct stat before, after;
    char path[160];
    snprintf(path, sizeof path, "%s/%s", (char *)*state, REGISTRATIONS_JOURNAL);
    life_start(&life, *state, 1);
    life_join(&life, "H1");
    assert_int_equal(stat(path, &before), 0);
    for (unsigned i = 1; i < HOSTS; i++)
        life_send(&life, life_hosts[i], METHOD_SET, 0x130C7);
    assert_int_equal(life_answers(&life), 0);
    assert_true(registrations_commit(&life.registrations, life.world.now, life.world.sa));
    assert_int_equal(life_answers(&life), HOSTS - 1);
    assert_int_equal(stat(path, &after), 0);
    assert_true(after.st_size > before.st_size);
    assert_int_equal(after.st_ino, before.st_ino); /* it was appended to */
    life_kill(&life);
    life_start(&life, *state, 2);
    assert_int_equal(life_members(&life), 0x3F);
    life_kill(&life);
}

static void the_newer_file_is_used(void **state)
{
    struct life life;
    life_start(&life, *state, 1);
    life_join(&life, "H1");
    life_join(&life, "H2");
    life_write_dump(&life, *state);
    life_kill(&life);
    life_start(&life, *state, 2); /* both have the same generation */
    assert_int_equal(life_members(&life), 0x3);
    life_join(&life, "H3"); /* the journal is newer */
    life_kill(&life);
    life_start(&life, *state, 3);
    assert_int_equal(life_members(&life), 0x7);
    life_join(&life, "H4");
    life_write_dump(&life, *state);
    groups_leave((struct groups *)sa_groups(life.world.sa),
                 groups_find(sa_groups(life.world.sa), life_mgid), world_guid(&life.world, "H1"),
                 0xF);
    life_write_dump(&life, *state); /* the dump is newer: no client waits for this change */
    life_kill(&life);
    life_start(&life, *state, 4);
    assert_int_equal(life_members(&life), 0xE);
    life_kill(&life);
}

/* A journal that is truncated at any byte yields an earlier state. */
static void a_truncated_journal_is_read_up_to_its_last_complete_piece(void **state)
{
    struct life life;
    struct text journal = {0}, cut = {0};
    unsigned known = 0;
    life_start(&life, *state, 1);
    for (unsigned i = 0; i < HOSTS; i++)
        life_join(&life, life_hosts[i]);
    life_kill(&life);
    assert_int_equal(store_read(*state, REGISTRATIONS_JOURNAL, &journal), 0);
    for (size_t length = 0; length <= journal.length; length += 37) {
        char path[160];
        snprintf(path, sizeof path, "%s/%s", (char *)*state, REGISTRATIONS_FILE);
        unlink(path);
        text_clear(&cut);
        text_append(&cut, journal.data, length);
        assert_int_equal(store_replace(*state, REGISTRATIONS_JOURNAL, &cut), 0);
        life_start(&life, *state, 2);
        unsigned set = life_members(&life);
        assert_int_equal(set & (set + 1), 0); /* only the last ones are missing */
        assert_true(set >= known);
        known = set;
        life_kill(&life);
    }
    assert_true(known >= 0x1F);
    text_release(&journal);
    text_release(&cut);
}

static void an_invalid_journal_is_ignored(void **state)
{
    struct life life;
    struct text journal = {0}, other = {0};
    life_start(&life, *state, 1);
    life_join(&life, "H1");
    life_write_dump(&life, *state);
    life_join(&life, "H2");
    life_kill(&life);
    assert_int_equal(store_read(*state, REGISTRATIONS_JOURNAL, &journal), 0);
    /* without the first piece, which is the whole state */
    size_t at = 0, bytes;
    assert_non_null(journal_next(&journal, &at, &bytes));
    text_append(&other, journal.data + at, journal.length - at);
    assert_int_equal(store_replace(*state, REGISTRATIONS_JOURNAL, &other), 0);
    life_start(&life, *state, 2);
    assert_int_equal(life_members(&life), 0x1);
    life_kill(&life);
    text_clear(&other);
    text_puts(&other, "# weft: piece of 99999999999999999999 0\nnonsense");
    assert_int_equal(store_replace(*state, REGISTRATIONS_JOURNAL, &other), 0);
    life_start(&life, *state, 3);
    assert_int_equal(life_members(&life), 0x1);
    life_kill(&life);
    text_release(&journal);
    text_release(&other);
}

static void clients_are_answered_if_the_journal_cannot_be_written(void **state)
{
    struct life life;
    life_start(&life, *state, 1);
    life.registrations.journal.directory = "/nonexistent";
    life_join(&life, "H1");
    life_join(&life, "H2");
    assert_true(life.registrations.journal_failed);
    life.registrations.journal.directory = *state;
    life_join(&life, "H3"); /* from now on everything is saved */
    assert_false(life.registrations.journal_failed);
    life_kill(&life);
    life_start(&life, *state, 2);
    assert_int_equal(life_members(&life), 0x7);
    life_kill(&life);
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
