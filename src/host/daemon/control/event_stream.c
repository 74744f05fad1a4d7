/* Sends events to followers over their control connections, never blocking the manager. A follower
 * that has closed its end is dropped at the next event or when another client begins to follow. */
#include "host/daemon/control/event_stream.h"

#include "base/mem.h"
#include "host/socket/protocol.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void drop_follower(struct event_stream *stream, size_t at)
{
    close(stream->followers[at].fd);
    mem_shift(stream->followers, &stream->count, at, sizeof *stream->followers, false);
}

void event_stream_add(struct event_stream *stream, int fd, bool json)
{
    static const char refusal[] = "too many clients follow events";
    char packet[sizeof(struct answer) + sizeof refusal];
    char byte;
    for (size_t i = stream->count; i-- > 0;) {
        ssize_t got = recv(stream->followers[i].fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            drop_follower(stream, i);
    }
    bool full = stream->count == FOLLOWERS_MOST;
    struct answer head = {full ? -EINVAL : 0, full ? sizeof refusal - 1 : 0};
    memcpy(packet, &head, sizeof head);
    memcpy(packet + sizeof head, refusal, sizeof refusal);
    send(fd, packet, sizeof head + head.bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (full)
        close(fd);
    else
        stream->followers[stream->count++] = (struct follower){.fd = fd, .json = json};
}

/* False: the connection is closed. */
static bool send_record(struct follower *follower, const struct event_record *record, bool *sent)
{
    struct text line = {0};
    event_record_print(record, follower->json, NULL, &line);
    *sent = send(follower->fd, line.data, line.length, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
    bool open = *sent || errno == EAGAIN || errno == ENOBUFS;
    text_release(&line);
    return open;
}

static bool send_loss(struct follower *follower, bool *sent)
{
    char text[64];
    struct event_figure figure = {"events", follower->lost};
    snprintf(text, sizeof text, "%llu events were not read in time",
             (unsigned long long)follower->lost);
    return send_record(follower,
                       &(struct event_record){
                           .event = "lost", .text = text, .figures = &figure, .figure_count = 1},
                       sent);
}

void event_stream_send(struct event_stream *stream, const struct event_record *record)
{
    for (size_t i = stream->count; i-- > 0;) {
        struct follower *follower = &stream->followers[i];
        bool sent = true, open = !follower->lost || send_loss(follower, &sent);
        if (open && sent) {
            follower->lost = 0;
            open = send_record(follower, record, &sent);
        }
        follower->lost += !sent;
        if (!open)
            drop_follower(stream, i);
    }
}

void event_stream_close(struct event_stream *stream)
{
    while (stream->count)
        drop_follower(stream, stream->count - 1);
}
