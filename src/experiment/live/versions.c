#include "experiment/live/versions.h"

#include "base/time.h"
#include "experiment/live/managers_view.h"
#include "host/manager_view/machine_control.h"

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
    versions->machines_seen = 0;
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

static void add_version(struct versions *versions, const struct setup *setup, uint32_t manager,
                        uint64_t t_ns, const char *cause, bool if_changed)
{
    const struct api_version about = {
        .t_ns = t_ns,
        .manager = manager,
        .engine = manager < setup->instances.count
                      ? setup->instances.items[manager]->config.sm.engine->name
                      : "",
        .cause = (char *)(uintptr_t)cause,
    };
    api_versions_add(&versions->all, &about, if_changed, table_of, setup->fabric);
}

static void read_changes(struct versions *versions, const struct setup *setup)
{
    size_t ended = count_ended(setup);
    const struct run_record_change *change =
        ended == versions->changes_seen ? NULL : last_finished(setup);
    versions->changes_seen = ended;
    if (!change || (versions->all.items.count &&
                    versions->all.items.items[versions->all.items.count - 1].t_ns ==
                        time_ns_floor(change->end)))
        return;
    add_version(versions, setup, managers_view_find(setup, change->who), time_ns_floor(change->end),
                change->cause, false);
}

/* Of requests that end between two calls, the version names the last one of each manager. */
static void read_machines(struct versions *versions, const struct setup *setup)
{
    uint64_t seen = versions->machines_seen;
    struct text cause = {0};
    for (uint32_t i = 0; i < setup->instances.count; i++) {
        const struct vswitch *machines =
            setup_manager(setup, i) ? sim_machines(setup->sim, setup->places.items[i].manager)
                                    : NULL;
        const struct vswitch_result *last = machines ? vswitch_last_result(machines) : NULL;
        if (!last || last->ended_ns <= seen)
            continue;
        if (versions->machines_seen < last->ended_ns)
            versions->machines_seen = last->ended_ns;
        text_clear(&cause);
        machine_control_put_cause(machines, last, &cause);
        add_version(versions, setup, i, last->ended_ns, cause.data, true);
    }
    text_release(&cause);
}

void versions_read(struct versions *versions, const struct watch *watch)
{
    const struct setup *setup = live_session_setup(watch->session);
    read_changes(versions, setup);
    read_machines(versions, setup);
}

void versions_put(const struct versions *versions, const char *key, struct record *record)
{
    api_versions_put(&versions->all, key, record);
}

int versions_compare(const struct versions *versions, const struct watch *watch, uint64_t a,
                     uint64_t b, struct text *out, struct err *err)
{
    return api_versions_compare(&versions->all, &live_session_setup(watch->session)->topology,
                                &watch->view.links, versions->all.switches.items, a, b, out, err);
}
