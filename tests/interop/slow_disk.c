/* A disk that hangs, for sm_service.sh: loaded with LD_PRELOAD, it delays write(2) and fsync(2) of
 * files below $SLOW_DIRECTORY by three seconds each. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void delay(int fd)
{
    const char *slow = getenv("SLOW_DIRECTORY");
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = slow ? readlink(link, path, sizeof path) : -1;
    if (length > 0 && (size_t)length > strlen(slow) && memcmp(path, slow, strlen(slow)) == 0)
        nanosleep(&(struct timespec){.tv_sec = 3}, NULL);
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    ssize_t (*real)(int, const void *, size_t) =
        (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    delay(fd);
    return real(fd, data, bytes);
}

int fsync(int fd)
{
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    delay(fd);
    return real(fd);
}
