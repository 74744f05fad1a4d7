/* ICRC and VCRC, calculated a second time for the tests of packets and captures. */
#ifndef WEFT_TESTS_WIRE_SLOW_CRC_H
#define WEFT_TESTS_WIRE_SLOW_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Bit by bit, as section 7.8 draws it: by another method than the program's. */
static inline uint32_t slow_crc(const uint8_t *bytes, size_t count, uint32_t polynomial,
                                unsigned width)
{
    uint32_t ones = width == 32 ? UINT32_MAX : (UINT32_C(1) << width) - 1, crc = ones;
    for (size_t bit = 0; bit < count * 8; bit++) {
        uint32_t top = crc >> (width - 1) & 1, in = bytes[bit / 8] >> bit % 8 & 1;
        crc = (crc << 1 & ones) ^ (top != in ? polynomial : 0);
    }
    uint32_t reversed = 0;
    for (unsigned i = 0; i < width; i++)
        reversed |= (~crc >> i & 1) << (width - 1 - i);
    return reversed;
}

#endif
