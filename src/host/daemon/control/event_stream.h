/* Clients that follow the events of the manager (weft ctl events --follow).
 *
 * An event is sent to each follower as one packet, without waiting. The buffer of the socket is the
 * queue of a follower: if it is full, the event is lost for this follower, which receives the
 * number of lost events as soon as there is room. */
#ifndef WEFT_HOST_DAEMON_CONTROL_EVENT_STREAM_H
#define WEFT_HOST_DAEMON_CONTROL_EVENT_STREAM_H

#include "host/files/event_log.h"

enum { FOLLOWERS_MOST = 16 };

struct event_stream {
    struct follower {
        int fd;
        bool json;
        uint64_t lost;
    } followers[FOLLOWERS_MOST];
    size_t count;
};

/* Takes over the connection of a client, and answers its request. */
void event_stream_add(struct event_stream *stream, int fd, bool json);
void event_stream_send(struct event_stream *stream, const struct event_record *record);
void event_stream_close(struct event_stream *stream);

#endif
