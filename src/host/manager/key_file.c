/* The key file has lines of the configuration with secret keys (weft-sm.conf(5), `key_file`), so
 * that the configuration itself can be readable. `weft sm --make-key` makes it. */
#include "host/manager/key_file.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t key_random(void)
{
    uint64_t key = 0;
    while (key <= 1) /* 0 is not a key, and 1 is well known */
        if (getrandom(&key, sizeof key, 0) != sizeof key)
            abort(); /* Linux always returns 8 bytes */
    return key;
}

int key_file_make(const char *path, struct err *err)
{
    struct text text = {0};
    text_printf(&text,
                "# Keys of one subnet, made by weft sm --make-key. Copy this file to all managers\n"
                "# and name it in their configuration: key_file %s\n",
                path);
    static const char *const names[] = {"sm_key", "sa_key", "m_key"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        text_printf(&text, "%s 0x%016llx\n", names[i], (unsigned long long)key_random());
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    int status = file < 0 ? -errno : file_write_all(file, &text);
    if (!status && fsync(file) < 0)
        status = -errno;
    if (file >= 0 && close(file) < 0 && !status)
        status = -errno;
    if (status < 0 && file >= 0)
        unlink(path);
    explicit_bzero(text.data, text.length);
    text_release(&text);
    return status < 0
               ? err_at(err, -status, path, 0, "cannot make the key file: %s", strerror(-status))
               : 0;
}
