/* Threads for commands that compute. The protocol cores create no threads themselves. */
#ifndef WEFT_CLI_WORKERS_H
#define WEFT_CLI_WORKERS_H

#include "base/workers.h"

enum { WORKERS_LIMIT = 256 };

/* `count` threads, with the caller. They are started at first use and persist. */
struct workers workers_of_threads(unsigned count);

#endif
