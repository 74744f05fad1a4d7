/* `traffic`, `measure`, `collect`, `every` and checks of figures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reading.h"

#include "base/rng.h"
#include "base/time.h"
#include "topology/generators/generate.h"
#include "wire/mad.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- traffic ---- */

static int bind(const char *line, const char *key, const char *value, struct traffic *traffic,
                struct err *err)
{
    static const char *const words[] = {"speed=SDR"};
    struct scenario scenario = read_scenario(line);
    struct topology topology;
    struct fabric_options options;
    topology_init(&topology);
    assert_int_equal(topology_generate(&topology, "figure1", words, 1, 1, err), 0);
    assert_int_equal(fabric_options_preset(&options, "today", err), 0);
    assert_int_equal(fabric_options_set(&options, key, value, err), 0);
    struct traffic_spec_world world = {.topology = &topology, .options = &options, .folder = "."};
    struct cursor cursor = {.file = scenario.file, .err = err};
    int status = traffic_spec_bind(scenario.statements.items[0].spec, &world, &cursor, traffic);
    topology_release(&topology);
    scenario_release(&scenario);
    return status;
}

static struct traffic bind_well(const char *line)
{
    struct traffic traffic;
    struct err err = {0};
    char message[1024];
    if (bind(line, "mtu", "4096", &traffic, &err) != 0)
        fail_msg("%s", err_text(&err, message, sizeof message));
    return traffic;
}

static void assert_unbound_with(const char *line, const char *key, const char *value,
                                const char *expected)
{
    struct traffic traffic;
    struct err err = {0};
    char message[1024];
    assert_int_equal(bind(line, key, value, &traffic, &err), -EINVAL);
    err_text(&err, message, sizeof message);
    if (strncmp(message, expected, strlen(expected)) != 0)
        fail_msg("'%s' is refused with: %s", line, message);
}

static void assert_unbound(const char *line, const char *expected)
{
    assert_unbound_with(line, "mtu", "2048", expected);
}

static void every_traffic_key_is_parsed(void **state)
{
    struct traffic t =
        bind_well("traffic hot-spot rate 20e3 sizes 256:3,2048:1 sl 3 arrivals bursty "
                  "burst 8 start 1s stop 2s from H1* to H[47] hot H7 share 25% "
                  "limit 2.5 retry 1ms retries 3 p_key 0x8001 among all");
    (void)state;
    assert_int_equal(t.pattern, PATTERN_HOT_SPOT);
    assert_int_equal(t.arrival, ARRIVAL_BURSTY);
    assert_int_equal(t.interval_ps, 50 * TIME_US);
    assert_int_equal(t.size_count, 2);
    assert_int_equal(t.sizes[0].payload_bytes, 256);
    assert_int_equal(t.sizes[0].weight, 3);
    assert_int_equal(t.sizes[1].payload_bytes, 2048);
    assert_int_equal(t.sl, 3);
    assert_int_equal(t.burst, 8);
    assert_int_equal(t.start_ps, TIME_S);
    assert_int_equal(t.stop_ps, 2 * TIME_S);
    assert_int_equal(t.senders.count, 5); /* H11 to H15 */
    assert_int_equal(t.receivers.count, 2);
    assert_int_equal(t.hot, 1);
    assert_int_equal(t.hot_parts, RNG_CERTAIN / 4);
    assert_int_equal(t.limit_ps_per_8_bytes, 25600); /* 2.5 Gbit/s */
    assert_true(t.among_all);
    assert_int_equal(t.retry_ps, TIME_MS);
    assert_int_equal(t.retries, 3);
    assert_int_equal(t.p_key, 0x8001);
    traffic_release(&t);
}

static void all_adapters_send_by_default(void **state)
{
    struct traffic t = bind_well("traffic uniform rate 1000");
    (void)state;
    assert_int_equal(t.senders.count, 7);
    assert_int_equal(t.receivers.count, 7);
    assert_int_equal(t.arrival, ARRIVAL_POISSON);
    assert_int_equal(t.sizes[0].payload_bytes, 4096);
    assert_int_equal(t.retries, 0);
    traffic_release(&t);
    t = bind_well("traffic ring arrivals saturated sl random retry 2ms");
    assert_int_equal(t.sl, TRAFFIC_RANDOM_SL);
    assert_int_equal(t.retries, 7);
    traffic_release(&t);
}

static void a_packet_without_a_size_is_as_large_as_the_smallest_mtu(void **state)
{
    static const struct {
        const char *key, *value;
        uint32_t payload;
    } cases[] = {{"mtu", "2048", 2048}, {"mtu", "256", 256}, {"S1:mtu", "1024", 1024}};
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct traffic t;
        struct err err = {0};
        int status = bind("traffic uniform load 0.5", cases[i].key, cases[i].value, &t, &err);
        assert_int_equal(status, 0);
        assert_int_equal(t.sizes[0].payload_bytes, cases[i].payload);
        assert_int_equal(t.interval_ps, (cases[i].payload + 26) * 2000);
        traffic_release(&t);
    }
}

/* 4X SDR carries 8 Gb/s; 256 bytes of payload are 282 on the wire. */
static void a_load_is_a_share_of_the_link(void **state)
{
    struct traffic t = bind_well("traffic uniform load 0.5 size 256");
    (void)state;
    assert_int_equal(t.interval_ps, 564000);
    traffic_release(&t);
    t = bind_well("traffic uniform load 50% sizes 256,512:3");
    assert_int_equal(t.interval_ps, 2 * (282 + 3 * 538) * 1000 / 4);
    traffic_release(&t);
}

static void wrong_traffic_is_refused_with_line_and_column(void **state)
{
    (void)state;
    assert_refused("traffic", "x.weft:1:8: the line ends here: expected uniform, bit-reversal");
    assert_refused("traffic unifrom", "x.weft:1:9: 'unifrom' is not a traffic pattern: expected "
                                      "uniform, bit-reversal, transpose, shuffle, hot-spot, "
                                      "all-to-all, shift, ring, gather, trace, "
                                      "permutation or matrix; did you mean 'uniform'?");
    assert_refused("traffic uniform raet 5",
                   "x.weft:1:17: 'raet' is not a setting of traffic; did you mean 'rate'?");
    assert_refused("traffic uniform rate", "x.weft:1:21: the line ends here: expected a value");
    assert_refused("traffic uniform rate 0",
                   "x.weft:1:22: '0': expected packets per second above 0");
    assert_refused("traffic uniform rate -5", "x.weft:1:22: '-5': expected packets");
    assert_refused("traffic uniform rate nan", "x.weft:1:22: 'nan': expected packets");
    assert_refused("traffic uniform rate 1 rate 2", "x.weft:1:24: 'rate' is given twice");
    assert_refused("traffic uniform rate 1 load 2", "x.weft:1:24: either a rate or a load");
    assert_refused("traffic uniform load 50",
                   "x.weft:1:22: '50': 1 is the full rate of the link; did you mean '50%'?");
    assert_refused("traffic uniform load 101", "x.weft:1:22: '101': expected a share");
    assert_refused("traffic uniform size 5000", "x.weft:1:22: '5000': expected a payload in bytes");
    assert_refused("traffic uniform sizes 256:,1", "x.weft:1:23: '256:,1': expected sizes");
    assert_refused("traffic uniform sizes 1,2,3,4,5,6,7,8,9", "x.weft:1:23: more than 8 sizes");
    assert_refused("traffic uniform sl 16", "x.weft:1:20: '16': expected 'random', or");
    assert_refused("traffic uniform arrivals poison",
                   "x.weft:1:26: 'poison' is not an arrival process: expected poisson,");
    assert_refused("traffic uniform share 20", "x.weft:1:23: '20' is not a percentage");
    assert_refused("traffic uniform limit 0", "x.weft:1:23: '0': expected a rate in Gbit/s");
    assert_refused("traffic uniform limit 1GB/s",
                   "x.weft:1:23: '1GB/s': expected a rate in Gbit/s");
    assert_refused("traffic uniform among some", "x.weft:1:23: 'some' is not a set of receivers");
    assert_refused("traffic uniform stopped now",
                   "x.weft:1:25: unexpected 'now' at the end of the line");
    assert_refused("traffic trace", "x.weft:1:14: the line ends here: expected a file");
}

static void traffic_that_does_not_fit_the_fabric_is_refused(void **state)
{
    (void)state;
    assert_unbound("traffic uniform", "x.weft:1:1: no rate: ");
    assert_unbound("traffic uniform rate 5 from X*",
                   "x.weft:1:29: no adapter with a cable matches 'X*'");
    assert_unbound("traffic gather rate 5", "x.weft:1:1: gather traffic needs 'hot NODE'");
    assert_unbound("traffic gather rate 5 hot H8",
                   "x.weft:1:27: 'H8' is not a node of this fabric");
    assert_unbound("traffic gather rate 5 hot S1", "x.weft:1:27: 'S1' is none of the receivers");
    assert_unbound("traffic ring rate 5 from H4",
                   "x.weft:1:1: ring traffic needs the same senders");
    assert_unbound("traffic uniform rate 5 size 4096",
                   "x.weft:1:1: packets of 4096 bytes are larger than the MTU of 2048 at 'S");
    assert_unbound_with("traffic uniform rate 5 size 1024", "S2:buffer", "1024",
                        "x.weft:1:1: packets of 1024 bytes and their headers do not fit into the "
                        "buffers of 1024 bytes at 'S");
    assert_unbound("traffic trace nothing.txt", "x.weft:1:15: ./nothing.txt: No such file");
    static const char *const files[][2] = {
        {"", "there is no pair in this file"},
        {"H4 H77 1\n", "'H77' is not a node of this fabric"},
        {"H4 S1 1\n", "'S1' is not a receiver of this traffic"},
        {"0 1000 1\n", "receivers, from 0 on"},
        {"H4 0x1 -1\n", "'0x1' is not a node"},
        {"0 1 -1\n", "'-1': expected a weight from 0 to 1000000"},
        {"0 0 1\n", "sender and receiver are the same port"},
        {"0 1 2\n0 1 3\n", "sender 0 has two lines for the same receiver"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct traffic traffic;
        struct err err = {0};
        FILE *file = fopen("weft-pairs.txt", "w");
        assert_non_null(file);
        fputs(files[i][0], file);
        fclose(file);
        assert_int_equal(
            bind("traffic matrix weft-pairs.txt rate 5", "mtu", "4096", &traffic, &err), -EINVAL);
        if (!strstr(err.message, files[i][1]))
            fail_msg("'%s' is refused with: %s", files[i][0], err.message);
    }
    unlink("weft-pairs.txt");
    assert_unbound("traffic uniform rate 5 start 2s stop 1s",
                   "x.weft:1:1: traffic stops before it starts");
}

/* ---- measuring ---- */

static const struct collection *collect(struct scenario *scenario, const char *text)
{
    *scenario = read_scenario(text);
    return scenario->statements.items[0].collections;
}

static void collect_statements_have_measure_place_and_form(void **state)
{
    struct scenario scenario;
    const struct collection *c = collect(
        &scenario, "collect latency of H3:1 as percentile 99.9 from 1s to 2s called tail\n");
    (void)state;
    assert_int_equal(c->what, MEASURE_LATENCY);
    assert_int_equal(c->how, COLLECT_PERCENTILE);
    assert_true(fabs(c->percent - 99.9) < 1e-9);
    assert_int_equal(c->from.ps, TIME_S);
    assert_int_equal(c->to.ps, 2 * TIME_S);
    assert_string_equal(c->name, "tail");
    scenario_release(&scenario);
    c = collect(&scenario, "collect lost.no-route as buckets 5ms\n");
    assert_int_equal(c->what, MEASURE_LOST);
    assert_int_equal(c->every, 5 * TIME_MS);
    assert_string_equal(c->name, "lost.no-route");
    scenario_release(&scenario);
    c = collect(&scenario, "collect smps.set as total\n");
    assert_int_equal(c->part, METHOD_SET);
    assert_int_equal(c->every, 0);
    assert_string_equal(c->name, "smps.set.total");
    scenario_release(&scenario);
    c = collect(&scenario, "collect input of S1 as max\n");
    assert_int_equal(c->every, 100 * TIME_US); /* default of the sampling interval */
    assert_string_equal(c->name, "input.S1.max");
    scenario_release(&scenario);
}

static void one_line_samples_several_measures(void **state)
{
    struct scenario scenario =
        read_scenario("every 10us sample open input of S1:2:0 credits of S1 smps\n");
    const struct statement *statement = &scenario.statements.items[0];
    (void)state;
    assert_int_equal(statement->collection_count, 4);
    assert_int_equal(statement->collections[1].what, MEASURE_INPUT);
    assert_string_equal(statement->collections[1].place_word.text, "S1:2:0");
    assert_string_equal(statement->collections[2].name, "credits.S1");
    assert_null(statement->collections[3].place_word.text);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(statement->collections[i].how, COLLECT_SAMPLES);
        assert_int_equal(statement->collections[i].every, 10 * TIME_US);
    }
    scenario_release(&scenario);
}

static void wrong_measures_are_refused_with_line_and_column(void **state)
{
    (void)state;
    assert_refused("measure 1s", "x.weft:1:9: '1s': expected from");
    assert_refused("measure from 2s to 1s", "x.weft:1:20: the window ends before it begins");
    assert_refused("measure from 2s until 3s", "x.weft:1:17: 'until': expected to");
    assert_refused("collect latenzy as mean",
                   "x.weft:1:9: 'latenzy' is not a measure; did you mean 'latency'?");
    assert_refused("collect latency mean", "x.weft:1:17: 'mean': expected as");
    assert_refused("collect latency as median", "x.weft:1:20: 'median' is not a way to keep it");
    assert_refused("collect latency as samples",
                   "x.weft:1:27: the line ends here: expected a time");
    assert_refused("collect latency as percentile 101",
                   "x.weft:1:31: '101': expected a percentage");
    assert_refused("collect latency as total", "x.weft:1:20: 'latency' does not count anything");
    assert_refused("collect input as all", "x.weft:1:18: 'input' has to be sampled");
    assert_refused("collect latency as mean every 1ms", "x.weft:1:25: 'every' is for single");
    assert_refused("collect latency as mean nmae x", "x.weft:1:25: 'nmae' is not an option");
    assert_refused("every 5ms sample", "x.weft:1:17: the line ends here: expected what to measure");
    assert_refused("every 5ms smaple open", "x.weft:1:11: 'smaple': expected sample");
    assert_refused("on deadlock explode", "x.weft:1:13: 'explode' is not a thing to do then");
    assert_refused("stop traffic", "x.weft:1:13: the line ends here: expected a traffic's number");
    assert_refused("stop trafic 1", "x.weft:1:6: 'trafic' is not a word after 'stop'");
}

static void figures_are_compared_in_their_unit(void **state)
{
    struct scenario scenario = read_scenario("check latency <= 2.5us\ncheck accepted >= 1.2M\n"
                                             "check lost.no-route = 0\ncheck x.y == 99%\n");
    const struct statement *s = scenario.statements.items;
    (void)state;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(s[i].check.kind, CHECK_STATEMENT_FIGURE);
    assert_string_equal(s[0].check.text, "latency.mean");
    assert_string_equal(s[0].check.unit, "s");
    assert_true(check_statement_compare_figure(&s[0].check, 2.5e-6));
    assert_true(check_statement_compare_figure(&s[0].check, 2.4e-6));
    assert_false(check_statement_compare_figure(&s[0].check, 2.6e-6));
    assert_false(check_statement_compare_figure(&s[0].check, NAN));
    assert_true(check_statement_compare_figure(&s[1].check, 1.2e6));
    assert_false(check_statement_compare_figure(&s[1].check, 1.19e6));
    assert_true(check_statement_compare_figure(&s[2].check, 0));
    assert_false(check_statement_compare_figure(&s[2].check, 1));
    assert_true(check_statement_compare_figure(&s[3].check, 0.99));
    scenario_release(&scenario);
    assert_refused("check latency <= 5parsecs", "x.weft:1:18: '5parsecs': expected a number such");
    assert_refused("check latency <=", "x.weft:1:17: the line ends here: expected a number");
    assert_refused("check no-loss-of anybody",
                   "x.weft:1:18: 'anybody' is not a group: expected unaffected or others");
    assert_refused("check conservd",
                   "x.weft:1:7: 'conservd' is not a check; did you mean 'conserved'?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_traffic_key_is_parsed),
        cmocka_unit_test(all_adapters_send_by_default),
        cmocka_unit_test(a_packet_without_a_size_is_as_large_as_the_smallest_mtu),
        cmocka_unit_test(a_load_is_a_share_of_the_link),
        cmocka_unit_test(wrong_traffic_is_refused_with_line_and_column),
        cmocka_unit_test(traffic_that_does_not_fit_the_fabric_is_refused),
        cmocka_unit_test(collect_statements_have_measure_place_and_form),
        cmocka_unit_test(one_line_samples_several_measures),
        cmocka_unit_test(wrong_measures_are_refused_with_line_and_column),
        cmocka_unit_test(figures_are_compared_in_their_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
