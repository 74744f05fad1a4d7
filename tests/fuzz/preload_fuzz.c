/* The preload library's side of the protocol: whatever a fabric server answers.
 *
 * The input is cut into packets, each behind a length byte (in units of 8). A thread is the server:
 * it gives one packet to each request, and the rest to the port that was opened. The library is
 * loaded into other people's programs, so no answer may harm them: strings end, lengths are not
 * negative and not beyond what the program has room for. */
#include "host/socket/protocol.h"
#include "input.h"

#include <infiniband/umad.h>

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { UNIT = 8, ROOM = 512, CALLS = 8 };

static struct server {
    int listener;
    const uint8_t *data;
    size_t left;
} server = {.listener = -1};

static bool send_packet(int to)
{
    size_t bytes = server.left ? (size_t)server.data[0] * UNIT : 0;
    size_t used = server.left ? 1 : 0;
    if (bytes > server.left - used)
        bytes = server.left - used;
    if (bytes)
        send(to, server.data + used, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    server.data += used + bytes;
    server.left -= used + bytes;
    return bytes != 0;
}

/* Ends with a connection that sends nothing. */
static void *serve(void *unused)
{
    struct request request;
    int opened = -1;
    for (int from; (from = accept(server.listener, NULL, NULL)) >= 0;) {
        ssize_t got = recv(from, &request, sizeof request, 0);
        bool ends = got <= 0;
        bool opens = !ends && send_packet(from) && request.kind == REQUEST_OPEN && opened < 0;
        for (unsigned i = 0; opens && i < CALLS && server.left; i++)
            send_packet(from);
        if (opens)
            opened = from;
        else
            close(from);
        if (ends)
            break;
    }
    if (opened >= 0)
        close(opened);
    return unused;
}

static int connect_raw(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    protocol_socket_path(address.sun_path, sizeof address.sun_path);
    promise(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

static void begin(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    static char path[64];
    snprintf(path, sizeof path, "/tmp/weft-preload-fuzz-%d", (int)getpid());
    promise(setenv(WEFT_SOCKET_VARIABLE, path, 1) == 0);
    strcpy(address.sun_path, path);
    unlink(path);
    server.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    promise(bind(server.listener, (struct sockaddr *)&address, sizeof address) == 0);
    promise(listen(server.listener, CALLS) == 0);
}

static void end(void)
{
    const char *path = getenv(WEFT_SOCKET_VARIABLE);
    if (server.listener >= 0 && path)
        unlink(path);
}

static void ask(void)
{
    char names[1][UMAD_CA_NAME_LEN] = {{0}};
    umad_ca_t ca;
    umad_port_t port;
    if (umad_get_cas_names(names, 1) == 1)
        promise(memchr(names[0], 0, UMAD_CA_NAME_LEN) != NULL);
    if (umad_get_ca(NULL, &ca) == 0) {
        promise(ca.numports >= 0 && ca.numports < UMAD_CA_MAX_PORTS);
        umad_release_ca(&ca);
    }
    if (umad_get_port(NULL, 1, &port) == 0) {
        promise(port.pkeys_size <= PORT_P_KEYS);
        umad_release_port(&port);
    }
}

static void receive(void)
{
    union {
        struct ib_user_mad head;
        uint8_t bytes[sizeof(struct ib_user_mad) + ROOM];
    } *mad = calloc(1, sizeof *mad);
    int fd = umad_open_port(NULL, 1);
    if (fd >= 0)
        umad_register(fd, 0x81, 1, 0, NULL);
    for (unsigned i = 0; fd >= 0 && i < CALLS; i++) {
        int length = ROOM;
        int agent = umad_recv(fd, mad, &length, 0);
        promise(length >= 0 && (agent < 0 || length <= ROOM));
    }
    if (fd >= 0)
        umad_close_port(fd);
    free(mad);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pthread_t thread;
    if (server.listener < 0) {
        begin();
        atexit(end);
    }
    server.data = data;
    server.left = size;
    promise(pthread_create(&thread, NULL, serve, NULL) == 0);
    ask();
    receive();
    int last = connect_raw();
    promise(shutdown(last, SHUT_WR) == 0);
    pthread_join(thread, NULL);
    close(last);
    return 0;
}
