/* Services of senders: reliable delivery, rate limits, multicast; and reproducible runs without
 * idle events. */
#include "data_fixture.h"

#include "fabric/internal.h"

#include <errno.h>

static const uint64_t byte_ps = 4 * TIME_NS;

static void begin_star(struct net *net, unsigned hosts)
{
    net_star(net, hosts);
    net_begin(net, 5);
    net_route_shortest(net);
    net_bring_up(net);
}

static struct traffic reliable(const struct net *net, uint64_t retry_ps, unsigned retries)
{
    struct traffic traffic = net_traffic(net);
    net_member(&traffic, net_port(net, 1, 1), net_port(net, 2, 1));
    traffic.arrival = ARRIVAL_CONSTANT;
    traffic.interval_ps = 10 * TIME_US;
    traffic.retry_ps = retry_ps;
    traffic.retries = retries;
    return traffic;
}

/* ---- reliable ---- */

static void lost_reliable_packets_arrive_late(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    begin_star(&net, 2);
    struct traffic traffic = reliable(&net, 500 * TIME_US, 7);
    net_start(&net, &traffic);
    net.recording = true;
    net_run(&net, TIME_MS);
    net_set_port(&net, 0, 2, PORT_INFO_PORT_STATE, PORT_STATE_INIT);
    net_run(&net, TIME_MS);
    net_set_port(&net, 0, 2, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    net_drain(&net, 10 * TIME_MS);
    struct data_totals totals = net_totals(&net);
    assert_int_equal(net_lost(&net), 0);
    assert_int_equal(totals.delivered, totals.made);
    assert_int_equal(totals.entered, totals.made + totals.retried);
    assert_true(totals.retried > 100);
    /* Each packet once, and the late ones late by whole time-outs. */
    unsigned late = 0;
    for (size_t i = 0; i < net.deliveries.count; i++) {
        const struct net_end *end = &net.deliveries.items[i];
        assert_int_equal(end->packet.tries > 0, end->time - end->packet.made > 500 * TIME_US);
        assert_true(end->packet.tries <= 3);
        late += end->packet.tries > 0;
    }
    assert_true(late > 90 && late < 110);
    assert_int_equal(net.deliveries.count, totals.made);
    net_end(&net);
}

static void after_the_last_retry_a_packet_is_lost(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    begin_star(&net, 2);
    net_set_port(&net, 0, 2, PORT_INFO_PORT_STATE, PORT_STATE_INIT);
    struct traffic traffic = reliable(&net, 100 * TIME_US, 3);
    traffic.stop_ps = traffic.start_ps + 200 * TIME_US; /* twenty packets */
    net_start(&net, &traffic);
    net_run(&net, 250 * TIME_US);
    struct data_totals totals = net_totals(&net);
    assert_int_equal(totals.made, 20);
    assert_int_equal(net_lost(&net), 0);
    assert_int_equal(totals.waiting, 20);
    net_run(&net, TIME_MS);
    totals = net_totals(&net);
    assert_int_equal(totals.lost[LOSS_INACTIVE_PORT], 20);
    assert_int_equal(net.lost[LOSS_INACTIVE_PORT], 20); /* the observer receives each once */
    assert_int_equal(totals.retried, 60);
    assert_int_equal(totals.entered, 80);
    assert_int_equal(totals.waiting + totals.travelling, 0);
    net_end(&net);
}

/* The time-out counts from when the packet was sent, not from when it was lost. */
static void a_retry_comes_exactly_after_its_time_out(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    begin_star(&net, 2);
    net_route(&net, 0, net_port(&net, 2, 1), NET_NOWHERE);
    net_write_table(&net, 0);
    struct traffic traffic = net_traffic(&net);
    net_member(&traffic, net_port(&net, 1, 1), net_port(&net, 2, 1));
    traffic.pattern = PATTERN_TRACE;
    traffic.retry_ps = 100 * TIME_US;
    traffic.retries = 3;
    vec_push(&traffic.trace, ((struct traffic_trace_entry){.payload_bytes = 256}));
    uint64_t begin = net_now(&net);
    net_start(&net, &traffic);
    net_run(&net, 150 * TIME_US); /* twice in vain */
    net_route(&net, 0, net_port(&net, 2, 1), 2);
    net_write_table(&net, 0);
    net.recording = true;
    net_run(&net, TIME_MS);
    assert_int_equal(net.deliveries.count, 1);
    assert_int_equal(net.deliveries.items[0].packet.tries, 2);
    assert_int_equal(net.deliveries.items[0].time - begin,
                     200 * TIME_US + (20 + 282) * byte_ps + 300 * TIME_NS);
    assert_int_equal(net.deliveries.items[0].packet.made, begin);
    net_end(&net);
}

/* The counter of tries has eight bits; the number of retries may be larger. */
static void even_many_retries_come_to_an_end(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    begin_star(&net, 2);
    net_set_port(&net, 0, 2, PORT_INFO_PORT_STATE, PORT_STATE_INIT);
    struct traffic traffic = reliable(&net, TIME_US, 1000000);
    traffic.stop_ps = traffic.start_ps + 50 * TIME_US;
    net_start(&net, &traffic);
    net_run(&net, 60 * TIME_US);
    net_drain(&net, 10 * TIME_MS);
    assert_int_equal(net_totals(&net).lost[LOSS_INACTIVE_PORT], 5);
    net_end(&net);
}

/* Several reliable senders at one port, links that break, little room: nothing is forgotten. */
static void retries_of_several_senders_at_one_port_all_go_out(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net.options.training_ps = 20 * TIME_US;
    net.options.node.buffer_bytes = 512;
    begin_star(&net, 2);
    for (unsigned i = 0; i < 6; i++) {
        struct traffic traffic = reliable(&net, 15 * TIME_US, 200);
        traffic.interval_ps = 7 * TIME_US;
        traffic.sl = i % 2;
        net_start(&net, &traffic);
    }
    for (unsigned i = 0; i < 50; i++) {
        net_run(&net, 40 * TIME_US);
        fabric_flap_port(net.fabric, net_port(&net, 2, 1), NULL);
        net_run(&net, 30 * TIME_US);
        net_program(&net, 2);
        net_program(&net, 0);
    }
    net_drain(&net, 10 * TIME_MS);
    assert_int_equal(net_totals(&net).delivered, net_totals(&net).made);
    assert_true(net_totals(&net).retried > 100);
    net_end(&net);
}

/* ---- a limited rate ---- */

static void static_rate_control_is_exact(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    begin_star(&net, 2);
    struct traffic traffic = net_traffic(&net);
    net_member(&traffic, net_port(&net, 1, 1), net_port(&net, 2, 1));
    traffic.limit_ps_per_8_bytes = 100 * TIME_NS; /* 640 Mb/s */
    net_start(&net, &traffic);
    net.recording = true;
    net_run(&net, 10 * TIME_MS);
    for (size_t i = 1; i < net.deliveries.count; i++)
        assert_int_equal(net.deliveries.items[i].time - net.deliveries.items[i - 1].time,
                         282 * 100 * TIME_NS / 8);
    assert_int_equal(net.deliveries.count, 1 + 10 * TIME_MS / (282 * 100 * TIME_NS / 8));
    net_end(&net);
}

/* A limit above the offered rate has no effect. */
static void a_generous_limit_does_not_matter(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    begin_star(&net, 2);
    struct traffic traffic = net_traffic(&net);
    net_member(&traffic, net_port(&net, 1, 1), net_port(&net, 2, 1));
    traffic.limit_ps_per_8_bytes = 8 * byte_ps; /* the link's own */
    net_start(&net, &traffic);
    net_run(&net, 100 * TIME_US);
    net_forget(&net);
    uint64_t since = net_now(&net);
    net_run(&net, TIME_MS);
    assert_true(net_share(&net, net_port(&net, 2, 1), since) > 0.99);
    net_end(&net);
}

/* ---- hosts without a path ---- */

/* Host 4 of five has no path: uniform packets go to the others, with equal shares, and none is
 * without a path. With `among_all` a quarter is. */
static void uniform_traffic_goes_to_active_hosts(void **state)
{
    (void)state;
    for (unsigned all = 0; all < 2; all++) {
        struct net net;
        net_init(&net);
        begin_star(&net, 5);
        net.lids[net_port(&net, 4, 1)] = 0;
        struct traffic traffic = net_traffic(&net);
        for (uint32_t host = 1; host <= 5; host++)
            net_member(&traffic, net_port(&net, host, 1), net_port(&net, host, 1));
        traffic.arrival = ARRIVAL_POISSON;
        traffic.interval_ps = 100 * TIME_US;
        traffic.among_all = all;
        net_start(&net, &traffic);
        net_run(&net, TIME_S);
        struct data_totals totals = net_totals(&net);
        if (all) {
            assert_in_range(totals.unroutable, 9500, 10500); /* of 40,000 from the other four */
        } else {
            assert_int_equal(totals.unroutable, 0);
            assert_in_range(totals.made, 49000, 51000);
            assert_in_range(net.received[net_port(&net, 1, 1)], 11300, 13700); /* 3 / 3 + 1 / 4 */
            assert_in_range(net.received[net_port(&net, 5, 1)], 11300, 13700);
        }
        net_end(&net);
    }
}

/* A host that has been active and has no path loses its packets while its port is closed; one whose
 * link has just trained makes none. */
static void packets_without_a_path_are_lost_at_the_inactive_port(void **state)
{
    (void)state;
    struct net net;
    net_init(&net);
    begin_star(&net, 3);
    struct traffic traffic = net_traffic(&net);
    net_member(&traffic, net_port(&net, 1, 1), net_port(&net, 2, 1));
    net_member(&traffic, net_port(&net, 2, 1), net_port(&net, 3, 1));
    traffic.arrival = ARRIVAL_POISSON;
    traffic.interval_ps = 100 * TIME_US;
    net_start(&net, &traffic);
    net.lids[net_port(&net, 2, 1)] = net.lids[net_port(&net, 3, 1)] = 0;
    net_run(&net, 100 * TIME_MS);
    assert_int_equal(net.lost[LOSS_INACTIVE_PORT], 0); /* the ports are open */
    uint64_t before = net_totals(&net).unroutable;
    assert_true(before > 1500);
    net_set_port(&net, 1, 1, PORT_INFO_PORT_STATE, PORT_STATE_INIT);
    net_run(&net, 100 * TIME_MS);
    assert_in_range(net.lost[LOSS_INACTIVE_PORT], 850, 1150);
    net_end(&net);
}

/* ---- multicast ---- */

enum { GROUP = LID_MULTICAST_FIRST + 5 };

/* Two switches (nodes 0 and 1), joined by their ports 5; adapters 2 … 5 at the first, 6 … 9 at the
 * second. */
static void begin_tree(struct net *net)
{
    net_switch(net, 5);
    net_switch(net, 5);
    for (unsigned i = 0; i < 8; i++)
        net_link(net, net_adapter(net, 1), 1, i / 4, i % 4 + 1);
    net_link(net, 0, 5, 1, 5);
    net_begin(net, 5);
    net_route_shortest(net);
    net_bring_up(net);
    net->multicast = GROUP;
    net_multicast(net, 0, GROUP, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 5);
    net_multicast(net, 1, GROUP, 1 << 1 | 1 << 4 | 1 << 5);
}

/* Members: 2, 3, 4 at the first switch, 6 and 9 at the second. */
static void every_member_gets_every_packet_once(void **state)
{
    (void)state;
    for (unsigned multiplexed = 0; multiplexed < 2; multiplexed++) {
        struct net net;
        net_init(&net);
        net.options.multiplexed = multiplexed;
        begin_tree(&net);
        struct traffic traffic = net_traffic(&net);
        net_member(&traffic, net_port(&net, 2, 1), net_port(&net, 9, 1));
        traffic.arrival = ARRIVAL_POISSON;
        traffic.interval_ps = 10 * TIME_US;
        net_start(&net, &traffic);
        net_run(&net, 20 * TIME_MS);
        net_drain(&net, TIME_MS);
        struct data_totals totals = net_totals(&net);
        static const unsigned members[] = {3, 4, 6, 9};
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(net.received[net_port(&net, members[i], 1)], totals.made);
        assert_int_equal(totals.delivered, 4 * totals.made);
        assert_int_equal(totals.duplicates, 3 * totals.made);
        assert_int_equal(totals.hops, (1 + 3 + 2) * totals.made);
        assert_int_equal(net_lost(&net), 0);
        net_end(&net);
    }
}

/* Several senders at once, saturated, with other traffic between: copies wait, but none is lost. */
static void copies_share_the_fabric_with_other_packets(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    begin_tree(&net);
    net_flow(&net, net_port(&net, 2, 1), net_port(&net, 9, 1), 256, 0);
    net_flow(&net, net_port(&net, 6, 1), net_port(&net, 9, 1), 256, 1);
    net_run(&net, 5 * TIME_MS);
    net.multicast = 0;
    net_flow(&net, net_port(&net, 5, 1), net_port(&net, 8, 1), 256, 0);
    net_run(&net, 5 * TIME_MS);
    net_drain(&net, 10 * TIME_MS);
    assert_int_equal(net_lost(&net), 0);
    struct data_totals totals = net_totals(&net);
    assert_int_equal(totals.delivered, totals.made + totals.duplicates);
    assert_true(net.received[net_port(&net, 8, 1)] > 1000);
    assert_true(net.received[net_port(&net, 3, 1)] > 1000);
    net_end(&net);
}

/* The first of three outputs closes while a copy waits for it: the others still get theirs. */
static void a_closed_output_does_not_cost_the_others_their_copies(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    begin_tree(&net);
    net_arbitrate(&net, 0, 3, false, "1:4"); /* VL 0 stops at adapter 4 */
    net_flow(&net, net_port(&net, 3, 1), net_port(&net, 9, 1), 256, 0);
    net_run(&net, TIME_MS);
    uint64_t before = net.received[net_port(&net, 9, 1)];
    net_run(&net, TIME_MS);
    assert_int_equal(net.received[net_port(&net, 9, 1)], before); /* all wait for adapter 4 */
    net_stop_all(&net);
    fabric_set_link(net.fabric, net_port(&net, 0, 3), false, NULL);
    net_drain(&net, 10 * TIME_MS);
    /* Those that waited reach the second switch. */
    assert_int_equal(net.received[net_port(&net, 9, 1)], net.received[net_port(&net, 2, 1)]);
    assert_int_equal(net.received[net_port(&net, 9, 1)], net_totals(&net).made);
    net_end(&net);
}

/* One of the outputs is blocked: its packets expire, and the other outputs get their copies of
 * later ones. */
static void lifetimes_end_the_wait_of_copies(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net.options.node.agent.life_time = 2; /* 16 us */
    begin_tree(&net);
    net_arbitrate(&net, 0, 3, false, "1:4"); /* VL 0 stops at adapter 4 */
    net_flow(&net, net_port(&net, 3, 1), net_port(&net, 9, 1), 256, 0);
    net_run(&net, 5 * TIME_MS);
    assert_true(net.received[net_port(&net, 2, 1)] > 200);
    assert_true(net.lost[LOSS_LIFETIME] > 100);
    net_drain(&net, TIME_MS);
    net_end(&net);
}

static void packets_to_an_unknown_group_are_lost(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    begin_tree(&net);
    net.multicast = GROUP + 1;
    net_packet(&net, net_port(&net, 2, 1), net_port(&net, 9, 1), 256, 0);
    net_run(&net, TIME_MS);
    assert_int_equal(net.lost[LOSS_NO_ROUTE], 1);
    net_end(&net);
}

/* Two links between the same switches, both in the group: each packet goes round on both, and
 * leaves copies at every turn. It ends, and the conservation check are right. */
static void multicast_tables_that_loop_do_not_fill_the_fabric(void **state)
{
    struct net net;
    struct fabric_totals totals;
    (void)state;
    net_init(&net);
    net_switch(&net, 6);
    net_switch(&net, 6);
    for (unsigned i = 0; i < 8; i++)
        net_link(&net, net_adapter(&net, 1), 1, i / 4, i % 4 + 1);
    net_link(&net, 0, 5, 1, 5);
    net_link(&net, 0, 6, 1, 6);
    net_begin(&net, 5);
    net_route_shortest(&net);
    net_bring_up(&net);
    net.multicast = GROUP;
    net_multicast(&net, 0, GROUP, 1 << 1 | 1 << 2 | 1 << 5 | 1 << 6);
    net_multicast(&net, 1, GROUP, 1 << 1 | 1 << 5 | 1 << 6);
    net_packet(&net, net_port(&net, 2, 1), net_port(&net, 9, 1), 256, 0);
    net_run(&net, 10 * TIME_MS);
    assert_int_equal(net_totals(&net).travelling, 0);
    assert_true(net.received[net_port(&net, 3, 1)] > 1);
    fabric_totals(net.fabric, &totals);
    assert_true(totals.looped > 0);
    net_end(&net);
}

/* ---- repeatable, and free of charge while idle ---- */

static uint64_t hash_of_run(uint64_t seed, struct data_totals *totals)
{
    struct net net;
    net_init(&net);
    net_generate(&net, "irregular", "switches=16 ports=8 width=1x speed=sdr", 3);
    net_begin(&net, seed);
    net_route_up_down(&net, 0);
    net_bring_up(&net);
    struct traffic traffic = net_traffic(&net);
    net_everybody(&net, &traffic);
    traffic.arrival = ARRIVAL_POISSON;
    traffic.interval_ps = 8 * TIME_US;
    traffic.sl = TRAFFIC_RANDOM_SL;
    net_start(&net, &traffic);
    net_run(&net, 2 * TIME_MS);
    fabric_set_link(net.fabric, net_port(&net, 3, 1), false, NULL);
    net_run(&net, 2 * TIME_MS);
    *totals = net_totals(&net);
    uint64_t hash = fabric_trace_hash(net.fabric);
    net_end(&net);
    return hash;
}

static void the_same_seed_gives_the_same_trace(void **state)
{
    struct data_totals first, second, other;
    (void)state;
    uint64_t hash = hash_of_run(42, &first);
    print_message("trace 0x%016llx\n", (unsigned long long)hash);
    assert_int_equal(hash_of_run(42, &second), hash);
    assert_memory_equal(&first, &second, sizeof first);
    assert_true(hash_of_run(43, &other) != hash);
    assert_true(first.delivered > 1000 && other.delivered != first.delivered);
}

static void an_idle_minute_costs_nothing(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net_generate(&net, "irregular", "switches=16 ports=8 width=1x speed=sdr", 3);
    net_begin(&net, 1);
    net_route_up_down(&net, 0);
    net_bring_up(&net);
    struct traffic traffic = net_traffic(&net);
    net_everybody(&net, &traffic);
    traffic.arrival = ARRIVAL_POISSON;
    traffic.interval_ps = 8 * TIME_US;
    net_start(&net, &traffic);
    net_run(&net, 2 * TIME_MS);
    net_drain(&net, 10 * TIME_MS);
    net_run(&net, 10 * TIME_MS); /* the last look for deadlocks, the last wake-up of each sender */
    struct fabric_totals before, after;
    uint64_t credits = net_totals(&net).credit_packets;
    fabric_totals(net.fabric, &before);
    net_run(&net, 60 * TIME_S);
    fabric_totals(net.fabric, &after);
    assert_int_equal(after.events, before.events);
    assert_int_equal(net_totals(&net).credit_packets, credits);
    net_end(&net);
}

/* ---- the conservation check ---- */

static void packets_that_wait_at_senders_are_counted(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    begin_star(&net, 2);
    net_arbitrate(&net, 1, 1, false, "1:4"); /* nothing leaves the adapter */
    struct traffic traffic = net_traffic(&net);
    net_member(&traffic, net_port(&net, 1, 1), net_port(&net, 2, 1));
    traffic.arrival = ARRIVAL_CONSTANT;
    traffic.interval_ps = TIME_US;
    net_start(&net, &traffic);
    net_run(&net, TIME_MS);
    struct data_totals totals = net_totals(&net);
    assert_true(totals.made >= 999 && totals.made <= 1001);
    assert_int_equal(totals.travelling, 12); /* of five blocks, in a buffer of 64 */
    assert_int_equal(totals.waiting, totals.made - 12);
    net_arbitrate(&net, 1, 1, false, "0:4");
    net_run(&net, 20 * TIME_MS);
    totals = net_totals(&net);
    assert_int_equal(totals.made, totals.delivered + totals.travelling + totals.waiting);
    net_end(&net);
}

static void the_conservation_check_finds_errors(void **state)
{
    struct net net;
    struct err err;
    (void)state;
    net_init(&net);
    begin_star(&net, 2);
    net_flow(&net, net_port(&net, 1, 1), net_port(&net, 2, 1), 256, 0);
    net_run(&net, TIME_MS);
    struct data *data = net.fabric->data;
    struct port *port = &net.fabric->ports[net_port(&net, 1, 1)];
    struct output_vl *output = &data->outputs[port_vl_of(net.fabric, net_port(&net, 1, 1), 0)];
    struct input_vl *input = &data->inputs[port_vl_of(net.fabric, net_port(&net, 0, 1), 0)];
#define EXPECT_FOUND(wrong, right)                                                                 \
    do {                                                                                           \
        wrong;                                                                                     \
        assert_int_equal(fabric_check_data(net.fabric, &err), -EPROTO);                            \
        right;                                                                                     \
        assert_int_equal(fabric_check_data(net.fabric, &err), 0);                                  \
    } while (0)
    EXPECT_FOUND(output->used++, output->used--);
    EXPECT_FOUND(input->used++, input->used--);
    EXPECT_FOUND(data->travelling++, data->travelling--);
    EXPECT_FOUND(data->senders.items[0].made++, data->senders.items[0].made--);
    EXPECT_FOUND(data->totals.delivered++, data->totals.delivered--);
    EXPECT_FOUND(data->totals.lost[LOSS_P_KEY]++, data->totals.lost[LOSS_P_KEY]--);
    EXPECT_FOUND(data->on_links++, data->on_links--);
    EXPECT_FOUND(port->busy_ps += TIME_S, port->busy_ps -= TIME_S);
    EXPECT_FOUND(data->overflowed = true, data->overflowed = false);
    uint16_t limit = output->limit;
    EXPECT_FOUND(output->limit = (uint16_t)((output->sent - 1u) % 4096), output->limit = limit);
#undef EXPECT_FOUND
    net_end(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_reliable_packets_arrive_late),
        cmocka_unit_test(after_the_last_retry_a_packet_is_lost),
        cmocka_unit_test(a_retry_comes_exactly_after_its_time_out),
        cmocka_unit_test(even_many_retries_come_to_an_end),
        cmocka_unit_test(retries_of_several_senders_at_one_port_all_go_out),
        cmocka_unit_test(static_rate_control_is_exact),
        cmocka_unit_test(a_generous_limit_does_not_matter),
        cmocka_unit_test(uniform_traffic_goes_to_active_hosts),
        cmocka_unit_test(packets_without_a_path_are_lost_at_the_inactive_port),
        cmocka_unit_test(every_member_gets_every_packet_once),
        cmocka_unit_test(copies_share_the_fabric_with_other_packets),
        cmocka_unit_test(a_closed_output_does_not_cost_the_others_their_copies),
        cmocka_unit_test(lifetimes_end_the_wait_of_copies),
        cmocka_unit_test(packets_to_an_unknown_group_are_lost),
        cmocka_unit_test(multicast_tables_that_loop_do_not_fill_the_fabric),
        cmocka_unit_test(the_same_seed_gives_the_same_trace),
        cmocka_unit_test(an_idle_minute_costs_nothing),
        cmocka_unit_test(packets_that_wait_at_senders_are_counted),
        cmocka_unit_test(the_conservation_check_finds_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
