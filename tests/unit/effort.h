/* How much a test does of what it repeats. */
#ifndef WEFT_TESTS_EFFORT_H
#define WEFT_TESTS_EFFORT_H

#include <stdint.h>
#include <stdlib.h>

/* WEFT_FULL=1 (make check-full) asks for all. In a build with sanitizers everything takes about
 * four times as long. */
static inline uint64_t effort(uint64_t full, uint64_t normal, uint64_t sanitized)
{
    if (getenv("WEFT_FULL"))
        return full;
#ifdef __SANITIZE_ADDRESS__
    (void)normal;
    return sanitized;
#else
    (void)sanitized;
    return normal;
#endif
}

#endif
