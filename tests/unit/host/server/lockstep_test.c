/* The page that programs share with the server, as a program may have written it. */
#include "host/lockstep/lockstep.h"
#include "test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static struct lockstep *lockstep;
static struct time_page *page;

static int make(void **state)
{
    struct lockstep_options options;
    struct err err = {0};
    (void)state;
    lockstep_options_init(&options);
    if (lockstep_new(&lockstep, &options, &err) < 0)
        return -1;
    int fd = open(lockstep_path(lockstep), O_RDWR | O_CLOEXEC);
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return page == MAP_FAILED ? -1 : 0;
}

static int end(void **state)
{
    (void)state;
    munmap(page, sizeof *page);
    lockstep_free(lockstep);
    return 0;
}

static void fill(uint32_t at, uint32_t thread, uint32_t state, uint64_t deadline)
{
    page->slots[at] = (struct time_slot){.thread = thread, .state = state, .deadline = deadline};
    page->slot_count = at + 1;
}

/* The clock would go to the deadline again and again, and wake nobody. */
static void a_slot_that_waits_for_nothing_known_has_no_deadline(void **state)
{
    (void)state;
    fill(0, page->server + 1, TIME_ALARM + 1, 5);
    assert_true(lockstep_deadline(lockstep) == TIME_FOREVER);
    fill(1, page->server + 2, TIME_WAITS, 7);
    assert_true(lockstep_deadline(lockstep) == 7);
    lockstep_advance(lockstep, 7);
    assert_true(lockstep_wake(lockstep));
    assert_false(lockstep_wake(lockstep));
}

/* The kernel begins again with low IDs: a lower one than the server's is younger. */
static void threads_are_woken_in_the_order_of_their_start(void **state)
{
    (void)state;
    fill(0, page->server - 1, TIME_WAITS, 5);
    fill(1, page->server + 2, TIME_WAITS, 5);
    fill(2, page->server + 1, TIME_WAITS, 5);
    lockstep_advance(lockstep, 5);
    static const uint32_t order[] = {2, 1, 0};
    for (unsigned i = 0; i < 3; i++) {
        assert_true(page->slots[order[i]].state == TIME_WAITS);
        assert_true(lockstep_wake(lockstep));
        assert_true(page->slots[order[i]].state == TIME_RUNS);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_slot_that_waits_for_nothing_known_has_no_deadline),
        TEST(threads_are_woken_in_the_order_of_their_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
