/* Chooses QoS levels, and computes SL-to-VL maps and arbitration tables (subnet/qos.h). */
#include "subnet/qos.h"

#include "subnet/subnet.h"

#include <assert.h>
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

enum {
    CHUNK_WEIGHT = 192,  /* of one entry: three packets of 4,096 bytes */
    PACKET_WEIGHT = 64,  /* a packet of 4,096 bytes: smaller weights are rounded up to a packet */
    EQUAL_WEIGHT = 64,   /* of VLs without QoS levels */
    DEFAULT_LIMIT = 90,  /* percent, of high priority levels without a limit */
    LIMIT_UNIT = 4096,   /* bytes of VLHighLimit */
    LIMIT_HIGHEST = 254, /* 255: no limit */
};

void qos_init(struct qos *qos)
{
    *qos = (struct qos){.fallback = QOS_NO_LEVEL};
    for (unsigned i = 0; i < QOS_CLASSES; i++)
        qos->tables[i].high_limit = -1;
}

void qos_release(struct qos *qos)
{
    if (!qos)
        return;
    vec_release(&qos->levels);
    vec_release(&qos->groups);
    vec_release(&qos->members);
    vec_release(&qos->rules);
    vec_release(&qos->ranges);
    vec_release(&qos->partitions);
    vec_release(&qos->warnings);
    qos_init(qos);
}

#define COPY_ROWS(to, from)                                                                        \
    do {                                                                                           \
        (to)->items = NULL;                                                                        \
        (to)->count = (to)->capacity = 0;                                                          \
        for (size_t row = 0; row < (from)->count; row++)                                           \
            vec_push((to), (from)->items[row]);                                                    \
    } while (0)

void qos_copy(struct qos *to, const struct qos *from)
{
    *to = *from;
    COPY_ROWS(&to->levels, &from->levels);
    COPY_ROWS(&to->groups, &from->groups);
    COPY_ROWS(&to->members, &from->members);
    COPY_ROWS(&to->rules, &from->rules);
    COPY_ROWS(&to->ranges, &from->ranges);
    COPY_ROWS(&to->partitions, &from->partitions);
    COPY_ROWS(&to->warnings, &from->warnings);
}

void qos_warning(struct qos *qos, const char *format, ...)
{
    enum { WARNINGS_LIMIT = 64 };
    struct qos_warning warning;
    text_print_arguments(warning.text, sizeof warning.text, format);
    if (qos->warnings.count < WARNINGS_LIMIT)
        vec_push(&qos->warnings, warning);
}

/* ---- choice of levels ---- */

static bool is_member(const struct qos_member *member, const struct qos_endpoint *endpoint)
{
    switch (member->kind) {
    case QOS_BY_GUID:
        return endpoint->port_guid >= member->first && endpoint->port_guid <= member->last;
    case QOS_BY_NAME:
        return endpoint->description && fnmatch(member->pattern, endpoint->description, 0) == 0;
    case QOS_BY_TYPE: return !member->type || member->type == endpoint->type;
    case QOS_BY_SELF: return endpoint->self;
    }
    return false;
}

uint64_t qos_groups_of(const struct qos *qos, const struct qos_endpoint *endpoint)
{
    uint64_t groups = 0;
    for (size_t i = 0; i < qos->members.count; i++)
        if (is_member(&qos->members.items[i], endpoint))
            groups |= UINT64_C(1) << qos->members.items[i].group;
    return groups;
}

uint64_t qos_groups_at(const struct qos *qos, const struct subnet *subnet, uint64_t guid,
                       unsigned lid)
{
    uint32_t port = lid < LFT_ENTRIES ? subnet->by_lid[lid] : SUBNET_NONE;
    struct qos_endpoint endpoint = {.port_guid = guid};
    if (!qos || !qos->on || !qos->members.count)
        return 0;
    if (port != SUBNET_NONE) {
        const struct subnet_node *node = &subnet->nodes.items[subnet->ports.items[port].node];
        endpoint.type = node->kind;
        endpoint.description = node->description;
        endpoint.self = port == subnet->own_port;
    }
    return qos_groups_of(qos, &endpoint);
}

static bool in_range(const struct qos_range *range, const struct qos_request *request)
{
    enum { PARTITION_KEY = 0x7FFF }; /* without the bit of full members */
    const struct {
        bool given;
        uint64_t value;
    } subjects[] = {
        [QOS_SERVICE] = {request->has_service, request->service},
        [QOS_PARTITION] = {request->has_p_key, request->p_key & PARTITION_KEY},
        [QOS_REQUEST_CLASS] = {request->has_class, request->class},
        [QOS_TARGET] = {true, request->target_guid},
    };
    uint64_t value = subjects[range->subject].value;
    return subjects[range->subject].given && value >= range->first && value <= range->last;
}

static bool rule_matches(const struct qos *qos, const struct qos_rule *rule,
                         const struct qos_request *request)
{
    assert(rule->first_range + rule->range_count <= qos->ranges.count);
    unsigned restricted = 0, met = 0;
    uint64_t any = request->source_groups | request->destination_groups;
    if ((rule->sources && !(rule->sources & request->source_groups)) ||
        (rule->destinations && !(rule->destinations & request->destination_groups)) ||
        (rule->either && !(rule->either & any)))
        return false;
    for (uint32_t i = 0; i < rule->range_count; i++) {
        const struct qos_range *range = &qos->ranges.items[rule->first_range + i];
        restricted |= 1u << range->subject;
        met |= (unsigned)in_range(range, request) << range->subject;
    }
    return restricted == met;
}

/* ---- levels and VLs ---- */

/* The number of VLs that routes may use with a map: the first SLs that map to different VLs. */
static unsigned distinct_vls(const uint8_t map[QOS_SLS], unsigned vls)
{
    unsigned seen = 0, count = 0;
    for (; count < QOS_SLS; count++) {
        unsigned vl = map[count] == QOS_DISCARD ? QOS_DISCARD : map[count] % vls;
        if (vl == QOS_DISCARD || seen >> vl & 1)
            break;
        seen |= 1u << vl;
    }
    return count;
}

static const uint8_t *map_of(const struct qos *qos, enum qos_class class)
{
    static const uint8_t standard[QOS_SLS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 7};
    if (qos->tables[class].has_map)
        return qos->tables[class].map;
    return qos->tables[QOS_ALL].has_map ? qos->tables[QOS_ALL].map : standard;
}

static unsigned limit_vls(const struct qos *qos, enum qos_class class, unsigned vls)
{
    unsigned most = qos->tables[class].max_vls;
    if (!most)
        most = qos->tables[QOS_ALL].max_vls;
    return most && most < vls ? most : vls;
}

static void make_table_layout(const struct qos *qos, unsigned vls, struct qos_layout *layout)
{
    const uint8_t *map = map_of(qos, QOS_SWITCH_EXTERNAL);
    layout->valid = 0;
    for (unsigned sl = 0; sl < QOS_SLS; sl++)
        layout->valid |= (uint16_t)((map[sl] != QOS_DISCARD) << sl);
    layout->vls = (uint8_t)distinct_vls(map, limit_vls(qos, QOS_SWITCH_EXTERNAL, vls));
    if (!layout->vls)
        layout->vls = 1;
}

static void make_level_layout(const struct qos *qos, unsigned vls, struct qos_layout *layout,
                              struct err *refusal)
{
    unsigned count = (unsigned)qos->levels.count, stride = 1;
    assert(count > 0 && count <= QOS_LEVELS);
    for (size_t i = 0; i < count; i++)
        if (qos->levels.items[i].sl >= stride)
            stride = qos->levels.items[i].sl + 1u;
    unsigned by_vls = vls / count, by_sls = QOS_SLS / stride;
    if (!by_vls) {
        err_set(refusal, ENOSPC,
                "%u QoS levels need %u VLs, but a link between switches has %u: the levels are "
                "not in force",
                count, count, vls);
        return;
    }
    *layout = (struct qos_layout){.levels = true,
                                  .stride = (uint8_t)stride,
                                  .level_count = (uint8_t)count,
                                  .vls = (uint8_t)(by_vls < by_sls ? by_vls : by_sls),
                                  .used = 1};
    for (unsigned route_vl = 0; route_vl < layout->vls; route_vl++)
        for (unsigned i = 0; i < count; i++)
            layout->valid |= (uint16_t)(1u << (qos->levels.items[i].sl + route_vl * stride));
}

void qos_make_layout(const struct qos *qos, unsigned vls, struct qos_layout *layout,
                     struct err *refusal)
{
    enum { MOST_VLS = 15 };
    if (!vls)
        vls = MOST_VLS;
    *layout = (struct qos_layout){.stride = QOS_SLS, .vls = (uint8_t)vls, .used = 1};
    layout->valid = 0xFFFF;
    refusal->message[0] = 0;
    if (!qos || !qos->on)
        return;
    if (qos->levels_first && qos->levels.count)
        make_level_layout(qos, vls, layout, refusal);
    else
        make_table_layout(qos, vls, layout);
}

uint8_t qos_service_level(const struct qos_layout *layout, uint8_t sl, uint8_t route_vl)
{
    if (layout->levels)
        return (uint8_t)(sl + route_vl * layout->stride);
    return layout->used > 1 ? route_vl : sl;
}

/* The index of the first partition whose key is not lower. */
static size_t partition_place(const struct qos *qos, uint16_t key)
{
    size_t place;
    lower_bound(place, qos->partitions.count, qos->partitions.items[place].key < key);
    return place;
}

void qos_add_partition(struct qos *qos, uint16_t key, uint8_t sl)
{
    size_t place = partition_place(qos, key);
    vec_insert(&qos->partitions, place, ((struct qos_partition){key, sl}));
}

uint8_t qos_resolve(const struct qos *qos, const struct qos_layout *layout,
                    const struct qos_request *request, uint8_t route_vl, uint8_t *sl)
{
    uint8_t chosen = QOS_NO_LEVEL, own = 0;
    uint16_t key = request->p_key & 0x7FFF;
    const struct qos_partition *partition = NULL;
    if (qos && request->has_p_key) {
        size_t place = partition_place(qos, key);
        if (place < qos->partitions.count && qos->partitions.items[place].key == key)
            partition = &qos->partitions.items[place];
    }
    if (qos && qos->on) {
        for (size_t i = 0; i < qos->rules.count && chosen == QOS_NO_LEVEL; i++)
            if (rule_matches(qos, &qos->rules.items[i], request))
                chosen = qos->rules.items[i].level;
        if (chosen == QOS_NO_LEVEL && !partition)
            chosen = qos->fallback;
    }
    assert(chosen == QOS_NO_LEVEL || chosen < qos->levels.count);
    if (chosen != QOS_NO_LEVEL)
        own = qos->levels.items[chosen].sl;
    else if (partition)
        own = partition->sl;
    if (layout->levels && own >= layout->stride)
        own = 0; /* the SL of a partition, which no level has */
    *sl = qos_service_level(layout, own, route_vl);
    return chosen;
}

bool qos_allows(const struct qos_layout *layout, uint8_t sl, uint8_t route_vl)
{
    bool own = layout->used <= 1 || sl == route_vl;
    if (!layout->stride) /* an empty layout */
        return own;
    if (layout->levels)
        own = sl / layout->stride == route_vl;
    return own && layout->valid >> sl & 1;
}

/* ---- tables of one port ---- */

/* The VL of a level and a VL of the routes on a link with `usable` VLs. If there are too few, VLs
 * of the routes share one first, then adjacent levels do. Links between switches have enough VLs
 * for the routes, because qos_make_layout() limits the VLs of routes to those. */
static unsigned vl_of_level(const struct qos_layout *layout, unsigned level, unsigned route_vl,
                            unsigned usable)
{
    unsigned vls = layout->level_count ? usable / layout->level_count : 1;
    if (!vls)
        return level * usable / layout->level_count;
    if (vls > layout->vls && layout->vls)
        vls = layout->vls;
    return level + route_vl % vls * layout->level_count;
}

void qos_make_map(const struct qos *qos, const struct qos_layout *layout,
                  const struct qos_port *port, uint8_t map[QOS_SLS / 2])
{
    unsigned usable = qos_usable_vls(port);
    assert(usable > 0 && port->class < QOS_CLASSES);
    memset(map, 0, QOS_SLS / 2);
    for (unsigned sl = 0; sl < QOS_SLS; sl++) {
        unsigned vl = sl % usable;
        if (layout->levels) {
            unsigned level = 0;
            while (level < qos->levels.count && qos->levels.items[level].sl != sl % layout->stride)
                level++;
            vl = vl_of_level(layout, level < qos->levels.count ? level : qos->fallback,
                             sl / layout->stride, usable);
        } else if (qos && qos->on && !qos->levels_first) {
            vl = map_of(qos, port->class)[sl];
            if (vl != QOS_DISCARD)
                vl %= limit_vls(qos, port->class, port->vls);
        }
        map[sl / 2] |= (uint8_t)(vl << (sl % 2 ? 0 : 4));
    }
}

static void spread_weights(const unsigned weights[QOS_SLS], unsigned cap, struct qos_list *list)
{
    unsigned least = UINT32_MAX, factor = 1;
    for (unsigned vl = 0; vl < QOS_SLS; vl++)
        if (weights[vl] && weights[vl] < least)
            least = weights[vl];
    if (cap > QOS_ENTRIES)
        cap = QOS_ENTRIES;
    for (unsigned wanted = (PACKET_WEIGHT + least - 1) / least; wanted > 1; wanted--) {
        unsigned entries = 0;
        for (unsigned vl = 0; vl < QOS_SLS; vl++)
            entries += (weights[vl] * wanted + CHUNK_WEIGHT - 1) / CHUNK_WEIGHT;
        if (entries <= cap) {
            factor = wanted;
            break;
        }
    }
    unsigned left[QOS_SLS], chunk = factor > 1 ? CHUNK_WEIGHT : 255;
    bool any = true;
    for (unsigned vl = 0; vl < QOS_SLS; vl++)
        left[vl] = weights[vl] * factor;
    while (any) { /* round robin, so that no VL waits for all chunks of another one */
        any = false;
        for (unsigned vl = 0; vl < QOS_SLS && list->count < cap; vl++) {
            unsigned part = left[vl] < chunk ? left[vl] : chunk;
            if (!part)
                continue;
            list->entries[list->count++] = (struct qos_entry){(uint8_t)vl, (uint8_t)part};
            left[vl] -= part;
            any = true;
        }
    }
}

static void make_list_from_tables(const struct qos *qos, const struct qos_port *port, bool high,
                                  unsigned cap, struct qos_list *list)
{
    enum { STANDARD_VLS = 15, STANDARD_WEIGHT = 4 }; /* OpenSM's defaults */
    const struct qos_tables *own = &qos->tables[port->class], *all = &qos->tables[QOS_ALL];
    const struct qos_list *given = high ? &own->high : &own->low;
    if (!given->count)
        given = high ? &all->high : &all->low;
    *list = *given;
    for (; !given->count && list->count < STANDARD_VLS; list->count++)
        list->entries[list->count] =
            (struct qos_entry){list->count, (list->count == 0) == high ? STANDARD_WEIGHT : 0};
    if (list->count > cap)
        list->count = (uint8_t)cap;
    for (unsigned i = 0; i < list->count; i++)
        list->entries[i].vl =
            (uint8_t)(list->entries[i].vl % limit_vls(qos, port->class, port->vls));
}

/* The weights of VLs in the high or low table of a port. If the high table has too few entries for
 * all high priority VLs, these are in the low table, since a VL without an entry never sends. */
static void find_level_weights(const struct qos *qos, const struct qos_layout *layout,
                               const struct qos_port *port, bool high, unsigned weights[QOS_SLS])
{
    const struct qos_level *owner[QOS_SLS] = {0};
    unsigned above = 0;
    for (unsigned i = 0; i < layout->level_count; i++)
        for (unsigned route_vl = 0; route_vl < layout->vls; route_vl++) /* the higher level wins */
            owner[vl_of_level(layout, i, route_vl, qos_usable_vls(port))] = &qos->levels.items[i];
    for (unsigned vl = 0; vl < QOS_SLS; vl++)
        above += owner[vl] && owner[vl]->high;
    for (unsigned vl = 0; vl < QOS_SLS; vl++)
        if (owner[vl] && (owner[vl]->high && above <= port->high_cap) == high)
            weights[vl] = owner[vl]->weight;
}

void qos_make_arbitration(const struct qos *qos, const struct qos_layout *layout,
                          const struct qos_port *port, bool high, struct qos_list *list)
{
    unsigned cap = high ? port->high_cap : port->low_cap, usable = qos_usable_vls(port);
    unsigned weights[QOS_SLS] = {0};
    list->count = 0;
    if (!cap)
        return;
    if (qos && layout->levels)
        find_level_weights(qos, layout, port, high, weights);
    else if (qos && qos->on && !qos->levels_first)
        make_list_from_tables(qos, port, high, cap, list);
    else
        for (unsigned vl = 0; !high && vl < usable && vl < QOS_DISCARD; vl++)
            weights[vl] = EQUAL_WEIGHT;
    if (!list->count)
        spread_weights(weights, cap, list);
}

uint8_t qos_high_limit(const struct qos *qos, const struct qos_layout *layout,
                       const struct qos_port *port)
{
    unsigned percent = DEFAULT_LIMIT;
    bool any = false;
    if (!qos || !qos->on)
        return 0;
    if (!layout->levels) {
        if (qos->levels_first)
            return 0;
        int limit = qos->tables[port->class].high_limit;
        if (limit < 0)
            limit = qos->tables[QOS_ALL].high_limit;
        return (uint8_t)(limit < 0 ? 0 : limit);
    }
    for (size_t i = 0; i < qos->levels.count; i++) {
        any |= qos->levels.items[i].high;
        if (qos->levels.items[i].limit)
            percent = qos->levels.items[i].limit;
    }
    if (!any || percent >= 100)
        return any ? QOS_UNLIMITED : 0;
    /* High priority sends this many bytes between two low priority packets of MTU size. */
    uint64_t bytes = (uint64_t)port->mtu * percent / (100 - percent);
    uint64_t units = (bytes + LIMIT_UNIT / 2) / LIMIT_UNIT;
    return (uint8_t)(units < LIMIT_HIGHEST ? units : LIMIT_HIGHEST);
}
