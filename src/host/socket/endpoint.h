/* Code that the server and the preload library share. It is loaded into foreign programs, so it
 * uses none of weft's libraries.
 *
 * A message that is too long for a packet is sent as a packet with its beginning and a descriptor
 * of memory that holds the whole message (protocol.h). */
#ifndef WEFT_HOST_SOCKET_ENDPOINT_H
#define WEFT_HOST_SOCKET_ENDPOINT_H

#include "host/socket/protocol.h"

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

/* Connects to the server at `path` (NULL: protocol_socket_path()). The socket is bound to an
 * address that the kernel chooses, which is its handle. Returns the descriptor or -errno, and the
 * server's address for error messages. */
int endpoint_connect(const char *path, struct sockaddr_un *address);
/* Reads the number in the address that the kernel gave to a client's socket: "\0" and hex digits.
 * Returns false for any other address. */
bool endpoint_handle(const struct sockaddr_un *address, socklen_t length, uint32_t *handle);

/* Ancillary data with one descriptor. */
union descriptor_buffer {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
};

enum { ENDPOINT_DESCRIPTORS = 2 };
/* Sends a packet, and at most ENDPOINT_DESCRIPTORS descriptors with it. Returns as sendmsg(2). */
ssize_t endpoint_send(int fd, const void *data, size_t bytes, const int *descriptors,
                      unsigned count, int flags);

/* Sends a message of `bytes` bytes, which follow its head in memory. Returns as sendmsg(2) does. */
ssize_t endpoint_send_long(int fd, const struct mad_head *head, size_t bytes, int flags);
/* Returns the descriptor that a packet carried, or -1. */
int endpoint_descriptor(struct msghdr *packet);
/* Copies the first `bytes` bytes: the sender may change the memory at any time. */
bool endpoint_read_memory(int memory, void *data, size_t bytes);

#endif
