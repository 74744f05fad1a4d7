/* Opens Unix-domain sockets to listen at. A socket file is removed as stale only if connecting to
 * it is refused; a private socket gets its mode by umask() before bind(), so it is never open to
 * others. */
#include "host/socket/listener.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int make_socket(int type)
{
    return socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static void remove_stale_socket(const struct sockaddr_un *address, int type)
{
    struct stat status;
    if (lstat(address->sun_path, &status) < 0 || !S_ISSOCK(status.st_mode))
        return;
    int probe = make_socket(type);
    if (probe < 0)
        return;
    if (connect(probe, (const struct sockaddr *)address, sizeof *address) < 0 &&
        errno == ECONNREFUSED)
        unlink(address->sun_path);
    close(probe);
}

int listener_make_directory(const char *socket, struct err *err)
{
    struct sockaddr_un room;
    struct stat status;
    char *path = room.sun_path, *slash = strrchr(socket, '/');
    if (!slash || slash == socket || (size_t)(slash - socket) >= sizeof room.sun_path)
        return err_set(err, ENAMETOOLONG, "'%s' cannot be the path of a socket", socket);
    memcpy(path, socket, (size_t)(slash - socket));
    path[slash - socket] = 0;
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return err_set(err, errno, "cannot make '%s': %s", path, strerror(errno));
    if (lstat(path, &status) < 0 || !S_ISDIR(status.st_mode) || status.st_uid != getuid() ||
        (status.st_mode & 022))
        return err_set(err, EPERM, "'%s' is not a directory that only you can write", path);
    return 0;
}

int listener_open(const char *path, int type, bool for_owner_only, struct err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return err_set(err, ENAMETOOLONG, "socket path '%s' is longer than %zu bytes", path,
                       sizeof address.sun_path - 1);
    strcpy(address.sun_path, path);
    remove_stale_socket(&address, type);
    int fd = make_socket(type);
    if (fd < 0)
        return err_set(err, errno, "cannot make a socket: %s", strerror(errno));
    /* The mode must be right from the start, so that no other user can connect in between. */
    mode_t mask = umask(0177);
    if (!for_owner_only)
        umask(mask);
    int error = bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 ? errno : 0;
    umask(mask);
    if (!error && listen(fd, SOMAXCONN) < 0) {
        error = errno;
        unlink(path);
    }
    if (!error)
        return fd;
    close(fd);
    if (error == EADDRINUSE)
        return err_set(err, error, "'%s' is in use by another program, or is a file", path);
    return err_set(err, error, "cannot listen at '%s': %s", path, strerror(error));
}
