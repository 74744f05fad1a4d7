/* Following a redirection: where it leads, and where it ends. */
#include "wire/redirect.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct redirect master = {.lid = 1, .p_key = 0xFFFF, .qp = 1, .q_key = 0x80010000};

/* Follows a response with this address. */
static int step(struct redirect_trail *trail, const struct redirect *to, struct err *err)
{
    uint8_t answer[MAD_BYTES] = {0};
    wire_set(answer, MAD_STATUS, STATUS_REDIRECT);
    wire_set(answer, MAD_ATTRIBUTE_ID, ATTRIBUTE_CLASS_PORT_INFO);
    redirect_write(to, answer + SA_DATA_OFFSET);
    return redirect_follow(trail, answer, sizeof answer, SA_DATA_OFFSET, err);
}

static void a_redirection_leads_to_its_address(void **state)
{
    struct redirect to = {.lid = 7, .p_key = 0x8123, .sl = 3, .qp = 0x1234, .q_key = 0x80011111};
    struct redirect_trail trail;
    redirect_begin(&trail, &master);
    assert_int_equal(trail.count, 1);
    assert_int_equal(step(&trail, &to, NULL), 0);
    assert_int_equal(trail.count, 2);
    const struct redirect *there = redirect_target(&trail);
    assert_int_equal(there->lid, 7);
    assert_int_equal(there->p_key, 0x8123);
    assert_int_equal(there->sl, 3);
    assert_int_equal(there->qp, 0x1234);
    assert_int_equal(there->q_key, 0x80011111);
}

static void a_redirection_loop_is_refused(void **state)
{
    struct redirect_trail trail;
    struct err err = {0};
    struct redirect second = {.lid = 2, .qp = 1};
    redirect_begin(&trail, &master);
    assert_int_equal(step(&trail, &second, &err), 0);
    assert_int_equal(step(&trail, &master, &err), -ELOOP);
    assert_non_null(strstr(err.message, "LID 2 redirects the request to LID 1"));
    assert_int_equal(redirect_target(&trail)->lid, 2); /* nothing has changed */
    /* to itself */
    redirect_begin(&trail, &master);
    assert_int_equal(step(&trail, &master, &err), -ELOOP);
    /* another queue pair of the same port is another place */
    struct redirect beside = {.lid = 1, .qp = 9};
    assert_int_equal(step(&trail, &beside, &err), 0);
}

static void a_chain_of_redirections_is_limited(void **state)
{
    struct redirect_trail trail;
    struct err err = {0};
    redirect_begin(&trail, &master);
    for (unsigned i = 0; i < REDIRECT_STEPS; i++)
        assert_int_equal(step(&trail, &(struct redirect){.lid = (uint16_t)(2 + i), .qp = 1}, &err),
                         0);
    assert_int_equal(step(&trail, &(struct redirect){.lid = 99, .qp = 1}, &err), -ELOOP);
    assert_non_null(strstr(err.message, "LID 99"));
}

static void a_redirection_without_an_address_is_refused(void **state)
{
    struct redirect_trail trail;
    struct err err = {0};
    uint8_t answer[MAD_BYTES] = {0};
    redirect_begin(&trail, &master);
    assert_int_equal(step(&trail, &(struct redirect){.lid = 0, .qp = 1}, &err), -EPROTO);
    assert_int_equal(step(&trail, &(struct redirect){.lid = 0xC000, .qp = 1}, &err), -EPROTO);
    assert_int_equal(step(&trail, &(struct redirect){.lid = 4, .qp = 0}, &err), -EPROTO);
    /* another attribute; and a part of one */
    wire_set(answer, MAD_ATTRIBUTE_ID, ATTRIBUTE_PATH_RECORD);
    redirect_write(&(struct redirect){.lid = 4, .qp = 1}, answer + SA_DATA_OFFSET);
    assert_int_equal(redirect_follow(&trail, answer, sizeof answer, SA_DATA_OFFSET, &err), -EPROTO);
    wire_set(answer, MAD_ATTRIBUTE_ID, ATTRIBUTE_CLASS_PORT_INFO);
    assert_int_equal(redirect_follow(&trail, answer, SA_DATA_OFFSET + 71, SA_DATA_OFFSET, &err),
                     -EPROTO);
    assert_int_equal(trail.count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_redirection_leads_to_its_address),
        cmocka_unit_test(a_redirection_loop_is_refused),
        cmocka_unit_test(a_chain_of_redirections_is_limited),
        cmocka_unit_test(a_redirection_without_an_address_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
