/* Server-sent events (HTML Living Standard, section 9.2).
 *
 * An event is formatted once and shared by the queues of all subscribers. A connection with an
 * empty queue is suspended: libmicrohttpd does not look at it until the next event resumes it. One
 * lock covers the queues and the suspension, so no event can arrive between the test of a queue and
 * the suspension. The events of a queue that overflows are dropped, except one that is partly sent.
 */
#include "host/http/stream.h"

#include "base/mem.h"

#include <pthread.h>
#include <string.h>

enum { QUEUE_EVENTS = 256, QUEUE_BYTES = 4 * 1024 * 1024, BLOCK_BYTES = 64 * 1024 };

struct stream_event {
    unsigned references;
    struct text text;
};

struct subscriber {
    struct http_stream *stream;
    struct subscriber *previous, *next;
    struct MHD_Connection *connection;
    struct stream_event *queue[QUEUE_EVENTS]; /* the first is being sent from `sent` on */
    size_t count, bytes, sent;
    uint64_t lost;
    bool suspended;
};

struct http_stream {
    pthread_mutex_t lock;
    struct subscriber *first;
    unsigned count;
    bool closed;
};

static struct stream_event *make_event(const char *name, const char *data)
{
    struct stream_event *event = mem_zalloc(1, sizeof *event);
    event->references = 1;
    if (!data) {
        text_puts(&event->text, ":\n\n");
        return event;
    }
    text_printf(&event->text, "event: %s\n", name);
    for (const char *line = data; line; line = *line ? line + 1 : NULL) {
        size_t length = strcspn(line, "\r\n");
        text_puts(&event->text, "data: ");
        text_append(&event->text, line, length);
        text_putc(&event->text, '\n');
        line += length;
    }
    text_putc(&event->text, '\n');
    return event;
}

static void unref_event(struct stream_event *event)
{
    if (--event->references)
        return;
    text_release(&event->text);
    mem_free(event);
}

struct http_stream *http_stream_new(void)
{
    struct http_stream *stream = mem_zalloc(1, sizeof *stream);
    pthread_mutex_init(&stream->lock, NULL);
    return stream;
}

void http_stream_free(struct http_stream *stream)
{
    if (!stream)
        return;
    pthread_mutex_destroy(&stream->lock);
    mem_free(stream);
}

static void remove_event(struct subscriber *subscriber, size_t index)
{
    subscriber->bytes -= subscriber->queue[index]->text.length;
    unref_event(subscriber->queue[index]);
    subscriber->count--;
    memmove(subscriber->queue + index, subscriber->queue + index + 1,
            (subscriber->count - index) * sizeof *subscriber->queue);
}

static void drop_queue(struct subscriber *subscriber)
{
    size_t keep = subscriber->sent ? 1 : 0;
    while (subscriber->count > keep) {
        subscriber->lost++;
        remove_event(subscriber, subscriber->count - 1);
    }
}

static void enqueue(struct subscriber *subscriber, struct stream_event *event)
{
    if (subscriber->count == QUEUE_EVENTS || subscriber->bytes + event->text.length > QUEUE_BYTES)
        drop_queue(subscriber);
    if (subscriber->count == QUEUE_EVENTS || subscriber->bytes + event->text.length > QUEUE_BYTES) {
        subscriber->lost++;
        return;
    }
    event->references++;
    subscriber->bytes += event->text.length;
    subscriber->queue[subscriber->count++] = event;
}

static void resume(struct subscriber *subscriber)
{
    if (!subscriber->suspended)
        return;
    subscriber->suspended = false;
    mhd.resume_connection(subscriber->connection);
}

static void publish(struct http_stream *stream, struct stream_event *event, bool if_idle)
{
    pthread_mutex_lock(&stream->lock);
    for (struct subscriber *at = stream->first; at; at = at->next) {
        if (!if_idle || !at->count)
            enqueue(at, event);
        resume(at);
    }
    unref_event(event);
    pthread_mutex_unlock(&stream->lock);
}

void http_stream_publish(struct http_stream *stream, const char *name, const char *data)
{
    publish(stream, make_event(name, data), false);
}

void http_stream_ping(struct http_stream *stream)
{
    publish(stream, make_event("", NULL), true);
}

unsigned http_stream_subscribers(struct http_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    unsigned count = stream->count;
    pthread_mutex_unlock(&stream->lock);
    return count;
}

void http_stream_close(struct http_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->closed = true;
    for (struct subscriber *at = stream->first; at; at = at->next)
        resume(at);
    pthread_mutex_unlock(&stream->lock);
}

/* Tells a subscriber how many events it has lost, before the next one. */
static void enqueue_loss(struct subscriber *subscriber)
{
    char data[48];
    if (!subscriber->lost || subscriber->sent || subscriber->count == QUEUE_EVENTS)
        return;
    snprintf(data, sizeof data, "{\"events\":%llu}", (unsigned long long)subscriber->lost);
    struct stream_event *event = make_event("lost", data);
    memmove(subscriber->queue + 1, subscriber->queue,
            subscriber->count++ * sizeof *subscriber->queue);
    subscriber->queue[0] = event;
    subscriber->bytes += event->text.length;
    subscriber->lost = 0;
}

static ssize_t read_events(void *context, uint64_t position, char *buffer, size_t size)
{
    struct subscriber *subscriber = context;
    size_t done = 0;
    (void)position;
    pthread_mutex_lock(&subscriber->stream->lock);
    if (subscriber->stream->closed) {
        pthread_mutex_unlock(&subscriber->stream->lock);
        return MHD_CONTENT_READER_END_OF_STREAM;
    }
    enqueue_loss(subscriber);
    while (done < size && subscriber->count) {
        const struct text *text = &subscriber->queue[0]->text;
        size_t part = text->length - subscriber->sent;
        if (part > size - done)
            part = size - done;
        memcpy(buffer + done, text->data + subscriber->sent, part);
        done += part;
        subscriber->sent += part;
        if (subscriber->sent < text->length)
            break;
        subscriber->sent = 0;
        remove_event(subscriber, 0);
    }
    if (!done) {
        mhd.suspend_connection(subscriber->connection);
        subscriber->suspended = true;
    }
    pthread_mutex_unlock(&subscriber->stream->lock);
    return (ssize_t)done;
}

static void free_subscriber(void *context)
{
    struct subscriber *subscriber = context;
    struct http_stream *stream = subscriber->stream;
    pthread_mutex_lock(&stream->lock);
    *(subscriber->previous ? &subscriber->previous->next : &stream->first) = subscriber->next;
    if (subscriber->next)
        subscriber->next->previous = subscriber->previous;
    stream->count--;
    while (subscriber->count)
        remove_event(subscriber, subscriber->count - 1);
    pthread_mutex_unlock(&stream->lock);
    mem_free(subscriber);
}

struct MHD_Response *http_stream_subscribe(struct http_stream *stream,
                                           struct MHD_Connection *connection)
{
    struct subscriber *subscriber = NULL;
    pthread_mutex_lock(&stream->lock);
    if (!stream->closed) {
        subscriber = mem_zalloc(1, sizeof *subscriber);
        subscriber->stream = stream;
        subscriber->connection = connection;
        subscriber->next = stream->first;
        if (stream->first)
            stream->first->previous = subscriber;
        stream->first = subscriber;
        stream->count++;
        struct stream_event *hello =
            make_event("", NULL); /* the client sees the head of the answer now */
        enqueue(subscriber, hello);
        unref_event(hello);
    }
    pthread_mutex_unlock(&stream->lock);
    if (!subscriber)
        return NULL;
    struct MHD_Response *response = mhd.create_response_from_callback(
        MHD_SIZE_UNKNOWN, BLOCK_BYTES, read_events, subscriber, free_subscriber);
    if (!response)
        mem_fail("an HTTP response");
    return response;
}
