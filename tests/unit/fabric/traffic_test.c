/* Traffic: senders and receivers, packet sizes, service levels, and refused input. Random counts
 * must lie within five standard deviations, derived beside each. */
#include "fabric/traffic/internal.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST_MEMBERS = 64 };

/* Members are the ports 100, 101, …, so that a port mistaken for a member does not go unnoticed. */
static struct traffic traffic_of(enum traffic_pattern pattern, uint32_t members)
{
    struct traffic traffic;
    traffic_init(&traffic, 256);
    for (uint32_t i = 0; i < members; i++) {
        vec_push(&traffic.senders, 100 + i);
        vec_push(&traffic.receivers, 100 + i);
    }
    traffic.pattern = pattern;
    traffic.interval_ps = TIME_US;
    return traffic;
}

static void assert_sensible(const struct traffic *traffic)
{
    struct err err = {0};
    if (traffic_check(traffic, &err))
        fail_msg("%s", err.message);
}

/* How often each receiver gets one of `packets` packets of one sender; the number that were made.
 */
static unsigned count_receivers(const struct traffic *traffic, uint32_t sender, unsigned packets,
                                unsigned counts[MOST_MEMBERS])
{
    struct traffic_source source;
    memset(counts, 0, MOST_MEMBERS * sizeof *counts);
    traffic_source_init(&source, traffic, sender, 1, sender);
    for (unsigned i = 0; i < packets; i++) {
        struct traffic_packet packet = traffic_draw(traffic, &source);
        if (packet.time == TIME_NEVER)
            return i;
        assert_true(packet.receiver < traffic->receivers.count);
        counts[packet.receiver]++;
    }
    return packets;
}

/* Binomial: a count of n p varies by sqrt(n p (1 - p)). */
static void assert_share(unsigned count, unsigned packets, double share)
{
    if (!(fabs(count - packets * share) <= 5 * sqrt(packets * share * (1 - share))))
        fail_msg("%u of %u, not a share of %g", count, packets, share);
}

static void uniform_reaches_all_others_equally(void **state)
{
    (void)state;
    enum { MEMBERS = 13, PACKETS = 200000 };
    unsigned counts[MOST_MEMBERS];
    struct traffic traffic = traffic_of(PATTERN_UNIFORM, MEMBERS);
    assert_sensible(&traffic);
    for (uint32_t sender = 0; sender < MEMBERS; sender += 6) {
        count_receivers(&traffic, sender, PACKETS, counts);
        for (uint32_t i = 0; i < MEMBERS; i++)
            assert_share(counts[i], PACKETS, i == sender ? 0 : 1.0 / (MEMBERS - 1));
    }
    traffic_release(&traffic);
}

/* With a bound of 3 * 2^30 the product's upper half alone would hit every third value twice as
 * often. */
static void small_bounds_have_no_bias(void **state)
{
    (void)state;
    enum { DRAWS = 30000 };
    unsigned counts[3] = {0};
    struct rng rng;
    rng_seed(&rng, 1, 0);
    for (unsigned i = 0; i < DRAWS; i++)
        counts[draw_below(&rng, UINT32_C(3) << 30) % 3]++;
    for (unsigned i = 0; i < 3; i++)
        assert_share(counts[i], DRAWS, 1.0 / 3);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(draw_below(&rng, 1), 0);
}

static void a_sender_is_recognised_among_receivers_by_its_port(void **state)
{
    (void)state;
    unsigned counts[MOST_MEMBERS];
    struct traffic traffic = traffic_of(PATTERN_UNIFORM, 4);
    traffic.senders.items[0] = 103;
    traffic.senders.items[3] = 7; /* does not receive */
    traffic.senders.count = 4;
    assert_sensible(&traffic);
    count_receivers(&traffic, 0, 3000, counts);
    for (uint32_t i = 0; i < 4; i++)
        assert_share(counts[i], 3000, i == 3 ? 0 : 1.0 / 3);
    count_receivers(&traffic, 3, 4000, counts);
    for (uint32_t i = 0; i < 4; i++)
        assert_share(counts[i], 4000, 0.25);
    traffic_release(&traffic);
}

static void a_hot_spot_gets_its_share_and_that_of_the_others(void **state)
{
    (void)state;
    enum { MEMBERS = 9, PACKETS = 100000 };
    unsigned counts[MOST_MEMBERS];
    struct traffic traffic = traffic_of(PATTERN_HOT_SPOT, MEMBERS);
    traffic.hot = 4;
    traffic.hot_parts = RNG_CERTAIN / 5;
    assert_sensible(&traffic);
    count_receivers(&traffic, 0, PACKETS, counts);
    for (uint32_t i = 1; i < MEMBERS; i++)
        assert_share(counts[i], PACKETS, (i == 4 ? 0.2 : 0) + 0.8 / (MEMBERS - 1));
    count_receivers(&traffic, 4, PACKETS, counts); /* itself */
    for (uint32_t i = 0; i < MEMBERS; i++)
        assert_share(counts[i], PACKETS, i == 4 ? 0 : 1.0 / (MEMBERS - 1));
    traffic.hot_parts = RNG_CERTAIN;
    count_receivers(&traffic, 0, 1000, counts);
    assert_int_equal(counts[4], 1000);
    traffic_release(&traffic);
}

/* The receiver of all packets of a sender; TRAFFIC_NONE if it sends none. */
static uint32_t only_receiver(const struct traffic *traffic, uint32_t sender)
{
    unsigned counts[MOST_MEMBERS];
    if (count_receivers(traffic, sender, 10, counts) == 0)
        return TRAFFIC_NONE;
    for (uint32_t i = 0; i < MOST_MEMBERS; i++)
        if (counts[i] == 10)
            return i;
    fail_msg("sender %u has more than one receiver", sender);
    return TRAFFIC_NONE;
}

static void assert_mapping(enum traffic_pattern pattern, uint32_t members, uint32_t shift,
                           const uint32_t *expected)
{
    struct traffic traffic = traffic_of(pattern, members);
    traffic.shift = shift;
    assert_sensible(&traffic);
    for (uint32_t i = 0; i < members; i++)
        assert_int_equal(only_receiver(&traffic, i), expected[i]);
    traffic_release(&traffic);
}

#define NONE TRAFFIC_NONE

static void bit_patterns_match_the_textbook(void **state)
{
    (void)state;
    assert_mapping(PATTERN_BIT_REVERSAL, 8, 0, (uint32_t[]){NONE, 4, NONE, 6, 1, NONE, 3, NONE});
    assert_mapping(PATTERN_SHUFFLE, 8, 0, (uint32_t[]){NONE, 2, 4, 6, 1, 3, 5, NONE});
    assert_mapping(PATTERN_TRANSPOSE, 16, 0,
                   (uint32_t[]){NONE, 4, 8, 12, 1, NONE, 9, 13, 2, 6, NONE, 14, 3, 7, 11, NONE});
    assert_mapping(PATTERN_TRANSPOSE, 8, 0, (uint32_t[]){NONE, 2, 4, 6, 1, 3, 5, NONE});
    assert_mapping(PATTERN_TRANSPOSE, 4, 0, (uint32_t[]){NONE, 2, 1, NONE});
}

static void members_without_a_partner_send_nothing(void **state)
{
    (void)state;
    assert_mapping(PATTERN_BIT_REVERSAL, 6, 0, (uint32_t[]){NONE, 4, NONE, NONE, 1, NONE});
    assert_mapping(PATTERN_SHUFFLE, 5, 0, (uint32_t[]){NONE, 2, 4, NONE, 1});
    assert_mapping(PATTERN_TRANSPOSE, 7, 0, (uint32_t[]){NONE, 2, 4, 6, 1, 3, 5});
}

static void shifts_and_rings_go_round(void **state)
{
    (void)state;
    assert_mapping(PATTERN_RING, 5, 3, (uint32_t[]){1, 2, 3, 4, 0});
    assert_mapping(PATTERN_SHIFT, 5, 2, (uint32_t[]){2, 3, 4, 0, 1});
    assert_mapping(PATTERN_SHIFT, 5, 4, (uint32_t[]){4, 0, 1, 2, 3});
    assert_mapping(PATTERN_SHIFT, 5, 5001, (uint32_t[]){1, 2, 3, 4, 0});
}

static void no_two_senders_of_a_mapping_share_a_receiver(void **state)
{
    (void)state;
    static const enum traffic_pattern mappings[] = {PATTERN_BIT_REVERSAL, PATTERN_TRANSPOSE,
                                                    PATTERN_SHUFFLE, PATTERN_SHIFT, PATTERN_RING};
    for (unsigned m = 0; m < sizeof mappings / sizeof mappings[0]; m++)
        for (uint32_t members = 3; members <= MOST_MEMBERS; members++) {
            struct traffic traffic = traffic_of(mappings[m], members);
            bool power_of_two = (members & (members - 1)) == 0;
            bool taken[MOST_MEMBERS] = {0};
            traffic.shift = 2;
            for (uint32_t i = 0; i < members; i++) {
                uint32_t receiver = only_receiver(&traffic, i);
                if (receiver == TRAFFIC_NONE && power_of_two)
                    receiver = i; /* then it can only be a fixed point */
                if (receiver == TRAFFIC_NONE)
                    continue;
                assert_false(taken[receiver]);
                taken[receiver] = true;
            }
            traffic_release(&traffic);
        }
}

static void gather_brings_all_to_one(void **state)
{
    (void)state;
    struct traffic traffic = traffic_of(PATTERN_GATHER, 5);
    traffic.hot = 2;
    assert_sensible(&traffic);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(only_receiver(&traffic, i), i == 2 ? TRAFFIC_NONE : 2);
    traffic_release(&traffic);
}

static void all_to_all_sends_to_all_others_in_turn(void **state)
{
    (void)state;
    for (uint32_t members = 2; members <= 17; members += 5) {
        struct traffic traffic = traffic_of(PATTERN_ALL_TO_ALL, members);
        assert_sensible(&traffic);
        for (uint32_t sender = 0; sender < members; sender++) {
            struct traffic_source source;
            traffic_source_init(&source, &traffic, sender, 1, sender);
            for (uint32_t round = 0; round < 3; round++)
                for (uint32_t step = 1; step < members; step++)
                    assert_int_equal(traffic_draw(&traffic, &source).receiver,
                                     (sender + step) % members);
        }
        traffic_release(&traffic);
    }
}

static void sizes_come_by_weight(void **state)
{
    (void)state;
    enum { PACKETS = 100000 };
    struct traffic traffic = traffic_of(PATTERN_UNIFORM, 4);
    static const struct traffic_size sizes[] = {{64, 1}, {256, 5}, {2048, 3}, {4096, 1}};
    memcpy(traffic.sizes, sizes, sizeof sizes);
    traffic.size_count = 4;
    assert_sensible(&traffic);
    struct traffic_source source;
    unsigned counts[4] = {0}, others = 0;
    traffic_source_init(&source, &traffic, 0, 1, 0);
    for (unsigned i = 0; i < PACKETS; i++) {
        uint32_t bytes = traffic_draw(&traffic, &source).payload_bytes;
        unsigned size = 0;
        while (size < 4 && sizes[size].payload_bytes != bytes)
            size++;
        if (size < 4)
            counts[size]++;
        else
            others++;
    }
    for (unsigned i = 0; i < 4; i++)
        assert_share(counts[i], PACKETS, sizes[i].weight / 10.0);
    assert_int_equal(others, 0);
    traffic_release(&traffic);
}

static void service_levels_are_fixed_or_random(void **state)
{
    (void)state;
    enum { PACKETS = 64000 };
    struct traffic traffic = traffic_of(PATTERN_UNIFORM, 4);
    struct traffic_source source;
    unsigned counts[16] = {0};
    traffic.sl = 15;
    traffic_source_init(&source, &traffic, 0, 1, 0);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(traffic_draw(&traffic, &source).sl, 15);
    traffic.sl = TRAFFIC_RANDOM_SL;
    for (unsigned i = 0; i < PACKETS; i++) {
        uint8_t sl = traffic_draw(&traffic, &source).sl;
        assert_true(sl < 16);
        counts[sl]++;
    }
    for (unsigned i = 0; i < 16; i++)
        assert_share(counts[i], PACKETS, 1.0 / 16);
    traffic_release(&traffic);
}

static void streams_differ_and_seeds_repeat(void **state)
{
    (void)state;
    struct traffic traffic = traffic_of(PATTERN_UNIFORM, 40);
    struct traffic_source one, same, other;
    unsigned alike = 0;
    traffic_source_init(&one, &traffic, 3, 1, 3);
    traffic_source_init(&same, &traffic, 3, 1, 3);
    traffic_source_init(&other, &traffic, 3, 1, 4);
    for (unsigned i = 0; i < 1000; i++) {
        struct traffic_packet a = traffic_draw(&traffic, &one), b = traffic_draw(&traffic, &same);
        struct traffic_packet c = traffic_draw(&traffic, &other);
        assert_int_equal(a.time, b.time);
        assert_int_equal(a.receiver, b.receiver);
        alike += a.receiver == c.receiver;
    }
    assert_share(alike, 1000, 1.0 / 39);
    traffic_release(&traffic);
}

static void a_copy_is_independent(void **state)
{
    (void)state;
    struct traffic traffic = traffic_of(PATTERN_TRACE, 6), copy;
    struct traffic_trace_entry entry = {.time = 5, .receiver = 3, .payload_bytes = 64};
    vec_push(&traffic.trace, entry);
    traffic_copy(&copy, &traffic);
    traffic.senders.items[0] = 1;
    traffic_release(&traffic);
    traffic_release(&traffic); /* twice is harmless */
    assert_sensible(&copy);
    assert_int_equal(copy.senders.items[0], 100);
    assert_int_equal(copy.receivers.items[5], 105);
    assert_int_equal(copy.trace.items[0].receiver, 3);
    vec_push(&copy.senders, 9);
    assert_int_equal(copy.senders.items[6], 9);
    assert_int_equal(copy.senders.items[5], 105);
    traffic_release(&copy);
    traffic_init(&traffic, 256);
    traffic_copy(&copy, &traffic);
    assert_null(copy.senders.items);
    traffic_release(&copy);
}

static void every_pattern_and_arrival_has_a_name(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TRAFFIC_PATTERNS; i++) {
        assert_non_null(traffic_pattern_names[i]);
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(traffic_pattern_names[i], traffic_pattern_names[j]);
    }
    for (unsigned i = 0; i < TRAFFIC_ARRIVALS; i++)
        assert_non_null(traffic_arrival_names[i]);
    assert_string_equal(traffic_pattern_names[PATTERN_BIT_REVERSAL], "bit-reversal");
    assert_string_equal(traffic_arrival_names[ARRIVAL_BURSTY], "bursty");
}

/* Consumes the traffic. */
static void refused(struct traffic traffic, const char *part_of_message)
{
    struct err err = {0};
    if (traffic_check(&traffic, &err) >= 0)
        fail_msg("accepted, expected an error with \"%s\"", part_of_message);
    if (!strstr(err.message, part_of_message))
        fail_msg("\"%s\" does not contain \"%s\"", err.message, part_of_message);
    traffic_release(&traffic);
}

#define REFUSED(pattern_, members_, change, part)                                                  \
    do {                                                                                           \
        struct traffic t = traffic_of(pattern_, members_);                                         \
        change;                                                                                    \
        refused(t, part);                                                                          \
    } while (0)

static void contradictory_patterns_are_refused(void **state)
{
    (void)state;
    REFUSED(PATTERN_UNIFORM, 0, , "no senders");
    REFUSED(PATTERN_UNIFORM, 3, t.receivers.count = 0, "no receivers");
    REFUSED(PATTERN_UNIFORM, 1, , "no sender");
    REFUSED(PATTERN_UNIFORM, 3, t.senders.items[2] = 100, "senders 0 and 2");
    REFUSED(PATTERN_UNIFORM, 3, t.receivers.items[1] = 102, "receivers 1 and 2");
    REFUSED(TRAFFIC_PATTERNS, 3, , "pattern");
    REFUSED(PATTERN_RING, 3, t.receivers.count = 2, "same senders");
    REFUSED(PATTERN_SHUFFLE, 3, t.receivers.items[1] = 7, "same senders");
    REFUSED(PATTERN_BIT_REVERSAL, 2, , "no sender");
    REFUSED(PATTERN_SHIFT, 4, t.shift = 8, "no sender");
    REFUSED(PATTERN_GATHER, 4, t.hot = 4, "receiver 4");
    REFUSED(PATTERN_HOT_SPOT, 4, t.hot = 4, "receiver 4");
    REFUSED(PATTERN_HOT_SPOT, 4, t.hot_parts = RNG_CERTAIN + 1, "more than all");
    REFUSED(PATTERN_TRACE, 4, , "without a trace");
}

static void impossible_times_sizes_and_services_are_refused(void **state)
{
    (void)state;
    const enum traffic_pattern any = PATTERN_UNIFORM;
    REFUSED(any, 3, t.arrival = TRAFFIC_ARRIVALS, "arrival");
    REFUSED(any, 3, t.interval_ps = 0, "rate");
    REFUSED(any, 3, t.interval_ps = TIME_LONGEST + 1, "100 days");
    REFUSED(any, 3, t.start_ps = TIME_LONGEST + 1, "starts");
    REFUSED(any, 3, t.start_ps = t.stop_ps = 5, "stops before");
    REFUSED(any, 3, (t.arrival = ARRIVAL_BURSTY, t.burst = 0), "bursts of 0");
    REFUSED(any, 3, (t.arrival = ARRIVAL_BURSTY, t.interval_ps = TIME_LONGEST / 2, t.burst = 3),
            "burst");
    REFUSED(any, 3, t.size_count = 0, "0 packet sizes");
    REFUSED(any, 3, t.size_count = TRAFFIC_SIZES + 1, "9 packet sizes");
    REFUSED(any, 3, t.sizes[0].payload_bytes = 0, "0 bytes");
    REFUSED(any, 3, t.sizes[0].payload_bytes = 4097, "4097 bytes");
    REFUSED(any, 3, t.sizes[0].weight = 0, "weight 0");
    REFUSED(any, 3, t.sizes[0].weight = UINT32_MAX, "weight");
    REFUSED(any, 3, t.sl = 17, "service level 17");
    REFUSED(any, 3, t.p_key = 0x8000, "0x8000");
    REFUSED(any, 3, t.limit_ps_per_8_bytes = TIME_S + 1, "rate limit");
    REFUSED(any, 3, t.retries = 3, "retries");
    REFUSED(any, 3, t.retry_ps = TIME_MS, "retries");
    REFUSED(any, 3, (t.retries = 1, t.retry_ps = TIME_LONGEST + 1), "retry");
}

static void a_trace_made_by_hand_is_checked_too(void **state)
{
    (void)state;
    static const struct {
        struct traffic_trace_entry entries[2];
        const char *part;
    } cases[] = {
        {{{5, 1, 0, 64, 0}, {6, 0, 1, 64, 0}}, "sorted"},
        {{{5, 1, 0, 64, 0}, {4, 1, 2, 64, 0}}, "sorted"},
        {{{5, 1, 1, 64, 0}, {6, 1, 2, 64, 0}}, "its own"},
        {{{5, 1, 3, 64, 0}, {6, 1, 2, 64, 0}}, "1 to 3"},
        {{{5, 1, 0, 64, 0}, {6, 3, 2, 64, 0}}, "3 to 2"},
        {{{5, 1, 0, 64, 0}, {6, 2, 1, 0, 0}}, "packet 1"},
        {{{5, 1, 0, 4097, 0}, {6, 2, 1, 1, 0}}, "packet 0"},
        {{{5, 1, 0, 1, 0}, {TIME_LONGEST + 1, 2, 1, 1, 0}}, "packet 1"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct traffic traffic = traffic_of(PATTERN_TRACE, 3);
        vec_push(&traffic.trace, cases[i].entries[0]);
        vec_push(&traffic.trace, cases[i].entries[1]);
        refused(traffic, cases[i].part);
    }
}

static void a_message_is_cut_into_packets_for_one_receiver(void **state)
{
    struct traffic traffic = traffic_of(PATTERN_UNIFORM, 6);
    struct traffic_source source;
    struct err err = {0};
    uint64_t last = 0;
    (void)state;
    traffic.sizes[0].payload_bytes = 1000;
    traffic.message_bytes = 2500;
    assert_int_equal(traffic_check(&traffic, &err), 0);
    traffic_source_init(&source, &traffic, 2, 1, 1);
    for (unsigned message = 0; message < 100; message++) {
        struct traffic_packet packets[3];
        for (unsigned i = 0; i < 3; i++) {
            packets[i] = traffic_draw(&traffic, &source);
            assert_int_equal(packets[i].payload_bytes, i < 2 ? 1000 : 500);
            assert_int_equal(packets[i].continues, i > 0);
            assert_int_equal(packets[i].time, packets[0].time);
            assert_int_equal(packets[i].receiver, packets[0].receiver);
        }
        assert_true(packets[0].time > last);
        last = packets[0].time;
    }
    traffic.size_count = 2;
    traffic.sizes[1] = traffic.sizes[0];
    assert_int_equal(traffic_check(&traffic, &err), -EINVAL);
    traffic_release(&traffic);
}

/* "1 3", "9 1": of four intervals three are a third of the mean, one is three times as long. */
static void empirical_intervals_have_the_weights_of_the_file(void **state)
{
    (void)state;
    struct traffic traffic;
    struct err err;
    uint32_t ports[] = {3, 5};
    char path[] = "density.XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    fputs("# intervals in any unit\n1 3\n9 1\n", file);
    fclose(file);
    traffic_init(&traffic, 256);
    traffic.arrival = ARRIVAL_EMPIRICAL;
    traffic.interval_ps = 3000;
    for (unsigned i = 0; i < 2; i++) {
        vec_push(&traffic.senders, ports[i]);
        vec_push(&traffic.receivers, ports[i]);
    }
    assert_true(traffic_check(&traffic, &err) < 0);
    assert_int_equal(traffic_read_density(&traffic, path, &err), 0);
    assert_int_equal(traffic_check(&traffic, &err), 0);
    struct traffic_source source;
    traffic_source_init(&source, &traffic, 0, 1, 1);
    unsigned counts[2] = {0};
    uint64_t before = 0;
    for (unsigned i = 0; i < 100000; i++) {
        uint64_t time = traffic_draw(&traffic, &source).time;
        assert_true(time - before == 1000 || time - before == 9000);
        counts[time - before == 9000]++;
        before = time;
    }
    assert_in_range(counts[1], 24500, 25500);
    traffic_release(&traffic);
    file = fopen(path, "w");
    fputs("0 3\n", file);
    fclose(file);
    traffic_init(&traffic, 256);
    assert_true(traffic_read_density(&traffic, path, &err) < 0); /* the mean is 0 */
    traffic_release(&traffic);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_is_cut_into_packets_for_one_receiver),
        cmocka_unit_test(uniform_reaches_all_others_equally),
        cmocka_unit_test(small_bounds_have_no_bias),
        cmocka_unit_test(a_sender_is_recognised_among_receivers_by_its_port),
        cmocka_unit_test(a_hot_spot_gets_its_share_and_that_of_the_others),
        cmocka_unit_test(bit_patterns_match_the_textbook),
        cmocka_unit_test(members_without_a_partner_send_nothing),
        cmocka_unit_test(shifts_and_rings_go_round),
        cmocka_unit_test(no_two_senders_of_a_mapping_share_a_receiver),
        cmocka_unit_test(gather_brings_all_to_one),
        cmocka_unit_test(all_to_all_sends_to_all_others_in_turn),
        cmocka_unit_test(sizes_come_by_weight),
        cmocka_unit_test(service_levels_are_fixed_or_random),
        cmocka_unit_test(streams_differ_and_seeds_repeat),
        cmocka_unit_test(a_copy_is_independent),
        cmocka_unit_test(every_pattern_and_arrival_has_a_name),
        cmocka_unit_test(contradictory_patterns_are_refused),
        cmocka_unit_test(impossible_times_sizes_and_services_are_refused),
        cmocka_unit_test(a_trace_made_by_hand_is_checked_too),
        cmocka_unit_test(empirical_intervals_have_the_weights_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
