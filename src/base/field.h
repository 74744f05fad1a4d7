/* Integer members of a struct by offset and size, for tables of options. */
#ifndef WEFT_BASE_FIELD_H
#define WEFT_BASE_FIELD_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* An unsigned number, an enum or a bool. */
struct field {
    size_t offset, bytes;
};
#define FIELD_OF(type, member)                                                                     \
    {                                                                                              \
        offsetof(type, member), sizeof(((type *)0)->member)                                        \
    }

static inline void field_set(void *base, struct field field, uint64_t value)
{
    void *at = (char *)base + field.offset;
    switch (field.bytes) {
    case 1: *(uint8_t *)at = (uint8_t)value; break;
    case 2: *(uint16_t *)at = (uint16_t)value; break;
    case 4: *(uint32_t *)at = (uint32_t)value; break;
    default: assert(field.bytes == 8); *(uint64_t *)at = value;
    }
}

static inline uint64_t field_get(const void *base, struct field field)
{
    const void *at = (const char *)base + field.offset;
    switch (field.bytes) {
    case 1: return *(const uint8_t *)at;
    case 2: return *(const uint16_t *)at;
    case 4: return *(const uint32_t *)at;
    default: assert(field.bytes == 8); return *(const uint64_t *)at;
    }
}

#endif
