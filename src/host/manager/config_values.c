/* The types of values, and the keys whose values need more than a type. */
#include "host/manager/config_key.h"

#include "routing/engines/engine_fallback.h"

#include "base/file.h"
#include "base/line_reader.h"
#include "base/time.h"
#include "host/http/address.h"
#include "topology/virtual.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool config_value_is_none(const char *value)
{
    return strcmp(value, "none") == 0 || strcmp(value, "(null)") == 0;
}

/* Adds to an error about a file where the configuration names that file. */
void config_add_source(const struct config_source *source, struct err *err)
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
int config_set_engine(struct config *config, const char *value, struct err *err)
{
    struct engine_list list;
    struct err reason = {0};
    char names[ENGINE_NAMES];
    if (engine_list_parse(&list, value, &reason) < 0)
        return err_set(err, EINVAL, "%s (expected one of %s)", reason.message,
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

/* Parts that the value does not name have the level info. */
int config_set_log_level(struct config *config, const char *value, struct err *err)
{
    struct log_levels levels = {0};
    int status = log_levels_change(&levels, value, err);
    if (status == 0) {
        config->log.levels = levels;
        config->sm.debug = log_levels_debug_mask(&levels);
    }
    return status;
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

int config_set_allowed_guids(struct config *config, const char *value, struct err *err)
{
    return parse_guids(config, config_value_is_none(value) ? "" : value, &config->allowed_sm_guids,
                       err);
}

int config_set_root(struct config *config, const char *value, struct err *err)
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

/* The lines of the file that a key names; none for "none". */
#define lines_of(value, error)                                                                     \
    (config_value_is_none(value) ? from_text("", "", error) : from_file(value, error))

int config_set_root_file(struct config *config, const char *value, struct err *err)
{
    guid_list_release(&config->root_file);
    int status = guid_list_read(&config->root_file, lines_of(value, err));
    if (status == 0 && !config_value_is_none(value) && config->root_file.items.count == 0)
        return err_set(err, EINVAL, "'%.200s' names no switch: expected one GUID a line", value);
    return status;
}

int config_set_first(struct config *config, const char *value, struct err *err)
{
    guid_list_release(&config->first);
    config->sm.engine_options.first = config_value_is_none(value) ? NULL : &config->first;
    return guid_list_read(&config->first, lines_of(value, err));
}

int config_set_weights(struct config *config, const char *value, struct err *err)
{
    port_weights_release(&config->weights);
    return port_weights_read(&config->weights, lines_of(value, err));
}

int config_set_ignored_ports(struct config *config, const char *value, struct err *err)
{
    port_weights_release(&config->ignored_ports);
    return port_weights_read_ignored(&config->ignored_ports, lines_of(value, err));
}

int config_set_user_routes(struct config *config, const char *value, struct err *err)
{
    user_routes_release(&config->user_routes);
    return user_routes_read(&config->user_routes, lines_of(value, err));
}

int config_set_prefix_routes(struct config *config, const char *value, struct err *err)
{
    prefix_rules_release(&config->prefix_rules);
    return prefix_rules_read(&config->prefix_rules, lines_of(value, err));
}

/* Names are for people: a manager starts without them. */
int config_set_node_names(struct config *config, const char *value, struct err *err)
{
    char text[1024];
    struct err reason = {0};
    (void)err;
    node_names_release(&config->names);
    if (node_names_read(&config->names, lines_of(value, &reason)) == 0)
        return 0;
    node_names_release(&config->names);
    config->effect.kind = CONFIG_PARTLY;
    snprintf(config->effect.text, sizeof config->effect.text,
             "%.300s; nodes have the names that they report", err_text(&reason, text, sizeof text));
    return 0;
}

int config_set_partitions(struct config *config, const char *value, struct err *err)
{
    partitions_release(&config->partitions);
    return config_value_is_none(value)
               ? 0
               : partitions_read(&config->partitions, from_file(value, err));
}

int config_set_topology_plan(struct config *config, const char *value, struct err *err)
{
    struct topology plan;
    struct virtual_counts counts;
    topology_release(&config->plan);
    topology_init(&config->plan);
    config->has_plan = !config_value_is_none(value);
    if (config_value_is_none(value))
        return 0;
    topology_init(&plan);
    int status = topology_read(&plan, from_file(value, err));
    if (status == 0)
        topology_without_functions(&config->plan, &plan, &counts);
    if (status == 0 && plan.warning) {
        config->effect.kind = CONFIG_PARTLY;
        snprintf(config->effect.text, sizeof config->effect.text, "%s", plan.warning);
    }
    topology_release(&plan);
    return status;
}

int config_set_lmc(struct config *config, const char *value, struct err *err)
{
    uint64_t number = 0;
    if (!parse_bounded(value, 0, 7, &number))
        return err_set(err, EINVAL, "'%s': expected a number from 0 to 7", value);
    config->sm.lmc = (uint8_t)number;
    config->lmc_given = true;
    return 0;
}

/* OpenSM's default configuration names a file that does not exist, with QoS off. */
int config_set_qos_policy(struct config *config, const char *value, struct err *err)
{
    config->policy_absent = (struct err){0};
    if (config_value_is_none(value))
        return 0;
    int status = qos_read(&config->qos, from_file(value, err));
    if (status != -ENOENT)
        return status;
    config->policy_absent = *err;
    config_add_source(&config->source, &config->policy_absent);
    return 0;
}

/* OpenSM writes 0 for any port. */
int config_set_guid(struct config *config, const char *value, struct err *err)
{
    uint64_t number;
    if (config_value_is_none(value) || (parse_number(value, &number) && number == 0)) {
        config->port.guid = 0;
        return 0;
    }
    return parse_guid(value, &config->port.guid, err);
}

enum { KEY_FILE_MOST = 1 << 20 };

/* The file has lines of the configuration with secret keys. */
int config_set_key_file(struct config *config, const char *value, struct err *err)
{
    if (config_value_is_none(value))
        return 0;
    if (config->reading_keys)
        return err_set(err, EINVAL, "a key file cannot name another key file");
    struct config_source source = config->source;
    config->reading_keys = true;
    struct text text = {0};
    int status = file_read_private(value, KEY_FILE_MOST, &text, err);
    if (status == 0)
        status = config_read_text(config, value, text.data, err);
    if (text.data)
        explicit_bzero(text.data, text.length);
    text_release(&text);
    config->reading_keys = false;
    config->source = source;
    return status;
}

bool config_parse_flag(const char *value, bool *flag)
{
    *flag = strcasecmp(value, "yes") == 0 || strcasecmp(value, "true") == 0;
    return *flag || strcasecmp(value, "no") == 0 || strcasecmp(value, "false") == 0;
}

int config_set_accumulation(struct config *config, const char *value, struct err *err)
{
    bool append;
    if (!config_parse_flag(value, &append))
        return err_set(err, EINVAL, "'%s': expected yes or no", value);
    config->log.restart = !append;
    return 0;
}

/* ---- types ---- */

int config_check_address(const char *value, struct err *err)
{
    struct http_address address;
    return http_address_parse(value, &address, err);
}

const char *config_default(const struct key *key, char buffer[CONFIG_VALUE_BYTES])
{
    static_assert((int)CONFIG_VALUE_BYTES >= (int)TIME_TEXT_BYTES, "room for a time");
    struct config fresh;
    if (key->standard || key->kind == PATH || key->kind == QOS_OPTION || key->kind == OTHER) {
        snprintf(buffer, CONFIG_VALUE_BYTES, "%s", key->standard ? key->standard : "none");
        return buffer;
    }
    config_init(&fresh);
    uint64_t number = field_get(&fresh, key->field);
    config_release(&fresh);
    if (key->instead && number == key->instead_value)
        snprintf(buffer, CONFIG_VALUE_BYTES, "%s", key->instead);
    else if (key->kind == TIME)
        time_text(number * TIME_NS, buffer);
    else if (key->kind == FLAG)
        snprintf(buffer, CONFIG_VALUE_BYTES, "%s", number ? "yes" : "no");
    else if (key->kind == WORD)
        snprintf(buffer, CONFIG_VALUE_BYTES, "%s", key->words[number]);
    else
        snprintf(buffer, CONFIG_VALUE_BYTES, number > UINT32_MAX ? "0x%016llx" : "%llu",
                 (unsigned long long)number);
    return buffer;
}

int config_set_value(struct config *config, const struct key *key, const char *value,
                     struct err *err)
{
    uint64_t number = 0;
    char least[TIME_TEXT_BYTES], standard[CONFIG_VALUE_BYTES];
    unsigned index = 0;
    int status = 0;
    if (key->kind == QOS_OPTION)
        return qos_set_option(&config->qos, key->name + strlen("qos_"), value, err);
    if (key->kind == OTHER)
        return key->set(config, value, err);
    if (key->kind == PATH) {
        if (key->check && !config_value_is_none(value))
            status = key->check(value, err);
        if (status < 0)
            return status;
        *config_path_at(config, key) =
            config_value_is_none(value) ? NULL : arena_strdup(&config->strings, value);
        return 0;
    }
    if (key->kind == WORD) {
        status = parse_word(value, key->words, &index, err);
        number = index;
    } else if (key->instead && strcmp(value, key->instead) == 0) {
        number = key->instead_value;
    } else if (key->kind == FLAG) { /* OpenSM writes "TRUE" and "FALSE" */
        bool flag = false;
        if (!config_parse_flag(value, &flag))
            status = err_set(err, EINVAL, "'%s': expected yes or no", value);
        number = flag;
    } else if (key->kind == TIME) {
        if (!time_parse_ns(value, &number) || number == 0)
            status = err_set(err, EINVAL, "'%s': expected a time such as 200ms or 10s", value);
        else if (number < key->low)
            status = err_set(err, EINVAL, "'%s': expected at least %s: %s", value,
                             time_text(key->low * TIME_NS, least), key->low_reason);
    } else if (!parse_bounded(value, key->low, key->high, &number) && key->secret) {
        status = err_set(err, EINVAL, "expected a 64-bit number such as 0x0123456789abcdef");
    } else if (!parse_bounded(value, key->low, key->high, &number) &&
               strncmp(config_default(key, standard), "0x", 2) == 0) {
        status = err_set(err, EINVAL, "'%s': expected a 64-bit number such as %s", value, standard);
    } else if (!parse_bounded(value, key->low, key->high, &number)) {
        status = err_set(err, EINVAL, "'%s': expected a number from %llu to %llu", value,
                         (unsigned long long)key->low, (unsigned long long)key->high);
    }
    if (status == 0)
        field_set(config, key->field, number);
    return status;
}
