/* The replacement of /sys/class for scripts that read about InfiniBand devices. */
#ifndef WEFT_HOST_SERVER_SYSFS_H
#define WEFT_HOST_SERVER_SYSFS_H

#include "base/text.h"
#include "host/server/attach.h"

/* Writes the files of a node below `directory`, which must be private to this server, and appends
 * the path that replaces /sys/class to `path`. 0 or -errno; -ENOENT if `directory` is NULL. */
int sysfs_write(const char *directory, const struct fabric *fabric, uint32_t node,
                struct text *path);

#endif
