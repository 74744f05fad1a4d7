/* Sockets of clients.
 *
 * One system call reads several packets, since a program that discovers a subnet has several
 * requests outstanding. One system call writes one MAD, directly from the queue. Messages longer
 * than a MAD are passed in memory with a descriptor (protocol.h). */
#include "host/server/connection.h"

#include "host/socket/endpoint.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    BATCH = 16,
    ROUNDS = 4, /* batches that one client may send before the next is served */
    PACKET_ROOM = sizeof(struct request) > MESSAGE_PACKET_BYTES ? sizeof(struct request)
                                                                : MESSAGE_PACKET_BYTES,
};

/* Returns the number of the client's address plus one; 0: no number. */
static uint32_t session_handle(const struct sockaddr_un *address, socklen_t length)
{
    uint32_t handle;
    return endpoint_handle(address, length, &handle) ? handle + 1 : 0;
}

struct connection *connection_accept(int listener, struct clients *clients)
{
    struct sockaddr_un address = {0};
    socklen_t length = sizeof address;
    int fd = accept4(listener, (struct sockaddr *)&address, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return NULL;
    struct ucred peer = {0};
    socklen_t peer_length = sizeof peer;
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_length);
    struct connection *connection = mem_zalloc(1, sizeof *connection);
    connection->fd = fd;
    connection->session =
        session_begin(clients, connection, session_handle(&address, length), (uint32_t)peer.pid);
    return connection;
}

void connection_close(struct connection *connection)
{
    if (connection->dead)
        return;
    session_end(connection->session);
    close(connection->fd);
    connection->session = NULL;
    connection->dead = true;
}

void connection_free(struct connection *connection)
{
    connection_close(connection);
    mem_free(connection);
}

bool connection_has_answer(const struct connection *connection)
{
    const int *descriptors;
    const struct session *session = connection->session;
    return session->answer.length ||
           (session->verbs && verbs_next_answer(session->verbs, &descriptors));
}

uint32_t connection_interest(const struct connection *connection)
{
    const struct session *session = connection->session;
    assert(!connection->dead && session);
    const char *packet;
    size_t bytes;
    const int *descriptors;
    bool out = session_next_answer(session, &packet, &bytes) ||
               (session->verbs && verbs_next_answer(session->verbs, &descriptors)) ||
               (session->file && mad_file_next(session->file));
    bool in = !session->file || !mad_file_is_full(session->file);
    return (in ? (uint32_t)EPOLLIN : 0) | (out ? (uint32_t)EPOLLOUT : 0);
}

/* ---- reading ---- */

/* Reads a long message. The descriptor must be a memfd: reading a pipe could block. */
static uint8_t *read_memory(int fd, size_t *bytes)
{
    struct stat status;
    if (fcntl(fd, F_GET_SEALS) < 0 || fstat(fd, &status) < 0 || status.st_size <= 0 ||
        status.st_size > MESSAGE_LIMIT)
        return NULL;
    *bytes = (size_t)status.st_size;
    uint8_t *data = mem_alloc(*bytes);
    if (endpoint_read_memory(fd, data, *bytes))
        return data;
    mem_free(data);
    return NULL;
}

static int receive_packet(struct session *session, struct msghdr *message, size_t bytes)
{
    size_t memory_bytes = 0;
    uint8_t *memory = NULL;
    int fd = endpoint_descriptor(message);
    int result = 0;
    if (session->state == SESSION_VERBS && !(message->msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
        return session_receive_verbs(session, message->msg_iov->iov_base, bytes, fd);
    if (fd >= 0) {
        memory = read_memory(fd, &memory_bytes);
        close(fd);
        result = memory ? 0 : -EPROTO;
    }
    if (message->msg_flags & MSG_TRUNC)
        result = -EPROTO;
    if (result == 0)
        result = session_receive(session, message->msg_iov->iov_base, bytes, memory, memory_bytes);
    mem_free(memory);
    return result;
}

/* Reads up to BATCH packets. Returns their number, or -errno at the end of the connection. */
static int read_batch(struct connection *connection)
{
    static uint8_t room[BATCH][PACKET_ROOM];
    static union descriptor_buffer control[BATCH];
    struct mmsghdr messages[BATCH];
    struct iovec pieces[BATCH];
    for (int i = 0; i < BATCH; i++) {
        pieces[i] = (struct iovec){room[i], PACKET_ROOM};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &pieces[i],
                                              .msg_iovlen = 1,
                                              .msg_control = &control[i],
                                              .msg_controllen = sizeof control[i]};
    }
    int count = recvmmsg(connection->fd, messages, BATCH, MSG_DONTWAIT | MSG_CMSG_CLOEXEC, NULL);
    if (count < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    int result = count == 0 ? -EPIPE : count;
    for (int i = 0; i < count; i++) {
        int error = -EPIPE; /* an empty packet means the end of the connection */
        if (result < 0) {
            int fd = endpoint_descriptor(&messages[i].msg_hdr);
            if (fd >= 0)
                close(fd);
        } else if (messages[i].msg_len > 0) {
            error = receive_packet(connection->session, &messages[i].msg_hdr, messages[i].msg_len);
        }
        if (error < 0)
            result = error;
    }
    return result;
}

void connection_read(struct connection *connection)
{
    int count = BATCH;
    for (int round = 0; round < ROUNDS && count == BATCH; round++)
        count = read_batch(connection);
    if (count < 0)
        connection_close(connection);
}

/* ---- writing ---- */

static ssize_t send_mad(int fd, const struct mad_received *message)
{
    size_t bytes = message->head.length - sizeof message->head;
    if (bytes > MESSAGE_INLINE)
        return endpoint_send_long(fd, &message->head, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    return send(fd, &message->head, message->head.length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Whether to write the next message. A full socket is tried again later. A long MAD is lost if
 * there is no memory or descriptor for it, as packets are. Any other error closes the connection:
 * a client that waits for an answer must not wait forever. */
enum message { MESSAGE_ANSWER, MESSAGE_MAD };
static bool check_sent(struct connection *connection, ssize_t sent, enum message message)
{
    if (sent >= 0)
        return true;
    if (errno == EAGAIN || errno == EINTR)
        return false;
    if (message == MESSAGE_MAD && (errno == ENOMEM || errno == ENOSPC || errno == EMFILE ||
                                   errno == ENFILE || errno == ENOBUFS || errno == ETOOMANYREFS))
        return true;
    connection_close(connection);
    return false;
}

void connection_write(struct connection *connection)
{
    struct session *session = connection->session;
    assert(!connection->dead && session);
    const struct mad_received *message;
    const char *packet;
    size_t bytes;
    while (session_next_answer(session, &packet, &bytes)) {
        if (!check_sent(connection,
                        send(connection->fd, packet, bytes, MSG_DONTWAIT | MSG_NOSIGNAL),
                        MESSAGE_ANSWER))
            return;
        session_answer_sent(session, bytes);
    }
    if (session->state == SESSION_DONE) {
        connection_close(connection);
        return;
    }
    const struct verbs_answer *answer;
    const int *descriptors;
    while (session->verbs && (answer = verbs_next_answer(session->verbs, &descriptors)) != NULL) {
        if (!check_sent(connection,
                        endpoint_send(connection->fd, answer, sizeof *answer, descriptors,
                                      answer->descriptors, MSG_DONTWAIT | MSG_NOSIGNAL),
                        MESSAGE_ANSWER))
            return;
        verbs_answer_sent(session->verbs);
    }
    while (session->file && (message = mad_file_next(session->file)) != NULL) {
        if (!check_sent(connection, send_mad(connection->fd, message), MESSAGE_MAD))
            return;
        mad_file_taken(session->file);
    }
}
