/* Consistency of the field table. */
#include "base/rng.h"
#include "wire/mad.h"

#include "field_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { ATTRIBUTE_BITS_MAX = 256 * 8 };

static const struct embed {
    enum wire_attribute attribute, embedded;
    unsigned byte;
} embeds[] = {
#define EMBED(attribute, embedded, byte) {WIRE_##attribute, WIRE_##embedded, byte},
#include "wire/attributes.def"
};
enum { EMBED_COUNT = sizeof embeds / sizeof *embeds };

static unsigned element_offset(const struct wire_field_spec *spec, unsigned index)
{
    return spec->offset + index * spec->stride;
}

static void every_field_lies_within_its_attribute(void **state)
{
    for (unsigned i = 0; i < WIRE_FIELD_COUNT; i++) {
        const struct wire_field_spec *spec = &wire_fields[i];
        const struct wire_attribute_spec *attribute = &wire_attributes[spec->attribute];
        unsigned end = element_offset(spec, spec->count - 1) + spec->width;
        if (!spec->count || !spec->width || spec->width > 64 || end > attribute->bytes * 8u)
            fail_msg("%s does not fit into %s", field_names[i], attribute->name);
        assert_true(spec->count == 1 ? spec->stride == 0 : spec->stride >= spec->width);
        assert_true(attribute->bytes * 8u <= ATTRIBUTE_BITS_MAX);
    }
}

/* Marks the bits of a field or embedded attribute; fails on one that was marked before. */
static void take_bits(bool *taken, unsigned first, unsigned count, const char *name)
{
    for (unsigned bit = first; bit < first + count; bit++) {
        if (taken[bit])
            fail_msg("%s overlaps another field", name);
        taken[bit] = true;
    }
}

static void no_two_parts_of_an_attribute_overlap(void **state)
{
    for (unsigned a = 0; a < WIRE_ATTRIBUTE_COUNT; a++) {
        bool taken[ATTRIBUTE_BITS_MAX] = {false};
        for (unsigned i = 0; i < WIRE_FIELD_COUNT; i++)
            for (unsigned j = 0; j < wire_fields[i].count && wire_fields[i].attribute == a; j++)
                take_bits(taken, element_offset(&wire_fields[i], j), wire_fields[i].width,
                          field_names[i]);
        for (unsigned i = 0; i < EMBED_COUNT; i++) {
            const struct wire_attribute_spec *inner = &wire_attributes[embeds[i].embedded];
            if (embeds[i].attribute != a)
                continue;
            assert_true(embeds[i].byte + inner->bytes <= wire_attributes[a].bytes);
            take_bits(taken, embeds[i].byte * 8u, inner->bytes * 8u, inner->name);
        }
    }
}

static void class_and_number_name_one_attribute_only(void **state)
{
    for (unsigned a = 0; a < WIRE_ATTRIBUTE_COUNT; a++)
        if (wire_attributes[a].class != WIRE_CLASS_HEADER)
            assert_int_equal(wire_attribute_find(wire_attributes[a].class, wire_attributes[a].id),
                             a);
}

static void sa_records_are_multiples_of_eight_bytes(void **state)
{
    for (unsigned a = 0; a < WIRE_ATTRIBUTE_COUNT; a++)
        if (wire_attributes[a].class == WIRE_CLASS_SA)
            assert_int_equal(wire_attributes[a].bytes % 8, 0);
}

static void every_attribute_fits_where_its_class_carries_it(void **state)
{
    for (unsigned a = 0; a < WIRE_ATTRIBUTE_COUNT; a++) {
        unsigned bytes = wire_attributes[a].bytes;
        switch (wire_attributes[a].class) {
        case WIRE_CLASS_SMP: assert_true(bytes <= SMP_DATA_BYTES); break;
        case WIRE_CLASS_SA:
        case WIRE_CLASS_COMMON: assert_true(bytes <= SA_DATA_BYTES); break;
        case WIRE_CLASS_DEVICE:
        case WIRE_CLASS_PERFORMANCE: assert_true(bytes <= MAD_BYTES - GMP_DATA_OFFSET); break;
        case WIRE_CLASS_CM: assert_int_equal(bytes, MAD_BYTES - MAD_HEADER_BYTES); break;
        case WIRE_CLASS_NOTICE: assert_true(bytes <= wire_fields[NOTICE_DATA].count); break;
        }
    }
}

static void setting_a_field_changes_that_field_only(void **state)
{
    struct rng rng;
    rng_seed(&rng, 7, 0);
    for (unsigned field = 0; field < WIRE_FIELD_COUNT; field++)
        for (unsigned index = 0; index < wire_fields[field].count; index++) {
            uint8_t before[256], after[256];
            unsigned width = wire_fields[field].width;
            unsigned first = element_offset(&wire_fields[field], index);
            for (unsigned i = 0; i < sizeof before; i++)
                before[i] = (uint8_t)rng_next(&rng);
            memcpy(after, before, sizeof after);
            uint64_t value = rng_next(&rng);
            wire_set_at(after, field, index, value); /* too wide: the excess must not spill */
            assert_true(wire_get_at(after, field, index) == value << (64 - width) >> (64 - width));
            for (unsigned bit = 0; bit < sizeof after * 8; bit++)
                if (bit < first || bit >= first + width)
                    assert_int_equal((before[bit / 8] ^ after[bit / 8]) >> (7 - bit % 8) & 1, 0);
        }
}

/* The mlx5 driver reads the active XDR speed as (data[56] >> 4) & 6, where 2 means XDR. */
static void fields_of_xdr_match_the_kernel(void **state)
{
    uint8_t data[64] = {0};
    wire_set(data, PORT_INFO_LINK_SPEED_EXT2_ACTIVE, 1);
    assert_int_equal(data[56] >> 4 & 6, 2);
    wire_set(data, PORT_INFO_LINK_SPEED_EXT2_SUPPORTED, 3);
    wire_set(data, PORT_INFO_LINK_SPEED_EXT2_ENABLED, 7);
    assert_int_equal(data[56] >> 4 & 6, 2);
    assert_int_equal(data[56], 0x3f);
}

static void the_class_decides_what_an_attribute_number_means(void **state)
{
    assert_int_equal(mad_attribute_find(CLASS_SUBN_LID, 0x12), WIRE_SWITCH_INFO);
    assert_int_equal(mad_attribute_find(CLASS_SUBN_ADM, 0x12), WIRE_PORT_INFO_RECORD);
    assert_int_equal(mad_attribute_find(CLASS_PERFORMANCE, 0x12), WIRE_PORT_COUNTERS);
    assert_int_equal(mad_attribute_find(CLASS_PERFORMANCE, 0x01), WIRE_CLASS_PORT_INFO);
    assert_int_equal(mad_attribute_find(CLASS_CM, 0x10), WIRE_CM_REQ);
    assert_int_equal(mad_attribute_find(CLASS_CM, 0x01), WIRE_CLASS_PORT_INFO);
    assert_int_equal(mad_attribute_find(CLASS_BIS, 0x10), WIRE_ATTRIBUTE_COUNT);
    assert_int_equal(wire_attribute_find(WIRE_CLASS_NOTICE, 128), WIRE_TRAP_LINK_STATE);
    assert_int_equal(wire_attribute_find(WIRE_CLASS_NOTICE, 2), WIRE_ATTRIBUTE_COUNT);
    assert_int_equal(wire_attribute_find(WIRE_CLASS_SMP, 0), WIRE_ATTRIBUTE_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_lies_within_its_attribute),
        cmocka_unit_test(no_two_parts_of_an_attribute_overlap),
        cmocka_unit_test(class_and_number_name_one_attribute_only),
        cmocka_unit_test(sa_records_are_multiples_of_eight_bytes),
        cmocka_unit_test(every_attribute_fits_where_its_class_carries_it),
        cmocka_unit_test(setting_a_field_changes_that_field_only),
        cmocka_unit_test(fields_of_xdr_match_the_kernel),
        cmocka_unit_test(the_class_decides_what_an_attribute_number_means),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
