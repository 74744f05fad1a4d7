/* The reader of error counters, against a model of performance agents: a switch with an adapter. */
#include "perf/counters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SWITCH_LID = 3, ADAPTER_LID = 7, SWITCH_PORT = 2, REDIRECT_LID = 9, INTERVAL_S = 10 };

struct bench {
    struct subnet subnet;
    struct counter_reader *reader;
    uint64_t now;
    uint64_t symbol_errors[2], downed[2]; /* of the switch port and of the adapter */
    bool basic;                           /* the agents have no extended counters */
    bool mute;                            /* the switch does not answer */
    bool redirects;                       /* the switch redirects requests */
    unsigned requests, reads, clears;
};

static const struct counter_config standard = {.interval_ns = INTERVAL_S * NS_PER_S,
                                               .limits = {60, 5, 5}};

static void activate(struct bench *bench, uint32_t port, uint16_t lid)
{
    struct subnet_port *p = &bench->subnet.ports.items[port];
    p->known = true;
    wire_set(p->info, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    bench->subnet.ports.items[subnet_end_port(&bench->subnet, port)].lid = lid;
}

static struct bench *start(void **state, const struct counter_config *config)
{
    struct bench *bench = mem_zalloc(1, sizeof *bench);
    subnet_init(&bench->subnet);
    uint32_t node = subnet_add_node(&bench->subnet, 0x100, SUBNET_SWITCH, 4);
    uint32_t adapter = subnet_add_node(&bench->subnet, 0x200, SUBNET_ADAPTER, 1);
    uint32_t near = bench->subnet.nodes.items[node].first_port + SWITCH_PORT;
    uint32_t far = bench->subnet.nodes.items[adapter].first_port + 1;
    bench->subnet.nodes.items[node].present = bench->subnet.nodes.items[adapter].present = true;
    subnet_link(&bench->subnet, near, far);
    activate(bench, near, SWITCH_LID);
    activate(bench, far, ADAPTER_LID);
    bench->reader = counter_reader_new(config);
    bench->now = NS_PER_S;
    *state = bench;
    return bench;
}

static int finish(void **state)
{
    struct bench *bench = *state;
    counter_reader_free(bench->reader);
    subnet_release(&bench->subnet);
    mem_free(bench);
    return 0;
}

static uint64_t saturate(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

/* Turns a request into its response; false: there is none. */
static bool answer(struct bench *bench, struct counter_request *request)
{
    uint8_t *mad = request->mad, *data = mad + GMP_DATA_OFFSET;
    unsigned at = request->to.lid == ADAPTER_LID;
    assert_true(request->to.lid == SWITCH_LID || request->to.lid == ADAPTER_LID ||
                request->to.lid == REDIRECT_LID);
    bench->requests++;
    if (bench->mute && !at)
        return false;
    uint64_t method = wire_get(mad, MAD_METHOD), attribute = wire_get(mad, MAD_ATTRIBUTE_ID);
    wire_set(mad, MAD_METHOD, METHOD_GET_RESP);
    wire_set(mad, MAD_TID, /* as the kernel does */
             wire_get(mad, MAD_TID) | UINT64_C(5) << 32);
    if (bench->redirects && request->to.lid == SWITCH_LID) {
        wire_set(mad, MAD_STATUS, STATUS_REDIRECT);
        wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_CLASS_PORT_INFO);
        redirect_write(&(struct redirect){.lid = REDIRECT_LID, .qp = 77, .q_key = 5}, data);
        return true;
    }
    if (attribute == ATTRIBUTE_CLASS_PORT_INFO) {
        wire_set(data, CLASS_PORT_INFO_CAPABILITY_MASK2, bench->basic ? 0 : 2);
        return true;
    }
    assert_int_equal(attribute,
                     bench->basic ? ATTRIBUTE_PORT_COUNTERS : ATTRIBUTE_PORT_COUNTERS_EXT);
    assert_int_equal(wire_get(data, PORT_COUNTERS_PORT_SELECT), at ? 1 : SWITCH_PORT);
    if (method == METHOD_SET) {
        bench->clears++;
        assert_int_equal(wire_get(data, PORT_COUNTERS_COUNTER_SELECT), 1); /* symbol errors only */
        bench->symbol_errors[at] = 0;
        return true;
    }
    bench->reads++;
    if (bench->basic) {
        wire_set(data, PORT_COUNTERS_SYMBOL_ERRORS, saturate(bench->symbol_errors[at], 65535));
        wire_set(data, PORT_COUNTERS_LINK_DOWNED, saturate(bench->downed[at], 255));
    } else {
        wire_set(data, PORT_COUNTERS_EXT_SYMBOL_ERRORS, bench->symbol_errors[at]);
        wire_set(data, PORT_COUNTERS_EXT_LINK_DOWNED, bench->downed[at]);
    }
    return true;
}

/* Lets the time pass. Returns the number of findings; `last` is the last one. */
static unsigned run(struct bench *bench, unsigned seconds, struct counter_finding *last)
{
    struct counter_request request;
    struct counter_finding finding;
    unsigned found = 0;
    for (uint64_t end = bench->now + seconds * NS_PER_S;;) {
        while (counter_reader_next_request(bench->reader, bench->now, &bench->subnet, &request))
            if (answer(bench, &request))
                counter_reader_receive(bench->reader, bench->now, &bench->subnet, request.mad);
        while (counter_reader_next_finding(bench->reader, &finding)) {
            found++;
            if (last)
                *last = finding;
        }
        uint64_t next = counter_reader_deadline(bench->reader);
        assert_true(next > bench->now);
        if (next > end) {
            bench->now = end;
            return found;
        }
        bench->now = next;
    }
}

static void both_ends_of_a_link_are_read_every_interval(void **state)
{
    struct bench *bench = start(state, &standard);
    run(bench, 3 * INTERVAL_S + 1, NULL);
    assert_int_equal(bench->reads, 2 * 4);
    assert_int_equal(bench->requests, bench->reads + 2); /* ClassPortInfo of each node */
    assert_int_equal(bench->clears, 0);
}

static void a_rate_above_the_limit_is_found_with_its_port(void **state)
{
    struct bench *bench = start(state, &standard);
    struct counter_finding finding;
    run(bench, 1, NULL);
    bench->symbol_errors[1] = 61;
    assert_int_equal(run(bench, INTERVAL_S, &finding), 1);
    assert_int_equal(bench->subnet.ports.items[finding.port].number, 1);
    assert_int_equal(finding.counter, ERROR_SYMBOL);
    assert_int_equal(finding.count, 61);
    assert_int_equal(run(bench, 5 * INTERVAL_S, NULL), 0); /* once */
}

static void a_rate_below_the_limit_is_no_finding_however_long_it_lasts(void **state)
{
    struct bench *bench = start(state, &standard);
    for (unsigned i = 0; i < 100; i++) {
        bench->symbol_errors[0] += 9; /* 54 a minute */
        assert_int_equal(run(bench, INTERVAL_S, NULL), 0);
    }
    unsigned found = 0;
    for (unsigned i = 0; i < 12; i++) {
        bench->symbol_errors[0] += 12; /* 72 a minute */
        found += run(bench, INTERVAL_S, NULL);
    }
    assert_true(found > 0);
}

static void errors_of_the_past_are_no_finding(void **state)
{
    struct bench *bench = start(state, &standard);
    bench->symbol_errors[0] = bench->symbol_errors[1] = 5000000;
    assert_int_equal(run(bench, 5 * INTERVAL_S, NULL), 0);
}

static void a_counter_that_somebody_clears_is_counted_from_zero(void **state)
{
    struct bench *bench = start(state, &standard);
    struct counter_finding finding;
    bench->symbol_errors[0] = 1000;
    run(bench, 1, NULL);
    bench->symbol_errors[0] = 3;
    assert_int_equal(run(bench, INTERVAL_S, NULL), 0);
    bench->symbol_errors[0] = 0;
    run(bench, INTERVAL_S, NULL);
    bench->symbol_errors[0] = 70;
    assert_int_equal(run(bench, INTERVAL_S, &finding), 1);
    assert_int_equal(finding.count, 73);
}

static void a_counter_that_is_full_is_cleared_and_counts_again(void **state)
{
    struct bench *bench = start(state, &standard);
    bench->basic = true;
    bench->symbol_errors[0] = 80000;
    bench->downed[0] = 7;
    assert_int_equal(run(bench, 1, NULL), 0);
    assert_int_equal(bench->clears, 1);
    bench->symbol_errors[0] += 100;
    assert_int_equal(run(bench, INTERVAL_S, NULL), 1);
    assert_int_equal(bench->clears, 1);
}

static void a_limit_of_zero_and_no_interval_turn_it_off(void **state)
{
    struct bench *bench = start(state, &(struct counter_config){INTERVAL_S * NS_PER_S, {0, 0, 0}});
    run(bench, 1, NULL);
    bench->symbol_errors[0] = 100000;
    assert_int_equal(run(bench, INTERVAL_S, NULL), 0);
    unsigned requests = bench->requests;
    counter_reader_configure(bench->reader, &(struct counter_config){TIME_NEVER, {1, 1, 1}});
    run(bench, 5 * INTERVAL_S, NULL);
    assert_int_equal(bench->requests, requests);
}

static void a_node_that_does_not_answer_delays_no_other(void **state)
{
    struct bench *bench = start(state, &standard);
    bench->mute = true;
    run(bench, 5 * INTERVAL_S + 5, NULL);
    assert_int_equal(bench->reads, 6); /* of the adapter, once a round */
    assert_true(bench->requests <= 6 + 1 + 2 * 2);
    bench->mute = false;
    run(bench, 10 * INTERVAL_S, NULL);
    assert_true(bench->reads > 6 + 10 + 3);
}

static void a_redirected_request_is_sent_to_the_new_address(void **state)
{
    struct bench *bench = start(state, &standard);
    bench->redirects = true;
    run(bench, 1, NULL);
    bench->symbol_errors[0] = 100;
    assert_int_equal(run(bench, INTERVAL_S, NULL), 1);
}

static void a_port_whose_link_was_down_starts_anew(void **state)
{
    struct bench *bench = start(state, &standard);
    uint32_t port = bench->subnet.nodes.items[0].first_port + SWITCH_PORT;
    uint8_t *info = bench->subnet.ports.items[port].info;
    run(bench, 1, NULL);
    wire_set(info, PORT_INFO_PORT_STATE, PORT_STATE_DOWN);
    bench->symbol_errors[0] = 1000;
    run(bench, 5 * INTERVAL_S, NULL);
    wire_set(info, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    assert_int_equal(run(bench, 3 * INTERVAL_S, NULL), 0);
}

#define COUNTER_TEST(claim) cmocka_unit_test_teardown(claim, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        COUNTER_TEST(both_ends_of_a_link_are_read_every_interval),
        COUNTER_TEST(a_rate_above_the_limit_is_found_with_its_port),
        COUNTER_TEST(a_rate_below_the_limit_is_no_finding_however_long_it_lasts),
        COUNTER_TEST(errors_of_the_past_are_no_finding),
        COUNTER_TEST(a_counter_that_somebody_clears_is_counted_from_zero),
        COUNTER_TEST(a_counter_that_is_full_is_cleared_and_counts_again),
        COUNTER_TEST(a_limit_of_zero_and_no_interval_turn_it_off),
        COUNTER_TEST(a_node_that_does_not_answer_delays_no_other),
        COUNTER_TEST(a_redirected_request_is_sent_to_the_new_address),
        COUNTER_TEST(a_port_whose_link_was_down_starts_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
