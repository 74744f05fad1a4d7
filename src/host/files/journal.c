/* Appends pieces with a head of length and checksum, and finds the complete ones again. A new
 * journal replaces the old one by rename(2); after a failed write nothing is appended to it any
 * more. What a piece contains is up to the caller (registrations.c). */
#include "host/files/journal.h"

#include "base/file.h"
#include "base/map.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 1024 };
#define HEAD "# weft: piece of "

static uint64_t checksum(const char *piece, size_t bytes)
{
    size_t rest = bytes % sizeof(uint64_t);
    uint64_t last = 0;
    memcpy(&last, piece + bytes - rest, rest);
    return hash_mix(hash_bytes(bytes, (const uint8_t *)piece, bytes - rest) ^ last);
}

void journal_init(struct journal *journal, const char *directory, const char *name)
{
    *journal = (struct journal){.directory = directory, .name = name, .fd = -1};
}

void journal_close(struct journal *journal)
{
    if (journal->fd >= 0)
        close(journal->fd);
    journal->fd = -1;
    journal->bytes = 0;
}

static int write_piece(struct journal *journal, const struct text *piece)
{
    struct text whole = {0};
    text_printf(&whole, HEAD "%zu %016" PRIx64 "\n", piece->length,
                checksum(piece->data, piece->length));
    text_append(&whole, piece->data, piece->length);
    int status = file_write_all(journal->fd, &whole);
    journal->bytes += whole.length;
    text_release(&whole);
    if (status < 0)
        journal_close(journal); /* the last piece may be incomplete: none may follow */
    return status;
}

int journal_begin(struct journal *journal, const struct text *whole)
{
    char path[PATH_ROOM], temporary[PATH_ROOM];
    assert(journal->directory && journal->name);
    snprintf(path, sizeof path, "%s/%s", journal->directory, journal->name);
    snprintf(temporary, sizeof temporary, "%s/.%s.new", journal->directory, journal->name);
    journal_close(journal);
    journal->fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (journal->fd < 0)
        return -errno;
    int status = write_piece(journal, whole);
    if (status == 0 && rename(temporary, path) < 0) {
        status = -errno;
        journal_close(journal);
    }
    if (status < 0)
        unlink(temporary);
    return status;
}

int journal_append(struct journal *journal, const struct text *changes)
{
    return journal->fd < 0 ? -EBADF : write_piece(journal, changes);
}

int journal_sync(const struct journal *journal)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s", journal->directory, journal->name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int status = fsync(fd) < 0 ? -errno : 0;
    close(fd);
    return status;
}

int journal_remove(struct journal *journal)
{
    char path[PATH_ROOM];
    journal_close(journal);
    snprintf(path, sizeof path, "%s/%s", journal->directory, journal->name);
    return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}

const char *journal_next(const struct text *content, size_t *at, size_t *bytes)
{
    const size_t head = strlen(HEAD);
    if (*at >= content->length || content->length - *at <= head ||
        memcmp(content->data + *at, HEAD, head) != 0)
        return NULL;
    char *end;
    unsigned long long length = strtoull(content->data + *at + head, &end, 10);
    unsigned long long sum = *end == ' ' ? strtoull(end + 1, &end, 16) : 0;
    size_t begin = (size_t)(end - content->data) + 1;
    if (*end != '\n' || begin > content->length || length > content->length - begin ||
        checksum(content->data + begin, (size_t)length) != sum)
        return NULL;
    *bytes = (size_t)length;
    *at = begin + *bytes;
    assert(*at <= content->length);
    return content->data + begin;
}
