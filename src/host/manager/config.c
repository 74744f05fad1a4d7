/* Reads configuration files line by line, records what each line does, and derives at the end what
 * depends on several keys. Also compares configurations for a reload. Keys and their values are
 * left to config_keys.c and config_values.c, those of OpenSM to config_values_opensm.c. */
#include "host/manager/config.h"

#include "base/parse.h"
#include "host/manager/config_key.h"
#include "subnet/trust.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    RENAMING_LMC = 2,
    WATCH_PORTS = 64,
    PROTECT_WITH_KEY = 2, /* defaults where ports have an M_Key */
    LEASE_WITH_KEY_S = 60,
    ERRORS_MOST = 100,
};

const char *config_key(size_t index)
{
    return index < config_key_count && config_keys[index].kind < RENAMED ? config_keys[index].name
                                                                         : NULL;
}

void config_init(struct config *config)
{
    *config = (struct config){.port.number = PORT_ANY};
    sm_config_init(&config->sm);
    sa_config_init(&config->sa);
    qos_init(&config->qos);
    topology_init(&config->plan);
    config->qos_wanted = -1;
    config->sm.sm_key = KEY_WELL_KNOWN;
    config->sm.watch_ports = WATCH_PORTS;
    config->sm.engine_options.max_vls = ENGINE_VLS_DEFAULT;
    config->control = CONFIG_CONTROL_AUTO;
    perf_config_init(&config->perf);
}

void config_release(struct config *config)
{
    guid_list_release(&config->root_guids);
    guid_list_release(&config->root_file);
    guid_list_release(&config->allowed_sm_guids);
    guid_list_release(&config->first);
    port_weights_release(&config->weights);
    port_weights_release(&config->ignored_ports);
    port_weights_release(&config->all_weights);
    user_routes_release(&config->user_routes);
    partitions_release(&config->partitions);
    node_names_release(&config->names);
    prefix_rules_release(&config->prefix_rules);
    topology_release(&config->plan);
    qos_release(&config->qos);
    vec_release(&config->lines);
    vec_release(&config->errors);
    arena_release(&config->strings);
    *config = (struct config){0};
}

static int refuse_key(const char *key, struct err *err)
{
    const char *names[CONFIG_KEYS];
    size_t count = 0;
    for (size_t i = 0; i < config_key_count; i++)
        if (!strpbrk(config_keys[i].name, "* "))
            names[count++] = config_keys[i].name;
    const char *near = nearest_word(key, names, count);
    return err_set(err, EINVAL, "there is no key '%.80s'; %s%s%s", key,
                   near ? "did you mean '" : "weft-sm.conf(5) has them all", near ? near : "",
                   near ? "'?" : "");
}

const char **config_path_at(struct config *config, const struct key *key)
{
    return (const char **)(void *)((char *)config + key->field.offset);
}

/* The line that is being read sets a key. A former line that set the same key has no effect. */
static void note_setting(struct config *config, size_t index)
{
    uint32_t former = config->set_by[index];
    if (!config->source.file)
        return; /* an option overrides the file */
    config->set_by[index] = (uint32_t)config->lines.count + 1;
    if (former == 0 || former > config->lines.count)
        return;
    struct config_line *line = &config->lines.items[former - 1];
    char text[512];
    snprintf(text, sizeof text, "%.200s:%u sets '%s' again", config->source.file,
             config->source.line, config_keys[index].name);
    if (line->effect == CONFIG_IN_FORCE || line->effect == CONFIG_PARTLY) {
        line->effect = CONFIG_NO_EFFECT;
        line->standard = false;
        line->text = arena_strdup(&config->strings, text);
    }
}

/* Sets a key of weft, and records the text of its value. */
static int set_own(struct config *config, const struct key *key, const char *value, struct err *err)
{
    struct err reason = {0};
    size_t index = (size_t)(key - config_keys);
    int status = config_set_value(config, key, value, &reason);
    if (status == 0) {
        config->values[index] = arena_strdup(&config->strings, value);
        config->from_key_file[index] = config->reading_keys;
        note_setting(config, index);
        if (strcmp(value, "(null)") == 0 || strcmp(value, "-1") == 0) {
            config->effect.kind = CONFIG_DEFAULT;
            snprintf(config->effect.text, sizeof config->effect.text, "nothing is set");
        }
    } else if (reason.file[0]) {
        *err = reason;
        config_add_source(&config->source, err);
    } else {
        err_set(err, -status, "%s: %s", key->name, reason.message);
    }
    return status;
}

int config_put(struct config *config, const char *ours, const char *value, struct err *err)
{
    const struct key *key = config_key_find(ours);
    size_t used = strlen(config->effect.text);
    assert(key && key->kind < RENAMED);
    int status = set_own(config, key, value, err);
    if (status == 0 && config->effect.kind == CONFIG_IN_FORCE) /* else the text says why not */
        snprintf(config->effect.text + used, sizeof config->effect.text - used, "%s%s %s",
                 used ? "; " : "sets ", ours, value);
    return status;
}

enum config_in_runs config_key_in_runs(const char *name)
{
    const struct key *key = config_key_find(name);
    return key ? key->in_runs : CONFIG_NOT_IN_RUNS;
}

bool config_key_names_file(const char *name)
{
    const struct key *key = config_key_find(name);
    if (key && key->kind == RENAMED)
        key = config_key_find(key->ours);
    return key && (key->kind == PATH || key->reads_file);
}

int config_set(struct config *config, const char *name, const char *value, struct err *err)
{
    const struct key *key = config_key_find(name);
    config->effect.kind = CONFIG_IN_FORCE;
    config->effect.standard = false;
    config->effect.text[0] = 0;
    if (!key && config->source.file && !config->strict && !config->reading_keys) {
        refuse_key(name, err); /* OpenSM, too, only warns */
        config->effect.kind = CONFIG_UNKNOWN;
        snprintf(config->effect.text, sizeof config->effect.text, "%.300s", err->message);
        return 0;
    }
    if (!key)
        return refuse_key(name, err);
    if (config->reading_keys && !key->secret)
        return err_set(err, EINVAL, "'%s' is not allowed in a key file", name);
    config->source.key = key->name;
    return key->kind >= RENAMED ? config_set_opensm(config, key, value, err)
                                : set_own(config, key, value, err);
}

/* Removes blanks around a value, and quotes, as OpenSM does. */
static char *trim(char *value)
{
    value += strspn(value, " \t\r");
    char *end = value + strlen(value);
    while (end > value && strchr(" \t\r", end[-1]))
        *--end = 0;
    if (end - value >= 2 && (*value == '"' || *value == '\'') && end[-1] == *value) {
        end[-1] = 0;
        value++;
    }
    return value;
}

static void record_line(struct config *config, const struct line_reader *lines, const char *key,
                        const char *value, const char *error)
{
    const struct key *known = config_key_find(key);
    vec_push(
        &config->lines,
        ((struct config_line){
            .file = arena_strdup(&config->strings, lines->file),
            .line = lines->number,
            .key = arena_strdup(&config->strings, key),
            .value = known && known->secret ? "(secret)" : arena_strdup(&config->strings, value),
            .effect = error ? CONFIG_ERROR : config->effect.kind,
            .standard = config->effect.standard,
            .text = arena_strdup(&config->strings, error ? error : config->effect.text),
        }));
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
    value = trim(value);
    const struct key *known = config_key_find(key);
    if (*value == 0 && known && (known->kind >= RENAMED || known->kind == QOS_OPTION))
        value = "(null)"; /* OpenSM accepts keys without a value */
    config->source = (struct config_source){.file = lines->file, .line = lines->number};
    int status = *value ? config_set(config, key, value, err)
                        : err_set(err, EINVAL, "'%s' has no value", key);
    config->source = (struct config_source){0};
    char text[sizeof err->file + sizeof err->message + 32];
    bool is_elsewhere =
        err->file[0] && strcmp(err->file, lines->file) != 0; /* in a file it names */
    record_line(config, lines, key, value,
                status == 0    ? NULL
                : is_elsewhere ? err_text(err, text, sizeof text)
                               : err->message);
    return status;
}

static int read_lines(struct config *config, struct line_reader *lines, struct err *err)
{
    int status = 0;
    while (line_reader_next_line(lines)) {
        struct err reason = {0};
        size_t before = config->errors.count;
        if (before >= ERRORS_MOST)
            continue; /* this is not a configuration */
        int result = read_config_line(config, lines, &reason);
        if (result == 0)
            continue;
        status = result;
        if (!reason.file[0]) {
            snprintf(reason.file, sizeof reason.file, "%s", lines->file);
            reason.line = lines->number;
        }
        *err = reason;
        if (config->errors.count == before) /* else the error is in a key file, and recorded */
            vec_push(&config->errors, reason);
    }
    if (lines->status < 0 && lines->status != status)
        vec_push(&config->errors, *err);
    return lines->status < 0 ? lines->status : status;
}

int config_read(struct config *config, const char *path, struct err *err)
{
    return read_lines(config, from_file(path, err), err);
}

int config_read_text(struct config *config, const char *name, const char *text, struct err *err)
{
    return read_lines(config, from_text(name, text, err), err);
}

static bool is_given(const struct config *config, const char *name)
{
    return config->values[config_key_find(name) - config_keys] != NULL;
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

static void finish_weights(struct config *config)
{
    struct port_weights *all = &config->all_weights;
    all->items.count = 0;
    for (size_t i = 0; i < config->weights.items.count; i++)
        vec_push(&all->items, config->weights.items.items[i]);
    for (size_t i = 0; i < config->ignored_ports.items.count; i++)
        vec_push(&all->items, config->ignored_ports.items.items[i]);
    config->sm.engine_options.weights = all->items.count ? all : NULL;
}

int config_finish(struct config *config, struct err *err)
{
    struct engine_options *options = &config->sm.engine_options;
    assert(config->sm.engine && config->sm.lmc <= 7);
    finish_weights(config);
    int status = config_finish_opensm(config, err);
    if (status < 0)
        return status;
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
    config->sm.prefix_rules = config->prefix_rules.items.count ? &config->prefix_rules : NULL;
    config->sm.names = config->names.items.count ? &config->names : NULL;
    options->user = config->user_routes.entries.count ? &config->user_routes : NULL;
    status = finish_keys(config, err);
    return status < 0 ? status : qos_finish(&config->qos, err);
}

/* ---- reloading ---- */

void config_compare(const struct config *before, const struct config *after,
                    void (*report)(void *context, const char *key, const char *from, const char *to,
                                   bool live),
                    void *context)
{
    for (size_t i = 0; config_key(i); i++) {
        const struct key *key = &config_keys[i];
        char standard[CONFIG_VALUE_BYTES];
        config_default(key, standard);
        const char *from = before->values[i] ? before->values[i] : standard;
        const char *to = after->values[i] ? after->values[i] : standard;
        if (strcmp(from, to) != 0)
            report(context, key->name, key->secret ? "(secret)" : from,
                   key->secret ? "(another secret)" : to, key->live);
    }
}

static const char *copy_string(struct config *config, const char *value)
{
    return value ? arena_strdup(&config->strings, value) : NULL;
}

void config_keep_fixed(const struct config *before, struct config *after)
{
    for (size_t i = 0; config_key(i); i++) {
        const struct key *key = &config_keys[i];
        if (key->live)
            continue;
        assert(key->kind != QOS_OPTION);
        after->values[i] = copy_string(after, before->values[i]);
        if (key->kind == PATH)
            *config_path_at(after, key) =
                copy_string(after, *config_path_at((struct config *)before, key));
        else
            memcpy((char *)after + key->field.offset, (const char *)before + key->field.offset,
                   key->field.bytes);
    }
    after->port.guid = before->port.guid;
    after->sm.salt = before->sm.salt;
    after->lmc_given = true; /* the LMC of ports in use must not change */
    after->sm.lmc = before->sm.lmc;
}
