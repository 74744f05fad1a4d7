/* The socket path and the private directory of a server. */
#ifndef WEFT_HOST_SERVER_RUNTIME_DIR_H
#define WEFT_HOST_SERVER_RUNTIME_DIR_H

#include "base/err.h"

#include <stdbool.h>

struct runtime_dir {
    char directory[256]; /* private; removed at the end */
    char scratch[288];   /* below it, for programs that run on the fabric */
    char socket[512];
};

/* `socket` is the path that the user chose. NULL: a path in the private directory if `is_private`,
 * else the path that clients use by default. */
int runtime_dir_make(struct runtime_dir *dir, const char *socket, bool is_private, struct err *err);
void runtime_dir_remove(struct runtime_dir *dir);

#endif
