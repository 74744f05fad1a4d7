/* The private directory, and the well-known one.
 *
 * The well-known socket lies in the user's runtime directory, or in one under /tmp that must belong
 * to the user and to nobody else: another could have made it to catch our clients. */
#include "host/server/runtime_dir.h"
#include "host/socket/protocol.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int make_own_directory(const char *path, struct err *err)
{
    struct stat status;
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return err_set(err, errno, "cannot make '%s': %s", path, strerror(errno));
    if (lstat(path, &status) < 0 || !S_ISDIR(status.st_mode) || status.st_uid != getuid() ||
        (status.st_mode & 022))
        return err_set(err, EPERM, "'%s' is not a directory of yours alone", path);
    return 0;
}

static int choose_socket(struct place *place, const char *socket, bool is_private, struct err *err)
{
    if (socket) {
        if (snprintf(place->socket, sizeof place->socket, "%s", socket) >=
            (int)sizeof place->socket)
            return err_set(err, ENAMETOOLONG, "the socket's path is too long");
        return 0;
    }
    if (is_private) {
        snprintf(place->socket, sizeof place->socket, "%s/fabric", place->directory);
        return 0;
    }
    unsetenv(WEFT_SOCKET_VARIABLE); /* that of another server, which we must not replace */
    if (protocol_socket_path(place->socket, sizeof place->socket) >= (int)sizeof place->socket)
        return err_set(err, ENAMETOOLONG, "the runtime directory's path is too long");
    char directory[sizeof place->socket];
    strcpy(directory, place->socket);
    *strrchr(directory, '/') = 0;
    return make_own_directory(directory, err);
}

int runtime_dir_make(struct place *place, const char *socket, bool is_private, struct err *err)
{
    const char *base = getenv("TMPDIR");
    memset(place, 0, sizeof *place);
    /* A socket's path must fit into 107 bytes. */
    if (!base || !*base || strlen(base) > 80)
        base = "/tmp";
    snprintf(place->directory, sizeof place->directory, "%s/weft-XXXXXX", base);
    if (!mkdtemp(place->directory)) {
        int error = errno;
        place->directory[0] = 0;
        return err_set(err, error, "cannot make a directory in '%s': %s", base, strerror(error));
    }
    snprintf(place->scratch, sizeof place->scratch, "%s/scratch", place->directory);
    int result = mkdir(place->scratch, 0700) < 0
                     ? err_set(err, errno, "cannot make '%s': %s", place->scratch, strerror(errno))
                     : choose_socket(place, socket, is_private, err);
    if (result < 0)
        runtime_dir_remove(place);
    return result;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

void runtime_dir_remove(struct place *place)
{
    if (place->directory[0])
        nftw(place->directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    place->directory[0] = 0;
}
