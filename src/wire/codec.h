/* Reading and writing fields of management packets, driven by attributes.def.
 *
 * All data stays in wire order. wire_get() and wire_set() take the attribute's data (for header
 * fields: the MAD) and a field; with a constant field the compiler folds them into a load and a
 * shift, so hot code can use them freely. Left to itself it makes one function for all fields
 * where a caller uses many, hence `always_inline`. */
#ifndef WEFT_WIRE_CODEC_H
#define WEFT_WIRE_CODEC_H

#include <assert.h>
#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum wire_class {
    WIRE_CLASS_HEADER,
    WIRE_CLASS_COMMON, /* attributes of every management class */
    WIRE_CLASS_SMP,
    WIRE_CLASS_SA,
    WIRE_CLASS_PERFORMANCE,
    WIRE_CLASS_DEVICE,
    WIRE_CLASS_CM,     /* follows the MAD header at once */
    WIRE_CLASS_NOTICE, /* contents of NOTICE_DATA; the id is the trap number */
};

enum wire_attribute {
#define ATTRIBUTE(symbol, name, class, id, bytes) WIRE_##symbol,
#include "wire/attributes.def"
    WIRE_ATTRIBUTE_COUNT
};

enum wire_field {
#define FIELD(attribute, symbol, name, byte, bit, width, count, stride) attribute##_##symbol,
#include "wire/attributes.def"
    WIRE_FIELD_COUNT
};

/* The first byte of each embedded attribute: NODE_RECORD_AT_NODE_INFO. */
enum wire_embed_offset {
#define EMBED(attribute, embedded, byte) attribute##_AT_##embedded = (byte),
#include "wire/attributes.def"
    NOTICE_AT_DETAILS = 10, /* depends on the trap number, hence not in the table */
};

/* Attribute ids (ATTRIBUTE_NODE_RECORD), for notices' details the trap number, and sizes in bytes.
 */
enum wire_attribute_id {
#define ATTRIBUTE(symbol, name, class, id, bytes) ATTRIBUTE_##symbol = (id),
#include "wire/attributes.def"
};
enum wire_attribute_bytes {
#define ATTRIBUTE(symbol, name, class, id, bytes) WIRE_BYTES_##symbol = (bytes),
#include "wire/attributes.def"
};

struct wire_field_spec {
    uint16_t offset; /* in bits */
    uint8_t width;
    uint8_t stride;
    uint16_t count;
    uint8_t attribute; /* enum wire_attribute */
};

static const struct wire_field_spec wire_fields[] = {
#define FIELD(attribute, symbol, name, byte, bit, width, count, stride)                            \
    {(byte)*8 + (bit), width, stride, count, WIRE_##attribute},
#include "wire/attributes.def"
};

struct wire_attribute_spec {
    const char *name;
    uint8_t class; /* enum wire_class */
    uint16_t id;
    uint16_t bytes;
};
extern const struct wire_attribute_spec wire_attributes[WIRE_ATTRIBUTE_COUNT];

/* Also for functions that pass a constant field on. */
#define WIRE_INLINE static inline __attribute__((always_inline))

WIRE_INLINE uint64_t wire_get_bits(const uint8_t *data, unsigned offset, unsigned width)
{
    assert(width >= 1 && width <= 64);
    unsigned last = (offset + width - 1) / 8;
    uint64_t value = 0;
    if (offset % 8 == 0 && width == 64) { /* compilers do not turn the loop below into a load */
        memcpy(&value, data + offset / 8, sizeof value);
        return be64toh(value);
    }
    if (offset % 8 == 0 && width == 32) {
        uint32_t word;
        memcpy(&word, data + offset / 8, sizeof word);
        return be32toh(word);
    }
    if (offset % 8 == 0 && width == 16) {
        uint16_t half;
        memcpy(&half, data + offset / 8, sizeof half);
        return be16toh(half);
    }
    for (unsigned i = offset / 8; i <= last; i++)
        value = value << 8 | data[i];
    value >>= 7 - (offset + width - 1) % 8;
    return width == 64 ? value : value & ((UINT64_C(1) << width) - 1);
}

WIRE_INLINE void wire_set_bits(uint8_t *data, unsigned offset, unsigned width, uint64_t value)
{
    assert(width >= 1 && width <= 64);
    unsigned first = offset / 8, last = (offset + width - 1) / 8;
    if (offset % 8 == 0 && width == 64) {
        value = htobe64(value);
        memcpy(data + first, &value, sizeof value);
        return;
    }
    if (offset % 8 == 0 && width == 32) {
        uint32_t word = htobe32((uint32_t)value);
        memcpy(data + first, &word, sizeof word);
        return;
    }
    if (offset % 8 == 0 && width == 16) {
        uint16_t half = htobe16((uint16_t)value);
        memcpy(data + first, &half, sizeof half);
        return;
    }
    unsigned shift = 7 - (offset + width - 1) % 8;
    uint64_t mask = (width == 64 ? ~UINT64_C(0) : (UINT64_C(1) << width) - 1) << shift;
    value = value << shift & mask;
    for (unsigned i = last + 1; i-- > first; value >>= 8, mask >>= 8)
        data[i] = (uint8_t)((data[i] & ~mask) | value);
}

WIRE_INLINE uint64_t wire_get_at(const uint8_t *data, enum wire_field field, unsigned index)
{
    const struct wire_field_spec *spec = &wire_fields[field];
    assert(index < spec->count);
    return wire_get_bits(data, spec->offset + index * spec->stride, spec->width);
}

WIRE_INLINE void wire_set_at(uint8_t *data, enum wire_field field, unsigned index, uint64_t value)
{
    const struct wire_field_spec *spec = &wire_fields[field];
    assert(index < spec->count);
    wire_set_bits(data, spec->offset + index * spec->stride, spec->width, value);
}

WIRE_INLINE uint64_t wire_get(const uint8_t *data, enum wire_field field)
{
    return wire_get_at(data, field, 0);
}

WIRE_INLINE void wire_set(uint8_t *data, enum wire_field field, uint64_t value)
{
    wire_set_at(data, field, 0, value);
}

/* The start of an array of bytes (a string, a path, a GID, a table block). */
static inline uint8_t *wire_bytes(uint8_t *data, enum wire_field field)
{
    assert(wire_fields[field].offset % 8 == 0);
    return data + wire_fields[field].offset / 8;
}

static inline const uint8_t *wire_bytes_const(const uint8_t *data, enum wire_field field)
{
    assert(wire_fields[field].offset % 8 == 0);
    return data + wire_fields[field].offset / 8;
}

/* Captures and CRCs have the least significant byte first. */
static inline void wire_put_little_endian(uint8_t *bytes, uint64_t value, unsigned count)
{
    for (unsigned i = 0; i < count; i++, value >>= 8)
        bytes[i] = (uint8_t)value;
}

/* The attribute with this class and id, or WIRE_ATTRIBUTE_COUNT. */
enum wire_attribute wire_attribute_find(enum wire_class class, unsigned id);

#endif
