/* Hostile requests: none of them harms the server, which then answers a normal request. */
#include "client.h"

#include <poll.h>
#include <sys/resource.h>

static void hello(void *context, const struct http_request *request, struct http_response *response)
{
    (void)context;
    (void)request;
    text_puts(&response->body, "hello");
}

static const struct http_route routes[] = {
    {.method = "GET", .path = "/loop", .in_loop = true, .handler = hello},
    {.method = "GET", .path = "/*", .handler = hello},
    {.method = "POST", .path = "/*", .handler = hello},
};

struct fixture {
    struct http_server *server;
    struct text answer;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct err err = {0};
    struct http_options options = {.listen = "0", .routes = routes, .route_count = 3};
    options.limits = http_default_limits;
    options.limits.requests_per_second = 100000;
    options.limits.request_seconds = 1;
    if (http_server_start(&f->server, &options, &err) != 0)
        fail_msg("%s", err.message);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    http_server_stop(f->server);
    text_release(&f->answer);
    free(f);
    return 0;
}

static void assert_answers(struct fixture *f)
{
    assert_int_equal(client_ask(f->server, "GET", "/x", "", NULL, &f->answer), 200);
    assert_true(client_has(&f->answer, "hello"));
}

/* Sends bytes, then ends the request; returns the status or 0. */
static unsigned send_raw(struct fixture *f, const char *bytes, size_t count)
{
    int fd = client_connect(http_server_address(f->server));
    assert_true(fd >= 0);
    client_send(fd, bytes, count);
    text_clear(&f->answer);
    client_read(fd, &f->answer, "\r\n\r\n");
    close(fd);
    return client_status(&f->answer);
}

#define RAW(f, string) send_raw(f, string, sizeof(string) - 1)

static void malformed_requests_are_refused(void **state)
{
    struct fixture *f = *state;
    assert_int_not_equal(RAW(f, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n"), 200); /* TLS */
    assert_int_not_equal(RAW(f, "GET\r\n\r\n"), 200);
    assert_int_not_equal(RAW(f, "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n"), 200);
    assert_int_not_equal(RAW(f, "GET /%00 HTTP/1.1\r\nHost: localhost\r\n\r\n"), 200);
    assert_int_not_equal(RAW(f, "GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n"), 200);
    assert_int_not_equal(RAW(f, "GET /?a=%f HTTP/1.1\r\nHost: localhost\r\n\r\n"), 200);
    assert_int_not_equal(RAW(f, "GET / HTTP/1.1\r\n\r\n"), 200);
    assert_int_not_equal(RAW(f, "POST / HTTP/1.1\r\nHost: localhost\r\n"
                                "Content-Length: 99999999999999999999\r\n\r\n"),
                         200);
    assert_int_not_equal(RAW(f, "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
                                "chunked\r\n\r\nffffffffffffffffff\r\n"),
                         200);
    assert_answers(f);
}

/* A proxy may believe one of two headers, and this server the other. */
static void ambiguous_headers_are_refused(void **state)
{
    static const char *const heads[] = {
        "Host: localhost\r\nHost: localhost\r\n",
        "Host: localhost\r\nhost: evil.example\r\n",
        "Host: localhost\r\nOrigin: http://localhost\r\nOrigin: http://evil.example\r\n",
        "Host: localhost\r\nX-Weft-Token: one-token\r\nX-Weft-Token: another-one\r\n",
        "Host: localhost\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n",
        "Host: localhost\r\nContent-Length: 0\r\nContent-Length: 0\r\n",
        "Host: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
    };
    struct fixture *f = *state;
    struct text request = {0};
    for (unsigned i = 0; i < sizeof heads / sizeof *heads; i++) {
        text_clear(&request);
        text_printf(&request, "POST /x HTTP/1.1\r\n%s\r\n0\r\n\r\n", heads[i]);
        unsigned status = send_raw(f, request.data, request.length);
        if (status != 400)
            fail_msg("%u after %s", status, heads[i]);
    }
    text_release(&request);
    assert_int_equal(RAW(f, "GET /x HTTP/1.1\r\nHost: localhost\r\nX: a\r\nX: b\r\n\r\n"), 200);
    assert_answers(f);
}

static void large_requests_are_refused(void **state)
{
    struct fixture *f = *state;
    struct text request = {0};
    text_puts(&request, "GET / HTTP/1.1\r\nHost: localhost\r\n");
    for (unsigned i = 0; i < 5000; i++)
        text_printf(&request, "X-Filler-%u: aaaaaaaaaaaaaaaaaaaaaaaaaa\r\n", i);
    text_puts(&request, "\r\n");
    assert_int_not_equal(send_raw(f, request.data, request.length), 200);
    text_clear(&request);
    text_puts(&request, "GET /");
    for (unsigned i = 0; i < 100000; i++)
        text_putc(&request, 'a');
    text_puts(&request, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_int_not_equal(send_raw(f, request.data, request.length), 200);
    assert_int_equal(RAW(f, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 65537\r\n\r\n"),
                     413);
    text_clear(&request);
    text_puts(&request, "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (unsigned i = 0; i < 70; i++) {
        text_puts(&request, "400\r\n");
        for (unsigned c = 0; c < 1024; c++)
            text_putc(&request, 'z');
        text_puts(&request, "\r\n");
    }
    text_puts(&request, "0\r\n\r\n");
    assert_int_not_equal(send_raw(f, request.data, request.length), 200);
    text_release(&request);
    assert_answers(f);
}

static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void a_request_in_single_bytes_is_understood(void **state)
{
    struct fixture *f = *state;
    static const char request[] = "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n";
    int fd = client_connect(http_server_address(f->server));
    for (const char *at = request; *at; at++)
        client_send(fd, at, 1);
    text_clear(&f->answer);
    client_read(fd, &f->answer, "hello");
    close(fd);
}

static void a_connection_without_a_request_is_closed(void **state)
{
    struct fixture *f = *state;
    int silent = client_connect(http_server_address(f->server));
    int half = client_connect(http_server_address(f->server));
    client_print(half, "POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n1");
    assert_true(client_is_closed(silent));
    assert_true(client_is_closed(half));
    close(silent);
    close(half);
}

/* The loop of the owner is not woken, and has nothing to serve, while 1,000 clients send incomplete
 * requests for it: a manager does not notice them at all. */
static void slow_connections_do_not_reach_the_owner(void **state)
{
    struct fixture *f = *state;
    static int fds[1000];
    raise_descriptor_limit();
    for (unsigned i = 0; i < 1000; i++) {
        struct pollfd wake = {.fd = http_server_fd(f->server), .events = POLLIN};
        fds[i] = client_connect(http_server_address(f->server));
        assert_true(fds[i] >= 0);
        client_print(fds[i], "GET /loop HTTP/1.1\r\nHost: localhost\r\nX: ");
        assert_int_equal(poll(&wake, 1, 0), 0);
    }
    assert_answers(f); /* the server has read what was sent before */
    assert_false(http_server_serve(f->server));
    for (unsigned i = 0; i < 1000; i++)
        close(fds[i]);
}

/* Half of 1,000 connections send an incomplete request, and half do not read an answer. A normal
 * request is answered while they are open: each new connection closes an idle one. */
static void a_thousand_slow_connections_do_no_harm(void **state)
{
    struct fixture *f = *state;
    static int fds[1000];
    raise_descriptor_limit();
    for (unsigned i = 0; i < 1000; i++) {
        fds[i] = client_connect(http_server_address(f->server));
        assert_true(fds[i] >= 0);
        if (i % 2)
            client_print(fds[i], "GET /slow HTTP/1.1\r\nHost: lo");
        else
            client_print(fds[i], "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
        if (i % 100 == 99)
            assert_answers(f);
    }
    assert_answers(f);
    for (unsigned i = 0; i < 1000; i++)
        close(fds[i]);
    assert_answers(f);
}

/* A program that keeps more streams open than an address may have connections does not lock out
 * others at the same address, and the closed ones are really gone. */
static void streams_do_not_lock_out_other_clients(void **state)
{
    enum { STREAMS = 200 };
    static int fds[STREAMS];
    struct fixture f = {0};
    struct http_stream *stream = http_stream_new();
    const struct http_route own[] = {
        {.method = "GET", .path = "/events", .stream = stream},
        {.method = "GET", .path = "/*", .handler = hello},
    };
    struct http_options options = {.listen = "0", .routes = own, .route_count = 2};
    (void)state;
    raise_descriptor_limit();
    assert_int_equal(http_server_start(&f.server, &options, NULL), 0);
    for (unsigned i = 0; i < STREAMS; i++) {
        fds[i] = client_connect(http_server_address(f.server));
        assert_true(fds[i] >= 0);
        client_print(fds[i], "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
        text_clear(&f.answer);
        client_read(fds[i], &f.answer, "\r\n\r\n");
        assert_int_equal(client_status(&f.answer), 200);
        if (i % 20 == 19)
            assert_answers(&f);
    }
    assert_true(client_is_closed(fds[0]));
    for (unsigned i = 0; i < STREAMS; i++)
        close(fds[i]);
    assert_answers(&f);
    http_server_stop(f.server);
    http_stream_free(stream);
    text_release(&f.answer);
}

static void too_many_requests_are_refused(void **state)
{
    struct fixture f = {0};
    struct http_options options = {.listen = "0", .routes = routes, .route_count = 3};
    unsigned refused = 0;
    (void)state;
    options.limits = http_default_limits;
    options.limits.requests_per_second = 1;
    assert_int_equal(http_server_start(&f.server, &options, NULL), 0);
    for (unsigned i = 0; i < 100 && !refused; i++)
        refused += client_ask(f.server, "GET", "/x", "", NULL, &f.answer) == 429;
    assert_int_equal(refused, 1);
    http_server_stop(f.server);
    text_release(&f.answer);
}

/* RFC 9112: what two readers may read differently is refused. */
static void heads_that_readers_read_differently_are_refused(void **state)
{
#define HEAD(string)                                                                               \
    {                                                                                              \
        string, sizeof(string) - 1                                                                 \
    }
    static const struct {
        const char *bytes;
        size_t count;
    } heads[] = {
        HEAD("GET /x HTTP/1.1\nHost: localhost\n\n"),
        HEAD("GET /x HTTP/1.1\r\nHost: localhost\nX: a\r\n\r\n"),
        HEAD("GET /x HTTP/1.1\nHost: localhost\r\n\r\n"),
        HEAD("GET /x HTTP/1.1\r\nHost: localhost\r\n\n"),
        HEAD("GET /x HTTP/1.1\nHost:  localhost\r\nX:  a\r\n\r\n"), /* of the same length */
        HEAD("GET /x HTTP/1.1\r\nHost: localhost\rX: a\r\n\r\n"),
        HEAD("GET /x HTTP/1.1\r\nHost: localhost\0.evil\r\n\r\n"),
        HEAD("GET /x HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\nY: c\r\n\r\n"),
        HEAD("GET /x HTTP/1.1\r\nHost: localhost\r\nX:\0 b\r\n\r\n"),
        HEAD("GET /x HTTP/1.1\r\nHost: localhost\r\nX\0: b\r\n\r\n"),
        HEAD("GET /x\0y HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        HEAD("GET /x HTTP/1.1\r\nHost: localhost\r\nX: a\r\n folded\r\n\r\n"),
        HEAD("GET /x HTTP/1.1\r\nHost: localhost\r\nX-Weft-Token : a\r\n\r\n"),
        HEAD("GET /x HTTP/1.1\r\nHost: localhost\r\nX\t: a\r\n\r\n"),
        HEAD("GET /x HTTP/1.1\r\nHost: localhost\r\nX\x85: a\r\n\r\n"),
        HEAD("GET /x HTTP/1.1\r\nHost: localhost\r\nX: a\r\n\tY: folded\r\nZ: b\r\n\r\n"),
        HEAD("GET /x HTTP/1.1\r\nX: a\r\n folded\r\nHost: localhost\r\n\r\n"),
    };
    struct fixture *f = *state;
    for (unsigned i = 0; i < sizeof heads / sizeof *heads; i++)
        if (send_raw(f, heads[i].bytes, heads[i].count) != 400)
            fail_msg("head %u: %u", i, client_status(&f->answer));
    assert_int_equal(
        RAW(f, "GET /x HTTP/1.1\r\nHost:localhost\r\nX:  a\r\nEmpty:\r\nY: \r\nZ: b \r\n\r\n"),
        200);
    assert_int_equal(RAW(f, "HEAD /x?a=b HTTP/1.0\r\nHost: localhost\r\n\r\n"), 200);
    assert_answers(f);
#undef HEAD
}

/* libmicrohttpd reads the head piece by piece: its buffer grows. */
static void long_heads_in_pieces_are_accepted(void **state)
{
    struct fixture *f = *state;
    int fd = client_connect(http_server_address(f->server));
    client_print(fd, "GET /x?%0500d HTTP/1.1\r\nHost: localhost\r\n", 1);
    for (unsigned i = 0; i < 12; i++) {
        client_print(fd, "X-%u: %0*d", i, 900, 1);
        usleep(1000);
        client_print(fd, "\r\n");
    }
    client_print(fd, "\r\n");
    text_clear(&f->answer);
    client_read(fd, &f->answer, "hello");
    assert_int_equal(client_status(&f->answer), 200);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(heads_that_readers_read_differently_are_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(long_heads_in_pieces_are_accepted, setup, teardown),
        cmocka_unit_test_setup_teardown(malformed_requests_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(ambiguous_headers_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(large_requests_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_request_in_single_bytes_is_understood, setup, teardown),
        cmocka_unit_test_setup_teardown(a_connection_without_a_request_is_closed, setup, teardown),
        cmocka_unit_test_setup_teardown(slow_connections_do_not_reach_the_owner, setup, teardown),
        cmocka_unit_test_setup_teardown(a_thousand_slow_connections_do_no_harm, setup, teardown),
        cmocka_unit_test(streams_do_not_lock_out_other_clients),
        cmocka_unit_test(too_many_requests_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
