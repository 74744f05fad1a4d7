/* Members of a struct that are fields of an attribute or a header: one table writes and reads them.
 */
#ifndef WEFT_WIRE_MEMBER_H
#define WEFT_WIRE_MEMBER_H

#include "wire/codec.h"

#include <stddef.h>

struct wire_member {
    uint16_t field; /* enum wire_field */
    uint16_t offset;
    uint8_t bytes; /* of a number; the field knows the count of an array */
};
#define WIRE_MEMBER(field, type, member)                                                           \
    {                                                                                              \
        field, offsetof(type, member), sizeof(((type *)0)->member)                                 \
    }

/* Between the struct and the data of this attribute; members of others are left alone. */
void wire_put_members(const struct wire_member *members, size_t count,
                      enum wire_attribute attribute, const void *from, uint8_t *data);
void wire_get_members(const struct wire_member *members, size_t count,
                      enum wire_attribute attribute, void *to, const uint8_t *data);

#endif
