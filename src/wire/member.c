/* See member.h. A member that is a number has 1, 2, 4 or 8 bytes. */
#include "wire/member.h"

static uint64_t number_at(const void *at, unsigned bytes)
{
    switch (bytes) {
    case 1: return *(const uint8_t *)at;
    case 2: return *(const uint16_t *)at;
    case 4: return *(const uint32_t *)at;
    default: return *(const uint64_t *)at;
    }
}

static void set_number(void *at, unsigned bytes, uint64_t value)
{
    switch (bytes) {
    case 1: *(uint8_t *)at = (uint8_t)value; break;
    case 2: *(uint16_t *)at = (uint16_t)value; break;
    case 4: *(uint32_t *)at = (uint32_t)value; break;
    default: *(uint64_t *)at = value; break;
    }
}

void wire_put_members(const struct wire_member *members, size_t count,
                      enum wire_attribute attribute, const void *from, uint8_t *data)
{
    for (const struct wire_member *member = members; member < members + count; member++) {
        const struct wire_field_spec *spec = &wire_fields[member->field];
        const uint8_t *at = (const uint8_t *)from + member->offset;
        if (spec->attribute == attribute && spec->count > 1)
            memcpy(wire_bytes(data, member->field), at, spec->count);
        else if (spec->attribute == attribute)
            wire_set(data, member->field, number_at(at, member->bytes));
    }
}

void wire_get_members(const struct wire_member *members, size_t count,
                      enum wire_attribute attribute, void *to, const uint8_t *data)
{
    for (const struct wire_member *member = members; member < members + count; member++) {
        const struct wire_field_spec *spec = &wire_fields[member->field];
        uint8_t *at = (uint8_t *)to + member->offset;
        if (spec->attribute == attribute && spec->count > 1)
            memcpy(at, wire_bytes_const(data, member->field), spec->count);
        else if (spec->attribute == attribute)
            set_number(at, member->bytes, wire_get(data, member->field));
    }
}
