/* Limits of connections and requests, with a clock of the test. */
#include "base/time.h"
#include "host/http/clients.h"
#include "test.h"

#include <netinet/in.h>

struct fixture {
    struct http_clients clients;
    bool stream_closed; /* by the last add() */
    int peers[64];
    unsigned count;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->clients.limits = (struct http_limits){.connections = 6,
                                             .connections_per_address = 4,
                                             .streams_per_address = 2,
                                             .requests_per_second = 10,
                                             .pending = 3,
                                             .loop_percent = 5,
                                             .request_seconds = 10,
                                             .response_seconds = 60};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    while (f->clients.first) {
        close(f->clients.first->fd);
        http_clients_remove(&f->clients, f->clients.first);
    }
    for (unsigned i = 0; i < f->count; i++)
        close(f->peers[i]);
    free(f);
    return 0;
}

static struct http_client *add(struct fixture *f, uint32_t address, uint64_t now_s)
{
    int pair[2];
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_addr.s_addr = address};
    bool local = address == 0; /* a Unix socket */
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    f->peers[f->count++] = pair[1];
    return http_clients_add(&f->clients, pair[0], local ? NULL : (struct sockaddr *)&peer,
                            now_s * NS_PER_S, &f->stream_closed);
}

static void the_oldest_without_a_request_gives_way(void **state)
{
    struct fixture *f = *state;
    struct http_client *first = add(f, 1, 1), *second = add(f, 1, 1);
    add(f, 1, 1);
    add(f, 1, 1);
    http_client_enter(&f->clients, first, HTTP_CLIENT_READS, NS_PER_S);
    assert_int_equal(add(f, 1, 1)->phase, HTTP_CLIENT_WAITS);
    assert_int_equal(first->phase, HTTP_CLIENT_READS);
    assert_int_equal(second->phase, HTTP_CLIENT_CLOSED);
    char byte;
    assert_int_equal(recv(f->peers[1], &byte, 1, 0), 0); /* the peer sees it */
}

/* Else a program that opens streams would lock out every other user of its machine. */
static void an_address_that_reads_everywhere_is_served(void **state)
{
    struct fixture *f = *state;
    struct http_client *streams[4];
    for (unsigned i = 0; i < 4; i++) {
        streams[i] = add(f, 1, 1);
        http_client_enter(&f->clients, streams[i], HTTP_CLIENT_STREAMS, NS_PER_S);
    }
    struct http_client *next = add(f, 1, 1);
    assert_int_equal(next->phase, HTTP_CLIENT_WAITS);
    assert_true(f->stream_closed);
    assert_int_equal(streams[0]->phase, HTTP_CLIENT_CLOSED);
    assert_int_equal(streams[1]->phase, HTTP_CLIENT_STREAMS);
    add(f, 1, 1); /* the connection without a request gives way first */
    assert_false(f->stream_closed);
    assert_int_equal(next->phase, HTTP_CLIENT_CLOSED);
    assert_int_equal(add(f, 2, 1)->phase, HTTP_CLIENT_WAITS);
}

static void the_oldest_stream_gives_way(void **state)
{
    struct fixture *f = *state;
    struct http_client *first = add(f, 1, 1), *second = add(f, 1, 1), *third = add(f, 1, 1);
    struct http_client *other = add(f, 2, 1);
    assert_false(http_client_enter_stream(&f->clients, first));
    assert_false(http_client_enter_stream(&f->clients, second));
    assert_false(http_client_enter_stream(&f->clients, other));
    assert_true(http_client_enter_stream(&f->clients, third));
    assert_int_equal(first->phase, HTTP_CLIENT_CLOSED);
    assert_int_equal(second->phase, HTTP_CLIENT_STREAMS);
    assert_int_equal(third->phase, HTTP_CLIENT_STREAMS);
    assert_int_equal(other->phase, HTTP_CLIENT_STREAMS);
}

static void the_total_is_limited(void **state)
{
    struct fixture *f = *state;
    struct http_client *oldest = add(f, 1, 1);
    for (uint32_t i = 2; i <= 6; i++)
        add(f, i, 1);
    assert_int_equal(oldest->phase, HTTP_CLIENT_WAITS);
    add(f, 7, 1);
    assert_int_equal(oldest->phase, HTTP_CLIENT_CLOSED);
}

static void slow_connections_are_closed(void **state)
{
    struct fixture *f = *state;
    struct http_client *waits = add(f, 1, 1), *reads = add(f, 1, 1), *streams = add(f, 1, 1);
    http_client_enter(&f->clients, reads, HTTP_CLIENT_READS, NS_PER_S);
    http_client_enter(&f->clients, streams, HTTP_CLIENT_STREAMS, NS_PER_S);
    http_clients_expire(&f->clients, 10 * NS_PER_S);
    assert_int_equal(waits->phase, HTTP_CLIENT_WAITS);
    http_clients_expire(&f->clients, 11 * NS_PER_S);
    assert_int_equal(waits->phase, HTTP_CLIENT_CLOSED);
    assert_int_equal(reads->phase, HTTP_CLIENT_READS);
    http_clients_expire(&f->clients, 61 * NS_PER_S);
    assert_int_equal(reads->phase, HTTP_CLIENT_CLOSED);
    http_clients_expire(&f->clients, 10000 * NS_PER_S);
    assert_int_equal(streams->phase, HTTP_CLIENT_STREAMS);
}

static unsigned ask_all(struct fixture *f, struct http_client *client, uint64_t now_ns)
{
    unsigned count = 0;
    while (http_client_may_ask(&f->clients, client, now_ns))
        count++;
    return count;
}

static void the_rate_is_limited(void **state)
{
    struct fixture *f = *state;
    struct http_client *client = add(f, 1, 1), *other = add(f, 2, 1);
    assert_int_equal(ask_all(f, client, NS_PER_S), 20);
    assert_int_equal(ask_all(f, other, NS_PER_S), 20);
    assert_int_equal(ask_all(f, client, NS_PER_S + 500 * NS_PER_MS), 5);
    unsigned count = 0;
    for (uint64_t ms = 1501; ms <= 2500; ms++) /* small steps add up */
        count += ask_all(f, client, ms * NS_PER_MS);
    assert_int_equal(count, 10);
    assert_int_equal(ask_all(f, client, 1000 * NS_PER_S), 20);
}

/* However many addresses there are, and wherever their buckets are. */
static void a_flood_does_not_lock_out_a_unix_socket(void **state)
{
    struct fixture *f = *state;
    struct http_client *local = add(f, 0, 1);
    for (uint32_t i = 1; i <= 20; i++)
        add(f, i, 1);
    assert_int_equal(local->phase, HTTP_CLIENT_WAITS);
    for (uint32_t i = 1; i <= 3000; i++) {
        f->clients.last->address = i;
        ask_all(f, f->clients.last, NS_PER_S);
    }
    assert_int_equal(ask_all(f, local, NS_PER_S), 20);
    while (http_clients_begin_wait(&f->clients, false))
        assert_true(f->clients.waiting[0] <= 3);
    assert_int_equal(f->clients.waiting[0], 3);
    assert_true(http_clients_begin_wait(&f->clients, true));
    http_clients_end_wait(&f->clients, false);
    assert_true(http_clients_begin_wait(&f->clients, false));
}

/* Nor does one user of the socket have all of it. */
static void a_unix_socket_is_limited(void **state)
{
    struct fixture *f = *state;
    struct http_client *first = add(f, 0, 1);
    for (unsigned i = 0; i < 4; i++)
        add(f, 0, 1);
    assert_int_equal(first->phase, HTTP_CLIENT_CLOSED);
    for (unsigned i = 0; i < 3; i++)
        assert_true(http_clients_begin_wait(&f->clients, true));
    assert_false(http_clients_begin_wait(&f->clients, true));
}

/* Every millisecond of the test's clock the loop may run one request. One address always has one
 * of 12 ms, another asks for 1 ms every 100 ms. */
static void requests_without_the_token_share_a_part_of_the_loops_time(void **state)
{
    struct fixture *f = *state;
    const struct http_client *greedy = add(f, 1, 1), *modest = add(f, 2, 1);
    uint64_t taken = 0, begin = 10 * NS_PER_S, end = 70 * NS_PER_S, asked = 0, slowest = 0;
    for (uint64_t now = begin; now < end; now += NS_PER_MS) {
        asked = !asked && now / NS_PER_MS % 100 == 0 ? now : asked;
        assert_true(http_clients_run_at(&f->clients, true) <= now);
        if (http_clients_run_at(&f->clients, false) > now)
            continue;
        bool first = asked && http_clients_rank(&f->clients, modest) <
                                  http_clients_rank(&f->clients, greedy);
        uint64_t cost = (first ? 1 : 12) * NS_PER_MS;
        if (first) {
            slowest = now - asked > slowest ? now - asked : slowest;
            asked = 0;
        }
        taken += cost;
        http_clients_charge(&f->clients, first ? modest : greedy, false, now, cost);
    }
    assert_in_range(taken, (end - begin) / 25, (end - begin) / 20 + 112 * NS_PER_MS);
    assert_in_range(slowest, 0, 12 * NS_PER_MS * 20); /* one request of the other */
}

static void requests_with_the_token_do_not_wait_for_others(void **state)
{
    struct fixture *f = *state;
    const struct http_client *client = add(f, 1, 1);
    http_clients_charge(&f->clients, client, false, NS_PER_S, 10 * NS_PER_S);
    assert_true(http_clients_run_at(&f->clients, false) > 100 * NS_PER_S);
    assert_int_equal(http_clients_run_at(&f->clients, true), 0);
    http_clients_charge(&f->clients, client, true, NS_PER_S, 10 * NS_PER_S);
    assert_int_equal(http_clients_run_at(&f->clients, true), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_oldest_without_a_request_gives_way, setup, teardown),
        cmocka_unit_test_setup_teardown(an_address_that_reads_everywhere_is_served, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_oldest_stream_gives_way, setup, teardown),
        cmocka_unit_test_setup_teardown(the_total_is_limited, setup, teardown),
        cmocka_unit_test_setup_teardown(slow_connections_are_closed, setup, teardown),
        cmocka_unit_test_setup_teardown(the_rate_is_limited, setup, teardown),
        cmocka_unit_test_setup_teardown(a_flood_does_not_lock_out_a_unix_socket, setup, teardown),
        cmocka_unit_test_setup_teardown(a_unix_socket_is_limited, setup, teardown),
        cmocka_unit_test_setup_teardown(requests_without_the_token_share_a_part_of_the_loops_time,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(requests_with_the_token_do_not_wait_for_others, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
