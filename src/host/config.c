#include "host/config.h"

#include "base/file.h"
#include "base/time.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPENSM_SM_KEY = 1, /* OpenSM ignores managers with another key than its own, which is 1 */
    RENAMING_LMC = 2,
    WINDOW = 64, /* more does not fill the wire any better, and queues up in front of it */
    FILE_LIMIT = 16 * 1024 * 1024
};

/* ---- values ---- */

static int parse_number(const char *value, uint64_t low, uint64_t high, uint64_t *number,
                        struct err *err)
{
    char *end;
    bool hexadecimal = value[0] == '0' && (value[1] == 'x' || value[1] == 'X');
    errno = 0;
    unsigned long long parsed = strtoull(value, &end, hexadecimal ? 16 : 10);
    if (!isdigit((unsigned char)value[0]) || errno || *end || parsed < low || parsed > high)
        return err_set(err, EINVAL, "'%s': expected a number from %llu to %llu", value,
                       (unsigned long long)low, (unsigned long long)high);
    *number = parsed;
    return 0;
}

static int parse_guid(const char *value, uint64_t *guid, struct err *err)
{
    char *end;
    errno = 0;
    unsigned long long parsed = strtoull(value, &end, 16);
    if (!isxdigit((unsigned char)value[0]) || errno || *end || parsed == 0)
        return err_set(err, EINVAL, "'%s': expected a GUID such as 0x0002c90300001234", value);
    *guid = parsed;
    return 0;
}

static int parse_time(const char *value, uint64_t *time, struct err *err)
{
    if (!time_parse(value, time) || *time == 0)
        return err_set(err, EINVAL, "'%s': expected a time such as 200ms or 10s", value);
    return 0;
}

static int parse_flag(const char *value, bool *flag, struct err *err)
{
    *flag = strcmp(value, "yes") == 0;
    if (!*flag && strcmp(value, "no") != 0)
        return err_set(err, EINVAL, "'%s': expected yes or no", value);
    return 0;
}

/* One of several words; its index. */
static int parse_word(const char *value, const char *const *words, unsigned *index, struct err *err)
{
    char expected[256] = "";
    for (unsigned i = 0; words[i]; i++) {
        if (strcmp(value, words[i]) == 0) {
            *index = i;
            return 0;
        }
        size_t length = strlen(expected);
        snprintf(expected + length, sizeof expected - length, "%s%s", i ? ", " : "", words[i]);
    }
    return err_set(err, EINVAL, "'%s': expected one of %s", value, expected);
}

/* ---- keys ---- */

/* "ftree,updn": the first that does not refuse. */
static int set_engine(struct config *config, const char *value, struct err *err)
{
    struct engine_list list;
    struct err reason = {0};
    char names[ENGINE_NAMES];
    if (engine_list_parse(&list, value, &reason) < 0)
        return err_set(err, EINVAL, "%s: expected one of %s", reason.message,
                       engine_list_names(names));
    for (size_t i = 0; i < list.count && list.count > 1; i++)
        if (list.items[i]->renames || list.items[i]->provisional)
            return err_set(err, EINVAL, "%s cannot be one of several: it %s", list.items[i]->name,
                           list.items[i]->renames ? "gives ports several LIDs"
                                                  : "is a pair of engines already");
    config->sm.engine = list.items[0];
    config->sm.others = (struct engine_list){.count = list.count - 1};
    for (size_t i = 1; i < list.count; i++)
        config->sm.others.items[i - 1] = list.items[i];
    return 0;
}

static int set_root(struct config *config, const char *value, struct err *err)
{
    static const char *const words[] = {"default", "manager", "centre", "detect", NULL};
    static const enum root_choice choices[] = {ROOT_DEFAULT, ROOT_MANAGER, ROOT_CENTRE,
                                               ROOT_DETECT};
    struct engine_options *options = &config->sm.engine_options;
    unsigned index;
    config->root_guids.count = 0;
    if (isalpha((unsigned char)value[0])) {
        int status = parse_word(value, words, &index, err);
        if (status == 0)
            options->root = choices[index];
        return status;
    }
    char *list = arena_strdup(&config->strings, value), *rest = NULL;
    for (char *word = strtok_r(list, " \t,", &rest); word; word = strtok_r(NULL, " \t,", &rest)) {
        uint64_t guid = 0;
        int status = parse_guid(word, &guid, err);
        if (status < 0)
            return status;
        vec_push(&config->root_guids, guid);
    }
    options->root = ROOT_LIST;
    return config->root_guids.count ? 0 : parse_word(value, words, &index, err);
}

static int set_user_routes(struct config *config, const char *value, struct err *err)
{
    user_routes_release(&config->user_routes);
    config->user_routes = (struct user_routes){0};
    if (strcmp(value, "none") == 0)
        return 0;
    return user_routes_read(&config->user_routes, value, err);
}

static int set_partitions(struct config *config, const char *value, struct err *err)
{
    partitions_release(&config->partitions);
    return strcmp(value, "none") == 0 ? 0 : partitions_read(&config->partitions, value, err);
}

static int set_part_enforce(struct config *config, const char *value, struct err *err)
{
    static const char *const words[] = {[SM_ENFORCE_NOT] = "off",
                                        [SM_ENFORCE_IN] = "in",
                                        [SM_ENFORCE_OUT] = "out",
                                        [SM_ENFORCE_BOTH] = "both",
                                        NULL};
    unsigned index = 0;
    int status = parse_word(value, words, &index, err);
    config->sm.part_enforce = (enum sm_enforcement)index;
    return status;
}

static int set_order(struct config *config, const char *value, struct err *err)
{
    static const char *const words[] = {"propagation", "breadth", "depth", NULL};
    unsigned index = 0;
    int status = parse_word(value, words, &index, err);
    config->sm.order = (enum sm_order)index;
    return status;
}

static int set_scope(struct config *config, const char *value, struct err *err)
{
    static const char *const words[] = {"changed", "full", NULL};
    unsigned index = 0;
    int status = parse_word(value, words, &index, err);
    config->sm.scope_full = index == 1;
    return status;
}

static int set_lmc(struct config *config, const char *value, struct err *err)
{
    uint64_t number = 0;
    int status = parse_number(value, 0, 7, &number, err);
    config->sm.lmc = (uint8_t)number;
    config->lmc_given = true;
    return status;
}

static int set_sweep(struct config *config, const char *value, struct err *err)
{
    if (strcmp(value, "never") == 0) {
        config->sm.sweep_ps = TIME_NEVER;
        return 0;
    }
    return parse_time(value, &config->sm.sweep_ps, err);
}

static int set_drain(struct config *config, const char *value, struct err *err)
{
    if (strcmp(value, "auto") == 0) {
        config->sm.drain_ps = 0;
        return 0;
    }
    return parse_time(value, &config->sm.drain_ps, err);
}

static int set_rebalance(struct config *config, const char *value, struct err *err)
{
    uint64_t percent = 0;
    int status = strcmp(value, "never") ? parse_number(value, 100, 100000, &percent, err) : 0;
    config->sm.rebalance = (unsigned)percent;
    return status;
}

static int set_ca(struct config *config, const char *value, struct err *err)
{
    (void)err;
    config->port.ca = arena_strdup(&config->strings, value);
    return 0;
}

static int set_path(struct config *config, const char **path, const char *value)
{
    *path = strcmp(value, "none") == 0 ? NULL : arena_strdup(&config->strings, value);
    return 0;
}

#define NUMBER_KEY(name, type, field, low, high)                                                   \
    static int set_##name(struct config *config, const char *value, struct err *err)               \
    {                                                                                              \
        uint64_t number = 0;                                                                       \
        int status = parse_number(value, low, high, &number, err);                                 \
        config->field = (type)number;                                                              \
        return status;                                                                             \
    }
#define TIME_KEY(name, field)                                                                      \
    static int set_##name(struct config *config, const char *value, struct err *err)               \
    {                                                                                              \
        return parse_time(value, &config->field, err);                                             \
    }
#define FLAG_KEY(name, field)                                                                      \
    static int set_##name(struct config *config, const char *value, struct err *err)               \
    {                                                                                              \
        return parse_flag(value, &config->field, err);                                             \
    }
#define PATH_KEY(name)                                                                             \
    static int set_##name(struct config *config, const char *value, struct err *err)               \
    {                                                                                              \
        (void)err;                                                                                 \
        return set_path(config, &config->name, value);                                             \
    }

NUMBER_KEY(priority, uint8_t, sm.priority, 0, 15)
NUMBER_KEY(m_key, uint64_t, sm.m_key, 0, UINT64_MAX)
NUMBER_KEY(sm_key, uint64_t, sm.sm_key, 0, UINT64_MAX)
NUMBER_KEY(m_key_lease, uint16_t, sm.m_key_lease_s, 0, UINT16_MAX)
NUMBER_KEY(m_key_protect, uint8_t, sm.m_key_protect, 0, 3)
NUMBER_KEY(subnet_prefix, uint64_t, sm.subnet_prefix, 1, UINT64_MAX)
NUMBER_KEY(subnet_timeout, uint8_t, sm.subnet_timeout, 0, 31)
NUMBER_KEY(life_time, uint8_t, sm.life_time, 0, 18)
NUMBER_KEY(window, uint32_t, sm.window, 1, 65536)
NUMBER_KEY(retries, unsigned, sm.retries, 0, 16)
NUMBER_KEY(poll_retries, unsigned, sm.poll_retries, 0, 100)
NUMBER_KEY(mirror, uint32_t, sm.mirror_rate, 0, 10000000)
NUMBER_KEY(port, int, port.number, 0, 254)
NUMBER_KEY(threads, unsigned, threads, 0, 256)
TIME_KEY(timeout, sm.timeout_ps)
TIME_KEY(poll, sm.poll_ps)
TIME_KEY(renew, renew_ps)
NUMBER_KEY(full_sweep_every, unsigned, sm.full_every, 0, 100000)
FLAG_KEY(allow_cycles, sm.engine_options.allow_cycles)
FLAG_KEY(reversible, sm.engine_options.reversible)
FLAG_KEY(seed_balance, sm.engine_options.seed_balance)
FLAG_KEY(hold, sm.hold)
FLAG_KEY(repair, sm.repair)
FLAG_KEY(lid_route, sm.lid_route)
FLAG_KEY(json, json)
FLAG_KEY(allow_both_pkeys, allow_both_pkeys)
PATH_KEY(dump)
PATH_KEY(state)
PATH_KEY(log)
PATH_KEY(control)

static int set_qos(struct config *config, const char *value, struct err *err)
{
    bool wanted = strcasecmp(value, "true") == 0; /* as OpenSM's file has it */
    int status = wanted || strcasecmp(value, "false") == 0 ? 0 : parse_flag(value, &wanted, err);
    if (status == 0)
        config->qos_wanted = wanted;
    return status;
}

static int set_qos_policy(struct config *config, const char *value, struct err *err)
{
    if (strcmp(value, "none") == 0 || strcmp(value, "(null)") == 0)
        return 0;
    return qos_read(&config->qos, value, err);
}

static int set_mode(struct config *config, const char *value, struct err *err)
{
    static const char *const modes[] = {
        [SM_ORDERED] = "ordered", [SM_STATIC] = "static", [SM_NAIVE] = "naive"};
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(value, modes[i]) == 0) {
            config->sm.mode = (enum sm_mode)i;
            return 0;
        }
    return err_set(err, EINVAL, "'%s' is no mode: ordered, static or naive", value);
}

static int set_vswitch_lids(struct config *config, const char *value, struct err *err)
{
    static const char *const words[] = {"prepopulated", "dynamic", NULL};
    unsigned choice = 0;
    int status = parse_word(value, words, &choice, err);
    config->sm.dynamic_lids = choice == 1;
    return status;
}

static int set_guid(struct config *config, const char *value, struct err *err)
{
    return parse_guid(value, &config->port.guid, err);
}

struct key {
    const char *name;
    /* NULL: one of OpenSM's options for quality of service. */
    int (*set)(struct config *config, const char *value, struct err *err);
    bool live; /* can change in a running manager */
    const char *standard;
};

static const struct key keys[] = {
    {"guid", set_guid, false, "any"},
    {"ca", set_ca, false, "any"},
    {"port", set_port, false, "any"},
    {"state", set_state, false, "none"},
    {"threads", set_threads, false, "0"},
    {"renew", set_renew, true, "8640000s"},
    {"priority", set_priority, true, "0"},
    {"lmc", set_lmc, false, "0"},
    {"m_key", set_m_key, false, "0"},
    {"sm_key", set_sm_key, false, "1"},
    {"m_key_lease", set_m_key_lease, true, "0"},
    {"m_key_protect", set_m_key_protect, true, "0"},
    {"subnet_prefix", set_subnet_prefix, false, "0xfe80000000000000"},
    {"subnet_timeout", set_subnet_timeout, true, "18"},
    {"life_time", set_life_time, true, "10"},
    {"engine", set_engine, true, "updn"},
    {"root", set_root, true, "default"},
    {"user_routes", set_user_routes, true, "none"},
    {"seed_balance", set_seed_balance, true, "no"},
    {"allow_cycles", set_allow_cycles, true, "no"},
    {"reversible", set_reversible, true, "no"},
    {"partitions", set_partitions, true, "none"},
    {"part_enforce", set_part_enforce, true, "both"},
    {"allow_both_pkeys", set_allow_both_pkeys, true, "no"},
    {"qos", set_qos, true, "auto"},
    {"qos_policy", set_qos_policy, true, "none"},
    {"qos_policy_file", set_qos_policy, true, "none"},
    {"qos_max_vls", NULL, true, "none"},
    {"qos_high_limit", NULL, true, "none"},
    {"qos_vlarb_high", NULL, true, "none"},
    {"qos_vlarb_low", NULL, true, "none"},
    {"qos_sl2vl", NULL, true, "none"},
    {"qos_ca_max_vls", NULL, true, "none"},
    {"qos_ca_high_limit", NULL, true, "none"},
    {"qos_ca_vlarb_high", NULL, true, "none"},
    {"qos_ca_vlarb_low", NULL, true, "none"},
    {"qos_ca_sl2vl", NULL, true, "none"},
    {"qos_rtr_max_vls", NULL, true, "none"},
    {"qos_rtr_high_limit", NULL, true, "none"},
    {"qos_rtr_vlarb_high", NULL, true, "none"},
    {"qos_rtr_vlarb_low", NULL, true, "none"},
    {"qos_rtr_sl2vl", NULL, true, "none"},
    {"qos_sw0_max_vls", NULL, true, "none"},
    {"qos_sw0_high_limit", NULL, true, "none"},
    {"qos_sw0_vlarb_high", NULL, true, "none"},
    {"qos_sw0_vlarb_low", NULL, true, "none"},
    {"qos_sw0_sl2vl", NULL, true, "none"},
    {"qos_swe_max_vls", NULL, true, "none"},
    {"qos_swe_high_limit", NULL, true, "none"},
    {"qos_swe_vlarb_high", NULL, true, "none"},
    {"qos_swe_vlarb_low", NULL, true, "none"},
    {"qos_swe_sl2vl", NULL, true, "none"},
    {"order", set_order, true, "propagation"},
    {"scope", set_scope, true, "changed"},
    {"window", set_window, true, "64"},
    {"lid_route", set_lid_route, true, "no"},
    {"timeout", set_timeout, true, "200ms"},
    {"retries", set_retries, true, "3"},
    {"sweep", set_sweep, true, "10s"},
    {"poll", set_poll, true, "100ms"},
    {"poll_retries", set_poll_retries, true, "2"},
    {"mirror", set_mirror, true, "10000"},
    {"full_sweep_every", set_full_sweep_every, true, "6"},
    {"mode", set_mode, true, "ordered"},
    {"drain", set_drain, true, "auto"},
    {"hold", set_hold, true, "yes"},
    {"repair", set_repair, true, "yes"},
    {"rebalance", set_rebalance, true, "150"},
    {"vswitch_lids", set_vswitch_lids, false, "prepopulated"},
    {"control", set_control, false, "none"},
    {"dump", set_dump, true, "none"},
    {"log", set_log, true, "none"},
    {"json", set_json, true, "no"},
};
enum { KEY_COUNT = sizeof keys / sizeof *keys };
_Static_assert(sizeof keys / sizeof *keys <= (size_t)CONFIG_KEYS, "room for every key");

const char *config_key(size_t index)
{
    return index < KEY_COUNT ? keys[index].name : NULL;
}

void config_init(struct config *config)
{
    *config = (struct config){.port.number = MAD_PORT_ANY, .renew_ps = TIME_LONGEST};
    sm_config_init(&config->sm);
    qos_init(&config->qos);
    config->qos_wanted = -1;
    config->sm.sm_key = OPENSM_SM_KEY;
    config->sm.window = WINDOW;
}

void config_release(struct config *config)
{
    vec_release(&config->root_guids);
    user_routes_release(&config->user_routes);
    partitions_release(&config->partitions);
    qos_release(&config->qos);
    arena_release(&config->strings);
    *config = (struct config){0};
}

int config_set(struct config *config, const char *key, const char *value, struct err *err)
{
    for (int i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i].name, key) != 0)
            continue;
        struct err reason = {0};
        int status = keys[i].set
                         ? keys[i].set(config, value, &reason)
                         : qos_set_option(&config->qos, key + strlen("qos_"), value, &reason);
        if (status == 0)
            config->values[i] = arena_strdup(&config->strings, value);
        else if (reason.file[0])
            *err = reason; /* about a file that the value names */
        else
            err_set(err, -status, "%s: %s", key, reason.message);
        return status;
    }
    return err_set(err, EINVAL, "there is no key '%s'", key);
}

static int read_line(struct config *config, const char *path, unsigned number, char *line,
                     struct err *err)
{
    struct err reason = {0};
    line[strcspn(line, "#")] = 0;
    char *key = line + strspn(line, " \t\r");
    char *value = key + strcspn(key, " \t\r");
    if (*key == 0)
        return 0;
    if (*value)
        *value++ = 0;
    value += strspn(value, " \t\r");
    for (char *end = value + strlen(value); end > value && strchr(" \t\r", end[-1]);)
        *--end = 0;
    if (*value == 0)
        return err_at(err, EINVAL, path, number, "'%s' has no value", key);
    int status = config_set(config, key, value, &reason);
    if (status < 0 && reason.file[0])
        *err = reason;
    else if (status < 0)
        err_at(err, -status, path, number, "%s", reason.message);
    return status;
}

int config_read(struct config *config, const char *path, struct err *err)
{
    struct text content;
    int status = file_read(path, FILE_LIMIT, &content, err);
    char *line = content.data;
    for (unsigned number = 1; status == 0 && line && *line; number++) {
        char *end = strchrnul(line, '\n');
        char *next = *end ? end + 1 : end;
        *end = 0;
        status = read_line(config, path, number, line, err);
        line = next;
    }
    text_release(&content);
    return status;
}

int config_finish(struct config *config, struct err *err)
{
    struct engine_options *options = &config->sm.engine_options;
    if (config->sm.engine->renames && !config->lmc_given)
        config->sm.lmc = RENAMING_LMC;
    if (config->sm.engine->renames && config->sm.lmc == 0)
        return err_set(err, EINVAL, "engine %s gives ports several LIDs: lmc must be at least 1",
                       config->sm.engine->name);
    config->qos.on = config->qos_wanted < 0 ? config->qos.given : config->qos_wanted;
    config->sm.qos = config->qos.on ? &config->qos : NULL;
    options->root_guids = config->root_guids.items;
    options->root_count = config->root_guids.count;
    config->partitions.allow_both = config->allow_both_pkeys;
    config->sm.partitions = config->partitions.all.count ? &config->partitions : NULL;
    options->user = config->user_routes.entries.count ? &config->user_routes : NULL;
    return qos_finish(&config->qos, err);
}

/* ---- reloading ---- */

static const char *value_of(const struct config *config, int key)
{
    return config->values[key] ? config->values[key] : keys[key].standard;
}

void config_compare(const struct config *before, const struct config *after,
                    void (*tell)(void *context, const char *key, const char *from, const char *to,
                                 bool live),
                    void *context)
{
    for (int i = 0; i < KEY_COUNT; i++)
        if (strcmp(value_of(before, i), value_of(after, i)) != 0)
            tell(context, keys[i].name, value_of(before, i), value_of(after, i), keys[i].live);
}

static const char *keep(struct config *config, const char *value)
{
    return value ? arena_strdup(&config->strings, value) : NULL;
}

void config_keep_fixed(const struct config *before, struct config *after)
{
    for (int i = 0; i < KEY_COUNT; i++)
        if (!keys[i].live)
            after->values[i] = keep(after, before->values[i]);
    after->port = (struct mad_port_choice){.guid = before->port.guid,
                                           .ca = keep(after, before->port.ca),
                                           .number = before->port.number};
    after->state = keep(after, before->state);
    after->control = keep(after, before->control);
    after->threads = before->threads;
    after->lmc_given = true; /* what ports have must not change under them */
    after->sm.lmc = before->sm.lmc;
    after->sm.m_key = before->sm.m_key;
    after->sm.sm_key = before->sm.sm_key;
    after->sm.subnet_prefix = before->sm.subnet_prefix;
}
