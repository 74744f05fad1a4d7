#include "experiment/manager.h"

#include "base/time.h"

#include <string.h>

static const char *const keys[] = {
    "allow_cycles", "drain",          "engine",        "full_every", "lmc",         "m_key",
    "m_key_lease",  "mode",           "m_key_protect", "order",      "paper",       "poll",
    "poll_retries", "priority",       "retries",       "root",       "scope",       "seed_balance",
    "sm_key",       "subnet_timeout", "sweep",         "timeout",    "user_routes", "window",
};
enum { KEYS = sizeof keys / sizeof keys[0] };

size_t manager_keys(const char *const **names)
{
    *names = keys;
    return KEYS;
}

/* Strictly one SMP after the other, everything from scratch, traffic stopped for new tables; ten
 * light sweeps a second, and no full ones (seeds 000 and 001). */
void manager_preset(struct config *config, const char *preset)
{
    if (strcmp(preset, "paper") != 0)
        return;
    config->sm.paper = true;
    config->sm.scope_full = true;
    config->sm.window = 1;
    config->sm.mode = SM_STATIC;
    config->sm.engine = &engine_fera;
    config->sm.sweep_ps = 100 * TIME_MS;
    config->sm.full_every = 0;
}

/* ---- keys of experiments ---- */

static int set_mode(struct config *config, const struct word *value, const struct cursor *cursor)
{
    static const char *const names[] = {"ordered", "static", "naive"};
    static const enum sm_mode modes[] = {SM_ORDERED, SM_STATIC, SM_NAIVE};
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(value->text, names[i]) == 0) {
            config->sm.mode = modes[i];
            return 0;
        }
    return word_unknown(cursor, value, "mode of distribution", names, 3);
}

static int set_paper(struct config *config, const struct word *value, const struct cursor *cursor)
{
    static const char *const names[] = {"yes", "no"};
    config->sm.paper = strcmp(value->text, "yes") == 0;
    if (!config->sm.paper && strcmp(value->text, "no") != 0)
        return word_unknown(cursor, value, "answer", names, 2);
    return 0;
}

static int set_full_every(struct config *config, const struct word *value,
                          const struct cursor *cursor)
{
    uint64_t number;
    if (!parse_number(value->text, &number) || number > 1000000)
        return word_error(cursor, value, "'%.80s': expected a number of sweeps; 0: never",
                          value->text);
    config->sm.full_every = (unsigned)number;
    return 0;
}

static int set_drain(struct config *config, const struct word *value, const struct cursor *cursor)
{
    if (!time_parse(value->text, &config->sm.drain_ps))
        return word_error(cursor, value, "'%.80s' is no time: expected one such as 10ms",
                          value->text);
    return 0;
}

static const struct {
    const char *name;
    int (*set)(struct config *config, const struct word *value, const struct cursor *cursor);
} own[] = {
    {"mode", set_mode}, {"paper", set_paper}, {"full_every", set_full_every}, {"drain", set_drain}};

int manager_set(struct config *config, const struct word *key, const struct word *value,
                const struct cursor *cursor)
{
    struct err reason = {0};
    unsigned i = 0;
    for (unsigned j = 0; j < sizeof own / sizeof own[0]; j++)
        if (strcmp(own[j].name, key->text) == 0)
            return own[j].set(config, value, cursor);
    while (i < KEYS && strcmp(keys[i], key->text) != 0)
        i++;
    if (i == KEYS)
        return word_unknown(cursor, key, "setting of a manager", keys, KEYS);
    if (config_set(config, key->text, value->text, &reason) == 0)
        return 0;
    char text[1024];
    return word_error(cursor, value, "%.400s", err_text(&reason, text, sizeof text));
}
