/* Values of OpenSM's keys: other units, other names of engines, defaults.
 *
 * `opensm -c` writes every key with its default. Where weft has chosen another default, the value
 * of OpenSM's template stands for that of weft (`own_default`), and every other value is in force.
 * A file that is missing is reported and is not an error, since OpenSM starts without it. */
#include "host/manager/config_key.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static void describe(struct config *config, enum config_effect kind, const char *text)
{
    size_t used = strlen(config->effect.text);
    config->effect.kind = kind;
    snprintf(config->effect.text + used, sizeof config->effect.text - used, "%s%s",
             used ? "; " : "", text);
}

/* Numbers are equal in any notation. */
bool config_value_is_default(const struct key *key, const char *value)
{
    uint64_t ours, theirs;
    if (!key->opensm)
        return false;
    if (parse_number(value, &ours) && parse_number(key->opensm, &theirs))
        return ours == theirs;
    return strcasecmp(value, key->opensm) == 0;
}

/* OpenSM's default stands for that of weft. */
static int keep_own_default(struct config *config, const char *ours)
{
    char text[256], standard[CONFIG_VALUE_BYTES];
    snprintf(text, sizeof text, "OpenSM's default; weft uses its own: %s %s", ours,
             config_default(config_key_find(ours), standard));
    describe(config, CONFIG_DEFAULT, text);
    return 0;
}

static int refuse_number(const char *key, const char *value, struct err *err)
{
    return err_set(err, EINVAL, "%s: '%s': expected a number", key, value);
}

/* The value of a renamed key in weft's notation. */
static int convert(const struct key *key, const char *value, char *text, size_t size,
                   struct err *err)
{
    uint64_t number = 0;
    snprintf(text, size, "%s", value);
    if (!key->unit && !key->high)
        return 0;
    if (!parse_number(value, &number))
        return refuse_number(key->name, value, err);
    if (number == 0 && key->instead)
        snprintf(text, size, "%s", key->instead);
    else
        snprintf(text, size, "%llu%s",
                 (unsigned long long)(key->high && number > key->high ? key->high : number),
                 key->unit ? key->unit : "");
    return 0;
}

static int set_renamed(struct config *config, const struct key *key, const char *value,
                       struct err *err)
{
    char text[4096];
    bool is_default = config_value_is_default(key, value);
    if (config_value_is_none(value)) {
        describe(config, CONFIG_DEFAULT, "nothing is set");
        return 0;
    }
    if (is_default && key->own_default)
        return keep_own_default(config, key->ours);
    if (key->optional_file && access(value, F_OK) != 0) {
        describe(config, is_default ? CONFIG_DEFAULT : CONFIG_PARTLY,
                 "there is no such file; weft runs without it, as OpenSM does");
        return 0;
    }
    int status = convert(key, value, text, sizeof text, err);
    if (status == 0)
        status = config_put(config, key->ours, text, err);
    if (status < 0 && key->hint) {
        err_text(err, text, sizeof text);
        describe(config, CONFIG_PARTLY, text);
        describe(config, CONFIG_PARTLY, "weft runs without the file, as OpenSM does");
        return 0;
    }
    if (status == 0 && key->reason)
        describe(config, CONFIG_PARTLY, key->reason);
    return status;
}

static int set_if_true(struct config *config, const struct key *key, const char *value,
                       struct err *err)
{
    if (strcasecmp(value, "TRUE") == 0 || strcasecmp(value, "yes") == 0)
        return config_put(config, key->ours, key->if_true, err);
    if (strcasecmp(value, "FALSE") != 0 && strcasecmp(value, "no") != 0)
        return err_set(err, EINVAL, "%s: '%s': expected TRUE or FALSE", key->name, value);
    describe(config, CONFIG_DEFAULT, "nothing is set");
    return 0;
}

int config_set_opensm(struct config *config, const struct key *key, const char *value,
                      struct err *err)
{
    if (key->kind == RENAMED)
        return set_renamed(config, key, value, err);
    if (key->kind == TRANSLATED)
        return key->set ? key->set(config, value, err) : set_if_true(config, key, value, err);
    assert(key->kind == NO_EFFECT);
    describe(config, CONFIG_NO_EFFECT, key->reason);
    config->effect.standard = config_value_is_default(key, value) || config_value_is_none(value);
    return 0;
}

/* ---- engines ---- */

static const char no_adaptive_routing[] =
    "routes are static: adaptive routing needs the vendor's manager";

static const char not_of_weft[] = "weft has another engine for it";

/* The engine of weft for one of OpenSM's or the vendor's. */
static const struct {
    const char *theirs, *ours, *note;
} engines[] = {
    {"dnup", "updn", not_of_weft},
    {"torus-2QoS", "dor", not_of_weft},
    {"file", NULL, "weft computes all tables: use 'user_routes' for single entries"},
    {"ar_updn", "updn", no_adaptive_routing},
    {"ar_ftree", "ftree", no_adaptive_routing},
    {"ar_minhop", "minhop", no_adaptive_routing},
    {"ar_dor", "dor", no_adaptive_routing},
    {"ar_torus", "dor", no_adaptive_routing},
    {"dfp", "auto", no_adaptive_routing},
    {"dfp2", "auto", no_adaptive_routing},
    {"pqft", "ftree", not_of_weft},
    {"chain", NULL, "routing chains are not supported"},
    {"kdor-hc", "dor", not_of_weft},
    {"kdor-ghc", "dor", not_of_weft},
};
enum { ENGINE_COUNT = sizeof engines / sizeof *engines };

static void add_engine(char *list, size_t size, const char *name)
{
    char padded[512], searched[80];
    size_t used = strlen(list);
    snprintf(padded, sizeof padded, ",%s,", list);
    snprintf(searched, sizeof searched, ",%.70s,", name);
    if (!strstr(padded, searched))
        snprintf(list + used, size - used, "%s%s", used ? "," : "", name);
}

/* OpenSM routes by minhop if no engine of its list succeeds, unless the list has "no_fallback".
 * minhop can deadlock: weft uses updn then. */
int opensm_set_engine(struct config *config, const char *value, struct err *err)
{
    char *words = arena_strdup(&config->strings, value), *rest = NULL, list[256] = "";
    const char *note = NULL;
    bool fallback = true;
    if (config_value_is_none(value))
        return keep_own_default(config, "engine");
    char unknown[256] = "";
    for (char *word = strtok_r(words, ", \t", &rest); word; word = strtok_r(NULL, ", \t", &rest)) {
        unsigned i = 0;
        while (i < ENGINE_COUNT && strcmp(engines[i].theirs, word) != 0)
            i++;
        if (strcmp(word, "no_fallback") == 0)
            fallback = false;
        else if (i == ENGINE_COUNT && !config->strict && !engine_find(word))
            snprintf(unknown, sizeof unknown, "weft has no engine '%.64s'", word);
        else if (i == ENGINE_COUNT)
            add_engine(list, sizeof list, word);
        else if (engines[i].ours)
            add_engine(list, sizeof list, engines[i].ours);
        note = i < ENGINE_COUNT && engines[i].note ? engines[i].note : note;
    }
    if (fallback || !list[0])
        add_engine(list, sizeof list, "updn");
    int status = config_put(config, "engine", list, err);
    if (unknown[0])
        note = unknown;
    if (status == 0 && note)
        describe(config, CONFIG_PARTLY, note);
    return status;
}

/* ---- other keys ---- */

/* OpenSM's default is a file that only root can write. Three names are not files. */
int opensm_set_log_file(struct config *config, const char *value, struct err *err)
{
    if (strcmp(value, "stdout") == 0 || strcmp(value, "-") == 0)
        value = "none"; /* standard output */
    else if (strcmp(value, "stderr") == 0)
        value = "/dev/stderr";
    config->log_optional = true;
    return config_put(config, "log", value, err);
}

/* OpenSM's flags are kinds of lines: verbose (0x04) explains decisions, debug (0x08) and funcs
 * (0x10) everything, frames (0x20) are MADs, routing (0x40) are routes. */
int opensm_set_log_flags(struct config *config, const char *value, struct err *err)
{
    static const struct {
        unsigned flag;
        const char *levels;
    } parts[] = {{0x04, ",discovery:debug,mastership:debug,distribution:debug"},
                 {0x20, ",transactions:debug,sa:debug,perf:debug"},
                 {0x40, ",routing:debug,distribution:debug"}};
    enum { FLAG_INFO = 0x02, ALL_DEBUG = 0x18, FLAG_SYSLOG = 0x80 };
    struct text levels = {0};
    uint64_t flags;
    if (!parse_number(value, &flags))
        return refuse_number(config->source.key, value, err);
    text_puts(&levels, flags & ALL_DEBUG ? "debug" : flags & FLAG_INFO ? "info" : "error");
    for (unsigned i = 0; i < sizeof parts / sizeof *parts && !(flags & ALL_DEBUG); i++)
        if (flags & parts[i].flag)
            text_puts(&levels, parts[i].levels);
    int status = config_put(config, "log_level", levels.data, err);
    text_release(&levels);
    if (status == 0 && flags & FLAG_SYSLOG)
        status = config_put(config, "syslog", "yes", err);
    return status;
}

int opensm_set_syslog_flags(struct config *config, const char *value, struct err *err)
{
    uint64_t flags;
    return parse_number(value, &flags) ? config_put(config, "syslog", flags ? "yes" : "no", err)
                                       : refuse_number(config->source.key, value, err);
}

/* Polls: weft detects a lost master faster than OpenSM does. If the file changes one of OpenSM's
 * two values, both are in force, since together they are the time until a takeover. */
static int set_poll_value(struct config *config, const char *value, uint64_t *kept,
                          const char *ours, const char *unit, struct err *err)
{
    uint64_t number;
    char text[128];
    if (!parse_bounded(value, 1, UINT32_MAX, &number))
        return err_set(err, EINVAL, "%s: '%s': expected a number from 1", config->source.key,
                       value);
    bool is_default = config_value_is_default(config_key_find(config->source.key), value);
    *kept = is_default ? 0 : number;
    if (is_default)
        return keep_own_default(config, ours);
    snprintf(text, sizeof text, "sets %s %s%s", ours, value, unit);
    describe(config, CONFIG_IN_FORCE, text);
    return 0;
}

int opensm_set_polling(struct config *config, const char *value, struct err *err)
{
    return set_poll_value(config, value, &config->opensm_poll, "poll", "ms", err);
}

int opensm_set_polling_retries(struct config *config, const char *value, struct err *err)
{
    return set_poll_value(config, value, &config->opensm_retries, "poll_retries", "", err);
}

int config_finish_opensm(struct config *config, struct err *err)
{
    enum { POLL_MS = 10000, RETRIES = 4, RETRIES_MOST = 100 }; /* OpenSM's defaults */
    uint64_t poll_ms = config->opensm_poll, retries = config->opensm_retries;
    char text[64];
    if (!poll_ms && !retries)
        return 0;
    snprintf(text, sizeof text, "%llums", (unsigned long long)(poll_ms ? poll_ms : POLL_MS));
    int status = config_put(config, "poll", text, err);
    retries = retries ? retries : RETRIES;
    snprintf(text, sizeof text, "%u", (unsigned)(retries < RETRIES_MOST ? retries : RETRIES_MOST));
    return status < 0 ? status : config_put(config, "poll_retries", text, err);
}
