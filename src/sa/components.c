/* Component masks and selectors (15.4.4, 15.2.5.16).
 *
 * A query carries a record of the kind it asks for, and a mask that says which of its components
 * count, bit by bit in the record's order; the others are wildcards. MTU, rate and life time come
 * with a selector: greater than, less than, exactly this value, or the best there is. A path that
 * can do more than it was asked for is told as one that does what was asked for; but for exact
 * rates, which are those of links. */
#include "sa/internal.h"

void matcher_init(struct matcher *matcher, const struct component *components, uint64_t mask,
                  const uint8_t *wanted)
{
    *matcher = (struct matcher){.wanted = wanted};
    for (; components->bit < 64; components++)
        if (mask >> components->bit & 1)
            matcher->active[matcher->count++] = components;
}

static bool same_field(const struct component *component, const uint8_t *a, const uint8_t *b)
{
    const struct wire_field_spec *spec = &wire_fields[component->field];
    a += component->at;
    b += component->at;
    if (spec->count > 1 && spec->width == spec->stride && spec->width % 8 == 0)
        return memcmp(a + spec->offset / 8, b + spec->offset / 8,
                      (size_t)spec->count * spec->width / 8) == 0;
    for (unsigned i = 0; i < spec->count; i++)
        if (wire_get_at(a, component->field, i) != wire_get_at(b, component->field, i))
            return false;
    return true;
}

bool matcher_accepts(const struct matcher *matcher, const uint8_t *record)
{
    for (unsigned i = 0; i < matcher->count; i++)
        if (!same_field(matcher->active[i], matcher->wanted, record))
            return false;
    return true;
}

bool wish_grant(const struct wish *wish, uint8_t *value)
{
    if (!wish->given)
        return true;
    switch (wish->selector) {
    case SELECT_GREATER: return *value > wish->value;
    case SELECT_LESS:
        if (*value < wish->value)
            return true;
        *value = (uint8_t)(wish->value - 1);
        return wish->value > 1;
    case SELECT_EXACTLY:
        if (*value < wish->value)
            return false;
        *value = wish->value;
        return true;
    case SELECT_BEST: return true;
    }
    return false;
}

/* Rates have codes that do not follow their order. */
bool wish_grant_rate(const struct wish *wish, uint8_t *rate)
{
    if (!wish->given || wish->selector == SELECT_BEST)
        return true;
    unsigned best = rate_order(*rate), wanted = rate_order(wish->value);
    switch (wish->selector) {
    case SELECT_GREATER: return best > wanted;
    case SELECT_LESS:
        if (best >= wanted)
            *rate = rate_below(wish->value);
        return wanted && *rate;
    default: return best == wanted;
    }
}
