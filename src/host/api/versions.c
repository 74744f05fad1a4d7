/* Snapshots of the LFTs of all switches, of which the oldest are dropped, and the comparison of two
 * of them: changed entries by switch, and by direction of a link the number of LIDs that are
 * forwarded over it before and after. */
#include "host/api/api.h"

#include "base/time.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>

enum { NO_PORT = 0xFF, COMPARED_AT_ONCE = 64 };
#define VERSIONS_BYTES ((size_t)64 << 20) /* of tables that are kept; the last two always are */

/* The last holder frees it. */
struct api_tables {
    atomic_uint holders;
    uint8_t ports[]; /* [row][LID] */
};

static void hold_tables(struct api_tables *tables)
{
    atomic_fetch_add(&tables->holders, 1);
}

static void release_tables(struct api_tables *tables)
{
    if (atomic_fetch_sub(&tables->holders, 1) == 1)
        mem_free(tables);
}

/* ---- collecting ---- */

static void drop_first(struct api_versions *versions)
{
    assert(versions->items.items && versions->items.count);
    release_tables(versions->items.items[0].tables);
    mem_free((char *)(uintptr_t)versions->items.items[0].cause);
    vec_remove(&versions->items, 0);
}

void api_versions_release(struct api_versions *versions)
{
    while (versions->items.count)
        drop_first(versions);
    vec_release(&versions->items);
    vec_release(&versions->switches);
    map_release(&versions->row_of);
    *versions = (struct api_versions){0};
}

void api_versions_add_switch(struct api_versions *versions, uint64_t guid)
{
    if (map_add(&versions->row_of, guid, (uint32_t)versions->switches.count) ==
        versions->switches.count)
        vec_push(&versions->switches, guid);
}

static void copy_tables(const struct api_versions *versions, api_table_of *table_of,
                        const void *context, struct api_version *version)
{
    unsigned top;
    version->rows = (uint32_t)versions->switches.count;
    version->stride = 0;
    for (uint32_t i = 0; i < version->rows; i++)
        if (table_of(context, versions->switches.items[i], &top) && top + 1 > version->stride)
            version->stride = top + 1;
    size_t bytes = (size_t)version->rows * version->stride;
    version->tables = mem_alloc(sizeof *version->tables + bytes);
    atomic_init(&version->tables->holders, 1);
    uint8_t *ports = version->tables->ports;
    memset(ports, NO_PORT, bytes);
    for (uint32_t i = 0; i < version->rows; i++) {
        const uint8_t *table = table_of(context, versions->switches.items[i], &top);
        if (table)
            memcpy(ports + (size_t)i * version->stride, table, top + 1);
    }
    version->entries = 0;
    for (size_t i = 0; i < bytes; i++)
        version->entries += ports[i] != NO_PORT;
}

/* The row of a switch; NULL: it was not known then. */
static const uint8_t *row_of(const struct api_version *version, size_t at)
{
    return at < version->rows ? version->tables->ports + at * version->stride : NULL;
}

static uint64_t count_entries(const uint8_t *row, uint32_t from, uint32_t stride)
{
    uint64_t entries = 0;
    for (uint32_t lid = from; row && lid < stride; lid++)
        entries += row[lid] != NO_PORT;
    return entries;
}

/* Most entries of two versions are equal, so blocks of them are compared first. */
static uint64_t count_changed(const struct api_version *a, const struct api_version *b, size_t at)
{
    const uint8_t *before = row_of(a, at), *after = row_of(b, at);
    uint32_t common = !before || !after ? 0 : a->stride < b->stride ? a->stride : b->stride;
    uint64_t changed =
        count_entries(before, common, a->stride) + count_entries(after, common, b->stride);
    for (uint32_t lid = 0; lid < common; lid += COMPARED_AT_ONCE) {
        uint32_t end = common - lid < COMPARED_AT_ONCE ? common : lid + COMPARED_AT_ONCE;
        if (memcmp(before + lid, after + lid, end - lid) == 0)
            continue;
        for (uint32_t i = lid; i < end; i++)
            changed += before[i] != after[i];
    }
    return changed;
}

void api_versions_add(struct api_versions *versions, const struct api_version *about,
                      bool if_changed, api_table_of *table_of, const void *context)
{
    struct api_version version = *about;
    version.changed = 0;
    copy_tables(versions, table_of, context, &version);
    const struct api_version *before =
        versions->items.count ? &versions->items.items[versions->items.count - 1] : NULL;
    for (size_t i = 0; i < version.rows && before; i++)
        version.changed += count_changed(before, &version, i);
    if (if_changed && before && !version.changed) {
        release_tables(version.tables);
        return;
    }
    version.id = ++versions->last_id;
    version.cause = mem_strdup(about->cause);
    size_t bytes = (size_t)version.rows * version.stride + 1;
    while (versions->items.count == API_VERSIONS_MOST ||
           (versions->items.count > 1 && (versions->items.count + 1) * bytes > VERSIONS_BYTES))
        drop_first(versions);
    vec_push(&versions->items, version);
}

/* ---- JSON ---- */

void api_versions_put(const struct api_versions *versions, const char *key, struct record *record)
{
    record_begin_list(record, key);
    for (size_t i = 0; i < versions->items.count; i++) {
        const struct api_version *version = &versions->items.items[i];
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

void api_versions_write(const struct api_versions *versions, struct text *out)
{
    struct record record = record_to(out, true, false);
    record_begin(&record, NULL);
    api_versions_put(versions, "versions", &record);
    record_end(&record);
}

/* Destinations of a switch by output port. */
static void count_ports(const struct api_version *version, size_t at, uint32_t *count)
{
    const uint8_t *row = row_of(version, at);
    memset(count, 0, 256 * sizeof *count);
    for (uint32_t lid = 0; row && lid < version->stride; lid++)
        count[row[lid]]++;
}

static void write_moved_links(const struct topology_node *node, const struct api_links *links,
                              const uint32_t *before, const uint32_t *after, struct json *json)
{
    for (unsigned number = 1; number <= node->port_count; number++) {
        uint32_t port = node->first_port + number, link = links->of_port[port];
        if (link == TOPOLOGY_NONE || before[number] == after[number])
            continue;
        json_begin_array(json, NULL);
        json_unsigned(json, NULL, link);
        json_unsigned(json, NULL, api_link_direction(links, port));
        json_unsigned(json, NULL, before[number]);
        json_unsigned(json, NULL, after[number]);
        json_end_array(json);
    }
}

/* NULL: an error. */
static const struct api_version *find_version(const struct api_versions *versions, uint64_t id,
                                              struct err *err)
{
    for (size_t i = 0; i < versions->items.count; i++)
        if (versions->items.items[i].id == id)
            return &versions->items.items[i];
    if (id && id <= versions->last_id)
        err_set(err, ENOENT, "version %u is not kept any more: the oldest is version %u",
                (unsigned)id, versions->items.items[0].id);
    else
        err_set(err, ENOENT, "there is no version %u", (unsigned)id);
    return NULL;
}

/* Two versions, and the switches of their rows. */
struct comparison {
    struct api_version a, b;
    const uint64_t *switches;
    size_t count;
};

static void write_comparison(const struct comparison *two, const struct topology *topology,
                             const struct api_links *links, struct text *out)
{
    struct json json = {.out = out};
    uint32_t before[256], after[256];
    uint64_t sum = 0;
    bool *differs = mem_zalloc(two->count + 1, sizeof *differs);
    json_begin_object(&json, NULL);
    json_unsigned(&json, "a", two->a.id);
    json_unsigned(&json, "b", two->b.id);
    json_begin_array(&json, "switches");
    for (size_t i = 0; i < two->count; i++) {
        uint32_t node = api_node_of(topology, two->switches[i]);
        uint64_t changed = node == TOPOLOGY_NONE ? 0 : count_changed(&two->a, &two->b, i);
        if (!changed)
            continue;
        sum += changed;
        differs[i] = true;
        json_begin_array(&json, NULL);
        json_unsigned(&json, NULL, node);
        json_unsigned(&json, NULL, changed);
        json_end_array(&json);
    }
    json_end_array(&json);
    json_unsigned(&json, "entries", sum);
    json_begin_array(&json, "links");
    for (size_t i = 0; i < two->count; i++) {
        if (!differs[i])
            continue;
        uint32_t node = api_node_of(topology, two->switches[i]);
        count_ports(&two->a, i, before);
        count_ports(&two->b, i, after);
        write_moved_links(&topology->nodes.items[node], links, before, after, &json);
    }
    mem_free(differs);
    json_end_array(&json);
    json_end_object(&json);
}

static int find_two(const struct api_versions *versions, uint64_t a_id, uint64_t b_id,
                    struct comparison *two, struct err *err)
{
    const struct api_version *a = find_version(versions, a_id, err);
    const struct api_version *b = a ? find_version(versions, b_id, err) : NULL;
    if (!b)
        return -ENOENT;
    *two = (struct comparison){*a, *b, versions->switches.items, versions->switches.count};
    return 0;
}

int api_versions_compare(const struct api_versions *versions, const struct topology *topology,
                         const struct api_links *links, uint64_t a, uint64_t b, struct text *out,
                         struct err *err)
{
    struct comparison two;
    int status = find_two(versions, a, b, &two, err);
    if (status == 0)
        write_comparison(&two, topology, links, out);
    return status;
}

/* ---- answers ---- */

/* A comparison that is made in the server's thread. */
struct held_comparison {
    struct comparison two;
    uint64_t *switches;
    struct api_network *network;
};

static void make_comparison(void *source, struct http_response *response)
{
    const struct held_comparison *held = source;
    write_comparison(&held->two, api_network_topology(held->network),
                     api_network_links(held->network), &response->body);
}

static void release_comparison(void *source)
{
    struct held_comparison *held = source;
    release_tables(held->two.a.tables);
    release_tables(held->two.b.tables);
    api_network_release(held->network);
    mem_free(held->switches);
    mem_free(held);
}

/* The versions that a request names; false after a refusal. */
static bool read_two(const struct api_versions *versions, const struct http_request *request,
                     struct http_response *response, struct comparison *two)
{
    static const char *const names[] = {"a", "b"};
    struct err err = {0};
    uint64_t ids[2];
    if (!api_two_numbers(request, response, names, UINT32_MAX, ids))
        return false;
    if (find_two(versions, ids[0], ids[1], two, &err) == 0)
        return true;
    api_refuse(response, 404, err.message);
    return false;
}

void api_versions_answer(const struct api_versions *versions, struct api_network *network,
                         const struct http_request *request, struct http_response *response)
{
    struct comparison two;
    if (!read_two(versions, request, response, &two))
        return;
    struct held_comparison *held = mem_zalloc(1, sizeof *held);
    size_t bytes = two.count * sizeof *two.switches;
    held->switches = mem_alloc(bytes + 1);
    if (bytes)
        memcpy(held->switches, two.switches, bytes);
    two.switches = held->switches;
    held->two = two;
    hold_tables(two.a.tables);
    hold_tables(two.b.tables);
    held->network = api_network_hold(network);
    response->make = make_comparison;
    response->release = release_comparison;
    response->source = held;
}

void api_versions_answer_now(const struct api_versions *versions, const struct topology *topology,
                             const struct api_links *links, const struct http_request *request,
                             struct http_response *response)
{
    struct comparison two;
    if (read_two(versions, request, response, &two))
        write_comparison(&two, topology, links, &response->body);
}
