/* Checks that a run depends on its input alone: nothing of an earlier input stays in what a target
 * keeps between inputs. Runs one input in 16, by size, a second time. */
#ifndef WEFT_FUZZ_PURE_H
#define WEFT_FUZZ_PURE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* `run` returns a digest of all outputs. */
static inline void run_pure(uint64_t (*run)(const uint8_t *data, size_t size), const uint8_t *data,
                            size_t size)
{
    uint64_t digest = run(data, size);
    if (size % 16 == 0 && run(data, size) != digest)
        abort();
}

#endif
