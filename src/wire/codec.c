/* The table of attributes, expanded from attributes.def, and the search in it by management class
 * and attribute ID. The access to fields is inline, in the header. */
#include "wire/codec.h"

const struct wire_attribute_spec wire_attributes[WIRE_ATTRIBUTE_COUNT] = {
#define ATTRIBUTE(symbol, name, class, id, bytes) {name, WIRE_CLASS_##class, id, bytes},
#include "wire/attributes.def"
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
