#include "host/manager/config.h"

#include "base/field.h"
#include "base/line_reader.h"
#include "base/nearest.h"
#include "base/time.h"
#include "host/manager/key_file.h"
#include "subnet/trust.h"
#include "topology/virtual.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RENAMING_LMC = 2,
    WINDOW = 64, /* fills the link; a larger window only lengthens the queue */
    VLS_MOST = 15,
    PROTECT_WITH_KEY = 2, /* defaults where ports have an M_Key */
    LEASE_WITH_KEY_S = 60,
};

/* ---- values ---- */

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

/* Finds a word in a list. */
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

/* Adds to an error about a file where the configuration names that file. */
static void add_source(const struct config_source *source, struct err *err)
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

/* "ftree,updn": the first engine that does not refuse is used. */
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

/* GUIDs, separated by blanks or commas. */
static int parse_guids(struct config *config, const char *value, struct guid_list *guids,
                       struct err *err)
{
    char *list = arena_strdup(&config->strings, value), *rest = NULL;
    guids->items.count = 0;
    for (char *word = strtok_r(list, " \t,", &rest); word; word = strtok_r(NULL, " \t,", &rest)) {
        uint64_t guid = 0;
        int status = parse_guid(word, &guid, err);
        if (status < 0)
            return status;
        vec_push(&guids->items, guid);
    }
    return 0;
}

static int set_allowed_guids(struct config *config, const char *value, struct err *err)
{
    config->allowed_sm_guids.items.count = 0;
    if (is_none(value) || strcmp(value, "(null)") == 0)
        return 0;
    return parse_guids(config, value, &config->allowed_sm_guids, err);
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
    int status = parse_guids(config, value, &config->root_guids, err);
    if (status < 0)
        return status;
    config->root = ROOT_LIST;
    return config->root_guids.items.count ? 0 : parse_word(value, words, &index, err);
}

static int set_root_file(struct config *config, const char *value, struct err *err)
{
    guid_list_release(&config->root_file);
    int status = is_none(value) ? 0 : guid_list_read(&config->root_file, from_file(value, err));
    if (status == 0 && !is_none(value) && config->root_file.items.count == 0)
        return err_set(err, EINVAL, "'%.200s' names no switch: expected one GUID a line", value);
    return status;
}

static int set_first(struct config *config, const char *value, struct err *err)
{
    guid_list_release(&config->first);
    config->sm.engine_options.first = is_none(value) ? NULL : &config->first;
    return is_none(value) ? 0 : guid_list_read(&config->first, from_file(value, err));
}

static int set_weights(struct config *config, const char *value, struct err *err)
{
    port_weights_release(&config->weights);
    config->sm.engine_options.weights = is_none(value) ? NULL : &config->weights;
    return is_none(value) ? 0 : port_weights_read(&config->weights, from_file(value, err));
}

static int set_user_routes(struct config *config, const char *value, struct err *err)
{
    user_routes_release(&config->user_routes);
    config->user_routes = (struct user_routes){0};
    return is_none(value) ? 0 : user_routes_read(&config->user_routes, from_file(value, err));
}

static int set_partitions(struct config *config, const char *value, struct err *err)
{
    partitions_release(&config->partitions);
    return is_none(value) ? 0 : partitions_read(&config->partitions, from_file(value, err));
}

static int set_topology_plan(struct config *config, const char *value, struct err *err)
{
    struct topology plan;
    struct virtual_counts counts;
    topology_release(&config->plan);
    topology_init(&config->plan);
    config->has_plan = !is_none(value);
    if (is_none(value))
        return 0;
    topology_init(&plan);
    int status = topology_read(&plan, from_file(value, err));
    if (status == 0)
        topology_without_functions(&config->plan, &plan, &counts);
    topology_release(&plan);
    return status;
}

static int set_lmc(struct config *config, const char *value, struct err *err)
{
    uint64_t number = 0;
    if (!parse_bounded(value, 0, 7, &number))
        return err_set(err, EINVAL, "'%s': expected a number from 0 to 7", value);
    config->sm.lmc = (uint8_t)number;
    config->lmc_given = true;
    return 0;
}

/* OpenSM's default configuration names a file that does not exist, with QoS off. */
static int set_qos_policy(struct config *config, const char *value, struct err *err)
{
    config->policy_absent = (struct err){0};
    if (is_none(value) || strcmp(value, "(null)") == 0)
        return 0;
    int status = qos_read(&config->qos, from_file(value, err));
    if (status != -ENOENT)
        return status;
    config->policy_absent = *err;
    add_source(&config->source, &config->policy_absent);
    return 0;
}

static int set_guid(struct config *config, const char *value, struct err *err)
{
    return parse_guid(value, &config->port.guid, err);
}

/* The file has lines of the configuration with secret keys. */
static int set_key_file(struct config *config, const char *value, struct err *err)
{
    if (is_none(value))
        return 0;
    if (config->reading_keys)
        return err_set(err, EINVAL, "a key file cannot name another key file");
    struct config_source source = config->source;
    config->reading_keys = true;
    int status = key_file_check(value, err);
    if (status == 0)
        status = config_read(config, value, err);
    config->reading_keys = false;
    config->source = source;
    return status;
}

/* The type of a value. */
enum key_kind { NUMBER, TIME, FLAG, PATH, WORD, QOS_OPTION, OTHER };
struct key {
    const char *name;
    bool live; /* can change in a running manager */
    const char *standard;
    enum key_kind kind;
    struct field field;       /* of struct config */
    uint64_t low, high;       /* of a number; a time has only `low`, in ns */
    const char *low_reason;   /* of a time: why it cannot be shorter */
    const char *const *words; /* the choices; the field gets the index */
    const char *instead;      /* a word that may replace a number or a time */
    uint64_t instead_value;   /* its meaning */
    int (*set)(struct config *config, const char *value, struct err *err); /* OTHER */
    bool secret; /* its value is neither logged nor in errors; only these may be in a key file */
};
enum { FIXED = false, LIVE = true };

#define FIELD(member) .field = FIELD_OF(struct config, member)
#define NUMBER_KEY(name, field, least, most, live, standard)                                       \
    name, live, standard, NUMBER, FIELD(field), .low = (least), .high = (most)
#define SECRET_KEY(name, field, standard)                                                          \
    NUMBER_KEY(name, field, 0, UINT64_MAX, FIXED, standard), .secret = true
#define TIME_KEY(name, field, standard, least, reason)                                             \
    name, LIVE, standard, TIME, FIELD(field), .low = (least), .low_reason = (reason)
#define FLAG_KEY(name, field, standard)       name, LIVE, standard, FLAG, FIELD(field)
#define PATH_KEY(name, field, live, standard) name, live, standard, PATH, FIELD(field)
#define WORD_KEY(name, field, choices, live, standard)                                             \
    name, live, standard, WORD, FIELD(field), .words = (choices)
#define OTHER_KEY(name, setter, live, standard) name, live, standard, OTHER, .set = (setter)
#define QOS_KEY(name)                           name, LIVE, "none", QOS_OPTION, .set = NULL
#define QOS_KEYS(class)                                                                            \
    {QOS_KEY("qos_" class "max_vls")}, {QOS_KEY("qos_" class "high_limit")},                       \
        {QOS_KEY("qos_" class "vlarb_high")}, {QOS_KEY("qos_" class "vlarb_low")},                 \
    {                                                                                              \
        QOS_KEY("qos_" class "sl2vl")                                                              \
    }

static const char *const enforcements[] = {[SM_ENFORCE_NOT] = "off",
                                           [SM_ENFORCE_IN] = "in",
                                           [SM_ENFORCE_OUT] = "out",
                                           [SM_ENFORCE_BOTH] = "both",
                                           NULL};
static const char *const isolations[] = {[SM_ISOLATE_NONE] = "none",
                                         [SM_ISOLATE_FLAPPING] = "flapping",
                                         [SM_ISOLATE_ERRORS] = "errors",
                                         [SM_ISOLATE_ALL] = "all",
                                         NULL};
static const char *const orders[] = {"propagation", "breadth", "depth", NULL};
static const char *const scopes[] = {"changed", "full", NULL};
static const char *const modes[] = {
    [SM_ORDERED] = "ordered", [SM_STATIC] = "static", [SM_NAIVE] = "naive", NULL};
static const char *const lid_policies[] = {"prepopulated", "dynamic", NULL};

static const struct key keys[] = {
    {OTHER_KEY("guid", set_guid, FIXED, "any")},
    {PATH_KEY("ca", port.ca, FIXED, "any")},
    {NUMBER_KEY("port", port.number, 0, 254, FIXED, "any")},
    {PATH_KEY("state", state, FIXED, "none")},
    {NUMBER_KEY("threads", threads, 0, 256, FIXED, "0")},
    {NUMBER_KEY("priority", sm.priority, 0, 15, LIVE, "0")},
    {OTHER_KEY("lmc", set_lmc, FIXED, "0")},
    {OTHER_KEY("key_file", set_key_file, FIXED, "none")},
    {SECRET_KEY("m_key", sm.m_key, "0")},
    {SECRET_KEY("sm_key", sm.sm_key, "1")},
    {SECRET_KEY("sa_key", sa_key, "1")},
    {OTHER_KEY("allowed_sm_guids", set_allowed_guids, LIVE, "none")},
    {NUMBER_KEY("m_key_lease", sm.m_key_lease_s, 0, UINT16_MAX, LIVE, "auto")},
    {NUMBER_KEY("m_key_protect", sm.m_key_protect, 0, 3, LIVE, "auto")},
    {"m_key_per_port", FIXED, "no", FLAG, FIELD(sm.m_key_per_port)},
    {"sa_check_sgid_spoofing", FIXED, "yes", FLAG, FIELD(check_sgid_spoofing)},
    {"sa_enhanced_trust_model", FIXED, "no", FLAG, FIELD(enhanced_trust)},
    {NUMBER_KEY("subnet_prefix", sm.subnet_prefix, 1, UINT64_MAX, FIXED, "0xfe80000000000000")},
    {NUMBER_KEY("subnet_timeout", sm.subnet_timeout, 0, 31, LIVE, "18")},
    {NUMBER_KEY("life_time", sm.life_time, 0, 18, LIVE, "10")},
    {OTHER_KEY("engine", set_engine, LIVE, "updn")},
    {OTHER_KEY("root", set_root, LIVE, "default")},
    {OTHER_KEY("root_file", set_root_file, LIVE, "none")},
    {OTHER_KEY("first", set_first, LIVE, "none")},
    {OTHER_KEY("weights", set_weights, LIVE, "none")},
    {NUMBER_KEY("scatter", sm.engine_options.scatter, 0, UINT64_MAX, LIVE, "0")},
    {NUMBER_KEY("max_vls", sm.engine_options.max_vls, 1, VLS_MOST, LIVE, "8")},
    {OTHER_KEY("user_routes", set_user_routes, LIVE, "none")},
    {FLAG_KEY("seed_balance", sm.engine_options.seed_balance, "no")},
    {FLAG_KEY("allow_cycles", sm.engine_options.allow_cycles, "no")},
    {FLAG_KEY("reversible", sm.engine_options.reversible, "no")},
    {OTHER_KEY("partitions", set_partitions, LIVE, "none")},
    {WORD_KEY("part_enforce", sm.part_enforce, enforcements, LIVE, "both")},
    {FLAG_KEY("allow_both_pkeys", allow_both_pkeys, "no")},
    {FLAG_KEY("qos", qos_wanted, "auto")},
    {OTHER_KEY("qos_policy", set_qos_policy, LIVE, "none")},
    {OTHER_KEY("qos_policy_file", set_qos_policy, LIVE, "none")},
    QOS_KEYS(""),
    QOS_KEYS("ca_"),
    QOS_KEYS("rtr_"),
    QOS_KEYS("sw0_"),
    QOS_KEYS("swe_"),
    {WORD_KEY("order", sm.order, orders, LIVE, "propagation")},
    {WORD_KEY("scope", sm.scope_full, scopes, LIVE, "changed")},
    {NUMBER_KEY("window", sm.window, 1, 65536, LIVE, "64")},
    {FLAG_KEY("lid_route", sm.lid_route, "no")},
    {TIME_KEY("timeout", sm.timeout_ns, "200ms", 100 * NS_PER_US,
              "no agent answers a MAD in less time")},
    {NUMBER_KEY("retries", sm.retries, 0, 16, LIVE, "3")},
    {TIME_KEY("sweep", sm.sweep_ns, "10s", 10 * NS_PER_MS, "a sweep queries every switch"),
     .instead = "never", .instead_value = TIME_NEVER},
    {TIME_KEY("poll", sm.poll_ns, "100ms", NS_PER_MS, "the master has to answer in that time")},
    {NUMBER_KEY("watch_ports", sm.watch_ports, 0, 65536, LIVE, "64")},
    {NUMBER_KEY("poll_retries", sm.poll_retries, 0, 100, LIVE, "24")},
    {NUMBER_KEY("mirror", sm.copy_rate, 0, 10000000, LIVE, "10000")},
    {NUMBER_KEY("full_sweep_every", sm.full_every, 0, 100000, LIVE, "6")},
    {WORD_KEY("mode", sm.mode, modes, LIVE, "ordered")},
    {TIME_KEY("drain", sm.drain_ns, "auto", NS_PER_US, "packets in flight have to arrive"),
     .instead = "auto"},
    {FLAG_KEY("hold", sm.hold, "yes")},
    {FLAG_KEY("repair", sm.repair, "yes")},
    {"rebalance", LIVE, "150", NUMBER, FIELD(sm.rebalance), 100, 100000, .instead = "never"},
    {WORD_KEY("isolate", sm.isolate, isolations, LIVE, "none")},
    {TIME_KEY("isolate_time", sm.isolate_ns, "600s", NS_PER_MS, "a link trains in that time")},
    {FLAG_KEY("babbling_port_policy", sm.isolate_babbling, "no")},
    {NUMBER_KEY("sa_etm_max_num_mcgs", sa.port_groups, 0, UINT32_MAX, LIVE, "128")},
    {NUMBER_KEY("sa_etm_max_num_srvcs", sa.port_services, 0, UINT32_MAX, LIVE, "32")},
    {NUMBER_KEY("sa_etm_max_num_event_subs", sa.port_subscriptions, 0, UINT32_MAX, LIVE, "32")},
    {NUMBER_KEY("sa_max_mlids_per_port", sa.port_mlids, 0, UINT32_MAX, LIVE, "128")},
    {NUMBER_KEY("sa_max_queries_per_port", sa.client_limit, 1, 16384, LIVE, "256")},
    {TIME_KEY("counter_interval", counters.interval_ns, "10s", 10 * NS_PER_MS,
              "a reading queries every port"),
     .instead = "never", .instead_value = TIME_NEVER},
    {NUMBER_KEY("symbol_error_limit", counters.limits[ERROR_SYMBOL], 0, UINT32_MAX, LIVE, "60")},
    {NUMBER_KEY("link_recovery_limit", counters.limits[ERROR_LINK_RECOVERY], 0, UINT32_MAX, LIVE,
                "5")},
    {NUMBER_KEY("link_downed_limit", counters.limits[ERROR_LINK_DOWNED], 0, UINT32_MAX, LIVE, "5")},
    {OTHER_KEY("topology_plan", set_topology_plan, LIVE, "none")},
    {WORD_KEY("vswitch_lids", sm.dynamic_lids, lid_policies, FIXED, "prepopulated")},
    {PATH_KEY("control", control, FIXED, CONFIG_CONTROL_AUTO)},
    {PATH_KEY("dump", dump, LIVE, "none")},
    {PATH_KEY("log", log, LIVE, "none")},
    {FLAG_KEY("json", json, "no")},
};
enum { KEY_COUNT = sizeof keys / sizeof *keys };
_Static_assert(sizeof keys / sizeof *keys <= (size_t)CONFIG_KEYS, "room for every key");

/* Keys of OpenSM that have another name here. NULL: not supported, but similar to the name of
 * another key. */
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
    *config = (struct config){.port.number = PORT_ANY};
    sm_config_init(&config->sm);
    sa_config_init(&config->sa);
    qos_init(&config->qos);
    topology_init(&config->plan);
    config->qos_wanted = -1;
    config->sm.sm_key = config->sa_key = KEY_WELL_KNOWN;
    config->check_sgid_spoofing = true;
    config->control = CONFIG_CONTROL_AUTO;
    config->sm.window = WINDOW;
    config->counters = (struct counter_config){
        .interval_ns = 10 * NS_PER_S,
        .limits = {[ERROR_SYMBOL] = 60, [ERROR_LINK_RECOVERY] = 5, [ERROR_LINK_DOWNED] = 5},
    };
}

void config_release(struct config *config)
{
    guid_list_release(&config->root_guids);
    guid_list_release(&config->root_file);
    guid_list_release(&config->allowed_sm_guids);
    guid_list_release(&config->first);
    port_weights_release(&config->weights);
    user_routes_release(&config->user_routes);
    partitions_release(&config->partitions);
    topology_release(&config->plan);
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
        return err_set(err, EINVAL, "OpenSM's '%s' is not supported: remove it", key);
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

static const char **path_at(struct config *config, const struct key *key)
{
    return (const char **)(void *)((char *)config + key->field.offset);
}

static int set_value(struct config *config, const struct key *key, const char *value,
                     struct err *err)
{
    uint64_t number = 0;
    char least[TIME_TEXT_BYTES];
    unsigned index = 0;
    int status = 0;
    if (key->kind == QOS_OPTION)
        return qos_set_option(&config->qos, key->name + strlen("qos_"), value, err);
    if (key->kind == OTHER)
        return key->set(config, value, err);
    if (key->kind == PATH) {
        *path_at(config, key) = is_none(value) ? NULL : arena_strdup(&config->strings, value);
        return 0;
    }
    if (key->kind == WORD) {
        status = parse_word(value, key->words, &index, err);
        number = index;
    } else if (key->instead && strcmp(value, key->instead) == 0) {
        number = key->instead_value;
    } else if (key->kind == FLAG) { /* OpenSM writes "TRUE" and "FALSE" */
        number = strcasecmp(value, "yes") == 0 || strcasecmp(value, "true") == 0;
        if (!number && strcasecmp(value, "no") != 0 && strcasecmp(value, "false") != 0)
            status = err_set(err, EINVAL, "'%s': expected yes or no", value);
    } else if (key->kind == TIME) {
        if (!time_parse_ns(value, &number) || number == 0)
            status = err_set(err, EINVAL, "'%s': expected a time such as 200ms or 10s", value);
        else if (number < key->low)
            status = err_set(err, EINVAL, "'%s': expected at least %s: %s", value,
                             time_text(key->low * TIME_NS, least), key->low_reason);
    } else if (!parse_bounded(value, key->low, key->high, &number) && key->secret) {
        status = err_set(err, EINVAL, "expected a 64-bit number such as 0x0123456789abcdef");
    } else if (!parse_bounded(value, key->low, key->high, &number)) {
        status = err_set(err, EINVAL, "'%s': expected a number from %llu to %llu", value,
                         (unsigned long long)key->low, (unsigned long long)key->high);
    }
    if (status == 0)
        field_set(config, key->field, number);
    return status;
}

int config_set(struct config *config, const char *key, const char *value, struct err *err)
{
    for (int i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i].name, key) != 0)
            continue;
        struct err reason = {0};
        if (config->reading_keys && !keys[i].secret)
            return err_set(err, EINVAL, "'%s' is not allowed in a key file", key);
        config->source.key = keys[i].name;
        assert(keys[i].kind != OTHER || keys[i].set);
        int status = set_value(config, &keys[i], value, &reason);
        if (status == 0) {
            config->values[i] = arena_strdup(&config->strings, value);
        } else if (reason.file[0]) {
            *err = reason;
            add_source(&config->source, err);
        } else {
            err_set(err, -status, "%s: %s", key, reason.message);
        }
        return status;
    }
    return refuse_key(key, err);
}

static int read_config_line(struct config *config, const struct line_reader *lines, struct err *err)
{
    char *line = lines->copy;
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
        return err_set(err, EINVAL, "'%s' has no value", key);
    config->source = (struct config_source){.file = lines->file, .line = lines->number};
    int status = config_set(config, key, value, err);
    config->source = (struct config_source){0};
    return status;
}

int config_read(struct config *config, const char *path, struct err *err)
{
    struct line_reader *lines = from_file(path, err);
    while (line_reader_next_line(lines))
        line_reader_take(lines, read_config_line(config, lines, err));
    return lines->status;
}

static bool is_given(const struct config *config, const char *name)
{
    for (int i = 0; i < KEY_COUNT; i++)
        if (strcmp(keys[i].name, name) == 0)
            return config->values[i] != NULL;
    return false;
}

/* With an M_Key, by default ports hide it from readers, and another manager can take them over when
 * their lease has expired. */
static int finish_keys(struct config *config, struct err *err)
{
    if (config->sm.m_key_per_port && !config->sm.m_key)
        return err_set(err, EINVAL, "m_key_per_port needs an m_key, from which it derives keys");
    if (!is_given(config, "m_key_protect"))
        config->sm.m_key_protect = config->sm.m_key ? PROTECT_WITH_KEY : 0;
    if (!is_given(config, "m_key_lease"))
        config->sm.m_key_lease_s = config->sm.m_key ? LEASE_WITH_KEY_S : 0;
    config->sm.allowed_sm_guids = config->allowed_sm_guids.items.items;
    config->sm.allowed_sm_guid_count = config->allowed_sm_guids.items.count;
    return 0;
}

int config_finish(struct config *config, struct err *err)
{
    struct engine_options *options = &config->sm.engine_options;
    assert(config->sm.engine && config->sm.lmc <= 7);
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
        return err_set(err, EINVAL, "root and root_file exclude each other: remove one");
    options->root = listed ? ROOT_LIST : config->root;
    options->root_guids = roots->items.items;
    options->root_count = roots->items.count;
    config->partitions.allow_both = config->allow_both_pkeys;
    config->sm.partitions = config->partitions.all.count ? &config->partitions : NULL;
    options->user = config->user_routes.entries.count ? &config->user_routes : NULL;
    int status = finish_keys(config, err);
    return status < 0 ? status : qos_finish(&config->qos, err);
}

/* ---- reloading ---- */

static const char *value_of(const struct config *config, int key)
{
    assert(key >= 0 && key < KEY_COUNT);
    return config->values[key] ? config->values[key] : keys[key].standard;
}

void config_compare(const struct config *before, const struct config *after,
                    void (*report)(void *context, const char *key, const char *from, const char *to,
                                   bool live),
                    void *context)
{
    for (int i = 0; i < KEY_COUNT; i++)
        if (strcmp(value_of(before, i), value_of(after, i)) != 0)
            report(context, keys[i].name, keys[i].secret ? "(secret)" : value_of(before, i),
                   keys[i].secret ? "(another secret)" : value_of(after, i), keys[i].live);
}

static const char *copy_string(struct config *config, const char *value)
{
    return value ? arena_strdup(&config->strings, value) : NULL;
}

void config_keep_fixed(const struct config *before, struct config *after)
{
    for (int i = 0; i < KEY_COUNT; i++) {
        const struct key *key = &keys[i];
        if (key->live)
            continue;
        assert(key->kind != QOS_OPTION);
        after->values[i] = copy_string(after, before->values[i]);
        if (key->kind == PATH)
            *path_at(after, key) = copy_string(after, *path_at((struct config *)before, key));
        else
            memcpy((char *)after + key->field.offset, (const char *)before + key->field.offset,
                   key->field.bytes);
    }
    after->port.guid = before->port.guid;
    after->sm.salt = before->sm.salt;
    after->lmc_given = true; /* the LMC of ports in use must not change */
    after->sm.lmc = before->sm.lmc;
}
