/* The fields' names in the specification, for messages of tests. */
#ifndef WEFT_TESTS_FIELD_NAMES_H
#define WEFT_TESTS_FIELD_NAMES_H

#include "wire/codec.h"

static const char *const field_names[WIRE_FIELD_COUNT] = {
#define FIELD(attribute, symbol, name, byte, bit, width, count, stride) name,
#include "wire/attributes.def"
};

#endif
