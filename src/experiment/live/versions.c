#include "experiment/live/versions.h"

#include "base/time.h"
#include "experiment/live/managers_view.h"

void versions_begin(struct versions *versions, const struct watch *watch)
{
    const struct topology *topology = &live_session_setup(watch->session)->topology;
    versions_release(versions);
    for (uint32_t i = 0; i < topology->nodes.count; i++)
        if (topology->nodes.items[i].kind == NODE_SWITCH)
            vec_push(&versions->all.switches, i);
}

void versions_release(struct versions *versions)
{
    api_versions_release(&versions->all);
    versions->changes_seen = 0;
}

static const uint8_t *table_of(const void *fabric, uint32_t node, unsigned *top)
{
    return fabric_linear_table(fabric, node, top);
}

/* The number of changes that have ended, in the order in which they began. */
static size_t count_ended(const struct setup *setup)
{
    size_t ended = setup->record->changes.count;
    for (size_t i = 0; i < setup->instances.count; i++)
        ended -= setup->instances.items[i]->open;
    return ended;
}

static const struct run_record_change *last_finished(const struct setup *setup)
{
    const struct run_record_change *last = NULL;
    for (size_t i = 0; i < setup->record->changes.count; i++) {
        const struct run_record_change *change = &setup->record->changes.items[i];
        if (change->finished && (!last || change->end >= last->end))
            last = change;
    }
    return last;
}

void versions_read(struct versions *versions, const struct watch *watch)
{
    const struct setup *setup = live_session_setup(watch->session);
    size_t ended = count_ended(setup);
    const struct run_record_change *change =
        ended == versions->changes_seen ? NULL : last_finished(setup);
    versions->changes_seen = ended;
    if (!change || (versions->all.items.count &&
                    versions->all.items.items[versions->all.items.count - 1].t_ns ==
                        time_ns_floor(change->end)))
        return;
    uint32_t manager = managers_view_find(setup, change->who);
    const struct api_version about = {
        .t_ns = time_ns_floor(change->end),
        .manager = manager,
        .engine = manager < setup->instances.count
                      ? setup->instances.items[manager]->config.sm.engine->name
                      : "",
        .cause = (char *)(uintptr_t)change->cause,
    };
    api_versions_add(&versions->all, &about, table_of, setup->fabric);
}

void versions_put(const struct versions *versions, const char *key, struct record *record)
{
    api_versions_put(&versions->all, key, record);
}

bool versions_compare(const struct versions *versions, const struct watch *watch, uint64_t a,
                      uint64_t b, struct text *out)
{
    return api_versions_compare(&versions->all, &live_session_setup(watch->session)->topology,
                                &watch->view.links, versions->all.switches.items, a, b, out);
}
