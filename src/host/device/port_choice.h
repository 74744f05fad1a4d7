/* Which port of this machine a program uses. */
#ifndef WEFT_HOST_DEVICE_PORT_CHOICE_H
#define WEFT_HOST_DEVICE_PORT_CHOICE_H

#include <stdint.h>

enum { PORT_ANY = -1 };

struct port_choice {
    uint64_t guid;  /* 0: any */
    const char *ca; /* NULL: any */
    int number;     /* PORT_ANY: any */
};

#endif
