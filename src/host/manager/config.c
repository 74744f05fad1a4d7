#include "host/manager/config.h"

#include "base/file.h"
#include "base/nearest.h"
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
    LANES_MOST = 15,
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
    if (!time_parse_ns(value, time) || *time == 0)
        return err_set(err, EINVAL, "'%s': expected a time such as 200ms or 10s", value);
    return 0;
}

/* "TRUE" and "FALSE" stand in OpenSM's files. */
static int parse_flag(const char *value, bool *flag, struct err *err)
{
    *flag = strcasecmp(value, "yes") == 0 || strcasecmp(value, "true") == 0;
    if (!*flag && strcasecmp(value, "no") != 0 && strcasecmp(value, "false") != 0)
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

static bool is_none(const char *value)
{
    return strcmp(value, "none") == 0;
}

/* An error about a file that a key names: where it is named, too. */
static void tell_source(const struct config_source *source, struct err *err)
{
    struct err reason = *err;
    const char *file = source->file ? source->file : "";
    if (!reason.line)
        err_at(err, 0, file, source->line, "%s: %s: %.200s", source->key, reason.file,
               reason.message);
    else if (source->file)
        snprintf(err->message, sizeof err->message, "%.200s ('%s' in %.200s:%u names this file)",
                 reason.message, source->key, file, source->line);
    else
        snprintf(err->message, sizeof err->message, "%.400s ('%s' names this file)", reason.message,
                 source->key);
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
    unsigned index;
    config->root_guids.items.count = 0;
    if (isalpha((unsigned char)value[0])) {
        int status = parse_word(value, words, &index, err);
        if (status == 0)
            config->root = choices[index];
        return status;
    }
    char *list = arena_strdup(&config->strings, value), *rest = NULL;
    for (char *word = strtok_r(list, " \t,", &rest); word; word = strtok_r(NULL, " \t,", &rest)) {
        uint64_t guid = 0;
        int status = parse_guid(word, &guid, err);
        if (status < 0)
            return status;
        vec_push(&config->root_guids.items, guid);
    }
    config->root = ROOT_LIST;
    return config->root_guids.items.count ? 0 : parse_word(value, words, &index, err);
}

static int set_root_file(struct config *config, const char *value, struct err *err)
{
    guid_list_release(&config->root_file);
    int status = is_none(value) ? 0 : guid_list_read(&config->root_file, value, err);
    if (status == 0 && !is_none(value) && config->root_file.items.count == 0)
        return err_set(err, EINVAL, "'%.200s' names no switch: expected one GUID a line", value);
    return status;
}

static int set_first(struct config *config, const char *value, struct err *err)
{
    guid_list_release(&config->first);
    config->sm.engine_options.first = is_none(value) ? NULL : &config->first;
    return is_none(value) ? 0 : guid_list_read(&config->first, value, err);
}

static int set_weights(struct config *config, const char *value, struct err *err)
{
    port_weights_release(&config->weights);
    config->sm.engine_options.weights = is_none(value) ? NULL : &config->weights;
    return is_none(value) ? 0 : port_weights_read(&config->weights, value, err);
}

static int set_user_routes(struct config *config, const char *value, struct err *err)
{
    user_routes_release(&config->user_routes);
    config->user_routes = (struct user_routes){0};
    return is_none(value) ? 0 : user_routes_read(&config->user_routes, value, err);
}

static int set_partitions(struct config *config, const char *value, struct err *err)
{
    partitions_release(&config->partitions);
    return is_none(value) ? 0 : partitions_read(&config->partitions, value, err);
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
        config->sm.sweep_ns = TIME_NEVER;
        return 0;
    }
    return parse_time(value, &config->sm.sweep_ns, err);
}

static int set_drain(struct config *config, const char *value, struct err *err)
{
    if (strcmp(value, "auto") == 0) {
        config->sm.drain_ns = 0;
        return 0;
    }
    return parse_time(value, &config->sm.drain_ns, err);
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
    *path = is_none(value) ? NULL : arena_strdup(&config->strings, value);
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
TIME_KEY(timeout, sm.timeout_ns)
TIME_KEY(poll, sm.poll_ns)
NUMBER_KEY(full_sweep_every, unsigned, sm.full_every, 0, 100000)
NUMBER_KEY(scatter, uint64_t, sm.engine_options.scatter, 0, UINT64_MAX)
NUMBER_KEY(max_vls, unsigned, sm.engine_options.max_vls, 1, LANES_MOST)
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
    bool wanted = false;
    int status = parse_flag(value, &wanted, err);
    if (status == 0)
        config->qos_wanted = wanted;
    return status;
}

/* OpenSM's own configuration names a file that nobody has, and switches it off. */
static int set_qos_policy(struct config *config, const char *value, struct err *err)
{
    config->policy_absent = (struct err){0};
    if (is_none(value) || strcmp(value, "(null)") == 0)
        return 0;
    int status = qos_read(&config->qos, value, err);
    if (status != -ENOENT)
        return status;
    config->policy_absent = *err;
    tell_source(&config->source, &config->policy_absent);
    return 0;
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
    {"root_file", set_root_file, true, "none"},
    {"first", set_first, true, "none"},
    {"weights", set_weights, true, "none"},
    {"scatter", set_scatter, true, "0"},
    {"max_vls", set_max_vls, true, "8"},
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

/* OpenSM's names for what has another one here. NULL: what there is not, whose name is like that of
 * another thing. */
static const struct {
    const char *theirs, *ours;
} opensm_names[] = {
    {"cc_key", NULL},
    {"cn_guid_file", "first"},
    {"dump_files_dir", "dump"},
    {"force_heavy_sweep", "full_sweep_every"},
    {"guid_routing_order_file", "first"},
    {"hop_weights_file", "weights"},
    {"lfts_file", NULL},
    {"log_file", "log"},
    {"m_key_lease_period", "m_key_lease"},
    {"m_key_lookup", NULL},
    {"m_key_protection_level", "m_key_protect"},
    {"max_op_vls", NULL},
    {"max_wire_smps", "window"},
    {"no_partition_enforcement", "part_enforce"},
    {"nue_max_num_vls", "max_vls"},
    {"packet_life_time", "life_time"},
    {"partition_config_file", "partitions"},
    {"polling_retry_number", "poll_retries"},
    {"root_guid_file", "root_file"},
    {"routing_engine", "engine"},
    {"sa_key", "sm_key"},
    {"scatter_ports", "scatter"},
    {"sm_priority", "priority"},
    {"sminfo_polling_timeout", "poll"},
    {"sweep_interval", "sweep"},
    {"transaction_retries", "retries"},
    {"transaction_timeout", "timeout"},
};
enum { OPENSM_COUNT = sizeof opensm_names / sizeof *opensm_names };

const char *config_key(size_t index)
{
    return index < KEY_COUNT ? keys[index].name : NULL;
}

void config_init(struct config *config)
{
    *config = (struct config){.port.number = MAD_PORT_ANY};
    sm_config_init(&config->sm);
    qos_init(&config->qos);
    config->qos_wanted = -1;
    config->sm.sm_key = OPENSM_SM_KEY;
    config->sm.window = WINDOW;
}

void config_release(struct config *config)
{
    guid_list_release(&config->root_guids);
    guid_list_release(&config->root_file);
    guid_list_release(&config->first);
    port_weights_release(&config->weights);
    user_routes_release(&config->user_routes);
    partitions_release(&config->partitions);
    qos_release(&config->qos);
    arena_release(&config->strings);
    *config = (struct config){0};
}

static int refuse_key(const char *key, struct err *err)
{
    const char *names[KEY_COUNT];
    size_t i = 0;
    while (i < OPENSM_COUNT && strcmp(opensm_names[i].theirs, key) != 0)
        i++;
    if (i < OPENSM_COUNT && !opensm_names[i].ours)
        return err_set(err, EINVAL, "there is nothing like OpenSM's '%s' here: leave it out", key);
    if (i < OPENSM_COUNT)
        return err_set(err, EINVAL, "OpenSM's '%s' is '%s' here: see weft-sm.conf(5)", key,
                       opensm_names[i].ours);
    for (i = 0; i < KEY_COUNT; i++)
        names[i] = keys[i].name;
    const char *near = nearest_word(key, names, KEY_COUNT);
    return err_set(err, EINVAL, "there is no key '%.80s'; %s%s%s", key,
                   near ? "did you mean '" : "weft-sm.conf(5) has them all", near ? near : "",
                   near ? "'?" : "");
}

int config_set(struct config *config, const char *key, const char *value, struct err *err)
{
    for (int i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i].name, key) != 0)
            continue;
        struct err reason = {0};
        config->source.key = keys[i].name;
        int status = keys[i].set
                         ? keys[i].set(config, value, &reason)
                         : qos_set_option(&config->qos, key + strlen("qos_"), value, &reason);
        if (status == 0) {
            config->values[i] = arena_strdup(&config->strings, value);
        } else if (reason.file[0]) {
            *err = reason;
            tell_source(&config->source, err);
        } else {
            err_set(err, -status, "%s: %s", key, reason.message);
        }
        return status;
    }
    return refuse_key(key, err);
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
    config->source = (struct config_source){.file = path, .line = number};
    int status = config_set(config, key, value, &reason);
    config->source = (struct config_source){0};
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
    if (config->policy_absent.message[0] && config->qos_wanted != 0) {
        *err = config->policy_absent;
        return -ENOENT;
    }
    bool listed = config->root_file.items.count > 0;
    const struct guid_list *roots = listed ? &config->root_file : &config->root_guids;
    if (listed && config->root != ROOT_DEFAULT)
        return err_set(err, EINVAL, "root and root_file say the same thing twice: leave one out");
    options->root = listed ? ROOT_LIST : config->root;
    options->root_guids = roots->items.items;
    options->root_count = roots->items.count;
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
    after->sm.dynamic_lids = before->sm.dynamic_lids;
}
