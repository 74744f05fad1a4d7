/* A control socket: valid requests are received, anything else ends the connection, and clients
 * that send nothing do not add up. */
#include "base/mem.h"
#include "base/time.h"
#include "host/control/control_reply.h"
#include "host/control/control_socket.h"
#include "host/socket/endpoint.h"
#include "test.h"

#include <errno.h>
#include <sys/socket.h>

enum { CLIENTS = 100, PACKET = 64 * 1024 };

struct fixture {
    char directory[64], path[96];
    struct control_socket *socket;
};

static int make(void **state)
{
    struct fixture *fixture = mem_zalloc(1, sizeof *fixture);
    struct err err = {0};
    make_directory(fixture->directory);
    snprintf(fixture->path, sizeof fixture->path, "%s/socket", fixture->directory);
    assert_int_equal(control_socket_open(&fixture->socket, fixture->path, &err), 0);
    *state = fixture;
    return 0;
}

static int end(void **state)
{
    struct fixture *fixture = *state;
    control_socket_close(fixture->socket);
    assert_int_equal(access(fixture->path, F_OK), -1);
    rmdir(fixture->directory);
    mem_free(fixture);
    return 0;
}

static int connect_client(const struct fixture *fixture)
{
    struct sockaddr_un address;
    int fd = endpoint_connect(fixture->path, &address);
    assert_true(fd >= 0);
    return fd;
}

static struct request make_request(const char *words, size_t bytes)
{
    struct request request = {
        .magic = PROTOCOL_MAGIC, .version = PROTOCOL_VERSION, .kind = REQUEST_CTL};
    memcpy(request.text, words, bytes);
    return request;
}

/* Serves until nothing is left to do; returns the number of requests, and the last one. */
static unsigned serve(struct fixture *fixture, uint64_t now, struct control_request *last)
{
    unsigned requests = 0;
    for (unsigned turn = 0; turn < 2 * CLIENTS; turn++)
        while (control_socket_next(fixture->socket, now, last))
            requests++;
    return requests;
}

static bool is_closed(int fd)
{
    char byte;
    ssize_t got = recv(fd, &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN);
}

static void a_request_is_received_and_answered(void **state)
{
    struct fixture *fixture = *state;
    struct control_request got = {0};
    struct request request = make_request("link\0down\0S 0\0002", 16);
    char answer[64];
    int fd = connect_client(fixture);
    assert_int_equal(send(fd, &request, sizeof request, 0), sizeof request);
    assert_int_equal(serve(fixture, 1, &got), 1);
    assert_int_equal(got.count, 4);
    assert_string_equal(got.words[2], "S 0");
    assert_null(got.words[4]);
    struct control_reply *reply = mem_zalloc(1, sizeof *reply);
    reply->fd = got.fd;
    text_puts(&reply->answer.text, "done");
    control_reply_start(reply);
    ssize_t bytes = recv(fd, answer, sizeof answer, 0);
    assert_int_equal(bytes, sizeof(struct answer) + 4);
    assert_memory_equal(answer + sizeof(struct answer), "done", 4);
    assert_int_equal(recv(fd, answer, sizeof answer, 0), 0);
    close(fd);
}

static void garbage_ends_the_connection(void **state)
{
    struct fixture *fixture = *state;
    static char packet[PACKET];
    struct control_request got;
    struct request valid = make_request("status", 6), bad;
    memset(packet, 'x', sizeof packet);
    for (unsigned kind = 0; kind < 6; kind++) {
        int fd = connect_client(fixture);
        bad = valid;
        if (kind == 0)
            send(fd, packet, sizeof packet, 0);
        else if (kind == 1)
            send(fd, &valid, sizeof valid - 1, 0);
        else if (kind == 2)
            bad.magic++;
        else if (kind == 3)
            bad.kind = REQUEST_OPEN;
        else if (kind == 4)
            memset(bad.text, 'y', sizeof bad.text);
        else
            bad.version++;
        if (kind > 1)
            send(fd, &bad, sizeof bad, 0);
        assert_int_equal(serve(fixture, 1, &got), 0);
        assert_true(is_closed(fd));
        close(fd);
    }
    memcpy(packet, &valid, sizeof valid); /* a request, and more behind it */
    int fd = connect_client(fixture);
    send(fd, packet, sizeof packet, 0);
    assert_int_equal(serve(fixture, 1, &got), 0);
    assert_true(is_closed(fd));
    close(fd);
}

static void many_words_are_not_too_many(void **state)
{
    struct fixture *fixture = *state;
    struct control_request got = {0};
    char words[CTL_BYTES] = "";
    for (unsigned i = 0; i + 2 < sizeof words; i += 2)
        words[i] = 'w';
    struct request request = make_request(words, sizeof words);
    int fd = connect_client(fixture);
    assert_int_equal(send(fd, &request, sizeof request, 0), sizeof request);
    assert_int_equal(serve(fixture, 1, &got), 1);
    assert_int_equal(got.count, CONTROL_WORDS);
    close(got.fd);
    close(fd);
}

static void silent_clients_do_not_add_up(void **state)
{
    struct fixture *fixture = *state;
    struct control_request got;
    struct request request = make_request("status", 6);
    int fds[CLIENTS];
    unsigned open = 0;
    assert_true(control_socket_deadline(fixture->socket) == TIME_NEVER);
    for (unsigned i = 0; i < CLIENTS; i++) {
        fds[i] = connect_client(fixture);
        assert_int_equal(serve(fixture, NS_PER_S + i, &got), 0);
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        open += !is_closed(fds[i]);
    assert_int_equal(open, 32);
    assert_true(is_closed(fds[0]) && !is_closed(fds[CLIENTS - 1]));
    int fd = connect_client(fixture); /* which is answered in spite of them */
    assert_int_equal(send(fd, &request, sizeof request, 0), sizeof request);
    assert_int_equal(serve(fixture, NS_PER_S + CLIENTS, &got), 1);
    close(got.fd);
    close(fd);
    assert_true(control_socket_deadline(fixture->socket) < 7 * NS_PER_S);
    assert_int_equal(serve(fixture, 7 * NS_PER_S, &got), 0); /* all are late */
    for (unsigned i = 0; i < CLIENTS; i++) {
        assert_true(is_closed(fds[i]));
        close(fds[i]);
    }
    assert_true(control_socket_deadline(fixture->socket) == TIME_NEVER);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, make, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(a_request_is_received_and_answered),
        CLAIM(garbage_ends_the_connection),
        CLAIM(many_words_are_not_too_many),
        CLAIM(silent_clients_do_not_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
