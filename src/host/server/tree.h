/* A directory that stands for /sys/class: what scripts read about InfiniBand devices. */
#ifndef WEFT_HOST_SERVER_TREE_H
#define WEFT_HOST_SERVER_TREE_H

#include "base/text.h"
#include "host/server/attach.h"

struct tree;
/* Below `directory`, which must be private to this server. */
struct tree *tree_new(const char *directory);
void tree_free(struct tree *tree); /* removes what was written */
/* Writes the files anew as seen from the attachment and gives their root's path; 0 or -errno.
 * `tree` may be NULL: there is none. */
int tree_write(struct tree *tree, const struct fabric *fabric, const struct attachment *attachment,
               struct text *path);

#endif
