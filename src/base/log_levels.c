/* Reads and prints log levels. */
#include "base/log_levels.h"

#include <errno.h>
#include <string.h>

enum { LEVEL_COUNT = LEVEL_DEBUG - LEVEL_ERROR + 1 };
static const char *const level_names[LEVEL_COUNT] = {"error", "info", "debug"};

const char *log_level_name(enum log_level level)
{
    return level_names[level - LEVEL_ERROR];
}

const char *const log_part_names[LOG_PART_COUNT] = {
    [PART_WHOLE] = "",
    [PART_DISCOVERY] = "discovery",
    [PART_TRANSACTIONS] = "transactions",
    [PART_MASTERSHIP] = "mastership",
    [PART_ROUTING] = "routing",
    [PART_DISTRIBUTION] = "distribution",
    [PART_SA] = "sa",
    [PART_PERF] = "perf",
    [PART_VSWITCH] = "vswitch",
    [PART_CONTROL] = "control",
};

/* The index of a name; `count` if there is none. */
static unsigned find_name(const char *const *names, unsigned count, const char *text, size_t length)
{
    unsigned i = 0;
    while (i < count && (strlen(names[i]) != length || memcmp(names[i], text, length) != 0))
        i++;
    return i;
}

static int change_one(struct log_levels *levels, const char *word, size_t length, struct err *err)
{
    const char *colon = memchr(word, ':', length);
    const char *name = colon ? colon + 1 : word;
    unsigned at = find_name(level_names, LEVEL_COUNT, name, length - (size_t)(name - word));
    int level = (int)at + LEVEL_ERROR;
    unsigned part = PART_WHOLE;
    if (at == LEVEL_COUNT)
        return err_set(err, EINVAL, "'%.*s': expected [PART:]error, [PART:]info or [PART:]debug",
                       (int)length, word);
    if (colon) {
        part = find_name(log_part_names, LOG_PART_COUNT, word, (size_t)(colon - word));
        if (part == LOG_PART_COUNT || part == PART_WHOLE)
            return err_set(err, EINVAL,
                           "'%.*s' is not a part: discovery, transactions, mastership, routing, "
                           "distribution, sa, perf, vswitch or control",
                           (int)(colon - word), word);
        levels->of[part] = (int8_t)level;
    } else {
        memset(levels->of, level, sizeof levels->of);
    }
    levels->of[PART_WHOLE] = LEVEL_ERROR;
    for (unsigned i = PART_WHOLE + 1; i < LOG_PART_COUNT; i++)
        if (levels->of[i] > levels->of[PART_WHOLE])
            levels->of[PART_WHOLE] = levels->of[i];
    return 0;
}

int log_levels_change(struct log_levels *levels, const char *text, struct err *err)
{
    struct log_levels changed = *levels;
    int status = *text ? 0 : err_set(err, EINVAL, "a log level is missing");
    while (status == 0 && *text) {
        size_t length = strcspn(text, ",");
        status = change_one(&changed, text, length, err);
        text += length;
        if (status == 0 && *text && !*++text)
            status = err_set(err, EINVAL, "a log level is missing after the last comma");
    }
    if (status == 0)
        *levels = changed;
    return status;
}

/* The level that most parts have comes first, for all of them. */
void log_levels_print(const struct log_levels *levels, struct text *out)
{
    unsigned parts[LEVEL_COUNT] = {0};
    int most = LEVEL_INFO;
    for (unsigned i = PART_WHOLE + 1; i < LOG_PART_COUNT; i++)
        parts[levels->of[i] - LEVEL_ERROR]++;
    for (int level = LEVEL_ERROR; level <= LEVEL_DEBUG; level++)
        if (parts[level - LEVEL_ERROR] > parts[most - LEVEL_ERROR])
            most = level;
    text_puts(out, log_level_name(most));
    for (unsigned i = PART_WHOLE + 1; i < LOG_PART_COUNT; i++)
        if (levels->of[i] != most)
            text_printf(out, ",%s:%s", log_part_names[i], log_level_name(levels->of[i]));
}

uint32_t log_levels_debug_mask(const struct log_levels *levels)
{
    uint32_t mask = 0;
    for (unsigned i = PART_WHOLE + 1; i < LOG_PART_COUNT; i++)
        if (levels->of[i] == LEVEL_DEBUG)
            mask |= UINT32_C(1) << i;
    return mask;
}
