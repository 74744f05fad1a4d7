/* The registry of commands: words find their command, and what is wrong is said before it runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/control_command.h"

#include <errno.h>
#include <string.h>

struct shop {
    unsigned bread, runs;
    struct control_answer answer;
    struct control_call call;
};

static int answer_stock(struct control_call *call)
{
    struct shop *shop = call->subject;
    struct record record = control_record(call);
    shop->runs++;
    record_begin(&record, NULL);
    record_number(&record, "bread", "bread %llu\n", shop->bread);
    record_end(&record);
    return 0;
}

static int answer_price(struct control_call *call)
{
    struct shop *shop = call->subject;
    shop->runs++;
    if (strcmp(call->words[0], "bread") != 0)
        return err_set(&call->err, ENOENT, "there is no %s", call->words[0]);
    text_printf(&call->answer->text, "%s: 3\n", call->words[0]);
    return 0;
}

static int answer_other(struct control_call *call)
{
    text_puts(&call->answer->text, "other\n");
    return 0;
}

static const struct control_command shop_commands[] = {
    {"stock", "", 0, 0, CONTROL_FABRIC, "what is there", answer_stock},
    {"price list", "", 0, 0, CONTROL_FABRIC, "all prices", answer_other},
    {"price", "THING", 1, 1, CONTROL_FABRIC, "one price", answer_price},
    {"till", "", 0, 0, CONTROL_MANAGER, "the money", answer_other},
    {0}};
static const struct control_command later_commands[] = {
    {"stock", "", 0, 0, CONTROL_FABRIC, "hidden by the first one", answer_other}, {0}};
static const struct control_command *const tables[] = {shop_commands, later_commands, NULL};

static int run(struct shop *shop, bool json, unsigned count, const char *const *words)
{
    control_answer_release(&shop->answer);
    shop->answer.json = json;
    shop->call = (struct control_call){.subjects = {[CONTROL_FABRIC] = shop},
                                       .missing = {[CONTROL_MANAGER] = "the shop is closed"},
                                       .answer = &shop->answer};
    const struct control_command *found = control_find(tables, words, count);
    return found ? control_run(found, &shop->call, words, count)
                 : control_refuse("the shop", tables, &shop->call, words, count);
}

static void the_longest_name_in_the_first_table_counts(void **unused)
{
    (void)unused;
    struct shop shop = {.bread = 7};
    assert_int_equal(run(&shop, false, 1, (const char *[]){"stock"}), 0);
    assert_string_equal(shop.answer.text.data, "bread 7\n");
    assert_int_equal(run(&shop, true, 1, (const char *[]){"stock"}), 0);
    assert_string_equal(shop.answer.text.data, "{\"bread\":7}\n");
    assert_int_equal(run(&shop, false, 2, (const char *[]){"price", "bread", NULL}), 0);
    assert_string_equal(shop.answer.text.data, "bread: 3\n");
    assert_int_equal(run(&shop, false, 2, (const char *[]){"price", "list", NULL}), 0);
    assert_string_equal(shop.answer.text.data, "other\n");
    control_answer_release(&shop.answer);
}

static void a_command_with_wrong_words_or_without_its_subject_does_not_run(void **unused)
{
    (void)unused;
    struct shop shop = {0};
    assert_int_equal(run(&shop, false, 1, (const char *[]){"price"}), -EINVAL);
    assert_string_equal(shop.answer.text.data, "usage: weft ctl price THING");
    assert_int_equal(run(&shop, false, 2, (const char *[]){"stock", "now", NULL}), -EINVAL);
    assert_string_equal(shop.answer.text.data, "usage: weft ctl stock");
    assert_int_equal(run(&shop, false, 1, (const char *[]){"till"}), -EINVAL);
    assert_string_equal(shop.answer.text.data, "the shop is closed");
    assert_int_equal(shop.runs, 0);
    assert_int_equal(run(&shop, false, 2, (const char *[]){"price", "cake", NULL}), -ENOENT);
    assert_string_equal(shop.answer.text.data, "there is no cake");
    control_answer_release(&shop.answer);
}

static void unknown_words_name_the_server_or_the_forms(void **unused)
{
    (void)unused;
    struct shop shop = {0};
    assert_int_equal(run(&shop, false, 0, (const char *[]){NULL}), -EINVAL);
    assert_int_equal(run(&shop, false, 1, (const char *[]){"pric"}), -ENOSYS);
    assert_string_equal(shop.answer.text.data, "'pric' is not a command of the shop");
    assert_true(control_has_word(tables, "price"));
    assert_false(control_has_word(tables, "pric"));
    assert_false(control_has_word(tables, "list"));
    static const struct control_command prices[] = {
        {"price list", "", 0, 0, CONTROL_FABRIC, "all prices", answer_other},
        {"price of", "THING", 1, 1, CONTROL_FABRIC, "one price", answer_price},
        {0}};
    const struct control_command *const lists[] = {prices, NULL};
    const char *words[] = {"price", "if"};
    assert_null(control_find(lists, words, 2));
    assert_int_equal(control_refuse("the shop", lists, &shop.call, words, 2), -EINVAL);
    assert_string_equal(shop.answer.text.data, "expected: price list | price of THING");
    control_answer_release(&shop.answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_name_in_the_first_table_counts),
        cmocka_unit_test(a_command_with_wrong_words_or_without_its_subject_does_not_run),
        cmocka_unit_test(unknown_words_name_the_server_or_the_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
