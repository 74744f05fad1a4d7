#include "client.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { PATIENCE_MS = 20000 };

int client_connect(const char *address)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    struct sockaddr *peer = (struct sockaddr *)&v4;
    socklen_t bytes = sizeof v4;
    const char *port = strrchr(address, ':') + 1;
    if (strncmp(address, "unix:", 5) == 0) {
        snprintf(path.sun_path, sizeof path.sun_path, "%s", address + 5);
        peer = (struct sockaddr *)&path;
        bytes = sizeof path;
    } else if (strchr(address, '[')) {
        v6.sin6_addr = in6addr_loopback;
        v6.sin6_port = htons((uint16_t)atoi(port));
        peer = (struct sockaddr *)&v6;
        bytes = sizeof v6;
    } else {
        v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        v4.sin_port = htons((uint16_t)atoi(port));
    }
    int fd = socket(peer->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, peer, bytes) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

void client_send(int fd, const char *bytes, size_t count)
{
    while (count) {
        ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL);
        if (sent <= 0)
            return; /* the server may close early */
        bytes += sent;
        count -= (size_t)sent;
    }
}

void client_print(int fd, const char *format, ...)
{
    struct text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&text, format, arguments);
    va_end(arguments);
    client_send(fd, text.data, text.length);
    text_release(&text);
}

void client_read(int fd, struct text *text, const char *until)
{
    char buffer[65536];
    for (;;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (until && client_has(text, until))
            return;
        assert_int_equal(poll(&ready, 1, PATIENCE_MS), 1);
        ssize_t bytes = recv(fd, buffer, sizeof buffer, 0);
        if (bytes <= 0)
            return;
        text_append(text, buffer, (size_t)bytes);
    }
}

unsigned client_status(const struct text *answer)
{
    unsigned status = 0;
    if (answer->length)
        sscanf(answer->data, "HTTP/1.1 %u", &status);
    return status;
}

bool client_has(const struct text *answer, const char *part)
{
    return answer->length && memmem(answer->data, answer->length, part, strlen(part));
}

unsigned client_ask(const struct http_server *server, const char *method, const char *path,
                    const char *head, const char *body, struct text *answer)
{
    int fd = client_connect(http_server_address(server));
    struct text room = {0}, *text = answer ? answer : &room;
    assert_true(fd >= 0);
    text_clear(text);
    client_print(fd, "%s %s HTTP/1.1\r\nConnection: close\r\n%s", method, path, head);
    if (!strstr(head, "Host:"))
        client_print(fd, "Host: localhost\r\n");
    if (body)
        client_print(fd, "Content-Length: %zu\r\n", strlen(body));
    client_print(fd, "\r\n%s", body ? body : "");
    client_read(fd, text, NULL);
    close(fd);
    unsigned status = client_status(text);
    text_release(&room);
    return status;
}

bool client_is_closed(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    char byte;
    for (;;) {
        if (poll(&ready, 1, PATIENCE_MS) != 1)
            return false;
        if (recv(fd, &byte, 1, 0) <= 0)
            return true;
    }
}
