/* Routes, files, generated content, requests for the owner's loop, and Unix sockets. */
#include "client.h"

#include <poll.h>
#include <pthread.h>

static const char page[] = "<html>";
static const struct http_file file = {
    .type = "text/html; charset=utf-8", .data = page, .bytes = sizeof page - 1, .etag = "abc"};

static void echo(void *context, const struct http_request *request, struct http_response *response)
{
    const char *name = http_parameter(request, "name");
    (void)context;
    text_printf(&response->body, "%s|%s|", request->path, name ? name : "-");
}

struct count {
    unsigned left;
    unsigned *released;
};

static size_t count_down(void *source, char *buffer, size_t size)
{
    struct count *count = source;
    size_t part = count->left < size ? count->left : size;
    memset(buffer, 'x', part);
    count->left -= (unsigned)part;
    return part;
}

static void count_released(void *source)
{
    struct count *count = source;
    ++*count->released;
    free(count);
}

static void generate(void *context, const struct http_request *request,
                     struct http_response *response)
{
    struct count *count = malloc(sizeof *count);
    (void)request;
    *count = (struct count){5000000, context};
    response->type = "text/plain";
    response->generate = count_down;
    response->release = count_released;
    response->source = count;
}

struct fixture {
    struct http_server *server;
    struct text answer;
    unsigned released;
    pthread_t handler_thread, maker_thread;
    unsigned made, turns;
};

static void note_thread(void *context, const struct http_request *request,
                        struct http_response *response)
{
    struct fixture *f = context;
    (void)request;
    f->handler_thread = pthread_self();
    text_puts(&response->body, "done");
}

static void make(void *source, struct http_response *response)
{
    struct fixture *f = source;
    f->maker_thread = pthread_self();
    f->made++;
    text_puts(&response->body, "made");
}

static void note_release(void *source)
{
    struct fixture *f = source;
    f->released++;
}

static void make_later(void *context, const struct http_request *request,
                       struct http_response *response)
{
    note_thread(context, request, response);
    text_clear(&response->body);
    response->make = make;
    response->release = note_release;
    response->source = context;
}

static void take_three_turns(void *context, const struct http_request *request,
                             struct http_response *response)
{
    struct fixture *f = context;
    (void)request;
    response->again = ++f->turns < 3;
    if (!response->again)
        text_puts(&response->body, "done");
}

static void start(struct fixture *f, const char *listen)
{
    static struct http_route routes[] = {
        {.method = "GET", .path = "/", .file = &file},
        {.method = "GET", .path = "/echo", .handler = echo},
        {.method = "GET", .path = "/under/*", .handler = echo},
        {.method = "POST", .path = "/echo", .handler = echo, .changes = true},
        {.method = "GET", .path = "/large", .handler = generate},
        {.method = "GET", .path = "/loop", .handler = note_thread, .in_loop = true},
        {.method = "GET", .path = "/made", .handler = make_later, .in_loop = true},
        {.method = "GET", .path = "/turns", .handler = take_three_turns, .in_loop = true},
    };
    struct err err = {0};
    struct http_options options = {
        .listen = listen, .routes = routes, .route_count = sizeof routes / sizeof *routes};
    routes[4].context = &f->released;
    routes[5].context = routes[6].context = routes[7].context = f;
    if (http_server_start(&f->server, &options, &err) != 0)
        fail_msg("%s", err.message);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    start(f, "0");
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

static unsigned get(struct fixture *f, const char *path, const char *head)
{
    return client_ask(f->server, "GET", path, head, NULL, &f->answer);
}

static void a_request_finds_its_route(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(get(f, "/echo?name=a%20b", ""), 200);
    assert_true(client_has(&f->answer, "/echo|a b|"));
    assert_int_equal(get(f, "/under/x%2Fy", ""), 200);
    assert_true(client_has(&f->answer, "/under/x/y|-|"));
    assert_int_equal(get(f, "/under", ""), 404);
    assert_int_equal(get(f, "/echo/", ""), 404);
    assert_int_equal(client_ask(f->server, "DELETE", "/echo", "", NULL, NULL), 405);
}

static void answers_carry_security_headers(void **state)
{
    struct fixture *f = *state;
    static const char *const paths[] = {"/", "/echo", "/none", "/large"};
    for (size_t i = 0; i < 4; i++) {
        get(f, paths[i], "");
        assert_true(client_has(&f->answer, "frame-ancestors 'none'"));
        assert_true(client_has(&f->answer, "X-Content-Type-Options: nosniff"));
        assert_true(client_has(&f->answer, i ? "no-store" : "no-cache"));
        assert_false(client_has(&f->answer, "Access-Control"));
    }
}

static void a_file_is_sent_once(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(get(f, "/", ""), 200);
    assert_true(client_has(&f->answer, "ETag: \"abc\"\r\n"));
    assert_true(client_has(&f->answer, "\r\n\r\n<html>"));
    assert_int_equal(get(f, "/", "If-None-Match: \"old\", \"abc\"\r\n"), 304);
    assert_false(client_has(&f->answer, "<html>"));
    assert_int_equal(get(f, "/", "If-None-Match: \"abcd\"\r\n"), 200);
}

static void generated_content_is_compressed_for_those_who_accept_it(void **state)
{
    static const struct {
        const char *head;
        bool compressed;
    } cases[] = {
        {"", false},
        {"Accept-Encoding: deflate, GZIP;q=0.5\r\n", true},
        {"Accept-Encoding: gzip\r\n", true},
        {"Accept-Encoding: gzip;q=0, identity\r\n", false},
        {"Accept-Encoding: xgzip, gzipx\r\n", false},
    };
    struct fixture *f = *state;
    struct text plain = {0};
    client_ask(f->server, "GET", "/large", "", NULL, &plain);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(client_ask(f->server, "GET", "/large", cases[i].head, NULL, &f->answer),
                         200);
        assert_true(client_has(&f->answer, "Vary: Accept-Encoding"));
        assert_int_equal(client_has(&f->answer, "Content-Encoding: gzip"), cases[i].compressed);
        assert_int_equal(f->answer.length < plain.length / 2, cases[i].compressed);
    }
    text_release(&plain);
}

static void generated_content_is_sent_and_released(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(get(f, "/large", ""), 200);
    size_t count = 0;
    for (size_t i = 0; i < f->answer.length; i++)
        count += f->answer.data[i] == 'x';
    assert_in_range(count, 5000000, 5001000);                /* some of them in the head */
    int fd = client_connect(http_server_address(f->server)); /* and one that gives up */
    client_print(fd, "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
    text_clear(&f->answer);
    client_read(fd, &f->answer, "xxx");
    close(fd);
    http_server_stop(f->server);
    f->server = NULL;
    assert_int_equal(f->released, 2);
}

static void a_change_needs_the_token(void **state)
{
    struct fixture *f = *state;
    char good[128], bad[128];
    snprintf(good, sizeof good, "X-Weft-Token: %s\r\n", http_server_token(f->server));
    snprintf(bad, sizeof bad, "X-Weft-Token: %sx\r\n", http_server_token(f->server));
    assert_int_equal(strlen(http_server_token(f->server)), 32);
    assert_int_equal(client_ask(f->server, "POST", "/echo", "", "", NULL), 401);
    assert_int_equal(client_ask(f->server, "POST", "/echo", bad, "", NULL), 401);
    assert_int_equal(client_ask(f->server, "POST", "/echo", good, "12345", &f->answer), 200);
    assert_true(client_has(&f->answer, "|-|"));
    snprintf(good, sizeof good, "X-Weft-Token: %s\r\nContent-Type: %s\r\n",
             http_server_token(f->server), "application/x-www-form-urlencoded");
    assert_int_equal(client_ask(f->server, "POST", "/echo", good, "name=a%2Bb", &f->answer), 200);
    assert_true(client_has(&f->answer, "|a+b|"));
    assert_int_equal(client_ask(f->server, "POST", "/echo", good, "name=%", NULL), 400);
}

static void other_sites_are_refused(void **state)
{
    struct fixture *f = *state;
    char head[256];
    assert_int_equal(get(f, "/echo", "Host: evil.example\r\n"), 421);
    assert_int_equal(get(f, "/echo", "Host: localhost\r\nOrigin: http://evil.example\r\n"), 403);
    assert_int_equal(get(f, "/echo", "Host: localhost\r\nOrigin: http://localhost\r\n"), 200);
    snprintf(head, sizeof head, "X-Weft-Token: %s\r\nSec-Fetch-Site: cross-site\r\n",
             http_server_token(f->server));
    assert_int_equal(client_ask(f->server, "POST", "/echo", head, "", NULL), 403);
}

static void a_unix_socket_needs_no_token_of_the_same_user(void **state)
{
    struct fixture f = {0};
    char path[64], listen[80];
    (void)state;
    make_path(path);
    unlink(path);
    snprintf(listen, sizeof listen, "unix:%s", path);
    start(&f, listen);
    assert_int_equal(client_ask(f.server, "POST", "/echo", "", "1", &f.answer), 200);
    assert_int_equal(get(&f, "/", ""), 200);
    http_server_stop(f.server);
    assert_int_equal(access(path, F_OK), -1);
    text_release(&f.answer);
}

static void ipv6_works(void **state)
{
    struct fixture f = {0};
    (void)state;
    if (access("/proc/net/if_inet6", R_OK) < 0)
        skip();
    start(&f, "[::1]:0");
    assert_int_equal(get(&f, "/echo", "Host: [::1]:80\r\n"), 200);
    http_server_stop(f.server);
    text_release(&f.answer);
}

static void a_request_waits_for_the_loop(void **state)
{
    struct fixture *f = *state;
    struct pollfd ready = {.fd = http_server_fd(f->server), .events = POLLIN};
    assert_int_equal(poll(&ready, 1, 0), 0);
    assert_false(http_server_serve(f->server));
    int fd = client_connect(http_server_address(f->server));
    for (unsigned i = 0; i < 3; i++) {
        client_print(fd, "GET /loop HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_int_equal(poll(&ready, 1, 20000), 1);
        assert_true(http_server_serve(f->server));
        assert_true(pthread_equal(f->handler_thread, pthread_self()));
        assert_false(http_server_serve(f->server));
        assert_int_equal(poll(&ready, 1, 0), 0);
        text_clear(&f->answer);
        client_read(fd, &f->answer, "done");
        assert_int_equal(client_status(&f->answer), 200);
    }
    /* One that nobody serves is answered when the server stops. */
    client_print(fd, "GET /loop HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_int_equal(poll(&ready, 1, 20000), 1);
    http_server_stop(f->server);
    f->server = NULL;
    assert_true(client_is_closed(fd));
    close(fd);
}

static void the_text_of_an_answer_is_made_outside_the_loop(void **state)
{
    struct fixture *f = *state;
    struct pollfd ready = {.fd = http_server_fd(f->server), .events = POLLIN};
    int fd = client_connect(http_server_address(f->server));
    client_print(fd, "GET /made HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_int_equal(poll(&ready, 1, 20000), 1);
    assert_true(http_server_serve(f->server));
    text_clear(&f->answer);
    client_read(fd, &f->answer, "made");
    assert_int_equal(client_status(&f->answer), 200);
    assert_true(pthread_equal(f->handler_thread, pthread_self()));
    assert_false(pthread_equal(f->maker_thread, pthread_self()));
    /* One that is not served is not made. */
    client_print(fd, "GET /made HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_int_equal(poll(&ready, 1, 20000), 1);
    http_server_stop(f->server);
    f->server = NULL;
    assert_int_equal(f->made, 1);
    assert_int_equal(f->released, 1);
    close(fd);
}

static void a_handler_may_take_several_turns(void **state)
{
    struct fixture *f = *state;
    struct pollfd ready = {.fd = http_server_fd(f->server), .events = POLLIN};
    int fd = client_connect(http_server_address(f->server));
    client_print(fd, "GET /turns HTTP/1.1\r\nHost: localhost\r\n\r\n");
    for (unsigned turn = 1; turn <= 3; turn++) {
        assert_int_equal(poll(&ready, 1, 20000), 1);
        assert_true(http_server_serve(f->server));
        assert_int_equal(f->turns, turn);
    }
    assert_false(http_server_serve(f->server));
    assert_int_equal(poll(&ready, 1, 0), 0);
    text_clear(&f->answer);
    client_read(fd, &f->answer, "done");
    assert_int_equal(client_status(&f->answer), 200);
    /* The server stops between two turns. */
    f->turns = 0;
    client_print(fd, "GET /turns HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_int_equal(poll(&ready, 1, 20000), 1);
    assert_true(http_server_serve(f->server));
    http_server_stop(f->server);
    f->server = NULL;
    assert_true(client_is_closed(fd));
    close(fd);
}

static void an_address_in_use_is_an_error(void **state)
{
    struct fixture *f = *state;
    struct http_server *second;
    struct err err = {0};
    struct http_options options = {.listen = strchr(http_server_address(f->server), '1')};
    assert_true(http_server_start(&second, &options, &err) < 0);
    assert_non_null(strstr(err.message, "in use"));
    options.listen = "nonsense";
    assert_true(http_server_start(&second, &options, &err) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_request_finds_its_route, setup, teardown),
        cmocka_unit_test_setup_teardown(answers_carry_security_headers, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_is_sent_once, setup, teardown),
        cmocka_unit_test_setup_teardown(generated_content_is_compressed_for_those_who_accept_it,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(generated_content_is_sent_and_released, setup, teardown),
        cmocka_unit_test_setup_teardown(a_change_needs_the_token, setup, teardown),
        cmocka_unit_test_setup_teardown(other_sites_are_refused, setup, teardown),
        cmocka_unit_test(a_unix_socket_needs_no_token_of_the_same_user),
        cmocka_unit_test(ipv6_works),
        cmocka_unit_test_setup_teardown(a_request_waits_for_the_loop, setup, teardown),
        cmocka_unit_test_setup_teardown(the_text_of_an_answer_is_made_outside_the_loop, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_handler_may_take_several_turns, setup, teardown),
        cmocka_unit_test_setup_teardown(an_address_in_use_is_an_error, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
