/* LIDs over restarts: OpenSM's format, errors for invalid lines, one owner of the directory, files
 * that only the owner can read. */
#include "host/files/journal.h"
#include "host/files/store.h"
#include "test.h"

#include <errno.h>
#include <sys/stat.h>

struct fixture {
    char directory[64], file[96], lock[96];
    struct err err;
};

static int make(void **state)
{
    struct fixture *fixture = mem_zalloc(1, sizeof *fixture);
    make_directory(fixture->directory);
    snprintf(fixture->file, sizeof fixture->file, "%s/guid2lid", fixture->directory);
    snprintf(fixture->lock, sizeof fixture->lock, "%s/lock", fixture->directory);
    *state = fixture;
    return 0;
}

static int end(void **state)
{
    struct fixture *fixture = *state;
    unlink(fixture->file);
    unlink(fixture->lock);
    chmod(fixture->directory, 0700);
    rmdir(fixture->directory);
    mem_free(fixture);
    return 0;
}

/* Opens the store and reads its file. */
static int open_store(struct store *store, struct fixture *f)
{
    assert_int_equal(store_open(store, f->directory, &f->err), 0);
    return store_read_lids(store, &f->err);
}

static void files_of_opensm_are_read(void **state)
{
    struct fixture *f = *state;
    struct store store;
    write_file(f->file, "0x0002c90300001234 0x0001 0x0001\n\n0x0002c90300001235 0x0008 0x000b\n\n");
    assert_int_equal(open_store(&store, f), 0);
    assert_int_equal(store.facts.count, 2);
    assert_true(store.facts.items[0].guid == 0x0002c90300001234);
    assert_int_equal(store.facts.items[0].lid, 1);
    assert_int_equal(store.facts.items[0].lmc, 0);
    assert_int_equal(store.facts.items[1].lid, 8);
    assert_int_equal(store.facts.items[1].lmc, 2);
    store_close(&store);
}

static void written_lids_are_read_again(void **state)
{
    struct fixture *f = *state;
    struct store store;
    struct text text = {0};
    assert_int_equal(open_store(&store, f), 0);
    assert_int_equal(store.facts.count, 0);
    store_add(&store, &(struct sm_lid_fact){0x10, 5, 0});
    store_add(&store, &(struct sm_lid_fact){0x20, 16, 3});
    store_add(&store, &(struct sm_lid_fact){0x10, 6, 0}); /* it has another LID now */
    store_print(&store, &text);
    assert_string_equal(text.data, "0x0000000000000010 0x0006 0x0006\n\n"
                                   "0x0000000000000020 0x0010 0x0017\n\n");
    assert_int_equal(store_replace(f->directory, "guid2lid", &text), 0);
    text_release(&text);
    store_close(&store);
    assert_int_equal(open_store(&store, f), 0);
    assert_int_equal(store.facts.count, 2);
    assert_int_equal(store.facts.items[0].lid, 6);
    assert_int_equal(store.facts.items[1].lmc, 3);
    store_close(&store);
}

static void an_invalid_line_is_an_error_that_names_it_and_the_others_are_used(void **state)
{
    static const char *const wrong[] = {
        "0x10 0x1\n",        "0x10 0x1 0x1 0x1\n",   "0x10 0x5 0x4\n", "0x10 0x0 0x0\n",
        "0x10 0x4 0x6\n",    "0x10 0xbfff 0xc000\n", "0x0 0x1 0x1\n",  "hello\n",
        "0x10 0x100 0x1ff\n"};
    struct fixture *f = *state;
    struct store store;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[128];
        snprintf(text, sizeof text, "0x1 0x1 0x1\n\n%s0x2 0x2 0x2\nanother\n", wrong[i]);
        write_file(f->file, text);
        f->err = (struct err){0};
        assert_int_equal(open_store(&store, f), -EINVAL);
        assert_string_equal(f->err.file, f->file);
        assert_int_equal(f->err.line, 3);
        assert_int_equal(store.facts.count, 2);
        store_close(&store);
    }
}

/* After a power failure a file may have its length, but not its content. */
static void a_file_of_zeroes_is_an_error(void **state)
{
    struct fixture *f = *state;
    struct store store;
    FILE *file = fopen(f->file, "w");
    assert_non_null(file);
    assert_int_equal(fwrite("0x1 0x1 0x1\n\0\0\0\0", 1, 16, file), 16);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(open_store(&store, f), -EINVAL);
    assert_string_equal(f->err.file, f->file);
    store_close(&store);
}

static void a_file_that_cannot_be_read_is_an_error_of_the_file(void **state)
{
    struct fixture *f = *state;
    struct store store;
    assert_int_equal(mkdir(f->file, 0700), 0);
    assert_true(open_store(&store, f) < 0);
    assert_string_equal(f->err.file, f->file);
    assert_int_equal(store_set_aside(f->directory, STORE_LIDS_FILE), 0);
    assert_int_equal(store_read_lids(&store, &f->err), 0);
    store_close(&store);
    char bad[128];
    snprintf(bad, sizeof bad, "%s.bad", f->file);
    assert_int_equal(rmdir(bad), 0);
}

/* The parent is a file: no directory can be made there. */
static void without_a_directory_the_store_is_open_and_empty(void **state)
{
    struct fixture *f = *state;
    struct store store;
    struct text text = {0};
    char path[128];
    write_file(f->file, "");
    snprintf(path, sizeof path, "%s/below", f->file);
    assert_int_equal(store_open(&store, path, &f->err), -ENOTDIR);
    assert_true(store_read_lids(&store, &f->err) <= 0);
    store_add(&store, &(struct sm_lid_fact){0x10, 5, 0});
    store_print(&store, &text);
    assert_true(store_replace(path, STORE_LIDS_FILE, &text) < 0);
    text_release(&text);
    store_close(&store);
}

static void only_the_owner_can_read_the_files(void **state)
{
    struct fixture *f = *state;
    struct stat status;
    struct text text = {0};
    mode_t mask = umask(0);
    text_puts(&text, "new");
    assert_int_equal(store_replace(f->directory, STORE_LIDS_FILE, &text), 0);
    assert_int_equal(stat(f->file, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    struct journal journal;
    journal_init(&journal, f->directory, STORE_LIDS_FILE);
    assert_int_equal(journal_begin(&journal, &text), 0);
    assert_int_equal(stat(f->file, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    journal_close(&journal);
    umask(mask);
    text_release(&text);
}

static void a_directory_has_one_owner(void **state)
{
    struct fixture *f = *state;
    struct store first, second;
    assert_int_equal(store_open(&first, f->directory, &f->err), 0);
    assert_int_equal(store_open(&second, f->directory, &f->err), -EBUSY);
    store_close(&first);
    assert_int_equal(store_open(&second, f->directory, &f->err), 0);
    store_close(&second);
    assert_int_equal(chmod(f->lock, 0400), 0); /* as on a read-only file system */
    store_open(&first, f->directory, &f->err);
    assert_int_equal(store_open(&second, f->directory, &f->err), -EBUSY);
    store_close(&first);
}

static void a_file_that_cannot_be_replaced_stays(void **state)
{
    struct fixture *f = *state;
    struct text text = {0};
    text_puts(&text, "new");
    assert_int_equal(store_replace("/nowhere/at/all", "guid2lid", &text), -ENOENT);
    text_release(&text);
    assert_int_equal(access(f->file, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_of_opensm_are_read, make, end),
        cmocka_unit_test_setup_teardown(written_lids_are_read_again, make, end),
        cmocka_unit_test_setup_teardown(
            an_invalid_line_is_an_error_that_names_it_and_the_others_are_used, make, end),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_read_is_an_error_of_the_file, make,
                                        end),
        cmocka_unit_test_setup_teardown(without_a_directory_the_store_is_open_and_empty, make, end),
        cmocka_unit_test_setup_teardown(only_the_owner_can_read_the_files, make, end),
        cmocka_unit_test_setup_teardown(a_file_of_zeroes_is_an_error, make, end),
        cmocka_unit_test_setup_teardown(a_directory_has_one_owner, make, end),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_replaced_stays, make, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
