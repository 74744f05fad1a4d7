/* How often a source sends: `every TIME`, `load SHARE` or `rate BYTES` of weft-scenario(5). */
#ifndef WEFT_CONSOLE_PACE_H
#define WEFT_CONSOLE_PACE_H

#include "base/line_reader.h"
#include "base/text.h"

#include <stdint.h>

enum pace_kind {
    PACE_NONE,  /* as soon as possible */
    PACE_EVERY, /* a message at this interval at most */
    PACE_LOAD,  /* this share of the data rate of the sender's link, with all headers */
    PACE_RATE,  /* these bytes of messages per second */
    PACE_KINDS,
};
extern const char *const pace_names[PACE_KINDS]; /* "every" …; that of PACE_NONE is "" */

struct pace {
    enum pace_kind kind;
    uint64_t every_ps;
    double value; /* a share, or bytes per second */
};

/* `every TIME`, `load SHARE` or `rate BYTES`; at the end of the line the pace is PACE_NONE. */
void pace_read(struct pace *pace, struct cursor *cursor);
/* What follows the word. */
void pace_read_value(struct pace *pace, enum pace_kind kind, struct cursor *cursor);
/* The words. */
void pace_print(const struct pace *pace, struct text *out);
/* The time between two messages of which each has `bytes`, and `wire_bytes` with its headers, on a
 * link of `link_bits` bits per second; 0: none. */
uint64_t pace_interval_ps(const struct pace *pace, uint64_t bytes, uint64_t wire_bytes,
                          uint64_t link_bits);

/* A share of a link's rate: 0.3 or 30%. Shares from above 1 to 2 overload it. A number above 2 is a
 * percentage without its sign: an error. */
int cursor_take_load(struct cursor *cursor, double *share);

#endif
