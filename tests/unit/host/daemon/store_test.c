/* LIDs over restarts: OpenSM's format, errors for invalid lines, one owner of the directory. */
#include "host/daemon/store.h"
#include "test.h"

#include <errno.h>

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
    rmdir(fixture->directory);
    mem_free(fixture);
    return 0;
}

static void files_of_opensm_are_read(void **state)
{
    struct fixture *f = *state;
    struct store store;
    write_file(f->file, "0x0002c90300001234 0x0001 0x0001\n\n0x0002c90300001235 0x0008 0x000b\n\n");
    assert_int_equal(store_open(&store, f->directory, &f->err), 0);
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
    assert_int_equal(store_open(&store, f->directory, &f->err), 0);
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
    assert_int_equal(store_open(&store, f->directory, &f->err), 0);
    assert_int_equal(store.facts.count, 2);
    assert_int_equal(store.facts.items[0].lid, 6);
    assert_int_equal(store.facts.items[1].lmc, 3);
    store_close(&store);
}

static void an_invalid_line_is_an_error_that_names_it(void **state)
{
    static const char *const wrong[] = {
        "0x10 0x1\n",        "0x10 0x1 0x1 0x1\n",   "0x10 0x5 0x4\n", "0x10 0x0 0x0\n",
        "0x10 0x4 0x6\n",    "0x10 0xbfff 0xc000\n", "0x0 0x1 0x1\n",  "hello\n",
        "0x10 0x100 0x1ff\n"};
    struct fixture *f = *state;
    struct store store;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[128];
        snprintf(text, sizeof text, "0x1 0x1 0x1\n\n%s", wrong[i]);
        write_file(f->file, text);
        f->err = (struct err){0};
        assert_int_equal(store_open(&store, f->directory, &f->err), -EINVAL);
        assert_string_equal(f->err.file, f->file);
        assert_int_equal(f->err.line, 3);
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
    assert_int_equal(store_open(&store, f->directory, &f->err), -EINVAL);
    assert_string_equal(f->err.file, f->file);
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
        cmocka_unit_test_setup_teardown(an_invalid_line_is_an_error_that_names_it, make, end),
        cmocka_unit_test_setup_teardown(a_file_of_zeroes_is_an_error, make, end),
        cmocka_unit_test_setup_teardown(a_directory_has_one_owner, make, end),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_replaced_stays, make, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
