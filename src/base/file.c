/* Reads and writes files with stdio. Reading refuses compressed files, NUL bytes and pipes that
 * nobody writes to. Secrets are checked on the open descriptor, so that the file that is checked is
 * the one that is read. */
#include "base/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads the file to its end and closes it. */
static int read_stream(FILE *file, const char *path, size_t limit, struct text *text,
                       struct err *err)
{
    int rc = text_read(text, file, limit);
    if (file != stdin)
        fclose(file);
    text_puts(text, "");
    if (rc)
        return err_at(err, -rc, path, 0, "%s", strerror(-rc));
    if (text->length >= 2 && memcmp(text->data, "\x1f\x8b", 2) == 0)
        return err_at(err, EINVAL, path, 0, "the file is compressed; try: zcat FILE | weft … -");
    if (text->length >= 3 && memcmp(text->data, "\xef\xbb\xbf", 3) == 0) {
        text->length -= 3;
        memmove(text->data, text->data + 3, text->length + 1);
    }
    if (memchr(text->data, '\0', text->length))
        return err_at(err, EINVAL, path, 0, "not a text file: it has NUL bytes");
    return 0;
}

FILE *file_open(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), flags;
    struct pollfd pipe = {.fd = fd, .events = POLLIN};
    struct stat file;
    uint8_t none;
    if (fd < 0)
        return NULL;
    /* Of a pipe without data, read() returns 0 if nobody has it open for writing. */
    if (fstat(fd, &file) == 0 && S_ISFIFO(file.st_mode) && poll(&pipe, 1, 0) == 0 &&
        read(fd, &none, 1) == 0)
        errno = EPIPE;
    else if ((flags = fcntl(fd, F_GETFL)) >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0)
        return fdopen(fd, "r");
    int reason = errno;
    close(fd);
    errno = reason;
    return NULL;
}

int file_read(const char *path, size_t limit, struct text *text, struct err *err)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : file_open(path);
    *text = (struct text){0};
    if (!file)
        return err_at(err, errno, path, 0, "%s",
                      errno == EPIPE ? "nobody writes to this pipe" : strerror(errno));
    return read_stream(file, path, limit, text, err);
}

int file_write(const char *path, const struct text *text, struct err *err)
{
    assert(text->data || !text->length);
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    if (!file)
        return err_at(err, errno, path, 0, "%s", strerror(errno));
    size_t put = text->length ? fwrite(text->data, 1, text->length, file) : 0;
    int code = put != text->length || fflush(file) != 0 ? errno : 0;
    if (file != stdout && fclose(file) != 0 && !code)
        code = errno;
    return code ? err_at(err, code, path, 0, "%s", strerror(code)) : 0;
}

static int check_private(int fd, const char *path, struct err *err)
{
    struct stat file;
    if (fstat(fd, &file) < 0)
        return err_at(err, errno, path, 0, "%s", strerror(errno));
    if (!S_ISREG(file.st_mode))
        return err_at(err, EINVAL, path, 0, "a secret must be in a regular file");
    if (file.st_uid != geteuid() && file.st_uid != 0)
        return err_at(err, EPERM, path, 0, "this secret belongs to another user (%u): chown it",
                      (unsigned)file.st_uid);
    if (file.st_mode & (S_IRWXG | S_IRWXO))
        return err_at(err, EPERM, path, 0,
                      "users other than its owner have access to this secret: chmod 600");
    return 0;
}

/* Opening a pipe must not wait for its other end. */
int file_read_private(const char *path, size_t limit, struct text *text, struct err *err)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    *text = (struct text){0};
    if (fd < 0)
        return err_at(err, errno, path, 0, "%s", strerror(errno));
    int status = check_private(fd, path, err);
    FILE *file = status == 0 ? fdopen(fd, "r") : NULL;
    if (file)
        return read_stream(file, path, limit, text, err);
    if (status == 0)
        status = err_at(err, errno, path, 0, "%s", strerror(errno));
    close(fd);
    return status;
}

int file_write_all(int fd, const struct text *content)
{
    for (size_t done = 0; done < content->length;) {
        ssize_t n = write(fd, content->data + done, content->length - done);
        if (n < 0 && errno != EINTR)
            return -errno;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}
