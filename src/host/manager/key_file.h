/* The file with the keys of a subnet, which is the same for all its managers. */
#ifndef WEFT_HOST_MANAGER_KEY_FILE_H
#define WEFT_HOST_MANAGER_KEY_FILE_H

#include "base/err.h"

#include <stdint.h>

/* Creates the file with new random keys. It must not exist, and only its owner may read it. */
int key_file_make(const char *path, struct err *err);

/* A random number, not 0 or 1. */
uint64_t key_random(void);

#endif
