/* Sockets of clients.
 *
 * Reading takes several packets a call, since a discovering program has some requests on the way;
 * writing takes one call a MAD, straight from the queue. Messages longer than a MAD come and go as
 * memory behind a descriptor (see protocol.h). */
#include "host/server/connection.h"

#include "host/socket/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    BATCH = 16,
    ROUNDS = 4, /* of a batch, before others get their turn */
    PACKET_ROOM = sizeof(struct request) > MESSAGE_PACKET_BYTES ? sizeof(struct request)
                                                                : MESSAGE_PACKET_BYTES,
};

/* 0 says that there is none. */
static uint32_t handle_of_address(const struct sockaddr_un *address, socklen_t length)
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
        session_begin(clients, connection, handle_of_address(&address, length), (uint32_t)peer.pid);
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

uint32_t connection_interest(const struct connection *connection)
{
    const struct session *session = connection->session;
    const char *packet;
    size_t bytes;
    bool out = session_next_answer(session, &packet, &bytes) ||
               (session->file && mad_file_next(session->file));
    bool in = !session->file || !mad_file_is_full(session->file);
    return (in ? (uint32_t)EPOLLIN : 0) | (out ? (uint32_t)EPOLLOUT : 0);
}

/* ---- in ---- */

/* Reads a long message from the memory that a client sent, which must be memory: a pipe or a
 * terminal would make us wait. */
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

/* Reads up to a batch. Returns the number of packets; 0 when none is there; -errno at the end. */
static int read_batch(struct connection *connection)
{
    static uint8_t room[BATCH][PACKET_ROOM];
    static union descriptor_room control[BATCH];
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
        int error = -EPIPE; /* an empty packet is the end of the connection */
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

unsigned connection_read(struct connection *connection)
{
    unsigned packets = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int count = read_batch(connection);
        if (count < 0) {
            connection_close(connection);
            return packets + 1;
        }
        packets += (unsigned)count;
        if (count < BATCH)
            break;
    }
    return packets;
}

/* ---- out ---- */

static ssize_t send_mad(int fd, const struct mad_received *message)
{
    size_t bytes = message->head.length - sizeof message->head;
    if (bytes > MESSAGE_INLINE)
        return endpoint_send_long(fd, &message->head, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    return send(fd, &message->head, message->head.length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Whether writing can go on. A full socket waits for its reader; no memory or descriptors for a
 * long message costs that message; anything else is the end. */
static bool go_on(struct connection *connection, ssize_t sent)
{
    if (sent >= 0)
        return true;
    if (errno == EAGAIN || errno == EINTR)
        return false;
    if (errno == ENOMEM || errno == ENOSPC || errno == EMFILE || errno == ENFILE ||
        errno == ENOBUFS || errno == ETOOMANYREFS)
        return true;
    connection_close(connection);
    return false;
}

void connection_write(struct connection *connection)
{
    struct session *session = connection->session;
    const struct mad_received *message;
    const char *packet;
    size_t bytes;
    while (session_next_answer(session, &packet, &bytes)) {
        if (!go_on(connection, send(connection->fd, packet, bytes, MSG_DONTWAIT | MSG_NOSIGNAL)))
            return;
        session_answer_sent(session, bytes);
    }
    if (session->state == SESSION_DONE) {
        connection_close(connection);
        return;
    }
    while (session->file && (message = mad_file_next(session->file)) != NULL) {
        if (!go_on(connection, send_mad(connection->fd, message)))
            return;
        mad_file_taken(session->file);
    }
}
