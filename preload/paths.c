/* Files of the InfiniBand stack that programs open directly.
 *
 * OpenSM opens /dev/infiniband/issmN to set IsSM: this library opens a connection to the server
 * instead, which sets IsSM while the connection exists. Scripts (ibstatus) and some tools read
 * /sys/class/infiniband: their paths are redirected to a directory of the server with the same
 * files. All other paths are passed unchanged. */
#undef _FILE_OFFSET_BITS /* open and open64 must be different functions here */

#include "client.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#define MANAGER_PREFIX "/dev/infiniband/issm"
#define DEVICE_PREFIX  "/dev/infiniband/uverbs"
#define CLASS_PREFIX   "/sys/class/infiniband"

/* Looks up the next definition of `name` after this library's. Two threads may do that at the same
 * time: both store the same pointer. */
#define NEXT(name)                                                                                 \
    static __typeof__(&name) next;                                                                 \
    if (!next)                                                                                     \
    next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static bool is_manager_path(const char *path)
{
    return path && strncmp(path, MANAGER_PREFIX, strlen(MANAGER_PREFIX)) == 0;
}

/* UCX uses a device only if it sees the file through which libibverbs would open it. Nothing opens
 * that file: the functions of libibverbs are in preload/verbs. */
static bool is_device_path(const char *path)
{
    return path && strcmp(path, DEVICE_PREFIX "0") == 0;
}

/* Returns the path to use: `path`, or the corresponding file in the server's directory. */
static const char *redirect(const char *path, char *buffer, size_t size)
{
    struct request request;
    char root[PATH_MAX];
    size_t length = strlen(CLASS_PREFIX);
    if (!path || strncmp(path, CLASS_PREFIX, length) != 0)
        return path;
    const char *rest = path + strlen("/sys/class");
    if (path[length] != 0 && path[length] != '/' && strncmp(path + length, "_mad", 4) != 0)
        return path;
    client_prepare(&request, REQUEST_SYSFS);
    if (client_request(&request, root, sizeof root - 1) < 0)
        return path;
    root[sizeof root - 1] = 0;
    int written = snprintf(buffer, size, "%s%s", root, rest);
    return written > 0 && (size_t)written < size ? buffer : path;
}

/* Without O_NONBLOCK the device would wait until the present manager closes it. No program uses
 * that, so both fail while there is a manager. */
static int open_manager(const char *path, int flags)
{
    struct request request;
    client_prepare(&request, REQUEST_MANAGER);
    request.port = atoi(path + strlen(MANAGER_PREFIX));
    int fd = client_connect(&request, flags & O_CLOEXEC ? FD_CLOEXEC : 0);
    if (fd >= 0)
        return fd;
    errno = fd == -EBUSY ? EAGAIN : -fd;
    return -1;
}

/* open() has a mode only if it may create a file. */
#define MODE_OF(flags)                                                                             \
    mode_t mode = 0;                                                                               \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {                                                       \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        mode = (mode_t)va_arg(arguments, int);                                                     \
        va_end(arguments);                                                                         \
    }

#define DEFINE_OPEN(name)                                                                          \
    WEFT_EXPORT int name(const char *path, int flags, ...)                                         \
    {                                                                                              \
        NEXT(name);                                                                                \
        MODE_OF(flags)                                                                             \
        char buffer[PATH_MAX];                                                                     \
        if (is_manager_path(path))                                                                 \
            return open_manager(path, flags);                                                      \
        return next(redirect(path, buffer, sizeof buffer), flags, mode);                           \
    }
#define DEFINE_OPENAT(name)                                                                        \
    WEFT_EXPORT int name(int directory, const char *path, int flags, ...)                          \
    {                                                                                              \
        NEXT(name);                                                                                \
        MODE_OF(flags)                                                                             \
        char buffer[PATH_MAX];                                                                     \
        if (is_manager_path(path))                                                                 \
            return open_manager(path, flags);                                                      \
        return next(directory, redirect(path, buffer, sizeof buffer), flags, mode);                \
    }
/* A function with a parameter `path`. */
#define DEFINE_PATH_CALL(type, name, parameters, ...)                                              \
    WEFT_EXPORT type name parameters                                                               \
    {                                                                                              \
        NEXT(name);                                                                                \
        char buffer[PATH_MAX];                                                                     \
        path = is_device_path(path) ? "/dev/null" : redirect(path, buffer, sizeof buffer);         \
        return next(__VA_ARGS__);                                                                  \
    }

DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

/* open() in programs that are built with _FORTIFY_SOURCE. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
WEFT_EXPORT int __open_2(const char *path, int flags)
{
    return open(path, flags & ~O_CREAT);
}
WEFT_EXPORT int __open64_2(const char *path, int flags)
{
    return open64(path, flags & ~O_CREAT);
}

DEFINE_PATH_CALL(FILE *, fopen, (const char *path, const char *mode), path, mode)
DEFINE_PATH_CALL(FILE *, fopen64, (const char *path, const char *mode), path, mode)
DEFINE_PATH_CALL(DIR *, opendir, (const char *path), path)
DEFINE_PATH_CALL(int, chdir, (const char *path), path)
DEFINE_PATH_CALL(int, access, (const char *path, int mode), path, mode)
DEFINE_PATH_CALL(int, faccessat, (int directory, const char *path, int mode, int flags), directory,
                 path, mode, flags)
DEFINE_PATH_CALL(int, stat, (const char *path, struct stat *status), path, status)
DEFINE_PATH_CALL(int, lstat, (const char *path, struct stat *status), path, status)
DEFINE_PATH_CALL(int, stat64, (const char *path, struct stat64 *status), path, status)
DEFINE_PATH_CALL(int, lstat64, (const char *path, struct stat64 *status), path, status)
DEFINE_PATH_CALL(int, fstatat, (int directory, const char *path, struct stat *status, int flags),
                 directory, path, status, flags)
DEFINE_PATH_CALL(int, fstatat64,
                 (int directory, const char *path, struct stat64 *status, int flags), directory,
                 path, status, flags)
DEFINE_PATH_CALL(int, statx,
                 (int directory, const char *path, int flags, unsigned mask, struct statx *status),
                 directory, path, flags, mask, status)
DEFINE_PATH_CALL(int, scandir,
                 (const char *path, struct dirent ***names, int (*keep)(const struct dirent *),
                  int (*compare)(const struct dirent **, const struct dirent **)),
                 path, names, keep, compare)
