/* What a connection costs: go-back-N under loss against its closed form, and memory. */
#include "effort.h"
#include "toy.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MTU = 1024, MESSAGE_PACKETS = 64 };

static struct toy toy;
static struct toy_end ends[2];

/* A stream of packets of one slot each. A lost packet is refused when the next one arrives that is
 * not lost: after 1/(1-p) slots on the average, and a round trip, until the end of the slot that
 * the sender is in. If the packet is lost again, nothing is refused any more, and the sender waits
 * for its time-out, each time that this happens. With slot s, round trip r (in whole slots) and
 * time-out T
 *
 *   resent = s + p T / (1 - p)
 *   mean   = (1 - p) s + p (s / (1 - p) + r + resent)
 *
 * is the mean time from a packet to the next one. */
static double mean_time(double p, double slot, double round_trip, double timeout)
{
    double resent = slot + p * timeout / (1 - p);
    return (1 - p) * slot + p * (slot / (1 - p) + round_trip + resent);
}

static uint64_t stream(double p, unsigned messages)
{
    struct transport_config config;
    struct toy_pair pair = toy_pair_default;
    transport_config_init(&config);
    config.packets_per_acknowledge = 16;
    pair.timeout = 3;
    pair.region_bytes = MTU * MESSAGE_PACKETS;
    toy_init(&toy, 2, &config, 7);
    toy.traces = false;
    toy.loss = (uint64_t)(p * (double)RNG_CERTAIN);
    toy.lose_requests_only = true;
    toy_connect(&toy, ends, &pair);
    unsigned posted = 0, done = 0;
    while (done < messages) {
        while (posted < messages && posted - done < pair.requests) {
            toy_send(&toy, &ends[0], WORK_WRITE, posted++, 0, MTU * MESSAGE_PACKETS, 0, &ends[1]);
        }
        toy_run(&toy, posted == messages ? TIME_NEVER : toy.now + 100 * TIME_US);
        for (struct transport_completion got; (got = toy_poll(&toy, &ends[0])).status != 255;) {
            assert_int_equal(got.status, STATUS_SUCCESS);
            done++;
        }
    }
    uint64_t time = toy.now;
    toy_release(&toy);
    toy_end_release(&ends[0]);
    toy_end_release(&ends[1]);
    return time;
}

static void go_back_n_has_the_efficiency_of_its_closed_form(void **state)
{
    (void)state;
    static const double losses[] = {0, 0.001, 0.01, 0.03, 0.1, 0.2};
    for (unsigned i = 0; i < sizeof losses / sizeof *losses; i++) {
        /* In a longer run a packet is lost eight times in a row, which ends the connection. */
        unsigned messages = (unsigned)effort(losses[i] < 0.1 ? 20000 : 4000, 4000, 1500);
        double packets = (double)messages * MESSAGE_PACKETS;
        uint64_t slot = (MTU + 26) * UINT64_C(80), acknowledgement = 30 * 80;
        uint64_t way = slot + 2 * TIME_US + acknowledgement;
        uint64_t round_trip = (way + slot - 1) / slot * slot;
        double expected =
            mean_time(losses[i], (double)slot, (double)round_trip, (double)transport_timeout_ps(3));
        double measured = (double)stream(losses[i], messages) / packets;
        print_message("loss %.3f: efficiency %.4f, closed form %.4f (%+.2f %%)\n", losses[i],
                      (double)slot / measured, (double)slot / expected,
                      (expected / measured - 1) * 100);
        assert_true(measured < expected * 1.02 && measured > expected / 1.02);
    }
}

static void an_idle_connection_costs_at_most_512_bytes(void **state)
{
    (void)state;
    enum { COUNT = 8192 }; /* a power of two: the array of QPs has no room to spare */
    struct transport_config config;
    struct toy_pair pair = toy_pair_default;
    transport_config_init(&config);
    toy_init(&toy, 2, &config, 1);
    toy_connect(&toy, ends, &pair);
    struct transport_qp_init init = {.service = TRANSPORT_RC,
                                     .domain = ends[0].domain,
                                     .send_cq = ends[0].cq,
                                     .receive_cq = ends[0].cq,
                                     .srq = TRANSPORT_NONE,
                                     .sends = 1000,
                                     .receives = 1000};
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (unsigned i = 1; i < COUNT; i++) {
        struct toy_end end = ends[0];
        assert_int_equal(transport_add_qp(toy.adapters[0], &init, &end.qp), 0);
        toy_bring(&toy, &end, &ends[1], &pair, 0, STATE_RTS);
    }
    size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    print_message("%zu bytes a connection\n", (after - before) / COUNT);
#ifndef __SANITIZE_ADDRESS__ /* it has an allocator of its own */
    assert_true(after > before && (after - before) / COUNT <= 512);
#endif
    toy_release(&toy);
    toy_end_release(&ends[0]);
    toy_end_release(&ends[1]);
}

/* Requests, completions and timers reuse what the first ones took. */
static void steady_traffic_allocates_nothing(void **state)
{
    (void)state;
    struct transport_config config;
    struct transport_packet packet;
    transport_config_init(&config);
    toy_init(&toy, 2, &config, 1);
    toy.traces = false;
    toy_connect(&toy, ends, &toy_pair_default);
    size_t before = 0;
    for (unsigned round = 0; round < 200; round++) {
        toy_receive(&toy, &ends[1], round, 0, 5000);
        toy_send(&toy, &ends[0], WORK_SEND, round, 0, 5000, 0, NULL);
        toy_send(&toy, &ends[0], WORK_READ, round, 0, 3000, 0, &ends[1]);
        for (bool more = true; more;) {
            more = false;
            for (unsigned i = 0; i < 2; i++)
                while (transport_next_packet(toy.adapters[i], 0, 1, 0xFFFF, &packet)) {
                    transport_receive(toy.adapters[!i], 0, 1, &packet);
                    more = true;
                }
        }
        for (unsigned i = 0; i < 2; i++)
            while (toy_poll(&toy, &ends[i]).status == STATUS_SUCCESS)
                ;
        if (round == 10)
            before = mallinfo2().uordblks;
    }
    assert_int_equal(mallinfo2().uordblks, before);
    toy_release(&toy);
    toy_end_release(&ends[0]);
    toy_end_release(&ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(go_back_n_has_the_efficiency_of_its_closed_form),
        cmocka_unit_test(an_idle_connection_costs_at_most_512_bytes),
        cmocka_unit_test(steady_traffic_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
