/* One server at two addresses, addresses that are in use, and tokens. */
#include "client.h"
#include "host/http/address.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

static void hello(void *context, const struct http_request *request, struct http_response *response)
{
    (void)request;
    text_puts(&response->body, context);
}

static const struct http_route routes[] = {
    {.method = "GET", .path = "/page", .handler = hello, .context = "page"},
    {.method = "GET",
     .path = "/metrics",
     .in_loop = true,
     .everywhere = true,
     .handler = hello,
     .context = "metrics"},
    {.method = "GET", .path = "/", .handler = hello, .context = "page"},
    {.method = "GET", .path = "/", .everywhere = true, .handler = hello, .context = "hint"},
    {.method = "POST", .path = "/act", .changes = true, .handler = hello, .context = "acted"},
};
static const struct http_options options = {.routes = routes, .route_count = 5};

static unsigned ask_at(const char *address, const char *path, struct text *answer)
{
    int fd = client_connect(address);
    assert_true(fd >= 0);
    client_print(fd, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    text_clear(answer);
    client_read(fd, answer, NULL);
    close(fd);
    return client_status(answer);
}

static void an_address_may_serve_some_routes_only(void **state)
{
    struct http_server *server;
    struct text answer = {0};
    (void)state;
    assert_int_equal(http_server_new(&server, &options, NULL), 0);
    assert_string_equal(http_server_address(server), "");
    assert_int_equal(http_server_listen(server, "0", false, NULL), 0);
    assert_int_equal(http_server_listen(server, "0", true, NULL), 1);
    const char *all = http_listener_address(server, 0), *some = http_listener_address(server, 1);
    assert_string_not_equal(all, some);
    assert_int_equal(ask_at(all, "/page", &answer), 200);
    assert_int_equal(ask_at(some, "/page", &answer), 404);
    assert_int_equal(ask_at(some, "/act", &answer), 404);
    assert_int_equal(ask_at(all, "/", &answer), 200);
    assert_true(client_has(&answer, "page"));
    assert_int_equal(ask_at(some, "/", &answer), 200);
    assert_true(client_has(&answer, "hint"));
    http_server_stop(server);
    text_release(&answer);
}

/* Requests at both addresses wake the owner by one descriptor. */
static void all_addresses_share_a_descriptor(void **state)
{
    struct http_server *server;
    struct text answer = {0};
    (void)state;
    assert_int_equal(http_server_new(&server, &options, NULL), 0);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(http_server_listen(server, "0", i, NULL), i);
        int fd = client_connect(http_listener_address(server, i));
        client_print(fd, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        struct pollfd wake = {.fd = http_server_fd(server), .events = POLLIN};
        assert_int_equal(poll(&wake, 1, 20000), 1);
        assert_true(http_server_serve(server));
        text_clear(&answer);
        client_read(fd, &answer, NULL);
        assert_true(client_has(&answer, "metrics"));
        close(fd);
    }
    http_server_stop(server);
    text_release(&answer);
}

/* The loop of the owner is slow, and requests over TCP have filled its queue. */
static void a_unix_socket_has_its_own_queue(void **state)
{
    struct http_server *server;
    struct http_options given = options;
    struct text answer = {0};
    char path[64];
    int fds[4];
    (void)state;
    given.limits = http_default_limits;
    given.limits.pending = 3;
    snprintf(path, sizeof path, "unix:/tmp/weft-queue-%d", (int)getpid());
    assert_int_equal(http_server_new(&server, &given, NULL), 0);
    assert_int_equal(http_server_listen(server, "0", false, NULL), 0);
    assert_int_equal(http_server_listen(server, path, false, NULL), 1);
    for (unsigned i = 0; i < 4; i++) {
        fds[i] = client_connect(i < 3 ? http_server_address(server) : path);
        assert_true(fds[i] >= 0);
        client_print(fds[i],
                     "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        if (i == 2) /* the server's thread has seen the three requests */
            assert_int_equal(ask_at(http_server_address(server), "/page", &answer), 200);
    }
    assert_int_equal(ask_at(path, "/page", &answer), 200); /* the socket's thread has run */
    for (unsigned served = 0; served < 4;) {
        struct pollfd ready[2] = {{.fd = http_server_fd(server), .events = POLLIN},
                                  {.fd = fds[3], .events = POLLIN}};
        assert_true(poll(ready, 2, 20000) > 0);
        served += http_server_serve(server);
        if (ready[1].revents)
            break;
    }
    text_clear(&answer);
    client_read(fds[3], &answer, NULL);
    assert_int_equal(client_status(&answer), 200);
    for (unsigned i = 0; i < 4; i++)
        close(fds[i]);
    http_server_stop(server);
    text_release(&answer);
}

static void an_address_in_use_is_tried_again(void **state)
{
    struct http_server *first, *second;
    struct text answer = {0};
    struct err err = {0};
    char address[64];
    (void)state;
    assert_int_equal(http_server_new(&first, &options, NULL), 0);
    assert_int_equal(http_server_listen(first, "0", false, NULL), 0);
    snprintf(address, sizeof address, "%s", http_server_address(first) + strlen("http://"));
    assert_int_equal(http_server_new(&second, &options, NULL), 0);
    assert_int_equal(http_server_listen(second, address, false, &err), -EADDRINUSE);
    assert_non_null(strstr(err.message, address));
    http_server_stop(first);
    assert_int_equal(http_server_listen(second, address, false, &err), 0);
    assert_int_equal(ask_at(http_server_address(second), "/page", &answer), 200);
    http_server_stop(second);
    text_release(&answer);
}

static void the_same_address_has_several_texts(void **state)
{
    (void)state;
    assert_true(http_address_same("9933", "127.0.0.1:9933"));
    assert_true(http_address_same("localhost:9933", "9933"));
    assert_false(http_address_same("9933", "9934"));
    assert_false(http_address_same("9933", "*:9933"));
    assert_false(http_address_same("9933", "unix:/tmp/9933"));
    assert_false(http_address_same("nonsense", "nonsense"));
}

static int start_with(const char *token, struct http_server **server)
{
    struct http_options given = options;
    given.token = token;
    given.listen = "0";
    return http_server_start(server, &given, NULL);
}

/* An empty token would be that of every request with an empty header. */
static void a_token_is_not_empty_and_not_cut_off(void **state)
{
    struct http_server *server;
    char longest[HTTP_TOKEN_MOST + 2], head[256];
    (void)state;
    memset(longest, 'x', sizeof longest);
    longest[HTTP_TOKEN_MOST + 1] = 0;
    assert_int_equal(start_with("", &server), -EINVAL);
    assert_int_equal(start_with("short", &server), -EINVAL);
    assert_int_equal(start_with("with a blank", &server), -EINVAL);
    assert_int_equal(start_with("line\r\nbreak", &server), -EINVAL);
    assert_int_equal(start_with(longest, &server), -EINVAL);
    longest[HTTP_TOKEN_MOST] = 0;
    assert_int_equal(start_with(longest, &server), 0);
    assert_string_equal(http_server_token(server), longest);
    snprintf(head, sizeof head, "X-Weft-Token: %s\r\n", longest);
    assert_int_equal(client_ask(server, "POST", "/act", head, "", NULL), 200);
    head[strlen(head) - 3] = 0; /* without its last character */
    strcat(head, "\r\n");
    assert_int_equal(client_ask(server, "POST", "/act", head, "", NULL), 401);
    assert_int_equal(client_ask(server, "POST", "/act", "X-Weft-Token:\r\n", "", NULL), 401);
    http_server_stop(server);
}

static int read_token(const char *content, mode_t mode, char *token, struct err *err)
{
    char path[] = "/tmp/weft-token-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, strlen(content)), (ssize_t)strlen(content));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
    int status = http_token_read(path, token, err);
    unlink(path);
    return status;
}

static void a_token_is_read_from_a_private_file(void **state)
{
    char token[HTTP_TOKEN_MOST + 1];
    struct err err = {0};
    (void)state;
    assert_int_equal(read_token("secret-of-mine\nmore\n", 0600, token, &err), 0);
    assert_string_equal(token, "secret-of-mine");
    assert_int_equal(read_token("secret-of-mine\r\n", 0400, token, &err), 0);
    assert_string_equal(token, "secret-of-mine");
    assert_int_equal(read_token("secret-of-mine\n", 0640, token, &err), -EPERM);
    assert_int_equal(read_token("", 0600, token, &err), -EINVAL);
    assert_int_equal(read_token("\nsecret-of-mine\n", 0600, token, &err), -EINVAL);
    assert_int_equal(http_token_read("/nowhere/token", token, &err), -ENOENT);
}

/* The file of another user, or a pipe that nobody writes to. */
static void a_token_is_not_read_from_what_others_control(void **state)
{
    char token[HTTP_TOKEN_MOST + 1], path[64], folder[] = "/tmp/weft-token-XXXXXX";
    struct err err = {0};
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(http_token_read(path, token, &err), -EINVAL);
    assert_non_null(strstr(err.message, "regular file"));
    unlink(path);
    assert_int_equal(http_token_read(folder, token, &err), -EINVAL);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, "secret-of-mine\n", 15), 15);
    if (fchown(fd, 12345, (gid_t)-1) == 0) { /* only root can give a file away */
        assert_int_equal(http_token_read(path, token, &err), -EPERM);
        assert_non_null(strstr(err.message, "another user"));
    }
    close(fd);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_may_serve_some_routes_only),
        cmocka_unit_test(all_addresses_share_a_descriptor),
        cmocka_unit_test(a_unix_socket_has_its_own_queue),
        cmocka_unit_test(an_address_in_use_is_tried_again),
        cmocka_unit_test(the_same_address_has_several_texts),
        cmocka_unit_test(a_token_is_not_empty_and_not_cut_off),
        cmocka_unit_test(a_token_is_read_from_a_private_file),
        cmocka_unit_test(a_token_is_not_read_from_what_others_control),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
