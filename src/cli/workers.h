/* Threads for commands that compute: lends them to the cores, which own none. */
#ifndef WEFT_CLI_WORKERS_H
#define WEFT_CLI_WORKERS_H

#include "routing/model/workers.h"

enum { WORKERS_LIMIT = 256 };

/* `count` threads, this one among them. The others are started when first needed, and stay. */
struct workers workers_of_threads(unsigned count);

#endif
