/* Counts lines by place (log_limit.h). */
#include "host/files/log_limit.h"

#include "base/map.h"
#include "base/time.h"

#include <stdio.h>
#include <string.h>

#define PLACE_NS (300 * NS_PER_S)

/* Forgets the lines of an entry. */
static struct log_place end_place(struct log_place *place)
{
    struct log_place ended = *place;
    place->lines = (struct rate_window){0};
    if (ended.lines.count <= LOG_PLACE_LINES)
        ended.lines.count = 0;
    return ended;
}

bool log_limit_take(struct log_limit *limit, uint64_t now, const char *event, uint64_t guid,
                    unsigned port, struct log_place *ended)
{
    uint64_t hash = hash_mix(guid ^ (uint64_t)port << 48 ^ (uint64_t)(uint8_t)event[0] << 56);
    struct log_place *place = &limit->places[hash % LOG_PLACES];
    bool same = place->guid == guid && place->port == port && strcmp(place->event, event) == 0;
    ended->lines.count = 0;
    if (!same || rate_window_is_over(&place->lines, now, PLACE_NS))
        *ended = end_place(place);
    if (!same) {
        *place = (struct log_place){.guid = guid, .port = port};
        snprintf(place->event, sizeof place->event, "%s", event);
    }
    return rate_window_add(&place->lines, now, PLACE_NS) <= LOG_PLACE_LINES;
}

bool log_limit_next_ended(struct log_limit *limit, uint64_t now, struct log_place *ended)
{
    for (unsigned i = 0; i < LOG_PLACES; i++)
        if (limit->places[i].lines.count > LOG_PLACE_LINES &&
            rate_window_is_over(&limit->places[i].lines, now, PLACE_NS)) {
            *ended = end_place(&limit->places[i]);
            return true;
        }
    return false;
}
