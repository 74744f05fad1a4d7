/* Allocation, growing arrays, the arena and bit sets. */
#include "base/map.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void a_vector_keeps_what_was_pushed(void **state)
{
    VEC(uint32_t) numbers = {0};
    for (uint32_t i = 0; i < 10000; i++)
        vec_push(&numbers, i * i);
    assert_int_equal(numbers.count, 10000);
    for (uint32_t i = 0; i < 10000; i++)
        assert_int_equal(numbers.items[i], i * i);
    vec_release(&numbers);
    assert_null(numbers.items);
    assert_int_equal(numbers.count + numbers.capacity, 0);
}

static void pushing_grows_in_few_steps(void **state)
{
    VEC(char) bytes = {0};
    unsigned grown = 0;
    for (unsigned i = 0; i < 1000000; i++) {
        size_t before = bytes.capacity;
        vec_push(&bytes, 'x');
        grown += bytes.capacity != before;
    }
    assert_in_range(grown, 1, 20);
    vec_release(&bytes);
}

static void reserving_less_than_there_is_changes_nothing(void **state)
{
    VEC(int) numbers = {0};
    vec_reserve(&numbers, 100);
    int *items = numbers.items;
    size_t capacity = numbers.capacity;
    assert_true(capacity >= 100);
    vec_reserve(&numbers, 50);
    assert_ptr_equal(numbers.items, items);
    assert_int_equal(numbers.capacity, capacity);
    vec_release(&numbers);
}

static void vec_at_extends_the_array_with_zeros(void **state)
{
    VEC(uint32_t) numbers = {0};
    *vec_at(&numbers, 3) = 7;
    assert_int_equal(numbers.count, 4);
    assert_int_equal(*vec_at(&numbers, 2), 0);
    assert_int_equal(*vec_at(&numbers, 3), 7);
    vec_push(&numbers, 9);
    assert_int_equal(*vec_at(&numbers, 100), 0);
    assert_int_equal(numbers.items[4], 9);
    assert_int_equal(numbers.count, 101);
    vec_release(&numbers);
}

static void consumed_items_are_removed_while_others_come(void **state)
{
    VEC(unsigned) line = {0};
    size_t taken = 0;
    for (unsigned next = 0, expected = 0; next < 100000;) {
        for (unsigned i = 0; i < 3 && next < 100000; i++)
            vec_push(&line, next++);
        for (unsigned i = 0; i < 3 && line.count - taken > 10; i++) {
            assert_int_equal(line.items[taken], expected++);
            taken = vec_drop_taken(&line, taken + 1);
        }
    }
    assert_true(line.capacity < 10000);
    assert_int_equal(vec_drop_taken(&line, line.count), 0);
    assert_int_equal(line.count, 0);
    vec_release(&line);
}

static void pieces_of_an_arena_are_zeroed_aligned_and_apart(void **state)
{
    enum { PIECES = 3000 };
    static unsigned char *pieces[PIECES];
    static size_t sizes[PIECES];
    struct arena arena = {0};
    for (size_t i = 0; i < PIECES; i++) {
        sizes[i] = i % 97 == 0 ? 100000 : i % 41; /* some larger than a block */
        pieces[i] = arena_alloc(&arena, sizes[i]);
        assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
        for (size_t at = 0; at < sizes[i]; at++)
            if (pieces[i][at])
                fail_msg("byte %zu of piece %zu is not zero", at, i);
        memset(pieces[i], (int)(i % 255) + 1, sizes[i]);
    }
    for (size_t i = 0; i < PIECES; i++)
        for (size_t at = 0; at < sizes[i]; at++)
            if (pieces[i][at] != i % 255 + 1)
                fail_msg("byte %zu of piece %zu was overwritten", at, i);
    arena_release(&arena);
    assert_null(arena.head);
}

static void an_arena_copies_strings(void **state)
{
    struct arena arena = {0};
    char name[] = "leaf 7";
    char *whole = arena_strdup(&arena, name), *part = arena_strndup(&arena, name, 4);
    name[0] = 'X';
    assert_string_equal(whole, "leaf 7");
    assert_string_equal(part, "leaf");
    assert_string_equal(arena_strdup(&arena, ""), "");
    arena_release(&arena);
}

static void an_arena_can_be_used_after_its_release(void **state)
{
    struct arena arena = {0};
    arena_release(&arena);
    assert_non_null(arena_alloc(&arena, 1));
    arena_release(&arena);
    assert_string_equal(arena_strdup(&arena, "again"), "again");
    arena_release(&arena);
}

static void a_bit_set_touches_one_bit_at_a_time(void **state)
{
    enum { BITS = 130 };
    uint64_t words[BITSET_WORDS(BITS)] = {0};
    assert_int_equal(BITSET_WORDS(BITS), 3);
    for (size_t bit = 0; bit < BITS; bit++) {
        bitset_add(words, bit);
        for (size_t other = 0; other < BITS; other++)
            assert_int_equal(bitset_has(words, other), other == bit);
        bitset_drop(words, bit);
        assert_false(bitset_has(words, bit));
    }
}

/* The sanitizer's allocator ends such a program in its own way. */
#ifndef __SANITIZE_ADDRESS__
enum wish { WISH_PLAIN, WISH_ZEROED, WISH_OVERFLOWING_ZEROED, WISH_OVERFLOWING };

static void make_wish(enum wish wish)
{
    volatile size_t large = SIZE_MAX / 2;
    switch (wish) {
    case WISH_PLAIN: mem_free(mem_alloc(large)); break;
    case WISH_ZEROED: mem_free(mem_zalloc(large, 1)); break;
    case WISH_OVERFLOWING_ZEROED: mem_free(mem_zalloc(large + 1, 2)); break;
    case WISH_OVERFLOWING: mem_free(mem_realloc(NULL, large + 1, 2)); break;
    }
}

/* The exit status of a child that allocates so much; its standard error in `message`. */
static int child_status(enum wish wish, char *message, size_t size)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        make_wish(wish);
        _exit(0);
    }
    close(ends[1]);
    ssize_t length = read(ends[0], message, size - 1);
    message[length > 0 ? length : 0] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void without_memory_the_program_ends_with_one_line(void **state)
{
    for (enum wish wish = WISH_PLAIN; wish <= WISH_OVERFLOWING; wish++) {
        char message[200];
        assert_int_equal(child_status(wish, message, sizeof message), 2);
        assert_non_null(strstr(message, "weft: out of memory"));
        assert_ptr_equal(strchr(message, '\n'), message + strlen(message) - 1);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vector_keeps_what_was_pushed),
        cmocka_unit_test(vec_at_extends_the_array_with_zeros),
        cmocka_unit_test(pushing_grows_in_few_steps),
        cmocka_unit_test(reserving_less_than_there_is_changes_nothing),
        cmocka_unit_test(consumed_items_are_removed_while_others_come),
        cmocka_unit_test(pieces_of_an_arena_are_zeroed_aligned_and_apart),
        cmocka_unit_test(an_arena_copies_strings),
        cmocka_unit_test(an_arena_can_be_used_after_its_release),
        cmocka_unit_test(a_bit_set_touches_one_bit_at_a_time),
#ifndef __SANITIZE_ADDRESS__
        cmocka_unit_test(without_memory_the_program_ends_with_one_line),
#endif
    };
    return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
