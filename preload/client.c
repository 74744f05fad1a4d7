/* Requests to the fabric server.
 *
 * There is no state: the environment is read for each request, so that threads and forks need no
 * care. */
#include "client.h"
#include "host/socket/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* The number of this process among those of a parallel program; NULL: it is not part of one. */
static const char *rank_of_process(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return value;
    }
    return NULL;
}

/* Copies the attachment; "%r" becomes the rank, or stays if there is none, which names no node. */
static void expand_attachment(const char *from, char *to, size_t size)
{
    const char *rank = rank_of_process(), *at = strstr(from, "%r");
    if (rank && at)
        snprintf(to, size, "%.*s%s%s", (int)(at - from), from, rank, at + 2);
    else
        snprintf(to, size, "%s", from);
}

void client_prepare(struct request *request, enum request_kind kind)
{
    const char *attach = getenv(WEFT_ATTACH_VARIABLE);
    memset(request, 0, sizeof *request);
    request->magic = PROTOCOL_MAGIC;
    request->version = PROTOCOL_VERSION;
    request->kind = kind;
    if (attach)
        expand_attachment(attach, request->attach, sizeof request->attach);
}

/* Prints the reason of a failure once, since programs only print "can't open port". */
static int connect_to_server(void)
{
    static bool printed;
    struct sockaddr_un address;
    int fd = endpoint_connect(NULL, &address);
    if (fd < 0 && !printed)
        fprintf(stderr, "weft: no fabric server at '%s': %s (" WEFT_SOCKET_VARIABLE " names it)\n",
                address.sun_path, strerror(-fd));
    printed |= fd < 0;
    return fd;
}

/* Sends the request and reads the answer. Does not close the connection. */
static int exchange_packets(int fd, const struct request *request, void *data, size_t size)
{
    struct {
        struct answer answer;
        char bytes[4096];
    } packet;
    ssize_t got;
    if (send(fd, request, sizeof *request, MSG_NOSIGNAL) < 0)
        return -errno;
    time_kick();
    do
        got = recv(fd, &packet, sizeof packet, 0);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return -errno;
    if ((size_t)got < sizeof packet.answer)
        return -EIO;
    size_t bytes = (size_t)got - sizeof packet.answer;
    if (packet.answer.result < 0)
        return packet.answer.result;
    if (data && bytes < size)
        memset((char *)data + bytes, 0, size - bytes);
    if (data)
        memcpy(data, packet.bytes, bytes < size ? bytes : size);
    return packet.answer.result;
}

int client_request(const struct request *request, void *data, size_t size)
{
    int fd = connect_to_server();
    if (fd < 0)
        return fd;
    int result = exchange_packets(fd, request, data, size);
    close(fd);
    return result;
}

int client_connect(const struct request *request, int descriptor_flags)
{
    int fd = connect_to_server();
    if (fd < 0)
        return fd;
    int result = exchange_packets(fd, request, NULL, 0);
    if (result < 0) {
        close(fd);
        return result;
    }
    fcntl(fd, F_SETFD, descriptor_flags);
    return fd;
}

/* `weft fabric` calls it before it starts a program: the library is loaded, and the server answers.
 */
WEFT_EXPORT int weft_umad_handshake(void);
int weft_umad_handshake(void)
{
    struct request request;
    struct answer_ca answer;
    client_prepare(&request, REQUEST_CA);
    return client_request(&request, &answer, sizeof answer);
}

int client_handle(int fd, uint32_t *handle)
{
    struct sockaddr_un address = {0};
    socklen_t length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length) < 0)
        return errno == ENOTSOCK ? -ENOTTY : -errno;
    return endpoint_handle(&address, length, handle) ? 0 : -ENOTTY;
}
