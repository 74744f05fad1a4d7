/* Which port of this machine a manager uses. */
#ifndef WEFT_HOST_MANAGER_PORT_CHOICE_H
#define WEFT_HOST_MANAGER_PORT_CHOICE_H

#include <stdint.h>

enum { PORT_ANY = -1 };

struct port_choice {
    uint64_t guid;  /* 0: any */
    const char *ca; /* NULL: any */
    int number;     /* PORT_ANY: any */
};

#endif
