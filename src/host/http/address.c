/* Parses and prints listening addresses (IPv4, IPv6, Unix), and opens their sockets. Without a host
 * the server listens on the loopback interface only; the socket of [::] also accepts IPv4. */
#include "host/http/address.h"

#include "base/parse.h"
#include "host/socket/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int parse_unix(const char *path, struct http_address *address, struct err *err)
{
    struct sockaddr_un *socket = (struct sockaddr_un *)&address->socket;
    if (path[0] != '/' || strlen(path) >= sizeof address->unix_path)
        return err_set(err, EINVAL, "'%s' is not an absolute path of less than %zu bytes", path,
                       sizeof address->unix_path);
    strcpy(address->unix_path, path);
    socket->sun_family = AF_UNIX;
    strcpy(socket->sun_path, path);
    address->bytes = sizeof *socket;
    return 0;
}

/* Splits "HOST:PORT" and "[HOST]:PORT". Without a host, `host` is "". */
static bool split_host(const char *text, char *host, size_t size, const char **port)
{
    const char *begin = text, *end = strrchr(text, ':');
    *port = end ? end + 1 : text;
    if (!end)
        end = text;
    if (*begin == '[') {
        if (end - begin < 3 || end[-1] != ']')
            return false;
        begin++;
        end--;
    } else if (memchr(begin, ':', (size_t)(end - begin))) {
        return false; /* IPv6 without brackets: where the port begins is not clear */
    }
    if ((size_t)(end - begin) >= size)
        return false;
    memcpy(host, begin, (size_t)(end - begin));
    host[end - begin] = 0;
    return true;
}

int http_address_parse(const char *text, struct http_address *address, struct err *err)
{
    char host[INET6_ADDRSTRLEN] = "";
    const char *port_text;
    uint64_t port;
    *address = (struct http_address){0};
    if (strncmp(text, "unix:", 5) == 0)
        return parse_unix(text + 5, address, err);
    if (!split_host(text, host, sizeof host, &port_text) ||
        !parse_bounded(port_text, 0, UINT16_MAX, &port))
        return err_set(err, EINVAL, "'%s' is not [ADDRESS:]PORT, [IPV6]:PORT or unix:PATH", text);
    struct sockaddr_in *v4 = (struct sockaddr_in *)&address->socket;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address->socket;
    if (strcmp(host, "*") == 0)
        strcpy(host, "::");
    if (!*host || strcmp(host, "localhost") == 0)
        strcpy(host, "127.0.0.1");
    if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons((uint16_t)port);
        address->bytes = sizeof *v4;
    } else if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons((uint16_t)port);
        address->bytes = sizeof *v6;
    } else {
        return err_set(err, EINVAL, "'%s' is not an IPv4 or IPv6 address", host);
    }
    return 0;
}

bool http_address_same(const char *a, const char *b)
{
    struct http_address first, second;
    return http_address_parse(a, &first, NULL) == 0 && http_address_parse(b, &second, NULL) == 0 &&
           memcmp(&first, &second, sizeof first) == 0;
}

void http_address_url(const struct http_address *address, int fd, char *url, size_t size)
{
    struct sockaddr_storage bound = address->socket;
    socklen_t bytes = sizeof bound;
    char host[INET6_ADDRSTRLEN] = "";
    if (*address->unix_path) {
        snprintf(url, size, "unix:%s", address->unix_path);
        return;
    }
    getsockname(fd, (struct sockaddr *)&bound, &bytes);
    if (bound.ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&bound;
        inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
        snprintf(url, size, "http://[%s]:%u", host, ntohs(v6->sin6_port));
    } else {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)&bound;
        inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
        snprintf(url, size, "http://%s:%u", host, ntohs(v4->sin_port));
    }
}

int http_address_listen(const struct http_address *address, struct err *err)
{
    int on = 1, off = 0;
    if (*address->unix_path)
        return listener_open(address->unix_path, SOCK_STREAM, true, err);
    int fd = socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_set(err, errno, "cannot make a socket: %s", strerror(errno));
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address->socket.ss_family == AF_INET6) /* [::] includes IPv4 */
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, (const struct sockaddr *)&address->socket, address->bytes) < 0 ||
        listen(fd, SOMAXCONN) < 0) {
        int error = errno;
        char url[128];
        http_address_url(address, -1, url, sizeof url);
        close(fd);
        return err_set(err, error, "cannot listen at %s: %s", url, strerror(error));
    }
    return fd;
}
