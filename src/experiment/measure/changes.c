/* Figures of changes; see changes.h. */
#include "experiment/measure/changes.h"

#include "base/mem.h"
#include "base/time.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>

void sent_add(struct sent *sent, unsigned method, unsigned attribute)
{
    if (attribute >= WIRE_ATTRIBUTE_COUNT)
        return;
    if (method == METHOD_GET)
        sent->gets[attribute]++;
    else if (method == METHOD_SET)
        sent->sets[attribute]++;
}

void change_record_begin(struct change_record *smps, uint32_t nodes)
{
    change_record_release(smps);
    smps->nodes = nodes;
    smps->written = mem_zalloc(nodes + 1, sizeof *smps->written);
}

void change_record_release(struct change_record *smps)
{
    mem_free(smps->written);
    *smps = (struct change_record){0};
}

struct publisher {
    struct results *results;
    size_t number;
};

static void set_figure(struct publisher *publisher, const char *what, double value,
                       const char *unit)
{
    char name[128];
    snprintf(name, sizeof name, "change.%zu.%s", publisher->number, what);
    results_set(publisher->results, name, value, unit);
}

static void set_phases(struct publisher *publisher, const struct run_record_change *change)
{
    set_figure(publisher, "begin", time_seconds((double)change->begin), "s");
    set_figure(publisher, "time", time_seconds((double)(change->end - change->begin)), "s");
    set_figure(publisher, "finished", change->finished, "");
    set_figure(publisher, "drain.time", time_seconds((double)change->draining), "s");
    for (enum sm_step kind = change->tied ? SM_STEP_DETECT : SM_STEP_DISCOVER; kind < SM_STEPS;
         kind++) {
        char name[32];
        uint64_t from, to;
        bool has = run_record_step(change, kind, &from, &to);
        snprintf(name, sizeof name, "%s.time", sm_step_name(kind));
        set_figure(publisher, name, has ? time_seconds((double)(to - from)) : 0, "s");
    }
}

static void set_kinds(struct publisher *publisher, const char *method, const uint64_t *counts)
{
    for (unsigned i = 0; i < WIRE_ATTRIBUTE_COUNT; i++) {
        char name[96];
        if (!counts[i])
            continue;
        snprintf(name, sizeof name, "smps.%s.%s", method, wire_attributes[i].name);
        for (char *at = name; *at; at++)
            *at = (char)tolower((unsigned char)*at);
        set_figure(publisher, name, (double)counts[i], "SMPs");
    }
}

static void set_smps(struct publisher *publisher, const struct change_record *smps,
                     const struct run_record_change *change)
{
    uint64_t all = change->gets + change->sets;
    uint64_t discover = change->routing ? smps->discover : all;
    set_figure(publisher, "smps", (double)all, "SMPs");
    set_figure(publisher, "discover.smps", (double)discover, "SMPs");
    set_figure(publisher, "distribute.smps", (double)(all - discover), "SMPs");
    set_figure(publisher, "smps.get", (double)change->gets, "SMPs");
    set_figure(publisher, "smps.set", (double)change->sets, "SMPs");
    set_figure(publisher, "compute.operations", (double)smps->operations, "operations");
    set_figure(publisher, "blocks", (double)change->blocks, "blocks");
    set_kinds(publisher, "get", smps->sent.gets);
    set_kinds(publisher, "set", smps->sent.sets);
}

/* Sorts the times in place: the change is over. */
static void set_updates(struct publisher *publisher, const struct change_record *smps)
{
    char name[64];
    uint32_t count = 0;
    for (uint32_t i = 0; i < smps->nodes; i++)
        if (smps->written[i])
            smps->written[count++] = smps->written[i];
    set_figure(publisher, "switches", count, "switches");
    if (count == 0)
        return;
    sort_u64(smps->written, count);
    snprintf(name, sizeof name, "change.%zu.updated", publisher->number);
    size_t series = results_series(publisher->results, name, "share");
    for (uint32_t i = 0; i < count; i++)
        results_add_point(publisher->results, series, smps->written[i], (i + 1.0) / count);
}

void change_record_close(struct change_record *smps, struct run_record *record, size_t index)
{
    assert(index < record->changes.count);
    const struct run_record_change *change = &record->changes.items[index];
    struct publisher publisher = {&record->results, index + 1};
    if (index < CHANGES_PUBLISHED) {
        if (smps->second)
            set_figure(&publisher, "first.time",
                       time_seconds((double)(smps->second - change->begin)), "s");
        set_phases(&publisher, change);
        set_smps(&publisher, smps, change);
        set_updates(&publisher, smps);
    }
    change_record_release(smps);
}
