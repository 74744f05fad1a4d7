#include "experiment/live/versions.h"

#include "base/time.h"
#include "experiment/live/managers_view.h"

enum { NO_PORT = 0xFF };
#define VERSIONS_BYTES ((size_t)64 << 20) /* of tables that are kept; the last two always are */

/* ---- collecting ---- */

static void drop_first(struct versions *versions)
{
    mem_free(versions->items.items[0].ports);
    mem_free(versions->items.items[0].cause);
    vec_remove(&versions->items, 0);
}

void versions_begin(struct versions *versions, const struct watch *watch)
{
    const struct topology *topology = &live_session_setup(watch->session)->topology;
    versions_release(versions);
    for (uint32_t i = 0; i < topology->nodes.count; i++)
        if (topology->nodes.items[i].kind == NODE_SWITCH)
            vec_push(&versions->switches, i);
}

void versions_release(struct versions *versions)
{
    while (versions->items.count)
        drop_first(versions);
    vec_release(&versions->items);
    vec_release(&versions->switches);
    *versions = (struct versions){0};
}

static uint8_t entry_of(const struct version *version, size_t at, uint32_t lid)
{
    return lid < version->stride ? version->ports[at * version->stride + lid] : NO_PORT;
}

static void copy_tables(const struct versions *versions, const struct fabric *fabric,
                        struct version *version)
{
    unsigned top;
    for (size_t i = 0; i < versions->switches.count; i++)
        if (fabric_linear_table(fabric, versions->switches.items[i], &top) &&
            top + 1 > version->stride)
            version->stride = top + 1;
    size_t bytes = versions->switches.count * version->stride;
    version->ports = mem_alloc(bytes + 1);
    memset(version->ports, NO_PORT, bytes);
    for (size_t i = 0; i < versions->switches.count; i++) {
        const uint8_t *table = fabric_linear_table(fabric, versions->switches.items[i], &top);
        if (table)
            memcpy(version->ports + i * version->stride, table, top + 1);
    }
    for (size_t i = 0; i < bytes; i++)
        version->entries += version->ports[i] != NO_PORT;
}

static uint64_t count_changed(const struct version *a, const struct version *b, size_t at)
{
    uint32_t stride = a->stride > b->stride ? a->stride : b->stride;
    uint64_t changed = 0;
    for (uint32_t lid = 0; lid < stride; lid++)
        changed += entry_of(a, at, lid) != entry_of(b, at, lid);
    return changed;
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
    if (!change ||
        (versions->items.count &&
         versions->items.items[versions->items.count - 1].t_ns == time_ns_floor(change->end)))
        return;
    uint32_t manager = managers_view_find(setup, change->who);
    struct version version = {
        .id = ++versions->last_id,
        .t_ns = time_ns_floor(change->end),
        .manager = manager,
        .engine = manager < setup->instances.count
                      ? setup->instances.items[manager]->config.sm.engine->name
                      : "",
        .cause = mem_strdup(change->cause),
    };
    copy_tables(versions, setup->fabric, &version);
    const struct version *before =
        versions->items.count ? &versions->items.items[versions->items.count - 1] : NULL;
    for (size_t i = 0; i < versions->switches.count && before; i++)
        version.changed += count_changed(before, &version, i);
    size_t bytes = versions->switches.count * version.stride + 1;
    while (versions->items.count > 1 && (versions->items.count + 1) * bytes > VERSIONS_BYTES)
        drop_first(versions);
    vec_push(&versions->items, version);
}

/* ---- JSON ---- */

void versions_put(const struct versions *versions, const char *key, struct record *record)
{
    record_begin_list(record, key);
    for (size_t i = 0; i < versions->items.count; i++) {
        const struct version *version = &versions->items.items[i];
        record_begin(record, NULL);
        record_number(record, "id", "%4llu", version->id);
        record_number(record, "t", NULL, version->t_ns);
        record_text(record, " %14.6f ms", (double)version->t_ns / NS_PER_MS);
        record_number(record, "manager", NULL, version->manager);
        record_string(record, "engine", "  %-8s", version->engine);
        record_number(record, "entries", " %8llu entries", version->entries);
        record_number(record, "changed", ", %8llu changed", version->changed);
        record_string(record, "cause", "  %s\n", version->cause);
        record_end(record);
    }
    record_end_list(record);
}

/* Destinations of a switch by output port. */
static void count_ports(const struct version *version, size_t at, uint32_t *count)
{
    memset(count, 0, 256 * sizeof *count);
    for (uint32_t lid = 0; lid < version->stride; lid++)
        count[entry_of(version, at, lid)]++;
}

static void write_moved_links(const struct versions *versions, const struct watch *watch,
                              const struct version *a, const struct version *b, struct json *json)
{
    const struct topology *topology = &live_session_setup(watch->session)->topology;
    uint32_t before[256], after[256];
    json_begin_array(json, "links");
    for (size_t i = 0; i < versions->switches.count; i++) {
        const struct topology_node *node = &topology->nodes.items[versions->switches.items[i]];
        count_ports(a, i, before);
        count_ports(b, i, after);
        for (unsigned number = 1; number <= node->port_count; number++) {
            uint32_t port = node->first_port + number, link = watch->view.links.of_port[port];
            if (link == TOPOLOGY_NONE || before[number] == after[number])
                continue;
            json_begin_array(json, NULL);
            json_unsigned(json, NULL, link);
            json_unsigned(json, NULL, api_link_direction(&watch->view.links, port));
            json_unsigned(json, NULL, before[number]);
            json_unsigned(json, NULL, after[number]);
            json_end_array(json);
        }
    }
    json_end_array(json);
}

static const struct version *find_version(const struct versions *versions, uint64_t id)
{
    for (size_t i = 0; i < versions->items.count; i++)
        if (versions->items.items[i].id == id)
            return &versions->items.items[i];
    return NULL;
}

bool versions_compare(const struct versions *versions, const struct watch *watch, uint64_t a_id,
                      uint64_t b_id, struct text *out)
{
    const struct version *a = find_version(versions, a_id), *b = find_version(versions, b_id);
    struct json json = {.out = out};
    uint64_t sum = 0;
    if (!a || !b)
        return false;
    json_begin_object(&json, NULL);
    json_unsigned(&json, "a", a_id);
    json_unsigned(&json, "b", b_id);
    json_begin_array(&json, "switches");
    for (size_t i = 0; i < versions->switches.count; i++) {
        uint64_t changed = count_changed(a, b, i);
        if (!changed)
            continue;
        sum += changed;
        json_begin_array(&json, NULL);
        json_unsigned(&json, NULL, versions->switches.items[i]);
        json_unsigned(&json, NULL, changed);
        json_end_array(&json);
    }
    json_end_array(&json);
    json_unsigned(&json, "entries", sum);
    write_moved_links(versions, watch, a, b, &json);
    json_end_object(&json);
    return true;
}
