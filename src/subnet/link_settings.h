/* Settings of PortInfo that the configuration prescribes for links: OperationalVLs, lifetimes and
 * stall counts of switch ports, error thresholds, and the widths and speeds that are enabled.
 *
 * A port accepts only widths and speeds that it supports, so the prescribed ones are limited to
 * those; a port that supports none of them keeps its own. Enabled widths and speeds take effect
 * when the link trains the next time. */
#ifndef WEFT_SUBNET_LINK_SETTINGS_H
#define WEFT_SUBNET_LINK_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LINK_KEEP = 0xFF,  /* the port keeps its own value */
    LINK_VLS_MOST = 5, /* code of 15 data VLs */
    LINK_SPEEDS_SUPPORTED = 15,
    LINK_SPEEDS_EXT_NONE = 30,
    LINK_SPEEDS_EXT_SUPPORTED = 31,
    LINK_WIDTHS_SUPPORTED = 255,
};

struct link_settings {
    uint8_t vls;                         /* most OperationalVLs, as a code */
    uint8_t queue_life, leaf_queue_life; /* HOQLife, or LINK_KEEP */
    uint8_t stall_count, leaf_stall_count;
    uint8_t local_errors, overrun_errors; /* thresholds, or LINK_KEEP */
    uint8_t speeds, speeds_ext, widths;   /* as in PortInfo; 0: as they are */
};

/* Where a port is. `leaf` is a switch port with an adapter or router at the other end. */
enum link_place { LINK_TRUNK, LINK_LEAF, LINK_ADAPTER };

void link_settings_init(struct link_settings *settings); /* ports keep their values */
/* Writes all but widths and speeds into a PortInfo. */
void link_settings_apply(const struct link_settings *settings, enum link_place place,
                         uint8_t *info);
/* Whether links may run below the widths and speeds that their ports support. */
bool link_settings_limit_rates(const struct link_settings *settings);
/* Whether widths or speeds are prescribed at all. */
static inline bool link_settings_are_forced(const struct link_settings *settings)
{
    return settings->speeds || settings->speeds_ext || settings->widths;
}
/* Writes widths and speeds into a Set(PortInfo) of the port with this PortInfo, in which 0 means no
 * change. False: nothing differs. `set` may be NULL. */
bool link_settings_force(const struct link_settings *settings, enum link_place place,
                         const uint8_t *info, uint8_t *set);

#endif
