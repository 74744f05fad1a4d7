/* QP states: every transition of every service against a second copy of the table, and attributes.
 */
#include "toy.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Table 91 in words: service, from, to, required, optional. A letter is an attribute:
 * c current state, d drain event, a access, k P_Key index, o port, q Q_Key, p path, m MTU, t
 * time-out, r retry count, n RNR retry, R receive PSN, x READs, l alternate path, i RNR timer, S
 * send PSN, y READs accepted, g migration, D destination QP. */
static const char letters[] = "!cdakoqpmtrnRxliSygD";
static const struct {
    char service; /* d, u, r */
    uint8_t from, to;
    const char *required, *optional;
} rows[] = {
    {'d', STATE_RESET, STATE_INIT, "koq", ""},     {'u', STATE_RESET, STATE_INIT, "koa", ""},
    {'r', STATE_RESET, STATE_INIT, "koa", ""},     {'d', STATE_INIT, STATE_INIT, "", "koq"},
    {'u', STATE_INIT, STATE_INIT, "", "koa"},      {'r', STATE_INIT, STATE_INIT, "", "koa"},
    {'d', STATE_INIT, STATE_RTR, "", "kq"},        {'u', STATE_INIT, STATE_RTR, "pmDR", "lak"},
    {'r', STATE_INIT, STATE_RTR, "pmDRyi", "lak"}, {'d', STATE_RTR, STATE_RTS, "S", "cq"},
    {'u', STATE_RTR, STATE_RTS, "S", "clag"},      {'r', STATE_RTR, STATE_RTS, "trnSx", "clagi"},
    {'d', STATE_RTS, STATE_RTS, "", "cq"},         {'u', STATE_RTS, STATE_RTS, "", "calg"},
    {'r', STATE_RTS, STATE_RTS, "", "calgi"},      {'d', STATE_RTS, STATE_SQD, "", "d"},
    {'u', STATE_RTS, STATE_SQD, "", "d"},          {'r', STATE_RTS, STATE_SQD, "", "d"},
    {'d', STATE_SQD, STATE_RTS, "", "cq"},         {'u', STATE_SQD, STATE_RTS, "", "clag"},
    {'r', STATE_SQD, STATE_RTS, "", "clagi"},      {'d', STATE_SQD, STATE_SQD, "", "kq"},
    {'u', STATE_SQD, STATE_SQD, "", "plakg"},      {'r', STATE_SQD, STATE_SQD, "", "optrnxylakig"},
    {'d', STATE_SQE, STATE_RTS, "", "cq"},         {'u', STATE_SQE, STATE_RTS, "", "ca"},
};

static uint32_t mask_of(const char *text)
{
    uint32_t mask = 0;
    for (; *text; text++)
        mask |= 1u << (strchr(letters, *text) - letters);
    return mask;
}

static int row_of(char service, unsigned from, unsigned to)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].service == service && rows[i].from == from && rows[i].to == to)
            return (int)i;
    return -1;
}

static const struct {
    char letter;
    uint8_t service;
} services[] = {{'r', TRANSPORT_RC}, {'u', TRANSPORT_UC}, {'d', TRANSPORT_UD}};

static void the_table_is_that_of_the_specification(void **state)
{
    (void)state;
    unsigned transitions = 0;
    for (unsigned i = 0; i < 3; i++)
        for (unsigned from = 0; from < TRANSPORT_STATES; from++)
            for (unsigned to = 0; to < TRANSPORT_STATES; to++) {
                uint32_t required, optional;
                bool has =
                    transport_transition(services[i].service, from, to, &required, &optional);
                int row = row_of(services[i].letter, from, to);
                bool always = (to == STATE_RESET || to == STATE_ERROR) &&
                              !(services[i].letter == 'r' && from == STATE_SQE);
                assert_int_equal(has, row >= 0 || always);
                assert_int_equal(required, row >= 0 ? mask_of(rows[row].required) : 0);
                assert_int_equal(optional, row >= 0 ? mask_of(rows[row].optional) : 0);
                transitions += row >= 0;
            }
    assert_int_equal(transitions, sizeof rows / sizeof *rows);
    uint32_t mask;
    assert_false(transport_transition(2, STATE_RESET, STATE_INIT, &mask, &mask));
}

/* ---- transitions of a real QP ---- */

static struct toy toy;
static struct toy_end end;

static const struct transport_qp_attributes good = {
    .access = 7,
    .port = 1,
    .mtu = 1024,
    .q_key = 5,
    .dest_qp = 7,
    .path = {.dlid = 9},
    .alternate = {.dlid = 8, .port = 1},
    .retry_count = 7,
    .rnr_retry = 7,
    .rnr_timer = 3,
    .timeout = 14,
    .reads = 4,
    .reads_accepted = 4,
    .migration = MIGRATION_REARM,
};

static void begin(uint8_t service)
{
    struct transport_config config;
    transport_config_init(&config);
    toy_init(&toy, 1, &config, 1);
    struct toy_pair pair = toy_pair_default;
    pair.service = service;
    toy_end_init(&toy, &end, 0, &pair);
}

static void finish(void)
{
    toy_release(&toy);
    toy_end_release(&end);
}

static int modify(unsigned to, uint32_t mask)
{
    struct transport_qp_attributes attributes = good;
    attributes.state = (uint8_t)to;
    return transport_modify_qp(toy.adapters[0], 0, end.qp, &attributes, mask | ATTRIBUTE_STATE,
                               NULL);
}

static unsigned state_now(void)
{
    struct transport_qp_view view;
    assert_int_equal(transport_query_qp(toy.adapters[0], end.qp, &view), 0);
    return view.attributes.state;
}

/* The way to a state; false if this service has none. SQE comes from a send that fails. */
static bool bring(unsigned service, unsigned state)
{
    static const uint8_t way[] = {STATE_INIT, STATE_RTR, STATE_RTS, STATE_SQD};
    unsigned steps = state == STATE_SQE ? 3 : state == STATE_ERROR ? 0 : state;
    begin(services[service].service);
    if (state == STATE_ERROR)
        return modify(STATE_ERROR, 0) == 0;
    for (unsigned i = 0; i < steps; i++) {
        int row = row_of(services[service].letter, i, way[i]);
        assert_int_equal(modify(way[i], mask_of(rows[row].required)), 0);
    }
    if (state != STATE_SQE)
        return true;
    if (services[service].service == TRANSPORT_RC)
        return false;
    struct transport_segment segment = {0, 8, 12345};
    struct transport_work work = {
        .operation = WORK_SEND, .segment_count = 1, .segments = &segment, .path = &good.path};
    assert_int_equal(transport_post_send(toy.adapters[0], end.qp, &work), 0);
    toy_run(&toy, TIME_NEVER);
    assert_int_equal(toy_poll(&toy, &end).status, STATUS_LOCAL_PROTECTION);
    assert_int_equal(state_now(), STATE_SQE);
    return true;
}

static void each_transition_takes_its_attributes_and_no_others(void **state)
{
    (void)state;
    unsigned taken = 0;
    for (unsigned service = 0; service < 3; service++)
        for (unsigned from = 0; from < TRANSPORT_STATES; from++)
            for (unsigned to = 0; to < TRANSPORT_STATES; to++) {
                int row = row_of(services[service].letter, from, to);
                bool always = to == STATE_RESET || to == STATE_ERROR;
                uint32_t required = row >= 0 ? mask_of(rows[row].required) : 0;
                uint32_t optional = row >= 0 ? mask_of(rows[row].optional) : 0;
                uint32_t state_only = optional & ATTRIBUTE_CURRENT_STATE; /* must be right */
                for (unsigned bit = 1; bit < 20 && row >= 0; bit++) {
                    uint32_t one = 1u << bit;
                    if (!bring(service, from)) {
                        finish();
                        continue;
                    }
                    if (required & one)
                        assert_int_equal(modify(to, required & ~one), -EINVAL);
                    else if (!(optional & one))
                        assert_int_equal(modify(to, required | one), -EINVAL);
                    assert_int_equal(state_now(), from);
                    finish();
                }
                if (!bring(service, from)) {
                    finish();
                    continue;
                }
                int expected = row >= 0 || always ? 0 : -EINVAL;
                assert_int_equal(modify(to, required | (optional & ~state_only)), expected);
                assert_int_equal(state_now(), expected == 0 ? to : from);
                taken += expected == 0;
                finish();
            }
    assert_int_equal(taken, sizeof rows / sizeof *rows + 2 * (7 + 7 + 6));
}

static void attributes_out_of_range_change_nothing(void **state)
{
    (void)state;
    static const struct {
        uint32_t mask;
        size_t offset;
        unsigned bytes, value;
    } bad[] = {
        {ATTRIBUTE_MTU, offsetof(struct transport_qp_attributes, mtu), 2, 1000},
        {ATTRIBUTE_MTU, offsetof(struct transport_qp_attributes, mtu), 2, 8192},
        {ATTRIBUTE_PATH, offsetof(struct transport_qp_attributes, path.dlid), 2, 0},
        {ATTRIBUTE_PATH, offsetof(struct transport_qp_attributes, path.sl), 1, 16},
        {ATTRIBUTE_RECEIVE_PSN, offsetof(struct transport_qp_attributes, receive_psn), 4, 1 << 24},
        {ATTRIBUTE_DEST_QP, offsetof(struct transport_qp_attributes, dest_qp), 4, 1 << 24},
        {ATTRIBUTE_RNR_TIMER, offsetof(struct transport_qp_attributes, rnr_timer), 1, 32},
        {ATTRIBUTE_ALTERNATE, offsetof(struct transport_qp_attributes, alternate.port), 1, 2},
        {ATTRIBUTE_ALTERNATE, offsetof(struct transport_qp_attributes, alternate.p_key_index), 2,
         1},
        {ATTRIBUTE_ACCESS, offsetof(struct transport_qp_attributes, access), 1, 16},
        {ATTRIBUTE_P_KEY_INDEX, offsetof(struct transport_qp_attributes, p_key_index), 2, 1},
        {ATTRIBUTE_READS_ACCEPTED, offsetof(struct transport_qp_attributes, reads_accepted), 1, 17},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct transport_qp_attributes attributes = good;
        struct err err = {0};
        assert_true(bring(0, STATE_INIT));
        memcpy((char *)&attributes + bad[i].offset, &bad[i].value, bad[i].bytes);
        attributes.state = STATE_RTR;
        assert_int_equal(transport_modify_qp(toy.adapters[0], 0, end.qp, &attributes,
                                             ATTRIBUTE_STATE | mask_of("pmDRyi") | bad[i].mask,
                                             &err),
                         -EINVAL);
        assert_non_null(strstr(err.message, "is out of range"));
        assert_int_equal(state_now(), STATE_INIT);
        finish();
    }
}

static void reads_beyond_the_limit_change_nothing(void **state)
{
    (void)state;
    struct transport_qp_attributes attributes = good;
    attributes.state = STATE_RTS;
    for (unsigned beyond = 0; beyond < 2; beyond++) {
        assert_true(bring(0, STATE_RTR));
        attributes.reads = (uint8_t)(TRANSPORT_READS_MAX + beyond);
        assert_int_equal(transport_modify_qp(toy.adapters[0], 0, end.qp, &attributes,
                                             ATTRIBUTE_STATE | mask_of("trnSx"), NULL),
                         beyond ? -EINVAL : 0);
        assert_int_equal(state_now(), beyond ? STATE_RTR : STATE_RTS);
        finish();
    }
}

static void an_error_names_the_attribute(void **state)
{
    (void)state;
    struct err err = {0};
    struct transport_qp_attributes attributes = good;
    assert_true(bring(0, STATE_INIT));
    attributes.state = STATE_RTR;
    assert_int_equal(transport_modify_qp(toy.adapters[0], 0, end.qp, &attributes,
                                         ATTRIBUTE_STATE | mask_of("pmDRy"), &err),
                     -EINVAL);
    assert_string_equal(err.message, "Init to RTR needs RNR timer");
    finish();
}

static void what_a_state_does_not_allow_is_refused(void **state)
{
    (void)state;
    for (unsigned at = 0; at < TRANSPORT_STATES; at++) {
        if (!bring(0, at)) {
            finish();
            continue;
        }
        bool sends = at == STATE_RTS || at == STATE_SQD || at == STATE_ERROR;
        assert_int_equal(toy_send(&toy, &end, WORK_SEND, 1, 0, 8, 0, NULL), sends ? 0 : -EINVAL);
        assert_int_equal(toy_receive(&toy, &end, 1, 0, 8), at == STATE_RESET ? -EINVAL : 0);
        finish();
    }
}

static void a_reset_forgets_everything(void **state)
{
    (void)state;
    assert_true(bring(0, STATE_RTS));
    toy_send(&toy, &end, WORK_WRITE, 1, 0, 8, 0, &end);
    toy_receive(&toy, &end, 1, 0, 8);
    toy_run(&toy, TIME_US);
    assert_int_equal(modify(STATE_RESET, 0), 0);
    toy_run(&toy, TIME_NEVER);
    assert_int_equal(toy_poll(&toy, &end).status, 255);
    struct transport_qp_view view;
    transport_query_qp(toy.adapters[0], end.qp, &view);
    assert_int_equal(view.sends_pending + view.receives_pending, 0);
    finish();
}

static void objects_in_use_stay(void **state)
{
    (void)state;
    begin(TRANSPORT_RC);
    assert_int_equal(transport_remove_domain(toy.adapters[0], end.domain), -EBUSY);
    assert_int_equal(transport_remove_cq(toy.adapters[0], end.cq), -EBUSY);
    assert_int_equal(transport_remove_qp(toy.adapters[0], end.qp), 0);
    assert_int_equal(transport_remove_qp(toy.adapters[0], end.qp), -EINVAL);
    assert_int_equal(transport_remove_cq(toy.adapters[0], end.cq), 0);
    assert_int_equal(transport_remove_region(toy.adapters[0], end.key), 0);
    assert_int_equal(transport_remove_region(toy.adapters[0], end.key), -EINVAL);
    assert_int_equal(transport_remove_domain(toy.adapters[0], end.domain), 0);
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_that_of_the_specification),
        cmocka_unit_test(each_transition_takes_its_attributes_and_no_others),
        cmocka_unit_test(attributes_out_of_range_change_nothing),
        cmocka_unit_test(reads_beyond_the_limit_change_nothing),
        cmocka_unit_test(an_error_names_the_attribute),
        cmocka_unit_test(what_a_state_does_not_allow_is_refused),
        cmocka_unit_test(a_reset_forgets_everything),
        cmocka_unit_test(objects_in_use_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
