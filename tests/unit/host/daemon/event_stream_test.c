/* Followers of events: each gets every event, and one that does not read is told what it lost. */
#include "host/daemon/control/event_stream.h"
#include "host/socket/protocol.h"
#include "test.h"

#include <errno.h>
#include <sys/socket.h>

static int follow(struct event_stream *stream, bool json, int expected)
{
    int pair[2];
    struct answer head;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    event_stream_add(stream, pair[0], json);
    assert_true(recv(pair[1], &head, sizeof head, 0) == sizeof head);
    assert_int_equal(head.result, expected);
    return pair[1];
}

/* The next packet as a string; "" if there is none, "end" if the connection is closed. */
static const char *next_line(int fd)
{
    static char line[2048];
    ssize_t got = recv(fd, line, sizeof line - 1, MSG_DONTWAIT);
    line[got > 0 ? got : 0] = 0;
    return got == 0 ? "end" : line;
}

static void an_event_is_one_line_for_each_follower(void **state)
{
    struct event_stream stream = {0};
    int json = follow(&stream, true, 0), plain = follow(&stream, false, 0);
    (void)state;
    event_stream_send(
        &stream,
        &(struct event_record){
            .event = "link", .text = "link down: a \"b\"", .node = "a", .guid = 0x10, .port = 7});
    const char *line = next_line(json);
    assert_memory_equal(line, "{\"time\":\"", 9);
    assert_non_null(strstr(line,
                           "\"event\":\"link\",\"node\":\"a\",\"guid\":\"0x0000000000000010\","
                           "\"port\":7,\"text\":\"link down: a \\\"b\\\"\"}\n"));
    assert_int_equal(line[strlen(line) - 1], '\n');
    assert_non_null(strstr(next_line(plain), " link     link down: a \"b\"\n"));
    assert_string_equal(next_line(json), "");
    event_stream_close(&stream);
    assert_string_equal(next_line(json), "end");
    close(json);
    close(plain);
}

static void a_slow_reader_is_told_how_many_events_it_lost(void **state)
{
    struct event_stream stream = {0};
    int slow = follow(&stream, true, 0), quick = follow(&stream, true, 0);
    unsigned quick_count = 0, slow_count = 0, lost = 0, more;
    (void)state;
    for (unsigned i = 0; i < 5000; i++) {
        event_stream_send(&stream, &(struct event_record){.event = "x", .text = "y"});
        quick_count += strstr(next_line(quick), "\"event\":\"x\"") != NULL;
    }
    assert_int_equal(quick_count, 5000);
    for (const char *line; *(line = next_line(slow));)
        slow_count += strstr(line, "\"event\":\"x\"") != NULL;
    assert_in_range(slow_count, 1, 4999);
    event_stream_send(&stream, &(struct event_record){.event = "last", .text = ""});
    const char *line = strstr(next_line(slow), "\"figures\":{\"events\":");
    assert_non_null(line);
    assert_int_equal(sscanf(line, "\"figures\":{\"events\":%u", &more), 1);
    lost += more;
    assert_int_equal(slow_count + lost, 5000);
    assert_non_null(strstr(next_line(slow), "\"event\":\"last\""));
    event_stream_close(&stream);
    close(slow);
    close(quick);
}

static void followers_that_left_make_room(void **state)
{
    struct event_stream stream = {0};
    int fds[FOLLOWERS_MOST];
    (void)state;
    for (unsigned i = 0; i < FOLLOWERS_MOST; i++)
        fds[i] = follow(&stream, true, 0);
    close(follow(&stream, true, -EINVAL));
    close(fds[3]);
    fds[3] = follow(&stream, true, 0);
    event_stream_send(&stream, &(struct event_record){.event = "x", .text = "y"});
    for (unsigned i = 0; i < FOLLOWERS_MOST; i++) {
        assert_non_null(strstr(next_line(fds[i]), "\"event\":\"x\""));
        close(fds[i]);
    }
    event_stream_send(&stream, &(struct event_record){.event = "x", .text = "y"});
    assert_int_equal(stream.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_is_one_line_for_each_follower),
        cmocka_unit_test(a_slow_reader_is_told_how_many_events_it_lost),
        cmocka_unit_test(followers_that_left_make_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
