/* Connections over the data plane: zero-load times against calculations by hand, link failures,
 * determinism.
 *
 * 4X SDR carries a byte in 1 ns, a cable takes 100 ns, a look-up 100 ns: a switch adds 20 bytes of
 * header, a cable and a look-up. Headers: LRH 8, BTH 12, ICRC 4, VCRC 2; RETH 16; AETH 4. */
#include "talk.h"

#include <errno.h>

enum { OVERHEAD = 26, RETH = 16, AETH = 4, ACKNOWLEDGEMENT = OVERHEAD + AETH, MTU = 4096 };
enum { IMMEDIATE = 4, ATOMIC = 28, ATOMIC_ACKNOWLEDGE = 8, ATOMIC_BYTES = 8 };
static const uint64_t byte_ps = TIME_NS, flight_ps = 100 * TIME_NS;
static const uint64_t switch_ps = (20 + 100 + 100) * TIME_NS;

static void begin(struct talk *talk, const char *fabric)
{
    *talk = (struct talk){.config = default_config()};
    talk_open(talk, fabric, "S0");
}

static struct connection_config between(const struct talk *talk, const char *from, const char *to,
                                        unsigned operation)
{
    return (struct connection_config){.from = host(&talk->world, from),
                                      .to = host(&talk->world, to),
                                      .service = TRANSPORT_RC,
                                      .operation = (uint8_t)operation,
                                      .message_bytes = 1,
                                      .messages = 1,
                                      .outstanding = 1,
                                      .timeout = 14,
                                      .retry = 7};
}

/* ---- times by hand ---- */

static const char *const chains[] = {"mesh dims=1 hosts=2", "mesh dims=2", "mesh dims=3"};
static const char *const last_hosts[] = {"H1", "H1", "H2"};

static uint64_t one_way(unsigned switches)
{
    return switches * switch_ps + flight_ps;
}

static uint64_t latency_by_hand(unsigned operation, unsigned switches, uint32_t bytes)
{
    uint64_t packets = (bytes + MTU - 1) / MTU, padded = (bytes + 3) / 4 * 4;
    uint64_t data = padded + packets * OVERHEAD;
    uint64_t sum = 2 * one_way(switches);
    switch (operation) {
    case CONNECTION_SEND: return sum + (data + ACKNOWLEDGEMENT) * byte_ps;
    case CONNECTION_WRITE: return sum + (data + RETH + ACKNOWLEDGEMENT) * byte_ps;
    case CONNECTION_SEND_IMMEDIATE: return sum + (data + IMMEDIATE + ACKNOWLEDGEMENT) * byte_ps;
    case CONNECTION_WRITE_IMMEDIATE:
        return sum + (data + RETH + IMMEDIATE + ACKNOWLEDGEMENT) * byte_ps;
    case CONNECTION_COMPARE_SWAP:
    case CONNECTION_FETCH_ADD: /* a packet each way, without payload */
        return sum + (2 * OVERHEAD + ATOMIC + AETH + ATOMIC_ACKNOWLEDGE) * byte_ps;
    default: /* AETH in the first and the last response, which can be one */
        return sum + (OVERHEAD + RETH + data + (packets > 1 ? 2 : 1) * AETH) * byte_ps;
    }
}

static bool is_atomic(unsigned operation)
{
    return operation >= CONNECTION_COMPARE_SWAP;
}

static void zero_load_latencies_equal_the_calculation_by_hand(void **state)
{
    static const uint32_t sizes[] = {1, 64, 1000, 4096, 4097, 20000};
    (void)state;
    for (unsigned switches = 1; switches <= 3; switches++)
        for (unsigned operation = CONNECTION_SEND; operation < CONNECTION_OPERATIONS; operation++)
            for (unsigned i = 0; i < (is_atomic(operation) ? 1 : sizeof sizes / sizeof sizes[0]);
                 i++) {
                struct talk talk;
                begin(&talk, chains[switches - 1]);
                struct connection_config config =
                    between(&talk, "H0", last_hosts[switches - 1], operation);
                config.message_bytes = is_atomic(operation) ? ATOMIC_BYTES : sizes[i];
                config.messages = 2;
                talk_add(&talk, &config);
                run_for(&talk.world, TIME_MS);
                assert_int_equal(talk.completed, 2);
                assert_int_equal(talk.latencies[0], latency_by_hand(operation, switches, sizes[i]));
                assert_int_equal(talk.latencies[1], talk.latencies[0]);
                assert_int_equal(talk_view(&talk, 0).resent_packets, 0);
                talk_close(&talk);
            }
}

/* With enough messages outstanding the link is never idle: a message takes its bytes. */
static void throughput_equals_the_calculation_by_hand(void **state)
{
    static const uint64_t headers[] = {[CONNECTION_SEND] = OVERHEAD,
                                       [CONNECTION_WRITE] = OVERHEAD + RETH,
                                       [CONNECTION_READ] = OVERHEAD + AETH,
                                       [CONNECTION_SEND_IMMEDIATE] = OVERHEAD + IMMEDIATE,
                                       [CONNECTION_WRITE_IMMEDIATE] = OVERHEAD + RETH + IMMEDIATE,
                                       [CONNECTION_COMPARE_SWAP] = OVERHEAD + ATOMIC,
                                       [CONNECTION_FETCH_ADD] = OVERHEAD + ATOMIC};
    (void)state;
    for (unsigned switches = 1; switches <= 3; switches++)
        for (unsigned operation = CONNECTION_SEND; operation < CONNECTION_OPERATIONS; operation++) {
            struct talk talk;
            uint64_t payload = is_atomic(operation) ? 0 : MTU;
            begin(&talk, chains[switches - 1]);
            struct connection_config config =
                between(&talk, "H0", last_hosts[switches - 1], operation);
            config.message_bytes = is_atomic(operation) ? ATOMIC_BYTES : MTU;
            config.messages = 12;
            config.outstanding = 16;
            talk_add(&talk, &config);
            run_for(&talk.world, TIME_MS);
            assert_int_equal(talk.completed, 12);
            for (unsigned i = 1; i < 12; i++)
                assert_int_equal(talk.times[i] - talk.times[i - 1],
                                 (payload + headers[operation]) * byte_ps);
            talk_close(&talk);
        }
}

/* Messages of UC and UD carry their number as immediate data, whatever the operation. */
static const struct unreliable {
    uint8_t service, operation;
    uint64_t headers; /* of a message, beside those of each packet */
} unreliable[] = {{TRANSPORT_UC, CONNECTION_SEND, IMMEDIATE},
                  {TRANSPORT_UC, CONNECTION_WRITE, RETH + IMMEDIATE},
                  {TRANSPORT_UC, CONNECTION_SEND_IMMEDIATE, IMMEDIATE},
                  {TRANSPORT_UC, CONNECTION_WRITE_IMMEDIATE, RETH + IMMEDIATE},
                  {TRANSPORT_UD, CONNECTION_SEND, 8 + IMMEDIATE}}; /* DETH 8 */
enum { UNRELIABLE = sizeof unreliable / sizeof *unreliable };

/* Messages over `switches` switches: the latency of the first, and the time between later ones. */
static void send_unreliably(const struct unreliable *row, unsigned switches, uint32_t bytes,
                            uint32_t messages)
{
    struct talk talk;
    uint64_t packets = (bytes + MTU - 1) / MTU, padded = (bytes + 3) / 4 * 4;
    uint64_t wire_ps = (padded + packets * OVERHEAD + row->headers) * byte_ps;
    begin(&talk, chains[switches - 1]);
    struct connection_config config =
        between(&talk, "H0", last_hosts[switches - 1], row->operation);
    config.service = row->service;
    config.message_bytes = bytes;
    config.messages = messages;
    config.outstanding = messages;
    talk_add(&talk, &config);
    run_for(&talk.world, TIME_MS);
    assert_int_equal(talk.completed, messages);
    assert_int_equal(talk.latencies[0], one_way(switches) + wire_ps);
    for (uint32_t i = 1; i < messages; i++) { /* all are posted at once */
        assert_int_equal(talk.times[i] - talk.times[i - 1], wire_ps);
        assert_int_equal(talk.latencies[i], talk.latencies[0] + i * wire_ps);
    }
    struct connection_view view = talk_view(&talk, 0);
    assert_int_equal(view.lost, 0);
    assert_int_equal(view.completed_bytes, (uint64_t)messages * bytes);
    talk_close(&talk);
}

static void unreliable_services_deliver_without_acknowledgement(void **state)
{
    static const uint32_t sizes[] = {1, 999, 1000, 4096, 4097, 20000};
    (void)state;
    for (unsigned switches = 1; switches <= 3; switches++)
        for (unsigned row = 0; row < UNRELIABLE; row++)
            for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
                if (unreliable[row].service != TRANSPORT_UD || sizes[i] <= MTU)
                    send_unreliably(&unreliable[row], switches, sizes[i], 10);
}

/* ---- failures ---- */

static uint32_t cable_between(const struct talk *talk, const char *from, const char *to)
{
    const struct topology *topology = &talk->world.topology;
    uint32_t a = topology_find(topology, from), b = topology_find(topology, to);
    const struct topology_node *node = &topology->nodes.items[a];
    for (uint32_t port = node->first_port + 1; port <= node->first_port + node->port_count; port++)
        if (topology->ports.items[port].peer != TOPOLOGY_NONE &&
            topology->ports.items[topology->ports.items[port].peer].node == b)
            return port;
    fail_msg("no cable between %s and %s", from, to);
    return 0;
}

static void set_link(struct talk *talk, uint32_t port, bool up)
{
    struct err err = {0};
    assert_int_equal(fabric_set_link(talk->world.fabric, port, up, &err), 0);
}

static uint64_t timeout_ps(unsigned exponent)
{
    return 4096 * TIME_NS << exponent;
}

static void talk_without_end(struct talk *talk, uint32_t bytes, uint32_t outstanding,
                             unsigned timeout, unsigned retry, unsigned operation)
{
    struct connection_config config = between(talk, "H0", "H1", operation);
    config.message_bytes = bytes;
    config.messages = TIME_NEVER;
    config.outstanding = outstanding;
    config.timeout = (uint8_t)timeout;
    config.retry = (uint8_t)retry;
    talk_add(talk, &config);
    run_for(&talk->world, TIME_MS);
    assert_true(talk->completed > 5);
}

static void saturate(struct talk *talk, unsigned timeout, unsigned retry, unsigned operation)
{
    talk_without_end(talk, 65536, 4, timeout, retry, operation);
}

static void a_connection_survives_a_repaired_link_after_one_time_out(void **state)
{
    (void)state;
    for (unsigned operation = CONNECTION_SEND; operation <= CONNECTION_READ; operation++) {
        struct talk talk;
        begin(&talk, "ring switches=4");
        talk_without_end(&talk, 1000, 1, 14, 7, operation);
        set_link(&talk, cable_between(&talk, "S0", "S1"), false);
        run_for(&talk.world, 60 * TIME_MS); /* the manager has repaired, the time-out runs */
        uint64_t before = talk.completed;
        run_for(&talk.world, 40 * TIME_MS);
        struct connection_view view = talk_view(&talk, 0);
        assert_false(view.broken);
        assert_true(connection_stood_still(&view));
        assert_int_equal(view.timeouts, 1);
        assert_in_range(view.longest_ps, timeout_ps(14), timeout_ps(14) + TIME_MS / 10);
        assert_true(talk.completed > before + 100);
        assert_int_equal(talk.completed, view.completed);
        talk_close(&talk);
    }
}

/* What follows a lost packet shows the responder that it is missing, once the path is repaired. */
static void a_saturated_connection_learns_of_losses_by_a_nak(void **state)
{
    (void)state;
    struct talk talk;
    begin(&talk, "ring switches=4");
    saturate(&talk, 14, 7, CONNECTION_WRITE);
    set_link(&talk, cable_between(&talk, "S0", "S1"), false);
    run_for(&talk.world, 60 * TIME_MS);
    struct connection_view view = talk_view(&talk, 0);
    assert_true(view.sequence_naks > 0 && view.resent_packets > 0);
    assert_int_equal(view.timeouts, 0);
    assert_in_range(view.longest_ps, TIME_US, TIME_MS);
    talk_close(&talk);
}

static void a_connection_breaks_if_nobody_repairs_its_path(void **state)
{
    (void)state;
    struct talk talk;
    begin(&talk, "ring switches=4");
    saturate(&talk, 10, 2, CONNECTION_WRITE);
    sim_kill_manager(talk.world.sim, talk.manager);
    set_link(&talk, cable_between(&talk, "S0", "S1"), false);
    run_for(&talk.world, 100 * TIME_MS);
    struct connection_view view = talk_view(&talk, 0);
    assert_true(view.broken);
    assert_int_equal(view.status, STATUS_RETRY_EXCEEDED);
    assert_int_equal(view.timeouts, 3);
    assert_in_range(view.longest_ps, 3 * timeout_ps(10), 3 * timeout_ps(10) + TIME_MS / 10);
    uint64_t completed = view.completed;
    run_for(&talk.world, 10 * TIME_MS);
    assert_int_equal(talk_view(&talk, 0).completed, completed);
    talk_close(&talk);
}

/* The link of the requester's own adapter comes back, and the manager opens the port a second
 * later: the connection goes on by itself. */
static void a_connection_survives_the_link_of_its_adapter(void **state)
{
    (void)state;
    struct talk talk;
    begin(&talk, "ring switches=4");
    saturate(&talk, 16, 7, CONNECTION_WRITE);
    set_link(&talk, host(&talk.world, "H0"), false);
    run_for(&talk.world, 50 * TIME_MS);
    uint64_t before = talk.completed;
    set_link(&talk, host(&talk.world, "H0"), true);
    run_for(&talk.world, 2 * TIME_S);
    struct connection_view view = talk_view(&talk, 0);
    assert_false(view.broken);
    assert_true(talk.completed > before + 1000);
    assert_true(view.timeouts >= 3);
    assert_in_range(view.longest_ps, TIME_S, 6 * timeout_ps(16));
    talk_close(&talk);
}

/* A port that is down discards packets: the requester of a host without a link gives up. */
static void a_connection_without_a_link_breaks(void **state)
{
    (void)state;
    struct talk talk;
    begin(&talk, "ring switches=4");
    saturate(&talk, 10, 7, CONNECTION_SEND);
    set_link(&talk, host(&talk.world, "H0"), false);
    run_for(&talk.world, 100 * TIME_MS);
    struct connection_view view = talk_view(&talk, 0);
    assert_true(view.broken);
    assert_int_equal(view.status, STATUS_RETRY_EXCEEDED);
    assert_int_equal(view.timeouts, 8);
    talk_close(&talk);
}

static void unreliable_messages_are_lost_with_their_link(void **state)
{
    (void)state;
    struct talk talk;
    begin(&talk, "ring switches=4");
    struct connection_config config = between(&talk, "H0", "H1", CONNECTION_SEND);
    config.service = TRANSPORT_UC;
    config.message_bytes = 10000;
    config.messages = TIME_NEVER;
    config.outstanding = 2;
    talk_add(&talk, &config);
    run_for(&talk.world, TIME_MS);
    set_link(&talk, cable_between(&talk, "S0", "S1"), false);
    run_for(&talk.world, 100 * TIME_MS);
    struct connection_view view = talk_view(&talk, 0);
    assert_true(view.lost > 0 && !view.broken);
    assert_in_range(view.longest_ps, TIME_US, 60 * TIME_MS);
    assert_true(view.completed > view.lost);
    talk_close(&talk);
}

static uint64_t hash_of_a_run(void)
{
    struct talk talk;
    begin(&talk, "ring switches=4");
    talk_without_end(&talk, 3000, 1, 12, 7, CONNECTION_WRITE);
    struct connection_config config = between(&talk, "H2", "H0", CONNECTION_READ);
    config.message_bytes = 30000;
    config.messages = TIME_NEVER;
    config.outstanding = 16;
    talk_add(&talk, &config);
    set_link(&talk, cable_between(&talk, "S0", "S1"), false);
    run_for(&talk.world, 50 * TIME_MS);
    assert_true(talk_view(&talk, 0).timeouts > 0);
    uint64_t hash = fabric_trace_hash(talk.world.fabric);
    talk_close(&talk);
    return hash;
}

static void the_same_run_has_the_same_trace(void **state)
{
    (void)state;
    assert_int_equal(hash_of_a_run(), hash_of_a_run());
}

static void contradictions_are_refused(void **state)
{
    struct talk talk;
    struct err err = {0};
    (void)state;
    begin(&talk, "mesh dims=2");
    struct connection_config config = between(&talk, "H0", "H0", CONNECTION_SEND);
    assert_int_equal(sim_connections_add(talk.connections, &config, &err), -EINVAL);
    config = between(&talk, "H0", "H1", CONNECTION_READ);
    config.service = TRANSPORT_UC;
    assert_int_equal(sim_connections_add(talk.connections, &config, &err), -EINVAL);
    config.service = TRANSPORT_UD;
    config.operation = CONNECTION_SEND;
    config.message_bytes = 4097;
    assert_int_equal(sim_connections_add(talk.connections, &config, &err), -EINVAL);
    assert_int_equal(sim_connections_count(talk.connections), 0);
    talk_close(&talk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_load_latencies_equal_the_calculation_by_hand),
        cmocka_unit_test(throughput_equals_the_calculation_by_hand),
        cmocka_unit_test(unreliable_services_deliver_without_acknowledgement),
        cmocka_unit_test(a_connection_survives_a_repaired_link_after_one_time_out),
        cmocka_unit_test(a_connection_breaks_if_nobody_repairs_its_path),
        cmocka_unit_test(a_connection_survives_the_link_of_its_adapter),
        cmocka_unit_test(a_connection_without_a_link_breaks),
        cmocka_unit_test(a_saturated_connection_learns_of_losses_by_a_nak),
        cmocka_unit_test(unreliable_messages_are_lost_with_their_link),
        cmocka_unit_test(the_same_run_has_the_same_trace),
        cmocka_unit_test(contradictions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
