/* The performance manager, against a model of performance agents: a switch with an adapter. */
#include "perf/perf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SWITCH_LID = 3, ADAPTER_LID = 7, SWITCH_PORT = 2, REDIRECT_LID = 9, INTERVAL_S = 10 };
enum { SWITCH, ADAPTER };

/* CapabilityMask and CapabilityMask2 of a ClassPortInfo. */
enum { EXTENDED = 1 << 9, NO_IETF = 1 << 10, XMIT_WAIT = 1 << 12, EXTENDED_ERRORS = 1 << 1 };

struct bench {
    struct subnet subnet;
    struct perf *perf;
    uint64_t now;
    uint64_t counted[2][COUNTER_COUNT]; /* of the switch port and of the adapter; in words */
    uint64_t mask, mask2;               /* capabilities of both agents */
    bool wraps;                         /* PortCounters wraps */
    bool details;                       /* the agents have PortRcvErrorDetails */
    bool details_ignored;               /* or do not answer a request for it */
    bool mute;                          /* the switch does not answer */
    bool redirects;                     /* the switch redirects requests */
    unsigned requests, redirections;
    unsigned reads[COUNTER_SETS];
};

static void activate(struct bench *bench, uint32_t port, uint16_t lid)
{
    struct subnet_port *p = &bench->subnet.ports.items[port];
    p->known = true;
    wire_set(p->info, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    bench->subnet.ports.items[subnet_end_port(&bench->subnet, port)].lid = lid;
}

static struct bench *start(void **state)
{
    struct perf_config config;
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
    perf_config_init(&config);
    config.interval_ns = INTERVAL_S * NS_PER_S;
    bench->perf = perf_new(&config);
    bench->now = NS_PER_S;
    bench->mask = EXTENDED | XMIT_WAIT;
    bench->mask2 = EXTENDED_ERRORS;
    *state = bench;
    return bench;
}

static int finish(void **state)
{
    struct bench *bench = *state;
    perf_free(bench->perf);
    subnet_release(&bench->subnet);
    mem_free(bench);
    return 0;
}

static const struct port_counters *counters_of(struct bench *bench, unsigned which)
{
    const struct subnet_node *node = &bench->subnet.nodes.items[which];
    return perf_port_counters(bench->perf, node->first_port + (which == SWITCH ? SWITCH_PORT : 1));
}

/* A field counts up to its largest value, or wraps. */
static uint64_t in_field(const struct bench *bench, uint64_t value, unsigned width)
{
    uint64_t most = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    return bench->wraps ? value & most : value < most ? value : most;
}

static void write_counters(struct bench *bench, unsigned at, enum counter_set set, uint8_t *data)
{
    bench->reads[set]++;
    for (unsigned i = 0; i < COUNTER_COUNT; i++) {
        uint16_t field = port_counter_infos[i].in[set].field;
        if (field != NO_COUNTER_FIELD)
            wire_set(data, field, in_field(bench, bench->counted[at][i], wire_fields[field].width));
    }
}

/* Turns a request into its response; false: there is none. */
static bool answer(struct bench *bench, struct perf_request *request)
{
    uint8_t *mad = request->mad, *data = mad + GMP_DATA_OFFSET;
    unsigned at = request->to.lid == ADAPTER_LID ? ADAPTER : SWITCH;
    uint64_t attribute = wire_get(mad, MAD_ATTRIBUTE_ID);
    assert_true(request->to.lid == SWITCH_LID || request->to.lid == ADAPTER_LID ||
                request->to.lid == REDIRECT_LID);
    assert_int_equal(wire_get(mad, MAD_METHOD), METHOD_GET); /* no counter is cleared */
    bench->requests++;
    if ((bench->mute && at == SWITCH) ||
        (bench->details_ignored && attribute == ATTRIBUTE_PORT_RCV_ERROR_DETAILS))
        return false;
    wire_set(mad, MAD_METHOD, METHOD_GET_RESP);
    wire_set(mad, MAD_TID, wire_get(mad, MAD_TID) | UINT64_C(5) << 32); /* as the kernel does */
    if (bench->redirects && request->to.lid == SWITCH_LID) {
        bench->redirections++;
        wire_set(mad, MAD_STATUS, STATUS_REDIRECT);
        wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_CLASS_PORT_INFO);
        redirect_write(&(struct redirect){.lid = REDIRECT_LID, .qp = 77, .q_key = 5}, data);
        return true;
    }
    if (attribute == ATTRIBUTE_CLASS_PORT_INFO) {
        wire_set(data, CLASS_PORT_INFO_CAPABILITY_MASK, bench->mask);
        wire_set(data, CLASS_PORT_INFO_CAPABILITY_MASK2, bench->mask2);
        return true;
    }
    assert_int_equal(wire_get(data, PORT_COUNTERS_PORT_SELECT), at == ADAPTER ? 1 : SWITCH_PORT);
    if (attribute == ATTRIBUTE_PORT_RCV_ERROR_DETAILS && !bench->details)
        wire_set(mad, MAD_STATUS, STATUS_BAD_ATTRIBUTE);
    else
        write_counters(bench, at,
                       attribute == ATTRIBUTE_PORT_COUNTERS       ? SET_BASIC
                       : attribute == ATTRIBUTE_PORT_COUNTERS_EXT ? SET_EXTENDED
                                                                  : SET_ERROR_DETAILS,
                       data);
    return true;
}

/* Lets the time pass. Returns the number of findings; `last` is the last one. */
static unsigned run(struct bench *bench, unsigned seconds, struct perf_finding *last)
{
    struct perf_request request;
    struct perf_finding finding;
    unsigned found = 0;
    for (uint64_t end = bench->now + seconds * NS_PER_S;;) {
        while (perf_next_request(bench->perf, bench->now, &bench->subnet, &request))
            if (answer(bench, &request))
                perf_receive(bench->perf, bench->now, &bench->subnet, request.mad);
        while (perf_next_finding(bench->perf, &finding)) {
            found++;
            if (last)
                *last = finding;
        }
        uint64_t next = perf_deadline(bench->perf);
        assert_true(next > bench->now);
        if (next > end) {
            bench->now = end;
            return found;
        }
        bench->now = next;
    }
}

/* ---- rounds ---- */

static void both_ends_of_a_link_are_read_every_interval(void **state)
{
    struct bench *bench = start(state);
    struct perf_counts counts;
    run(bench, 3 * INTERVAL_S + 1, NULL);
    assert_int_equal(bench->reads[SET_EXTENDED], 2 * 4);
    assert_int_equal(bench->reads[SET_BASIC], 0);
    /* ClassPortInfo of each node, and PortRcvErrorDetails, which neither has. */
    assert_int_equal(bench->requests, 2 * 4 + 2 + 2);
    perf_counts(bench->perf, &counts);
    assert_int_equal(counts.rounds, 4);
    assert_int_equal(counts.ports, 2);
    assert_int_equal(counts.requests, counts.responses);
}

static void adapters_can_be_left_out(void **state)
{
    struct bench *bench = start(state);
    struct perf_config config;
    perf_config_init(&config);
    config.ignore_adapters = true;
    perf_configure(bench->perf, &config);
    run(bench, INTERVAL_S, NULL);
    assert_non_null(counters_of(bench, SWITCH));
    assert_null(counters_of(bench, ADAPTER));
}

static void requests_keep_to_their_rate_and_window(void **state)
{
    struct bench *bench = start(state);
    struct perf_config config;
    struct perf_request request;
    unsigned sent = 0;
    perf_config_init(&config);
    config.rate = 100;
    perf_configure(bench->perf, &config);
    assert_true(perf_next_request(bench->perf, bench->now, &bench->subnet, &request));
    assert_false(perf_next_request(bench->perf, bench->now, &bench->subnet, &request));
    assert_int_equal(perf_deadline(bench->perf), bench->now + NS_PER_S / 100);
    perf_reset(bench->perf);
    config.rate = 1000000;
    config.window = 1;
    perf_configure(bench->perf, &config);
    while (perf_next_request(bench->perf, bench->now, &bench->subnet, &request))
        sent++;
    assert_int_equal(sent, 1); /* the other node waits for the answer */
    assert_int_equal(perf_deadline(bench->perf), bench->now + NS_PER_S);
}

static void requests_are_slow_while_the_owner_serves_others(void **state)
{
    struct bench *bench = start(state);
    struct perf_request request;
    perf_yield(bench->perf, bench->now);
    assert_true(perf_next_request(bench->perf, bench->now, &bench->subnet, &request));
    assert_false(perf_next_request(bench->perf, bench->now, &bench->subnet, &request));
    /* Half of the interval is a second for each of 5 ports; no pause is longer than a yield. */
    assert_int_equal(perf_deadline(bench->perf), bench->now + 10 * NS_PER_MS);
}

static void a_node_that_does_not_answer_delays_no_other(void **state)
{
    struct bench *bench = start(state);
    struct perf_counts counts;
    bench->mute = true;
    run(bench, 5 * INTERVAL_S + 5, NULL);
    assert_int_equal(bench->reads[SET_EXTENDED], 6); /* of the adapter, once a round */
    assert_true(bench->requests <= 6 + 2 + 2 * 2);
    perf_counts(bench->perf, &counts);
    assert_int_equal(counts.silent_nodes, 1);
    bench->mute = false;
    run(bench, 10 * INTERVAL_S, NULL);
    assert_true(bench->reads[SET_EXTENDED] > 6 + 10 + 3);
}

static void a_redirected_request_is_sent_to_the_new_address(void **state)
{
    struct bench *bench = start(state);
    bench->redirects = true;
    run(bench, 1, NULL);
    bench->counted[SWITCH][COUNTER_SYMBOL_ERRORS] = 100;
    assert_int_equal(run(bench, 3 * INTERVAL_S, NULL), 1);
    assert_int_equal(bench->redirections,
                     1); /* the node is asked at the new address from then on */
}

static void a_node_that_returns_may_have_other_capabilities(void **state)
{
    struct bench *bench = start(state);
    run(bench, 1, NULL);
    bench->subnet.nodes.items[SWITCH].present = false;
    run(bench, INTERVAL_S, NULL);
    bench->subnet.nodes.items[SWITCH].present = true;
    bench->mask = bench->mask2 = 0;
    unsigned before = bench->reads[SET_BASIC];
    run(bench, INTERVAL_S, NULL);
    assert_int_equal(bench->reads[SET_BASIC], before + 1);
}

static void no_interval_turns_it_off(void **state)
{
    struct bench *bench = start(state);
    struct perf_config config;
    run(bench, 1, NULL);
    unsigned requests = bench->requests;
    perf_config_init(&config);
    config.interval_ns = TIME_NEVER;
    perf_configure(bench->perf, &config);
    run(bench, 5 * INTERVAL_S, NULL);
    assert_int_equal(bench->requests, requests);
}

static void values_are_forgotten_when_readings_are_turned_off(void **state)
{
    struct bench *bench = start(state);
    struct perf_config config;
    struct perf_counts counts;
    uint32_t port = bench->subnet.nodes.items[0].first_port + SWITCH_PORT;
    run(bench, 1, NULL);
    assert_non_null(perf_port_counters(bench->perf, port));
    perf_config_init(&config);
    config.interval_ns = TIME_NEVER;
    perf_configure(bench->perf, &config);
    assert_null(perf_port_counters(bench->perf, port));
    perf_counts(bench->perf, &counts);
    assert_int_equal(counts.ports, 0);
    assert_int_equal(counts.duration_ns, 0);
    assert_int_equal(counts.rounds, 1);
    config.interval_ns = INTERVAL_S * NS_PER_S;
    perf_configure(bench->perf, &config);
    run(bench, 1, NULL);
    assert_non_null(perf_port_counters(bench->perf, port));
}

/* ---- values ---- */

static void data_is_counted_in_bytes_and_rates_in_seconds(void **state)
{
    struct bench *bench = start(state);
    assert_null(counters_of(bench, SWITCH));
    bench->counted[SWITCH][COUNTER_TRANSMIT_DATA] = UINT64_C(1) << 40;
    run(bench, 1, NULL);
    const struct port_counters *counters = counters_of(bench, SWITCH);
    assert_true(counters->value[COUNTER_TRANSMIT_DATA] == UINT64_C(1) << 42);
    assert_int_equal(port_counter_delta(counters, COUNTER_TRANSMIT_DATA),
                     0); /* before the first one */
    bench->counted[SWITCH][COUNTER_TRANSMIT_DATA] += 1000;
    run(bench, INTERVAL_S, NULL);
    assert_int_equal(port_counter_delta(counters, COUNTER_TRANSMIT_DATA), 4000);
    assert_true(port_counter_rate(counters, COUNTER_TRANSMIT_DATA) == 4000.0 / INTERVAL_S);
}

static void a_switch_without_extended_counters_is_read_with_port_counters(void **state)
{
    struct bench *bench = start(state);
    bench->mask = bench->mask2 = 0;
    bench->counted[SWITCH][COUNTER_TRANSMIT_DATA] = 77;
    run(bench, 1, NULL);
    const struct port_counters *counters = counters_of(bench, SWITCH);
    assert_int_equal(bench->reads[SET_EXTENDED], 0);
    assert_int_equal(counters->value[COUNTER_TRANSMIT_DATA], 4 * 77);
    assert_false(port_counter_is_known(counters, COUNTER_TRANSMIT_UNICAST_PACKETS));
    assert_false(port_counter_is_known(counters, COUNTER_TRANSMIT_WAIT));
}

static void extended_counters_without_errors_are_read_beside_port_counters(void **state)
{
    struct bench *bench = start(state);
    bench->mask = NO_IETF | XMIT_WAIT;
    bench->mask2 = 0;
    bench->counted[SWITCH][COUNTER_TRANSMIT_DATA] = UINT64_C(1) << 40;
    bench->counted[SWITCH][COUNTER_SYMBOL_ERRORS] = 5;
    run(bench, INTERVAL_S + 1, NULL);
    const struct port_counters *counters = counters_of(bench, SWITCH);
    assert_int_equal(bench->reads[SET_EXTENDED], 4);
    assert_int_equal(bench->reads[SET_BASIC], 4);
    assert_true(counters->value[COUNTER_TRANSMIT_DATA] == UINT64_C(1) << 42);
    assert_int_equal(counters->value[COUNTER_SYMBOL_ERRORS], 5);
    assert_true(port_counter_is_known(counters, COUNTER_TRANSMIT_WAIT));
    assert_false(port_counter_is_known(counters, COUNTER_TRANSMIT_UNICAST_PACKETS));
    assert_int_equal(counters->stuck, 0); /* the field of 32 bits is full, but not read */
    assert_int_equal(counters->interval_ns, INTERVAL_S * NS_PER_S);
}

static void a_counter_of_32_bits_that_wraps_goes_on(void **state)
{
    struct bench *bench = start(state);
    bench->mask = bench->mask2 = 0;
    bench->wraps = true;
    bench->counted[SWITCH][COUNTER_TRANSMIT_DATA] = UINT32_MAX - 10;
    run(bench, 1, NULL);
    bench->counted[SWITCH][COUNTER_TRANSMIT_DATA] += 100;
    bench->counted[SWITCH][COUNTER_TRANSMIT_PACKETS] += 1;
    run(bench, INTERVAL_S, NULL);
    const struct port_counters *counters = counters_of(bench, SWITCH);
    assert_int_equal(port_counter_delta(counters, COUNTER_TRANSMIT_DATA), 400);
    assert_true(counters->value[COUNTER_TRANSMIT_DATA] == 4 * (UINT64_C(1) << 32) + 4 * 89);
    bench->counted[SWITCH][COUNTER_TRANSMIT_DATA] += 5;
    run(bench, INTERVAL_S, NULL);
    assert_true(counters->value[COUNTER_TRANSMIT_DATA] == 4 * (UINT64_C(1) << 32) + 4 * 94);
    assert_int_equal(counters->resets, 0);
}

static void counters_that_somebody_clears_start_at_zero(void **state)
{
    struct bench *bench = start(state);
    bench->mask = bench->mask2 = 0;
    bench->counted[SWITCH][COUNTER_TRANSMIT_DATA] = UINT32_MAX - 10;
    bench->counted[SWITCH][COUNTER_TRANSMIT_PACKETS] = 1000;
    run(bench, 1, NULL);
    bench->counted[SWITCH][COUNTER_TRANSMIT_DATA] = 3;
    bench->counted[SWITCH][COUNTER_TRANSMIT_PACKETS] = 1;
    run(bench, INTERVAL_S, NULL);
    const struct port_counters *counters = counters_of(bench, SWITCH);
    assert_int_equal(counters->resets, 1);
    assert_int_equal(counters->value[COUNTER_TRANSMIT_DATA], 12);
    assert_int_equal(port_counter_delta(counters, COUNTER_TRANSMIT_DATA), 12);
    assert_int_equal(port_counter_delta(counters, COUNTER_TRANSMIT_PACKETS), 1);
}

static void a_counter_that_is_full_is_a_problem_and_is_not_cleared(void **state)
{
    struct bench *bench = start(state);
    struct problems problems = {0};
    bench->mask = bench->mask2 = 0;
    run(bench, 1, NULL);
    perf_list_problems(bench->perf, &bench->subnet, &problems);
    assert_int_equal(problems.items.count, 0);
    bench->counted[SWITCH][COUNTER_SYMBOL_ERRORS] = 80000;
    run(bench, 2 * INTERVAL_S, NULL);
    assert_int_equal(counters_of(bench, SWITCH)->value[COUNTER_SYMBOL_ERRORS], 65535);
    perf_list_problems(bench->perf, &bench->subnet, &problems);
    assert_int_equal(problems.items.count, 1);
    assert_int_equal(problems.items.items[0].kind, PROBLEM_STUCK_COUNTER);
    assert_non_null(strstr(problems.items.items[0].text, "SymbolErrorCounter of port 2"));
    assert_non_null(strstr(problems.items.items[0].text, "perfquery -R 3 2"));
    problems_release(&problems);
    bench->counted[SWITCH][COUNTER_SYMBOL_ERRORS] = 0; /* somebody cleared it */
    run(bench, INTERVAL_S, NULL);
    perf_list_problems(bench->perf, &bench->subnet, &problems);
    assert_int_equal(problems.items.count, 0);
}

static void error_details_are_read_when_their_sums_change(void **state)
{
    struct bench *bench = start(state);
    bench->details = true;
    run(bench, 3 * INTERVAL_S, NULL);
    const struct port_counters *counters = counters_of(bench, SWITCH);
    assert_int_equal(bench->reads[SET_ERROR_DETAILS], 2); /* once of each node */
    assert_true(port_counter_is_known(counters, COUNTER_LOCAL_PHYSICAL_ERRORS));
    bench->counted[SWITCH][COUNTER_RECEIVE_ERRORS] =
        bench->counted[SWITCH][COUNTER_LOCAL_PHYSICAL_ERRORS] = 7;
    run(bench, 3 * INTERVAL_S, NULL);
    assert_int_equal(bench->reads[SET_ERROR_DETAILS], 3);
    assert_int_equal(counters->value[COUNTER_LOCAL_PHYSICAL_ERRORS], 7);
}

static void an_agent_that_ignores_an_optional_attribute_is_read_all_the_same(void **state)
{
    struct bench *bench = start(state);
    bench->details_ignored = true;
    run(bench, 3 * INTERVAL_S + 5, NULL);
    assert_int_equal(bench->reads[SET_EXTENDED], 2 * 4);
    assert_false(port_counter_is_known(counters_of(bench, SWITCH), COUNTER_LOCAL_PHYSICAL_ERRORS));
}

/* ---- the last hour ---- */

static void the_last_hour_is_kept_by_minute(void **state)
{
    struct bench *bench = start(state);
    uint32_t port = bench->subnet.nodes.items[SWITCH].first_port + SWITCH_PORT;
    run(bench, 1, NULL);
    for (unsigned i = 0; i < 2 * 60 * 6; i++) { /* two hours: 100 words, then 200 words a second */
        bench->counted[SWITCH][COUNTER_TRANSMIT_DATA] += (i < 60 * 6 ? 100 : 200) * INTERVAL_S;
        bench->counted[SWITCH][COUNTER_TRANSMIT_DISCARDS] += 1;
        run(bench, INTERVAL_S, NULL);
    }
    const struct history *history = perf_port_history(bench->perf, port);
    struct history_sample hour = history_sum(history, bench->now);
    assert_in_range(hour.covered_ms, 3500 * 1000, 3600 * 1000);
    assert_in_range((uint64_t)hour.transmit_bytes, hour.covered_ms / 10 * 8 - 1000,
                    hour.covered_ms / 10 * 8 + 1000);
    assert_in_range(hour.discards, 350, 360);
    struct history_sample minute = history_minute(history, bench->now, 1);
    assert_int_equal(minute.covered_ms, 60 * 1000);
    assert_int_equal(minute.discards, 6);
    assert_true(history_minute(history, bench->now, 60).covered_ms == 0);
    bench->subnet.nodes.items[SWITCH].present = false;
    run(bench, 30 * 60, NULL);
    assert_in_range(history_sum(history, bench->now).covered_ms, 1700 * 1000, 1800 * 1000);
}

/* ---- findings ---- */

static void a_rate_above_the_limit_is_found_with_its_port(void **state)
{
    struct bench *bench = start(state);
    struct perf_finding finding;
    run(bench, 1, NULL);
    bench->counted[ADAPTER][COUNTER_SYMBOL_ERRORS] = 61;
    assert_int_equal(run(bench, INTERVAL_S, &finding), 1);
    assert_int_equal(bench->subnet.ports.items[finding.port].number, 1);
    assert_int_equal(finding.counter, COUNTER_SYMBOL_ERRORS);
    assert_int_equal(finding.count, 61);
    assert_int_equal(run(bench, 5 * INTERVAL_S, NULL), 0); /* once */
}

static void a_rate_below_the_limit_is_no_finding_however_long_it_lasts(void **state)
{
    struct bench *bench = start(state);
    for (unsigned i = 0; i < 100; i++) {
        bench->counted[SWITCH][COUNTER_SYMBOL_ERRORS] += 9; /* 54 a minute */
        assert_int_equal(run(bench, INTERVAL_S, NULL), 0);
    }
    unsigned found = 0;
    for (unsigned i = 0; i < 12; i++) {
        bench->counted[SWITCH][COUNTER_SYMBOL_ERRORS] += 12; /* 72 a minute */
        found += run(bench, INTERVAL_S, NULL);
    }
    assert_true(found > 0);
}

static void errors_of_the_past_are_no_finding(void **state)
{
    struct bench *bench = start(state);
    bench->counted[SWITCH][COUNTER_SYMBOL_ERRORS] = bench->counted[ADAPTER][COUNTER_SYMBOL_ERRORS] =
        5000000;
    assert_int_equal(run(bench, 5 * INTERVAL_S, NULL), 0);
}

static void errors_after_a_reset_are_counted_from_zero(void **state)
{
    struct bench *bench = start(state);
    struct perf_finding finding;
    bench->counted[SWITCH][COUNTER_SYMBOL_ERRORS] = 1000;
    run(bench, 1, NULL);
    bench->counted[SWITCH][COUNTER_SYMBOL_ERRORS] = 3;
    assert_int_equal(run(bench, INTERVAL_S, NULL), 0);
    bench->counted[SWITCH][COUNTER_SYMBOL_ERRORS] = 0;
    run(bench, INTERVAL_S, NULL);
    bench->counted[SWITCH][COUNTER_SYMBOL_ERRORS] = 70;
    assert_int_equal(run(bench, INTERVAL_S, &finding), 1);
    assert_int_equal(finding.count, 73);
}

static void a_limit_of_zero_finds_nothing(void **state)
{
    struct bench *bench = start(state);
    struct perf_config config = {.interval_ns = INTERVAL_S * NS_PER_S, .window = 8, .rate = 1000};
    perf_configure(bench->perf, &config);
    run(bench, 1, NULL);
    bench->counted[SWITCH][COUNTER_SYMBOL_ERRORS] = 100000;
    assert_int_equal(run(bench, INTERVAL_S, NULL), 0);
}

static void a_port_whose_link_was_down_starts_anew(void **state)
{
    struct bench *bench = start(state);
    uint32_t port = bench->subnet.nodes.items[0].first_port + SWITCH_PORT;
    uint8_t *info = bench->subnet.ports.items[port].info;
    run(bench, 1, NULL);
    wire_set(info, PORT_INFO_PORT_STATE, PORT_STATE_DOWN);
    bench->counted[SWITCH][COUNTER_SYMBOL_ERRORS] = 1000;
    run(bench, 5 * INTERVAL_S, NULL);
    wire_set(info, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    assert_int_equal(run(bench, 3 * INTERVAL_S, NULL), 0);
}

#define PERF_TEST(claim) cmocka_unit_test_teardown(claim, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PERF_TEST(both_ends_of_a_link_are_read_every_interval),
        PERF_TEST(adapters_can_be_left_out),
        PERF_TEST(requests_keep_to_their_rate_and_window),
        PERF_TEST(requests_are_slow_while_the_owner_serves_others),
        PERF_TEST(a_node_that_does_not_answer_delays_no_other),
        PERF_TEST(a_redirected_request_is_sent_to_the_new_address),
        PERF_TEST(a_node_that_returns_may_have_other_capabilities),
        PERF_TEST(no_interval_turns_it_off),
        PERF_TEST(values_are_forgotten_when_readings_are_turned_off),
        PERF_TEST(data_is_counted_in_bytes_and_rates_in_seconds),
        PERF_TEST(a_switch_without_extended_counters_is_read_with_port_counters),
        PERF_TEST(extended_counters_without_errors_are_read_beside_port_counters),
        PERF_TEST(a_counter_of_32_bits_that_wraps_goes_on),
        PERF_TEST(counters_that_somebody_clears_start_at_zero),
        PERF_TEST(a_counter_that_is_full_is_a_problem_and_is_not_cleared),
        PERF_TEST(error_details_are_read_when_their_sums_change),
        PERF_TEST(an_agent_that_ignores_an_optional_attribute_is_read_all_the_same),
        PERF_TEST(the_last_hour_is_kept_by_minute),
        PERF_TEST(a_rate_above_the_limit_is_found_with_its_port),
        PERF_TEST(a_rate_below_the_limit_is_no_finding_however_long_it_lasts),
        PERF_TEST(errors_of_the_past_are_no_finding),
        PERF_TEST(errors_after_a_reset_are_counted_from_zero),
        PERF_TEST(a_limit_of_zero_finds_nothing),
        PERF_TEST(a_port_whose_link_was_down_starts_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
