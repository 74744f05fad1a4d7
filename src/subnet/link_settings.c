/* Puts the configured settings of links into a PortInfo (14.2.5.6). Each kind of port gets only the
 * fields that apply to it; sm/tables/program_ports.c decides when the result is written. */
#include "subnet/link_settings.h"

#include "wire/codec.h"

#include <stddef.h>

void link_settings_init(struct link_settings *settings)
{
    *settings = (struct link_settings){
        .vls = LINK_VLS_MOST,
        .queue_life = LINK_KEEP,
        .leaf_queue_life = LINK_KEEP,
        .stall_count = LINK_KEEP,
        .leaf_stall_count = LINK_KEEP,
        .local_errors = LINK_KEEP,
        .overrun_errors = LINK_KEEP,
    };
}

WIRE_INLINE void set_unless_kept(uint8_t *info, enum wire_field field, uint8_t value)
{
    if (value != LINK_KEEP)
        wire_set(info, field, value);
}

void link_settings_apply(const struct link_settings *settings, enum link_place place, uint8_t *info)
{
    bool leaf = place == LINK_LEAF;
    if (wire_get(info, PORT_INFO_OPERATIONAL_VLS) > settings->vls)
        wire_set(info, PORT_INFO_OPERATIONAL_VLS, settings->vls);
    set_unless_kept(info, PORT_INFO_LOCAL_PHY_ERRORS, settings->local_errors);
    set_unless_kept(info, PORT_INFO_OVERRUN_ERRORS, settings->overrun_errors);
    if (place == LINK_ADAPTER)
        return; /* only switches drop packets by age */
    set_unless_kept(info, PORT_INFO_HOQ_LIFE,
                    leaf ? settings->leaf_queue_life : settings->queue_life);
    set_unless_kept(info, PORT_INFO_VL_STALL_COUNT,
                    leaf ? settings->leaf_stall_count : settings->stall_count);
}

bool link_settings_limit_rates(const struct link_settings *settings)
{
    return (settings->speeds && settings->speeds != LINK_SPEEDS_SUPPORTED) ||
           (settings->speeds_ext && settings->speeds_ext != LINK_SPEEDS_EXT_SUPPORTED) ||
           (settings->widths && settings->widths != LINK_WIDTHS_SUPPORTED);
}

/* The value of an enabled field that differs from the present one; 0: none. */
static uint64_t choose(uint8_t wanted, uint8_t all, uint64_t supported, uint64_t enabled)
{
    uint64_t value = wanted == all ? supported : wanted & supported;
    return value == enabled ? 0 : value;
}

/* The same for extended speeds, which can all be disabled. */
static uint64_t choose_ext(uint8_t wanted, uint64_t supported, uint64_t enabled)
{
    if (wanted == LINK_SPEEDS_EXT_NONE)
        return supported && enabled ? LINK_SPEEDS_EXT_NONE : 0;
    return choose(wanted, LINK_SPEEDS_EXT_SUPPORTED, supported, enabled);
}

bool link_settings_force(const struct link_settings *settings, enum link_place place,
                         const uint8_t *info, uint8_t *set)
{
    const struct {
        enum wire_field field;
        uint64_t value;
    } choices[] = {
        {PORT_INFO_LINK_SPEED_EXT_ENABLED,
         choose_ext(settings->speeds_ext, wire_get(info, PORT_INFO_LINK_SPEED_EXT_SUPPORTED),
                    wire_get(info, PORT_INFO_LINK_SPEED_EXT_ENABLED))},
        /* As OpenSM does, at switch ports only. */
        {PORT_INFO_LINK_SPEED_ENABLED, choose(settings->speeds, LINK_SPEEDS_SUPPORTED,
                                              wire_get(info, PORT_INFO_LINK_SPEED_SUPPORTED),
                                              wire_get(info, PORT_INFO_LINK_SPEED_ENABLED))},
        {PORT_INFO_LINK_WIDTH_ENABLED, choose(settings->widths, LINK_WIDTHS_SUPPORTED,
                                              wire_get(info, PORT_INFO_LINK_WIDTH_SUPPORTED),
                                              wire_get(info, PORT_INFO_LINK_WIDTH_ENABLED))},
    };
    size_t count = place == LINK_ADAPTER ? 1 : sizeof choices / sizeof *choices;
    bool differs = false;
    for (size_t i = 0; i < count; i++) {
        differs |= choices[i].value != 0;
        if (set && choices[i].value)
            wire_set(set, choices[i].field, choices[i].value);
    }
    return differs;
}
