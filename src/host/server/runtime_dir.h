/* Where a server keeps its things: its socket and a directory that goes with it. */
#ifndef WEFT_HOST_SERVER_RUNTIME_DIR_H
#define WEFT_HOST_SERVER_RUNTIME_DIR_H

#include "base/err.h"

#include <stdbool.h>

struct place {
    char directory[256]; /* private, removed at the end */
    char scratch[288];   /* in it, for programs that run on the fabric */
    char socket[512];
};

/* `socket` is where the user wants it, or NULL: in the private directory for a server that lives
 * only as long as its command, else where clients look by themselves. */
int runtime_dir_make(struct place *place, const char *socket, bool is_private, struct err *err);
void runtime_dir_remove(struct place *place);

#endif
