/* What targets share: values taken from the input, zeros at its end, and promises that must hold.
 */
#ifndef WEFT_FUZZ_INPUT_H
#define WEFT_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct input {
    const uint8_t *bytes;
    size_t left;
};

static inline unsigned take(struct input *input)
{
    if (!input->left)
        return 0;
    input->left--;
    return *input->bytes++;
}

static inline uint32_t take_bytes(struct input *input, unsigned count)
{
    uint32_t value = 0;
    while (count--)
        value = value << 8 | take(input);
    return value;
}

static inline void promise(bool held)
{
    if (!held)
        abort();
}

#endif
