/* Threads that print and send answers, and what to do when there are too many of them. */
#include "host/control/control_reply.h"

#include "base/mem.h"
#include "base/time.h"
#include "host/socket/protocol.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    REPLIES_MOST = 32, /* threads that send an answer */
    CHUNK = 32 * 1024,
    SEND_SECONDS = 5,   /* time limit for a client to read a part of an answer */
    REPLY_SECONDS = 60, /* and the whole answer */
};

static atomic_uint replies; /* threads that send one */

/* Sends the answer and closes the connection. A client that reads too slowly gets a part of it. */
static void finish_reply(struct control_reply *task, int flags)
{
    struct control_answer *answer = &task->answer;
    struct text packets = {0};
    uint64_t until = time_monotonic_ns() + REPLY_SECONDS * NS_PER_S;
    if (answer->data)
        answer->print(answer->data, answer->json, &answer->text);
    struct answer head = {task->result, (uint32_t)answer->text.length};
    text_append(&packets, (const char *)&head, sizeof head);
    text_append(&packets, answer->text.length ? answer->text.data : "", answer->text.length);
    for (size_t at = 0; at < packets.length && time_monotonic_ns() < until;) {
        size_t chunk = packets.length - at < CHUNK ? packets.length - at : CHUNK;
        if (send(task->fd, packets.data + at, chunk, MSG_NOSIGNAL | flags) < 0)
            break; /* the client is too slow, or closed the connection */
        at += chunk;
    }
    close(task->fd);
    control_answer_release(answer);
    text_release(&packets);
    mem_free(task);
}

static void *send_reply(void *task)
{
    finish_reply(task, 0);
    atomic_fetch_sub(&replies, 1);
    return NULL;
}

void control_reply_send_now(struct control_reply *task)
{
    finish_reply(task, MSG_DONTWAIT);
}

/* If REPLIES_MOST threads are running, an answer that fits into the socket's buffer is sent at
 * once, and a longer one is refused. */
void control_reply_start(struct control_reply *task)
{
    const struct timeval patience = {.tv_sec = SEND_SECONDS};
    pthread_t thread;
    setsockopt(task->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (atomic_fetch_add(&replies, 1) < REPLIES_MOST &&
        pthread_create(&thread, NULL, send_reply, task) == 0) {
        pthread_detach(thread);
        return;
    }
    atomic_fetch_sub(&replies, 1);
    if (task->answer.data) {
        control_answer_release(&task->answer);
        task->result = -EINVAL;
        text_puts(&task->answer.text, "too many clients read tables; try again");
    }
    finish_reply(task, MSG_DONTWAIT);
}
