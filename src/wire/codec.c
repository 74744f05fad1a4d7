/* The tables behind codec.h, and values as people read them.
 *
 * Dumps follow the look of libibmad's ("LinkWidthActive:.................4X"), so that an eye used
 * to smpquery finds its way. Everything is driven by attributes.def: fields are printed in its
 * order, and so are the attributes embedded in this one (SA records, longer headers).
 *
 * Sizes are checked here and nowhere else: the bounded forms skip whatever does not lie wholly
 * inside the bytes that were given, so that a truncated packet prints what it has. */
#include "wire/codec.h"

#include <string.h>

/* Where each attribute's parts start in the tables: an attribute's first constant takes the number
 * that its first field then takes, too. */
enum wire_field_position {
#define ATTRIBUTE(symbol, name, class, id, bytes)                                                  \
    WIRE_FIRST_FIELD_##symbol, WIRE_FIRST_FIELD_OFF_##symbol = WIRE_FIRST_FIELD_##symbol - 1,
#define FIELD(attribute, symbol, name, byte, bit, width, count, stride, kind)                      \
    WIRE_FIELD_##attribute##_##symbol,
#include "wire/attributes.def"
};
enum wire_embed_position {
#define ATTRIBUTE(symbol, name, class, id, bytes)                                                  \
    WIRE_FIRST_EMBED_##symbol, WIRE_FIRST_EMBED_OFF_##symbol = WIRE_FIRST_EMBED_##symbol - 1,
#define EMBED(attribute, embedded, byte) WIRE_EMBED_##attribute##_##embedded,
#include "wire/attributes.def"
    WIRE_EMBED_COUNT
};

const struct wire_attribute_spec wire_attributes[WIRE_ATTRIBUTE_COUNT] = {
#define ATTRIBUTE(symbol, name, class, id, bytes)                                                  \
    {name, WIRE_CLASS_##class, id, bytes, WIRE_FIRST_FIELD_##symbol, WIRE_FIRST_EMBED_##symbol},
#include "wire/attributes.def"
};

const char *const wire_field_names[WIRE_FIELD_COUNT] = {
#define FIELD(attribute, symbol, name, byte, bit, width, count, stride, kind) name,
#include "wire/attributes.def"
};

const struct wire_embed_spec wire_embeds[WIRE_EMBED_COUNT] = {
#define EMBED(attribute, embedded, byte) {WIRE_##attribute, WIRE_##embedded, byte},
#include "wire/attributes.def"
};

/* Names of values. In a mask, name i stands for bit i and several may hold at once. */
struct names {
    const char *const *names;
    unsigned count;
    bool mask;
};

static const char *const node_types[] = {NULL, "Channel Adapter", "Switch", "Router"};
static const char *const port_states[] = {"No state change", "Down", "Initialize", "Armed",
                                          "Active"};
static const char *const physical_states[] = {
    "No state change", "Sleep", "Polling", "Disabled", "Training", "LinkUp", "LinkErrorRecovery"};
static const char *const link_widths[] = {"1X", "4X", "8X", "12X", "2X"};
static const char *const link_speeds[] = {"2.5 Gb/s", "5 Gb/s", "10 Gb/s"};
static const char *const link_speeds_ext[] = {"14.0625 Gb/s (FDR)", "25.78125 Gb/s (EDR)",
                                              "53.125 Gb/s (HDR)", "106.25 Gb/s (NDR)"};
static const char *const link_speeds_ext2[] = {"212.5 Gb/s (XDR)"};
static const char *const mtus[] = {NULL, "256", "512", "1024", "2048", "4096"};
static const char *const vl_counts[] = {"No change", "VL0", "VL0-1", "VL0-3", "VL0-7", "VL0-14"};
static const char *const sm_states[] = {"Not active", "Discovering", "Standby", "Master"};
static const char *const selectors[] = {"greater than", "less than", "exactly", "best"};
static const char *const rates[] = {NULL,       NULL,       "2.5 Gb/s", "10 Gb/s",  "30 Gb/s",
                                    "5 Gb/s",   "20 Gb/s",  "40 Gb/s",  "60 Gb/s",  "80 Gb/s",
                                    "120 Gb/s", "14 Gb/s",  "56 Gb/s",  "112 Gb/s", "168 Gb/s",
                                    "25 Gb/s",  "100 Gb/s", "200 Gb/s", "300 Gb/s", "28 Gb/s",
                                    "50 Gb/s",  "400 Gb/s", "600 Gb/s", "800 Gb/s", "1200 Gb/s"};
static const char *const notice_types[] = {"Fatal", "Urgent", "Security", "SM", "Informational"};
static const char *const producers[] = {NULL, "Channel Adapter", "Switch", "Router",
                                        "Class manager"};
static const char *const rmpp_types[] = {"None", "DATA", "ACK", "STOP", "ABORT"};

#define NAMES(array, mask)                                                                         \
    {                                                                                              \
        array, sizeof(array) / sizeof *(array), mask                                               \
    }
static const struct names kind_names[WIRE_KIND_COUNT] = {
    [WIRE_NODE_TYPE] = NAMES(node_types, false),
    [WIRE_PORT_STATE] = NAMES(port_states, false),
    [WIRE_PHYSICAL_STATE] = NAMES(physical_states, false),
    [WIRE_LINK_WIDTH] = NAMES(link_widths, true),
    [WIRE_LINK_SPEED] = NAMES(link_speeds, true),
    [WIRE_LINK_SPEED_EXT] = NAMES(link_speeds_ext, true),
    [WIRE_LINK_SPEED_EXT2] = NAMES(link_speeds_ext2, true),
    [WIRE_MTU] = NAMES(mtus, false),
    [WIRE_VL_COUNT] = NAMES(vl_counts, false),
    [WIRE_SM_STATE] = NAMES(sm_states, false),
    [WIRE_SELECTOR] = NAMES(selectors, false),
    [WIRE_RATE] = NAMES(rates, false),
    [WIRE_NOTICE_TYPE] = NAMES(notice_types, false),
    [WIRE_PRODUCER] = NAMES(producers, false),
    [WIRE_RMPP_TYPE] = NAMES(rmpp_types, false),
};

enum wire_attribute wire_attribute_find(enum wire_class class, unsigned id)
{
    /* The ids of the common attributes mean the same in every management class. */
    bool common_too = class != WIRE_CLASS_HEADER && class != WIRE_CLASS_NOTICE;
    for (unsigned i = 0; i < WIRE_ATTRIBUTE_COUNT; i++) {
        const struct wire_attribute_spec *spec = &wire_attributes[i];
        bool here = spec->class == class || (common_too && spec->class == WIRE_CLASS_COMMON);
        if (here && spec->id == id)
            return i;
    }
    return WIRE_ATTRIBUTE_COUNT;
}

unsigned wire_field_end(enum wire_attribute attribute)
{
    return attribute + 1 < WIRE_ATTRIBUTE_COUNT ? wire_attributes[attribute + 1].first_field
                                                : WIRE_FIELD_COUNT;
}

unsigned wire_embed_end(enum wire_attribute attribute)
{
    return attribute + 1 < WIRE_ATTRIBUTE_COUNT ? wire_attributes[attribute + 1].first_embed
                                                : WIRE_EMBED_COUNT;
}

/* Arrays that are read as one value: text, addresses, raw bytes. */
static bool is_one_value(const struct wire_field_spec *spec)
{
    return spec->kind == WIRE_STRING || spec->kind == WIRE_BYTES || spec->kind == WIRE_GID;
}

static void print_string(struct text *out, const uint8_t *bytes, unsigned count)
{
    for (unsigned i = 0; i < count && bytes[i]; i++)
        if (bytes[i] >= 0x20 && bytes[i] < 0x7f && bytes[i] != '\\')
            text_putc(out, (char)bytes[i]);
        else
            text_printf(out, "\\x%02x", bytes[i]);
}

static void print_bytes(struct text *out, const uint8_t *bytes, unsigned count)
{
    text_puts(out, "0x");
    for (unsigned i = 0; i < count; i++)
        text_printf(out, "%02x", bytes[i]);
}

/* GIDs in full, with no "::": they stay as wide as their neighbours in a table. */
static void print_gid(struct text *out, const uint8_t *bytes)
{
    for (unsigned i = 0; i < 16; i += 2)
        text_printf(out, "%s%02x%02x", i ? ":" : "", bytes[i], bytes[i + 1]);
}

static void print_mask(struct text *out, const struct names *names, uint64_t value)
{
    const char *separator = "";
    for (unsigned i = 0; i < names->count; i++)
        if (value >> i & 1) {
            text_printf(out, "%s%s", separator, names->names[i]);
            separator = " or ";
        }
    uint64_t rest = value & ~((UINT64_C(1) << names->count) - 1);
    if (rest || !value)
        text_printf(out, "%s0x%llx", separator, (unsigned long long)rest);
}

static void print_number(struct text *out, const struct wire_field_spec *spec, uint64_t value)
{
    const struct names *names = &kind_names[spec->kind];
    if (names->mask)
        print_mask(out, names, value);
    else if (names->names && value < names->count && names->names[value])
        text_puts(out, names->names[value]);
    else if (names->names)
        text_printf(out, "unknown (%llu)", (unsigned long long)value);
    else if (spec->kind == WIRE_HEX)
        text_printf(out, "0x%0*llx", (spec->width + 3) / 4, (unsigned long long)value);
    else
        text_printf(out, "%llu", (unsigned long long)value);
}

/* Prints the first `count` elements of an array that is one value, or one number. */
static void print_value(struct text *out, enum wire_field field, const uint8_t *data,
                        unsigned index, unsigned count)
{
    const struct wire_field_spec *spec = &wire_fields[field];
    const uint8_t *bytes = data + spec->offset / 8;
    if (spec->kind == WIRE_STRING)
        print_string(out, bytes, count);
    else if (spec->kind == WIRE_GID && count == 16)
        print_gid(out, bytes);
    else if (is_one_value(spec))
        print_bytes(out, bytes, count);
    else
        print_number(out, spec, wire_get_at(data, field, index));
}

void wire_print_value(struct text *out, enum wire_field field, const uint8_t *data, unsigned index)
{
    print_value(out, field, data, index, wire_fields[field].count);
}

/* How many of the field's elements lie wholly within `bytes`. */
static unsigned elements_within(const struct wire_field_spec *spec, size_t bytes)
{
    size_t first_end = spec->offset + spec->width;
    if (first_end > bytes * 8)
        return 0;
    if (spec->count == 1)
        return 1;
    size_t fit = (bytes * 8 - first_end) / spec->stride + 1;
    return fit < spec->count ? (unsigned)fit : spec->count;
}

enum { LABEL_COLUMNS = 33, ROW_WIDE = 8, ROW_NARROW = 16 };

/* "Name:....", dots up to the column where values start; index < 0 for what is no array. */
static void print_label(struct text *out, const char *name, int index)
{
    size_t start = out->length;
    text_puts(out, name);
    if (index >= 0)
        text_printf(out, "[%d]", index);
    text_putc(out, ':');
    while (out->length - start < LABEL_COLUMNS)
        text_putc(out, '.');
}

static void dump_array(struct text *out, enum wire_field field, const uint8_t *data, unsigned count)
{
    unsigned width = wire_fields[field].width;
    unsigned row = width <= 8 ? ROW_NARROW : width <= 16 ? ROW_WIDE : 1;
    for (unsigned i = 0; i < count; i++) {
        if (i % row == 0)
            print_label(out, wire_field_names[field], (int)i);
        wire_print_value(out, field, data, i);
        text_putc(out, i % row == row - 1 || i == count - 1 ? '\n' : ' ');
    }
}

void wire_dump_field(struct text *out, enum wire_field field, const uint8_t *data, size_t bytes)
{
    const struct wire_field_spec *spec = &wire_fields[field];
    unsigned count = elements_within(spec, bytes);
    if (!count)
        return;
    if (spec->count > 1 && !is_one_value(spec)) {
        dump_array(out, field, data, count);
        return;
    }
    print_label(out, wire_field_names[field], -1);
    print_value(out, field, data, 0, count);
    text_putc(out, '\n');
}

/* The notice's details by trap number: what DataDetails holds depends on it (14.2.5.1). */
static enum wire_attribute notice_details(const uint8_t *notice)
{
    if (!wire_get(notice, NOTICE_IS_GENERIC))
        return WIRE_ATTRIBUTE_COUNT;
    return wire_attribute_find(WIRE_CLASS_NOTICE, (unsigned)wire_get(notice, NOTICE_TRAP_NUMBER));
}

/* Dumps embedded attributes from number `next` on that start no later than `byte`; returns the
 * number of the first that does not. */
static unsigned dump_embeds(struct text *out, enum wire_attribute attribute, unsigned next,
                            size_t byte, const uint8_t *data, size_t bytes)
{
    for (; next < wire_embed_end(attribute) && wire_embeds[next].byte <= byte; next++) {
        size_t start = wire_embeds[next].byte;
        if (start < bytes)
            wire_dump_within(out, wire_embeds[next].embedded, data + start, bytes - start);
    }
    return next;
}

void wire_dump_within(struct text *out, enum wire_attribute attribute, const uint8_t *data,
                      size_t bytes)
{
    const struct wire_attribute_spec *spec = &wire_attributes[attribute];
    enum wire_attribute details = WIRE_ATTRIBUTE_COUNT;
    unsigned embed = spec->first_embed;
    if (bytes > spec->bytes)
        bytes = spec->bytes;
    if (attribute == WIRE_NOTICE && bytes >= NOTICE_AT_DETAILS)
        details = notice_details(data);
    for (unsigned i = spec->first_field; i < wire_field_end(attribute); i++) {
        embed = dump_embeds(out, attribute, embed, wire_fields[i].offset / 8, data, bytes);
        if (i == NOTICE_DATA && details != WIRE_ATTRIBUTE_COUNT)
            wire_dump_within(out, details, data + NOTICE_AT_DETAILS, bytes - NOTICE_AT_DETAILS);
        else
            wire_dump_field(out, i, data, bytes);
    }
    dump_embeds(out, attribute, embed, bytes, data, bytes);
}

void wire_dump(struct text *out, enum wire_attribute attribute, const uint8_t *data)
{
    wire_dump_within(out, attribute, data, wire_attributes[attribute].bytes);
}

static bool is_same(enum wire_field field, const uint8_t *before, const uint8_t *after,
                    unsigned index)
{
    const struct wire_field_spec *spec = &wire_fields[field];
    if (is_one_value(spec))
        return !memcmp(before + spec->offset / 8, after + spec->offset / 8, spec->count);
    return wire_get_at(before, field, index) == wire_get_at(after, field, index);
}

static unsigned diff_field(struct text *out, enum wire_field field, const uint8_t *before,
                           const uint8_t *after)
{
    const struct wire_field_spec *spec = &wire_fields[field];
    unsigned count = is_one_value(spec) ? 1 : spec->count, differences = 0;
    for (unsigned i = 0; i < count; i++) {
        if (is_same(field, before, after, i))
            continue;
        differences++;
        text_puts(out, wire_field_names[field]);
        if (count > 1)
            text_printf(out, "[%u]", i);
        text_puts(out, ": ");
        wire_print_value(out, field, before, i);
        text_puts(out, " -> ");
        wire_print_value(out, field, after, i);
        text_putc(out, '\n');
    }
    return differences;
}

unsigned wire_diff(struct text *out, enum wire_attribute attribute, const uint8_t *before,
                   const uint8_t *after)
{
    const struct wire_attribute_spec *spec = &wire_attributes[attribute];
    unsigned differences = 0;
    for (unsigned i = spec->first_field; i < wire_field_end(attribute); i++)
        differences += diff_field(out, i, before, after);
    for (unsigned i = spec->first_embed; i < wire_embed_end(attribute); i++)
        differences += wire_diff(out, wire_embeds[i].embedded, before + wire_embeds[i].byte,
                                 after + wire_embeds[i].byte);
    return differences;
}
