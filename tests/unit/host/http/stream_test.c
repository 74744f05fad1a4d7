/* Server-sent events: order, loss of slow readers, replacement, and ends. */
#include "client.h"

struct fixture {
    struct http_stream *stream;
    struct http_route routes[1];
    struct http_server *server;
    struct text answer;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct err err = {0};
    f->stream = http_stream_new();
    f->routes[0] = (struct http_route){.method = "GET", .path = "/events", .stream = f->stream};
    struct http_options options = {.listen = "0", .routes = f->routes, .route_count = 1};
    if (http_server_start(&f->server, &options, &err) != 0)
        fail_msg("%s", err.message);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    http_server_stop(f->server);
    http_stream_free(f->stream);
    text_release(&f->answer);
    free(f);
    return 0;
}

/* The answer's head, and the comment that begins each stream, are read. */
static int subscribe(struct fixture *f)
{
    int fd = client_connect(http_server_address(f->server));
    assert_true(fd >= 0);
    client_print(fd, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    text_clear(&f->answer);
    client_read(fd, &f->answer, ":\n\n");
    assert_int_equal(client_status(&f->answer), 200);
    assert_true(client_has(&f->answer, "Content-Type: text/event-stream"));
    text_clear(&f->answer);
    return fd;
}

static void every_subscriber_receives_an_event(void **state)
{
    struct fixture *f = *state;
    int first = subscribe(f), second = subscribe(f);
    assert_int_equal(http_stream_subscribers(f->stream), 2);
    http_stream_publish(f->stream, "change", "{\"a\":1}");
    client_read(first, &f->answer, "event: change\ndata: {\"a\":1}\n\n");
    text_clear(&f->answer);
    client_read(second, &f->answer, "event: change\ndata: {\"a\":1}\n\n");
    http_stream_publish(f->stream, "two", "line\nnext\r\nlast");
    text_clear(&f->answer);
    client_read(first, &f->answer, "event: two\ndata: line\ndata: next\n");
    client_read(first, &f->answer, "data: last\n\n");
    close(first);
    close(second);
}

static void events_arrive_in_order(void **state)
{
    struct fixture *f = *state;
    int fd = subscribe(f);
    char data[32];
    for (unsigned i = 0; i < 2000; i++) {
        snprintf(data, sizeof data, "number %u.", i);
        http_stream_publish(f->stream, "count", data);
        if (i % 200 == 199) { /* less than a queue holds */
            text_clear(&f->answer);
            client_read(fd, &f->answer, data);
        }
    }
    assert_false(client_has(&f->answer, "lost"));
    close(fd);
}

/* A client that does not read loses events. The publisher does not wait, and others lose none. */
static void a_slow_reader_is_told_what_it_lost(void **state)
{
    struct fixture *f = *state;
    int slow = subscribe(f), quick = subscribe(f);
    char *data = malloc(100001);
    memset(data, 'x', 100000);
    data[100000] = 0;
    for (unsigned i = 0; i < 200; i++) { /* 20 MB: more than socket buffers and a queue hold */
        data[0] = (char)('a' + i % 26);
        http_stream_publish(f->stream, "big", data);
        text_clear(&f->answer);
        client_read(quick, &f->answer, "x\n\n");
        assert_false(client_has(&f->answer, "lost"));
    }
    http_stream_publish(f->stream, "end", "end");
    text_clear(&f->answer);
    client_read(slow, &f->answer, "event: end");
    assert_true(client_has(&f->answer, "event: lost\ndata: {\"events\":"));
    unsigned received = 0, lost = 0, one;
    for (const char *at = f->answer.data; (at = strstr(at, "event: ")); at++) {
        received += strncmp(at, "event: big", 10) == 0;
        if (sscanf(at, "event: lost\ndata: {\"events\":%u", &one) == 1)
            lost += one;
    }
    assert_int_equal(received + lost, 200);
    free(data);
    close(slow);
    close(quick);
}

static void a_lost_connection_is_noticed(void **state)
{
    struct fixture *f = *state;
    close(subscribe(f));
    for (unsigned i = 0; i < 20000 && http_stream_subscribers(f->stream); i++) {
        http_stream_publish(f->stream, "x", "");
        usleep(1000);
    }
    assert_int_equal(http_stream_subscribers(f->stream), 0);
}

static void a_stop_ends_all_streams(void **state)
{
    struct fixture *f = *state;
    int idle = subscribe(f), busy = subscribe(f);
    http_stream_publish(f->stream, "x", "y");
    http_server_stop(f->server);
    f->server = NULL;
    assert_true(client_is_closed(idle));
    assert_true(client_is_closed(busy));
    close(idle);
    close(busy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_subscriber_receives_an_event, setup, teardown),
        cmocka_unit_test_setup_teardown(events_arrive_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(a_slow_reader_is_told_what_it_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(a_lost_connection_is_noticed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stop_ends_all_streams, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
