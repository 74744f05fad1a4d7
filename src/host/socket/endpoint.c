/* Connects to a server's socket, reads the handle in a client's address, and transfers MADs that
 * are too long for one packet: the data is in a memfd whose descriptor goes along (SCM_RIGHTS). */
#include "host/socket/endpoint.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

int endpoint_connect(const char *path, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length = path ? snprintf(address->sun_path, sizeof address->sun_path, "%s", path)
                      : protocol_socket_path(address->sun_path, sizeof address->sun_path);
    if (length < 0 || (size_t)length >= sizeof address->sun_path)
        return -ENAMETOOLONG;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    /* Binding to an address without a path lets the kernel choose one (autobind). */
    if (bind(fd, (struct sockaddr *)address, sizeof address->sun_family) == 0 &&
        connect(fd, (struct sockaddr *)address, sizeof *address) == 0)
        return fd;
    int error = errno;
    close(fd);
    return -error;
}

bool endpoint_handle(const struct sockaddr_un *address, socklen_t length, uint32_t *handle)
{
    char digits[16] = "";
    size_t path = offsetof(struct sockaddr_un, sun_path);
    if (length <= path + 1 || length - path > sizeof digits || address->sun_path[0] != 0)
        return false;
    memcpy(digits, address->sun_path + 1, length - path - 1);
    *handle = (uint32_t)strtoul(digits, NULL, 16);
    return true;
}

ssize_t endpoint_send(int fd, const void *data, size_t bytes, const int *descriptors,
                      unsigned count, int flags)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(ENDPOINT_DESCRIPTORS * sizeof(int))];
    } control = {.header = {.cmsg_len = CMSG_LEN(count * sizeof(int)),
                            .cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS}};
    struct iovec piece = {(void *)data, bytes};
    struct msghdr packet = {.msg_iov = &piece, .msg_iovlen = 1};
    if (count) {
        memcpy(CMSG_DATA(&control.header), descriptors, count * sizeof(int));
        packet.msg_control = &control;
        packet.msg_controllen = CMSG_SPACE(count * sizeof(int));
    }
    return sendmsg(fd, &packet, flags);
}

ssize_t endpoint_send_long(int fd, const struct mad_head *head, size_t bytes, int flags)
{
    int memory = memfd_create("weft-mad", MFD_CLOEXEC);
    if (memory < 0)
        return -1;
    size_t done = 0;
    while (done < bytes) {
        ssize_t n = write(memory, (const char *)(head + 1) + done, bytes - done);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    ssize_t sent =
        done == bytes ? endpoint_send(fd, head, MESSAGE_PACKET_BYTES, &memory, 1, flags) : -1;
    int error = errno;
    close(memory);
    errno = error;
    return sent;
}

int endpoint_descriptor(struct msghdr *packet)
{
    int fd = -1;
    for (struct cmsghdr *entry = CMSG_FIRSTHDR(packet); entry; entry = CMSG_NXTHDR(packet, entry))
        if (entry->cmsg_level == SOL_SOCKET && entry->cmsg_type == SCM_RIGHTS)
            memcpy(&fd, CMSG_DATA(entry), sizeof fd);
    return fd;
}

bool endpoint_read_memory(int memory, void *data, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        ssize_t n = pread(memory, (char *)data + done, bytes - done, (off_t)done);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}
