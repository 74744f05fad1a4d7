/* Log levels of the parts of a manager: "info", "discovery:debug,sa:error".
 *
 * Levels contain those before them: `error` is errors and warnings, `info` all events, `debug`
 * also each request, answer and decision. */
#ifndef WEFT_BASE_LOG_LEVELS_H
#define WEFT_BASE_LOG_LEVELS_H

#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* Zero, the value of what nobody has set, is the usual level. */
enum log_level { LEVEL_ERROR = -1, LEVEL_INFO = 0, LEVEL_DEBUG = 1 };

enum log_part {
    PART_WHOLE, /* none of the parts: its level is the highest of all */
    PART_DISCOVERY,
    PART_TRANSACTIONS,
    PART_MASTERSHIP,
    PART_ROUTING,
    PART_DISTRIBUTION,
    PART_SA,
    PART_PERF,
    PART_VSWITCH,
    PART_CONTROL,
    LOG_PART_COUNT
};

extern const char *const log_part_names[LOG_PART_COUNT]; /* that of PART_WHOLE is "" */

struct log_levels {
    int8_t of[LOG_PART_COUNT]; /* by enum log_part; enum log_level */
};

const char *log_level_name(enum log_level level);
/* Changes levels: words separated by commas, LEVEL for all parts or PART:LEVEL for one. On error
 * nothing changes. */
int log_levels_change(struct log_levels *levels, const char *text, struct err *err);
void log_levels_print(const struct log_levels *levels, struct text *out); /* in that form */
uint32_t log_levels_debug_mask(const struct log_levels *levels); /* bit n: part n is at debug */

#endif
