/* Reading and writing fields of management packets, driven by attributes.def.
 *
 * All data stays in wire order. wire_get() and wire_set() take the attribute's data (for header
 * fields: the MAD) and a field; with a constant field the compiler folds them into a load and a
 * shift, so hot code can use them freely. */
#ifndef WEFT_WIRE_CODEC_H
#define WEFT_WIRE_CODEC_H

#include "base/text.h"

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
    WIRE_CLASS_NOTICE, /* what NOTICE_DATA holds; the id is the trap number */
};

enum wire_kind {
    WIRE_DECIMAL,
    WIRE_HEX,
    WIRE_FLAG,
    WIRE_STRING, /* an array of characters */
    WIRE_BYTES,  /* an array of bytes, printed in hexadecimal */
    WIRE_GID,    /* sixteen bytes */
    WIRE_NODE_TYPE,
    WIRE_PORT_STATE,
    WIRE_PHYSICAL_STATE,
    WIRE_LINK_WIDTH,
    WIRE_LINK_SPEED,
    WIRE_LINK_SPEED_EXT,
    WIRE_LINK_SPEED_EXT2,
    WIRE_MTU,
    WIRE_VL_COUNT,
    WIRE_SM_STATE,
    WIRE_SELECTOR,
    WIRE_RATE,
    WIRE_NOTICE_TYPE,
    WIRE_PRODUCER,
    WIRE_RMPP_TYPE,
    WIRE_KIND_COUNT
};

enum wire_attribute {
#define ATTRIBUTE(symbol, name, class, id, bytes) WIRE_##symbol,
#include "wire/attributes.def"
    WIRE_ATTRIBUTE_COUNT
};

enum wire_field {
#define FIELD(attribute, symbol, name, byte, bit, width, count, stride, kind) attribute##_##symbol,
#include "wire/attributes.def"
    WIRE_FIELD_COUNT
};

/* The first byte of each embedded attribute: NODE_RECORD_AT_NODE_INFO. */
enum wire_embed_offset {
#define EMBED(attribute, embedded, byte) attribute##_AT_##embedded = (byte),
#include "wire/attributes.def"
    NOTICE_AT_DETAILS = 10, /* chosen by the trap number, hence not in the table */
};

/* Attribute ids (WIRE_ID_NODE_RECORD), for notices' details the trap number, and sizes in bytes. */
enum wire_attribute_id {
#define ATTRIBUTE(symbol, name, class, id, bytes) WIRE_ID_##symbol = (id),
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
    uint8_t kind;      /* enum wire_kind */
    uint8_t attribute; /* enum wire_attribute */
};

static const struct wire_field_spec wire_fields[] = {
#define FIELD(attribute, symbol, name, byte, bit, width, count, stride, kind)                      \
    {(byte)*8 + (bit), width, stride, count, WIRE_##kind, WIRE_##attribute},
#include "wire/attributes.def"
};

/* An attribute inside another one: the SA's records, longer headers. */
struct wire_embed_spec {
    uint8_t attribute, embedded; /* enum wire_attribute */
    uint16_t byte;
};

struct wire_attribute_spec {
    const char *name;
    uint8_t class; /* enum wire_class */
    uint16_t id;
    uint16_t bytes;
    uint16_t first_field, first_embed;
};
extern const struct wire_attribute_spec wire_attributes[WIRE_ATTRIBUTE_COUNT];
extern const char *const wire_field_names[WIRE_FIELD_COUNT];
extern const struct wire_embed_spec wire_embeds[];

static inline uint64_t wire_get_bits(const uint8_t *data, unsigned offset, unsigned width)
{
    unsigned last = (offset + width - 1) / 8;
    uint64_t value = 0;
    if (offset % 8 == 0 && width == 64) { /* compilers turn no loop this long into a load */
        memcpy(&value, data + offset / 8, sizeof value);
        return be64toh(value);
    }
    if (offset % 8 == 0 && width == 32) {
        uint32_t word;
        memcpy(&word, data + offset / 8, sizeof word);
        return be32toh(word);
    }
    for (unsigned i = offset / 8; i <= last; i++)
        value = value << 8 | data[i];
    value >>= 7 - (offset + width - 1) % 8;
    return width == 64 ? value : value & ((UINT64_C(1) << width) - 1);
}

static inline void wire_set_bits(uint8_t *data, unsigned offset, unsigned width, uint64_t value)
{
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
    unsigned shift = 7 - (offset + width - 1) % 8;
    uint64_t mask = (width == 64 ? ~UINT64_C(0) : (UINT64_C(1) << width) - 1) << shift;
    value = value << shift & mask;
    for (unsigned i = last + 1; i-- > first; value >>= 8, mask >>= 8)
        data[i] = (uint8_t)((data[i] & ~mask) | value);
}

static inline uint64_t wire_get_at(const uint8_t *data, enum wire_field field, unsigned index)
{
    const struct wire_field_spec *spec = &wire_fields[field];
    return wire_get_bits(data, spec->offset + index * spec->stride, spec->width);
}

static inline void wire_set_at(uint8_t *data, enum wire_field field, unsigned index, uint64_t value)
{
    const struct wire_field_spec *spec = &wire_fields[field];
    wire_set_bits(data, spec->offset + index * spec->stride, spec->width, value);
}

static inline uint64_t wire_get(const uint8_t *data, enum wire_field field)
{
    return wire_get_at(data, field, 0);
}

static inline void wire_set(uint8_t *data, enum wire_field field, uint64_t value)
{
    wire_set_at(data, field, 0, value);
}

/* Where an array of bytes (a string, a path, a GID, a table block) starts. */
static inline uint8_t *wire_bytes(uint8_t *data, enum wire_field field)
{
    return data + wire_fields[field].offset / 8;
}

static inline const uint8_t *wire_bytes_const(const uint8_t *data, enum wire_field field)
{
    return data + wire_fields[field].offset / 8;
}

/* The attribute with this class and id, or WIRE_ATTRIBUTE_COUNT. */
enum wire_attribute wire_attribute_find(enum wire_class class, unsigned id);
/* One past the attribute's last field and last embedded attribute. */
unsigned wire_field_end(enum wire_attribute attribute);
unsigned wire_embed_end(enum wire_attribute attribute);

/* One "Name:....value" line a field; tables print several values on a line. */
void wire_dump(struct text *out, enum wire_attribute attribute, const uint8_t *data);
/* The same for data of which only `bytes` are there. */
void wire_dump_within(struct text *out, enum wire_attribute attribute, const uint8_t *data,
                      size_t bytes);
void wire_dump_field(struct text *out, enum wire_field field, const uint8_t *data, size_t bytes);
/* The same for the fields that differ, "Name: old -> new"; returns how many do. */
unsigned wire_diff(struct text *out, enum wire_attribute attribute, const uint8_t *before,
                   const uint8_t *after);
/* A single value as a person reads it ("4X", "Active"); all of a string, GID or byte array. */
void wire_print_value(struct text *out, enum wire_field field, const uint8_t *data, unsigned index);

#endif
