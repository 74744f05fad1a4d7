/* A client of the service manager's notification socket, without libsystemd. Errors are ignored:
 * the daemon works the same without a service manager. What to notify, and when, is up to its
 * callers. */
#include "host/daemon/readiness.h"

#include "base/parse.h"
#include "base/text.h"
#include "base/time.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

uint64_t readiness_watchdog_interval_ns(void)
{
    const char *time = getenv("WATCHDOG_USEC"), *process = getenv("WATCHDOG_PID");
    uint64_t microseconds = 0;
    if (!time || !parse_bounded(time, 1, UINT64_MAX / NS_PER_US, &microseconds) ||
        (process && strtoull(process, NULL, 10) != (unsigned long long)getpid()))
        return 0;
    return microseconds * NS_PER_US / 2;
}

void readiness_notify(const char *format, ...)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct text text = {0};
    size_t length = path ? strlen(path) : 0;
    if (length < 2 || length >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@'))
        return;
    memcpy(address.sun_path, path, length);
    if (path[0] == '@')
        address.sun_path[0] = 0; /* the abstract name space */
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    text_put_arguments(&text, format);
    sendto(fd, text.data, text.length, MSG_NOSIGNAL, (struct sockaddr *)&address,
           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
    close(fd);
    text_release(&text);
}
