/* Component masks and selectors (15.4.4, 15.2.5.16).
 *
 * A query carries a record and a mask. Each bit of the mask selects a component of the record, in
 * the order of its fields; components that are not selected match any value. MTU, rate and life
 * time have a selector: greater than, less than, exactly, or the best value. A path that exceeds
 * the requested MTU or life time is returned with the requested value. An exact rate must be the
 * rate of the path. */
#include "sa/internal.h"

#include <assert.h>

void matcher_init(struct matcher *matcher, const struct component *components, uint64_t mask,
                  const uint8_t *wanted)
{
    *matcher = (struct matcher){.wanted = wanted};
    for (; components->first < 64; components++)
        for (unsigned bit = components->first; bit <= components->last; bit++)
            if (mask >> bit & 1) {
                assert(matcher->count < 64);
                matcher->active[matcher->count].field =
                    (uint16_t)(components->field + bit - components->first);
                matcher->active[matcher->count++].at = components->at;
            }
}

static bool same_field(enum wire_field field, const uint8_t *a, const uint8_t *b)
{
    const struct wire_field_spec *spec = &wire_fields[field];
    if (spec->count > 1 && spec->width == spec->stride && spec->width % 8 == 0)
        return memcmp(a + spec->offset / 8, b + spec->offset / 8,
                      (size_t)spec->count * spec->width / 8) == 0;
    for (unsigned i = 0; i < spec->count; i++)
        if (wire_get_at(a, field, i) != wire_get_at(b, field, i))
            return false;
    return true;
}

bool matcher_accepts(const struct matcher *matcher, const uint8_t *record)
{
    for (unsigned i = 0; i < matcher->count; i++)
        if (!same_field(matcher->active[i].field, matcher->wanted + matcher->active[i].at,
                        record + matcher->active[i].at))
            return false;
    return true;
}

bool selection_apply(const struct selection *selection, uint8_t *value)
{
    if (!selection->given)
        return true;
    switch (selection->selector) {
    case SELECT_GREATER: return *value > selection->value;
    case SELECT_LESS:
        if (*value < selection->value)
            return true;
        *value = (uint8_t)(selection->value - 1);
        return selection->value > 1;
    case SELECT_EXACTLY:
        if (*value < selection->value)
            return false;
        *value = selection->value;
        return true;
    case SELECT_BEST: return true;
    }
    return false;
}

/* The codes of rates are not in the order of the rates. */
bool selection_apply_rate(const struct selection *selection, uint8_t *rate)
{
    if (!selection->given || selection->selector == SELECT_BEST)
        return true;
    unsigned best = rate_order(*rate), wanted = rate_order(selection->value);
    switch (selection->selector) {
    case SELECT_GREATER: return best > wanted;
    case SELECT_LESS:
        if (best >= wanted)
            *rate = rate_below(selection->value);
        return wanted && *rate;
    default: return best == wanted;
    }
}
