/* The server's private directory, and the directory of the default socket.
 *
 * The default socket is in the user's runtime directory, or in a directory under /tmp that must be
 * owned by and writable for the user only: another user could have created it to receive the
 * connections of our clients. */
#include "host/server/runtime_dir.h"
#include "host/socket/listener.h"
#include "host/socket/protocol.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int choose_socket_path(struct runtime_dir *dir, const char *socket, bool is_private,
                              struct err *err)
{
    if (socket) {
        if (snprintf(dir->socket, sizeof dir->socket, "%s", socket) >= (int)sizeof dir->socket)
            return err_set(err, ENAMETOOLONG, "the socket's path is too long");
        return 0;
    }
    if (is_private) {
        snprintf(dir->socket, sizeof dir->socket, "%s/fabric", dir->directory);
        return 0;
    }
    unsetenv(WEFT_SOCKET_VARIABLE); /* it may name the socket of another server */
    if (protocol_socket_path(dir->socket, sizeof dir->socket) >= (int)sizeof dir->socket)
        return err_set(err, ENAMETOOLONG, "the runtime directory's path is too long");
    return listener_make_directory(dir->socket, err);
}

int runtime_dir_make(struct runtime_dir *dir, const char *socket, bool is_private, struct err *err)
{
    const char *base = getenv("TMPDIR");
    memset(dir, 0, sizeof *dir);
    /* The path of a socket has at most 107 bytes. */
    if (!base || !*base || strlen(base) > 80)
        base = "/tmp";
    snprintf(dir->directory, sizeof dir->directory, "%s/weft-XXXXXX", base);
    if (!mkdtemp(dir->directory)) {
        int error = errno;
        dir->directory[0] = 0;
        return err_set(err, error, "cannot make a directory in '%s': %s", base, strerror(error));
    }
    snprintf(dir->scratch, sizeof dir->scratch, "%s/scratch", dir->directory);
    int result = mkdir(dir->scratch, 0700) < 0
                     ? err_set(err, errno, "cannot make '%s': %s", dir->scratch, strerror(errno))
                     : choose_socket_path(dir, socket, is_private, err);
    if (result < 0)
        runtime_dir_remove(dir);
    return result;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

void runtime_dir_remove(struct runtime_dir *dir)
{
    if (dir->directory[0])
        nftw(dir->directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    dir->directory[0] = 0;
}
