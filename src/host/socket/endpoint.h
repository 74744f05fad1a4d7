/* What both ends of a connection do, the server and the library in other people's programs: plain
 * C.
 *
 * Messages that are too long for a packet: the packet has the beginning, and a descriptor of memory
 * that holds all of it comes along (protocol.h). */
#ifndef WEFT_HOST_SOCKET_ENDPOINT_H
#define WEFT_HOST_SOCKET_ENDPOINT_H

#include "host/socket/protocol.h"

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

/* Connects to a server: at `path`, or NULL: where protocol_socket_path() says. The socket is bound
 * to an address of the kernel's choice, which is its handle. The descriptor, or -errno; `address`
 * is the server's, for messages. */
int endpoint_connect(const char *path, struct sockaddr_un *address);
/* The number in the address that the kernel gave to a client's socket: "\0" and hex digits. False
 * if it is another address. */
bool endpoint_handle(const struct sockaddr_un *address, socklen_t length, uint32_t *handle);

/* Room for the one descriptor that comes along. */
union descriptor_room {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
};

/* Sends a message of `bytes` bytes, which stand behind its head. As sendmsg(2). */
ssize_t endpoint_send_long(int fd, const struct mad_head *head, size_t bytes, int flags);
/* The descriptor that came along with a packet, or -1. */
int endpoint_descriptor(struct msghdr *packet);
/* Copies the memory's first `bytes` bytes, since it may change under our hands. */
bool endpoint_read_memory(int memory, void *data, size_t bytes);

#endif
