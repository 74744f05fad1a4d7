/* Configures managers from a scenario: applies presets, passes keys of the configuration file to
 * config_set(), handles the keys that only scenarios have, and knows which keys can change while a
 * manager runs. */
#include "experiment/run/manager.h"

#include "base/time.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Settings that only simulated managers have. */
static const char *const run_keys[] = {"paper", "partition_rules", "probe_back"};
enum { RUN_KEYS = sizeof run_keys / sizeof run_keys[0] };

/* "Several": enough to discover 16 switches while each link loses a tenth of all SMPs. */
enum { PAPER_RETRIES = 40 };

/* The lifetime of packets is unlimited there. Ten times as long as a packet that waits for all
 * others of ten switches: 4 inputs with 2 VLs of 4,096 bytes each, on links of 2 Gbit/s. */
#define PAPER_DRAIN_NS (10 * NS_PER_MS)

/* The management mechanism of ICPP 2003 and SAN-2 2003: tasks one after the other, everything from
 * scratch, traffic stopped for new tables, ten light sweeps per second and no full ones. */
void manager_preset(struct config *config, const char *preset)
{
    if (strcmp(preset, "paper") != 0)
        return;
    config->sm.policy = &sm_policy_paper;
    config->sm.scope_full = true;
    config->sm.retries = PAPER_RETRIES;
    config->sm.mode = SM_STATIC;
    config->sm.engine = &engine_fera;
    config->sm.sweep_ns = 100 * NS_PER_MS;
    config->sm.full_every = 0;
    config->sm.drain_ns = PAPER_DRAIN_NS;
}

/* `partition_rules`: the content of a file of partitions, which a scenario can state in a line. */
static int set_partition_rules(struct config *config, const struct word *value,
                               struct cursor *cursor)
{
    struct err reason = {0};
    struct partitions rules = {0};
    if (partitions_read(&rules, from_text("partition_rules", value->text, &reason)) == 0) {
        partitions_release(&config->partitions);
        config->partitions = rules;
        return 0;
    }
    return word_error(cursor, value, "%.400s", reason.message);
}

/* `paper` and `probe_back`: keys that only scenarios have, as `partition_rules` is. */
static int set_paper(struct config *config, const struct word *key, const struct word *value,
                     struct cursor *cursor)
{
    static const char *const names[] = {"yes", "no"};
    bool yes = strcmp(value->text, "yes") == 0;
    if (!yes && strcmp(value->text, "no") != 0)
        return word_unknown(cursor, value, "answer", names, 2);
    if (strcmp(key->text, "paper") == 0)
        config->sm.policy = yes ? &sm_policy_paper : &sm_policy_default;
    else
        config->sm.probe_back = yes;
    return 0;
}

int manager_set(struct config *config, const struct word *key, const struct word *value,
                struct cursor *cursor)
{
    const char *names[CONFIG_KEYS + RUN_KEYS];
    struct err reason = {0};
    size_t count = 0;
    if (strcmp(key->text, "paper") == 0 || strcmp(key->text, "probe_back") == 0)
        return set_paper(config, key, value, cursor);
    if (strcmp(key->text, "partition_rules") == 0)
        return set_partition_rules(config, value, cursor);
    if (config_key_in_runs(key->text) == CONFIG_NOT_IN_RUNS) {
        for (; count < RUN_KEYS; count++)
            names[count] = run_keys[count];
        for (size_t i = 0; config_key(i); i++)
            if (config_key_in_runs(config_key(i)))
                names[count++] = config_key(i);
        return word_unknown(cursor, key, "setting of a manager", names, count);
    }
    if (config_set(config, key->text, value->text, &reason) == 0)
        return 0;
    char text[1024];
    return word_error(cursor, value, "%.400s", err_text(&reason, text, sizeof text));
}

bool manager_key_is_live(const char *key)
{
    return config_key_in_runs(key) == CONFIG_IN_RUNS || strcmp(key, "partition_rules") == 0;
}

int manager_finish(struct config *config, struct err *err)
{
    int status = config_finish(config, err);
    if (status == 0 && config->sm.qos && config->sm.policy == &sm_policy_paper)
        return err_set(err, EINVAL,
                       "the papers' manager programs no arbitration and SL-to-VL tables: use "
                       "'set sm paper no' with qos keys");
    return status;
}

/* Only an engine can contradict other settings, and levels of service the papers' manager. */
int manager_reset(struct config *config, const struct word *key, const struct word *value,
                  struct cursor *cursor)
{
    struct err reason = {0}, unused = {0};
    char engine[64];
    snprintf(engine, sizeof engine, "%s", config->sm.engine->name);
    int status = manager_set(config, key, value, cursor);
    if (status == 0 && manager_finish(config, &reason) < 0) {
        status = word_error(cursor, value, "%.400s", reason.message);
        if (strcmp(key->text, "engine") == 0)
            config_set(config, "engine", engine, &unused);
        if (config->sm.qos && config->sm.policy == &sm_policy_paper)
            config_set(config, "qos", "no", &unused);
        config_finish(config, &unused);
    }
    return status;
}
