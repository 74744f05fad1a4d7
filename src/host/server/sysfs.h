/* A directory that stands for /sys/class: what scripts read about InfiniBand devices. */
#ifndef WEFT_HOST_SERVER_SYSFS_H
#define WEFT_HOST_SERVER_SYSFS_H

#include "base/text.h"
#include "host/server/attach.h"

struct sysfs;
/* Below `directory`, which must be private to this server. */
struct sysfs *sysfs_new(const char *directory);
void sysfs_free(struct sysfs *sysfs); /* removes what was written */
/* Writes the files anew as seen from the attachment and gives their root's path; 0 or -errno.
 * `tree` may be NULL: there is none. */
int sysfs_write(struct sysfs *sysfs, const struct fabric *fabric,
                const struct attachment *attachment, struct text *path);

#endif
